package wrapper

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/hook"
	"github.com/envscrub/envscrub/hook/audit"
	"github.com/envscrub/envscrub/hook/doc"
	"github.com/envscrub/envscrub/hook/record"
	"github.com/envscrub/envscrub/policy"
	"github.com/envscrub/envscrub/policy/program"
)

// An execution is one exec.
type execution struct {
	w      *wrapper
	id     string
	root   string // the runtime's state
	record *record.Record
	view   *policy.View
	took   *policy.Decision
}

// exec filters the environment that a process in a running container is to get.
func (w *wrapper) exec() error {
	x := &execution{w: w, id: w.cmd.operand(0), root: w.low.stateRoot(w.cmd)}
	if err := record.CheckID(x.id); err != nil {
		return err
	}
	store, err := record.Default()
	if err != nil {
		return err
	}
	x.record, err = store.Read(x.id, x.root)
	if errors.Is(err, fs.ErrNotExist) {
		x.record, err = store.Read(x.id, "") // a hook's, which is not told the root
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ours := x.record != nil || x.injected()
	if x.record != nil && x.record.Mode == string(policy.ModeOff) {
		return nil
	}
	if err := x.choose(); err != nil {
		return err
	}
	if !ours && x.view.Exec.Unknown != "scrub" {
		return nil
	}
	if w.cmd.args.has("process") {
		err = x.processFile()
	} else {
		err = x.flags()
	}
	e := &audit.Event{Door: door, Action: "exec", ID: x.id, Profile: x.view.Profile}
	if x.record != nil {
		e.Engine, e.Image = x.record.Engine, x.record.Image
	}
	return errors.Join(err, w.audit(x.view, e, x.took, err))
}

// choose takes the profile that the container was created with, in the policy as it
// is now.
func (x *execution) choose() error {
	p, err := policy.Load(x.w.options())
	if err != nil {
		return err
	}
	s := policy.Subject{ContainerID: x.id}
	r := x.record
	if r != nil {
		s.Profile, s.Fixed, s.Image, s.Grant = r.Profile, true, r.Image, r.Grants
	}
	if x.view, err = p.For(s); err == nil || r == nil || r.Bundle == "" {
		return err
	}
	// A value of [set] may refer to an annotation, and these are in no record.
	f, ferr := doc.Open(filepath.Join(r.Bundle, "config.json"))
	if ferr != nil {
		return errors.Join(err, ferr)
	}
	s.Annotations = f.Annotations()
	x.view, err = p.For(s)
	return err
}

// injected tells, where there is no record, whether the container was created
// through us all the same: its configuration has the order for the shim.
func (x *execution) injected() bool {
	s, err := stateOf(x.root, x.id)
	if err != nil {
		return false
	}
	f, err := doc.Open(filepath.Join(s.bundle, "config.json"))
	return err == nil && slices.ContainsFunc(f.Env(), order.IsControl)
}

// decide filters an environment for a command. Without a record nothing is known to
// be set on purpose.
func (x *execution) decide(where string, env, args []string, dir string) ([]string, error) {
	command := first(args)
	changed := func(string, string) bool { return false }
	if x.record != nil {
		changed = x.record.Changed()
	}
	d, err := x.view.DecideExec(slices.DeleteFunc(slices.Clone(env), order.IsControl), changed, command)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", where, err)
	}
	x.took = d
	if err := x.runPrograms(d, args, dir); err != nil {
		return nil, err
	}
	kept := d.Container()
	if x.record != nil {
		kept = slices.DeleteFunc(slices.Clone(kept), x.protected(changed, command))
	}
	if removed := d.Removed(); len(removed) > 0 {
		x.w.log.verbose("removed from exec: " + strings.Join(removed, " "))
	}
	return kept, nil
}

// runPrograms runs the policy's [[hook]] programs over what a process is to get.
func (x *execution) runPrograms(d *policy.Decision, args []string, dir string) error {
	if len(x.view.Hooks) == 0 || len(args) == 0 {
		return nil
	}
	r := policy.Request{Purpose: "exec", Command: args[0], Args: args[1:], Dir: dir}
	if x.record != nil {
		r.Origin = x.record.Engine
	}
	c, err := d.RunHooks(context.Background(), r, program.Runner(x.view, nil))
	if err != nil {
		return err
	}
	if c.Command != r.Command || !slices.Equal(c.Args, r.Args) || c.Dir != r.Dir {
		return errors.New("a [[hook]] program changed the command, its arguments or its directory; of an exec it may change the environment only")
	}
	return nil
}

// protected tells of an entry with a value that the container lost under another name.
// The variable itself need not be in the environment of the exec, so that the policy
// is asked again, about the two.
func (x *execution) protected(changed func(name, value string) bool, command string) func(entry string) bool {
	lost := x.record.Lost()
	return func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		was, ok := lost(value)
		if !ok || was == name {
			return false
		}
		d, err := x.view.DecideExec([]string{was + "=" + value, entry}, changed, command)
		return err != nil || !slices.Contains(d.Container(), entry)
	}
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// filter puts the filtered environment into a document.
func (x *execution) filter(f *doc.File, key string) error {
	hook.TakeBack(f)
	env, err := x.decide(f.Path()+": "+key, f.Env(), f.Args(), f.Cwd())
	if err == nil {
		f.SetEnv(env)
	}
	return err
}

// processFile rewrites the file that the engine gave with --process. One that is no
// file but a descriptor of ours is read, and handed on by another.
func (x *execution) processFile() error {
	path := x.w.cmd.args.get("process")
	if !isDescriptor(path) {
		f, err := doc.OpenProcess(path)
		if err != nil {
			return err
		}
		if err := x.filter(f, "env"); err != nil {
			return err
		}
		return f.Save()
	}
	data, err := readStream(path)
	if err != nil {
		return err
	}
	f, err := doc.ParseProcess(data)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if err := x.filter(f, "env"); err != nil {
		return err
	}
	hand, err := handOver(f.Bytes(), x.w.cmd.args.get("preserve-fds"))
	if err != nil {
		return err
	}
	x.w.cmd.drop("process")
	x.w.cmd.insert("--process", hand)
	return nil
}
