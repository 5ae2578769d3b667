package policy

import (
	"runtime"
	"slices"
	"strings"

	"github.com/gobwas/glob"

	"github.com/envscrub/envscrub/policy/builtin"
	"github.com/envscrub/envscrub/policy/redact"
	"github.com/envscrub/envscrub/policy/spawn"
)

// controlPrefix begins the names that are envscrub's own. They are never passed on.
const controlPrefix = "ENVSCRUB_"

// minProtected is the length from which on a value is protected under other names. Shorter ones occur by chance.
const minProtected = redact.MinLength

// diagnostics are the runtimes whose diagnostic doors harden.diagnostics can close.
var diagnostics = []string{"dotnet", "java", "node", "python"}

// IsSensitiveName says whether the built-in rules take a variable of this name.
func IsSensitiveName(name string) bool { return builtin.IsSensitiveName(name) }

// doors are the annotations, and the variables where an engine has no annotations, by which a container asks for a
// profile, for variables, or to be left alone. Each counts only if `overrides` names it.
var doors = [...]string{
	"io.envscrub.profile", "io.envscrub.allow", "io.envscrub.disable",
	"ENVSCRUB_PROFILE", "ENVSCRUB_ALLOW", "ENVSCRUB_DISABLE",
}

func isDoor(text string) bool {
	return slices.ContainsFunc(doors[:], func(door string) bool { return strings.EqualFold(door, text) })
}

// ValidName says whether a text is a name that a policy can mean exactly: [A-Za-z_][A-Za-z0-9_]*. What is not may be a
// value in the wrong place and must not be logged.
func ValidName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

func isControl(name string) bool {
	return len(name) >= len(controlPrefix) && name[0]|0x20 == 'e' && sameFold(name[:len(controlPrefix)], controlPrefix)
}

// oddGlob are the characters of a glob that is more than literals between stars.
const oddGlob = `?[]{}\`

func isGlob(pattern string) bool { return strings.ContainsAny(pattern, "*"+oddGlob) }

// checkPattern says what is wrong with a name or glob of a policy, or "". Exact names have to be ones that a shell
// can set: whoever means npm_config_//host/:_authToken writes a glob.
func checkPattern(pattern string) string {
	if !isGlob(pattern) {
		switch {
		case !ValidName(pattern):
			return "an entry is not the name of a variable ([A-Za-z_][A-Za-z0-9_]*); correct it, or use a glob such as my?db?password for other characters"
		case isControl(pattern):
			return "names that begin with " + controlPrefix + " are envscrub's own and never passed on; remove the entry"
		}
		return ""
	}
	for i := range len(pattern) {
		if c := pattern[i]; c <= ' ' || c == '=' || c == 0x7f {
			return "a glob holds white space, a control character or '=', which no name has; correct it"
		}
	}
	return checkGlob(pattern)
}

func checkGlob(pattern string) string {
	if len(pattern) > 1024 {
		return "a glob is longer than 1024 characters; shorten it"
	}
	if !strings.ContainsAny(pattern, oddGlob) {
		return "" // only stars
	}
	// The shim has a matcher of its own, which has to understand every pattern too.
	if _, err := glob.Compile(pattern); err != nil || spawn.CheckGlob(pattern) != nil {
		return "an entry is not a valid glob (*, ?, [a-z], {a,b}); correct it"
	}
	return ""
}

// absolute says whether a path names its file from the root on, on this system.
func absolute(path string) bool {
	if runtime.GOOS == "windows" && len(path) > 2 && path[1] == ':' {
		return path[2] == '\\' || path[2] == '/'
	}
	return strings.HasPrefix(path, "/")
}

// fold is upper-casing of ASCII letters: how names are compared.
func fold(name string) string {
	for i := range len(name) {
		if upper(name[i]) != name[i] {
			buf := []byte(name)
			for ; i < len(buf); i++ {
				buf[i] = upper(buf[i])
			}
			return string(buf)
		}
	}
	return name
}

// checkZone says what is wrong with the id of a time zone, or "".
func checkZone(id string) string {
	if id != "" && !strings.ContainsAny(id, " \n") && strings.Contains(zones, " "+id+" ") {
		return ""
	}
	if near := nearest(id, strings.Fields(zones)); near != "" {
		return "not an IANA time zone; did you mean " + near + "?"
	}
	return `not an IANA time zone; write one such as "Europe/Berlin" or "UTC"`
}
