package benchmark

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/benchmark/report"
	"github.com/envscrub/envscrub/hack/rig"
)

// secrets are what the measured containers are started with, beside the environment of `runc spec`.
var secrets = []string{
	"OPENAI_API_KEY=made-up-0123456789", "GITHUB_TOKEN=made-up-9876543210", "DATABASE_URL=postgres://app:made-up@db/app",
	"LANG=C.UTF-8", "NODE_ENV=production", "AGENT_MODE=fast",
}

// newBundle is a bundle of a process with the secrets.
func newBundle(t *testing.T, rootfs string, edit func(*specs.Spec), args ...string) *rig.Bundle {
	t.Helper()
	bundle := rig.NewBundle(t, rootfs)
	bundle.Spec.Process.Args = args
	bundle.Spec.Process.Env = append(bundle.Spec.Process.Env, secrets...)
	if edit != nil {
		edit(bundle.Spec)
	}
	bundle.Write(t)
	return bundle
}

// running is a bundle's container, running.
func running(t *testing.T, bundle *rig.Bundle, r rig.Runtime) *rig.Created {
	t.Helper()
	c := bundle.Create(t, r)
	if c.Result.Code != 0 {
		t.Fatalf("%s create: %s", r.Path, c.Result.Stdout)
	}
	if res := c.Start(); res.Code != 0 {
		t.Fatalf("%s start: %s", r.Path, res.Stderr)
	}
	return c
}

// door is what stands where a runtime is called.
type door struct {
	name string
	role report.Role
	path string
}

// doors are the bare runtime, the floors and our wrapper of it.
func doors(t *testing.T, runtime string) []door {
	t.Helper()
	name := filepath.Base(runtime)
	all := []door{
		{"bare " + name, report.Base, runtime},
		{"C wrapper that only executes", report.Floor, installed(t, rig.CC(t, "testdata/exec.c"))},
		{"Go wrapper that only executes", report.Floor, installed(t, rig.Go(t, "./testdata/exec"))},
		{"envscrub-runtime", report.Ours, filepath.Join(rig.TempDir(t), "envscrub-"+name)},
	}
	symlink(t, runtime, all[1].path+".runtime")
	symlink(t, runtime, all[2].path+".runtime")
	symlink(t, shimBeside(t, "envscrub-runtime"), all[3].path)
	return all
}

func (d door) of(r rig.Runtime) rig.Runtime {
	r.Path = d.path
	return r
}

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}

// fresh gives back a bundle's config.json, which the doors rewrite.
func fresh(t *testing.T, bundle *rig.Bundle) func() {
	t.Helper()
	config, err := os.ReadFile(bundle.Config())
	if err != nil {
		t.Fatal(err)
	}
	return func() { rig.Write(t, bundle.Config(), string(config), 0o644) }
}

// runOnce is the whole `run` of a bundle.
func runOnce(t *testing.T, name string, role report.Role, r rig.Runtime, bundle *rig.Bundle) Variant {
	t.Helper()
	reset := fresh(t, bundle)
	return command(name, role, func() *exec.Cmd {
		reset()
		return r.Command("run", "--bundle", bundle.Dir, bundle.ID)
	})
}

// hook is the whole `run` of /bin/true with the createRuntime hook against none.
func hook(t *testing.T, b *bench) {
	rootfs := rig.Rootfs(t)
	hooks := []struct {
		name string
		role report.Role
		args []string
	}{
		{"no hook", report.Base, nil},
		{"C hook that does nothing", report.Floor, []string{installed(t, rig.CC(t, "testdata/drain.c"))}},
		{"Go hook that does nothing", report.Floor, []string{installed(t, rig.Go(t, "./testdata/drain"))}},
		{"envscrub-hook", report.Ours, []string{shimBeside(t, "envscrub-hook"), "createRuntime"}},
	}
	for _, r := range rig.Runtimes(t) {
		var variants []Variant
		for _, h := range hooks {
			bundle := newBundle(t, rootfs, func(s *specs.Spec) {
				if h.args != nil {
					s.Hooks = &specs.Hooks{CreateRuntime: []specs.Hook{{Path: h.args[0], Args: h.args, Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}}}}
				}
			}, "/bin/true")
			variants = append(variants, runOnce(t, h.name, h.role, r, bundle))
		}
		b.measure(t, Figure{
			Name: r.Name + " run, createRuntime hook", Variants: variants,
			Headline: "`" + r.Name + " run /bin/true`, hook and guard",
		})
	}
}

// wrapper is the whole `run` of /bin/true through the runtime wrapper against the bare runtime, with secrets in the
// environment (so that the guard is there) and without; and a command that passes through.
func wrapper(t *testing.T, b *bench) {
	rootfs := rig.Rootfs(t)
	for _, r := range rig.Runtimes(t) {
		sleeper := newBundle(t, rootfs, nil, "/bin/sleep", "600")
		running(t, sleeper, r)
		var run, state []Variant
		for _, d := range doors(t, r.Path) {
			run = append(run, runOnce(t, d.name, d.role, d.of(r), newBundle(t, rootfs, nil, "/bin/true")))
			state = append(state, command(d.name, d.role, func() *exec.Cmd { return d.of(r).Command("state", sleeper.ID) }))
			if d.role == report.Ours {
				plain := newBundle(t, rootfs, func(s *specs.Spec) { s.Process.Env = s.Process.Env[:len(s.Process.Env)-len(secrets)] }, "/bin/true")
				run = append(run, runOnce(t, d.name+", no secret to take away", report.Ours, d.of(r), plain))
			}
		}
		b.measure(t, Figure{
			Name: r.Name + " run, runtime wrapper", Variants: run,
			Headline: "`" + r.Name + " run /bin/true`, wrapper and guard",
		})
		b.measure(t, Figure{
			Name: r.Name + " state, passed through", Variants: state,
			Headline: "`" + r.Name + " state` through the wrapper",
		})
	}
}

// execInto is `exec` of /bin/true as engines call it, with a process.json, in a container that was created the same way; by the number
// of variables too.
func execInto(t *testing.T, b *bench) {
	rootfs := rig.Rootfs(t)
	grows := &curve{report.Curve{Name: "Exec in a container (runc)", X: "variables", Unit: "s"}}
	for _, r := range rig.Runtimes(t) {
		for _, n := range of([]int{30, 300, 3000}, []int{30, 60}) {
			if n > 30 && r.Name != "runc" {
				continue
			}
			var variants []Variant
			for _, d := range doors(t, r.Path) {
				bundle := newBundle(t, rootfs, func(s *specs.Spec) { s.Process.Env = environment(n) }, "/bin/sleep", "600")
				running(t, bundle, d.of(r))
				process := *bundle.Spec.Process
				process.Args = []string{"/bin/true"}
				data, err := json.Marshal(process)
				if err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(bundle.Dir, "process.json")
				variants = append(variants, command(d.name, d.role, func() *exec.Cmd {
					rig.Write(t, file, string(data), 0o644)
					return d.of(r).Command("exec", "--process", file, bundle.ID)
				}))
			}
			f := Figure{Name: r.Name + " exec, runtime wrapper", Variants: variants}
			if n > 30 {
				f.Name += ", " + count(n, "variables")
				f.Rounds = 20
			} else {
				f.Headline = "`" + r.Name + " exec /bin/true` through the wrapper"
			}
			timings := b.measure(t, f)
			if r.Name == "runc" {
				grows.add(n, timings)
			}
		}
	}
	b.Curves = append(b.Curves, grows.Curve)
}

// shimBeside builds a door and the shim, which it looks for beside itself.
func shimBeside(t *testing.T, door string) string {
	t.Helper()
	return installed(t, rig.Bin(t, door), rig.Bin(t, "envscrub-shim"))
}

// installed copies programs into a directory of their own, as an installer does, and returns the first. What a linker
// writes through mapped memory lies in the page cache in single pages, so that it starts up to half a millisecond later.
func installed(t *testing.T, programs ...string) string {
	t.Helper()
	dir := rig.TempDir(t)
	for _, program := range programs {
		data, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		rig.Write(t, filepath.Join(dir, filepath.Base(program)), string(data), 0o755)
	}
	return filepath.Join(dir, filepath.Base(programs[0]))
}
