// Package rig drives the real thing in tests: it builds this repository's binaries, makes root file systems and
// bundles, and runs them with runc, crun, Podman (root and rootless) and Docker.
//
// Nothing here stands in for a runtime or an engine. A test that needs one names it with [Need]: where it is missing
// the test fails in CI (CI=true, or ENVSCRUB_REQUIRE=1) and is skipped, with the reason, on a laptop.
//
// Everything is kept under temporary directories: own Podman storage, own dockerd with own data root and socket. The
// host's /etc is never written.
package rig
