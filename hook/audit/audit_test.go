package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var sample = Event{
	Time: time.Date(2026, 3, 4, 5, 6, 7, 8e6, time.UTC),
	Door: "runtime", Action: "create", Outcome: Scrubbed, Engine: "podman",
	ID: "c0ffee", Image: "localhost/agent:1", Profile: "strict",
	Kept: 12, Set: 1, AgentOnly: 1,
	Removed: []Name{
		{"OPENAI_API_KEY", "deny exact OPENAI_API_KEY", "built-in"},
		{"we\"ird\nname\x00\xff\u2028", "deny *_TOKEN", "/etc/envscrub/policy.toml:3"},
	},
}

func TestLineIsJSON(t *testing.T) {
	line := sample.AppendJSON(nil, 10)
	if bytes.ContainsAny(line, "\n\x00") {
		t.Errorf("raw control characters in %q", line)
	}
	var got struct {
		Time, Door, Action, Outcome, Engine, ID, Image, Profile string
		Kept, Removed, Set, Unset                               int
		AgentOnly                                               int `json:"agent_only"`
		Names                                                   []struct{ Name, Rule, At string }
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&got); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if got.Time != "2026-03-04T05:06:07.008Z" || got.Engine != "podman" || got.Removed != 2 || got.Kept != 12 || got.AgentOnly != 1 {
		t.Errorf("got %+v", got)
	}
	if got.Names[0].Name != "OPENAI_API_KEY" || got.Names[1].Name != "we\"ird\nname\x00\ufffd\u2028" {
		t.Errorf("names %+v", got.Names)
	}
}

func TestLineSaysWhatItLeavesOut(t *testing.T) {
	line := sample.AppendJSON(nil, 1)
	if !strings.HasSuffix(string(line), `"more":1}`) || strings.Contains(string(line), "ird") {
		t.Errorf("%s", line)
	}
}

func FuzzLine(f *testing.F) {
	f.Add("NAME", "rule", "reason")
	f.Add("\xf0\x28\x8c\x28", "\u2029\x7f", "\\u0000")
	f.Fuzz(func(t *testing.T, name, rule, reason string) {
		e := Event{Reason: reason, Removed: []Name{{Name: name, Rule: rule}}}
		line := e.AppendJSON(nil, 1)
		if !json.Valid(line) || bytes.ContainsAny(line, "\n\r") {
			t.Errorf("%q", line)
		}
	})
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.log")
	c := Config{File: path}
	const n = 50
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			e := sample
			if err := Record(c, &e); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if len(lines) != n {
		t.Fatalf("%d lines, want %d", len(lines), n)
	}
	for _, l := range lines {
		if !json.Valid([]byte(l)) {
			t.Errorf("not one JSON object: %s", l)
		}
	}
	if info, _ := os.Stat(path); info.Mode().Perm()&0o007 != 0 {
		t.Errorf("mode %v: others may read it", info.Mode())
	}

	// The system rotates: the next line goes into a new file.
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if err := Record(c, &sample); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestRefusedPlaces(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := os.WriteFile(target, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(dir, "fifo")
	if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, tc := range []struct {
		name string
		c    Config
		want string
	}{
		{"symlink", Config{File: link}, "is a symlink"},
		{"fifo", Config{File: fifo}, "no such device"},
		{"directory", Config{File: dir}, "is a directory"},
		{"relative", Config{File: "audit.log"}, "not an absolute path"},
		{"no directory", Config{File: filepath.Join(dir, "a/b")}, "no such file"},
		{"metrics directory missing", Config{Metrics: filepath.Join(dir, "none")}, "no such file"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := Record(tc.c, &sample)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want ...%s...", err, tc.want)
			}
		})
	}
	if data, _ := os.ReadFile(target); string(data) != "keep" {
		t.Errorf("the symlink's target was written to: %q", data)
	}
}

func TestSyslog(t *testing.T) {
	sock := filepath.Join(t.TempDir(), "log")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: sock, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	defer func(old string) { devLog = old }(devLog)
	devLog = sock

	big := sample
	big.Outcome = Refused
	for i := range 5000 {
		big.Removed = append(big.Removed, Name{Name: fmt.Sprintf("SOME_LONG_NAME_%d_TOKEN", i), Rule: "deny *_TOKEN"})
	}
	for _, e := range []Event{sample, big} {
		if err := Record(Config{File: Syslog}, &e); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 1<<20)
		n, err := conn.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		head, body, ok := strings.Cut(string(buf[:n]), ": ")
		if !ok || !json.Valid([]byte(body)) {
			t.Fatalf("%.300q", buf[:n])
		}
		want := "<85>envscrub["
		if e.Outcome == Refused {
			want = "<84>envscrub["
			if !strings.Contains(body, `"removed":5002`) || !strings.Contains(body, `"more":`) {
				t.Errorf("a truncated line must say so: %.200s", body)
			}
		}
		if !strings.HasPrefix(head, want) {
			t.Errorf("head %q, want %q", head, want)
		}
	}

	conn.Close()
	if err := Record(Config{File: Syslog}, &sample); err == nil {
		t.Error("nobody listens, no error")
	}
}

func TestMetrics(t *testing.T) {
	dir := t.TempDir()
	c := Config{Metrics: dir}
	const n = 100
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			e := sample
			if i%4 == 0 {
				e.Outcome = Refused
			}
			if err := Record(c, &e); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	odd := Event{Door: "nri", Engine: "containerd", Profile: "a\"b\\c\nd", Action: "exec", Outcome: Refused}
	if err := Record(c, &odd); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, MetricsFile))
	if err != nil {
		t.Fatal(err)
	}
	want := `# HELP envscrub_containers_total Containers that a door decided about.
# TYPE envscrub_containers_total counter
envscrub_containers_total{door="runtime",engine="podman",profile="strict"} 100
# HELP envscrub_removed_total Variables taken out of containers.
# TYPE envscrub_removed_total counter
envscrub_removed_total{door="runtime",engine="podman",profile="strict"} 150
# HELP envscrub_refused_total Containers and execs that were not started.
# TYPE envscrub_refused_total counter
envscrub_refused_total{door="nri",engine="containerd",profile="a\"b\\c\nd"} 1
envscrub_refused_total{door="runtime",engine="podman",profile="strict"} 25
`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*.new"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestForeignMetricsFileSurvives(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, MetricsFile)
	for _, text := range []string{"node_load1 0.5\n", "envscrub_removed_total{door=\"x\"} many\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := Record(Config{Metrics: dir}, &sample); err == nil {
			t.Errorf("%q: no error", text)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestStuckLockIsGivenUp(t *testing.T) {
	dir := t.TempDir()
	unlock, err := lock(filepath.Join(dir, "."+MetricsFile+".lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	start := time.Now()
	err = Record(Config{Metrics: dir}, &sample)
	if err == nil || !strings.Contains(err.Error(), "held by another process") {
		t.Errorf("got %v", err)
	}
	if d := time.Since(start); d > 5*lockWait {
		t.Errorf("waited %s", d)
	}
}

func TestEngineOf(t *testing.T) {
	for key, want := range map[string]string{
		"io.kubernetes.cri-o.ContainerType": "cri-o",
		"io.kubernetes.cri.container-type":  "containerd",
		"io.container.manager":              "podman",
		"org.example":                       "oci",
	} {
		if got := EngineOf(map[string]string{key: "x"}); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	dir := b.TempDir()
	for name, c := range map[string]Config{
		"off":     {},
		"file":    {File: filepath.Join(dir, "log")},
		"metrics": {Metrics: dir},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := Record(c, &sample); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
