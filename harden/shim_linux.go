package harden

import (
	"strings"
	"syscall"

	"github.com/envscrub/envscrub/harden/order"
)

// Exit codes of the shim itself; the agent's own code passes otherwise.
const (
	exitRefused    = 125 // the shim cannot do its work
	exitNotRun     = 126 // the entrypoint cannot be executed
	exitNotFound   = 127 // there is no such entrypoint
	exitSignalBase = 128
)

const (
	// shimName is how the shim's file is called at the config door. There,
	// and only there, the order is looked for in the environment: at the mount
	// door the environment is the container's own, and not to be trusted.
	shimName = "envscrub-shim"

	// orderTime is how long the shim waits at the mount door, where nothing
	// can tell it a limit.
	orderTime = 10_000 // milliseconds
)

// failure is why the shim ends before the agent runs.
type failure struct {
	code int
	text string
}

func (f *failure) Error() string { return f.text }

func refuse(parts ...string) *failure {
	return &failure{exitRefused, strings.Join(parts, "")}
}

// job is what the shim is to start.
type job struct {
	order *order.Order
	path  string // to execute
	args  []string
	env   []string
	added []string // names of what the shim set for the agent: no secrets

	behindInit bool
}

// Main is the shim: it returns the exit code, or does not return where
// nothing has to stay behind.
func Main() int {
	im := ownImage()
	// Before all else: the environment of this process may be the full one.
	prctl(prSetDumpable, 0, 0)
	code, err := run(&im)
	if err != nil {
		say(err.Error())
		return err.code
	}
	return code
}

// say prints one line for whoever started the container.
func say(line string) {
	write(2, []byte("envscrub-shim: "+line+"\n"))
}

func run(im *image) (int, *failure) {
	j, err := receive(im)
	if err != nil {
		return 0, err
	}
	closeDiagnostics(j)
	if !j.order.Guarded() {
		if err := limit(j.order); err != nil {
			return 0, err
		}
		return 0, cannotRun(j.args[0], execve(j.path, j.args, j.env))
	}
	if n := initCommand(j.path, j.args); n > 0 {
		return 0, behindInit(j, n)
	}
	return guard(j)
}

// receive finds out by which door the shim was started, and takes its order.
func receive(im *image) (*job, *failure) {
	switch {
	case len(im.args) > 2 && strings.HasPrefix(im.execfn, fdPath) && strings.HasPrefix(im.args[1], orderArgument):
		return receiveBehindInit(im)
	case strings.HasSuffix(im.execfn, "/"+shimName):
		return receiveFromEnvironment(im)
	default:
		return receiveThroughPipe(im)
	}
}

// receiveFromEnvironment is the config door: the runtime started the shim
// with the agent's environment and the order, and the command behind its own
// name.
func receiveFromEnvironment(im *image) (*job, *failure) {
	o, env, err := order.FromEnviron(im.env)
	if err != nil {
		return nil, refuse("read ", order.Variable, ": ", err.Error())
	}
	if o == nil {
		return nil, refuse("no order: ", order.Variable, " is not set")
	}
	im.wipeStack(func(entry string) bool { return !order.IsControl(entry) })
	if len(im.args) < 2 {
		return nil, refuse("no command to run")
	}
	if len(o.Remove)+len(o.Set) > 0 {
		// An NRI plugin can blank a variable and not take it away, and an engine
		// may have ignored even that.
		env = apply(env, o)
		handed := make(map[string]bool, len(env))
		for _, entry := range env {
			handed[entry] = true
		}
		im.wipeStack(func(entry string) bool { return handed[entry] })
	}
	j := &job{order: o, args: im.args[1:], env: env}
	var fail *failure
	j.path, fail = resolve(j.args[0], env)
	return j, fail
}

// receiveThroughPipe is the mount door: this file lies over the entrypoint's,
// and the order comes once that is lifted.
func receiveThroughPipe(im *image) (*job, *failure) {
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
		return nil, refuse("make a pipe for the order: ", err.Error())
	}
	defer closeFD(p[0])
	defer closeFD(p[1])
	if errno := setName(order.Ready(p[1])); errno != 0 {
		return nil, refuse("say that the shim is ready: ", errno.Error())
	}
	// The lifter watches this very file: its closing is what wakes it.
	if fd, errno := open(im.execfn, syscall.O_RDONLY|syscall.O_CLOEXEC); errno == 0 {
		closeFD(fd)
	}
	text, until := make([]byte, 0, 8192), now()+orderTime*1e6
	for !order.Complete(text) {
		if !waitReadable(p[0], (until-now())/1e6) {
			return nil, refuse("no go-ahead from the hook within ", itoa(orderTime/1000), " s")
		}
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, errno := read(p[0], text[len(text):cap(text)])
		if errno != 0 {
			return nil, refuse("read the order: ", errno.Error())
		}
		text = text[:len(text)+n]
	}
	o, err := order.Decode(string(text))
	if err != nil {
		return nil, refuse("read the order: ", err.Error())
	}
	j := &job{order: o, path: im.execfn, args: im.args, env: apply(im.env, o)}
	if o.Guarded() {
		handed := make(map[string]bool, len(j.env))
		for _, entry := range j.env {
			handed[entry] = true
		}
		keep := func(entry string) bool { return handed[entry] }
		im.wipeStack(keep)
		im.wipeCopies(keep)
	}
	return j, nil
}

// apply makes the agent's environment at the mount door: the last of equal
// names counts, our own variables and what is to be removed go, and what is
// set comes last.
func apply(env []string, o *order.Order) []string {
	drop := make(map[string]bool, len(env)+len(o.Remove)+len(o.Set))
	for _, name := range o.Remove {
		drop[name] = true
	}
	for _, entry := range o.Set {
		drop[nameOf(entry)] = true
	}
	out := make([]string, len(env)+len(o.Set))
	at := len(out) - copy(out[len(env):], o.Set)
	for i := len(env) - 1; i >= 0; i-- {
		if name := nameOf(env[i]); !drop[name] && !order.IsControl(name) {
			drop[name] = true
			at--
			out[at] = env[i]
		}
	}
	return out[at:]
}

// nameOf is the name of an entry, in the kernel's and every libc's reading:
// what stands before the first '='.
func nameOf(entry string) string {
	name, _, _ := strings.Cut(entry, "=")
	return name
}

// limit puts the order's plain limits on this process and what it becomes.
func limit(o *order.Order) *failure {
	if o.NoNewPrivileges {
		if _, errno := prctl(prSetNoNewPrivs, 1, 0); errno != 0 {
			return refuse("set no_new_privs: ", errno.Error())
		}
	}
	if o.CoreLimit != nil {
		l := syscall.Rlimit{Cur: *o.CoreLimit, Max: *o.CoreLimit}
		var old syscall.Rlimit
		if syscall.Getrlimit(syscall.RLIMIT_CORE, &old) == nil && l.Max > old.Max {
			l.Max = old.Max
			l.Cur = min(l.Cur, l.Max)
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &l); err != nil {
			return refuse("limit core dumps: ", err.Error())
		}
	}
	return nil
}
