package builtin

import (
	"slices"
	"strings"
	"testing"
)

func TestPresets(t *testing.T) {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
		if p.Doc == "" || len(p.Keep) == 0 || len(p.Commands) == 0 || len(p.Images) == 0 || !strings.HasPrefix(p.Source, "https://") {
			t.Errorf("%s is incomplete", p.Name)
		}
		for i, k := range p.Keep {
			if slices.Contains(p.Keep[:i], k) {
				t.Errorf("%s keeps %s twice", p.Name, k)
			}
		}
		if !slices.ContainsFunc(p.Keep, IsSensitiveName) && !slices.ContainsFunc(p.Keep, func(k string) bool { return strings.Contains(k, "*") }) {
			t.Errorf("%s keeps nothing that is removed by default", p.Name)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("not by name: %v", names)
	}
}

// The deny groups catch each name once they list it, the lists have no name twice, and no exact name stands among the
// names that an allow group offers.
func TestGroups(t *testing.T) {
	c := New(map[string]bool{gCredentialsOf: true})
	seen := map[string]string{}
	for _, g := range Deny() {
		if g.Doc == "" || len(g.Exact)+len(g.Names)+len(g.Globs) == 0 {
			t.Errorf("%s is empty", g.Name)
		}
		for _, n := range g.Names {
			if _, _, ok := c.Classify(n, unknownValue); !ok {
				t.Errorf("%s of %s is kept", n, g.Name)
			}
		}
		for _, n := range slices.Concat(g.Exact, g.Names) {
			if other, twice := seen[strings.ToUpper(n)]; twice && g.Name != gCredentialsOf {
				t.Errorf("%s stands in %s and in %s", n, other, g.Name)
			}
			seen[strings.ToUpper(n)] = g.Name
		}
		for _, glob := range g.Globs {
			name := strings.NewReplacer("__*", "__my").Replace(glob)
			if strings.HasSuffix(name, "*") {
				name = strings.TrimSuffix(name, "*") + "_2"
			}
			if strings.HasPrefix(name, "*") {
				name = "MY_" + strings.TrimLeft(name, "*_")
			}
			value := "Xk9made7up2Hh4Zq8made3up7"
			switch glob {
			case "*_WEBHOOK*":
				value = "https://hooks.example.com/" + value
			case "*_HEADERS":
				value = "x-api-key=" + value
			case "*_CODE":
				name = "MY_RECOVERY_CODE"
			case "*_PHRASE":
				name = "MY_SEED_PHRASE"
			case "*_FILE":
				name, value = "MY_TOKEN_FILE", "/run/token"
			case "BUNDLE_*__*":
				name = "BUNDLE_GEMS__EXAMPLE__COM"
			}
			if _, _, ok := c.Classify(name, value); !ok {
				t.Errorf("%s, made from %s of %s, is kept", name, glob, g.Name)
			}
		}
	}
	for v := range verdicts {
		if g := denyGroups[verdicts[v].group]; verdict(v) != vNone && !slices.Contains(g.Globs, verdicts[v].rule) {
			t.Errorf("%s does not list %s", g.Name, verdicts[v].rule)
		}
	}
	for _, g := range Allow() {
		if !g.Off {
			t.Errorf("%s is on by default", g.Name)
		}
		for _, n := range g.Names {
			for _, d := range Deny() {
				if slices.Contains(d.Exact, n) {
					t.Errorf("%s of %s is denied exactly", n, g.Name)
				}
			}
		}
	}
}

// parity: V3
func TestGlobsOfTheMission(t *testing.T) {
	c := New(nil)
	for _, name := range []string{"A_API_KEY", "A_APIKEY", "A__APIKEY", "A__B__APIKEY", "A_TOKEN", "A__XTOKEN", "A__B_TOKEN", "A_SECRET", "A__XSECRET", "A_PASSWORD", "A__XPASSWORD", "a_api_key", "a__xtoken"} {
		for _, value := range []string{"x", "x1", "made up with spaces", "123456", "https://host/", "plain"} {
			if _, _, ok := c.Classify(name, value); !ok {
				t.Errorf("%s=%s is kept", name, value)
			}
		}
		for _, value := range []string{"", "true", "False", "0", "1", "12345", "no"} {
			if _, _, ok := c.Classify(name, value); ok {
				t.Errorf("%s=%s is removed", name, value)
			}
		}
	}
}

// parity: E3
func TestIsSensitiveName(t *testing.T) {
	for _, name := range []string{"FOO_KEY", "FOO_SECRET", "FOO_TOKEN", "FOO_PASSWORD", "OPENAI_API_KEY", "LD_PRELOAD", "PGPASSWORD", "database_url", "AWS_ACCESS_KEY_ID"} {
		if !IsSensitiveName(name) {
			t.Errorf("%s is not sensitive", name)
		}
	}
	for _, name := range []string{"PATH", "HOME", "MONKEY", "KEYBOARD_LAYOUT", "MAX_TOKENS", "TOKEN_LIMIT", "SORT_KEY", "GPG_KEY", "AUTH_TYPE", "SSH_AUTH_SOCK", "", "_", "KUBECONFIG"} {
		if IsSensitiveName(name) {
			t.Errorf("%s is sensitive", name)
		}
	}
}

// A group that is off does nothing; one switch turns the files and sockets on.
//
// report: repopilot#47
func TestGroupsOff(t *testing.T) {
	c := New(map[string]bool{gPasswords: false})
	if _, _, ok := c.Classify("DB_PASSWORD", "x1"); ok {
		t.Error("the group passwords is off and removes")
	}
	c = New(map[string]bool{gCredentialsOf: true})
	for name, value := range map[string]string{
		"GOOGLE_APPLICATION_CREDENTIALS": "/run/gcp.json", "KUBECONFIG": "/root/.kube/config", "SSH_AUTH_SOCK": "/run/agent", "AWS_WEB_IDENTITY_TOKEN_FILE": "/run/token",
		"POSTGRES_PASSWORD_FILE": "/run/secrets/pg", "TLS_KEY": "/etc/tls/tls.key", "SSL_KEY_FILE": "/etc/ssl/key.pem", "DB_PASSWORD": "/run/secrets/db",
	} {
		if group, _, ok := c.Classify(name, value); !ok || group != gCredentialsOf {
			t.Errorf("%s is %v by %q", name, ok, group)
		}
		if _, _, ok := defaults().Classify(name, value); ok {
			t.Errorf("%s is removed by default", name)
		}
	}
}
