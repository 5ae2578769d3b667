package policy

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

const corpus = "../testdata/policy"

// parity: V5, R4; report: gemini-cli#23204. Each bad file says itself at which place which error is due, and no error
// repeats a value: the files hold "made-up-value-1" where one could.
func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus, "bad", "*.toml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no bad files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".toml"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text, want, ok := bytes.Cut(data, []byte("# want: "))
			if !ok {
				t.Fatal("no want line")
			}
			_, err = Parse("FILE", text)
			if err == nil {
				t.Fatalf("no error, want %s", want)
			}
			got := strings.TrimPrefix(err.Error(), "FILE:")
			if got != strings.TrimSpace(string(want)) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if strings.Contains(err.Error(), "made-up") || strings.Contains(err.Error(), "madeUp") {
				t.Error("the error repeats a value")
			}
		})
	}
}

// The good files are policies with an environment; the golden file is the decision on it. The environments' values
// must not be in it.
func TestGoodFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus, "good", "*.toml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no good files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".toml"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Parse(filepath.Base(file), data)
			if err != nil {
				t.Fatal(err)
			}
			base := strings.TrimSuffix(file, ".toml")
			env, err := os.ReadFile(base + ".env")
			if err != nil {
				t.Fatal(err)
			}
			v, err := p.For(subject)
			if err != nil {
				t.Fatal(err)
			}
			d, err := v.Decide(strings.Split(strings.TrimSuffix(string(env), "\n"), "\n"))
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			fmt.Fprintf(&b, "profile %q, mode %s\n", v.Profile, v.Mode)
			for _, x := range d.Variables {
				fmt.Fprintf(&b, "%-7s %-30s %s [%s]", x.Fate, x.Name, x.Rule, x.At)
				if x.Note != "" {
					fmt.Fprintf(&b, " (%s)", x.Note)
				}
				b.WriteByte('\n')
			}
			for _, w := range p.Warnings() {
				fmt.Fprintf(&b, "warning %s: %s\n", w.Position, w.Text)
			}
			if strings.Contains(b.String(), "made-up") {
				t.Error("the report repeats a value")
			}
			golden(t, base+".want", b.String())
		})
	}
}

var subject = Subject{
	ContainerID: "c0ffee", Image: "ghcr.io/acme/agent:1", User: "1000", UserName: "agent",
	Args:        []string{"/usr/local/bin/agent", "--serve"},
	Annotations: map[string]string{"io.example.team": "blue", "io.example.run": "r-17"},
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got\n%s\nwant\n%s", file, got, want)
	}
}
