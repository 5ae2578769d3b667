package order

import "github.com/envscrub/envscrub/policy/spawn"

// Protocol changes whenever what a field means to the shim changes.
const Protocol = "1"

// Version is the order's version. A shim of another version refuses it, and so does
// a shim of another build, where the build has a name: one that was left behind by
// an update could lack what its doors count on.
var Version = version()

func version() string {
	if name := Build(); name != "" {
		return Protocol + "/" + name
	}
	return Protocol
}

// What the guard does where a protection cannot be had.
const (
	Require = "require" // refuse to start
	Prefer  = "prefer"  // warn and go on
	Off     = "off"     // do not try; warn
)

// Sets are the letters of the sets of capabilities, in the order of
// process.capabilities in the runtime specification.
const Sets = "beipa"

// Those that decide what an executed program has.
const (
	Bounding    = 'b'
	Inheritable = 'i'
	Ambient     = 'a'
)

// Diagnostic doors of language runtimes that the guard can close.
const (
	Dotnet = "dotnet" // DOTNET_EnableDiagnostics=0 for the agent
	Java   = "java"   // SIGQUIT from inside the container does not reach a JVM agent: no attach
	Node   = "node"   // SIGUSR1 from inside the container does not reach a Node agent: no inspector
	Python = "python" // PYTHON_DISABLE_REMOTE_DEBUG=1 for the agent
)

// Order is all that the shim is told.
type Order struct {
	// Version is filled in by Encode; Decode refuses another one.
	Version string

	// Remove names what the shim takes out of its own environment, and Set
	// ("NAME=VALUE") what it puts there afterwards. Only the mount door needs
	// them: at the other one the runtime starts the shim with what is left.
	Remove []string
	Set    []string

	// AgentOnly names the variables that the agent keeps and its children
	// do not get.
	AgentOnly []string
	// Held are entries ("NAME=VALUE") that nobody gets but the commands that
	// a rule grants their name.
	Held []string
	// Rules grant variables by command; Trust names (as globs) the commands
	// that are still the agent.
	Rules []spawn.Rule
	Trust []string

	// Dumpable is Require (also when empty), Prefer or Off.
	Dumpable string
	// AllowVoid lets the agent start, with a warning, where a capability that
	// it has to keep voids the protection. Otherwise Require refuses.
	AllowVoid bool
	// DropSysAdmin takes CAP_SYS_ADMIN from the agent too; CAP_SYS_PTRACE and
	// CAP_PERFMON go in any case unless Dumpable is Off.
	DropSysAdmin bool

	// Capability is the number of a capability that the door gave the shim, in
	// all of its sets, for the agent alone: what the agent starts loses it when
	// its environment is filtered, and the kernel shows no process the memory
	// of one that has a capability more. 0 for none.
	Capability int
	// Lent are the letters of the sets to which the door added
	// CAP_SETPCAP as well, for the shim to set Capability up: the agent does
	// not get it from there.
	Lent string

	NoNewPrivileges bool
	CoreLimit       *uint64
	// Diagnostics lists the doors to close: Dotnet, Java, Node, Python.
	Diagnostics []string

	// Redact is set when the container's output is to pass through the
	// redactor; nil otherwise.
	Redact *Redact

	// Group tells the shim behind an init that the guard signals the whole
	// process group, as that init would have done. Doors leave it alone.
	Group bool
}

// Redact says what the shim replaces in the container's output: the values of
// AgentOnly and Held, which the shim has anyway, and Values.
type Redact struct {
	Forms  []string // encodings of a secret that are looked for
	Values []string // further secrets; only the mount door sends them, for its order lies on no disk
}

// Guarded reports whether something has to stay beside the agent. Where it
// does not, the shim just executes the entrypoint.
func (o *Order) Guarded() bool {
	return o.Dumpable != Off || len(o.AgentOnly) > 0 || len(o.Held) > 0 || o.Redact != nil
}

// HasLent reports whether CAP_SETPCAP was added to a set.
func (o *Order) HasLent(set byte) bool {
	for i := range len(o.Lent) {
		if o.Lent[i] == set {
			return true
		}
	}
	return false
}

// Closes reports whether the diagnostic door is to be closed.
func (o *Order) Closes(door string) bool {
	for _, d := range o.Diagnostics {
		if d == door {
			return true
		}
	}
	return false
}
