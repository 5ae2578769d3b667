package wrapper

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A grammar is how a runtime reads its command line.
type grammar int

const (
	// anyGrammar is a runtime that is not known: the two others must agree.
	anyGrammar grammar = iota
	// goGrammar is Go's package flag, as runc has it: one dash or two, a value
	// behind "=" or in the next word.
	goGrammar
	// argpGrammar is GNU's argp, as crun has it: long options may be shortened,
	// one-letter options may stand together and have their value attached.
	argpGrammar
)

// grammarOf tells a runtime's grammar by the name of its file, links followed.
func grammarOf(name string) grammar {
	switch {
	case strings.HasPrefix(name, "crun"):
		return argpGrammar
	case strings.HasPrefix(name, "runc"):
		return goGrammar
	}
	return anyGrammar
}

// A takes says whether an option takes a value.
type takes int

const (
	nothing takes = iota
	value
	perhaps // only attached with "="
)

// An option has a name, and a letter or 0.
type option struct {
	name   string
	letter byte
	takes  takes
}

// What runc, crun and their like know, so that a word is taken for a value only where
// it is one. An option that none of them has may take one or not; see invocations.
var (
	globalOptions = []option{
		{"debug", 0, nothing},
		{"systemd-cgroup", 0, nothing},
		{"help", 'h', nothing},
		{"version", 'v', nothing},
		{"root", 0, value},
		{"log", 0, value},
		{"log-format", 0, value},
		{"criu", 0, value},
		{"rootless", 0, value},
		{"cgroup-manager", 0, value},
	}
	createOptions = []option{
		{"bundle", 'b', value},
		{"console-socket", 0, value},
		{"pid-file", 0, value},
		{"preserve-fds", 0, value},
		{"pidfd-socket", 0, value},
		{"no-pivot", 0, nothing},
		{"no-new-keyring", 0, nothing},
		{"help", 'h', nothing},
	}
	runOptions = []option{ // beside those of create
		{"detach", 'd', nothing},
		{"keep", 0, nothing},
		{"no-subreaper", 0, nothing},
	}
	execOptions = []option{
		{"console-socket", 0, value},
		{"pidfd-socket", 0, value},
		{"cwd", 0, value},
		{"env", 'e', value},
		{"tty", 't', nothing},
		{"user", 'u', value},
		{"additional-gids", 'g', value},
		{"process", 'p', value},
		{"detach", 'd', nothing},
		{"pid-file", 0, value},
		{"process-label", 0, value},
		{"apparmor", 0, value},
		{"no-new-privs", 0, nothing},
		{"cap", 'c', value},
		{"preserve-fds", 0, value},
		{"cgroup", 0, value},
		{"ignore-paused", 0, nothing},
		{"no-subreaper", 0, nothing},
		{"help", 'h', nothing},
	}
	deleteOptions = []option{{"force", 'f', nothing}, {"regex", 'r', nothing}, {"help", 'h', nothing}}

	// argpHelp ends every command of an argp program.
	argpHelp = []option{{"usage", 0, nothing}, {"help", '?', nothing}, {"version", 'V', nothing}}
	// argpCreate is what only crun has.
	argpCreate = []option{{"config", 'f', value}, {"no-subreaper", 0, nothing}}
)

// optionsOf are the options of a command in a grammar.
func optionsOf(command string, g grammar) []option {
	var list []option
	switch command {
	case "":
		list = globalOptions
	case "create":
		list = createOptions
	case "run":
		list = slices.Concat(createOptions, runOptions)
	case "exec":
		list = execOptions
	case "delete":
		list = deleteOptions
	}
	if g != argpGrammar {
		return list
	}
	list = append(make([]option, 0, len(list)+len(argpCreate)+len(argpHelp)), list...)
	for i, o := range list {
		switch {
		case o.name == "tty":
			list[i].takes = perhaps
		case o.name == "help":
			list[i].letter = 0
		}
	}
	if command == "create" || command == "run" {
		list = append(list, argpCreate...)
	}
	return append(list, argpHelp...)
}

// A match is an option on the command line.
type match struct {
	name  string
	value string
	set   bool // has a value
	// The words that it stands in: a value of its own word is the last. Several
	// options can share one word.
	from, to int
	shared   bool
}

var errMissing = errors.New("an option lacks its value")

// parsed is one way to read the words of a command line.
type parsed struct {
	options  []match
	operands []int // words that are none
	stop     bool  // an option that ends everything: help, version
}

// parse reads words from at on. With first it stops at the first operand, else options
// may follow. takesValue decides for each unknown option that has no value attached
// whether the next word is its value; their number is returned.
func parse(words []string, at int, list []option, g grammar, first bool, takesValue func(n int) bool) (p parsed, unknowns int, err error) {
	for i := at; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "--":
			for i++; i < len(words); i++ {
				p.operands = append(p.operands, i)
			}
			return p, unknowns, nil
		case len(w) < 2 || w[0] != '-':
			if first {
				for ; i < len(words); i++ {
					p.operands = append(p.operands, i)
				}
				return p, unknowns, nil
			}
			p.operands = append(p.operands, i)
			continue
		}
		if g == argpGrammar && w[1] != '-' {
			i, err = p.cluster(words, i, list, func() bool { unknowns++; return takesValue(unknowns - 1) })
			if err != nil || p.stop {
				return p, unknowns, err
			}
			continue
		}
		name, val, has := strings.Cut(strings.TrimPrefix(w[1:], "-"), "=")
		if name == "" || name[0] == '-' {
			return p, unknowns, fmt.Errorf("word %d is not an option and not an operand", i+1)
		}
		m := match{name: name, value: val, set: has, from: i, to: i}
		o, ok := find(list, name, g)
		switch {
		case !ok && !has:
			unknowns++
			if takesValue(unknowns-1) && i+1 < len(words) {
				i++
			}
		case !ok:
		case o.takes == value && !has:
			if i++; i >= len(words) {
				return p, unknowns, errMissing
			}
			m.value, m.set = words[i], true
		case o.takes == nothing && has && g == argpGrammar:
			return p, unknowns, fmt.Errorf("--%s takes no value", o.name)
		}
		if ok {
			m.name = o.name
		}
		m.to = i
		p.options = append(p.options, m)
		if ends(m, ok) {
			p.stop = true
			return p, unknowns, nil
		}
	}
	return p, unknowns, nil
}

// ends tells of an option with which a runtime says something about itself and does
// nothing else.
func ends(m match, known bool) bool {
	return known && !m.set && (m.name == "help" || m.name == "version" || m.name == "usage")
}

// cluster reads one word of one-letter options, and returns the last word that it
// took.
func (p *parsed) cluster(words []string, i int, list []option, takesValue func() bool) (int, error) {
	w := words[i]
	for k := 1; k < len(w); k++ {
		o, ok := letter(list, w[k])
		if !ok {
			// Its value, if it takes one, is the rest of the word or the next.
			p.options = append(p.options, match{name: w[k : k+1], from: i, to: i, shared: true})
			if takesValue() {
				if k+1 == len(w) && i+1 < len(words) {
					i++
				}
				return i, nil
			}
			continue
		}
		m := match{name: o.name, from: i, to: i, shared: len(w) > 2}
		switch {
		case o.takes == nothing, o.takes == perhaps && k+1 == len(w):
		case k+1 < len(w):
			m.value, m.set = w[k+1:], true
			m.shared = k > 1
			p.options = append(p.options, m)
			return i, nil
		default:
			if i++; i >= len(words) {
				return i, errMissing
			}
			m.value, m.set, m.to = words[i], true, i
			m.shared = k > 1
			p.options = append(p.options, m)
			return i, nil
		}
		p.options = append(p.options, m)
		if ends(m, true) {
			p.stop = true
			return i, nil
		}
	}
	return i, nil
}

func letter(list []option, c byte) (option, bool) {
	i := slices.IndexFunc(list, func(o option) bool { return o.letter == c })
	if i < 0 {
		return option{}, false
	}
	return list[i], true
}

// find looks an option up by its name, in Go also by its letter, in argp also by what
// its name begins with, if no other's does.
func find(list []option, name string, g grammar) (option, bool) {
	var hits []option
	for _, o := range list {
		if o.name == name || g != argpGrammar && len(name) == 1 && o.letter == name[0] {
			return o, true
		}
		if g == argpGrammar && strings.HasPrefix(o.name, name) && !slices.ContainsFunc(hits, func(h option) bool { return h.name == o.name }) {
			hits = append(hits, o)
		}
	}
	if len(hits) == 1 {
		return hits[0], true
	}
	return option{}, false
}

// get returns an option's value: the last counts.
func (p *parsed) get(name string) string {
	for i := len(p.options) - 1; i >= 0; i-- {
		if p.options[i].name == name {
			return p.options[i].value
		}
	}
	return ""
}

// has tells whether an option is there.
func (p *parsed) has(name string) bool {
	return slices.ContainsFunc(p.options, func(m match) bool { return m.name == name })
}

// all returns the values of an option that can be given more than once.
func (p *parsed) all(name string) (values []string) {
	for _, m := range p.options {
		if m.name == name {
			values = append(values, m.value)
		}
	}
	return values
}

// operandsOf returns the words that are no options.
func (p *parsed) operandsOf(words []string) (list []string) {
	for _, at := range p.operands {
		list = append(list, words[at])
	}
	return list
}
