package install

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Units reads what tells systemd, in files and in directories of drop-ins, how to
// start a daemon: the texts of those paths that exist, in their order.
func Units(o Options, paths ...string) ([]string, error) {
	var texts []string
	for _, path := range paths {
		path = o.Path(path)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list := []string{path}
		if info.IsDir() {
			if list, err = filepath.Glob(filepath.Join(path, "*.conf")); err != nil {
				return nil, err
			}
		}
		for _, p := range list {
			text, err := os.ReadFile(p)
			if err != nil {
				return nil, err
			}
			texts = append(texts, string(text))
		}
	}
	return texts, nil
}
