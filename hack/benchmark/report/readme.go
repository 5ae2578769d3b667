package report

import (
	"errors"
	"fmt"
	"strings"
)

// Landed is where the report is kept that later runs are compared with, and to which the README leads.
const Landed = "hack/benchmark/landed"

// The README's table stands between these.
const (
	readmeBegin = "<!-- hack/bench writes this: begin -->\n"
	readmeEnd   = "<!-- hack/bench writes this: end -->\n"
)

// InReadme is the README with this run's headlines in its table.
func (r *Report) InReadme(readme string) (string, error) {
	before, rest, begun := strings.Cut(readme, readmeBegin)
	_, after, ended := strings.Cut(rest, readmeEnd)
	if !begun || !ended {
		return "", errors.New("the README has no place for the table: its marks are gone")
	}
	return before + readmeBegin + r.headlines() + readmeEnd + after, nil
}

// headlines is the table: without us, the floor in our place, with us, and the ratio to without.
func (r *Report) headlines() string {
	var w strings.Builder
	fmt.Fprintf(&w, "Medians of interleaved runs on %s, %s, load %s:\n\n", r.Machine, r.Date, r.Load)
	fmt.Fprintf(&w, "| | without | a program that does nothing in our place | with | ratio |\n|---|---:|---:|---:|---:|\n")
	var base, floor Timing
	figure := ""
	for _, t := range r.Timings {
		if t.Figure != figure {
			figure, base, floor = t.Figure, t, Timing{}
		}
		if t.Role == Floor {
			floor = t
		}
		if t.Headline == "" {
			continue
		}
		least := ""
		if floor.Figure != "" && floor.Variant != base.Variant {
			least = t.short(floor)
		}
		fmt.Fprintf(&w, "| %s | %s | %s | %s | %.2f |\n", t.Headline, t.short(base), least, t.short(t), t.Ratio.Median)
	}
	for _, v := range r.Values {
		if v.Headline != "" {
			fmt.Fprintf(&w, "| %s | | | %s | |\n", v.Headline, quantity(v.Value, v.Unit))
		}
	}
	fmt.Fprintf(&w, "\n![Each cost against the number of variables, secrets, children and containers, and how it grows](%s/bench.svg)\n\nAll figures: [%s/bench.md](%s/bench.md).\n", Landed, Landed, Landed)
	return w.String()
}

// short is another variant's median, as this one shows its own.
func (t Timing) short(other Timing) string {
	if t.Kind == PerMB {
		return number(1/other.Seconds.Median) + " MB/s"
	}
	return seconds(other.Seconds.Median)
}
