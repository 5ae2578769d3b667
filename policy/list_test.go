package policy

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A single string stands for a list of one, in every key that is a list; what is neither is refused.
func TestStringForList(t *testing.T) {
	for _, text := range []string{
		"deny = %s", "allow = %s", "locked = %s", "unset = %s", "[agent]\nkeep = %s", "[exec]\nallow = %s",
		"[[spawn.rule]]\ncommand = \"/x\"\nallow = %s", "[profile.p]\ndeny = %s", "[nri]\nnamespaces = %s",
		"secrets = %s:secret", "runtimes = %s:runtime", "[agent]\npresets = %s:preset", "[redact]\nforms = %s:form", "overrides = %s:override",
		"[[hook]]\ncommand = %s:path", "[harden]\ndiagnostics = %s:diagnostics",
	} {
		text, kind, _ := strings.Cut(text, "%s:")
		entry := map[string]string{
			"": "MADE_UP", "secret": "env:MADE_UP", "runtime": "runc", "preset": "codex", "form": "hex", "override": "allow", "path": "/bin/true", "diagnostics": "dotnet",
		}[kind]
		if kind != "" {
			text += "%s"
		}
		for value, want := range map[string]bool{
			fmt.Sprintf("%q", entry): true, fmt.Sprintf("[%q]", entry): true, "5": false, "true": false, "[5]": false, "{ a = 1 }": false, `""`: false, `" x"`: false,
		} {
			file := filepath.Join(place(t, map[string]string{"p.toml": fmt.Sprintf(text, value) + "\n"}), "p.toml")
			_, err := Load(LoadOptions{Files: []string{file}, Lookup: func(string) (string, bool) { return "made-up-value", true }})
			if (err == nil) != want {
				t.Errorf("%s: %v", fmt.Sprintf(text, value), err)
			}
		}
	}
	one := view(t, LoadOptions{Files: []string{filepath.Join(place(t, map[string]string{"p.toml": "deny = \"MADE_*\"\nallow = \"GH_TOKEN\"\n"}), "p.toml")}}, Subject{})
	if got := names(mustDecide(t, one, "MADE_UP=1", "GH_TOKEN="+key, "A=1").Container()); got != "GH_TOKEN A" {
		t.Error(got)
	}
}
