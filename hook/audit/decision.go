package audit

import "github.com/envscrub/envscrub/policy"

// Take counts a decision and names what it took away.
func (e *Event) Take(d *policy.Decision) {
	for i := range d.Variables {
		switch v := &d.Variables[i]; v.Fate {
		case policy.FateRemoved:
			e.Removed = append(e.Removed, Name{Name: v.Name, Rule: v.Rule, At: v.At.String()})
		case policy.FateSet:
			e.Set++
		case policy.FateUnset:
			e.Unset++
		case policy.FateAgent:
			e.AgentOnly++
		default:
			e.Kept++
		}
	}
}
