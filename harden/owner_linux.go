package harden

import (
	"bytes"
	"strconv"
	"strings"
	"syscall"
)

// command is how rules may know what a child executes.
type command struct {
	pid     int
	program string // the program's file, of a script its interpreter's
	script  string // the script's file, if it is one
	name    string // the path that led there, where it can be followed
}

func (c *command) paths() []string {
	var paths []string
	for _, path := range []string{c.program, c.script, c.name} {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// fixed are the paths at which the process's own user could not have put
// something else: any of its processes may lay a file called gh in /tmp, or
// in the agent's own folders, for the agent to find. It costs some twenty
// system calls and is asked only where a rule would apply.
func (c *command) fixed() []string {
	u, ok := userOf(c.pid)
	if !ok || !u.fixed(c.pid, c.program, procPath(c.pid, "exe")) {
		return nil
	}
	paths := []string{c.program}
	if c.name == "" || !u.fixed(c.pid, c.name, "") {
		return paths // and a name that can be turned elsewhere says nothing of which script was read
	}
	if c.script != "" {
		if !u.fixed(c.pid, c.script, "") {
			return paths
		}
		paths = append(paths, c.script)
	}
	return append(paths, c.name)
}

// user is whose process it is.
type user struct {
	uid    uint32
	groups []uint32
}

// userOf reads the real user, who set-user-id programs keep, and the groups.
func userOf(pid int) (u user, ok bool) {
	text, errno := readFile(procPath(pid, "status"))
	if errno != 0 {
		return u, false
	}
	numbers := func(key string) (list []uint32) {
		_, rest, _ := bytes.Cut(text, []byte("\n"+key+":"))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		for _, field := range strings.Fields(string(line)) {
			n, err := strconv.ParseUint(field, 10, 32)
			if err != nil {
				return nil
			}
			list = append(list, uint32(n))
		}
		return list
	}
	uids, gids := numbers("Uid"), numbers("Gid")
	if len(uids) == 0 || len(gids) == 0 {
		return u, false
	}
	return user{uid: uids[0], groups: append(numbers("Groups"), gids...)}, true
}

// writes reports whether the user may change the file or, for a directory,
// what is in it. Root may change all; of root it says whether everybody may.
func (u *user) writes(path string, st *syscall.Stat_t) bool {
	writable := st.Mode&0o002 != 0
	if u.uid != 0 {
		writable = writable || st.Uid == u.uid
		if st.Mode&0o020 != 0 {
			for _, g := range u.groups {
				writable = writable || g == st.Gid
			}
			// With an access list, these bits are its mask.
			n, err := syscall.Getxattr(path, "system.posix_acl_access", nil)
			writable = writable || err == nil && n > 0
		}
	}
	if !writable {
		return false
	}
	var fs syscall.Statfs_t
	return syscall.Statfs(path, &fs) != nil || fs.Flags&stRdonly == 0
}

// fixed reports whether the user can change neither the file at an absolute
// path nor which file that is. With a file given, it has to be that one.
func (u *user) fixed(pid int, path, same string) bool {
	root := procPath(pid, "root")
	var st syscall.Stat_t
	sticky := false
	for end := 0; ; {
		at := root + path[:end]
		if end == 0 {
			at = root + "/"
		}
		if sticky {
			// What is there stays there; a link might be one to any place.
			if syscall.Lstat(at, &st) != nil || st.Mode&syscall.S_IFMT == syscall.S_IFLNK {
				return false
			}
		}
		if syscall.Stat(at, &st) != nil {
			return false
		}
		last := end == len(path)
		directory := st.Mode&syscall.S_IFMT == syscall.S_IFDIR
		if directory == last {
			return false
		}
		next := len(path)
		if !last {
			if i := strings.IndexByte(path[end+1:], '/'); i >= 0 {
				next = end + 1 + i
			}
		}
		sticky = false
		if u.writes(at, &st) {
			// In a sticky directory others' directories are safe. A file may be
			// a hard link of the user's.
			sticky = directory && st.Mode&syscall.S_ISVTX != 0 && (st.Uid != u.uid || u.uid == 0) && next < len(path)
			if !sticky {
				return false
			}
		}
		if last {
			break
		}
		end = next
	}
	if same == "" {
		return true
	}
	var ran syscall.Stat_t
	return syscall.Stat(same, &ran) == nil && ran.Dev == st.Dev && ran.Ino == st.Ino
}
