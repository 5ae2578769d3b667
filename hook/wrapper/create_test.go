package wrapper_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/hack/rig"
)

func TestRunScrubs(t *testing.T) {
	each(t, func(t *testing.T, r rig.Runtime) {
		b := bundle(t)
		leak := ok(t, "run, bare", b.Run(t, r))
		lines(t, "without envscrub", leak.Stdout, append(secrets, plain), nil)

		got := ok(t, "run", b.Run(t, wrap(t, r, "")))
		lines(t, "with envscrub", got.Stdout, []string{plain}, secrets)
		if got.Stderr != "" {
			t.Errorf("standard error on success: %q", got.Stderr)
		}
	})
}

// The agent has what [agent] keep names, its children and execs do not.
//
// report: NousResearch/hermes-agent#4427, miklosbagi/gluetrans#88, containerd/nri#44
func TestAgentKeeps(t *testing.T) {
	each(t, func(t *testing.T, r rig.Runtime) {
		// A shell's own echo is the agent, /bin/env its child.
		b := bundle(t, "/bin/sh", "-c", `echo "agent:$OPENAI_API_KEY:$GH_TOKEN"; /bin/env; echo end; while :; do sleep 1; done`)
		w := wrap(t, r, keepKey)
		c := b.Create(t, w)
		ok(t, "create", c.Result)
		ok(t, "start", c.Start())
		rig.Eventually(t, "the agent's output", func() bool { return strings.Contains(c.Output(), "end\n") })
		agent, child, _ := strings.Cut(c.Output(), "\n")
		_, value, _ := strings.Cut(key, "=")
		if agent != "agent:"+value+":" {
			t.Errorf("the agent has %q", agent)
		}
		lines(t, "child", child, []string{plain}, secrets)

		lines(t, "exec, bare", rig.Run(t, r.Command("exec", b.ID, "/bin/sh", "-c", "echo $KEEP_ME")).Stdout, []string{"plain"}, nil)
		leak := rig.Run(t, r.Command("exec", b.ID, "/bin/env")).Stdout
		if !strings.Contains(leak, value) {
			t.Error("the bare runtime's exec does not show the agent's key: this test shows nothing")
		}
		lines(t, "exec", ok(t, "exec", rig.Run(t, w.Command("exec", b.ID, "/bin/env"))).Stdout, []string{plain}, secrets)
		exec := ok(t, "exec", rig.Run(t, w.Command("exec", "-e", "A=1", b.ID, "/bin/env")))
		lines(t, "exec -e", exec.Stdout, []string{"A=1"}, secrets)
	})
}

// What is removed is nowhere, also not for who looks from an exec.
//
// parity: V18
func TestEnvironOfInit(t *testing.T) {
	each(t, func(t *testing.T, r rig.Runtime) {
		b := bundle(t, "/bin/sleep", "60")
		w := wrap(t, r, "")
		c := b.Create(t, w)
		ok(t, "create", c.Result)
		ok(t, "start", c.Start())
		for _, p := range []string{"/proc/1/environ", fmt.Sprintf("/proc/%d/environ", c.Pid)} {
			var out string
			if strings.HasPrefix(p, "/proc/1/") {
				out = rig.Run(t, w.Command("exec", b.ID, "/bin/cat", p)).Stdout
			} else {
				data, err := os.ReadFile(p)
				if err != nil {
					t.Fatal(err)
				}
				out = string(data)
			}
			lines(t, p, out, nil, secrets)
		}
	})
}

func TestBundleSpellings(t *testing.T) {
	each(t, func(t *testing.T, r rig.Runtime) {
		w := wrap(t, r, "")
		odd := filepath.Join(rig.TempDir(t), "with space\nand newline")
		if err := os.Mkdir(odd, 0o755); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(rig.TempDir(t), "link")
		if err := os.Symlink(odd, link); err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(odd)
		for i, c := range []struct {
			dir  string
			args []string
		}{
			{"/", []string{"--bundle", odd}},
			{"/", []string{"--bundle=" + odd}},
			{"/", []string{"-b", odd}},
			{odd, nil},
			{odd, []string{"--bundle", "."}},
			{filepath.Dir(odd), []string{"-b", base}},
			{filepath.Dir(odd), []string{"--bundle=../d/" + base}},
			{"/", []string{"--bundle", link}},
			{link, nil},
		} {
			b := bundle(t)
			data, err := os.ReadFile(b.Config())
			if err != nil {
				t.Fatal(err)
			}
			rig.Write(t, filepath.Join(odd, "config.json"), string(data), 0o644)
			id := fmt.Sprintf("%s-%d", b.ID, i)
			got := rig.Run(t, command(w, c.dir, append(append([]string{"run"}, c.args...), id)...))
			lines(t, fmt.Sprintf("%q in %q", c.args, c.dir), ok(t, "run", got).Stdout, []string{plain}, secrets)
		}
	})
}

// crun can be told another file; a relative one is looked for from where crun was
// started.
func TestCrunConfig(t *testing.T) {
	for _, r := range rig.Runtimes(t) {
		if r.Name != "crun" {
			continue
		}
		w := wrap(t, r, "")
		for i, c := range []struct{ dir, option string }{
			{"/", "--config=%s/other.json"}, {"/", "-f%s/other.json"}, {"BUNDLE", "--conf=other.json"}, {"BUNDLE", "--config=config.json"},
		} {
			b := bundle(t)
			if !strings.Contains(c.option, "config.json") {
				if err := os.Rename(b.Config(), b.Dir+"/other.json"); err != nil {
					t.Fatal(err)
				}
			}
			dir := strings.Replace(c.dir, "BUNDLE", b.Dir, 1)
			option := strings.Replace(c.option, "%s", b.Dir, 1)
			got := rig.Run(t, command(w, dir, "run", "--bundle", b.Dir, option, fmt.Sprintf("%s-%d", b.ID, i)))
			lines(t, c.option, ok(t, "run", got).Stdout, []string{plain}, secrets)
		}
	}
}

// The wrapper becomes the runtime: no process between, its exit codes and streams.
func TestBecomesTheRuntime(t *testing.T) {
	each(t, func(t *testing.T, r rig.Runtime) {
		w := wrap(t, r, "")
		for _, code := range []int{0, 1, 7, 125, 127, 255} {
			b := bundle(t, "/bin/sh", "-c", fmt.Sprintf("cat; echo err >&2; exit %d", code))
			cmd := w.Command("run", "--bundle", b.Dir, b.ID)
			cmd.Stdin = strings.NewReader("from standard input\n")
			got := rig.Run(t, cmd)
			if got.Code != code || got.Stdout != "from standard input\n" || got.Stderr != "err\n" {
				t.Errorf("exit %d: %+v", code, got)
			}
		}

		b := bundle(t, "/bin/sleep", "60")
		cmd := exec.Command(w.Path, "--root", r.Root, "run", "--bundle", b.Dir, b.ID)
		if r.Name == "crun" {
			cmd = w.Command("run", "--bundle", b.Dir, b.ID)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = r.Command("delete", "--force", b.ID).Run()
			_ = cmd.Wait()
		}()
		rig.Eventually(t, "the runtime in the wrapper's place", func() bool {
			// crun runs from a copy of itself, so that exe does not tell.
			comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", cmd.Process.Pid))
			return err == nil && strings.TrimSpace(string(comm)) == r.Name
		})
	})
}

// Errors of the runtime are its own, word for word.
func TestRuntimesOwnErrors(t *testing.T) {
	each(t, func(t *testing.T, r rig.Runtime) {
		w := wrap(t, r, "")
		for name, edit := range map[string]func(*specs.Spec){
			"no such program": func(s *specs.Spec) { s.Process.Args = []string{"/no/such/program"} },
			"no name in PATH": func(s *specs.Spec) { s.Process.Args = []string{"no-such-program"} },
			"no process":      func(s *specs.Spec) { s.Process = nil },
			"no such root":    func(s *specs.Spec) { s.Root.Path = "/no/such/root" },
		} {
			b := bundle(t)
			edit(b.Spec)
			b.Write(t)
			want := b.Run(t, r)
			got := b.Run(t, w)
			_ = w.Command("delete", "--force", b.ID).Run()
			if want.Code != got.Code || got.Stdout != want.Stdout || undated(got.Stderr) != undated(want.Stderr) {
				t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, want)
			}
		}
	})
}

// undated takes the time out of a runtime's log lines.
func undated(s string) string {
	var out []string
	for line := range strings.Lines(s) {
		if _, rest, ok := strings.Cut(line, " level="); ok {
			line = rest
		} else if len(line) > 20 && line[4] == '-' {
			line = line[strings.IndexByte(line, ' ')+1:]
		}
		out = append(out, line)
	}
	return strings.Join(out, "")
}

// The same bundle is used again, as people and test suites do.
func TestBundleUsedAgain(t *testing.T) {
	each(t, func(t *testing.T, r rig.Runtime) {
		b := bundle(t)
		w := wrap(t, r, keepKey)
		var first string
		for i := range 3 {
			got := ok(t, "run", b.Run(t, w))
			lines(t, fmt.Sprintf("run %d", i), got.Stdout, []string{plain, key}, []string{token, dsn})
			data, err := os.ReadFile(b.Config())
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = string(data)
			} else if string(data) != first {
				t.Errorf("run %d changes the configuration once more", i)
			}
		}
		// What is set over the wrapper's own traces counts.
		spec := b.Read(t)
		spec.Process.Args = []string{"/bin/echo", "hello"}
		b.Spec = spec
		b.Write(t)
		if got := ok(t, "run", b.Run(t, w)); got.Stdout != "hello\n" {
			t.Errorf("%+v", got)
		}
	})
}

// Unknown fields, big integers, mode and owner survive; nothing is left behind.
//
// report: moby PR#34419, PR#41620, k3s#5972
func TestConfigIsEdited(t *testing.T) {
	rig.Need(t, "root", "runc")
	r := rig.Runtimes(t)[0]
	b := bundle(t)
	data, err := os.ReadFile(b.Config())
	if err != nil {
		t.Fatal(err)
	}
	odd := strings.Replace(string(data), "{", `{ "x-vendor": {"big": 123456789012345678901234567890, "b":1e2, "a":[ ]},`, 1)
	rig.Write(t, b.Config(), odd, 0o600)
	if err := os.Chown(b.Config(), 1234, 4321); err != nil {
		t.Fatal(err)
	}
	ok(t, "run", b.Run(t, wrap(t, r, "")))
	now, err := os.ReadFile(b.Config())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(now, []byte(odd[:strings.Index(odd, `"env"`)][:60])) || !bytes.Contains(now, []byte("123456789012345678901234567890, \"b\":1e2, \"a\":[ ]}")) {
		t.Errorf("unknown fields did not survive:\n%s", now)
	}
	var st unix.Stat_t
	if err := unix.Stat(b.Config(), &st); err != nil || st.Mode&0o7777 != 0o600 || st.Uid != 1234 || st.Gid != 4321 {
		t.Errorf("mode %o, owner %d:%d, %v", st.Mode, st.Uid, st.Gid, err)
	}
	entries, err := os.ReadDir(b.Dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// Every bad input: one clear line, nothing changed on disk, the runtime not called.
func TestRefusals(t *testing.T) {
	each(t, func(t *testing.T, r rig.Runtime) {
		broken := wrap(t, r, "deny = [\"")
		good := wrap(t, r, "")
		strict := wrap(t, r, "strict = true\n")
		refuse := wrap(t, r, "[harden]\nprivileged = \"refuse\"\n")
		replace := func(text string) func(*testing.T, *rig.Bundle) {
			return func(t *testing.T, b *rig.Bundle) { rig.Write(t, b.Config(), text, 0o644) }
		}
		for _, c := range []struct {
			name    string
			r       rig.Runtime
			prepare func(t *testing.T, b *rig.Bundle)
			id      string
			want    string
		}{
			{"policy not TOML", broken, nil, "", "policy.toml:1:"},
			{"no config.json", good, func(t *testing.T, b *rig.Bundle) { _ = os.Remove(b.Config()) }, "", "no such file"},
			{"empty", good, replace(""), "", "the document ends"},
			{"truncated", good, func(t *testing.T, b *rig.Bundle) { _ = os.Truncate(b.Config(), 300) }, "", "line "},
			{"huge", good, func(t *testing.T, b *rig.Bundle) { _ = os.Truncate(b.Config(), 64<<20) }, "", "67108864 bytes"},
			{"deep", good, replace(strings.Repeat(`{"a":`, 100000)), "", "nested deeper"},
			{"duplicate keys", good, replace(`{"process":{"env":[],"env":["A=1"]}}`), "", "stands here twice"},
			{"other case", good, replace(`{"process":{"Env":["A=1"]}}`), "", "another case"},
			{"env of the wrong type", good, replace(`{"process":{"env":{"A":"1"}}}`), "", "process.env: want an array, found an object"},
			{"no equals sign", good, func(t *testing.T, b *rig.Bundle) {
				b.Spec.Process.Env = append(b.Spec.Process.Env, "NOEQUALS")
				b.Write(t)
			}, "", "process.env"},
			{"symbolic link", good, func(t *testing.T, b *rig.Bundle) {
				if err := errors.Join(os.Rename(b.Config(), b.Dir+"/x"), os.Symlink("x", b.Config())); err != nil {
					t.Fatal(err)
				}
			}, "", "symbolic link"},
			{"named pipe", good, func(t *testing.T, b *rig.Bundle) {
				if err := errors.Join(os.Remove(b.Config()), unix.Mkfifo(b.Config(), 0o600)); err != nil {
					t.Fatal(err)
				}
			}, "", "named pipe"},
			{"id leads out", good, nil, "../x", "invalid container ID format"},
			{"id is above", good, nil, "..", "invalid container ID format"},
			{"secret in args", strict, func(t *testing.T, b *rig.Bundle) {
				_, value, _ := strings.Cut(token, "=")
				b.Spec.Process.Args = []string{"/bin/sh", "-c", "export K=" + value}
				b.Write(t)
			}, "", "process.args[2]"},
			{"secret in an annotation", strict, func(t *testing.T, b *rig.Bundle) {
				_, value, _ := strings.Cut(key, "=")
				b.Spec.Annotations = map[string]string{"made.up/command": "curl " + value}
				b.Write(t)
			}, "", "annotation made.up/command"},
			{"privileged", refuse, func(t *testing.T, b *rig.Bundle) {
				b.Spec.Process.Capabilities.Bounding = append(b.Spec.Process.Capabilities.Bounding, "CAP_SYS_ADMIN")
				b.Spec.Process.Capabilities.Effective = append(b.Spec.Process.Capabilities.Effective, "CAP_SYS_ADMIN")
				b.Write(t)
			}, "", "CAP_SYS_ADMIN"},
		} {
			for _, verb := range []string{"create", "run"} {
				b := bundle(t)
				if c.prepare != nil {
					c.prepare(t, b)
				}
				before := snapshot(t, b.Dir)
				id := c.id
				if id == "" {
					id = b.ID
				}
				log := filepath.Join(rig.TempDir(t), "log.json")
				got := rig.Run(t, c.r.Command("--log", log, "--log-format", "json", verb, "--bundle", b.Dir, id))
				if got.Code == 0 || got.Stdout != "" || strings.Count(got.Stderr, "\n") != 1 || !strings.Contains(got.Stderr, c.want) {
					t.Errorf("%s, %s: %+v, want %s", verb, c.name, got, c.want)
				}
				if after := snapshot(t, b.Dir); after != before {
					t.Errorf("%s, %s: changed on disk", verb, c.name)
				}
				if state, _ := os.ReadDir(r.Root); len(state) > 0 || records(b.ID) > 0 {
					t.Errorf("%s, %s: the runtime was called, or a record is left", verb, c.name)
				}
				data, _ := os.ReadFile(log)
				if !bytes.HasPrefix(data, []byte(`{"level":"`)) || !bytes.Contains(data, []byte(`{"level":"error","msg":"envscrub-runtime: `)) {
					t.Errorf("%s, %s: in the log stands %q", verb, c.name, data)
				}
				for _, s := range secrets {
					_, value, _ := strings.Cut(s, "=")
					if strings.Contains(got.Stderr+string(data), value) {
						t.Errorf("%s, %s: a value is shown", verb, c.name)
					}
				}
			}
		}
	})
}

// snapshot renders a directory: names, types, contents of small files.
func snapshot(t testing.TB, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var s strings.Builder
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&s, e.Name(), info.Mode(), info.Size(), info.ModTime())
		if info.Mode().IsRegular() && info.Size() < 1<<20 {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			s.Write(data)
		}
	}
	return s.String()
}

// A wrapper that is killed between writing and renaming leaves the old file.
func TestKilledBeforeRename(t *testing.T) {
	rig.Need(t, "root", "runc", "strace")
	r := rig.Runtimes(t)[0]
	w := wrap(t, r, "")
	b := bundle(t)
	before, err := os.ReadFile(b.Config())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("strace", "-f", "-o", "/dev/null", "-e", "inject=rename,renameat,renameat2:signal=SIGKILL",
		w.Path, "--root", r.Root, "create", "--bundle", b.Dir, b.ID)
	if err := cmd.Run(); err == nil {
		t.Fatal("it was not killed")
	}
	after, err := os.ReadFile(b.Config())
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the configuration is not the old one: %v", err)
	}
	ok(t, "run afterwards", b.Run(t, w))
}

// parity: V11
func TestLogLines(t *testing.T) {
	rig.Need(t, "root", "runc")
	r := rig.Runtimes(t)[0]
	w := wrap(t, r, "allow = [\"DATABASE_URL\"]\n")
	b := bundle(t)
	dir := rig.TempDir(t)
	log := filepath.Join(dir, "log.json")
	ok(t, "run", rig.Run(t, w.Command("--debug", "--log", log, "--log-format", "json", "run", "--bundle", b.Dir, b.ID)))
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"level":"info","msg":"`, ` deny rules, allow: DATABASE_URL"`, `"removed: GH_TOKEN OPENAI_API_KEY"`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s is not in the log:\n%s", want, data)
		}
	}
	for _, s := range secrets {
		if _, value, _ := strings.Cut(s, "="); strings.Contains(string(data), value) {
			t.Errorf("a value is in the log")
		}
	}
	// Podman decodes its file as one value, so that there must be nothing of ours.
	b = bundle(t)
	log = filepath.Join(dir, "oci-log")
	ok(t, "run", rig.Run(t, w.Command("--log", log, "--log-format", "json", "run", "--bundle", b.Dir, b.ID)))
	if data, _ := os.ReadFile(log); len(data) > 0 {
		t.Errorf("in Podman's log stands %q", data)
	}
}

// What a container asks for counts only where the policy says so.
//
// report: NousResearch/hermes-agent PR#13523
func TestOverrides(t *testing.T) {
	rig.Need(t, "root", "runc")
	r := rig.Runtimes(t)[0]
	const loose = "\n[profile.loose]\nallow = [\"GH_TOKEN\"]\n"
	for _, c := range []struct {
		name, policy string
		annotations  map[string]string
		env          []string
		has, lacks   []string
	}{
		{"disable, not permitted", "", map[string]string{"io.envscrub.disable": "true"}, []string{"ENVSCRUB_DISABLE=1"}, nil, secrets},
		{"disable, permitted", "overrides = [\"io.envscrub.disable\"]", map[string]string{"io.envscrub.disable": "true"}, nil, secrets, nil},
		{"disable, permitted, said no", "overrides = [\"io.envscrub.disable\"]", map[string]string{"io.envscrub.disable": "no"}, nil, nil, secrets},
		{"only the annotation permitted", "overrides = [\"io.envscrub.disable\"]", nil, []string{"ENVSCRUB_DISABLE=1"}, nil, secrets},
		{"by variable, permitted", "overrides = [\"ENVSCRUB_DISABLE\"]", nil, []string{"ENVSCRUB_DISABLE=1"}, secrets, nil},
		{"profile, not permitted", loose, map[string]string{"io.envscrub.profile": "loose"}, []string{"ENVSCRUB_PROFILE=loose"}, nil, secrets},
		{"profile, permitted", "overrides = [\"ENVSCRUB_PROFILE\"]" + loose, nil, []string{"ENVSCRUB_PROFILE=loose"}, []string{token}, []string{key, dsn}},
		{"allow, not permitted", "", map[string]string{"io.envscrub.allow": "GH_TOKEN"}, []string{"ENVSCRUB_ALLOW=GH_TOKEN"}, nil, secrets},
		{"allow by name", "overrides = [\"GH_*\"]", map[string]string{"io.envscrub.allow": "GH_TOKEN, DATABASE_URL"}, nil, []string{token}, []string{dsn}},
		{"allow, permitted, but denied by name", "overrides = [\"io.envscrub.allow\"]", map[string]string{"io.envscrub.allow": "DATABASE_URL,OPENAI_API_KEY"}, nil, nil, []string{key, token}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := bundle(t)
			b.Spec.Annotations = c.annotations
			b.Spec.Process.Env = append(b.Spec.Process.Env, c.env...)
			b.Write(t)
			got := ok(t, "run", b.Run(t, wrap(t, r, c.policy)))
			out := got.Stdout
			if c.name == "by variable, permitted" {
				out = strings.ReplaceAll(out, "ENVSCRUB_DISABLE=1\n", "") // nothing is done
			}
			lines(t, c.name, out, append(c.has, plain), c.lacks)
		})
	}
}

func TestModes(t *testing.T) {
	each(t, func(t *testing.T, r rig.Runtime) {
		for policy, leaks := range map[string]bool{"mode = \"observe\"": true, "mode = \"off\"": true, "mode = \"enforce\"": false} {
			b := bundle(t, "/bin/sh", "-c", "env; sleep 60")
			w := wrap(t, r, policy)
			c := b.Create(t, w)
			ok(t, "create", c.Result)
			ok(t, "start", c.Start())
			exec := rig.Run(t, w.Command("exec", b.ID, "/bin/env")).Stdout
			if leaks {
				lines(t, policy, c.Output(), append(secrets, plain), nil)
				lines(t, policy+", exec", exec, append(secrets, plain), nil)
			} else {
				lines(t, policy, c.Output(), []string{plain}, secrets)
				lines(t, policy+", exec", exec, []string{plain}, secrets)
			}
		}
	})
}

// A pod's pause container gets no shim, but to say that it is one lets nobody out.
func TestSandbox(t *testing.T) {
	rig.Need(t, "root", "runc")
	r := rig.Runtimes(t)[0]
	for _, key := range []string{"io.kubernetes.cri.container-type", "io.kubernetes.cri-o.ContainerType"} {
		b := bundle(t, "/bin/sh", "-c", "echo $$; env")
		b.Spec.Annotations = map[string]string{key: "sandbox"}
		b.Write(t)
		got := ok(t, "run", b.Run(t, wrap(t, r, keepKey)))
		if !strings.HasPrefix(got.Stdout, "1\n") {
			t.Error(key, "has a guard")
		}
		lines(t, key, got.Stdout, []string{plain}, secrets)
	}
}

// Records go with their containers, and only with them.
func TestRecordsGo(t *testing.T) {
	each(t, func(t *testing.T, r rig.Runtime) {
		w := wrap(t, r, "")
		b := bundle(t, "/bin/sleep", "60")
		c := b.Create(t, w)
		ok(t, "create", c.Result)
		if records(b.ID) != 1 {
			t.Fatalf("%d records", records(b.ID))
		}
		ok(t, "start", c.Start())
		// A create of the same id fails and must not take the other's record.
		if again := rig.Run(t, w.Command("create", "--bundle", b.Dir, b.ID)); again.Code == 0 {
			t.Fatal("the same id twice")
		}
		if got := rig.Run(t, w.Command("delete", b.ID)); got.Code == 0 {
			t.Fatal("a running container was deleted")
		}
		if records(b.ID) != 1 {
			t.Fatal("the record went with a delete that failed")
		}
		lines(t, "exec", rig.Run(t, w.Command("exec", b.ID, "/bin/env")).Stdout, []string{plain}, secrets)
		ok(t, "kill", rig.Run(t, w.Command("kill", b.ID, "KILL")))
		c.Wait()
		ok(t, "delete", rig.Run(t, w.Command("delete", b.ID)))
		if records(b.ID) != 0 {
			t.Error("the record is left")
		}
	})
}

// While the policy is broken, containers can be looked at, stopped and deleted.
//
// report: NVIDIA/nvidia-container-toolkit PR#2023
func TestBrokenPolicyStopsNothing(t *testing.T) {
	each(t, func(t *testing.T, r rig.Runtime) {
		b := bundle(t, "/bin/sleep", "60")
		c := b.Create(t, wrap(t, r, ""))
		ok(t, "create", c.Result)
		w := wrap(t, r, "runtimes = [\""+r.Name+"\"]\nthis is not TOML\n")
		ok(t, "start", rig.Run(t, w.Command("start", b.ID)))
		ok(t, "state", rig.Run(t, w.Command("state", b.ID)))
		ok(t, "list", rig.Run(t, w.Command("list")))
		if got := rig.Run(t, w.Command("exec", b.ID, "/bin/env")); got.Code != 255 || got.Stdout != "" || !strings.Contains(got.Stderr, "policy.toml:2:") {
			t.Errorf("exec: %+v", got)
		}
		ok(t, "kill", rig.Run(t, w.Command("kill", b.ID, "KILL")))
		c.Wait()
		ok(t, "delete", rig.Run(t, w.Command("delete", b.ID)))
	})
}

// Everything that is not ours is the runtime's: output, errors, exit codes.
func TestPassThrough(t *testing.T) {
	each(t, func(t *testing.T, r rig.Runtime) {
		w := wrap(t, r, "")
		for _, args := range [][]string{
			{"--version"},
			{"-v"},
			{"features"},
			{"state", "no-such"},
			{"kill", "no-such", "KILL"},
			{"delete", "no-such"},
			{"list"},
			{"list", "-q"},
			{"ps", "no-such"},
			{"update", "--resources", "-", "no-such"},
			{"exec", "no-such", "/bin/env"},
			{"exec", "no-such"},
			{"exec"},
			{"create"},
			{"pause", "no-such"},
			{"resume", "no-such"},
			{"events", "--stats", "no-such"},
			{"start", "no-such"},
			{"no-such-command", "create", "x"},
			{"checkpoint", "no-such"},
			{"restore", "no-such"},
			{"create", "--help"},
		} {
			clean := func(s rig.Result) rig.Result {
				// Each calls itself by the path that it was started with.
				for _, path := range []string{w.Path, r.Path, filepath.Join(filepath.Dir(w.Path), "envscrub-"+r.Name)} {
					s.Stdout, s.Stderr = strings.ReplaceAll(s.Stdout, path, r.Name), strings.ReplaceAll(s.Stderr, path, r.Name)
				}
				s.Stdout, s.Stderr = strings.ReplaceAll(s.Stdout, "envscrub-"+r.Name, r.Name), undated(strings.ReplaceAll(s.Stderr, "envscrub-"+r.Name, r.Name))
				return s
			}
			want, got := clean(rig.Run(t, r.Command(args...))), clean(rig.Run(t, w.Command(args...)))
			if got != want {
				t.Errorf("%q:\ngot  %+v\nwant %+v", args, got, want)
			}
		}
	})
}

// A runtime that leads back to the wrapper is noticed.
func TestLoop(t *testing.T) {
	dir := rig.TempDir(t)
	script := filepath.Join(dir, "other-wrapper")
	file := filepath.Join(dir, "policy.toml")
	bin := rig.Bin(t, "envscrub-runtime")
	rig.Write(t, script, "#!/bin/sh\nexec "+bin+" --envscrub-policy="+file+" \"$@\"\n", 0o755)
	rig.Write(t, file, "runtimes = [\""+script+"\"]\n", 0o644)
	start := time.Now()
	got := rig.Run(t, exec.Command(bin, "--envscrub-policy", file, "list"))
	if got.Code != 1 || !strings.Contains(got.Stderr, "leads back to this wrapper") || time.Since(start) > 5*time.Second {
		t.Errorf("%+v", got)
	}
}

// A container without a secret stays as it was: PID 1, capabilities, configuration.
func TestNothingToGuard(t *testing.T) {
	each(t, func(t *testing.T, r rig.Runtime) {
		for policy, untouched := range map[string]bool{"": true, keepKey: false, "strict = true": false} {
			b := rig.NewBundle(t, rig.Rootfs(t))
			b.Spec.Process.Args = []string{"/bin/sh", "-c", "echo $$; grep Cap /proc/self/status"}
			b.Write(t)
			before := snapshot(t, b.Dir)
			want := ok(t, "bare", b.Run(t, r))
			got := ok(t, "run", b.Run(t, wrap(t, r, policy)))
			if untouched && (got != want || snapshot(t, b.Dir) != before) {
				t.Errorf("%+v, want %+v", got, want)
			}
			if !untouched && strings.HasPrefix(got.Stdout, "1\n") {
				t.Errorf("%q: no guard", policy)
			}
		}
	})
}

// A hundred at once, each with its own value.
func TestManyAtOnce(t *testing.T) {
	rig.Need(t, "root", "runc")
	r := rig.Runtimes(t)[0]
	w := wrap(t, r, "")
	root := rig.Rootfs(t)
	errs := make(chan error)
	for i := range 100 {
		b := rig.NewBundle(t, root)
		b.Spec.Process.Env = append(b.Spec.Process.Env, token, fmt.Sprintf("NUMBER=%d", i))
		b.Write(t)
		cmd := w.Command("run", "--bundle", b.Dir, b.ID)
		go func() {
			out, err := cmd.CombinedOutput()
			if err == nil && (!strings.Contains(string(out), fmt.Sprintf("NUMBER=%d\n", i)) || strings.Contains(string(out), "GH_TOKEN")) {
				err = errors.New("wrong environment")
			}
			if err != nil {
				err = fmt.Errorf("container %d: %w: %s", i, err, out)
			}
			errs <- err
		}()
	}
	for range 100 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// 2,000 variables and 1 MiB of environment, odd values and names.
func TestLargeAndOdd(t *testing.T) {
	each(t, func(t *testing.T, r rig.Runtime) {
		b := rig.NewBundle(t, rig.Rootfs(t))
		env := []string{"PATH=/bin", token, "lower.case-name=1", "WITH_NEWLINE=a\nb\"c\\d=e", "TWICE=one", "TWICE=two", "EMPTY=", "UTF=\u00e9\u2028\U0001F600"}
		for i := range 2000 {
			env = append(env, fmt.Sprintf("VARIABLE_%d=%s", i, strings.Repeat("x", 500)))
		}
		b.Spec.Process.Env = env
		b.Spec.Process.Args = []string{"/bin/cat", "/proc/self/environ"}
		b.Write(t)
		got := ok(t, "run", b.Run(t, wrap(t, r, ""))).Stdout
		list := strings.Split(strings.TrimSuffix(got, "\x00"), "\x00")
		for _, e := range append(env[2:4:4], env[5:]...) {
			if !slices.Contains(list, e) {
				t.Errorf("%.40q is missing", e)
			}
		}
		if strings.Contains(got, "ghp_") || slices.Contains(list, "TWICE=one") {
			t.Error("the token, or the first of two, is there")
		}
	})
}
