package policy

import "github.com/envscrub/envscrub/policy/builtin"

// Rule is a name or a glob of the policy, for people to read.
type Rule struct {
	List  string // deny, locked, allow, keep, set or unset
	Name  string
	Group string // the built-in group, or empty
	At    Position
}

// Rules lists what the view takes away by name and what it lets through, the built-in groups first.
func (v *View) Rules() []Rule {
	l := &v.layer
	var list []Rule
	deny := builtin.Deny()
	for i := range deny {
		g := &deny[i]
		if !l.on(g.Name, g.Off) {
			continue
		}
		for _, names := range [][]string{g.Exact, g.Names, g.Globs} {
			for _, name := range names {
				list = append(list, Rule{List: "deny", Name: name, Group: g.Name})
			}
		}
	}
	for _, items := range []struct {
		list  string
		items []item
	}{{"deny", l.deny}, {"locked", l.locked}, {"allow", l.allow}, {"keep", l.keep}} {
		for _, i := range items.items {
			list = append(list, Rule{List: items.list, Name: i.text, At: i.at})
		}
	}
	for _, c := range v.sets {
		list = append(list, Rule{List: "set", Name: c.name, At: c.at})
	}
	for _, c := range l.changes {
		list = append(list, Rule{List: "unset", Name: c.name, At: c.at})
	}
	return list
}
