package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
)

// Every page renders, in its section, and has what the programs and the policy say of themselves.
func TestPages(t *testing.T) {
	programs := filepath.Dir(rig.Bin(t, "envscrub-hook"))
	rig.Bin(t, "envscrub-nri")
	t.Chdir(filepath.Join("..", "..", ".."))
	target := t.TempDir()
	if err := run(programs, target); err != nil {
		t.Fatal(err)
	}
	for page, words := range map[string][]string{
		"envscrub-policy.5":  {".TH envscrub-policy 5 ", "[[spawn.rule]]", "shim_timeout"},
		"envscrub-hook.8":    {".TH envscrub-hook 8 ", "--state-dir"},
		"envscrub-runtime.8": {".TH envscrub-runtime 8 ", "envscrub-policy="},
		"envscrub-nri.8":     {".TH envscrub-nri 8 ", "-socket", "required-plugins.noderesource.dev"},
		"envscrub-shim.8":    {".TH envscrub-shim 8 "},
	} {
		data, err := os.ReadFile(filepath.Join(target, page))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(strings.ToUpper(string(data)), `\-`, "-")
		for _, word := range words {
			if !strings.Contains(text, strings.ToUpper(word)) {
				t.Errorf("%s has no %s", page, word)
			}
		}
		if strings.Contains(text, "\n@") {
			t.Errorf("%s: a line was not replaced", page)
		}
	}
	if err := run(target, t.TempDir()); err == nil {
		t.Error("no error where the programs are missing")
	}
}
