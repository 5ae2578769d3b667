package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/policy"
)

func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var commented = regexp.MustCompile(`(?m)^#(\[|[a-zA-Z_.-]+ = )`)

// The default policy is what holds without one, and each of its examples is valid.
func TestDefaultPolicy(t *testing.T) {
	plain := text(t, "policy.toml")
	for line := range strings.Lines(plain) {
		if !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" {
			t.Errorf("not commented out: %s", line)
		}
	}
	uncommented := commented.ReplaceAllString(plain, "$1")
	uncommented = strings.Replace(uncommented, "file:/etc/envscrub/secrets/*", "file:"+t.TempDir()+"/*", 1)
	for _, p := range []string{plain, uncommented} {
		file := filepath.Join(t.TempDir(), "policy.toml")
		if err := os.WriteFile(file, []byte(p), 0o600); err != nil {
			t.Fatal(err)
		}
		// The examples name secrets that are elsewhere.
		lookup := func(string) (string, bool) { return "made-up-0123456789", true }
		if _, err := policy.Load(policy.LoadOptions{Files: []string{file}, Lookup: lookup}); err != nil {
			t.Error(err)
		}
	}
}

// Every key that a policy may have is explained: the keys are taken from the
// error about an unknown one.
func TestEveryKeyIsThere(t *testing.T) {
	all := text(t, "policy.toml")
	section, found := "", map[string]map[string]bool{"": {}}
	for line := range strings.Lines(all) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "#")
		if m := regexp.MustCompile(`^\[+([a-z.]+)\]+$`).FindStringSubmatch(line); m != nil {
			section = m[1]
			if strings.HasPrefix(section, "profile.") {
				section = "profile"
			}
			first, rest, nested := strings.Cut(section, ".")
			found[""][first] = true
			if nested {
				if found[first] == nil {
					found[first] = map[string]bool{}
				}
				found[first][rest] = true
			}
			if found[section] == nil {
				found[section] = map[string]bool{}
			}
			continue
		}
		if m := regexp.MustCompile(`^([a-z_]+) = `).FindStringSubmatch(line); m != nil {
			found[section][m[1]] = true
		}
	}
	for section, head := range map[string]string{
		"": "", "agent": "[agent]\n", "spawn": "[spawn]\n", "spawn.rule": "[[spawn.rule]]\n", "spawn.trust": "[[spawn.trust]]\n",
		"exec": "[exec]\n", "harden": "[harden]\n", "hook": "[[hook]]\n", "redact": "[redact]\n", "audit": "[audit]\n", "nri": "[nri]\n",
	} {
		_, err := policy.Parse("x", []byte(head+"qqqqqqqqqq = 1\n"))
		if err == nil {
			t.Fatalf("[%s]: an unknown key is no error", section)
		}
		_, list, ok := strings.Cut(err.Error(), "the keys here are ")
		if !ok {
			t.Fatalf("[%s]: %v", section, err)
		}
		for key := range strings.SplitSeq(list, ", ") {
			if !found[section][key] {
				t.Errorf("[%s]: %s is not explained", section, key)
			}
		}
	}
}

func TestScriptsParse(t *testing.T) {
	for _, s := range []string{"postinstall.sh", "preremove.sh", "postremove.sh", "try.sh"} {
		if out, err := exec.Command("sh", "-n", s).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", s, err, out)
		}
	}
	if out, err := exec.Command("bash", "-n", "../release").CombinedOutput(); err != nil {
		t.Errorf("release: %v: %s", err, out)
	}
}
