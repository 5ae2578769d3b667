package policy

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestRuntimes(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"runtimes = ['crun', \"/opt/my \\\"runc\\\"\"] # and\nmode = 'observe'\n", []string{"crun", `/opt/my "runc"`}},
		{"deny = [\n 'runtimes = [\"x\"]'\n]\nruntimes = [\n  'runc', # first\n  'crun',\n]\n[agent]\nkeep = []\n", []string{"runc", "crun"}},
		{"[profile.a]\nruntimes = ['x']\n", nil},
		{"runtimes = 'runc'\n", nil},
		{"runtimes = ['runc']\nthis is not TOML", []string{"runc"}},
		{"this is not TOML\nruntimes = ['runc']", nil},
	} {
		file := filepath.Join(t.TempDir(), "policy.toml")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Runtimes(LoadOptions{Files: []string{file, file + ".absent"}}); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
