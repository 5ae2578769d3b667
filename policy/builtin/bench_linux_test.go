package builtin

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// processor is the processor's time that the process has used: on a machine that
// others use too, the wall clock says little.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

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

func BenchmarkCorpusClassify(b *testing.B) {
	pairs, c := corpusPairs(b), New(nil)
	b.ReportAllocs()
	start := processor(b)
	for b.Loop() {
		for i := range pairs {
			c.Classify(pairs[i][0], pairs[i][1])
		}
	}
	b.ReportMetric(float64((processor(b)-start).Nanoseconds())/float64(b.N)/float64(len(pairs)), "cpu-ns/variable")
}

func BenchmarkCorpusShape(b *testing.B) {
	pairs := corpusPairs(b)
	b.ReportAllocs()
	start := processor(b)
	for b.Loop() {
		for i := range pairs {
			Shape(pairs[i][0], pairs[i][1])
		}
	}
	b.ReportMetric(float64((processor(b)-start).Nanoseconds())/float64(b.N)/float64(len(pairs)), "cpu-ns/variable")
}
