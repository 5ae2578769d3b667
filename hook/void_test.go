package hook_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/hook"
	"github.com/envscrub/envscrub/hook/doc"
)

// A container that keeps CAP_SYS_ADMIN has no guard to speak of: by default it is refused where there is something that the
// agent alone may hold, and only there.
//
// report: vybestack/llxprt-code#3028
func TestVoid(t *testing.T) {
	const keep = "[agent]\nkeep = [\"OPENAI_API_KEY\"]\n"
	shim := filepath.Join(rig.TempDir(t), "envscrub-shim")
	rig.Write(t, shim, "", 0o755)
	const config = `{"process":{"args":["/bin/env"],"env":["OPENAI_API_KEY=made-up-0123"],"capabilities":{"effective":["CAP_SYS_ADMIN"]}},"root":{"path":"/nowhere"}}`
	for _, c := range []struct {
		name, policy string
		refused      bool
	}{
		{"nothing to guard", "", false},
		{"keep", keep, true},
		{"keep, dropped", keep + "[harden]\ndrop_sys_admin = true\n", false},
		{"keep, allowed", keep + "[harden]\nprivileged = \"allow\"\n", false},
		{"nothing to guard, refused", "[harden]\nprivileged = \"refuse\"\n", true},
		{"grant", "[[spawn.rule]]\ncommand = \"*/gh\"\nallow = [\"OPENAI_API_KEY\"]\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := doc.Parse([]byte(config))
			must(t, err)
			v, d := decide(t, f, c.policy)
			err = hook.Inject(f, v, d, shim)
			if refused := err != nil && strings.Contains(err.Error(), "CAP_SYS_ADMIN"); refused != c.refused || err != nil && !refused {
				t.Errorf("refused: %v (%v), want %v", refused, err, c.refused)
			}
		})
	}
}
