package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/containerd"
	"github.com/envscrub/envscrub/install/crio"
	"github.com/envscrub/envscrub/install/docker"
	"github.com/envscrub/envscrub/install/kubernetes"
	"github.com/envscrub/envscrub/install/podman"
)

// engines are all that can be installed into.
var engines = []install.Engine{
	docker.Engine{},
	podman.Engine{},
	crio.Engine{},
	containerd.Engine{},
	kubernetes.Engine{},
}

func engineNames() []string {
	out := make([]string, len(engines))
	for i, e := range engines {
		out[i] = e.Name()
	}
	return out
}

func engineByName(name string) (install.Engine, error) {
	for _, e := range engines {
		if e.Name() == name {
			return e, nil
		}
	}
	return nil, usagef("no engine %q; known: %s", name, strings.Join(engineNames(), ", "))
}

// hostFlags say on which host, or tree that stands for one.
type hostFlags struct {
	root, binDir string
	rootless     bool
}

func (h *hostFlags) add(f *pflag.FlagSet) {
	f.StringVar(&h.root, "root", "", "this `directory` stands for the host's / (for images and tests); no command is run")
	f.StringVar(&h.binDir, "bin-dir", "", "the `directory` of envscrub-hook, envscrub-runtime, … (default: beside this program, else /usr/libexec/envscrub)")
	f.BoolVar(&h.rootless, "rootless", os.Geteuid() != 0, "the calling user's own engine instead of the host's")
}

func (h *hostFlags) options() (install.Options, error) {
	o := install.Options{Root: h.root, BinDir: h.binDir}
	if o.Root != "" {
		abs, err := filepath.Abs(o.Root)
		if err != nil {
			return o, err
		}
		if info, err := os.Stat(abs); err != nil || !info.IsDir() {
			return o, fmt.Errorf("--root %s: not a directory", h.root)
		}
		o.Root = strings.TrimSuffix(abs, "/") // "/" is the host itself
	}
	if o.BinDir == "" {
		o.BinDir = binDir(o)
	} else if o.Root == "" {
		abs, err := filepath.Abs(o.BinDir)
		if err != nil {
			return o, err
		}
		o.BinDir = abs
	}
	if h.rootless {
		user, err := currentUser()
		if err != nil {
			return o, err
		}
		o.User = user
	}
	return o, nil
}

// libexec is where packages put the programs that engines call.
const libexec = "/usr/libexec/envscrub"

// binDir finds the programs that engines call.
func binDir(o install.Options) string {
	if o.Root == "" {
		if self, err := os.Executable(); err == nil {
			if self, err = filepath.EvalSymlinks(self); err == nil {
				dir := filepath.Dir(self)
				if install.Executable(o, filepath.Join(dir, "envscrub-hook")) || install.Executable(o, filepath.Join(dir, "envscrub-runtime")) {
					return dir
				}
			}
		}
	}
	return libexec
}

func currentUser() (*install.User, error) {
	home := os.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return nil, fmt.Errorf("HOME is not set to an absolute path; it says where your engine's configuration is")
	}
	u := &install.User{
		UID: os.Geteuid(), Home: home,
		ConfigHome: os.Getenv("XDG_CONFIG_HOME"),
		StateHome:  os.Getenv("XDG_STATE_HOME"),
		RuntimeDir: os.Getenv("XDG_RUNTIME_DIR"),
	}
	if !filepath.IsAbs(u.ConfigHome) {
		u.ConfigHome = filepath.Join(home, ".config")
	}
	if !filepath.IsAbs(u.StateHome) {
		u.StateHome = filepath.Join(home, ".local", "state")
	}
	if !filepath.IsAbs(u.RuntimeDir) {
		u.RuntimeDir = fmt.Sprintf("/run/user/%d", u.UID)
	}
	return u, nil
}
