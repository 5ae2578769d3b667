package policy

import "strings"

// Error is a policy that cannot be used. It names the place and the key, and never repeats a value: a policy
// file may hold what its author should not have written there.
type Error struct {
	At   Position
	Key  string // dotted, as in the file; empty when the file as a whole is meant
	What string // what is wrong, then "; " and what to do
	Err  error  // the cause, if another package found it
}

// Error gives one line: "FILE:LINE:COL: key: what; what to do".
func (e *Error) Error() string {
	var b strings.Builder
	if e.At != (Position{}) {
		b.WriteString(e.At.full())
		b.WriteString(": ")
	}
	if e.Key != "" {
		b.WriteString(e.Key)
		b.WriteString(": ")
	}
	b.WriteString(e.What)
	// TOML allows line breaks in keys, and file names may hold them.
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, b.String())
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// nearest gives the word of the list that a typing mistake most likely meant, or "".
func nearest(word string, list []string) string {
	best, distance := "", 3
	if len(word) < 5 {
		distance = 2
	}
	for _, candidate := range list {
		if d := editDistance(word, candidate); d < distance || d == distance && best == "" && strings.HasPrefix(candidate, word) {
			best, distance = candidate, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions, replacements and swaps of neighbours between two short words.
func editDistance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	var rows [3][65]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
