package guardtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
)

// The agent is closed whatever it becomes, and however.
//
// report: vm0-ai/vm0#25179
func TestAgentIsClosedAfterExec(t *testing.T) {
	const last = "/probe/agent run /probe/reach agent=@"
	for name, script := range map[string]string{
		"script that ends in exec":             "exec " + last,
		"script, script, program":              `printf '#!/bin/sh\nexec "$@"\n' >/tmp/b; chmod +x /tmp/b; exec /tmp/b /tmp/b ` + last,
		"by a thread that is not the leader":   "exec /probe/spawns exec " + last,
		"twice by a thread, between them a sh": "exec /probe/spawns exec /bin/sh -c 'exec /probe/spawns exec " + last + "'",
		"env and a shell in between":           "exec env X=1 sh -c 'exec \"$@\"' sh " + last,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, rt rig.Runtime) {
				a := agent{uid: 65534, order: on(), args: []string{"/bin/sh", "-c", script}}
				checkOutput(t, "on", a.run(t, rt), "agent: has the key\n"+allDenied)
				a.order = off()
				checkOutput(t, "off", a.run(t, rt), "agent: has the key\n"+allLeak)
			})
		})
	}
}

// A core dump would be the agent's memory on disk. Children leave theirs as ever.
func TestCoreDumps(t *testing.T) {
	t.Parallel()
	if pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern"); err != nil || strings.ContainsAny(string(pattern), "|/") {
		t.Skip("core dumps go elsewhere here")
	}
	for name, o := range map[string]*order.Order{"on": on(), "off": off()} {
		for who, script := range map[string]string{"agent": "ulimit -c unlimited; kill -QUIT $$", "child": "ulimit -c unlimited; sh -c 'kill -QUIT $$'; exit 131"} {
			cmd := process(t, o, "sh", "-c", script)
			r := rig.Run(t, cmd)
			cores, err := filepath.Glob(filepath.Join(cmd.Dir, "core*"))
			if err != nil {
				t.Fatal(err)
			}
			if want := who == "child" || name == "off"; (len(cores) > 0) != want || r.Code != 131 && (name == "on" || r.Code != -1) {
				t.Errorf("%s, %s: code %d, dumps %v, %s", name, who, r.Code, cores, r.Stderr)
			}
			for _, core := range cores {
				data, err := os.ReadFile(core)
				if err != nil {
					t.Fatal(err)
				}
				if has := strings.Contains(string(data), key); has != (name == "off") {
					t.Errorf("%s, %s: the key in the dump: %v", name, who, has)
				}
			}
		}
	}
}
