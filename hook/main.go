package hook

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"
	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/hook/audit"
)

const usage = `usage: envscrub-hook [OPTION]... [STAGE] < STATE

An OCI hook: started by a container runtime or by Podman, not by hand.

stages:
  createRuntime  the container's process starts scrubbed, or not at all
  precreate      Podman's own: configuration in, changed configuration out
  poststop       forgets the container

Without a stage the state's status tells which it is, createRuntime or poststop.

options:
  --policy FILE       this policy in place of the standard files (repeatable)
  --state-dir DIR     records of containers, in place of /run/envscrub
  --log FILE          append log lines to FILE, "-" for standard error
  --log-level LEVEL   error, warning, info (default) or debug
  --log-format FORMAT text (default) or json
  --version           print the version
  --help              print this
`

// Main is the program envscrub-hook. It returns the exit status: 0, or 1 after one
// line on stderr, and then the container must not start.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	GrowStack()
	o, err := parseArgs(args)
	var input []byte
	if err == nil && o.print != "" {
		_, err = io.WriteString(stdout, o.print)
	} else {
		// Read before anything can go wrong: see ReadInput.
		var e error
		if input, e = ReadInput(stdin); err == nil {
			err = e
		}
		if err == nil {
			err = o.run(input, stdout, stderr)
		}
	}
	if err == nil {
		return 0
	}
	line := "envscrub-hook: " + oneLine(err) + "\n"
	_, _ = io.WriteString(stderr, line)
	if nobodyReads(stderr) {
		o.tell(line)
	}
	return 1
}

// nobodyReads tells whether stderr is /dev/null: crun gives it to every hook, Podman
// to those of the precreate stage.
func nobodyReads(stderr io.Writer) bool {
	file, ok := stderr.(*os.File)
	return ok && sameFile("/proc/self/fd/"+strconv.Itoa(int(file.Fd())), os.DevNull)
}

// tell says why a container does not start where somebody may read it, who gets no
// more than "exit code 1" otherwise: the standard error of who called the hook, and
// the system's log (where Podman with crun shows nothing but crun's own words).
func (o *options) tell(line string) {
	if caller, err := unix.PidfdOpen(os.Getppid(), 0); err == nil {
		// The descriptor itself: a file opened anew would have a position of its own.
		if fd, err := unix.PidfdGetfd(caller, 2, 0); err == nil {
			_, _ = unix.Write(fd, []byte(line))
			unix.Close(fd)
		}
		unix.Close(caller)
	}
	e := &audit.Event{Door: doorHook, Action: "create", Outcome: audit.Refused, Reason: strings.TrimSpace(line)}
	if o.state != nil {
		e.ID = o.state.ID
	}
	_ = audit.Record(audit.Config{File: audit.Syslog}, e)
}

// oneLine keeps an error from breaking out of its line.
func oneLine(err error) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return ';'
		}
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, err.Error())
}

type options struct {
	Hook
	stage             string
	log, level, forms string
	print             string
	state             *State // but for precreate
}

func parseArgs(args []string) (*options, error) {
	o := &options{level: "info", forms: "text"}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if !strings.HasPrefix(arg, "-") {
			if o.stage != "" {
				return o, fmt.Errorf("unexpected argument %q after the stage", arg)
			}
			o.stage = arg
			continue
		}
		name, value, given := strings.Cut(arg, "=")
		switch name {
		case "--help", "-h":
			o.print = usage
			return o, nil
		case "--version":
			o.print = "envscrub-hook " + version() + "\n"
			return o, nil
		case "--policy", "--state-dir", "--log", "--log-level", "--log-format":
		default:
			return o, fmt.Errorf("unknown option %q", name)
		}
		if !given {
			if len(args) == 0 {
				return o, fmt.Errorf("option %s needs a value", name)
			}
			value, args = args[0], args[1:]
		}
		if value == "" {
			return o, fmt.Errorf("option %s has an empty value", name)
		}
		switch name {
		case "--policy":
			o.Policies = append(o.Policies, value)
		case "--state-dir":
			o.StateDir = value
		case "--log":
			o.log = value
		case "--log-level":
			o.level = value
		case "--log-format":
			o.forms = value
		}
	}
	return o, nil
}

// version is the build's name, or the module's version, as the build recorded it.
func version() string {
	if name := order.Build(); name != "" {
		return name
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func (o *options) run(input []byte, stdout, stderr io.Writer) (err error) {
	if o.stage != "precreate" {
		if o.state, err = ParseState(input); err != nil {
			return err
		}
	}
	if o.stage == "" {
		if o.stage, err = stageOf(o.state); err != nil {
			return err
		}
	}
	closeLog, err := o.openLog(stderr)
	if err != nil {
		return err
	}
	switch o.stage {
	case "createRuntime", "prestart": // CRI-O's files still say prestart, and run it as createRuntime
		err = o.CreateRuntime(o.state)
	case "precreate":
		err = o.Precreate(input, stdout)
	case "poststop":
		err = o.Poststop(o.state)
	case "createContainer", "startContainer", "poststart":
		err = fmt.Errorf("stage %s: nothing can be scrubbed there; the hook belongs in createRuntime", o.stage)
	default:
		err = fmt.Errorf("unknown stage %q: createRuntime, precreate or poststop", o.stage)
	}
	return errors.Join(err, closeLog())
}

// stageOf tells by the state which stage this must be.
func stageOf(s *State) (string, error) {
	switch s.Status {
	case "creating", "created":
		return "createRuntime", nil
	case "stopped":
		return "poststop", nil
	}
	return "", fmt.Errorf("no stage was given, and none of ours has a container that is %q", s.Status)
}

// openLog sets the log up. Without --log it is standard error, unless that is the
// container's own or somebody's terminal, as with crun in the foreground: what a user sees must be what it
// was without envscrub.
func (o *options) openLog(stderr io.Writer) (func() error, error) {
	level, err := logrus.ParseLevel(o.level)
	if err != nil {
		return nil, fmt.Errorf("option --log-level: %q is not a level: error, warning, info or debug", o.level)
	}
	o.Log = &logrus.Logger{Out: stderr, Level: level, Hooks: logrus.LevelHooks{}, ExitFunc: os.Exit}
	toFile := o.log != "" && o.log != "-" // else whoever collects it knows the time
	switch o.forms {
	case "text":
		o.Log.Formatter = &logrus.TextFormatter{DisableColors: true, DisableTimestamp: !toFile}
	case "json":
		o.Log.Formatter = &logrus.JSONFormatter{DisableTimestamp: !toFile}
	default:
		return nil, fmt.Errorf("option --log-format: %q is neither text nor json", o.forms)
	}
	switch o.log {
	case "-":
	case "":
		if o.state != nil && seen(stderr, o.state.Pid) {
			o.Log.Level = logrus.WarnLevel
		}
	default:
		file, err := os.OpenFile(o.log, os.O_WRONLY|os.O_APPEND|os.O_CREATE|unix.O_NONBLOCK, 0o600)
		if err != nil {
			return nil, fmt.Errorf("option --log: %w", err)
		}
		o.Log.Out = file
		return file.Close, nil
	}
	return func() error { return nil }, nil
}

// seen tells whether what goes to stderr is seen by the user of the container.
func seen(stderr io.Writer, pid int) bool {
	file, ok := stderr.(*os.File)
	if !ok {
		return false
	}
	fd := int(file.Fd())
	if _, err := unix.IoctlGetTermios(fd, unix.TCGETS); err == nil {
		return true
	}
	var own, its unix.Stat_t
	return unix.Fstat(fd, &own) == nil && unix.Stat("/proc/"+strconv.Itoa(pid)+"/fd/2", &its) == nil &&
		own.Dev == its.Dev && own.Ino == its.Ino
}
