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

// cost is one that runs are compared by: the ratio to the floor of the same run, or for a value itself.
type cost struct {
	name                string
	median, uncertainty float64
}

// costs are all of ours.
func (r *Report) costs() (all []cost) {
	for _, t := range r.Timings {
		if t.Role == Ours {
			all = append(all, cost{t.Figure + ": " + t.Variant, t.Cost.Median, t.Cost.uncertainty(t.Rounds)})
		}
	}
	for _, v := range r.Values {
		if v.Role == Ours {
			all = append(all, cost{v.Figure + ": " + v.Variant, v.Value, 0})
		}
	}
	return all
}

// Changes compares ours with an older run: each cost by its ratio to the floor of the same run, so that a slower machine changes nothing. A
// change is one of more than [least] and of more than three standard errors of the two medians. What the older run did not
// measure is named in missing.
func (r *Report) Changes(old *Report) (changes []Change, missing []string) {
	before := map[string]cost{}
	for _, c := range old.costs() {
		before[c.name] = c
	}
	for _, now := range r.costs() {
		was, ok := before[now.name]
		if !ok {
			missing = append(missing, now.name)
			continue
		}
		c := Change{Name: now.name, Old: was.median, New: now.median, By: now.median/was.median - 1}
		c.Bound = max(least, 3*math.Hypot(was.uncertainty, now.uncertainty))
		if math.Abs(c.By) > c.Bound {
			changes = append(changes, c)
		}
	}
	return changes, missing
}
