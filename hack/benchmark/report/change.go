package report

import (
	"fmt"
	"math"
)

// least is what no comparison calls a change, as a part of the old cost: two runs of the same programs differ by this much through where the
// kernel happens to put them in memory.
const least = 0.04

// Change is a cost of ours that is not what it was.
type Change struct {
	Name     string
	Old, New float64 // ratios to the floor of their own run; for a value, in its unit
	By       float64 // part of the old one; above zero it grew
	Bound    float64 // what By had to exceed
}

func (c Change) String() string {
	word := "grew"
	if c.By < 0 {
		word = "fell"
	}
	return fmt.Sprintf("%s %s: %s to %s, %+.0f %% (the spread explains %.0f %%)", c.Name, word, number(c.Old), number(c.New), 100*c.By, 100*c.Bound)
}

// Changes compares ours with an older run: each cost by its ratio to the floor of the same run, so that a slower machine changes nothing. A
// change is one of more than [least] and of more than three standard errors of the two medians. What only one of the
// runs measured is named in missing.
func (r *Report) Changes(old *Report) (changes []Change, missing []string) {
	before := map[string]Timing{}
	for _, t := range old.Timings {
		before[t.Figure+": "+t.Variant] = t
	}
	for _, t := range r.Timings {
		if t.Role != Ours {
			continue
		}
		name := t.Figure + ": " + t.Variant
		was, ok := before[name]
		if !ok {
			missing = append(missing, name)
			continue
		}
		bound := max(least, 3*math.Hypot(was.Cost.uncertainty(was.Rounds), t.Cost.uncertainty(t.Rounds)))
		changes = appendChange(changes, Change{Name: name, Old: was.Cost.Median, New: t.Cost.Median, Bound: bound})
	}
	values := map[string]Value{}
	for _, v := range old.Values {
		values[v.Figure+": "+v.Variant] = v
	}
	for _, v := range r.Values {
		if v.Role != Ours {
			continue
		}
		name := v.Figure + ": " + v.Variant
		was, ok := values[name]
		if !ok {
			missing = append(missing, name)
			continue
		}
		changes = appendChange(changes, Change{Name: name, Old: was.Value, New: v.Value, Bound: least})
	}
	return changes, missing
}

func appendChange(changes []Change, c Change) []Change {
	c.By = c.New/c.Old - 1
	if math.Abs(c.By) <= c.Bound {
		return changes
	}
	return append(changes, c)
}
