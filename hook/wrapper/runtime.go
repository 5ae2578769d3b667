package wrapper

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// self is what the wrapper itself is called, in links to it: envscrub-crun is the
// wrapper of crun.
const (
	self       = "envscrub-runtime"
	selfPrefix = "envscrub-"
)

// standardDirs are looked through after PATH: engines start with none.
var standardDirs = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// defaultRuntimes are tried where neither a link's name nor the policy names one.
var defaultRuntimes = []string{"runc", "crun"}

// A lowLevel is the runtime that really runs containers.
type lowLevel struct {
	path string
	// name is that of the file behind all links, which tells what it is.
	name    string
	grammar grammar
}

// ofLink returns the runtime that the name of a link stands for, "" for none. The
// wrapper may also stand under the runtime's own name, in its place.
func ofLink(argv0 string) string {
	name := filepath.Base(argv0)
	switch {
	case name == self:
		return ""
	case strings.HasPrefix(name, selfPrefix):
		return strings.TrimPrefix(name, selfPrefix)
	case name == "runc" || name == "crun":
		return name
	}
	return ""
}

// findRuntime returns the first of the names that is there, and is not the wrapper
// itself.
func findRuntime(names []string, path string) (*lowLevel, error) {
	var own unix.Stat_t
	if err := unix.Stat("/proc/self/exe", &own); err != nil {
		return nil, fmt.Errorf("find the runtime: look at this program: %w", err)
	}
	for _, name := range names {
		if !filepath.IsAbs(name) && strings.Contains(name, "/") {
			return nil, fmt.Errorf("find the runtime %s: give an absolute path or a bare name", name)
		}
		for place := range places(name, path) {
			if real, ok := runnable(place, &own); ok {
				base := filepath.Base(real)
				return &lowLevel{place, base, grammarOf(base)}, nil
			}
		}
	}
	return nil, fmt.Errorf("find the runtime: there is no %s on PATH or in the standard directories; install one, or name it with the policy's key runtimes", strings.Join(names, " or "))
}

// places are where a program of that name can be, PATH first.
func places(name, path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if filepath.IsAbs(name) {
			yield(name)
			return
		}
		for dir := range strings.SplitSeq(path, ":") {
			if filepath.IsAbs(dir) && !yield(filepath.Join(dir, name)) {
				return
			}
		}
		for _, dir := range standardDirs {
			if !yield(filepath.Join(dir, name)) {
				return
			}
		}
	}
}

// runnable tells whether a program can be the runtime, and what its file is called behind all links.
func runnable(path string, own *unix.Stat_t) (real string, ok bool) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return "", false
	}
	real = path // as far as it matters: links among its directories do not change the file's name
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return "", false
		}
		defer unix.Close(fd)
		if unix.Fstat(fd, &st) != nil {
			return "", false
		}
		if real, err = pathOf(fd); err != nil {
			return "", false
		}
	}
	ok = st.Mode&unix.S_IFMT == unix.S_IFREG && st.Mode&0o111 != 0 && (st.Dev != own.Dev || st.Ino != own.Ino)
	return real, ok
}

// pathOf returns the path of what is open, as the kernel sees it.
func pathOf(fd int) (string, error) {
	return os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
}

// loopMark tells a wrapper that it has run in this process already: exec keeps the
// process id, and a runtime that leads back here would go round for ever.
const loopMark = "ENVSCRUB_RUNTIME_PID"

func checkLoop() error {
	if os.Getenv(loopMark) == strconv.Itoa(os.Getpid()) {
		return errors.New("find the runtime: it leads back to this wrapper; name the real one with the policy's key runtimes")
	}
	return nil
}

// replace becomes the real runtime. It only returns when that fails.
func (r *lowLevel) replace(argv0 string, words []string) error {
	env := os.Environ()
	mark := loopMark + "=" + strconv.Itoa(os.Getpid())
	at := -1
	for i, e := range env {
		if strings.HasPrefix(e, loopMark+"=") {
			at = i
		}
	}
	if at < 0 {
		env = append(env, mark)
	} else {
		env[at] = mark
	}
	err := syscall.Exec(r.path, append([]string{argv0}, words...), env)
	return fmt.Errorf("start the runtime %s: %w", r.path, err)
}

// defaultRoot is where a runtime keeps its state when it is not told.
func (r *lowLevel) defaultRoot() string {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if r.grammar == argpGrammar {
		if dir != "" {
			return dir + "/crun"
		}
		return "/run/crun"
	}
	name := "runc"
	if r.grammar == anyGrammar {
		name = r.name
	}
	if dir != "" && runcHonoursXDG() {
		return dir + "/" + name
	}
	return "/run/" + name
}

// runcHonoursXDG: an ordinary user, or root in a user namespace who is not called so.
func runcHonoursXDG() bool {
	if os.Geteuid() != 0 {
		return true
	}
	if data, err := os.ReadFile("/proc/self/uid_map"); err != nil || wholeRange(string(data)) {
		return false
	}
	user, ok := os.LookupEnv("USER")
	return !ok || user != "root"
}

func wholeRange(uidMap string) bool {
	f := strings.Fields(uidMap)
	return len(f) == 3 && f[0] == "0" && f[1] == "0" && f[2] == "4294967295"
}

// stateRoot is the directory of the runtime's state, absolute, so that the same one
// is the same however it is given.
func (r *lowLevel) stateRoot(v *invocation) string {
	root := v.globals.get("root")
	if root == "" {
		root = r.defaultRoot()
	}
	if abs, err := filepath.Abs(root); err == nil {
		return abs
	}
	return root
}
