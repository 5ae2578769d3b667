package cli

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/envscrub/envscrub/hook/record"
	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/policy"
)

func newScan(a *app) *cobra.Command {
	var flags policyFlags
	var asJSON bool
	var only []string
	cmd := &cobra.Command{
		Use:   "scan",
		Short: "List the running containers and the variables that the policy would take from them",
		Long: `List the running containers of every engine (Docker, Podman, and what crictl sees) and the
variables that the policy would take from them: names only. This is what to look at before
envscrub is switched on. A container that was started through envscrub is marked, and what is
listed for it is what was taken from it at its start, by envscrub's own record: what the engine
says can be the environment from before (Docker) or that from after (Podman). A secret value that
also stands in a container's arguments or its health check is said: no environment filter reaches
it there, and everybody on the host can read it.

Exit code 0, whatever is found; 1 when no engine that is there can be asked, or a container's
environment is malformed. An engine that cannot be asked beside one that can is a note.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := flags.load()
			if err != nil {
				return err
			}
			known := recorded()
			found := []scanned{}
			asked, silent, bad := 0, 0, 0
			for _, l := range listers {
				if len(only) > 0 && !slices.Contains(only, l.name) {
					continue
				}
				targets, there, err := l.list(cmd.Context())
				if !there {
					continue
				}
				asked++
				if err != nil { // mostly a client whose daemon does not run
					silent++
					a.note("%v", err)
					continue
				}
				for _, t := range targets {
					s, err := scan(&flags, loaded, t)
					if err != nil { // such a container would not start through envscrub
						bad++
						a.note("%s: %s: %v", l.name, t.name, err)
						continue
					}
					s.Engine = l.name
					if r := known[s.ID]; r != nil {
						s.fromRecord(r)
					}
					found = append(found, s)
				}
			}
			if asked == 0 {
				a.note("no engine found: neither docker, podman nor crictl is installed")
			}
			if asJSON {
				err = printJSON(a.out, found)
			} else {
				err = writeScan(a.out, found)
			}
			if err == nil && (bad > 0 || silent > 0 && silent == asked) {
				return failed
			}
			return err
		},
	}
	flags.add(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringSliceVar(&only, "engine", nil, "only this `engine`: docker, podman, cri")
	return cmd
}

// scanned is one running container.
type scanned struct {
	Engine    string   `json:"engine"`
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Image     string   `json:"image"`
	Profile   string   `json:"profile,omitempty"`
	Remove    []string `json:"remove"`               // what the policy would take from it, or, when it is scrubbed, what was taken
	AgentOnly []string `json:"agent_only,omitempty"` // what its children would not get
	Scrubbed  bool     `json:"scrubbed"`             // it was started through envscrub
	Exposed   []string `json:"exposed,omitempty"`    // where a secret value stands besides: "arguments", "health check"
}

func scan(flags *policyFlags, loaded *policy.Policy, t target) (scanned, error) {
	e, err := explain(flags, loaded, t)
	if err != nil {
		return scanned{}, err
	}
	s := scanned{ID: t.subject.ContainerID, Name: t.name, Image: t.image, Profile: e.view.Profile, Remove: []string{}}
	s.Remove = append(s.Remove, e.decision.Removed()...)
	s.AgentOnly = e.decision.AgentOnly()
	// report: KiroCrew#2804, ductor#187, benchpress#192
	for _, place := range []struct {
		what  string
		words []string
	}{{"arguments", t.subject.Args}, {"health check", t.health}} {
		if holds(place.words, e.decision.SecretValues()) {
			s.Exposed = append(s.Exposed, place.what)
		}
	}
	return s, nil
}

// minValue is the length below which a value would be found by chance.
const minValue = 8

func holds(words, values []string) bool {
	for _, w := range words {
		for _, v := range values {
			if len(v) >= minValue && strings.Contains(w, v) {
				return true
			}
		}
	}
	return false
}

// fromRecord tells what became of the variables at the container's start.
func (s *scanned) fromRecord(r *record.Record) {
	s.Scrubbed, s.Profile, s.Remove, s.AgentOnly = true, r.Profile, []string{}, nil
	for _, v := range r.Variables {
		switch v.Fate {
		case string(policy.FateRemoved):
			s.Remove = append(s.Remove, v.Name)
		case string(policy.FateAgent):
			s.AgentOnly = append(s.AgentOnly, v.Name)
		}
	}
}

// recorded are the records of the containers that were started through envscrub,
// by their ids, as far as the caller may see them.
func recorded() map[string]*record.Record {
	out := map[string]*record.Record{}
	store, err := record.Default()
	if err != nil {
		return out
	}
	records, err := store.List()
	if err != nil {
		return out
	}
	for _, r := range records {
		out[r.ID] = r
	}
	return out
}

// wrapped names the living containers that an engine started through the wrapper,
// by our records.
func wrapped(engine string) []string {
	var out []string
	for id, r := range recorded() {
		// Records have "cri-o", the command line "crio".
		if r.Door != install.ViaRuntime || strings.ReplaceAll(r.Engine, "-", "") != engine {
			continue
		}
		// One whose bundle is gone was taken away without its runtime.
		if _, err := os.Stat(r.Bundle); err == nil {
			out = append(out, id[:min(12, len(id))])
		}
	}
	slices.Sort(out)
	return out
}

func writeScan(w io.Writer, found []scanned) error {
	if len(found) == 0 {
		_, err := io.WriteString(w, "no running container\n")
		return err
	}
	rows := [][]string{{"ENGINE", "CONTAINER", "IMAGE", "SCRUBBED", "REMOVED, OR WOULD BE"}}
	for _, s := range found {
		scrubbed, remove := "no", strings.Join(s.Remove, " ")
		if s.Scrubbed {
			scrubbed = "yes"
		}
		if len(s.AgentOnly) > 0 {
			remove += " (agent only: " + strings.Join(s.AgentOnly, " ") + ")"
		}
		if len(s.Exposed) > 0 {
			remove += " (a secret value also stands in its " + strings.Join(s.Exposed, " and its ") + ")"
		}
		if remove == "" {
			remove = "-"
		}
		rows = append(rows, []string{s.Engine, s.Name, s.Image, scrubbed, strings.TrimSpace(remove)})
	}
	return table(w, rows)
}
