package install

// How an engine can be made to call envscrub.
const (
	ViaHook    = "hook"    // an OCI hook in a hooks.d directory: light, exec is not covered
	ViaRuntime = "runtime" // an OCI runtime wrapper: the complete door
	ViaNRI     = "nri"     // an NRI plugin: convenient, fails open where the engine cuts a plugin off
)

// Which containers a hook is run for.
const (
	WhenAnnotation = "annotation" // those that carry an annotation io.envscrub.profile
	WhenAlways     = "always"     // every one
)

// Annotation is the key that asks for envscrub (and names the profile) where a
// hook is registered with WhenAnnotation.
const Annotation = "io.envscrub.profile"

// RuntimeName is the name under which the wrapper is registered with engines.
const RuntimeName = "envscrub"

// Engine is one container engine whose configuration we can edit.
type Engine interface {
	// Name is the word on the command line: podman, docker, crio, containerd.
	Name() string
	// Doors are the values of Options.Via that this engine has, the default first.
	Doors() []string
	// Found reports whether the engine is on this host, and where or why not.
	Found(Options) (bool, string)
	Install(Options) (Report, error)
	Uninstall(Options) (Report, error)
	Status(Options) Status
}

// Options say what to register and on which tree.
type Options struct {
	Via     string // ViaHook, ViaRuntime or ViaNRI; empty: the engine's first door
	Default bool   // make the wrapper the engine's default runtime
	// NoDefault takes the default back. With neither, what an earlier install made of it stays.
	NoDefault bool
	When      string // WhenAnnotation or WhenAlways, for hooks; empty: as an earlier install had it, else WhenAnnotation
	Root      string // a prefix: this directory stands for the host's /. Nothing outside is read or written, no command is run
	BinDir    string // where envscrub-hook, envscrub-runtime, … stand, as the engine sees it (never prefixed in what is written)
	Config    string // the engine's configuration file, where it is not the standard one; for engines that have one
	Restart   bool   // restart or reload what must be; else it is only said
	DryRun    bool   // compute and report, write nothing
	Force     bool   // uninstall although containers that use us are alive
	User      *User  // not nil: this user's own (rootless) engine instead of the host's
	// Recorded are containers that the wrapper started for this engine and that are alive by our own records: for an
	// engine that cannot be asked.
	Recorded []string
}

// User is a rootless user, as far as configuration files are concerned.
type User struct {
	UID        int
	Home       string
	ConfigHome string // $XDG_CONFIG_HOME, or Home/.config
	StateHome  string // $XDG_STATE_HOME, or Home/.local/state
	RuntimeDir string // $XDG_RUNTIME_DIR, or /run/user/UID
}

// Report says what an Install or Uninstall did (or, with DryRun, would do).
type Report struct {
	Engine  string    `json:"engine"`
	Via     string    `json:"via"`
	Changes []Change  `json:"changes"`
	Restart []Restart `json:"restart,omitempty"`
	Notes   []string  `json:"notes,omitempty"` // what this door does not cover, and what the reader should know
}

// What a Change did to a file.
const (
	Created   = "created"
	Edited    = "edited"
	Unchanged = "unchanged"
	Removed   = "removed"
	Restored  = "restored" // the bytes from before the install
)

// Change is one file of a Report.
type Change struct {
	Path   string `json:"path"`
	Action string `json:"action"`
	Backup string `json:"backup,omitempty"`
}

// Restart is a command that makes the engine read its configuration again.
type Restart struct {
	Why     string   `json:"why"`
	Command []string `json:"command"`
	Done    bool     `json:"done"`
}

// RestartError says that the files are as they should be, and that the engine was
// not made to read them, though that was asked for.
type RestartError struct{ Err error }

func (e *RestartError) Error() string {
	return "the files are written, but not in effect: " + e.Err.Error()
}

func (e *RestartError) Unwrap() error { return e.Err }

// Status is what one engine's configuration says about us.
type Status struct {
	Engine   string    `json:"engine"`
	Found    bool      `json:"found"`
	Where    string    `json:"where,omitempty"` // the engine's binary, or why it was not found
	Version  string    `json:"version,omitempty"`
	Rootless bool      `json:"rootless,omitempty"`
	Doors    []Door    `json:"doors"` // registered ones, empty: not registered
	Problems []Problem `json:"problems,omitempty"`
}

// Door is one registration.
type Door struct {
	Via     string `json:"via"`
	File    string `json:"file"`
	Default bool   `json:"default"`           // containers that ask for nothing pass through it
	When    string `json:"when,omitempty"`    // hooks: which containers
	Program string `json:"program,omitempty"` // the binary that the engine will call
}

// Problem is something wrong and the command that mends it.
type Problem struct {
	What string `json:"what"`
	Mend string `json:"mend,omitempty"`
}
