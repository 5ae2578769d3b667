package benchmark

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/hack/benchmark/report"
	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
)

// agentKey is what the measured agents keep for themselves.
const agentKey = "ANTHROPIC_API_KEY"

// bare is the command line of an agent without a guard.
func bare(args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), agentKey+"=made-up-0123456789")
	return cmd
}

// guarded is the command line of an agent under the guard, as at the config door.
func guarded(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	// Started by root on the host, so with CAP_SYS_ADMIN: that voids the protection and changes no cost.
	o := &order.Order{AllowVoid: true, AgentOnly: []string{agentKey}, Dumpable: order.Require, Capability: unix.CAP_WAKE_ALARM, Diagnostics: []string{order.Node}}
	cmd := bare(append([]string{rig.Bin(t, "envscrub-shim")}, args...)...)
	cmd.Env = append(cmd.Env, o.Environ()...)
	return cmd
}

// traced is the command line of an agent under strace, which follows everything and shows nothing.
func traced(args ...string) *exec.Cmd {
	return bare(append([]string{"strace", "-f", "-qq", "-e", "trace=none", "-o", "/dev/null"}, args...)...)
}

// timed is a variant that runs a command which prints the nanoseconds that it took for n things.
func timed(name string, role report.Role, n int, build func() *exec.Cmd) Variant {
	return Variant{name, role, func() (time.Duration, error) {
		cmd := build()
		output, err := cmd.Output()
		if err != nil {
			return 0, fmt.Errorf("%s: %w", cmd, err)
		}
		ns, err := strconv.ParseInt(strings.TrimSpace(string(output)), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s printed no time: %w", cmd, err)
		}
		return time.Duration(ns / int64(n)), nil
	}}
}

// spawn is what starting a tool costs an agent: per tool, without and with the guard, and under strace.
func spawn(t *testing.T, b *bench) {
	rig.Need(t, "node", "strace")
	n := of(100, 3)
	nothing := rig.CC(t, "testdata/nothing.c")
	for _, agent := range []struct {
		name string
		args []string
	}{
		{"C posix_spawn", []string{rig.CC(t, "testdata/spawn.c")}},
		{"Node spawnSync", []string{look(t, "node"), "testdata/spawn.js"}},
	} {
		args := append(agent.args, nothing, strconv.Itoa(n))
		b.measure(t, Figure{
			Name: "a tool started by an agent, " + agent.name, Rounds: 20, Headline: "a tool started by an agent, " + agent.name,
			Variants: []Variant{
				timed("no guard", report.Base, n, func() *exec.Cmd { return bare(args...) }),
				timed("strace -f -e trace=none", report.Peer, n, func() *exec.Cmd { return traced(args...) }),
				timed("guarded", report.Ours, n, func() *exec.Cmd { return guarded(t, args...) }),
			},
		})
	}
}

// children is what starting a tool costs an agent that has so many children alive.
func children(t *testing.T, b *bench) {
	program := rig.CC(t, "testdata/spawn.c")
	nothing, wait := rig.CC(t, "testdata/nothing.c"), rig.CC(t, "testdata/wait.c")
	n := of(100, 3)
	grows := &curve{report.Curve{Name: "A tool started by an agent (C posix_spawn)", X: "children alive", Unit: "s"}}
	for _, living := range of([]int{1, 10, 100, 1000}, []int{1, 10}) {
		args := []string{program, nothing, strconv.Itoa(n), strconv.Itoa(living), wait}
		grows.add(living, b.measure(t, Figure{
			Name: "a tool started by an agent with " + count(living, "children"), Rounds: 9,
			Variants: []Variant{
				timed("no guard", report.Base, n, func() *exec.Cmd { return bare(args...) }),
				timed("guarded", report.Ours, n, func() *exec.Cmd { return guarded(t, args...) }),
			},
		}))
	}
	b.Curves = append(b.Curves, grows.Curve)
}

// busy is what the guard costs an agent that only computes, in processor time of all its processes: Node, a Go program whose
// goroutines are preempted by signals, and a JVM.
func busy(t *testing.T, b *bench) {
	rig.Need(t, "node", "java", "javac")
	classes := rig.TempDir(t)
	if out, err := exec.Command("javac", "-d", classes, "testdata/Busy.java").CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	for _, agent := range []struct {
		name  string
		times int // about half a second
		args  []string
	}{
		{"Node", 4e8, []string{look(t, "node"), "testdata/busy.js"}},
		{"Go, preempted by signals", 1e8, []string{rig.Go(t, "./testdata/preempt")}},
		{"JVM, four threads with GC", 2e8, []string{look(t, "java"), "-cp", classes, "Busy"}},
	} {
		args := append(agent.args, strconv.Itoa(of(agent.times, 1000)))
		b.measure(t, Figure{
			Name: "an agent that computes, " + agent.name, Kind: "processor time", Rounds: 15, Headline: "an agent that computes, " + agent.name,
			Variants: []Variant{
				computing("no guard", report.Base, func() *exec.Cmd { return bare(args...) }),
				computing("guarded", report.Ours, func() *exec.Cmd { return guarded(t, args...) }),
			},
		})
	}
}

// computing is a variant that takes the processor time of a command and of all that it waited for.
func computing(name string, role report.Role, build func() *exec.Cmd) Variant {
	return Variant{name, role, func() (time.Duration, error) {
		cmd := build()
		if output, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%s: %w\n%s", cmd, err, output)
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
	}}
}
