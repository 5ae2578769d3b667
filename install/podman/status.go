package podman

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/envscrub/envscrub/install"
)

// Status implements install.Engine.
func (e Engine) Status(o install.Options) install.Status {
	s := install.Status{Engine: e.Name(), Rootless: o.User != nil}
	s.Found, s.Where = e.Found(o)
	problem := func(what, mend string) { s.Problems = append(s.Problems, install.Problem{What: what, Mend: mend}) }
	if s.Found && o.Root == "" {
		s.Version = install.FirstLine(exec.Command(s.Where, "--version"))
	}
	if p, err := install.NewPlan(o, e.Name()); !s.Found && o.User == nil && err == nil && len(p.Registered()) == 0 {
		return s // hooks that are there are another engine's
	}
	c, err := effective(o)
	if err != nil {
		problem(err.Error(), "")
		return s
	}
	uninstall := "envscrub uninstall podman"
	if d, ok := hooksDoor(o, c, problem); ok {
		s.Doors = append(s.Doors, d)
	}
	dropIn := filepath.Join(dropInDir(o), runtimeDropIn)
	if paths, ok := c.runtimes[install.RuntimeName]; ok {
		d := install.Door{Via: install.ViaRuntime, File: o.Path(dropIn), Default: c.runtime == install.RuntimeName, Program: strings.Join(paths, ", ")}
		s.Doors = append(s.Doors, d)
		if len(paths) == 0 || !install.Executable(o, paths[0]) {
			problem(fmt.Sprintf("the runtime %s is registered and not there: nothing starts with it", d.Program), "install envscrub's programs again, or "+uninstall)
		}
		if !slices.Contains(c.supportsJSON, install.RuntimeName) {
			problem("runtime_supports_json does not name "+install.RuntimeName+": exit codes 126 and 127 are lost", install.Again(o, dropIn, "envscrub install podman --via runtime"))
		}
	} else if c.runtime == install.RuntimeName {
		mend := "take that line out of it, or: envscrub install podman --via runtime"
		if c.runtimeFile == dropIn {
			mend = install.Again(o, dropIn, "envscrub install podman --via runtime --default")
		}
		problem(o.Path(c.runtimeFile)+": the default runtime is "+install.RuntimeName+", which is not configured", mend)
	}
	if o.Root == "" && len(s.Doors) > 0 {
		if err := noOverride(o); err != nil {
			problem(err.Error(), "")
		} else if err := verifyEffective(o, s.Doors[0].Via); s.Found && err != nil {
			problem(err.Error(), "")
		}
	}
	return s
}

// hooksDoor looks for our hook in every directory of hooks_dir.
func hooksDoor(o install.Options, c *conf, problem func(what, mend string)) (install.Door, bool) {
	again := "envscrub install podman --via hook"
	var door install.Door
	found := false
	dirs := c.hooksDirs
	if own := ownHooksDir(o); !slices.Contains(dirs, own) {
		dirs = append(slices.Clone(dirs), own)
	}
	for _, dir := range dirs {
		for _, stage := range []string{"createRuntime", "poststop"} {
			file := filepath.Join(dir, install.HookFileName(stage))
			data, err := os.ReadFile(o.Path(file))
			if errors.Is(err, fs.ErrNotExist) {
				if found && o.Path(dir) == filepath.Dir(door.File) {
					problem(o.Path(file)+" is missing: records of ended containers stay", again)
				}
				continue
			}
			if err != nil {
				problem(err.Error(), "")
				continue
			}
			d, err := install.ReadHookFile(data)
			if err != nil {
				problem(o.Path(file)+": "+err.Error(), install.Again(o, file, again))
				continue
			}
			if stage != "createRuntime" {
				continue
			}
			d.File = o.Path(file)
			door, found = d, true
			if !slices.Contains(c.hooksDirs, dir) {
				mend := again
				if c.hooksFile != "" {
					mend = "add " + dir + " to hooks_dir in " + o.Path(c.hooksFile)
				}
				problem(d.File+": Podman does not read this directory (hooks_dir is "+strings.Join(c.hooksDirs, ", ")+")", mend)
			}
			if !install.Executable(o, d.Program) {
				problem(d.Program+": the hook's program is not there: Podman refuses every container", "install envscrub's programs again, or envscrub uninstall podman")
			}
		}
	}
	if found {
		for _, dir := range c.hooksDirs {
			if info, err := os.Stat(o.Path(dir)); err != nil || !info.IsDir() {
				problem(o.Path(dir)+": this directory of hooks_dir is missing, and Podman then runs no hook at all", "mkdir -p "+o.Path(dir))
			}
		}
	}
	return door, found
}

var hooksDirDefault = regexp.MustCompile(`--hooks-dir .*\(default \[(.*)\]\)`)

// verifyEffective asks Podman itself whether it will use what was registered.
func verifyEffective(o install.Options, via string) error {
	podman, err := exec.LookPath("podman")
	if err != nil {
		return nil // not installed yet: then there is nobody to ask
	}
	if via == install.ViaRuntime {
		return nil // a runtime that Podman does not know is an error at podman run
	}
	cmd := exec.Command(podman, "--help")
	cmd.Env = os.Environ()
	if u := o.User; u != nil {
		cmd.Env = append(cmd.Env, "HOME="+u.Home, "XDG_CONFIG_HOME="+u.ConfigHome, "XDG_RUNTIME_DIR="+u.RuntimeDir)
	}
	help, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("ask podman for its hooks_dir (podman --help): %w", err)
	}
	m := hooksDirDefault.FindSubmatch(help)
	if m == nil {
		return nil // another version's help text
	}
	if dirs := strings.Split(string(m[1]), ","); !slices.Contains(dirs, ownHooksDir(o)) {
		return fmt.Errorf("podman does not read %s: its hooks_dir is %s; some configuration comes after ours", ownHooksDir(o), strings.Join(dirs, ", "))
	}
	return nil
}
