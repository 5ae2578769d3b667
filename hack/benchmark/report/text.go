package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Markdown is the whole report.
func (r *Report) Markdown() string {
	var w strings.Builder
	fmt.Fprintf(&w, "# What envscrub costs\n\nMeasured %s on %s, load %s. Medians of interleaved runs in random order, quartiles in brackets; ratios round by round.\n", r.Date, r.Machine, r.Load)
	figure := ""
	for _, t := range r.Timings {
		if t.Figure != figure {
			figure = t.Figure
			kind := "time"
			if t.Kind != "" {
				kind = t.Kind
			}
			fmt.Fprintf(&w, "\n**%s** (%d rounds)\n\n| | %s | to the base | to the floor |\n|---|---:|---:|---:|\n", figure, t.Rounds, kind)
		}
		fmt.Fprintf(&w, "| %s | %s | %s | %s |\n", t.Variant, t.time(), ratio(t.Ratio), ratio(t.Cost))
	}
	if len(r.Values) > 0 {
		fmt.Fprintf(&w, "\n| | | |\n|---|---|---:|\n")
		for _, v := range r.Values {
			fmt.Fprintf(&w, "| %s | %s | %s |\n", v.Figure, v.Variant, quantity(v.Value, v.Unit))
		}
	}
	if len(r.Curves) > 0 {
		fmt.Fprintf(&w, "\n| cost against | | growth |\n|---|---|---|\n")
		for _, c := range r.Curves {
			for _, s := range c.Series {
				fmt.Fprintf(&w, "| %s: %s | %s | %s |\n", c.X, c.Name, s.Name, s.Growth(c.X, c.Unit))
			}
		}
		fmt.Fprintf(&w, "\nFlat: every point within %.0f %% of one cost. Linear: every point within %.0f %% of a line that is fitted to the relative errors. Otherwise the exponent between the last two points.\n", near*100, near*100)
	}
	return w.String()
}

// time is the median with its quartiles, as a throughput where the time is per MB.
func (t Timing) time() string {
	if t.Kind == PerMB {
		return fmt.Sprintf("%s [%s – %s] MB/s", number(1/t.Seconds.Median), number(1/t.Seconds.Q3), number(1/t.Seconds.Q1))
	}
	return fmt.Sprintf("%s [%s – %s]", seconds(t.Seconds.Median), seconds(t.Seconds.Q1), seconds(t.Seconds.Q3))
}

// PerMB is the kind of a timing that is shown as a throughput, for a million bytes.
const PerMB = "throughput"

func ratio(s Spread) string { return fmt.Sprintf("%.3f [%.3f – %.3f]", s.Median, s.Q1, s.Q3) }

func seconds(s float64) string {
	switch abs := math.Abs(s); {
	case abs >= 1:
		return fmt.Sprintf("%.2f s", s)
	case abs >= 0.1:
		return fmt.Sprintf("%.0f ms", s*1e3)
	case abs >= 0.001:
		return fmt.Sprintf("%.1f ms", s*1e3)
	case abs >= 1e-5:
		return fmt.Sprintf("%.0f µs", s*1e6)
	case abs >= 1e-6:
		return fmt.Sprintf("%.1f µs", s*1e6)
	default:
		return fmt.Sprintf("%.0f ns", s*1e9)
	}
}

func quantity(v float64, unit string) string {
	if unit == "s" {
		return seconds(v)
	}
	return number(v) + " " + unit
}

// number has three digits that count.
func number(v float64) string {
	switch abs := math.Abs(v); {
	case abs >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case abs >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}
