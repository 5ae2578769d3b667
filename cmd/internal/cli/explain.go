package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/hook"
	"github.com/envscrub/envscrub/policy"
)

func newExplain(a *app) *cobra.Command {
	var source sourceFlags
	var flags policyFlags
	var asJSON bool
	var format string
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Show what becomes of every variable of an environment, and by which rule",
		Long: `Show what becomes of every variable: its name, its fate, the rule that decided, and where that
rule stands. The environment is the current one, or that of a file, a bundle, or of containers
whose "docker inspect" or "podman inspect" comes on standard input.

Fates: kept, removed, set and unset (by the policy), and agent: kept for the agent alone, no
process that it starts gets it. In --json the latter is "kept" with "agent_only": true.

Podman's inspect shows the environment of a container that was started through envscrub as it is
after that; what was taken from it is in "envscrub scan" and "envscrub status".

Values are never shown. The exception is --format overrides, for launchers that merge an
environment into their own: it prints the variables to set WITH THEIR VALUES, and null for
each one to unset.

ENVSCRUB_ALLOW (names separated by commas) is added to the policy's allow list.`,
		Example: `  envscrub explain --env-file .env
  docker inspect web | envscrub explain --json
  sudo envscrub explain --environ /proc/1234/environ --policy strict.toml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case format == "":
				format = "table"
				if asJSON {
					format = "json"
				}
			case asJSON && format != "json":
				return usagef("--json and --format %s exclude one another", format)
			}
			write, ok := map[string]func(io.Writer, []explained) error{"table": writeTable, "json": writeJSON, "overrides": writeOverrides}[format]
			if !ok {
				return usagef("--format %s: none of table, json, overrides", format)
			}
			loaded, err := flags.load()
			if err != nil {
				return err
			}
			targets, err := source.targets(a)
			if err != nil {
				return err
			}
			if len(targets) > 1 && format != "table" {
				return usagef("--format %s is for one environment, and %d were given; name one container", format, len(targets))
			}
			var all []explained
			for _, t := range targets {
				e, err := explain(&flags, loaded, t)
				if err != nil {
					if len(targets) > 1 {
						return fmt.Errorf("%s: %w", t.name, err)
					}
					return err
				}
				all = append(all, e)
			}
			for _, e := range all {
				for _, name := range e.refused {
					a.note("%s: asks for %s, which the policy's overrides do not permit", e.name, name)
				}
				for _, v := range e.decision.Variables {
					if v.Note != "" {
						a.note("note: %s: %s", v.Name, v.Note)
					}
				}
			}
			return write(a.out, all)
		},
	}
	source.add(cmd.Flags())
	flags.add(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&format, "format", "", "print as `table`, json or overrides")
	return cmd
}

// explained is an environment with the decision on it.
type explained struct {
	target
	view     *policy.View
	decision *policy.Decision
	refused  []string // what the container asks for and does not get
}

func explain(flags *policyFlags, loaded *policy.Policy, t target) (explained, error) {
	t.subject.Grant = append(t.subject.Grant, allowed(os.LookupEnv)...)
	e := explained{target: t}
	var err error
	if t.container && flags.profile == "" {
		// As the doors do: what the container asks for itself counts, where the policy permits it.
		e.view, _, e.refused, err = hook.ViewFor(loaded, flags.apply(t.subject), t.env)
	} else {
		e.view, err = flags.view(loaded, t.subject)
	}
	if err != nil {
		return explained{}, err
	}
	env := t.env
	if t.container { // as the doors do, too; Podman shows ours of a container that is scrubbed
		env = slices.DeleteFunc(slices.Clone(env), order.IsControl)
	}
	e.decision, err = e.view.Decide(env)
	return e, err
}

func writeTable(w io.Writer, all []explained) error {
	for i, e := range all {
		if len(all) > 1 {
			gap := ""
			if i > 0 {
				gap = "\n"
			}
			if _, err := fmt.Fprintf(w, "%s%s:\n", gap, printable(e.name)); err != nil {
				return err
			}
		}
		rows := [][]string{{"NAME", "FATE", "RULE", "SOURCE"}}
		for _, v := range e.decision.Variables {
			rows = append(rows, []string{v.Name, string(v.Fate), v.Rule, v.At.String()})
		}
		if err := table(w, rows); err != nil {
			return err
		}
	}
	return nil
}

type jsonVariable struct {
	Name      string `json:"name"`
	Fate      string `json:"fate"`
	Rule      string `json:"rule"`
	Source    string `json:"source"`
	AgentOnly bool   `json:"agent_only,omitempty"`
}

type jsonSummary struct {
	Kept      int    `json:"kept"`
	Removed   int    `json:"removed"`
	Set       int    `json:"set"`
	Unset     int    `json:"unset"`
	AgentOnly int    `json:"agent_only"`
	Profile   string `json:"profile"`
	Mode      string `json:"mode"`
	Policy    string `json:"policy"`
}

func writeJSON(w io.Writer, all []explained) error {
	e := all[0]
	out := struct {
		Variables []jsonVariable `json:"variables"`
		Summary   jsonSummary    `json:"summary"`
	}{
		Variables: []jsonVariable{},
		Summary:   jsonSummary{Profile: e.view.Profile, Mode: string(e.view.Mode), Policy: e.decision.Summary()},
	}
	for _, v := range e.decision.Variables {
		j := jsonVariable{Name: v.Name, Fate: string(v.Fate), Rule: v.Rule, Source: v.At.String()}
		switch v.Fate {
		case policy.FateAgent:
			j.Fate, j.AgentOnly = string(policy.FateKept), true
			out.Summary.AgentOnly++
			out.Summary.Kept++
		case policy.FateKept:
			out.Summary.Kept++
		case policy.FateRemoved:
			out.Summary.Removed++
		case policy.FateSet:
			out.Summary.Set++
		case policy.FateUnset:
			out.Summary.Unset++
		}
		out.Variables = append(out.Variables, j)
	}
	return printJSON(w, out)
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// writeOverrides prints what a launcher that merges environments has to set, and
// what it has to unset.
func writeOverrides(w io.Writer, all []explained) error {
	e := all[0]
	return printJSON(w, policy.Environ(e.decision.Container()).Overrides(e.env))
}
