// man renders the manual pages that are not the command line's own (`envscrub man`
// writes those): the policy's, and those of the programs that engines call.
//
//	man DIRECTORY-OF-PROGRAMS TARGET
//
// A source is Markdown. A line "@help PROGRAM" is replaced by what the program says of
// itself, and "@file PATH" by a file of the repository: each has one home.
package main

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
)

//go:embed *.md
var sources embed.FS

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: man DIRECTORY-OF-PROGRAMS TARGET")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

func run(programs, target string) error {
	entries, err := sources.ReadDir(".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		source, err := sources.ReadFile(e.Name())
		if err != nil {
			return err
		}
		text, err := expand(string(source), programs)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name(), err)
		}
		page := filepath.Join(target, strings.TrimSuffix(e.Name(), ".md"))
		if err := os.WriteFile(page, md2man.Render([]byte(text)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func expand(source, programs string) (string, error) {
	var b strings.Builder
	for line := range strings.Lines(source) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		var text []byte
		var err error
		switch word {
		case "@help":
			text, err = exec.Command(filepath.Join(programs, rest), "--help").CombinedOutput()
		case "@file":
			text, err = os.ReadFile(rest)
		default:
			b.WriteString(line)
			continue
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", strings.TrimSpace(line), err)
		}
		for l := range strings.Lines(string(text)) {
			b.WriteString("    " + strings.ReplaceAll(l, "\t", "  "))
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}
