package containerd

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/internal/tree"
	"github.com/envscrub/envscrub/install/tomledit"
)

const version2 = `# our node
version = 2
oom_score = -999

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.example/pause:3.9" # mirror
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"

    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      pod_annotations = ["example.org/*"]
      privileged_without_host_devices = true
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = true # kubelet says so
`

const version3 = `version = 3

# only these are ours
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = 'io.containerd.runc.v2'
  sandboxer = 'podsandbox'
  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
    SystemdCgroup = true
    BinaryName = '/usr/bin/crun'
`

func node(t *testing.T, config string) install.Options {
	t.Helper()
	o := install.Options{Root: t.TempDir(), BinDir: "/usr/bin"}
	for _, bin := range []string{"containerd", "envscrub-runtime", "envscrub-nri"} {
		tree.Write(t, o, "/usr/bin/"+bin, "#!/bin/true\n", 0o755)
	}
	for _, dir := range []string{"/var/lib", "/etc/containerd"} {
		if err := os.MkdirAll(o.Path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if config != "" {
		tree.Write(t, o, defaultConf, config, 0o600)
	}
	return o
}

// report: NVIDIA/nvidia-docker#490, #504, #1448, gpu-operator#182 (the new handler lacked SystemdCgroup, other settings went)
func TestVersion2(t *testing.T) {
	o := node(t, version2)
	before := tree.List(t, o)
	o.Default = true
	r, err := (Engine{}).Install(o)
	if err != nil {
		t.Fatal(err)
	}
	got := tree.Read(t, o, defaultConf)
	wantHead := strings.Replace(version2, `default_runtime_name = "runc"`, `default_runtime_name = "envscrub"`, 1)
	rest, ok := strings.CutPrefix(got, wantHead)
	if !ok {
		t.Fatalf("the file's own text changed:\n%s", got)
	}
	if !strings.HasPrefix(rest, begin) || !strings.HasSuffix(rest, end+"\n") {
		t.Errorf("our part:\n%s", rest)
	}
	doc, err := tomledit.Decode([]byte(got))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"runtime_type":                    "io.containerd.runc.v2",
		"pod_annotations":                 []any{"example.org/*", "io.envscrub.*"},
		"container_annotations":           []any{"io.envscrub.*"},
		"privileged_without_host_devices": true,
		"options":                         map[string]any{"SystemdCgroup": true, "BinaryName": "/usr/bin/envscrub-runtime"},
	}
	if h := tomledit.Table(doc, "plugins", "io.containerd.grpc.v1.cri", "containerd", "runtimes", "envscrub"); !reflect.DeepEqual(h, want) {
		t.Errorf("handler\n%v\nwant\n%v", h, want)
	}
	if len(r.Restart) != 1 {
		t.Errorf("restart %+v", r.Restart)
	}
	if info, _ := os.Stat(o.Path(defaultConf)); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if s := (Engine{}).Status(o); len(s.Doors) != 1 || !s.Doors[0].Default || len(s.Problems) > 0 {
		t.Errorf("status %+v", s)
	}

	after := tree.List(t, o)
	o.Default = false // what the first install set stays
	if _, err := (Engine{}).Install(o); err != nil {
		t.Fatal(err)
	}
	tree.Same(t, o, after)
	o.NoDefault = true
	if _, err := (Engine{}).Install(o); err != nil {
		t.Fatal(err)
	}
	if s := (Engine{}).Status(o); len(s.Doors) != 1 || s.Doors[0].Default {
		t.Errorf("status after the default was taken back: %+v", s)
	}

	if _, err := (Engine{}).Uninstall(o); err != nil {
		t.Fatal(err)
	}
	tree.Same(t, o, before)
}

// report: NVIDIA/nvidia-container-toolkit#1328, #132
func TestUninstallKeepsLaterEdits(t *testing.T) {
	o := node(t, strings.ReplaceAll(version2, `"runc"`, `"crun"`))
	o.Default = true
	if _, err := (Engine{}).Install(o); err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(tree.Read(t, o, defaultConf), "oom_score = -999", "oom_score = -500 # calmer", 1)
	edited += "[debug]\n  level = \"info\"\n"
	tree.Write(t, o, defaultConf, edited, 0o600)
	if _, err := (Engine{}).Uninstall(o); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(strings.ReplaceAll(version2, `"runc"`, `"crun"`), "oom_score = -999", "oom_score = -500 # calmer", 1) + "[debug]\n  level = \"info\"\n"
	if got := tree.Read(t, o, defaultConf); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestVersion3(t *testing.T) {
	for _, tc := range []struct{ name, config, imports string }{
		{"no imports", version3, "imports = [\"/etc/containerd/conf.d/50-envscrub.toml\"]\n"},
		{"other imports", "imports = ['/etc/containerd/other.toml']\n" + version3, "imports = ['/etc/containerd/other.toml', \"/etc/containerd/conf.d/50-envscrub.toml\"]\n"},
		{"imported already", "imports = ['/etc/containerd/conf.d/*.toml']\n" + version3, "imports = ['/etc/containerd/conf.d/*.toml']\n"},
		{"imported by a relative pattern", "imports = ['conf.d/*.toml']\n" + version3, "imports = ['conf.d/*.toml']\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := node(t, tc.config)
			tree.Write(t, o, "/usr/bin/envscrub-crun", "x", 0o755)
			before := tree.List(t, o)
			o.Default = true
			if _, err := (Engine{}).Install(o); err != nil {
				t.Fatal(err)
			}
			if got := tree.Read(t, o, defaultConf); !strings.Contains(got, tc.imports) {
				t.Errorf("%s", got)
			}
			doc, err := tomledit.Decode([]byte(tree.Read(t, o, dropIn)))
			if err != nil {
				t.Fatal(err)
			}
			cri := tomledit.Table(doc, "plugins", "io.containerd.cri.v1.runtime", "containerd")
			want := map[string]any{
				"default_runtime_name": "envscrub",
				"runtimes": map[string]any{"envscrub": map[string]any{
					"runtime_type": "io.containerd.runc.v2", "sandboxer": "podsandbox",
					"pod_annotations": []any{"io.envscrub.*"}, "container_annotations": []any{"io.envscrub.*"},
					"options": map[string]any{"SystemdCgroup": true, "BinaryName": "/usr/bin/envscrub-crun"},
				}},
			}
			if !reflect.DeepEqual(cri, want) || doc["version"] != int64(3) {
				t.Errorf("drop-in\n%v\nwant\n%v", cri, want)
			}
			if s := (Engine{}).Status(o); len(s.Doors) != 1 || !s.Doors[0].Default || len(s.Problems) > 0 {
				t.Errorf("status %+v", s)
			}
			after := tree.List(t, o)
			if _, err := (Engine{}).Install(o); err != nil {
				t.Fatal(err)
			}
			tree.Same(t, o, after)
			if _, err := (Engine{}).Uninstall(o); err != nil {
				t.Fatal(err)
			}
			tree.Same(t, o, before)
		})
	}
}

func TestNRI(t *testing.T) {
	for name, config := range map[string]string{
		"version 2":          version2,
		"version 3":          version3,
		"a table of its own": "version = 2\n[plugins.\"io.containerd.nri.v1.nri\"]\n  disable = true # for now\n  socket_path = \"/run/nri.sock\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			o := node(t, config)
			before := tree.List(t, o)
			o.Via = install.ViaNRI
			if _, err := (Engine{}).Install(o); err != nil {
				t.Fatal(err)
			}
			text := tree.Read(t, o, defaultConf)
			if name == "version 3" {
				text = tree.Read(t, o, dropIn)
			}
			doc, err := tomledit.Decode([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if tomledit.Get(doc, "plugins", nri, "disable") != false || tomledit.Get(doc, "plugins", nri, "default_validator", "enable") != true {
				t.Errorf("%s", text)
			}
			o.Via = install.ViaRuntime
			if _, err := (Engine{}).Install(o); err != nil {
				t.Fatal(err)
			}
			if s := (Engine{}).Status(o); len(s.Doors) != 2 {
				t.Errorf("status %+v", s)
			}
			o.Via = ""
			if _, err := (Engine{}).Uninstall(o); err != nil {
				t.Fatal(err)
			}
			tree.Same(t, o, before)
		})
	}
}

func TestNoConfiguration(t *testing.T) {
	o := node(t, "")
	before := tree.List(t, o)
	if _, err := (Engine{}).Install(o); err != nil {
		t.Fatal(err)
	}
	if got := tree.Read(t, o, defaultConf); !strings.HasPrefix(got, "version = 2\n"+begin) {
		t.Errorf("%s", got)
	}
	if _, err := (Engine{}).Uninstall(o); err != nil {
		t.Fatal(err)
	}
	tree.Same(t, o, before)
}

func TestConfigurationOfTheUnit(t *testing.T) {
	o := node(t, "")
	tree.Write(t, o, "/etc/systemd/system/containerd.service.d/x.conf", "[Service]\nExecStart=\nExecStart=/usr/bin/containerd --config /srv/c.toml\n", 0o644)
	tree.Write(t, o, "/srv/c.toml", version2, 0o644)
	if _, err := (Engine{}).Install(o); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(tree.Read(t, o, "/srv/c.toml"), begin) {
		t.Error("the unit's file is unchanged")
	}
	if _, err := os.Stat(o.Path(defaultConf)); err == nil {
		t.Error("a file that nobody reads was written")
	}
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct {
		name, config, want string
		mess               func(t *testing.T, o *install.Options)
	}{
		{"broken", "version = \n", "config.toml: line 1", nil},
		{"version 1", "[plugins.cri]\n", "config migrate", nil},
		{"unknown version", "version = 9\n", "this envscrub knows 2 and 3", nil},
		{"version of the wrong type", "version = \"2\"\n", "not a number", nil},
		{"generated", "# File generated by k3s. DO NOT EDIT.\nversion = 2\n", "template", nil},
		{"handler of that name", version2 + "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.envscrub]\nruntime_type=\"x\"\n", "already", nil},
		{"inline runtimes", "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd]\nruntimes = { runc = { runtime_type = \"io.containerd.runc.v2\" } }\n", "cannot add", nil},
		{"broken import", "version = 2\nimports = [\"/etc/containerd/x.toml\"]\n", "x.toml: line 1", func(t *testing.T, o *install.Options) {
			tree.Write(t, *o, "/etc/containerd/x.toml", "[", 0o644)
		}},
		{"symlink", "", "is a symlink", func(t *testing.T, o *install.Options) {
			tree.Write(t, *o, "/srv/c.toml", version2, 0o644)
			if err := os.Symlink("/srv/c.toml", o.Path(defaultConf)); err != nil {
				t.Fatal(err)
			}
		}},
		{"read-only", version2, "read-only", func(t *testing.T, o *install.Options) {
			if err := os.Chmod(o.Path(defaultConf), 0o444); err != nil {
				t.Fatal(err)
			}
		}},
		{"hooks", version2, "no door", func(t *testing.T, o *install.Options) { o.Via = install.ViaHook }},
		{"our begin without an end", version2 + begin + "\n", "by hand", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := node(t, tc.config)
			if tc.mess != nil {
				tc.mess(t, &o)
			}
			before := tree.List(t, o)
			_, err := (Engine{}).Install(o)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want ...%s...", err, tc.want)
			}
			tree.Same(t, o, before)
		})
	}
}

func TestInterruptedInstallRunsAgain(t *testing.T) {
	for _, config := range []string{version2, version3} {
		o := node(t, config)
		before := tree.List(t, o)
		if _, err := (Engine{}).Install(o); err != nil {
			t.Fatal(err)
		}
		done := tree.List(t, o)
		// Cut off: the ledger and the backup are there, the configuration is still the old one.
		tree.Write(t, o, defaultConf, config, 0o600)
		if err := os.RemoveAll(o.Path(filepath.Dir(dropIn))); err != nil {
			t.Fatal(err)
		}
		if _, err := (Engine{}).Install(o); err != nil {
			t.Fatal(err)
		}
		tree.Same(t, o, done)
		if _, err := (Engine{}).Uninstall(o); err != nil {
			t.Fatal(err)
		}
		tree.Same(t, o, before)
	}
}

// TestRealContainerd: what containerd itself makes of our edit.
// report: NVIDIA/nvidia-container-toolkit#1404
func TestRealContainerd(t *testing.T) {
	rig.Need(t, "containerd")
	dump := func(path string) map[string]any {
		t.Helper()
		out, err := exec.Command("containerd", "--config", path, "config", "dump").Output()
		if err != nil {
			t.Fatal(err)
		}
		doc, err := tomledit.Decode(out)
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	o := node(t, version2)
	o.Default = true
	was := dump(o.Path(defaultConf))
	if _, err := (Engine{}).Install(o); err != nil {
		t.Fatal(err)
	}
	doc := dump(o.Path(defaultConf))
	cri := tomledit.Table(doc, "plugins", "io.containerd.grpc.v1.cri")
	if got := tomledit.String(cri, "sandbox_image"); got != "registry.example/pause:3.9" {
		t.Errorf("sandbox_image %q", got)
	}
	if got := tomledit.String(cri, "containerd", "default_runtime_name"); got != "envscrub" {
		t.Errorf("default_runtime_name %q", got)
	}
	ours := tomledit.Table(cri, "containerd", "runtimes", "envscrub")
	if got := tomledit.Table(ours, "options"); got["BinaryName"] != "/usr/bin/envscrub-runtime" || got["SystemdCgroup"] != true {
		t.Errorf("options %v", got)
	}
	if got := tomledit.Strings(ours, "pod_annotations"); !reflect.DeepEqual(got, []string{"example.org/*", "io.envscrub.*"}) {
		t.Errorf("pod_annotations %v", got)
	}
	// All else is as it was.
	delete(tomledit.Table(cri, "containerd", "runtimes"), "envscrub")
	tomledit.Table(cri, "containerd")["default_runtime_name"] = "runc"
	if !reflect.DeepEqual(doc, was) {
		t.Errorf("containerd reads something else differently now:\n%v\nwas\n%v", doc, was)
	}
	if err := verify(install.Options{}, o.Path(defaultConf), doorset{runtime: true}); err != nil {
		t.Error(err)
	}
	if err := verify(install.Options{}, o.Path("/usr/bin/containerd"), doorset{runtime: true}); err == nil {
		t.Error("verified a file that is no configuration")
	}
}

// TestImportWouldReplace is why version 2 is not edited through a drop-in: the
// file's settings vanish when a drop-in names the same plugin (containerd 1.x).
func TestImportWouldReplace(t *testing.T) {
	rig.Need(t, "containerd")
	if out, _ := exec.Command("containerd", "--version").Output(); !strings.Contains(string(out), " 1.") {
		t.Skip("not containerd 1.x")
	}
	o := node(t, "")
	tree.Write(t, o, "/d.toml", "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.x]\n  runtime_type = \"io.containerd.runc.v2\"\n", 0o644)
	tree.Write(t, o, defaultConf, "imports = ["+tomledit.Quote(o.Path("/d.toml"))+"]\n"+version2, 0o600)
	out, err := exec.Command("containerd", "--config", o.Path(defaultConf), "config", "dump").Output()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "registry.example/pause") {
		t.Error("this containerd merges plugin tables; a drop-in would do for version 2 too")
	}
}
