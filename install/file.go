package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxConfig bounds what we are willing to call a configuration file.
const maxConfig = 4 << 20

// File is a configuration file as it was when Read saw it.
type File struct {
	Path   string
	Data   []byte
	Mode   fs.FileMode
	Exists bool

	info     fs.FileInfo
	uid, gid int
}

// Read reads path for a later Write or Remove. A missing file is no error. A
// symlink is refused (what it points to belongs to somebody who is not named
// here), and so is everything that is not a regular file.
func Read(path string) (*File, error) {
	f := &File{Path: path}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	h, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	if f.info, err = h.Stat(); err != nil {
		return nil, err
	}
	if err := regular(path, f.info); err != nil {
		return nil, err
	}
	if f.Data, err = io.ReadAll(io.LimitReader(h, maxConfig+1)); err != nil {
		return nil, err
	}
	if len(f.Data) > maxConfig {
		return nil, fmt.Errorf("%s: larger than %d MiB, not a configuration file", path, maxConfig>>20)
	}
	f.Exists, f.Mode = true, f.info.Mode().Perm()
	f.uid, f.gid = -1, -1
	if st, ok := f.info.Sys().(*syscall.Stat_t); ok {
		f.uid, f.gid = int(st.Uid), int(st.Gid)
	}
	return f, nil
}

func regular(path string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return fmt.Errorf("%s: is a symlink to %s; edit the file that it points to, or replace it by a regular file", path, target)
	case mode.IsDir():
		return fmt.Errorf("%s: is a directory, not a configuration file", path)
	case !mode.IsRegular():
		return fmt.Errorf("%s: is not a regular file", path)
	}
	return nil
}

// Writable reports whether Write or Remove can be expected to succeed.
func (f *File) Writable() error {
	dir := filepath.Dir(f.Path)
	for {
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
			continue
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s: %s is not a directory", f.Path, dir)
		}
		break
	}
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("%s: cannot be changed: the directory %s: %w", f.Path, dir, err)
	}
	if f.Exists {
		// A file that is write-protected, or bind-mounted read-only, was meant to stay as it is.
		if err := unix.Access(f.Path, unix.W_OK); err != nil {
			return fmt.Errorf("%s: cannot be changed: %w", f.Path, err)
		}
		if f.Mode&0o222 == 0 {
			return fmt.Errorf("%s: cannot be changed: its mode is %04o (read-only); allow writing first: chmod u+w %s", f.Path, f.Mode, f.Path)
		}
	}
	return nil
}

// unchanged reports an error if the file is not what Read saw.
func (f *File) unchanged() error {
	now, err := Read(f.Path)
	if err != nil {
		return err
	}
	if now.Exists != f.Exists || !bytes.Equal(now.Data, f.Data) || (f.Exists && !os.SameFile(now.info, f.info)) {
		return changedNow(f.Path)
	}
	return nil
}

func changedNow(path string) error {
	return fmt.Errorf("%s: changed by somebody else just now; nothing was written to it, run the command again", path)
}

// Write replaces the file atomically. The old mode and owner stay; mode is for
// a file that did not exist. Missing directories are made.
func (f *File) Write(data []byte, mode fs.FileMode) error {
	if err := f.Writable(); err != nil {
		return err
	}
	dir := filepath.Dir(f.Path)
	if err := makeDir(dir, mode); err != nil {
		return err
	}
	tmp, err := newPending(f.Path)
	if err != nil {
		return err
	}
	defer tmp.discard()
	if f.Exists {
		mode = f.Mode
		if f.uid >= 0 && (f.uid != os.Geteuid() || f.gid != os.Getegid()) {
			if err := tmp.Chown(f.uid, f.gid); err != nil {
				return fmt.Errorf("keep the owner of %s: %w", f.Path, err)
			}
		}
	}
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Chmod(mode)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", f.Path, err)
	}
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := tmp.place(f.Exists); err != nil {
		return err
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	now, err := Read(f.Path)
	if err != nil {
		return err
	}
	*f = *now
	return nil
}

// makeDir makes the directory of a file of that mode. Only the directory itself is
// closed for a private file: what it stands in, such as /var, is everybody's.
func makeDir(dir string, mode fs.FileMode) error {
	if mode&0o077 != 0 {
		return os.MkdirAll(dir, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Remove deletes the file, if it is still what Read saw.
func (f *File) Remove() error {
	if !f.Exists {
		return nil
	}
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := os.Remove(f.Path); err != nil {
		return err
	}
	f.Exists, f.Data = false, nil
	return syncDir(filepath.Dir(f.Path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	if errors.Is(err, unix.EINVAL) { // some file systems cannot
		return nil
	}
	return err
}
