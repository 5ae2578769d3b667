package docker

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/internal/tree"
)

const daemonJSON = "/etc/docker/daemon.json"

// What people have in daemon.json, and what an install with --default makes of it.
// report: nvidia-docker#490, nvidia-docker#504, nvidia-docker#1448, nvidia-docker#1788
var daemons = []struct{ name, before, after string }{
	{
		"empty object", "{}\n",
		"{\n  \"runtimes\": {\n    \"envscrub\": {\n      \"path\": \"/usr/libexec/envscrub/envscrub-runtime\"\n    }\n  },\n  \"default-runtime\": \"envscrub\"\n}\n",
	},
	{
		"hosts, log options, four blanks, a long number, an unknown key",
		`{
    "hosts": ["unix:///var/run/docker.sock", "tcp://10.0.0.1:2376"],
    "data-root": "/srv/docker",
    "log-opts": {"max-size": "10m"},
    "max-something": 123456789012345678901234567890,
    "x-later": null
}
`,
		`{
    "hosts": ["unix:///var/run/docker.sock", "tcp://10.0.0.1:2376"],
    "data-root": "/srv/docker",
    "log-opts": {"max-size": "10m"},
    "max-something": 123456789012345678901234567890,
    "x-later": null,
    "runtimes": {
        "envscrub": {
            "path": "/usr/libexec/envscrub/envscrub-runtime"
        }
    },
    "default-runtime": "envscrub"
}
`,
	},
	{
		"another default with arguments, which ours hands on",
		`{"default-runtime": "crun", "runtimes": {"crun": {"path": "/usr/bin/crun", "runtimeArgs": ["--debug"]}}}`,
		`{"default-runtime": "envscrub", "runtimes": {"crun": {"path": "/usr/bin/crun", "runtimeArgs": ["--debug"]}, "envscrub": {"path":"/usr/libexec/envscrub/envscrub-runtime","runtimeArgs":["--debug"]}}}`,
	},
	{
		"tabs and carriage returns",
		"{\r\n\t\"debug\": true\r\n}",
		"{\r\n\t\"debug\": true,\r\n\t\"runtimes\": {\r\n\t\t\"envscrub\": {\r\n\t\t\t\"path\": \"/usr/libexec/envscrub/envscrub-runtime\"\r\n\t\t}\r\n\t},\r\n\t\"default-runtime\": \"envscrub\"\r\n}",
	},
}

func TestInstallTwiceUninstall(t *testing.T) {
	for _, c := range daemons {
		t.Run(c.name, func(t *testing.T) {
			o := tree.New(t, map[string]string{daemonJSON: c.before})
			if err := os.Chmod(o.Path(daemonJSON), 0o640); err != nil {
				t.Fatal(err)
			}
			before := tree.List(t, o)
			o.Default = true
			r := must(t)(Engine{}.Install(o))
			if got := tree.Read(t, o, daemonJSON); got != c.after {
				t.Errorf("installed:\n%s\nwant\n%s", got, c.after)
			}
			if len(r.Changes) != 1 || r.Changes[0].Action != install.Edited {
				t.Errorf("changes %+v, want one edit", r.Changes)
			}
			if info, err := os.Stat(r.Changes[0].Backup); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("backup %v, %v; want a file of mode 0600", info, err)
			}
			once := tree.List(t, o)
			if r := must(t)(Engine{}.Install(o)); r.Changes[0].Action != install.Unchanged {
				t.Errorf("second install: %+v, want no change", r.Changes)
			}
			if again := tree.List(t, o); again != once {
				t.Errorf("the second install changed\n%s\ninto\n%s", once, again)
			}
			if r := must(t)(Engine{}.Uninstall(o)); r.Changes[0].Action != install.Restored {
				t.Errorf("uninstall: %+v, want the file restored", r.Changes)
			}
			if after := tree.List(t, o); clean(after) != clean(before) {
				t.Errorf("uninstall left\n%s\nwant\n%s", after, before)
			}
		})
	}
}

// clean drops the directories that the state of an install needs.
func clean(list string) string {
	var out []string
	for line := range strings.Lines(list) {
		if !strings.Contains(line, " /var") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

func must(t *testing.T) func(install.Report, error) install.Report {
	return func(r install.Report, err error) install.Report {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

func TestNoFile(t *testing.T) {
	o := tree.New(t, nil)
	before := tree.List(t, o)
	must(t)(Engine{}.Install(o))
	want := "{\n  \"runtimes\": {\n    \"envscrub\": {\n      \"path\": \"/usr/libexec/envscrub/envscrub-runtime\"\n    }\n  }\n}\n"
	if got := tree.Read(t, o, daemonJSON); got != want {
		t.Errorf("got %s", got)
	}
	must(t)(Engine{}.Uninstall(o))
	if after := tree.List(t, o); clean(after) != clean(before) {
		t.Errorf("uninstall left\n%s\nwant\n%s", after, before)
	}
}

// An edit that somebody makes after the install survives, and the default from
// before it comes back. report: nvidia-container-toolkit#1328, gpu-operator#188
func TestUninstallKeepsLaterEdits(t *testing.T) {
	o := tree.New(t, map[string]string{daemonJSON: `{
  "default-runtime": "crun",
  "runtimes": {
    "crun": {"path": "/usr/bin/crun"}
  }
}
`})
	o.Default = true
	must(t)(Engine{}.Install(o))
	edited := strings.Replace(tree.Read(t, o, daemonJSON), "{\n", "{\n  \"debug\": true,\n", 1)
	tree.Write(t, o, daemonJSON, edited, 0o644)
	r := must(t)(Engine{}.Uninstall(o))
	if r.Changes[0].Action != install.Edited {
		t.Errorf("%+v, want an edit", r.Changes)
	}
	want := `{
  "debug": true,
  "default-runtime": "crun",
  "runtimes": {
    "crun": {"path": "/usr/bin/crun"}
  }
}
`
	if got := tree.Read(t, o, daemonJSON); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// An install over an edited file must not make an uninstall lose that edit.
func TestInstallEditInstallUninstall(t *testing.T) {
	o := tree.New(t, map[string]string{daemonJSON: "{\n  \"debug\": true\n}\n"})
	must(t)(Engine{}.Install(o))
	tree.Write(t, o, daemonJSON, strings.Replace(tree.Read(t, o, daemonJSON), "true", "false", 1), 0o644)
	o.Default = true
	must(t)(Engine{}.Install(o))
	must(t)(Engine{}.Uninstall(o))
	if got, want := tree.Read(t, o, daemonJSON), "{\n  \"debug\": false\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The runtime that did the work goes on doing it.
func TestDefaultStays(t *testing.T) {
	o := tree.New(t, map[string]string{daemonJSON: `{"default-runtime": "fast", "runtimes": {"fast": {"path": "/usr/bin/crun"}}}`})
	tree.Write(t, o, o.BinDir+"/envscrub-crun", "#!/bin/sh\n", 0o755)
	o.Default = true
	for range 2 {
		must(t)(Engine{}.Install(o))
		if got := tree.Read(t, o, daemonJSON); !strings.Contains(got, `"envscrub": {"path":"/usr/libexec/envscrub/envscrub-crun"}`) {
			t.Errorf("got %s", got)
		}
	}
}

// --default, then without: it stays. --default=false: the old default returns.
func TestDefaultTakenBack(t *testing.T) {
	o := tree.New(t, map[string]string{daemonJSON: "{\n  \"default-runtime\": \"crun\"\n}\n"})
	o.Default = true
	must(t)(Engine{}.Install(o))
	o.Default = false
	if r := must(t)(Engine{}.Install(o)); r.Changes[0].Action != install.Unchanged {
		t.Errorf("install without --default: %+v, want no change", r.Changes)
	}
	o.NoDefault = true
	must(t)(Engine{}.Install(o))
	if got := tree.Read(t, o, daemonJSON); !strings.Contains(got, `"default-runtime": "crun"`) {
		t.Errorf("got %s", got)
	}
	must(t)(Engine{}.Uninstall(o))
	if got, want := tree.Read(t, o, daemonJSON), "{\n  \"default-runtime\": \"crun\"\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, o install.Options)
		want string
	}{
		{"not JSON", func(t *testing.T, o install.Options) {
			tree.Write(t, o, daemonJSON, "{\n  \"debug\": true,\n}\n", 0o644)
		}, "3:1: not valid JSON"},
		{"comment", func(t *testing.T, o install.Options) {
			tree.Write(t, o, daemonJSON, "{\n  // us\n}\n", 0o644)
		}, "2:3: not valid JSON"},
		{"runtimes of the wrong type", func(t *testing.T, o install.Options) {
			tree.Write(t, o, daemonJSON, `{"runtimes": "crun"}`, 0o644)
		}, `"runtimes" is not an object`},
		{"somebody else's runtime of our name", func(t *testing.T, o install.Options) {
			tree.Write(t, o, daemonJSON, `{"runtimes": {"envscrub": {"path": "/opt/other"}}}`, 0o644)
		}, "is not envscrub's wrapper"},
		{"symlink", func(t *testing.T, o install.Options) {
			tree.Write(t, o, "/etc/docker/real.json", "{}", 0o644)
			if err := os.Symlink("real.json", o.Path(daemonJSON)); err != nil {
				t.Fatal(err)
			}
		}, "is a symlink to real.json"},
		{"directory", func(t *testing.T, o install.Options) {
			if err := os.MkdirAll(o.Path(daemonJSON), 0o755); err != nil {
				t.Fatal(err)
			}
		}, "is a directory"},
		{"read-only", func(t *testing.T, o install.Options) {
			tree.Write(t, o, daemonJSON, "{}", 0o444)
		}, "read-only"},
		{"wrapper missing", func(t *testing.T, o install.Options) {
			if err := os.Remove(o.Path("/usr/libexec/envscrub/envscrub-runtime")); err != nil {
				t.Fatal(err)
			}
		}, "envscrub-runtime: not there"},
		{"wrapper writable by all", func(t *testing.T, o install.Options) {
			if err := os.Chmod(o.Path("/usr/libexec/envscrub/envscrub-runtime"), 0o777); err != nil {
				t.Fatal(err)
			}
		}, "anybody may write"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := tree.New(t, nil)
			c.make(t, o)
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

func TestDryRun(t *testing.T) {
	o := tree.New(t, map[string]string{daemonJSON: "{}"})
	before := tree.List(t, o)
	o.DryRun = true
	if r := must(t)(Engine{}.Install(o)); len(r.Changes) != 1 || r.Changes[0].Action != install.Edited {
		t.Errorf("%+v, want one edit", r.Changes)
	}
	if after := tree.List(t, o); after != before {
		t.Errorf("a dry run changed\n%s\ninto\n%s", before, after)
	}
}

func TestStatus(t *testing.T) {
	o := tree.New(t, map[string]string{"/usr/bin/dockerd": ""})
	if err := os.Chmod(o.Path("/usr/bin/dockerd"), 0o755); err != nil {
		t.Fatal(err)
	}
	if s := (Engine{}).Status(o); !s.Found || len(s.Doors) != 0 || len(s.Problems) != 0 {
		t.Errorf("before: %+v", s)
	}
	o.Default = true
	must(t)(Engine{}.Install(o))
	s := Engine{}.Status(o)
	if len(s.Doors) != 1 || !s.Doors[0].Default || s.Doors[0].Program != "/usr/libexec/envscrub/envscrub-runtime" || len(s.Problems) != 0 {
		t.Errorf("installed: %+v", s)
	}
	// report: nvidia-container-toolkit#494
	if err := os.Remove(filepath.Join(o.Root, s.Doors[0].Program)); err != nil {
		t.Fatal(err)
	}
	if s := (Engine{}).Status(o); len(s.Problems) != 1 || !strings.Contains(s.Problems[0].What, "not there") {
		t.Errorf("wrapper gone: %+v", s.Problems)
	}
}

// A user's own daemon has its file in the user's configuration.
func TestRootless(t *testing.T) {
	o := tree.New(t, map[string]string{"/home/u/.config/docker/daemon.json": "{}\n", daemonJSON: "{}\n"})
	o.User = &install.User{UID: 1000, Home: "/home/u", ConfigHome: "/home/u/.config", StateHome: "/home/u/.local/state", RuntimeDir: "/run/user/1000"}
	must(t)(Engine{}.Install(o))
	if got := tree.Read(t, o, "/home/u/.config/docker/daemon.json"); !strings.Contains(got, "envscrub-runtime") {
		t.Errorf("got %s", got)
	}
	if got := tree.Read(t, o, daemonJSON); got != "{}\n" {
		t.Errorf("the host's file became %s", got)
	}
}

// What we write would have no effect, or keep dockerd from starting. report: nvidia-container-toolkit#1404
func TestDaemonConflict(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"dockerd"}, ""},
		{[]string{"dockerd", "--config-file", daemonJSON}, ""},
		{[]string{"dockerd", "--config-file=/srv/d.json"}, "reads /srv/d.json"},
		{[]string{"dockerd", "--add-runtime", "kata=/usr/bin/kata"}, "--add-runtime"},
		{[]string{"dockerd", "--default-runtime=crun"}, "--default-runtime"},
		{[]string{"dockerd", "--default-runtime-x=crun"}, ""},
	} {
		err := daemon{pid: 1, args: c.args}.conflict(daemonJSON)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.args, err, c.want)
		}
	}
}

// A daemon is found by what it reads, wherever its pid file is, and asked where it listens.
func TestSocket(t *testing.T) {
	o := tree.New(t, map[string]string{daemonJSON: `{"hosts": ["tcp://10.0.0.1:2376", "unix:///srv/file.sock"]}`})
	plain := install.Options{Config: filepath.Join(t.TempDir(), "none.json")}
	for _, c := range []struct {
		args []string
		o    install.Options
		want string
	}{
		{[]string{"dockerd"}, plain, "unix:///var/run/docker.sock"},
		{[]string{"dockerd", "-H", "fd://"}, plain, "unix:///var/run/docker.sock"},
		{[]string{"dockerd", "-Hunix:///a"}, plain, "unix:///a"},
		{[]string{"dockerd", "--host=tcp://h:1", "--host", "unix:///b"}, plain, "unix:///b"},
		{[]string{"dockerd", "--host=tcp://h:1"}, plain, ""},
		{[]string{"dockerd"}, install.Options{Config: o.Path(daemonJSON)}, "unix:///srv/file.sock"},
	} {
		if got := (daemon{pid: 1, args: c.args}).socket(c.o); got != c.want {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
}

func TestMismatch(t *testing.T) {
	ours := map[string]json.RawMessage{install.RuntimeName: nil}
	for _, c := range []struct {
		has, want effect
		text      string
	}{
		{effect{nil, "runc"}, effect{nil, ""}, ""},
		{effect{ours, "runc"}, effect{nil, ""}, ""},
		{effect{nil, "runc"}, effect{ours, ""}, "does not know the runtime"},
		{effect{ours, "runc"}, effect{ours, "envscrub"}, "has the default runtime runc"},
		{effect{ours, "envscrub"}, effect{nil, ""}, "which its file does not name"},
		{effect{ours, "envscrub"}, effect{ours, "envscrub"}, ""},
	} {
		if got := c.has.mismatch(c.want); (got == "") != (c.text == "") || !strings.Contains(got, c.text) {
			t.Errorf("%v, %v: %q, want %q", c.has, c.want, got, c.text)
		}
	}
}
