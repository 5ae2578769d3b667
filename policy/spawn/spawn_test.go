package spawn

import (
	"testing"

	"github.com/gobwas/glob"
)

func TestPasses(t *testing.T) {
	env := []string{
		"PATH=/bin", "OPENAI_API_KEY=sk-0123456789", "SHORT_TOKEN=1", "GH_TOKEN=ghp_abcdefgh", "GITHUB_TOKEN=ghp_abcdefgh",
		"DB_PASSWORD=pass-word-1", "DATABASE_URL=pg://u:pass-word-1@h/d", "EMPTY_KEY=",
	}
	only := []string{"openai_api_key", "SHORT_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "DB_PASSWORD", "DATABASE_URL", "EMPTY_KEY"}
	rules := []Rule{
		{Command: "*/gh", Allow: []string{"GH_TOKEN"}},
		{Command: "/usr/bin/psql", Allow: []string{"database_*"}},
		{Command: "/opt/all", Allow: []string{"*"}},
	}
	f, err := New(only, env, []string{"NPM_TOKEN=npm_zyxwvuts"}, rules, []string{"*/claude"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command, entry string
		want           bool
	}{
		{"/bin/sh", "PATH=/bin", true},
		{"/bin/sh", "OPENAI_API_KEY=sk-0123456789", false},
		{"/bin/sh", "openai_api_key=sk-0123456789", false},
		{"/bin/sh", "OPENAI_API_KEY=another-key", true},                // set on purpose
		{"/bin/sh", "MY_KEY=sk-0123456789", false},                     // another name
		{"/bin/sh", "AUTH=Bearer sk-0123456789", false},                // inside another value
		{"/bin/sh", "sk-0123456789", false},                            // no entry at all
		{"/bin/sh", "sk-0123456789=x", false},                          // as a name
		{"/bin/sh", "SHORT_TOKEN=1", false},                            // short, itself
		{"/bin/sh", "PORT=1", true},                                    // short, by chance
		{"/bin/sh", "SHORT_TOKEN=2", true},                             // changed
		{"/bin/sh", "EMPTY_KEY=", false},                               // empty, itself
		{"/bin/sh", "OTHER=", true},                                    // empty, by chance
		{"/bin/sh", "NPM_TOKEN=npm_zyxwvuts", false},                   // held
		{"/bin/sh", "NOTOKEN", true},                                   // malformed, harmless
		{"/bin/sh", "", true},                                          // nothing
		{"/usr/bin/gh", "GH_TOKEN=ghp_abcdefgh", true},                 // granted
		{"/usr/bin/gh", "GITHUB_TOKEN=ghp_abcdefgh", false},            // same value, not its name
		{"/usr/bin/gh", "X=ghp_abcdefgh", true},                        // granted value under a new name
		{"/usr/bin/gh", "OPENAI_API_KEY=sk-0123456789", false},         // not granted
		{"/usr/bin/ghx", "GH_TOKEN=ghp_abcdefgh", false},               // another command
		{"/usr/bin/psql", "DATABASE_URL=pg://u:pass-word-1@h/d", true}, // contains what is not granted
		{"/usr/bin/psql", "DB_PASSWORD=pass-word-1", false},
		{"/opt/all", "DB_PASSWORD=pass-word-1", true},
	} {
		g := f.For([]string{c.command})
		if got := g.Passes(c.entry); got != c.want {
			t.Errorf("%s: %q passes: %v, want %v", c.command, c.entry, got, c.want)
		}
	}
	all := f.For([]string{"/opt/all"})
	if got := all.Added(); len(got) != 1 || got[0] != "NPM_TOKEN=npm_zyxwvuts" {
		t.Errorf("Added() = %q", got)
	}
	if !f.Trusts([]string{"/x", "/usr/bin/claude"}) || f.Trusts([]string{"/usr/bin/claude2"}) {
		t.Error("Trusts is wrong")
	}
}

func TestPassesAllocatesNothing(t *testing.T) {
	f, _ := New([]string{"K"}, []string{"K=0123456789"}, nil, nil, nil)
	if n := testing.AllocsPerRun(100, func() { g := f.For(nil); g.Passes("A=b") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"*/gh", "/usr/bin/gh", true},
		{"*/gh", "/usr/bin/ghx", false},
		{"*/gh", "gh", false},
		{"/usr/bin/*", "/usr/bin/a/b", true},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"[a-c]x", "bx", true},
		{"[!a-c]x", "bx", false},
		{"[]]", "]", true},
		{"[a\\]]", "]", true},
		{"{a,b*}z", "bcz", true},
		{"{a,{b,c}d}", "cd", true},
		{"{a,b}", "c", false},
		{"\\*", "*", true},
		{"\\*", "x", false},
		{"a**b", "ab", true},
		{"*a*b*c*", "xxaxxbxxcxx", true},
		{"", "", false},
	} {
		p, err := compile(c.pattern, false)
		if err != nil {
			if c.want {
				t.Errorf("%q: %v", c.pattern, err)
			}
			continue
		}
		if got := p.match(c.s); got != c.want {
			t.Errorf("%q matches %q: %v", c.pattern, c.s, got)
		}
	}
	for _, bad := range []string{"", "[a", "{a,b", "a}", "a\\", "{a,[}"} {
		if CheckGlob(bad) == nil {
			t.Errorf("%q compiles", bad)
		}
	}
}

// FuzzGlob compares the matcher with the library that the policy uses, on
// patterns in the part of the language that both read alike.
func FuzzGlob(f *testing.F) {
	f.Add("*/g?", "/usr/bin/gh")
	f.Add("{a,b*}c", "bxc")
	f.Fuzz(func(t *testing.T, text, s string) {
		p, err := compile(text, false)
		if err != nil {
			return
		}
		got := p.match(s)
		for i := 0; i < len(text); i++ {
			switch c := text[i]; {
			case c == '*', c == '?', c == '{', c == '}', c == ',', c == '/', 'a' <= c && c <= 'z':
			default:
				return
			}
		}
		for i := 0; i < len(s); i++ {
			if s[i] >= 0x80 {
				return
			}
		}
		theirs, err := glob.Compile(text)
		if err != nil {
			return
		}
		if want := theirs.Match(s); got != want {
			t.Errorf("%q on %q: %v, the library says %v", text, s, got, want)
		}
	})
}

func BenchmarkPasses(b *testing.B) {
	f, _ := New([]string{"A", "B"}, []string{"A=sk-0123456789012345", "B=ghp_0123456789012345"}, nil, nil, nil)
	g := f.For(nil)
	for b.Loop() {
		g.Passes("LS_COLORS=rs=0:di=01;34:ln=01;36:mh=00:pi=40;33:so=01;35")
	}
}
