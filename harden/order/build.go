package order

import "strings"

// A stamp in a program says of which build it is. [StampBegin] and [StampEnd] let
// it be found in the file without the program being started.
const (
	StampBegin = "(envscrub-build:"
	StampEnd   = ")"
)

// stamp is set by the linker: hack/build has the command.
var stamp string

// Build is the name of the build that this program belongs to, or "" where it was
// given none.
func Build() string {
	return strings.TrimSuffix(strings.TrimPrefix(stamp, StampBegin), StampEnd)
}
