package policy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/envscrub/envscrub/policy/builtin"
)

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
	Privileged      string        // "allow" or "refuse" a container whose capabilities void the guard; empty: see Decision.RefusesVoid
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
	Rules []SpawnRule // commands as globs over whole paths
	Trust []string    // commands that still are the agent, likewise
}

// ExecPolicy is what holds for processes that an engine starts in a running container.
type ExecPolicy struct {
	Allow   []string // names or globs that an exec gets, exactly denied ones included
	Unknown string   // without a record of the container's own environment: "pass" (default) takes every variable as explicit, "scrub" as inherited
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

// Defaults of what a policy may leave out.
const (
	defaultShimTimeout = 10 * time.Second
	defaultHookTimeout = 2 * time.Second
)

// Subject is the container, or the command, that a decision is about.
type Subject struct {
	ContainerID string
	Image       string
	User        string // "1000", "1000:1000" or a name
	UserName    string // the name that the container's own passwd file has for User, where the caller looked it up
	Args        []string
	Annotations map[string]string

	Profile string   // the profile asked for by name; it has to exist
	Fixed   bool     // Profile was chosen when the container was created: without one it is the base policy
	Allow   []string // names that the container asks for (an annotation): honoured as far as `overrides` permits
	Grant   []string // names that whoever may change the policy asks for (the CLI's user): honoured unless exactly denied
}

// View is the policy for one container: profile chosen, everything compiled. Any number of goroutines may use it.
type View struct {
	Profile   string // "" is the base policy
	Mode      Mode
	Harden    Harden
	Spawn     SpawnPolicy
	Exec      ExecPolicy
	Hooks     []HookProgram // the base policy's, then the profile's
	Redact    Redact
	Audit     Audit
	NRI       NRI
	Runtimes  []string
	Shim      string
	Strict    bool
	Overrides []string
	TimeZone  string
	Keep      []string // names and globs that the agent alone gets, presets included
	Refused   []string // names that the container asked for and does not get

	layer      layer
	matcher    *matcher
	classifier *builtin.Classifier
	sets       []change // [set], then TZ; values filled in
	shapes     bool

	placeholders []change // the last one of each name

	labels  []atomic.Pointer[string]
	summary func() string
}

// For gives the policy for one container. The choice of the profile is the one asked for, else the first in the order
// of the files whose conditions all hold, else none.
func (p *Policy) For(s Subject) (*View, error) {
	v := &View{layer: p.base}
	if o, err := p.choose(&s); err != nil {
		return nil, err
	} else if o != nil {
		v.Profile, v.layer = o.name, p.over(o)
	}
	if err := v.grant(&s); err != nil {
		return nil, err
	}
	if err := v.fill(&s); err != nil {
		return nil, err
	}
	v.compile()
	return v, nil
}

func (p *Policy) choose(s *Subject) (*profile, error) {
	if s.Profile != "" {
		if o := p.profile(s.Profile); o != nil {
			return o, nil
		}
		what := "the policy has no such profile"
		if near := nearest(s.Profile, p.Profiles()); near != "" {
			what += "; did you mean " + near + "?"
		} else if len(p.profiles) > 0 {
			what += "; it has " + strings.Join(p.Profiles(), ", ")
		} else {
			what += ", nor any other; define [profile.NAME] or do not ask for one"
		}
		key := "profile"
		if strings.Trim(s.Profile, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == "" && len(s.Profile) <= 64 {
			key += " " + strconv.Quote(s.Profile) // anything else could be a value in the wrong place
		}
		return nil, &Error{Key: key, What: what}
	}
	for i := range p.profiles {
		if o := &p.profiles[i]; o.match && !s.Fixed && o.matches(s) {
			return o, nil
		}
	}
	return nil, nil
}

// matches says whether every condition holds. Within one condition, any of its globs will do.
func (o *profile) matches(s *Subject) bool {
	for _, a := range o.annotations {
		value, ok := s.Annotations[a.key]
		if !ok || !anyGlob(a.values, value) {
			return false
		}
	}
	if o.image != nil && !anyGlob(o.image, s.Image) {
		return false
	}
	if o.command != nil && (len(s.Args) == 0 || !slices.ContainsFunc(o.command, func(i item) bool { return commandMatches(i.text, s.Args[0]) })) {
		return false
	}
	if o.user != nil {
		id, _, _ := strings.Cut(s.User, ":")
		id = cmp.Or(id, "0")
		name := s.UserName
		if name == "" && id == "0" {
			name = "root"
		}
		if !anyGlob(o.user, id) && (name == "" || !anyGlob(o.user, name)) {
			return false
		}
	}
	return true
}

func anyGlob(list []item, text string) bool {
	return slices.ContainsFunc(list, func(i item) bool { return globMatches(i.text, text) })
}

func globMatches(pattern, text string) bool {
	if !isGlob(pattern) {
		return pattern == text
	}
	p := compileGlob(pattern)
	return p.match(text)
}

// commandMatches compares a pattern with a program: with its path if the pattern has a slash, else with its name. A
// command that was not looked up in PATH stands in some directory.
func commandMatches(pattern, command string) bool {
	if !strings.Contains(command, "/") {
		command = "/" + command
	}
	return globMatches(wholePath(pattern), command)
}

// wholePath turns a pattern over a program's name into one over its path.
func wholePath(pattern string) string {
	if strings.Contains(pattern, "/") {
		return pattern
	}
	return "*/" + pattern
}

// noName stands for what was asked for and is no name: it could be a value, which nobody may log.
const noName = "(not a name)"

// grant adds what the subject asks for to the allow list.
func (v *View) grant(s *Subject) error {
	l := &v.layer
	for i, names := range [][]string{s.Grant, s.Allow} {
		from := [...]string{"allow", "annotation"}[i]
		for _, name := range names {
			asked := i == 1
			switch {
			case !ValidName(name):
				if !asked {
					return &Error{Key: from, What: "an entry is not the name of a variable; correct it"}
				}
				name = noName
			case isControl(name):
				if !asked {
					return &Error{Key: from, What: "names that begin with " + controlPrefix + " are never passed on; remove the entry"}
				}
			case asked && !slices.ContainsFunc(l.overrides, func(o item) bool { return globMatches(fold(o.text), fold(name)) }):
			default:
				list := []item{{text: name, at: Position{File: from}}}
				if err := l.contradicts(from, list); err == nil {
					l.allow = joined(l.allow, list)
					continue
				} else if !asked {
					return err
				}
			}
			v.Refused = append(v.Refused, name)
		}
	}
	return nil
}

// fill copies the settings, with the defaults of those that no file makes, and fills in the values of [set].
func (v *View) fill(s *Subject) error {
	l := &v.layer
	l.apply(s)
	v.Mode = cmp.Or(l.mode.value, ModeEnforce)
	v.Harden = Harden{
		Dumpable:        cmp.Or(l.dumpable.value, "require"),
		NoNewPrivileges: l.noNewPrivileges.value,
		DropSysAdmin:    l.dropSysAdmin.value,
		Privileged:      l.privileged.value,
		Diagnostics:     diagnostics,
		ShimTimeout:     cmp.Or(l.shimTimeout.value, defaultShimTimeout),
	}
	if l.coreLimit.at != (Position{}) {
		v.Harden.CoreLimit = &l.coreLimit.value
	}
	if l.diagnostics.at != (Position{}) {
		v.Harden.Diagnostics = l.diagnostics.value
	}
	for _, r := range l.rules {
		r.Command = wholePath(r.Command)
		v.Spawn.Rules = append(v.Spawn.Rules, r)
	}
	for _, t := range l.trust {
		v.Spawn.Trust = append(v.Spawn.Trust, wholePath(t.text))
	}
	v.Exec = ExecPolicy{Allow: texts(l.execAllow), Unknown: cmp.Or(l.execUnknown.value, "pass")}
	v.Hooks = l.hooks
	v.Redact = Redact{Forms: l.redactForms.value, Output: l.redactOutput.value}
	if l.redactForms.at == (Position{}) {
		v.Redact.Forms = []string{"all"}
	}
	v.Audit = Audit{File: l.auditFile.value, Metrics: l.auditMetrics.value}
	v.NRI.Namespaces = texts(l.nriNamespaces)
	if len(l.nriSelector) > 0 {
		v.NRI.Selector = make(map[string]string, len(l.nriSelector))
		for _, c := range l.nriSelector {
			v.NRI.Selector[c.name] = c.value
		}
	}
	v.Runtimes, v.Shim, v.Strict, v.Overrides = texts(l.runtimes), l.shim.value, l.strict.value, texts(l.overrides)
	v.TimeZone = l.timeZone.value
	v.Keep = texts(l.keep)
	v.shapes = l.on(shapesGroup, false)

	// The last word on a name counts.
	var unset []change
	for _, c := range l.changes {
		same := func(o change) bool { return strings.EqualFold(o.name, c.name) }
		if c.unset {
			v.sets = slices.DeleteFunc(v.sets, same)
			unset = append(unset, c)
			continue
		}
		unset = slices.DeleteFunc(unset, same)
		v.sets = slices.DeleteFunc(v.sets, func(o change) bool { return o.name == c.name })
		value, what := expand(c.value, s)
		if what != "" {
			return &Error{At: c.at, Key: "set." + c.name, What: what}
		}
		c.value = value
		v.sets = append(v.sets, c)
	}
	l.changes = unset
	for _, c := range l.placeholders {
		v.placeholders = append(slices.DeleteFunc(v.placeholders, func(o change) bool { return o.name == c.name }), c)
	}
	if v.TimeZone != "" && !slices.ContainsFunc(v.sets, func(c change) bool { return c.name == "TZ" }) {
		v.sets = append(v.sets, change{name: "TZ", value: v.TimeZone, at: l.timeZone.at})
	}
	return nil
}

// compile builds the matcher.
func (v *View) compile() {
	l := &v.layer
	deny, core, allow := builtin.Deny(), builtin.Core(), builtin.Allow()
	size := 64 // what the built-in groups have, and a little
	if l.inherit.value == "core" {
		size = 384
	}
	rules := make([]rule, 0, size)
	add := func(c class, items []item) {
		for _, i := range items {
			rules = append(rules, rule{class: c, exact: !isGlob(i.text), text: i.text, preset: i.preset, at: i.at})
		}
	}
	add(classDeny, l.deny)
	add(classAllow, l.allow)
	add(classKeep, l.keep)
	add(classLocked, l.locked)
	for _, c := range l.changes {
		add(classUnset, []item{{text: c.name, at: c.at}})
	}
	for _, r := range l.rules {
		for _, a := range r.Allow {
			add(classHeld, []item{{text: a, at: r.At}})
		}
	}
	for i := range deny {
		if g := &deny[i]; l.on(g.Name, g.Off) {
			for _, name := range g.Exact {
				rules = append(rules, rule{class: classBuiltin, exact: true, text: name, group: g.Name})
			}
		}
	}
	for i := range allow {
		if g := &allow[i]; l.on(g.Name, g.Off) {
			for _, names := range [][]string{g.Exact, g.Names, g.Globs} {
				for _, name := range names {
					rules = append(rules, rule{class: classAllow, exact: !isGlob(name), text: name, group: g.Name})
				}
			}
		}
	}
	if l.inherit.value == "core" {
		for i := range core {
			if g := &core[i]; l.on(g.Name, g.Off) {
				for _, names := range [][]string{g.Exact, g.Names, g.Globs} {
					for _, name := range names {
						rules = append(rules, rule{class: classCore, exact: !isGlob(name), text: name, group: g.Name})
					}
				}
			}
		}
	}
	v.matcher = newMatcher(rules)
	v.classifier = builtin.New(l.switched())
	v.labels = make([]atomic.Pointer[string], len(rules))
	v.summary = sync.OnceValue(v.summarise)
}

// summarise counts the deny rules and lists what is allowed.
func (v *View) summarise() string {
	n := len(v.layer.deny)
	deny := builtin.Deny()
	for i := range deny {
		if g := &deny[i]; v.layer.on(g.Name, g.Off) {
			n += len(g.Exact) + len(g.Names) + len(g.Globs)
		}
	}
	allow := "none"
	if len(v.layer.allow) > 0 {
		allow = strings.Join(texts(v.layer.allow), ", ")
	}
	return strconv.Itoa(n) + " deny rules, allow: " + allow
}

// label gives the text of a rule for explain and logs: "deny-glob *_TOKEN (group tokens)".
func (v *View) label(i int32) string {
	if text := v.labels[i].Load(); text != nil {
		return *text
	}
	r := &v.matcher.rules[i]
	var text string
	switch r.class {
	case classDeny, classBuiltin:
		text = "deny-exact"
		if !r.exact {
			text = "deny-glob " + r.text
		}
	case classAllow:
		text = "allow"
		if !r.exact {
			text = "allow " + r.text
		}
	case classCore:
		text = "core"
	case classKeep:
		text = "keep"
		if !r.exact {
			text = "keep " + r.text
		}
	case classUnset:
		text = "unset"
	}
	if r.group != "" {
		text += " (group " + r.group + ")"
	}
	if r.preset != "" {
		text += " (preset " + r.preset + ")"
	}
	v.labels[i].Store(&text)
	return text
}

// classified gives the text of a built-in judgement.
func classified(group, text string) string {
	if !isGlob(text) {
		return "deny-name (group " + group + ")"
	}
	return "deny-glob " + text + " (group " + group + ")"
}

// labels keeps the texts of built-in judgements for the length of one decision: many variables go by few rules, and a
// text for each would be the only thing that is allocated for each.
type labels []struct{ group, glob, label string }

func (l *labels) classified(group, text string) string {
	glob := text
	if !isGlob(text) {
		glob = "" // the text is a name, and the label does not have it in it
	}
	for i := range *l {
		if k := &(*l)[i]; k.glob == glob && k.group == group {
			return k.label
		}
	}
	label := classified(group, text)
	*l = append(*l, struct{ group, glob, label string }{group, glob, label})
	return label
}
