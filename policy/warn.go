package policy

import (
	"strings"

	"github.com/envscrub/envscrub/policy/builtin"
)

// Warning is something in a valid policy that its author may not have meant.
type Warning struct {
	Position Position
	Text     string
}

// Warnings lists what `envscrub check` should say about a policy. Names and places only.
func (p *Policy) Warnings() []Warning {
	warnings := append(p.base.warnings(""), p.shared(&p.base, "", "")...)
	for i := range p.profiles {
		f := &p.profiles[i]
		warnings = append(warnings, f.layer.warnings("profile."+f.name+".")...)
		warnings = append(warnings, p.shared(&f.layer, f.name, "profile."+f.name+".")...)
		for _, image := range f.image {
			warnings = append(warnings, Warning{image.at, "profile." + f.name + ".match.image: only containerd and CRI-O tell a runtime the image; with Podman and Docker this matches no container"})
		}
	}
	if len(p.profiles) == 0 {
		for _, o := range p.base.overrides {
			if text := strings.ToLower(o.text); isDoor(text) && strings.HasSuffix(text, "profile") {
				warnings = append(warnings, Warning{o.at, "overrides: " + o.text + " lets a container ask for a profile, and there is none: [profile.NAME] makes one"})
			}
		}
	}
	return warnings
}

// shared warns of names that agent.keep has and nothing takes from the others: the agent would not be alone with them.
func (p *Policy) shared(l *layer, profile, prefix string) []Warning {
	var list []Warning
	for _, k := range l.keep {
		if isGlob(k.text) {
			continue
		}
		v, err := p.For(Subject{Profile: profile})
		if err != nil {
			return nil // said elsewhere: the policy does not load
		}
		// A value that looks like a secret: some names are judged together with it.
		d, err := v.Decide([]string{k.text + "=q7Zk2Vw9Xb4Ln8Rt5Yc1"})
		if err == nil && len(d.Variables) == 1 && d.Variables[0].Fate == FateKept {
			list = append(list, Warning{k.at, prefix + "agent.keep: nothing takes " + k.text + " from the agent's children; name it in deny too"})
		}
	}
	return list
}

func (l *layer) warnings(prefix string) []Warning {
	var list []Warning
	warn := func(at Position, key, text string) {
		list = append(list, Warning{at, prefix + key + ": " + text})
	}
	for _, lists := range []struct {
		key   string
		items []item
	}{{"allow", l.allow}, {"overrides", l.overrides}} {
		for _, a := range lists.items {
			if !isGlob(a.text) {
				continue
			}
			if example := readmits(a.text); example != "" {
				warn(a.at, lists.key, a.text+" lets names through that look like credentials, such as "+example+"; list the names instead")
			}
		}
	}
	for _, o := range l.overrides {
		if word := strings.ToLower(o.text); isDoor("io.envscrub." + word) {
			warn(o.at, "overrides", o.text+" is the name of a variable here; what lets a container ask is io.envscrub."+word)
		}
		if text := strings.ToLower(o.text); isDoor(text) && !strings.HasSuffix(text, "profile") {
			what := "lets a container, or its image, pass any variable that is not exactly denied"
			if strings.HasSuffix(text, "disable") {
				what = "lets a container, or its image, switch the policy off"
			}
			warn(o.at, "overrides", o.text+" "+what)
		}
	}
	switch l.mode.value {
	case ModeObserve:
		warn(l.mode.at, "mode", "observe only reports, nothing is removed")
	case ModeOff:
		warn(l.mode.at, "mode", "off leaves containers unscrubbed")
	}
	if l.dumpable.value == "off" {
		what := "off lets every process of the same user read the agent's environment"
		if len(l.keep)+len(l.presets) > 0 {
			what += "; agent.keep needs the guard"
		}
		warn(l.dumpable.at, "harden.dumpable", what)
	}
	for i := range l.groups {
		if g := &l.groups[i]; !g.on && g.name == "loader" {
			warn(g.at, "groups.loader", "off lets LD_PRELOAD and its like into every process")
		}
	}
	// report: credentials-binding PR#80, slicc PR#1010: ignored, but said by name
	for i := range l.known {
		switch s := &l.known[i]; {
		case s.value == "":
			warn(s.at, "secrets", s.source+" is empty")
		case len(s.value) < minProtected:
			warn(s.at, "secrets", s.source+" is shorter than 8 characters and is ignored: it would occur by chance")
		case published(s.value):
			warn(s.at, "secrets", s.source+" is a published default; only a variable that equals it is removed")
		}
	}
	for _, d := range l.deny {
		if strings.Trim(d.text, "*") == "" {
			warn(d.at, "deny", d.text+" takes away all that allow does not name, PATH and HOME included; inherit = \"core\" keeps what programs need")
		}
		if vital(d.text) {
			warn(d.at, "deny", d.text+" is one of the names without which programs do not start")
		}
	}
	return list
}

// readmits gives a name that looks like a credential and that the glob lets through, or "".
func readmits(pattern string) string {
	upper := fold(pattern)
	p := compileGlob(upper)
	for _, word := range []string{"API_KEY", "TOKEN", "SECRET", "PASSWORD"} {
		for _, name := range []string{
			strings.ReplaceAll(upper, "*", word),
			strings.Replace(strings.Replace(upper, "*", "X", strings.Count(upper, "*")-1), "*", word, 1),
			"X_" + word, word + "_X", word,
		} {
			if !isGlob(name) && p.match(name) && builtin.IsSensitiveName(name) {
				return name
			}
		}
	}
	return ""
}
