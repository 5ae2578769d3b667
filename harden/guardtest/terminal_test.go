package guardtest

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
)

// An agent with a terminal: it leads the session, its group is in front, the terminal's keys reach it and its jobs, and
// a shell has job control.
func TestTerminal(t *testing.T) {
	rig.Need(t, "bash")
	each(t, func(t *testing.T, rt rig.Runtime) {
		for name, o := range map[string]*order.Order{"on": on(), "off": off()} {
			b := agent{host: true, order: o, args: []string{"/bin/bash", "--norc", "-i"}, env: []string{"PS1=$ ", "TERM=dumb"}}.bundle(t)
			b.Spec.Process.Terminal = true
			b.Write(t)
			cmd := rt.Command("run", "--bundle", b.Dir, b.ID)
			tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 200})
			if err != nil {
				t.Fatal(err)
			}
			defer tty.Close()
			s := &screen{t: t, name: name, tty: tty, read: make(chan string, 1000)}
			go s.pump()
			s.expect("$ ")
			s.send("stand\r", "leads session: no, leads group: yes, foreground: yes")
			s.send("/probe/init count\r", "ready")
			s.send("\x1a", "Stopped")
			s.send("jobs; echo aft\"\"er\r", "after")
			s.expect("$ ")
			s.send("fg\r", "goes on")
			s.send("\x03", "$ ")
			s.send("echo co\"\"de $?\r", "code 130")
			s.send("/probe/init count\r", "ready")
			s.send("\x1c", "Quit")
			s.expect("$ ")
			s.send("exit 6\r", "exit")
			s.wait(cmd)
			if code := cmd.ProcessState.ExitCode(); code != 6 {
				t.Errorf("%s: code %d", name, code)
			}
		}
	})
}

// The terminal's keys reach an agent that is no shell, too.
func TestTerminalKeys(t *testing.T) {
	each(t, func(t *testing.T, rt rig.Runtime) {
		for _, c := range []struct {
			key  string
			code int
		}{{"\x03", 130}, {"\x1c", 131}} {
			b := agent{order: on(), args: []string{"/probe/init", "count"}}.bundle(t)
			b.Spec.Process.Terminal = true
			b.Write(t)
			cmd := rt.Command("run", "--bundle", b.Dir, b.ID)
			tty, err := pty.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer tty.Close()
			s := &screen{t: t, tty: tty, read: make(chan string, 1000)}
			go s.pump()
			s.expect("ready")
			s.send(c.key, "")
			s.wait(cmd)
			if code := cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("%q: code %d", c.key, code)
			}
		}
	})
}

// screen is the other end of a terminal.
type screen struct {
	t    *testing.T
	name string
	tty  *os.File
	read chan string
	seen string
}

func (s *screen) pump() {
	defer close(s.read)
	for buf := make([]byte, 4096); ; {
		n, err := s.tty.Read(buf)
		if n > 0 {
			s.read <- string(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// wait waits for the end of the runtime, whose last words have to be read.
func (s *screen) wait(cmd *exec.Cmd) {
	s.t.Helper()
	timer := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	if !timer.Stop() {
		s.t.Fatalf("%s: the container did not end; %q", s.name, s.seen)
	}
}

// send types keys and waits for an answer.
func (s *screen) send(keys, answer string) {
	s.t.Helper()
	if _, err := io.WriteString(s.tty, keys); err != nil {
		s.t.Fatal(err)
	}
	s.expect(answer)
}

func (s *screen) expect(text string) {
	s.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		if _, after, ok := strings.Cut(s.seen, text); ok {
			s.seen = after
			return
		}
		select {
		case more, ok := <-s.read:
			if !ok {
				s.t.Fatalf("%s: %q did not come, but %q", s.name, text, s.seen)
			}
			s.seen += more
		case <-limit:
			s.t.Fatalf("%s: %q did not come, but %q", s.name, text, s.seen)
		}
	}
}
