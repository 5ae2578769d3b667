package policy

import "strconv"

// Position is where a rule stands. The zero Position is a rule that is built in.
type Position struct {
	File   string
	Line   int
	Column int
}

// String gives "FILE:LINE", or "built-in" for a rule that no file holds.
func (p Position) String() string {
	switch {
	case p.File == "":
		return "built-in"
	case p.Line == 0:
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line)
}

// full gives "FILE:LINE:COL", the form of error messages.
func (p Position) full() string {
	if p.File == "" || p.Line == 0 {
		return p.String()
	}
	return p.String() + ":" + strconv.Itoa(p.Column)
}
