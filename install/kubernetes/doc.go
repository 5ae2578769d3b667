// Package kubernetes brings envscrub to the nodes of a cluster: manifests, the
// script that a DaemonSet runs on each node, and the choice of the node's engine.
//
// Promise: nothing in it is privileged. The installer mounts the few directories
// that it writes, drops all capabilities, has no token for the API, and takes
// back what it did when it is removed, unless agents still run on that node. The
// policy is written before the programs, and the programs before the engine's
// configuration, each by rename, so that an install that was cut off leaves a node
// that starts pods.
//
// manifests/ is a kustomization and envscrub.yaml the same as one file. nri/ is
// the kustomization for the NRI plugin, to be added to it.
//
// SELinux: containers may execute the shim only under a label of theirs, so the
// installer and the packages give it container_ro_file_t. AppArmor: the engines'
// default profile (cri-containerd.apparmor.d, crio-default) lets a container execute
// every file that it can read, and trace processes under the same profile, which is
// all that the shim does; it could not be tried here. The installer itself runs
// unconfined, because that profile forbids signals to processes of the node.
//
// Non-goals: building and pushing the image (Containerfile), admission for
// anything but pods.
//
// Known holes: a pod that is created while its node has no handler yet waits
// (ContainerCreating) until it has; that is on purpose. containerd is restarted by
// ending it, which its systemd unit answers with a new start; on a node without
// such a unit set RESTART=none and restart it otherwise.
package kubernetes
