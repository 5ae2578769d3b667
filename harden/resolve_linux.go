package harden

import (
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// standardPath is searched where the environment has no PATH.
const standardPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// resolve finds the file of a command as runc does, with the same words where
// it cannot.
func resolve(command string, env []string) (string, *failure) {
	if strings.Contains(command, "/") {
		if errno := executable(command); errno != 0 {
			return "", cannotRun(command, errno)
		}
		return command, nil
	}
	path := standardPath
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = value
		}
	}
	for path != "" && command != "" {
		dir, rest, _ := strings.Cut(path, ":")
		path = rest
		if file := strings.TrimSuffix(dir, "/") + "/" + command; dir != "" && executable(file) == 0 {
			return file, nil
		}
	}
	return "", &failure{exitNotFound, "exec: " + strconv.Quote(command) + ": executable file not found in $PATH"}
}

func executable(file string) syscall.Errno {
	var st syscall.Stat_t
	if err := syscall.Stat(file, &st); err != nil {
		return err.(syscall.Errno)
	}
	if st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		return syscall.EISDIR
	}
	at := atFdcwd
	_, _, errno := syscall.RawSyscall6(sysFaccessat2, uintptr(at), uintptr(unsafe.Pointer(cstring(file))), xOK, atEaccess, 0, 0)
	if errno == syscall.ENOSYS || errno == syscall.EPERM {
		// An old kernel, or a seccomp profile that does not know the call.
		if st.Mode&0o111 != 0 {
			return 0
		}
		return syscall.EACCES
	}
	return errno
}

// cannotRun words a failed execve with the code that shells and engines use.
func cannotRun(command string, errno syscall.Errno) *failure {
	code := exitNotRun
	if errno == syscall.ENOENT || errno == syscall.ENOTDIR {
		code = exitNotFound
	}
	return &failure{code, "exec: " + strconv.Quote(command) + ": " + errno.Error()}
}

func itoa(n int) string { return strconv.Itoa(n) }
