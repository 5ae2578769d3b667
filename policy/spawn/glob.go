package spawn

import "errors"

// maxAlternatives bounds what the braces of one pattern may expand to.
const maxAlternatives = 1024

// A pattern in the policy's glob language: '*' matches anything, slashes too,
// '?' one byte, [a-z] and [!a-z] one of a class, {a,b} alternatives, and a
// backslash takes the next byte as it stands. Braces are expanded when it is
// compiled, so that matching is a plain walk.
type pattern struct {
	alternatives []string
	fold         bool // ASCII letters match in either case
}

// CheckGlob reports what is wrong with a command's or a name's pattern.
func CheckGlob(text string) error {
	_, err := compile(text, false)
	return err
}

func compile(text string, fold bool) (pattern, error) {
	if text == "" {
		return pattern{}, errors.New("empty pattern")
	}
	p := pattern{fold: fold}
	if err := p.expand("", text); err != nil {
		return pattern{}, err
	}
	return p, nil
}

// expand adds head, which is checked and free of braces, followed by every
// alternative of tail.
func (p *pattern) expand(head, tail string) error {
	for i := 0; i < len(tail); i++ {
		switch tail[i] {
		case '\\':
			if i+1 == len(tail) {
				return errors.New("pattern ends in a backslash")
			}
			i++
		case '[':
			n := classEnd(tail[i:])
			if n < 0 {
				return errors.New("unclosed [ in pattern")
			}
			i += n - 1
		case '}':
			return errors.New("} without { in pattern")
		case '{':
			parts, rest, err := braces(tail[i:])
			if err != nil {
				return err
			}
			for _, part := range parts {
				if err := p.expand(head+tail[:i], part+rest); err != nil {
					return err
				}
			}
			return nil
		}
	}
	if len(p.alternatives) == maxAlternatives {
		return errors.New("too many alternatives in pattern")
	}
	p.alternatives = append(p.alternatives, head+tail)
	return nil
}

// braces splits s, which begins with '{', at its own commas.
func braces(s string) (parts []string, rest string, err error) {
	depth, start := 0, 1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if n := classEnd(s[i:]); n > 0 {
				i += n - 1
			}
		case '{':
			depth++
		case ',':
			if depth == 1 {
				parts = append(parts, s[start:i])
				start = i + 1
			}
		case '}':
			if depth--; depth == 0 {
				return append(parts, s[start:i]), s[i+1:], nil
			}
		}
	}
	return nil, "", errors.New("unclosed { in pattern")
}

// classEnd returns the length of the class that s begins with, -1 where it
// does not end.
func classEnd(s string) int {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	for first := true; i < len(s); i++ {
		if s[i] == ']' && !first {
			return i + 1
		}
		if s[i] == '\\' {
			i++
		}
		first = false
	}
	return -1
}

func (p *pattern) match(s string) bool {
	for _, a := range p.alternatives {
		if matchOne(a, s, p.fold) {
			return true
		}
	}
	return false
}

// matchOne walks both strings, and goes back to the last star where it fails:
// at worst the product of both lengths.
func matchOne(pat, s string, fold bool) bool {
	i, k := 0, 0
	star, from := -1, 0
	for k < len(s) {
		if i < len(pat) && pat[i] == '*' {
			star, from = i, k
			i++
			continue
		}
		if n := matchByte(pat[i:], s[k], fold); n > 0 {
			i += n
			k++
			continue
		}
		if star < 0 {
			return false
		}
		from++
		i, k = star+1, from
	}
	for i < len(pat) && pat[i] == '*' {
		i++
	}
	return i == len(pat)
}

// matchByte returns how much of the pattern matches c, 0 for none of it.
func matchByte(pat string, c byte, fold bool) int {
	if pat == "" {
		return 0
	}
	switch pat[0] {
	case '?':
		return 1
	case '[':
		n := classEnd(pat)
		if inClass(pat[1:n-1], c) || fold && (inClass(pat[1:n-1], lower(c)) || inClass(pat[1:n-1], upper(c))) {
			return n
		}
		return 0
	case '\\':
		if same(pat[1], c, fold) {
			return 2
		}
		return 0
	}
	if same(pat[0], c, fold) {
		return 1
	}
	return 0
}

func inClass(class string, c byte) bool {
	not := false
	if class != "" && (class[0] == '!' || class[0] == '^') {
		not, class = true, class[1:]
	}
	found := false
	for i := 0; i < len(class); i++ {
		low := class[i]
		if low == '\\' && i+1 < len(class) {
			i++
			low = class[i]
		}
		high := low
		if i+2 < len(class) && class[i+1] == '-' {
			i += 2
			if high = class[i]; high == '\\' && i+1 < len(class) {
				i++
				high = class[i]
			}
		}
		found = found || low <= c && c <= high
	}
	return found != not
}

func same(a, b byte, fold bool) bool { return a == b || fold && lower(a) == lower(b) }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}
