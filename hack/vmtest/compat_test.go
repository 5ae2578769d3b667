//go:build vm

package vmtest

import (
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
)

// A 32-bit agent on a 64-bit kernel is closed as any other. On arm64 the one in Go runs ARM instructions, the one in C
// Thumb: it becomes a 64-bit one, by a thread that is not its leader.
func TestAgentOf32Bits(t *testing.T) {
	inGo := append([]string{probeDir + "/agent32"}, probe[1:]...)
	inC := append([]string{probeDir + "/spawns32", "exec"}, probe...)
	works(t, "Go", process(t, ordinary, keeping(""), inGo...))
	works(t, "C", process(t, ordinary, keeping(""), inC...))
	for _, rt := range rig.Runtimes(t) {
		works(t, rt.Name+", Go", container(t, rt, ordinary, keeping(""), nil, inGo...))
		works(t, rt.Name+", C", container(t, rt, 0, keeping(""), nil, inC...))
	}
}
