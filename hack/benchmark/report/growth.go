package report

import (
	"fmt"
	"math"
)

// Curve is a cost against a number of things.
type Curve struct {
	Name   string   `json:"name"`
	X      string   `json:"x"`    // what is counted: "variables"
	Unit   string   `json:"unit"` // "s", "MB/s", "MiB"
	Series []Curved `json:"series"`
}

// Curved is one line of a curve.
type Curved struct {
	Name   string  `json:"name"`
	Role   Role    `json:"role"`
	Points []Point `json:"points"` // by X, at least two
}

// Point is the cost of X things.
type Point struct {
	X float64 `json:"x"`
	Y Spread  `json:"y"`
}

// near is how far from a model, as a part of it, every point may lie for a curve to follow it.
const near = 0.2

// Growth states how a line grows, by the first of these that holds:
//
//   - flat: every point is within [near] of one and the same cost;
//   - linear: every point is within [near] of a + b·x, which is fitted by least squares of the relative errors (so that the small
//     points count as much as the large ones), with neither below zero;
//   - otherwise its exponent at the end: log(y₂/y₁)/log(x₂/x₁) of the last two points, where 1 would be linear.
func (c Curved) Growth(x, unit string) string {
	low, high := math.Inf(1), 0.0
	for _, p := range c.Points {
		low, high = min(low, p.Y.Median), max(high, p.Y.Median)
	}
	if high <= low*(1+near)/(1-near) {
		return "flat"
	}
	if a, b, ok := line(c.Points); ok {
		switch {
		case a > b*c.Points[0].X/10:
			return fmt.Sprintf("linear: %s + %s × %s", quantity(a, unit), quantity(b, unit), x)
		default:
			return fmt.Sprintf("linear: %s × %s", quantity(b, unit), x)
		}
	}
	p, q := c.Points[len(c.Points)-2], c.Points[len(c.Points)-1]
	return fmt.Sprintf("as %s^%.2f at the end", x, math.Log(q.Y.Median/p.Y.Median)/math.Log(q.X/p.X))
}

// line fits y = a + b·x with weights 1/y², and says whether all points are near it.
func line(points []Point) (a, b float64, ok bool) {
	var w, wx, wxx, wy, wxy float64
	for _, p := range points {
		y := p.Y.Median
		k := 1 / (y * y)
		w, wx, wxx, wy, wxy = w+k, wx+k*p.X, wxx+k*p.X*p.X, wy+k*y, wxy+k*p.X*y
	}
	b = (w*wxy - wx*wy) / (w*wxx - wx*wx)
	a = (wy - b*wx) / w
	if a < 0 {
		a, b = 0, wxy/wxx
	}
	if b <= 0 {
		return 0, 0, false
	}
	for _, p := range points {
		if m := a + b*p.X; math.Abs(p.Y.Median-m) > near*m {
			return 0, 0, false
		}
	}
	return a, b, true
}
