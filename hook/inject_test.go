package hook_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/hook"
	"github.com/envscrub/envscrub/hook/doc"
	"github.com/envscrub/envscrub/policy"
)

var update = flag.Bool("update", false, "write the golden files")

// decide is what a door does before it injects.
func decide(t testing.TB, f *doc.File, text string) (*policy.View, *policy.Decision) {
	t.Helper()
	p, err := policy.Parse("test.toml", []byte(text))
	must(t, err)
	v, err := p.For(hook.SubjectOf(f, "c0ffee"))
	must(t, err)
	d, err := v.Decide(slices.DeleteFunc(slices.Clone(f.Env()), order.IsControl))
	must(t, err)
	return v, d
}

// The configuration of each engine, injected: what changes and that nothing else does.
func TestInjectGolden(t *testing.T) {
	configs, err := filepath.Glob("../testdata/doc/*-config.json")
	must(t, err)
	if len(configs) < 4 {
		t.Fatalf("%d configurations", len(configs))
	}
	shim := filepath.Join(rig.TempDir(t), "envscrub-shim")
	rig.Write(t, shim, "", 0o755)
	for _, path := range configs {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			must(t, err)
			// As in the precreate stage: no bundle, and a root that is not there.
			f, err := doc.Parse(data)
			must(t, err)
			f.SetEnv(append(slices.Clone(f.Env()), append(planted, "ENVSCRUB_ORDER=forged", "envscrub_x=1")...))
			v, d := decide(t, f, "")
			must(t, hook.Inject(f, v, d, shim))
			got := strings.ReplaceAll(string(f.Bytes()), shim, "/usr/libexec/envscrub/envscrub-shim")
			if leaks(got) != nil || strings.Contains(got, "forged") || strings.Contains(got, "envscrub_x") {
				t.Errorf("leaked: %s", got)
			}
			golden := filepath.Join("../testdata/hook/inject", filepath.Base(path))
			if *update {
				must(t, os.MkdirAll(filepath.Dir(golden), 0o755))
				must(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			must(t, err)
			if got != string(want) {
				t.Errorf("differs from %s; look at it and run with -update", golden)
			}
			var before, after specs.Spec
			must(t, json.Unmarshal(data, &before))
			must(t, json.Unmarshal([]byte(got), &after))
			if after.Process.Args[0] != "/dev/envscrub-shim" || !slices.Equal(after.Process.Args[1:], before.Process.Args) {
				t.Errorf("args: %q", after.Process.Args)
			}
			if m := after.Mounts[len(after.Mounts)-1]; len(after.Mounts) != len(before.Mounts)+1 || m.Destination != "/dev/envscrub-shim" || !slices.Contains(m.Options, "ro") {
				t.Errorf("mounts: %+v", m)
			}
			if slices.Contains(after.Process.Capabilities.Bounding, "CAP_SYS_PTRACE") {
				t.Error("CAP_SYS_PTRACE is left")
			}
		})
	}
}

// Where the shim goes: report: bottlerocket-core-kit#959, opencontainers/runc#1670, moby PR#42230
func TestShimPlace(t *testing.T) {
	shim := filepath.Join(rig.TempDir(t), "envscrub-shim")
	rig.Write(t, shim, "", 0o755)
	tmpfs := func(dir string, options ...string) doc.Mount {
		return doc.Mount{Destination: dir, Type: "tmpfs", Source: "tmpfs", Options: options}
	}
	host := func(dir string) doc.Mount {
		return doc.Mount{Destination: dir, Type: "bind", Source: dir, Options: []string{"rbind"}}
	}
	for _, c := range []struct {
		name   string
		mounts []doc.Mount
		want   string
	}{
		{"usual", []doc.Mount{tmpfs("/dev"), tmpfs("/run")}, "/dev/envscrub-shim"},
		{"the host's /dev", []doc.Mount{tmpfs("/dev"), host("/dev"), tmpfs("/run")}, "/run/envscrub-shim"},
		{"the host's /dev/", []doc.Mount{host("/dev/")}, "/.envscrub-shim"},
		{"read-only /dev", []doc.Mount{tmpfs("/dev", "ro"), tmpfs("/tmp")}, "/tmp/envscrub-shim"},
		{"none", nil, "/.envscrub-shim"},
		{"over all", []doc.Mount{tmpfs("/dev"), host("/")}, "/.envscrub-shim"},
	} {
		m, err := hook.ShimMount(c.mounts, shim)
		if err != nil || m.Destination != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, m.Destination, err, c.want)
		}
	}
}

// Whose error message a missing entrypoint gets.
func TestLocate(t *testing.T) {
	root, volume := t.TempDir(), t.TempDir()
	for path, mode := range map[string]os.FileMode{"bin/tool": 0o755, "bin/data": 0o644, "opt/v2/tool": 0o755} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755))
		rig.Write(t, filepath.Join(root, path), "", mode)
	}
	rig.Write(t, filepath.Join(volume, "agent"), "", 0o755)
	must(t, os.MkdirAll(filepath.Join(volume, "sub"), 0o755))
	rig.Write(t, filepath.Join(volume, "sub/agent"), "", 0o755)
	must(t, os.Symlink("/bin/tool", filepath.Join(volume, "back")))
	for name, target := range map[string]string{"opt/now": "v2", "opt/up": "../../../../../bin/tool", "opt/abs": "/bin/tool", "opt/in": "/data/deep/agent", "opt/loop": "loop", "opt/host": volume + "/agent"} {
		must(t, os.Symlink(target, filepath.Join(root, name)))
	}
	for arg, want := range map[string]hook.Whereabouts{
		"tool": hook.Found, "/bin/tool": hook.Found, "nope": hook.Missing, "/bin/nope": hook.Missing, "/bin": hook.Missing,
		"data": hook.Missing, "./bin/tool": hook.Found, "/opt/now/tool": hook.Found, "/opt/up": hook.Found, "/opt/abs": hook.Found,
		"/opt/in": hook.Found, "/opt/loop": hook.Missing, "/opt/host": hook.Missing, "/data/deep/agent": hook.Found,
		"/data/deep/sub/agent": hook.Found, "/data/deep/nope": hook.Missing, "/data/deep/back": hook.Found, "/made/agent": hook.Unknown, "": hook.Missing,
	} {
		spec := specs.Spec{
			Root:    &specs.Root{Path: root},
			Process: &specs.Process{Args: []string{arg}, Env: []string{"PATH=/nowhere:/bin"}, Cwd: "/"},
			Mounts: []specs.Mount{
				{Destination: "/data/deep", Type: "bind", Source: volume, Options: []string{"rbind"}},
				{Destination: "/made", Type: "tmpfs", Source: "tmpfs"},
			},
		}
		data, err := json.Marshal(spec)
		must(t, err)
		f, err := doc.Parse(data)
		must(t, err)
		if got := hook.Locate(f); got != want {
			t.Errorf("%q: %v, want %v", arg, got, want)
		}
	}
}

// The user's name is in the image's own passwd file, which is not a way out of the image.
func TestSubject(t *testing.T) {
	for name, c := range map[string]struct {
		passwd func(t *testing.T, root string)
		want   string
	}{
		"there": {func(t *testing.T, root string) {
			rig.Write(t, root+"/etc/passwd", "x:x:1:1::/:\nnode:x:1000:1000::/:/bin/sh\n", 0o644)
		}, "node"},
		"missing": {func(t *testing.T, root string) {}, ""},
		"another": {func(t *testing.T, root string) { rig.Write(t, root+"/etc/passwd", "root:x:0:0::/:\n", 0o644) }, ""},
		"link out": {func(t *testing.T, root string) {
			must(t, os.Symlink("../../../../../../etc/passwd", root+"/etc/passwd"))
		}, ""},
		"to itself": {func(t *testing.T, root string) { must(t, os.Symlink("passwd", root+"/etc/passwd")) }, ""},
		"directory": {func(t *testing.T, root string) { must(t, os.Mkdir(root+"/etc/passwd", 0o755)) }, ""},
		"no sense":  {func(t *testing.T, root string) { rig.Write(t, root+"/etc/passwd", ":::\n\x00\xff:1000\n", 0o644) }, ""},
		"link below": {func(t *testing.T, root string) {
			rig.Write(t, root+"/real", "dev:x:1000:1000::/:\n", 0o644)
			must(t, os.Symlink("/real", root+"/etc/passwd"))
		}, "dev"},
	} {
		root := t.TempDir()
		must(t, os.Mkdir(root+"/etc", 0o755))
		c.passwd(t, root)
		f, err := doc.Parse([]byte(`{"process":{"user":{"uid":1000,"gid":7},"args":["a"]},"root":{"path":"` + root + `"},"annotations":{"io.kubernetes.cri.image-name":"docker.io/acme/agent:1"}}`))
		must(t, err)
		s := hook.SubjectOf(f, "c0ffee")
		if s.UserName != c.want || s.User != "1000:7" || s.ContainerID != "c0ffee" || s.Image != "docker.io/acme/agent:1" {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestSandbox(t *testing.T) {
	for key, value := range map[string]string{"io.kubernetes.cri.container-type": "sandbox", "io.kubernetes.cri-o.ContainerType": "sandbox"} {
		if !hook.Sandbox(map[string]string{key: value}) || hook.Sandbox(map[string]string{key: "container"}) {
			t.Error(key)
		}
	}
}

func FuzzParseState(f *testing.F) {
	f.Add([]byte(`{"ociVersion":"1.0.2","id":"c0ffee","status":"creating","pid":42,"bundle":"/run/b","annotations":{"a":"b"}}`))
	f.Add([]byte(`{"ociVersion":"1.0","id":"x","pid":7,"root":"rootfs","bundle":"/b","status":"created"}`))
	f.Add([]byte(`{"id":"..","pid":-1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := hook.ParseState(data)
		if err != nil {
			if strings.ContainsRune(err.Error(), '\n') {
				t.Errorf("more than one line: %q", err)
			}
			return
		}
		if s.ID == "" || s.ID == "." || s.ID == ".." || strings.ContainsAny(s.ID, "/\x00") || s.Pid < 0 || !json.Valid(data) {
			t.Errorf("accepted %q as %+v", data, s)
		}
	})
}
