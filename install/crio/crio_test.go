package crio

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/containers/common/pkg/hooks"
	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/internal/tree"
	"github.com/envscrub/envscrub/install/tomledit"
)

const vendorConf = `# as CRI-O's packages ship it
[crio.image]
signature_policy = "/etc/crio/policy.json"

[crio.runtime]
default_runtime = "crun"

[crio.runtime.runtimes.crun]
runtime_path = "/usr/libexec/crio/crun"
runtime_root = "/run/crun"
monitor_path = "/usr/libexec/crio/conmon"
allowed_annotations = [
    "io.containers.trace-syscall",
]

[crio.runtime.runtimes.crun.default_annotations]
"run.oci.keep_original_groups" = "1"

[crio.runtime.runtimes.runc]
runtime_path = "/usr/libexec/crio/runc"
runtime_root = "/run/runc"
`

// node makes a tree that stands for a host.
func node(t *testing.T, files map[string]string) install.Options {
	t.Helper()
	o := install.Options{Root: t.TempDir(), BinDir: "/usr/bin"}
	for _, bin := range []string{"crio", "envscrub-runtime", "envscrub-hook", "envscrub-nri"} {
		tree.Write(t, o, "/usr/bin/"+bin, "#!/bin/true\n", 0o755)
	}
	for path, text := range files {
		tree.Write(t, o, path, text, 0o644)
	}
	if err := os.MkdirAll(o.Path("/var/lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestRuntimeHandler(t *testing.T) {
	o := node(t, map[string]string{"/etc/crio/crio.conf.d/10-crio.conf": vendorConf})
	before := tree.List(t, o)
	o.Default = true
	r, err := (Engine{}).Install(o)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(o.Path("/etc/crio/crio.conf.d/50-envscrub.conf"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := tomledit.Decode(data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	want := map[string]any{
		"runtime_path": "/usr/bin/envscrub-runtime", "runtime_root": "/run/crun", "runtime_type": "oci",
		"monitor_path":        "/usr/libexec/crio/conmon",
		"allowed_annotations": []any{"io.containers.trace-syscall"}, // never ours: CRI-O refuses what it does not know
		"default_annotations": map[string]any{"run.oci.keep_original_groups": "1"},
	}
	if got := tomledit.Table(doc, handlerPath("envscrub")...); !reflect.DeepEqual(got, want) {
		t.Errorf("handler\n%v\nwant\n%v", got, want)
	}
	if got := tomledit.String(doc, "crio", "runtime", "default_runtime"); got != "envscrub" {
		t.Errorf("default_runtime %q", got)
	}
	if len(r.Restart) != 1 || r.Restart[0].Done {
		t.Errorf("restart %+v", r.Restart)
	}

	// Installed twice changes nothing.
	after := tree.List(t, o)
	o.Default = false // what the first install set stays
	r, err = (Engine{}).Install(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Changes {
		if c.Action != install.Unchanged {
			t.Errorf("second install: %+v", c)
		}
	}
	tree.Same(t, o, after)

	if s := (Engine{}).Status(o); len(s.Doors) != 1 || !s.Doors[0].Default || len(s.Problems) != 0 {
		t.Errorf("status %+v", s)
	}
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

// report: NVIDIA/nvidia-container-toolkit#1404 (a drop-in where the daemon never looks).
func TestDirectoryOfTheUnit(t *testing.T) {
	o := node(t, map[string]string{
		"/usr/lib/systemd/system/crio.service":            "[Service]\nExecStart=/usr/bin/crio $CRIO_CONFIG_OPTIONS\n",
		"/etc/systemd/system/crio.service.d/10-conf.conf": "[Service]\nExecStart=\nExecStart=/usr/bin/crio --config-dir=/srv/crio.d\n",
		"/srv/crio.d/10.conf":                             vendorConf,
	})
	if _, err := (Engine{}).Install(o); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(o.Path("/srv/crio.d/50-envscrub.conf"))
	if err != nil || !strings.Contains(string(data), `runtime_root = "/run/crun"`) {
		t.Errorf("%v: %s", err, data)
	}
	if _, err := os.Stat(o.Path("/etc/crio")); err == nil {
		t.Error("something was written to /etc/crio")
	}
}

func TestPinnedRuntime(t *testing.T) {
	o := node(t, map[string]string{"/etc/crio/crio.conf": vendorConf})
	tree.Write(t, o, "/usr/bin/envscrub-crun", "x", 0o755)
	r, err := (Engine{}).Install(o)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(o.Path("/etc/crio/crio.conf.d/50-envscrub.conf"))
	if !strings.Contains(string(data), `runtime_path = "/usr/bin/envscrub-crun"`) {
		t.Errorf("%s", data)
	}
	if strings.Contains(strings.Join(r.Notes, "\n"), "policy's `runtimes`") {
		t.Errorf("notes %q", r.Notes)
	}
}

// The hooks are loaded and matched by the code that CRI-O itself uses.
// report: cri-o#1942, #2037, #2472, #2683; podman#3155, #1308
func TestHooks(t *testing.T) {
	for _, tc := range []struct {
		name, conf string
		wantDirs   []string // in our drop-in; nil: no drop-in
	}{
		{"default list", "", []string{vendorHooks, adminHooks}},
		{"empty list", "[crio.runtime]\nhooks_dir = []\n", []string{adminHooks}},
		{"already read", "[crio.runtime]\nhooks_dir = [\"" + adminHooks + "\", \"/opt/hooks\"]\n", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := node(t, map[string]string{"/etc/crio/crio.conf": tc.conf})
			// The matcher refuses a hook whose program does not exist on this machine.
			o.BinDir = t.TempDir()
			tree.Write(t, o, o.BinDir+"/envscrub-hook", "x", 0o755)
			tree.Write(t, install.Options{}, o.BinDir+"/envscrub-hook", "x", 0o755)
			before := tree.List(t, o)
			o.Via = install.ViaHook
			if _, err := (Engine{}).Install(o); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(o.Path("/etc/crio/crio.conf.d/50-envscrub.conf"))
			if (err == nil) != (tc.wantDirs != nil) {
				t.Fatalf("drop-in: %v", err)
			}
			if tc.wantDirs != nil {
				doc, err := tomledit.Decode(data)
				if got := tomledit.Strings(doc, "crio", "runtime", "hooks_dir"); err != nil || !reflect.DeepEqual(got, tc.wantDirs) {
					t.Errorf("hooks_dir %v, want %v", got, tc.wantDirs)
				}
			}
			c, err := read(o, "")
			if err != nil {
				t.Fatal(err)
			}
			var dirs []string
			for _, d := range c.hooksDirs {
				if _, err := os.Stat(o.Path(d)); err != nil {
					t.Errorf("%s in the list and not there", d)
				}
				dirs = append(dirs, o.Path(d))
			}
			m, err := hooks.New(t.Context(), dirs, nil)
			if err != nil {
				t.Fatal(err)
			}
			for annotation, want := range map[string]int{"io.envscrub.profile": 1, "io.envscrub.allow": 1, "ioxenvscrub.profile": 0, "other": 0} {
				spec := &specs.Spec{Process: &specs.Process{Args: []string{"/catatonit", "--", "agent"}}}
				if _, err := m.Hooks(spec, map[string]string{annotation: "x"}, true); err != nil {
					t.Fatal(err)
				}
				n, stop := 0, 0
				if spec.Hooks != nil {
					n, stop = len(spec.Hooks.CreateRuntime), len(spec.Hooks.Poststop)
				}
				if n != want || stop != want {
					t.Errorf("%s: %d createRuntime, %d poststop, want %d", annotation, n, stop, want)
				}
				if want == 1 && (n == 0 || len(spec.Hooks.CreateRuntime[0].Env) == 0) {
					t.Error("the hook would inherit the daemon's environment") // report: opencontainers/runc#4323
				}
			}
			if s := (Engine{}).Status(o); len(s.Doors) != 1 || len(s.Problems) != 0 {
				t.Errorf("status %+v", s)
			}
			if _, err := (Engine{}).Uninstall(o); err != nil {
				t.Fatal(err)
			}
			tree.Same(t, o, before)
		})
	}
}

func TestDoorsComeAndGoOneByOne(t *testing.T) {
	o := node(t, map[string]string{"/etc/crio/crio.conf": vendorConf})
	before := tree.List(t, o)
	for _, via := range []string{install.ViaRuntime, install.ViaNRI, install.ViaHook} {
		o.Via = via
		if _, err := (Engine{}).Install(o); err != nil {
			t.Fatalf("%s: %v", via, err)
		}
	}
	file := "/etc/crio/crio.conf.d/50-envscrub.conf"
	has := func(want ...string) {
		t.Helper()
		data, err := os.ReadFile(o.Path(file))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"runtimes.envscrub", "enable_nri", "hooks_dir"} {
			found := strings.Contains(string(data), part)
			if wanted := strings.Contains(strings.Join(want, " "), part); found != wanted {
				t.Errorf("%s: %v, want %v in\n%s", part, found, wanted, data)
			}
		}
	}
	has("runtimes.envscrub", "enable_nri", "hooks_dir")
	if s := (Engine{}).Status(o); len(s.Doors) != 3 {
		t.Errorf("status %+v", s)
	}
	for _, step := range []struct {
		via  string
		left []string
	}{
		{install.ViaNRI, []string{"runtimes.envscrub", "hooks_dir"}},
		{install.ViaRuntime, []string{"hooks_dir"}},
	} {
		o.Via = step.via
		if _, err := (Engine{}).Uninstall(o); err != nil {
			t.Fatal(err)
		}
		has(step.left...)
	}
	o.Via = ""
	if _, err := (Engine{}).Uninstall(o); err != nil {
		t.Fatal(err)
	}
	tree.Same(t, o, before)
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct {
		name   string
		files  map[string]string
		mess   func(t *testing.T, o *install.Options)
		wanted string
	}{
		{"broken configuration", map[string]string{"/etc/crio/crio.conf": "[crio\n"}, nil, "crio.conf: line 1"},
		{"handler of that name", map[string]string{"/etc/crio/crio.conf": "[crio.runtime.runtimes.envscrub]\nruntime_path = \"/x\"\n"}, nil, "already"},
		{"drop-in is a symlink", nil, func(t *testing.T, o *install.Options) {
			tree.Write(t, *o, "/etc/crio/other", "", 0o644)
			tree.Write(t, *o, "/etc/crio/crio.conf.d/x", "", 0o644)
			if err := os.Symlink("/etc/crio/other", o.Path("/etc/crio/crio.conf.d/50-envscrub.conf")); err != nil {
				t.Fatal(err)
			}
		}, "symlink"},
		{"drop-in of another hand", map[string]string{"/etc/crio/crio.conf.d/50-envscrub.conf": "# mine\n"}, nil, "not written by envscrub"},
		{"no wrapper", nil, func(t *testing.T, o *install.Options) { o.BinDir = "/opt/none" }, "not there"},
		{
			"hooks_dir set later",
			map[string]string{"/etc/crio/crio.conf.d/99.conf": "[crio.runtime]\nhooks_dir = [\"/a\"]\n"},
			func(t *testing.T, o *install.Options) { o.Via = install.ViaHook }, "read after",
		},
		{"unknown door", nil, func(t *testing.T, o *install.Options) { o.Via = "magic" }, "no door"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := node(t, tc.files)
			if tc.mess != nil {
				tc.mess(t, &o)
			}
			before := tree.List(t, o)
			_, err := (Engine{}).Install(o)
			if err == nil || !strings.Contains(err.Error(), tc.wanted) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want ...%s...", err, tc.wanted)
			}
			tree.Same(t, o, before)
		})
	}
}

func TestInterruptedInstallRunsAgain(t *testing.T) {
	o := node(t, map[string]string{"/etc/crio/crio.conf": vendorConf})
	before := tree.List(t, o)
	if _, err := (Engine{}).Install(o); err != nil {
		t.Fatal(err)
	}
	done := tree.List(t, o)
	// Cut off behind the ledger, before the drop-in.
	if err := os.Remove(o.Path("/etc/crio/crio.conf.d/50-envscrub.conf")); err != nil {
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
