package docker

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/envscrub/envscrub/install"
)

// daemon is the dockerd that our file is meant for, if it runs.
type daemon struct {
	pid  int
	args []string
}

// findDaemon finds the host's dockerd by its standard pid file, or, with
// Options.Config, the one that was started with that file.
func findDaemon(o install.Options) daemon {
	if o.Root != "" {
		return daemon{}
	}
	if o.Config != "" {
		for _, d := range running() {
			if file, ok := d.flag("config-file"); ok && file == o.Config {
				return d
			}
		}
		return daemon{}
	}
	files := []string{"/run/docker.pid", "/var/run/docker.pid"}
	if o.User != nil {
		files = []string{filepath.Join(o.User.RuntimeDir, "docker.pid")}
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil {
			continue
		}
		if d := dockerd(pid); d.pid > 0 {
			return d
		}
	}
	return daemon{}
}

// running are all daemons on this host.
func running() []daemon {
	var out []daemon
	comms, _ := filepath.Glob("/proc/[0-9]*/comm") // the pattern is a good one
	for _, comm := range comms {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(comm)))
		if err != nil {
			continue
		}
		if d := dockerd(pid); d.pid > 0 {
			out = append(out, d)
		}
	}
	return out
}

// elsewhere says that a daemon runs which is not the standard one and will not
// see what is written into file, as that of a snap package.
func (d daemon) elsewhere(o install.Options, file string) []string {
	if d.pid > 0 || o.Root != "" || o.Config != "" || o.User != nil {
		return nil
	}
	var notes []string
	for _, other := range running() {
		if read, ok := other.flag("config-file"); ok && read != file {
			notes = append(notes, fmt.Sprintf("a dockerd is running (process %d) that reads %s and not %s; if it is the one that is meant: --config %s", other.pid, read, file, read))
		}
	}
	return notes
}

func dockerd(pid int) daemon {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	comm, err := os.ReadFile(filepath.Join(dir, "comm"))
	if err != nil || strings.TrimSpace(string(comm)) != "dockerd" {
		return daemon{}
	}
	line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil {
		return daemon{}
	}
	return daemon{pid: pid, args: strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")}
}

// flag looks for an option on the daemon's command line.
func (d daemon) flag(name string) (string, bool) {
	for i, arg := range d.args {
		if arg == "--"+name && i+1 < len(d.args) {
			return d.args[i+1], true
		}
		if value, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// conflict says why what we write into file would have no effect, or would keep
// the daemon from starting again.
func (d daemon) conflict(file string) error {
	if d.pid == 0 {
		return nil
	}
	if other, ok := d.flag("config-file"); ok && other != file {
		return fmt.Errorf("the running dockerd reads %s, not %s; name it: --config %s", other, file, other)
	}
	for _, name := range []string{"add-runtime", "default-runtime"} {
		if _, ok := d.flag(name); ok {
			return fmt.Errorf("the running dockerd was started with --%s, and refuses to start when its file sets the same; move that option into %s first", name, file)
		}
	}
	return nil
}

func (d daemon) reloadCommand() []string {
	if _, err := os.Stat("/run/systemd/system"); err == nil {
		if cgroup, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", d.pid)); err == nil && strings.Contains(string(cgroup), "docker.service") {
			return []string{"systemctl", "reload", "docker"}
		}
	}
	return []string{"kill", "-HUP", strconv.Itoa(d.pid)}
}

// reload makes a running daemon read its file again: runtimes are among what it
// takes over without a restart, so containers go on.
func (d daemon) reload(o install.Options, changed bool, r *install.Report) error {
	if d.pid == 0 || !changed {
		return nil
	}
	s := install.Restart{Why: "dockerd reads its runtimes again; running containers go on", Command: d.reloadCommand()}
	if o.Restart && !o.DryRun {
		if out, err := exec.Command(s.Command[0], s.Command[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(s.Command, " "), err, strings.TrimSpace(string(out)))
		}
		s.Done = true
	}
	r.Restart = append(r.Restart, s)
	if s.Done {
		return d.settled(o, r)
	}
	return nil
}

// settled waits until the daemon has taken the change over, as far as it can be
// asked: the signal alone proves nothing.
func (d daemon) settled(o install.Options, r *install.Report) error {
	want := false
	for _, c := range r.Changes {
		want = want || c.Action == install.Created || c.Action == install.Edited
	}
	if !want {
		return nil
	}
	for range 50 {
		loaded, known := loadedRuntimes()
		if !known {
			r.Notes = append(r.Notes, "dockerd could not be asked whether it has taken the change over (docker info failed)")
			return nil
		}
		if loaded[install.RuntimeName] {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("dockerd (process %d) was told to reload %s and still does not know the runtime %q; see its log", d.pid, configFile(o), install.RuntimeName)
}
