package securitytest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// named is how SECURITY.md names a test: the folder of its package, a dot, its name.
var named = regexp.MustCompile("`([a-z/0-9]+)\\.(Test\\w+)`")

// TestTable reads every row of every table, and every item of a list: the last cell names at least one test, and every
// test that is named anywhere exists.
func TestTable(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, ".github/SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "| tries") || strings.HasPrefix(line, "|---"):
			continue
		case strings.HasPrefix(line, "| "), strings.HasPrefix(line, "- "):
			rows++
			cells := strings.Split(strings.Trim(line, "|"), "|")
			if !named.MatchString(cells[len(cells)-1]) {
				t.Errorf("no test is named: %s", line)
			}
		}
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			if !exists(t, m[1], m[2]) {
				t.Errorf("there is no %s in %s: %s", m[2], m[1], line)
			}
		}
	}
	if rows < 20 {
		t.Errorf("%d rows were read", rows)
	}
}

func exists(t *testing.T, dir, test string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "\nfunc "+test+"(t *testing.T)") {
			return true
		}
	}
	return false
}
