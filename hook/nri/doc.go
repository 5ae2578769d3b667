// Package nri is envscrub as an NRI plugin: at CreateContainer it asks the engine
// (containerd, CRI-O) for what the runtime wrapper would write itself: variables
// gone or changed, the shim as first argument with a mount for it.
//
// Promise: a container of a selected pod is adjusted or its creation is an error.
// The plugin answers before the engine's own limit, and asks the engine to fail
// what it could not answer (NRI's failure policy). It looks at the result of all
// plugins together and refuses one that brings a credential back or takes the
// shim away. Values are in no error and no log line.
//
// Selected are pods with an annotation io.envscrub.*, and those that the policy's
// [nri] table names: namespace one of `namespaces` (none: every one) and all labels
// of `selector`. Pause containers are left alone, and so is a container without a
// secret. Annotations are honoured as at every door, as far as `overrides` goes.
// Profiles that match a user's name match by number here: a plugin does not see the
// container's passwd file.
//
// What NRI cannot do, so that fail closed does not hold here as it does in the
// runtime wrapper:
//
//   - While no plugin is connected, engines start containers unchanged. They do
//     not where the engine's default validator runs and the pod has the annotation
//     required-plugins.noderesource.dev: '["envscrub"]' (containerd 2.2, CRI-O 1.34),
//     or where the pod names the runtime handler. A container that was created in
//     such a gap and is started after it is refused at its start by containerd;
//     CRI-O only logs that refusal.
//   - An engine without failure policies (NRI before 0.12.5) goes on without a
//     plugin that was killed in the middle of a request.
//   - A variable is not taken away but blanked: NRI's removal of a variable that
//     came with the container is lost on the way to the engine (containerd#13432).
//     The agent does not see it, the shim takes it away; an exec sees NAME with
//     an empty value. An engine that ignores even that is found out at the start.
//   - The engine's record shows the adjusted environment to every exec. So what
//     only the agent may have ([agent] keep, spawn rules with held values, output
//     redaction) cannot be given through NRI: such a container is refused.
//     There is a way around the record that is not built: blank the variables, keep
//     their values in the plugin's memory, and add a createRuntime hook that fetches
//     them over a socket of root's and gives them to the shim through the mount door
//     (package hook). Nothing would leak by it: a hook that gets no answer fails the
//     start, and a runtime that skips hooks (Kata, gVisor) starts an agent without
//     its key. But it needs programs of the plugin's own build on the node, where the
//     DaemonSet of the plugin has none; a plugin that is restarted between a create
//     and its start loses the values; and it has the mount door's holes. A node that
//     has the programs has the runtime handler, which needs none of this.
//   - A name that stands twice in the environment cannot be blanked twice: refused.
//   - A plugin that hangs (it does not end, so that it stays connected) fails the
//     removal of containers too, since the failure policy is for all events.
//   - Capabilities cannot be changed. The shim drops CAP_SYS_PTRACE and
//     CAP_PERFMON itself before the agent runs; an exec'd process keeps them.
//   - exec itself is not seen: it gets the adjusted environment and what the
//     caller adds.
package nri
