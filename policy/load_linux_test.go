package policy

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
)

// Opening a pipe would wait for a writer for ever.
func TestLoadPipe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pipe.toml")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(LoadOptions{Files: []string{file}}); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Error(err)
	}
}

func TestLoadOwner(t *testing.T) {
	rig.Need(t, "root")
	if !realRoot() {
		t.Skip("root of a user namespace only: owners do not count")
	}
	dir := place(t, map[string]string{"policy.toml": ""})
	inSystem(t, dir)
	file := filepath.Join(dir, "policy.toml")
	for _, c := range []struct {
		uid, gid int
		mode     os.FileMode
		want     string
	}{
		{0, 0, 0o664, ""},
		{0, 1000, 0o664, "is writable by a group; chmod g-w " + file},
		{1000, 0, 0o644, "is owned by another user than root; chown root " + file},
	} {
		if err := os.Chown(file, c.uid, c.gid); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, c.mode); err != nil {
			t.Fatal(err)
		}
		_, err := Load(LoadOptions{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != file+": "+c.want) {
			t.Errorf("%d:%d %o: %v", c.uid, c.gid, c.mode, err)
		}
	}
}
