package guardtest

import (
	"testing"

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
			s := rig.OnTerminal(t, rt.Command("run", "--bundle", b.Dir, b.ID), 200)
			s.Expect("$ ")
			s.Ask("stand\r", "leads session: no, leads group: yes, foreground: yes")
			s.Ask("/probe/init count\r", "ready")
			s.Ask("\x1a", "Stopped")
			s.Ask("jobs; echo aft\"\"er\r", "after")
			s.Expect("$ ")
			s.Ask("fg\r", "goes on")
			s.Ask("\x03", "$ ")
			s.Ask("echo co\"\"de $?\r", "code 130")
			s.Ask("/probe/init count\r", "ready")
			s.Ask("\x1c", "Quit")
			s.Expect("$ ")
			s.Ask("exit 6\r", "exit")
			if code := s.Exit(); code != 6 {
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
			s := rig.OnTerminal(t, rt.Command("run", "--bundle", b.Dir, b.ID), 80)
			s.Expect("ready")
			s.Type(c.key)
			if code := s.Exit(); code != c.code {
				t.Errorf("%q: code %d", c.key, code)
			}
		}
	})
}
