// Package wrapper is the OCI runtime wrapper: it stands where an engine expects runc
// or crun.
//
// # Promise
//
// create and run: the bundle's config.json is rewritten by the policy before the
// runtime reads it. exec: the process.json that the engine gives, or what the
// flags ask for, is filtered as the agent's children are. Everything else passes
// untouched. The program then replaces itself by the real runtime, with the arguments, descriptors
// and environment that it was given (two exceptions: its own global option and a
// mark against loops), so that exit codes, signals and output are the runtime's own.
//
// It fails closed: where the command line, the policy or a document cannot be read,
// the runtime is not called for a create, run or exec. Commands that only stop or
// look at containers never need the policy.
//
// # The command line
//
// Global options are parsed as the runtime parses them, then the first word that is
// none is the command. The grammar is runc's or crun's by the file that the name leads to;
// for another runtime both must agree. See read for options that are not known.
//
// # Not promised
//
// checkpoint and restore pass: a restored process has the environment that it was
// checkpointed with. Virtual machines (Kata) and gVisor get the scrubbed
// environment like any other; that an agent's memory is closed to its children
// there rests on their kernel, which the shim finds out.
//
// # Known holes
//
// A container that was not created through the wrapper is not touched at exec unless
// the policy says so ([exec] unknown). Whoever can write in a bundle can change it
// between us and the runtime.
package wrapper
