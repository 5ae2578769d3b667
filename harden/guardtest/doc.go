// Package guardtest tests the guard end to end: real agents (C, Go, Node, Python, a JVM, shells) in real containers of
// runc and crun, and as plain processes, started through the real shim with an order in its environment.
//
// Every test of a protection runs twice: without the guard the probe finds the agent's key, with it it does not. The
// probes are in testdata/probe, and built by the tests.
//
// hack/vm runs it on arm64 and on other kernels, and package vmtest under Yama's scopes and AppArmor.
package guardtest
