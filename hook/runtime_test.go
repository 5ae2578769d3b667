package hook_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/hook"
	"github.com/envscrub/envscrub/hook/doc"
)

// Variables that Go's runtime obeys are the agent's, not the shim's: a malformed one would end it, also behind an init.
func TestRuntimeVariablesPassTheShim(t *testing.T) {
	set := []string{"PATH=/bin", "GOMEMLIMIT=malformed", "GODEBUG=schedtrace=1,gctrace=1", "GOGC=off", "GOTRACEBACK=crash"}
	for _, rt := range rig.Runtimes(t) {
		for _, args := range [][]string{{"/bin/sh", "-c", "/bin/env"}, {"/bin/tini", "--", "/bin/sh", "-c", "/bin/env"}} {
			b := rig.NewBundle(t, rig.Rootfs(t))
			b.Spec.Process.Env, b.Spec.Process.Args = set, args
			if args[0] == "/bin/tini" {
				rig.Need(t, "/usr/bin/tini-static")
				rig.Copy(t, "/usr/bin/tini-static", filepath.Join(b.Spec.Root.Path, "bin/tini"))
			}
			b.Write(t)
			f, err := doc.Open(b.Config())
			must(t, err)
			v, d := decide(t, f, "[agent]\nkeep = [\"GH_TOKEN\"]")
			must(t, hook.Inject(f, v, d, rig.Bin(t, "envscrub-shim")))
			must(t, f.Save())
			r := b.Run(t, rt)
			got := r.Env()
			for _, e := range set {
				name, value, _ := strings.Cut(e, "=")
				if got[name] != value {
					t.Errorf("%s, %s: %s is %q", rt.Name, args[0], name, got[name])
				}
			}
			if r.Code != 0 || r.Stderr != "" {
				t.Errorf("%s, %s: code %d: %.300s", rt.Name, args[0], r.Code, r.Stderr)
			}
		}
	}
}
