package soaktest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

const policies = "/etc/envscrub"

// The policies that are in force by turns. None lets a container show a planted value.
func (s *soak) good() []string {
	base := fmt.Sprintf("runtimes = [%q, %q]\nshim = %q\n", filepath.Join(s.bin, "runc"), filepath.Join(s.bin, "crun"), filepath.Join(s.bin, "envscrub-shim"))
	const rest = "[harden]\nshim_timeout = \"30s\"\n[nri]\nnamespaces = [\"soak\"]\n"
	return []string{
		base + rest,
		base + "inherit = \"core\"\nallow = [\"SOAK_*\"]\n" + rest,
		base + rest + "[agent]\nkeep = [\"OPENAI_API_KEY\"]\n", // the guard stays
	}
}

// The policies that no container may start with: cut off, contradicting itself, unknown keys.
var bad = []string{"mode = ", "allow = [\"OPENAI_API_KEY\"]\n", "alow = []\n", "\x00"}

// policy replaces the policy, as an administrator's editor does: by rename.
func (s *soak) policy(text string) {
	next := filepath.Join(policies, "next")
	err := os.WriteFile(next, []byte(text), 0o644)
	if err == nil {
		err = os.Rename(next, filepath.Join(policies, "policy.toml"))
	}
	if err != nil {
		s.t.Error(err)
	}
}

func (s *soak) ballast(full bool) {
	for _, dir := range s.stores {
		path := filepath.Join(dir, "ballast")
		if full {
			// The file system has 256 KiB: the rest of it, and more.
			_ = os.WriteFile(path, bytes.Repeat([]byte{'x'}, 256<<10), 0o600)
		} else {
			_ = os.Remove(path)
		}
	}
}

func (s *soak) mend() {
	s.ballast(false)
	s.policy(s.good()[0])
}

// trouble lets storms and calm take turns until the time is up, and leaves calm behind.
func (s *soak) trouble(ctx context.Context, random *rand.Rand) {
	defer s.mend()
	for ctx.Err() == nil && !s.t.Failed() {
		s.storm(ctx, random)
		s.mend()
		s.calm(ctx)
	}
}

// storm kills, fills and breaks.
func (s *soak) storm(ctx context.Context, random *rand.Rand) {
	s.count.storms++
	good, victims := s.good(), s.named()
	mended := 0 // from this event on
	for event := range 60 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(random.IntN(80)) * time.Millisecond):
		}
		if event == mended {
			s.ballast(false)
			s.policy(good[random.IntN(len(good))])
			s.count.changed++
		}
		switch n := random.IntN(15); {
		case n == 0:
			s.ballast(true)
			s.count.full++
			mended = event + 4
		case n == 1:
			s.policy(bad[random.IntN(len(bad))])
			s.count.broken++
			mended = event + 2
		case n < 4:
			s.policy(good[random.IntN(len(good))])
			s.count.changed++
		default:
			s.hunt(victims[random.IntN(len(victims))], random)
		}
	}
}

// calm lasts until every door has let a container through from its beginning to its end.
func (s *soak) calm(ctx context.Context) {
	before := map[*passage]int{}
	s.Lock()
	for _, p := range s.doors {
		before[p] = p.well
	}
	s.Unlock()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
		s.Lock()
		done := true
		for p, n := range before {
			done = done && p.well > n
		}
		s.Unlock()
		if done || s.t.Failed() {
			return
		}
	}
}
