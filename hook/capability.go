package hook

import (
	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/hook/doc"
)

// setpcap is what the shim needs to leave the agent's capability to nobody else.
const setpcap = "CAP_SETPCAP"

// marks are capabilities that may be the agent's alone: what they allow concerns
// the suspending of the machine, which no container does.
var marks = []struct {
	name   string
	number int
}{{"CAP_WAKE_ALARM", unix.CAP_WAKE_ALARM}, {"CAP_BLOCK_SUSPEND", unix.CAP_BLOCK_SUSPEND}}

// distinguish gives the agent a capability that its tools will not have, for
// the time in which a child still has the agent's environment: no process reads another
// one that has more capabilities (PTRACE_MODE in ptrace(2)). Where the container has
// both already, no sets at all, or the runtime could not grant one, it goes
// without.
func distinguish(f *doc.File, o *order.Order) {
	if len(o.AgentOnly) == 0 || o.Dumpable == order.Off || !f.HasCapabilities() {
		return
	}
	for _, m := range marks {
		if f.Has(m.name) || !grantable(m.number, unix.CAP_SETPCAP) {
			continue
		}
		f.AddCapability(m.name)
		o.Capability = m.number
		for _, set := range f.AddCapability(setpcap) {
			o.Lent += order.Sets[set : set+1]
		}
		return
	}
}

// TakeBack undoes that in a document that was made of one which Inject changed: what
// runs beside the agent, or a second Inject, is to find the sets as they were.
func TakeBack(f *doc.File) {
	o, _, err := order.FromEnviron(f.Env())
	if err != nil || o == nil || o.Capability == 0 {
		return
	}
	for _, m := range marks {
		if m.number == o.Capability {
			f.DropCapability(m.name, doc.AllSets...)
		}
	}
	for _, set := range doc.AllSets {
		if o.HasLent(order.Sets[set]) {
			f.DropCapability(setpcap, set)
		}
	}
}

// grantable tells whether this process, and so the runtime that it becomes, has the
// capabilities.
func grantable(numbers ...int) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) != nil {
		return false
	}
	for _, n := range numbers {
		if data[n/32].Effective&(1<<(n%32)) == 0 {
			return false
		}
	}
	return true
}
