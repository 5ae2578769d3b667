package containerd

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/tomledit"
)

// Engine is containerd.
type Engine struct{}

// Name implements install.Engine.
func (Engine) Name() string { return "containerd" }

// Doors implements install.Engine.
func (Engine) Doors() []string { return []string{install.ViaRuntime, install.ViaNRI} }

// Found implements install.Engine.
func (Engine) Found(o install.Options) (bool, string) {
	return install.FindProgram(o, "containerd")
}

// Notes of the ledger.
const (
	noteRuntime = "runtime"
	noteDefault = "default" // ours is the default
	noteBefore  = "default_runtime_name"
	noteNRI     = "nri"
)

type doorset struct{ runtime, isDefault, nri bool }

func remembered(p *install.Plan) doorset {
	var d doorset
	_, d.runtime = p.Note(noteRuntime)
	_, d.isDefault = p.Note(noteDefault)
	_, d.nri = p.Note(noteNRI)
	return d
}

func remember(p *install.Plan, d doorset, before string) {
	for key, on := range map[string]bool{noteRuntime: d.runtime, noteDefault: d.isDefault, noteNRI: d.nri} {
		if on {
			p.SetNote(key, "yes")
		} else {
			p.DropNote(key)
		}
	}
	if d.isDefault {
		p.SetNote(noteBefore, before)
	} else {
		p.DropNote(noteBefore)
	}
}

// Install implements install.Engine.
func (e Engine) Install(o install.Options) (install.Report, error) {
	via := o.Via
	if via == "" {
		via = install.ViaRuntime
	}
	r := install.Report{Engine: e.Name(), Via: via}
	if o.When != "" {
		return r, fmt.Errorf("--when is for hooks, which containerd has not; a runtime handler is chosen by the pod's runtimeClassName, or for all by --default")
	}
	c, err := read(o)
	if err != nil {
		return r, err
	}
	p, err := install.NewPlan(o, e.Name())
	if err != nil {
		return r, err
	}
	doors := remembered(p)
	if c.handlers[install.RuntimeName] != nil && !doors.runtime {
		return r, fmt.Errorf("%s: defines a handler %q already; remove it first", o.Path(c.path), install.RuntimeName)
	}
	switch via {
	case install.ViaRuntime:
		doors.runtime, doors.isDefault = true, o.Default || doors.isDefault && !o.NoDefault
		r.Notes = append(r.Notes,
			"a pod uses it with runtimeClassName: "+install.RuntimeName+" (a RuntimeClass with that handler; see install/kubernetes)",
			"ctr and nerdctl do not read this: name the wrapper there with --runtime-runc-binary or --runtime")
		if doors.isDefault {
			r.Notes = append(r.Notes, "the default runtime is "+install.RuntimeName+" now: if the policy does not load, no pod of this node starts, system pods included")
		}
	case install.ViaNRI:
		if o.Default {
			return r, fmt.Errorf("--default is not for --via nri: the plugin selects pods by the policy's [nri] table")
		}
		if _, err := o.Binary("envscrub-nri"); err != nil {
			return r, err
		}
		doors.nri = true
		r.Restart = append(r.Restart, install.Restart{Why: "run the plugin", Command: []string{"systemctl", "enable", "--now", "envscrub-nri.service"}})
		r.Notes = append(r.Notes, "containerd starts a container unscrubbed while the plugin is away, unless its pod has the annotation required-plugins.noderesource.dev: '[\"envscrub\"]' (containerd 2.2 or newer); --via runtime keeps the promise for all")
	default:
		return r, fmt.Errorf("containerd has no door %q; it has %s", via, strings.Join(e.Doors(), ", "))
	}
	before, err := c.plan(o, p, doors, &r)
	if err != nil {
		return r, err
	}
	remember(p, doors, before)
	changed := p.Changed()
	if err := p.Commit(); err != nil {
		return r, err
	}
	r.Changes = p.Changes()
	if o.Root == "" && !o.DryRun {
		if err := verify(o, c.path, doors); err != nil {
			if _, undo := e.Uninstall(o); undo != nil {
				return r, fmt.Errorf("%w; and it could not be taken back: %w", err, undo)
			}
			return r, fmt.Errorf("%w; taken back", err)
		}
	}
	if changed {
		r.Restart = append([]install.Restart{restart}, r.Restart...)
	}
	return r, r.RunRestarts(o)
}

var restart = install.Restart{Why: "containerd reads its configuration when it starts; running containers go on", Command: []string{"systemctl", "restart", "containerd.service"}}

// plan writes what doors need, and returns the default handler's name before ours.
func (c *conf) plan(o install.Options, p *install.Plan, doors doorset, r *install.Report) (before string, err error) {
	before, _ = p.Note(noteBefore)
	if doors.isDefault && c.defaultName != install.RuntimeName {
		before = c.defaultName
	}
	var handler string
	if doors.runtime {
		name, base := c.base(before)
		program, err := program(o, name, base, r)
		if err != nil {
			return "", err
		}
		if handler, err = c.handler(base, program); err != nil {
			return "", err
		}
	}
	if c.version >= 3 {
		return before, c.planDropIn(p, doors, handler)
	}
	return before, p.Edit(c.path, 0o644, func(old []byte) ([]byte, error) {
		return c.edit(old, doors, handler, before)
	})
}

// planDropIn is the way of version 3: our tables in a file of their own.
func (c *conf) planDropIn(p *install.Plan, doors doorset, handler string) error {
	var b strings.Builder
	b.WriteString("# Written by envscrub install containerd; envscrub uninstall containerd takes it away.\n")
	fmt.Fprintf(&b, "version = %d\n\n", c.version)
	if doors.isDefault {
		b.WriteString(tomledit.Header("plugins", criPlugin[c.version], "containerd") + "\n  default_runtime_name = " + tomledit.Quote(install.RuntimeName) + "\n")
	}
	b.WriteString(handler)
	if doors.nri {
		b.WriteString(nriTables())
	}
	if err := p.Put(dropIn, 0o644, []byte(b.String())); err != nil {
		return err
	}
	if c.imports() {
		return nil
	}
	return p.Edit(c.path, 0o644, func(old []byte) ([]byte, error) {
		return tomledit.AddString(old, dropIn, "imports")
	})
}

// edit is the way of version 2: our tables at the end of the main file.
func (c *conf) edit(old []byte, doors doorset, handler, before string) ([]byte, error) {
	data, err := c.inverse(old, before)
	if err != nil {
		return nil, err
	}
	if len(c.doc) == 0 {
		// A file that says nothing, but for comments, is of version 1 as soon as it has a table of ours.
		if len(data) > 0 && !strings.HasSuffix(string(data), "\n") {
			data = append(data, '\n')
		}
		data = append(data, "version = 2\n"...)
	}
	text := handler
	if doors.nri {
		doc, err := tomledit.Decode(data)
		if err != nil {
			return nil, err
		}
		if tomledit.Table(doc, "plugins", nri) == nil {
			text += nriTables()
		} else {
			// containerd's own table, as `containerd config default` writes it.
			for _, s := range [][]string{{"false", "disable"}, {"true", "default_validator", "enable"}} {
				if data, err = tomledit.Set(data, s[0], append([]string{"plugins", nri}, s[1:]...)...); err != nil {
					return nil, err
				}
			}
		}
	}
	if doors.isDefault {
		if data, err = tomledit.Set(data, tomledit.Quote(install.RuntimeName), "plugins", criPlugin[c.version], "containerd", "default_runtime_name"); err != nil {
			return nil, err
		}
	}
	if text == "" {
		return data, nil
	}
	return tomledit.Append(data, begin+"\n"+text+end+"\n")
}

// inverse takes our keys out of a file that others may have edited since.
func (c *conf) inverse(now []byte, before string) ([]byte, error) {
	data, err := tomledit.Cut(now, begin, end)
	if err != nil {
		return nil, err
	}
	doc, err := tomledit.Decode(data)
	if err != nil {
		return nil, err
	}
	key := []string{"plugins", criPlugin[c.version], "containerd", "default_runtime_name"}
	if tomledit.String(doc, key...) != install.RuntimeName {
		return data, nil
	}
	if before == "" {
		return tomledit.Unset(data, key...)
	}
	return tomledit.Set(data, tomledit.Quote(before), key...)
}

// program is the wrapper, under the name that pins the old default's runtime
// where such a link is installed.
func program(o install.Options, name string, base map[string]any, r *install.Report) (string, error) {
	plain, err := o.Binary("envscrub-runtime")
	if err != nil {
		return "", err
	}
	if t := tomledit.String(base, "runtime_type"); t != "" && t != runc {
		r.Notes = append(r.Notes, fmt.Sprintf("the default handler %s is of type %s, which has no BinaryName; ours is of type %s", name, t, runc))
		return plain, nil
	}
	low := "runc"
	if b := tomledit.String(base, "options", "BinaryName"); b != "" {
		low = filepath.Base(b)
	}
	if pinned := filepath.Join(o.BinDir, "envscrub-"+low); low != "runtime" && install.Executable(o, pinned) {
		return pinned, nil
	}
	if low != "runc" {
		r.Notes = append(r.Notes, "the default handler runs "+low+"; ours runs the first of the policy's `runtimes` that is installed: name it there")
	}
	return plain, nil
}

// verify asks containerd itself what it reads.
func verify(o install.Options, path string, doors doorset) error {
	found, bin := install.FindProgram(o, "containerd")
	if !found {
		return nil // nobody to ask; that is said
	}
	out, err := exec.Command(bin, "--config", path, "config", "dump").Output()
	if err != nil {
		return fmt.Errorf("containerd --config %s config dump: %w", path, err)
	}
	doc, err := tomledit.Decode(out)
	if err != nil {
		return fmt.Errorf("containerd config dump: %w", err)
	}
	if doors.runtime {
		for _, plugin := range criPlugin {
			if tomledit.Table(doc, "plugins", plugin, "containerd", "runtimes", install.RuntimeName) != nil {
				return nil
			}
		}
		return fmt.Errorf("containerd's configuration as it reads it has no handler %q", install.RuntimeName)
	}
	if doors.nri && tomledit.Table(doc, "plugins", nri) == nil {
		return fmt.Errorf("this containerd has no NRI (1.7 and newer have)")
	}
	return nil
}

// Uninstall implements install.Engine.
func (e Engine) Uninstall(o install.Options) (install.Report, error) {
	r := install.Report{Engine: e.Name(), Via: o.Via}
	if o.Via != "" && !slices.Contains(e.Doors(), o.Via) {
		return r, fmt.Errorf("containerd has no door %q; it has %s", o.Via, strings.Join(e.Doors(), ", "))
	}
	c, err := read(o)
	if err != nil {
		return r, err
	}
	p, err := install.NewPlan(o, e.Name())
	if err != nil {
		return r, err
	}
	doors := remembered(p)
	if (o.Via == "" || o.Via == install.ViaRuntime) && doors.runtime && o.Root == "" && !o.Force {
		if err := install.RefuseLive(install.LivePods(o), "containerd"); err != nil {
			return r, err
		}
	}
	switch o.Via {
	case install.ViaRuntime:
		doors.runtime, doors.isDefault = false, false
	case install.ViaNRI:
		doors.nri = false
	default:
		doors = doorset{}
	}
	before, _ := p.Note(noteBefore)
	switch {
	case doors.runtime || doors.nri:
		// The other door stays.
		if before, err = c.plan(o, p, doors, &r); err != nil {
			return r, err
		}
		r.Notes = nil
	default:
		if err := p.Drop(dropIn); err != nil {
			return r, err
		}
		err := p.Revert(c.path, func(now []byte) ([]byte, error) {
			data, err := c.inverse(now, before)
			if err != nil {
				return nil, err
			}
			return tomledit.RemoveString(data, dropIn, "imports")
		})
		if err != nil {
			return r, err
		}
	}
	remember(p, doors, before)
	changed := p.Changed()
	if err := p.Commit(); err != nil {
		return r, err
	}
	r.Changes = p.Changes()
	if changed {
		r.Restart = append(r.Restart, restart)
	}
	return r, r.RunRestarts(o)
}
