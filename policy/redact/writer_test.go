package redact

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A drain is a writer whose reader takes what is there.
type drain struct {
	mu  sync.Mutex
	all bytes.Buffer
	new bytes.Buffer
}

func (d *drain) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all.Write(b)
	return d.new.Write(b)
}

func (d *drain) take() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.new.Reset()
	return d.new.String()
}

func write(t *testing.T, w io.Writer, s string) {
	t.Helper()
	if n, err := io.WriteString(w, s); n != len(s) || err != nil {
		t.Fatalf("Write: %d, %v", n, err)
	}
}

// pass lets a time pass in the bubble, and what is due then happen.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// report: NousResearch/hermes-agent PR#56040
func TestHoldsBackOnlyBeginningsOfValues(t *testing.T) {
	r := New(secrets(made, "another-secret-value"), 0)
	for _, tt := range []struct{ in, now, rest string }{
		{"Continue? [y/N] ", "Continue? [y/N] ", ""},
		{"is this", "is thi", "s"},
		{"sk-made-up-01234567", "", "sk-made-up-01234567"},
		{"xsk-made-down", "xsk-made-down", ""},
		{"sk-made-ano", "sk-made-", "ano"},
		{"sk-made-another-secret-values", "sk-made-[REDACTED]", "s"},
		{"s\x1b[0", "", "s\x1b[0"},
		{"prompt \x1b[0", "prompt \x1b[0", ""},
	} {
		var d drain
		w := r.NewWriter(&d, 0)
		write(t, w, tt.in)
		if got := d.take(); got != tt.now {
			t.Errorf("%q: %q at once, want %q", tt.in, got, tt.now)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := d.take(); got != tt.rest {
			t.Errorf("%q: %q at the end, want %q", tt.in, got, tt.rest)
		}
	}
	for k := range made {
		var d drain
		w := r.NewWriter(&d, 0)
		write(t, w, made[:k])
		if got := d.take(); got != "" {
			t.Errorf("%d bytes: %q came out", k, got)
		}
		write(t, w, made[k:])
		if got := d.take(); got != Placeholder {
			t.Errorf("after %d bytes: %q", k, got)
		}
	}
}

// report: dmno-dev/varlock PR#981, PR#770
func TestTimeLimit(t *testing.T) {
	const hold = 100 * time.Millisecond
	type step struct{ in, now, later string } // what comes out at once, what when the limit has passed
	for name, steps := range map[string][]step{
		"prompt that looks like a beginning": {{"Which one is", "Which one i", "s"}, {"\nok\n", "\nok\n", ""}},
		"prompt, then the value":             {{"Which one is", "Which one i", "s"}, {made[1:] + "!", "[REDACTED]!", ""}},
		"half, pause, half":                  {{"key: " + made[:12], "key: ", "[REDACTED]"}, {made[12:] + "\n", "\n", ""}},
		"half, pause, something else":        {{"key: " + made[:12], "key: ", "[REDACTED]"}, {"oops\n", made[:12] + "oops\n", ""}},
		"typed slowly": {
			{"s", "", "s"},
			{"k", "", "k"},
			{"-", "", "-"},
			{"m", "", "[REDACTED]"},
			{"a", "", ""},
			{"d", "", ""},
			{made[6:] + "\n", "\n", ""},
		},
		"typed slowly, then another": {
			{"sk-m", "", "[REDACTED]"}, {"s", "sk-m", "s"}, {made[1:], "[REDACTED]", ""},
		},
		"overlapping":      {{"values-first-seconds-", "[REDACTED]", "s-"}, {"third-values", "", ""}, {"y", "y", ""}},
		"coloured":         {{"s\x1b[0m", "", "s\x1b[0m"}, {"k-\x1b[1mmade-up-0123456789", "[REDACTED]\x1b[1m", ""}},
		"unfinished code":  {{"s\x1b[", "", "s"}, {"0mk-made-up-0123456789", "[REDACTED]\x1b[0m", ""}},
		"value in a value": {{"xx" + "password", "", "[REDACTED]"}, {"-y", "xx[REDACTED]-y", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var d drain
				w := New(secrets(made, "values-first-second", "seconds-third-values", "password", "xxpassword-xx"), 0).NewWriter(&d, hold)
				for i, s := range steps {
					write(t, w, s.in)
					pass(hold - time.Microsecond)
					if got := d.take(); got != s.now {
						t.Errorf("step %d: %q at once, want %q", i, got, s.now)
					}
					pass(2 * time.Microsecond)
					if got := d.take(); got != s.later {
						t.Errorf("step %d: %q when the limit has passed, want %q", i, got, s.later)
					}
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// However slowly a value comes, not more than three bytes of it come out.
func TestTimeLimitNeverShowsAValue(t *testing.T) {
	for cut := 1; cut < len(made); cut++ {
		for next := cut + 1; next < len(made); next++ {
			synctest.Test(t, func(t *testing.T) {
				var d drain
				w := New(secrets(made), 0).NewWriter(&d, time.Millisecond)
				for _, s := range []string{made[:cut], made[cut:next], made[next:]} {
					write(t, w, s)
					pass(2 * time.Millisecond)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				got := d.all.String()
				if strings.Count(got, Placeholder) != 1 || len(got) > maxGlimpse+len(Placeholder) {
					t.Errorf("cut at %d and %d: %q", cut, next, got)
				}
			})
		}
	}
}

// The limit counts from the first byte that waits, not from the last.
func TestTimeLimitIsNotPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d drain
		w := New(secrets(made), 0).NewWriter(&d, 100*time.Millisecond)
		start := time.Now()
		for i := range made {
			write(t, w, made[i:i+1])
			pass(30 * time.Millisecond)
			if d.take() != "" {
				if waited := time.Since(start); waited > 130*time.Millisecond {
					t.Errorf("waited %v", waited)
				}
				return
			}
		}
		t.Error("nothing came out")
	})
}

func TestManyWriters(t *testing.T) {
	var d drain
	w := New(secrets(made), 0).NewWriter(&d, time.Microsecond)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				if _, err := io.WriteString(w, "some text and "+made+"\n"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := d.all.String(), strings.Repeat("some text and [REDACTED]\n", 4000); got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

type brokenPipe struct{ left int }

var errBroken = errors.New("broken pipe")

func (b *brokenPipe) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestErrorOfTheWriterBehind(t *testing.T) {
	for _, r := range []*Redactor{New(nil, 0), New(secrets(made), 0)} {
		w := r.NewWriter(&brokenPipe{10}, 0)
		write(t, w, "0123456789")
		for range 2 {
			if n, err := io.WriteString(w, "a"+made); err != errBroken || n != 0 {
				t.Errorf("Write: %d, %v", n, err)
			}
		}
		if err := w.Close(); err != errBroken {
			t.Errorf("Close: %v", err)
		}
	}
	var d drain
	w := New(secrets(made), 0).NewWriter(&d, 0)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "late"); err != ErrClosed {
		t.Errorf("Write after Close: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// A child that writes nothing but a value's beginning and colour codes cannot make
// us keep them all.
func TestMemoryIsBounded(t *testing.T) {
	var n int
	w := New(secrets(made), 0).NewWriter(writerFunc(func(b []byte) (int, error) { n += len(b); return len(b), nil }), 0)
	write(t, w, "s")
	codes := strings.Repeat("\x1b[1;31m", 10000)
	for range 20 {
		write(t, w, codes)
	}
	if c := cap(w.tail); c > 3*piece {
		t.Errorf("%d bytes kept", c)
	}
	if n < 20*len(codes)-2*piece {
		t.Errorf("only %d bytes came out", n)
	}
	write(t, w, strings.Repeat("long "+made+" text ", 1<<20/40))
	if c := cap(w.tail); c > 3*piece {
		t.Errorf("%d bytes kept", c)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
