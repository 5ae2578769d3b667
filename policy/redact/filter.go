package redact

// A filter says of a number whether it may be one of a fixed set. It never says no
// of one that is; of others it says yes to a few in a hundred at most.
type filter struct {
	bits  []uint64
	shift uint8 // 64 - log2 of the number of bits
}

// A filter has 64 bits for each of its numbers as long as it stays in the processor's nearest
// cache with that, and never fewer than 16: the smaller, the nearer, but each wrong yes costs more
// than a distant no.
const (
	leastBits = 1 << 12
	nearBits  = 1 << 18
	mostBits  = 1 << 28
)

// newFilter returns one for about n distinct numbers.
func newFilter(n int) filter {
	bits, log := leastBits, 12
	for bits < mostBits && (bits < 64*n && bits < nearBits || bits < 16*n) {
		bits, log = 2*bits, log+1
	}
	return filter{make([]uint64, bits/64), uint8(64 - log)}
}

func (f *filter) add(x uint64) {
	h := f.hash(x)
	f.bits[h>>6] |= 1 << (h & 63)
}

func (f *filter) has(x uint64) bool {
	h := f.hash(x)
	return f.bits[h>>6]>>(h&63)&1 != 0
}

func (f *filter) hash(x uint64) uint64 { return x * golden >> (f.shift & 63) }

// golden is 2^64 over the golden ratio: by it, similar numbers are spread far apart.
const golden = 0x9E3779B97F4A7C15

func load64(b []byte) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// load is load64 of what there is, zeros for the rest.
func load(b []byte) uint64 {
	if len(b) >= 8 {
		return load64(b)
	}
	var x uint64
	for i, c := range b {
		x |= uint64(c) << (8 * i)
	}
	return x
}
