package hook

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxPasswd bounds what is read of a passwd file.
const maxPasswd = 1 << 20

// readPasswd returns the text of a passwd file that is open, "" for what is not a regular file.
func readPasswd(fd int) string {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return ""
	}
	buf := make([]byte, min(st.Size, maxPasswd))
	n := 0
	for n < len(buf) {
		m, err := unix.Read(fd, buf[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || m == 0 {
			break
		}
		n += m
	}
	return string(buf[:n])
}

// account is the first user of a number in the text of a passwd file. A line that says no number says no user.
func account(passwd string, uid int) (name, home string) {
	for line := range strings.Lines(passwd) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 3 || f[0] == "" {
			continue
		}
		if n, err := strconv.Atoi(f[2]); err != nil || n != uid {
			continue
		}
		if len(f) > 5 {
			home = f[5]
		}
		return f[0], home
	}
	return "", ""
}
