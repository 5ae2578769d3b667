package benchmark

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig"
)

// secrets are what the measured containers are started with, beside the environment of `runc spec`.
var secrets = []string{
	"OPENAI_API_KEY=made-up-0123456789", "GITHUB_TOKEN=made-up-9876543210", "DATABASE_URL=postgres://app:made-up@db/app",
	"LANG=C.UTF-8", "NODE_ENV=production", "AGENT_MODE=fast",
}

// trueBundle is a bundle whose process is /bin/true.
func trueBundle(b *testing.B, rootfs string, edit func(*specs.Spec)) *rig.Bundle {
	b.Helper()
	bundle := rig.NewBundle(b, rootfs)
	bundle.Spec.Process.Args = []string{"/bin/true"}
	bundle.Spec.Process.Env = append(bundle.Spec.Process.Env, secrets...)
	if edit != nil {
		edit(bundle.Spec)
	}
	bundle.Write(b)
	return bundle
}

// BenchmarkHook is the whole `RUNTIME run` of /bin/true with the createRuntime hook against none.
func BenchmarkHook(b *testing.B) {
	rootfs := rig.Rootfs(b)
	hooks := []struct {
		name string
		args []string
	}{
		{"no hook", nil},
		{"floor: C hook that does nothing", []string{rig.CC(b, "testdata/drain.c")}},
		{"floor: Go hook that does nothing", []string{installed(b, rig.Go(b, "./testdata/drain"))}},
		{"envscrub-hook", []string{shimBeside(b, "envscrub-hook"), "createRuntime"}},
	}
	for _, r := range rig.Runtimes(b) {
		var variants []Variant
		for _, hook := range hooks {
			bundle := trueBundle(b, rootfs, func(s *specs.Spec) {
				if hook.args != nil {
					s.Hooks = &specs.Hooks{CreateRuntime: []specs.Hook{{Path: hook.args[0], Args: hook.args, Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}}}}
				}
			})
			config, err := os.ReadFile(bundle.Config())
			if err != nil {
				b.Fatal(err)
			}
			variants = append(variants, command(hook.name, func() *exec.Cmd {
				// The hook rewrites the bundle's configuration: every run gets the original.
				rig.Write(b, bundle.Config(), string(config), 0o644)
				return r.Command("run", "--bundle", bundle.Dir, bundle.ID)
			}))
		}
		compare(b, r.Name+" run, createRuntime hook", variants...)
	}
}

// BenchmarkWrapper is the whole `run` of /bin/true through the runtime wrapper against the bare runtime, and a command
// that passes through.
func BenchmarkWrapper(b *testing.B) {
	rootfs := rig.Rootfs(b)
	wrapper := shimBeside(b, "envscrub-runtime")
	for _, r := range rig.Runtimes(b) {
		bundle := trueBundle(b, rootfs, nil)
		config, err := os.ReadFile(bundle.Config())
		if err != nil {
			b.Fatal(err)
		}
		sleeper := trueBundle(b, rootfs, func(s *specs.Spec) { s.Process.Args = []string{"/bin/sleep", "600"} })
		started := sleeper.Create(b, r)
		if res := started.Start(); res.Code != 0 {
			b.Fatalf("%s start: %s", r.Name, res.Stderr)
		}
		link := filepath.Join(rig.TempDir(b), "envscrub-"+r.Name)
		if err := os.Symlink(wrapper, link); err != nil {
			b.Fatal(err)
		}
		var run, state []Variant
		for _, w := range []struct{ name, path string }{
			{"bare " + r.Name, r.Path},
			{"floor: C wrapper that only executes", rig.CC(b, "testdata/exec.c")},
			{"floor: Go wrapper that only executes", installed(b, rig.Go(b, "./testdata/exec"))},
			{"envscrub-runtime", link},
		} {
			through := rig.Runtime{Name: r.Name, Path: w.path, Root: r.Root}
			run = append(run, command(w.name, func() *exec.Cmd {
				rig.Write(b, bundle.Config(), string(config), 0o644)
				cmd := through.Command("run", "--bundle", bundle.Dir, bundle.ID)
				cmd.Env = append(os.Environ(), "FLOOR_RUNTIME="+r.Path)
				return cmd
			}))
			state = append(state, command(w.name, func() *exec.Cmd {
				cmd := through.Command("state", sleeper.ID)
				cmd.Env = append(os.Environ(), "FLOOR_RUNTIME="+r.Path)
				return cmd
			}))
		}
		compare(b, r.Name+" run, runtime wrapper", run...)
		compare(b, r.Name+" state, passed through", state...)
	}
}

// shimBeside builds a door and the shim, which it looks for beside itself.
func shimBeside(b *testing.B, door string) string {
	b.Helper()
	return installed(b, rig.Bin(b, door), rig.Bin(b, "envscrub-shim"))
}

// installed copies programs into a directory of their own, as an installer does, and returns the first. What a linker
// writes through mapped memory lies in the page cache in single pages, so that it starts up to half a millisecond later.
func installed(b *testing.B, programs ...string) string {
	b.Helper()
	dir := rig.TempDir(b)
	for _, program := range programs {
		data, err := os.ReadFile(program)
		if err != nil {
			b.Fatal(err)
		}
		rig.Write(b, filepath.Join(dir, filepath.Base(program)), string(data), 0o755)
	}
	return filepath.Join(dir, filepath.Base(programs[0]))
}
