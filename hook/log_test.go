package hook_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
)

// parity: V11
func TestLog(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig.Runtime) {
		policy := filepath.Join(rig.TempDir(t), "policy.toml")
		rig.Write(t, policy, "allow = [\"GH_TOKEN\"]\n", 0o644)
		log := filepath.Join(rig.TempDir(t), "log")
		if got := newFixture(t, nil).hooked(t, "--policy", policy, "--log", log).Run(t, r); got.Code != 0 || got.Stderr != "" {
			t.Fatal(got)
		}
		data, err := os.ReadFile(log)
		must(t, err)
		if !regexp.MustCompile(`^time="[^"]+" level=info msg="\d+ deny rules, allow: GH_TOKEN"\n$`).Match(data) {
			t.Errorf("info: %q", data)
		}
		must(t, os.Remove(log))
		if got := newFixture(t, nil).hooked(t, "--log", log, "--log-level", "debug", "--log-format", "json").Run(t, r); got.Code != 0 || got.Stderr != "" {
			t.Fatal(got)
		}
		data, err = os.ReadFile(log)
		must(t, err)
		if text := string(data); !strings.Contains(text, `deny rules, allow: none"`) || !strings.Contains(text, `removed: GH_TOKEN OPENAI_API_KEY`) || leaks(text) != nil {
			t.Errorf("debug: %q", text)
		}
	})
}

// What the agent alone may hold is its own, and its children's never.
func TestKeep(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig.Runtime) {
		policy := filepath.Join(rig.TempDir(t), "policy.toml")
		rig.Write(t, policy, "[agent]\nkeep = [\"OPENAI_API_KEY\"]\n", 0o644)
		b := newFixture(t, func(b *fixture) {
			rig.Copy(t, rig.CC(t, "../testdata/hook/report.c"), filepath.Join(b.rootfs, "bin/report"))
			b.Spec.Process.Args = []string{"sh", "-c", `echo "the agent has $OPENAI_API_KEY"; echo ---; report; cat /proc/1/environ; exit 4`}
		})
		if before := b.Run(t, r); len(leaks(before.Stdout)) != 2 {
			t.Fatal(before)
		}
		after := b.hooked(t, "--policy", policy).Run(t, r)
		agent, child, _ := strings.Cut(after.Stdout, "---")
		if after.Code != 4 || !slices.Equal(leaks(agent), []string{"OPENAI_API_KEY"}) || leaks(child) != nil || !strings.Contains(child, "GREETING") {
			t.Errorf("%+v", after)
		}
		// config.json is for everybody to read: it has what everybody gets.
		data, err := os.ReadFile(b.Config())
		must(t, err)
		if leaks(string(data)) != nil {
			t.Error("config.json holds a secret")
		}
		b.empty(t)
	})
}

// Observe and off change nothing.
func TestModes(t *testing.T) {
	for _, mode := range []string{"observe", "off"} {
		t.Run(mode, func(t *testing.T) {
			onBoth(t, func(t *testing.T, r rig.Runtime) {
				policy := filepath.Join(rig.TempDir(t), "policy.toml")
				rig.Write(t, policy, "mode = \""+mode+"\"\n", 0o644)
				b := newFixture(t, nil)
				before := b.Run(t, r)
				if after := b.hooked(t, "--policy", policy).Run(t, r); after != before {
					t.Errorf("%+v, want %+v", after, before)
				}
				b.empty(t)
			})
		})
	}
}

// The bundle's config.json: scrubbed, mode kept, every other byte as it was.
//
// report: containerd#5608
func TestConfigurationOnDisk(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig.Runtime) {
		b := newFixture(t, nil).hooked(t)
		data, err := os.ReadFile(b.Config())
		must(t, err)
		before := strings.Replace(string(data), "{", `{"x-unknown": 12345678901234567890123, `, 1)
		must(t, os.WriteFile(b.Config(), []byte(before), 0o600))
		must(t, os.Chmod(b.Config(), 0o640))
		if got := b.Run(t, r); got.Code != 0 || leaks(got.Stdout) != nil {
			t.Fatal(got)
		}
		data, err = os.ReadFile(b.Config())
		must(t, err)
		want := before
		for _, entry := range planted[:2] {
			want = regexp.MustCompile(`"`+regexp.QuoteMeta(entry)+`",\s*`).ReplaceAllString(want, "")
		}
		if string(data) != want {
			t.Errorf("got  %s\nwant %s", data, want)
		}
		info, err := os.Stat(b.Config())
		must(t, err)
		if info.Mode().Perm() != 0o640 {
			t.Errorf("mode %v", info.Mode())
		}
		left, err := filepath.Glob(filepath.Join(b.Dir, "*"))
		must(t, err)
		hidden, err := filepath.Glob(filepath.Join(b.Dir, ".*"))
		must(t, err)
		if len(left)+len(hidden) != 1 {
			t.Errorf("left in the bundle: %q %q", left, hidden)
		}
	})
}

// A hook has no environment but what its JSON says; one without inherits the runtime's. Neither reaches the container.
//
// report: opencontainers/runc PR#4323
func TestHookEnvironment(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig.Runtime) {
		b := newFixture(t, nil).hooked(t)
		b.Spec.Hooks.CreateRuntime[0].Env = nil
		b.Write(t)
		cmd := r.Command("run", "--bundle", b.Dir, b.ID)
		cmd.Env = append(os.Environ(), "DAEMON_SECRET=planted-daemon")
		if got := rig.Run(t, cmd); got.Code != 0 || strings.Contains(got.Stdout, "planted-daemon") || leaks(got.Stdout) != nil {
			t.Error(got)
		}
	})
}
