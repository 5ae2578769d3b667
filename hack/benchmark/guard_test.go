package benchmark

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
)

// agentKey is what the measured agents keep for themselves.
const agentKey = "ANTHROPIC_API_KEY"

// guarded is the command line of a program under the guard, as at the config door, and its environment.
func guarded(b *testing.B, args ...string) *exec.Cmd {
	b.Helper()
	// Started by root on the host, so with CAP_SYS_ADMIN: that voids the protection and changes no cost.
	o := &order.Order{AllowVoid: true, AgentOnly: []string{agentKey}, Dumpable: order.Require, Diagnostics: []string{order.Node}}
	cmd := exec.Command(rig.Bin(b, "envscrub-shim"), args...)
	cmd.Env = append(os.Environ(), agentKey+"=made-up-0123456789")
	cmd.Env = append(cmd.Env, o.Environ()...)
	return cmd
}

// timed is a variant that runs a command which prints the nanoseconds that it took, divided by n.
func timed(name string, n int, build func() *exec.Cmd) Variant {
	return Variant{Name: name, Run: func() (time.Duration, error) {
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

func bare(args ...string) func() *exec.Cmd {
	return func() *exec.Cmd {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), agentKey+"=made-up-0123456789")
		return cmd
	}
}

// BenchmarkSpawn is what starting a tool costs an agent: per spawn, without and with the guard, and under strace.
func BenchmarkSpawn(b *testing.B) {
	rig.Need(b, "node", "strace")
	const n = 200
	nothing := rig.CC(b, "testdata/nothing.c")
	for name, args := range map[string][]string{
		"C posix_spawn":  {rig.CC(b, "testdata/spawn.c"), nothing, strconv.Itoa(n)},
		"Node spawnSync": {"node", "testdata/spawn.js", nothing, strconv.Itoa(n)},
	} {
		program, err := exec.LookPath(args[0])
		if err != nil {
			b.Fatal(err)
		}
		args[0] = program
		compare(b, "one child, "+name,
			timed("no guard", n, bare(args...)),
			timed("strace -f -e trace=none", n, bare(append([]string{"strace", "-f", "-qq", "-e", "trace=none", "-o", "/dev/null"}, args...)...)),
			timed("guarded", n, func() *exec.Cmd { return guarded(b, args...) }),
		)
	}
}

// BenchmarkBusy is what the guard costs an agent that only computes: Node, a Go program whose goroutines are preempted by
// signals, and a JVM.
func BenchmarkBusy(b *testing.B) {
	rig.Need(b, "node", "java", "javac")
	classes := rig.TempDir(b)
	if out, err := exec.Command("javac", "-d", classes, "testdata/Busy.java").CombinedOutput(); err != nil {
		b.Fatalf("javac: %v\n%s", err, out)
	}
	for name, args := range map[string][]string{
		"Node":                      {"node", "testdata/busy.js"},
		"Go, preempted by signals":  {rig.Go(b, "./testdata/preempt")},
		"JVM, four threads with GC": {"java", "-cp", classes, "Busy"},
	} {
		program, err := exec.LookPath(args[0])
		if err != nil {
			b.Fatal(err)
		}
		args[0] = program
		compare(b, "computing agent, "+name,
			timed("no guard", 1, bare(args...)),
			timed("guarded", 1, func() *exec.Cmd { return guarded(b, args...) }),
		)
	}
}

// BenchmarkMemory is what a guard holds while its agent runs, and how large the binaries are.
func BenchmarkMemory(b *testing.B) {
	cmd := guarded(b, "/bin/sleep", "600")
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	children := fmt.Sprintf("/proc/%d/task/%d/children", cmd.Process.Pid, cmd.Process.Pid)
	rig.Eventually(b, "the agent to run", func() bool {
		pid, _ := os.ReadFile(children)
		exe, _ := os.Readlink("/proc/" + strings.TrimSpace(string(pid)) + "/exe")
		return filepath.Base(exe) == "sleep"
	})
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	private, shared := 0.0, 0.0
	for line := range strings.Lines(string(rollup)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		kib, _ := strconv.ParseFloat(fields[1], 64)
		switch fields[0] {
		case "Private_Clean:", "Private_Dirty:":
			private += kib
		case "Shared_Clean:", "Shared_Dirty:":
			shared += kib
		}
	}
	report.Values = append(report.Values,
		Value{"guard, resident", "private", private / 1024, "MiB"},
		Value{"guard, resident", "shared with other guards", shared / 1024, "MiB"})
	for _, name := range []string{"envscrub-shim", "envscrub-hook", "envscrub-runtime", "envscrub", "envscrub-nri"} {
		info, err := os.Stat(rig.Bin(b, name))
		if err != nil {
			b.Fatal(err)
		}
		report.Values = append(report.Values, Value{"size", name, float64(info.Size()) / (1 << 20), "MiB"})
	}
	b.ReportMetric(private/1024, "MiB-private")
	b.ReportMetric(0, "ns/op")
}
