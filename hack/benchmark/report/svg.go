package report

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Sizes in pixels: of a panel, of the plot in it, and of a line of text below it.
const (
	panelWidth, panelHeight = 470, 390
	plotLeft, plotTop       = 70, 50
	plotWidth, plotHeight   = 368, 200
	legendTop, legendLine   = 304, 17
	headHeight              = 54
	columns                 = 2
)

// style has both schemes: a picture in a page cannot ask it for its colours. The lines' colours tell apart in both, for the colour-blind
// too (Okabe and Ito's, lighter and darker).
const style = `<style>
text { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #24292f }
.back { fill: #ffffff } .title { font-weight: 600; font-size: 14px } .head { font-weight: 600; font-size: 17px } .small { fill: #57606a; font-size: 11px }
.grid { stroke: #d8dee4; stroke-width: 1 } .axis { stroke: #57606a; stroke-width: 1; fill: none } .line { stroke-width: 2; fill: none; stroke-linejoin: round } .ours { stroke-width: 3 } .spread { stroke-width: 1.5 }
.s0 { stroke: #0060a8 } .s1 { stroke: #c24e00 } .s2 { stroke: #00795c } .s3 { stroke: #b03a80 } .s4 { stroke: #7a6a00 } .s5 { stroke: #5b5f66 }
.s0.dot { fill: #0060a8 } .s1.dot { fill: #c24e00 } .s2.dot { fill: #00795c } .s3.dot { fill: #b03a80 } .s4.dot { fill: #7a6a00 } .s5.dot { fill: #5b5f66 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .back { fill: #0d1117 } .small { fill: #9198a1 } .grid { stroke: #2a313a } .axis { stroke: #9198a1 }
.s0 { stroke: #56b4f9 } .s1 { stroke: #ff9a3c } .s2 { stroke: #2fd1a5 } .s3 { stroke: #f08cc8 } .s4 { stroke: #e3d44b } .s5 { stroke: #aab2bd }
.s0.dot { fill: #56b4f9 } .s1.dot { fill: #ff9a3c } .s2.dot { fill: #2fd1a5 } .s3.dot { fill: #f08cc8 } .s4.dot { fill: #e3d44b } .s5.dot { fill: #aab2bd }
}
</style>
`

// notes stand where a panel is left empty.
var notes = []string{
	"How growth is stated, by the first that holds:",
	fmt.Sprintf("flat: every point is within %.0f %% of one and the same cost;", near*100),
	fmt.Sprintf("linear: every point is within %.0f %% of a + b × n, fitted by", near*100),
	"least squares of the relative errors;",
	"otherwise the exponent between the last two points, where 1",
	"would be linear.",
	"",
	"Thick lines are envscrub. Programs that do nothing in its place",
	"show what is possible at all.",
}

// SVG draws the curves, each in a panel with its growth in words.
func (r *Report) SVG() string {
	rows := (len(r.Curves) + columns - 1) / columns
	width, height := columns*panelWidth, headHeight+rows*panelHeight
	var w strings.Builder
	fmt.Fprintf(&w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="What envscrub costs, against the number of variables, secrets, children and containers">`+"\n", width, height, width, height)
	w.WriteString(style)
	fmt.Fprintf(&w, `<rect class="back" width="%d" height="%d"/>`+"\n", width, height)
	label(&w, 20, 26, "start", "head", "What envscrub costs, and how that grows")
	label(&w, 20, 45, "start", "small", fmt.Sprintf("%s, %s; medians, bars from the first to the third quartile", r.Machine, r.Date))
	for i, c := range r.Curves {
		fmt.Fprintf(&w, `<g transform="translate(%d %d)">`+"\n", i%columns*panelWidth, headHeight+i/columns*panelHeight)
		c.draw(&w)
		w.WriteString("</g>\n")
	}
	if len(r.Curves)%columns != 0 {
		for i, line := range notes {
			label(&w, float64((columns-1)*panelWidth+plotLeft-50), float64(headHeight+(rows-1)*panelHeight+plotTop+i*18), "start", "small", line)
		}
	}
	w.WriteString("</svg>\n")
	return w.String()
}

func (c Curve) draw(w *strings.Builder) {
	label(w, plotLeft-50, 26, "start", "title", c.Name)
	xs, ys := c.axes()
	for _, tick := range ys.ticks {
		y := plotTop + plotHeight - ys.at(tick)*plotHeight
		fmt.Fprintf(w, `<path class="grid" d="M%d %.1fh%d"/>`+"\n", plotLeft, y, plotWidth)
		label(w, plotLeft-6, y+4, "end", "small", ys.name(tick))
	}
	for _, tick := range xs.ticks {
		x := plotLeft + xs.at(tick)*plotWidth
		fmt.Fprintf(w, `<path class="grid" d="M%.1f %dv%d"/>`+"\n", x, plotTop, plotHeight)
		label(w, x, plotTop+plotHeight+16, "middle", "small", xs.name(tick))
	}
	fmt.Fprintf(w, `<path class="axis" d="M%d %dv%dh%d"/>`+"\n", plotLeft, plotTop, plotHeight, plotWidth)
	label(w, plotLeft+plotWidth, plotTop+plotHeight+32, "end", "small", c.X+xs.scale())
	quantity := c.Unit
	if quantity == "s" {
		quantity = "time"
	}
	label(w, plotLeft, plotTop-8, "start", "small", quantity+ys.scale())
	colours := c.colours()
	for i, s := range c.Series {
		class := fmt.Sprintf("s%d", colours[i])
		var path strings.Builder
		for j, p := range s.Points {
			at := func(v float64) float64 { return plotTop + plotHeight - ys.at(v)*plotHeight }
			x := plotLeft + xs.at(p.X)*plotWidth
			fmt.Fprintf(w, `<path class="spread %s" d="M%.1f %.1fV%.1f"/><circle class="dot %s" cx="%.1f" cy="%.1f" r="3"/>`+"\n", class, x, at(p.Y.Q1), at(p.Y.Q3), class, x, at(p.Y.Median))
			fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(j, 1)], x, at(p.Y.Median))
		}
		ours := ""
		if s.Role == Ours {
			ours = " ours"
		}
		fmt.Fprintf(w, `<path class="line %s%s" d="%s"/>`+"\n", class, ours, path.String())
		y := float64(legendTop + i*legendLine)
		fmt.Fprintf(w, `<path class="line %s%s" d="M%d %.1fh18"/>`+"\n", class, ours, plotLeft-50, y-4)
		label(w, plotLeft-26, y, "start", "", s.Name+": "+s.Growth(c.X, c.Unit))
	}
}

// colours gives every line one: what is ours has the same first colour everywhere, and so has the base.
func (c Curve) colours() []int {
	byRole := map[Role][]int{Ours: {0, 2, 3}, Base: {5}, Floor: {4, 1}, Peer: {1, 4, 5}}
	next := map[Role]int{}
	colours := make([]int, len(c.Series))
	for i, s := range c.Series {
		of := byRole[s.Role]
		colours[i] = of[next[s.Role]%len(of)]
		next[s.Role]++
	}
	return colours
}

// axis maps values to 0 … 1.
type axis struct {
	low, high float64
	log       bool
	ticks     []float64
	name      func(float64) string
}

func (a axis) at(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return min(max((v-low)/(high-low), 0), 1)
}

func (a axis) scale() string {
	if a.log {
		return " (logarithmic)"
	}
	return ""
}

// axes are a logarithmic one for what is counted, and for the cost one that begins at zero, or a logarithmic one where the costs are a
// factor of six apart.
func (c Curve) axes() (x, y axis) {
	xlow, xhigh, ylow, yhigh := math.Inf(1), 0.0, math.Inf(1), 0.0
	counts := map[float64]bool{}
	for _, s := range c.Series {
		for _, p := range s.Points {
			xlow, xhigh = min(xlow, p.X), max(xhigh, p.X)
			ylow, yhigh = min(ylow, p.Y.Q1), max(yhigh, p.Y.Q3)
			counts[p.X] = true
		}
	}
	x = axis{low: xlow, high: xhigh, log: true, name: func(v float64) string { return fmt.Sprintf("%.0f", v) }}
	for v := range counts {
		x.ticks = append(x.ticks, v)
	}
	y = axis{high: yhigh * 1.1, name: func(v float64) string { return tickName(v, c.Unit) }}
	if yhigh > 6*ylow {
		y.log = true
		y.low, y.high = math.Pow(10, math.Floor(math.Log10(ylow))), math.Pow(10, math.Ceil(math.Log10(yhigh)))
		for p := math.Round(math.Log10(y.low)); p <= math.Round(math.Log10(y.high)); p++ {
			y.ticks = append(y.ticks, math.Pow(10, p))
		}
		return x, y
	}
	step := math.Pow(10, math.Floor(math.Log10(y.high)))
	for _, part := range []float64{1, 0.5, 0.2} {
		if y.high/(step*part) >= 4 {
			step *= part
			break
		}
	}
	for n := 0.0; n*step <= y.high; n++ {
		y.ticks = append(y.ticks, n*step)
	}
	return x, y
}

// tickName is a round number; seconds have their unit with them, since it changes along the axis.
func tickName(v float64, unit string) string {
	if v == 0 {
		return "0"
	}
	if unit != "s" {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	for _, u := range []struct {
		least float64
		name  string
	}{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {0, "ns"}} {
		if v >= u.least*0.999 {
			return fmt.Sprintf("%.4g %s", v/max(u.least, 1e-9), u.name)
		}
	}
	return ""
}

func label(w *strings.Builder, x, y float64, anchor, class, text string) {
	fmt.Fprintf(w, `<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">`, x, y, anchor, class)
	_ = xml.EscapeText(w, []byte(text)) // a strings.Builder does not fail
	w.WriteString("</text>\n")
}
