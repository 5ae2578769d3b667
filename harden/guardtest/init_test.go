package guardtest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
)

func TestExitCodes(t *testing.T) {
	t.Run("processes", func(t *testing.T) {
		t.Parallel()
		for code := range 256 {
			if r := rig.Run(t, process(t, on(), "init", "exit", strconv.Itoa(code))); r.Code != code || r.Stdout+r.Stderr != "" {
				t.Errorf("%d: code %d, %s%s", code, r.Code, r.Stdout, r.Stderr)
			}
		}
	})
	each(t, func(t *testing.T, rt rig.Runtime) {
		for _, code := range []int{0, 7, 255} {
			if r := (agent{order: on(), args: []string{"init", "exit", strconv.Itoa(code)}}).run(t, rt); r.Code != code || r.Stdout+r.Stderr != "" {
				t.Errorf("%d: code %d, %s%s", code, r.Code, r.Stdout, r.Stderr)
			}
		}
	})
}

// An agent that dies of a signal: 128+n, as a shell says it.
func TestDeathsBySignal(t *testing.T) {
	t.Parallel()
	for sig := 1; sig <= 64; sig++ {
		switch syscall.Signal(sig) {
		case syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGURG, syscall.SIGWINCH, syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU:
			continue // they kill nobody
		}
		if r := rig.Run(t, process(t, on(), "init", "die", strconv.Itoa(sig))); r.Code != 128+sig {
			t.Errorf("signal %d: code %d, %s%s", sig, r.Code, r.Stdout, r.Stderr)
		}
	}
	r := agent{order: on(), args: []string{"init", "die", "9"}}.run(t, rig.Runtimes(t)[0])
	if r.Code != 137 {
		t.Errorf("in a container: code %d, %s", r.Code, r.Stderr)
	}
}

// The words and codes of a command that cannot be run.
func TestCannotRun(t *testing.T) {
	t.Parallel()
	dir := rig.TempDir(t)
	rig.Write(t, filepath.Join(dir, "plain"), "text", 0o644)
	rig.Write(t, filepath.Join(dir, "garbage"), "\x00\x01", 0o755)
	for _, c := range []struct {
		command, text string
		code          int
	}{
		{"no-such-command", `exec: "no-such-command": executable file not found in $PATH`, 127},
		{"/no/such/file", `exec: "/no/such/file": no such file or directory`, 127},
		{filepath.Join(dir, "plain"), "permission denied", 126},
		{filepath.Join(dir, "garbage"), "exec format error", 126},
		{dir, "is a directory", 126},
	} {
		if r := rig.Run(t, process(t, on(), c.command)); r.Code != c.code || !strings.Contains(r.Stderr, c.text) {
			t.Errorf("%s: code %d, %s", c.command, r.Code, r.Stderr)
		}
	}
}

// running is a started agent and the lines that it prints.
type running struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func start(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// A test that waits for a line must not wait for ever.
	timer := time.AfterFunc(rig.Limit/2, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		timer.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &running{t, cmd, bufio.NewScanner(out)}
}

func (r *running) line() string {
	r.t.Helper()
	if !r.lines.Scan() {
		r.t.Fatalf("the agent's output ended: %v", r.lines.Err())
	}
	return r.lines.Text()
}

func (r *running) signal(sig syscall.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(sig); err != nil {
		r.t.Fatal(err)
	}
}

// child is the only child of a process.
func child(t *testing.T, pid int) int {
	t.Helper()
	out, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	first, _, _ := strings.Cut(string(out), " ")
	n, err2 := strconv.Atoi(first)
	if err != nil || err2 != nil {
		t.Fatalf("children of %d: %q, %v", pid, out, err)
	}
	return n
}

// state is a process's state, as /proc has it: R, S, T, t, …
func state(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return rest[:1]
}

// Every signal that a process can catch reaches the agent, once.
func TestSignalsAreForwarded(t *testing.T) {
	t.Parallel()
	r := start(t, process(t, on(), "init", "signals"))
	if got := r.line(); got != "ready" {
		t.Fatal(got)
	}
	for sig := syscall.Signal(1); sig <= 64; sig++ {
		switch sig {
		case syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGCHLD:
			continue // the guard's own
		case 32, 33:
			continue // the C library's own
		}
		r.signal(sig)
		if got := r.line(); got != strconv.Itoa(int(sig)) {
			t.Fatalf("signal %d: got %s", sig, got)
		}
	}
}

// What an engine's stop does: SIGTERM ends an agent at once, with its own code where it has one to give.
func TestStopIsPrompt(t *testing.T) {
	each(t, func(t *testing.T, rt rig.Runtime) {
		for script, code := range map[string]string{"trap 'exit 3' TERM; echo ready; sleep 1000 & wait": "3", "echo ready; exec /probe/init count": "143"} {
			b := agent{order: on(), args: []string{"/bin/sh", "-c", script}}.bundle(t)
			cmd := rt.Command("run", "--bundle", b.Dir, b.ID)
			r := start(t, cmd)
			r.line()
			if out := rig.Run(t, rt.Command("kill", b.ID, "TERM")); out.Code != 0 {
				t.Fatal(out.Stderr)
			}
			_ = cmd.Wait()
			if got := strconv.Itoa(cmd.ProcessState.ExitCode()); got != code {
				t.Errorf("%s: code %s", script, got)
			}
		}
	})
}

func TestOrphansAreReaped(t *testing.T) {
	each(t, func(t *testing.T, rt rig.Runtime) {
		checkOutput(t, "on", agent{order: on(), args: []string{"init", "orphans", "100"}}.run(t, rt), "left 0\n")
		checkOutput(t, "children are not traced", agent{order: &order.Order{}, args: []string{"init", "orphans", "100"}}.run(t, rt), "left 0\n")
	})
}

// A stopped agent stays stopped, and goes on.
func TestStopAndContinue(t *testing.T) {
	t.Parallel()
	r := start(t, process(t, on(), "init", "count"))
	r.line()
	pid := child(t, r.cmd.Process.Pid)
	for range 3 {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		rig.Eventually(t, "the agent to stop", func() bool { s := state(pid); return s == "T" || s == "t" })
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		rig.Eventually(t, "the agent to go on", func() bool { return state(pid) == "R" })
	}
}

// The agent does not outlive its guard.
func TestAgentDiesWithItsGuard(t *testing.T) {
	t.Parallel()
	r := start(t, process(t, on(), "init", "count"))
	r.line()
	pid := child(t, r.cmd.Process.Pid)
	r.signal(syscall.SIGKILL)
	rig.Eventually(t, "the agent to die", func() bool { return !rig.Running(pid) })
}

// A container's own init stays process 1 with nothing in its environment, and the guard stands behind it.
func TestBehindAnInit(t *testing.T) {
	for _, c := range []struct {
		program string
		options []string
	}{
		{"/usr/bin/tini-static", nil},
		{"/usr/bin/tini", []string{"-s", "--"}},
		{"/usr/bin/tini", []string{"-g", "-p", "SIGTERM"}},
		{"/usr/bin/docker-init", []string{"--"}},
		{"/usr/bin/dumb-init", nil},
		{"/usr/bin/dumb-init", []string{"--single-child", "--rewrite", "15:2", "--"}},
		{"/usr/bin/catatonit", []string{"--"}},
	} {
		t.Run(filepath.Base(c.program)+strings.Join(c.options, " "), func(t *testing.T) {
			rig.Need(t, c.program)
			each(t, func(t *testing.T, rt rig.Runtime) {
				args := append(append([]string{c.program}, c.options...), "/probe/agent", "run", "/probe/behind", "@")
				want := "agent: has the key\n" + allDenied
				r := agent{host: true, uid: 1000, order: on(), args: args}.run(t, rt)
				if !strings.HasPrefix(r.Stdout, want) || !strings.HasSuffix(r.Stdout, "child: clean\n"+filepath.Base(c.program)+"\n") || strings.Contains(r.Stdout, "first leak: environ") || r.Code != 7 {
					t.Errorf("code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
				}
				// A stop goes through both.
				b := agent{host: true, uid: 1000, order: on(), args: append(append([]string{c.program}, c.options...), "/probe/stops")}.bundle(t)
				cmd := rt.Command("run", "--bundle", b.Dir, b.ID)
				running := start(t, cmd)
				running.line()
				if out := rig.Run(t, rt.Command("kill", b.ID, "TERM")); out.Code != 0 {
					t.Fatal(out.Stderr)
				}
				_ = cmd.Wait()
				if code := cmd.ProcessState.ExitCode(); code != 3 {
					t.Errorf("stop: code %d", code)
				}
			})
		})
	}
}
