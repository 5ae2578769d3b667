// Package regs changes a stopped thread's registers: it turns a system call
// that is about to run into another one, and has the real one run again
// afterwards. No memory is written, so it works on a process whose memory the
// tracer may not touch.
//
// Both architectures' code builds everywhere, so that it can be tested
// everywhere.
package regs
