package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNeverRemoved holds the names that no release may begin to remove by default.
//
// report: anthropics/claude-code#91020
// report: claude-mem#2999
// report: openai/codex#3064
// report: google-gemini/gemini-cli PR#21473
func TestNeverRemoved(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "testdata", "corpus", "never-removed.txt"))
	if err != nil {
		t.Fatal(err)
	}
	view, err := Default().For(Subject{})
	if err != nil {
		t.Fatal(err)
	}
	for n, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		d, err := view.Decide([]string{line})
		if err != nil {
			t.Fatalf("line %d: %v", n+1, err)
		}
		if v := d.Variables[0]; v.Fate != FateKept {
			t.Errorf("%s is %s by %s", v.Name, v.Fate, v.Rule)
		}
		if got := d.Container(); len(got) != 1 || got[0] != line {
			t.Errorf("line %d does not come out as it went in", n+1)
		}
	}
}
