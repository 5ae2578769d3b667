package policy

import (
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/envscrub/envscrub/policy/builtin"
)

// cause is the row of the table that decided.
type cause uint8

const (
	byDefault cause = iota
	byControl
	byRule       // item.rule names it
	byClassifier // item.text
	bySecret     // item.owner is the policy's secret
	byAlias      // item.owner is the variable whose value this is, or has in it
	byShape      // item.text is the kind
	byInherit
	byExplicit
	byTrust
	byGrant
)

// work is an environment that is being decided on.
type work struct {
	env      []string
	verdicts []verdict
	texts    []string
}

func (w *work) name(i int32) string { return w.env[i][:w.verdicts[i].equals] }

func (w *work) value(i int32) string { return w.env[i][w.verdicts[i].equals+1:] }

// verdict is the work on one variable. There is one for each, so it is kept small, and without pointers, which the
// garbage collector would follow.
type verdict struct {
	hash    uint64 // of the name
	text    int32  // in work.texts: the label of a built-in rule, or the kind of a shape
	equals  int32  // where the '=' is
	earlier int32  // the earlier duplicate, +1
	rule    int32  // the deciding one
	unsetBy int32
	keepBy  int32
	owner   int32 // whose value it is or has in it
	holds   int32 // the owner of a value that a variable holds and is kept all the same; 0 is none
	cause   cause

	small    bool // the name has small letters
	removed  bool
	pending  bool // rules 4 to 7 still to come
	allowed  bool // rule 2
	explicit bool
	shadowed bool // a later duplicate counts
	shaped   bool // rule 6, if rules 4 and 5 do not decide before it
	core     bool
	keep     bool
	held     bool
	unset    bool
	whole    bool // an alias by equality
	neutral  bool // one of a pair of git's, of which the other goes
}

// Decide is the decision at the container boundary. An entry without '=', without a name, or with a NUL byte is an
// error, as it is for the runtime.
func (v *View) Decide(env []string) (*Decision, error) {
	return v.decide(env, nil, "", false)
}

// DecideExec is the decision on a process that is started in a running container. A variable that changed (the
// container itself did not have it, or had another value) is explicit and passes, unless its value is that of a
// variable taken away or its name is `locked`. Without a record to tell by, changed is nil and `exec.unknown` counts.
// The command is args[0], resolved if the caller can: [[spawn.rule]] and [[spawn.trust]] hold for it.
func (v *View) DecideExec(env []string, changed func(name, value string) bool, command string) (*Decision, error) {
	if changed == nil {
		pass := v.Exec.Unknown == "pass"
		changed = func(string, string) bool { return pass }
	}
	return v.decide(env, changed, command, true)
}

// cut splits an entry.
func cut(entry string) (name, value string, ok bool) {
	i := equals(entry)
	if i <= 0 {
		return "", "", false
	}
	return entry[:i], entry[i+1:], true
}

// equals finds where the name of an entry ends; 0 or less if the entry is malformed. Windows keeps the directories of
// its drives in variables whose name begins with '='.
func equals(entry string) int {
	from := 0
	if runtime.GOOS == "windows" && strings.HasPrefix(entry, "=") {
		from = 1
	}
	i := strings.IndexByte(entry[from:], '=')
	if i <= 0 || strings.IndexByte(entry, 0) >= 0 {
		return -1
	}
	return from + i
}

func malformed(i int, entry string) error {
	what := "has no '='"
	switch {
	case strings.IndexByte(entry, 0) >= 0:
		what = "holds a NUL byte"
	case strings.HasPrefix(entry, "="):
		what = "has no name"
	}
	return &Error{Key: "environment", What: "entry " + strconv.Itoa(i+1) + " " + what + "; correct what sets it"}
}

func (v *View) decide(env []string, changed func(name, value string) bool, command string, exec bool) (*Decision, error) {
	d := &Decision{view: v}
	w := &work{env: env, verdicts: make([]verdict, len(env))}
	if err := w.split(); err != nil {
		return nil, err
	}
	if v.Mode == ModeOff {
		d.Variables = make([]Variable, len(env))
		for i := range d.Variables {
			d.Variables[i] = Variable{Name: w.name(int32(i)), Fate: FateKept, Rule: "mode off", At: v.layer.mode.at}
		}
		d.container, d.agent = env, env
		return d, nil
	}

	var grants *matcher
	trusted := false
	if exec {
		grants, trusted = v.grants(command)
	}
	needles := withoutNames(w, v.byName(w, grants, trusted, changed))
	for i := range v.layer.known {
		if r := reachOf(v.layer.known[i].value); r != reachNone {
			// What the operator calls a secret is one, also when it looks like a path.
			needles = append(needles, needle{text: v.layer.known[i].value, owner: int32(-1 - i), reach: max(r, reachBounded)})
		} else if len(v.layer.known[i].value) >= minProtected {
			needles = append(needles, needle{text: v.layer.known[i].value, owner: int32(-1 - i), reach: reachWhole})
		}
	}
	v.byValue(w, newHaystack(needles))
	v.byInherit(w)
	gitConfig(w)
	for i := range needles {
		d.secrets = appendSecret(d.secrets, &needles[i])
	}
	v.build(d, w, grants, exec)
	return d, nil
}

// split cuts the entries and folds exact duplicates: the last one wins, in its place, as in runc.
func (w *work) split() error {
	env := w.env
	var few [128]int32
	slots := few[:]
	if 2*len(env) > len(few) {
		size := 2 * len(few)
		for size < 2*len(env) {
			size *= 2
		}
		slots = make([]int32, size)
	}
	mask := uint64(len(slots) - 1)
	for i, entry := range env {
		at := equals(entry)
		if at <= 0 {
			return malformed(i, entry)
		}
		x := &w.verdicts[i]
		x.equals = int32(at)
		x.hash, x.small = hashName(entry[:at])
		slot := x.hash & mask
		for ; slots[slot] != 0; slot = (slot + 1) & mask {
			if before := &w.verdicts[slots[slot]-1]; before.hash == x.hash && w.name(slots[slot]-1) == entry[:at] {
				before.shadowed = true
				x.earlier = slots[slot]
				break
			}
		}
		slots[slot] = int32(i) + 1
	}
	return nil
}

// byName goes through rules 1 to 3, and looks for shapes (rule 6). It returns the values that rule 5 looks for.
func (v *View) byName(w *work, grants *matcher, trusted bool, changed func(name, value string) bool) []needle {
	// One variable in ten is taken away, as a rule: room for those, so that the list is not copied while it grows.
	few := len(w.env)/8 + 4
	needles := make([]needle, 0, few)
	w.texts = make([]string, 0, few)
	var labels labels
	var h, g hit
	for i, entry := range w.env {
		x := &w.verdicts[i]
		if x.shadowed {
			continue
		}
		name, value := entry[:x.equals], entry[x.equals+1:]
		if isControl(name) {
			x.removed, x.cause = true, byControl
			continue
		}
		v.matcher.lookup(name, x.hash, x.small, &h)
		x.explicit = changed != nil && changed(name, value) && !h.has(classLocked)
		x.keep, x.held, x.unset = h.has(classKeep), h.has(classHeld), h.has(classUnset) && !x.explicit
		if x.unset {
			x.unsetBy = h.rule(classUnset)
		}
		if x.keep {
			x.keepBy = h.rule(classKeep)
		}
		if grants != nil {
			grants.lookup(name, x.hash, x.small, &g)
		}
		switch {
		case grants != nil && g.has(classGrant):
			x.cause, x.rule = byGrant, g.rule(classGrant)
			continue
		case trusted && x.keep:
			x.cause = byTrust
			continue
		case x.explicit:
			x.cause, x.pending = byExplicit, true
			continue
		case h.isExact(classDeny):
			x.removed, x.cause, x.rule = true, byRule, h.exact[classDeny]-1
		case h.isExact(classBuiltin):
			x.removed, x.cause, x.rule = true, byRule, h.exact[classBuiltin]-1
		case h.has(classAllow):
			x.cause, x.rule, x.allowed = byRule, h.rule(classAllow), true
			continue
		case h.has(classDeny):
			x.removed, x.cause, x.rule = true, byRule, h.rule(classDeny)
		case vital(name):
			x.pending = true
			x.core, x.rule = h.has(classCore), h.rule(classCore)
		default:
			if group, text, ok := v.classifier.Classify(name, value); ok {
				x.removed, x.cause, x.text = true, byClassifier, w.text(labels.classified(group, text))
				break
			}
			x.pending = true
			x.core, x.rule = h.has(classCore), h.rule(classCore)
			if v.shapes {
				if kind, ok := builtin.Shape(name, value); ok {
					x.shaped, x.text = true, w.text(kind)
				}
			}
		}
		if x.removed || x.shaped {
			needles = w.needles(needles, int32(i))
		}
	}
	return needles
}

func (w *work) text(text string) int32 {
	w.texts = append(w.texts, text)
	return int32(len(w.texts) - 1)
}

// withoutNames leaves out the words that also stand as the name of a user, a database or a host: where wordpress is user,
// database and password at once, the password is no secret, and without the others the program fails.
func withoutNames(w *work, needles []needle) []needle {
	if !slices.ContainsFunc(needles, func(n needle) bool { return n.reach == reachBounded }) {
		return needles
	}
	public := make(map[string]bool)
	for i := range w.verdicts {
		if x := &w.verdicts[i]; x.pending && !x.explicit && !x.shaped && saysWho(w.name(int32(i))) {
			public[w.value(int32(i))] = true
		}
	}
	return slices.DeleteFunc(needles, func(n needle) bool { return n.reach == reachBounded && public[n.text] })
}

// saysWho says whether a variable holds, by the end of its name, who or where rather than what opens.
func saysWho(name string) bool {
	for _, end := range [...]string{"USER", "USERNAME", "NAME", "DB", "DATABASE", "SCHEMA", "HOST"} {
		if len(name) >= len(end) && sameFold(name[len(name)-len(end):], end) {
			return true
		}
	}
	return false
}

// needles adds the values of a variable that is taken away, those of its earlier duplicates and the passwords of
// URLs among them.
func (w *work) needles(needles []needle, owner int32) []needle {
	rank := uint8(1)
	if w.verdicts[owner].shaped {
		rank = 2
	}
	for i := owner; ; {
		value := w.value(i)
		if r := reachOf(value); r != reachNone {
			needles = append(needles, needle{text: value, owner: owner, reach: r, rank: rank})
			written, decoded := passwordOf(value)
			for _, password := range []string{written, decoded} {
				if r := reachOf(password); r != reachNone {
					needles = append(needles, needle{text: password, owner: owner, reach: r, rank: rank + 2})
				}
			}
		}
		if i = w.verdicts[i].earlier - 1; i < 0 {
			return needles
		}
	}
}

// byValue goes through rules 4, 5 and 6 for what the names have not decided.
func (v *View) byValue(w *work, h *haystack) {
	self := int32(0)
	shaped := false
	// A variable is no alias of itself. One that has a shape of its own is called an alias only of what stands
	// higher in the table.
	accept := func(n *needle) bool {
		return n.owner < 0 || n.owner != self && !(shaped && w.verdicts[n.owner].shaped)
	}
	for i := range w.verdicts {
		x := &w.verdicts[i]
		if x.shadowed || !x.pending && !x.allowed {
			continue
		}
		self, shaped = int32(i), x.shaped
		at, whole := -1, false
		if h != nil {
			at, whole = h.find(w.value(self), accept)
		}
		if at < 0 {
			if shaped {
				x.removed, x.cause = true, byShape
			}
			continue
		}
		owner := h.needles[at].owner
		if x.allowed || vital(w.name(self)) {
			x.holds = owner
			if owner >= 0 {
				x.holds = owner + 1
			}
			continue
		}
		x.removed, x.owner, x.whole, x.cause = true, owner, whole, byAlias
		if owner < 0 {
			x.cause = bySecret
		}
	}
}

// byInherit is rule 7.
func (v *View) byInherit(w *work) {
	inherit := v.layer.inherit.value
	if inherit != "core" && inherit != "none" {
		return
	}
	for i := range w.verdicts {
		x := &w.verdicts[i]
		if !x.pending || x.removed || x.explicit {
			continue
		}
		switch inherit {
		case "core":
			if x.core {
				x.cause = byRule
			} else {
				x.removed, x.cause = true, byInherit
			}
		case "none":
			x.removed, x.cause = true, byInherit
		}
	}
}

// Git reads GIT_CONFIG_COUNT pairs of GIT_CONFIG_KEY_<n> and GIT_CONFIG_VALUE_<n>, and refuses to run when one is missing.
const (
	gitCount = "GIT_CONFIG_COUNT"
	gitKey   = "GIT_CONFIG_KEY_"
	gitValue = "GIT_CONFIG_VALUE_"
)

// gitConfig finds the pairs of which one goes: both get a content that says nothing to git, so that it still runs and the
// other pairs still count.
func gitConfig(w *work) {
	var gone []string
	counted := false
	for i, entry := range w.env {
		if x := &w.verdicts[i]; strings.HasPrefix(entry, "GIT_CONFIG_") && !x.shadowed {
			counted = counted || w.name(int32(i)) == gitCount && !x.removed && !x.unset
			if n := pairOf(w.name(int32(i))); n != "" && x.removed {
				gone = append(gone, n)
			}
		}
	}
	if !counted || gone == nil {
		return
	}
	for i, entry := range w.env {
		if x := &w.verdicts[i]; strings.HasPrefix(entry, "GIT_CONFIG_") {
			n := pairOf(w.name(int32(i)))
			for _, g := range gone {
				x.neutral = x.neutral || n == g
			}
		}
	}
}

// pairOf gives the number of a variable that is half of a pair, or "".
func pairOf(name string) string {
	if n, ok := strings.CutPrefix(name, gitKey); ok {
		return n
	}
	n, _ := strings.CutPrefix(name, gitValue)
	if n == name {
		return ""
	}
	return n
}

// neutralised gives an entry of git's that says nothing.
func neutralised(name string) string {
	if strings.HasPrefix(name, gitKey) {
		return name + "=envscrub.removed"
	}
	return name + "="
}

// vital names are those without which nothing starts. The built-in judgements and rules 4 to 6 leave them: a value that
// stands in PATH is known to everybody.
func vital(name string) bool {
	if runtime.GOOS == "windows" { // where it is Path
		name = fold(name)
	}
	switch name {
	case "PATH", "HOME", "PWD", "OLDPWD", "SHELL", "USER", "LOGNAME", "HOSTNAME", "TERM", "LANG", "LC_ALL", "TMPDIR", "TZ",
		"LD_LIBRARY_PATH", "SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "HOMEPATH", "HOMEDRIVE", "WINDIR":
		return true
	}
	return false
}

// grants compiles what a command gets beyond others at an exec, and says whether it still is the agent.
func (v *View) grants(command string) (*matcher, bool) {
	var rules []rule
	add := func(text string, at Position) {
		rules = append(rules, rule{class: classGrant, exact: !isGlob(text), text: text, at: at})
	}
	for _, i := range v.layer.execAllow {
		add(i.text, i.at)
	}
	for _, r := range v.layer.rules {
		if commandMatches(r.Command, command) {
			for _, name := range r.Allow {
				add(name, r.At)
			}
		}
	}
	trusted := false
	for _, t := range v.layer.trust {
		trusted = trusted || commandMatches(t.text, command)
	}
	if rules == nil {
		return nil, trusted
	}
	return newMatcher(rules), trusted
}

func appendSecret(secrets []string, n *needle) []string {
	if n.reach <= reachWhole && n.owner >= 0 || n.text == "" {
		return secrets
	}
	return append(secrets, n.text)
}

// output collects the environments and the report.
type output struct {
	d     *Decision
	agent []string // differs from the container's from the first agent-only variable on
	split bool
}

func (o *output) both(entry string) {
	o.d.container = append(o.d.container, entry)
	if o.split {
		o.agent = append(o.agent, entry)
	}
}

func (o *output) agentOnly(entry string) {
	if !o.split {
		o.split = true
		o.agent = append(make([]string, 0, cap(o.d.container)), o.d.container...)
	}
	o.agent = append(o.agent, entry)
}

// build makes the environments and the report.
func (v *View) build(d *Decision, w *work, grants *matcher, exec bool) {
	observe := v.Mode == ModeObserve
	done := make([]bool, len(v.sets)+len(v.placeholders))
	d.Variables = make([]Variable, 0, len(w.env)+len(done))
	d.container = make([]string, 0, len(w.env)+len(done))
	o := output{d: d}
	for i, entry := range w.env {
		x := &w.verdicts[i]
		if x.shadowed {
			continue
		}
		name := entry[:x.equals]
		if x.cause == byDefault && !x.unset && !x.neutral && len(done) == 0 && x.holds == 0 {
			d.Variables = append(d.Variables, Variable{Name: name, Fate: FateKept, Rule: "default"}) // most of them
			o.both(entry)
			continue
		}
		d.Variables = append(d.Variables, Variable{Name: name, Fate: FateKept})
		out := &d.Variables[len(d.Variables)-1]
		v.explain(w, int32(i), grants, out)
		set, place := named(v.sets, name), named(v.placeholders, name)
		if set >= 0 {
			done[set] = true
		}
		if place >= 0 {
			done[len(v.sets)+place] = true
		}
		switch {
		case x.cause == byControl:
			out.Fate = FateRemoved
		case set >= 0 && (!x.explicit || x.removed):
			// The policy's own value takes the place of the container's.
			c := &v.sets[set]
			out.Fate, out.Rule, out.At, out.Note = FateSet, c.rule(v), c.at, ""
			entry = c.name + "=" + c.value
		case x.unset:
			out.Fate, out.Rule, out.At = FateUnset, "unset", v.matcher.rules[x.unsetBy].at
		case x.removed && x.keep && !exec:
			out.Note = "for the others: " + out.Rule
			if place >= 0 {
				out.Note = "for the others: placeholder"
			}
			out.Fate, out.Rule, out.At = FateAgent, v.label(x.keepBy), v.matcher.rules[x.keepBy].at
		case x.removed && place >= 0:
			c := &v.placeholders[place]
			out.Fate, out.Rule, out.At, out.Note = FateSet, "placeholder", c.at, "in place of: "+out.Rule
			entry = c.name + "=" + c.value
		case x.neutral:
			out.Fate, out.Rule, out.At, out.Note = FateSet, "git-config", Position{}, "in place of: "+out.Rule
			entry = neutralised(name)
		case x.removed:
			out.Fate = FateRemoved
		}
		switch {
		case observe:
			o.both(w.env[i])
		case out.Fate == FateKept || out.Fate == FateSet:
			o.both(entry)
		case out.Fate == FateAgent:
			o.agentOnly(entry)
			if place >= 0 {
				d.container = append(d.container, v.placeholders[place].name+"="+v.placeholders[place].value)
			}
		case x.held && x.removed && !exec && x.cause != byControl:
			d.held = append(d.held, entry)
		}
	}
	for j := range done {
		if done[j] {
			continue
		}
		c, text := &change{}, "placeholder"
		if j < len(v.sets) {
			c = &v.sets[j]
			text = c.rule(v)
		} else {
			c = &v.placeholders[j-len(v.sets)]
		}
		d.Variables = append(d.Variables, Variable{Name: c.name, Fate: FateSet, Rule: text, At: c.at})
		if !observe {
			o.both(c.name + "=" + c.value)
		}
	}
	d.agent = d.container
	if o.split {
		d.agent = o.agent
	}
}

// sameVariable says whether two names are one variable: HTTP_PROXY and http_proxy are two, except on Windows.
func sameVariable(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

// named finds a change by the variable that it is about.
func named(changes []change, name string) int {
	for i := range changes {
		if sameVariable(changes[i].name, name) {
			return i
		}
	}
	return -1
}

// rule says what sets a variable.
func (c *change) rule(v *View) string {
	if c.name == "TZ" && c.at == v.layer.timeZone.at {
		return "time_zone"
	}
	return "set"
}

// explain fills in the rule that decided.
func (v *View) explain(w *work, i int32, grants *matcher, out *Variable) {
	x := &w.verdicts[i]
	switch x.cause {
	case byDefault:
		out.Rule = "default"
	case byControl:
		out.Rule = "control"
	case byRule:
		out.Rule, out.At = v.label(x.rule), v.matcher.rules[x.rule].at
		if x.allowed && !v.matcher.rules[x.rule].exact {
			if group, text, ok := v.classifier.Classify(w.name(i), w.value(i)); ok {
				out.Note = "would go by " + classified(group, text)
			}
		}
	case byClassifier:
		out.Rule = w.texts[x.text]
	case bySecret:
		s := &v.layer.known[-1-x.owner]
		out.Rule, out.At, out.Note = "secret-value", s.at, "equals "+s.source
		if !x.whole {
			out.Note = "contains " + s.source
		}
	case byAlias:
		out.Rule = "alias of " + w.name(x.owner)
		if !x.whole {
			out.Note = "contains the value"
		}
	case byShape:
		out.Rule = "shape " + w.texts[x.text]
	case byInherit:
		out.Rule, out.At = "inherit "+v.layer.inherit.value, v.layer.inherit.at
	case byExplicit:
		out.Rule = "explicit"
	case byTrust:
		out.Rule = "trust"
	case byGrant:
		out.Rule, out.At = "grant", grants.rules[x.rule].at
	}
	switch {
	case x.holds > 0:
		out.Note = "holds the value of " + w.name(x.holds-1)
	case x.holds < 0:
		out.Note = "holds the value of " + v.layer.known[-1-x.holds].source
	}
}
