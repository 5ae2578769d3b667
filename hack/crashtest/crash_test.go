package crashtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig"
)

const planted = "made-up-planted-value"

// bundle is a bundle with planted values whose process shows its environment.
func bundle(t *testing.T, edit func(*specs.Spec)) *rig.Bundle {
	b := rig.NewBundle(t, rig.Rootfs(t))
	b.Spec.Process.Args = []string{"/bin/sh", "-c", "/usr/bin/env; /bin/cat /proc/1/environ; exit 0"}
	b.Spec.Process.Env = append(b.Spec.Process.Env, "OPENAI_API_KEY="+planted, "COPY="+planted)
	if edit != nil {
		edit(b.Spec)
	}
	b.Write(t)
	return b
}

// checkDocument says what is wrong with a config.json or process.json after a crash: it has to be the old one byte for
// byte, or a whole one without the planted value. It reports whether it is the new one.
func checkDocument(t *testing.T, point, path, old string) (scrubbed bool) {
	t.Helper()
	now, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(now) == old {
		return false
	}
	if !json.Valid(now) {
		t.Fatalf("%s: %s is half written: %q", point, path, now)
	}
	if strings.Contains(string(now), planted) {
		t.Fatalf("%s: %s is neither the old one nor scrubbed", point, path)
	}
	return true
}

// noBackups: whatever else stays in the bundle has no planted value in it (moby PR#34419).
func noBackups(t *testing.T, point, dir string, except ...string) {
	t.Helper()
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return
	}
	for path, n := range readTree(t, dir) {
		known := false
		for _, name := range except {
			known = known || path == "/"+name
		}
		if !known && strings.Contains(n.data, planted) {
			t.Errorf("%s: %s is left with a planted value in it", point, path)
		}
	}
}

// TestWrapper steps through `envscrub-runtime create` and `exec`. A program that does nothing stands in the runtime's
// place: what the runtime does with the result is not the question.
func TestWrapper(t *testing.T) {
	rig.Need(t, "root", "runc")
	rig.Bin(t, "envscrub-shim")
	step := newStepper(t)
	nothing := filepath.Join(rig.TempDir(t), "runc")
	rig.Copy(t, rig.CC(t, "testdata/nothing.c"), nothing)
	policy := filepath.Join(rig.TempDir(t), "policy.toml")
	rig.Write(t, policy, fmt.Sprintf("runtimes = [%q]\n", nothing), 0o644)
	b := bundle(t, nil)
	process := filepath.Join(b.Dir, "process.json")
	command := func(args ...string) []string {
		return append([]string{rig.Bin(t, "envscrub-runtime"), "--envscrub-policy=" + policy}, args...)
	}
	forget := command("delete", b.ID)
	create := command("create", "--bundle", b.Dir, b.ID)
	for _, c := range []struct {
		name, document string
		before         []string // what has to be done first
		command        []string
	}{
		{"create", b.Config(), nil, create},
		{"exec", process, create, command("exec", "--process", process, b.ID)},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, err := json.Marshal(b.Spec)
			if err != nil {
				t.Fatal(err)
			}
			running, err := json.Marshal(b.Spec.Process)
			if err != nil {
				t.Fatal(err)
			}
			old := map[string]string{b.Config(): string(config), process: string(running)}
			must := func(when string, argv []string) {
				t.Helper()
				if r := rig.Run(t, exec.Command(argv[0], argv[1:]...)); r.Code != 0 {
					t.Fatalf("%s: exit %d: %s", when, r.Code, r.Stderr)
				}
			}
			points := 0
			for n := 1; n < maxPoints; n++ {
				for path, text := range old {
					rig.Write(t, path, text, 0o644)
				}
				if c.before != nil {
					must("before", c.before)
				}
				step.run(t, n, c.command...)
				point := step.killed(t)
				scrubbed := checkDocument(t, point, c.document, old[c.document])
				if point == "" {
					if !scrubbed {
						t.Fatal("without a crash nothing is scrubbed")
					}
					break
				}
				points++
				noBackups(t, point, b.Dir, "config.json", "process.json")
				// What the crash left is no obstacle.
				must(point+": again", c.command)
				if !checkDocument(t, point, c.document, old[c.document]) {
					t.Fatalf("%s: done again it does not scrub", point)
				}
				must("forget", forget)
			}
			enough(t, points)
		})
	}
}

// TestHook steps through createRuntime and what it leaves behind (the lifter) inside a real `RUNTIME run`.
func TestHook(t *testing.T) {
	t.Parallel() // a killed lifter costs the shim's whole time limit
	rig.Bin(t, "envscrub-shim")
	hook := rig.Bin(t, "envscrub-hook")
	for _, r := range rig.Runtimes(t) {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			step := newStepper(t)
			state := filepath.Join(rig.TempDir(t), "state")
			b := bundle(t, nil)
			points, lifter := 0, 0
			for n := 1; n < maxPoints; n++ {
				argv := step.argv(n, hook, "createRuntime", "--state-dir", state)
				b.Spec.Hooks = &specs.Hooks{CreateRuntime: []specs.Hook{{Path: argv[0], Args: argv, Env: []string{"PATH=" + os.Getenv("PATH")}}}}
				b.Write(t)
				old, err := os.ReadFile(b.Config())
				if err != nil {
					t.Fatal(err)
				}
				result := b.Run(t, r)
				point := step.killed(t)
				if strings.Contains(result.Stdout+result.Stderr, planted) {
					t.Fatalf("%q: the planted value came out:\n%s%s", point, result.Stdout, result.Stderr)
				}
				checkDocument(t, point, b.Config(), string(old))
				noBackups(t, point, b.Dir, "config.json")
				noBackups(t, point, state)
				_ = rig.Run(t, r.Command("delete", "--force", b.ID))
				switch {
				case point == "":
					if result.Code != 0 {
						t.Fatalf("without a crash: %+v", result)
					}
				case strings.Contains(point, "command"): // the hook itself: the create fails
					if result.Code == 0 {
						t.Fatalf("%s: the container ran: %+v", point, result)
					}
				default: // the lifter, later: the shim gives up, or has had what it needs
					if result.Code != 0 && result.Code != 125 {
						t.Fatalf("%s: %+v", point, result)
					}
					lifter++
				}
				if point == "" {
					break
				}
				points++
			}
			if lifter == 0 {
				t.Error("the lifter was never killed")
			}
			enough(t, points)
		})
	}
}
