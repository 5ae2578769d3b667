package guardtest

import (
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
)

// What the engine executes in a running container, as the agent's user, is beside the agent like a tool: it reaches neither
// the agent nor the guard, nor what an init still holds open of the order.
func TestExecIntoContainer(t *testing.T) {
	rig.Need(t, "/usr/bin/tini-static")
	const look = `reach guard=$(pidof envscrub-shim sleep | cut -d' ' -f1) agent=$(pidof sleep); cat /proc/1/environ /proc/1/fd/* 2>/dev/null </dev/null | grep -c made-up`
	each(t, func(t *testing.T, rt rig.Runtime) {
		for _, uid := range []uint32{0, 1000} {
			for _, init := range []bool{false, true} {
				for name, o := range map[string]*order.Order{"on": on(), "off": off()} {
					a := agent{uid: uid, order: o, args: []string{"/bin/sleep", "60"}}
					if init {
						a.args = append([]string{"/usr/bin/tini-static", "--"}, a.args...)
						a.host = true
					}
					c := a.bundle(t).Create(t, rt)
					if r := c.Start(); c.Result.Code != 0 || r.Code != 0 {
						t.Fatalf("start: %s%s%s", c.Result.Stdout, r.Stdout, r.Stderr)
					}
					rig.Eventually(t, "the agent", func() bool { return c.Exec("/bin/sh", "-c", "pidof sleep").Code == 0 })
					r := c.Exec("/bin/sh", "-c", look)
					want := denied("guard") + denied("agent") + "0\n"
					if name == "off" {
						if rt.Name == "crun" && uid != 0 {
							continue // its exec has other credentials than the container's process
						}
						want = strings.Replace(allLeak, "agent", "guard", 1) + allLeak + "1\n"
					}
					if r.Stdout != want {
						t.Errorf("%s, user %d, init %v: %s%s", name, uid, init, r.Stdout, r.Stderr)
					}
					c.Delete()
				}
			}
		}
	})
}
