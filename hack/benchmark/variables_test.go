package benchmark

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/benchmark/report"
	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/policy"
)

// environment is n variables as an agent's container has them: one in ten a credential, the rest settings.
func environment(n int) []string {
	kinds := []struct{ name, value string }{
		{"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		{"HOME", "/home/agent"},
		{"LANG", "C.UTF-8"},
		{"NODE_VERSION", "22.11.0"},
		{"PYTHONPATH", "/srv/app/lib"},
		{"SERVICE_HOST", "10.2.3.4"},
		{"OPENAI_BASE_URL", "https://api.example.com/v1"},
		{"MAX_TOKENS", "4096"},
		{"https_proxy", "http://proxy.example.com:3128"},
		{"DATABASE_PASSWORD", "made-up-kd83-Hn2k-Pq9z-"},
	}
	env := make([]string, n)
	for i := range env {
		k := kinds[i%len(kinds)]
		switch round := i / len(kinds); {
		case round == 0:
			env[i] = k.name + "=" + k.value
		case k.name == "DATABASE_PASSWORD":
			env[i] = fmt.Sprintf("S%d_%s=%s%d", round, k.name, k.value, round)
		default:
			env[i] = fmt.Sprintf("%s_%d=%s", k.name, round, k.value)
		}
	}
	return env
}

// counts is how many variables a curve has a point for.
func counts() []int { return of([]int{30, 100, 300, 1000, 3000}, []int{30, 60}) }

// count is a number of things, with a comma for the thousands.
func count(n int, things string) string {
	if n < 1000 {
		return strconv.Itoa(n) + " " + things
	}
	return fmt.Sprintf("%d,%03d %s", n/1000, n%1000, things)
}

// variables is the wrapper's own part of a create by the number of variables: in the runtime's place stands a C program
// that does nothing, so that the runtime's own cost per variable, and its noise, are not in it.
func variables(t *testing.T, b *bench) {
	rootfs := rig.Rootfs(t)
	runtime := rig.Runtime{Name: "runc", Path: filepath.Join(rig.TempDir(t), "runc"), Root: rig.TempDir(t)}
	rig.Copy(t, rig.CC(t, "testdata/nothing.c"), runtime.Path)
	peakOf := rig.CC(t, "testdata/peak.c")
	grows := &curve{report.Curve{Name: "Create, the wrapper's own part", X: "variables", Unit: "s"}}
	for _, n := range counts() {
		var variants []Variant
		var ours func() *exec.Cmd
		for _, d := range doors(t, runtime.Path) {
			// A process that ends at once is in no container: what is in the bundle matters, the root file system does not.
			bundle := newBundle(t, rootfs, func(s *specs.Spec) { s.Process.Env = environment(n) }, "/bin/true")
			call := func(args ...string) *exec.Cmd {
				cmd := d.of(runtime).Command(append(args, bundle.ID)...)
				// Where the wrapper finds its runtime.
				cmd.Env = []string{"PATH=" + filepath.Dir(runtime.Path) + ":/usr/sbin:/usr/bin:/sbin:/bin"}
				return cmd
			}
			t.Cleanup(func() { _ = call("delete").Run() }) // takes the record away
			reset := fresh(t, bundle)
			name := d.name
			if d.role == report.Base {
				name = "a C program in runc's place"
			}
			create := func() *exec.Cmd {
				reset()
				return call("create", "--bundle", bundle.Dir)
			}
			variants = append(variants, command(name, d.role, create))
			if d.role == report.Ours {
				ours = create
			}
		}
		grows.add(n, b.measure(t, Figure{Name: "create, the wrapper alone, " + count(n, "variables"), Variants: variants}))
		b.Values = append(b.Values, report.Value{
			Figure: "peak memory of a create", Variant: "wrapper, " + count(n, "variables"), Role: report.Ours, Value: peak(t, peakOf, ours()) / 1024, Unit: "MiB",
		})
	}
	b.Curves = append(b.Curves, grows.Curve)
}

// peak is the most memory that a command held, in KiB, which the program peakOf finds out.
func peak(t *testing.T, peakOf string, cmd *exec.Cmd) float64 {
	t.Helper()
	cmd.Path, cmd.Args = peakOf, append([]string{peakOf}, cmd.Args...)
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	kib, err := strconv.ParseFloat(strings.TrimSpace(string(output)), 64)
	if err != nil {
		t.Fatalf("%s printed no size: %v", cmd, err)
	}
	return kib
}

// decide is the policy's decision alone, in this process.
func decide(t *testing.T, b *bench) {
	view, err := policy.Default().For(policy.Subject{})
	if err != nil {
		t.Fatal(err)
	}
	grows := &curve{report.Curve{Name: "Decision, in the process", X: "variables", Unit: "s"}}
	for _, n := range counts() {
		env := environment(n)
		f := Figure{Name: "decision, " + count(n, "variables"), Kind: "processor time", Variants: []Variant{
			repeated(t, "splitting names from values", report.Base, func() error { split(env); return nil }),
			repeated(t, "ours", report.Ours, func() error { _, err := view.Decide(env); return err }),
		}}
		if n == 300 {
			f.Headline = "decision about 300 variables (without: splitting names from values)"
		}
		grows.add(n, b.measure(t, f))
	}
	b.Curves = append(b.Curves, grows.Curve)
}

// split is the least that anything does which decides by name, where names are equal in any case and the last one wins.
func split(env []string) map[string]string {
	vars := make(map[string]string, len(env))
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		vars[strings.ToUpper(name)] = value
	}
	return vars
}

// repeated is a variant that runs a short function until it has taken long enough to be timed, and returns the average, in
// processor time.
func repeated(t *testing.T, name string, role report.Role, run func() error) Variant {
	return Variant{name, role, func() (time.Duration, error) {
		const enough = 5 * time.Millisecond
		start := processorTime(t)
		for n := time.Duration(1); ; n++ {
			if err := run(); err != nil {
				return 0, err
			}
			if took := processorTime(t) - start; took >= enough {
				return took / n, nil
			}
		}
	}}
}
