package stdio_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
)

const secret = "sk-made-up-0123456789"

// bundle is a container whose agent is script and alone has AGENT_KEY; what is
// redacted is nil for nothing.
func bundle(t *testing.T, redact *order.Redact, script string) *rig.Bundle {
	t.Helper()
	root := rig.Rootfs(t)
	b := rig.NewBundle(t, root)
	const shim = "/run/envscrub-shim"
	rig.Write(t, filepath.Join(root, shim), "", 0o755)
	b.Spec.Mounts = append(b.Spec.Mounts, specs.Mount{
		Destination: shim, Type: "bind", Source: rig.Bin(t, "envscrub-shim"), Options: []string{"bind", "ro"},
	})
	o := &order.Order{AgentOnly: []string{"AGENT_KEY"}, Redact: redact}
	b.Spec.Process.Args = []string{shim, "sh", "-c", script}
	b.Spec.Process.Env = append([]string{"PATH=/bin", "AGENT_KEY=" + secret}, o.Environ()...)
	b.Write(t)
	return b
}

// parity: V16
//
// report: buildkite/agent#2623
func TestContainerOutput(t *testing.T) {
	const script = `echo "out $AGENT_KEY"; echo "err $AGENT_KEY" >&2; printf sk-made; sleep 0.2; printf %s\\n -up-0123456789
echo $AGENT_KEY | base64; exit 7`
	for _, rt := range rig.Runtimes(t) {
		t.Run(rt.Name, func(t *testing.T) {
			r := bundle(t, &order.Redact{Forms: []string{"all"}}, script).Run(t, rt)
			if want := "out [REDACTED]\n[REDACTED]\n[REDACTED]"; r.Code != 7 || !strings.HasPrefix(r.Stdout, want) || r.Stderr != "err [REDACTED]\n" {
				t.Errorf("code %d, out %q, err %q", r.Code, r.Stdout, r.Stderr)
			}
			// The counter-test: without the order the same output has it.
			r = bundle(t, nil, script).Run(t, rt)
			if want := "out " + secret + "\n" + secret + "\n"; r.Code != 7 || !strings.HasPrefix(r.Stdout, want) || r.Stderr != "err "+secret+"\n" {
				t.Errorf("without: code %d, out %q, err %q", r.Code, r.Stdout, r.Stderr)
			}
		})
	}
}

// A value that only the order has, as the mount door's may.
func TestContainerOutputOfOrdersValues(t *testing.T) {
	r := bundle(t, &order.Redact{Values: []string{"made-up-file-secret"}}, "echo made-up-file-secret").Run(t, rig.Runtimes(t)[0])
	if r.Code != 0 || r.Stdout != "[REDACTED]\n" {
		t.Errorf("code %d, out %q, err %q", r.Code, r.Stdout, r.Stderr)
	}
}

// The last bytes come out whatever the container's end.
func TestContainerOutputIsComplete(t *testing.T) {
	const size = 1 << 20
	for _, end := range []string{"exit 3", "kill -9 $$", "sleep 100 & exit 0"} {
		r := bundle(t, &order.Redact{}, "head -c 1048576 /dev/zero; printf 'last sk-made'; "+end).Run(t, rig.Runtimes(t)[0])
		if len(r.Stdout) != size+len("last sk-made") || !strings.HasSuffix(r.Stdout, "last sk-made") {
			t.Errorf("%s: %d bytes", end, len(r.Stdout))
		}
	}
}

// A slow reader makes the agent wait.
func TestContainerOutputBackPressure(t *testing.T) {
	b := bundle(t, &order.Redact{}, "yes "+secret+" | head -c 22000000; echo done >&2")
	cmd := rig.Runtimes(t)[0].Command("run", "--bundle", b.Dir, b.ID)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	// A file, which can be looked at while the container runs.
	said := func() string {
		data, err := os.ReadFile(filepath.Join(b.Dir, "stderr"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	errOut, err := os.Create(filepath.Join(b.Dir, "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer errOut.Close()
	cmd.Stderr = errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1<<20)); err != nil {
		t.Fatal(err, said())
	}
	waiting, polls := 0, 0
	rig.Eventually(t, "the pipe to be full", func() bool {
		n, err := unix.IoctlGetInt(int(out.(*os.File).Fd()), unix.TIOCINQ)
		if err != nil || n == 0 || n != waiting {
			polls = 0
		}
		waiting = n
		polls++
		return polls == 10
	})
	if text := said(); text != "" {
		t.Errorf("the agent did not wait: %s", text)
	}
	rest, err := io.Copy(io.Discard, out)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err, said())
	}
	// Each line of 22 bytes has become one of 11. Where the machine was so busy that the time limit released a held
	// beginning of the value (three bytes at most), those are there too.
	if want := int64(22000000/2) - 1<<20; rest < want || rest > want+300 {
		t.Errorf("%d bytes, want %d", rest, want)
	}
}

// A reader that has gone ends the agent as it would have without us.
func TestContainerOutputBrokenPipe(t *testing.T) {
	for name, redact := range map[string]*order.Redact{"with": {}, "without": nil} {
		b := bundle(t, redact, "yes")
		cmd := rig.Runtimes(t)[0].Command("run", "--bundle", b.Dir, b.ID)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		out.Close()
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGPIPE) {
			t.Errorf("%s: exit code %d", name, code)
		}
	}
}

// With a terminal the agent has one: its size, its signals, its job control.
//
// report: dmno-dev/varlock PR#981, PR#770
func TestContainerTerminal(t *testing.T) {
	for _, rt := range rig.Runtimes(t) {
		t.Run(rt.Name, func(t *testing.T) {
			b := bundle(t, &order.Redact{}, `echo $AGENT_KEY; stty size; test -t 0 && test -t 1 && test -t 2 && printf 'Which one is'; read x; echo "got $x"
while test -e /resize && test "$(stty size)" = "24 80"; do sleep 0.05; done; stty size; trap 'echo caught; exit 4' INT; echo wait; while :; do sleep 0.1; done`)
			resizes := rt.Name == "runc" // crun tells its container nothing
			after := "24 80"
			if resizes {
				rig.Write(t, filepath.Join(b.Spec.Root.Path, "resize"), "", 0o644)
				after = "30 100"
			}
			b.Spec.Process.Terminal = true
			b.Spec.Process.ConsoleSize = &specs.Box{Height: 24, Width: 80}
			b.Write(t)
			s := rig.OnTerminal(t, rt.Command("run", "--bundle", b.Dir, b.ID), 80)
			s.Expect("[REDACTED]\r\n24 80\r\nWhich one is")
			s.Type("it\r")
			s.Expect("got it\r\n")
			if err := pty.Setsize(s.TTY, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
				t.Fatal(err)
			}
			s.Expect(after + "\r\nwait\r\n")
			s.Type("\x03")
			s.Expect("caught\r\n")
			if code := s.Exit(); code != 4 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// With nothing to look for the agent's streams are the container's own.
func TestContainerWithoutSecrets(t *testing.T) {
	b := bundle(t, &order.Redact{}, "readlink /proc/self/fd/1")
	b.Spec.Process.Env = append([]string{"PATH=/bin", "AGENT_KEY="}, (&order.Order{AgentOnly: []string{"AGENT_KEY"}, Redact: &order.Redact{}}).Environ()...)
	b.Write(t)
	c := b.Create(t, rig.Runtimes(t)[0])
	if r := c.Start(); r.Code != 0 {
		t.Fatal(r.Stderr)
	}
	c.Wait()
	if got := c.Output(); !strings.HasSuffix(got, "/output\n") {
		t.Errorf("%q", got)
	}
}
