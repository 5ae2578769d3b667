//go:build unix

package policy

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// realRoot says whether the process is root of the host, not of a user namespace only.
func realRoot() bool {
	if os.Geteuid() != 0 {
		return false
	}
	data, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return true // no user namespaces here, or none that can be told
	}
	fields := strings.Fields(string(data))
	return len(fields) == 3 && fields[0] == "0" && fields[1] == "0" && fields[2] == "4294967295"
}

// writableByOthers says how others than its owner can write to a file, and what to do; or "". For root, its owner has
// to be root.
func writableByOthers(info fs.FileInfo, root bool) (what string) {
	if info.Mode()&0o002 != 0 {
		return "writable by everybody; chmod o-w"
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && root {
		if info.Mode()&0o020 != 0 && st.Gid != 0 {
			return "writable by a group; chmod g-w"
		}
		if st.Uid != 0 {
			return "owned by another user than root; chown root"
		}
	}
	return ""
}

func readableByOthers(info fs.FileInfo) bool { return info.Mode()&0o007 != 0 }
