package redact

// A skimmer passes by the text in which no member of a set begins.
//
// It looks at a few bytes, a block, in every stride of the text. Block and stride are together
// no longer than the shortest member, so wherever a member stands, exactly one of the
// blocks looked at lies within its first bytes. A filter says of a block whether any member has
// it at one of those places; nearly always none has. No step depends on what the one
// before found, so that the processor takes several at once, and more members only fill the filter.
type skimmer struct {
	stride int
	length int    // of a block
	align  uint   // shifts eight bytes so that only the block is left
	blocks filter // the blocks at the first stride places of each member
	longs  filter // the eight bytes there, of the members that are long enough
	shorts filter // the blocks of the others, for a second look
}

const (
	minBlock    = 4 // of fewer bytes too many are common
	maxBlock    = 8 // one load
	maxStride   = 16
	shortStride = MinLength - minBlock + 1
)

// newSkimmer returns the skimmer for members in byte order.
func newSkimmer(members [][]byte) skimmer {
	shortest := len(members[0])
	for _, m := range members {
		shortest = min(shortest, len(m))
	}
	s := skimmer{stride: min(maxStride, shortest-minBlock+1)}
	if shortest < 2*shortStride+1 {
		s.stride = shortStride
	}
	s.length = min(maxBlock, shortest-s.stride+1)
	s.align = uint(64 - 8*s.length)
	// What a member shares with the one before it is in the filters already.
	var blocks, longs, shorts int
	for i, m := range members {
		same := 0
		if i > 0 {
			same = common(members[i-1], m)
		}
		blocks += s.stride - min(s.stride, max(0, same-s.length+1))
		if s.long(m) {
			longs += s.stride - min(s.stride, max(0, same-maxBlock+1))
		} else {
			shorts += s.stride
		}
	}
	s.blocks, s.longs, s.shorts = newFilter(blocks), newFilter(longs), newFilter(shorts)
	for _, m := range members {
		for at := range s.stride {
			x := load(m[at:])
			s.blocks.add(x << s.align)
			if s.long(m) {
				s.longs.add(x)
			} else {
				s.shorts.add(x << s.align * golden)
			}
		}
	}
	return s
}

// long reports whether a member has eight bytes at each of the places where a block is looked at.
func (s *skimmer) long(m []byte) bool { return len(m) >= s.stride+maxBlock-1 }

// common returns how many bytes a and b begin with alike.
func common(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// likely takes a second look at a block that the first filter did not exclude.
func (s *skimmer) likely(x uint64) bool {
	return s.longs.has(x) || s.shorts.has(x<<(s.align&63)*golden)
}

// skip returns the place of the first block at i or one of the strides behind it that
// cannot be passed by, or of the first of those that are too near to the end of b to say.
func (s *skimmer) skip(b []byte, i int) int {
	if s.stride == shortStride {
		return s.skipShort(b, i)
	}
	bits, shift, stride := s.blocks.bits, s.blocks.shift&63, s.stride
	factor := uint64(golden) << (s.align & 63) // shifts and hashes in one go
	for ; i+3*stride+8 <= len(b); i += 4 * stride {
		j, k, l := i+stride, i+2*stride, i+3*stride
		if h := load64(b[i:i+8:i+8]) * factor >> shift; bits[h>>6]>>(h&63)&1 != 0 && s.likely(load64(b[i:])) {
			return i
		}
		if h := load64(b[j:j+8:j+8]) * factor >> shift; bits[h>>6]>>(h&63)&1 != 0 && s.likely(load64(b[j:])) {
			return j
		}
		if h := load64(b[k:k+8:k+8]) * factor >> shift; bits[h>>6]>>(h&63)&1 != 0 && s.likely(load64(b[k:])) {
			return k
		}
		if h := load64(b[l:l+8:l+8]) * factor >> shift; bits[h>>6]>>(h&63)&1 != 0 && s.likely(load64(b[l:])) {
			return l
		}
	}
	return i
}

// skipShort is skip where blocks are so close together that a constant stride, which
// spares the checks of most bounds, is a quarter faster.
func (s *skimmer) skipShort(b []byte, i int) int {
	bits, shift := s.blocks.bits, s.blocks.shift&63
	factor := uint64(golden) << (s.align & 63)
	for ; i+3*shortStride+8 <= len(b); i += 4 * shortStride {
		t := (*[3*shortStride + 8]byte)(b[i:])
		if h := load64(t[0:]) * factor >> shift; bits[h>>6]>>(h&63)&1 != 0 && s.likely(load64(t[0:])) {
			return i
		}
		if h := load64(t[shortStride:]) * factor >> shift; bits[h>>6]>>(h&63)&1 != 0 && s.likely(load64(t[shortStride:])) {
			return i + shortStride
		}
		if h := load64(t[2*shortStride:]) * factor >> shift; bits[h>>6]>>(h&63)&1 != 0 && s.likely(load64(t[2*shortStride:])) {
			return i + 2*shortStride
		}
		if h := load64(t[3*shortStride:]) * factor >> shift; bits[h>>6]>>(h&63)&1 != 0 && s.likely(load64(t[3*shortStride:])) {
			return i + 3*shortStride
		}
	}
	return i
}
