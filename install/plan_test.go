package install_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/internal/tree"
)

// A file that changes between our read and our write is left alone.
func TestChangedInBetween(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"content": func(path string) error { return os.WriteFile(path, []byte("theirs"), 0o644) },
		"removed": os.Remove,
		"swapped for the same bytes": func(path string) error {
			if err := os.WriteFile(path+".new", []byte("old"), 0o644); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
		"symlink": func(path string) error {
			return errors.Join(os.Remove(path), os.Symlink("/etc/passwd", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c")
			if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
				t.Fatal(err)
			}
			f, err := install.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			if err := f.Write([]byte("ours"), 0o644); err == nil {
				t.Error("it was written")
			}
			if data, err := os.ReadFile(path); string(data) == "ours" {
				t.Errorf("content %q, %v", data, err)
			}
			entries, err := os.ReadDir(filepath.Dir(path))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if e.Name() != "c" {
					t.Errorf("left behind: %s", e.Name())
				}
			}
		})
	}
}

func TestWriteKeepsModeAndOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	uid := os.Geteuid()
	if uid == 0 {
		uid = 12345
		if err := os.Chown(path, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	f, err := install.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write([]byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	if st.Mode&0o7777 != 0o600 || int(st.Uid) != uid {
		t.Errorf("mode %o, owner %d; want 600 and %d", st.Mode&0o7777, st.Uid, uid)
	}
}

func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 64<<20); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{fifo: "not a regular file", dir: "is a directory", large: "larger than 4 MiB"} {
		if _, err := install.Read(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%s): %v, want %q", path, err, want)
		}
	}
}

// With several files, one that cannot be written leaves all as they were.
func TestAllOrNothing(t *testing.T) {
	o := tree.New(t, map[string]string{"/etc/a": "a", "/etc/b": "b"})
	if err := os.Chmod(o.Path("/etc/b"), 0o444); err != nil {
		t.Fatal(err)
	}
	before := tree.List(t, o)
	p, err := install.NewPlan(o, "x")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/etc/a", "/etc/b"} {
		if err := p.Edit(path, 0o644, func(old []byte) ([]byte, error) { return append(old, '!'), nil }); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Commit(); err == nil || !strings.Contains(err.Error(), "/etc/b: cannot be changed") {
		t.Errorf("Commit: %v", err)
	}
	if after := tree.List(t, o); after != before {
		t.Errorf("it changed\n%s\ninto\n%s", before, after)
	}
}

// An install that was cut off after its ledger and before its file can be run
// again, and taken back.
func TestInterrupted(t *testing.T) {
	edit := func(old []byte) ([]byte, error) {
		return []byte(strings.TrimSuffix(string(old), "!") + "!"), nil
	}
	inverse := func(now []byte) ([]byte, error) { return []byte(strings.TrimSuffix(string(now), "!")), nil }
	o := tree.New(t, map[string]string{"/etc/a": "a"})
	run := func(step func(p *install.Plan) error) {
		t.Helper()
		p, err := install.NewPlan(o, "x")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(step(p), p.Commit()); err != nil {
			t.Fatal(err)
		}
	}
	install1 := func(p *install.Plan) error { return p.Edit("/etc/a", 0o644, edit) }
	run(install1)
	tree.Write(t, o, "/etc/a", "a", 0o644) // as if the rename had not happened
	run(install1)
	if got := tree.Read(t, o, "/etc/a"); got != "a!" {
		t.Errorf("second run: %q", got)
	}
	tree.Write(t, o, "/etc/a", "a", 0o644)
	run(func(p *install.Plan) error { return p.Revert("/etc/a", inverse) })
	if got := tree.Read(t, o, "/etc/a"); got != "a" {
		t.Errorf("taken back: %q", got)
	}
	if _, err := os.Stat(o.Path("/var/lib/envscrub")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the ledger stays: %v", err)
	}
}

// Our own file that somebody edited is not thrown away.
func TestDropKeepsEdits(t *testing.T) {
	o := tree.New(t, nil)
	p, err := install.NewPlan(o, "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Put("/etc/d/50-x.conf", 0o644, []byte("ours")), p.Commit()); err != nil {
		t.Fatal(err)
	}
	tree.Write(t, o, "/etc/d/50-x.conf", "ours, and theirs", 0o644)
	if p, err = install.NewPlan(o, "x"); err != nil {
		t.Fatal(err)
	}
	if err := p.Put("/etc/d/50-x.conf", 0o644, []byte("newer")); err == nil || !strings.Contains(err.Error(), "edited since") {
		t.Errorf("Put over an edit: %v", err)
	}
	if p, err = install.NewPlan(o, "x"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Drop("/etc/d/50-x.conf"), p.Commit()); err != nil {
		t.Fatal(err)
	}
	if got := tree.Read(t, o, "/etc/d/50-x.conf.saved"); got != "ours, and theirs" {
		t.Errorf("saved: %q", got)
	}
}

// A private file closes its own directory, and not what that stands in.
func TestPrivateFileParents(t *testing.T) {
	root := t.TempDir()
	f, err := install.Read(filepath.Join(root, "var/lib/envscrub/install/x.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write([]byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]fs.FileMode{"var": 0o755, "var/lib": 0o755, "var/lib/envscrub": 0o755, "var/lib/envscrub/install": 0o700} {
		if info, err := os.Stat(filepath.Join(root, dir)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %04o", dir, info.Mode(), err, want)
		}
	}
}
