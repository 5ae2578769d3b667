package cli_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/envscrub/envscrub/hack/rig"
)

const secret = "sk-made-up-0123456789"

func secretsFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secrets")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func redactCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return exec.Command(rig.Bin(t, "envscrub"), append([]string{"redact", "--secrets", secretsFile(t), "--"}, args...)...)
}

// What is no file of secrets is refused with one line, and nothing goes through.
func TestRedactRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, size int64, text string) string {
		path := filepath.Join(dir, name)
		rig.Write(t, path, text, 0o600)
		if size > 0 {
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	good := file("good", 0, secret+"\n")
	for name, args := range map[string][]string{
		"missing":                  {"--secrets", filepath.Join(dir, "missing")},
		"no name":                  {"--secrets", ""},
		"a directory":              {"--secrets", dir},
		"1 GiB":                    {"--secrets", file("big", 1<<30, "")},
		"endless":                  {"--secrets0", "/dev/zero"},
		"one long line":            {"--secrets", file("long", 100<<10, "")},
		"too many":                 {"--secrets", file("many", 0, strings.Repeat("made-up-value\n", 10001))},
		"a good one and a bad one": {"--secrets", good, "--secrets0", filepath.Join(dir, "missing")},
		"standard input twice":     {"--secrets", "-"},
		"no such form":             {"--secrets", good, "--forms", "rot13"},
		"negative time":            {"--secrets", good, "--hold=-1s"},
		"a command without --":     {"--secrets", good, "cat"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(rig.Bin(t, "envscrub"), append([]string{"redact"}, args...)...)
			cmd.Stdin = strings.NewReader("what goes through: " + secret)
			r := rig.Run(t, cmd)
			if r.Code == 0 || r.Stdout != "" || strings.Count(r.Stderr, "\n") != 1 || !strings.HasPrefix(r.Stderr, "envscrub: ") || strings.Contains(r.Stderr, secret) {
				t.Errorf("code %d, out %q, err %q", r.Code, r.Stdout, r.Stderr)
			}
		})
	}
}

// Values that are too short are named, not all of many, and never shown.
//
// report: jenkinsci/credentials-binding PR#80
func TestRedactNamesShortValues(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secrets")
	rig.Write(t, file, "\nx\n123\npassword\n"+strings.Repeat("hunter2\n", 20), 0o600)
	cmd := exec.Command(rig.Bin(t, "envscrub"), "redact", "--secrets", file)
	cmd.Stdin = strings.NewReader("x 123 password hunter2\n")
	r := rig.Run(t, cmd)
	if r.Code != 0 || r.Stdout != "x 123 [REDACTED] hunter2\n" {
		t.Errorf("code %d, out %q", r.Code, r.Stdout)
	}
	if strings.Count(r.Stderr, "\n") != 11 || !strings.Contains(r.Stderr, file+": line 2: shorter than 8 bytes") || !strings.Contains(r.Stderr, "and 12 values more") || strings.Contains(r.Stderr, "hunter2") {
		t.Errorf("err %q", r.Stderr)
	}
}

// parity: V16
func TestRedactCommand(t *testing.T) {
	for _, tt := range []struct {
		name, script, out, err string
		code                   int
		signal                 syscall.Signal
	}{
		{"both streams", "echo a " + secret + "; echo b " + secret + " >&2", "a [REDACTED]\n", "b [REDACTED]\n", 0, 0},
		{"exit code", "exit 42", "", "", 42, 0},
		{"killed", "echo " + secret + "; kill -KILL $$", "[REDACTED]\n", "", -1, syscall.SIGKILL},
		{"terminated", "kill -TERM $$", "", "", -1, syscall.SIGTERM},
		{"no line end", "printf 'sk-made'", "sk-made", "", 0, 0},
		{"in pieces", "printf sk-made; sleep 0.3; printf %s -up-0123456789", "[REDACTED]", "", 0, 0},
		{"something left running", "sleep 3 & echo done", "done\n", "", 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			cmd := redactCommand(t, "sh", "-c", tt.script)
			cmd.Stdout, cmd.Stderr = &out, &errOut
			err := cmd.Run()
			if e, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
				t.Fatal(err)
			} else if ok && tt.code == 0 && tt.signal == 0 {
				t.Errorf("%v: %s", e, &errOut)
			}
			if code := cmd.ProcessState.ExitCode(); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if s := cmd.ProcessState.Sys().(syscall.WaitStatus); tt.signal != 0 && s.Signal() != tt.signal {
				t.Errorf("signal %v, want %v", s.Signal(), tt.signal)
			}
			if out.String() != tt.out || errOut.String() != tt.err {
				t.Errorf("out %q, err %q; want %q, %q", &out, &errOut, tt.out, tt.err)
			}
		})
	}
}

// Where standard output and error are one file their order is kept.
func TestRedactKeepsOrderOfOneFile(t *testing.T) {
	out, err := redactCommand(t, "sh", "-c", `i=0; while [ $i -lt 200 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done`).CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range 200 {
		for _, c := range "oe" {
			want.WriteString(string(c))
			want.WriteString(strconv.Itoa(i))
			want.WriteByte('\n')
		}
	}
	if string(out) != want.String() {
		t.Errorf("%q", out)
	}
}

// A reader that goes away ends the command, as in any pipeline.
func TestRedactBrokenPipe(t *testing.T) {
	cmd := redactCommand(t, "sh", "-c", "yes "+secret)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		cmd.Process.Kill()
		t.Fatal("it goes on")
	}
}

// A terminal is what a program has to find there: E3.
//
// report: dmno-dev/varlock PR#981, PR#770
func TestRedactOnTerminal(t *testing.T) {
	s := rig.OnTerminal(t, redactCommand(t, "sh", "-c", `test -t 0 && test -t 1 && test -t 2 && stty size; echo `+secret+`; printf 'Which one is'; read x; echo "got $x"; while test "$(stty size)" = "24 80"; do sleep 0.02; done; stty size`), 80)
	s.Expect("24 80\r\n[REDACTED]\r\nWhich one is")
	if err := pty.Setsize(s.TTY, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	s.Type("it\r")
	s.Expect("got it\r\n30 100\r\n")
	if err := s.Cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestRedactInterruptOnTerminal(t *testing.T) {
	s := rig.OnTerminal(t, redactCommand(t, "sh", "-c", `trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 0.1; done`), 80)
	s.Expect("ready")
	s.Type("\x03")
	s.Expect("caught")
	s.Cmd.Wait()
	if code := s.Cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d", code)
	}
}

// Job control, with a real shell around it.
func TestRedactJobControl(t *testing.T) {
	rig.Need(t, "bash")
	inner := redactCommand(t, "sh", "-c", `echo started; read a; echo "read $a"`)
	cmd := exec.Command("bash", "--norc", "--noprofile", "-i")
	cmd.Env = append(os.Environ(), "PS1=@ ", "HISTFILE=", "TERM=dumb")
	s := rig.OnTerminal(t, cmd, 80)
	s.Expect("@ ")
	quoted := make([]string, len(inner.Args))
	for i, a := range inner.Args {
		quoted[i] = "'" + a + "'"
	}
	s.Type(strings.Join(quoted, " ") + "\n")
	s.Expect("started\r\n")
	s.Type("\x1a")
	s.Expect("Stopped")
	s.Expect("@ ")
	s.Type("stty -a | grep -o -w -e -icanon -e icanon; echo " + "still-here\n")
	s.Expect("\nicanon\r\nstill-here")
	s.Type("fg\n")
	s.Expect("redact") // bash says what it continues; what is typed from here on waits for it
	s.Type("again\n")
	s.Expect("read again")
	s.Expect("@ ")
	s.Type("exit\n")
	if err := s.Cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// Only one of the streams is a terminal: it stays one.
func TestRedactHalfOnTerminal(t *testing.T) {
	cmd := redactCommand(t, "sh", "-c", `test -t 1 || echo "out is none `+secret+`"; test -t 2 && echo "err is one `+secret+`" >&2`)
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, slave
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	s := rig.NewScreen(t, master, cmd)
	s.Expect("err is one [REDACTED]\r\n")
	if got, want := out.String(), "out is none [REDACTED]\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
