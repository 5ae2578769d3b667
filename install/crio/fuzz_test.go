package crio

import (
	"testing"

	"github.com/envscrub/envscrub/install"
	roots "github.com/envscrub/envscrub/install/internal/tree"
	"github.com/envscrub/envscrub/install/tomledit"
)

// Whatever CRI-O's own file: an install either refuses it and leaves everything as it was, or adds files that are TOML and
// have our handler, hooks directory or NRI; an uninstall gives back what was there.
func FuzzInstall(f *testing.F) {
	for i, s := range []string{
		"", "[crio.runtime]\ndefault_runtime = \"crun\"\n[crio.runtime.runtimes.crun]\nruntime_path = \"/usr/bin/crun\"\nmonitor_env = [\"PATH=/bin\"]\n",
		"[crio.runtime]\nhooks_dir = []\n", "[crio.runtime]\nhooks_dir = [\"/a\", \"/usr/share/containers/oci/hooks.d\"]\n",
		"[crio.runtime.runtimes.runc.default_annotations]\n\"a.b\" = 'c'\n", "[crio.nri]\nenable_nri = false\n", "crio = 1\n", "[crio]\nruntime = 2\n",
		"[crio.runtime.runtimes.envscrub]\nruntime_path = \"x\"\n", "[crio.runtime]\ndefault_runtime = \"envscrub\"\n", "\x00",
	} {
		f.Add(s, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, via uint8) {
		o := roots.New(t, map[string]string{defaultConf: text, "/var/lib/x": ""})
		o.Via = []string{install.ViaRuntime, install.ViaHook, install.ViaNRI}[via%3]
		o.Default = via%2 == 1 && o.Via == install.ViaRuntime
		roots.RoundTrip(t, Engine{}, o, func() {
			c, err := read(o, "")
			if err != nil {
				t.Fatalf("%q: what we made of it cannot be read: %v", text, err)
			}
			if o.Via == install.ViaRuntime && tomledit.String(c.handlers[install.RuntimeName], "runtime_path") == "" {
				t.Fatalf("%q: no handler", text)
			}
		})
	})
}
