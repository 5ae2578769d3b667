package doc

import (
	"slices"
	"strings"
)

// AllSets are the sets of process.capabilities: bounding, effective, inheritable,
// permitted, ambient.
var AllSets = []int{0, 1, 2, 3, 4}

// Has tells whether a capability is in one of the sets.
func (f *File) Has(capability string) bool {
	return slices.ContainsFunc(f.caps[:], func(set []string) bool { return holds(set, capability) })
}

// HasCapabilities tells whether there are sets at all.
func (f *File) HasCapabilities() bool { return f.capsAt.present() }

func holds(set []string, capability string) bool {
	return slices.ContainsFunc(set, func(c string) bool { return strings.EqualFold(c, capability) })
}

// AddCapability puts a capability into every set and returns those that did not
// have it. Without sets nothing happens.
func (f *File) AddCapability(name string) (sets []int) {
	if !f.HasCapabilities() {
		return nil
	}
	for _, i := range AllSets {
		if !holds(f.caps[i], name) {
			f.setCapabilities(i, append(slices.Clip(f.caps[i]), name), append(f.rawCapabilities(i), Quote(name)))
			sets = append(sets, i)
		}
	}
	return sets
}

// DropCapability takes a capability out of some sets.
func (f *File) DropCapability(name string, sets ...int) {
	for _, i := range sets {
		f.keepCapabilities(i, func(c string) bool { return !strings.EqualFold(c, name) })
	}
}

// DropCapabilities takes capabilities out of every set and returns those that
// were in one. A capability that is written as a number, which libcap takes and no
// engine writes, goes too: what it grants is not to be known from its name.
func (f *File) DropCapabilities(names []string) (dropped []string) {
	for _, i := range AllSets {
		f.keepCapabilities(i, func(c string) bool {
			if !holds(names, c) && (c == "" || c[0] < '0' || '9' < c[0]) {
				return true
			}
			if c = strings.ToUpper(c); !slices.Contains(dropped, c) {
				dropped = append(dropped, c)
			}
			return false
		})
	}
	return dropped
}

func (f *File) keepCapabilities(i int, keep func(c string) bool) {
	var kept, raw []string
	was := f.rawCapabilities(i)
	for k, c := range f.caps[i] {
		if keep(c) {
			kept, raw = append(kept, c), append(raw, was[k])
		}
	}
	if len(kept) < len(f.caps[i]) {
		f.setCapabilities(i, kept, raw)
	}
}

// rawCapabilities are the members of a set as they are to be written.
func (f *File) rawCapabilities(i int) []string {
	if f.edits[fieldCaps+field(i)].set {
		return slices.Clip(f.capsRaw[i])
	}
	var raw []string
	for _, at := range f.capLists[i].items {
		raw = append(raw, f.src[at.from:at.to])
	}
	return raw
}

func (f *File) setCapabilities(i int, set, raw []string) {
	f.caps[i], f.capsRaw[i] = set, raw
	f.put(fieldCaps+field(i), &f.capsAt, capKeys[i], f.capsAt.vals[i], f.capLists[i].render(raw))
}
