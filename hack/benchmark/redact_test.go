package benchmark

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coregx/ahocorasick"

	"github.com/envscrub/envscrub/policy/redact"
	"github.com/envscrub/envscrub/policy/redact/redacttest"
)

// A peer replaces the values in the text that it was made for.
type peer struct {
	name string
	size int // bytes of text that it gets: the slow ones get less
	run  func(text []byte) error
}

// BenchmarkRedact compares the throughput, in processor time, over log text without a secret in it, with what there is otherwise. What each of them makes of a text with secrets is compared first.
func BenchmarkRedact(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const full = 64 << 20
	text := redacttest.LogText(1, full)
	for _, n := range []int{1, 10, 100, 1000} {
		secrets := redacttest.Secrets(1, n, 20, 60)
		peers := redactPeers(b, secrets, full)
		times := make([][]float64, len(peers))
		for range min(*rounds, 7) {
			for _, i := range rand.Perm(len(peers)) {
				before := processorTime(b)
				if err := peers[i].run(text[:peers[i].size]); err != nil {
					b.Fatal(peers[i].name, err)
				}
				times[i] = append(times[i], float64(peers[i].size)/1e6/(processorTime(b)-before).Seconds())
			}
		}
		var ours float64
		for i, p := range peers {
			slices.Sort(times[i])
			median := times[i][len(times[i])/2]
			figure := fmt.Sprintf("redaction, %d secrets", n)
			report.Values = append(report.Values, Value{figure, p.name, median, "MB/s"})
			switch {
			case p.name == "ours":
				ours = median
				b.ReportMetric(ours, fmt.Sprintf("MB/s-with-%d", n))
			case !strings.HasPrefix(p.name, "ours"):
				report.Values = append(report.Values, Value{figure, "ours : " + p.name, ours / median, "times"})
			}
		}
	}
	b.ReportMetric(0, "ns/op")
}

// processorTime is what this process and its children have used so far: on a busy
// machine the time on the clock says little.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

func redactPeers(b *testing.B, secrets []redact.Secret, full int) []peer {
	b.Helper()
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
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "script")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		b.Fatal(err)
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
		b.Fatal("strings.NewReplacer and ours differ")
	}
	if got := string(search([]byte(sample))); got != want {
		b.Log("the automaton's result is another one")
	}
	var out bytes.Buffer
	if err := sed([]byte(sample), &out); err != nil {
		b.Fatal(err)
	}
	if out.String() != want {
		b.Fatal("sed and ours differ")
	}
	into := make([]byte, full)
	return []peer{
		{"ours", full, func(text []byte) error { ours.Bytes(text); return nil }},
		{"ours, as a stream", full, func(text []byte) error {
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
		{"ours, all forms", full, func(text []byte) error { forms.Bytes(text); return nil }},
		{"copying", full, func(text []byte) error { copy(into, text); return nil }},
		{"coregx/ahocorasick", full, func(text []byte) error { search(text); return nil }},
		{"strings.NewReplacer", full / 4, func(text []byte) error {
			_, err := replacer.WriteString(io.Discard, string(text))
			return err
		}},
		{"sed", max(1<<20, min(full, full*3/len(secrets)/10)), func(text []byte) error { return sed(text, io.Discard) }},
	}
}
