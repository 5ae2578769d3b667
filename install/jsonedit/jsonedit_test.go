package jsonedit

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestSet(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"no document", "", "{\n  \"runtimes\": {\n    \"x\": {\n      \"path\": \"/x\"\n    }\n  }\n}\n"},
		{"empty object", "{}", "{\n  \"runtimes\": {\n    \"x\": {\n      \"path\": \"/x\"\n    }\n  }\n}"},
		{"one line", `{"a": 1}`, `{"a": 1, "runtimes": {"x":{"path":"/x"}}}`},
		{"compact", `{"a":1,"b":2}`, `{"a":1,"b":2,"runtimes":{"x":{"path":"/x"}}}`},
		{
			"four blanks, a long number, an unknown key", // report: nvidia-docker#1788
			"{\n    \"max\": 12345678901234567890,\n    \"later\": [1,\n2]\n}\n",
			"{\n    \"max\": 12345678901234567890,\n    \"later\": [1,\n2],\n    \"runtimes\": {\n        \"x\": {\n            \"path\": \"/x\"\n        }\n    }\n}\n",
		},
		{
			"tabs and carriage returns",
			"{\r\n\t\"runtimes\": {\r\n\t\t\"kata\": {}\r\n\t}\r\n}",
			"{\r\n\t\"runtimes\": {\r\n\t\t\"kata\": {},\r\n\t\t\"x\": {\r\n\t\t\t\"path\": \"/x\"\r\n\t\t}\r\n\t}\r\n}",
		},
		{
			"empty runtimes",
			"{\n  \"runtimes\": {},\n  \"z\": \"}\\\"{\"\n}\n",
			"{\n  \"runtimes\": {\n    \"x\": {\n      \"path\": \"/x\"\n    }\n  },\n  \"z\": \"}\\\"{\"\n}\n",
		},
		{"already there", "{ \"runtimes\" : {\"x\":{ \"path\" :\"/x\"}} }", "{ \"runtimes\" : {\"x\":{ \"path\" :\"/x\"}} }"},
		{"another value", `{"runtimes":{"x":{"path":"/old"},"y":1}}`, `{"runtimes":{"x":{"path":"/x"},"y":1}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := Parse([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time changes nothing
				if err := d.Set(json.RawMessage(`{"path":"/x"}`), "runtimes", "x"); err != nil {
					t.Fatal(err)
				}
				if got := string(d.Bytes()); got != c.want {
					t.Errorf("got  %q\nwant %q", got, c.want)
				}
			}
		})
	}
}

func TestDelete(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"a":1,"x":2,"b":3}`, `{"a":1,"b":3}`},
		{`{"x":2, "b":3}`, `{"b":3}`},
		{`{"a":1 , "x":2 }`, `{"a":1 }`},
		{"{\n  \"x\": 2\n}\n", "{}\n"},
		{"{}", "{}"},
	} {
		d, err := Parse([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Delete("x"); err != nil {
			t.Fatal(err)
		}
		if got := string(d.Bytes()); got != c.want {
			t.Errorf("Delete(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"{\n  \"a\": 1,\n}", "3:1: not valid JSON"},
		{"{ // c\n}", "1:3: not valid JSON"},
		{`{"a":1`, "not valid JSON"},
		{`{} {}`, "1:4: text after the end"},
		{`[]`, "1:1: not a JSON object"},
		{"\xef\xbb\xbf{}", "byte order mark"},
		{`{"runtimes":[]}`, `1:13: "runtimes" is not an object`},
		{`{"runtimes":{},"runtimes":{}}`, `1:16: "runtimes" stands twice`},
	} {
		d, err := Parse([]byte(c.in))
		if err == nil {
			err = d.Set(json.RawMessage(`1`), "runtimes", "x")
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want one with %q", c.in, err, c.want)
		}
	}
}

// Whatever the document: what is set can be read back, all else means the same
// as before, and deleting gives the same meaning again.
func FuzzSetDelete(f *testing.F) {
	for _, s := range []string{"", "{}", `{"a":[{"b":"}"}],"runtimes":{"y":{}}}`, "{\n\t\"runtimes\": {}\r\n}", `{"\u0072untimes":{"x":1}}`, `{"a":1e999,"b":"\\\""}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Parse(data)
		if err != nil {
			return
		}
		before := d.Bytes()
		value := json.RawMessage(`{"path":"/x"}`)
		if d.Set(value, "runtimes", "new") != nil {
			return
		}
		once := d.Bytes()
		if !json.Valid(once) {
			t.Fatalf("%q became %q", data, once)
		}
		got, ok, err := d.Get("runtimes", "new")
		if err != nil || !ok || !same(got, value) {
			t.Fatalf("%q: set, then read %q, %v, %v", data, got, ok, err)
		}
		if err := d.Set(value, "runtimes", "new"); err != nil || !bytes.Equal(d.Bytes(), once) {
			t.Fatalf("%q: setting twice gave %q, then %q (%v)", data, once, d.Bytes(), err)
		}
		if err := d.Delete("runtimes", "new"); err != nil {
			t.Fatal(err)
		}
		if want, got := meaning(t, before), meaning(t, d.Bytes()); !reflect.DeepEqual(want, got) {
			t.Fatalf("%q: after set and delete %q", data, d.Bytes())
		}
	})
}

// meaning decodes data without what the test sets.
func meaning(t *testing.T, data []byte) map[string]any {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		t.Fatal(err)
	}
	if r, ok := m["runtimes"].(map[string]any); ok {
		delete(r, "new")
		if len(r) == 0 {
			delete(m, "runtimes")
		}
	}
	return m
}
