package spawn

import (
	"errors"
	"strings"
	"testing"
)

// A glob that does not compile is named, wherever it stands: the shim says which one it was.
func TestPatternErrors(t *testing.T) {
	const bad = "*/[gh"
	for where, rules := range map[string][]Rule{
		"command": {{Command: bad, Allow: []string{"GH_TOKEN"}}},
		"allow":   {{Command: "*/gh", Allow: []string{bad}}},
		"trust":   nil,
	} {
		var trust []string
		if rules == nil {
			trust = []string{bad}
		}
		_, err := New([]string{"KEY"}, []string{"KEY=made-up"}, nil, rules, trust)
		var pattern *PatternError
		if !errors.As(err, &pattern) || pattern.Pattern != bad || errors.Unwrap(err) == nil || !strings.HasPrefix(err.Error(), bad+": ") {
			t.Errorf("%s: %v", where, err)
		}
	}
}

// Names are case-insensitive, in classes too; commands are not.
func TestClassesFold(t *testing.T) {
	for _, c := range []struct {
		pattern, s     string
		folded, strict bool
	}{
		{"[G]H_TOKEN", "gh_token", true, false},
		{"[g]h_token", "GH_TOKEN", true, false},
		{"[A-C]x", "bX", true, false},
		{"[A-C]x", "bx", true, false},
		{"[A-C]x", "Bx", true, true},
		{"[A-C]x", "dx", false, false},
	} {
		for fold, want := range map[bool]bool{true: c.folded, false: c.strict} {
			p, err := compile(c.pattern, fold)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.match(c.s); got != want {
				t.Errorf("%q matches %q, folded %v: %v", c.pattern, c.s, fold, got)
			}
		}
	}
}
