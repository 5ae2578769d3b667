package policy

import (
	"time"

	"github.com/envscrub/envscrub/policy/builtin"
)

// item is an entry of a list in a policy file.
type item struct {
	text   string
	at     Position
	preset string // the preset that it comes from, if any
}

// scalar is a setting with the place where it was last made; at is zero while it has its default.
type scalar[T any] struct {
	value T
	at    Position
}

func (s *scalar[T]) merge(over scalar[T]) {
	if over.at != (Position{}) {
		*s = over
	}
}

// change is an entry of [set] or unset, in the order of the files: the last word on a name counts.
type change struct {
	name, value string
	unset       bool
	at          Position
}

type group struct {
	name string
	on   bool
	at   Position
}

// layer is what one file or one profile says. Merging one over another adds lists and replaces scalars.
type layer struct {
	mode     scalar[Mode]
	inherit  scalar[string]
	timeZone scalar[string]
	shim     scalar[string]
	strict   scalar[bool]

	deny, allow, locked []item
	secrets             []item
	overrides, runtimes []item
	groups              []group
	changes             []change
	placeholders        []change
	keep, presets       []item

	rules       []SpawnRule
	trust       []item
	execAllow   []item
	execUnknown scalar[string]
	hooks       []HookProgram

	dumpable, privileged          scalar[string]
	noNewPrivileges, dropSysAdmin scalar[bool]
	coreLimit                     scalar[uint64]
	diagnostics                   scalar[[]string]
	shimTimeout                   scalar[time.Duration]

	redactForms  scalar[[]string]
	redactOutput scalar[bool]

	auditFile, auditMetrics scalar[string]

	nriNamespaces []item
	nriSelector   []change

	known []secret // values of secrets, read when the policy is loaded
}

// profile is a [profile.NAME]: conditions that all have to hold, and what it changes.
type profile struct {
	name        string
	at          Position
	match       bool // has conditions; without them it is only used when asked for
	image       []item
	command     []item
	user        []item
	annotations []annotation
	layer       layer
}

type annotation struct {
	key    string
	values []item
}

// merge puts another layer over this one. No slice of either is written to.
func (l *layer) merge(over *layer) {
	l.mode.merge(over.mode)
	l.inherit.merge(over.inherit)
	l.timeZone.merge(over.timeZone)
	l.shim.merge(over.shim)
	l.strict.merge(over.strict)
	l.execUnknown.merge(over.execUnknown)
	l.dumpable.merge(over.dumpable)
	l.privileged.merge(over.privileged)
	l.noNewPrivileges.merge(over.noNewPrivileges)
	l.dropSysAdmin.merge(over.dropSysAdmin)
	l.coreLimit.merge(over.coreLimit)
	l.diagnostics.merge(over.diagnostics)
	l.shimTimeout.merge(over.shimTimeout)
	l.redactForms.merge(over.redactForms)
	l.redactOutput.merge(over.redactOutput)
	l.auditFile.merge(over.auditFile)
	l.auditMetrics.merge(over.auditMetrics)

	l.deny = joined(l.deny, over.deny)
	l.allow = joined(l.allow, over.allow)
	l.locked = joined(l.locked, over.locked)
	l.secrets = joined(l.secrets, over.secrets)
	l.overrides = joined(l.overrides, over.overrides)
	l.runtimes = joined(l.runtimes, over.runtimes)
	l.groups = joined(l.groups, over.groups)
	l.changes = joined(l.changes, over.changes)
	l.placeholders = joined(l.placeholders, over.placeholders)
	l.keep = joined(l.keep, over.keep)
	l.presets = joined(l.presets, over.presets)
	l.rules = joined(l.rules, over.rules)
	l.trust = joined(l.trust, over.trust)
	l.execAllow = joined(l.execAllow, over.execAllow)
	l.hooks = joined(l.hooks, over.hooks)
	l.nriNamespaces = joined(l.nriNamespaces, over.nriNamespaces)
	l.nriSelector = joined(l.nriSelector, over.nriSelector)
	l.known = joined(l.known, over.known)
}

func joined[T any](a, b []T) []T {
	if len(b) == 0 {
		return a
	}
	if len(a) == 0 {
		return b
	}
	return append(a[:len(a):len(a)], b...)
}

// on says whether a group is on: its default, or the last word of the policy.
func (l *layer) on(name string, off bool) bool {
	for i := len(l.groups) - 1; i >= 0; i-- {
		if l.groups[i].name == name {
			return l.groups[i].on
		}
	}
	return !off
}

// switched gives the groups that the policy speaks of; nil when it speaks of none.
func (l *layer) switched() map[string]bool {
	if len(l.groups) == 0 {
		return nil
	}
	groups := make(map[string]bool, len(l.groups))
	for _, g := range l.groups {
		groups[g.name] = g.on
	}
	return groups
}

// shapesGroup turns rule 6 off; every other group is one of package builtin's.
const shapesGroup = "shapes"

func groupNames() []string {
	names := []string{shapesGroup}
	for _, list := range [][]builtin.Group{builtin.Deny(), builtin.Allow(), builtin.Core()} {
		for i := range list {
			names = append(names, list[i].Name)
		}
	}
	return names
}

// texts gives a list without its positions.
func texts(items []item) []string {
	if len(items) == 0 {
		return nil
	}
	list := make([]string, len(items))
	for i := range items {
		list[i] = items[i].text
	}
	return list
}
