package doc

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A text is a string as it stands in the document, quotes included.
type text struct {
	span
	escaped bool // has a backslash
	high    bool // has a byte above 0x7f
}

// ends tells whether a byte ends the fast walk over a string. It is no table: one
// would be filled at the start of every program.
func ends(c byte) bool { return c < 0x20 || c >= 0x80 || c == '"' || c == '\\' }

// token scans a string.
func (p *scanner) token() (text, error) {
	t := text{span: span{from: p.i}}
	s, i := p.s, p.i+1
	for {
		for i < len(s) && !ends(s[i]) {
			i++
		}
		if i >= len(s) {
			p.i = i
			return t, p.fail(t.from, "a string without an end")
		}
		switch c := s[i]; {
		case c == '"':
			t.to = i + 1
			p.i = t.to
			return t, nil
		case c == '\\':
			t.escaped = true
			n := escapeLen(s[i:])
			if n == 0 {
				p.i = i
				return t, p.fail(i, "an escape that JSON does not have")
			}
			i += n
		case c >= 0x80:
			t.high = true
			i++
		default:
			p.i = i
			return t, p.fail(i, "a control character inside a string")
		}
	}
}

// escapeLen returns the length of the escape that s begins with, 0 for none.
func escapeLen(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(s); ok {
			return 6
		}
	}
	return 0
}

// hex4 reads the \uXXXX that s begins with.
func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range []byte(s[2:6]) {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// decode returns what t means, by the rules of encoding/json. lone tells of an
// unpaired surrogate.
func (p *scanner) decode(t text) (s string, lone bool) {
	in := p.s[t.from+1 : t.to-1]
	if !t.escaped && (!t.high || utf8.ValidString(in)) {
		return in, false
	}
	var b strings.Builder
	b.Grow(len(in))
	for len(in) > 0 {
		c := in[0]
		switch {
		case c == '\\' && in[1] == 'u':
			r, _ := hex4(in)
			in = in[6:]
			if utf16.IsSurrogate(r) {
				low, _ := hex4(in)
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					in, r = in[6:], pair
				} else {
					r, lone = utf8.RuneError, true
				}
			}
			b.WriteRune(r)
		case c == '\\':
			b.WriteByte(unescape(in[1]))
			in = in[2:]
		case c < utf8.RuneSelf:
			b.WriteByte(c)
			in = in[1:]
		default:
			r, n := utf8.DecodeRuneInString(in)
			b.WriteRune(r)
			in = in[n:]
		}
	}
	return b.String(), lone
}

func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// text scans a string whose meaning counts: one that every runtime reads alike.
func (p *scanner) text() (string, error) {
	if err := p.want('"', "a string"); err != nil {
		return "", err
	}
	t, err := p.token()
	if err != nil {
		return "", err
	}
	s, lone := p.decode(t)
	switch {
	case lone:
		return "", p.fail(t.from, "holds half of a surrogate pair, which runtimes read differently")
	case t.escaped && strings.IndexByte(s, 0) >= 0:
		return "", p.fail(t.from, "holds a NUL byte")
	}
	return s, nil
}

const hexDigits = "0123456789abcdef"

// appendQuoted appends s as JSON. What is no UTF-8 cannot stand in JSON and becomes
// U+FFFD, as encoding/json does it.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if !ends(c) {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(b, s[from:i]...)
				b = append(b, "\ufffd"...)
				from = i + 1
			}
			i += n
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}
