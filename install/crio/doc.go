// Package crio registers envscrub with CRI-O: as a runtime handler (the complete
// door, exec included), as hooks in a hooks.d directory, or by switching NRI on.
//
// Promise: only drop-ins are written, never crio.conf. They go into the directory
// that this node's CRI-O reads (its unit's --config-dir is honoured), and on a
// live node CRI-O's own reading of the result (`crio config`) must show our
// handler, else everything is taken back and the install fails. What the default
// handler has set is copied to ours, so that the two differ in runtime_path alone.
//
// Non-goals: starting CRI-O; the RuntimeClass that pods name (install/kubernetes).
//
// Known holes: a --config-dir that an environment file gives to the unit is
// followed only for the distributions' usual files. CRI-O itself decides which
// annotations it knows: io.envscrub.* must not stand in allowed_annotations (CRI-O
// refuses to start with one that it does not know) and need not, because CRI-O
// hands all of a pod's annotations to the runtime.
package crio
