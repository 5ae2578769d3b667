package policy

import "time"

// Mode is what a policy does with its decision.
type Mode string

// The modes of a policy or a profile.
const (
	ModeEnforce Mode = "enforce" // remove what the table says
	ModeObserve Mode = "observe" // report what would go, remove nothing
	ModeOff     Mode = "off"     // leave the container alone
)

// Harden is the kernel side of the policy; package harden carries it out.
type Harden struct {
	Dumpable        string        // "require" (default), "prefer" or "off"
	NoNewPrivileges bool          // set no_new_privs before the entrypoint
	CoreLimit       *uint64       // RLIMIT_CORE for the entrypoint; nil leaves it
	DropSysAdmin    bool          // take CAP_SYS_ADMIN too
	Privileged      string        // "allow" (default) or "refuse" a container whose capabilities void the guard
	Diagnostics     []string      // runtimes whose diagnostic doors are closed: dotnet, java, node, python
	ShimTimeout     time.Duration // how long the shim waits for its go-ahead
}

// SpawnRule grants one command, by name or glob, variables that other children of the agent do not get.
type SpawnRule struct {
	Command string
	Allow   []string
	At      Position
}

// SpawnPolicy is the spawn boundary's part of the policy.
type SpawnPolicy struct {
	Rules []SpawnRule
	Trust []string // commands that still are the agent
}

// ExecPolicy is what holds for processes that an engine starts in a running container.
type ExecPolicy struct {
	Allow   []string // names or globs that an exec gets, exactly denied ones included
	Unknown string   // without a record of the container's own environment: "scrub" (default) takes every variable as inherited, "pass" as explicit
}

// HookProgram is a [[hook]]: a program that gets the context as JSON and returns a new one.
type HookProgram struct {
	Command []string
	Timeout time.Duration
	At      Position
}

// Redact says what the shim does with the container's output.
type Redact struct {
	Forms  []string // encodings of a secret that are looked for
	Output bool     // pass standard output and error through the redactor
}

// Audit names the files that take a record of every decision; names only.
type Audit struct {
	File    string
	Metrics string
}

// NRI selects the pods that the NRI plugin handles.
type NRI struct {
	Namespaces []string
	Selector   map[string]string
}
