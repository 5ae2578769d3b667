package spawn

import "strings"

// Filter is the spawn boundary of one agent.
type Filter struct {
	secrets []secret
	rules   []rule
	trust   []pattern
}

// secret is a variable that only the agent has, or that only rules hand out.
type secret struct {
	name, value string
	held        bool
}

type rule struct {
	command pattern
	allow   []pattern
}

// New makes the filter for an agent with the given environment. agentOnly
// names its variables that children do not get; held are entries that the
// agent does not have either.
func New(agentOnly, env, held []string, rules []Rule, trust []string) (*Filter, error) {
	f := &Filter{}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		for _, only := range agentOnly {
			if strings.EqualFold(name, only) {
				f.secrets = append(f.secrets, secret{name: name, value: value})
				break
			}
		}
	}
	for _, entry := range held {
		name, value, _ := strings.Cut(entry, "=")
		f.secrets = append(f.secrets, secret{name: name, value: value, held: true})
	}
	for _, r := range rules {
		c, err := compile(r.Command, false)
		if err != nil {
			return nil, &PatternError{r.Command, err}
		}
		compiled := rule{command: c}
		for _, name := range r.Allow {
			p, err := compile(name, true)
			if err != nil {
				return nil, &PatternError{name, err}
			}
			compiled.allow = append(compiled.allow, p)
		}
		f.rules = append(f.rules, compiled)
	}
	for _, t := range trust {
		p, err := compile(t, false)
		if err != nil {
			return nil, &PatternError{t, err}
		}
		f.trust = append(f.trust, p)
	}
	return f, nil
}

// PatternError is a glob that does not compile.
type PatternError struct {
	Pattern string
	Err     error
}

func (e *PatternError) Error() string { return e.Pattern + ": " + e.Err.Error() }

// Unwrap returns what is wrong with it.
func (e *PatternError) Unwrap() error { return e.Err }

// Takes reports whether there is anything to take from children.
func (f *Filter) Takes() bool { return len(f.secrets) > 0 }

// Trusting reports whether any command stays agent.
func (f *Filter) Trusting() bool { return len(f.trust) > 0 }

// ByCommand reports whether the command makes a difference: otherwise nobody
// need find out what it is.
func (f *Filter) ByCommand() bool { return len(f.trust) > 0 || len(f.rules) > 0 }

// Trusts reports whether a command, by any of its paths, is still the agent.
func (f *Filter) Trusts(paths []string) bool {
	for i := range f.trust {
		for _, path := range paths {
			if f.trust[i].match(path) {
				return true
			}
		}
	}
	return false
}

// Grants is what one command may have.
type Grants struct {
	filter  *Filter
	granted []bool // by secret; nil for none
}

// For returns what the command with these paths may have.
func (f *Filter) For(paths []string) Grants {
	g := Grants{filter: f}
	for i := range f.rules {
		for _, path := range paths {
			if f.rules[i].command.match(path) {
				g.add(f.rules[i].allow)
				break
			}
		}
	}
	return g
}

func (g *Grants) add(names []pattern) {
	if g.granted == nil {
		g.granted = make([]bool, len(g.filter.secrets))
	}
	for i := range g.filter.secrets {
		for k := range names {
			if names[k].match(g.filter.secrets[i].name) {
				g.granted[i] = true
			}
		}
	}
}

// Any reports whether the command has a grant of anything.
func (g *Grants) Any() bool { return g.granted != nil }

// Passes reports whether an entry of the command's environment reaches it. It
// allocates nothing.
func (g *Grants) Passes(entry string) bool {
	secrets := g.filter.secrets
	for i := range secrets {
		if g.granted != nil && g.granted[i] && secrets[i].is(entry) {
			return true
		}
	}
	for i := range secrets {
		s := &secrets[i]
		if g.granted != nil && g.granted[i] {
			continue
		}
		if s.is(entry) || len(s.value) >= MinProtected && strings.Contains(entry, s.value) && !g.grantsValue(s.value) {
			return false
		}
	}
	return true
}

// is reports whether the entry is the variable itself, value and all.
func (s *secret) is(entry string) bool {
	n := len(s.name)
	return len(entry) == n+1+len(s.value) && entry[n] == '=' && entry[n+1:] == s.value && strings.EqualFold(entry[:n], s.name)
}

func (g *Grants) grantsValue(value string) bool {
	for i := range g.granted {
		if g.granted[i] && g.filter.secrets[i].value == value {
			return true
		}
	}
	return false
}

// Added returns the held entries that the command is granted, for the guard to
// put into its environment.
func (g *Grants) Added() []string {
	var entries []string
	for i := range g.granted {
		if s := &g.filter.secrets[i]; g.granted[i] && s.held {
			entries = append(entries, s.name+"="+s.value)
		}
	}
	return entries
}
