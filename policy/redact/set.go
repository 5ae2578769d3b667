package redact

import (
	"bytes"
	"slices"
)

// A set finds the members of a fixed set of byte strings in a text. It is
// Wu and Manber's search: a window of the shortest member's length moves over
// the text, and the last four bytes in it say how far it may move without
// missing the beginning of a member. Most of a text is so never looked at.
//
// Where the window cannot move, its first eight bytes select the few members
// that begin with them (hence MinLength), and a binary search among those finds
// the longest that the text continues with.
type set struct {
	sorted [][]byte // distinct, in byte order
	parent []int32  // the longest member that is a proper prefix of this one, or -1
	window int
	shifts []uint8              // by hash of the window's last bytes
	shift  uint8                // 32 - log2(len(shifts))
	groups []group              // open addressing by hash of the first eight bytes
	gshift uint8                // 64 - log2(len(groups))
	begins [1 << 16 / 64]uint64 // bit set of the first two bytes of the members
	first  [256]bool            // the first byte of the members
	max    int                  // length of the longest member
}

// A group is the range of sorted whose members share their first eight bytes.
type group struct {
	key    uint64
	lo, hi int32
}

const (
	block     = 4   // bytes that select a shift: one load
	maxWindow = 128 // a wider window only fills the table
)

// newSet returns nil for an empty set. All patterns have at least MinLength bytes.
func newSet(patterns [][]byte) *set {
	if len(patterns) == 0 {
		return nil
	}
	slices.SortFunc(patterns, bytes.Compare)
	patterns = slices.CompactFunc(patterns, bytes.Equal)
	s := &set{sorted: patterns}
	s.link()
	s.fillShifts()
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
		s.first[p[0]] = true
		two := uint(p[0])<<8 | uint(p[1])
		s.begins[two/64] |= 1 << (two % 64)
	}
}

func (s *set) fillShifts() {
	shortest := s.max
	for _, p := range s.sorted {
		shortest = min(shortest, len(p))
	}
	s.window = min(shortest, maxWindow)
	// At most a quarter of the table should be in use, of a table of 1 KiB to 1 MiB
	// (the smaller, the nearer to the processor); then a narrower window.
	bits := 10
	for bits < 20 && len(s.sorted)*(s.window-block+1) > 1<<bits/4 {
		bits++
	}
	s.window = max(MinLength, min(s.window, 1<<bits/4/len(s.sorted)+block))
	s.shift = uint8(32 - bits)
	s.shifts = make([]uint8, 1<<bits)
	far := uint8(s.window - block + 1)
	for i := range s.shifts {
		s.shifts[i] = far
	}
	for _, p := range s.sorted {
		for end := block; end <= s.window; end++ {
			h := hash(uint32(p[end-4])|uint32(p[end-3])<<8|uint32(p[end-2])<<16|uint32(p[end-1])<<24, s.shift)
			s.shifts[h] = min(s.shifts[h], uint8(s.window-end))
		}
	}
}

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
		i := hash64(key, s.gshift)
		for s.groups[i].hi != 0 {
			i = (i + 1) & (len(s.groups) - 1)
		}
		s.groups[i] = group{key, int32(lo), int32(hi)}
		lo = hi
	}
}

// lane is how far apart the two places are at which a long text is searched at the
// same time. Each step waits for the table to answer the one before; two chains of steps wait at once.
const lane = 4 << 10

// find returns the first occurrence in b that starts at from or later, and of
// those that start there the longest; -1 without one.
func (s *set) find(b []byte, from int) (start, end int) {
	shifts, shift, w := s.shifts, s.shift, s.window
	for from+2*lane+w <= len(b) {
		// i and j are the ends of two windows. What i's lane leaves out at its end is j's.
		i, j := from+w, from+lane+w
		endI, endJ := j, j+lane
		second := none
		for i < endI && j < endJ {
			n, m := shifts[hashAt(b, i, shift)], shifts[hashAt(b, j, shift)]
			if n != 0 && m != 0 {
				i += int(n)
				j += int(m)
				continue
			}
			if n == 0 {
				if l := s.longest(b[i-w:]); l > 0 {
					return i - w, i - w + l
				}
				n = 1
			}
			i += int(n)
			if m == 0 {
				if l := s.longest(b[j-w:]); l > 0 {
					second = span{j - w, j - w + l}
					break
				}
				m = 1
			}
			j += int(m)
		}
		if start, end, _ := s.scan(b, i, endI); start >= 0 {
			return start, end
		}
		if second.start >= 0 {
			return second.start, second.end
		}
		start, end, j := s.scan(b, j, endJ)
		if start >= 0 {
			return start, end
		}
		from = j - w
	}
	start, end, _ = s.scan(b, from+w, len(b)+1)
	return start, end
}

// scan looks at the windows that end at i and before limit. Without an occurrence start
// is -1 and next the end of the first window that was not looked at.
func (s *set) scan(b []byte, i, limit int) (start, end, next int) {
	shifts, shift, w := s.shifts, s.shift, s.window
	for i < limit {
		n := shifts[hashAt(b, i, shift)]
		if n == 0 {
			if l := s.longest(b[i-w:]); l > 0 {
				return i - w, i - w + l, i
			}
			n = 1
		}
		i += int(n)
	}
	return -1, -1, i
}

// hashAt hashes the block of bytes before b[i]; it is one load.
func hashAt(b []byte, i int, shift uint8) uint32 {
	v := b[i-4 : i : i]
	x := uint32(v[0]) | uint32(v[1])<<8 | uint32(v[2])<<16 | uint32(v[3])<<24
	return hash(x, shift)
}

// longest returns the length of the longest member that b begins with. b has at
// least MinLength bytes.
func (s *set) longest(b []byte) int {
	key := load64(b)
	i := hash64(key, s.gshift)
	for s.groups[i].key != key || s.groups[i].hi == 0 {
		if s.groups[i].hi == 0 {
			return 0
		}
		i = (i + 1) & (len(s.groups) - 1)
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
		if i+1 < len(b) {
			if two := uint(b[i])<<8 | uint(b[i+1]); s.begins[two/64]>>(two%64)&1 == 0 {
				continue
			}
		} else if !s.first[b[i]] {
			continue
		}
		if s.isPrefix(b[i:]) {
			return len(b) - i
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

func hash(x uint32, shift uint8) uint32 { return x * 0x9E3779B1 >> (shift & 31) }

func hash64(x uint64, shift uint8) int { return int(x * 0x9E3779B97F4A7C15 >> (shift & 63)) }

func load64(b []byte) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

func indexByte(b []byte, c byte) int { return bytes.IndexByte(b, c) }
