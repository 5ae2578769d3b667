package redact

// A view is a text in which values are looked for, as it is and, if it contains
// colour codes, also without them.
type view struct {
	r     *Redactor
	raw   []byte
	plain []byte // raw without its colour codes; nil when it has none
	gaps  []gap  // where they were
	open  int    // where an unfinished colour code begins that raw ends with, or len(raw)

	inRaw, inPlain     span // the next occurrence in each, in positions of raw
	fromRaw, fromPlain int  // where to look for the one after it
}

// A gap is a run of colour codes: raw[start:end] was left out of plain at position at.
type gap struct{ at, start, end int }

// A span is an occurrence, in positions of raw; start is -1 without one.
type span struct{ start, end int }

var none = span{-1, -1}

func (r *Redactor) view(raw []byte) *view {
	v := &view{r: r, raw: raw, open: len(raw)}
	if r.codes {
		v.strip()
	}
	v.advanceRaw()
	v.advancePlain()
	return v
}

func (v *view) advanceRaw() {
	v.inRaw.start, v.inRaw.end = v.r.set.find(v.raw, v.fromRaw)
	v.fromRaw = v.inRaw.start + 1
}

func (v *view) advancePlain() {
	v.inPlain = none
	if len(v.gaps) == 0 {
		return
	}
	start, end := v.r.set.find(v.plain, v.fromPlain)
	if start >= 0 {
		v.fromPlain = start + 1
		v.inPlain = span{v.position(start), v.position(end-1) + 1}
	}
}

// peek returns the first occurrence that was not yet taken.
func (v *view) peek() span {
	if v.inRaw.start < 0 || v.inPlain.start >= 0 && v.inPlain.start < v.inRaw.start {
		return v.inPlain
	}
	return v.inRaw
}

// take moves on behind the occurrence that peek returned.
func (v *view) take() {
	if v.peek() == v.inRaw {
		v.advanceRaw()
	} else {
		v.advancePlain()
	}
}

// position returns the place in raw of plain[i].
func (v *view) position(i int) int {
	lo, hi := 0, len(v.gaps)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); v.gaps[mid].at <= i {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return i
	}
	g := v.gaps[lo-1]
	return g.end + i - g.at
}

// settled returns how much of raw no text that follows can make part of an
// occurrence: all but the longest tail that is a proper prefix of a pattern.
func (v *view) settled() int {
	n := len(v.raw) - v.r.set.tail(v.raw)
	if v.plain != nil {
		if t := v.r.set.tail(v.plain); t > 0 {
			n = min(n, v.position(len(v.plain)-t))
		}
	}
	return n
}

// context returns where a later view has to begin so that it tells colour codes
// and text apart behind position n as this one does: at n, or at the beginning of the codes
// that n lies in.
func (v *view) context(n int) int {
	if n > v.open {
		return v.open
	}
	for i := len(v.gaps) - 1; i >= 0 && v.gaps[i].end > n; i-- {
		if v.gaps[i].start < n {
			return v.gaps[i].start
		}
	}
	return n
}

// progress is how far the replacing has come in a view's raw text.
type progress struct {
	done  int  // raw[:done] has been dealt with
	cover int  // raw[:cover] ends with an occurrence that was replaced; 0 without one
	held  int  // where the tail that is held back begins
	shown bool // a placeholder was put out for that tail already
}

// replace appends raw from p.done to limit to dst, occurrences replaced.
//
// Occurrences that overlap are one: every byte of each is gone, and one
// placeholder stands for them all. So occurrences are taken by their start, each
// the longest there, the overlapping ones too. One that starts behind limit waits,
// for one that starts before it may yet join it to what was replaced.
func (v *view) replace(dst []byte, p *progress, limit int) []byte {
	for s := v.peek(); s.start >= 0 && (s.start <= limit || s.start < p.cover); s = v.peek() {
		v.take()
		if s.start >= p.cover {
			if s.start > p.done {
				dst = append(dst, v.raw[p.done:s.start]...)
				p.done = s.start
			}
			if !p.shown || s.start != p.held {
				dst = append(dst, Placeholder...)
			}
		}
		if s.end > p.done {
			dst = v.appendCodes(dst, s.start, p.done, s.end)
			p.done = s.end
		}
		p.cover = max(p.cover, s.end)
	}
	if p.done < limit {
		dst = append(dst, v.raw[p.done:limit]...)
		p.done = limit
	}
	return dst
}
