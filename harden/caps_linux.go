package harden

import (
	"strings"
	"syscall"
	"unsafe"

	"github.com/envscrub/envscrub/harden/order"
)

// Capabilities that void the protection: whoever has one reads the memory of
// a process that is not dumpable, or its environment.
const (
	capSetpcap   = 8
	capSysPtrace = 19
	capSysAdmin  = 21
	capPerfmon   = 38
)

type capHeader struct {
	version uint32
	pid     int32
}

// capData is both words of the three sets.
type capData [2]struct{ effective, permitted, inheritable uint32 }

const capVersion3 = 0x20080522

func (d *capData) has(c int) bool {
	w, bit := c/32, uint32(1)<<(c%32)
	return (d[w].effective|d[w].permitted|d[w].inheritable)&bit != 0
}

func (d *capData) effective(c int) bool { return d[c/32].effective&(1<<(c%32)) != 0 }

func (d *capData) drop(c int) {
	w, bit := c/32, uint32(1)<<(c%32)
	d[w].effective &^= bit
	d[w].permitted &^= bit
	d[w].inheritable &^= bit
}

func ownCaps() (d capData, errno syscall.Errno) { return capsOf(0) }

// capsOf reads the sets of any process; its /proc files, which say the same,
// may be closed to the guard.
func capsOf(pid int) (d capData, errno syscall.Errno) {
	h := capHeader{version: capVersion3, pid: int32(pid)}
	_, _, errno = syscall.RawSyscall(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&h)), uintptr(unsafe.Pointer(&d[0])), 0)
	return d, errno
}

func bounded(c int) bool {
	r, _ := prctl(prCapbsetRead, uintptr(c), 0)
	return r == 1
}

// capPlan is what the agent loses before it starts.
type capPlan struct {
	bound  [4]uintptr // to drop from the bounding set
	nbound int
	lower  uintptr // to drop from the ambient set, 0 for none
	change bool
	header capHeader
	data   capData

	tracer bool // the guard itself has CAP_SYS_PTRACE, and keeps it
}

// planCaps finds out what to take from the agent. void names what it keeps
// although it voids the protection.
//
// It drops the order's capability from the guard's own bounding set, so that
// whoever loses it does not get it back, and returns it: 0 where there is none.
func planCaps(o *order.Order, uid int) (p capPlan, capability int, void []string) {
	p.header.version = capVersion3
	d, errno := ownCaps()
	if errno != 0 {
		// A seccomp profile that forbids even this. The bounding set alone
		// can say no more than that they may be there.
		return p, 0, nil
	}
	p.data, p.tracer = d, d.effective(capSysPtrace)
	if o.Dumpable == order.Off {
		return p, 0, nil
	}
	for _, c := range [...]struct {
		number int
		name   string
		take   bool
	}{
		{capSysPtrace, "CAP_SYS_PTRACE", true},
		{capPerfmon, "CAP_PERFMON", true},
		{capSysAdmin, "CAP_SYS_ADMIN", o.DropSysAdmin},
	} {
		bound := bounded(c.number)
		if !d.has(c.number) && !(bound && uid == 0) {
			// An ordinary user gets it only from a set-user-id root program,
			// which is root then.
			continue
		}
		switch {
		case !c.take, bound && uid == 0 && !d.effective(capSetpcap):
			void = append(void, c.name)
			continue
		case bound && d.effective(capSetpcap):
			p.bound[p.nbound] = uintptr(c.number)
			p.nbound++
		}
		p.data.drop(c.number)
		p.change = true
	}
	return p, p.distinguish(o, uid), void
}

// distinguish prepares the capability that the agent has and its tools do not,
// and takes away what the door lent for that. Where a security module does not
// let it, the agent goes without.
func (p *capPlan) distinguish(o *order.Order, uid int) (capability int) {
	if o.Capability == 0 {
		return 0
	}
	p.change = true
	if p.data.has(o.Capability) {
		if _, errno := prctl(prCapbsetDrop, uintptr(o.Capability), 0); errno == 0 {
			capability = o.Capability
		} else {
			p.data.drop(o.Capability)
		}
	}
	// What a program has after its exec: root what is in the bounding or the
	// inheritable set, everybody else the ambient set (capabilities(7)).
	own := !o.HasLent(order.Ambient)
	if uid == 0 {
		own = !o.HasLent(order.Bounding) || !o.HasLent(order.Inheritable)
	}
	w, bit := capSetpcap/32, uint32(1)<<(capSetpcap%32)
	if !own {
		p.data[w].effective &^= bit
		p.data[w].permitted &^= bit
	}
	if o.HasLent(order.Inheritable) {
		p.data[w].inheritable &^= bit
	}
	if o.HasLent(order.Ambient) {
		p.lower = capSetpcap
	}
	if o.HasLent(order.Bounding) {
		// The last: it takes the right to drop others.
		p.bound[p.nbound] = capSetpcap
		p.nbound++
	}
	return capability
}

// checkVoid refuses or warns where the agent keeps what voids the protection.
func checkVoid(o *order.Order, void []string) *failure {
	if len(void) == 0 {
		return nil
	}
	names := strings.Join(void, ", ")
	if o.Dumpable == order.Prefer || o.AllowVoid {
		say("warning: the agent keeps " + names + ": any process with it can read the agent's memory, the guard's protection is void")
		return nil
	}
	return refuse("the agent would keep ", names, ", which voids the guard's protection: take it from the container, or set harden.dumpable = \"prefer\"")
}
