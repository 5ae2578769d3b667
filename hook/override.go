package hook

import (
	"slices"
	"strings"

	"github.com/envscrub/envscrub/hook/doc"
	"github.com/envscrub/envscrub/policy"
)

// An override is what a container asks for itself: by an annotation, or by a variable, where
// the engine has no annotations. Each counts only if the policy's key overrides
// names it; a variable can come from the image, so nobody should name that lightly.
var overrides = []struct{ ask, annotation, variable string }{
	{"profile", "io.envscrub.profile", "ENVSCRUB_PROFILE"},
	{"allow", "io.envscrub.allow", "ENVSCRUB_ALLOW"},
	{"disable", "io.envscrub.disable", "ENVSCRUB_DISABLE"},
}

// ViewOf chooses the policy for a container, what it asks for itself included: see ViewFor.
func ViewOf(p *policy.Policy, f *doc.File, id string) (v *policy.View, granted, refused []string, err error) {
	return ViewFor(p, SubjectOf(f, id), f.Env())
}

// ViewFor chooses the policy for a subject with an environment, what it asks for
// itself by its annotations and variables included.
// granted and refused name the variables that it asked for by those that it gets and does
// not; an override that the policy does not permit is among the refused.
func ViewFor(p *policy.Policy, s policy.Subject, env []string) (v *policy.View, granted, refused []string, err error) {
	if v, err = p.For(s); err != nil {
		return nil, nil, nil, err
	}
	permitted := func(key string) bool {
		return slices.ContainsFunc(v.Overrides, func(o string) bool { return strings.EqualFold(o, key) })
	}
	var allow []string
	asked, disable := false, false
	for _, o := range overrides {
		value, source := "", ""
		if a, ok := s.Annotations[o.annotation]; ok && (o.ask == "allow" || permitted(o.annotation)) {
			value, source = a, o.annotation
		} else if ok {
			refused = append(refused, o.annotation)
		}
		if e, ok := variable(env, o.variable); ok {
			if permitted(o.variable) && source == "" {
				value, source = e, o.variable
			} else if !permitted(o.variable) {
				refused = append(refused, o.variable)
			}
		}
		if source == "" {
			continue
		}
		asked = true
		switch o.ask {
		case "profile":
			s.Profile = value
		case "disable":
			disable = value == "1" || value == "true" || value == "yes"
		case "allow":
			names := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
			// What is no name may be a value in the wrong place: it is not repeated.
			valid := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !policy.ValidName(name) })
			if len(valid) < len(names) {
				refused = append(refused, "(not a name)")
			}
			names = valid
			if permitted(source) {
				allow = names
			} else {
				s.Allow = names // those that overrides names one by one
			}
		}
	}
	if !asked {
		return v, nil, refused, nil
	}
	for _, name := range allow {
		t := s
		t.Grant = append(slices.Clone(s.Grant), name)
		// An exactly denied name, or none, is no grant; the rest may be.
		if _, err := p.For(t); err == nil {
			s.Grant = t.Grant
		} else {
			refused = append(refused, name)
		}
	}
	if v, err = p.For(s); err != nil {
		return nil, nil, nil, err
	}
	if disable {
		v.Mode = policy.ModeOff
	}
	refused = append(refused, v.Refused...)
	for _, name := range append(s.Grant, s.Allow...) {
		if !slices.Contains(refused, name) {
			granted = append(granted, name)
		}
	}
	return v, granted, refused, nil
}

func variable(env []string, name string) (value string, ok bool) {
	for _, e := range env {
		if n, v, _ := strings.Cut(e, "="); n == name {
			value, ok = v, true
		}
	}
	return value, ok
}
