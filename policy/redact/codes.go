package redact

import "bytes"

const escape = 0x1b

// maxCodes bounds the colour codes in one run that are looked through and the
// text that is held back because of them.
const maxCodes = 4096

// code returns the length of the colour code (ESC [ … m, or ESC [ … K which grep
// puts beside it) that b begins with; 0 if it begins with none; open is true
// if it may be the beginning of one.
func code(b []byte) (n int, open bool) {
	if len(b) == 0 || b[0] != escape {
		return 0, false
	}
	if len(b) == 1 {
		return 0, true
	}
	if b[1] != '[' {
		return 0, false
	}
	for i := 2; i < len(b); i++ {
		switch c := b[i]; {
		case c == 'm' || c == 'K':
			return i + 1, false
		case (c < '0' || c > '9') && c != ';' && c != ':' || i >= maxCode:
			return 0, false
		}
	}
	return 0, true
}

// maxCode is the longest colour code known to be one.
const maxCode = 48

// strip fills in plain, gaps and open.
func (v *view) strip() {
	raw := v.raw
	from := 0
	for i := 0; ; {
		j := bytes.IndexByte(raw[i:], escape)
		if j < 0 {
			break
		}
		i += j
		n, open := code(raw[i:])
		if n == 0 {
			if open {
				v.open = i
				break
			}
			i++
			continue
		}
		if v.plain == nil {
			v.plain = make([]byte, 0, len(raw))
		}
		v.plain = append(v.plain, raw[from:i]...)
		if l := len(v.gaps); l > 0 && v.gaps[l-1].end == i {
			v.gaps[l-1].end = i + n
		} else {
			v.gaps = append(v.gaps, gap{len(v.plain), i, i + n})
		}
		i += n
		from = i
	}
	if v.plain != nil || v.open < len(raw) {
		v.plain = append(v.plain, raw[from:v.open]...)
	}
}

// appendCodes appends the colour codes in raw[from:to] to dst, so that the text
// behind an occurrence keeps its colour. A code in the middle of which the
// occurrence starts is part of the value, and one whose numbers are a value goes.
func (v *view) appendCodes(dst []byte, start, from, to int) []byte {
	lo, hi := 0, len(v.gaps)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); v.gaps[mid].end <= from {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for _, g := range v.gaps[lo:] {
		if g.start >= to {
			break
		}
		if g.start < start {
			continue
		}
		if hit, _ := v.r.set.find(v.raw[g.start:g.end], 0); hit >= 0 {
			continue
		}
		dst = append(dst, v.raw[max(g.start, from):min(g.end, to)]...)
	}
	return dst
}

// letters returns how much of b is not colour codes.
func letters(b []byte) int {
	n := 0
	for i := 0; i < len(b); {
		if l, _ := code(b[i:]); l > 0 {
			i += l
			continue
		}
		i++
		n++
	}
	return n
}
