package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// MetricsFile is the file's name in the collector's directory.
const MetricsFile = "envscrub.prom"

const (
	containers = "envscrub_containers_total"
	removed    = "envscrub_removed_total"
	refused    = "envscrub_refused_total"
)

// families in the order in which they are written.
var families = [...]struct{ name, help string }{
	{containers, "Containers that a door decided about."},
	{removed, "Variables taken out of containers."},
	{refused, "Containers and execs that were not started."},
}

// lockWait bounds how long a start waits for another one's update.
const lockWait = 3 * time.Second

// count adds e to the counters in dir.
func count(dir string, e *Event) error {
	unlock, err := lock(filepath.Join(dir, "."+MetricsFile+".lock"))
	if err != nil {
		return err
	}
	defer unlock()
	path := filepath.Join(dir, MetricsFile)
	old, err := readRegular(path)
	if err != nil {
		return err
	}
	samples, err := parse(old)
	if err != nil {
		return fmt.Errorf("%s: %w; remove it to start the counters anew", path, err)
	}
	labels := `{door="` + label(e.Door) + `",engine="` + label(e.Engine) + `",profile="` + label(e.Profile) + `"}`
	if e.Action != "exec" {
		samples[containers+labels]++
	}
	if e.Outcome == Scrubbed {
		samples[removed+labels] += uint64(len(e.Removed))
	}
	if e.Outcome == Refused {
		samples[refused+labels]++
	}
	return replace(path, render(samples))
}

// label escapes a label's value as the text format wants it.
func label(s string) string {
	if !strings.ContainsAny(s, "\\\"\n\r") {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", " ").Replace(s)
}

// parse reads what render wrote: series and their values.
func parse(text []byte) (map[string]uint64, error) {
	samples := map[string]uint64{}
	for n, line := range bytes.Split(text, []byte{'\n'}) {
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		series, value, ok := strings.Cut(string(line), "} ")
		if !ok || !slices.ContainsFunc(families[:], func(f struct{ name, help string }) bool {
			return strings.HasPrefix(series, f.name+"{")
		}) {
			return nil, fmt.Errorf("line %d was not written by envscrub", n+1)
		}
		v, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: the value is not a count", n+1)
		}
		samples[series+"}"] = v
	}
	return samples, nil
}

func render(samples map[string]uint64) []byte {
	series := make([]string, 0, len(samples))
	for s := range samples {
		series = append(series, s)
	}
	slices.Sort(series)
	b := make([]byte, 0, 256+64*len(series))
	for _, f := range families {
		b = append(b, "# HELP "+f.name+" "+f.help+"\n# TYPE "+f.name+" counter\n"...)
		for _, s := range series {
			if strings.HasPrefix(s, f.name+"{") {
				b = append(b, s...)
				b = append(b, ' ')
				b = strconv.AppendUint(b, samples[s], 10)
				b = append(b, '\n')
			}
		}
	}
	return b
}

// lock takes an advisory lock that dies with the process. Who waits stands in the
// kernel's queue, so that a hundred starts at once pass one another the lock
// without a pause.
func lock(path string) (unlock func(), err error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		got := make(chan error, 1)
		go func() { got <- flock(fd) }()
		timer := time.NewTimer(lockWait)
		defer timer.Stop()
		select {
		case err = <-got:
		case <-timer.C:
			go func() {
				<-got
				unix.Close(fd)
			}()
			return nil, fmt.Errorf("%s: held by another process for more than %s", path, lockWait)
		}
	}
	if err != nil {
		unix.Close(fd)
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return func() { unix.Close(fd) }, nil
}

func flock(fd int) error {
	for {
		if err := unix.Flock(fd, unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func readRegular(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is not a regular file", path)
	}
	return os.ReadFile(path)
}

// replace is not synced on purpose: see the package's known holes.
func replace(path string, data []byte) error {
	// Under the lock the name is ours alone; a leftover of a killed process is reused.
	tmp := filepath.Join(filepath.Dir(path), "."+MetricsFile+".new")
	fd, err := unix.Open(tmp, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return &os.PathError{Op: "open", Path: tmp, Err: err}
	}
	f := os.NewFile(uintptr(fd), tmp)
	_, err = f.Write(data)
	if err == nil {
		// node-exporter runs as its own user; the umask of an engine may be 077.
		err = f.Chmod(0o644)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
