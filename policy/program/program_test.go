//go:build unix

package program

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/envscrub/envscrub/policy"
)

const secret = "kd83-Hn2k-Pq9z-made-up"

// script makes a program that a policy can name.
func script(t *testing.T, body string) policy.HookProgram {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hook")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+body), 0o700); err != nil {
		t.Fatal(err)
	}
	return policy.HookProgram{Command: []string{file, "one arg"}, Timeout: 10 * time.Second, At: policy.Position{File: "policy.toml", Line: 3}}
}

func hook(t *testing.T, p policy.HookProgram) policy.Hook {
	t.Helper()
	v, err := policy.Default().For(policy.Subject{})
	if err != nil {
		t.Fatal(err)
	}
	return Runner(v, []string{"PATH=" + os.Getenv("PATH"), "GH_TOKEN=" + secret})(p)
}

func given() policy.Context {
	return policy.Context{
		Purpose: "container", Command: "/bin/agent", Args: []string{"-x", "\xff"}, Dir: "/work",
		Env: policy.Environ{"Z=1", "A=two\nlines", "BYTES=\xff\xfe", "E="}, Scope: "s", Session: "t", Origin: "docker",
	}
}

// parity: V8
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name, body, want string
	}{
		{"unchanged", "cat", "Z=1 A=two\nlines BYTES=\xff\xfe E="},
		{
			"changed", `cat >/dev/null; echo '{"purpose":"x","command":"/bin/other","args":[],"cwd":"/","env":{"NEW":"1","A":null,"BYTES":"plain","Z":"2"}}'`,
			"Z=2 BYTES=plain NEW=1",
		},
		{"input not read", `echo '{"command":"c","args":["a"],"cwd":"","env":{}}'`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := hook(t, script(t, c.body))(t.Context(), given())
			if err != nil {
				t.Fatal(err)
			}
			if env := strings.Join(got.Env, " "); env != c.want {
				t.Errorf("%q, want %q", env, c.want)
			}
			if c.name == "unchanged" && (got.Command != "/bin/agent" || got.Dir != "/work" || !slices.Equal(got.Args, []string{"-x", "\xff"})) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name, body, want string
	}{
		{"exit code", "exit 3", "exit status 3"},
		{"exit code and words", "echo 'not on Sundays' >&2; echo more >&2; exit 1", "exit status 1: not on Sundays"},
		// parity: V10
		{"words with values", `in=$(cat); echo "$in" >&2; exit 1`, "exit status 1: "},
		{"killed", "kill -9 $$", "signal: killed"},
		{"nothing", "cat >/dev/null", "answered what is not a context: it is not a JSON object"},
		{"no JSON", "echo made-up", "answered what is not a context: it is not a JSON object"},
		{"a list", "echo '[]'", "answered what is not a context: it has the wrong type"},
		{"null", "echo null", "answered without command"},
		{"without command", `echo '{"args":[],"cwd":"","env":{}}'`, "answered without command"},
		{"without args", `echo '{"command":"x","cwd":"","env":{}}'`, "answered without args"},
		{"args null", `echo '{"command":"x","args":null,"cwd":"","env":{}}'`, "answered without args"},
		{"without cwd", `echo '{"command":"x","args":[],"env":{}}'`, "answered without cwd"},
		{"without env", `echo '{"command":"x","args":[],"cwd":""}'`, "answered without env"},
		{"wrong type", `echo '{"command":"x","args":[],"cwd":"","env":{"A":1}}'`, "answered what is not a context: env has the wrong type"},
		{"unknown field", `echo '{"command":"x","args":[],"cwd":"","env":{},"made-up":1}'`, "answered what is not a context: it has an unknown field"},
		{"two answers", `echo '{"command":"x","args":[],"cwd":"","env":{}} {}'`, "answered more than one JSON object"},
		{"name with =", `echo '{"command":"x","args":[],"cwd":"","env":{"A=B":""}}'`, "answered with a variable whose name holds '='"},
		{"too much", "yes 0123456789", "printed more than 1 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := script(t, c.body)
			s := given()
			s.Env = append(s.Env, "KEPT="+secret)
			got, err := hook(t, p)(t.Context(), s)
			if got != nil || err == nil || !strings.HasPrefix(err.Error(), "policy.toml:3: "+p.Command[0]+": "+c.want) {
				t.Fatalf("got %v, %v", got, err)
			}
			if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "made-up") || strings.ContainsAny(err.Error(), "\n") {
				t.Errorf("the error repeats what it must not: %v", err)
			}
		})
	}
	p := policy.HookProgram{Command: []string{"/nonexistent/hook"}, Timeout: time.Second}
	if _, err := hook(t, p)(t.Context(), given()); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// The program and what it started are gone when time is up, also if that keeps its pipes open.
func TestTimeout(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() {
		// The end comes when no process has the pipe open any more.
		_, err := os.ReadFile(pipe)
		gone <- err
	}()
	p := script(t, "exec 9>'"+pipe+"'; sleep 60 & sleep 60")
	p.Timeout = 500 * time.Millisecond
	_, err := hook(t, p)(t.Context(), given())
	if err == nil || !strings.HasSuffix(err.Error(), "gave no answer within 500ms") {
		t.Error(err)
	}
	select {
	case err := <-gone:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("a process of the hook lived on")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := hook(t, p)(ctx, given()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// report: runc PR#4323: a helper never gets the environment of the daemon.
func TestOwnEnvironment(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "env")
	p := script(t, "env -0 >'"+out+"'; echo \"$1\" >'"+out+".arg'; cat")
	if _, err := hook(t, p)(t.Context(), given()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte(secret)) || !bytes.Contains(data, []byte("PATH=")) {
		t.Errorf("%q", data)
	}
	if arg, _ := os.ReadFile(out + ".arg"); string(arg) != "one arg\n" {
		t.Errorf("%q", arg)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"command":"x","args":["a"],"cwd":"/","env":{"A":"1","B":null}}`))
	f.Add([]byte(`{"env":{"A":"\ud800"}}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := given()
		next, err := decode(data, &c)
		if (next == nil) == (err == nil) {
			t.Error("neither or both")
		}
		if err != nil {
			return
		}
		for _, entry := range next.Env {
			if !strings.Contains(entry, "=") {
				t.Errorf("entry %q", entry)
			}
		}
	})
}
