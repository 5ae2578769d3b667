package wrapper

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/hook"
	"github.com/envscrub/envscrub/hook/audit"
	"github.com/envscrub/envscrub/hook/doc"
	"github.com/envscrub/envscrub/hook/record"
	"github.com/envscrub/envscrub/policy"
)

// door is what records and audit lines call the wrapper.
const door = "runtime"

// Every few creates look at some old records, so that most need not.
const sweepEvery, sweepLooks = 8, 16

// create rewrites the bundle's config.json. When it fails, that file is as it was.
func (w *wrapper) create() error {
	id := w.cmd.operand(0)
	if err := record.CheckID(id); err != nil {
		return err
	}
	bundle, err := absolute(w.cmd.args.get("bundle"))
	if err != nil {
		return fmt.Errorf("find the bundle: %w", err)
	}
	path, err := w.config(bundle)
	if err != nil {
		return err
	}
	f, err := doc.Open(path)
	if err != nil {
		return err
	}
	if !f.HasProcess() {
		return nil // no environment, and the runtime has the word
	}
	p, err := policy.Load(w.options())
	if err != nil {
		return err
	}
	v, granted, refused, err := hook.ViewOf(p, f, id)
	if err != nil {
		return err
	}
	c := &creation{w: w, file: f, view: v, granted: granted, id: id, bundle: bundle}
	for _, name := range refused {
		w.log.warn("the container asks for " + name + ", which the policy's overrides do not name; it is not honoured")
	}
	if v.Mode == policy.ModeOff {
		w.log.info("mode off: nothing is done")
		_, err = c.remember(nil, nil)
	} else {
		err = c.inject()
	}
	return errors.Join(err, w.audit(v, c.event("create"), c.decision, err))
}

// A creation is one create or run.
type creation struct {
	w        *wrapper
	file     *doc.File
	view     *policy.View
	decision *policy.Decision
	granted  []string
	id       string
	bundle   string
	note     string // for the audit
}

// inject decides, edits the document, keeps the record and saves.
func (c *creation) inject() error {
	f, v := c.file, c.view
	shim, err := hook.FindShim(v)
	if err != nil {
		return err
	}
	strip(f, shim)
	env := f.Env()
	d, err := v.Decide(env)
	if err != nil {
		return fmt.Errorf("read %s: process.env: %w", f.Path(), err)
	}
	c.decision = d
	if err := hook.RunPrograms(f, v, d); err != nil {
		return err
	}
	if text := hook.Exposed(f, d); text != "" {
		if v.Strict {
			return errors.New(text + "; the policy is strict and refuses that")
		}
		c.w.log.warn(text)
	}
	switch {
	case v.Mode != policy.ModeEnforce:
	case needsShim(v, d) && !hook.Sandbox(f.Annotations()):
		if err := hook.Inject(f, v, d, shim); err != nil {
			return fmt.Errorf("change %s: %w", f.Path(), err)
		}
	default:
		f.SetEnv(d.Container())
	}
	undo, err := c.remember(d, env)
	if err != nil {
		return err
	}
	if err := f.Save(); err != nil {
		return errors.Join(err, undo())
	}
	c.w.log.info(d.Summary())
	if removed := d.Removed(); len(removed) > 0 {
		c.w.log.verbose("removed: " + strings.Join(removed, " "))
	}
	return nil
}

// needsShim tells whether a container gets the shim. One that had no secret in its
// environment and keeps none for its agent has nothing that the shim could guard, and
// stays exactly as it was: its process is PID 1, its capabilities are its own. A
// strict policy, or one that asks for something of the shim, gets it always. A pod's
// pause container never does, as it runs no agent; but who says that it is one
// may be the pod's author, so that it is scrubbed like any other.
func needsShim(v *policy.View, d *policy.Decision) bool {
	return v.Strict || len(d.Removed()) > 0 || len(d.AgentOnly()) > 0 || len(v.Keep) > 0 || v.Redact.Output ||
		v.Harden.NoNewPrivileges || v.Harden.CoreLimit != nil || v.Harden.DropSysAdmin || v.Harden.Privileged == "refuse"
}

// config is the file that the runtime will read: crun can be told another, which it
// looks for from where it was started, except under the usual name.
func (w *wrapper) config(bundle string) (string, error) {
	const usual = "config.json"
	name := w.cmd.args.get("config")
	switch {
	case name == "" || name == usual:
		return filepath.Join(bundle, usual), nil
	case filepath.IsAbs(name):
		return name, nil
	}
	dir, err := absolute(filepath.Dir(name))
	if err != nil {
		return "", fmt.Errorf("find the configuration: %w", err)
	}
	return filepath.Join(dir, filepath.Base(name)), nil
}

// strip takes out what an earlier create of the same bundle put in, and every
// control variable, which only the doors may set.
func strip(f *doc.File, shim string) {
	ours := map[string]bool{}
	f.RemoveMounts(func(m doc.Mount) bool {
		is := sameFile(m.Source, shim)
		if is {
			ours[m.Destination] = true
		}
		return is
	})
	if args := f.Args(); len(args) > 1 && ours[args[0]] {
		f.SetArgs(args[1:])
	}
	hook.TakeBack(f)
	f.SetEnv(slices.DeleteFunc(slices.Clone(f.Env()), order.IsControl))
}

// sameFile compares files; only what is called like the other is looked at.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	if !filepath.IsAbs(a) || filepath.Base(a) != filepath.Base(b) {
		return false
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// remember keeps the record, and returns how to take it back. Without a decision
// there is nothing to compare an exec with; that the container is left alone is
// remembered all the same.
func (c *creation) remember(d *policy.Decision, env []string) (func() error, error) {
	store, err := record.Default()
	if err != nil {
		return nil, err
	}
	root := c.w.low.stateRoot(c.w.cmd)
	if _, err := os.Lstat(filepath.Join(root, c.id)); err == nil {
		if _, err := store.Read(c.id, root); err == nil {
			// A container of this id is there, so that the runtime will refuse this
			// one; the record is the other's.
			return func() error { return nil }, nil
		}
	}
	if rand.IntN(sweepEvery) == 0 {
		store.Sweep(sweepLooks)
	}
	r, err := hook.RecordOf(c.file, c.view, d, env)
	if err != nil {
		return nil, err
	}
	r.ID, r.Root, r.Bundle, r.Runtime, r.Door, r.Grants = c.id, root, c.bundle, c.w.low.path, door, c.granted
	if err := store.Write(r); err != nil {
		return nil, err
	}
	return func() error { return store.Remove(c.id, root) }, nil
}

func (c *creation) event(action string) *audit.Event {
	return &audit.Event{
		Door: door, Action: action, ID: c.id, Profile: c.view.Profile, Reason: c.note,
		Engine: audit.EngineOf(c.file.Annotations()), Image: hook.ImageOf(c.file.Annotations()),
	}
}

// audit writes the line that the policy asks for. One that cannot be written refuses
// the container where the policy is strict.
func (w *wrapper) audit(v *policy.View, e *audit.Event, d *policy.Decision, refusal error) error {
	c := audit.Config{File: v.Audit.File, Metrics: v.Audit.Metrics}
	if !c.Enabled() {
		return nil
	}
	switch {
	case refusal != nil:
		e.Outcome, e.Reason = audit.Refused, refusal.Error()
	case v.Mode == policy.ModeOff:
		e.Outcome = audit.Disabled
	case v.Mode == policy.ModeObserve:
		e.Outcome = audit.Observed
	default:
		e.Outcome = audit.Scrubbed
	}
	if d != nil {
		e.Take(d)
	}
	err := audit.Record(c, e)
	if err != nil && !v.Strict {
		w.log.warn(err.Error())
		return nil
	}
	return err
}

// forget removes the record of a container that a delete will take away: one that
// no longer runs, or is deleted by force. A delete that the runtime refuses must not make the
// container unknown.
func (w *wrapper) forget() {
	id := w.cmd.operand(0)
	if len(w.cmd.args.operands) != 1 || record.CheckID(id) != nil || w.cmd.args.has("regex") {
		return
	}
	root := w.low.stateRoot(w.cmd)
	if !w.cmd.args.has("force") {
		if s, err := stateOf(root, id); err == nil && s.alive() || errors.Is(err, errNoState) {
			return
		}
	}
	if store, err := record.Default(); err == nil {
		_ = store.Remove(id, root) // the next creates sweep what stays
	}
}
