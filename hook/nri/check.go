package nri

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/containerd/nri/pkg/api"

	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/policy"
)

// created is what the plugin remembers of a container between its creation and
// the validation of all plugins' adjustments.
type created struct {
	mount *api.Mount // nil: there is no shim
	view  *policy.View
	env   []string // as it was when we decided; holds values, never logged
}

// result is the environment and the command that the adjustments add up to.
func result(c *api.Container, a *api.ContainerAdjustment) (env, args []string) {
	change := map[string]*api.KeyValue{}
	for _, e := range a.GetEnv() {
		name, _ := e.IsMarkedForRemoval()
		change[name] = e
	}
	for _, e := range c.GetEnv() {
		name, _, _ := strings.Cut(e, "=")
		if change[name] == nil {
			env = append(env, e)
		}
	}
	for _, e := range a.GetEnv() {
		if _, gone := e.IsMarkedForRemoval(); !gone {
			env = append(env, e.ToOCI())
		}
	}
	if args = a.GetArgs(); len(args) == 0 {
		args = c.GetArgs()
	}
	return env, args
}

// check refuses what plugins after ours made of the container: the shim must
// still be what is started, and nothing may be back that the policy takes away.
func (w *created) check(c *api.Container, a *api.ContainerAdjustment) error {
	env, args := result(c, a)
	if w.mount == nil {
		return w.credentials(env)
	}
	if len(args) == 0 || args[0] != w.mount.GetDestination() {
		return errors.New("another NRI plugin replaced the command, so that the shim would not run; give it a lower index than envscrub's")
	}
	mounted := slices.ContainsFunc(a.GetMounts(), func(m *api.Mount) bool {
		return m.GetDestination() == w.mount.GetDestination() && m.GetSource() == w.mount.GetSource()
	})
	if !mounted {
		return errors.New("another NRI plugin took the shim's mount away")
	}
	return w.credentials(env)
}

// credentials refuses what the policy takes away and is there all the same.
func (w *created) credentials(env []string) error {
	// Judged together with what was there before, so that a copy of a removed
	// value under a new name is seen.
	before := make(map[string]bool, len(w.env))
	for _, e := range w.env {
		before[e] = true
	}
	judged := slices.Clone(w.env)
	added := map[string]bool{}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if value == "" || order.IsControl(e) {
			continue
		}
		judged = append(judged, e)
		added[name] = true
	}
	d, err := w.view.Decide(judged)
	if err != nil {
		return err
	}
	var back []string
	for _, name := range d.Removed() {
		if added[name] {
			back = append(back, name)
		}
	}
	if len(back) > 0 {
		slices.Sort(back)
		return fmt.Errorf("another NRI plugin sets %s, which the policy takes away; give it a lower index than envscrub's, or allow the name", strings.Join(slices.Compact(back), ", "))
	}
	return nil
}

// started checks what the engine made of our adjustment: by its own record, when
// the container is started.
func started(c *api.Container, v *policy.View) error {
	o, rest, err := order.FromEnviron(c.GetEnv())
	if err != nil {
		return err
	}
	if o == nil {
		// Fine if there was nothing to do for us.
		d, err := v.Decide(rest)
		if err != nil {
			return err
		}
		if !needsShim(v, d) {
			return nil
		}
		return errors.New("was created while envscrub-nri was not connected; delete it, so that it is created anew")
	}
	kept := map[string]bool{}
	for _, e := range rest {
		if name, value, _ := strings.Cut(e, "="); value != "" {
			kept[name] = true
		}
	}
	var names []string
	for _, name := range o.Remove {
		if kept[name] {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		return fmt.Errorf("this engine ignored the removal of %s (see containerd#13432), and an exec would see it; use the runtime handler (runtimeClassName: envscrub)", strings.Join(names, ", "))
	}
	return nil
}
