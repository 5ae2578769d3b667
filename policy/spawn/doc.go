// Package spawn decides what a process that the agent starts may see: the
// spawn boundary. The shim asks it at every exec below the agent, so it links
// into the shim and imports next to nothing.
//
// It promises:
//
//   - a variable that only the agent holds does not reach a child under its
//     own name with the agent's own value;
//   - the value of such a variable reaches no child under another name
//     either, nor as part of another value, if it has [MinProtected] bytes or
//     more;
//   - what the agent sets on purpose passes: a name that it did not have, or
//     a value that differs from its own;
//   - a rule grants a variable, name and value, to the commands that it
//     matches, and to no other.
//
// It does not look at arguments, files or pipes: what the agent hands over
// that way is handed over. It does not find a value that is encoded or split.
package spawn
