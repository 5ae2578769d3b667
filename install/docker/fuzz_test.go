package docker

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/internal/tree"
)

// Whatever the file: an install either refuses it and leaves it as it was, or makes a file that means the same and has
// our runtime; an uninstall gives the bytes back, and from a file that was edited since, the meaning.
func FuzzInstall(f *testing.F) {
	for _, s := range []string{
		"", "{}", "{\n\t\"runtimes\": {}\r\n}", `{"default-runtime":"crun","runtimes":{"crun":{"path":"/c","runtimeArgs":["-x"]}}}`,
		`{"default-runtime":7}`, `{"runtimes":{"envscrub":{"path":"/x/envscrub-runtime"}},"default-runtime":"envscrub"}`, `{"default-runtime":"\u0065nvscrub"}`,
	} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, def bool) {
		o := tree.New(t, map[string]string{daemonJSON: string(data)})
		o.Default = def
		if _, err := (Engine{}).Install(o); err != nil {
			if got := tree.Read(t, o, daemonJSON); got != string(data) {
				t.Fatalf("refused (%v) and changed:\n%q\n%q", err, data, got)
			}
			return
		}
		installed := tree.Read(t, o, daemonJSON)
		if _, ok := meaning(t, installed)["runtimes"].(map[string]any)[install.RuntimeName]; !ok {
			t.Fatalf("%q became %q", data, installed)
		}
		if _, err := (Engine{}).Uninstall(o); err != nil {
			t.Fatal(err)
		}
		if got := tree.Read(t, o, daemonJSON); got != string(data) && got != installed {
			t.Fatalf("%q came back as %q", data, got)
		}
		// Edited since: a line end more.
		if _, err := (Engine{}).Install(o); err != nil {
			t.Fatal(err)
		}
		tree.Write(t, o, daemonJSON, tree.Read(t, o, daemonJSON)+"\n", 0o644)
		if _, err := (Engine{}).Uninstall(o); err != nil {
			t.Fatal(err)
		}
		if want, got := without(meaning(t, string(data))), without(meaning(t, tree.Read(t, o, daemonJSON))); !reflect.DeepEqual(want, got) {
			t.Fatalf("%q, installed, edited and uninstalled: %v, want %v", data, got, want)
		}
	})
}

func meaning(t *testing.T, text string) map[string]any {
	t.Helper()
	m := map[string]any{}
	if len(bytes.TrimSpace([]byte(text))) == 0 {
		return m
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	if err := dec.Decode(&m); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return m
}

// without drops what is ours, and an object that only held it.
func without(m map[string]any) map[string]any {
	if r, ok := m["runtimes"].(map[string]any); ok {
		delete(r, install.RuntimeName)
		if len(r) == 0 {
			delete(m, "runtimes")
		}
	}
	if m[keyDefault] == install.RuntimeName {
		delete(m, keyDefault)
	}
	return m
}
