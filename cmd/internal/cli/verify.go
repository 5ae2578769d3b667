package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/policy"
)

func newVerify(a *app) *cobra.Command {
	var host hostFlags
	var asJSON bool
	var via, config string
	cmd := &cobra.Command{
		Use:   "verify docker|podman",
		Short: "Prove in a throw-away container that planted secrets do not arrive",
		Long: `Start a throw-away container through every door that is registered, with made-up secrets in its
environment, and look for them from inside: in the environment of the container's process, in
/proc/1/environ, in the environment of its child, in the process's own entries under /proc, in a
process that the engine starts in the container (exec), and in a health check. Each has a verdict
of its own; the hook door does not cover the last two, and that is shown as what it is.

The container's image is made from this program; nothing is pulled, and container and image are
removed afterwards. Values are never printed.

Exit code 1 when anything was found, or could not be looked at.`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: []string{"docker", "podman"},
		RunE: func(cmd *cobra.Command, args []string) error {
			d, ok := drivers[args[0]]
			if !ok {
				return usagef("verify knows docker and podman, not %q; with CRI engines look into a pod: envscrub scan --engine cri", args[0])
			}
			e, o, err := engineOptions(args[0], &host, install.Options{Config: config})
			if err != nil {
				return err
			}
			if o.User != nil && os.Geteuid() == 0 {
				return usagef("--rootless verifies the calling user's engine; call it as that user")
			}
			doors, err := doorsToVerify(e.Status(o), via)
			if err != nil {
				return err
			}
			loaded, err := (&policyFlags{}).load()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			result := verified{Engine: args[0], OK: true}
			for _, door := range doors {
				v, err := verifyDoor(ctx, d, door, loaded)
				if err != nil {
					return fmt.Errorf("verify %s (%s): %w", args[0], door.Via, err)
				}
				result.Doors = append(result.Doors, v)
				result.Default = result.Default || door.Default
				result.OK = result.OK && v.OK
			}
			if asJSON {
				err = printJSON(a.out, result)
			} else {
				err = result.write(a.out)
			}
			if err == nil && !result.OK {
				return failed
			}
			return err
		},
	}
	host.add(cmd.Flags())
	cmd.Flags().StringVar(&via, "via", "", "only this door: `hook` or runtime")
	cmd.Flags().StringVar(&config, "config", "", "Docker's configuration `file`, where it is not the standard one")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func doorsToVerify(s install.Status, via string) ([]install.Door, error) {
	if !s.Found {
		return nil, fmt.Errorf("verify %s: %s", s.Engine, s.Where)
	}
	var out []install.Door
	for _, d := range s.Doors {
		if via == "" || d.Via == via {
			out = append(out, d)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	// A configuration that cannot be read registers nothing, and says why here.
	for _, p := range s.Problems {
		return nil, fmt.Errorf("verify %s: %s", s.Engine, p.What)
	}
	return nil, fmt.Errorf("verify %s: envscrub is not registered with it; first: envscrub install %s", s.Engine, s.Engine)
}

type verified struct {
	Engine string `json:"engine"`
	OK     bool   `json:"ok"`
	// Default: containers that ask for nothing pass through one of the doors.
	Default bool           `json:"default"`
	Doors   []verifiedDoor `json:"doors"`
}

type verifiedDoor struct {
	Via      string    `json:"via"`
	OK       bool      `json:"ok"`
	Verdicts []verdict `json:"verdicts"`
}

// verdict is what was found at one place.
type verdict struct {
	Place  string   `json:"place"`
	What   string   `json:"what"`
	Result string   `json:"result"` // clean, closed, leak, unknown, off (the policy asks for no protection there)
	Names  []string `json:"names"`
	Detail string   `json:"detail,omitempty"`
}

func (v verdict) ok() bool { return v.Result == "clean" || v.Result == "closed" || v.Result == "off" }

// places are the verdicts in the order in which they are told.
var places = []struct{ place, what string }{
	{placeAgent, "environment of the container's process"},
	{placePID1, "/proc/1/environ, read by a child"},
	{placeChild, "environment of a child"},
	{placeEnviron, "the process's /proc/PID/environ, read by a child"},
	{placeMemory, "the process's /proc/PID/mem, opened by a child"},
	{placeExec, "environment of an exec"},
	{placeHealth, "environment of a health check"},
}

// planted is what one container gets, and what is expected of it.
type planted struct {
	env       map[string]string
	plant     plant
	agentOnly []string // the policy leaves these to the container's process
	harden    policy.Harden
}

// plantFor chooses secrets that this policy takes away, and a harmless variable
// that it keeps: without one that arrives, a missing one proves nothing.
func plantFor(loaded *policy.Policy, subject policy.Subject) (*planted, error) {
	view, err := loaded.For(subject)
	if err != nil {
		return nil, err
	}
	if view.Mode != policy.ModeEnforce {
		return nil, fmt.Errorf("the policy's mode is %s: it removes nothing, so there is nothing to prove", view.Mode)
	}
	secret := "made-up-" + rand.Text()
	env := map[string]string{
		"VERIFY_API_KEY":      secret,
		"VERIFY_ALIAS":        secret,
		"verify_db_password":  "made-up-" + rand.Text(),
		"VERIFY_ACCESS_TOKEN": "made-up-" + rand.Text(),
		"VERIFY_ENDPOINT":     "https://verify:" + rand.Text() + "@db.invalid/x",
		"OPENAI_API_KEY":      "made-up-" + rand.Text(),
		"VERIFY_PLAIN":        "plain",
		"LANG":                "C.UTF-8",
	}
	var entries []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		entries = append(entries, name+"="+env[name])
	}
	d, err := view.Decide(entries)
	if err != nil {
		return nil, err
	}
	p := &planted{env: env, plant: plant{Hashes: map[string]string{}}, harden: view.Harden}
	for _, v := range d.Variables {
		value, ours := env[v.Name]
		switch {
		case !ours:
		case v.Fate == policy.FateRemoved:
			p.plant.Hashes[v.Name] = hash(value)
		case v.Fate == policy.FateAgent:
			p.plant.Hashes[v.Name] = hash(value)
			p.agentOnly = append(p.agentOnly, v.Name)
		case v.Fate == policy.FateKept && (v.Name == "VERIFY_PLAIN" || p.plant.Control == ""):
			p.plant.Control = v.Name
		}
	}
	if len(p.plant.Hashes) == 0 {
		return nil, fmt.Errorf("the policy removes none of the secrets that are planted (VERIFY_API_KEY, OPENAI_API_KEY, …): it allows them, so nothing can be proved")
	}
	return p, nil
}

func verifyDoor(ctx context.Context, d driver, door install.Door, loaded *policy.Policy) (verifiedDoor, error) {
	c, err := newTrial(d, door)
	if err != nil {
		return verifiedDoor{}, err
	}
	p, err := plantFor(loaded, c.subject())
	if err != nil {
		return verifiedDoor{}, err
	}
	seen, err := c.run(ctx, p)
	if err != nil {
		return verifiedDoor{}, err
	}
	v := verifiedDoor{Via: door.Via, OK: true}
	for _, place := range places {
		one := p.judge(place.place, seen)
		one.What = place.what
		if !one.ok() && door.Via == install.ViaHook && (place.place == placeExec || place.place == placeHealth) {
			one.Detail = "not covered by the hook door; --via runtime covers it"
		}
		v.Verdicts = append(v.Verdicts, one)
		v.OK = v.OK && one.ok()
	}
	return v, nil
}

// judge compares what was seen at a place with what the policy promises.
func (p *planted) judge(place string, seen map[string]sighting) verdict {
	v := verdict{Place: place, Result: "unknown", Names: []string{}}
	s, ok := seen[place]
	if !ok {
		v.Detail = "the probe did not report"
		return v
	}
	v.Detail = s.Detail
	if place == placeMemory {
		switch {
		case s.Closed:
			v.Result = "closed"
		case p.harden.Dumpable == "off":
			v.Result, v.Detail = "off", `open, as the policy has it (harden.dumpable = "off")`
		case s.Detail == "can be opened":
			v.Result = "leak"
		}
		return v
	}
	for _, name := range s.Names {
		if place != placeAgent || !slices.Contains(p.agentOnly, name) {
			v.Names = append(v.Names, name)
		}
	}
	environ := place == placePID1 || place == placeEnviron
	switch {
	case len(v.Names) > 0:
		v.Result = "leak"
	case s.Closed:
		v.Result = "closed"
	case s.Detail != "":
	case !environ && p.plant.Control != "" && !s.Control:
		v.Detail = "the harmless variable " + p.plant.Control + " is missing too: no environment arrived"
	default:
		v.Result = "clean"
	}
	return v
}

func (v verified) write(w io.Writer) error {
	var b strings.Builder
	for _, d := range v.Doors {
		fmt.Fprintf(&b, "%s, %s:\n", v.Engine, d.Via)
		var rows [][]string
		for _, one := range d.Verdicts {
			text := one.Result
			if one.Result == "leak" {
				text = "LEAK"
			}
			if len(one.Names) > 0 {
				text += " " + strings.Join(one.Names, " ")
			}
			if one.Detail != "" {
				text += " (" + one.Detail + ")"
			}
			rows = append(rows, []string{" ", one.What, text})
		}
		if err := table(&b, rows); err != nil {
			return err
		}
	}
	switch {
	case v.OK && v.Default:
		b.WriteString("verified\n")
	case v.OK:
		b.WriteString("verified, for containers that ask for it; all others are NOT covered (envscrub install " + v.Engine + " --via runtime --default)\n")
	default:
		b.WriteString("NOT verified" + v.why() + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// why explains the one bad result that is no fault: a door that does not reach so far.
func (v verified) why() string {
	bad := false
	for _, d := range v.Doors {
		for _, one := range d.Verdicts {
			if one.ok() {
				continue
			}
			if d.Via != install.ViaHook || one.Place != placeExec && one.Place != placeHealth {
				return ""
			}
			bad = true
		}
	}
	if !bad {
		return ""
	}
	return ": the hook door covers what a container starts with, not exec and health checks; what does: envscrub install " + v.Engine + " --via runtime --default"
}

// argument is the plant as the probe's argument.
func (p *plant) argument() (string, error) {
	data, err := json.Marshal(p)
	return string(data), err
}
