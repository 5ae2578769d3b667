package order

import "strconv"

// At the mount door the shim has neither order nor environment variable. It
// makes a pipe, says in its command name (/proc/<pid>/comm, readable by all)
// that it waits, and reads until the order is complete. The lifter looks at
// /proc/<pid>/exe first, then at the name, lifts the mount, and writes the
// encoded order to /proc/<pid>/fd/N.
const readyPrefix = "envscrub:"

// Ready is the command name of a shim that waits for its order on descriptor
// fd.
func Ready(fd int) string { return readyPrefix + strconv.Itoa(fd) }
