package crio

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/tomledit"
)

// Engine is CRI-O.
type Engine struct{}

// Name implements install.Engine.
func (Engine) Name() string { return "crio" }

// Doors implements install.Engine.
func (Engine) Doors() []string {
	return []string{install.ViaRuntime, install.ViaHook, install.ViaNRI}
}

// Found implements install.Engine.
func (Engine) Found(o install.Options) (bool, string) { return install.FindProgram(o, "crio") }

// doorset is what our one drop-in has to say.
type doorset struct {
	runtime, isDefault, nri bool
	hooksDir                []string // nil: CRI-O's own list is good enough
}

func (d doorset) empty() bool { return !d.runtime && !d.nri && d.hooksDir == nil }

// Notes of the ledger: the doors that the drop-in serves.
const (
	noteRuntime = "runtime"
	noteDefault = "default"
	noteNRI     = "nri"
	noteHooks   = "hooks_dir"
)

func remembered(p *install.Plan) doorset {
	var d doorset
	_, d.runtime = p.Note(noteRuntime)
	_, d.isDefault = p.Note(noteDefault)
	_, d.nri = p.Note(noteNRI)
	if dirs, ok := p.Note(noteHooks); ok {
		d.hooksDir = strings.Split(dirs, "\n")
	}
	return d
}

func remember(p *install.Plan, d doorset) {
	set := func(key string, on bool, value string) {
		if on {
			p.SetNote(key, value)
		} else {
			p.DropNote(key)
		}
	}
	set(noteRuntime, d.runtime, "yes")
	set(noteDefault, d.isDefault, "yes")
	set(noteNRI, d.nri, "yes")
	set(noteHooks, d.hooksDir != nil, strings.Join(d.hooksDir, "\n"))
}

// Install implements install.Engine.
func (e Engine) Install(o install.Options) (install.Report, error) {
	via := o.Via
	if via == "" {
		via = install.ViaRuntime
	}
	r := install.Report{Engine: e.Name(), Via: via}
	_, dir, err := places(o)
	if err != nil {
		return r, err
	}
	dropIn := filepath.Join(dir, dropInName)
	c, err := read(o, dropIn)
	if err != nil {
		return r, err
	}
	p, err := install.NewPlan(o, e.Name())
	if err != nil {
		return r, err
	}
	doors := remembered(p)
	wrapper := ""
	if via == install.ViaRuntime || doors.runtime {
		if wrapper, err = c.wrapper(o, &r); err != nil {
			return r, err
		}
	}
	switch via {
	case install.ViaRuntime:
		if o.When != "" {
			return r, fmt.Errorf("--when is for --via hook; a runtime handler is chosen by the pod's runtimeClassName, or for all by --default")
		}
		if at := c.handlerAt[install.RuntimeName]; at != "" {
			return r, fmt.Errorf("%s: defines a handler %q already; remove it first", o.Path(at), install.RuntimeName)
		}
		doors.runtime = true
		doors.isDefault = o.Default || doors.isDefault && !o.NoDefault
		r.Notes = append(r.Notes, "a pod uses it with runtimeClassName: "+install.RuntimeName+" (a RuntimeClass with that handler; see install/kubernetes)")
		if doors.isDefault {
			base, _ := c.base()
			if base == "" {
				base = "CRI-O's own choice"
			}
			r.Notes = append(r.Notes, "default runtime: "+install.RuntimeName+" instead of "+base+"; if the policy does not load, no pod of this node starts, system pods included")
		}
	case install.ViaHook:
		if err := c.planHooks(o, p, &doors, &r); err != nil {
			return r, err
		}
	case install.ViaNRI:
		if o.When != "" || o.Default {
			return r, fmt.Errorf("--when and --default are not for --via nri: the plugin selects pods by the policy's [nri] table")
		}
		if _, err := o.Binary("envscrub-nri"); err != nil {
			return r, err
		}
		doors.nri = true
		r.Restart = append(r.Restart, install.Restart{Why: "run the plugin", Command: []string{"systemctl", "enable", "--now", "envscrub-nri.service"}})
		r.Notes = append(r.Notes,
			"CRI-O starts a container unscrubbed while the plugin is away, unless its pod has the annotation required-plugins.noderesource.dev: '[\"envscrub\"]' (CRI-O 1.34 or newer) or names the runtime handler; --via runtime keeps the promise for all")
	default:
		return r, fmt.Errorf("crio has no door %q; it has %s", via, strings.Join(e.Doors(), ", "))
	}
	if !doors.empty() {
		data, err := c.dropIn(doors, wrapper)
		if err != nil {
			return r, err
		}
		if err := p.Put(dropIn, 0o644, data); err != nil {
			return r, err
		}
	}
	remember(p, doors)
	changed := p.Changed()
	if err := p.Commit(); err != nil {
		return r, err
	}
	r.Changes = p.Changes()
	if o.Root == "" && !o.DryRun && !doors.empty() {
		if err := verify(o, dir, doors); err != nil {
			if _, undo := e.Uninstall(o); undo != nil {
				return r, fmt.Errorf("%w; and it could not be taken back: %w", err, undo)
			}
			return r, fmt.Errorf("%w; taken back", err)
		}
	}
	if changed && via != install.ViaHook || doors.hooksDir != nil {
		r.Restart = append([]install.Restart{{Why: "CRI-O reads handlers, hooks_dir and NRI settings when it starts", Command: []string{"systemctl", "restart", "crio.service"}}}, r.Restart...)
	}
	return r, r.RunRestarts(o)
}

// wrapper is the program for the handler: the name that pins the low-level
// runtime, where such a link is installed.
func (c *conf) wrapper(o install.Options, r *install.Report) (string, error) {
	plain, err := o.Binary("envscrub-runtime")
	if err != nil {
		return "", err
	}
	name, base := c.base()
	if t := tomledit.String(base, "runtime_type"); t != "" && t != "oci" {
		r.Notes = append(r.Notes, fmt.Sprintf("the default handler %s is of type %s; ours is of type oci", name, t))
		return plain, nil
	}
	low := filepath.Base(tomledit.String(base, "runtime_path"))
	if low == "." {
		low = name
	}
	if low == "" {
		return plain, nil
	}
	if pinned := filepath.Join(o.BinDir, "envscrub-"+low); install.Executable(o, pinned) && low != "runtime" {
		return pinned, nil
	}
	if low != install.RuntimeName {
		r.Notes = append(r.Notes, "the default handler runs "+low+"; ours runs the first of the policy's `runtimes` that is installed")
	}
	return plain, nil
}

func (c *conf) planHooks(o install.Options, p *install.Plan, doors *doorset, r *install.Report) error {
	if o.Default {
		return fmt.Errorf("--default is for --via runtime; hooks have --when %s|%s", install.WhenAnnotation, install.WhenAlways)
	}
	if o.When == "" {
		o.When = o.EarlierWhen(filepath.Join(adminHooks, install.HookFileName("createRuntime")))
	}
	hook, err := o.Binary("envscrub-hook")
	if err != nil {
		return err
	}
	files, err := install.HookFiles(hook, o.When, nil)
	if err != nil {
		return err
	}
	// The administrator's directory where CRI-O reads it, else it is added to the list:
	// packages ship an empty list, and the vendor's directory may be read-only.
	dir := adminHooks
	if !slices.Contains(c.hooksDirs, dir) {
		if c.hooksFile > filepath.Join(c.dir, dropInName) && filepath.Dir(c.hooksFile) == c.dir {
			return fmt.Errorf("%s: sets hooks_dir without %s and is read after %s; add the directory there", o.Path(c.hooksFile), dir, dropInName)
		}
		doors.hooksDir = append(slices.Clone(c.hooksDirs), dir)
	}
	dirs := c.hooksDirs
	if doors.hooksDir != nil {
		dirs = doors.hooksDir
	}
	for _, d := range dirs {
		if d == dir {
			continue
		}
		// One directory that is missing made CRI-O skip all of them in silence.
		if err := p.Mkdir(d); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := p.Put(filepath.Join(dir, f.Name), 0o644, f.Data); err != nil {
			return err
		}
	}
	r.Notes = append(r.Notes,
		"not covered by this door: kubectl exec and exec probes, which take their environment from CRI-O's record; --via runtime covers them",
		"CRI-O matches a pod's annotations; the pod's win over the container's")
	return nil
}

// verify asks CRI-O itself what it reads: a drop-in in a directory that the
// daemon never looks at would be a silent failure.
func verify(o install.Options, dir string, doors doorset) error {
	found, program := install.FindProgram(o, "crio")
	if !found {
		return nil // nobody to ask; that is said
	}
	out, err := exec.Command(program, "--config-dir", dir, "config").Output()
	if err != nil {
		return fmt.Errorf("crio config: %w; the drop-in could not be verified", err)
	}
	doc, err := tomledit.Decode(out)
	if err != nil {
		return fmt.Errorf("crio config: %w", err)
	}
	if doors.runtime && tomledit.Table(doc, handlerPath(install.RuntimeName)...) == nil {
		return fmt.Errorf("crio does not read %s: its configuration has no handler %q", filepath.Join(dir, dropInName), install.RuntimeName)
	}
	if doors.isDefault && tomledit.String(doc, "crio", "runtime", "default_runtime") != install.RuntimeName {
		return fmt.Errorf("crio does not take default_runtime from %s", filepath.Join(dir, dropInName))
	}
	return nil
}

// Uninstall implements install.Engine.
func (e Engine) Uninstall(o install.Options) (install.Report, error) {
	r := install.Report{Engine: e.Name(), Via: o.Via}
	if o.Via != "" && !slices.Contains(e.Doors(), o.Via) {
		return r, fmt.Errorf("crio has no door %q; it has %s", o.Via, strings.Join(e.Doors(), ", "))
	}
	_, dir, err := places(o)
	if err != nil {
		return r, err
	}
	dropIn := filepath.Join(dir, dropInName)
	p, err := install.NewPlan(o, e.Name())
	if err != nil {
		return r, err
	}
	doors := remembered(p)
	if (o.Via == "" || o.Via == install.ViaRuntime) && doors.runtime && o.Root == "" && !o.Force {
		if err := install.RefuseLive(install.LivePods(o), "CRI-O"); err != nil {
			return r, err
		}
	}
	switch o.Via {
	case install.ViaRuntime:
		doors.runtime, doors.isDefault = false, false
	case install.ViaNRI:
		doors.nri = false
	case install.ViaHook:
		doors.hooksDir = nil
	default:
		doors = doorset{}
	}
	if doors.empty() {
		err = p.Drop(dropIn)
	} else {
		// Another door still needs the drop-in.
		var c *conf
		if c, err = read(o, dropIn); err != nil {
			return r, err
		}
		wrapper := ""
		if doors.runtime {
			if wrapper, err = c.wrapper(o, &r); err != nil {
				return r, err
			}
			r.Notes = nil
		}
		var data []byte
		if data, err = c.dropIn(doors, wrapper); err != nil {
			return r, err
		}
		err = p.Put(dropIn, 0o644, data)
	}
	if err != nil {
		return r, err
	}
	if o.Via == "" || o.Via == install.ViaHook {
		if err := dropHooks(o, p, &r); err != nil {
			return r, err
		}
	}
	remember(p, doors)
	if err := p.Commit(); err != nil {
		return r, err
	}
	r.Changes = p.Changes()
	if p.Changed() {
		r.Restart = append(r.Restart, install.Restart{Why: "CRI-O reads its configuration when it starts", Command: []string{"systemctl", "restart", "crio.service"}})
	}
	return r, r.RunRestarts(o)
}

// dropHooks takes the hook files back, unless Podman was registered with the same files.
func dropHooks(o install.Options, p *install.Plan, r *install.Report) error {
	podman, err := install.NewPlan(o, "podman")
	if err != nil {
		return err
	}
	shared := podman.Registered()
	for _, stage := range []string{"createRuntime", "poststop"} {
		file := filepath.Join(adminHooks, install.HookFileName(stage))
		if slices.Contains(shared, file) {
			r.Notes = append(r.Notes, o.Path(file)+" stays: Podman uses it too")
			p.Forget(file)
			continue
		}
		if err := p.Drop(file); err != nil {
			return err
		}
	}
	return nil
}
