package hook

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// defaultPath is where a runtime or a libc looks when the container has no PATH.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// A Command is what a container starts with.
type Command struct {
	Args []string
	Env  []string
	Cwd  string
}

// Entrypoint finds what a runtime will execute for cmd below root, a descriptor of the
// container's root directory, with the mounts that are there now. It returns a
// descriptor (O_PATH) for each file that it may be, none where there is no such
// file: the runtime says so itself, in its own words.
//
// Everything below root is hostile. Nothing leads out of it: absolute symbolic
// links and ".." stay inside, the kernel sees to it. /proc's magic links are
// refused.
//
// More than one file comes back where runtimes may differ in which they take: as
// long as a file is not executable for just anybody, what follows in PATH is
// covered too (runc takes the first with any execute bit and then asks the
// kernel, crun asks the kernel from the start). A file that the kernel executes
// for nobody is none, a directory neither.
func Entrypoint(root int, cmd Command) (files []int, err error) {
	defer func() {
		if err != nil {
			for _, fd := range files {
				unix.Close(fd)
			}
			files = nil
		}
	}()
	for path := range cmd.candidates {
		fd, e := openInRoot(root, path)
		if e != nil {
			return files, fmt.Errorf("look for the entrypoint: %w", e)
		}
		if fd < 0 {
			continue
		}
		ok, anybody, e := executable(fd)
		if e != nil || !ok {
			unix.Close(fd)
			if e != nil {
				return files, fmt.Errorf("look at the entrypoint: %w", e)
			}
			continue
		}
		files = append(files, fd)
		if anybody {
			break
		}
	}
	return files, nil
}

// candidates yields the paths that a runtime tries, below the root, in order.
func (c Command) candidates(yield func(string) bool) {
	if len(c.Args) == 0 || c.Args[0] == "" || strings.IndexByte(c.Args[0], 0) >= 0 {
		return
	}
	name := c.Args[0]
	if name[0] == '/' {
		yield(name)
		return
	}
	// Not cleaned: "a/../b" goes through a, which may be a symbolic link.
	if strings.Contains(name, "/") && !yield(c.Cwd+"/"+name) {
		return
	}
	found := false
	for i := len(c.Env) - 1; i >= 0; i-- {
		path, ok := strings.CutPrefix(c.Env[i], "PATH=")
		if !ok {
			continue
		}
		found = true
		if !c.inPath(path, name, yield) {
			return
		}
	}
	if !found {
		c.inPath(defaultPath, name, yield)
	}
}

func (c Command) inPath(path, name string, yield func(string) bool) bool {
	for dir := range strings.SplitSeq(path, ":") {
		if !strings.HasPrefix(dir, "/") {
			dir = c.Cwd + "/" + dir
		}
		if !yield(dir + "/" + name) {
			return false
		}
	}
	return true
}

// openInRoot opens a path below root without leaving it; -1 for one that is not there.
func openInRoot(root int, path string) (int, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	// The kernel gives up with EAGAIN when something anywhere is renamed or
	// mounted while it goes through "..".
	for range 128 {
		fd, err := unix.Openat2(root, path, &how)
		switch err {
		case nil:
			return fd, nil
		case unix.EAGAIN, unix.EINTR:
			continue
		case unix.ENOENT, unix.ENOTDIR, unix.ENAMETOOLONG, unix.EACCES:
			return -1, nil
		case unix.ELOOP:
			how.Resolve &^= unix.RESOLVE_NO_MAGICLINKS
			if fd, err := unix.Openat2(root, path, &how); err == nil {
				unix.Close(fd)
				return -1, errors.New("the path leads through a magic link of /proc")
			}
			return -1, nil
		case unix.ENOSYS:
			return -1, errors.New("openat2: this needs Linux 5.12 or newer")
		default:
			return -1, err
		}
	}
	return -1, errors.New("the root file system does not come to rest")
}

// executable tells whether the kernel would execute a file at all, and whether
// anybody may.
func executable(fd int) (ok, anybody bool, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return false, false, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o111 == 0 {
		return false, false, nil
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return false, false, err
	}
	return fs.Flags&unix.ST_NOEXEC == 0, st.Mode&0o111 == 0o111, nil
}
