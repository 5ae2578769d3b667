package podman

import (
	"testing"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/internal/tree"
)

// Whatever containers.conf says: an install either refuses it and leaves everything as it was, or adds files that Podman
// can read, and an uninstall takes them away again.
func FuzzInstall(f *testing.F) {
	for i, s := range []string{
		"", "[engine]\nhooks_dir = [\"/a\", {append=true}]\n", "[engine]\nhooks_dir = []\n", "engine = 1\n",
		"[engine]\nruntime = \"crun\"\n[engine.runtimes]\ncrun = [\"/usr/bin/crun\"]\n", "[engine]\nruntime_supports_json = [\"x\"]\n",
		"[engine]\nhooks_dir = [\"../x\", \"\"]\n", "[engine.runtimes]\nenvscrub = [\"/x\"]\n", "\x00",
	} {
		f.Add(s, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, how uint8) {
		o := tree.New(t, map[string]string{"/etc/containers/containers.conf": text, "/var/lib/x": "", "/usr/share/x": ""})
		switch how % 4 {
		case 0:
			o.Via = install.ViaHook
		case 1:
			o.Via, o.When = install.ViaHook, install.WhenAlways
		case 2:
			o.Via = install.ViaRuntime
		case 3:
			o.Via, o.Default = install.ViaRuntime, true
		}
		tree.RoundTrip(t, Engine{}, o, func() {
			c, err := effective(o)
			if err != nil {
				t.Fatalf("%q: what we made of it cannot be read: %v", text, err)
			}
			if o.Default && c.runtime != install.RuntimeName {
				t.Fatalf("%q: the default is %q", text, c.runtime)
			}
		})
	})
}
