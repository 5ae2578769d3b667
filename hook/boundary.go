package hook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/envscrub/envscrub/hook/audit"
	"github.com/envscrub/envscrub/hook/doc"
	"github.com/envscrub/envscrub/policy"
	"github.com/envscrub/envscrub/policy/program"
)

// RunPrograms runs the policy's [[hook]] programs over what a container is to
// get. They may change its environment; one that changes the command, the
// arguments or the directory is refused, since not every door could carry it out.
func RunPrograms(f *doc.File, v *policy.View, d *policy.Decision) error {
	if len(v.Hooks) == 0 || len(f.Args()) == 0 {
		return nil
	}
	r := policy.Request{
		Purpose: "container", Command: f.Args()[0], Args: f.Args()[1:], Dir: f.Cwd(),
		Origin: audit.EngineOf(f.Annotations()),
	}
	c, err := d.RunHooks(context.Background(), r, program.Runner(v, nil))
	if err != nil {
		return err
	}
	if c.Command != r.Command || !slices.Equal(c.Args, r.Args) || c.Dir != r.Dir {
		return errors.New("a [[hook]] program changed the command, its arguments or its directory; of a container it may change the environment only")
	}
	return nil
}

// Exposed names the places of a configuration that everybody can read and in which the value of
// a secret stands, "" for none: the arguments are in /proc/<pid>/cmdline, the annotations in the
// engine's records.
//
// report: PleasePrompto/ductor#187, agent-of-empires PR#647, Kuberwastaken/claurst#211, cluesmith/codev#1697
func Exposed(f *doc.File, d *policy.Decision) string {
	secrets := slices.DeleteFunc(slices.Clone(d.SecretValues()), func(s string) bool { return len(s) < 8 })
	if len(secrets) == 0 {
		return ""
	}
	holds := func(text string) bool {
		return slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(text, s) })
	}
	var places []string
	for i, arg := range f.Args() {
		if holds(arg) {
			places = append(places, fmt.Sprintf("process.args[%d]", i))
		}
	}
	for key, value := range f.Annotations() {
		if holds(value) {
			places = append(places, "annotation "+key)
		}
	}
	if places == nil {
		return ""
	}
	slices.Sort(places)
	return "the value of a secret stands in " + strings.Join(places, ", ") + ", where every process can read it"
}
