package wrapper_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig"
)

// The capability that tells the agent from its tools is in no set of what an engine or an operator executes beside it, nor
// is what the shim needed to set it up; and a bundle that is used again does not collect them.
func TestCapabilityOfAgentAlone(t *testing.T) {
	const show = "grep ^Cap /proc/self/status"
	each(t, func(t *testing.T, r rig.Runtime) {
		for name, sets := range map[string]*specs.LinuxCapabilities{
			"usual": nil,
			"none":  {Bounding: []string{}, Effective: nil, Permitted: []string{}, Inheritable: nil, Ambient: []string{}},
			"some":  {Bounding: []string{"CAP_KILL", "CAP_SETPCAP"}, Effective: []string{"CAP_KILL"}, Permitted: []string{"CAP_KILL"}},
		} {
			users := []uint32{0, 1000}
			if name == "some" {
				users = users[1:]
			}
			for _, uid := range users {
				prepare := func(s *specs.Spec) {
					s.Process.User.UID = uid
					if sets != nil {
						s.Process.Capabilities = sets
					}
				}
				plain := bundle(t, "/bin/sleep", "300")
				prepare(plain.Spec)
				plain.Write(t)
				c := plain.Create(t, r)
				ok(t, "create, bare", c.Result)
				ok(t, "start, bare", c.Start())
				w, b, env := running(t, r, keepKey, prepare)
				agent := ok(t, "the agent", rig.Run(t, w.Command("exec", b.ID, "/bin/sh", "-c", "grep ^Cap /proc/[0-9]*/status | grep CapPrm"))).Stdout
				if !strings.Contains(agent, "\t00000008") {
					t.Errorf("%s, user %d: the agent has no capability of its own:\n%s", name, uid, agent)
				}
				// An engine that reads the bundle's configuration for an exec.
				data, err := os.ReadFile(filepath.Join(b.Dir, "config.json"))
				if err != nil {
					t.Fatal(err)
				}
				var spec specs.Spec
				if err := json.Unmarshal(data, &spec); err != nil {
					t.Fatal(err)
				}
				fromBundle := *b
				fromBundle.Spec = &spec
				file := func(b *rig.Bundle, env []string) []string {
					return []string{"--process", process(t, b, env, "/bin/sh", "-c", show)}
				}
				for _, c := range []struct {
					form      string
					bare, our []string
				}{
					{"flags", nil, nil},
					{"process.json", file(plain, env), file(b, env)},
					{"process.json, of the bundle", file(plain, env), file(&fromBundle, spec.Process.Env)},
					{"flags, once more", nil, nil},
					{"flags, and a capability", []string{"--cap", "CAP_CHOWN"}, []string{"--cap", "CAP_CHOWN"}},
				} {
					run := func(r rig.Runtime, id string, options []string) string {
						args := slices.Concat([]string{"exec"}, options, []string{id})
						if !slices.Contains(options, "--process") {
							args = append(args, "/bin/sh", "-c", show)
						}
						return ok(t, c.form, rig.Run(t, r.Command(args...))).Stdout
					}
					if was, is := run(r, plain.ID, c.bare), run(w, b.ID, c.our); was != is {
						t.Errorf("%s, user %d, %s: capabilities of an exec\nbare\n%s\nours\n%s", name, uid, c.form, was, is)
					}
				}
				// The same bundle once more: nothing is added twice, and what was lent is still known.
				ok(t, "delete", rig.Run(t, w.Command("delete", "-f", b.ID)))
				again := b.Create(t, w)
				ok(t, "create again", again.Result)
				second, err := os.ReadFile(filepath.Join(b.Dir, "config.json"))
				if err != nil {
					t.Fatal(err)
				}
				var now specs.Spec
				if err := json.Unmarshal(second, &now); err != nil {
					t.Fatal(err)
				}
				for i, pair := range [][2][]string{
					{spec.Process.Capabilities.Bounding, now.Process.Capabilities.Bounding},
					{spec.Process.Capabilities.Ambient, now.Process.Capabilities.Ambient},
					{spec.Process.Capabilities.Permitted, now.Process.Capabilities.Permitted},
				} {
					if !slices.Equal(pair[0], pair[1]) {
						t.Errorf("%s, user %d: set %d after a second create: %q, was %q", name, uid, i, pair[1], pair[0])
					}
				}
			}
		}
	})
}
