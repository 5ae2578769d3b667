// Package docker registers envscrub's runtime wrapper with Docker.
//
// Promise: daemon.json is edited losslessly: one member in `runtimes`, and with
// Options.Default `default-runtime`. Order, indent, unknown keys, long numbers
// stay. The default runtime from before is remembered and comes back at an
// uninstall, and so does the file, byte for byte, if nobody else changed it.
// What cannot take effect (a daemon that reads another file, or was given the
// same setting on its command line) is refused and said.
//
// Non-goals: Docker has no hooks.d, so there is no hook door.
//
// Known holes: `docker build` runs its steps without the daemon's runtimes: what
// a RUN step sees is not covered. Containers that exist keep the runtime that
// they were created with.
package docker
