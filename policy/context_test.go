package policy

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func injected(env ...string) func() []string { return func() []string { return env } }

// parity: V2, V7, R2, E4, V18
func TestContext(t *testing.T) {
	v := mustView(t, "time_zone = \"Asia/Tokyo\"\nset = { RUN = \"${container.id}\" }\nunset = [\"OLD\"]", Subject{ContainerID: "r1"})
	s := Spawner{View: v, Environ: injected("PATH=/bin", "GH_TOKEN="+key, "OLD=1", "DROP=1", "ENVSCRUB_X=1", "TZ=UTC")}
	none, tok := (*string)(nil), "mine"
	for _, c := range []struct {
		name string
		r    Request
		want string
	}{
		{"inherited", Request{}, "PATH=/bin DROP=1 TZ=Asia/Tokyo RUN=r1"},
		{"explicit is not filtered", Request{Env: Assignments(map[string]*string{"GH_TOKEN": &tok, "DROP": none})}, "PATH=/bin TZ=Asia/Tokyo RUN=r1 GH_TOKEN=mine"},
		{"time zone of the request", Request{TimeZone: "UTC"}, "PATH=/bin DROP=1 TZ=UTC RUN=r1"},
		{"explicit TZ", Request{TimeZone: "UTC", Env: []Assignment{{Name: "TZ", Value: "CET"}}}, "PATH=/bin DROP=1 TZ=CET RUN=r1"},
		{"explicit control", Request{Env: []Assignment{{Name: "ENVSCRUB_ALLOW", Value: "X"}}}, "PATH=/bin DROP=1 TZ=Asia/Tokyo RUN=r1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.r.Purpose, c.r.Command, c.r.Args, c.r.Dir, c.r.Scope, c.r.Session, c.r.Origin = "shell", "sh", []string{"-c", ":"}, "/", "sc", "se", "or"
			got, err := s.Context(t.Context(), c.r)
			if err != nil {
				t.Fatal(err)
			}
			if env := strings.Join(got.Env, " "); env != c.want {
				t.Errorf("got %s, want %s", env, c.want)
			}
			if got.Purpose != "shell" || got.Command != "sh" || len(got.Args) != 2 || got.Dir != "/" || got.Scope != "sc" || got.Session != "se" || got.Origin != "or" {
				t.Errorf("%+v", got)
			}
		})
	}
	for _, c := range []struct {
		r    Request
		want string
	}{
		{Request{}, "request has no command"},
		{Request{Command: "x", TimeZone: "Mars/Base"}, `request's time zone: not an IANA time zone; write one such as "Europe/Berlin" or "UTC"`},
		// parity: R4
		{Request{Command: "x", Env: []Assignment{{Name: "A B", Value: "made-up"}}}, `request's variable "A B" is not a name ([A-Za-z_][A-Za-z0-9_]*)`},
		{Request{Command: "x", Env: []Assignment{{Name: "A", Value: "made-up\x00"}}}, "request's variable A holds a NUL byte"},
	} {
		if _, err := s.Context(t.Context(), c.r); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// A rule grants a variable to its command here too.
func TestContextGrant(t *testing.T) {
	v := mustView(t, "[[spawn.rule]]\ncommand = \"*/gh\"\nallow = [\"GH_TOKEN\"]", Subject{})
	s := Spawner{View: v, Environ: injected("GH_TOKEN=" + key)}
	for command, want := range map[string]int{"/usr/bin/gh": 1, "/usr/bin/git": 0} {
		c, err := s.Context(t.Context(), Request{Command: command})
		if err != nil || len(c.Env) != want {
			t.Errorf("%s: %d variables, %v", command, len(c.Env), err)
		}
	}
}

// parity: V8, V9, V10, P1
func TestHooks(t *testing.T) {
	var order []string
	note := func(name string) Hook {
		return func(_ context.Context, c Context) (*Context, error) {
			order = append(order, name)
			c.Purpose, c.Scope, c.Session, c.Origin = "x", "x", "x", "x"
			c.Command, c.Dir = c.Command+"-"+name, "/"+name
			c.Args = append(c.Args, name)
			c.Env = append(c.Env, "BY_"+strings.ToUpper(name)+"=1", "ENVSCRUB_SMUGGLED=1")
			return &c, nil
		}
	}
	v := mustView(t, "[[hook]]\ncommand = \"/base\"\n[profile.p]\n[[profile.p.hook]]\ncommand = \"/profile\"", Subject{Profile: "p"})
	s := Spawner{
		View: v, Environ: injected("A=1"), Hooks: []Hook{note("host")}, Session: []Hook{note("session")},
		Programs: func(p HookProgram) Hook { return note(strings.TrimPrefix(p.Command[0], "/")) },
	}
	r := Request{Purpose: "p", Command: "c", Scope: "s", Session: "t", Origin: "o"}
	got, err := s.Context(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"base", "profile", "host", "session"}; !slices.Equal(order, want) || !slices.Equal(got.Args, want) {
		t.Errorf("ran %s, args %s", order, got.Args)
	}
	if got.Command != "c-base-profile-host-session" || got.Dir != "/session" {
		t.Errorf("%+v", got)
	}
	if got.Purpose != "p" || got.Scope != "s" || got.Session != "t" || got.Origin != "o" {
		t.Errorf("not put back: %+v", got)
	}
	if env := strings.Join(got.Env, " "); env != "A=1 BY_BASE=1 BY_PROFILE=1 BY_HOST=1 BY_SESSION=1" {
		t.Error(env)
	}

	// A policy with programs starts nothing where programs cannot be run.
	s.Programs = nil
	if _, err := s.Context(t.Context(), r); err == nil || err.Error() != "policy.toml:1:3: hook: this program cannot run hooks; remove them or use a door that can" {
		t.Error(err)
	}
}

func TestHooksFailClosed(t *testing.T) {
	cause := errors.New("no")
	for _, c := range []struct {
		name, want string
		hook       Hook
	}{
		{"nil hook", "hook 2: is nil", nil},
		{"nothing", "hook 2: returned nothing", func(context.Context, Context) (*Context, error) { return nil, nil }},
		{"empty", "hook 2: returned no command", func(context.Context, Context) (*Context, error) { return &Context{}, nil }},
		{"no environment", "hook 2: returned no environment", func(context.Context, Context) (*Context, error) { return &Context{Command: "x"}, nil }},
		{"bad environment", "hook 2: returned a bad environment: environment: entry 1 has no '='; correct what sets it", func(_ context.Context, c Context) (*Context, error) {
			c.Env = Environ{"made-up"}
			return &c, nil
		}},
		{"error", "hook 2: no", func(context.Context, Context) (*Context, error) { return nil, cause }},
		{"panic with a value", "hook 2: panicked", func(_ context.Context, c Context) (*Context, error) { panic(key) }},
		// parity: V10
		{"error with a value", "hook 2: cannot use [REDACTED]", func(context.Context, Context) (*Context, error) { return nil, errors.New("cannot use " + key) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			same := func(_ context.Context, c Context) (*Context, error) { return &c, nil }
			s := Spawner{View: mustView(t, "", Subject{}), Environ: injected("GH_TOKEN=" + key), Hooks: []Hook{same, c.hook}}
			got, err := s.Context(t.Context(), Request{Command: "x"})
			if got != nil || err == nil || err.Error() != c.want {
				t.Errorf("got %v, %v", got, err)
			}
			if c.name == "error" && !errors.Is(err, cause) {
				t.Error("the cause is lost")
			}
		})
	}
	// A hook cannot reach back into what it was given.
	s := Spawner{View: mustView(t, "", Subject{}), Environ: injected("A=1"), Hooks: []Hook{
		func(_ context.Context, c Context) (*Context, error) {
			kept := c
			kept.Env = slices.Clone(c.Env)
			c.Env[0] = "A=2"
			return &kept, nil
		},
	}}
	if c, err := s.Context(t.Context(), Request{Command: "x"}); err != nil || c.Env[0] != "A=1" {
		t.Error(c, err)
	}
}

func TestDecisionHooks(t *testing.T) {
	v := mustView(t, "[agent]\nkeep = [\"OPENAI_API_KEY\"]\n[[hook]]\ncommand = \"/h\"", Subject{})
	d := mustDecide(t, v, "A=1", "B=1", "OPENAI_API_KEY="+key, "C=1")
	run := func(HookProgram) Hook {
		return func(_ context.Context, c Context) (*Context, error) {
			if names(c.Env) != "A B C" {
				t.Errorf("the hook sees %s", names(c.Env))
			}
			c.Args = append(c.Args, "--more")
			c.Env = Environ{"A=2", "C=1", "NEW=1"}
			return &c, nil
		}
	}
	c, err := d.RunHooks(t.Context(), Request{Purpose: "container", Command: "agent"}, run)
	if err != nil || !slices.Equal(c.Args, []string{"--more"}) {
		t.Fatal(c, err)
	}
	if got := strings.Join(d.Container(), " "); got != "A=2 C=1 NEW=1" {
		t.Error(got)
	}
	if got := names(d.Agent()); got != "A C NEW OPENAI_API_KEY" {
		t.Error(got)
	}
	var report []string
	for _, x := range d.Variables {
		report = append(report, string(x.Fate)+" "+x.Name+" "+x.Rule)
	}
	if got := strings.Join(report, ", "); got != "set A hook, unset B hook, agent OPENAI_API_KEY keep, kept C default, set NEW hook" {
		t.Error(got)
	}
	if _, err := d.RunHooks(t.Context(), Request{Command: "agent"}, nil); err == nil {
		t.Error("hooks were skipped")
	}
}

// parity: V18: real processes.
func TestApply(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs env")
	}
	t.Setenv("GH_TOKEN", key)
	dir := t.TempDir()
	for _, c := range []struct {
		env  []string
		want string
	}{
		{[]string{"A=1 2\n", "B="}, "A=1 2\n\x00B=\x00"},
		{nil, ""}, // empty is empty, not the environment of the caller
	} {
		s := Spawner{View: mustView(t, "", Subject{}), Environ: injected(c.env...)}
		ctx, err := s.Context(t.Context(), Request{Command: "env", Args: []string{"-0"}, Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		var cmd exec.Cmd
		if err := ctx.Apply(&cmd); err != nil {
			t.Fatal(err)
		}
		out, err := cmd.Output()
		if err != nil || string(out) != c.want {
			t.Errorf("%q, %v", out, err)
		}
		if cmd.Dir != dir || cmd.Args[0] != "env" {
			t.Errorf("%+v", cmd.Args)
		}
	}
	if err := (&Context{Command: "no-such-command-anywhere"}).Apply(&exec.Cmd{}); !errors.Is(err, exec.ErrNotFound) {
		t.Error(err)
	}
}

// parity: N3
func TestArgv(t *testing.T) {
	e := Environ{"PATH=/usr/bin:/bin", "ODD=$(id) 'x' \"y\"\n;"}
	argv, err := e.Argv("sh", "-c", "printenv ODD")
	if err != nil || !slices.Equal(argv, []string{"/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "ODD=$(id) 'x' \"y\"\n;", "sh", "-c", "printenv ODD"}) {
		t.Fatalf("%q, %v", argv, err)
	}
	if _, err := os.Stat(argv[0]); err == nil {
		t.Setenv("GH_TOKEN", key)
		out, err := exec.Command(argv[0], argv[1:]...).Output()
		if err != nil || !bytes.Equal(out, []byte("$(id) 'x' \"y\"\n;\n")) {
			t.Errorf("%q, %v", out, err)
		}
		argv, _ = Environ{"-u=x", "A=1"}.Argv("env", "-0")
		out, err = exec.Command(argv[0], argv[1:]...).Output()
		if err != nil || string(out) != "-u=x\x00A=1\x00" {
			t.Errorf("%q, %v", out, err)
		}
	}
	if _, err := e.Argv("A=b"); err == nil {
		t.Error("env would take the command for a variable")
	}
}

// parity: N4
func TestMergingLaunchers(t *testing.T) {
	got := Environ{"A=1", "NEW=2"}.Overrides([]string{"A=0", "GH_TOKEN=" + key, "=bad"})
	if len(got) != 3 || *got["A"] != "1" || *got["NEW"] != "2" || got["GH_TOKEN"] != nil {
		t.Errorf("%v", got)
	}
	if _, ok := got["GH_TOKEN"]; !ok {
		t.Error("nothing unsets GH_TOKEN")
	}
}

// parity: R3: a change applies to the next one.
func TestLoadedAtEachSpawn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.toml")
	for text, want := range map[string]int{"deny = [\"A\"]": 0, "": 1} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s := Spawner{View: view(t, LoadOptions{Files: []string{file}}, Subject{}), Environ: injected("A=1")}
		if c, err := s.Context(t.Context(), Request{Command: "x"}); err != nil || len(c.Env) != want {
			t.Errorf("%q: %v %v", text, c, err)
		}
	}
}
