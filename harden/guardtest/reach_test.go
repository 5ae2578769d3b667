package guardtest

import (
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
)

const (
	allLeak   = "agent leak: environ task tid mem vm_readv open: maps fd pidfd_getfd attach seize denied:\n"
	allDenied = "agent leak: open: denied: environ task tid maps mem vm_readv fd pidfd_getfd attach seize\n"
)

func denied(label string) string { return strings.Replace(allDenied, "agent", label, 1) }

// A real child of the agent, of the same user, tries every way into it, and into process 1.
//
// parity: R6
//
// report: NousResearch/hermes-agent#4427, vm0-ai/vm0#25179
func TestAgentIsClosedToItsChildren(t *testing.T) {
	for name, uid := range map[string]uint32{"root": 0, "user": 1000, "number without a name": 65534} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, rt rig.Runtime) {
				args := []string{"/probe/agent", "run", "/probe/reach", "agent=@", "first=1"}
				r := agent{uid: uid, args: args, order: on()}.run(t, rt)
				if want := "agent: has the key\n" + denied("agent") + denied("first"); r.Stdout != want || r.Code != 0 {
					t.Errorf("code %d\ngot  %swant %s%s", r.Code, r.Stdout, want, r.Stderr)
				}
				if uid == 1000 {
					// The agent is a grandchild of process 1.
					args = []string{"/bin/sh", "-c", "/probe/agent run /probe/reach agent=@ first=1; exit 0"}
					o := on()
					o.Trust = []string{"/probe/agent"}
					r = agent{uid: uid, args: args, order: o}.run(t, rt)
					if want := "agent: has the key\n" + denied("agent") + denied("first"); r.Stdout != want {
						t.Errorf("grandchild\ngot  %swant %s%s", r.Stdout, want, r.Stderr)
					}
				}
				without := map[string]*order.Order{"off": off()}
				if uid == 1000 {
					without["no shim"] = nil
				}
				for what, o := range without {
					r = agent{uid: uid, args: []string{"/probe/agent", "run", "/probe/reach", "agent=@"}, order: o}.run(t, rt)
					if want := "agent: has the key\n" + allLeak; r.Stdout != want {
						t.Errorf("%s\ngot  %swant %s%s", what, r.Stdout, want, r.Stderr)
					}
				}
			})
		})
	}
}
