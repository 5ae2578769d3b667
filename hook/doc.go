// Package hook is the OCI side of envscrub: what is done to a container between
// its configuration and its first instruction.
//
// # Doors
//
// There are two ways to put the shim before a container's entrypoint.
//
//   - The config door ([Inject]): whoever may change the configuration before the
//     runtime reads it (the runtime wrapper, Podman's precreate stage, an NRI plugin)
//     makes the shim the first argument, mounts it, and scrubs process.env. The
//     runtime itself then has the scrubbed environment. It is used so:
//
//     v, err := p.For(hook.SubjectOf(f, id))
//     d, err := v.Decide(env)              // f.Env() without order.IsControl entries
//     shim, err := hook.FindShim(v)
//     err = hook.Inject(f, v, d, shim)
//     err = f.Save()                       // or f.Bytes()
//
//   - The mount door ([Hook.CreateRuntime]): a createRuntime hook is called when the
//     runtime has read the configuration already. It binds the shim over the
//     entrypoint in the container's mount namespace, and leaves a process behind
//     (package harden/mountns) that takes it away once the shim runs and tells the shim
//     what to remove. config.json is rewritten all the same, for whoever reads it
//     later.
//
// # Which stage
//
// createRuntime is the one stage that every runtime and engine has, that runs with
// the engine's rights, and before the container's process is there. createContainer
// hooks run inside the container's namespaces, where Podman fails any of them under
// --userns=auto and nomap; startContainer hooks run in the container, with its
// files; poststart is too late. precreate is Podman's own and does not see what is
// added after it (--secret …,type=env); with --log-level=debug Podman prints what it
// changed, values included. So createRuntime is what install writes; where both are
// configured, createRuntime holds the result of precreate against the policy, and
// adds nothing.
//
// # Promise
//
// A hook that returns an error keeps the container from starting. If the process that
// lifts the mount dies, the shim has no go-ahead and gives up. Nothing on the host
// changes but the bundle's config.json and a record without values under
// /run/envscrub. An entrypoint that is not there is left to the runtime and its own
// error message.
//
// Logs and errors name variables and never show a value.
//
// The process that lifts the mount stays in the cgroup of whoever called the runtime
// (Podman's conmon, a shell), never in the container's, is in a session of its own
// and holds nothing of its parent's. It ends a moment after the start, and with the
// container's process in any case; then it also takes the record of a container
// that was never started with it.
//
// # What the user sees
//
// A refusal is one line on standard error. crun throws that of hooks away, Podman
// that of the precreate stage: then the line goes to the standard error of who called
// the hook, and to the system's log. Log lines of level info (one a create: how many
// rules, what is allowed) go to standard error unless that is the container's own or a
// terminal, or to the file of --log; names of removed variables are at level debug.
//
// # Not promised
//
// At the mount door the runtime holds the full environment for as long as it runs,
// and execs are not seen: podman exec takes its environment from Podman's database.
// The wrapper covers both. Runtimes that skip hooks (Kata, gVisor) cannot be seen from
// here.
//
// # SELinux
//
// A bind mount cannot be given a label of its own, so the shim's file must have one that
// containers may execute: envscrub install labels it container_ro_file_t where
// SELinux is on.
//
// # Known holes
//
// At the mount door, the directory of the entrypoint must not be writable from
// elsewhere between create and start (a volume that another container has too): who
// may replace the file there takes the mount away with it. The config door has no
// such hole.
//
// A startContainer hook, or an exec between start and the lifting of the mount a few
// milliseconds later, that runs the very file that is covered gets the shim, which
// gives up after its time: a failure, not a leak.
//
// crun's create -f reads another file than the bundle's config.json. A hook notices
// when the annotations differ, or when there is no config.json.
package hook
