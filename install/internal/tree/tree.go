// Package tree makes directories that stand for a host's / in tests, and shows
// what is in them.
package tree

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/install"
)

// New makes a root with envscrub's programs and with files, and options for it.
func New(t testing.TB, files map[string]string) install.Options {
	t.Helper()
	root := t.TempDir()
	o := install.Options{Root: root, BinDir: "/usr/libexec/envscrub"}
	for _, name := range []string{"envscrub-hook", "envscrub-runtime", "envscrub-nri", "envscrub-shim"} {
		Write(t, o, filepath.Join(o.BinDir, name), "#!/bin/sh\n", 0o755)
	}
	for path, text := range files {
		Write(t, o, path, text, 0o644)
	}
	return o
}

// Write makes a file of the tree.
func Write(t testing.TB, o install.Options, path, text string, mode fs.FileMode) {
	t.Helper()
	path = o.Path(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
}

// Read gives a file of the tree.
func Read(t testing.TB, o install.Options, path string) string {
	t.Helper()
	data, err := os.ReadFile(o.Path(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// List shows every directory, and every file with its mode and content, except
// our programs: two trees that list the same are the same.
func List(t testing.TB, o install.Options) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(o.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(path, o.Root)
		if rel == o.BinDir {
			return fs.SkipDir
		}
		if rel == "" {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(info.Mode().String() + " " + rel + "\n")
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.WriteString(string(data) + "\n")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Same fails the test where the tree is not what List showed before.
func Same(t testing.TB, o install.Options, before string) {
	t.Helper()
	if now := List(t, o); now != before {
		t.Errorf("it changed\n%s\ninto\n%s", before, now)
	}
}
