package wrapper_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/hack/rig"
)

// running starts a container that stays, and returns the wrapper that made it and the
// environment that an engine remembers of it.
func running(t *testing.T, r rig.Runtime, policy string, prepare func(*specs.Spec)) (rig.Runtime, *rig.Bundle, []string) {
	t.Helper()
	b := bundle(t, "/bin/sleep", "300")
	if prepare != nil {
		prepare(b.Spec)
		b.Write(t)
	}
	env := slices.Clone(b.Spec.Process.Env)
	w := wrap(t, r, policy)
	c := b.Create(t, w)
	ok(t, "create", c.Result)
	ok(t, "start", c.Start())
	return w, b, env
}

// process writes a process.json as an engine does.
func process(t *testing.T, b *rig.Bundle, env []string, args ...string) string {
	t.Helper()
	p := *b.Spec.Process
	p.Env, p.Args = env, args
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(rig.TempDir(t), "process.json")
	rig.Write(t, file, string(data), 0o600)
	return file
}

// An engine gives each exec the environment of its own record, and what the caller
// adds.
//
// report: podman#29347, miklosbagi/gluetrans#88, containerd/nri#44
// parity: R2
func TestExecProcess(t *testing.T) {
	const policy = keepKey + "[exec]\nallow = [\"MYSQL_PWD\"]\n"
	each(t, func(t *testing.T, r rig.Runtime) {
		w, b, env := running(t, r, "locked = [\"STRIPE_API_KEY\"]\n"+policy, func(s *specs.Spec) {
			s.Process.Env = append(s.Process.Env, "MYSQL_PWD=made-up-mysql")
		})
		_, agents, _ := strings.Cut(key, "=")
		_, tokens, _ := strings.Cut(token, "=")
		for _, c := range []struct {
			name       string
			add        []string
			has, lacks []string
		}{
			{"nothing added", nil, []string{plain, "MYSQL_PWD=made-up-mysql"}, secrets},
			{"a new variable is explicit", []string{"NPM_TOKEN=set-on-purpose"}, []string{"NPM_TOKEN=set-on-purpose"}, secrets},
			{"another value is explicit", []string{"GH_TOKEN=set-on-purpose"}, []string{"GH_TOKEN=set-on-purpose"}, secrets},
			{"a locked name loses", []string{"STRIPE_API_KEY=set-on-purpose"}, nil, append(secrets, "STRIPE_API_KEY=set-on-purpose")},
			{"a protected value under another name", []string{"X=" + agents, "Y=" + tokens}, nil, secrets},
			{"a control variable", []string{"ENVSCRUB_ORDER=envscrub=1;end;"}, []string{plain}, secrets},
		} {
			file := process(t, b, append(slices.Clone(env), c.add...), "/bin/env")
			for _, form := range [][]string{{"--process", file}, {"--process=" + file}, {"-p", file}} {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				got := ok(t, c.name, rig.Run(t, w.Command(slices.Concat([]string{"exec"}, form, []string{b.ID})...)))
				lines(t, c.name, got.Stdout, c.has, c.lacks)
				rig.Write(t, file, string(data), 0o600)
			}
		}
		// The bare runtime shows it all.
		leak := ok(t, "exec, bare", rig.Run(t, r.Command("exec", "--process", process(t, b, env, "/bin/env"), b.ID)))
		lines(t, "exec, bare", leak.Stdout, secrets, nil)
	})
}

// A process.json that is no file: a shell's <(…), standard input.
func TestExecProcessFromDescriptor(t *testing.T) {
	rig.Need(t, "root", "runc")
	r := rig.Runtimes(t)[0]
	w, b, env := running(t, r, "", nil)
	for _, path := range []string{"/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"} {
		data, err := os.ReadFile(process(t, b, env, "/bin/env"))
		if err != nil {
			t.Fatal(err)
		}
		cmd := w.Command("exec", "--process", path, b.ID)
		cmd.Stdin = bytes.NewReader(data)
		lines(t, path, ok(t, path, rig.Run(t, cmd)).Stdout, []string{plain}, secrets)
	}
}

// exec without a file: what the runtime takes from its own copy, and the options.
func TestExecFlags(t *testing.T) {
	each(t, func(t *testing.T, r rig.Runtime) {
		w, b, _ := running(t, r, keepKey, func(s *specs.Spec) { s.Process.Cwd = "/tmp" })
		_, value, _ := strings.Cut(key, "=")
		for _, c := range []struct {
			name       string
			args       []string
			has, lacks []string
		}{
			{"plain", nil, []string{plain}, secrets},
			{"--env", []string{"--env", "A=1", "--env=GH_TOKEN=set-on-purpose"}, []string{"A=1", "GH_TOKEN=set-on-purpose"}, secrets},
			{"-e, protected value", []string{"-e", "X=" + value, "-e", "B=2"}, []string{"B=2"}, secrets},
			{"only a protected value", []string{"-e", "X=" + value}, nil, secrets},
		} {
			args := slices.Concat([]string{"exec"}, c.args, []string{b.ID, "/bin/env"})
			lines(t, c.name, ok(t, c.name, rig.Run(t, w.Command(args...))).Stdout, c.has, c.lacks)
		}
		// All else that options say is as without us.
		other := bundle(t, "/bin/sleep", "300")
		other.Spec.Process.Cwd = "/tmp"
		other.Write(t)
		c := other.Create(t, r)
		ok(t, "create, bare", c.Result)
		ok(t, "start, bare", c.Start())
		for _, args := range [][]string{
			{"-u", "1000:1001", "ID", "/bin/id"},
			{"--cwd", "/etc", "ID", "/bin/pwd"},
			{"ID", "/bin/pwd"},
			{"ID", "/bin/id"},
			{"--cap", "CAP_SYS_BOOT", "ID", "/bin/grep", "Cap", "/proc/self/status"},
			{"--no-new-privs", "ID", "/bin/grep", "NoNewPrivs", "/proc/self/status"},
			{"ID", "/bin/grep", "NoNewPrivs", "/proc/self/status"},
			{"ID", "/bin/sh", "-c", "exit 42"},
			{"ID", "/no/such/program"},
			{"ID", "/bin/ls", "-1", "/proc/self/fd"},
			{"--preserve-fds", "0", "ID", "/bin/ls", "/proc/self/fd"},
			{"-u", "x", "ID", "/bin/id"},
			{"--tty=false", "ID", "/bin/true"},
		} {
			for i := range args {
				args[i] = strings.Replace(args[i], "ID", b.ID, 1)
			}
			args = append([]string{"exec"}, args...)
			// What the bare runtime is asked for is a container of its own: ours has a configuration with the agent's capability.
			bare := slices.Clone(args)
			bare[slices.Index(bare, b.ID)] = other.ID
			want, got := rig.Run(t, r.Command(bare...)), rig.Run(t, w.Command(args...))
			if got.Code != want.Code || got.Stdout != strings.ReplaceAll(want.Stdout, other.ID, b.ID) {
				t.Errorf("%q:\ngot  %+v\nwant %+v", args, got, want)
			}
		}
	})
}

func TestExecGroups(t *testing.T) {
	rig.Need(t, "root", "runc")
	r := rig.Runtimes(t)[0]
	w, b, _ := running(t, r, "", nil)
	args := []string{"exec", "-u", "7:8", "-g", "9", "-g", "10", b.ID, "/bin/id"}
	want, got := ok(t, "bare", rig.Run(t, r.Command(args...))), ok(t, "wrapped", rig.Run(t, w.Command(args...)))
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A container that was not created through the wrapper is nobody's of ours, unless the
// policy says otherwise.
func TestExecUnknown(t *testing.T) {
	each(t, func(t *testing.T, r rig.Runtime) {
		b := bundle(t, "/bin/sleep", "300")
		c := b.Create(t, r)
		ok(t, "create", c.Result)
		ok(t, "start", c.Start())
		env := slices.Clone(b.Spec.Process.Env)
		// The last one cleans crun's own copy of the configuration.
		for _, policy := range []string{"", "[exec]\nunknown = \"pass\"", "[exec]\nunknown = \"scrub\""} {
			leaks := !strings.Contains(policy, "scrub")
			w := wrap(t, r, policy)
			for _, args := range [][]string{{"--process", process(t, b, env, "/bin/env"), b.ID}, {b.ID, "/bin/env"}} {
				got := ok(t, policy, rig.Run(t, w.Command(append([]string{"exec"}, args...)...)))
				if leaks {
					lines(t, policy, got.Stdout, append(secrets, plain), nil)
				} else {
					lines(t, policy, got.Stdout, []string{plain}, secrets)
				}
			}
		}
	})
}

// What the policy sets may refer to annotations; the profile is the one of the create, also if that was none.
func TestExecSet(t *testing.T) {
	const policy = "[set]\nTEAM = \"${annotation:made.up/team}\"\n[profile.root]\nmatch = { user = \"root\", annotation = { \"made.up/other\" = \"*\" } }\nset = { TEAM = \"wrong\" }\n"
	each(t, func(t *testing.T, r rig.Runtime) {
		w, b, env := running(t, r, policy, func(s *specs.Spec) {
			s.Annotations = map[string]string{"made.up/team": "blue"}
		})
		got := ok(t, "exec", rig.Run(t, w.Command("exec", "--process", process(t, b, env, "/bin/env"), b.ID)))
		lines(t, "exec", got.Stdout, []string{plain, "TEAM=blue"}, secrets)
	})
}

// Without its record a container of ours is still known by its configuration, and
// nothing counts as set on purpose.
func TestExecWithoutRecord(t *testing.T) {
	each(t, func(t *testing.T, r rig.Runtime) {
		w, b, env := running(t, r, "", nil)
		if err := os.RemoveAll("/run/envscrub/" + b.ID); err != nil {
			t.Fatal(err)
		}
		file := process(t, b, append(env, "NPM_TOKEN=set-on-purpose"), "/bin/env")
		got := ok(t, "exec", rig.Run(t, w.Command("exec", "--process", file, b.ID)))
		lines(t, "exec", got.Stdout, []string{plain}, append(secrets, "NPM_TOKEN=set-on-purpose"))
		got = ok(t, "exec", rig.Run(t, w.Command("exec", b.ID, "/bin/env")))
		lines(t, "exec by flags", got.Stdout, []string{plain}, secrets)
	})
}

// A damaged record refuses the exec: what is explicit cannot be known.
func TestExecDamagedRecord(t *testing.T) {
	rig.Need(t, "root", "runc")
	w, b, _ := running(t, rig.Runtimes(t)[0], "", nil)
	files, err := filepath.Glob("/run/envscrub/" + b.ID + "/record-*")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.Truncate(files[0], 100); err != nil {
		t.Fatal(err)
	}
	if got := rig.Run(t, w.Command("exec", b.ID, "/bin/env")); got.Code != 255 || got.Stdout != "" || !strings.Contains(got.Stderr, "damaged") {
		t.Errorf("%+v", got)
	}
}

func TestExecRefusals(t *testing.T) {
	rig.Need(t, "root", "runc")
	w, b, env := running(t, rig.Runtimes(t)[0], "", nil)
	for _, c := range []struct {
		name    string
		prepare func(file string) error
		want    string
	}{
		{"absent", os.Remove, "no such file"},
		{"truncated", func(f string) error { return os.Truncate(f, 40) }, "line 1"},
		{"huge", func(f string) error { return os.Truncate(f, 64<<20) }, "67108864 bytes"},
		{"deep", func(f string) error { return os.WriteFile(f, []byte(strings.Repeat(`{"a":`, 100000)), 0o600) }, "nested deeper"},
		{"duplicate", func(f string) error { return os.WriteFile(f, []byte(`{"env":[],"env":["A=1"]}`), 0o600) }, "stands here twice"},
		{"other case", func(f string) error { return os.WriteFile(f, []byte(`{"ENV":["A=1"]}`), 0o600) }, "another case"},
		{"wrong type", func(f string) error { return os.WriteFile(f, []byte(`{"env":"A=1"}`), 0o600) }, "env: want an array, found a string"},
		{"link", func(f string) error { return errors.Join(os.Rename(f, f+"x"), os.Symlink(f+"x", f)) }, "symbolic link"},
		{"pipe", func(f string) error { return errors.Join(os.Remove(f), unix.Mkfifo(f, 0o600)) }, "named pipe"},
		{"no equals sign", func(f string) error {
			return os.WriteFile(f, []byte(`{"args":["env"],"cwd":"/","env":["NOEQUALS"]}`), 0o600)
		}, "NOEQUALS"},
	} {
		file := process(t, b, env, "/bin/env")
		if err := c.prepare(file); err != nil {
			t.Fatal(err)
		}
		before := snapshot(t, filepath.Dir(file))
		log := filepath.Join(rig.TempDir(t), "log.json")
		got := rig.Run(t, w.Command("--log", log, "--log-format", "json", "exec", "--process", file, b.ID))
		want := c.want
		if want == "NOEQUALS" {
			want = "env" // the entry itself could be a value
			if strings.Contains(got.Stderr, "NOEQUALS") {
				t.Errorf("%s: the entry is shown", c.name)
			}
		}
		if got.Code != 255 || got.Stdout != "" || strings.Count(got.Stderr, "\n") != 1 || !strings.Contains(got.Stderr, want) {
			t.Errorf("%s: %+v, want %s", c.name, got, want)
		}
		if snapshot(t, filepath.Dir(file)) != before {
			t.Errorf("%s: changed on disk", c.name)
		}
		if data, _ := os.ReadFile(log); !bytes.HasPrefix(data, []byte(`{"level":"error","msg":"envscrub-runtime: `)) {
			t.Errorf("%s: in the log stands %q", c.name, data)
		}
	}
}
