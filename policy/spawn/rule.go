package spawn

// Rule grants the commands that match Command, a glob over the resolved path
// of a program or script, the variables named by Allow (names or globs).
type Rule struct {
	Command string
	Allow   []string
}

// MinProtected is the length from which on a value is protected under every
// name. Shorter ones occur by chance: only the variable itself is taken.
const MinProtected = 8
