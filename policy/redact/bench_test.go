package redact_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/envscrub/envscrub/policy/redact"
	"github.com/envscrub/envscrub/policy/redact/redacttest"
)

// The comparison with others is in hack/benchmark.

func BenchmarkBytes(b *testing.B) {
	text := redacttest.LogText(1, 64<<20)
	for _, bench := range []struct {
		n, shortest, longest int
		forms                redact.Forms
	}{
		{1, 20, 60, 0},
		{10, 20, 60, 0},
		{100, 20, 60, 0},
		{1000, 20, 60, 0},
		{100, 8, 8, 0},
		{10, 20, 60, redact.AllForms},
		{1, 20, 60, redact.AllForms},
		{100, 20, 60, redact.AllForms},
		{1000, 20, 60, redact.AllForms},
	} {
		r := redact.New(redacttest.Secrets(1, bench.n, bench.shortest, bench.longest), bench.forms)
		b.Run(fmt.Sprintf("secrets=%d/bytes=%d-%d/forms=%t", bench.n, bench.shortest, bench.longest, bench.forms != 0), func(b *testing.B) {
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

func BenchmarkWriter(b *testing.B) {
	text := redacttest.LogText(1, 64<<20)
	r := redact.New(redacttest.Secrets(1, 100, 20, 60), 0)
	for _, size := range []int{128, 4 << 10, 32 << 10} {
		b.Run(fmt.Sprintf("write=%d", size), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				w := r.NewWriter(io.Discard, redact.DefaultHold)
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
	s := redacttest.Secrets(1, 5, 20, 60)
	b.ReportAllocs()
	for b.Loop() {
		redact.New(s, redact.AllForms)
	}
}
