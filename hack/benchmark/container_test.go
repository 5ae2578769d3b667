package benchmark

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/benchmark/report"
	"github.com/envscrub/envscrub/hack/rig"
)

// containers starts a hundred containers through the wrapper, and on the way measures what the guards in them hold and what one more start
// costs; then as many with tini.
func containers(t *testing.T, b *bench) {
	rig.Need(t, "/usr/bin/tini-static")
	rootfs := rig.Rootfs(t)
	rig.Copy(t, "/usr/bin/tini-static", filepath.Join(rootfs, "sbin/tini"))
	r := rig.Runtimes(t)[0]
	steps := of([]int{1, 10, 30, 100}, []int{1, 3})
	all := doors(t, r.Path)
	ours := all[len(all)-1].of(r)

	start := &curve{report.Curve{Name: "Start of one more container (runc run)", X: "containers", Unit: "s"}}
	memory := &curve{report.Curve{Name: "Memory of the init processes, all together", X: "containers", Unit: "MiB"}}
	bareBundle, oursBundle := newBundle(t, rootfs, nil, "/bin/true"), newBundle(t, rootfs, nil, "/bin/true")
	var pids []int
	for _, n := range steps {
		for len(pids) < n {
			c := running(t, newBundle(t, rootfs, nil, "/bin/sleep", "3600"), ours)
			rig.Eventually(t, "the guard's agent to run", func() bool { return agentRuns(c.Pid) })
			pids = append(pids, c.Pid)
		}
		start.add(n, b.measure(t, Figure{
			Name: "runc run, beside " + count(n, "guarded containers"), Rounds: 15,
			Variants: []Variant{
				runOnce(t, "bare runc", report.Base, r, bareBundle),
				runOnce(t, "envscrub-runtime", report.Ours, ours, oursBundle),
			},
		}))
		remember(t, b, memory, "guard", report.Ours, pids, n == slices.Max(steps))
	}
	tini := newBundle(t, rootfs, nil, "/sbin/tini", "--", "/bin/sleep", "3600")
	pids = nil
	for _, n := range steps {
		for len(pids) < n {
			another := newBundle(t, rootfs, func(s *specs.Spec) { s.Process.Args = tini.Spec.Process.Args }, "")
			c := running(t, another, r)
			rig.Eventually(t, "tini's agent to run", func() bool { return agentRuns(c.Pid) })
			pids = append(pids, c.Pid)
		}
		remember(t, b, memory, "tini", report.Peer, pids, n == slices.Max(steps))
	}
	b.Curves = append(b.Curves, start.Curve, memory.Curve)
}

// agentRuns reports whether a container's first process has started the agent.
func agentRuns(pid int) bool {
	child, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	exe, _ := os.Readlink("/proc/" + strings.TrimSpace(string(child)) + "/exe")
	return filepath.Base(exe) == "busybox"
}

// remember adds what processes hold to the curve, and for the last point what one of them does: its own pages, those that it shares
// with the others, and its share of all (proc_pid_smaps(5)).
func remember(t *testing.T, b *bench, c *curve, name string, role report.Role, pids []int, last bool) {
	t.Helper()
	sum := map[string]float64{}
	for _, pid := range pids {
		for key, kib := range rollup(t, pid) {
			sum[key] += kib
		}
	}
	n := float64(len(pids))
	private := sum["Private_Clean"] + sum["Private_Dirty"]
	for _, s := range []struct {
		what string
		kib  float64
	}{{"private", private}, {"shared pages counted once", sum["Pss"]}} {
		mib := s.kib / 1024
		c.point(name+", "+s.what, role, len(pids), report.Spread{Q1: mib, Median: mib, Q3: mib})
	}
	if !last {
		return
	}
	figure := fmt.Sprintf("memory of one %s of %d", name, len(pids))
	headline := ""
	if role == report.Ours {
		headline = fmt.Sprintf("memory of a guard, its own (one of %d containers)", len(pids))
	}
	b.Values = append(b.Values,
		report.Value{Figure: figure, Variant: "private", Role: role, Value: private / n / 1024, Unit: "MiB", Headline: headline},
		report.Value{Figure: figure, Variant: "private, and written to", Role: role, Value: sum["Private_Dirty"] / n / 1024, Unit: "MiB"},
		report.Value{Figure: figure, Variant: "shared with the others", Role: role, Value: (sum["Shared_Clean"] + sum["Shared_Dirty"]) / n / 1024, Unit: "MiB"},
		report.Value{Figure: figure, Variant: "shared pages counted once", Role: role, Value: sum["Pss"] / n / 1024, Unit: "MiB"})
}

// rollup is a process's smaps_rollup, in KiB.
func rollup(t *testing.T, pid int) map[string]float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[2] == "kB" {
			if kib, err := strconv.ParseFloat(fields[1], 64); err == nil {
				sizes[strings.TrimSuffix(fields[0], ":")] = kib
			}
		}
	}
	if sizes["Pss"] == 0 {
		t.Fatalf("process %d holds nothing: %s", pid, text)
	}
	return sizes
}

// size is how large the programs are.
func size(t *testing.T, b *bench) {
	for _, name := range []string{"envscrub-shim", "envscrub-hook", "envscrub-runtime", "envscrub-nri", "envscrub"} {
		info, err := os.Stat(rig.Bin(t, name))
		if err != nil {
			t.Fatal(err)
		}
		b.Values = append(b.Values, report.Value{Figure: "size of the program", Variant: name, Role: report.Ours, Value: float64(info.Size()) / (1 << 20), Unit: "MiB"})
	}
}
