package redact

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// Whatever the length of the shortest value, and so the places in a text that are looked at, none is
// missed: at each place, at the text's end and at its beginning.
func TestEveryPlace(t *testing.T) {
	const letters = "made-up/Secret_0123456789.abcdefghijklmnopqrstuvwxyz-and-more"
	blank := bytes.Repeat([]byte("nothing here. "), 10)
	for shortest := MinLength; shortest <= 32; shortest++ {
		for longer := range 20 {
			values := []string{letters[:shortest], letters[7 : 7+shortest+longer]}
			r := New(secrets(values...), 0)
			for _, v := range values {
				for at := 0; at+len(v) <= len(blank); at++ {
					text := bytes.Clone(blank)
					copy(text[at:], v)
					for _, end := range []int{len(text), at + len(v)} {
						if start, e := r.set.find(text[:end], 0); start != at || e != at+len(v) {
							t.Fatalf("%s, beside one of %d bytes, at %d: found at %d to %d", v, shortest, at, start, e)
						}
						if start, _ := r.set.find(text[:end], at+1); start >= 0 {
							t.Fatalf("%s at %d: found from behind it at %d", v, at, start)
						}
						if start, _ := r.set.find(text[:at+len(v)-1], 0); start >= 0 {
							t.Fatalf("%s at %d, without its last letter: found at %d", v, at, start)
						}
					}
				}
			}
		}
	}
}

// Nothing is missed or found out of order in long texts.
func TestLongTexts(t *testing.T) {
	values := []string{made, "password", "another-made-up-secret-value"}
	r := New(secrets(values...), 0)
	blank := bytes.Repeat([]byte("nothing here. "), 1500)
	rnd := rand.New(rand.NewPCG(1, 2))
	var pairs []string
	for _, v := range values {
		pairs = append(pairs, v, Placeholder)
	}
	want := strings.NewReplacer(pairs...)
	for range 200 {
		text := bytes.Clone(blank[:rnd.IntN(len(blank))])
		for range rnd.IntN(50) {
			if at := rnd.IntN(len(text) + 1); at < len(text)-40 {
				copy(text[at:], "<"+values[rnd.IntN(len(values))]+">")
			}
		}
		if got := r.String(string(text)); got != want.Replace(string(text)) {
			t.Fatalf("another result for a text of %d bytes", len(text))
		}
		if got := streamed(t, r, string(text), rnd.IntN(len(text)+1), rnd.IntN(len(text)+1)); got != want.Replace(string(text)) {
			t.Fatalf("another result as a stream for a text of %d bytes", len(text))
		}
	}
}
