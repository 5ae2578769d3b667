package redact

import "strings"

var (
	crlf = strings.NewReplacer("\r\n", "\n")
	lf   = strings.NewReplacer("\n", "\r\n")
)

func (c *collector) lines(v string) {
	if !strings.ContainsAny(v, "\r\n") {
		c.add(strings.TrimSpace(v))
		return
	}
	for line := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimSpace(line)
		if !trivial(line) {
			c.add(line)
		}
	}
}

// trivial reports whether a line is too common to be looked for by itself, so that
// other documents of the same kind stay readable: it is short, nothing but
// punctuation, the head or foot of a PEM block, or a key with a short value
// ("apiVersion: v1").
func trivial(line string) bool {
	switch {
	case len(line) < MinLength:
		return true
	case strings.HasPrefix(line, "-----BEGIN "), strings.HasPrefix(line, "-----END "):
		return true
	case !strings.ContainsFunc(line, func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
	}):
		return true
	}
	// Behind the last line of base64 "=" is padding, not the end of a key.
	if i := strings.IndexAny(strings.TrimRight(line, "="), ":="); i >= 0 {
		return len(strings.Trim(line[i+1:], " \t\"'`,;{}[]()")) < MinLength
	}
	return false
}
