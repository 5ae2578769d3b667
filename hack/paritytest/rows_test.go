package paritytest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/policy"
	"github.com/envscrub/envscrub/policy/builtin"
)

// obeyed are names that programs on the way of this test take orders from, as the dynamic
// loader does from LD_*: nonsense in them would end it.
var obeyed = []string{"PATH", "GOMEMLIMIT", "GOGC", "GODEBUG", "GOMAXPROCS", "GOTRACEBACK"}

// Rows that are about the tree as a whole, and so have no better home.

// parity: N5
//
// report: kirodotdev/KiroCrew#2921, #3360
func TestOneList(t *testing.T) {
	rig.Need(t, "root", "runc")
	var env []string
	for _, groups := range [][]builtin.Group{builtin.Deny(), builtin.Allow(), builtin.Core()} {
		for _, g := range groups {
			for _, name := range append(slices.Clone(g.Exact), g.Globs...) {
				name = strings.NewReplacer("*", "X", "?", "X").Replace(name)
				if policy.ValidName(name) && !slices.Contains(obeyed, name) && !strings.HasPrefix(name, "LD_") {
					env = append(env, fmt.Sprintf("%s=%x", name, sha256.Sum256([]byte(name))))
				}
			}
		}
	}
	for _, name := range []string{"MY_SERVICE_TOKEN", "DB_PASSWORD", "github_token", "APIKEY", "PORTKEY_API_BASE_URL", "MONKEY"} {
		env = append(env, fmt.Sprintf("%s=%x", name, sha256.Sum256([]byte(name))))
	}
	env = append([]string{"PATH=/bin"}, env...)
	empty := filepath.Join(t.TempDir(), "policy.toml")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	view, err := policy.Default().For(policy.Subject{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := view.Decide(env)
	if err != nil {
		t.Fatal(err)
	}
	want := sorted(d.Container())
	if len(want) < 100 || len(want) > len(env)-30 {
		t.Fatalf("of %d variables are left %d", len(env), len(want))
	}
	if len(d.AgentOnly()) > 0 {
		t.Fatalf("the default policy keeps %v for the agent", d.AgentOnly())
	}

	rig.Bin(t, "envscrub-shim")
	rt := rig.Runtimes(t)[0]
	bundle := func(t *testing.T) *rig.Bundle {
		b := rig.NewBundle(t, rig.Rootfs(t))
		b.Spec.Process.Env = env
		b.Spec.Process.Args = []string{"/bin/cat", "/proc/self/environ"}
		b.Write(t)
		return b
	}
	check := func(t *testing.T, r rig.Result) {
		t.Helper()
		got := sorted(strings.Split(strings.TrimSuffix(r.Stdout, "\x00"), "\x00"))
		// What the runtime and the shim set by themselves, the policy has not decided.
		got = slices.DeleteFunc(got, func(e string) bool {
			return strings.HasPrefix(e, "HOME=") && !slices.Contains(want, e) || strings.HasPrefix(e, "DOTNET_EnableDiagnostics=") || strings.HasPrefix(e, "PYTHON_DISABLE_REMOTE_DEBUG=")
		})
		if r.Code != 0 || !slices.Equal(got, want) {
			t.Errorf("code %d, %s\nonly here: %q\nonly in the policy: %q", r.Code, r.Stderr, minus(got, want), minus(want, got))
		}
	}
	t.Run("runtime wrapper", func(t *testing.T) {
		link := filepath.Join(rig.TempDir(t), "envscrub-runc")
		if err := os.Symlink(rig.Bin(t, "envscrub-runtime"), link); err != nil {
			t.Fatal(err)
		}
		b := bundle(t)
		check(t, rig.Run(t, exec.Command(link, "--envscrub-policy", empty, "run", "--bundle", b.Dir, b.ID)))
	})
	t.Run("hook", func(t *testing.T) {
		b := bundle(t)
		state := filepath.Join(rig.TempDir(t), "state")
		b.Spec.Hooks = &specs.Hooks{CreateRuntime: []specs.Hook{{
			Path: rig.Bin(t, "envscrub-hook"), Env: []string{"PATH=/usr/bin:/bin"},
			Args: []string{"envscrub-hook", "createRuntime", "--state-dir", state, "--policy", empty},
		}}}
		b.Write(t)
		check(t, b.Run(t, rt))
	})
	t.Run("command line", func(t *testing.T) {
		cmd := exec.Command(rig.Bin(t, "envscrub"), "run", "--policy", empty, "--", "/bin/cat", "/proc/self/environ")
		cmd.Env = env
		check(t, rig.Run(t, cmd))
	})
}

func sorted(env []string) []string { return slices.Sorted(slices.Values(env)) }

// minus names the entries that only a has.
func minus(a, b []string) []string {
	var names []string
	for _, e := range a {
		if !slices.Contains(b, e) {
			name, _, _ := strings.Cut(e, "=")
			names = append(names, name)
		}
	}
	return names
}

// parity: E2
func TestPolicyOnOtherSystems(t *testing.T) {
	for _, system := range []string{"darwin", "windows"} {
		cmd := exec.Command("go", "vet", "./policy/...") // compiles the tests too
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", system, err, out)
		}
	}
}
