package hook

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/policy"
)

// What the shim does with an order must turn the environment that the runtime starts it with into the decided one.
func TestMountOrder(t *testing.T) {
	for name, c := range map[string]struct {
		policy      string
		env         []string
		remove, set []string
	}{
		"nothing":              {"", []string{"A=1", "B=2"}, nil, nil},
		"removed":              {"", []string{"A=1", "GH_TOKEN=ghp_000000000000000000000000000000000001", "B=2"}, []string{"GH_TOKEN"}, nil},
		"every occurrence":     {"", []string{"GH_TOKEN=a1", "PATH=/bin", "GH_TOKEN=b2", "gh_token=c3"}, []string{"GH_TOKEN", "gh_token"}, nil}, // report: containerd PR#7348
		"twice":                {"", []string{"A=1", "B=2", "A=3"}, []string{"A"}, []string{"A=3"}},
		"set":                  {"[set]\nNEW = \"x\"\nB = \"y\"", []string{"A=1", "B=2"}, []string{"B"}, []string{"B=y", "NEW=x"}},
		"unset":                {"unset = [\"B\"]", []string{"A=1", "B=2"}, []string{"B"}, nil},
		"inherit none":         {"inherit = \"none\"\nallow = [\"A\"]", []string{"A=1", "B=2"}, []string{"B"}, nil},
		"kept for the agent":   {"[agent]\nkeep = [\"OPENAI_API_KEY\"]", []string{"OPENAI_API_KEY=sk-0000000000000000000000001"}, nil, nil},
		"control variables go": {"", []string{"A=1", "ENVSCRUB_PROFILE=x", "envscrub_b=1"}, []string{"ENVSCRUB_PROFILE", "envscrub_b"}, nil},
		"values with =":        {"", []string{"A==1=", "B="}, nil, nil},
	} {
		p, err := policy.Parse("test.toml", []byte(c.policy))
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.For(policy.Subject{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := v.Decide(slices.DeleteFunc(slices.Clone(c.env), order.IsControl))
		if err != nil {
			t.Fatal(err)
		}
		o := mountOrder(v, d, c.env)
		slices.Sort(o.Remove)
		slices.Sort(o.Set)
		slices.Sort(c.remove)
		if !reflect.DeepEqual(o.Remove, c.remove) || !reflect.DeepEqual(o.Set, c.set) {
			t.Errorf("%s: remove %q, set %q", name, o.Remove, o.Set)
		}
	}
}

// Nothing leads out of the root, and what may be executed is found in the order of PATH.
func TestEntrypoint(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	file := func(base, path string, mode os.FileMode) {
		t.Helper()
		path = filepath.Join(base, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, path string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(root, path)); err != nil {
			t.Fatal(err)
		}
	}
	file(outside, "program", 0o755)
	file(root, "bin/all", 0o755)
	file(root, "sbin/all", 0o755)
	file(root, "bin/mine", 0o700)
	file(root, "sbin/mine", 0o755)
	file(root, "usr/bin/mine", 0o755)
	file(root, "bin/data", 0o644)
	file(root, "sbin/data", 0o755)
	file(root, "srv/run", 0o755)
	file(root, "srv/.hidden", 0o755)
	file(root, "bin/.hidden", 0o755)
	link(outside+"/program", "bin/out")
	link("../../../../../../../../../.."+outside+"/program", "bin/up")
	link("../../../../srv/run", "bin/in")
	link("/srv/run", "bin/abs")
	link("loop", "bin/loop")
	if err := os.Mkdir(filepath.Join(root, "bin/dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(root, "bin/fifo"), 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dir)
	path := []string{"PATH=/nowhere:/bin:/sbin:/usr/bin"}
	for _, c := range []struct {
		arg, cwd string
		env      []string
		want     []string
	}{
		{"/bin/all", "/", path, []string{"bin/all"}},
		{"all", "/", path, []string{"bin/all"}},
		{"all", "/", []string{"PATH=/sbin", "PATH=/bin"}, []string{"bin/all", "sbin/all"}},
		{".hidden", "/srv", path, []string{"srv/.hidden", "bin/.hidden"}},
		{"mine", "/", path, []string{"bin/mine", "sbin/mine"}},
		{"mine", "/", []string{"PATH=/usr/bin", "PATH=/bin"}, []string{"bin/mine", "usr/bin/mine"}},
		{"data", "/", path, []string{"sbin/data"}},
		{"all", "/", nil, []string{"sbin/all"}},
		{"run", "/srv", []string{"PATH=:/bin"}, []string{"srv/run"}},
		{"./run", "/srv", path, []string{"srv/run"}},
		{"../srv/run", "/bin", path, []string{"srv/run", "srv/run"}},
		{"/bin/in", "/", path, []string{"srv/run"}},
		{"/bin/abs", "/", path, []string{"srv/run"}},
		{"/../../../srv/run", "/", path, []string{"srv/run"}},
		{"/bin/out", "/", path, nil},
		{"/bin/up", "/", path, nil},
		{"/bin/loop", "/", path, nil},
		{"/bin/dir", "/", path, nil},
		{"/bin/fifo", "/", path, nil},
		{"/bin/all/x", "/", path, nil},
		{"nope", "/", path, nil},
		{"", "/", path, nil},
		{"all", "/", []string{"PATH="}, nil},
	} {
		files, err := Entrypoint(dir, Command{[]string{c.arg}, c.env, c.cwd})
		var got []string
		for _, fd := range files {
			name, e := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
			if e != nil {
				t.Fatal(e)
			}
			rel, e := filepath.Rel(root, name)
			if e != nil {
				t.Fatal(e)
			}
			got = append(got, rel)
			unix.Close(fd)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q in %s with %q: %q, %v, want %q", c.arg, c.cwd, c.env, got, err, c.want)
		}
	}
	if _, err := Entrypoint(dir, Command{}); err != nil {
		t.Error(err)
	}
}
