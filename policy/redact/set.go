package redact

import (
	"bytes"
	"slices"
)

// A set finds the members of a fixed set of byte strings in a text. A skimmer passes by
// most of it. Where a member may begin, its first eight bytes are looked up (hence
// MinLength), and a binary search among the few members that begin with them finds the longest
// that the text continues with.
type set struct {
	sorted  [][]byte // distinct, in byte order
	parent  []int32  // the longest member that is a proper prefix of this one, or -1
	max     int      // length of the longest member
	skimmer skimmer
	heads   filter  // the first eight bytes of the members
	starts  filter  // and the first one to seven, see start
	groups  []group // open addressing by hash of the first eight bytes
	gshift  uint8   // 64 - log2(len(groups))
}

// A group is the range of sorted whose members share their first eight bytes.
type group struct {
	key    uint64
	lo, hi int32
}

// newSet returns nil for an empty set. All patterns have at least MinLength bytes.
func newSet(patterns [][]byte) *set {
	if len(patterns) == 0 {
		return nil
	}
	slices.SortFunc(patterns, bytes.Compare)
	patterns = slices.CompactFunc(patterns, bytes.Equal)
	s := &set{sorted: patterns}
	s.link()
	s.skimmer = newSkimmer(patterns)
	s.fillStarts()
	s.fillGroups()
	return s
}

func (s *set) link() {
	s.parent = make([]int32, len(s.sorted))
	var open []int32 // members that are a prefix of the one before, shortest first
	for i, p := range s.sorted {
		for len(open) > 0 && !bytes.HasPrefix(p, s.sorted[open[len(open)-1]]) {
			open = open[:len(open)-1]
		}
		s.parent[i] = -1
		if len(open) > 0 {
			s.parent[i] = open[len(open)-1]
		}
		open = append(open, int32(i))
		s.max = max(s.max, len(p))
	}
}

// fillStarts fills heads and starts.
func (s *set) fillStarts() {
	heads, starts := 0, 0
	same := func(i int) int { // how much of member i's head the one before it has too
		if i == 0 {
			return 0
		}
		return min(MinLength, common(s.sorted[i-1], s.sorted[i]))
	}
	for i := range s.sorted {
		if n := same(i); n < MinLength {
			heads++
			starts += MinLength - 1 - n
		}
	}
	s.heads, s.starts = newFilter(heads), newFilter(starts)
	for i, p := range s.sorted {
		for n := same(i) + 1; n < MinLength; n++ {
			s.starts.add(start(p[:n]))
		}
		s.heads.add(load64(p))
	}
}

// start is a number for one to seven bytes.
func start(b []byte) uint64 { return load(b)<<8 | uint64(len(b)) }

func (s *set) fillGroups() {
	bits := 3
	for 1<<bits < 2*len(s.sorted) {
		bits++
	}
	s.gshift = uint8(64 - bits)
	s.groups = make([]group, 1<<bits)
	for lo := 0; lo < len(s.sorted); {
		key := load64(s.sorted[lo])
		hi := lo + 1
		for hi < len(s.sorted) && load64(s.sorted[hi]) == key {
			hi++
		}
		i := key * golden >> (s.gshift & 63)
		for s.groups[i].hi != 0 {
			i = (i + 1) & uint64(len(s.groups)-1)
		}
		s.groups[i] = group{key, int32(lo), int32(hi)}
		lo = hi
	}
}

// find returns the first occurrence in b that starts at from or later, and of
// those that start there the longest; -1 without one.
func (s *set) find(b []byte, from int) (start, end int) {
	stride, last := s.skimmer.stride, len(b)-s.skimmer.length
	// The block at i speaks for the starts from i-stride+1 to i.
	for i := from + stride - 1; i <= last; i += stride {
		if i = s.skimmer.skip(b, i); i > last {
			break
		}
		if !s.skimmer.likely(load(b[i:])) {
			continue
		}
		for start := i - stride + 1; start <= i && start+8 <= len(b); start++ {
			if s.heads.has(load64(b[start:])) {
				if l := s.longest(b[start:]); l > 0 {
					return start, start + l
				}
			}
		}
	}
	return -1, -1
}

// longest returns the length of the longest member that b begins with. b has at
// least MinLength bytes.
func (s *set) longest(b []byte) int {
	key := load64(b)
	i := key * golden >> (s.gshift & 63)
	for s.groups[i].key != key || s.groups[i].hi == 0 {
		if s.groups[i].hi == 0 {
			return 0
		}
		i = (i + 1) & uint64(len(s.groups)-1)
	}
	// All members that b begins with are the last one not after b, or prefixes of it.
	lo, hi := int(s.groups[i].lo), int(s.groups[i].hi)
	floor := lo
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if p := s.sorted[mid]; bytes.Compare(p, b[:min(len(b), len(p))]) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for q := int32(lo - 1); q >= int32(floor); q = s.parent[q] {
		if p := s.sorted[q]; bytes.HasPrefix(b, p) {
			return len(p)
		}
	}
	return 0
}

// tail returns the length of the longest proper prefix of a member that b ends
// with: what has to be seen together with the text that follows b.
func (s *set) tail(b []byte) int {
	for i := max(0, len(b)-s.max+1); i < len(b); i++ {
		rest := b[i:]
		if len(rest) >= MinLength && !s.heads.has(load64(rest)) || len(rest) < MinLength && !s.starts.has(start(rest)) {
			continue
		}
		if s.isPrefix(rest) {
			return len(rest)
		}
	}
	return 0
}

// isPrefix reports whether b is a proper prefix of a member.
func (s *set) isPrefix(b []byte) bool {
	lo, hi := 0, len(s.sorted)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if bytes.Compare(s.sorted[mid], b) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(s.sorted) && bytes.HasPrefix(s.sorted[lo], b)
}
