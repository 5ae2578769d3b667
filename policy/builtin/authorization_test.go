package builtin

import "testing"

// What follows Basic is a login where it is a name, a colon and a password (RFC 7617), and a word where it is not.
func TestBasicAuthorization(t *testing.T) {
	for value, want := range map[string]string{
		"Basic dXNlcjpwYXNzd29yZA==":   "authorization", // user:password
		"basic%20dXNlcjpwYXNzd29yZA==": "authorization",
		"BASIC dXNlcjpwYXNzd29yZA":     "authorization",
		"Basic dXNlcm5hbWVvbmx5":       "", // usernameonly
		"Basic dXNlcm5hbWU6":           "", // username:
		"Basic programming course":     "",
	} {
		if kind, _ := Shape("X", value); kind != want {
			t.Errorf("%q is %q, not %q", value, kind, want)
		}
	}
}
