package rig

import (
	"os"
	"path/filepath"
	"testing"
)

// collectCoverage gives a root file system the directory into which programs built by hack/cover write their counters, and
// moves what is in it to the host's when the test ends.
func collectCoverage(t testing.TB, root string) {
	t.Helper()
	dir := os.Getenv("ENVSCRUB_COVER")
	if dir == "" {
		return
	}
	inside := filepath.Join(root, dir)
	if err := os.MkdirAll(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	// Containers run as many users.
	if err := os.Chmod(inside, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		files, err := filepath.Glob(filepath.Join(inside, "cov*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if to := filepath.Join(dir, filepath.Base(file)); !exists(to) {
				Copy(t, file, to)
			}
		}
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
