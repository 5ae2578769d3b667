package policy

import (
	"os"
	"path/filepath"
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
		p := &Policy{}
		if p.add("FILE", []byte(text)) != nil {
			return
		}
		p.base.secrets = nil
		if p.finish(func(string) (string, bool) { return "", false }) != nil {
			return
		}
		v, err := p.For(Subject{})
		if err != nil {
			return
		}
		env := strings.Split(lines, "\n")
		d, err := v.Decide(env)
		if err != nil {
			for _, entry := range env {
				if len(entry) > 24 && utf8.ValidString(entry) && strings.Contains(err.Error(), entry) {
					t.Errorf("error %q repeats an entry", err)
				}
			}
			return
		}
		if v.Mode != ModeEnforce {
			return
		}
		fates := map[string]*Variable{}
		for i := range d.Variables {
			fates[d.Variables[i].Name] = &d.Variables[i]
		}
		// Order and bytes of what is kept.
		rest := env
		for _, entry := range d.Container() {
			name, value, _ := cut(entry)
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
			// No removed value under another name.
			if vital(name) || strings.HasPrefix(x.Rule, "allow") {
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
