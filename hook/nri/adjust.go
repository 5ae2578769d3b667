package nri

import (
	"errors"
	"fmt"
	"strings"

	"github.com/containerd/nri/pkg/api"

	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/hook"
	"github.com/envscrub/envscrub/hook/doc"
	"github.com/envscrub/envscrub/policy"
)

// withoutControl is the environment without our own variables, which no image
// and no pod may set.
func withoutControl(env []string) []string {
	out := make([]string, 0, len(env))
	for _, e := range env {
		if !order.IsControl(e) {
			out = append(out, e)
		}
	}
	return out
}

// useRuntime ends the message of what the runtime wrapper can do and NRI cannot.
const useRuntime = "; NRI writes it into the engine's record, where every exec sees it: use the runtime handler (runtimeClassName: envscrub)"

// orderFor is the shim's order, or an error where it would carry what only the
// agent may have: it travels in the environment, which every exec gets.
func orderFor(v *policy.View, d *policy.Decision) (*order.Order, error) {
	o := hook.OrderOf(v, d)
	switch {
	case len(o.AgentOnly) > 0:
		return nil, errors.New("agent.keep: " + strings.Join(o.AgentOnly, ", ") + " is for the agent alone" + useRuntime)
	case len(o.Held) > 0:
		return nil, errors.New("spawn.rule: a rule grants a removed variable" + useRuntime)
	case o.Redact != nil:
		return nil, errors.New("redact.output: the shim would have to be given the secrets" + useRuntime)
	}
	return o, nil
}

// adjustment is what the engine is asked for.
func adjustment(c *api.Container, v *policy.View, d *policy.Decision, shim string) (*api.ContainerAdjustment, error) {
	if len(c.GetArgs()) == 0 {
		return nil, errors.New("the container has no command")
	}
	o, err := orderFor(v, d)
	if err != nil {
		return nil, err
	}
	a := &api.ContainerAdjustment{}
	if err := adjustEnv(a, c.GetEnv(), d, o); err != nil {
		return nil, err
	}
	if len(o.Remove) == 0 && !needsShim(v, d) {
		return a, nil
	}
	for _, e := range o.Environ() {
		name, value, _ := strings.Cut(e, "=")
		a.RemoveEnv(name)
		a.AddEnv(name, value)
	}
	mounts := make([]doc.Mount, 0, len(c.GetMounts()))
	for _, m := range c.GetMounts() {
		mounts = append(mounts, doc.Mount{Destination: m.GetDestination(), Type: m.GetType(), Source: m.GetSource(), Options: m.GetOptions()})
	}
	m, err := hook.ShimMount(mounts, shim)
	if err != nil {
		return nil, err
	}
	a.AddMount(&api.Mount{Destination: m.Destination, Type: m.Type, Source: m.Source, Options: m.Options})
	a.UpdateArgs(append([]string{m.Destination}, c.GetArgs()...))
	return a, nil
}

// adjustEnv expresses the difference between what the container has and what it
// is to have, and tells the shim what could only be blanked.
func adjustEnv(a *api.ContainerAdjustment, env []string, d *policy.Decision, o *order.Order) error {
	want := make(map[string]string, len(env))
	for _, e := range d.Container() {
		name, value, _ := strings.Cut(e, "=")
		want[name] = value
	}
	have, times := make(map[string]string, len(env)), make(map[string]int, len(env))
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		have[name] = value // the last one counts
		times[name]++
	}
	change := func(name, value string) error {
		switch {
		case strings.HasPrefix(name, "-"):
			return fmt.Errorf("%s: NRI takes a name that begins with a dash for a removal; use the runtime handler", name)
		case times[name] > 1:
			return fmt.Errorf("%s stands %d times in the environment, and NRI changes only the first; use the runtime handler", name, times[name])
		}
		// Without this an earlier plugin's variable would be a conflict.
		a.RemoveEnv(name)
		a.AddEnv(name, value)
		return nil
	}
	done := make(map[string]bool, len(env))
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if done[name] {
			continue
		}
		done[name] = true
		value, kept := want[name]
		switch {
		case kept && value == have[name]:
		case kept:
			if err := change(name, value); err != nil {
				return err
			}
		default:
			if isOrder(name) {
				return fmt.Errorf("%s stands in the environment, which only envscrub may set", name)
			}
			if err := change(name, ""); err != nil {
				return err
			}
			o.Remove = append(o.Remove, name)
		}
	}
	for _, e := range d.Container() {
		name, value, _ := strings.Cut(e, "=")
		if _, ok := have[name]; !ok {
			if err := change(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// needsShim tells whether the environment alone does not do it: a container without
// a secret stays as it was, as at the wrapper.
func needsShim(v *policy.View, d *policy.Decision) bool {
	return v.Strict || len(d.Removed()) > 0 || v.Harden.NoNewPrivileges || v.Harden.CoreLimit != nil ||
		v.Harden.DropSysAdmin || v.Harden.Privileged == "refuse"
}

func isOrder(name string) bool {
	return len(name) >= len(order.Variable) && strings.EqualFold(name[:len(order.Variable)], order.Variable)
}
