package wrapper

import (
	"slices"
	"strings"
	"testing"
)

// show renders what matters of an invocation.
func show(v *invocation, err error) string {
	if err != nil {
		return "error"
	}
	switch {
	case v.command == "":
		return "pass"
	case v.plain:
		return v.command + " plain"
	}
	s := v.command
	for _, name := range []string{"bundle", "config", "process"} {
		if v.args.has(name) {
			s += " " + name + "=" + v.args.get(name)
		}
	}
	if root := v.globals.get("root"); root != "" {
		s += " root=" + root
	}
	for n := range v.args.operands {
		s += " " + v.operand(n)
	}
	return s
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct{ line, runc, crun string }{
		// As engines write it (ENGINES.md).
		{"--root=/r create --bundle /b --pid-file /b/p ID", "create bundle=/b root=/r ID", ""},
		{"--root /r --log /l --log-format json create --bundle /b --pid-file p --console-socket s ID", "create bundle=/b root=/r ID", ""},
		{"--systemd-cgroup --root=/r create --bundle /b ID", "create bundle=/b root=/r ID", ""},
		{"--root=/r exec --pid-file F --process /t/p --detach ID", "exec process=/t/p root=/r ID", ""},
		{"--root /r exec --process /t/p ID", "exec process=/t/p root=/r ID", ""},
		{"--root=/r start ID", "pass", ""},
		{"--root /r state ID", "pass", ""},
		{"update --resources - ID", "pass", ""},
		{"update --resources=- ID", "pass", ""},
		{"kill --all ID 15", "pass", ""},
		{"delete --force ID", "delete ID", ""},
		{"--version", "pass", ""},
		{"features", "pass", ""},
		{"", "pass", ""},

		// Spellings of --bundle.
		{"create -b /b ID", "create bundle=/b ID", ""},
		{"create -b=/b ID", "create bundle=/b ID", "create bundle==/b ID"},
		{"create -b/b ID", "error", "create bundle=/b ID"},
		{"create --bundle=/b ID", "create bundle=/b ID", ""},
		{"create -bundle /b ID", "create bundle=/b ID", "error"},
		{"create --bund /b ID", "error", "create bundle=/b ID"},
		{"create --bundle= ID", "create bundle= ID", ""},
		{"create --bundle -x ID", "create bundle=-x ID", ""},
		{"create --bundle --pid-file ID", "create bundle=--pid-file ID", ""},
		{"create ID", "create ID", ""},
		{"create ID --bundle /b", "create bundle=/b ID", ""},
		{"create -- ID", "create ID", ""},
		{"create --bundle /a --bundle /b ID", "create bundle=/b ID", ""},
		{"create --no-pivot --no-new-keyring --preserve-fds 3 --bundle /b ID", "create bundle=/b ID", ""},
		{"create --preserve-fds --bundle /b ID", "error", ""}, // the value is "--bundle"
		{"run -d -b /b ID", "run bundle=/b ID", ""},
		{"run -db/b ID", "error", "run bundle=/b ID"},
		{"run -db /b ID", "error", "run bundle=/b ID"},
		{"run --detach=false --bundle /b ID", "run bundle=/b ID", "run plain"},
		{"create -f /c.json ID", "error", "create config=/c.json ID"},
		{"create --config=/c.json -b /b ID", "create bundle=/b config=/c.json ID", ""},

		// The command is the first word, never a word further on.
		{"state create", "pass", ""},
		{"kill exec TERM", "pass", ""},
		{"exec create ls", "exec create ls", ""},
		{"exec ID create --bundle /b x", "exec ID create --bundle /b x", ""},
		{"exec ID ls --process p", "exec ID ls --process p", ""},
		{"--root create state ID", "pass", ""},
		{"--root create create ID", "create root=create ID", ""},
		{"--log exec kill ID", "pass", ""},
		{"--debug create ID", "create ID", ""},
		{"-debug create ID", "create ID", "create ID"}, // crun refuses it
		{"--debug=true create ID", "create ID", "error"},
		{"--roo /r create ID", "create ID", ""}, // root or rootless: crun refuses it
		{"--roo=/r create ID", "create ID", ""},
		{"--log-f json create ID", "create ID", ""},
		{"-- create ID", "create ID", ""},
		{"--help create ID", "pass", ""},
		{"--version create ID", "pass", ""},
		{"-v create ID", "pass", ""},
		{"-V create ID", "create ID", "pass"},
		{"create --help", "create plain", ""},
		{"run ID --help", "run plain", ""},
		{"exec -h", "exec plain", "error"},
		{"exec ID ls --help", "exec ID ls --help", ""},
		{"create", "create plain", ""},
		{"exec", "exec plain", ""},
		{"create --bundle", "create plain", ""},
		{"create A B", "error", ""},

		// Options that nobody knows.
		{"--foo create ID", "create ID", ""},
		{"--foo=create state ID", "pass", ""},
		{"--foo=x create ID", "create ID", ""},
		{"--foo x create ID", "create ID", ""},
		{"--foo create delete ID", "error", ""},
		{"--foo run create ID", "error", ""},
		{"--foo state ID", "pass", ""},
		{"--foo state kill ID", "pass", ""},
		{"--foo --bar create ID", "create ID", ""},
		{"--z1 --z2 --z3 --z4 --z5 --z6 --z7 create ID", "error", ""},
		{"--a --b --c --d --e --f --g state ID", "pass", ""},
		{"unheard-of create ID", "pass", ""},
		{"create --foo ID", "create ID", ""},
		{"create --foo x ID", "create ID", ""},
		{"create --foo --bundle /b ID", "create bundle=/b ID", ""},
		{"create --foo=x --bundle /b ID", "create bundle=/b ID", ""},
		{"create --z1 --z2 --z3 --z4 --z5 --z6 --z7 ID", "error", ""},
		{"create --foo --pid-file", "error", ""},
		{"exec --foo ID ls", "error", ""},
		{"exec --foo=1 ID ls", "exec ID ls", ""},

		// exec.
		{"exec -p /p ID", "exec process=/p ID", ""},
		{"exec -p=/p ID", "exec process=/p ID", "exec process==/p ID"},
		{"exec -p/p ID", "error", "exec process=/p ID"},
		{"exec -tp /p ID", "error", "exec /p ID"}, // crun: -t takes "p" for its value
		{"exec -dp /p ID", "error", "exec process=/p ID"},
		{"exec -t -e A=1 --env B=2 -u 1:2 -g 3 --cwd / ID ls -l", "exec ID ls -l", ""},
		{"exec --tty=false ID ls", "exec ID ls", ""},
		{"exec --cgroup x --ignore-paused --cap CAP_KILL -c CAP_CHOWN --apparmor a --process-label l --no-new-privs ID ls", "exec ID ls", ""},
		{"exec -- ID ls", "exec ID ls", ""},
	} {
		want := map[grammar]string{goGrammar: c.runc, argpGrammar: c.crun}
		if c.crun == "" {
			want[argpGrammar] = c.runc
		}
		words := strings.Fields(c.line)
		for g, want := range want {
			if got := show(read(words, g)); got != want {
				t.Errorf("%q as %d: %q, want %q", c.line, g, got, want)
			}
		}
		both := c.runc
		if c.crun != "" && c.crun != c.runc {
			both = "error"
		}
		if got := show(read(words, anyGrammar)); got != both && got != "error" {
			t.Errorf("%q, runtime unknown: %q, want %q or an error", c.line, got, both)
		}
	}
}

func TestWordsChange(t *testing.T) {
	for _, c := range []struct {
		line string
		g    grammar
		want string
	}{
		{"exec -e A=1 -d --env B=2 ID env -e C=3", goGrammar, "exec --new -d ID env -e C=3"},
		{"--root /r exec --env=A=1 ID env", goGrammar, "--root /r exec --new ID env"},
		{"exec -eA=1 -de B=2 -deC=3 ID env", argpGrammar, "exec --new -d -d ID env"},
		{"exec ID env", goGrammar, "exec --new ID env"},
	} {
		v, err := read(strings.Fields(c.line), c.g)
		if err != nil {
			t.Fatal(err)
		}
		v.drop("env")
		v.insert("--new")
		if got := strings.Join(v.words, " "); got != c.want {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
		if v.operand(0) != "ID" || v.operand(1) != "env" {
			t.Errorf("%q: the operands moved: %q", c.line, v.operand(0))
		}
	}
}

// Whatever the words: no panic, the words stay, and a create that passes as
// something else has to look like something else to a reader, too.
func FuzzCommandLine(f *testing.F) {
	f.Add("--root=/r\ncreate\n--bundle\n/b\nID")
	f.Add("--foo\ncreate\n-xbd\n--\n-\n---\n--=\n-=")
	f.Add("exec\n-teA=1\n-p\n/p\nID\nls")
	f.Add("--log\n--log-format\njson\nrun\n-d\nID\n--config=x")
	f.Fuzz(func(t *testing.T, text string) {
		words := strings.Split(text, "\n")
		was := slices.Clone(words)
		for _, g := range []grammar{anyGrammar, goGrammar, argpGrammar} {
			v, err := read(words, g)
			if !slices.Equal(words, was) {
				t.Fatal("the words changed")
			}
			if err != nil {
				continue
			}
			if slices.Contains(guarded, words[0]) && v.command != words[0] {
				t.Fatalf("%q begins with a command and is read as %q", words, v.command)
			}
			for _, at := range v.args.operands {
				if at <= v.at || at >= len(words) {
					t.Fatalf("operand %d of %d words, command at %d", at, len(words), v.at)
				}
			}
			if v.command == "exec" && !v.plain {
				v.drop("env")
				v.insert("--x")
				if !slices.Contains(was, v.operand(0)) {
					t.Fatalf("after an edit the id is %q", v.operand(0))
				}
			}
		}
	})
}
