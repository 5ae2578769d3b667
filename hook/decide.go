package hook

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/runc/libcontainer/user"

	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/hook/audit"
	"github.com/envscrub/envscrub/hook/doc"
	"github.com/envscrub/envscrub/hook/record"
	"github.com/envscrub/envscrub/policy"
	"github.com/envscrub/envscrub/policy/spawn"
)

// OrderOf is what the shim is told of a decision at the config door, where the
// runtime starts it with the scrubbed environment.
func OrderOf(v *policy.View, d *policy.Decision) *order.Order {
	o := &order.Order{
		AgentOnly:       d.AgentOnly(),
		Held:            d.Held(),
		Trust:           v.Spawn.Trust,
		Dumpable:        v.Harden.Dumpable,
		AllowVoid:       !d.RefusesVoid(),
		DropSysAdmin:    v.Harden.DropSysAdmin,
		NoNewPrivileges: v.Harden.NoNewPrivileges,
		CoreLimit:       v.Harden.CoreLimit,
		Diagnostics:     v.Harden.Diagnostics,
	}
	for _, r := range v.Spawn.Rules {
		o.Rules = append(o.Rules, spawn.Rule{Command: r.Command, Allow: r.Allow})
	}
	if v.Redact.Output {
		// No values: this order stands in a config.json. The shim has those of the agent itself.
		o.Redact = &order.Redact{Forms: v.Redact.Forms}
	}
	return o
}

// mountOrder is OrderOf at the mount door, where the runtime starts the shim with
// env, all of it: what is to go is named, what is to come or to change is given.
func mountOrder(v *policy.View, d *policy.Decision, env []string) *order.Order {
	o := OrderOf(v, d)
	if o.Redact != nil {
		o.Redact.Values = d.SecretValues() // through a pipe, from memory to memory
	}
	type entry struct {
		value string
		times int
	}
	now := make(map[string]entry, len(env))
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		now[name] = entry{value, now[name].times + 1}
	}
	stays := make(map[string]bool, len(env))
	for _, e := range d.Agent() {
		name, value, _ := strings.Cut(e, "=")
		if now[name] == (entry{value, 1}) {
			stays[name] = true
		} else {
			// New, changed, or there twice: which of the two a runtime passes on
			// differs from one to the other.
			o.Set = append(o.Set, e)
		}
	}
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if !stays[name] {
			o.Remove = append(o.Remove, name)
			stays[name] = true // named once
		}
	}
	return o
}

// A verdict is the policy's on one container.
type verdict struct {
	id       string
	file     *doc.File
	view     *policy.View
	decision *policy.Decision // none in mode off
	env      []string         // what was decided on
}

// judge loads the policy and decides. With an error there may still be a verdict
// that knows the view, for the audit.
func (h *Hook) judge(f *doc.File, id string) (*verdict, error) {
	if !f.HasProcess() {
		return nil, errors.New("read the configuration: process: it is missing")
	}
	options := policy.LoadOptions{Files: h.Policies}
	if uid, ok := record.Rootless(); ok {
		options.User, options.Lookup = true, lookup(uid)
	}
	p, err := policy.Load(options)
	if err != nil {
		return nil, err
	}
	x := &verdict{id: id, file: f}
	var refused []string
	if x.view, _, refused, err = ViewOf(p, f, id); err != nil {
		return nil, err
	}
	for _, name := range refused {
		h.Log.Warnf("the container asks for %s, which the policy's overrides do not name; it is not honoured", name)
	}
	if x.view.Mode == policy.ModeOff {
		return x, nil
	}
	x.env = slices.DeleteFunc(slices.Clone(f.Env()), order.IsControl)
	if x.decision, err = x.view.Decide(x.env); err != nil {
		return x, fmt.Errorf("read the configuration: process.env: %w", err)
	}
	if err := RunPrograms(f, x.view, x.decision); err != nil {
		return x, err
	}
	if text := Exposed(f, x.decision); text != "" {
		if x.view.Strict {
			return x, errors.New(text + "; the policy is strict and refuses that")
		}
		h.Log.Warn(text)
	}
	return x, nil
}

// lookup is the environment for a rootless user's policy. Hooks have none but what their JSON
// gives them, so the home directory is looked up where it is missing.
func lookup(uid int) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := os.LookupEnv(name)
		if ok || name != "HOME" {
			return value, ok
		}
		u, err := user.LookupUid(uid)
		return u.Home, err == nil && u.Home != ""
	}
}

// store is where records of creates are kept.
func (h *Hook) store() (record.Store, error) {
	if h.StateDir != "" {
		return record.At(h.StateDir), nil
	}
	return record.Default()
}

// RecordOf is what is written down of a create, without values. There is no decision
// where nothing was decided: then d and env, the environment that it is on, are nil.
func RecordOf(f *doc.File, v *policy.View, d *policy.Decision, env []string) (*record.Record, error) {
	r := &record.Record{
		Engine: audit.EngineOf(f.Annotations()), Image: ImageOf(f.Annotations()),
		Profile: v.Profile, Mode: string(v.Mode), Time: time.Now(),
	}
	if d != nil {
		r.Kept = len(d.Container())
		for _, x := range d.Variables {
			if x.Fate != policy.FateKept {
				r.Variables = append(r.Variables, record.Variable{Name: x.Name, Fate: string(x.Fate), Rule: x.Rule, At: x.At.String()})
			}
		}
	}
	if err := r.Remember(env); err != nil {
		return nil, err
	}
	return r, nil
}

// keep leaves the record of a verdict.
func (x *verdict) keep(store record.Store, bundle string) error {
	r, err := RecordOf(x.file, x.view, x.decision, x.env)
	if err != nil {
		return err
	}
	r.ID, r.Bundle, r.Door = x.id, bundle, doorHook
	return store.Write(r)
}

// audit writes the line that the policy asks for. A line that cannot be written
// is a warning, in strict mode a refusal.
func (h *Hook) audit(x *verdict, door string, refusal error) error {
	c := audit.Config{File: x.view.Audit.File, Metrics: x.view.Audit.Metrics}
	if !c.Enabled() {
		return nil
	}
	e := &audit.Event{
		Door: door, Action: "create", Outcome: audit.Scrubbed, Engine: audit.EngineOf(x.file.Annotations()),
		ID: x.id, Image: ImageOf(x.file.Annotations()), Profile: x.view.Profile,
	}
	switch {
	case refusal != nil:
		e.Outcome, e.Reason = audit.Refused, refusal.Error()
	case x.view.Mode == policy.ModeObserve:
		e.Outcome = audit.Observed
	case x.view.Mode == policy.ModeOff:
		e.Outcome = audit.Disabled
	}
	if x.decision != nil {
		e.Take(x.decision)
	}
	err := audit.Record(c, e)
	if err != nil && !x.view.Strict {
		h.Log.Warn(err)
		err = nil
	}
	return err
}

// say logs names, never values.
func (h *Hook) say(x *verdict) {
	if x.decision == nil {
		h.Log.Info("mode off, nothing is done")
		return
	}
	h.Log.Info(x.decision.Summary())
	if removed := x.decision.Removed(); len(removed) > 0 {
		h.Log.Debug("removed: " + strings.Join(removed, " "))
	}
}
