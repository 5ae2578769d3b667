package install

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// hooksd is a file of an oci-hooks(5) directory, in the order that people write them.
type hooksd struct {
	Version string     `json:"version"`
	Hook    hooksdHook `json:"hook"`
	When    hooksdWhen `json:"when"`
	Stages  []string   `json:"stages"`
}

type hooksdHook struct {
	Path    string   `json:"path"`
	Args    []string `json:"args"`
	Env     []string `json:"env"`
	Timeout int      `json:"timeout"`
}

type hooksdWhen struct {
	Always      bool              `json:"always,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// HookFile is one file for a hooks.d directory.
type HookFile struct {
	Name string
	Data []byte
}

// hookTimeout ends a hook that hangs; the runtime then fails the container. It
// leaves room for the policy's own programs, which have limits of their own.
const hookTimeout = 60

// hookPath is the PATH of a hook: a JSON without env would hand the daemon's
// whole environment to the hook, secrets included.
const hookPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// HookFiles are the files that make Podman or CRI-O run the program hook. Each
// stage has a file of its own, because a file has one argument list for all of
// its stages.
func HookFiles(hook, when string, user *User) ([]HookFile, error) {
	cond := hooksdWhen{}
	switch when {
	case WhenAlways:
		// With any `commands` beside it, `always` would not match every container.
		cond.Always = true
	case WhenAnnotation, "":
		cond.Annotations = map[string]string{`^io\.envscrub\.[a-z]+$`: `^`}
	default:
		return nil, fmt.Errorf("--when %s: neither %s nor %s", when, WhenAnnotation, WhenAlways)
	}
	// The hook does one thing after the other: told so, Go's runtime starts fewer threads, which is a tenth of the hook.
	env := []string{hookPath, "GOMAXPROCS=1"}
	if user != nil {
		env = append(env, "HOME="+user.Home, "XDG_RUNTIME_DIR="+user.RuntimeDir, "XDG_CONFIG_HOME="+user.ConfigHome)
	}
	var out []HookFile
	for _, stage := range []string{"createRuntime", "poststop"} {
		data, err := json.MarshalIndent(hooksd{
			Version: "1.0.0",
			Hook:    hooksdHook{Path: hook, Args: []string{"envscrub-hook", stage}, Env: env, Timeout: hookTimeout},
			When:    cond,
			Stages:  []string{stage},
		}, "", "  ")
		if err != nil {
			return nil, err
		}
		out = append(out, HookFile{Name: HookFileName(stage), Data: append(data, '\n')})
	}
	return out, nil
}

// EarlierWhen is the condition that the hook file at a host path was installed
// with, "" where there is none of ours.
func (o Options) EarlierWhen(hostPath string) string {
	data, err := os.ReadFile(o.Path(hostPath))
	if err != nil {
		return ""
	}
	d, err := ReadHookFile(data)
	if err != nil {
		return ""
	}
	return d.When
}

// HookFileName is the name of the file for stage in a hooks.d directory.
func HookFileName(stage string) string { return "50-envscrub-" + strings.ToLower(stage) + ".json" }

// ReadHookFile says what a file made by HookFiles registers.
func ReadHookFile(data []byte) (Door, error) {
	var h hooksd
	if err := json.Unmarshal(data, &h); err != nil {
		return Door{}, fmt.Errorf("not an OCI hook: %w", err)
	}
	d := Door{Via: ViaHook, When: WhenAnnotation, Program: h.Hook.Path, Default: h.When.Always}
	if h.When.Always {
		d.When = WhenAlways
	}
	if len(h.Hook.Args) < 2 || !slices.Contains(h.Stages, h.Hook.Args[1]) {
		return d, fmt.Errorf("its arguments and its stages do not agree; install again")
	}
	return d, nil
}
