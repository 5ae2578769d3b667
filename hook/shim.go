package hook

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/policy"
)

const (
	shimName = "envscrub-shim"
	shimDir  = "/usr/libexec/envscrub"
)

// FindShim returns the path of the shim: beside the program that runs, else in
// /usr/libexec/envscrub, else where the policy says. It must be a program that
// every user of every container may execute.
func FindShim(v *policy.View) (string, error) {
	var places []string
	if self, err := os.Executable(); err == nil {
		places = append(places, filepath.Join(filepath.Dir(self), shimName))
	}
	places = append(places, filepath.Join(shimDir, shimName))
	if v.Shim != "" {
		places = append(places, v.Shim)
	}
	for _, path := range places {
		switch err := checkShim(path); {
		case err == nil:
			return path, nil
		case !errors.Is(err, os.ErrNotExist):
			return "", fmt.Errorf("find the shim: %w", err)
		}
	}
	return "", fmt.Errorf("find the shim: it is neither of %s; install it there or name it with the policy's key shim", strings.Join(places, ", "))
}

func checkShim(path string) error {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return fmt.Errorf("%s: it is not a regular file", path)
	}
	// A program that may not be read changes who may trace it; the container's
	// user is a stranger to its owner.
	if st.Mode&0o555 != 0o555 {
		return fmt.Errorf("%s: its mode is %04o, and every container's user must be able to read and execute it: set 0755", path, st.Mode&0o7777)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	if fs.Flags&unix.ST_NOEXEC != 0 {
		return fmt.Errorf("%s: its file system is mounted noexec, and so would it be in the container: put it elsewhere", path)
	}
	return nil
}
