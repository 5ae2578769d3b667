package policy

import (
	"slices"
	"strings"
	"time"

	"github.com/envscrub/envscrub/policy/builtin"
	"github.com/envscrub/envscrub/policy/redact"
)

// sections lists every key of a policy file, for the error about an unknown one. "profile" stands for what a
// [profile.NAME] has beyond the keys of the file itself.
var sections = [...]struct {
	name string
	keys []string
}{
	{"", []string{
		"mode", "inherit", "deny", "allow", "locked", "unset", "secrets", "time_zone", "strict", "overrides", "runtimes", "shim",
		"groups", "set", "placeholder", "agent", "spawn", "exec", "harden", "hook", "redact", "audit", "nri", "profile",
	}},
	{"agent", []string{"keep", "presets"}},
	{"spawn", []string{"rule", "trust"}},
	{"spawn.rule", []string{"command", "allow"}},
	{"spawn.trust", []string{"command"}},
	{"exec", []string{"allow", "unknown"}},
	{"harden", []string{"dumpable", "no_new_privileges", "core_limit", "drop_sys_admin", "privileged", "diagnostics", "shim_timeout"}},
	{"hook", []string{"command", "timeout"}},
	{"redact", []string{"forms", "output"}},
	{"audit", []string{"file", "metrics"}},
	{"nri", []string{"namespaces", "selector"}},
	{"profile", []string{"match"}},
	{"match", []string{"annotation", "image", "command", "user"}},
}

// Limits of what a policy may ask for.
const (
	longestKey     = 40 // that is shown in an error, if nobody knows it
	maxHookTimeout = 60 * time.Second
	maxShimTimeout = 10 * time.Minute
)

// decoder reads a tree into a layer. The first error ends it.
type decoder struct {
	prefix string // of the keys in errors: "profile.ci."
	layer  *layer
	err    error
}

func (d *decoder) fail(at Position, key, what string) {
	if d.err == nil {
		d.err = &Error{At: at, Key: d.prefix + key, What: what}
	}
}

func (d *decoder) is(v *value, k kind, key string) bool {
	if v.kind != k {
		d.fail(v.at, key, "has to be "+k.String()+", not "+v.kind.String())
	}
	return d.err == nil && v.kind == k
}

// unknown says what is wrong with a key that its section does not have: misspelt, or at home elsewhere.
func (d *decoder) unknown(e *entry, section string) {
	dotted := e.name
	if section != "" {
		dotted = section + "." + e.name
	}
	what := "unknown key; "
	// Who pastes a token where a name should stand must not find it in a log.
	if _, secret := builtin.Shape("TOKEN", e.name); secret || len(e.name) > longestKey {
		dotted = section
	}
	var own []string
	for i := range sections {
		if sections[i].name == section {
			own = sections[i].keys
		}
	}
	if section == "" && d.prefix != "" {
		own = append([]string{"match"}, own...)
	}
	// A name given as a key is the other common mistake, so the key itself is shown only when it is spelt like one.
	if near := nearest(strings.ToLower(e.name), own); near != "" {
		d.fail(e.at, dotted, what+"did you mean "+near+"?")
		return
	}
	for i := range sections {
		s := &sections[i]
		if s.name == section || !slices.Contains(s.keys, e.name) {
			continue
		}
		where := "belongs to [" + s.name + "]"
		switch s.name {
		case "":
			where = "belongs at the top of the file, before the first [section]"
		case "spawn.rule", "spawn.trust", "hook":
			where = "belongs to [[" + s.name + "]]"
		case "profile":
			where = "belongs to [profile.NAME]"
		case "match":
			where = "belongs to [profile.NAME.match]"
		}
		d.fail(e.at, dotted, what+"it "+where)
		return
	}
	for i := range sections {
		if near := nearest(strings.ToLower(e.name), sections[i].keys); near != "" && len(e.name) > 4 {
			home := near
			if sections[i].name != "" {
				home = sections[i].name + "." + near
			}
			d.fail(e.at, dotted, what+"did you mean "+home+"?")
			return
		}
	}
	d.fail(e.at, dotted, what+"the keys here are "+strings.Join(own, ", "))
}

// top reads the keys that a file and a profile share.
func (d *decoder) top(table *value) {
	l := d.layer
	for _, e := range table.keys {
		if d.err != nil {
			return
		}
		v := e.value
		switch e.name {
		case "mode":
			if text := d.oneOf(v, "mode", string(ModeEnforce), string(ModeObserve), string(ModeOff)); d.err == nil {
				l.mode = scalar[Mode]{Mode(text), v.at}
			}
		case "inherit":
			l.inherit = scalar[string]{d.oneOf(v, "inherit", "all", "core", "none"), v.at}
		case "deny":
			l.deny = d.patterns(v, "deny")
		case "allow":
			l.allow = d.patterns(v, "allow")
		case "locked":
			l.locked = d.patterns(v, "locked")
		case "unset":
			for _, i := range d.patterns(v, "unset") {
				l.changes = append(l.changes, change{name: i.text, unset: true, at: i.at})
			}
		case "secrets":
			l.secrets = d.secretSources(v)
		case "time_zone":
			if d.is(v, kindString, "time_zone") {
				if err := checkZone(v.text); err != "" {
					d.fail(v.at, "time_zone", err)
				}
				l.timeZone = scalar[string]{v.text, v.at}
			}
		case "strict":
			l.strict = d.boolean(v, "strict")
		case "overrides":
			l.overrides = d.overrides(v)
		case "runtimes":
			l.runtimes = d.list(v, "runtimes")
		case "shim":
			l.shim = d.path(v, "shim")
		case "groups":
			d.groups(v)
		case "set":
			l.changes = append(l.changes, d.pairs(v, "set", true)...)
		case "placeholder":
			l.placeholders = d.pairs(v, "placeholder", false)
		case "agent":
			d.table(v, "agent", func(e *entry) bool {
				switch e.name {
				case "keep":
					l.keep = d.patterns(e.value, "agent.keep")
				case "presets":
					l.presets = d.list(e.value, "agent.presets")
				default:
					return false
				}
				return true
			})
		case "spawn":
			d.spawn(v)
		case "exec":
			d.table(v, "exec", func(e *entry) bool {
				switch e.name {
				case "allow":
					l.execAllow = d.patterns(e.value, "exec.allow")
				case "unknown":
					l.execUnknown = scalar[string]{d.oneOf(e.value, "exec.unknown", "pass", "scrub"), e.value.at}
				default:
					return false
				}
				return true
			})
		case "harden":
			d.harden(v)
		case "hook":
			d.hooks(v)
		case "redact":
			d.table(v, "redact", func(e *entry) bool {
				switch e.name {
				case "forms":
					l.redactForms = scalar[[]string]{texts(d.choices(e.value, "redact.forms", redact.FormNames())), e.value.at}
				case "output":
					l.redactOutput = d.boolean(e.value, "redact.output")
				default:
					return false
				}
				return true
			})
		case "audit":
			d.table(v, "audit", func(e *entry) bool {
				switch e.name {
				case "file":
					l.auditFile = d.path(e.value, "audit.file")
				case "metrics":
					l.auditMetrics = d.path(e.value, "audit.metrics")
				default:
					return false
				}
				return true
			})
		case "nri":
			d.table(v, "nri", func(e *entry) bool {
				switch e.name {
				case "namespaces":
					l.nriNamespaces = d.globs(e.value, "nri.namespaces")
				case "selector":
					d.table(e.value, "nri.selector", func(e *entry) bool {
						if d.is(e.value, kindString, "nri.selector."+e.name) {
							l.nriSelector = append(l.nriSelector, change{name: e.name, value: e.value.text, at: e.at})
						}
						return true
					})
				default:
					return false
				}
				return true
			})
		default:
			d.unknown(e, "")
		}
	}
}

// table hands each key of a table to a function, which says whether it knows the key.
func (d *decoder) table(v *value, section string, each func(*entry) bool) {
	if !d.is(v, kindTable, section) {
		return
	}
	for _, e := range v.keys {
		if !each(e) {
			d.unknown(e, section)
		}
		if d.err != nil {
			return
		}
	}
}

// tables does the same for a [[list of tables]]; done is called after each with the place where it begins.
func (d *decoder) tables(v *value, section string, each func(*entry) bool, done func(Position)) {
	if v.kind != kindArray {
		d.fail(v.at, section, "has to be written as [["+section+"]]")
		return
	}
	for _, one := range v.items {
		if one.kind != kindTable {
			d.fail(one.at, section, "has to be written as [["+section+"]]")
			return
		}
		d.table(one, section, each)
		if d.err != nil {
			return
		}
		done(one.at)
	}
}

func (d *decoder) boolean(v *value, key string) scalar[bool] {
	d.is(v, kindBool, key)
	return scalar[bool]{v.truth, v.at}
}

func (d *decoder) text(v *value, key string) string {
	if d.is(v, kindString, key) && v.text == "" {
		d.fail(v.at, key, "is empty; write a value or remove the key")
	}
	return v.text
}

func (d *decoder) path(v *value, key string) scalar[string] {
	text := d.text(v, key)
	if d.err == nil && !absolute(text) {
		d.fail(v.at, key, "has to be an absolute path")
	}
	return scalar[string]{text, v.at}
}

func (d *decoder) oneOf(v *value, key string, choices ...string) string {
	if d.is(v, kindString, key) && !slices.Contains(choices, v.text) {
		d.fail(v.at, key, "has to be one of "+strings.Join(choices, ", "))
	}
	return v.text
}

// list reads a list of strings; a single string stands for a list of one. Entries are neither empty nor padded.
func (d *decoder) list(v *value, key string) []item {
	if v.kind == kindString {
		v = &value{kind: kindArray, at: v.at, items: []*value{v}}
	}
	if v.kind != kindArray {
		d.fail(v.at, key, "has to be a list of strings, not "+v.kind.String())
		return nil
	}
	items := make([]item, 0, len(v.items))
	for _, one := range v.items {
		if !d.is(one, kindString, key) {
			return nil
		}
		switch {
		case strings.TrimSpace(one.text) == "":
			d.fail(one.at, key, "an entry is empty; remove it")
		case strings.TrimSpace(one.text) != one.text:
			d.fail(one.at, key, "an entry begins or ends with white space; remove the space")
		case strings.IndexByte(one.text, 0) >= 0:
			d.fail(one.at, key, "an entry holds a NUL character; remove it")
		}
		items = append(items, item{text: one.text, at: one.at})
	}
	return items
}

func (d *decoder) choices(v *value, key string, choices []string) []item {
	items := d.list(v, key)
	for _, i := range items {
		if !slices.Contains(choices, i.text) {
			d.fail(i.at, key, "an entry is none of "+strings.Join(choices, ", "))
		}
	}
	return items
}

// patterns reads a list of names and globs of variables.
func (d *decoder) patterns(v *value, key string) []item {
	items := d.list(v, key)
	for _, i := range items {
		if what := checkPattern(i.text); what != "" {
			d.fail(i.at, key, what)
		}
	}
	return items
}

// overrides reads what a container may ask for: whole doors, or variables by name or glob.
func (d *decoder) overrides(v *value) []item {
	items := d.list(v, "overrides")
	for _, i := range items {
		if what := checkPattern(i.text); what != "" && !isDoor(i.text) {
			d.fail(i.at, "overrides", what+"; besides variables there are "+strings.Join(doors[:], ", "))
		}
	}
	return items
}

// globs reads a list of globs over anything else.
func (d *decoder) globs(v *value, key string) []item {
	items := d.list(v, key)
	for _, i := range items {
		if what := checkGlob(i.text); what != "" {
			d.fail(i.at, key, what)
		}
	}
	return items
}

// pairs reads a table NAME = "value"; placeholders are kept literal, [set] may refer to the container.
func (d *decoder) pairs(v *value, section string, expand bool) []change {
	var pairs []change
	d.table(v, section, func(e *entry) bool {
		key := section + "." + e.name
		switch {
		case !ValidName(e.name):
			d.fail(e.at, section, "a key is not the name of a variable ([A-Za-z_][A-Za-z0-9_]*); correct it")
		case isControl(e.name):
			d.fail(e.at, key, "names that begin with "+controlPrefix+" are envscrub's own; choose another")
		case !d.is(e.value, kindString, key):
		case strings.IndexByte(e.value.text, 0) >= 0:
			d.fail(e.value.at, key, "the value holds a NUL character; remove it")
		case expand:
			if what := checkTemplate(e.value.text); what != "" {
				d.fail(e.value.at, key, what)
			}
		}
		pairs = append(pairs, change{name: e.name, value: e.value.text, at: e.at})
		return true
	})
	return pairs
}

func (d *decoder) groups(v *value) {
	d.table(v, "groups", func(e *entry) bool {
		names := groupNames()
		if !slices.Contains(names, e.name) {
			what := "there is no such group; `envscrub check --list` lists them"
			if near := nearest(strings.ToLower(e.name), names); near != "" {
				what = "there is no such group; did you mean " + near + "?"
			}
			d.fail(e.at, "groups."+e.name, what)
		} else if d.is(e.value, kindBool, "groups."+e.name) {
			d.layer.groups = append(d.layer.groups, group{e.name, e.value.truth, e.at})
		}
		return true
	})
}

func (d *decoder) spawn(v *value) {
	d.table(v, "spawn", func(e *entry) bool {
		switch e.name {
		case "rule":
			var command, allow []item
			d.tables(e.value, "spawn.rule", func(e *entry) bool {
				switch e.name {
				case "command":
					command = d.globs(e.value, "spawn.rule.command")
				case "allow":
					allow = d.patterns(e.value, "spawn.rule.allow")
				default:
					return false
				}
				return true
			}, func(at Position) {
				if len(command) == 0 || len(allow) == 0 {
					d.fail(at, "spawn.rule", "needs both command and allow; add the missing one")
				}
				for _, c := range command {
					d.layer.rules = append(d.layer.rules, SpawnRule{Command: c.text, Allow: texts(allow), At: c.at})
				}
				command, allow = nil, nil
			})
		case "trust":
			var command []item
			d.tables(e.value, "spawn.trust", func(e *entry) bool {
				if e.name == "command" {
					command = d.globs(e.value, "spawn.trust.command")
				}
				return e.name == "command"
			}, func(at Position) {
				if len(command) == 0 {
					d.fail(at, "spawn.trust", "needs command; add it")
				}
				d.layer.trust = append(d.layer.trust, command...)
				command = nil
			})
		default:
			return false
		}
		return true
	})
}

func (d *decoder) harden(v *value) {
	l := d.layer
	d.table(v, "harden", func(e *entry) bool {
		v, key := e.value, "harden."+e.name
		switch e.name {
		case "dumpable":
			l.dumpable = scalar[string]{d.oneOf(v, key, "require", "prefer", "off"), v.at}
		case "no_new_privileges":
			l.noNewPrivileges = d.boolean(v, key)
		case "core_limit":
			if d.is(v, kindInteger, key) && v.number < 0 {
				d.fail(v.at, key, "has to be 0 or more bytes")
			}
			l.coreLimit = scalar[uint64]{uint64(v.number), v.at}
		case "drop_sys_admin":
			l.dropSysAdmin = d.boolean(v, key)
		case "privileged":
			l.privileged = scalar[string]{d.oneOf(v, key, "allow", "refuse"), v.at}
		case "diagnostics":
			l.diagnostics = scalar[[]string]{texts(d.choices(v, key, diagnostics)), v.at}
		case "shim_timeout":
			l.shimTimeout = scalar[time.Duration]{d.duration(v, key, maxShimTimeout), v.at}
		default:
			return false
		}
		return true
	})
}

func (d *decoder) hooks(v *value) {
	var command []item
	timeout := defaultHookTimeout
	d.tables(v, "hook", func(e *entry) bool {
		switch e.name {
		case "command":
			command = d.list(e.value, "hook.command")
			if d.err == nil && (len(command) == 0 || !absolute(command[0].text)) {
				d.fail(e.at, "hook.command", "has to begin with the absolute path of a program")
			}
		case "timeout":
			timeout = d.duration(e.value, "hook.timeout", maxHookTimeout)
		default:
			return false
		}
		return true
	}, func(at Position) {
		if len(command) == 0 {
			d.fail(at, "hook", "needs command; add it")
			return
		}
		d.layer.hooks = append(d.layer.hooks, HookProgram{Command: texts(command), Timeout: timeout, At: at})
		command, timeout = nil, defaultHookTimeout
	})
}

// duration reads "1m30s" or a number of seconds.
func (d *decoder) duration(v *value, key string, longest time.Duration) time.Duration {
	var t time.Duration
	switch v.kind {
	case kindInteger:
		if v.number > 0 && v.number <= int64(longest/time.Second) {
			t = time.Duration(v.number) * time.Second
		}
	case kindString:
		// The error would repeat the text.
		t, _ = time.ParseDuration(v.text)
	}
	if t <= 0 || t > longest {
		d.fail(v.at, key, `has to be a time such as "2s", more than none and at most `+longest.String())
	}
	return t
}

// profiles reads the [profile.NAME] tables of a file.
func (d *decoder) profiles(v *value) []profile {
	var profiles []profile
	if !d.is(v, kindTable, "profile") {
		return nil
	}
	for _, e := range v.keys {
		p := profile{name: e.name, at: e.at}
		inner := decoder{prefix: "profile." + e.name + ".", layer: &p.layer}
		if strings.TrimSpace(e.name) == "" || strings.ContainsAny(e.name, " \t\n\x00,") {
			d.fail(e.at, "profile", "a profile's name is empty or holds white space or a comma; rename it")
			return nil
		}
		if !d.is(e.value, kindTable, "profile."+e.name) {
			return nil
		}
		rest := value{at: e.value.at}
		for _, key := range e.value.keys {
			switch key.name {
			case "match":
				inner.match(key.value, &p)
			case "profile":
				inner.fail(key.at, "profile", "a profile cannot hold profiles; move it out")
			default:
				rest.keys = append(rest.keys, key)
			}
		}
		inner.top(&rest)
		if d.err = inner.err; d.err != nil {
			return nil
		}
		profiles = append(profiles, p)
	}
	return profiles
}

func (d *decoder) match(v *value, p *profile) {
	d.table(v, "match", func(e *entry) bool {
		switch e.name {
		case "image":
			p.image = d.globs(e.value, "match.image")
		case "command":
			p.command = d.globs(e.value, "match.command")
		case "user":
			p.user = d.globs(e.value, "match.user")
		case "annotation":
			d.table(e.value, "match.annotation", func(e *entry) bool {
				p.annotations = append(p.annotations, annotation{e.name, d.globs(e.value, "match.annotation."+e.name)})
				return true
			})
		default:
			return false
		}
		if d.err == nil && e.value.kind != kindTable && len(e.value.items) == 0 && e.value.text == "" {
			d.fail(e.value.at, "match."+e.name, "is empty, so nothing could match; name something or remove the key")
		}
		return true
	})
	p.match = len(p.image)+len(p.command)+len(p.user)+len(p.annotations) > 0
	if d.err == nil && !p.match {
		d.fail(v.at, "match", "is empty; give annotation, image, command or user, or remove it for a profile that is only asked for by name")
	}
}

// decodeFile reads one file: its own layer, and its profiles in the order of the file.
func decodeFile(root *value) (layer, []profile, error) {
	var l layer
	d := decoder{layer: &l}
	rest := value{at: root.at}
	var profiles *value
	for _, e := range root.keys {
		if e.name == "profile" {
			profiles = e.value
			continue
		}
		rest.keys = append(rest.keys, e)
	}
	d.top(&rest)
	var list []profile
	if profiles != nil && d.err == nil {
		list = d.profiles(profiles)
	}
	return l, list, d.err
}
