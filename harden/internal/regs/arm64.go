package regs

// ARM64 is what PTRACE_GETREGSET NT_PRSTATUS gives: struct user_pt_regs, or for
// a 32-bit program struct user_regs of that architecture, which is shorter.
type ARM64 struct {
	Words [34]uint64 // x0 to x30, sp, pc, pstate
	Size  int        // of what the kernel gave, in bytes

	// Call is the system call's number, which has a register set of its own;
	// Prctl sets it, and the caller writes it.
	Call int32
}

// The sizes of the two register sets.
const (
	ARM64Size  = 34 * 8
	ARM32Size  = 18 * 4
	arm64SP    = 31
	arm64PC    = 32
	arm64X8    = 8
	arm32SP    = 13
	arm32PC    = 15
	arm32CPSR  = 16
	arm32R0    = 17 // the first argument as it was at entry
	arm32Thumb = 1 << 5

	arm64Prctl  = 167
	arm32Prctl  = 172
	arm64Execve = 221
	arm32Execve = 11
	arm64Capset = 91
	arm32Capset = 185
)

// Compat reports whether the program is a 32-bit one.
func (r *ARM64) Compat() bool { return r.Size == ARM32Size }

func (r *ARM64) get(n int) uint64 {
	if !r.Compat() {
		return r.Words[n]
	}
	return r.Words[n/2] >> (32 * (n & 1)) & 0xffffffff
}

func (r *ARM64) set(n int, v uint64) {
	if !r.Compat() {
		r.Words[n] = v
		return
	}
	shift := 32 * (n & 1)
	r.Words[n/2] = r.Words[n/2]&^(0xffffffff<<shift) | v&0xffffffff<<shift
}

// SP is the stack pointer.
func (r *ARM64) SP() uint64 {
	if r.Compat() {
		return r.get(arm32SP)
	}
	return r.get(arm64SP)
}

// SetSP changes it.
func (r *ARM64) SetSP(v uint64) {
	if r.Compat() {
		r.set(arm32SP, v)
		return
	}
	r.set(arm64SP, v)
}

// Prctl makes the system call at whose entry the thread stands a prctl.
func (r *ARM64) Prctl(option, argument uint64) {
	r.set(0, option)
	r.set(1, argument)
	r.Call = arm64Prctl
	if r.Compat() {
		r.Call = arm32Prctl
	}
}

// Result is what a system call returned, at its exit.
func (r *ARM64) Result() int64 {
	if r.Compat() {
		return int64(int32(r.get(0)))
	}
	return int64(r.get(0))
}

// Again makes the thread run the system call that it was about to make at
// entry: the number's register is as it was, so stepping back is enough.
func (r *ARM64) Again(entry *ARM64) {
	*r = *entry
	if !r.Compat() {
		r.set(arm64PC, entry.get(arm64PC)-4)
		return
	}
	r.set(0, entry.get(arm32R0))
	size := uint64(4)
	if entry.get(arm32CPSR)&arm32Thumb != 0 {
		size = 2
	}
	r.set(arm32PC, entry.get(arm32PC)-size)
}

// PC is where the program goes on.
func (r *ARM64) PC() uint64 {
	if r.Compat() {
		// Behind an exec of a Thumb program the kernel leaves the mark of one, a
		// set bit 0, in the register. The address is without it.
		return r.get(arm32PC) &^ 1
	}
	return r.get(arm64PC)
}

// Inject is as for AMD64. The exec's result goes into the first argument's
// register, which the code therefore fills from another.
func (r *ARM64) Inject(c Call, arguments [3]uint64) (code []byte, trap uint64) {
	first, number, at := 9, arm64X8, r.PC()
	call := pick(c, arm64Capset, arm64Execve)
	code = []byte{
		0xe0, 0x03, 0x09, 0xaa, // mov x0, x9
		0x01, 0x00, 0x00, 0xd4, // svc #0
		0x00, 0x00, 0x20, 0xd4, // brk #0
	}
	trap = at + 8
	if r.Compat() {
		first, number = 4, 7
		call = pick(c, arm32Capset, arm32Execve)
		code = []byte{
			0x04, 0x00, 0xa0, 0xe1, // mov r0, r4
			0x00, 0x00, 0x00, 0xef, // svc #0
			0x70, 0x00, 0x20, 0xe1, // bkpt #0
		}
		if r.get(arm32CPSR)&arm32Thumb != 0 {
			code = []byte{0x20, 0x46, 0x00, 0xdf, 0x00, 0xbe} // the same three
			trap = at + 4
		}
	}
	r.set(first, arguments[0])
	r.set(1, arguments[1])
	r.set(2, arguments[2])
	r.set(number, call)
	return code, trap
}

// Fresh is as for AMD64.
func (r *ARM64) Fresh() { r.set(0, 0) }
