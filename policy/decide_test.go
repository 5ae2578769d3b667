package policy

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func mustView(t testing.TB, text string, s Subject) *View {
	t.Helper()
	p, err := Parse("policy.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.For(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func mustDecide(t testing.TB, v *View, env ...string) *Decision {
	t.Helper()
	d, err := v.Decide(env)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func names(env []string) string {
	list := make([]string, len(env))
	for i, entry := range env {
		list[i], _, _ = strings.Cut(entry, "=")
	}
	return strings.Join(list, " ")
}

const key = "kd83-Hn2k-Pq9z-made-up"

func TestTable(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		env          []string
		keeps        string
	}{
		{"defaults", "", []string{"PATH=/bin", "GH_TOKEN=" + key, "LANG=C"}, "PATH LANG"},
		// parity: V3
		{
			"V3", "", []string{
				"A_API_KEY=" + key, "A_APIKEY=" + key, "A__APIKEY=" + key, "A_TOKEN=" + key, "A__BTOKEN=" + key, "A_SECRET=" + key, "A__BSECRET=" + key,
				"A_PASSWORD=" + key, "A__BPASSWORD=" + key, "TELEGRAM_BOT_TOKEN=1", "OPENAI_API_KEY=1", "GOOGLE_CLIENT_SECRET=1", "ANTHROPIC_API_KEY=1",
				"ANTHROPIC_AUTH_TOKEN=1", "CLAUDE_CODE_OAUTH_TOKEN=1", "LD_PRELOAD=x", "LD_AUDIT=x", "DYLD_INSERT_LIBRARIES=x", "PLAIN=1",
			}, "PLAIN",
		},
		// parity: V4
		{"V4 allow beats glob", `allow = ["GH_TOKEN", "CI_*"]`, []string{"GH_TOKEN=" + key, "CI_TOKEN=" + key + "2", "X_TOKEN=" + key + "3"}, "GH_TOKEN CI_TOKEN"},
		{"V4 exact deny beats allow glob", "deny = [\"CI_JOB\"]\nallow = [\"CI_*\"]", []string{"CI_JOB=" + key, "CI_X=1"}, "CI_X"},
		{"V4 case", `allow = ["gh_token"]`, []string{"Gh_Token=" + key, "openai_API_key=1"}, "Gh_Token"},
		{"own glob looks at no value", `deny = ["*_FLAG"]`, []string{"A_FLAG=1", "B_TOKEN=1"}, "B_TOKEN"},
		{"own glob beats core", "inherit = \"core\"\ndeny = [\"XDG_*\"]", []string{"XDG_DATA_HOME=/x", "HOME=/h"}, "HOME"},
		// report: gemini-cli#18302
		{"B1", "deny = [\"*TOKEN*\"]\nallow = [\"GITHUB_PERSONAL_ACCESS_TOKEN\"]", []string{"GITHUB_PERSONAL_ACCESS_TOKEN=" + key, "MY_TOKENS=x"}, "GITHUB_PERSONAL_ACCESS_TOKEN"},
		// The design's precedence: a glob in allow beats a glob in deny. report: llxprt-code PR#1642
		{"C13", `allow = ["AGENT_*"]`, []string{"AGENT_MODE=fast", "AGENT_SESSION_KEY=x1"}, "AGENT_MODE AGENT_SESSION_KEY"},
		// report: fish-shell#2784, kata-containers#5730
		{"C3", "", []string{"API_KEY=a1-" + key, "PATH=/bin", "API_KEY=b2-" + key, "api_key=c3-" + key, "PATH=/sbin", "COPY=a1-" + key}, "PATH"},
		{"duplicates of different case are two", "", []string{"foo=1", "FOO=2"}, "foo FOO"},
		// report: claude-mem#2999
		{"B6", "", []string{"HTTP_PROXY=http://p:3128", "https_proxy=http://p:3128", "NO_PROXY=localhost", "NODE_EXTRA_CA_CERTS=/c", "SSL_CERT_FILE=/c"}, "HTTP_PROXY https_proxy NO_PROXY NODE_EXTRA_CA_CERTS SSL_CERT_FILE"},
		// report: omi PR#8388
		{"C11", "", []string{"HTTPS_PROXY=http://bob:pw-x1-made-up@proxy:3128", "no_proxy=localhost", "PW=pw-x1-made-up"}, "no_proxy"},
		// parity: N1
		{"N1 none", "inherit = \"none\"\nallow = [\"HOME\", \"MY_*\"]", []string{"PATH=/bin", "HOME=/root", "MY_X=1", "GH_TOKEN=" + key}, "HOME MY_X"},
		// parity: N2
		{"N2 loader beats allow glob", "inherit = \"none\"\nallow = [\"*\"]", []string{"LD_PRELOAD=/x.so", "DYLD_INSERT_LIBRARIES=/x", "A=1"}, "A"},
		// parity: E1
		{"E1 core", `inherit = "core"`, []string{"HOME=/h", "USER=u", "PATH=/b", "GOPATH=/g", "https_proxy=http://p", "XDG_CONFIG_HOME=/c", "LC_ALL=C", "SSH_AUTH_SOCK=/s", "COLOR=x"}, "HOME USER PATH GOPATH https_proxy XDG_CONFIG_HOME LC_ALL SSH_AUTH_SOCK"},
		// parity: E5
		{"E5", "inherit = \"core\"\nallow = [\"AGENTHUB_*\"]", []string{"AGENTHUB_RUN=1", "OTHER=1"}, "AGENTHUB_RUN"},
		// parity: R1
		{"R1", "deny = [\"EXTRA\"]\nallow = [\"NPM_TOKEN\"]", []string{"EXTRA=1", "NPM_TOKEN=" + key, "PYPI_TOKEN=" + key + "2"}, "NPM_TOKEN"},
		// parity: P2
		{"P2 control", `allow = ["*"]`, []string{"ENVSCRUB_ALLOW=X", "envscrub_order=x", "ENVSCRUBBED=1"}, "ENVSCRUBBED"},
		{"group off", "[groups]\nloader = false", []string{"LD_PRELOAD=/x.so"}, "LD_PRELOAD"},
		{"shapes off", "[groups]\nshapes = false", []string{"A=http://u:made-up-pw-1@h/"}, "A"},
		{"odd globs", `deny = ["A?C", "[XY]Z", "{P,Q}R", "M*N*O", "**W"]`, []string{"ABC=1", "AC=1", "XZ=1", "ZZ=1", "QR=1", "MxNyO=1", "MN=1", "VW=1"}, "AC ZZ MN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := mustDecide(t, mustView(t, c.policy, Subject{}), c.env...)
			if got := names(d.Container()); got != c.keeps {
				t.Errorf("kept %s, want %s", got, c.keeps)
			}
			if !slices.Equal(d.Agent(), d.Container()) {
				t.Error("the agent has more without keep")
			}
		})
	}
}

// Rules 4 and 5, with the false alarms that they must not give.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		name   string
		secret string // value of S_TOKEN
		value  string // value of OTHER
		kept   bool
	}{
		{"equal", key, key, false},
		{"in a URL", "s3cret-value", "postgres://u:s3cret-value@h/db", false},
		{"in a URL without its shape", "Hn2kPq9z77", "https://h/?k=Hn2kPq9z77&x=1", false},
		{"generated, inside a word", "Hn2kPq9z77", "xxHn2kPq9z77yy", false},
		{"at the end", "Hn2kPq9z77", "x Hn2kPq9z77", false},
		{"seven characters", "Hn2kPq9", "Hn2kPq9", true},
		{"eight characters", "Hn2kPq97", "Hn2kPq97", false},
		{"a word, equal", "sunshine", "sunshine", false},
		{"a word as a password", "sunshine", "--user=a --password=sunshine", false},
		{"a word in a sentence", "sunshine", "moonshine_sunshine_x", true},
		{"a default password", "postgres", "postgres", true},
		{"a default password in a URL", "postgres", "postgres://localhost/postgres", true},
		{"password", "password", "forgot-password", true},
		{"a region, equal", "us-east-1", "us-east-1", false},
		{"a region in a host name", "us-east-1", "123.dkr.ecr.us-east-1.amazonaws.com", true},
		{"a slug as a value", "my-project-key", "key=my-project-key", false},
		{"a slug in a path", "my-project-key", "/srv/my-project-key/x", true},
		{"a path, equal", "/home/agent/.kube/config", "/home/agent/.kube/config", false},
		{"a path in a list", "/home/agent/.kube", "/home/agent/.kube/config:/x", true},
		{"a URL without a password", "https://api.example.com", "https://api.example.com/v1", true},
		{"a host and port", "db.example:5432", "tcp://db.example:5432/x", true},
		{"a webhook", "https://hooks.example.com/T00/B00/aB3dE5gH7jK9mN1pQ3sT", "curl https://hooks.example.com/T00/B00/aB3dE5gH7jK9mN1pQ3sT", false},
		{"base64 that begins with a slash", "/9j4AAQSk+ZJRgAB/AQ==", "x /9j4AAQSk+ZJRgAB/AQ== y", false},
		{"several lines", "-line one\nline two-", "x -line one\nline two- y", false},
		{"a number", "12345678", "port 12345678 x", false},
		{"a number within a number", "12345678", "9123456780", true},
		{"the password of a removed URL", "amqp://u:Hn2kPq9z77@h", "Hn2kPq9z77", false},
		{"the decoded password of a removed URL", "amqp://u:Hn2k%2FPq9z77@h", "Hn2k/Pq9z77", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Shapes and the judgement of the name are other rules.
			v := mustView(t, "deny = [\"S_TOKEN\"]\n[groups]\nshapes = false", Subject{})
			d := mustDecide(t, v, "OTHER="+c.value, "S_TOKEN="+c.secret, "PATH=/bin:"+c.value, "HOME="+c.value)
			if got := slices.Contains(d.Container(), "OTHER="+c.value); got != c.kept {
				t.Errorf("kept is %v: %+v", got, d.Variables)
			}
			// report: gemini-cli#15349: never damage PATH and HOME
			if !slices.Contains(d.Container(), "HOME="+c.value) || !slices.Contains(d.Container(), "PATH=/bin:"+c.value) {
				t.Error("PATH or HOME was removed")
			}
			if strings.Contains(d.Variables[0].Rule, "alias of S_TOKEN") == c.kept {
				t.Errorf("rule %q", d.Variables[0].Rule)
			}
		})
	}
}

// The same word as user, database and password is no secret; a generated value is one, whatever the variable is called.
func TestNamesAsPasswords(t *testing.T) {
	v := mustView(t, "", Subject{})
	d := mustDecide(t, v, "WORDPRESS_DB_USER=wordpress", "WORDPRESS_DB_PASSWORD=wordpress", "WORDPRESS_DB_NAME=wordpress", "SITE=wordpress")
	if got := names(d.Container()); got != "WORDPRESS_DB_USER WORDPRESS_DB_NAME SITE" {
		t.Error(got)
	}
	d = mustDecide(t, v, "DB_USER="+key, "DB_PASSWORD="+key)
	if got := names(d.Container()); got != "" {
		t.Error(got)
	}
}

// parity: V6; report: gemini-cli#15349
func TestSecretValues(t *testing.T) {
	t.Setenv("KNOWN", key)
	t.Setenv("SHORT", "short12")
	v := mustView(t, "allow = [\"ISSUE_BODY\"]\nsecrets = [\"env:KNOWN\", \"env:SHORT\"]", Subject{})
	d := mustDecide(t, v, "HARMLESS="+key, "OTHER_BODY=see "+key, "ISSUE_BODY=see "+key, "HOME="+key, "S=short12")
	if got := names(d.Container()); got != "ISSUE_BODY HOME S" {
		t.Error(got)
	}
	if x := d.Variables[0]; x.Rule != "secret-value" || x.At.Line != 2 || x.Note != "equals env:KNOWN" {
		t.Errorf("%+v", x)
	}
	for _, i := range []int{2, 3} {
		if x := d.Variables[i]; x.Note != "holds the value of env:KNOWN" {
			t.Errorf("%+v", x)
		}
	}
	if !slices.Equal(d.SecretValues(), []string{key}) {
		t.Errorf("%d values", len(d.SecretValues()))
	}
}

func TestKeep(t *testing.T) {
	v := mustView(t, "[agent]\nkeep = [\"OPENAI_API_KEY\", \"MODEL_*\"]\n[placeholder]\nOPENAI_API_KEY = \"none\"\n[[spawn.rule]]\ncommand = \"*/gh\"\nallow = [\"GH_TOKEN\"]", Subject{})
	d := mustDecide(t, v, "A=1", "OPENAI_API_KEY="+key, "B=2", "MODEL_NAME=x", "MODEL_TOKEN="+key+"2", "GH_TOKEN="+key+"3", "C=3")
	if got, want := strings.Join(d.Container(), " "), "A=1 OPENAI_API_KEY=none B=2 MODEL_NAME=x C=3"; got != want {
		t.Errorf("container %s", got)
	}
	if got := names(d.Agent()); got != "A OPENAI_API_KEY B MODEL_NAME MODEL_TOKEN C" {
		t.Errorf("agent %s", got)
	}
	if !slices.Contains(d.Agent(), "OPENAI_API_KEY="+key) || slices.Contains(d.Agent(), "OPENAI_API_KEY=none") {
		t.Error("the agent has the placeholder")
	}
	if got := strings.Join(d.AgentOnly(), " "); got != "OPENAI_API_KEY MODEL_TOKEN" {
		t.Errorf("agent only %s", got)
	}
	if got := names(d.Held()); got != "GH_TOKEN" {
		t.Errorf("held %s", got)
	}
	if len(d.SecretValues()) != 3 {
		t.Errorf("%d secrets", len(d.SecretValues()))
	}
}

// parity: R2, V7, E4; report: claude-octopus#660
func TestSetUnset(t *testing.T) {
	text := `
time_zone = "Asia/Tokyo"
unset = ["GONE", "DROP_*"]
[set]
RUN = "${container.id}-${annotation:io.example.run}"
GH_TOKEN = "explicit-is-not-filtered"
PATH = "/opt/bin"
`
	v := mustView(t, text, subject)
	d := mustDecide(t, v, "gone=1", "PATH=/bin", "path=/x", "TZ=UTC", "DROP_A=1", "Z=1", "DROPPED=1")
	want := "PATH=/opt/bin path=/x TZ=Asia/Tokyo Z=1 DROPPED=1 RUN=c0ffee-r-17 GH_TOKEN=explicit-is-not-filtered"
	if got := strings.Join(d.Container(), " "); got != want {
		t.Errorf("got %s", got)
	}
	for _, c := range []struct{ policy, want string }{
		{"[set]\nTZ = \"UTC\"", "TZ=UTC"}, // explicit wins over time_zone
		{"", "TZ=Asia/Tokyo"},
	} {
		v := mustView(t, "time_zone = \"Asia/Tokyo\"\n"+c.policy, Subject{})
		if got := strings.Join(mustDecide(t, v).Container(), " "); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	p, err := Parse("policy.toml", []byte("[set]\nA = \"${annotation:missing}\""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.For(Subject{}); err == nil || err.Error() != "policy.toml:2:1: set.A: refers to an annotation that the container does not have; add the annotation or move the entry into a profile" {
		t.Error(err)
	}
}

func TestModes(t *testing.T) {
	env := []string{"A=1", "A=2", "GH_TOKEN=" + key}
	d := mustDecide(t, mustView(t, "mode = \"observe\"\nset = { B = \"1\" }", Subject{}), env...)
	if got := strings.Join(d.Container(), " "); got != "A=2 GH_TOKEN="+key {
		t.Errorf("observe: %s", got)
	}
	if got := d.Removed(); !slices.Equal(got, []string{"GH_TOKEN"}) {
		t.Errorf("observe: %s", got)
	}
	d = mustDecide(t, mustView(t, "mode = \"off\"", Subject{}), env...)
	if !slices.Equal(d.Container(), env) || len(d.Removed()) != 0 {
		t.Errorf("off: %s", d.Container())
	}
}

// report: cdkd PR#2186
func TestMalformed(t *testing.T) {
	v := mustView(t, "", Subject{})
	for _, c := range []struct{ entry, want string }{
		{"made-up-secret", "environment: entry 2 has no '='; correct what sets it"},
		{"", "environment: entry 2 has no '='; correct what sets it"},
		{"=made-up-secret", "environment: entry 2 has no name; correct what sets it"},
		{"A=made-up\x00secret", "environment: entry 2 holds a NUL byte; correct what sets it"},
	} {
		if _, err := v.Decide([]string{"X=1", c.entry}); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v", c.entry, err)
		}
	}
	// What follows the first '=' is value: the name is LD_PRELOAD.
	if d := mustDecide(t, v, "LD_PRELOAD=/x=y"); len(d.Container()) != 0 {
		t.Error("LD_PRELOAD was kept")
	}
	// Bytes that are no text are kept as they are.
	odd := []string{"A\xff=\xfe\xff", "my.dotted-name=1", "B= x\n\"y\"=z"}
	if d := mustDecide(t, v, odd...); !slices.Equal(d.Container(), odd) {
		t.Errorf("%q", d.Container())
	}
}

// parity: V11
func TestSummary(t *testing.T) {
	d := mustDecide(t, mustView(t, "deny = [\"A\"]\nallow = [\"GH_TOKEN\", \"X_*\"]", Subject{}))
	if got := d.Summary(); !strings.HasSuffix(got, " deny rules, allow: GH_TOKEN, X_*") {
		t.Error(got)
	}
	d = mustDecide(t, mustView(t, "", Subject{}))
	if got := d.Summary(); !strings.HasSuffix(got, " deny rules, allow: none") {
		t.Error(got)
	}
}

func TestExec(t *testing.T) {
	text := `
locked = ["LOCKED_TOKEN"]
time_zone = "Asia/Tokyo"
set = { RUN = "1" }
[agent]
keep = ["OPENAI_API_KEY"]
[exec]
allow = ["MYSQL_PWD"]
[[spawn.rule]]
command = "*/gh"
allow = ["GH_TOKEN"]
[[spawn.trust]]
command = "agent"
`
	v := mustView(t, text, Subject{})
	for _, c := range []struct {
		name, command, env, explicit, want string
	}{
		// report: podman#29347
		{"inherited secrets go", "/bin/sh", "PATH=/bin GH_TOKEN=" + key, "", "PATH=/bin RUN=1 TZ=Asia/Tokyo"},
		// parity: R2, V2; report: containerd/nri#44
		{"explicit passes", "/bin/sh", "DB_PASSWORD=" + key, "DB_PASSWORD", "DB_PASSWORD=" + key + " RUN=1 TZ=Asia/Tokyo"},
		{"explicit, but the value of what goes", "/bin/sh", "MINE=" + key + " GH_TOKEN=" + key, "MINE", "RUN=1 TZ=Asia/Tokyo"},
		{"explicit, but locked", "/bin/sh", "LOCKED_TOKEN=" + key, "LOCKED_TOKEN", "RUN=1 TZ=Asia/Tokyo"},
		{"explicit control", "/bin/sh", "ENVSCRUB_ALLOW=X", "ENVSCRUB_ALLOW", "RUN=1 TZ=Asia/Tokyo"},
		{"explicit over set and time_zone", "/bin/sh", "RUN=2 TZ=UTC", "RUN TZ", "RUN=2 TZ=UTC"},
		{"set over inherited", "/bin/sh", "RUN=2 TZ=UTC", "", "RUN=1 TZ=Asia/Tokyo"},
		// report: benchpress#192
		{"exec allow", "/bin/sh", "MYSQL_PWD=" + key, "", "MYSQL_PWD=" + key + " RUN=1 TZ=Asia/Tokyo"},
		{"grant", "/usr/bin/gh", "GH_TOKEN=" + key + " OPENAI_API_KEY=" + key + "2", "", "GH_TOKEN=" + key + " RUN=1 TZ=Asia/Tokyo"},
		{"grant to a command not looked up", "gh", "GH_TOKEN=" + key, "", "GH_TOKEN=" + key + " RUN=1 TZ=Asia/Tokyo"},
		{"keep is for the agent", "/bin/sh", "OPENAI_API_KEY=" + key, "", "RUN=1 TZ=Asia/Tokyo"},
		{"trust", "/usr/bin/agent", "OPENAI_API_KEY=" + key, "", "OPENAI_API_KEY=" + key + " RUN=1 TZ=Asia/Tokyo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := func(name, _ string) bool { return slices.Contains(strings.Fields(c.explicit), name) }
			d, err := v.DecideExec(strings.Fields(c.env), changed, c.command)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(d.Container(), " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if !slices.Equal(d.Container(), d.Agent()) || len(d.Held()) != 0 {
				t.Error("an exec has an environment of the agent's own")
			}
		})
	}
	if got := v.Spawn.Trust; !slices.Equal(got, []string{"*/agent"}) {
		t.Errorf("the shim compares whole paths: %s", got)
	}
	for unknown, want := range map[string]string{"scrub": "", "pass": "GH_TOKEN"} {
		v := mustView(t, "[exec]\nunknown = \""+unknown+"\"", Subject{})
		d, err := v.DecideExec([]string{"GH_TOKEN=" + key}, nil, "/bin/sh")
		if err != nil || names(d.Container()) != want {
			t.Errorf("unknown = %s: %s %v", unknown, names(d.Container()), err)
		}
	}
}

func TestProfiles(t *testing.T) {
	text := `
allow = ["GH_TOKEN"]
[profile.asked]
deny = ["GH_TOKEN"]
[profile.team]
match.annotation = { "io.example.team" = ["red", "bl*"] }
mode = "observe"
[profile.image]
match.image = "ghcr.io/acme/*"
[profile.user]
match.user = "node"
[profile.command]
match.command = ["agent", "/opt/*/run"]
`
	p, err := Parse("policy.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		subject Subject
		want    string
	}{
		{"none", Subject{}, ""},
		{"asked for", Subject{Profile: "asked", Image: "ghcr.io/acme/x"}, "asked"},
		{"chosen before", Subject{Fixed: true, Image: "ghcr.io/acme/x"}, ""},
		{"first in the file", Subject{Annotations: map[string]string{"io.example.team": "blue"}, Image: "ghcr.io/acme/x"}, "team"},
		{"image", Subject{Image: "ghcr.io/acme/x:1", UserName: "node"}, "image"},
		{"user name", Subject{User: "1000:1000", UserName: "node"}, "user"},
		{"user", Subject{User: "node"}, "user"},
		{"command by name", Subject{Args: []string{"/usr/bin/agent"}}, "command"},
		{"command by path", Subject{Args: []string{"/opt/x/run"}}, "command"},
		{"command, other path", Subject{Args: []string{"/srv/run"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := p.For(c.subject)
			if err != nil || v.Profile != c.want {
				t.Errorf("%q, %v, want %q", v.Profile, err, c.want)
			}
		})
	}
	if _, err := p.For(Subject{Profile: "teem"}); err == nil || err.Error() != `profile "teem": the policy has no such profile; did you mean team?` {
		t.Error(err)
	}
	// A profile narrows what the base policy allows.
	v, _ := p.For(Subject{Profile: "asked"})
	if d := mustDecide(t, v, "GH_TOKEN="+key); len(d.Container()) != 0 {
		t.Error("the profile's deny did not count")
	}
}

// parity: V12; report: hermes-agent PR#13523 (GHSA-rhgp-j443-p4rf): a container may only ask for what the policy permits.
func TestOverrides(t *testing.T) {
	p, err := Parse("policy.toml", []byte(`overrides = ["NPM_*", "ANTHROPIC_*"]`))
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.For(Subject{Allow: []string{"npm_token", "GH_TOKEN", "ANTHROPIC_API_KEY", "*", "ENVSCRUB_X", "GH_TOKEN=made-up"}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(v.Refused, []string{"GH_TOKEN", "ANTHROPIC_API_KEY", noName, "ENVSCRUB_X", noName}) {
		t.Errorf("refused %q", v.Refused)
	}
	if got := names(mustDecide(t, v, "NPM_TOKEN="+key, "GH_TOKEN="+key+"2").Container()); got != "NPM_TOKEN" {
		t.Error(got)
	}
	// What the operator grants needs no permission, but contradicts an exact deny.
	if v, err = p.For(Subject{Grant: []string{"GH_TOKEN"}}); err != nil {
		t.Fatal(err)
	}
	if got := names(mustDecide(t, v, "NPM_TOKEN="+key, "GH_TOKEN="+key+"2").Container()); got != "GH_TOKEN" {
		t.Error(got)
	}
	if _, err = p.For(Subject{Grant: []string{"OPENAI_API_KEY"}}); err == nil {
		t.Error("an exactly denied name was granted")
	}
}

// report: llxprt-code PR#1642, credentials-binding PR#80
func TestWarnings(t *testing.T) {
	t.Setenv("SHORT", "made-up")
	p, err := Parse("policy.toml", []byte("allow = [\"AGENT_*\", \"X_HOST*\", \"*\"]\nsecrets = [\"env:SHORT\"]\n"+
		"deny = [\"DENIED\"]\n[agent]\nkeep = [\"DENIED\", \"OPENAI_API_KEY\",\n\"LICENSE\"]\n[profile.p.agent]\nkeep = [\"OTHER\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range p.Warnings() {
		got = append(got, w.Position.String()+" "+w.Text)
	}
	want := []string{
		"policy.toml:1 allow: AGENT_* lets names through that look like credentials, such as AGENT_API_KEY; list the names instead",
		"policy.toml:1 allow: X_HOST* lets names through that look like credentials, such as X_HOSTAPI_KEY; list the names instead",
		"policy.toml:1 allow: * lets names through that look like credentials, such as API_KEY; list the names instead",
		"policy.toml:2 secrets: env:SHORT is shorter than 8 characters and is ignored: it would occur by chance",
		"policy.toml:6 agent.keep: nothing takes LICENSE from the agent's children; name it in deny too",
		"policy.toml:8 profile.p.agent.keep: nothing takes OTHER from the agent's children; name it in deny too",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// parity: E3
func TestIsSensitiveName(t *testing.T) {
	for name, want := range map[string]bool{"GH_TOKEN": true, "my_password": true, "OPENAI_API_KEY": true, "AWS_SECRET_ACCESS_KEY": true, "PATH": false, "MAX_TOKENS": false} {
		if IsSensitiveName(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func TestPresets(t *testing.T) {
	env := []string{"ANTHROPIC_API_KEY=" + key, "GH_TOKEN=" + key + "2", "OPENAI_API_KEY=" + key + "3"}
	for _, c := range []struct {
		name, policy, agent, held string
		s                         Subject
	}{
		{"named", "[agent]\npresets = [\"claude-code\"]", "ANTHROPIC_API_KEY", "GH_TOKEN", Subject{}},
		{"auto, nothing known", "[agent]\npresets = [\"auto\"]", "", "", Subject{Args: []string{"/bin/sh"}}},
		{"auto by command", "[agent]\npresets = [\"auto\"]", "ANTHROPIC_API_KEY", "GH_TOKEN", Subject{Args: []string{"/usr/local/bin/claude"}}},
		{"auto by script", "[agent]\npresets = [\"auto\"]", "ANTHROPIC_API_KEY", "GH_TOKEN", Subject{Args: []string{"node", "/opt/claude-code/cli.js"}}},
		{"auto by image", "[agent]\npresets = [\"auto\"]", "OPENAI_API_KEY", "GH_TOKEN", Subject{Image: "ghcr.io/openai/codex:1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := mustDecide(t, mustView(t, c.policy, c.s), env...)
			if len(d.Container()) != 0 || names(d.Agent()) != c.agent || names(d.Held()) != c.held {
				t.Errorf("container %s, agent %s, held %s", names(d.Container()), names(d.Agent()), names(d.Held()))
			}
		})
	}
	v := mustView(t, "[agent]\npresets = [\"claude-code\"]", Subject{})
	if x := mustDecide(t, v, env...).Variables[0]; x.Rule != "keep (preset claude-code)" || x.At.Line != 2 {
		t.Errorf("%+v", x)
	}
}

// Git does not run when one of its numbered variables is missing.
func TestGitConfig(t *testing.T) {
	v := mustView(t, "", Subject{})
	env := []string{
		"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=http.extraheader", "GIT_CONFIG_VALUE_0=Authorization: Basic eDpnaHBfbWFkZVVwMDEyMzQ1Njc4OWFiY2RlZg==",
		"GIT_CONFIG_KEY_1=safe.directory", "GIT_CONFIG_VALUE_1=*", "GIT_CONFIG_KEY_10=user.name", "GIT_CONFIG_VALUE_10=x", "PATH=" + os.Getenv("PATH"),
	}
	d := mustDecide(t, v, env...)
	want := "GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=envscrub.removed GIT_CONFIG_VALUE_0= GIT_CONFIG_KEY_1=safe.directory GIT_CONFIG_VALUE_1=* GIT_CONFIG_KEY_10=user.name GIT_CONFIG_VALUE_10=x"
	if got := strings.Join(d.Container()[:7], " "); got != want {
		t.Errorf("got %s", got)
	}
	if git, err := exec.LookPath("git"); err == nil {
		cmd := exec.Command(git, "config", "--get", "safe.directory")
		cmd.Env = append([]string{"GIT_CONFIG_COUNT=2", "HOME=/nonexistent"}, d.Container()[1:]...)
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "*\n" {
			t.Errorf("git: %s %v", out, err)
		}
	}
	if d := mustDecide(t, mustView(t, "inherit = \"core\"\ndeny = [\"GIT_*\"]", Subject{}), env...); names(d.Container()) != "PATH" {
		t.Error(names(d.Container()))
	}
}
