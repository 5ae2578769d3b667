package builtin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// corpusPairs is what a container's environment looks like: the variables of the
// corpus that are kept, every seventh of those that are not.
func corpusPairs(b *testing.B) [][2]string {
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "corpus", "tuned.tsv"))
	if err != nil {
		b.Fatal(err)
	}
	var pairs [][2]string
	removed := 0
	for _, line := range strings.Split(string(data), "\n") {
		field := strings.Split(line, "\t")
		if len(field) != 5 || strings.HasPrefix(line, "#") {
			continue
		}
		if field[0] == "remove" {
			if removed++; removed%7 != 0 {
				continue
			}
		}
		pairs = append(pairs, [2]string{field[1], field[2]})
	}
	return pairs
}

// overCorpus reports the time for a variable, the mean and the shortest: on a
// machine that does other work the latter says more.
func overCorpus(b *testing.B, do func(name, value string)) {
	pairs := corpusPairs(b)
	b.ReportAllocs()
	shortest := time.Hour
	for b.Loop() {
		start := time.Now()
		for i := range pairs {
			do(pairs[i][0], pairs[i][1])
		}
		shortest = min(shortest, time.Since(start))
	}
	n := float64(len(pairs))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/variable")
	b.ReportMetric(float64(shortest.Nanoseconds())/n, "best-ns/variable")
}

func BenchmarkCorpusClassify(b *testing.B) {
	c := New(nil)
	overCorpus(b, func(name, value string) { c.Classify(name, value) })
}

func BenchmarkCorpusShape(b *testing.B) {
	overCorpus(b, func(name, value string) { Shape(name, value) })
}
