package doc

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits of a document. The runtimes' own are higher or absent, but nothing that
// an engine writes comes near these.
const (
	MaxSize  = 16 << 20
	MaxDepth = 512
)

// An Error says what is wrong with a document, and where. It never holds a
// string of the document except keys that the specification defines.
type Error struct {
	Line, Column int
	Path         string // "process.env[3]"; "" where the grammar is broken
	What         string
}

func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.What)
	}
	return fmt.Sprintf("line %d, column %d: %s: %s", e.Line, e.Column, e.Path, e.What)
}

// A span is a range of bytes of the document.
type span struct{ from, to int }

// A scanner walks over a document once. It works on a string, so that every
// field without an escape is a part of it and costs nothing.
type scanner struct {
	s     string
	i     int
	depth int
}

func (p *scanner) fail(at int, what string) error {
	at = min(at, len(p.s))
	before := p.s[:at]
	return &Error{
		Line:   strings.Count(before, "\n") + 1,
		Column: at - strings.LastIndexByte(before, '\n'),
		What:   what,
	}
}

// unexpected names what stands at the current position by its class: the
// character itself could be a part of a secret.
func (p *scanner) unexpected(want string) error {
	if p.i >= len(p.s) {
		return p.fail(p.i, "the document ends where "+want+" was expected")
	}
	return p.fail(p.i, want+" was expected")
}

func (p *scanner) space() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

// peek returns the next byte that is not white space, or 0 at the end.
func (p *scanner) peek() byte {
	p.space()
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *scanner) enter() error {
	if p.depth++; p.depth > MaxDepth {
		return p.fail(p.i, fmt.Sprintf("nested deeper than %d levels", MaxDepth))
	}
	return nil
}

// kindOf names the kind of value that begins with c.
func kindOf(c byte) string {
	switch {
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '"':
		return "a string"
	case c == 't' || c == 'f':
		return "a boolean"
	case c == 'n':
		return "null"
	case c == '-' || '0' <= c && c <= '9':
		return "a number"
	}
	return ""
}

// want checks that the next value begins with c. The value itself is scanned by
// the caller, so that a broken one is still reported as broken.
func (p *scanner) want(c byte, what string) error {
	got := p.peek()
	if got == c {
		return nil
	}
	if kind := kindOf(got); kind != "" {
		return p.fail(p.i, "want "+what+", found "+kind)
	}
	return p.unexpected("a value")
}

// value scans any value and returns where it stands.
func (p *scanner) value() (span, error) {
	c := p.peek()
	from := p.i
	var err error
	switch {
	case c == '"':
		_, err = p.token()
	case c == '{':
		err = p.members(func() error { _, err := p.value(); return err })
	case c == '[':
		err = p.elements(func() error { _, err := p.value(); return err })
	case c == 't':
		err = p.word("true")
	case c == 'f':
		err = p.word("false")
	case c == 'n':
		err = p.word("null")
	case c == '-' || '0' <= c && c <= '9':
		err = p.number()
	default:
		err = p.unexpected("a value")
	}
	return span{from, p.i}, err
}

func (p *scanner) word(w string) error {
	if !strings.HasPrefix(p.s[p.i:], w) {
		return p.unexpected("true, false or null")
	}
	p.i += len(w)
	return nil
}

func (p *scanner) digits() bool {
	from := p.i
	for p.i < len(p.s) && '0' <= p.s[p.i] && p.s[p.i] <= '9' {
		p.i++
	}
	return p.i > from
}

func (p *scanner) accept(set string) bool {
	if p.i < len(p.s) && strings.IndexByte(set, p.s[p.i]) >= 0 {
		p.i++
		return true
	}
	return false
}

func (p *scanner) number() error {
	p.accept("-")
	if !p.accept("0") && !p.digits() {
		return p.unexpected("a digit")
	}
	if p.accept(".") && !p.digits() {
		return p.unexpected("a digit")
	}
	if p.accept("eE") {
		p.accept("+-")
		if !p.digits() {
			return p.unexpected("a digit")
		}
	}
	return nil
}

// members scans an object and calls each at every value, with the key before it
// passed over.
func (p *scanner) members(each func() error) error {
	return p.keys(func(text) error { return each() })
}

// keys scans an object and calls each with every key, at its value.
func (p *scanner) keys(each func(key text) error) error {
	if err := p.enter(); err != nil {
		return err
	}
	p.i++
	if p.peek() == '}' {
		p.i++
		p.depth--
		return nil
	}
	for {
		if p.peek() != '"' {
			return p.unexpected("a key")
		}
		key, err := p.token()
		if err != nil {
			return err
		}
		if p.peek() != ':' {
			return p.unexpected("a colon")
		}
		p.i++
		p.space()
		if err := each(key); err != nil {
			return err
		}
		switch p.peek() {
		case ',':
			p.i++
		case '}':
			p.i++
			p.depth--
			return nil
		default:
			return p.unexpected("a comma or the end of the object")
		}
	}
}

// elements scans an array and calls each at every value.
func (p *scanner) elements(each func() error) error {
	if err := p.enter(); err != nil {
		return err
	}
	p.i++
	if p.peek() == ']' {
		p.i++
		p.depth--
		return nil
	}
	for {
		p.space()
		if err := each(); err != nil {
			return err
		}
		switch p.peek() {
		case ',':
			p.i++
		case ']':
			p.i++
			p.depth--
			return nil
		default:
			return p.unexpected("a comma or the end of the array")
		}
	}
}

// integer scans a whole number that fits in 32 bits without a sign, as ids are.
func (p *scanner) integer() (uint32, error) {
	if c := p.peek(); c != '-' && (c < '0' || c > '9') {
		return 0, p.want('0', "a whole number")
	}
	at, err := p.value()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(p.s[at.from:at.to], 10, 32)
	if err != nil {
		return 0, p.fail(at.from, "want a whole number from 0 to 4294967295")
	}
	return uint32(n), nil
}

func (p *scanner) boolean() (bool, error) {
	if c := p.peek(); c != 't' && c != 'f' {
		return false, p.want('t', "a boolean")
	}
	at, err := p.value()
	return err == nil && p.s[at.from] == 't', err
}

// null passes over a null, if one stands here.
func (p *scanner) null() (bool, error) {
	if p.peek() != 'n' {
		return false, nil
	}
	_, err := p.value()
	return true, err
}
