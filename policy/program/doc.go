// Package program runs the [[hook]] programs of a policy.
//
// A program gets the context of the process that is about to start as one JSON object on its standard input and prints
// a new one:
//
//	{"purpose": "container", "command": "/usr/bin/agent", "args": ["--serve"], "cwd": "/work",
//	 "env": {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
//	 "scope": "", "session": "", "origin": "docker"}
//
// The answer has to have command, args, cwd and env; in env, null is the same as leaving the variable out. What it says
// about purpose, scope, session and origin does not count. JSON has no bytes that are not UTF-8: a value with such
// bytes that comes back as it was sent is kept as it was before.
//
// It fails closed: an exit code other than 0, no answer in time, more than 1 MiB of it, anything that is not such an
// object, an unknown field. The program and all that it started are killed then. The one line of the error holds the
// first line that the program wrote to its standard error, without the values of its environment and its input.
//
// The program is started directly, by no shell, with what the policy leaves of the caller's own environment.
//
// Not promised: a program that runs in the background after its answer is not looked for. On Windows only the program
// itself is killed.
package program
