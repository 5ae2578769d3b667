package redact

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// Long texts are searched at two places at once; nothing is missed or found out of
// order where those meet.
func TestLongTexts(t *testing.T) {
	values := []string{made, "password", "another-made-up-secret-value"}
	r := New(secrets(values...), 0)
	blank := bytes.Repeat([]byte("nothing here. "), 5*lane/14)
	for _, v := range values {
		for edge := 0; edge <= 4*lane; edge += lane {
			for at := max(0, edge-2*len(made)); at < edge+2*len(made); at++ {
				text := bytes.Clone(blank)
				copy(text[at:], v)
				start, end := r.set.find(text, 0)
				if start != at || end != at+len(v) {
					t.Fatalf("%s at %d: found at %d to %d", v, at, start, end)
				}
			}
		}
	}
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
			t.Fatalf("another result for %q", text)
		}
		if got := streamed(t, r, string(text), rnd.IntN(len(text)+1), rnd.IntN(len(text)+1)); got != want.Replace(string(text)) {
			t.Fatalf("another result as a stream for %q", text)
		}
	}
}
