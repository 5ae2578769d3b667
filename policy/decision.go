package policy

// Fate is what becomes of a variable.
type Fate string

// The fates of a variable.
const (
	FateKept    Fate = "kept"
	FateRemoved Fate = "removed"
	FateSet     Fate = "set"
	FateUnset   Fate = "unset"
	FateAgent   Fate = "agent" // kept for the agent alone
)

// Variable is the decision on one variable. It holds no value.
type Variable struct {
	Name string
	Fate Fate
	Rule string   // a short, stable text: `deny-exact`, `deny-glob *_TOKEN (group tokens)`, `alias of NAME`, `default`
	At   Position // where the rule stands
	Note string   // what else is worth knowing, or empty
}

// Decision is the decision on a whole environment.
type Decision struct {
	// Variables has every variable in the order of the environment, then what the policy adds.
	Variables []Variable

	container []string
	agent     []string
	held      []string
	secrets   []string
	view      *View
}

// Container is the environment that every process of the container gets.
func (d *Decision) Container() []string { return d.container }

// Agent is Container and what [agent] keep adds to it, in the order in which the environment had it.
func (d *Decision) Agent() []string { return d.agent }

// Held are the entries that nobody gets but the commands that a [[spawn.rule]] grants them.
func (d *Decision) Held() []string { return d.held }

// AgentOnly names the variables that the agent has and its children have not.
func (d *Decision) AgentOnly() []string { return d.names(FateAgent) }

// Removed names the variables that were taken away from everybody, unset ones included.
func (d *Decision) Removed() []string { return d.names(FateRemoved, FateUnset) }

// SecretValues are the values that must not be seen, for redaction and the check of arguments: those of the policy's
// secrets and of what was taken away as a credential, as far as they are long enough and no mere path or default
// word. Never log them.
func (d *Decision) SecretValues() []string { return d.secrets }

// Summary is the one line of every create: "<n> deny rules, allow: GH_TOKEN".
func (d *Decision) Summary() string { return d.view.summary() }

// RefusesVoid reports whether a container that keeps a capability which voids the guard is refused: by the policy's
// harden.privileged, else where the agent holds something that nobody else may see.
func (d *Decision) RefusesVoid() bool {
	if set := d.view.Harden.Privileged; set != "" {
		return set == "refuse"
	}
	return len(d.held) > 0 || len(d.AgentOnly()) > 0
}

func (d *Decision) names(fates ...Fate) []string {
	var names []string
	for i := range d.Variables {
		for _, fate := range fates {
			if d.Variables[i].Fate == fate {
				names = append(names, d.Variables[i].Name)
			}
		}
	}
	return names
}
