package stack

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// A synthetic stack in memory, with any arguments and environment block: what is refused is gone from the list and from
// memory, everything else is where it was, and what is grown on top is found.
func FuzzEditEnviron(f *testing.F) {
	f.Add("prog\x00x", "A=1\x00B=22\x00C=333", uint64(0b010), "MORE=1", true)
	f.Add("", "\x00\x00=\x00A=1\x00A=1", uint64(0b10101), "", false)
	f.Add("p", "K=secret\x00COPY=secret", uint64(0b10), "X=\x00Y=2", true)
	f.Fuzz(func(t *testing.T, argv, environ string, keep uint64, more string, wide bool) {
		word := 4
		if wide {
			word = 8
		}
		const base = 0x7fff1230
		args, env := strings.Split(argv, "\x00"), strings.Split(environ, "\x00")
		mem := build(base, word, args, env, "/bin/prog")
		before := bytes.Clone(mem)
		s, err := Parse(mem, base, word)
		if err != nil {
			t.Fatal(err)
		}
		var want, gone []string
		n := 0
		changed, err := s.Edit(func(e []byte) bool {
			if string(e) != env[n] {
				t.Fatalf("entry %d is %q, want %q", n, e, env[n])
			}
			kept := keep>>(n%64)&1 == 1
			if kept {
				want = append(want, env[n])
			} else {
				gone = append(gone, env[n])
			}
			n++
			return kept
		}, nil)
		if err != nil || n != len(env) {
			t.Fatalf("%d of %d entries: %v", n, len(env), err)
		}
		again, err := Parse(mem, base, word)
		if err != nil {
			t.Fatal(err)
		}
		argvAt, envAt := again.Lists(base)
		if got := list(t, again, argvAt); !slices.Equal(got, args) {
			t.Errorf("args = %q, want %q", got, args)
		}
		if got := list(t, again, envAt); !slices.Equal(got, want) {
			t.Errorf("env = %q, want %q", got, want)
		}
		if v, ok := again.Aux(atEntry); !ok || v != 0x1234 {
			t.Errorf("AT_ENTRY = %#x", v)
		}
		// Strings are separated by NULs: what is left of one that went would stand between two.
		text := mem[s.auxEnd:]
		for _, e := range gone {
			if len(e) > 8 && !slices.ContainsFunc(slices.Concat(want, args, []string{"sixteen random b", "/bin/prog"}), func(o string) bool { return strings.Contains(o, e) }) && bytes.Contains(text, []byte(e)) {
				t.Errorf("%q is still there", e)
			}
		}
		for _, r := range changed {
			copy(before[r.From:r.To], mem[r.From:r.To])
		}
		if !bytes.Equal(before, mem) {
			t.Error("the ranges miss a change")
		}
		entries := strings.Split(more, "\x00")
		below, sp := s.Grow(entries)
		grown, err := Parse(append(below, mem...), sp, word)
		if err != nil {
			t.Fatal(err)
		}
		if _, envAt = s.Lists(sp); sp%16 != 0 || !slices.Equal(list(t, grown, envAt), append(want, entries...)) {
			t.Errorf("grown to %q at %#x", list(t, grown, envAt), sp)
		}
	})
}
