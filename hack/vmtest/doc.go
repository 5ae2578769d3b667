// Package vmtest tests the guard where the machine's own kernel cannot: under Yama's scopes and under AppArmor. Its tests
// set the kernel's switches, so they are built with the tag vm only, by hack/vm, which runs them, and the rest of
// the guard's tests, in a virtual machine.
package vmtest
