package podman

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/containers/common/pkg/hooks"
	rspec "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/internal/tree"
)

func must(t *testing.T) func(install.Report, error) install.Report {
	return func(r install.Report, err error) install.Report {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

// clean drops what the state of an install needs, and the directory that Podman
// was missing.
func clean(list string) string {
	var out []string
	for line := range strings.Lines(list) {
		if !strings.Contains(line, " /var") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

var rootless = &install.User{UID: 1000, Home: "/home/u", ConfigHome: "/home/u/.config", StateHome: "/home/u/.local/state", RuntimeDir: "/run/user/1000"}

func TestInstallHook(t *testing.T) {
	for _, c := range []struct {
		name    string
		user    *install.User
		files   map[string]string
		hooksIn string
		conf    string // the drop-in's hooks_dir; "" when there is none
	}{
		{
			name: "nothing configured", hooksIn: adminHooks,
			conf: `hooks_dir = ["/usr/share/containers/oci/hooks.d", "/etc/containers/oci/hooks.d"]`,
		},
		{
			name: "our directory is read already", hooksIn: adminHooks,
			files: map[string]string{"/etc/containers/containers.conf": "[engine]\nhooks_dir = [\"/etc/containers/oci/hooks.d\", \"/srv/hooks\"]\n"},
		},
		{
			name: "an empty list", hooksIn: adminHooks, // report: cri-o#2683
			files: map[string]string{"/etc/containers/containers.conf": "[engine]\nhooks_dir = []\n"},
			conf:  `hooks_dir = ["/etc/containers/oci/hooks.d"]`,
		},
		{
			name: "an appended list", hooksIn: adminHooks,
			files: map[string]string{"/etc/containers/containers.conf.d/10-x.conf": "[engine]\nhooks_dir = [\"/srv/hooks\", {append=true}]\n"},
			conf:  `hooks_dir = ["/usr/share/containers/oci/hooks.d", "/srv/hooks", "/etc/containers/oci/hooks.d"]`,
		},
		{
			name: "a user without configuration", user: rootless, hooksIn: "/home/u/.config/containers/oci/hooks.d", // report: podman#3155
			conf: `hooks_dir = ["/home/u/.config/containers/oci/hooks.d"]`,
		},
		{
			name: "a user beside the host's hooks", user: rootless, hooksIn: "/home/u/.config/containers/oci/hooks.d",
			files: map[string]string{"/etc/containers/containers.conf": "[engine]\nhooks_dir = [\"/etc/containers/oci/hooks.d\"]\n", "/etc/containers/oci/hooks.d/x.txt": ""},
			conf:  `hooks_dir = ["/etc/containers/oci/hooks.d", "/home/u/.config/containers/oci/hooks.d"]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := tree.New(t, c.files)
			o.User = c.user
			if c.user != nil {
				tree.Write(t, o, "/home/u/.local/state/x", "", 0o644)
			}
			before := tree.List(t, o)
			must(t)(Engine{}.Install(o))
			dropIn := filepath.Join(dropInDir(o), hooksDropIn)
			if c.conf == "" {
				if _, err := os.Stat(o.Path(dropIn)); err == nil {
					t.Errorf("a drop-in that is not needed:\n%s", tree.Read(t, o, dropIn))
				}
			} else if got := tree.Read(t, o, dropIn); !strings.HasSuffix(got, "[engine]\n"+c.conf+"\n") {
				t.Errorf("drop-in:\n%s\nwant %s", got, c.conf)
			}
			// report: cri-o#1942, cri-o#2037
			conf, err := effective(o)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(conf.hooksDirs, c.hooksIn) {
				t.Errorf("effective hooks_dir %v lacks %s", conf.hooksDirs, c.hooksIn)
			}
			for _, dir := range conf.hooksDirs {
				if info, err := os.Stat(o.Path(dir)); err != nil || !info.IsDir() {
					t.Errorf("directory %s of hooks_dir: %v", dir, err)
				}
			}
			if s := (Engine{}).Status(o); len(s.Doors) != 1 || s.Doors[0].Via != install.ViaHook || s.Doors[0].File != o.Path(c.hooksIn+"/50-envscrub-createruntime.json") || len(s.Problems) > 0 {
				t.Errorf("status %+v", s)
			}
			once := tree.List(t, o)
			for _, change := range must(t)(Engine{}.Install(o)).Changes {
				if change.Action != install.Unchanged {
					t.Errorf("second install: %+v", change)
				}
			}
			if again := tree.List(t, o); again != once {
				t.Errorf("second install: \n%s\nbecame\n%s", once, again)
			}
			must(t)(Engine{}.Uninstall(o))
			if after := tree.List(t, o); clean(after) != clean(before) {
				t.Errorf("uninstall left\n%s\nwant\n%s", after, before)
			}
		})
	}
}

// What an install writes is loaded and matched by the code that Podman and CRI-O use.
// report: podman#7134, podman#1308, podman#884, runc#4323
func TestHooksMatch(t *testing.T) {
	for _, c := range []struct {
		when        string
		annotations map[string]string
		args        []string
		want        bool
	}{
		{install.WhenAlways, nil, []string{"/sbin/agent"}, true},
		{install.WhenAlways, nil, []string{"/dev/init", "--", "agent"}, true},
		{install.WhenAnnotation, map[string]string{"io.envscrub.profile": "agent"}, []string{"/dev/init", "--", "agent"}, true},
		{install.WhenAnnotation, map[string]string{"io.envscrub.profile": ""}, []string{"agent"}, true},
		{install.WhenAnnotation, map[string]string{"a": "b", "io.envscrub.allow": "X"}, []string{"agent"}, true},
		{install.WhenAnnotation, map[string]string{"ioXenvscrubXprofile": "agent", "x.io.envscrub.profile": "a"}, []string{"agent"}, false},
		{install.WhenAnnotation, nil, []string{"agent"}, false},
	} {
		for _, user := range []*install.User{nil, rootless} {
			// The reader wants the program to exist: the real path of the tree is registered.
			o := tree.New(t, nil)
			o.User, o.When = user, c.when
			o.BinDir = o.Path(o.BinDir)
			o.Root = ""
			files, err := install.HookFiles(filepath.Join(o.BinDir, "envscrub-hook"), c.when, user)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for _, f := range files {
				if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			m, err := hooks.New(context.Background(), []string{dir}, []string{"precreate", "poststop"})
			if err != nil {
				t.Fatal(err)
			}
			spec := &rspec.Spec{Process: &rspec.Process{Args: c.args}}
			extra, err := m.Hooks(spec, c.annotations, false)
			if err != nil {
				t.Fatal(err)
			}
			matched := spec.Hooks != nil && len(spec.Hooks.CreateRuntime) == 1 && len(extra["poststop"]) == 1
			if matched != c.want {
				t.Errorf("%s, %v, %v: matched %v, want %v", c.when, c.annotations, c.args, matched, c.want)
			}
			if !matched {
				continue
			}
			h := spec.Hooks.CreateRuntime[0]
			if !filepath.IsAbs(h.Path) || !slices.Equal(h.Args, []string{"envscrub-hook", "createRuntime"}) || h.Timeout == nil {
				t.Errorf("hook %+v", h)
			}
			wantEnv := []string{"PATH="}
			if user != nil {
				wantEnv = append(wantEnv, "HOME=/home/u", "XDG_RUNTIME_DIR=/run/user/1000", "XDG_CONFIG_HOME=/home/u/.config")
			}
			for _, prefix := range wantEnv {
				if !slices.ContainsFunc(h.Env, func(e string) bool { return strings.HasPrefix(e, prefix) }) {
					t.Errorf("hook's env %q lacks %s", h.Env, prefix)
				}
			}
		}
	}
}

func TestInstallRuntime(t *testing.T) {
	o := tree.New(t, map[string]string{"/etc/containers/containers.conf": "[engine]\nruntime = \"crun\"\nruntime_supports_json = [\"crun\", \"own\"]\n[engine.runtimes]\nown = [\"/opt/own\"]\n"})
	o.Via, o.Default = install.ViaRuntime, true
	before := tree.List(t, o)
	r := must(t)(Engine{}.Install(o))
	want := `[engine]
runtime = "envscrub"
runtime_supports_json = ["crun", "own", "envscrub"]
[engine.runtimes]
envscrub = ["/usr/libexec/envscrub/envscrub-runtime"]
`
	if got := tree.Read(t, o, "/etc/containers/containers.conf.d/"+runtimeDropIn); !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if notes, _ := json.Marshal(r.Notes); !strings.Contains(string(notes), "instead of crun") {
		t.Errorf("notes %s", notes)
	}
	if s := (Engine{}).Status(o); len(s.Doors) != 1 || !s.Doors[0].Default || len(s.Problems) > 0 {
		t.Errorf("status %+v", s)
	}
	must(t)(Engine{}.Uninstall(o))
	if after := tree.List(t, o); clean(after) != clean(before) {
		t.Errorf("uninstall left\n%s\nwant\n%s", after, before)
	}
}

// The doors go one by one.
func TestUninstallOneDoor(t *testing.T) {
	o := tree.New(t, nil)
	must(t)(Engine{}.Install(o))
	o.Via = install.ViaRuntime
	must(t)(Engine{}.Install(o))
	must(t)(Engine{}.Uninstall(o))
	if s := (Engine{}).Status(o); len(s.Doors) != 1 || s.Doors[0].Via != install.ViaHook {
		t.Errorf("status %+v", s)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		via              string
		want             string
	}{
		{"not TOML", "/etc/containers/containers.conf", "[engine]\nruntime = crun\n", install.ViaHook, "containers.conf: 2:"},
		{"hooks_dir of the wrong type", "/etc/containers/containers.conf", "[engine]\nhooks_dir = [1]\n", install.ViaHook, "engine.hooks_dir: not an array of strings"},
		{"a later drop-in without our directory", "/etc/containers/containers.conf.d/90-x.conf", "[engine]\nhooks_dir = [\"/srv/hooks\"]\n", install.ViaHook, "is read after " + hooksDropIn},
		{"a runtime of our name", "/etc/containers/containers.conf", "[engine.runtimes]\nenvscrub = [\"/opt/x\"]\n", install.ViaRuntime, "is configured already"},
		{"a file where a directory must be", "/usr/share/containers/oci", "", install.ViaHook, "not a directory"},
		{"somebody else's file of our name", adminHooks + "/50-envscrub-createruntime.json", "{}", install.ViaHook, "not written by envscrub"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := tree.New(t, map[string]string{c.file: c.text})
			o.Via = c.via
			before := tree.List(t, o)
			_, err := Engine{}.Install(o)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, c.want)
			}
			if after := tree.List(t, o); after != before {
				t.Errorf("it changed\n%s\ninto\n%s", before, after)
			}
		})
	}
}

// One directory of hooks_dir that went away disables every hook: status says so.
// report: cri-o#1942
func TestStatusNamesMissingDirectory(t *testing.T) {
	o := tree.New(t, nil)
	must(t)(Engine{}.Install(o))
	if err := os.Remove(o.Path(systemHooks)); err != nil {
		t.Fatal(err)
	}
	s := Engine{}.Status(o)
	if len(s.Problems) != 1 || !strings.Contains(s.Problems[0].What, systemHooks) || s.Problems[0].Mend == "" {
		t.Errorf("problems %+v", s.Problems)
	}
}

// No text of a containers.conf makes the reader fall over.
func FuzzConf(f *testing.F) {
	for _, s := range []string{
		"[engine]\nhooks_dir = [\"/a\", {append=true}]\n", "[engine]\nhooks_dir = 1\n", "engine = 1\n", "[engine.runtimes]\nx = [1]\n",
		"[engine]\nruntime = \"crun\"\nruntime_supports_json = [[\"x\"]]\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &conf{runtimes: map[string][]string{}, hooksDirs: []string{systemHooks}}
		if err := c.merge("x.conf", data); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", data, err)
		}
	})
}

// Installing again keeps what an earlier install set, until it is given again.
func TestInstallAgain(t *testing.T) {
	for _, c := range []struct {
		name        string
		first, back install.Options
		file, has   string
	}{
		{"default", install.Options{Via: install.ViaRuntime, Default: true}, install.Options{Via: install.ViaRuntime, NoDefault: true}, "/etc/containers/containers.conf.d/" + runtimeDropIn, `runtime = "envscrub"`},
		{"when", install.Options{When: install.WhenAlways}, install.Options{When: install.WhenAnnotation}, adminHooks + "/" + install.HookFileName("createRuntime"), `"always": true`},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := tree.New(t, nil)
			with := func(more install.Options) install.Options {
				more.Root, more.BinDir = o.Root, o.BinDir
				return more
			}
			must(t)(Engine{}.Install(with(c.first)))
			before := tree.List(t, o)
			must(t)(Engine{}.Install(with(install.Options{Via: c.first.Via})))
			if after := tree.List(t, o); after != before || !strings.Contains(tree.Read(t, o, c.file), c.has) {
				t.Errorf("the second install made\n%s\nof\n%s", after, before)
			}
			must(t)(Engine{}.Install(with(c.back)))
			if got := tree.Read(t, o, c.file); strings.Contains(got, c.has) {
				t.Errorf("it was taken back, and still stands there:\n%s", got)
			}
		})
	}
}
