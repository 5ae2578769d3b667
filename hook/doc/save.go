package doc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// ErrChanged says that the file is no longer the one that was read.
var ErrChanged = errors.New("the file changed since it was read; nothing was written")

// Save writes the edited document over the file that it was read from. Without
// an edit it does nothing.
func (f *File) Save() error {
	if f.err != nil {
		return fmt.Errorf("edit %s: %w", f.path, f.err)
	}
	if !f.Edited() {
		return nil
	}
	if f.path == "" {
		return errors.New("save: the document was not read from a file")
	}
	if err := f.replace(f.Bytes()); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}

func (f *File) replace(data []byte) error {
	old, err := f.unchanged()
	if err != nil {
		return err
	}
	name, fd, err := createBeside(f.path)
	if err != nil {
		return err
	}
	if err := fill(fd, data, old); err != nil {
		return errors.Join(err, unix.Unlink(name))
	}
	if _, err := f.unchanged(); err != nil {
		return errors.Join(err, unix.Unlink(name))
	}
	if err := unix.Rename(name, f.path); err != nil {
		return errors.Join(err, unix.Unlink(name))
	}
	return nil
}

// unchanged looks at the file again, without following a link in its place.
func (f *File) unchanged() (*unix.Stat_t, error) {
	var st unix.Stat_t
	if err := unix.Lstat(f.path, &st); err != nil {
		return nil, err
	}
	if err := regular(f.path, &st); err != nil {
		return nil, err
	}
	if identityOf(&st) != f.read {
		return nil, ErrChanged
	}
	return &st, nil
}

// createBeside makes the new file in the same directory, readable by nobody else
// until it has the old file's mode.
func createBeside(path string) (string, int, error) {
	prefix := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".envscrub-"+strconv.Itoa(os.Getpid())+"-")
	for n := range 100 {
		name := prefix + strconv.Itoa(n)
		fd, err := unix.Open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
		if err != unix.EEXIST {
			return name, fd, err
		}
	}
	return "", -1, unix.EEXIST
}

// fill writes the new file, gives it the old one's owner and mode, and closes it.
func fill(fd int, data []byte, old *unix.Stat_t) error {
	err := func() error {
		for len(data) > 0 {
			n, err := unix.Write(fd, data)
			if err == unix.EINTR {
				continue
			}
			if err != nil {
				return err
			}
			data = data[n:]
		}
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return err
		}
		if st.Uid != old.Uid || st.Gid != old.Gid {
			if err := unix.Fchown(fd, int(old.Uid), int(old.Gid)); err != nil {
				return err
			}
		}
		return unix.Fchmod(fd, old.Mode&0o7777)
	}()
	return errors.Join(err, unix.Close(fd))
}
