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
// More than one file comes back where runtimes differ in which they take: they look
// in different places for some names, and as long as a file is not executable for
// just anybody, what follows in PATH counts too (runc takes the first with any
// execute bit and then asks the kernel, crun asks the kernel from the start). A file
// that the kernel executes for nobody is none, a directory neither.
func Entrypoint(root int, cmd Command) (files []int, err error) {
	defer func() {
		if err != nil {
			for _, fd := range files {
				unix.Close(fd)
			}
			files = nil
		}
	}()
	for _, search := range cmd.searches() {
		for _, path := range search {
			fd, anybody, e := find(root, path)
			if e != nil {
				return files, fmt.Errorf("look for the entrypoint: %w", e)
			}
			if fd >= 0 {
				files = append(files, fd)
			}
			if anybody {
				break
			}
		}
	}
	return files, nil
}

// searches are the ways in which runtimes look for the command: in each of them the
// first path counts that can be executed.
func (c Command) searches() (all [][]string) {
	if len(c.Args) == 0 || c.Args[0] == "" || strings.IndexByte(c.Args[0], 0) >= 0 {
		return nil
	}
	name := c.Args[0]
	if name[0] == '/' {
		return [][]string{{name}}
	}
	// crun takes what begins with a dot as relative, runc what has a slash. It is not
	// cleaned: "a/../b" goes through a, which may be a symbolic link.
	if name[0] == '.' || strings.Contains(name, "/") {
		all = append(all, []string{c.Cwd + "/" + name})
	}
	// Of two PATHs the last counts, for the runtimes that are known.
	found := false
	for i := len(c.Env) - 1; i >= 0; i-- {
		if path, ok := strings.CutPrefix(c.Env[i], "PATH="); ok {
			all = append(all, c.inPath(path, name))
			found = true
		}
	}
	if !found {
		all = append(all, c.inPath(defaultPath, name))
	}
	return all
}

func (c Command) inPath(path, name string) (paths []string) {
	for dir := range strings.SplitSeq(path, ":") {
		if !strings.HasPrefix(dir, "/") {
			dir = c.Cwd + "/" + dir
		}
		paths = append(paths, dir+"/"+name)
	}
	return paths
}

// find opens a path below root, if it is there and the kernel would execute it; -1 otherwise.
func find(root int, path string) (fd int, anybody bool, err error) {
	fd, err = openInRoot(root, path)
	if err != nil || fd < 0 {
		return -1, false, err
	}
	ok, anybody, err := executable(fd)
	if err != nil || !ok {
		unix.Close(fd)
		return -1, false, err
	}
	return fd, anybody, nil
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
