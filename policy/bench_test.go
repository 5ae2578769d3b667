package policy

import (
	"fmt"
	"strconv"
	"testing"
	"time"
)

// typical gives n variables as an agent container has them: one in ten a credential, the rest settings.
func typical(n int) []string {
	names := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/home/agent", "LANG=C.UTF-8",
		"NODE_VERSION=22.11.0", "PYTHONPATH=/srv/app/lib", "SERVICE_HOST=10.2.3.4", "OPENAI_BASE_URL=https://api.example.com/v1",
		"MAX_TOKENS=4096", "https_proxy=http://proxy.example.com:3128", "DATABASE_PASSWORD=kd83-Hn2k-Pq9z",
	}
	env := make([]string, n)
	for i := range env {
		env[i] = names[i%len(names)]
		if i >= len(names) {
			j := 0
			for env[i][j] != '=' {
				j++
			}
			env[i] = env[i][:j] + "_" + strconv.Itoa(i/len(names)) + env[i][j:]
			if i%len(names) == 9 {
				env[i] = "S" + strconv.Itoa(i) + "_" + names[9] + strconv.Itoa(i)
			}
		}
	}
	return env
}

func BenchmarkDecide(b *testing.B) {
	v, err := Default().For(Subject{})
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{30, 300, 3000} {
		env := typical(n)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			decideOften(b, v, env)
		})
	}
}

// decideOften reports the average and the shortest run: the latter is what counts on a machine that does other work.
func decideOften(b *testing.B, v *View, env []string) {
	shortest := time.Hour
	for b.Loop() {
		start := time.Now()
		if _, err := v.Decide(env); err != nil {
			b.Fatal(err)
		}
		shortest = min(shortest, time.Since(start))
	}
	n := float64(len(env))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/var")
	b.ReportMetric(float64(shortest.Nanoseconds())/n, "best-ns/var")
}

// BenchmarkDefault is what each container start pays before the first variable.
func BenchmarkDefault(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Default().For(Subject{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAliases has half of the variables removed, and the rest begin like them: the worst case for rule 5.
func BenchmarkAliases(b *testing.B) {
	for _, n := range []int{300, 3000} {
		env := make([]string, n)
		for i := range env {
			if i%2 == 0 {
				env[i] = fmt.Sprintf("S%d_TOKEN=AAAAAAAAAAAAAAAAAAAA-%d", i, i)
			} else {
				env[i] = fmt.Sprintf("S%d_PLAIN=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA%d", i, i)
			}
		}
		v, _ := Default().For(Subject{})
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			decideOften(b, v, env)
		})
	}
}

// BenchmarkLoad reads a policy with every key in it, as each container start does.
func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		p, err := Load(LoadOptions{Files: []string{corpus + "/good/full.toml"}})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.For(subject); err != nil {
			b.Fatal(err)
		}
	}
}
