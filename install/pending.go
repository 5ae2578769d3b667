package install

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// pending is a file that is written before it is where it belongs. Where the file
// system can (open(2), O_TMPFILE) it has no name until then: an engine that reads
// every file of a directory does not find half of one, and a crash leaves nothing.
type pending struct {
	*os.File
	path string // where it belongs
	name string // "" is none
}

// leftover begins the name of every file that a crash can leave beside path.
func leftover(path string) string { return "." + filepath.Base(path) + ".envscrub-" }

// newPending makes a file that nobody else can read yet.
func newPending(path string) (*pending, error) {
	dir := filepath.Dir(path)
	// A file without a name gets one by way of /proc only, which an image that is being built may not have.
	if unix.Access("/proc/self/fd", unix.X_OK) == nil {
		if fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600); err == nil {
			return &pending{File: os.NewFile(uintptr(fd), path), path: path}, nil
		}
	}
	f, err := os.CreateTemp(dir, leftover(path)+"*")
	if err != nil {
		return nil, err
	}
	return &pending{File: f, path: path, name: f.Name()}, nil
}

// place puts the file where it belongs; exists says that there is one to replace.
func (p *pending) place(exists bool) error {
	if p.name == "" {
		name := p.path
		if exists { // no system call replaces a file by one without a name
			name = filepath.Join(filepath.Dir(p.path), leftover(p.path)+strconv.FormatUint(rand.Uint64(), 36))
		}
		from := "/proc/self/fd/" + strconv.Itoa(int(p.Fd()))
		err := unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
		switch {
		case errors.Is(err, fs.ErrExist) && !exists:
			return changedNow(p.path)
		case err != nil:
			return fmt.Errorf("write %s: give it its name: %w", p.path, err)
		case !exists:
			return nil
		}
		p.name = name
	}
	err := os.Rename(p.name, p.path)
	if err == nil {
		p.name = ""
	}
	return err
}

// discard closes the file, and removes what has not been placed.
func (p *pending) discard() {
	_ = p.Close()
	if p.name != "" {
		_ = os.Remove(p.name)
	}
}

// sweep removes what crashes left beside path: whole files, but with the secrets of
// a configuration, where nobody looks for them.
func sweep(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), leftover(path)) {
			err = errors.Join(err, os.Remove(filepath.Join(filepath.Dir(path), entry.Name())))
		}
	}
	return err
}
