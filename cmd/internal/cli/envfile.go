package cli

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parseEnvFile reads the line format of docker run --env-file: NAME=VALUE, or a
// bare NAME for the variable of the current environment. Nothing is unquoted and
// nothing is expanded; white space at a line's start is dropped, a line's end may
// have a carriage return, a line that begins with # is a comment. skipped are the
// lines of bare names that the current environment does not have. Errors name
// lines and never show them: one could be a part of a key.
func parseEnvFile(data []byte, lookup func(string) (string, bool)) (env []string, skipped []int, err error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	number := 0
	for line := range bytes.Lines(data) {
		number++
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if !utf8.Valid(line) {
			return nil, nil, fmt.Errorf("line %d: not valid UTF-8", number)
		}
		text := strings.TrimLeftFunc(string(line), unicode.IsSpace)
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		switch {
		case name == "":
			return nil, nil, fmt.Errorf("line %d: no name before the =", number)
		case strings.ContainsAny(name, " \t"):
			return nil, nil, fmt.Errorf("line %d: white space in the name; Docker refuses such a file", number)
		case strings.ContainsRune(text, 0):
			return nil, nil, fmt.Errorf("line %d: a NUL byte", number)
		}
		if !ok {
			if value, ok = lookup(name); !ok {
				skipped = append(skipped, number)
				continue
			}
		}
		env = append(env, name+"="+value)
	}
	return env, skipped, nil
}

// parseEnviron splits the form of /proc/<pid>/environ.
func parseEnviron(data []byte) []string {
	text := strings.TrimSuffix(string(data), "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}
