package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/policy"
)

func newCheck(a *app) *cobra.Command {
	var flags policyFlags
	var list, presets, asJSON, warnings bool
	cmd := &cobra.Command{
		Use:   "check [FILE]...",
		Short: "Check the policy",
		Long: `Check the policy: the installed one, or the files that are named. An error is one line that says
where and what; a warning is something valid that may not have been meant.

With --list, show instead every name and glob that the policy takes away or lets through; with
--presets, the agents that [agent] presets knows and the names that each of them needs.

Exit code 0: valid (warnings included), 1: not valid, or --warnings-as-errors and there are some.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if list && presets {
				return usagef("--list and --presets exclude one another")
			}
			if presets {
				return a.listPresets(asJSON)
			}
			flags.files = append(flags.files, args...)
			loaded, err := flags.load()
			if err != nil {
				return err
			}
			view, err := flags.view(loaded, policy.Subject{Grant: allowed(os.LookupEnv)})
			if err != nil {
				return err
			}
			found := loaded.Warnings()
			if list {
				return a.listRules(view, asJSON)
			}
			// Every profile has to make a valid policy, not only the one that is asked for.
			for _, name := range loaded.Profiles() {
				if _, err := loaded.For(policy.Subject{Profile: name}); err != nil {
					return fmt.Errorf("profile %s: %w", name, err)
				}
			}
			if err := a.writeCheck(view, loaded, &flags, found, asJSON); err != nil {
				return err
			}
			if warnings && len(found) > 0 {
				return failed
			}
			return nil
		},
	}
	flags.add(cmd.Flags())
	f := cmd.Flags()
	f.BoolVar(&list, "list", false, "list what the policy takes away and lets through")
	f.BoolVar(&presets, "presets", false, "list the presets of [agent] presets")
	f.BoolVar(&warnings, "warnings-as-errors", false, "fail when there are warnings")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

type jsonWarning struct {
	Source string `json:"source"`
	Text   string `json:"text"`
}

func (a *app) writeCheck(view *policy.View, loaded *policy.Policy, flags *policyFlags, found []policy.Warning, asJSON bool) error {
	d, err := view.Decide(nil)
	if err != nil {
		return err
	}
	files := flags.files
	if len(files) == 0 {
		files = standardFiles()
	}
	if asJSON {
		out := struct {
			Files    []string      `json:"files"`
			Mode     string        `json:"mode"`
			Profiles []string      `json:"profiles"`
			Summary  string        `json:"summary"`
			Warnings []jsonWarning `json:"warnings"`
		}{Files: files, Mode: string(view.Mode), Profiles: loaded.Profiles(), Summary: d.Summary(), Warnings: []jsonWarning{}}
		for _, w := range found {
			out.Warnings = append(out.Warnings, jsonWarning{w.Position.String(), w.Text})
		}
		return printJSON(a.out, out)
	}
	for _, w := range found {
		if _, err := fmt.Fprintf(a.out, "warning: %s: %s\n", printable(w.Position.String()), printable(w.Text)); err != nil {
			return err
		}
	}
	what := "the built-in rules, no policy file"
	if len(files) > 0 {
		what = strings.Join(files, ", ")
	}
	_, err = fmt.Fprintf(a.out, "ok: %s: mode %s, %s\n", printable(what), view.Mode, printable(d.Summary()))
	return err
}

func standardFiles() []string {
	o := install.Options{}
	if os.Geteuid() != 0 {
		if user, err := currentUser(); err == nil {
			o.User = user
		}
	}
	return policyFiles(o)
}

// listRules is what R5 of the parity table asks for: what is unset.
func (a *app) listRules(view *policy.View, asJSON bool) error {
	type rule struct {
		List   string `json:"list"`
		Name   string `json:"name"`
		Group  string `json:"group,omitempty"`
		Source string `json:"source"`
	}
	rules := []rule{}
	rows := [][]string{{"LIST", "NAME", "GROUP", "SOURCE"}}
	for _, r := range view.Rules() {
		rules = append(rules, rule{r.List, r.Name, r.Group, r.At.String()})
		rows = append(rows, []string{r.List, r.Name, r.Group, r.At.String()})
	}
	if asJSON {
		return printJSON(a.out, rules)
	}
	return table(a.out, rows)
}
