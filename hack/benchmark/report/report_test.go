package report

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	if got, want := SpreadOf([]float64{5, 1, 4, 2, 3}), (Spread{2, 3, 4}); got != want {
		t.Errorf("odd: %v, want %v", got, want)
	}
	if got := SpreadOf([]float64{4, 1, 2, 3}).Median; got != 2.5 {
		t.Errorf("even: median %v", got)
	}
	// Where both are slow in the same round, the ratio does not know.
	if got := RatioOf([]float64{2, 20, 200}, []float64{1, 10, 100}); got != (Spread{2, 2, 2}) {
		t.Errorf("ratio: %v", got)
	}
	if !math.IsInf(Spread{1, 1, 1}.uncertainty(4), 1) || (Spread{0.9, 1, 1.1}).uncertainty(100) > 0.02 {
		t.Error("four rounds are taken for proof, or a hundred are not")
	}
}

func line3(f func(x float64) float64) Curved {
	c := Curved{Name: "made up", Role: Ours}
	for _, x := range []float64{1, 10, 100, 1000} {
		y := f(x)
		c.Points = append(c.Points, Point{x, Spread{y * 0.99, y, y * 1.01}})
	}
	return c
}

func TestGrowth(t *testing.T) {
	for want, f := range map[string]func(x float64) float64{
		"flat":                          func(x float64) float64 { return 5e-3 * (1 + 0.1*math.Sin(x)) },
		"linear: 2.0 ms + 10 µs × runs": func(x float64) float64 { return 2e-3 + 1e-5*x },
		"linear: 3.0 µs × runs":         func(x float64) float64 { return 3e-6 * x },
		"as runs^2.00 at the end":       func(x float64) float64 { return 1e-6 * x * x },
		"as runs^-0.50 at the end":      func(x float64) float64 { return 1 / math.Sqrt(x) },
	} {
		if got := line3(f).Growth("runs", "s"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// made is a report of one figure, where ours costs so many times the floor.
func made(cost, width float64, rounds int) *Report {
	r := New(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	r.End()
	r.Timings = []Timing{
		{Figure: "a start", Variant: "bare", Role: Base, Rounds: rounds, Seconds: Spread{0.05, 0.05, 0.05}},
		{Figure: "a start", Variant: "a program that does nothing", Role: Floor, Rounds: rounds, Seconds: Spread{0.06, 0.06, 0.06}},
		{
			Figure: "a start", Variant: "ours", Role: Ours, Rounds: rounds, Seconds: Spread{0.07, 0.07, 0.07}, Headline: "a start & more",
			Ratio: Spread{1.4, 1.4, 1.4}, Cost: Spread{cost - width, cost, cost + width},
		},
	}
	r.Values = []Value{{"memory", "guard", Ours, 2.4, "MiB", "memory of a guard"}}
	r.Curves = []Curve{
		{"A <start>", "runs", "s", []Curved{line3(func(x float64) float64 { return 2e-3 + 1e-5*x }), line3(func(float64) float64 { return 1e-3 })}},
		{"Memory", "containers", "MiB", []Curved{line3(func(x float64) float64 { return 4 + math.Sin(x) })}},
	}
	return r
}

func TestChanges(t *testing.T) {
	for _, c := range []struct {
		name      string
		cost, iqr float64
		rounds    int
		want      string // "" for no change
	}{
		{"the same", 1.2, 0.01, 40, ""},
		{"a little", 1.23, 0.001, 40, ""},
		{"more", 1.4, 0.01, 40, "grew: 1.20 to 1.40, +17 %"},
		{"less", 1.0, 0.01, 40, "fell: 1.20 to 1.00, -17 %"},
		{"more, within the spread", 1.4, 0.8, 40, ""},
		{"more, in too few rounds", 1.4, 0.01, 2, ""},
	} {
		changes, missing := made(c.cost, c.iqr, c.rounds).Changes(made(1.2, 0.01, 40))
		got := ""
		for _, change := range changes {
			got += change.String()
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) || len(missing) > 0 {
			t.Errorf("%s: %q, want %q; missing %v", c.name, got, c.want, missing)
		}
	}
	heavier := made(1.2, 0.01, 40)
	heavier.Values[0].Value = 3
	heavier.Timings[2].Variant = "ours, another way"
	changes, missing := heavier.Changes(made(1.2, 0.01, 40))
	if len(changes) != 1 || changes[0].Name != "memory: guard" || len(missing) != 1 || missing[0] != "a start: ours, another way" {
		t.Errorf("changes %v, missing %v", changes, missing)
	}
}

func TestOutputs(t *testing.T) {
	r := made(1.2, 0.01, 40)
	t.Run("JSON", func(t *testing.T) {
		data, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		file := t.TempDir() + "/bench.json"
		write(t, file, data)
		again, err := Read(file)
		if err != nil {
			t.Fatal(err)
		}
		if second, _ := again.JSON(); string(second) != string(data) {
			t.Errorf("read back:\n%s\nwant:\n%s", second, data)
		}
		write(t, file, data[:len(data)/2])
		if _, err := Read(file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("half a report: %v", err)
		}
	})
	t.Run("Markdown", func(t *testing.T) {
		for _, want := range []string{"**a start** (40 rounds)", "| ours | 70.0 ms [70.0 ms – 70.0 ms] | 1.400 [1.400 – 1.400] | 1.200 [1.190 – 1.210] |", "2.40 MiB", "linear: 2.0 ms + 10 µs × runs"} {
			if !strings.Contains(r.Markdown(), want) {
				t.Errorf("%q is not in\n%s", want, r.Markdown())
			}
		}
	})
	t.Run("README", func(t *testing.T) {
		const head, tail = "# Cost\n\n" + readmeBegin, readmeEnd + "\nmore\n"
		once, err := r.InReadme(head + "old\n" + tail)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(once, head) || !strings.HasSuffix(once, tail) || strings.Contains(once, "old") ||
			!strings.Contains(once, "| a start & more | 50.0 ms | 60.0 ms | 70.0 ms | 1.40 |\n| memory of a guard | | | 2.40 MiB | |\n") {
			t.Error(once)
		}
		if twice, err := r.InReadme(once); err != nil || twice != once {
			t.Errorf("twice is another: %v\n%s", err, twice)
		}
		if _, err := r.InReadme("# Cost\n"); err == nil {
			t.Error("a README without marks is taken")
		}
	})
	t.Run("SVG", func(t *testing.T) {
		d := xml.NewDecoder(strings.NewReader(r.SVG()))
		texts, dots := "", 0
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			switch token := token.(type) {
			case xml.CharData:
				texts += string(token) + "\n"
			case xml.StartElement:
				if token.Name.Local == "circle" {
					dots++
				}
			}
		}
		for _, want := range []string{"A <start>", "made up: flat", "made up: linear: 2.0 ms + 10 µs × runs", "containers", "1 ms", "1000"} {
			if !strings.Contains(texts, want) {
				t.Errorf("%q is not in the picture", want)
			}
		}
		if dots != 12 || strings.Contains(r.SVG(), "NaN") {
			t.Errorf("%d points, want 12, or one that is not a number", dots)
		}
	})
}

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
