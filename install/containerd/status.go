package containerd

import (
	"fmt"
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
	c, err := read(o)
	if err != nil {
		problem(err.Error(), "")
		return s
	}
	file, h := c.path, c.handlers[install.RuntimeName]
	if data, err := os.ReadFile(o.Path(dropIn)); err == nil {
		doc, err := tomledit.Decode(data)
		switch {
		case err != nil:
			problem(fmt.Sprintf("%s: %v; containerd does not start with it", o.Path(dropIn), err), install.Again(o, dropIn, "envscrub install containerd"))
		case !c.imports():
			problem(o.Path(dropIn)+": "+o.Path(c.path)+" does not import it, containerd never reads it", "envscrub install containerd")
		default:
			file = dropIn
			c.merge(doc, c.version)
			h = c.handlers[install.RuntimeName]
		}
	}
	if h != nil {
		d := install.Door{Via: install.ViaRuntime, File: o.Path(file), Default: c.defaultName == install.RuntimeName, Program: tomledit.String(h, "options", "BinaryName")}
		s.Doors = append(s.Doors, d)
		if !install.Executable(o, d.Program) {
			problem(fmt.Sprintf("the handler's program %s is not there: no pod starts with it", d.Program), "install envscrub's programs again, or envscrub uninstall containerd")
		}
		if !install.Ours(d.Program) {
			problem(install.NotOurs(d.Program), "envscrub install containerd --via runtime")
		}
		name, base := c.base("")
		if want := tomledit.Get(base, "options", "SystemdCgroup"); name != install.RuntimeName && want != nil && want != tomledit.Get(h, "options", "SystemdCgroup") {
			problem("SystemdCgroup of the handler differs from the one of "+name+": pods flap", "envscrub install containerd")
		}
	} else if c.defaultName == install.RuntimeName {
		problem(o.Path(c.path)+": the default runtime is "+install.RuntimeName+", and there is no such handler: no pod starts", "envscrub install containerd --via runtime --default")
	}
	p, err := install.NewPlan(o, e.Name())
	if err != nil {
		return s // which status says for every engine
	}
	if remembered(p).nri {
		s.Doors = append(s.Doors, install.Door{Via: install.ViaNRI, File: o.Path(file), Program: filepath.Join(o.BinDir, "envscrub-nri")})
	}
	return s
}
