package policy

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// place lays out files under a directory that only their owner can write to.
func place(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func inSystem(t *testing.T, dir string) {
	t.Helper()
	old := systemDir
	systemDir = dir
	t.Cleanup(func() { systemDir = old })
}

func view(t *testing.T, o LoadOptions, s Subject) *View {
	t.Helper()
	p, err := Load(o)
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.For(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestLoadNothing(t *testing.T) {
	inSystem(t, filepath.Join(t.TempDir(), "missing"))
	v := view(t, LoadOptions{}, Subject{})
	if got := names(mustDecide(t, v, "GH_TOKEN="+key, "A=1").Container()); got != "A" {
		t.Error(got)
	}
}

// parity: V12: what the parts of a policy say adds up, in the order of their names.
func TestLoadOrder(t *testing.T) {
	inSystem(t, place(t, map[string]string{
		"policy.toml":           "deny = [\"A\"]\nshim = \"/1\"\nset = { X = \"1\", Y = \"1\" }\n[profile.p]\ndeny = [\"B\"]\n",
		"policy.d/20-b.toml":    "deny = [\"C\"]\nshim = \"/3\"\nset = { X = \"3\" }\nunset = [\"Y\"]\n",
		"policy.d/10-a.toml":    "deny = [\"D\"]\nshim = \"/2\"\nset = { X = \"2\" }\n[profile.p]\nmatch.image = \"*\"\nallow = [\"GH_TOKEN\"]\n",
		"policy.d/ignored.txt":  "deny = [",
		"policy.d/.hidden.toml": "deny = [",
	}))
	v := view(t, LoadOptions{}, Subject{Image: "x"})
	if v.Shim != "/3" || v.Profile != "p" {
		t.Errorf("shim %s, profile %s", v.Shim, v.Profile)
	}
	d := mustDecide(t, v, "A=1", "B=1", "C=1", "D=1", "E=1", "Y=0", "GH_TOKEN="+key)
	if got := strings.Join(d.Container(), " "); got != "E=1 GH_TOKEN="+key+" X=3" {
		t.Error(got)
	}
	if x := d.Variables[2]; filepath.Base(x.At.File) != "20-b.toml" || x.At.Line != 1 || x.At.Column != 9 {
		t.Errorf("%+v", x)
	}
}

func TestLoadUser(t *testing.T) {
	if realRoot() {
		t.Run("root", func(t *testing.T) {
			// A policy of root is not moved by an environment.
			inSystem(t, t.TempDir())
			dir := place(t, map[string]string{"envscrub/policy.toml": "mode = \"off\""})
			lookup := func(name string) (string, bool) { return dir, name == "XDG_CONFIG_HOME" }
			if v := view(t, LoadOptions{User: true, Lookup: lookup}, Subject{}); v.Mode != ModeEnforce {
				t.Error(v.Mode)
			}
		})
	}
	env := map[string]string{"XDG_CONFIG_HOME": "/c", "HOME": "/h"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	if got := userDir(lookup); got != filepath.Clean("/c/envscrub") {
		t.Error(got)
	}
	env["XDG_CONFIG_HOME"] = "relative"
	if got := userDir(lookup); got != filepath.Clean("/h/.config/envscrub") {
		t.Error(got)
	}
	delete(env, "HOME")
	if got := userDir(lookup); got != "" {
		t.Error(got)
	}
}

func TestLoadFiles(t *testing.T) {
	dir := place(t, map[string]string{"a.toml": "deny = [\"A\"]", "b.toml": "allow = [\"A\"]", "big.toml": "#" + strings.Repeat("x", maxPolicySize)})
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Symlink(at("a.toml"), at("link.toml")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("open.toml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(at("open.toml"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		files []string
		want  string // after the name of the last file, or nothing
	}{
		{"one", []string{"a.toml"}, ""},
		{"a link, as Kubernetes mounts them", []string{"link.toml"}, ""},
		{"contradiction", []string{"a.toml", "b.toml"}, ":1:10: allow: A is denied by its exact name at " + at("a.toml") + ":1; remove one of the two"},
		{"missing", []string{"missing.toml"}, ": cannot be read: no such file or directory; make it readable or remove it"},
		{"directory", []string{"."}, ": is not a regular file; only those are read"},
		{"too large", []string{"big.toml"}, ": is larger than 1024 KiB; use a smaller file"},
		{"writable by everybody", []string{"open.toml"}, ": is writable by everybody; chmod o-w " + at("open.toml")},
	} {
		t.Run(c.name, func(t *testing.T) {
			var files []string
			for _, f := range c.files {
				files = append(files, at(f))
			}
			_, err := Load(LoadOptions{Files: files})
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || err.Error() != files[len(files)-1]+c.want):
				t.Errorf("got %v, want %s", err, files[len(files)-1]+c.want)
			}
		})
	}
}

// report: nvidia-container-toolkit PR#2023: what cannot be read is never taken for a policy that says nothing.
func TestLoadBroken(t *testing.T) {
	dir := place(t, map[string]string{"policy.d/x.toml": ""})
	inSystem(t, dir)
	if _, err := Load(LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/nonexistent", filepath.Join(dir, "policy.toml")); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(LoadOptions{}); err == nil {
		t.Error("a dangling link was taken for no policy")
	}
	if err := os.Remove(filepath.Join(dir, "policy.toml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "policy.d"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(LoadOptions{}); err == nil || !strings.Contains(err.Error(), "the directory is writable by everybody") {
		t.Error(err)
	}
}

// parity: V6
func TestSecretFiles(t *testing.T) {
	dir := place(t, map[string]string{"s/a": key + "\n", "s/b": "line one of it\nline two of it\r\n", "s/c": "", "open": key, "s/d/e": "not read"})
	for _, name := range []string{"s/a", "s/b", "s/c"} {
		if err := os.Chmod(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parse := func(source string) (*Policy, error) {
		return Parse("policy.toml", []byte("secrets = [\"file:"+filepath.ToSlash(dir)+"/"+source+"\"]"))
	}
	p, err := parse("s/*")
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, s := range p.base.known {
		values = append(values, s.value)
	}
	if !slices.Equal(values, []string{key, "line one of it\nline two of it", ""}) {
		t.Errorf("%q", values)
	}
	if w := p.Warnings(); len(w) != 1 || !strings.HasSuffix(w[0].Text, "/s/c is empty") {
		t.Errorf("%v", w)
	}
	if p, err = parse("s/nothing*"); err != nil || len(p.base.known) != 0 {
		t.Errorf("a glob that matches nothing: %v", err)
	}
	for source, want := range map[string]string{
		"open":      "holds a secret and is readable by others; chmod o-rwx",
		"missing/*": "cannot be read",
		"s":         "is not a regular file",
		"[":         "not a valid glob",
	} {
		if runtime.GOOS == "windows" && source == "open" {
			continue
		}
		_, err := parse(source)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "policy.toml:1:12: secrets: ") {
			t.Errorf("%s: %v", source, err)
		} else if strings.Contains(err.Error(), key) {
			t.Errorf("%s: the error holds the value", source)
		}
	}
}
