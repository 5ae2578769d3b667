package guardtest

import (
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
)

// What not being dumpable costs an agent that looks at itself, and what it does not: a sandbox that it executes works, one
// that it makes of itself does not, and the switch for that is harden.dumpable.
//
// report: containers/bubblewrap#107, bytecodealliance/rustix#441
func TestAgentItself(t *testing.T) {
	rig.Need(t, "/usr/bin/python3", "unshare")
	const plain = `status open
exe open
fd open
maps open
environ open
mem open
another user: 65534
dumpable: 1
executed sandbox: 0
`
	without := strings.Replace(plain, "another user: 65534\n", "", 1) + "own sandbox: 0\n"
	guarded := strings.NewReplacer("environ open", "environ refused", "mem open", "mem refused", "dumpable: 1", "dumpable: 0", "own sandbox: 0", "own sandbox: refused")
	checkOutput(t, "a user, off", rig.Run(t, process(t, off(), "python3", probeDir(t)+"/self.py")), without)
	checkOutput(t, "a user, on", rig.Run(t, process(t, on(), "python3", probeDir(t)+"/self.py")), guarded.Replace(without))
	each(t, func(t *testing.T, rt rig.Runtime) {
		// Root's files in /proc are root's in any case.
		a := agent{host: true, order: off(), args: []string{"/usr/bin/python3", "/probe/self.py"}}
		checkOutput(t, "root, off", a.run(t, rt), plain)
		a.order = on()
		checkOutput(t, "root, on", a.run(t, rt), strings.Replace(plain, "dumpable: 1", "dumpable: 0", 1))
	})
}
