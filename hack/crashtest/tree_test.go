package crashtest

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A tree is what a directory holds, by path.
type tree map[string]node

type node struct {
	mode fs.FileMode
	data string
}

func readTree(t *testing.T, root string) tree {
	t.Helper()
	all := tree{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		n := node{mode: info.Mode()}
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			n.data = string(data)
		}
		all[strings.TrimPrefix(path, root)] = n
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// write makes root hold the tree, and nothing else.
func (all tree) write(t *testing.T, root string) {
	t.Helper()
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		n, at := all[path], root+path
		var err error
		if n.mode.IsDir() {
			err = os.Mkdir(at, 0o700)
		} else {
			err = os.WriteFile(at, []byte(n.data), 0o600)
		}
		if err == nil {
			err = os.Chmod(at, n.mode.Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// differs lists the paths whose mode or content is not the same in both.
func (all tree) differs(other tree) (paths []string) {
	for path, n := range all {
		if m, ok := other[path]; !ok || m != n {
			paths = append(paths, path)
		}
	}
	for path := range other {
		if _, ok := all[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}
