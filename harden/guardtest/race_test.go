package guardtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
)

// A tool that already runs reads, in a tight loop, the agent's next children: each has the agent's whole environment from
// the kernel's side of its exec on until the guard has filtered it. Another one reads the agent itself while that becomes
// one program after another, each of which can be read until the guard has closed it.
func TestRace(t *testing.T) {
	for name, script := range map[string]string{
		"children": "/probe/race 700 KEY & i=0; while [ $i -lt 900 ]; do /probe/child; i=$((i+1)); done >/dev/null; wait",
		"agent": `[ $1 = 0 ] && /probe/race $$ KEY /tmp/stop >/tmp/out &
[ $1 -lt 400 ] && exec /bin/sh -c "$0" "$0" $(($1 + 1))
touch /tmp/stop; until grep race /tmp/out; do usleep 10000; done`,
	} {
		t.Run(name, func(t *testing.T) {
			race := func(t *testing.T, rt rig.Runtime, plain bool) (found int) {
				script := strings.Replace(script, "KEY", key, 1)
				a := agent{uid: 1000, order: on(), plain: plain, args: []string{"/bin/sh", "-c", script, script, "0"}}
				out := a.run(t, rt)
				for line := range strings.Lines(out.Stdout) {
					if _, err := fmt.Sscanf(line, "race: %d", &found); err == nil {
						return found
					}
				}
				t.Fatalf("the tool says nothing: code %d\n%s%s", out.Code, out.Stdout, out.Stderr)
				return 0
			}
			each(t, func(t *testing.T, rt rig.Runtime) {
				if found := race(t, rt, false); found != 0 {
					t.Errorf("the tool read the key %d times", found)
				}
				found := race(t, rt, true)
				t.Logf("%d times where the agent has no capability of its own", found)
				if found == 0 {
					t.Error("the tool did not read the key where the agent has no capability of its own")
				}
			})
		})
	}
}

// The agent's capability is the agent's alone, and what the shim needed to set it up is gone: to its tools nothing is
// different from a container without a guard.
func TestToolsCapabilities(t *testing.T) {
	const show = "grep ^Cap /proc/self/status"
	for name, a := range map[string]agent{
		"user":          {uid: 1000},
		"root":          {},
		"root, no caps": {caps: []string{}},
		"user, no caps": {uid: 1000, caps: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, rt rig.Runtime) {
				a := a
				a.args = []string{"/bin/sh", "-c", "grep ^Cap /proc/$$/status; echo; " + show + "; echo; /bin/busybox sh -c '" + show + "'; exit 3"}
				without := a.run(t, rt)
				a.order = on()
				with := a.run(t, rt)
				if without.Code != 3 || with.Code != 3 {
					t.Fatalf("codes %d and %d\n%s%s", without.Code, with.Code, without.Stderr, with.Stderr)
				}
				was, is := strings.Split(without.Stdout, "\n\n"), strings.Split(with.Stdout, "\n\n")
				if !slices.Equal(was[1:], is[1:]) {
					t.Errorf("the tools' capabilities\nwithout a guard\n%s\nwith one\n%s", was[1:], is[1:])
				}
				if was[0] == is[0] {
					t.Errorf("the agent has no more than its tools:\n%s", is[0])
				}
				for _, line := range strings.Split(strings.TrimSpace(was[0]), "\n") {
					set, bits, _ := strings.Cut(line, ":\t")
					var old uint64
					if _, err := fmt.Sscanf(bits, "%x", &old); err != nil {
						t.Fatal(err)
					}
					want := old | 1<<35
					if set == "CapBnd" {
						want = old
					}
					if !strings.Contains(is[0], fmt.Sprintf("%s:\t%016x", set, want)) {
						t.Errorf("the agent's %s is not %016x:\n%s", set, want, is[0])
					}
				}
			})
		})
	}
}

// An entrypoint that changes the user on its way, as gosu does: the agent is closed all the same, its tools get nothing,
// and they lose what they would have lost. Only the capability is gone, with all others.
func TestAgentChangesUser(t *testing.T) {
	const script = "grep CapPrm /proc/$$/status; /probe/child; /probe/reach agent=$$; grep -c '000000080' /proc/self/status; exit 0"
	each(t, func(t *testing.T, rt rig.Runtime) {
		a := agent{order: on(), args: []string{"/bin/sh", "-c", `exec su -s /bin/sh agent -c "$0"`, script}}
		const want = "CapPrm:\t0000000000000000\nchild: clean\n" + allDenied + "0\n"
		r := a.run(t, rt)
		if r.Stdout != want || r.Code != 0 {
			t.Errorf("code %d\ngot  %s\nwant %s\n%s", r.Code, r.Stdout, want, r.Stderr)
		}
		a.order = off()
		if r := a.run(t, rt); !strings.Contains(r.Stdout, "child:"+dirty) || !strings.Contains(r.Stdout, "agent leak: environ") {
			t.Errorf("without a guard: code %d, %s%s", r.Code, r.Stdout, r.Stderr)
		}
	})
}
