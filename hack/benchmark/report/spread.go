package report

import (
	"math"
	"slices"
)

// Spread is a median with its quartiles.
type Spread struct {
	Q1     float64 `json:"q1"`
	Median float64 `json:"median"`
	Q3     float64 `json:"q3"`
}

// SpreadOf sorts the samples, of which there is at least one, and cuts them in four.
func SpreadOf(samples []float64) Spread {
	slices.Sort(samples)
	n := len(samples)
	median := samples[n/2]
	if n%2 == 0 {
		median = (samples[n/2-1] + samples[n/2]) / 2
	}
	return Spread{samples[n/4], median, samples[n*3/4]}
}

// RatioOf is the spread of a round by round over b.
func RatioOf(a, b []float64) Spread {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	return SpreadOf(ratios)
}

// uncertainty is the standard error of the median, as a part of it: 1.253 σ/√n, with σ a normal distribution's quartile distance over
// 1.349. Fewer than seven rounds say nothing.
func (s Spread) uncertainty(rounds int) float64 {
	if rounds < 7 {
		return math.Inf(1)
	}
	return 1.253 / 1.349 * (s.Q3 - s.Q1) / math.Sqrt(float64(rounds)) / s.Median
}
