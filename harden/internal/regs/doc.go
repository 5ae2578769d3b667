// Package regs changes a stopped thread's registers: it turns a system call
// that is about to run into another one, and has the real one run again
// afterwards. No memory is written, so it works on a process whose memory the
// tracer may not touch. Where it may, behind an exec, Inject has the thread make
// a call before the program's first instruction.
//
// Both architectures' code builds everywhere, so that it can be tested
// everywhere.
package regs

// Call is a system call for Inject.
type Call int

// The calls.
const (
	Capset Call = iota
	Execve
)

// pick is the number of a call, of those that an architecture has for them.
func pick(c Call, capset, execve uint64) uint64 {
	if c == Execve {
		return execve
	}
	return capset
}
