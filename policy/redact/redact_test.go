package redact

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var colour = regexp.MustCompile(`(\x1b\[[0-9;:]{0,46}[mK])+`)

var codeEnd = regexp.MustCompile(`^[0-9;:]*[mK]`)

// naive is the definition, written as plainly as possible: mark every occurrence of every
// value, in the text and in the text without its colour codes, join those that
// overlap, put a placeholder for each.
func naive(values []string, text string) string {
	type span struct{ start, end int }
	var all []span
	find := func(s string, place func(int) int) {
		for _, v := range values {
			for i := 0; i+len(v) <= len(s); i++ {
				if s[i:i+len(v)] == v {
					all = append(all, span{place(i), place(i+len(v)-1) + 1})
				}
			}
		}
	}
	find(text, func(i int) int { return i })
	escapes := !strings.Contains(strings.Join(values, ""), "\x1b")
	codes := colour.FindAllStringIndex(text, -1)
	if escapes && len(codes) > 0 {
		var plain strings.Builder
		var places []int
		from := 0
		for _, c := range append(codes, []int{len(text), len(text)}) {
			for ; from < c[0]; from++ {
				plain.WriteByte(text[from])
				places = append(places, from)
			}
			from = c[1]
		}
		find(plain.String(), func(i int) int { return places[i] })
	}
	slices.SortFunc(all, func(a, b span) int { return a.start - b.start })
	var out strings.Builder
	done, cover := 0, 0
	for _, s := range all {
		if s.start >= cover {
			out.WriteString(text[done:s.start])
			out.WriteString("[REDACTED]")
			done = s.start
		}
		if escapes {
			for _, c := range codes {
				if c[0] >= s.start && c[1] <= s.end && c[0] >= done && !slices.ContainsFunc(values, func(v string) bool {
					return strings.Contains(text[c[0]:c[1]], v)
				}) {
					out.WriteString(text[c[0]:c[1]])
				}
			}
		}
		done, cover = max(done, s.end), max(cover, s.end)
	}
	return out.String() + text[done:]
}

func secrets(values ...string) []Secret {
	var s []Secret
	for _, v := range values {
		s = append(s, Secret{Name: "N", Value: v})
	}
	return s
}

// streamed writes the text in pieces of the given lengths, the last one the rest.
func streamed(t testing.TB, r *Redactor, text string, pieces ...int) string {
	t.Helper()
	var out bytes.Buffer
	w := r.NewWriter(&out, 0)
	for _, n := range pieces {
		n = min(n, len(text))
		if m, err := w.Write([]byte(text[:n])); m != n || err != nil {
			t.Fatalf("Write: %d, %v", m, err)
		}
		text = text[n:]
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const made = "sk-made-up-0123456789"

// parity: V16
func TestBytes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values []string
		in     string
		want   string
	}{
		{"one", []string{made}, "key=" + made + "\n", "key=[REDACTED]\n"},
		{"twice", []string{made}, made + made, "[REDACTED][REDACTED]"},
		{"longer first", []string{"password", "password-for-prod"}, "password-for-prod password", "[REDACTED] [REDACTED]"},
		{"longer inside", []string{"for-prod-or-so", "password-for"}, "a password-for-prod-or-so b", "a [REDACTED] b"},
		{"overlapping itself", []string{"abcabcabc"}, "xabcabcabcabcabcx", "x[REDACTED]x"},
		{"inside another", []string{"0123456789", "01234567"}, "01234567 0123456789", "[REDACTED] [REDACTED]"},
		{"prefix of another", []string{"01234567", "0123456789"}, "012345678", "[REDACTED]8"},
		{"invalid UTF-8", []string{"\xff\xfe\x80 secret"}, "\xff\xff\xfe\x80 secret\xff", "\xff[REDACTED]\xff"},
		{"NUL", []string{"secret\x00value"}, "\x00secret\x00value\x00", "\x00[REDACTED]\x00"},
		{"NUL around", []string{made}, "A=" + made + "\x00B=1\x00", "A=[REDACTED]\x00B=1\x00"},
		{"colour between", []string{made}, "\x1b[1msk-\x1b[01;31m\x1b[Kmade\x1b[m\x1b[K-up-0123456789 rest", "\x1b[1m[REDACTED]\x1b[01;31m\x1b[K\x1b[m\x1b[K rest"},
		{"colour around", []string{made}, "\x1b[32m" + made + "\x1b[0m", "\x1b[32m[REDACTED]\x1b[0m"},
		{"colour code begins a value", []string{"mypassword"}, "\x1b[1mypassword", "\x1b[1[REDACTED]"},
		{"CRLF", []string{"first line\nsecond line"}, "first line\r\nsecond line\r\n", "[REDACTED]\r\n"},
		{"LF for CRLF", []string{"first line\r\nsecond line"}, "first line\nsecond line\n", "[REDACTED]\n"},
		// report: NousResearch/hermes-agent#33801, #96529; Hmbown/Codewhale#5546
		{"looks like a credential, is none", []string{made, "another-value-1"}, `MAX_TOKENS=100 Bearer ${VAR} "jsonwebtoken": "^9.0.0" sk-made-up-1`, `MAX_TOKENS=100 Bearer ${VAR} "jsonwebtoken": "^9.0.0" sk-made-up-1`},
		{"inside JSON", []string{made}, `{"text":"` + made + `"}`, `{"text":"[REDACTED]"}`},
		// report: managoat/fountain#2359 (a known limit: a byte stream's redaction does not join fragments)
		{"reframed", []string{made}, `{"text":"sk-made"}` + "\n" + `{"text":"-up-0123456789"}`, `{"text":"sk-made"}` + "\n" + `{"text":"-up-0123456789"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := New(secrets(tt.values...), 0)
			if got := string(r.Bytes([]byte(tt.in))); got != tt.want {
				t.Errorf("Bytes: %q, want %q", got, tt.want)
			}
			if got := r.String(tt.in); got != tt.want {
				t.Errorf("String: %q, want %q", got, tt.want)
			}
			for i := 0; i <= len(tt.in); i++ {
				if got := streamed(t, r, tt.in, i); got != tt.want {
					t.Errorf("cut at %d: %q, want %q", i, got, tt.want)
				}
			}
		})
	}
}

// report: mastra-ai/mastra#21049, pocketpaw PR#433
func TestEverySplit(t *testing.T) {
	for _, tt := range []struct{ values, texts []string }{
		{[]string{made}, []string{made, "a " + made + " b", "sk-ma" + made + "sk-"}},
		{[]string{"abcdefghij", "ghijklmnop", "mnopqrstuvwx"}, []string{"xabcdefghijklmnopqrstuvwxyz", "abcdefghijkl", "ghijklmnopqrabcdefghijghijklmnop"}},
		{[]string{"aaaaaaaa", "aaaaaaaaab"}, []string{"aaaaaaaaaaaaaaaaaaaab", "baaaaaaaabaaaaaaa"}},
		{[]string{"xxabcdefghijk", "abcdefgh"}, []string{"xxabcdefghijy", "xxabcdefghijkxx", "xxabcdefgxxabcdefgh"}},
		{[]string{made, "mypassword"}, []string{"s\x1b[mk-ma\x1b[31;1mde-up-0123456789\x1b[0mypassword", "\x1b[0mypa\x1b[mssword"}},
	} {
		r := New(secrets(tt.values...), 0)
		for _, text := range tt.texts {
			want := naive(tt.values, text)
			if got := string(r.Bytes([]byte(text))); got != want {
				t.Errorf("%q: %q, want %q", text, got, want)
			}
			for i := 0; i <= len(text); i++ {
				for j := 0; i+j <= len(text); j++ {
					if got := streamed(t, r, text, i, j); got != want {
						t.Fatalf("%q cut at %d and %d: %q, want %q", text, i, i+j, got, want)
					}
				}
			}
			ones := make([]int, len(text))
			for i := range ones {
				ones[i] = 1
			}
			if got := streamed(t, r, text, ones...); got != want {
				t.Errorf("%q byte by byte: %q, want %q", text, got, want)
			}
		}
	}
}

func TestNothingToDo(t *testing.T) {
	in := []byte("nothing to see")
	var nobody *Redactor
	for name, r := range map[string]*Redactor{
		"nil":        nobody,
		"no values":  New(nil, AllForms),
		"only short": New(secrets("", "a", "1234567"), AllForms),
		"no match":   New(secrets(made), AllForms),
	} {
		if out := r.Bytes(in); &out[0] != &in[0] || len(out) != len(in) {
			t.Errorf("%s: another slice", name)
		}
		if got := streamed(t, r, string(in), 3, 4); got != string(in) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if New(nil, 0).Bytes(nil) != nil {
		t.Error("nil became something")
	}
}

// report: jenkinsci/credentials-binding PR#80, PR#377; OctopusDeploy/Issues#1165
func TestShortValuesAreNamed(t *testing.T) {
	r := New([]Secret{
		{"EMPTY", ""},
		{"LETTER", "a"},
		{"NUMBER", "123"},
		{"BOOL", "true"},
		{"WORD", "test"},
		{"LONG_ENOUGH", "password"},
		{"OURS", "REDACTED"},
	}, AllForms)
	if got, want := r.Ignored(), []string{"LETTER", "NUMBER", "BOOL", "WORD", "OURS"}; !slices.Equal(got, want) {
		t.Errorf("Ignored: %q, want %q", got, want)
	}
	if got, want := r.String("a 123 true test password [REDACTED]"), "a 123 true test [REDACTED] [REDACTED]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// report: kestra-io/kestra#8131, BerriAI/litellm PR#30764, cloudposse-archives/tfmask#10
func TestPlaceholderTellsNothing(t *testing.T) {
	const digits = "123456789012"
	for n := 1; n <= len(digits); n++ {
		got := New(secrets(digits[:n]), AllForms).String("<" + digits[:n] + ">")
		want := "<[REDACTED]>"
		if n < MinLength {
			want = "<" + digits[:n] + ">"
		}
		if got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("abcdefghij\nghijklmnop", "xxabcdefghijklmnopx", uint16(3), uint16(9))
	f.Add("aaaaaaaa\naaaaaaaaab", "aaaaaaaaaaaaab", uint16(1), uint16(2))
	f.Add("mypassword\n01234567mm", "\x1b[0mypa\x1b[msswordm\x1b[1;2K1234567mm", uint16(7), uint16(2))
	f.Add("31mfoobar\nfoobarfoobar", "\x1b[31mfoobar\x1b[31mfoo\x1b[Kbar\x1b", uint16(4), uint16(12))
	f.Add("\x1b[31mred\nred-secret", "\x1b[31mred-\x1b[msecret", uint16(4), uint16(12))
	f.Fuzz(func(t *testing.T, list, text string, i, j uint16) {
		if len(text) > 2000 || len(list) > 500 {
			return
		}
		var values []string
		for _, v := range strings.Split(list, "\n") {
			if len(v) >= MinLength && !inPlaceholder(v) {
				values = append(values, v)
			}
		}
		check(t, values, text, int(i), int(j))
		// Texts that are likely to match.
		mixed := text
		for n, v := range values {
			at := int(i) * (n + 1) % (len(mixed) + 1)
			cut := int(j) % len(v)
			mixed = mixed[:at] + v[:cut] + v + v[cut:] + mixed[at:]
		}
		check(t, values, mixed, int(j), int(i))
	})
}

func check(t *testing.T, values []string, text string, i, j int) {
	t.Helper()
	r := New(secrets(values...), 0)
	in := []byte(text)
	out := r.Bytes(in)
	if string(in) != text {
		t.Fatal("the input was changed")
	}
	want := naive(values, text)
	if string(out) != want {
		t.Fatalf("values %q\ntext %q\ngot  %q\nwant %q", values, text, out, want)
	}
	if want == text && len(in) > 0 && &out[0] != &in[0] {
		t.Fatal("nothing matched, yet another slice")
	}
	n := len(text) + 1
	i, j = i%n, j%n
	if got := streamed(t, r, text, min(i, j), max(i, j)-min(i, j)); got != want {
		t.Fatalf("values %q\ntext %q cut at %d, %d\ngot  %q\nwant %q", values, text, i, j, got, want)
	}
	ones := make([]int, len(text))
	for k := range ones {
		ones[k] = 1 + i%3
	}
	if got := streamed(t, r, text, ones...); got != want {
		t.Fatalf("values %q\ntext %q in steps of %d\ngot  %q\nwant %q", values, text, ones, got, want)
	}
	for _, v := range values {
		// The placeholder, and the end of a colour code that was kept, can make a
		// value together with the text beside them: by chance, and telling nothing.
		if !strings.ContainsAny(v, "[]") && !codeEnd.MatchString(v) && strings.Contains(string(out), v) && !strings.Contains(v, "REDACTED") {
			t.Fatalf("value %q is in %q", v, out)
		}
	}
}
