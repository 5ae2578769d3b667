// Package crashtest kills the hook, the wrapper and the installer at every system call that changes something, one after
// the other: testdata/step.c counts them over all threads and children of a command. After each kill the files are as they
// were, or as they should be in the end, never half; the container has not started unscrubbed; doing it again succeeds; and
// what an install did can be taken back.
package crashtest
