package benchmark

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

// Report is everything that one run measured.
type Report struct {
	Date    string  `json:"date"`
	Machine string  `json:"machine"`
	Rows    []Row   `json:"timings"`
	Values  []Value `json:"values"`
}

// Value is a figure that is not a comparison of times: memory, sizes, throughput.
type Value struct {
	Figure  string  `json:"figure"`
	Variant string  `json:"variant"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
}

// NewReport says where and when.
func NewReport(now time.Time) Report {
	return Report{Date: now.UTC().Format("2006-01-02"), Machine: machine()}
}

func machine() string {
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	cpu := ""
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		_, rest, _ := strings.Cut(string(info), "model name\t: ")
		cpu, _, _ = strings.Cut(rest, "\n")
	}
	return fmt.Sprintf("%s, %d CPUs, Linux %s, %s", cpu, runtime.NumCPU(), strings.TrimSpace(string(kernel)), runtime.GOARCH)
}

// Markdown writes the tables that the README shows.
func (r Report) Markdown(w io.Writer) {
	fmt.Fprintf(w, "Measured %s on %s; medians, interleaved in random order, quartiles in brackets.\n", r.Date, r.Machine)
	figure := ""
	for _, row := range r.Rows {
		if row.Figure != figure {
			figure = row.Figure
			fmt.Fprintf(w, "\n**%s** (%d rounds)\n\n| | time | added | ratio |\n|---|---:|---:|---:|\n", figure, row.Rounds)
		}
		fmt.Fprintf(w, "| %s | %s [%s – %s] | %s | %.3f |\n", row.Variant, seconds(row.Median), seconds(row.Q1), seconds(row.Q3), seconds(row.Added), row.Ratio)
	}
	if len(r.Values) > 0 {
		fmt.Fprintf(w, "\n| | | |\n|---|---|---:|\n")
		for _, v := range r.Values {
			fmt.Fprintf(w, "| %s | %s | %s %s |\n", v.Figure, v.Variant, number(v.Value), v.Unit)
		}
	}
}

// JSON writes the report for a later comparison.
func (r Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

func seconds(s float64) string {
	switch abs := max(s, -s); {
	case abs >= 1:
		return fmt.Sprintf("%.2f s", s)
	case abs >= 0.001:
		return fmt.Sprintf("%.2f ms", s*1e3)
	default:
		return fmt.Sprintf("%.0f µs", s*1e6)
	}
}

func number(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
