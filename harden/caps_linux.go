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

func ownCaps() (d capData, errno syscall.Errno) {
	h := capHeader{version: capVersion3}
	_, _, errno = syscall.RawSyscall(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&h)), uintptr(unsafe.Pointer(&d[0])), 0)
	return d, errno
}

func bounded(c int) bool {
	r, _ := prctl(prCapbsetRead, uintptr(c), 0)
	return r == 1
}

// capPlan is what the agent loses before it starts.
type capPlan struct {
	bound  [3]uintptr // to drop from the bounding set
	nbound int
	change bool
	header capHeader
	data   capData

	tracer bool // the guard itself has CAP_SYS_PTRACE, and keeps it
}

// planCaps finds out what to take from the agent. void names what it keeps
// although it voids the protection.
func planCaps(o *order.Order, uid int) (p capPlan, void []string) {
	p.header.version = capVersion3
	d, errno := ownCaps()
	if errno != 0 {
		// A seccomp profile that forbids even this. The bounding set alone
		// can say no more than that they may be there.
		return p, nil
	}
	p.data, p.tracer = d, d.effective(capSysPtrace)
	if o.Dumpable == order.Off {
		return p, nil
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
	return p, void
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
