package crio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/tomledit"
)

// Status implements install.Engine.
func (e Engine) Status(o install.Options) install.Status {
	s := install.Status{Engine: e.Name()}
	s.Found, s.Where = e.Found(o)
	problem := func(what, mend string) { s.Problems = append(s.Problems, install.Problem{What: what, Mend: mend}) }
	if s.Found && o.Root == "" {
		s.Version = install.FirstLine(exec.Command(s.Where, "--version"))
	}
	c, err := read(o, "")
	if err != nil {
		problem(err.Error(), "")
		return s
	}
	if h := c.handlers[install.RuntimeName]; h != nil {
		d := install.Door{Via: install.ViaRuntime, File: o.Path(c.handlerAt[install.RuntimeName]), Default: c.runtime == install.RuntimeName, Program: tomledit.String(h, "runtime_path")}
		s.Doors = append(s.Doors, d)
		if !install.Executable(o, d.Program) {
			problem(fmt.Sprintf("the handler's program %s is not there: CRI-O does not start", d.Program), "install envscrub's programs again, or envscrub uninstall crio")
		}
		if !install.Ours(d.Program) {
			problem(install.NotOurs(d.Program), install.Again(o, c.handlerAt[install.RuntimeName], "envscrub install crio --via runtime"))
		}
	} else if c.runtime == install.RuntimeName {
		problem("the default runtime is "+install.RuntimeName+", and there is no such handler: CRI-O does not start", install.Again(o, filepath.Join(c.dir, dropInName), "envscrub install crio --via runtime --default"))
	}
	stray := filepath.Join(defaultConfDir, dropInName)
	if _, err := os.Stat(o.Path(stray)); err == nil && c.dir != defaultConfDir {
		problem(o.Path(stray)+": this CRI-O reads "+c.dir+" instead", "envscrub uninstall crio, then envscrub install crio")
	}
	var missing []string
	hooked := false
	for _, dir := range c.hooksDirs {
		if _, err := os.Stat(o.Path(dir)); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, o.Path(dir))
		}
		file := filepath.Join(dir, install.HookFileName("createRuntime"))
		data, err := os.ReadFile(o.Path(file))
		if err != nil {
			continue
		}
		d, err := install.ReadHookFile(data)
		if err != nil {
			problem(fmt.Sprintf("%s: %v", o.Path(file), err), install.Again(o, file, "envscrub install crio --via hook"))
			continue
		}
		d.File, hooked = o.Path(file), true
		s.Doors = append(s.Doors, d)
		if !install.Executable(o, d.Program) {
			problem(fmt.Sprintf("the hook %s is not there: no container that matches starts", d.Program), "install envscrub's programs again, or envscrub uninstall crio --via hook")
		}
	}
	if hooked {
		for _, dir := range missing {
			problem(dir+": in hooks_dir and missing; CRI-O may skip every hook", "mkdir -p "+dir)
		}
	}
	p, err := install.NewPlan(o, e.Name())
	if err != nil {
		return s // which status says for every engine
	}
	if doors := remembered(p); doors.nri {
		s.Doors = append(s.Doors, install.Door{Via: install.ViaNRI, File: o.Path(filepath.Join(c.dir, dropInName)), Program: filepath.Join(o.BinDir, "envscrub-nri")})
		if on, ok := c.nri["enable_nri"].(bool); ok && !on {
			problem(o.Path(c.nriFile)+": NRI is switched off there", "set enable_nri = true in it and restart CRI-O")
		}
	}
	return s
}
