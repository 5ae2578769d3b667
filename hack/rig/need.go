package rig

import (
	"os"
	"os/exec"
	"testing"
)

// required reports whether a missing engine is a failure rather than a reason to skip.
func required() bool {
	return os.Getenv("CI") == "true" || os.Getenv("ENVSCRUB_REQUIRE") == "1"
}

// Need says what the test cannot do without: "root", or the name or path of a program (runc, crun, podman, dockerd,
// node, java, gcc, strace, …). What is missing fails the test in CI and skips it elsewhere.
func Need(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if have(name) {
			continue
		}
		if required() {
			t.Fatalf("%s is needed and missing; hack/test installs it", name)
		}
		t.Skipf("%s is needed and missing (set ENVSCRUB_REQUIRE=1 to make this a failure)", name)
	}
}

func have(name string) bool {
	if name == "root" {
		return os.Geteuid() == 0
	}
	_, err := exec.LookPath(name)
	return err == nil
}
