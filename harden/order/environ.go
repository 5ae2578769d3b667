package order

import (
	"strconv"
	"strings"
)

const (
	// Prefix begins the names of every control variable. Doors take all such
	// variables out of a container's environment before they add theirs: what
	// the shim finds there is trusted for that reason only.
	Prefix = "ENVSCRUB_"

	// Variable carries the order at the config door.
	Variable = Prefix + "ORDER"

	// partSize keeps each string well under the kernel's MAX_ARG_STRLEN of
	// 128 KiB.
	partSize = 96 << 10
)

// IsControl reports whether the entry ("NAME=VALUE" or a bare name) is one of
// ours, in any spelling.
func IsControl(entry string) bool {
	return len(entry) >= len(Prefix) && strings.EqualFold(entry[:len(Prefix)], Prefix)
}

// Environ returns the order as entries for the end of the shim's environment:
// one, or as many as it takes.
func (o *Order) Environ() []string {
	text := o.Encode()
	if len(text) <= partSize {
		return []string{Variable + "=" + text}
	}
	var entries []string
	for n := 1; text != ""; n++ {
		part := text[:min(partSize, len(text))]
		text = text[len(part):]
		entries = append(entries, Variable+"_"+strconv.Itoa(n)+"="+part)
	}
	return entries
}

// FromEnviron takes the order out of an environment: rest is what remains
// without any control variable. A nil order and no error mean that there was
// none. The last duplicate counts, as in the runtimes.
func FromEnviron(env []string) (o *Order, rest []string, err error) {
	var whole string
	var found bool
	parts := map[int]string{}
	rest = make([]string, 0, len(env))
	for _, entry := range env {
		if !IsControl(entry) {
			rest = append(rest, entry)
			continue
		}
		name, value, _ := strings.Cut(entry, "=")
		if name == Variable {
			whole, found = value, true
		} else if digits, ok := strings.CutPrefix(name, Variable+"_"); ok {
			if n, err := strconv.Atoi(digits); err == nil {
				parts[n] = value
			}
		}
	}
	if !found {
		if len(parts) == 0 {
			return nil, rest, nil
		}
		var joined strings.Builder
		for n := 1; n <= len(parts); n++ {
			joined.WriteString(parts[n])
		}
		whole = joined.String()
	}
	o, err = Decode(whole)
	return o, rest, err
}

// SteersShim reports whether Go's runtime takes orders from the variable: one
// that is malformed ends the shim (GOMEMLIMIT), others make it write to the
// container's standard error (GODEBUG) or dump what it holds (GOTRACEBACK).
func SteersShim(name string) bool {
	switch name {
	case "GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT", "GOTRACEBACK", "GOCOVERDIR":
		return true
	}
	return false
}

// Carry takes the entries that are not for the shim out of the environment in
// which it is to start, and into the order, so that only the agent gets them.
func (o *Order) Carry(env []string) []string {
	rest := make([]string, 0, len(env))
	for _, entry := range env {
		if name, _, _ := strings.Cut(entry, "="); SteersShim(name) {
			o.Set = append(o.Set, entry)
		} else {
			rest = append(rest, entry)
		}
	}
	return rest
}
