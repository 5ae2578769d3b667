package wrapper

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// guarded are the commands that start a process in a container; all others pass.
var guarded = []string{"create", "run", "exec"}

// commands are the words that some runtime takes for a command. They only settle
// which of two readings of an unknown option is meant.
var commands = []string{
	"create", "run", "exec", "start", "state", "kill", "delete", "list", "ps", "events", "pause", "resume", "update",
	"checkpoint", "restore", "spec", "features", "init", "help", "h", "mounts", "info", "version",
}

// An invocation is the command line of a runtime, as far as it concerns us.
type invocation struct {
	words   []string
	command string // "" where nothing concerns us
	at      int    // of the command in words
	globals parsed
	args    parsed
	plain   bool // the runtime will refuse it, or answer it with a help text
	odd     bool // has options behind the command that are not known
}

// operand returns the nth operand of the command, "" for none.
func (v *invocation) operand(n int) string {
	if n < len(v.args.operands) {
		return v.words[v.args.operands[n]]
	}
	return ""
}

// maxUnknown bounds the readings that are tried: two for each unknown option.
const maxUnknown = 6

// read finds the command: global options first, then the first word that is none. A
// word is never searched for: "exec create ls" runs ls in a container named create.
//
// An option that is not known may take a value or not. Where the two readings agree
// in all that matters, or only one of them makes sense, that is it; where they differ the call
// is refused, for the wrong one would let a create pass unseen.
func read(words []string, g grammar) (*invocation, error) {
	if g != anyGrammar {
		return readAs(words, g)
	}
	a, errA := readAs(words, goGrammar)
	b, errB := readAs(words, argpGrammar)
	switch {
	case errA != nil:
		return nil, errA
	case errB != nil:
		return nil, errB
	case !same(a, b):
		return nil, errors.New("the command line can be read in two ways, and this runtime's is not known; write options as --NAME=VALUE, before the container id")
	}
	return a, nil
}

// same tells whether two readings agree in all that matters here.
func same(a, b *invocation) bool {
	if a.command != b.command || a.at != b.at {
		return false
	}
	if a.command == "" {
		return true
	}
	if a.plain != b.plain || !slices.Equal(a.args.operands, b.args.operands) {
		return false
	}
	for _, name := range []string{"bundle", "config", "process", "force"} {
		if a.args.get(name) != b.args.get(name) || a.args.has(name) != b.args.has(name) {
			return false
		}
	}
	return a.globals.get("root") == b.globals.get("root")
}

func readAs(words []string, g grammar) (*invocation, error) {
	list := optionsOf("", g)
	pass := &invocation{words: words, at: -1}
	readings, odd, err := allReadings(words, 0, list, g, true)
	if err != nil {
		return pass, refuseIfGuarded(words, err)
	}
	var found []*invocation
	for _, r := range readings {
		if r.stop || len(r.operands) == 0 {
			continue
		}
		at := r.operands[0]
		if odd && !slices.Contains(commands, words[at]) {
			continue
		}
		if !slices.ContainsFunc(found, func(f *invocation) bool { return f.at == at }) {
			found = append(found, &invocation{words: words, command: words[at], at: at, globals: r})
		}
	}
	isGuarded := func(v *invocation) bool { return slices.Contains(guarded, v.command) }
	if len(found) > 1 && slices.ContainsFunc(found, isGuarded) {
		return nil, fmt.Errorf("an unknown global option hides the command: it could be %s; write the option as --NAME=VALUE", strings.Join(names(found), " or "))
	}
	if len(found) != 1 {
		return pass, nil
	}
	v := found[0]
	switch {
	case v.command == "delete":
		// It only tells when to forget a record: one reading is enough.
		v.args, _, _ = parse(words, v.at+1, optionsOf(v.command, g), g, false, func(int) bool { return false })
		return v, nil
	case !isGuarded(v):
		return pass, nil
	}
	if err := v.readArgs(g); err != nil || !v.odd {
		return v, err
	}
	// What is not an option here can be one in the other grammar. Should the runtime be
	// another than its name says, the difference must not go unseen.
	other := &invocation{words: words, command: v.command, at: v.at, globals: v.globals}
	if err := other.readArgs(goGrammar + argpGrammar - g); err != nil || !same(v, other) {
		return nil, fmt.Errorf("%s has an option that is not known; write it as --NAME=VALUE, before the container id", v.command)
	}
	return v, nil
}

func names(list []*invocation) (s []string) {
	for _, v := range list {
		s = append(s, v.command)
	}
	return s
}

// refuseIfGuarded makes a command line that cannot be read an error where it could be
// one that concerns us; else the runtime says what is wrong with it.
func refuseIfGuarded(words []string, err error) error {
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(guarded, w) }) {
		return err
	}
	return nil
}

// allReadings parses words in every way that unknown options leave; odd tells that
// there are any.
func allReadings(words []string, at int, list []option, g grammar, first bool) (all []parsed, odd bool, err error) {
	p, unknowns, err := parse(words, at, list, g, first, func(int) bool { return false })
	if unknowns == 0 {
		if err != nil {
			return nil, false, err
		}
		return []parsed{p}, false, nil
	}
	for mask := range 1 << maxUnknown {
		p, n, e := parse(words, at, list, g, first, func(n int) bool { return n < maxUnknown && mask>>n&1 == 1 })
		switch {
		case n > maxUnknown:
			return nil, true, errors.New("too many options are unknown")
		case e != nil:
			err = e
		case mask>>n == 0: // the bits above are another mask's
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil, true, err
	}
	return all, true, nil
}

// readArgs reads what stands behind a guarded command.
func (v *invocation) readArgs(g grammar) error {
	exec := v.command == "exec"
	readings, odd, err := allReadings(v.words, v.at+1, optionsOf(v.command, g), g, exec)
	v.odd = odd
	if err != nil && odd {
		return err
	}
	if err != nil {
		// A value is missing, or a word is malformed: no runtime starts anything.
		v.plain = true
		return nil
	}
	var found []parsed
	for _, r := range readings {
		n := len(r.operands)
		switch {
		case r.stop || n == 0:
			// A help text, or the runtime's own complaint.
			v.args = r
		case n > 1 && !exec:
			if !odd {
				return fmt.Errorf("%s takes one container id, and there are %d words", v.command, n)
			}
		default:
			if !slices.ContainsFunc(found, func(f parsed) bool { return alike(&f, &r) }) {
				found = append(found, r)
			}
		}
	}
	switch {
	case len(found) > 1:
		return fmt.Errorf("%s has an option that is not known, and what follows can be read in two ways; write it as --NAME=VALUE", v.command)
	case len(found) == 0 && !odd:
		v.plain = true
	case len(found) == 0:
		return fmt.Errorf("%s has an option that is not known, and no container id is left", v.command)
	default:
		v.args = found[0]
	}
	return nil
}

func alike(a, b *parsed) bool {
	return slices.Equal(a.operands, b.operands) && a.get("bundle") == b.get("bundle") &&
		a.get("config") == b.get("config") && a.get("process") == b.get("process")
}
