package rig

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// A Screen is the other end of a program's terminal: what a person types and sees.
type Screen struct {
	TTY  *os.File
	Cmd  *exec.Cmd
	t    testing.TB
	read chan string
	seen string
}

// hangLimit is when a terminal that says nothing, or a program that does not end, counts as hung.
const hangLimit = time.Minute

// OnTerminal starts a command on a terminal of 24 rows and some columns.
func OnTerminal(t testing.TB, cmd *exec.Cmd, columns uint16) *Screen {
	t.Helper()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: columns})
	if err != nil {
		t.Fatal(err)
	}
	return NewScreen(t, tty, cmd)
}

// NewScreen watches a terminal whose program, cmd, is started already. The test's end ends it.
func NewScreen(t testing.TB, tty *os.File, cmd *exec.Cmd) *Screen {
	s := &Screen{TTY: tty, Cmd: cmd, t: t, read: make(chan string, 1000)}
	go func() {
		defer close(s.read)
		for buf := make([]byte, 4096); ; {
			n, err := tty.Read(buf)
			if n > 0 {
				s.read <- string(buf[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = tty.Close()
	})
	return s
}

// Type types keys.
func (s *Screen) Type(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.TTY, keys); err != nil {
		s.t.Fatal(err)
	}
}

// Expect reads until the text has come.
func (s *Screen) Expect(text string) {
	s.t.Helper()
	limit := time.After(hangLimit)
	for {
		if _, after, ok := strings.Cut(s.seen, text); ok {
			s.seen = after
			return
		}
		select {
		case more, ok := <-s.read:
			if !ok {
				s.t.Fatalf("%s: %q did not come, but %q", s.Cmd, text, s.seen)
			}
			s.seen += more
		case <-limit:
			s.t.Fatalf("%s: %q did not come, but %q", s.Cmd, text, s.seen)
		}
	}
}

// Ask types keys and waits for an answer.
func (s *Screen) Ask(keys, answer string) {
	s.t.Helper()
	s.Type(keys)
	s.Expect(answer)
}

// Exit waits for the program's end and returns its exit code.
func (s *Screen) Exit() int {
	s.t.Helper()
	timer := time.AfterFunc(hangLimit, func() { _ = s.Cmd.Process.Kill() })
	_ = s.Cmd.Wait()
	if !timer.Stop() {
		s.t.Fatalf("%s: it did not end; %q", s.Cmd, s.seen)
	}
	return s.Cmd.ProcessState.ExitCode()
}
