package docker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/jsonedit"
)

// daemon is the dockerd that our file is meant for, if it runs.
type daemon struct {
	pid  int
	args []string
}

// findDaemons finds the running daemons that read file, by what /proc says of
// them: a pid file may be anywhere.
func findDaemons(o install.Options, file string) readers {
	if o.Root != "" {
		return nil
	}
	var out readers
	for _, d := range running() {
		if d.reads(o, file) {
			out = append(out, d)
		}
	}
	return out
}

// readers are the running daemons that read our file.
type readers []daemon

// reads reports whether the daemon takes its configuration from our file: by name,
// and in the same tree, for one in a container has an /etc of its own.
func (d daemon) reads(o install.Options, file string) bool {
	dir := fmt.Sprintf("/proc/%d", d.pid)
	if read, ok := d.flag("config-file"); ok {
		if filepath.Clean(read) != filepath.Clean(file) {
			return false
		}
	} else {
		uid := 0
		if o.User != nil {
			uid = o.User.UID
		}
		standard := o
		standard.Config = ""
		info, err := os.Stat(dir)
		if err != nil || configFile(standard) != filepath.Clean(file) {
			return false
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != uid {
			return false
		}
	}
	for parent := filepath.Dir(file); ; parent = filepath.Dir(parent) {
		ours, err := os.Stat(parent)
		if err != nil && parent != "/" {
			continue // not made yet
		}
		theirs, terr := os.Stat(filepath.Join(dir, "root", parent))
		if errors.Is(terr, fs.ErrPermission) {
			return true // another user's: nobody can tell
		}
		return err == nil && terr == nil && os.SameFile(ours, theirs)
	}
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
func elsewhere(o install.Options, file string) []string {
	if o.Root != "" || o.Config != "" || o.User != nil {
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

func (ds readers) conflict(file string) error {
	for _, d := range ds {
		if err := d.conflict(file); err != nil {
			return err
		}
	}
	return nil
}

// bySystemd reports whether the daemon is that of the unit docker.service.
func (d daemon) bySystemd() bool {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return false
	}
	cgroup, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", d.pid))
	return err == nil && strings.Contains(string(cgroup), "docker.service")
}

func (d daemon) reloadCommand() []string {
	if d.bySystemd() {
		return []string{"systemctl", "reload", "docker"}
	}
	return []string{"kill", "-HUP", strconv.Itoa(d.pid)}
}

// stale reports whether a reload does not do: dockerd goes on with the default
// runtime that it had when its file names none any more.
func (d daemon) stale(o install.Options) bool {
	has, known := d.inEffect(o)
	if !known || has.DefaultRuntime != install.RuntimeName {
		return false
	}
	data, err := os.ReadFile(configFile(o))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	doc, err := jsonedit.Parse(data)
	if err != nil {
		return false
	}
	_, named, err := doc.Get(keyDefault)
	return err == nil && !named
}

// restart is what makes the daemon take the file over.
func (d daemon) restart(o install.Options) install.Restart {
	switch {
	case !d.stale(o):
		return install.Restart{Why: "dockerd reads its runtimes again; running containers go on", Command: d.reloadCommand()}
	case d.bySystemd():
		return install.Restart{Why: "dockerd forgets its default runtime only when it is restarted; containers are stopped unless live-restore is set", Command: []string{"systemctl", "restart", "docker"}}
	}
	return install.Restart{Why: "and start dockerd again as it was: it forgets its default runtime only then", Command: []string{"kill", strconv.Itoa(d.pid)}}
}

// reload makes the running daemons read their file again, or says how: runtimes are
// among what dockerd takes over without a restart, so containers go on.
func (ds readers) reload(o install.Options, changed bool, r *install.Report) error {
	if o.Root != "" {
		return nil
	}
	if len(ds) == 0 && changed {
		return unseen(o, r)
	}
	for _, d := range ds {
		if !changed { // an earlier change may not have arrived yet
			if has, known := d.inEffect(o); !known || has.mismatch(fromFile(o)) == "" {
				continue
			}
		}
		s := d.restart(o)
		if !o.Restart || o.DryRun {
			r.Restart = append(r.Restart, s)
			continue
		}
		if len(s.Command) == 2 { // kill PID: how to start it again is not known here
			r.Restart = append(r.Restart, s)
			return &install.RestartError{Err: fmt.Errorf("dockerd (process %d) has to be restarted, and is not started by systemd: until you do that, its default runtime is %s still", d.pid, install.RuntimeName)}
		}
		if out, err := exec.Command(s.Command[0], s.Command[1:]...).CombinedOutput(); err != nil {
			r.Restart = append(r.Restart, s)
			return &install.RestartError{Err: fmt.Errorf("%s: %w: %s", strings.Join(s.Command, " "), err, strings.TrimSpace(string(out)))}
		}
		s.Done = true
		r.Restart = append(r.Restart, s)
		if err := d.settled(o, r); err != nil {
			return &install.RestartError{Err: err}
		}
	}
	return nil
}

// unseen speaks of a daemon whose process is not among those that can be seen here.
func unseen(o install.Options, r *install.Report) error {
	if o.Config == "" {
		if _, answers := (daemon{}).inEffect(o); answers {
			const what = "a Docker daemon answers, and its process was not found"
			if o.Restart && !o.DryRun {
				return &install.RestartError{Err: errors.New(what + ": it has to be restarted by hand")}
			}
			r.Notes = append(r.Notes, what+": it has to be restarted by hand, until then it goes on as before")
			return nil
		}
	}
	r.Notes = append(r.Notes, "no running dockerd that reads "+configFile(o)+" was found; one that runs all the same has to be restarted")
	return nil
}

// settled waits until the daemon has taken the change over, as far as it can be
// asked: the signal alone proves nothing.
func (d daemon) settled(o install.Options, r *install.Report) error {
	want := fromFile(o)
	for range 50 {
		has, known := d.inEffect(o)
		if !known {
			r.Notes = append(r.Notes, "dockerd could not be asked whether it has taken the change over (docker info failed)")
			return nil
		}
		if has.mismatch(want) == "" {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	has, _ := d.inEffect(o)
	return fmt.Errorf("dockerd (process %d) was told to read %s again, and still %s; restart it, and see its log", d.pid, configFile(o), has.mismatch(want))
}
