package harden

import (
	"strings"

	"github.com/envscrub/envscrub/harden/order"
)

// closeDiagnostics sets, for the agent, the variables that close a runtime's
// own debugging door. One that is set already was set on purpose and stays.
func closeDiagnostics(j *job) {
	if j.order.Closes(order.Dotnet) && !hasAny(j.env, "DOTNET_EnableDiagnostics", "COMPlus_EnableDiagnostics") {
		setForAgent(j, "DOTNET_EnableDiagnostics=0")
	}
	if j.order.Closes(order.Python) && !hasAny(j.env, "PYTHON_DISABLE_REMOTE_DEBUG") {
		setForAgent(j, "PYTHON_DISABLE_REMOTE_DEBUG=1")
	}
}

// setForAgent adds an entry for the agent. It is taken from children, which
// may be debugged, where children are looked at anyway.
func setForAgent(j *job, entry string) {
	j.env = append(j.env[:len(j.env):len(j.env)], entry)
	j.added = append(j.added, nameOf(entry))
	if len(j.order.AgentOnly) > 0 {
		j.order.AgentOnly = append(j.order.AgentOnly, nameOf(entry))
	}
}

func hasAny(env []string, names ...string) bool {
	for _, entry := range env {
		for _, name := range names {
			if strings.EqualFold(nameOf(entry), name) {
				return true
			}
		}
	}
	return false
}
