package builtin

import "strings"

// A Classifier answers rule 3 for the groups that a policy leaves on.
type Classifier struct {
	off map[string]bool
}

// New makes a classifier. groups says which deny groups are on or off; one that
// it does not name has its default.
func New(groups map[string]bool) *Classifier {
	c := &Classifier{off: map[string]bool{}}
	for _, g := range Deny() {
		on, said := groups[g.Name]
		if !said {
			on = !g.Off
		}
		c.off[g.Name] = !on
	}
	return c
}

// Classify reports the group and the rule that remove the variable at rule 3.
func (c *Classifier) Classify(name, value string) (group, rule string, ok bool) {
	upper := strings.ToUpper(name)
	for _, g := range Deny() {
		if c.off[g.Name] {
			continue
		}
		for _, n := range g.Names {
			if n == upper {
				return g.Name, n, true
			}
		}
	}
	if Spared(value) {
		return "", "", false
	}
	for _, s := range [...]struct{ group, suffix string }{
		{gAPIKeys, "_API_KEY"}, {gAPIKeys, "_APIKEY"}, {gTokens, "_TOKEN"}, {gSecrets, "_SECRET"}, {gPasswords, "_PASSWORD"},
	} {
		if !c.off[s.group] && strings.HasSuffix(upper, s.suffix) {
			return s.group, "*" + s.suffix, true
		}
	}
	return "", "", false
}

// IsSensitiveName reports whether the default deny groups remove a variable of
// this name when its value could be a secret.
func IsSensitiveName(name string) bool {
	for _, g := range Deny() {
		for _, n := range g.Exact {
			if strings.EqualFold(n, name) {
				return true
			}
		}
	}
	_, _, ok := New(nil).Classify(name, "x9Kq-made-up-77hG2")
	return ok
}
