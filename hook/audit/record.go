package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Syslog as Config.File is the system's log (journald reads it too) instead of a file.
const Syslog = "/dev/log"

// Config is the policy's [audit] table.
type Config struct {
	File    string // "": nowhere; Syslog: the system's log; else an absolute path
	Metrics string // "": none; else node-exporter's text-file directory
}

// Enabled reports whether Record would write anything.
func (c Config) Enabled() bool { return c.File != "" || c.Metrics != "" }

// devLog is a variable for the tests alone.
var devLog = Syslog

// Record writes e where c says. Both places are tried, whatever becomes of the
// other; what to do about an error (a warning, or in strict mode a refusal) is the
// caller's choice.
func Record(c Config, e *Event) error {
	if !c.Enabled() {
		return nil
	}
	var lineErr, countErr error
	switch c.File {
	case "":
	case Syslog:
		lineErr = sendSyslog(e)
	default:
		lineErr = appendFile(c.File, e)
	}
	if c.Metrics != "" {
		countErr = count(c.Metrics, e)
	}
	if lineErr != nil {
		lineErr = fmt.Errorf("audit: %w", lineErr)
	}
	if countErr != nil {
		countErr = fmt.Errorf("audit metrics: %w", countErr)
	}
	return errors.Join(lineErr, countErr)
}

func appendFile(path string, e *Event) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%s: not an absolute path", path)
	}
	// Not blocking, so that a FIFO without a reader cannot hold up a container.
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o640)
	if errors.Is(err, unix.ELOOP) {
		return fmt.Errorf("%s: is a symlink, refused", path)
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return errors.Join(&os.PathError{Op: "stat", Path: path, Err: err}, f.Close())
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return errors.Join(fmt.Errorf("%s: is not a regular file", path), f.Close())
	}
	line := append(e.AppendJSON(make([]byte, 0, 1024), len(e.Removed)), '\n')
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// maxDatagram is below the default socket buffer of Linux (212,992 bytes).
const maxDatagram = 64 << 10

func sendSyslog(e *Event) error {
	const authpriv, notice, warning = 10 << 3, 5, 4
	severity := notice
	if e.Outcome == Refused {
		severity = warning
	}
	head := make([]byte, 0, 2048)
	head = append(head, '<')
	head = strconv.AppendInt(head, int64(authpriv|severity), 10)
	head = append(head, ">envscrub["...)
	head = strconv.AppendInt(head, int64(os.Getpid()), 10)
	head = append(head, "]: "...)
	msg := e.AppendJSON(head, len(e.Removed))
	for limit := len(e.Removed); len(msg) > maxDatagram && limit > 0; {
		limit /= 2
		msg = e.AppendJSON(head, limit)
	}

	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	defer unix.Close(fd)
	// A stuck log daemon must not hold up a container: the socket does not block.
	if err := unix.Sendto(fd, msg, 0, &unix.SockaddrUnix{Name: devLog}); err != nil {
		return fmt.Errorf("%s: %w", devLog, err)
	}
	return nil
}
