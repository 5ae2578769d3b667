package builtin

import "strings"

// Shape reports whether a value is a credential by its form alone, and which
// kind. name only helps where a value by itself could be read in two ways.
func Shape(name, value string) (kind string, ok bool) {
	if strings.Contains(value, "-----BEGIN ") && strings.Contains(value, "PRIVATE KEY-----") {
		return "private-key", true
	}
	if i := strings.Index(value, "://"); i >= 0 {
		authority := value[i+3:]
		if j := strings.IndexAny(authority, "/?# "); j >= 0 {
			authority = authority[:j]
		}
		if at := strings.LastIndexByte(authority, '@'); at > 0 {
			if colon := strings.IndexByte(authority[:at], ':'); colon >= 0 && colon < at-1 {
				return "url-password", true
			}
		}
	}
	return "", false
}
