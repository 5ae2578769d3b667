// Package policy decides which environment variables a container, its agent and the agent's children may see.
package policy

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/gobwas/glob"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/envscrub/envscrub/policy/builtin"
)

// LoadOptions says which files make the policy.
type LoadOptions struct {
	Files  []string
	User   bool
	Lookup func(string) (string, bool)
}

// Policy is a loaded and valid policy.
type Policy struct{ deny, allow []string }

// Subject is the container that a decision is about.
type Subject struct {
	ContainerID, Image, User string
	Args                     []string
	Annotations              map[string]string
	Profile                  string   // asked for
	Allow                    []string // names that an annotation asks for; honoured where `overrides` permits
}

// View is the policy for one container: profile chosen, everything compiled.
type View struct {
	Profile   string
	Mode      Mode
	Harden    Harden
	Spawn     SpawnPolicy
	Exec      ExecPolicy
	Hooks     []HookProgram
	Redact    Redact
	Audit     Audit
	NRI       NRI
	Runtimes  []string
	Shim      string
	Strict    bool
	Overrides []string
	TimeZone  string

	policy *Policy
}

// Default is the policy with no file at all.
func Default() *Policy { return &Policy{} }

// Load reads, merges and validates the policy.
func Load(o LoadOptions) (*Policy, error) {
	files := o.Files
	if files == nil {
		if _, err := os.Stat("/etc/envscrub/policy.toml"); err == nil {
			files = []string{"/etc/envscrub/policy.toml"}
		}
	}
	p := Default()
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		q, err := Parse(file, data)
		if err != nil {
			return nil, err
		}
		p.deny, p.allow = append(p.deny, q.deny...), append(p.allow, q.allow...)
	}
	return p, nil
}

// Parse reads one policy file.
func Parse(file string, data []byte) (*Policy, error) {
	p := Default()
	var t unstable.Parser
	t.Reset(data)
	for t.NextExpression() {
		e := t.Expression()
		if e.Kind != unstable.KeyValue || e.Value().Kind != unstable.Array {
			continue
		}
		var list []string
		for it := e.Value().Children(); it.Next(); {
			list = append(list, string(it.Node().Data))
		}
		key := e.Key()
		key.Next()
		switch string(key.Node().Data) {
		case "deny":
			p.deny = append(p.deny, list...)
		case "allow":
			p.allow = append(p.allow, list...)
		}
	}
	if t.Error() != nil {
		return nil, errors.New(file + ": not TOML")
	}
	return p, nil
}

// For gives the policy for one container.
func (p *Policy) For(Subject) (*View, error) {
	return &View{Mode: ModeEnforce, Harden: Harden{Dumpable: "require", Privileged: "allow"}, policy: p}, nil
}

func matches(list []string, name string) string {
	for _, g := range list {
		if ok := glob.MustCompile(strings.ToUpper(g)).Match(name); ok {
			return g
		}
	}
	return ""
}

// Decide is the decision at the container boundary.
func (v *View) Decide(env []string) (*Decision, error) {
	d := &Decision{}
	for i, entry := range env {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" || strings.IndexByte(entry, 0) >= 0 {
			return nil, errors.New("environment entry " + strconv.Itoa(i+1) + ": malformed")
		}
		fold := strings.ToUpper(name)
		fate, rule := FateKept, "default"
		if matches(v.policy.allow, fold) != "" {
			rule = "allow"
		} else if g := matches(v.policy.deny, fold); g != "" {
			fate, rule = FateRemoved, "deny-glob "+g
		} else {
			for _, group := range builtin.Deny() {
				for _, exact := range group.Exact {
					if exact == fold {
						fate, rule = FateRemoved, "deny-exact (group "+group.Name+")"
					}
				}
				if g := matches(group.Globs, fold); fate == FateKept && g != "" && !builtin.Spared(value) {
					fate, rule = FateRemoved, "deny-glob "+g+" (group "+group.Name+")"
				}
			}
		}
		d.Variables = append(d.Variables, Variable{Name: name, Fate: fate, Rule: rule})
		if fate == FateKept {
			d.container = append(d.container, entry)
		} else {
			d.secrets = append(d.secrets, value)
		}
	}
	d.agent = d.container
	return d, nil
}

// DecideExec is the decision on a process that is started in a running container.
func (v *View) DecideExec(env []string, changed func(name, value string) bool, command string) (*Decision, error) {
	return v.Decide(env)
}

// IsSensitiveName says whether the built-in rules take a variable of this name.
func IsSensitiveName(name string) bool { return builtin.IsSensitiveName(name) }
