package doc

import (
	"encoding/json"
	"slices"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// A capability that is added to every set and taken out again leaves the sets as they were, however they were written.
func TestAddCapability(t *testing.T) {
	for _, c := range []struct {
		in   string
		sets []int // that did not have it
	}{
		{`{"process":{"capabilities":{}}}`, []int{0, 1, 2, 3, 4}},
		{`{"process":{"capabilities":{"bounding":["CAP_KILL"],"ambient":null}}}`, []int{0, 1, 2, 3, 4}},
		{"{\"process\":{\"capabilities\":{\n \"effective\": [\n  \"cap_setpcap\",\n  \"CAP_KILL\"\n ]}}}", []int{0, 2, 3, 4}},
		{`{"process":{"capabilities":{"permitted":[],"inheritable":["CAP_SETPCAP"]}}}`, []int{0, 1, 3, 4}},
		{`{"process":{}}`, nil},
		{`{"process":{"capabilities":null}}`, nil},
	} {
		f := mustParse(t, c.in)
		f.DropCapabilities([]string{"CAP_SYS_PTRACE"})
		if got := f.AddCapability("CAP_SETPCAP"); !slices.Equal(got, c.sets) {
			t.Errorf("%s: added to %v, want %v", c.in, got, c.sets)
		}
		var spec specs.Spec
		if err := json.Unmarshal(f.Bytes(), &spec); err != nil {
			t.Fatalf("%s: %v", f.Bytes(), err)
		}
		if c.sets == nil {
			if f.Edited() {
				t.Errorf("%s became %s", c.in, f.Bytes())
			}
			continue
		}
		for _, set := range [][]string{
			spec.Process.Capabilities.Bounding, spec.Process.Capabilities.Effective, spec.Process.Capabilities.Inheritable,
			spec.Process.Capabilities.Permitted, spec.Process.Capabilities.Ambient,
		} {
			if n := len(slices.DeleteFunc(set, func(s string) bool { return s != "CAP_SETPCAP" && s != "cap_setpcap" })); n != 1 {
				t.Errorf("%s: %d times in a set of %s", c.in, n, f.Bytes())
			}
		}
		// Of the document itself, and of what was written.
		for _, f := range []*File{f, mustParse(t, string(f.Bytes()))} {
			f.DropCapability("CAP_SETPCAP", c.sets...)
			was, is := mustParse(t, c.in).Caps(), mustParse(t, string(f.Bytes())).Caps()
			for name := range is {
				if !slices.Equal(was[name], is[name]) {
					t.Errorf("%s: %s is %q, was %q", c.in, name, is[name], was[name])
				}
			}
		}
	}
}
