// Package stack edits the initial stack of a program, as the kernel lays it
// out at exec: argc, the pointers to the arguments, NULL, the pointers to the
// environment's entries, NULL, the auxiliary vector, and the strings.
//
// It works on a copy of that memory and never looks outside of it. Pointers
// may be four or eight bytes wide, little-endian as on every platform that the
// guard knows.
package stack

import "errors"

// Stack is the memory from the stack pointer up.
type Stack struct {
	mem  []byte
	base uint64 // address of mem[0]
	word int

	argc   int
	env    int // offset of the first environment pointer
	envc   int
	aux    int // offset of the auxiliary vector
	auxEnd int // offset behind its AT_NULL entry
}

// Errors of Parse.
var (
	// ErrShort asks for more memory: what is there is good so far.
	ErrShort = errors.New("the stack's copy is too short")
	errBad   = errors.New("the stack is not laid out as a new program's")
)

// Parse reads the layout of mem, which was copied from address base, in
// pointers of word bytes. mem is kept, and changed by Edit.
func Parse(mem []byte, base uint64, word int) (*Stack, error) {
	s := &Stack{}
	return s, s.Reset(mem, base, word)
}

// Reset is Parse without an allocation.
func (s *Stack) Reset(mem []byte, base uint64, word int) error {
	*s = Stack{mem: mem, base: base, word: word}
	if word != 4 && word != 8 {
		return errBad
	}
	argc, ok := s.at(0)
	if !ok {
		return ErrShort
	}
	if argc > 1<<24 {
		return errBad
	}
	s.argc = int(argc)
	if _, ok := s.at((1 + s.argc) * word); !ok {
		return ErrShort
	}
	if end, _ := s.at((1 + s.argc) * word); end != 0 {
		return errBad
	}
	s.env = (s.argc + 2) * word
	highest := uint64(0)
	at := s.env
	for ; ; at += word {
		p, ok := s.at(at)
		if !ok {
			return ErrShort
		}
		if p == 0 {
			break
		}
		if p <= base {
			return errBad
		}
		highest = max(highest, p)
		s.envc++
	}
	s.aux = at + word
	for at = s.aux; ; at += 2 * word {
		kind, ok := s.at(at)
		_, ok2 := s.at(at + word)
		if !ok || !ok2 {
			return ErrShort
		}
		if kind == 0 {
			break
		}
	}
	s.auxEnd = at + 2*word
	if highest != 0 {
		if _, ok := s.text(highest); !ok {
			return ErrShort
		}
	}
	return nil
}

// at reads the word at an offset.
func (s *Stack) at(offset int) (uint64, bool) {
	if offset < 0 || offset+s.word > len(s.mem) {
		return 0, false
	}
	v := uint64(0)
	for i := s.word - 1; i >= 0; i-- {
		v = v<<8 | uint64(s.mem[offset+i])
	}
	return v, true
}

func (s *Stack) put(offset int, v uint64) {
	for i := range s.word {
		s.mem[offset+i] = byte(v >> (8 * i))
	}
}

// text is the string at an address, without its NUL.
func (s *Stack) text(address uint64) ([]byte, bool) {
	if address < s.base || address-s.base >= uint64(len(s.mem)) {
		return nil, false
	}
	from := int(address - s.base)
	for i := from; i < len(s.mem); i++ {
		if s.mem[i] == 0 {
			return s.mem[from:i], true
		}
	}
	return nil, false
}

// Aux returns an entry of the auxiliary vector.
func (s *Stack) Aux(kind uint64) (uint64, bool) {
	for at := s.aux; at < s.auxEnd; at += 2 * s.word {
		if k, _ := s.at(at); k == kind {
			v, _ := s.at(at + s.word)
			return v, true
		}
	}
	return 0, false
}

// Text returns the string at an address of the stack.
func (s *Stack) Text(address uint64) (string, bool) {
	b, ok := s.text(address)
	return string(b), ok
}

// Lists are the addresses of the arguments' and the environment's list of a
// stack that begins at base: the one that was parsed, or the one that Grow made
// of it.
func (s *Stack) Lists(base uint64) (argv, envp uint64) {
	return base + uint64(s.word), base + uint64(s.env)
}

// Range is a part of the memory that Edit changed, as offsets.
type Range struct{ From, To int }

// Edit takes every entry that keep refuses out of the environment: its string
// is zeroed, the list closed, and the auxiliary vector moved down behind it,
// where the program looks for it. The stack pointer and every string that
// stays keep their places. What changed is appended to changed,
// in no order. An environment pointer that leads nowhere
// is an error.
func (s *Stack) Edit(keep func(entry []byte) bool, changed []Range) ([]Range, error) {
	to := s.env
	for i := range s.envc {
		from := s.env + i*s.word
		p, _ := s.at(from)
		entry, ok := s.text(p)
		if !ok {
			return changed, errBad
		}
		if keep(entry) {
			if to != from {
				s.put(to, p)
			}
			to += s.word
			continue
		}
		if len(entry) > 0 {
			clear(entry)
			offset := int(p - s.base)
			changed = append(changed, Range{offset, offset + len(entry)})
		}
	}
	gap := s.env + s.envc*s.word - to
	if gap == 0 {
		return changed, nil
	}
	s.put(to, 0)
	copy(s.mem[to+s.word:], s.mem[s.aux:s.auxEnd])
	clear(s.mem[s.auxEnd-gap : s.auxEnd])
	changed = append(changed, Range{s.env, s.auxEnd})
	s.envc -= gap / s.word
	s.aux -= gap
	s.auxEnd -= gap
	return changed, nil
}

// Grow makes a new beginning of the stack, with entries at the end of the
// environment, to be put below the old one: its memory, and the address that is
// the stack pointer then. Every string that is there already keeps its place.
func (s *Stack) Grow(entries []string) (mem []byte, base uint64) {
	vectors, size := s.auxEnd+len(entries)*s.word, 0
	for _, e := range entries {
		size += len(e) + 1
	}
	// Programs are promised a stack pointer that is a multiple of 16.
	base = (s.base - uint64(vectors+size)) &^ 15
	mem = make([]byte, s.base-base)
	grown := Stack{mem: mem, base: base, word: s.word}
	at := s.env + s.envc*s.word
	copy(mem, s.mem[:at])
	copy(mem[at+(len(entries)+1)*s.word:], s.mem[s.aux:s.auxEnd])
	text := vectors
	for _, e := range entries {
		grown.put(at, base+uint64(text))
		text += copy(mem[text:], e) + 1
		at += s.word
	}
	return mem, base
}

// Bytes is the memory itself.
func (s *Stack) Bytes() []byte { return s.mem }
