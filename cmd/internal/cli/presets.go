package cli

import (
	"fmt"
	"strings"

	"github.com/envscrub/envscrub/policy/builtin"
)

// listPresets shows what [agent] presets may name. Where each fact is from is in
// the JSON.
func (a *app) listPresets(asJSON bool) error {
	type grant struct {
		Command string   `json:"command"`
		Allow   []string `json:"allow"`
	}
	type preset struct {
		Name     string   `json:"name"`
		Doc      string   `json:"doc"`
		Commands []string `json:"commands"`
		Images   []string `json:"images"`
		Keep     []string `json:"keep"`
		Grants   []grant  `json:"grants"`
		Source   string   `json:"source"`
	}
	out := []preset{}
	var b strings.Builder
	for _, p := range builtin.Presets() {
		j := preset{Name: p.Name, Doc: p.Doc, Commands: p.Commands, Images: p.Images, Keep: p.Keep, Grants: []grant{}, Source: p.Source}
		fmt.Fprintf(&b, "%s: %s\n  the agent keeps: %s\n", p.Name, p.Doc, strings.Join(p.Keep, " "))
		for _, g := range p.Grants {
			j.Grants = append(j.Grants, grant{g.Command, g.Allow})
			fmt.Fprintf(&b, "  %s gets: %s\n", g.Command, strings.Join(g.Allow, " "))
		}
		if len(p.Commands)+len(p.Images) > 0 {
			fmt.Fprintf(&b, "  with \"auto\" recognised by: %s\n", strings.Join(append(append([]string{}, p.Commands...), p.Images...), " "))
		}
		out = append(out, j)
	}
	if asJSON {
		return printJSON(a.out, out)
	}
	_, err := fmt.Fprint(a.out, b.String())
	return err
}
