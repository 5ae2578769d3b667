package benchmark

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

// Variant is one thing that is timed. Run returns what one run cost; a variant that fails ends the benchmark.
type Variant struct {
	Name string
	Run  func() (time.Duration, error)
}

// Figure compares variants; the first one is the base.
type Figure struct {
	Name     string
	Rounds   int
	Variants []Variant
}

// Row is the result for one variant, in seconds.
type Row struct {
	Figure  string  `json:"figure"`
	Variant string  `json:"variant"`
	Rounds  int     `json:"rounds"`
	Median  float64 `json:"median_s"`
	Q1      float64 `json:"q1_s"`
	Q3      float64 `json:"q3_s"`
	Added   float64 `json:"added_s"`
	Ratio   float64 `json:"ratio"`
}

// warmup is how many rounds do not count.
const warmup = 3

// Measure runs a figure.
func Measure(f Figure) ([]Row, error) {
	samples := make([][]float64, len(f.Variants))
	order := make([]int, len(f.Variants))
	for i := range order {
		order[i] = i
	}
	for round := range warmup + f.Rounds {
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			took, err := f.Variants[i].Run()
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", f.Name, f.Variants[i].Name, err)
			}
			if round >= warmup {
				samples[i] = append(samples[i], took.Seconds())
			}
		}
	}
	rows := make([]Row, len(f.Variants))
	for i, s := range samples {
		slices.Sort(s)
		rows[i] = Row{
			Figure: f.Name, Variant: f.Variants[i].Name, Rounds: f.Rounds,
			Median: s[len(s)/2], Q1: s[len(s)/4], Q3: s[len(s)*3/4],
		}
		rows[i].Added = rows[i].Median - rows[0].Median
		rows[i].Ratio = rows[i].Median / rows[0].Median
	}
	fmt.Fprintf(os.Stderr, "measured: %s\n", f.Name)
	return rows, nil
}
