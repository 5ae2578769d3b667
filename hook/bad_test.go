package hook_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig"
)

// refused checks what every refusal looks like: the container does not start, one line says why, no value shows.
func refused(t *testing.T, got rig.Result, want string) {
	t.Helper()
	all := got.Stdout + got.Stderr
	if got.Code == 0 || strings.Contains(all, "GREETING") {
		t.Errorf("it started: exit %d\n%s", got.Code, all)
	}
	if leaks(all) != nil {
		t.Errorf("a value shows: %s", all)
	}
	if n := strings.Count(all, "envscrub-hook: "); n != 1 || !strings.Contains(all, want) {
		t.Errorf("want one line with %q, got %d:\n%s", want, n, all)
	}
}

func TestBadPolicy(t *testing.T) {
	for name, c := range map[string]struct{ policy, want string }{
		"not TOML":              {"deny = [", "bad.toml:1"},
		"unknown key":           {"inherit = \"all\"\nalow = [\"X\"]\n", "bad.toml:2:1: alow"}, // report: google-gemini/gemini-cli#23204
		"exactly denied":        {"allow = [\"OPENAI_API_KEY\"]\n", "bad.toml:1:"},
		"empty entry":           {"deny = [\"\"]\n", "bad.toml:1:"},
		"bad glob":              {"deny = [\"[A\"]\n", "bad.toml:1:"},
		"bad name":              {"unset = [\"A=B\"]\n", "bad.toml:1:"},
		"secret is not a value": {"secrets = [\"file:/nonexistent/secret\"]\n", "bad.toml:1:"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, r rig.Runtime) {
				path := filepath.Join(rig.TempDir(t), "bad.toml")
				rig.Write(t, path, c.policy, 0o644)
				refused(t, newFixture(t, nil).hooked(t, "--policy", path).Run(t, r), c.want)
			})
		})
	}
	onBoth(t, func(t *testing.T, r rig.Runtime) {
		missing := filepath.Join(rig.TempDir(t), "missing.toml")
		refused(t, newFixture(t, nil).hooked(t, "--policy", missing).Run(t, r), missing)
	})
	onBoth(t, func(t *testing.T, r rig.Runtime) {
		refused(t, newFixture(t, nil).hooked(t, "--policy", rig.TempDir(t)).Run(t, r), "d: ")
	})
}

// before puts a shell command in front of our hook: it changes what ours finds after the runtime has read it.
func (b *fixture) before(t testing.TB, script string) *fixture {
	t.Helper()
	first := specs.Hook{Path: "/bin/sh", Args: []string{"sh", "-c", "cat >/dev/null; " + script, b.Dir}, Env: []string{"PATH=/usr/bin:/bin"}}
	b.Spec.Hooks.CreateRuntime = append([]specs.Hook{first}, b.Spec.Hooks.CreateRuntime...)
	b.Write(t)
	return b
}

func TestBadConfiguration(t *testing.T) {
	rig.Need(t, "root")
	for name, c := range map[string]struct{ script, want string }{
		"missing":            {`rm "$0/config.json"`, "config.json: no such file"},
		"truncated":          {`head -c 700 "$0/config.json" >"$0/new"; mv "$0/new" "$0/config.json"`, "config.json"},
		"empty":              {`: >"$0/config.json"`, "config.json"},
		"64 MiB":             {`truncate -s 64M "$0/config.json"`, "config.json: it has 67108864 bytes"},
		"no process":         {`echo '{"ociVersion":"1.0.2","root":{"path":"rootfs"}}' >"$0/config.json"`, "process"},
		"symbolic link":      {`mv "$0/config.json" "$0/other.json"; ln -s other.json "$0/config.json"`, "symbolic link"},
		"FIFO":               {`rm "$0/config.json"; mkfifo "$0/config.json"`, "named pipe"},
		"directory":          {`rm "$0/config.json"; mkdir "$0/config.json"`, "directory"},
		"entry without =":    {`sed -i 's/"GREETING=hello, world"/"GH_TOKEN"/' "$0/config.json"`, "process.env"}, // report: go-to-k/cdkd PR#2186
		"entry without name": {`sed -i 's/"GREETING=/"=/' "$0/config.json"`, "process.env"},
		"NUL in an entry":    {`sed -i 's/"GREETING=hello/"GREETING=\\u0000/' "$0/config.json"`, "process.env"},
		"other container's":  {`sed -i 's/"io.example.kind": "a"/"io.example.kind": "b"/' "$0/config.json"`, "annotations"},
		"order in the image": {`sed -i 's/"GREETING=hello, world"/"ENVSCRUB_ORDER=envscrub=1;dumpable=off;end;"/' "$0/config.json"`, "ENVSCRUB_ORDER"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, r rig.Runtime) {
				b := newFixture(t, func(b *fixture) { b.Spec.Annotations = map[string]string{"io.example.kind": "a"} })
				refused(t, b.hooked(t).before(t, c.script).Run(t, r), c.want)
			})
		})
	}
}

// Our own programs in their places, but for one that is wrong.
func ownBinaries(t *testing.T) (dir string) {
	t.Helper()
	dir = rig.TempDir(t)
	rig.Copy(t, rig.Bin(t, "envscrub-hook"), filepath.Join(dir, "envscrub-hook"))
	rig.Copy(t, rig.Bin(t, "envscrub-shim"), filepath.Join(dir, "envscrub-shim"))
	return dir
}

func TestBadShim(t *testing.T) {
	rig.Need(t, "root")
	for name, c := range map[string]struct {
		spoil func(t *testing.T, shim string)
		want  string
	}{
		"missing":        {func(t *testing.T, shim string) { must(t, os.Remove(shim)) }, "envscrub-shim"},
		"not executable": {func(t *testing.T, shim string) { must(t, os.Chmod(shim, 0o644)) }, "its mode is 0644"},
		"root's alone":   {func(t *testing.T, shim string) { must(t, os.Chmod(shim, 0o700)) }, "its mode is 0700"},
		"directory":      {func(t *testing.T, shim string) { must(t, os.Remove(shim)); must(t, os.Mkdir(shim, 0o755)) }, "not a regular file"},
		"noexec": {func(t *testing.T, shim string) { // report: bottlerocket-core-kit#959
			mountTmpfs(t, filepath.Dir(shim), "size=64m", syscall.MS_NOEXEC)
			rig.Copy(t, rig.Bin(t, "envscrub-shim"), shim)
		}, "noexec"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, r rig.Runtime) {
				dir := ownBinaries(t)
				shim := filepath.Join(dir, "sub/envscrub-shim")
				must(t, os.Mkdir(filepath.Dir(shim), 0o755))
				must(t, os.Rename(filepath.Join(dir, "envscrub-shim"), shim))
				c.spoil(t, shim)
				must(t, os.Symlink(shim, filepath.Join(dir, "envscrub-shim")))
				b := newFixture(t, nil).hooked(t)
				b.Spec.Hooks.CreateRuntime[0].Path = filepath.Join(dir, "envscrub-hook")
				b.Write(t)
				refused(t, b.Run(t, r), c.want)
			})
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mountTmpfs(t testing.TB, dir, options string, flags uintptr) {
	t.Helper()
	must(t, syscall.Mount("tmpfs", dir, "tmpfs", flags, options))
	t.Cleanup(func() { must(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
}

func TestFullStateDirectory(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig.Runtime) {
		b := newFixture(t, nil)
		must(t, os.MkdirAll(b.state, 0o700))
		mountTmpfs(t, b.state, "size=4k,mode=0700", 0)
		must(t, os.WriteFile(filepath.Join(b.state, "full"), bytes.Repeat([]byte("x"), 4096), 0o600))
		got := b.hooked(t).Run(t, r)
		refused(t, got, "no space left")
		must(t, os.Remove(filepath.Join(b.state, "full")))
		b.empty(t)
	})
}

// hook runs the program by itself.
func runHook(t *testing.T, stdin string, args ...string) rig.Result {
	t.Helper()
	cmd := exec.Command(rig.Bin(t, "envscrub-hook"), args...)
	cmd.Stdin = strings.NewReader(stdin)
	return rig.Run(t, cmd)
}

func TestBadState(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ state, want string }{
		"empty":             {"", "standard input is empty"},
		"not JSON":          {"hello", "read the state"},
		"cut off":           {`{"id":"a","pid":1`, "read the state"},
		"array":             {"[]", "want an object"},
		"no id":             {`{"pid":1,"bundle":"/x"}`, "id: it is missing"},
		"id leads out":      {`{"id":"..","pid":1,"bundle":"/x"}`, "id:"},
		"id with a slash":   {`{"id":"../../etc/passwd","pid":1,"bundle":"/x"}`, "id:"},
		"id is a number":    {`{"id":7,"pid":1,"bundle":"/x"}`, "id"},
		"two ids":           {`{"id":"a","id":"b","pid":1,"bundle":"/x"}`, "twice"},
		"no pid":            {`{"id":"a","bundle":"/x"}`, "pid: it is missing"},
		"negative pid":      {`{"id":"a","pid":-1,"bundle":"/x"}`, "pid"},
		"no bundle":         {`{"id":"a","pid":1}`, "bundle: it is missing"},
		"relative bundle":   {`{"id":"a","pid":1,"bundle":"b"}`, "not an absolute path"},
		"bundle is missing": {`{"id":"a","pid":1,"bundle":"` + dir + `/nope"}`, "nope/config.json: no such file"},
		"more follows":      {`{"id":"a","pid":1,"bundle":"/x"} {}`, "more follows"},
		"64 MiB":            {strings.Repeat(" ", 64<<20), "67108864 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			got := runHook(t, c.state, "createRuntime", "--state-dir", dir)
			if got.Code != 1 || got.Stdout != "" || strings.Count(got.Stderr, "\n") != 1 || !strings.HasPrefix(got.Stderr, "envscrub-hook: ") || !strings.Contains(got.Stderr, c.want) {
				t.Errorf("%+v, want %q", got, c.want)
			}
		})
	}
}

func TestBadCommandLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"createContainer"}, "belongs in createRuntime"}, // report: podman#27646
		{[]string{"poststart"}, "belongs in createRuntime"},
		{[]string{"nonsense"}, `unknown stage "nonsense"`},
		{[]string{"createRuntime", "more"}, `unexpected argument "more"`},
		{[]string{"--polcy", "x", "createRuntime"}, `unknown option "--polcy"`},
		{[]string{"createRuntime", "--policy"}, "--policy needs a value"},
		{[]string{"createRuntime", "--log-level", "loud"}, "not a level"},
		{[]string{"createRuntime", "--log-format=xml"}, "neither text nor json"},
		{[]string{"createRuntime", "--log", "/nonexistent/dir/log"}, "--log"},
	} {
		got := runHook(t, `{"id":"a","status":"creating","pid":1,"bundle":"/nonexistent"}`, c.args...)
		if got.Code != 1 || strings.Count(got.Stderr, "\n") != 1 || !strings.Contains(got.Stderr, c.want) {
			t.Errorf("%q: %+v", c.args, got)
		}
	}
	// Without a stage the state tells.
	for status, want := range map[string]string{"creating": "config.json", "created": "config.json", "stopped": "", "running": `"running"`} {
		got := runHook(t, fmt.Sprintf(`{"id":"a","status":%q,"pid":1,"bundle":"/nonexistent"}`, status), "--state-dir", t.TempDir())
		if (got.Code == 0) != (want == "") || !strings.Contains(got.Stderr, want) {
			t.Errorf("%s: %+v", status, got)
		}
	}
}

// A container that shares the host's mount namespace would have the shim mounted on the host.
func TestHostMountNamespace(t *testing.T) {
	rig.Need(t, "root")
	bundle := t.TempDir()
	rig.Write(t, filepath.Join(bundle, "config.json"), `{"process":{"args":["/bin/true"],"env":[],"cwd":"/"},"root":{"path":"/"}}`, 0o644)
	rig.Bin(t, "envscrub-shim")
	state := fmt.Sprintf(`{"id":"a","status":"creating","pid":%d,"bundle":%q}`, os.Getpid(), bundle)
	got := runHook(t, state, "createRuntime", "--state-dir", filepath.Join(t.TempDir(), "s"))
	if got.Code != 1 || !strings.Contains(got.Stderr, "no mount namespace of its own") {
		t.Errorf("%+v", got)
	}
}

// The whole of standard input is read, whatever goes wrong: crun fails the container otherwise.
func TestInputIsDrained(t *testing.T) {
	for _, args := range [][]string{{"nonsense"}, {"--nonsense"}, {"createRuntime"}, {"poststop"}} {
		r, w, err := os.Pipe()
		must(t, err)
		cmd := exec.Command(rig.Bin(t, "envscrub-hook"), args...)
		cmd.Stdin = r
		must(t, cmd.Start())
		must(t, r.Close())
		for range 64 { // more than a pipe holds, less than what is allowed
			if _, err := w.Write(bytes.Repeat([]byte(" "), 64<<10)); err != nil {
				t.Errorf("%q: %v", args, err)
				break
			}
		}
		must(t, w.Close())
		if err := cmd.Wait(); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
