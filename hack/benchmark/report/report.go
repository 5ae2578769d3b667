package report

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// Report is everything that one run measured.
type Report struct {
	Date    string   `json:"date"`
	Machine string   `json:"machine"`
	Load    string   `json:"load"` // average of the last minute, when the run began and when it ended
	Timings []Timing `json:"timings"`
	Values  []Value  `json:"values"`
	Curves  []Curve  `json:"curves"`
}

// Role is what a variant stands for in its figure.
type Role string

// The roles. A figure's first variant is its base, whatever its role is.
const (
	Base  Role = "base"  // without us
	Floor Role = "floor" // the least that anything in our place costs
	Peer  Role = "peer"  // what else there is
	Ours  Role = "ours"
)

// Timing is the result for one variant of a figure, in seconds.
type Timing struct {
	Figure  string `json:"figure"`
	Variant string `json:"variant"`
	Role    Role   `json:"role"`
	// Kind is what was timed, where it is not the time on the clock for one run: "processor time", "per MB".
	Kind    string `json:"kind,omitempty"`
	Rounds  int    `json:"rounds"`
	Seconds Spread `json:"seconds"`
	// Ratio is to the figure's base, Cost to its floor (the base where there is none), both round by round.
	Ratio Spread `json:"ratio"`
	Cost  Spread `json:"cost"`
	// Headline is the row's name in the README's table, "" for none.
	Headline string `json:"headline,omitempty"`
}

// Value is a figure that is not a comparison of times: memory, sizes.
type Value struct {
	Figure   string  `json:"figure"`
	Variant  string  `json:"variant"`
	Role     Role    `json:"role"`
	Value    float64 `json:"value"`
	Unit     string  `json:"unit"`
	Headline string  `json:"headline,omitempty"`
}

// New says where and when a run begins.
func New(now time.Time) *Report {
	return &Report{Date: now.UTC().Format("2006-01-02"), Machine: machine(), Load: load()}
}

// End says under which load the run ended.
func (r *Report) End() { r.Load += " – " + load() }

// Read reads a report that was kept as JSON.
func Read(file string) (*Report, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the report: %w", err)
	}
	r := new(Report)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("read the report %s: %w", file, err)
	}
	return r, nil
}

// JSON is the report for a later comparison.
func (r *Report) JSON() ([]byte, error) {
	data, err := json.MarshalIndent(r, "", "  ")
	return append(data, '\n'), err
}

// machine is the kind of machine: processor, how many, kernel.
func machine() string {
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	cpu := "unknown processor"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(info), "model name\t: "); ok {
			cpu, _, _ = strings.Cut(rest, "\n")
		}
	}
	return fmt.Sprintf("%s, %d CPUs, Linux %s, %s", cpu, runtime.NumCPU(), strings.TrimSpace(string(kernel)), runtime.GOARCH)
}

func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	minute, _, _ := strings.Cut(string(text), " ")
	return minute
}
