package redact

import "bytes"

// Placeholder stands where a value stood. It is the same for every value, so it
// tells neither the value's length nor which of several it was, and it needs no
// escaping inside a JSON string.
const Placeholder = "[REDACTED]"

// MinLength is the length in bytes from which a value is looked for. Shorter
// ones occur in ordinary text by chance.
const MinLength = 8

// A Secret is a value to be kept out of a stream. Name is only used to speak
// about it.
type Secret struct {
	Name, Value string
}

// A Redactor replaces every known value in a text. It never changes once made:
// any number of goroutines may use it. A nil Redactor knows no value.
type Redactor struct {
	set     *set
	ignored []string
	codes   bool // no value contains an escape character: colour codes inside one are looked through
}

// New returns a Redactor for the values and, of each, the forms asked for. A
// value shorter than MinLength is left out; Ignored tells its name.
func New(values []Secret, forms Forms) *Redactor {
	r := &Redactor{codes: true}
	var c collector
	for _, s := range values {
		switch {
		case s.Value == "":
		case len(s.Value) < MinLength || inPlaceholder(s.Value):
			r.ignored = append(r.ignored, s.Name)
		default:
			c.value(s.Value, forms)
		}
	}
	for _, p := range c.patterns {
		r.codes = r.codes && bytes.IndexByte(p, escape) < 0
	}
	r.set = newSet(c.patterns)
	return r
}

// Ignored returns the names of the values that are too short to be looked for,
// in the order in which they were given. An empty value is nothing to warn of.
func (r *Redactor) Ignored() []string {
	if r == nil {
		return nil
	}
	return r.ignored
}

// Empty reports whether nothing is looked for, so that every text passes as it is.
func (r *Redactor) Empty() bool { return r == nil || r.set == nil }

// Patterns returns how many distinct byte strings are looked for, all forms counted.
func (r *Redactor) Patterns() int {
	if r.Empty() {
		return 0
	}
	return len(r.set.sorted)
}

// Bytes returns b with every occurrence of a value replaced. When there is none
// it returns b itself; it never changes b.
func (r *Redactor) Bytes(b []byte) []byte {
	if r.Empty() {
		return b
	}
	v := r.view(b)
	if v.peek().start < 0 {
		return b
	}
	var p progress
	return v.replace(make([]byte, 0, len(b)+len(Placeholder)), &p, len(b))
}

// String is Bytes for a string.
func (r *Redactor) String(s string) string {
	if r.Empty() {
		return s
	}
	v := r.view([]byte(s))
	if v.peek().start < 0 {
		return s
	}
	var p progress
	return string(v.replace(make([]byte, 0, len(s)+len(Placeholder)), &p, len(s)))
}

// inPlaceholder reports whether the placeholder itself would show the value.
func inPlaceholder(value string) bool {
	for i := 0; i+len(value) <= len(Placeholder); i++ {
		if Placeholder[i:i+len(value)] == value {
			return true
		}
	}
	return false
}
