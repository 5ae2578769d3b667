package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// What verify's container runs: this very program. It looks for planted
// variables from inside and reports names. It knows the values by their hashes
// only, so that none stands on a command line.

// plant is what a probe looks for.
type plant struct {
	Hashes  map[string]string `json:"hashes"`            // name to SHA-256 of the value
	Control string            `json:"control,omitempty"` // a variable that must be there, else nothing was proved
}

// A sighting is what a probe saw at one place.
type sighting struct {
	Place   string   `json:"place"`
	Names   []string `json:"names"`             // planted variables that are there, by name or by value
	Closed  bool     `json:"closed,omitempty"`  // it may not be looked at
	Control bool     `json:"control,omitempty"` // the control was there
	Detail  string   `json:"detail,omitempty"`
}

// The places.
const (
	placeAgent   = "agent"   // the environment of the container's own process
	placePID1    = "pid1"    // /proc/1/environ, as a child of the agent sees it
	placeChild   = "child"   // the environment of a child
	placeEnviron = "environ" // the agent's /proc/PID/environ, as a child sees it
	placeMemory  = "memory"  // the agent's /proc/PID/mem, as a child sees it
	placeExec    = "exec"    // the environment of a process that the engine starts
	placeHealth  = "health"  // the environment of a health check
)

func newProbe(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "probe ROLE PLANT",
		Short:  "Look for planted variables (what verify runs in its container)",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			var p plant
			if err := json.Unmarshal([]byte(args[1]), &p); err != nil {
				return errors.New("the second argument is not what verify gives its probe")
			}
			enc := json.NewEncoder(a.out)
			switch args[0] {
			case placeAgent:
				return p.agent(a, enc, args[1])
			case placeChild:
				return p.child(enc)
			case placeExec, placeHealth:
				return enc.Encode(p.look(args[0], os.Environ()))
			}
			return fmt.Errorf("no role %q", args[0])
		},
	}
}

// agent is the container's process: it reports, lets a child report, and stays
// until it is told to go.
func (p *plant) agent(a *app, enc *json.Encoder, text string) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	if err := enc.Encode(p.look(placeAgent, os.Environ())); err != nil {
		return err
	}
	child := exec.Command(probePath, "probe", placeChild, text)
	child.Stdout, child.Stderr = a.out, a.err
	if err := child.Run(); err != nil {
		return fmt.Errorf("the child: %w", err)
	}
	if _, err := fmt.Fprintln(a.out, probeReady); err != nil {
		return err
	}
	<-stop
	return nil
}

const (
	probePath  = "/envscrub"
	probeReady = `{"place":"ready"}`
)

func (p *plant) child(enc *json.Encoder) error {
	agent := fmt.Sprintf("/proc/%d/", os.Getppid())
	for _, s := range []sighting{
		p.look(placeChild, os.Environ()),
		p.lookFile(placePID1, "/proc/1/environ"),
		p.lookFile(placeEnviron, agent+"environ"),
		lookMemory(agent + "mem"),
	} {
		if err := enc.Encode(s); err != nil {
			return err
		}
	}
	return nil
}

// look searches an environment for what was planted, under any name.
func (p *plant) look(place string, env []string) sighting {
	s := sighting{Place: place, Names: []string{}}
	byHash := map[string]string{}
	for name, hash := range p.Hashes {
		byHash[hash] = name
	}
	add := func(name string) {
		if !slices.Contains(s.Names, name) {
			s.Names = append(s.Names, name)
		}
	}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if name == p.Control {
			s.Control = true
		}
		if _, planted := p.Hashes[name]; planted {
			add(name)
		} else if origin, ok := byHash[hash(value)]; ok {
			add(origin)
		}
	}
	slices.Sort(s.Names)
	return s
}

func (p *plant) lookFile(place, path string) sighting {
	data, err := os.ReadFile(path)
	if err != nil {
		s := sighting{Place: place, Names: []string{}, Closed: errors.Is(err, fs.ErrPermission), Detail: reason(err)}
		return s
	}
	return p.look(place, parseEnviron(data))
}

func lookMemory(path string) sighting {
	s := sighting{Place: placeMemory, Names: []string{}}
	f, err := os.Open(path)
	if err == nil {
		// The kernel decides at the first read, too: address 0 of an open file is EIO.
		_, err = f.ReadAt(make([]byte, 1), 0)
		s.Detail = "can be opened"
		if cerr := f.Close(); cerr != nil {
			s.Detail = reason(cerr)
		}
		if errors.Is(err, syscall.EIO) || err == nil || errors.Is(err, io.EOF) {
			return s
		}
	}
	s.Closed, s.Detail = errors.Is(err, fs.ErrPermission), reason(err)
	return s
}

// reason is an error without the path, which is another one in every run.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

func hash(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}
