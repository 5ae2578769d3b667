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

// Execve makes a thread that runs no system call execute the instruction at
// call, a system call, as execve.
func (r *ARM64) Execve(call, path, argv, envp uint64) {
	r.set(0, path)
	r.set(1, argv)
	r.set(2, envp)
	if r.Compat() {
		r.set(7, arm32Execve)
		r.set(arm32CPSR, r.get(arm32CPSR)&^uint64(arm32Thumb))
		r.set(arm32PC, call)
		return
	}
	r.set(arm64X8, arm64Execve)
	r.set(arm64PC, call)
}

// CallInstruction is the system call instruction to look for in the vdso.
func (r *ARM64) CallInstruction() []byte {
	if r.Compat() {
		return []byte{0x00, 0x00, 0x00, 0xef} // svc #0, as ARM
	}
	return []byte{0x01, 0x00, 0x00, 0xd4} // svc #0
}
