package benchmark

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/envscrub/envscrub/hack/benchmark/report"
)

// Variant is one thing that is timed. Run returns what one run cost; a variant that fails ends the figure.
type Variant struct {
	Name string
	Role report.Role
	Run  func() (time.Duration, error)
}

// Figure compares variants; the first one is the base, the last floor the floor.
type Figure struct {
	Name     string
	Kind     string
	Headline string // the row of ours in the README's table
	Rounds   int    // at most so many; 0 is as many as the run has
	Variants []Variant
}

// warmup is how many rounds do not count.
const warmup = 2

// of is the first where the run is in earnest, the second where only the way is shown.
func of[T any](earnest, show T) T {
	if *full {
		return earnest
	}
	return show
}

// measure runs a figure and adds it to the report; the timings are returned in the variants' order.
func (b *bench) measure(t *testing.T, f Figure) []report.Timing {
	t.Helper()
	counted, before := *rounds, warmup
	if f.Rounds > 0 {
		counted = min(counted, f.Rounds)
	}
	counted, before = of(counted, 1), of(before, 0)
	start := time.Now()
	samples := make([][]float64, len(f.Variants))
	for round := range before + counted {
		for _, i := range rand.Perm(len(f.Variants)) {
			took, err := f.Variants[i].Run()
			if err != nil {
				t.Fatalf("%s, %s: %v", f.Name, f.Variants[i].Name, err)
			}
			if round >= before {
				samples[i] = append(samples[i], took.Seconds())
			}
		}
	}
	floor := 0
	for i, v := range f.Variants {
		if v.Role == report.Floor {
			floor = i
		}
	}
	timings := make([]report.Timing, len(f.Variants))
	for i, v := range f.Variants {
		timings[i] = report.Timing{
			Figure: f.Name, Variant: v.Name, Role: v.Role, Kind: f.Kind, Rounds: counted,
			Ratio: report.RatioOf(samples[i], samples[0]), Cost: report.RatioOf(samples[i], samples[floor]),
		}
		if v.Role == report.Ours {
			timings[i].Headline, f.Headline = f.Headline, ""
		}
	}
	// These sort the samples, so that they come last.
	for i := range timings {
		timings[i].Seconds = report.SpreadOf(samples[i])
	}
	b.Timings = append(b.Timings, timings...)
	fmt.Fprintf(os.Stderr, "measured in %3.0f s: %s\n", time.Since(start).Seconds(), f.Name)
	return timings
}

// command is a variant that runs a new command to its end; build makes it, outside the time taken.
func command(name string, role report.Role, build func() *exec.Cmd) Variant {
	return Variant{name, role, func() (time.Duration, error) {
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

// curve collects what figures with a growing number of things say.
type curve struct{ report.Curve }

// add puts a figure's timings of x things on their lines, which are called as the variants.
func (c *curve) add(x int, timings []report.Timing) {
	for _, timing := range timings {
		c.point(timing.Variant, timing.Role, x, timing.Seconds)
	}
}

func (c *curve) point(name string, role report.Role, x int, y report.Spread) {
	for i := range c.Series {
		if c.Series[i].Name == name {
			c.Series[i].Points = append(c.Series[i].Points, report.Point{X: float64(x), Y: y})
			return
		}
	}
	c.Series = append(c.Series, report.Curved{Name: name, Role: role, Points: []report.Point{{X: float64(x), Y: y}}})
}
