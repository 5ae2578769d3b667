package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// A policy file is an error with a place, or a policy that can be used. Nothing of a quoted value is in the error.
func FuzzParse(f *testing.F) {
	for _, dir := range []string{"bad", "good"} {
		files, _ := filepath.Glob(filepath.Join(corpus, dir, "*.toml"))
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(data))
		}
	}
	f.Add("a.b.c = 1\n[a.b]\n")
	f.Add("[[a]]\n[a.b]\n[[a]]\n[a.b]\n")
	f.Add(strings.Repeat("[", 100))
	f.Fuzz(func(t *testing.T, text string) {
		p := &Policy{}
		err := p.add("FILE", []byte(text))
		if err == nil {
			// The fuzzer is not to read this machine's files.
			for i := range p.profiles {
				p.profiles[i].layer.secrets = nil
			}
			p.base.secrets = nil
			err = p.finish(func(string) (string, bool) { return "", false })
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "FILE:") || strings.ContainsAny(err.Error(), "\n\r\x00") {
				t.Errorf("error %q", err)
			}
			return
		}
		p.Warnings()
		for _, s := range []Subject{{}, subject} {
			v, err := p.For(s)
			if err != nil {
				continue
			}
			if _, err := v.Decide([]string{"PATH=/bin", "A_TOKEN=" + key, "B=" + key}); err != nil {
				t.Error(err)
			}
		}
	})
}

// No value that was removed survives under another name, unless by one of the documented exceptions; what is kept
// keeps its order and its bytes.
func FuzzDecide(f *testing.F) {
	f.Add("A=1\nB_TOKEN="+key+"\nC="+key, "")
	f.Add("A=1\nA=2\na=3\nPATH=/bin", "inherit = \"core\"")
	f.Add("X_KEY=aaaaaaaaaaaaaaaaaaaaaaab1\nY=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab1a", "")
	f.Add("D_PASSWORD=p4ss-w0rd-x9\nU=amqp://u:p4ss-w0rd-x9@h\n=x\nNOEQUALS", "allow = [\"U\"]")
	f.Add("ENVSCRUB_X=1\nK=http://u:sooo-secret-9@h\nL=sooo-secret-9", "[agent]\nkeep = [\"K\"]")
	f.Fuzz(func(t *testing.T, lines, text string) {
		v := fuzzView(text)
		if v == nil {
			return
		}
		env := strings.Split(lines, "\n")
		d, err := v.Decide(env)
		if err != nil {
			noEntry(t, err, env)
			return
		}
		if v.Mode != ModeEnforce {
			return
		}
		fates := fatesOf(d)
		// Order and bytes of what is kept.
		rest := env
		for _, entry := range d.Container() {
			name, _, _ := cut(entry)
			x := fates[name]
			if x == nil {
				t.Fatalf("%q is in no report", name)
			}
			if x.Fate == FateSet || x.Fate == FateAgent { // [set], or a placeholder for the others
				continue
			}
			if x.Fate != FateKept {
				t.Errorf("%q is %s and there", name, x.Fate)
			}
			if isControl(name) {
				t.Errorf("%q is passed on", name)
			}
			at := -1
			for i := range rest {
				if rest[i] == entry {
					at = i
					break
				}
			}
			if at < 0 {
				t.Fatalf("%q is out of order or changed", name)
			}
			rest = rest[at+1:]
		}
		noAlias(t, env, d)
		// The agent has what all have, and its own.
		for _, entry := range d.Container() {
			name, _, _ := cut(entry)
			if _, ok := Environ(d.Agent()).Lookup(name); !ok {
				t.Errorf("the agent lacks %q", name)
			}
		}
		// Applied twice is applied once.
		again, err := v.Decide(d.Container())
		if err != nil {
			t.Fatal(err)
		}
		if len(again.Container()) < len(d.Container())-countSet(d) {
			t.Errorf("a second pass removes %s", again.Removed())
		}
	})
}

// What is explicit passes, and nothing that the container lost comes back with it. With nothing explicit and nothing granted an
// exec gets what the container has; a command that is granted something gets that on top.
func FuzzDecideExec(f *testing.F) {
	f.Add("A=1\nB_TOKEN="+key+"\nC="+key, "", "A C", "/bin/sh")
	f.Add("GH_TOKEN="+key+"\nX="+key, "[[spawn.rule]]\ncommand = \"*/gh\"\nallow = [\"GH_TOKEN\"]", "", "/usr/bin/gh")
	f.Add("K="+key+"\nL="+key, "locked = [\"L\"]\ninherit = \"core\"\n[agent]\nkeep = [\"K\"]", "L K", "agent")
	f.Add("D_PASSWORD=p4ss-w0rd-x9\nU=amqp://u:p4ss-w0rd-x9@h\nD_PASSWORD=2", "[exec]\nallow = [\"U\"]\n[[spawn.trust]]\ncommand = \"*\"", "D_PASSWORD", "x")
	f.Add("ENVSCRUB_X=1\nGIT_CONFIG_COUNT=1\nGIT_CONFIG_KEY_0=a\nGIT_CONFIG_VALUE_0="+key, "mode = \"observe\"", "ENVSCRUB_X", "")
	f.Fuzz(func(t *testing.T, lines, text, explicit, command string) {
		v := fuzzView(text)
		if v == nil {
			return
		}
		env := strings.Split(lines, "\n")
		changed := func(name, _ string) bool { return slices.Contains(strings.Fields(explicit), name) }
		d, err := v.DecideExec(env, changed, command)
		if err != nil {
			noEntry(t, err, env)
			return
		}
		if !slices.Equal(d.Container(), d.Agent()) || len(d.Held()) != 0 {
			t.Error("an exec has an environment of the agent's own")
		}
		if v.Mode != ModeEnforce {
			return
		}
		fates := fatesOf(d)
		for _, entry := range d.Container() {
			name, _, _ := cut(entry)
			if x := fates[name]; x == nil || isControl(name) || x.Fate != FateKept && x.Fate != FateSet || x.Fate == FateKept && !slices.Contains(env, entry) {
				t.Errorf("%q is there: %+v", name, x)
			}
			if x := fates[name]; x != nil && x.Rule == "explicit" && locked(v, name) {
				t.Errorf("%q is locked, and explicit", name)
			}
		}
		noAlias(t, env, d)

		never := func(string, string) bool { return false }
		inherited, err := v.DecideExec(env, never, "")
		if err != nil {
			t.Fatal(err)
		}
		whole, err := v.Decide(env)
		if err != nil {
			t.Fatal(err)
		}
		if grants, trusted := v.grants(""); grants == nil && !trusted && len(v.placeholders) == 0 && !slices.Equal(inherited.Container(), whole.Container()) {
			t.Errorf("an exec without anything of its own gets %q, the container %q", inherited.Container(), whole.Container())
		}
		granted, err := v.DecideExec(env, never, command)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range inherited.Container() {
			name, _, _ := cut(entry)
			if !slices.Contains(granted.Container(), entry) && !strings.HasPrefix(name, "GIT_CONFIG_") {
				t.Errorf("a grant takes %q away", name)
			}
		}
	})
}

func locked(v *View, name string) bool {
	var h hit
	hash, small := hashName(name)
	v.matcher.lookup(name, hash, small, &h)
	return h.has(classLocked)
}

// fuzzView is the view of a policy's text; nil if it is none, or names files, which the fuzzer is not to read.
func fuzzView(text string) *View {
	p := &Policy{}
	if p.add("FILE", []byte(text)) != nil {
		return nil
	}
	p.base.secrets = nil
	if p.finish(func(string) (string, bool) { return "", false }) != nil {
		return nil
	}
	v, err := p.For(Subject{})
	if err != nil {
		return nil
	}
	return v
}

func noEntry(t *testing.T, err error, env []string) {
	for _, entry := range env {
		if len(entry) > 24 && utf8.ValidString(entry) && strings.Contains(err.Error(), entry) {
			t.Errorf("error %q repeats an entry", err)
		}
	}
}

func fatesOf(d *Decision) map[string]*Variable {
	fates := map[string]*Variable{}
	for i := range d.Variables {
		fates[d.Variables[i].Name] = &d.Variables[i]
	}
	return fates
}

// noAlias: no value that was removed is there under another name, but for what is documented.
func noAlias(t *testing.T, env []string, d *Decision) {
	t.Helper()
	fates := fatesOf(d)
	for _, entry := range d.Container() {
		name, value, _ := cut(entry)
		x := fates[name]
		if x == nil || x.Fate == FateSet || x.Fate == FateAgent || vital(name) || strings.HasPrefix(x.Rule, "allow") || x.Rule == "grant" || x.Rule == "trust" {
			continue
		}
		for i, other := range env {
			n, secret, _ := cut(other)
			o := fates[n]
			if o.Fate != FateRemoved && o.Fate != FateAgent || n == name || o.Rule == "control" || strings.HasPrefix(o.Rule, "inherit") || strings.HasPrefix(o.Rule, "alias") || strings.Contains(o.Note, "inherit") || strings.Contains(o.Note, "alias") {
				continue
			}
			r := reachOf(secret)
			if r == reachBounded {
				continue // may be the name of somebody
			}
			if r != reachNone && value == secret || r == reachAny && strings.Contains(value, secret) {
				t.Errorf("entry %d, %q, has the value of the removed %q", i, name, n)
			}
		}
	}
}

func countSet(d *Decision) int {
	n := 0
	for _, x := range d.Variables {
		if x.Fate == FateSet || x.Fate == FateAgent {
			n++
		}
	}
	return n
}

// The search has no false negative and no false positive against the plain one.
func FuzzHaystack(f *testing.F) {
	f.Add("aaaaaaaab\naaaaaaaa\nbaaaaaaa", "xaaaaaaaaab")
	f.Add("secret-1234567\nsecret-12345678", "the secret-12345678 is")
	f.Fuzz(func(t *testing.T, lines, value string) {
		var needles []needle
		for i, text := range strings.Split(lines, "\n") {
			if len(text) >= minProtected {
				needles = append(needles, needle{text: text, owner: int32(i), reach: reachAny})
			}
		}
		h := newHaystack(needles)
		if h == nil {
			return
		}
		at, whole := h.find(value, func(*needle) bool { return true })
		want, equal := false, false
		for _, n := range needles {
			want = want || strings.Contains(value, n.text)
			equal = equal || value == n.text
		}
		if (at >= 0) != want || whole != equal {
			t.Errorf("found %v (whole %v), want %v (%v)", at >= 0, whole, want, equal)
		}
		if at >= 0 && !strings.Contains(value, needles[at].text) {
			t.Error("found what is not there")
		}
	})
}
