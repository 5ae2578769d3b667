package install

import "testing"

// CRI-O reads every file of its drop-in directory, whatever it is called.
func TestSavedAs(t *testing.T) {
	for path, want := range map[string]string{
		"/etc/crio/crio.conf.d/50-envscrub.conf":             "/etc/crio/50-envscrub.conf.saved",
		"/etc/containers/containers.conf.d/50-envscrub.conf": "/etc/containers/containers.conf.d/50-envscrub.conf.saved",
	} {
		if got := savedAs(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
