package redact

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

// logText is n bytes of lines as services write them, with no secret in it.
func logText(rnd *rand.Rand, n int) []byte {
	words := []string{"request", "completed", "for", "user", "session", "GET", "POST", "/api/v1/items", "/healthz", "status", "duration", "level", "info", "warn", "connection", "timeout", "retry", "cache", "miss", "hit", "worker", "token", "expired", "upstream", "https://example.com/path?id="}
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "2026-11-%02dT%02d:%02d:%02d.%03dZ %s ", rnd.IntN(30)+1, rnd.IntN(24), rnd.IntN(60), rnd.IntN(60), rnd.IntN(1000), []string{"INFO", "WARN", "DEBUG"}[rnd.IntN(3)])
		for range 6 + rnd.IntN(10) {
			b.WriteString(words[rnd.IntN(len(words))])
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "req=%016x ms=%d\n", rnd.Uint64(), rnd.IntN(5000))
	}
	return b.Bytes()[:n]
}

// madeUp is n values of 20 to 60 bytes, some with the beginnings that real kinds have.
func madeUp(rnd *rand.Rand, n int) []Secret {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	heads := []string{"", "", "sk-", "ghp_", "AKIA", "xoxb-", "eyJhbGciOi"}
	s := make([]Secret, n)
	for i := range s {
		v := []byte(heads[rnd.IntN(len(heads))])
		for l := 20 + rnd.IntN(41); len(v) < l; {
			v = append(v, alphabet[rnd.IntN(len(alphabet))])
		}
		s[i] = Secret{fmt.Sprint("S", i), string(v)}
	}
	return s
}

func BenchmarkBytes(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	text := logText(rnd, 64<<20)
	for _, n := range []int{1, 10, 100, 1000} {
		for _, forms := range []Forms{0, AllForms} {
			r := New(madeUp(rnd, n), forms)
			b.Run(fmt.Sprintf("secrets=%d/forms=%t", n, forms != 0), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					if out := r.Bytes(text); &out[0] != &text[0] {
						b.Fatal("found something")
					}
				}
				b.ReportMetric(float64(r.Patterns()), "patterns")
			})
		}
	}
}

func BenchmarkWriter(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	text := logText(rnd, 64<<20)
	r := New(madeUp(rnd, 100), 0)
	for _, size := range []int{128, 4 << 10, 32 << 10} {
		b.Run(fmt.Sprintf("write=%d", size), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				w := r.NewWriter(io.Discard, DefaultHold)
				for rest := text; len(rest) > 0; {
					n := min(size, len(rest))
					if _, err := w.Write(rest[:n]); err != nil {
						b.Fatal(err)
					}
					rest = rest[n:]
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	s := madeUp(rand.New(rand.NewPCG(1, 2)), 5)
	for b.Loop() {
		New(s, AllForms)
	}
}
