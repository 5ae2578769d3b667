//go:build vm

package vmtest

import (
	"os"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
)

const yamaScope = "/proc/sys/kernel/yama/ptrace_scope"

// TestYama goes through the scopes of kernel.yama.ptrace_scope in their order: the last one cannot be left again before
// the machine's next start, so that this file's name makes it the last test here.
func TestYama(t *testing.T) {
	runtimes := rig.Runtimes(t)
	prefer := &order.Order{Dumpable: order.Prefer}
	echo := []string{"/bin/echo", "started"}
	for _, scope := range []string{"0", "1", "2", "3"} {
		t.Run(scope, func(t *testing.T) {
			if err := os.WriteFile(yamaScope, []byte(scope), 0o644); err != nil {
				t.Fatal(err)
			}
			if scope < "2" {
				works(t, "process", process(t, ordinary, keeping(""), probe...))
				works(t, "process of root", process(t, 0, keeping(""), probe...))
				orphan(t)
				for _, rt := range runtimes {
					works(t, rt.Name, container(t, rt, ordinary, keeping(""), nil, probe...))
					works(t, rt.Name+", root", container(t, rt, 0, keeping(""), nil, probe...))
				}
				return
			}
			says := "kernel.yama.ptrace_scope is " + scope
			refused(t, "process", process(t, ordinary, keeping(""), probe...), says)
			refused(t, "process that keeps a key", process(t, ordinary, keeping(order.Prefer), probe...), says)
			warned(t, "process", process(t, ordinary, prefer, echo...), says)
			for _, rt := range runtimes {
				refused(t, rt.Name, container(t, rt, 0, keeping(""), nil, probe...), says)
				refused(t, rt.Name, container(t, rt, ordinary, keeping(order.Prefer), nil, probe...), says)
				warned(t, rt.Name, container(t, rt, ordinary, prefer, nil, echo...), says)
			}
			// CAP_SYS_PTRACE is what scope 2 asks of a tracer. The guard keeps it, the agent does not.
			root := process(t, 0, keeping(""), probe...)
			withCap := container(t, runtimes[0], 0, keeping(""), func(s *specs.Spec) {
				c := s.Process.Capabilities
				c.Bounding = append(c.Bounding, "CAP_SYS_PTRACE")
				c.Effective, c.Permitted = c.Bounding, c.Bounding
			}, probe...)
			if scope == "2" {
				works(t, "process of root", root)
				works(t, "container with CAP_SYS_PTRACE", withCap)
			} else {
				refused(t, "process of root", root, says)
				refused(t, "container with CAP_SYS_PTRACE", withCap, says)
			}
		})
	}
}

// A child that is not the guard's descendant any more, for its parent has ended, and whose memory scope 1 would close to
// others: its tracer may still edit it.
func orphan(t *testing.T) {
	t.Helper()
	const script = `cd $(mktemp -d); ((until test -e go; do :; done; exec /payload/probe/child -l orphan >out) &); : >go; until test -s out; do :; done; cat out; exit 0`
	if r := process(t, ordinary, keeping(""), "/bin/sh", "-c", script); r.Code != 0 || r.Stdout != "orphan: clean\n" || r.Stderr != "" {
		t.Errorf("orphan: code %d, %s%s", r.Code, r.Stdout, r.Stderr)
	}
}
