package doc

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"
)

const sample = `{
	"ociVersion": "1.0.2", "x-big": 12345678901234567890123, "x-float": 1.50e+1,
	"process": { "terminal" : true,
		"user": {"uid": 1000, "gid": 1001, "additionalGids": [5, 6], "x": [{}]},
		"args": [
			"sh", "-c", "echo \u003c"
		],
		"env": [
			"PATH=/bin",
			"TOKEN=s\u0065cret \ud83d\ude00 \n",
			"A=\"b\"\/"
		],
		"cwd": "/w", "noNewPrivileges": true,
		"capabilities": {"bounding": ["CAP_KILL", "CAP_SYS_PTRACE"], "effective": ["cap_sys_ptrace"], "ambient": []},
		"rlimits": [{"hard": 18446744073709551615}]
	},
	"root": {"path": "rootfs", "readonly": true},
	"mounts": [
		{"destination": "/proc", "type": "proc", "source": "proc"},
		{"destination": "/dev", "type": "tmpfs", "options": ["a", "b"]}
	],
	"hooks": {"poststop": [{"path": "/bin/true"}]},
	"annotations": {"a": "1", "A": "2"},
	"linux": {"mountLabel": "l", "Resources": {}, "resources": {"d": 1, "d": 2}}
}
`

func mustParse(t *testing.T, s string) *File {
	t.Helper()
	f, err := Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFields(t *testing.T) {
	f := mustParse(t, sample)
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"env", f.Env(), []string{"PATH=/bin", "TOKEN=secret 😀 \n", `A="b"/`}},
		{"args", f.Args(), []string{"sh", "-c", "echo <"}},
		{"cwd", f.Cwd(), "/w"},
		{"user", f.User(), User{UID: 1000, GID: 1001, AdditionalGIDs: []uint32{5, 6}}},
		{"root", f.Root(), Root{"rootfs", true}},
		{"mounts", f.Mounts(), []Mount{{"/proc", "proc", "proc", nil}, {"/dev", "tmpfs", "", []string{"a", "b"}}}},
		{"annotations", f.Annotations(), map[string]string{"a": "1", "A": "2"}},
		{"caps", f.Caps()["bounding"], []string{"CAP_KILL", "CAP_SYS_PTRACE"}},
		{"has", f.Has("CAP_SYS_PTRACE"), true},
		{"has not", f.Has("CAP_SYS_ADMIN"), false},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
	if s, err := f.RawString("linux", "mountLabel"); s != "l" || err != nil {
		t.Errorf("mountLabel: %q, %v", s, err)
	}
	if _, err := f.Raw("linux", "resources", "d"); err == nil {
		t.Error("a duplicate that is asked for is not refused")
	}
	if s, err := f.Raw("linux", "nothing", "d"); s != "" || err != nil {
		t.Errorf("absent: %q, %v", s, err)
	}
}

func TestNoEditNoChange(t *testing.T) {
	f := mustParse(t, sample)
	f.SetEnv(f.Env())
	f.SetArgs(slices.Clone(f.Args()))
	if f.Edited() || string(f.Bytes()) != sample {
		t.Error("setting what was there changes the document")
	}
}

func TestEditIsLossless(t *testing.T) {
	f := mustParse(t, sample)
	f.SetEnv([]string{"WILL=be replaced"})
	f.SetEnv([]string{"PATH=/bin", `A="b"/`, "NEW=\x01\"\\é\t"})
	f.SetArgs(append([]string{"/dev/shim"}, f.Args()...))
	f.AddMount(Mount{"/dev/shim", "bind", "/usr/libexec/shim", []string{"bind", "ro"}})
	f.AddMount(Mount{Destination: "/x"})
	if d := f.DropCapabilities([]string{"CAP_SYS_PTRACE", "CAP_SYS_ADMIN"}); !slices.Equal(d, []string{"CAP_SYS_PTRACE"}) {
		t.Errorf("dropped %q", d)
	}
	want := strings.NewReplacer(
		`"TOKEN=s\u0065cret \ud83d\ude00 \n",
			`, "",
		`"A=\"b\"\/"`, `"A=\"b\"\/",
			"NEW=\u0001\"\\é\t"`,
		`"sh", "-c", `, `"/dev/shim", "sh", "-c", `,
		`"options": ["a", "b"]}`, `"options": ["a", "b"]},
		{"destination":"/dev/shim","type":"bind","source":"/usr/libexec/shim","options":["bind","ro"]},
		{"destination":"/x","type":"","source":"","options":[]}`,
		`, "CAP_SYS_PTRACE"`, "", `"effective": ["cap_sys_ptrace"]`, `"effective": []`,
	).Replace(sample)
	// The separator of args is the one between its first two elements.
	want = strings.Replace(want, `"/dev/shim", "sh", "-c", "echo`, `"/dev/shim", "sh", "-c", "echo`, 1)
	if got := string(f.Bytes()); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	again := mustParse(t, string(f.Bytes()))
	if !slices.Equal(again.Env(), f.Env()) || !slices.Equal(again.Args(), f.Args()) || !reflect.DeepEqual(again.Mounts()[:3], f.Mounts()[:3]) {
		t.Error("what was set is not what is read back")
	}
}

// Every way in which a field can be missing, and every order of setting them.
func TestInsert(t *testing.T) {
	for _, in := range []string{
		`{"process":{}}`, `{"process":{"env":null,"args":null},"mounts":null,"hooks":null}`,
		`{ "process" : { "cwd" : "/" } }`, "{\n  \"process\": {\n    \"cwd\": \"/\"\n  }\n}", `{"process":{"env":[],"args":[ ]},"mounts":[ ],"hooks":{}}`,
		`{"hooks":{"poststop":null,"createRuntime":[]},"process":{}}`,
	} {
		for order := range 2 {
			f := mustParse(t, in)
			set := []func(){
				func() { f.SetEnv([]string{"A=1", "B=2"}) },
				func() { f.SetArgs([]string{"x"}) },
				func() { f.AddMount(Mount{Destination: "/m"}) },
			}
			if order == 1 {
				slices.Reverse(set)
			}
			for _, s := range set {
				s()
			}
			var spec specs.Spec
			if err := json.Unmarshal(f.Bytes(), &spec); err != nil {
				t.Fatalf("%s → %s: %v", in, f.Bytes(), err)
			}
			if !slices.Equal(spec.Process.Env, []string{"A=1", "B=2"}) || !slices.Equal(spec.Process.Args, []string{"x"}) ||
				len(spec.Mounts) != 1 {
				t.Errorf("%s → %s", in, f.Bytes())
			}
		}
	}
}

func TestProcessFile(t *testing.T) {
	f, err := ParseProcess([]byte(`{"args":["env"],"env":["A=1","T=2"],"cwd":"/"}`))
	if err != nil {
		t.Fatal(err)
	}
	f.SetEnv([]string{"A=1"})
	if got := string(f.Bytes()); got != `{"args":["env"],"env":["A=1"],"cwd":"/"}` {
		t.Error(got)
	}
}

func TestNothingToEdit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	write(t, path, `{"ociVersion":"1.0.0"}`)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if f.HasProcess() {
		t.Error("has a process")
	}
	f.SetEnv([]string{"A=1"})
	if err := f.Save(); err == nil || read(t, path) != `{"ociVersion":"1.0.0"}` {
		t.Errorf("saved: %v", err)
	}
}

// Bytes that are no UTF-8 are U+FFFD for runc; an entry that stays keeps them.
func TestInvalidUTF8(t *testing.T) {
	f := mustParse(t, "{\"process\":{\"env\":[\"A=\xff\",\"T=x\"]}}")
	if f.Env()[0] != "A=\ufffd" {
		t.Errorf("%q", f.Env())
	}
	f.SetEnv(f.Env()[:1])
	if got := string(f.Bytes()); got != "{\"process\":{\"env\":[\"A=\xff\"]}}" {
		t.Errorf("%q", got)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{``, "line 1, column 1: the document ends where a value was expected"},
		{`[]`, "line 1, column 1: want an object, found an array"},
		{`{"process":{"env":["A=s3cret`, "line 1, column 20: process.env[0]: a string without an end"},
		{"{\n \"process\": {\"env\": 5}}", "line 2, column 21: process.env: want an array, found a number"},
		{`{"process":{"env":["A=1",null]}}`, "process.env[1]: want a string, found null"},
		{`{"process":{"env":{"A":"1"}}}`, "process.env: want an array, found an object"},
		{`{"process":[]}`, "process: want an object, found an array"},
		{`{"process":{"args":"sh"}}`, "process.args: want an array, found a string"},
		{`{"process":{"user":{"uid":-1}}}`, "process.user.uid: want a whole number from 0 to 4294967295"},
		{`{"process":{"user":{"uid":1.0}}}`, "process.user.uid: want a whole number"},
		{`{"process":{"user":{"additionalGids":[1,"2"]}}}`, "process.user.additionalGids[1]: want a whole number, found a string"},
		{`{"process":{"capabilities":[]}}`, "process.capabilities: want an object, found an array"},
		{`{"mounts":[{},{"options":[1]}]}`, "mounts[1].options[0]: want a string, found a number"},
		{`{"annotations":{"a":1}}`, "annotations: want a string, found a number"},
		{`{"annotations":{"a":"1","\u0061":"2"}}`, "annotations: a key stands here twice"},
		{`{"process":{},"process":{}}`, "process: stands here twice"},
		{`{"process":{"env":[],"e\u006ev":[]}}`, "process.env: stands here twice"},
		{`{"process":{"env":[],"ENV":[]}}`, "process.env: is spelled in another case"},
		{`{"Process":{}}`, "process: is spelled in another case"},
		{`{"proceſs":{}}`, "process: is spelled in another case"},
		{`{"process":{"env\u0000x":[]}}`, "process: a key holds a NUL byte"},
		{`{"process":{"env":["A=\u0000"]}}`, "process.env[0]: holds a NUL byte"},
		{`{"process":{"env":["A=\ud800"]}}`, "process.env[0]: holds half of a surrogate pair"},
		{`{"process":{"env":["A=\ud800\u0041"]}}`, "process.env[0]: holds half of a surrogate pair"},
		{`{"process":{"env":["A=\udc00"]}}`, "process.env[0]: holds half of a surrogate pair"},
		{`{"process":{"env":["A=\x"]}}`, "an escape that JSON does not have"},
		{`{"process":{"env":["A=\u12g4"]}}`, "an escape that JSON does not have"},
		{"{\"process\":{\"env\":[\"A=\n\"]}}", "a control character inside a string"},
		{`{"process":{"env":["A=1",]}}`, "a value was expected"},
		{`{"process":{"env":["A=1" "B"]}}`, "a comma or the end of the array was expected"},
		{`{"process":{},}`, "a key was expected"},
		{`{"process" {}}`, "a colon was expected"},
		{`{"x":tru}`, "true, false or null was expected"},
		{`{"x":01}`, "a comma or the end of the object was expected"},
		{`{"x":-}`, "a digit was expected"},
		{`{"x":1.}`, "a digit was expected"},
		{`{"x":1e}`, "a digit was expected"},
		{`{"x":1} {}`, "more follows after the end of the document"},
		{`{"x":1} /* c */`, "more follows after the end of the document"},
		{"\ufeff{}", "a value was expected"},
		{`{"x":` + strings.Repeat("[", 100000), "nested deeper than 512 levels"},
		{`{"x":` + strings.Repeat(`{"a":`, 100000), "nested deeper than 512 levels"},
	} {
		f, err := Parse([]byte(c.in))
		if err == nil {
			t.Errorf("%.60q is not refused: %q", c.in, f.Env())
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q:\n got %s\nwant %s", c.in, err, c.want)
		}
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%.60q: a value in the error", c.in)
		}
		if e := (*Error)(nil); !errors.As(err, &e) || e.Line == 0 || e.Column == 0 {
			t.Errorf("%.60q: no position in %v", c.in, err)
		}
	}
}

func TestRealDocuments(t *testing.T) {
	files, err := filepath.Glob("../../testdata/doc/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			compare(t, []byte(read(t, name)), strings.Contains(name, "process"), true)
		})
	}
}

// compare checks what is read here against runc's decoder and its types.
func compare(t *testing.T, data []byte, process, must bool) {
	t.Helper()
	f, err := parse(data, process)
	if err != nil {
		if must {
			t.Fatal(err)
		}
		return
	}
	var spec specs.Spec
	if process {
		spec.Process = new(specs.Process)
		err = json.Unmarshal(data, spec.Process)
	} else {
		err = json.Unmarshal(data, &spec)
	}
	if err != nil {
		// A field of another type that is not looked at here: the runtime's error.
		if e := (*json.UnmarshalTypeError)(nil); !must && errors.As(err, &e) {
			return
		}
		if e := (*json.SyntaxError)(nil); !must && !errors.As(err, &e) {
			return // an enumeration that checks its text
		}
		t.Fatalf("accepted here, refused by encoding/json: %v\n%q", err, data)
	}
	p := spec.Process
	if (p != nil) != f.HasProcess() {
		t.Fatalf("process: %v here, %v there", f.HasProcess(), p != nil)
	}
	if p == nil {
		p = new(specs.Process)
	}
	same := func(name string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %q here, %q there\n%q", name, got, want, data)
		}
	}
	norm := func(s []string) []string { return append([]string{}, s...) }
	same("env", norm(f.Env()), norm(p.Env))
	same("args", norm(f.Args()), norm(p.Args))
	same("cwd", f.Cwd(), p.Cwd)
	same("uid", f.UID(), p.User.UID)
	same("gid", f.User().GID, p.User.GID)
	caps := p.Capabilities
	if caps == nil {
		caps = new(specs.LinuxCapabilities)
	}
	same("bounding", norm(f.Caps()["bounding"]), norm(caps.Bounding))
	same("effective", norm(f.Caps()["effective"]), norm(caps.Effective))
	root := spec.Root
	if root == nil {
		root = new(specs.Root)
	}
	same("root", f.Root(), Root{root.Path, root.Readonly})
	same("mounts", len(f.Mounts()), len(spec.Mounts))
	for i, m := range spec.Mounts {
		got := f.Mounts()[i]
		same("mount", []string{got.Destination, got.Type, got.Source}, []string{m.Destination, m.Type, m.Source})
		same("options", norm(got.Options), norm(m.Options))
	}
	same("annotations", len(f.Annotations()), len(spec.Annotations))
	for k, v := range spec.Annotations {
		same("annotation", f.Annotations()[k], v)
	}

	// An edit is seen by the real decoder, and changes nothing else.
	if !f.HasProcess() {
		return
	}
	var before, after any
	if err := json.Unmarshal(data, &before); err != nil {
		t.Fatal(err)
	}
	env := append(slices.Clone(f.Env()), "ENVSCRUB_TEST=\"\\\n\u2028é")
	if len(env) > 1 {
		env = env[1:]
	}
	f.SetEnv(env)
	if err := json.Unmarshal(f.Bytes(), &after); err != nil {
		t.Fatalf("%v\n%q", err, f.Bytes())
	}
	at := func(v any) map[string]any {
		if !process {
			v = v.(map[string]any)["process"]
		}
		return v.(map[string]any)
	}
	var got []string
	for _, e := range at(after)["env"].([]any) {
		got = append(got, e.(string))
	}
	same("edited env", got, env)
	delete(at(before), "env")
	delete(at(after), "env")
	same("the rest", before, after)
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(read(f, "../../testdata/doc/runc-spec.json")))
	f.Add([]byte(`{"process":{"env":["A=\ud83d\ude00","B=\ud800"],"ENV":[]}}`))
	f.Fuzz(func(t *testing.T, data []byte) { compare(t, data, false, false) })
}

func FuzzProcess(f *testing.F) {
	f.Add([]byte(`{"args":["env"],"env":["A=1","T=\u0032\n"],"cwd":"/","user":{"uid":1,"gid":2,"additionalGids":[3]}}`))
	f.Add([]byte("{ \"env\" : null, \"x\" : [1.5e3, \"\xff\"] }"))
	f.Fuzz(func(t *testing.T, data []byte) { compare(t, data, true, false) })
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t testing.TB, path, s string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
		t.Fatal(err)
	}
}
