package regs

// AMD64 is the kernel's struct user_regs_struct: what PTRACE_GETREGS gives to a
// 64-bit tracer, for a 32-bit program too.
type AMD64 struct {
	R15, R14, R13, R12, Rbp, Rbx, R11, R10, R9, R8 uint64
	Rax, Rcx, Rdx, Rsi, Rdi, OrigRax, Rip, Cs      uint64
	Eflags, Rsp, Ss, FsBase, GsBase                uint64
	Ds, Es, Fs, Gs                                 uint64
}

const (
	amd64UserCS32  = 0x23
	amd64Prctl     = 157
	amd64Prctl32   = 172
	amd64Execve    = 59
	amd64Execve32  = 11
	amd64Capset    = 126
	amd64Capset32  = 185
	amd64CallBytes = 2 // syscall, and int 0x80; sysenter returns behind an int 0x80
)

// Compat reports whether the program is a 32-bit one.
func (r *AMD64) Compat() bool { return r.Cs == amd64UserCS32 }

// SP is the stack pointer.
func (r *AMD64) SP() uint64 {
	if r.Compat() {
		return r.Rsp & 0xffffffff
	}
	return r.Rsp
}

// SetSP changes it.
func (r *AMD64) SetSP(v uint64) { r.Rsp = v }

// Prctl makes the system call at whose entry the thread stands a prctl.
func (r *AMD64) Prctl(option, argument uint64) {
	if r.Compat() {
		r.OrigRax, r.Rbx, r.Rcx = amd64Prctl32, option, argument
		return
	}
	r.OrigRax, r.Rdi, r.Rsi = amd64Prctl, option, argument
}

// Result is what a system call returned, at its exit.
func (r *AMD64) Result() int64 {
	if r.Compat() {
		return int64(int32(r.Rax))
	}
	return int64(r.Rax)
}

// Again makes the thread run the system call that it was about to make at
// entry.
func (r *AMD64) Again(entry *AMD64) {
	*r = *entry
	r.Rax = entry.OrigRax
	r.Rip -= amd64CallBytes
	r.OrigRax = ^uint64(0) // no system call: nothing for the kernel to restart
}

// PC is where the program goes on.
func (r *AMD64) PC() uint64 { return r.Rip }

// Inject sets the arguments of a system call that the thread is to make where it
// stands, in the stop behind an exec, and returns the code that makes it: to be
// written there. trap is the PC of the stop that follows.
func (r *AMD64) Inject(c Call, arguments [3]uint64) (code []byte, trap uint64) {
	// The exec's own result is put into rax after the stop, so the number cannot
	// be there already.
	number, instruction := pick(c, amd64Capset, amd64Execve), [2]byte{0x0f, 0x05} // syscall
	if r.Compat() {
		number, instruction = pick(c, amd64Capset32, amd64Execve32), [2]byte{0xcd, 0x80} // int 0x80
		r.Rbx, r.Rcx, r.Rdx = arguments[0], arguments[1], arguments[2]
	} else {
		r.Rdi, r.Rsi, r.Rdx = arguments[0], arguments[1], arguments[2]
	}
	// mov $number,%eax; the call; int3
	return []byte{0xb8, byte(number), 0, 0, 0, instruction[0], instruction[1], 0xcc}, r.Rip + 8
}

// Fresh makes the registers of the stop behind an exec those with which the
// program begins.
func (r *AMD64) Fresh() {
	r.Rax = 0
	r.OrigRax = ^uint64(0) // no system call: nothing for the kernel to restart
}
