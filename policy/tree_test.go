package policy

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What TOML allows and forbids beyond a single line; the parser below checks only syntax.
func TestDocument(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"dotted keys", "harden.dumpable = \"off\"\nharden.privileged = \"refuse\"", ""},
		{"dotted keys through a profile", "profile.a.harden.dumpable = \"off\"\nprofile.a.deny = [\"A\"]", ""},
		{"header below a header", "[profile.a.harden]\ndumpable = \"off\"\n[profile.a]\ndeny = [\"A\"]", ""},
		{"several rules", "[[spawn.rule]]\ncommand = \"a\"\nallow = \"A\"\n[[spawn.rule]]\ncommand = \"b\"\nallow = \"B\"\n[spawn]\n[spawn]\n", "8:2: spawn"},
		{"CRLF", "deny = [\"A\"]\r\nalow = []\r\n", "2:1: alow"},
		{"comments and several lines", "deny = [ # one\n\t\"A\",\n\t# two\n\t\"B C\",\n]", "4:2: deny"},
		{"inline table with dots", "profile = { a.match.image = \"*\", a.deny = [\"A\"] }", ""},
		{"inline table with a key twice", "profile = { a = {}, a = {} }", "1:21: a"},
		{"inline table through a value", "set = { A = \"1\", A.b = \"2\" }", "1:18: A"},
		{"dotted key through a value", "mode = \"off\"\nmode.x = 1", "2:1: mode"},
		{"dotted key into a header's table", "[harden]\n[exec]\nallow = []\n[harden.x]\n", "4:9: harden.x"},
		{"header through a value", "mode = \"off\"\n[mode.x]", "2:2: mode"},
		{"list of tables over a table", "[hook]\n[[hook]]", "2:3: hook"},
		{"table over a list of tables", "[[hook]]\n[hook]", "2:2: hook"},
		{"list of tables over a list", "hook = []\n[[hook]]", "2:3: hook"},
		{"table inside a list of tables", "[[hook]]\ncommand = \"/x\"\n[hook.env]", "3:7: hook.env"},
		{"quoted key", "\"deny\" = [\"A\"]\n'allow' = [\"B\"]", ""},
		{"line break in a key", "\"a\\nb\" = 1", "1:1: a?b"},
		{"a date", "deny = 2026-01-01", "1:8: deny"},
		{"a list of lists", "deny = [[\"A\"]]", "1:1: deny"},
		{"deep nesting", "deny = " + strings.Repeat("[", 100000), "1:"},
		{"not UTF-8", "deny = [\"\xff\"]", "1:10: not valid TOML"},
		{"NUL", "deny = [\"A\\u0000\"]", "1:9: deny"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("F", []byte(c.text))
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "F:"+c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	var b strings.Builder
	b.WriteString("[set]\n")
	for i := range maxKeys + 1 {
		b.WriteString("A" + strconv.Itoa(i) + " = \"\"\n")
	}
	if _, err := Parse("F", []byte(b.String())); err == nil || !strings.Contains(err.Error(), "more than 4096 keys") {
		t.Error(err)
	}
}

func TestNearest(t *testing.T) {
	list := []string{"allow", "deny", "harden", "secrets"}
	for word, want := range map[string]string{"alow": "allow", "allwo": "allow", "dney": "deny", "den": "deny", "hardening": "", "secret": "secrets", "x": "", "unrelated": ""} {
		if got := nearest(word, list); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

// parity: R5
func TestRules(t *testing.T) {
	v := mustView(t, "deny = [\"A\"]\nallow = [\"B\"]\nunset = [\"C\"]\nset = { D = \"made-up\" }\ngroups = { loader = false }\n[agent]\nkeep = [\"E\"]", Subject{})
	var got []string
	builtins := 0
	for _, r := range v.Rules() {
		if r.Group != "" {
			builtins++
			if r.Group == "loader" {
				t.Errorf("%s of a group that is off", r.Name)
			}
			continue
		}
		got = append(got, r.List+" "+r.Name+" "+r.At.String())
	}
	want := []string{"deny A policy.toml:1", "allow B policy.toml:2", "keep E policy.toml:7", "set D policy.toml:4", "unset C policy.toml:3"}
	if !slices.Equal(got, want) || builtins < 20 {
		t.Errorf("%d built in, %s", builtins, got)
	}
}

// parity: V16
func TestRedactor(t *testing.T) {
	t.Setenv("KNOWN", key)
	v := mustView(t, "secrets = [\"env:KNOWN\"]\nredact.forms = [\"hex\"]", Subject{})
	if got := v.Redactor().String("a " + key + " b"); got != "a [REDACTED] b" {
		t.Error(got)
	}
}

func FuzzTemplate(f *testing.F) {
	f.Add("${container.id}")
	f.Add("$${x} ${annotation:a} $${")
	f.Fuzz(func(t *testing.T, text string) {
		what := checkTemplate(text)
		got, why := expand(text, &subject)
		if what != "" && why == "" {
			t.Error("expanded what was refused")
		}
		if why == "" && !strings.Contains(text, "$") && got != text {
			t.Error("changed a text that refers to nothing")
		}
	})
}
