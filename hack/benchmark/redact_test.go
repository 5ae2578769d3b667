package benchmark

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coregx/ahocorasick"

	"github.com/envscrub/envscrub/hack/benchmark/report"
	"github.com/envscrub/envscrub/policy/redact"
	"github.com/envscrub/envscrub/policy/redact/redacttest"
)

// A peer replaces the values in the text that it was made for.
type peer struct {
	name string
	role report.Role
	size int // bytes of text that it gets: the slow ones get less
	run  func(text []byte) error
}

// redaction is the throughput, in processor time, over log text without a secret in it, beside what there is otherwise. What each of
// them makes of a text with secrets is compared first.
func redaction(t *testing.T, b *bench) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	size := of(64<<20, 1<<20)
	text := redacttest.LogText(1, size)
	grows := &curve{report.Curve{Name: "Redaction of log text (processor time)", X: "secrets", Unit: "MB/s"}}
	for _, n := range of([]int{1, 10, 100, 1000}, []int{1, 10}) {
		var variants []Variant
		for _, p := range redactPeers(t, redacttest.Secrets(1, n, 20, 60), size) {
			variants = append(variants, Variant{p.name, p.role, func() (time.Duration, error) {
				before := processorTime(t)
				err := p.run(text[:p.size])
				// Never nothing, on a kernel that counts in ticks.
				return max(time.Nanosecond, time.Duration(float64(processorTime(t)-before)*1e6/float64(p.size))), err
			}})
		}
		f := Figure{Name: "redaction, " + count(n, "secrets"), Kind: report.PerMB, Rounds: 9, Variants: variants}
		if n == 100 {
			f.Headline = "redaction with 100 secrets, one processor (without: copying)"
		}
		for _, timing := range b.measure(t, f) {
			if timing.Role != report.Base {
				s := timing.Seconds
				grows.point(timing.Variant, timing.Role, n, report.Spread{Q1: 1 / s.Q3, Median: 1 / s.Median, Q3: 1 / s.Q1})
			}
		}
	}
	b.Curves = append(b.Curves, grows.Curve)
}

// processorTime is what this process and its children have used so far: on a busy
// machine the time on the clock says little.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			t.Fatal(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

func redactPeers(t *testing.T, secrets []redact.Secret, size int) []peer {
	t.Helper()
	ours := redact.New(secrets, 0)
	forms := redact.New(secrets, redact.AllForms)
	var pairs []string
	builder := ahocorasick.NewBuilder().SetMatchKind(ahocorasick.LeftmostLongest)
	script := new(strings.Builder)
	for _, s := range secrets {
		pairs = append(pairs, s.Value, redact.Placeholder)
		builder.AddPattern([]byte(s.Value))
		fmt.Fprintf(script, "s/%s/%s/g\n", s.Value, `[REDACTED]`)
	}
	replacer := strings.NewReplacer(pairs...)
	automaton, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	sed := func(text []byte, out io.Writer) error {
		cmd := exec.Command("sed", "-f", file)
		cmd.Env = append(os.Environ(), "LC_ALL=C")
		cmd.Stdin, cmd.Stdout = bytes.NewReader(text), out
		return cmd.Run()
	}
	search := func(text []byte) []byte {
		var out []byte
		from := 0
		for _, m := range automaton.FindAll(text, -1) {
			out = append(append(out, text[from:m.Start]...), redact.Placeholder...)
			from = m.End
		}
		if from == 0 {
			return text
		}
		return append(out, text[from:]...)
	}
	sample := string(redacttest.LogText(2, 10000))
	for i, s := range secrets {
		at := i * 97 % len(sample)
		sample = sample[:at] + s.Value + sample[at:]
	}
	want := ours.String(sample)
	if got := replacer.Replace(sample); got != want {
		t.Fatal("strings.NewReplacer and ours differ")
	}
	if got := string(search([]byte(sample))); got != want {
		t.Log("the automaton's result is another one")
	}
	var out bytes.Buffer
	if err := sed([]byte(sample), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Fatal("sed and ours differ")
	}
	into := make([]byte, size)
	return []peer{
		{"copying", report.Base, size, func(text []byte) error { copy(into, text); return nil }},
		{"ours", report.Ours, size, func(text []byte) error { ours.Bytes(text); return nil }},
		{"ours, as a stream", report.Ours, size, func(text []byte) error {
			w := ours.NewWriter(io.Discard, redact.DefaultHold)
			for len(text) > 0 {
				k := min(32<<10, len(text))
				if _, err := w.Write(text[:k]); err != nil {
					return err
				}
				text = text[k:]
			}
			return w.Close()
		}},
		{"ours, all forms", report.Ours, size, func(text []byte) error { forms.Bytes(text); return nil }},
		{"coregx/ahocorasick", report.Peer, size, func(text []byte) error { search(text); return nil }},
		{"strings.NewReplacer", report.Peer, size / 4, func(text []byte) error {
			_, err := replacer.WriteString(io.Discard, string(text))
			return err
		}},
		{"sed", report.Peer, max(1<<20, min(size, size*3/len(secrets)/10)), func(text []byte) error { return sed(text, io.Discard) }},
	}
}
