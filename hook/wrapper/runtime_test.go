package wrapper

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindRuntime(t *testing.T) {
	dir := t.TempDir()
	program := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(to, name string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	crun := program("a/crun-1.15", 0o755)
	first := filepath.Dir(link(own, "self/x-runtime")) // the wrapper in the runtime's place
	second := filepath.Dir(program("b/x-runtime", 0o755))
	third := filepath.Dir(program("c/x-other", 0o644))
	named := link(crun, "d/x-runc")
	for _, c := range []struct {
		names []string
		path  []string
		want  string // a path, or a part of the error
		g     grammar
	}{
		{[]string{"x-runtime"}, []string{first, second}, second + "/x-runtime", anyGrammar},
		{[]string{"x-runtime"}, []string{"relative", ".", second}, second + "/x-runtime", anyGrammar},
		{[]string{"x-runtime"}, []string{first}, "there is no x-runtime", 0},
		{[]string{"x-other"}, []string{third}, "there is no x-other", 0}, // not executable
		{[]string{"x-none", crun}, nil, crun, argpGrammar},
		{[]string{named}, nil, named, argpGrammar}, // what the file is, not what the link says
		{[]string{"d/x-runc"}, nil, "absolute path or a bare name", 0},
		{[]string{dir}, nil, "there is no " + dir, 0},
		{[]string{"sh"}, nil, "/bin/sh", anyGrammar}, // without PATH: engines start so
	} {
		got, err := findRuntime(c.names, strings.Join(c.path, ":"))
		switch {
		case err != nil:
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: %v, want %s", c.names, err, c.want)
			}
		case c.names[0] == "sh":
			if filepath.Base(got.path) != "sh" {
				t.Errorf("sh without PATH: %q", got.path)
			}
		case got.path != c.want || got.grammar != c.g:
			t.Errorf("%q: %q of grammar %d, want %q of %d", c.names, got.path, got.grammar, c.want, c.g)
		}
	}
}

func TestOfLink(t *testing.T) {
	for name, want := range map[string]string{
		"envscrub-runtime": "", "/usr/bin/envscrub-runtime": "", "/x/envscrub-crun": "crun", "envscrub-runc": "runc",
		"envscrub-kata-runtime": "kata-runtime", "/usr/sbin/runc": "runc", "crun": "crun", "": "", "docker-runtime": "",
	} {
		if got := ofLink(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestLogger(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	for _, c := range []struct {
		words string
		want  string
	}{
		{"--log " + file + " --log-format json", `{"level":"error","msg":"envscrub-runtime: a\\nb","time":"`},
		{"--log " + file, `level=error msg="envscrub-runtime: a\\nb"`},
		{"--log=file:" + file + " --log-format=json", `{"level":"error"`},
		{"--log=journald:x", ""},
		{"--log=syslog:x", ""},
		{"--log=/dev/stderr", ""},
		{"", ""},
		{"--log /no/such/dir/log", ""},
	} {
		_ = os.Remove(file)
		p, _, err := parse(strings.Fields(c.words), 0, globalOptions, goGrammar, true, nil)
		if err != nil {
			t.Fatal(err)
		}
		var stderr strings.Builder
		newLogger(&p).refuse(&stderr, errText("a\nb"))
		if want := "envscrub-runtime: a\\nb\n"; stderr.String() != want {
			t.Errorf("%q: standard error %q, want %q", c.words, stderr.String(), want)
		}
		got, _ := os.ReadFile(file)
		if !strings.Contains(string(got), c.want) || (c.want == "") != (len(got) == 0) || strings.Count(string(got), "\n") > 1 {
			t.Errorf("%q: %q, want %q", c.words, got, c.want)
		}
	}
}

type errText string

func (e errText) Error() string { return string(e) }
