package harden

import (
	"strings"
	"syscall"
	"unsafe"

	"github.com/envscrub/envscrub/harden/order"
)

// Behind a container's own init (docker run --init and its kin) the shim runs
// twice. As process 1 it hands order and agent-only variables to a memory
// file and becomes the init, with the scrubbed environment; the init's child
// is the shim again, which takes them over and guards. The init stays process
// 1, and its environ holds nothing.

const (
	fdPath        = "/proc/self/fd/"
	orderArgument = "--envscrub-order="
)

// initProgram is what must be known about an init's command line.
type initProgram struct {
	withValue string // short options that take a value
	single    string // short option that turns group signals off
	group     string // short option that turns them on
	longValue string // long option that takes a value in the next argument
	longOne   string // long option as single
	groups    bool   // signals the whole group unless told otherwise
}

var (
	tini     = initProgram{withValue: "pe", group: "g"}
	dumbInit = initProgram{withValue: "r", single: "c", longValue: "--rewrite", longOne: "--single-child", groups: true}
	catatona = initProgram{}
)

func knownInit(name string) *initProgram {
	switch name[strings.LastIndexByte(name, '/')+1:] {
	case "tini", "tini-static", "docker-init":
		return &tini
	case "dumb-init":
		return &dumbInit
	case "catatonit", "podman-init":
		return &catatona
	}
	return nil
}

// initCommand returns where in args the command begins that a known init
// would start; 0 where this is no init, or there is no command.
func initCommand(path string, args []string) int {
	p := knownInit(path)
	if p == nil {
		p = knownInit(args[0])
	}
	if p == nil {
		return 0
	}
	n, _ := p.parse(args)
	return n
}

// parse walks the init's own options as its getopt does.
func (p *initProgram) parse(args []string) (command int, group bool) {
	group = p.groups
	for i := 1; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			if i+1 < len(args) {
				return i + 1, group
			}
			return 0, group
		case len(a) < 2 || a[0] != '-':
			return i, group
		case strings.HasPrefix(a, "--"):
			if p.longValue != "" && a == p.longValue {
				i++
			}
			if p.longOne != "" && a == p.longOne {
				group = false
			}
		default:
			for k := 1; k < len(a); k++ {
				c := a[k : k+1]
				if strings.Contains(p.withValue, c) {
					if k+1 == len(a) {
						i++
					}
					break
				}
				if strings.Contains(p.group, c) {
					group = true
				}
				if strings.Contains(p.single, c) {
					group = false
				}
			}
		}
	}
	return 0, group
}

// behindInit becomes the init, whose command is at args[n].
func behindInit(j *job, n int) *failure {
	p := knownInit(j.path)
	if p == nil {
		p = knownInit(j.args[0])
	}
	o := *j.order
	_, o.Group = p.parse(j.args)
	o.Remove, o.Set = nil, nil
	env := make([]string, 0, len(j.env))
	for _, entry := range j.env {
		if name := nameOf(entry); contains(o.AgentOnly, name) || order.SteersShim(name) {
			o.Set = append(o.Set, entry)
		} else {
			env = append(env, entry)
		}
	}
	text, errno := memfd("envscrub-order", 0)
	if errno != 0 {
		return refuse("make a memory file for the order: ", errno.Error())
	}
	if errno := write(text, []byte(o.Encode())); errno != 0 {
		return refuse("write the order: ", errno.Error())
	}
	self, fail := inheritedShim()
	if fail != nil {
		return fail
	}
	args := make([]string, 0, len(j.args)+3)
	args = append(args, j.args[:n]...)
	if args[n-1] != "--" {
		// tini looks for options behind the command's name too, and would take
		// the next one for its own.
		args = append(args, "--")
	}
	args = append(args, fdPath+itoa(self), orderArgument+itoa(text))
	args = append(args, j.args[n:]...)
	return cannotRun(j.args[0], execve(j.path, args, env))
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// inheritedShim returns a descriptor of this program that the init's child
// can execute. The init keeps it open, so it must not lead to a file that
// root in the container could write: where the mount is not read-only, a
// sealed copy in memory takes its place.
func inheritedShim() (int, *failure) {
	fd, errno := open("/proc/self/exe", oPath)
	if errno != 0 {
		return 0, refuse("open the shim for the container's init: ", errno.Error())
	}
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(fd, &st); err == nil && st.Flags&stRdonly != 0 {
		return fd, nil
	}
	closeFD(fd)
	program, errno := readFile("/proc/self/exe")
	if errno != 0 {
		return 0, refuse("read the shim for the container's init: ", errno.Error())
	}
	fd, errno = memfd(shimName, mfdAllowSealing|mfdExec)
	if errno == syscall.EINVAL { // before Linux 6.3
		fd, errno = memfd(shimName, mfdAllowSealing)
	}
	if errno == 0 {
		errno = write(fd, program)
	}
	if errno == 0 {
		_, _, errno = syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(fd), fAddSeals, sealAll)
	}
	if errno != 0 {
		return 0, refuse("copy the shim for the container's init: ", errno.Error())
	}
	return fd, nil
}

// receiveBehindInit takes over what the shim that was process 1 left, and
// empties the memory file, which the init keeps open.
func receiveBehindInit(im *image) (*job, *failure) {
	fd, ok := descriptor(im.args[1][len(orderArgument):])
	if !ok {
		return nil, refuse("the order's descriptor is no number")
	}
	if _, err := syscall.Seek(fd, 0, 0); err != nil {
		return nil, refuse("read the order behind the init: ", err.Error())
	}
	text, errno := readAll(fd)
	if errno != 0 {
		return nil, refuse("read the order behind the init: ", errno.Error())
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_FTRUNCATE, uintptr(fd), 0, 0); errno != 0 {
		return nil, refuse("empty the order behind the init: ", errno.Error())
	}
	closeFD(fd)
	if self, ok := descriptor(im.execfn[len(fdPath):]); ok {
		closeFD(self)
	}
	o, err := order.Decode(unsafe.String(unsafe.SliceData(text), len(text)))
	if err != nil {
		return nil, refuse("read the order behind the init: ", err.Error())
	}
	j := &job{order: o, args: im.args[2:], env: apply(im.env, o), behindInit: true}
	var fail *failure
	j.path, fail = resolve(j.args[0], j.env)
	return j, fail
}

func descriptor(s string) (int, bool) {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' || n > 1<<24 {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, s != "" && n > 2
}
