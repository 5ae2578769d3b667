package benchmark

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

var (
	out    = flag.String("out", "", "directory for bench.md and bench.json; empty: the tables go to standard output only")
	rounds = flag.Int("rounds", 40, "rounds that count, for each figure")
)

// report collects what all benchmarks of this run measured.
var report = NewReport(time.Now())

func TestMain(m *testing.M) {
	code := m.Run()
	if len(report.Rows)+len(report.Values) > 0 {
		if err := publish(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			code = 1
		}
	}
	os.Exit(code)
}

func publish() error {
	report.Markdown(os.Stdout)
	if *out == "" {
		return nil
	}
	md, err := os.Create(filepath.Join(*out, "bench.md"))
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	report.Markdown(md)
	js, err := os.Create(filepath.Join(*out, "bench.json"))
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return errors.Join(report.JSON(js), md.Close(), js.Close())
}

// compare measures a figure and adds it to the report.
func compare(b *testing.B, name string, variants ...Variant) {
	b.Helper()
	rows, err := Measure(Figure{Name: name, Rounds: *rounds, Variants: variants})
	if err != nil {
		b.Fatal(err)
	}
	report.Rows = append(report.Rows, rows...)
	last := rows[len(rows)-1]
	b.ReportMetric(last.Ratio, "ratio")
	b.ReportMetric(last.Added*1e3, "ms-added")
	b.ReportMetric(0, "ns/op")
}

// command is a variant that runs a new command to its end; make builds it, outside the time taken.
func command(name string, build func() *exec.Cmd) Variant {
	return Variant{Name: name, Run: func() (time.Duration, error) {
		cmd := build()
		start := time.Now()
		output, err := cmd.CombinedOutput()
		took := time.Since(start)
		if err != nil {
			return 0, fmt.Errorf("%s: %w\n%s", cmd, err, output)
		}
		return took, nil
	}}
}
