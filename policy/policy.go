package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/envscrub/envscrub/policy/builtin"
)

// Policy is a loaded and valid policy. It never changes.
type Policy struct {
	base     layer
	profiles []profile
}

// Default is the policy with no file at all: the built-in rules.
func Default() *Policy { return &Policy{} }

// add puts one file over what is there.
func (p *Policy) add(file string, data []byte) error {
	root, err := parseDocument(file, data)
	if err != nil {
		return err
	}
	l, profiles, err := decodeFile(root)
	if err != nil {
		return err
	}
	if err := l.consistent(""); err != nil {
		return err
	}
	p.base.merge(&l)
	for i := range profiles {
		over := &profiles[i]
		if err := over.layer.consistent("profile." + over.name + "."); err != nil {
			return err
		}
		old := p.profile(over.name)
		if old == nil {
			p.profiles = append(p.profiles, *over)
			continue
		}
		old.layer.merge(&over.layer)
		if over.match {
			old.match, old.image, old.command, old.user, old.annotations = true, over.image, over.command, over.user, over.annotations
		}
	}
	return nil
}

func (p *Policy) profile(name string) *profile {
	for i := range p.profiles {
		if p.profiles[i].name == name {
			return &p.profiles[i]
		}
	}
	return nil
}

// Profiles names the profiles in the order in which they are tried.
func (p *Policy) Profiles() []string {
	names := make([]string, len(p.profiles))
	for i := range p.profiles {
		names[i] = p.profiles[i].name
	}
	return names
}

// finish reads the secrets and checks what only the whole policy shows.
func (p *Policy) finish(lookup func(string) (string, bool)) error {
	if err := p.base.read(lookup); err != nil {
		return err
	}
	if err := p.base.contradiction(""); err != nil {
		return err
	}
	for i := range p.profiles {
		o := &p.profiles[i]
		if err := o.layer.read(lookup); err != nil {
			return err
		}
		merged := p.over(o)
		if err := merged.contradiction("profile." + o.name + "."); err != nil {
			return err
		}
	}
	return nil
}

// over gives the base with a profile over it. What the profile denies by its exact name, the base does not allow.
func (p *Policy) over(o *profile) layer {
	merged := p.base
	for _, d := range o.layer.deny {
		if isGlob(d.text) {
			continue
		}
		same := func(i item) bool { return strings.EqualFold(i.text, d.text) }
		if slices.ContainsFunc(merged.allow, same) {
			merged.allow = slices.DeleteFunc(slices.Clone(merged.allow), same)
		}
		if slices.ContainsFunc(merged.overrides, same) {
			merged.overrides = slices.DeleteFunc(slices.Clone(merged.overrides), same)
		}
	}
	merged.merge(&o.layer)
	return merged
}

// consistent checks what one file says against itself.
func (l *layer) consistent(prefix string) error {
	if len(l.changes) > 0 {
		said := make(map[string]*change, len(l.changes))
		for i := range l.changes {
			c := &l.changes[i]
			key := fold(c.name)
			if o := said[key]; o != nil && o.unset != c.unset {
				if c.unset {
					c, o = o, c
				}
				return &Error{At: c.at, Key: prefix + "set." + c.name, What: "is unset as well, on line " + strconv.Itoa(o.at.Line) + "; remove one"}
			}
			said[key] = c
		}
		for i := range l.placeholders {
			if o := said[fold(l.placeholders[i].name)]; o != nil {
				return &Error{At: l.placeholders[i].at, Key: prefix + "placeholder." + l.placeholders[i].name, What: "is set or unset as well, on line " + strconv.Itoa(o.at.Line) + "; remove one"}
			}
		}
	}
	for _, i := range l.presets {
		if !slices.Contains(presetNames(), i.text) {
			what := "there is no such preset; `envscrub check --presets` lists them"
			if near := nearest(i.text, presetNames()); near != "" {
				what = "there is no such preset; did you mean " + near + "?"
			}
			return &Error{At: i.at, Key: prefix + "agent.presets", What: what}
		}
	}
	return nil
}

// contradiction looks for names that are allowed and denied exactly. A glob in allow is none: the exact deny wins.
func (l *layer) contradiction(prefix string) error {
	if err := l.contradicts(prefix+"allow", l.allow); err != nil {
		return err
	}
	return l.contradicts(prefix+"overrides", l.overrides)
}

func (l *layer) contradicts(key string, list []item) error {
	if len(list) == 0 {
		return nil
	}
	denied := make(map[string]Position, len(l.deny))
	for _, d := range l.deny {
		if !isGlob(d.text) {
			denied[fold(d.text)] = d.at
		}
	}
	for _, a := range list {
		if isGlob(a.text) {
			continue
		}
		if at, ok := denied[fold(a.text)]; ok {
			return &Error{At: a.at, Key: key, What: a.text + " is denied by its exact name at " + at.String() + "; remove one of the two"}
		}
		if group := l.builtinExact(a.text); group != "" {
			return &Error{At: a.at, Key: key, What: a.text + " is denied by its exact name in the built-in group " + group +
				"; give it to the agent with agent.keep, to one tool with [[spawn.rule]], or set groups." + group + " = false"}
		}
	}
	return nil
}

// builtinExact gives the group that denies a name exactly, or "".
func (l *layer) builtinExact(name string) string {
	groups := builtin.Deny()
	for i := range groups {
		if g := &groups[i]; l.on(g.Name, g.Off) {
			for _, exact := range g.Exact {
				if strings.EqualFold(exact, name) {
					return g.Name
				}
			}
		}
	}
	return ""
}
