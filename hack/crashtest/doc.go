// Package crashtest kills the hook, the wrapper and the installer at every system call that changes something, one after
// the other, by strace's fault injection (strace(1), "tampering"). After each kill the files are as they were, or as they
// should be in the end, never half; the container has not started unscrubbed; and doing it again succeeds.
package crashtest
