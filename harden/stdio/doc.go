// Package stdio puts a redactor between a command and its standard output and
// error: pipes, or where a terminal is, a terminal of the command's own.
//
// # Promise
//
// Within a stream nothing changes its order; where standard output and error
// are the same file, they are one stream. A reader that is slow makes the command
// wait, one that goes away makes its next write fail, as without us. What the
// command wrote before it ended has been written on when Finish returns. The
// memory that is used does not grow with the output.
//
// A command with a terminal gets one of the same size and settings; the outer one is
// put in raw mode, so that keys, job control and what is echoed are the inner one's.
// A single stream that is a terminal (the other one is piped) gets a terminal too,
// so that the command finds there what it would have found.
//
// # Non-goals
//
// It starts no command and waits for none: the guard and the CLI do, each in its own way.
//
// # Known holes
//
//   - What writes to the outer terminal by its name (/dev/pts/0, /dev/console) is not redacted.
//   - What outlives the command cannot write any more once Finish has returned.
package stdio
