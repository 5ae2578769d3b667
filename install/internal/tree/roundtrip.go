package tree

import (
	"strings"
	"testing"

	"github.com/envscrub/envscrub/install"
)

// RoundTrip installs, checks, installs again and uninstalls an engine. An install that is refused leaves everything as it
// was, with one line; a second one changes nothing; an uninstall gives everything back. It reports whether the install was
// not refused.
func RoundTrip(t testing.TB, e install.Engine, o install.Options, check func()) bool {
	t.Helper()
	before := List(t, o)
	if _, err := e.Install(o); err != nil {
		if after := List(t, o); after != before {
			t.Fatalf("refused (%v) and changed:\n%s\nbefore:\n%s", err, after, before)
		}
		if strings.ContainsAny(err.Error(), "\n\r\x00") {
			t.Fatalf("more than one line: %q", err)
		}
		return false
	}
	check()
	installed := List(t, o)
	if _, err := e.Install(o); err != nil {
		t.Fatalf("the second install: %v", err)
	}
	if again := List(t, o); again != installed {
		t.Fatalf("the second install made\n%s\nof\n%s", again, installed)
	}
	back := o
	back.Via, back.When, back.Default = "", "", false
	if _, err := e.Uninstall(back); err != nil {
		t.Fatalf("uninstall: %v", err)
	}
	if after := List(t, o); after != before {
		t.Fatalf("uninstalled:\n%s\nbefore:\n%s", after, before)
	}
	return true
}
