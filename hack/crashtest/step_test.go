package crashtest

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
)

// TestMain: most of the time here is a shim's waiting for a lifter that is dead, and costs no processor.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// A stepper kills a command at one of its system calls (testdata/step.c).
type stepper struct {
	program, log string
}

func newStepper(t *testing.T) *stepper {
	t.Helper()
	rig.Need(t, "root", "gcc")
	return &stepper{program: rig.CC(t, "testdata/step.c"), log: filepath.Join(rig.TempDir(t), "log")}
}

// argv is the command line that kills command at its nth changing system call.
func (s *stepper) argv(n int, command ...string) []string {
	return append([]string{s.program, fmt.Sprint(n), s.log}, command...)
}

// run runs command to its end, or to its nth changing system call.
func (s *stepper) run(t *testing.T, n int, command ...string) rig.Result {
	t.Helper()
	argv := s.argv(n, command...)
	return rig.Run(t, exec.Command(argv[0], argv[1:]...))
}

// killed waits until the command and all that it left running have ended, and names the system call at which one of them
// was killed; "" says that there were less than so many.
func (s *stepper) killed(t *testing.T) string {
	t.Helper()
	var text string
	rig.Eventually(t, "the end of what was stepped", func() bool {
		data, err := os.ReadFile(s.log)
		if err != nil {
			t.Fatal(err)
		}
		text = string(data)
		return strings.HasSuffix(text, "end\n")
	})
	for line := range strings.Lines(text) {
		if point, ok := strings.CutSuffix(strings.TrimSpace(line), " killed"); ok {
			return point
		}
	}
	return ""
}

// maxPoints bounds the search for the last crash point.
const maxPoints = 400

// enough: a test that finds no crash point proves nothing.
func enough(t *testing.T, points int) {
	t.Helper()
	t.Logf("%d crash points", points)
	if points < 5 {
		t.Errorf("only %d crash points were found", points)
	}
	if points >= maxPoints {
		t.Error("there is no end of crash points")
	}
}
