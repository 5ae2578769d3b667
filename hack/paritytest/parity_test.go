package paritytest

import (
	"bufio"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

var runRows = flag.Bool("run-rows", false, "run the tests of each row")

var (
	tableRow = regexp.MustCompile(`^\| ([NRVEP][0-9]+) \| (.*) \| (.*) \|$`)
	// A mark is a comment: "parity: V7" or "parity: V2, V7".
	mark = regexp.MustCompile(`(?://|#).*\bparity: ([A-Z][0-9]+(?:, [A-Z][0-9]+)*)`)
)

// A holder is a test that shows a row.
type holder struct {
	dir string // from the root
	run string // for go test -run
}

func TestTable(t *testing.T) {
	rows := table(t)
	if len(rows) < 30 {
		t.Fatalf("PARITY.md has %d rows", len(rows))
	}
	held := holders(t)
	for row := range held {
		if !slices.Contains(rows, row) {
			t.Errorf("%v: there is no row %s in PARITY.md", held[row], row)
		}
	}
	for _, row := range rows {
		t.Run(row, func(t *testing.T) {
			if len(held[row]) == 0 {
				t.Fatalf("no test says that it shows this row: write one, with the comment // parity: %s", row)
			}
			for _, h := range held[row] {
				t.Logf("%s %s", h.dir, h.run)
				if *runRows {
					run(t, h)
				}
			}
		})
	}
}

// table reads the names of the rows.
func table(t *testing.T) (rows []string) {
	f, err := os.Open("PARITY.md")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if m := tableRow.FindStringSubmatch(s.Text()); m != nil {
			if slices.Contains(rows, m[1]) {
				t.Errorf("%s is there twice", m[1])
			}
			rows = append(rows, m[1])
		}
	}
	return rows
}

// holders finds the marks in the tree, and the test that each stands in or above.
func holders(t *testing.T) map[string][]holder {
	held := make(map[string][]holder)
	add := func(h holder, text string) {
		for _, m := range mark.FindAllStringSubmatch(text, -1) {
			for row := range strings.SplitSeq(m[1], ", ") {
				if !slices.Contains(held[row], h) {
					held[row] = append(held[row], h)
				}
			}
		}
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root:
			return fs.SkipDir
		case strings.HasSuffix(path, "_test.go") && filepath.Base(path) != "parity_test.go":
			return inGo(t, path, add)
		case strings.HasSuffix(path, ".txtar"):
			// The scripts of the command line: see TestScripts there.
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name := strings.TrimSuffix(filepath.Base(path), ".txtar")
			add(holder{"cmd/internal/cli", "^TestScripts$/^" + name + "$"}, string(data))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return held
}

func inGo(t *testing.T, path string, add func(holder, string)) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	dir, err := filepath.Rel(root, filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if !mark.MatchString(c.Text) {
				continue
			}
			test := ""
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if ok && strings.HasPrefix(f.Name.Name, "Test") && c.Pos() < f.End() && (f.Doc == group || c.Pos() > f.Pos()) {
					test = f.Name.Name
				}
			}
			if test == "" {
				t.Errorf("%s: %s: the comment stands neither above nor in a test", files.Position(c.Pos()), c.Text)
				continue
			}
			add(holder{dir, "^" + test + "$"}, c.Text)
		}
	}
	return nil
}

var ran = make(map[holder]bool)

// run runs a test once, however many rows it shows. A test that skips shows nothing.
func run(t *testing.T, h holder) {
	t.Helper()
	ok, done := ran[h]
	if !done {
		cmd := exec.Command("go", "test", "-count=1", "-v", "-run", h.run, "./"+h.dir)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "ENVSCRUB_REQUIRE=1")
		out, err := cmd.CombinedOutput()
		name := strings.Trim(strings.ReplaceAll(h.run, "$/^", "/"), "^$")
		ok = err == nil && strings.Contains(string(out), "--- PASS: "+name)
		ran[h] = ok
		if !ok {
			t.Errorf("%s\n%s", cmd, out)
			return
		}
	}
	if !ok {
		t.Errorf("%s %s has failed", h.dir, h.run)
	}
}
