package securitytest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig"
)

// TestEntrypointReplaced: who may write in the entrypoint's directory from another mount namespace, between create and
// start, takes the hook's mount away with the file; through the wrapper there is no mount over it.
func TestEntrypointReplaced(t *testing.T) {
	rig.Bin(t, "envscrub-shim")
	policy := filepath.Join(rig.TempDir(t), "policy.toml")
	rig.Write(t, policy, "", 0o644)
	for _, r := range rig.Runtimes(t) {
		for _, door := range []string{"hook", "wrapper"} {
			t.Run(r.Name+" "+door, func(t *testing.T) {
				b := rig.NewBundle(t, rig.Rootfs(t))
				program := filepath.Join(b.Spec.Root.Path, "usr/bin/agent")
				rig.Copy(t, filepath.Join(b.Spec.Root.Path, "bin/busybox"), program)
				b.Spec.Process.Args = []string{"/usr/bin/agent", "env"}
				b.Spec.Process.Env = append(b.Spec.Process.Env, "OPENAI_API_KEY="+key)
				if door == "hook" {
					b.Spec.Hooks = &specs.Hooks{CreateRuntime: []specs.Hook{{
						Path: rig.Bin(t, "envscrub-hook"), Args: []string{"envscrub-hook", "createRuntime", "--policy", policy},
						Env: []string{"PATH=" + os.Getenv("PATH")},
					}}}
				} else {
					r.Path = wrapper(t, r.Name, "")
				}
				b.Write(t)
				rig.Write(t, program+".new", "#!/bin/sh\nexec /bin/env\n", 0o755)
				c := b.Create(t, r)
				if c.Result.Code != 0 {
					t.Fatalf("create: %+v", c.Result)
				}
				if err := os.Rename(program+".new", program); err != nil {
					t.Fatal(err)
				}
				if s := c.Start(); s.Code != 0 {
					t.Fatalf("start: %+v", s)
				}
				c.Wait()
				if leaks := strings.Contains(c.Output(), key); leaks != (door == "hook") || !strings.Contains(c.Output(), "PATH=") {
					t.Errorf("leaks: %v: %s", leaks, c.Output())
				}
			})
		}
	}
}

// TestPlantedByRoot: root in the container can write every program, so that a rule by command holds nothing off it; and
// what a command with a grant starts has the grant. For another user neither is so.
func TestPlantedByRoot(t *testing.T) {
	const plant = "mkdir -p /tmp/bin; printf '#!/bin/sh\\n/bin/env\\n:\\n' >/tmp/bin/gh; chmod +x /tmp/bin/gh; /tmp/bin/gh"
	for _, r := range rig.Runtimes(t) {
		for _, uid := range []uint32{0, 1000} {
			t.Run(r.Name, func(t *testing.T) {
				b := rig.NewBundle(t, rig.Rootfs(t))
				r.Path = wrapper(t, r.Name, keepKey+"[[spawn.rule]]\ncommand = \"*/gh\"\nallow = [\"OPENAI_API_KEY\"]\n")
				b.Spec.Process.User = specs.User{UID: uid, GID: uid}
				b.Spec.Process.Env = append(b.Spec.Process.Env, "OPENAI_API_KEY="+key)
				b.Spec.Process.Args = []string{"/bin/sh", "-c", plant + "; :"}
				// A folder of its own: not even root is served from one that everybody can write.
				if uid == 0 {
					b.Spec.Process.Args[2] = strings.ReplaceAll(b.Spec.Process.Args[2], "/tmp/bin", "/opt/bin")
				}
				b.Write(t)
				result := b.Run(t, r)
				if got := strings.Contains(result.Stdout, key); result.Code != 0 || got != (uid == 0) {
					t.Errorf("user %d has it: %v: %+v", uid, got, result)
				}
			})
		}
	}
}
