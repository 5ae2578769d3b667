package benchmark

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/envscrub/envscrub/hack/benchmark/report"
)

var (
	full   = flag.Bool("full", false, "measure in earnest; otherwise each figure is measured once, small")
	rounds = flag.Int("rounds", 40, "with -full: rounds that count, for each figure; costly ones have fewer")
	out    = flag.String("out", "", "directory for bench.md, bench.json and bench.svg")
	land   = flag.Bool("land", false, "keep the report in landed, for later comparisons, and write the README's table")
	check  = flag.Bool("check", false, "fail where a cost grew since the landed report")
)

// The test runs in its own directory.
const (
	root   = "../.."
	landed = root + "/" + report.Landed
)

// figures is every figure, in the order of the report.
var figures = []struct {
	name    string
	measure func(t *testing.T, r *bench)
}{
	{"Hook", hook},
	{"Wrapper", wrapper},
	{"Exec", execInto},
	{"Variables", variables},
	{"Docker", docker},
	{"Podman", podman},
	{"Spawn", spawn},
	{"Children", children},
	{"Busy", busy},
	{"Decide", decide},
	{"Redact", redaction},
	{"Containers", containers},
	{"Size", size},
}

// TestBench measures all figures, or those that -run names: TestBench/Hook.
func TestBench(t *testing.T) {
	b := &bench{Report: report.New(time.Now())}
	for _, f := range figures {
		t.Run(f.name, func(t *testing.T) { f.measure(t, b) })
	}
	if t.Failed() || len(b.Timings)+len(b.Values) == 0 {
		return
	}
	b.End()
	if err := b.publish(); err != nil {
		t.Error(err)
	}
	if !*full {
		return
	}
	old, err := report.Read(filepath.Join(landed, "bench.json"))
	switch {
	case errors.Is(err, os.ErrNotExist):
		fmt.Println("\nThere is no landed report to compare with (hack/bench --land makes one).")
	case err != nil:
		t.Fatal(err)
	default:
		if grew := b.compareWith(old); grew > 0 && *check {
			t.Errorf("%d costs grew since the landed report", grew)
		}
	}
	if *land {
		if err := b.land(); err != nil {
			t.Error(err)
		}
	}
}

// bench is a run.
type bench struct{ *report.Report }

// compareWith prints what changed, and returns how many costs grew.
func (b *bench) compareWith(old *report.Report) (grew int) {
	fmt.Printf("\nBeside the landed report of %s on %s, load %s, by ratio to each run's own floor:\n\n", old.Date, old.Machine, old.Load)
	if old.Machine != b.Machine {
		fmt.Print("It is another kind of machine: ratios need not be the same there.\n\n")
	}
	changes, missing := b.Changes(old)
	for _, c := range changes {
		fmt.Println("-", c)
		if c.By > 0 {
			grew++
		}
	}
	for _, name := range missing {
		fmt.Println("-", name, "was not measured then")
	}
	if len(changes) == 0 {
		fmt.Println("- nothing grew or fell")
	}
	return grew
}

// publish prints the report, and keeps it where -out says.
func (b *bench) publish() error {
	fmt.Println(b.Markdown())
	if *out == "" {
		return nil
	}
	return b.write(*out)
}

// land keeps the report for later runs.
func (b *bench) land() error {
	const readme = root + "/README.md"
	text, err := os.ReadFile(readme)
	if err != nil {
		return fmt.Errorf("land the report: %w", err)
	}
	changed, err := b.InReadme(string(text))
	if err != nil {
		return fmt.Errorf("land the report: %w", err)
	}
	if err := os.MkdirAll(landed, 0o755); err != nil {
		return fmt.Errorf("land the report: %w", err)
	}
	if err := b.write(landed); err != nil {
		return err
	}
	if err := os.WriteFile(readme, []byte(changed), 0o644); err != nil {
		return fmt.Errorf("land the report: %w", err)
	}
	return nil
}

func (b *bench) write(dir string) error {
	data, err := b.JSON()
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	for name, content := range map[string]string{"bench.json": string(data), "bench.md": b.Markdown(), "bench.svg": b.SVG()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	return nil
}
