package tomledit

import (
	"reflect"
	"strings"
	"testing"
)

const file = `# head
version = 2 # keep
imports = [
  "/a", # one
  '/b',
]

# about the table
[plugins."io.x"]
  name = "# not a comment"
  text = """a
[not.a.table]
"""
[last]`

func TestEdits(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   string
		edit func([]byte) ([]byte, error)
		want string
	}{
		{
			"set in place", file, func(b []byte) ([]byte, error) { return Set(b, "3", "version") },
			strings.Replace(file, "version = 2 #", "version = 3 #", 1),
		},
		{
			"set at the root", file, func(b []byte) ([]byte, error) { return Set(b, `"x"`, "root") },
			strings.Replace(file, "]\n\n# about", "]\nroot = \"x\"\n\n# about", 1),
		},
		{"set in an empty file", "", func(b []byte) ([]byte, error) { return Set(b, "1", "a") }, "a = 1\n"},
		{"set behind a last line without an end", "a = 1", func(b []byte) ([]byte, error) { return Set(b, "2", "b") }, "a = 1\nb = 2\n"},
		{
			"set in a table", file, func(b []byte) ([]byte, error) { return Set(b, "true", "plugins", "io.x", "new") },
			strings.Replace(file, "\"io.x\"]\n", "\"io.x\"]\n  new = true\n", 1),
		},
		{"set in the last table", file, func(b []byte) ([]byte, error) { return Set(b, "1", "last", "x") }, file + "\nx = 1\n"},
		{"set in a new table", "a = 1\n", func(b []byte) ([]byte, error) { return Set(b, "1", "t", "a b") }, "a = 1\n[t]\n\"a b\" = 1\n"},
		{"crlf", "a = 1\r\n", func(b []byte) ([]byte, error) { return Set(b, "2", "b") }, "a = 1\r\nb = 2\r\n"},
		{
			"unset", file, func(b []byte) ([]byte, error) { return Unset(b, "imports") },
			strings.Replace(file, "imports = [\n  \"/a\", # one\n  '/b',\n]\n", "", 1),
		},
		{
			"add to an array", file, func(b []byte) ([]byte, error) { return AddString(b, "/c", "imports") },
			strings.Replace(file, "'/b',", "'/b', \"/c\"", 1),
		},
		{"add twice", file, func(b []byte) ([]byte, error) { return AddString(b, "/b", "imports") }, file},
		{"add to an empty array", "x = []\n", func(b []byte) ([]byte, error) { return AddString(b, "/c", "x") }, "x = [\"/c\"]\n"},
		{"add behind a comment", "x = [\n \"a\" # b\n]\n", func(b []byte) ([]byte, error) { return AddString(b, "c", "x") }, "x = [\"c\", \n \"a\" # b\n]\n"},
		{"add a new array", "[t]\n", func(b []byte) ([]byte, error) { return AddString(b, "c", "x") }, "x = [\"c\"]\n[t]\n"},
		{"remove the last of two", "x = [\"a\", \"c\"]\n", func(b []byte) ([]byte, error) { return RemoveString(b, "c", "x") }, "x = [\"a\"]\n"},
		{"remove the first of two", "x = ['c', \"a\"]\n", func(b []byte) ([]byte, error) { return RemoveString(b, "c", "x") }, "x = [\"a\"]\n"},
		{"remove the only one", "x = [\"c\"]\ny = 1\n", func(b []byte) ([]byte, error) { return RemoveString(b, "c", "x") }, "y = 1\n"},
		{"cut", "a = 1\n# >\n[t]\n# <\n", func(b []byte) ([]byte, error) { return Cut(b, "# >", "# <") }, "a = 1\n"},
		{"cut nothing", "a = 1\n", func(b []byte) ([]byte, error) { return Cut(b, "# >", "# <") }, "a = 1\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := tc.edit([]byte(tc.in))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct {
		name, in, want string
		edit           func([]byte) ([]byte, error)
	}{
		{"broken", "a = \n", "line 1", func(b []byte) ([]byte, error) { return Set(b, "1", "a") }},
		{"inline table", "t = { a = 1 }\n", "cannot", func(b []byte) ([]byte, error) { return Set(b, "2", "t", "b") }},
		{"not strings", "x = [1]\n", "not an array of strings", func(b []byte) ([]byte, error) { return AddString(b, "a", "x") }},
		{"table twice", "[t]\n", "cannot add", func(b []byte) ([]byte, error) { return Append(b, "[t]\n") }},
		{"cut without an end", "# >\n", "by hand", func(b []byte) ([]byte, error) { return Cut(b, "# >", "# <") }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := tc.edit([]byte(tc.in))
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// FuzzSet: whatever the file, an edit gives TOML in which only our key differs.
func FuzzSet(f *testing.F) {
	f.Add(file, "k")
	f.Add("a.b = 1\n[a.c]\nd = '''x'''\n", "a")
	f.Add("x = [ [1,2], \"]\" ] # ]\n[[t]]\n[t.u]\n", "x")
	f.Fuzz(func(t *testing.T, in, name string) {
		before, err := Decode([]byte(in))
		if err != nil || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r == '\ufffd' }) {
			return
		}
		out, err := Set([]byte(in), "1", name)
		if err != nil {
			return
		}
		after, err := Decode(out)
		if err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		if after[name] != int64(1) {
			t.Fatalf("%q: %v", out, after[name])
		}
		delete(before, name)
		delete(after, name)
		if !reflect.DeepEqual(before, after) && !strings.Contains(in, "nan") {
			t.Errorf("%q became %q", in, out)
		}
	})
}
