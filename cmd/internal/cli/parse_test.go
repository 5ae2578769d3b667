package cli

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hook/record"
	"github.com/envscrub/envscrub/policy"
)

func TestParseEnvFile(t *testing.T) {
	lookup := func(name string) (string, bool) { return "here", name == "HERE" }
	for _, c := range []struct {
		name, in string
		env      []string
		skipped  []int
		err      string
	}{
		{name: "nothing", in: ""},
		{name: "byte order mark", in: "\xef\xbb\xbfA=1\n", env: []string{"A=1"}},
		{name: "carriage returns", in: "A=1\r\nB=2\r\n", env: []string{"A=1", "B=2"}},
		{name: "no last line end", in: "A=1", env: []string{"A=1"}},
		{name: "comments", in: "#A=1\n \t# B=2\nC=#3\n", env: []string{"C=#3"}},
		{name: "quotes and white space stay", in: "A=\"x\" \nB= y\n", env: []string{"A=\"x\" ", "B= y"}},
		{name: "equals signs in a value", in: "A=b=c==\n", env: []string{"A=b=c=="}},
		{name: "empty value", in: "A=\n", env: []string{"A="}},
		{name: "bare names", in: "HERE\nNOT\n", env: []string{"HERE=here"}, skipped: []int{2}},
		{name: "twice", in: "A=1\nA=2\n", env: []string{"A=1", "A=2"}},
		{name: "no expansion", in: "A=$HERE${HERE}\\n\n", env: []string{`A=$HERE${HERE}\n`}},
		{name: "odd names", in: "a.b-c=1\n//x:_authToken=t\n", env: []string{"a.b-c=1", "//x:_authToken=t"}},
		{name: "a byte order mark later", in: "A=1\n\xef\xbb\xbfB=2\n", env: []string{"A=1", "\ufeffB=2"}},
		{name: "white space in a name", in: "A B=1\n", err: "line 1: white space"},
		{name: "white space before the sign", in: "A =1\n", err: "line 1: white space"},
		{name: "export", in: "export A=1\n", err: "line 1: white space"},
		{name: "no name", in: "\n=x\n", err: "line 2: no name"},
		{name: "not UTF-8", in: "A=\xff\n", err: "line 1: not valid UTF-8"},
		{name: "NUL", in: "A=1\x00B=2\n", err: "line 1: a NUL byte"},
	} {
		env, skipped, err := parseEnvFile([]byte(c.in), lookup)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case !slices.Equal(env, c.env) || !slices.Equal(skipped, c.skipped):
			t.Errorf("%s: %q, skipped %v; want %q, %v", c.name, env, skipped, c.env, c.skipped)
		}
	}
}

// Whatever the file: no error shows what stands in it, and what comes out can be a process's environment.
func FuzzParseEnvFile(f *testing.F) {
	for _, s := range []string{"A=1\r\n# c\nB\n", "\xef\xbb\xbf=x", "A B\n", "A=\xff", "A=\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		env, _, err := parseEnvFile([]byte(text), func(string) (string, bool) { return "", false })
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") || len(err.Error()) > 80 {
				t.Errorf("error %q", err)
			}
			return
		}
		for _, e := range env {
			name, _, ok := strings.Cut(e, "=")
			if !ok || name == "" || strings.ContainsAny(e, "\x00\n") || !strings.Contains(text, e) {
				t.Errorf("%q gave the entry %q", text, e)
			}
		}
	})
}

// Whatever comes on standard input: no error shows a part of it.
func FuzzParseInspect(f *testing.F) {
	for _, s := range []string{
		`[{"Id":"a","Config":{"Env":["A=1"]}}]`, `{"Config":{"Env":[]}}`, `[{"Config":{"Env":"secret-value"}}]`, `["secret-value"]`, `[]`,
		`{"status":{"id":"a"},"info":{"runtimeSpec":{"process":{"env":["A=1"]}}}}`, `[{"Config":{"secret-value":`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		targets, err := parseInspect([]byte(text))
		if err != nil {
			if strings.Contains(text, "secret-value") && strings.Contains(err.Error(), "secret-value") {
				t.Errorf("error %q", err)
			}
			return
		}
		if len(targets) == 0 {
			t.Errorf("%q: no error and no container", text)
		}
	})
}

func TestParseEnviron(t *testing.T) {
	for in, want := range map[string][]string{"": nil, "A=1\x00": {"A=1"}, "A=1\x00B=2": {"A=1", "B=2"}, "A=1\x00\x00": {"A=1", ""}} {
		if got := parseEnviron([]byte(in)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"PATH": "PATH", "größe": "größe", "a\x1b[2Jb": `a\x1b[2Jb`, "a\nb": `a\nb`, "a\xffb": `a\xffb`,
		"a\u202eb": `a\u202eb`, "\x00": `\x00`, "\ufffd": "\ufffd", "a\\b": `a\b`,
	} {
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
}

// No verdict may be good without proof.
func TestJudge(t *testing.T) {
	p := &planted{plant: plant{Hashes: map[string]string{"K": "", "S": ""}, Control: "C"}, agentOnly: []string{"K"}}
	p.harden.Dumpable = "require"
	for _, c := range []struct {
		place string
		seen  map[string]sighting
		want  string
		ok    bool
	}{
		{placeAgent, nil, "unknown", false},
		{placeAgent, map[string]sighting{placeAgent: {Control: true}}, "clean", true},
		{placeAgent, map[string]sighting{placeAgent: {}}, "unknown", false},
		{placeAgent, map[string]sighting{placeAgent: {Control: true, Names: []string{"K"}}}, "clean", true},
		{placeChild, map[string]sighting{placeChild: {Control: true, Names: []string{"K"}}}, "leak", false},
		{placeExec, map[string]sighting{placeExec: {Control: true, Names: []string{"S"}}}, "leak", false},
		{placePID1, map[string]sighting{placePID1: {Closed: true, Detail: "permission denied"}}, "closed", true},
		{placePID1, map[string]sighting{placePID1: {Detail: "no such file or directory"}}, "unknown", false},
		{placeMemory, map[string]sighting{placeMemory: {Closed: true}}, "closed", true},
		{placeMemory, map[string]sighting{placeMemory: {Detail: "can be opened"}}, "leak", false},
		{placeMemory, map[string]sighting{placeMemory: {Detail: "no such process"}}, "unknown", false},
	} {
		v := p.judge(c.place, c.seen)
		if v.Result != c.want || v.ok() != c.ok {
			t.Errorf("%s, %+v: %s, %v; want %s, %v", c.place, c.seen, v.Result, v.ok(), c.want, c.ok)
		}
	}
}

// The probe finds a value under whatever name, and tells names only.
func TestLook(t *testing.T) {
	p := &plant{Hashes: map[string]string{"A_KEY": hash("made-up-1")}, Control: "C"}
	got := p.look(placeExec, []string{"C=x", "OTHER=made-up-1", "A_KEY=another"})
	if want := (sighting{Place: placeExec, Names: []string{"A_KEY"}, Control: true}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	text, err := json.Marshal(got)
	if err != nil || strings.Contains(string(text), "made-up") {
		t.Errorf("%s, %v", text, err)
	}
}

// Where an environment filter does not reach, scan says so, and not what stands there.
// report: ductor#187, benchpress#192
func TestScanExposed(t *testing.T) {
	targets, err := parseInspect([]byte(`[{"Id":"a","Name":"/db","Path":"sh","Args":["-c","export K=made-up-1234; run"],
		"Config":{"Env":["DB_PASSWORD=made-up-1234","PIN_TOKEN=run"],"Healthcheck":{"Test":["CMD","ping","-pmade-up-1234"]}}}]`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := scan(&policyFlags{}, policy.Default(), targets[0])
	if err != nil || !slices.Equal(s.Exposed, []string{"arguments", "health check"}) {
		t.Errorf("%+v, %v", s, err)
	}
	var b strings.Builder
	if err := writeScan(&b, []scanned{s}); err != nil || strings.Contains(b.String(), "made-up") || !strings.Contains(b.String(), "arguments and its health check") {
		t.Errorf("%s, %v", b.String(), err)
	}
}

// Podman shows our own variables in what it says of a scrubbed container; they are nobody's secrets.
func TestScanControl(t *testing.T) {
	targets, err := parseInspect([]byte(`[{"Id":"x","Name":"web","Config":{"Env":["A_TOKEN=made-up-1234","ENVSCRUB_ORDER=made-up-0rder-0123456789","ENVSCRUB_ORDER_1=p"]}}]`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := scan(&policyFlags{}, policy.Default(), targets[0])
	if err != nil || !slices.Equal(s.Remove, []string{"A_TOKEN"}) {
		t.Errorf("%+v, %v", s, err)
	}
}

// What was taken from a container is what its record says, whatever the engine shows.
func TestScanFromRecord(t *testing.T) {
	s := scanned{Remove: []string{"X"}}
	s.fromRecord(&record.Record{Profile: "ci", Variables: []record.Variable{{Name: "A_TOKEN", Fate: "removed"}, {Name: "B_KEY", Fate: "agent"}, {Name: "C", Fate: "set"}}})
	if !s.Scrubbed || s.Profile != "ci" || len(s.Remove) != 1 || s.Remove[0] != "A_TOKEN" || len(s.AgentOnly) != 1 || s.AgentOnly[0] != "B_KEY" {
		t.Errorf("%+v", s)
	}
}
