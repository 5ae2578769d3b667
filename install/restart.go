package install

import (
	"fmt"
	"os/exec"
	"strings"
)

// RunRestarts runs the commands of r.Restart where o asks for that and stands for this host, and marks those that are
// done. The first that fails ends it, with a RestartError.
func (r *Report) RunRestarts(o Options) error {
	if !o.Restart || o.DryRun || o.Root != "" {
		return nil
	}
	for i := range r.Restart {
		cmd := r.Restart[i].Command
		if out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
			return &RestartError{Err: fmt.Errorf("%s: %w: %s", strings.Join(cmd, " "), err, strings.TrimSpace(string(out)))}
		}
		r.Restart[i].Done = true
	}
	return nil
}
