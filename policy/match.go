package policy

import (
	"math/bits"
	"strings"

	"github.com/gobwas/glob"
)

// class is what a rule on a name is for.
type class uint8

const (
	classDeny    class = iota // the policy's own deny
	classBuiltin              // exact names of the built-in groups
	classAllow
	classCore
	classKeep
	classLocked
	classUnset
	classGrant // [exec] allow and, for one command, the grants of [[spawn.rule]]
	classHeld  // what any [[spawn.rule]] grants
	classes
)

// rule is one name or glob with its place.
type rule struct {
	class  class
	exact  bool
	text   string // as written
	group  string // built-in group it belongs to
	preset string
	at     Position
}

// matcher answers, for a name, which rules of which classes it meets. Names and patterns are compared upper-cased.
type matcher struct {
	rules  []rule
	hashes []uint64 // of the exact rules
	next   []int32  // chains of rules in one bucket, +1
	heads  []int32  // buckets of exact rules, +1
	globs  []pattern
	last   [256]int32 // globs by the last byte that a match must have, +1
	first  [256]int32 // globs by the first byte, +1
	rest   []int32    // globs with neither
}

// pattern is a compiled glob. Nearly all are literals between stars, which need no more than this.
type pattern struct {
	rule   int32
	next   int32
	prefix string
	suffix string
	middle []string
	other  *glob.Pattern
}

func (p *pattern) match(name string) bool {
	if p.other != nil {
		return p.other.Match(name)
	}
	if len(name) < len(p.prefix)+len(p.suffix) || !strings.HasPrefix(name, p.prefix) || !strings.HasSuffix(name, p.suffix) {
		return false
	}
	if p.middle == nil {
		return true
	}
	name = name[len(p.prefix) : len(name)-len(p.suffix)]
	for _, part := range p.middle {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return true
}

// compileGlob compiles a glob that checkGlob has found good.
func compileGlob(text string) pattern {
	if strings.ContainsAny(text, oddGlob) {
		return pattern{other: glob.MustCompile(text)}
	}
	prefix, rest, _ := strings.Cut(text, "*")
	p := pattern{prefix: prefix}
	for {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			p.suffix = part
			return p
		}
		if part != "" {
			p.middle = append(p.middle, part)
		}
		rest = more
	}
}

// newMatcher builds the matcher. Rules of one class are tried in their order.
func newMatcher(rules []rule) *matcher {
	exact := 0
	for i := range rules {
		if rules[i].exact {
			exact++
		}
	}
	size := 16
	for size < 2*exact {
		size *= 2
	}
	m := &matcher{rules: rules, hashes: make([]uint64, len(rules)), next: make([]int32, len(rules)), heads: make([]int32, size)}
	// Backwards, so that the chains run forwards.
	for i := len(rules) - 1; i >= 0; i-- {
		r := &rules[i]
		if r.exact {
			h, _ := hashName(r.text)
			bucket := &m.heads[h&uint64(size-1)]
			m.hashes[i], m.next[i], *bucket = h, *bucket, int32(i)+1
			continue
		}
		p := compileGlob(fold(r.text))
		p.rule = int32(i)
		m.globs = append(m.globs, p)
		g := int32(len(m.globs))
		switch {
		case p.suffix != "":
			head := &m.last[p.suffix[len(p.suffix)-1]]
			m.globs[g-1].next, *head = *head, g
		case p.prefix != "":
			head := &m.first[p.prefix[0]]
			m.globs[g-1].next, *head = *head, g
		default:
			m.rest = append(m.rest, g-1)
		}
	}
	return m
}

// hit is what the matcher found: the first exact rule and the first glob of each class, +1.
type hit struct {
	mask  uint16 // classes met
	exact [classes]int32
	glob  [classes]int32
}

// rule gives the rule that stands for a class: the exact one if there is one.
func (h *hit) rule(c class) int32 {
	if h.exact[c] != 0 {
		return h.exact[c] - 1
	}
	return h.glob[c] - 1
}

func (h *hit) has(c class) bool { return h.mask&(1<<c) != 0 }

func (h *hit) isExact(c class) bool { return h.exact[c] != 0 }

// lookup finds the rules for a name; hash and small come from hashName.
func (m *matcher) lookup(name string, hash uint64, small bool, h *hit) {
	if h.mask != 0 {
		*h = hit{}
	}
	for i := m.heads[hash&uint64(len(m.heads)-1)]; i != 0; i = m.next[i-1] {
		if m.hashes[i-1] != hash {
			continue
		}
		if r := &m.rules[i-1]; h.exact[r.class] == 0 && sameFold(r.text, name) {
			h.exact[r.class] = i
			h.mask |= 1 << r.class
		}
	}
	if len(m.globs) == 0 || name == "" {
		return
	}
	folded := name
	if small {
		folded = fold(name)
	}
	for g := m.last[folded[len(folded)-1]]; g != 0; g = m.globs[g-1].next {
		m.try(g-1, folded, h)
	}
	for g := m.first[folded[0]]; g != 0; g = m.globs[g-1].next {
		m.try(g-1, folded, h)
	}
	for _, g := range m.rest {
		m.try(g, folded, h)
	}
}

func (m *matcher) try(g int32, folded string, h *hit) {
	p := &m.globs[g]
	c := m.rules[p.rule].class
	if h.glob[c] != 0 && h.glob[c] <= p.rule+1 {
		return
	}
	if p.match(folded) {
		h.glob[c] = p.rule + 1
		h.mask |= 1 << c
	}
}

// sameFold compares two names without regard to the case of ASCII letters.
func sameFold(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if upper(a[i]) != upper(b[i]) {
			return false
		}
	}
	return true
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}

const (
	ones = 0x0101010101010101
	high = 0x8080808080808080
	mix  = 0x9E3779B97F4A7C15
)

// hashName hashes a name so that case does not count, eight bytes at a time, and says whether it has small letters.
func hashName(name string) (hash uint64, small bool) {
	h := uint64(len(name)) * mix
	var any uint64
	i := 0
	for ; i+8 <= len(name); i += 8 {
		w, m := foldWord(load8(name, i))
		any |= m
		h = stir(h ^ w)
	}
	if i < len(name) {
		var w uint64
		if len(name) >= 8 {
			w = load8(name, len(name)-8) // overlaps what was hashed: no matter
		} else {
			for j := len(name) - 1; j >= i; j-- {
				w = w<<8 | uint64(name[j])
			}
		}
		w, m := foldWord(w)
		any |= m
		h = stir(h ^ w)
	}
	return h, any != 0
}

// stir spreads every bit over the whole word: both halves of the product count.
func stir(h uint64) uint64 {
	hi, lo := bits.Mul64(h, mix)
	return hi ^ lo
}

func load8(s string, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

// foldWord upper-cases the ASCII letters among eight bytes; mask has the high bit of each byte that was small.
func foldWord(w uint64) (folded, mask uint64) {
	low := w &^ high
	mask = (low + (0x80-'a')*ones) &^ (low + (0x80-'z'-1)*ones) &^ w & high
	return w ^ mask>>2, mask
}
