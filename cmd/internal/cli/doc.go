// Package cli is the command line of envscrub, one file a verb.
//
// Promise: results go to standard output, everything else to standard error. A
// value of a variable is never printed, in no verb and no error; the one
// exception is `explain --format overrides`, whose purpose is the kept pairs.
// Names and other text from an environment are escaped before a terminal sees
// them. Exit codes: 0 done and well, 1 it is not, 2 the command line is wrong;
// `run` has its command's.
//
// Non-goals: anything on the critical path of a container's start. That is why
// this package may use a command line framework and the others may not.
package cli
