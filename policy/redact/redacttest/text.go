// Package redacttest makes up log text and secret values for tests and benchmarks. The same
// seed gives the same text. Neither contains the other.
package redacttest

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/envscrub/envscrub/policy/redact"
)

var (
	levels = []string{"INFO", "WARN", "DEBUG"}
	words  = []string{
		"request", "completed", "for", "user", "session", "GET", "POST", "/api/v1/items", "/healthz", "status",
		"duration", "level", "info", "warn", "connection", "timeout", "retry", "cache", "miss", "hit", "worker",
		"token", "expired", "upstream", "https://example.com/path?id=",
	}
	// What values of some real kinds begin with.
	heads = []string{"", "", "sk-", "ghp_", "AKIA", "xoxb-", "eyJhbGciOi"}
)

// LogText is n bytes of lines as services write them.
func LogText(seed uint64, n int) []byte {
	rnd := rand.New(rand.NewPCG(seed, 1))
	var b bytes.Buffer
	b.Grow(n + 1024)
	for b.Len() < n {
		fmt.Fprintf(&b, "2026-11-%02dT%02d:%02d:%02d.%03dZ %s ", rnd.IntN(30)+1, rnd.IntN(24), rnd.IntN(60), rnd.IntN(60), rnd.IntN(1000), levels[rnd.IntN(len(levels))])
		for range 6 + rnd.IntN(10) {
			b.WriteString(words[rnd.IntN(len(words))])
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "req=%016x ms=%d\n", rnd.Uint64(), rnd.IntN(5000))
	}
	return b.Bytes()[:n]
}

// Secrets are n values of shortest to longest bytes.
func Secrets(seed uint64, n, shortest, longest int) []redact.Secret {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	rnd := rand.New(rand.NewPCG(seed, 2))
	s := make([]redact.Secret, n)
	for i := range s {
		length := shortest + rnd.IntN(longest-shortest+1)
		v := []byte(heads[rnd.IntN(len(heads))])
		for len(v) < length {
			v = append(v, alphabet[rnd.IntN(len(alphabet))])
		}
		s[i] = redact.Secret{Name: fmt.Sprint("SECRET_", i), Value: string(v[:length])}
	}
	return s
}
