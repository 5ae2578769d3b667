package doc

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A File is a config.json or a process.json that has been read. It is not safe
// for use by several goroutines.
type File struct {
	path    string
	read    identity
	src     string
	process bool // process.json: the process stands at the top

	top, proc, rootAt, annotationsAt object
	capsAt                           object
	envList, argList, mountList      list
	capLists                         [5]list

	env, args       []string
	envWas, argsWas []string
	caps            [5][]string
	cwd             string
	user            User
	root            Root
	mounts          []Mount
	annotations     map[string]string

	edits     edits
	mountsRaw []string // as they are to be written
	capsRaw   [5][]string
	err       error // the first edit that could not be made
}

// identity tells whether a file is still the one that was read.
type identity struct {
	dev, ino     uint64
	size         int64
	mtime, ctime unix.Timespec
}

func identityOf(st *unix.Stat_t) identity {
	return identity{uint64(st.Dev), st.Ino, st.Size, st.Mtim, st.Ctim}
}

// Open reads a config.json.
func Open(path string) (*File, error) { return open(path, false) }

// OpenProcess reads a process.json, as exec --process takes it.
func OpenProcess(path string) (*File, error) { return open(path, true) }

// Parse reads a config.json that is no file, such as a precreate hook's input.
func Parse(data []byte) (*File, error) { return parse(data, false) }

// ParseProcess reads a process.json that is no file.
func ParseProcess(data []byte) (*File, error) { return parse(data, true) }

func parse(data []byte, process bool) (*File, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("the document has %d bytes, more than the %d that are allowed", len(data), MaxSize)
	}
	f := &File{src: string(data), process: process}
	if err := f.scan(); err != nil {
		return nil, err
	}
	f.envWas, f.argsWas = f.env, f.args
	return f, nil
}

func open(path string, process bool) (_ *File, err error) {
	// Not blocking: a FIFO in the file's place must not hold the engine up.
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err == unix.ELOOP {
		return nil, &os.PathError{Op: "open", Path: path, Err: symlinkError{}}
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if err := regular(path, &st); err != nil {
		return nil, err
	}
	if st.Size > MaxSize {
		return nil, fmt.Errorf("read %s: it has %d bytes, more than the %d that are allowed", path, st.Size, MaxSize)
	}
	data, err := readAll(fd, int(st.Size))
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: path, Err: err}
	}
	f, err := parse(data, process)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	f.path, f.read = path, identityOf(&st)
	return f, nil
}

// readAll reads no more than the size that was checked, and one byte to see
// whether the file grew.
func readAll(fd, size int) ([]byte, error) {
	buf := make([]byte, size+1)
	n := 0
	for n < len(buf) {
		m, err := unix.Read(fd, buf[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if m == 0 {
			break
		}
		n += m
	}
	if n != size {
		return nil, fmt.Errorf("the file changed while it was read: %w", io.ErrUnexpectedEOF)
	}
	return buf[:n], nil
}

// symlinkError says more than ELOOP.
type symlinkError struct{}

func (symlinkError) Error() string { return "it is a symbolic link, which is not followed" }
func (symlinkError) Unwrap() error { return syscall.ELOOP }

func regular(path string, st *unix.Stat_t) error {
	what := ""
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return nil
	case unix.S_IFLNK:
		return &os.PathError{Op: "open", Path: path, Err: symlinkError{}}
	case unix.S_IFDIR:
		what = "a directory"
	case unix.S_IFIFO:
		what = "a named pipe"
	case unix.S_IFSOCK:
		what = "a socket"
	default:
		what = "a device"
	}
	return fmt.Errorf("open %s: it is %s, not a regular file", path, what)
}

// Path returns where the document was read from, "" for Parse.
func (f *File) Path() string { return f.path }

// HasProcess tells whether there is a process at all; the specification lets a
// config.json go without.
func (f *File) HasProcess() bool { return f.proc.present() }

// Env returns process.env, as every runtime reads it.
func (f *File) Env() []string { return f.env }

// Args returns process.args.
func (f *File) Args() []string { return f.args }

// Cwd returns process.cwd.
func (f *File) Cwd() string { return f.cwd }

// User returns process.user.
func (f *File) User() User { return f.user }

// UID returns process.user.uid.
func (f *File) UID() uint32 { return f.user.UID }

// Root returns root.path and root.readonly.
func (f *File) Root() Root { return f.root }

// Mounts returns the mounts in their order.
func (f *File) Mounts() []Mount { return f.mounts }

// Annotations returns the annotations; the map is the caller's to read only.
func (f *File) Annotations() map[string]string { return f.annotations }

// Caps returns the capability sets by the names that the specification gives
// them: bounding, effective, inheritable, permitted, ambient.
func (f *File) Caps() map[string][]string {
	m := make(map[string][]string, len(capKeys))
	for i, set := range f.caps {
		if set != nil {
			m[capKeys[i]] = set
		}
	}
	return m
}
