package hook_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig"
)

// planted are in every container's environment; the values are made up.
var planted = []string{
	"GH_TOKEN=ghp_planted000000000000000000000000001",
	"OPENAI_API_KEY=sk-planted-0000000000000000000002",
	"GREETING=hello, world",
}

// leaks tells which of the planted secrets show in a text.
func leaks(text string) (names []string) {
	for _, entry := range planted[:2] {
		name, value, _ := strings.Cut(entry, "=")
		if strings.Contains(text, value) {
			names = append(names, name)
		}
	}
	return names
}

// diagnostics are what the guard sets for the agent; the tests compare without.
func withoutDiagnostics(text string) string {
	for _, line := range []string{"DOTNET_EnableDiagnostics=0\n", "PYTHON_DISABLE_REMOTE_DEBUG=1\n"} {
		text = strings.ReplaceAll(text, line, "")
	}
	return text
}

func withoutPlanted(text string) string {
	for _, entry := range planted[:2] {
		text = strings.ReplaceAll(text, entry+"\n", "")
	}
	return text
}

// A fixture is a bundle with planted secrets, and what its hook needs.
type fixture struct {
	*rig.Bundle
	rootfs string
	state  string
}

func newFixture(t testing.TB, edit func(b *fixture)) *fixture {
	t.Helper()
	rootfs := rig.Rootfs(t)
	b := &fixture{Bundle: rig.NewBundle(t, rootfs), rootfs: rootfs, state: filepath.Join(rig.TempDir(t), "state")}
	b.Spec.Process.Env = append(b.Spec.Process.Env, planted...)
	if edit != nil {
		edit(b)
	}
	b.Write(t)
	return b
}

// hooked is the same bundle with the hooks, as install writes them.
func (b *fixture) hooked(t testing.TB, options ...string) *fixture {
	t.Helper()
	rig.Bin(t, "envscrub-shim")
	if !slices.Contains(options, "--policy") {
		options = append(options, "--policy", noPolicy(t))
	}
	hook := func(stage string) []specs.Hook {
		args := append([]string{"envscrub-hook", stage, "--state-dir", b.state}, options...)
		return []specs.Hook{{Path: rig.Bin(t, "envscrub-hook"), Args: args, Env: []string{"PATH=/usr/bin:/bin"}}}
	}
	b.Spec.Hooks = &specs.Hooks{CreateRuntime: hook("createRuntime"), Poststop: hook("poststop")}
	b.Write(t)
	return b
}

// noPolicy is an empty policy: the built-in defaults, whatever this machine has in /etc.
func noPolicy(t testing.TB) string {
	t.Helper()
	path := filepath.Join(rig.TempDir(t), "none.toml")
	rig.Write(t, path, "", 0o644)
	return path
}

// empty fails if anything of a container is left in the state directory.
func (b *fixture) empty(t testing.TB) {
	t.Helper()
	entries, err := os.ReadDir(b.state)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("left in the state directory: %s", e.Name())
	}
}

// lifters are the processes that wait to lift a mount, by the bundle of theirs... they have no command line of
// their own, so they are found by the shim's mount that they hold open.
func lifters(t testing.TB, parentOf string) (pids []int) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		comm, _ := os.ReadFile(dir + "/comm")
		if strings.TrimSpace(string(comm)) != "envscrub-lift" {
			continue
		}
		cmdline, _ := os.ReadFile(dir + "/cmdline")
		if !slices.Contains(strings.Split(string(cmdline), "\x00"), parentOf) {
			continue
		}
		pid := 0
		for _, c := range filepath.Base(dir) {
			pid = pid*10 + int(c-'0')
		}
		if rig.Running(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func kill(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	rig.Eventually(t, "the lifter to die", func() bool { return !rig.Running(pid) })
}

// onBoth runs a test on runc and on crun.
func onBoth(t *testing.T, test func(t *testing.T, r rig.Runtime)) {
	t.Helper()
	for _, r := range rig.Runtimes(t) {
		t.Run(r.Name, func(t *testing.T) { test(t, r) })
	}
}
