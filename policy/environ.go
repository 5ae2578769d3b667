package policy

import (
	"errors"
	"strings"
)

// Environ is an environment as a process gets it: "NAME=VALUE" entries.
type Environ []string

// Lookup gives the value of a variable; of two with one name the last, as a shell does.
func (e Environ) Lookup(name string) (string, bool) {
	for i := len(e) - 1; i >= 0; i-- {
		if n, value, ok := cut(e[i]); ok && sameVariable(n, name) {
			return value, true
		}
	}
	return "", false
}

// Argv wraps a command for launchers that add to an environment instead of replacing it: the absolute
// /usr/bin/env -i NAME=VALUE … command. No shell reads it. A command with '=' in its name cannot be wrapped, since
// env would take it for one more variable.
func (e Environ) Argv(command string, args ...string) ([]string, error) {
	if command == "" || strings.Contains(command, "=") {
		return nil, errors.New("a command whose name is empty or holds '=' cannot be started through env")
	}
	argv := make([]string, 0, len(e)+len(args)+4)
	argv = append(argv, "/usr/bin/env", "-i")
	for _, entry := range e {
		if strings.HasPrefix(entry, "-") {
			argv = append(argv, "--")
			break
		}
	}
	argv = append(argv, e...)
	return append(append(argv, command), args...), nil
}

// Overrides is for launchers that merge: every variable of the environment, and nil, which means unset, for each that
// is set now and is not in it.
func (e Environ) Overrides(current []string) map[string]*string {
	overrides := make(map[string]*string, len(current)+len(e))
	for _, entry := range current {
		if name, _, ok := cut(entry); ok {
			overrides[name] = nil
		}
	}
	for _, entry := range e {
		if name, value, ok := cut(entry); ok {
			overrides[name] = &value
		}
	}
	return overrides
}

// with gives a copy in which a variable has the value; in place if it is there.
func (e Environ) with(name, value string) Environ {
	out := make(Environ, 0, len(e)+1)
	found := false
	for _, entry := range e {
		if n, _, ok := cut(entry); ok && sameVariable(n, name) {
			if !found {
				out = append(out, name+"="+value)
			}
			found = true
			continue
		}
		out = append(out, entry)
	}
	if !found {
		out = append(out, name+"="+value)
	}
	return out
}

// without gives a copy that has none of the names that the function accepts.
func (e Environ) without(drop func(name string) bool) Environ {
	out := make(Environ, 0, len(e))
	for _, entry := range e {
		if n, _, ok := cut(entry); !ok || !drop(n) {
			out = append(out, entry)
		}
	}
	return out
}
