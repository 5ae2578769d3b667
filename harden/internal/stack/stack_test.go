package stack

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
)

const (
	atEntry  = 9
	atRandom = 25
	atExecfn = 31
)

// build lays a stack out as the kernel does.
func build(base uint64, word int, args, env []string, name string) []byte {
	vectors := (1+len(args)+1+len(env)+1)*word + 4*2*word
	var text []byte
	address := func(s string) uint64 {
		at := base + uint64(vectors+len(text))
		text = append(append(text, s...), 0)
		return at
	}
	random := address("sixteen random b")
	var words []uint64
	words = append(words, uint64(len(args)))
	for _, a := range args {
		words = append(words, address(a))
	}
	words = append(words, 0)
	for _, e := range env {
		words = append(words, address(e))
	}
	words = append(words, 0, atEntry, 0x1234, atRandom, random, atExecfn, address(name), 0, 0)
	var mem []byte
	for _, w := range words {
		for i := range word {
			mem = append(mem, byte(w>>(8*i)))
		}
	}
	return append(append(mem, text...), make([]byte, word)...)
}

func list(t *testing.T, s *Stack, at uint64) (out []string) {
	t.Helper()
	for o := int(at - s.base); ; o += s.word {
		p, ok := s.at(o)
		if !ok {
			t.Fatal("a list does not end")
		}
		if p == 0 {
			return out
		}
		text, ok := s.Text(p)
		if !ok {
			t.Fatalf("a pointer to %#x", p)
		}
		out = append(out, text)
	}
}

func TestEdit(t *testing.T) {
	for _, word := range []int{4, 8} {
		for name, c := range map[string]struct{ env, remove []string }{
			"nothing":      {[]string{"A=1", "B=2"}, nil},
			"first":        {[]string{"A=1", "B=2", "C=3"}, []string{"A=1"}},
			"middle":       {[]string{"A=1", "B=2", "C=3"}, []string{"B=2"}},
			"last":         {[]string{"A=1", "B=2", "C=3"}, []string{"C=3"}},
			"all":          {[]string{"A=1", "B=2"}, []string{"A=1", "B=2"}},
			"twice":        {[]string{"A=1", "B=2", "A=1"}, []string{"A=1"}},
			"no variable":  {nil, nil},
			"an empty one": {[]string{"", "A=1"}, []string{""}},
		} {
			t.Run(fmt.Sprint(name, " ", word*8), func(t *testing.T) {
				args := []string{"prog", "", "x y"}
				mem := build(0x7fff1230, word, args, c.env, "/bin/prog")
				before := bytes.Clone(mem)
				s, err := Parse(mem, 0x7fff1230, word)
				if err != nil {
					t.Fatal(err)
				}
				changed, err := s.Edit(func(e []byte) bool { return !slices.Contains(c.remove, string(e)) }, nil)
				if err != nil {
					t.Fatal(err)
				}
				var want []string
				for _, e := range c.env {
					if !slices.Contains(c.remove, e) {
						want = append(want, e)
					}
				}
				again, err := Parse(mem, 0x7fff1230, word)
				if err != nil {
					t.Fatal(err)
				}
				argv, envp := again.Lists(0x7fff1230)
				if got := list(t, again, argv); !slices.Equal(got, args) {
					t.Errorf("args = %q", got)
				}
				if got := list(t, again, envp); !slices.Equal(got, want) {
					t.Errorf("env = %q, want %q", got, want)
				}
				fn, _ := again.Aux(atExecfn)
				if got, _ := again.Text(fn); got != "/bin/prog" {
					t.Errorf("AT_EXECFN = %q", got)
				}
				if v, ok := again.Aux(atEntry); !ok || v != 0x1234 {
					t.Errorf("AT_ENTRY = %#x", v)
				}
				r, _ := again.Aux(atRandom)
				if got, _ := again.Text(r); got != "sixteen random b" {
					t.Errorf("AT_RANDOM leads to %q", got)
				}
				for _, gone := range c.remove {
					if gone != "" && bytes.Contains(mem, []byte(gone)) {
						t.Errorf("%q is still there", gone)
					}
				}
				// Written back in parts, it is the same memory.
				for _, r := range changed {
					copy(before[r.From:r.To], mem[r.From:r.To])
				}
				if !bytes.Equal(before, mem) {
					t.Error("the ranges miss a change")
				}
			})
		}
	}
}

func TestGrow(t *testing.T) {
	for _, word := range []int{4, 8} {
		for _, c := range []struct{ env, more []string }{
			{[]string{"A=1", "B=2", "C=3"}, []string{"HELD=made up"}},
			{nil, []string{"X=", "Y=2"}},
			{[]string{"B=2"}, nil},
		} {
			const base = 0x7fff1230
			mem := build(base, word, []string{"prog", "x"}, c.env, "/bin/prog")
			s, err := Parse(mem, base, word)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Edit(func(e []byte) bool { return string(e) != "B=2" }, nil); err != nil {
				t.Fatal(err)
			}
			below, sp := s.Grow(c.more)
			if sp%16 != 0 || sp+uint64(len(below)) != base {
				t.Errorf("%d bytes at %#x", len(below), sp)
			}
			grown, err := Parse(append(below, mem...), sp, word)
			if err != nil {
				t.Fatal(err)
			}
			want := append(slices.DeleteFunc(slices.Clone(c.env), func(e string) bool { return e == "B=2" }), c.more...)
			argv, envp := s.Lists(sp)
			if got := list(t, grown, envp); !slices.Equal(got, want) {
				t.Errorf("env = %q, want %q", got, want)
			}
			if got := list(t, grown, argv); !slices.Equal(got, []string{"prog", "x"}) {
				t.Errorf("args = %q", got)
			}
			if v, ok := grown.Aux(atEntry); !ok || v != 0x1234 {
				t.Errorf("AT_ENTRY = %#x", v)
			}
		}
	}
}

func TestParseAsksForMore(t *testing.T) {
	mem := build(0x1000, 8, []string{"p"}, []string{"A=1", "LAST=22"}, "/p")
	whole := bytes.Index(mem, []byte("LAST=22")) + len("LAST=22") + 1
	for n := range mem {
		_, err := Parse(mem[:n], 0x1000, 8)
		if n < whole && !errors.Is(err, ErrShort) || n >= whole && err != nil {
			t.Fatalf("%d of %d bytes: %v", n, len(mem), err)
		}
	}
}

func FuzzEdit(f *testing.F) {
	f.Add(build(0x1000, 8, []string{"p"}, []string{"A=1", "B=22"}, "/p"), uint64(0x1000), true)
	f.Add(build(0x1000, 4, []string{"p"}, []string{"A=1", "B=22"}, "/p"), uint64(0x1000), false)
	f.Fuzz(func(t *testing.T, mem []byte, base uint64, wide bool) {
		word := 4
		if wide {
			word = 8
		}
		s, err := Parse(mem, base, word)
		if err != nil {
			return
		}
		if base > 1<<20 {
			s.Grow([]string{"MORE=1"})
		}
		changed, _ := s.Edit(func(e []byte) bool { return len(e)%2 == 0 }, nil)
		for _, r := range changed {
			if r.From < 0 || r.To < r.From || r.To > len(mem) {
				t.Fatalf("range %v of %d bytes", r, len(mem))
			}
		}
	})
}
