package containerd

import (
	"reflect"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/install"
	roots "github.com/envscrub/envscrub/install/internal/tree"
	"github.com/envscrub/envscrub/install/tomledit"
)

// Whatever the file: an install either refuses it and leaves it as it was, or makes a file that means the same and has our
// handler or NRI; an uninstall gives the bytes back, and from a file that was edited since, the meaning.
func FuzzInstall(f *testing.F) {
	for _, s := range []string{
		"", "version = 2\n", "version = 3\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n", "version = 3 # c\nimports=[]",
		"version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd]\n  default_runtime_name = \"crun\"\n  [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.crun]\n    runtime_type = \"io.containerd.runc.v2\"\n    pod_annotations = [\"a\"]\n    [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.crun.options]\n      BinaryName = \"crun\"\n      SystemdCgroup = true\n",
		"version = 2\n[plugins]\n  [plugins.\"io.containerd.nri.v1.nri\"]\n    disable = true\r\n",
		"version = 2\nplugins = { x = 1 }\n", "version = 1\n", "# envscrub: begin\n", "# as Debian ships it\n#disabled_plugins = []", "version = 2\n" + end + "\n" + begin + "\n",
	} {
		f.Add(s, true, false)
		f.Add(s, false, true)
	}
	f.Fuzz(func(t *testing.T, text string, def, nri bool) {
		o := roots.New(t, map[string]string{defaultConf: text, "/var/lib/x": ""})
		o.Via, o.Default = install.ViaRuntime, def
		if nri {
			o.Via, o.Default = install.ViaNRI, false
		}
		read := func() {
			if c, err := read(o); err != nil {
				t.Fatalf("%q: what we made of it cannot be read: %v", text, err)
			} else if c.version < 3 && !nri && c.handlers[install.RuntimeName] == nil {
				t.Fatalf("%q: no handler", text)
			}
		}
		if !roots.RoundTrip(t, Engine{}, o, read) {
			return
		}
		// Edited since: a comment more.
		if _, err := (Engine{}).Install(o); err != nil {
			t.Fatal(err)
		}
		roots.Write(t, o, defaultConf, roots.Read(t, o, defaultConf)+"\n# edited\n", 0o644)
		if _, err := (Engine{}).Uninstall(install.Options{Root: o.Root, BinDir: o.BinDir}); err != nil {
			t.Fatal(err)
		}
		want, got := meaning(t, text), meaning(t, roots.Read(t, o, defaultConf))
		if !reflect.DeepEqual(want, got) && !strings.Contains(strings.ToLower(text), "nan") {
			t.Fatalf("%q, installed, edited and uninstalled: %v, want %v", text, got, want)
		}
	})
}

// meaning is what a file says, without empty tables, and without what stands in them only because we were there: the
// version of a file that was empty, an empty list of imports, NRI switched on.
func meaning(t *testing.T, text string) map[string]any {
	t.Helper()
	doc, err := tomledit.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if len(doc) == 0 {
		doc["version"] = int64(2)
	}
	if list, ok := doc["imports"].([]any); ok && len(list) == 0 {
		delete(doc, "imports")
	}
	delete(tomledit.Table(doc, "plugins"), nri)
	prune(doc)
	return doc
}

func prune(table map[string]any) {
	for key, value := range table {
		if sub, ok := value.(map[string]any); ok {
			prune(sub)
			if len(sub) == 0 {
				delete(table, key)
			}
		}
	}
}
