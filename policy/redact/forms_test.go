package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os/exec"
	"strings"
	"testing"
)

// The values have something to escape in every form.
var awkward = []string{
	"plain-value-1234567890",
	`it's "quoted" & <b>/$HOME\`,
	"tab\tand é and 😀 and\x7f",
	"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----",
	"invalid \xff\xfe bytes?>>",
}

func TestFormsOfStandardEncoders(t *testing.T) {
	var plain, asHTML bytes.Buffer
	for _, v := range awkward {
		valid := strings.ToValidUTF8(v, "") == v
		r := New(secrets(v), AllForms)
		texts := map[string]string{
			"raw":               v,
			"CRLF":              strings.ReplaceAll(v, "\n", "\r\n"),
			"base64":            base64.StdEncoding.EncodeToString([]byte(v)),
			"base64url":         base64.URLEncoding.EncodeToString([]byte(v)),
			"base64 raw":        base64.RawStdEncoding.EncodeToString([]byte(v)),
			"base64url raw":     base64.RawURLEncoding.EncodeToString([]byte(v)),
			"hex":               hex.EncodeToString([]byte(v)),
			"HEX":               strings.ToUpper(hex.EncodeToString([]byte(v))),
			"QueryEscape":       url.QueryEscape(v),
			"PathEscape":        url.PathEscape(v),
			"lower QueryEscape": lowerPercent(url.QueryEscape(v)),
		}
		if valid {
			plain.Reset()
			asHTML.Reset()
			enc := json.NewEncoder(&plain)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(v); err != nil {
				t.Fatal(err)
			}
			if err := json.NewEncoder(&asHTML).Encode(v); err != nil {
				t.Fatal(err)
			}
			texts["JSON"] = strings.Trim(plain.String(), "\n")[1 : plain.Len()-2]
			texts["JSON for HTML"] = strings.Trim(asHTML.String(), "\n")[1 : asHTML.Len()-2]
			twice, err := json.Marshal(asHTML.String())
			if err != nil {
				t.Fatal(err)
			}
			texts["JSON in JSON"] = strings.TrimSuffix(strings.TrimPrefix(string(twice), `"\"`), `\"\n"`)
		}
		for name, text := range texts {
			if got := r.String("<" + text + ">"); got != "<[REDACTED]>" {
				t.Errorf("%s of %q: %q became %q", name, v, text, got)
			}
		}
	}
}

func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i:], bytes.ToLower(b[i:i+3]))
		}
	}
	return string(b)
}

// In the middle of a longer text all but the characters that it shares with its
// neighbours goes.
func TestBase64Alignments(t *testing.T) {
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for _, v := range awkward {
			r := New(secrets(v), Base64|Base64URL)
			for before := range 7 {
				for after := range 4 {
					text := enc.EncodeToString([]byte("bearer:"[:before] + v + "\n  "[:after]))
					got := r.String(text)
					if strings.Count(got, Placeholder) != 1 {
						t.Fatalf("%q behind %d, before %d: %q became %q", v, before, after, text, got)
					}
					left := len(got) - len(Placeholder)
					if limit := (before*8+5)/6 + (after*8+5)/6 + 1 + 2; left > limit {
						t.Errorf("%q behind %d, before %d: %q became %q", v, before, after, text, got)
					}
				}
			}
		}
	}
}

// Whatever the length of a value, nothing of it is left of its wrapped encodings.
func TestWrapped(t *testing.T) {
	wrap := func(s string, width int, end string) string {
		var lines []string
		for ; len(s) > width; s = s[width:] {
			lines = append(lines, s[:width])
		}
		return strings.Join(append(lines, s), end) + end
	}
	for n := MinLength; n < 200; n++ {
		value := strings.Repeat("Made-up/Value~17?", 12)[:n]
		r := New(secrets(value), AllForms)
		for _, end := range []string{"\n", "\r\n"} {
			for _, text := range []string{
				wrap(base64.StdEncoding.EncodeToString([]byte(value)), 64, end),
				wrap(base64.StdEncoding.EncodeToString([]byte(value)), 76, end),
				wrap(base64.URLEncoding.EncodeToString([]byte(value)), 76, end),
				wrap(hex.EncodeToString([]byte(value)), 60, end),
			} {
				left := strings.ReplaceAll(r.String(text), Placeholder, "")
				if strings.Trim(left, end) != "" {
					t.Fatalf("%d bytes: of %q is left %q", n, text, left)
				}
			}
		}
	}
}

// However many shapes are looked for and however the text is cut, the result is the
// definition's.
func TestFormsEverySplit(t *testing.T) {
	for _, v := range awkward {
		r := New(secrets(v), AllForms)
		var all []string
		for _, p := range r.set.sorted {
			all = append(all, string(p))
		}
		for n, p := range all {
			text := "ab" + p[len(p)/2:] + p + "\x1b[1m" + p[:len(p)/2]
			want := naive(all, text)
			if got := r.String(text); got != want {
				t.Fatalf("%q: %q, want %q", text, got, want)
			}
			for i := 0; i <= len(text); i++ {
				if got := streamed(t, r, text, i); got != want {
					t.Fatalf("%q cut at %d: %q, want %q", text, i, got, want)
				}
				for j := 0; i+j <= len(text) && n%10 == 0; j += 1 + len(text)/50 {
					if got := streamed(t, r, text, i, j); got != want {
						t.Fatalf("%q cut at %d and %d: %q, want %q", text, i, i+j, got, want)
					}
				}
			}
		}
	}
}

// What the tools on a real system write.
func TestFormsOfRealTools(t *testing.T) {
	value := strings.Repeat(`it's $HOME; a "long" one\ `, 5) + "end"
	for _, tt := range []struct{ tool, script, left string }{
		{"bash", `printf %q "$V"`, ""},
		{"bash", `set -x; : "$V"`, "+ : ''\n"},
		{"bash", `declare -p V`, `declare -x V=""` + "\n"},
		{"sh", `export -p | grep "^export V="`, "export V=''\n"},
		{"base64", `printf %s "$V" | base64`, "\n\n\n"},
		{"base64", `printf %s "$V" | base64 -w0`, ""},
		{"xxd", `printf %s "$V" | xxd -p`, "\n\n\n\n\n"},
		{"python3", `python3 -c 'import os,json; print(json.dumps(os.environ["V"]))'`, `""` + "\n"},
		{"python3", `python3 -c 'import os,shlex; print(shlex.quote(os.environ["V"]))'`, "''\n"},
		{"python3", `python3 -c 'import os,urllib.parse; print(urllib.parse.quote(os.environ["V"]))'`, "\n"},
		{"python3", `python3 -c 'import os,urllib.parse; print(urllib.parse.quote_plus(os.environ["V"]))'`, "\n"},
		{"node", `node -e 'console.log(encodeURIComponent(process.env.V))'`, "\n"},
		{"node", `node -e 'console.log(encodeURI(process.env.V))'`, "\n"},
		{"node", `node -e 'console.log(String(new URLSearchParams([["v",process.env.V]])))'`, "v=\n"},
		{"node", `node -e 'console.log(JSON.stringify(process.env.V))'`, `""` + "\n"},
		{"jq", `jq -n 'env.V'`, `""` + "\n"},
	} {
		if _, err := exec.LookPath(tt.tool); err != nil {
			t.Logf("%s is not here", tt.tool)
			continue
		}
		shell := "sh"
		if tt.tool == "bash" {
			shell = "bash"
		}
		cmd := exec.Command(shell, "-c", tt.script)
		cmd.Env = append(cmd.Environ(), "V="+value)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v", tt.script, err)
			continue
		}
		got := strings.ReplaceAll(New(secrets(value), AllForms).String(string(out)), Placeholder, "")
		if got != tt.left {
			t.Errorf("%s: of %q is left %q, want %q", tt.script, out, got, tt.left)
		}
	}
}

// report: buildkite/agent#2062, actions/runner#161, PR#1521, hashicorp/vault-action PR#208
func TestLines(t *testing.T) {
	const pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7\nabcdefghijk=\n-----END PRIVATE KEY-----\n"
	const key = "{\n  \"type\": \"x\",\n  \"private_key\": \"made-up-made-up\",\n}\n"
	for _, tt := range []struct{ name, value, in, want string }{
		{"raw", pem, "a\n" + pem + "b\n", "a\n[REDACTED]b\n"},
		{"CRLF", pem, "a\r\n" + strings.ReplaceAll(pem, "\n", "\r\n") + "b\r\n", "a\r\n[REDACTED]b\r\n"},
		{
			"indented", pem, "  " + strings.ReplaceAll(pem, "\n", "\n  "),
			"  -----BEGIN PRIVATE KEY-----\n  [REDACTED]\n  [REDACTED]\n  [REDACTED]\n  -----END PRIVATE KEY-----\n  ",
		},
		{"one line", pem, "> BKcwggSjAgEAAoIBAQC7 <", "> [REDACTED] <"},
		{"without its last newline", pem, strings.TrimSpace(pem), "-----BEGIN PRIVATE KEY-----\n[REDACTED]\n[REDACTED]\n[REDACTED]\n-----END PRIVATE KEY-----"},
		{"JSON, trivial lines", key, "{\n  \"type\": \"x\",\n}\n", "{\n  \"type\": \"x\",\n}\n"},
		{"JSON, the line that matters", key, "\t\"private_key\": \"made-up-made-up\",\r\n", "\t[REDACTED]\r\n"},
		{"YAML", "apiVersion: v1\nkind: Config\ntoken: made-up-made-up\n========\n", "apiVersion: v1\nkind: Config\n========\n  token: made-up-made-up\n", "apiVersion: v1\nkind: Config\n========\n  [REDACTED]\n"},
		{"blanks around one line", " made-up-value\n", "x made-up-value", "x [REDACTED]"},
	} {
		if got := New(secrets(tt.value), Lines).String(tt.in); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestFormNames(t *testing.T) {
	var all Forms
	for _, name := range FormNames() {
		f, ok := ParseForm(name)
		if !ok {
			t.Errorf("%s is not known", name)
		}
		all |= f
		if name != "all" && f.String() != name {
			t.Errorf("%s is called %s", name, f)
		}
	}
	if all != AllForms {
		t.Errorf("the names make %s", all)
	}
	if _, ok := ParseForm("rot13"); ok {
		t.Error("rot13 is known")
	}
}

// No form of a value is left when a text of them has been redacted, and what has
// no form asked for is not touched.
func FuzzForms(f *testing.F) {
	for _, v := range awkward {
		f.Add(v, uint8(AllForms))
	}
	f.Fuzz(func(t *testing.T, v string, forms uint8) {
		if len(v) > 500 || strings.ContainsAny(v, "[]REDACTED") {
			return
		}
		r := New(secrets(v), Forms(forms)&AllForms)
		if r.Empty() {
			return
		}
		for _, p := range r.set.sorted {
			if got := r.String("(" + string(p) + ")"); strings.Contains(got, string(p)) {
				t.Fatalf("%q is in %q", p, got)
			}
		}
		if got := r.String("(" + v + ")"); got != "(["+"REDACTED])" {
			t.Fatalf("%q became %q", v, got)
		}
		var all []string
		text := ""
		for i, p := range r.set.sorted {
			all = append(all, string(p))
			if cut := i * 7 % len(p); i%5 == 0 && len(text) < 2000 {
				text += string(p[cut:]) + string(p) + string(p[:cut])
			}
		}
		if want, got := naive(all, text), r.String(text); got != want {
			t.Fatalf("%q became %q, want %q", text, got, want)
		}
	})
}
