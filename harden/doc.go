// Package harden is the kernel side of envscrub: the shim, which is an agent's
// entrypoint in its container, and the guard that it becomes.
//
// [Main] takes an order (package order) through one of three doors: its
// environment, a pipe that the hook's lifter writes to, or, behind a
// container's own init, a memory file. Where nothing has to stay it
// executes the entrypoint. Otherwise it forks the agent and is its guard.
//
// # What it promises
//
//   - The agent is not dumpable after each of its execs, before its first system
//     call has run: no process of its user, and no root without CAP_SYS_PTRACE,
//     CAP_SYS_ADMIN or CAP_PERFMON, reads its memory, environ, maps or
//     descriptors, or attaches to it. These capabilities are taken from the
//     agent; the guard refuses to start, and names it, where one has to stay.
//     The kernel's answer and the owner of /proc/<agent>/environ are checked.
//   - Every process that it starts has its environment filtered (package
//     policy/spawn) before its first instruction: removed entries are zeroed, not
//     only unlinked. Then it is let go. One whose memory cannot be edited is
//     killed, and a line says so.
//   - Until then nobody but the guard reads that child, where the door could give the
//     agent a capability of its own (order.Capability): the kernel shows no process one
//     that has more capabilities. The child gives it up, before its first
//     instruction, once it is filtered. To tools all sets are what they would have been.
//   - A rule or a trust applies to a program, script or name only where the user
//     that executes it could not have put it there: neither file nor any folder
//     on the way is its own or can be written by it, unless the file system is
//     read-only. A command with a grant is closed like the agent, and then
//     let go.
//   - What forks without exec is still the agent, and so is a trusted command.
//     A trusted command's own execs stay agent too, as the main process's do.
//   - If the guard dies, the agent dies.
//   - To its children the agent is what it would have been without a guard: it
//     leads a session, has the terminal, gets every signal that can be forwarded,
//     and its exit code, or 128 and the signal's number, is the guard's. Orphans
//     are reaped. The agent is no longer process 1, though: a program that
//     insists on that (systemd) needs dumpable = "off" and no keep.
//
// # What it does not
//
// It is no sandbox. The agent may hand its secrets on: in arguments, files,
// pipes, encoded. It is trusted: one that sets itself dumpable again, or starts
// a child with CLONE_UNTRACED, is on its own.
//
// # Known holes
//
//   - Where the agent has no capability of its own (the doors that cannot change a
//     configuration's: the createRuntime hook, NRI, envscrub run; an agent whose
//     entrypoint changes the user on its way, as gosu does, which clears it), a child
//     of the agent is readable from the kernel's side of its exec to the guard's
//     edit, stopped, with the agent's whole environment. A process of the same user
//     that already runs, guesses the next process numbers and reads their environ in
//     a tight loop gets the key from many of a busy agent's spawns. Not being dumpable
//     cannot help, exec resets it. The same holds for the tens of microseconds between
//     an exec of the main process, or of a trusted command, and the guard's system call;
//     at the container's start nobody is there to look.
//     The same holds for a child that loses the capability at its exec or has lost it
//     before: a set-group-id program or one with file capabilities (with no_new_privs it
//     keeps it), one that the agent starts as another user, or clones straight into a
//     user namespace.
//   - A set-id program whose privileges the kernel grants under a tracer (of a root agent,
//     or a group that the agent is in) is closed to a guard without CAP_SYS_PTRACE, and
//     killed as one that its user cannot read.
//   - A program with fewer than eight bytes mapped behind its entry point is killed.
//   - A tool that sends SIGCONT in a tight loop slows the agent's spawns.
//   - Root can write every program in the container: for an agent that is root, a
//     rule only leaves out what everybody can write. Root that must not plant
//     commands needs a read-only root file system, or rules with whole paths.
//   - A granted command's own children inherit the grant, and are open: also what
//     a script finds by way of a PATH with folders that its user can write.
//   - A program that its user cannot read (mode 0711 and less) is closed to an
//     unprivileged guard as well: as a child of an agent with something to hide it
//     is killed.
//   - A set-user-id child is executed a second time, untraced, once its
//     environment is filtered, or it would lose its privileges; a script whose
//     interpreter is set-user-id, and a set-user-id main process, lose them.
//   - Signals other than SIGHUP and SIGINT that were ignored when the shim
//     started are at their default for the agent, as behind every Go program.
//   - With nothing to take from children they are not stopped at all, and keep the
//     variables that close a runtime's diagnostics.
//   - A child that ignores SIGTRAP at its exec has it at its default.
//   - What is still the agent when its main process ends (a fork without exec)
//     ends with it, also where the guard is not process 1.
//
// # What it costs the agent
//
// No core dump, no debugger. /proc/self/environ, mem, auxv and pagemap of an
// agent that is not root are root's, and closed to itself; fd, maps, exe and
// status are not, so /dev/stdout can be opened by path wherever the file behind
// it could be without a guard. It cannot write its own uid_map: what unshares a
// user namespace in the agent itself fails, a child that does is let alone. The
// prctl stands in for a debugger's door, not for a runtime's own: those are
// closed one by one (order.Diagnostics). SIGUSR1 to a Node agent, and SIGQUIT
// to a JVM, reach it from the engine, from the terminal and from itself, not
// from a process beside it. What an agent is told to write to files is in these
// files: one started with node --report-on-signal puts its whole environment into a
// report whenever a tool sends it SIGUSR2, and --heapsnapshot-signal is no better.
//
// # On the host
//
// envscrub run needs nothing else: it executes the shim, as any user, with the
// order in its environment (order.Environ) and the command as arguments. The
// file's name has to be envscrub-shim. Started from a shell, guard and agent
// share a process group, and stop and continue together.
//
// # How it is made
//
// The shim is on every container's critical path and stays as long as the
// container: it makes its system calls itself and imports neither os nor fmt.
// Nothing in the guard grows with the agent's threads or children, and
// a thread that computes never stops.
package harden
