package record

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/hack/rig"
)

func sample(t *testing.T, id, root string) *Record {
	t.Helper()
	r := &Record{
		ID: id, Root: root, Bundle: "/b/with\nnewline \"and quotes\"", Runtime: "/usr/bin/runc", Engine: "docker", Image: "an/image:1",
		Profile: "default", Mode: "enforce", Door: "config", Time: time.Unix(1700000000, 5), Kept: 2,
		Variables: []Variable{{"GH_TOKEN", "removed", "deny *_TOKEN", "built-in"}, {"odd \x00 name\n", "agent", "", "/etc/envscrub/policy.toml:3"}},
		Grants:    []string{"GH_TOKEN"},
	}
	if err := r.Remember([]string{"PATH=/bin", "GH_TOKEN=ghp_made-up-value", "TWICE=one", "TWICE=two", "EMPTY=", "EQ=a=b"}); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRoundTrip(t *testing.T) {
	s := At(filepath.Join(t.TempDir(), "envscrub"))
	r := sample(t, "c1", "/run/runc")
	if err := s.Write(r); err != nil {
		t.Fatal(err)
	}
	got, err := s.Read("c1", "/run/runc")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, r) {
		t.Errorf("got %+v\nwant %+v", got, r)
	}
	changed := got.Changed()
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"PATH", "/bin", false},
		{"PATH", "/bin2", true},
		{"path", "/bin", true},
		{"NEW", "", true},
		{"GH_TOKEN", "ghp_made-up-value", false},
		{"GH_TOKEN", "other", true},
		{"OTHER", "ghp_made-up-value", true},
		{"TWICE", "one", false},
		{"TWICE", "two", false},
		{"TWICE", "three", true},
		{"EMPTY", "", false},
		{"EQ", "a=b", false},
		{"EQ=a", "b", true},
	} {
		if got := changed(c.name, c.value); got != c.want {
			t.Errorf("%s=%s: changed %v", c.name, c.value, got)
		}
	}
}

func TestLost(t *testing.T) {
	r, err := decode(sample(t, "c", "").encode())
	if err != nil {
		t.Fatal(err)
	}
	lost := r.Lost()
	if name, ok := lost("ghp_made-up-value"); name != "GH_TOKEN" || !ok {
		t.Errorf("%q %v", name, ok)
	}
	for _, value := range []string{"", "/bin", "ghp_made-up-value2", "GH_TOKEN"} {
		if name, ok := lost(value); ok {
			t.Errorf("%q: %q", value, name)
		}
	}
}

func TestNoValueOnDisk(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := filepath.Join(t.TempDir(), "envscrub")
	if err := At(dir).Write(sample(t, "c1", "/run/runc")); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = fs.ModeDir | 0o700
		} else if data, err := os.ReadFile(path); err != nil || bytes.Contains(data, []byte("made-up")) {
			t.Errorf("%s: a value, or %v", path, err)
		}
		if st.Mode() != want {
			t.Errorf("%s: mode %v", path, st.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestKeysDiffer(t *testing.T) {
	a, b := sample(t, "c", ""), sample(t, "c", "")
	if a.hashes["PATH"][0] == b.hashes["PATH"][0] {
		t.Error("two records hash alike")
	}
}

func TestRootsAndBundles(t *testing.T) {
	s := At(filepath.Join(t.TempDir(), "envscrub"))
	a, b := sample(t, "same", "/run/a"), sample(t, "same", "/run/b")
	b.Bundle = "/other"
	if err := errors.Join(s.Write(a), s.Write(b)); err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(); len(list) != 2 || err != nil {
		t.Fatal(list, err)
	}
	if err := s.RemoveBundle("same", "/other"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read("same", "/run/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := s.Read("same", "/run/a"); err != nil {
		t.Error(err)
	}
	if err := errors.Join(s.Remove("same", "/run/a"), s.Remove("same", "/run/a")); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(s.dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestIDs(t *testing.T) {
	s := At(filepath.Join(t.TempDir(), "envscrub"))
	for _, id := range []string{"", ".", "..", "../x", "a/b", "/", "a\nb", "a\x00b", strings.Repeat("x", 256)} {
		r := sample(t, id, "/run/a")
		_, err := s.Read(id, "")
		if s.Write(r) == nil || err == nil || errors.Is(err, fs.ErrNotExist) || s.Remove(id, "") == nil || s.RemoveBundle(id, "") == nil {
			t.Errorf("%q is not refused", id)
		}
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something was made")
	}
	for _, id := range []string{"a", "a_b+c-d.e", "...", "x y", "[*]?"} {
		if err := errors.Join(s.Write(sample(t, id, "")), s.RemoveBundle(id, sample(t, id, "").Bundle)); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestPrivate(t *testing.T) {
	for name, prepare := range map[string]func(dir string) error{
		"open to others": func(dir string) error { return errors.Join(os.Mkdir(dir, 0o755), os.Chmod(dir, 0o755)) },
		"a link":         func(dir string) error { return os.Symlink(filepath.Dir(dir), dir) },
		"a file":         func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
	} {
		dir := filepath.Join(t.TempDir(), "envscrub")
		if err := prepare(dir); err != nil {
			t.Fatal(err)
		}
		if err := At(dir).Write(sample(t, "c", "")); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}

func TestFullDisk(t *testing.T) {
	rig.Need(t, "root")
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=4k,mode=700"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	r := sample(t, "c", "")
	r.Bundle = strings.Repeat("x", 10000)
	if err := At(dir).Write(r); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSweep(t *testing.T) {
	s := At(filepath.Join(t.TempDir(), "envscrub"))
	root := t.TempDir()
	alive, gone, young := sample(t, "alive", root), sample(t, "gone", root), sample(t, "young", root)
	hooks, hooksGone := sample(t, "hooks", ""), sample(t, "hooks-gone", "")
	hooks.Bundle = root
	if err := errors.Join(os.Mkdir(filepath.Join(root, "alive"), 0o700), s.Write(alive), s.Write(gone), s.Write(young), s.Write(hooks), s.Write(hooksGone)); err != nil {
		t.Fatal(err)
	}
	// What a crash leaves: a directory, a part of a record.
	if err := errors.Join(os.Mkdir(filepath.Join(s.dir, "empty"), 0o700), os.Mkdir(filepath.Join(s.dir, "part"), 0o700),
		os.WriteFile(filepath.Join(s.dir, "part", "part-1"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	dirs, err := os.ReadDir(s.dir)
	for _, d := range dirs {
		if old := time.Now().Add(-2 * settle); d.Name() != "young" {
			err = errors.Join(err, os.Chtimes(filepath.Join(s.dir, d.Name()), old, old))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Sweep(10)
	if dirs, _ = os.ReadDir(s.dir); len(dirs) != 3 {
		t.Errorf("left behind: %v", dirs)
	}
	var left []string
	list, err := s.List()
	for _, r := range list {
		left = append(left, r.ID)
	}
	if err != nil || !reflect.DeepEqual(left, []string{"alive", "hooks", "young"}) {
		t.Error(left, err)
	}
}

func TestDamaged(t *testing.T) {
	data := sample(t, "c", "/r").encode()
	for cut := range data {
		if _, err := decode(data[:cut]); err == nil {
			t.Fatalf("cut at %d of %d: accepted", cut, len(data))
		}
	}
	s := At(filepath.Join(t.TempDir(), "envscrub"))
	if err := errors.Join(s.Write(sample(t, "a", "")), s.Write(sample(t, "b", "")), os.WriteFile(s.file("a", ""), data[:50], 0o600)); err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(); len(list) != 1 || err == nil {
		t.Error(list, err)
	}
}

func TestOwnMapping(t *testing.T) {
	for in, want := range map[string]int{
		"         0          0 4294967295\n": 0, "0 1000 1\n1 100000 65536\n": 1000, "": 0, "1 5 1\n": 0,
	} {
		if got := ownMapping(in); got != want {
			t.Errorf("%q: %d", in, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(magic + "\nid \"a\"\nkey 00\nend\n"))
	f.Add([]byte(magic + "\nkey 00\nhash 00112233445566778899aabbccddeeff \"A\"\nvariable \"A\" \"removed\" \"\" \"\"\nend\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decode(data)
		if err != nil {
			return
		}
		if r.Time.IsZero() {
			r.Time = time.Unix(0, 0) // encode writes none that is not set
		}
		again, err := decode(r.encode())
		if err != nil || !reflect.DeepEqual(r, again) {
			t.Errorf("%v: %+v, then %+v", err, r, again)
		}
	})
}

// What keeps every container from starting is found by looking, with the command that mends it.
func TestCheck(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "envscrub")
	s := At(dir)
	if err := s.Check(); err != nil {
		t.Errorf("not there yet: %v", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]string{0o700: "", 0o755: "chmod 700 " + dir} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		err := s.Check()
		if (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), "mend it: "+want) {
			t.Errorf("%o: %v, want %q", mode, err, want)
		}
	}
}
