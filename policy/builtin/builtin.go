package builtin

// Group is one class of names that a policy turns on or off as a whole.
type Group struct {
	Name string
	Doc  string

	// Exact names are rule 1: no value is looked at, and no allow beats them.
	Exact []string
	// Names are rule 3: no value is looked at, but that the file name of a
	// database is no connection string; an allow beats them.
	Names []string
	// Globs are rule 3: they spare values that cannot be a credential. In the
	// deny groups they name the judgements by words, each of which takes at least
	// what its glob says where the value could be one.
	Globs []string

	// Off says that the group does nothing until a policy turns it on.
	Off bool
}

// Spared reports whether a value cannot be a secret: it is empty, a word that
// means yes, no or nothing, or a number of fewer than six digits.
func Spared(value string) bool {
	if len(value) == 0 {
		return true
	}
	if len(value) > 9 {
		return false
	}
	if c := value[0]; c <= '9' {
		return sparedNumber(value)
	}
	var buf [9]byte
	for i := range len(value) {
		buf[i] = lower(value[i])
	}
	switch string(buf[:len(value)]) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "t", "f",
		"enabled", "disabled", "none", "null", "nil", "undefined":
		return true
	}
	return false
}

// sparedNumber reports whether value is a decimal number, with a sign or a
// point perhaps, of fewer than six digits.
func sparedNumber(value string) bool {
	digits, points := 0, 0
	for i := range len(value) {
		switch c := value[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '.' && points == 0 && i > 0:
			points++
		case (c == '-' || c == '+') && i == 0 && len(value) > 1:
		default:
			return false
		}
	}
	return digits > 0 && digits < 6
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}
