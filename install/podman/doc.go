// Package podman registers envscrub with Podman, as root or for one user.
//
// Promise: only files of our own are written: OCI hooks in a hooks.d directory,
// and drop-ins in containers.conf.d. The hooks go into a directory that Podman
// reads in effect, which is worked out from the same files in the same order as
// Podman does and, on a live host, asked from Podman itself afterwards; every
// directory of that list is made, because one that is missing disables all.
//
// Non-goals: CONTAINERS_CONF and CONTAINERS_CONF_OVERRIDE of other processes,
// hooks that somebody gives with --hooks-dir, remote Podman machines.
//
// Known holes: the hook door covers what a container starts with. podman exec
// and health checks take their environment from Podman's database; only the
// runtime door filters them.
package podman
