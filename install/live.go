package install

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// OfRuntime reads lines "RUNTIME NAME" and returns the names whose runtime is ours.
func OfRuntime(lines string) []string {
	var out []string
	for line := range strings.Lines(lines) {
		runtime, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if runtime == RuntimeName || IsWrapper(runtime) {
			out = append(out, strings.TrimPrefix(name, "/"))
		}
	}
	return out
}

// RefuseLive is the error for containers that would lose the runtime that has to
// stop them.
func RefuseLive(names []string, engine string) error {
	if len(names) == 0 {
		return nil
	}
	shown, more := names, ""
	if len(shown) > 5 {
		shown, more = shown[:5], ", …"
	}
	return fmt.Errorf("%d running containers use the runtime %q (%s%s), and %s could not stop them without it; stop them first, or use --force",
		len(names), RuntimeName, strings.Join(shown, ", "), more, engine)
}

// FindProgram looks for an engine's program: below Options.Root in the standard
// directories, else on PATH and there.
func FindProgram(o Options, name string) (bool, string) {
	if o.Root == "" {
		if path, err := exec.LookPath(name); err == nil || errors.Is(err, exec.ErrDot) {
			return true, path
		}
	}
	for _, dir := range []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"} {
		if path := filepath.Join(dir, name); Executable(o, path) {
			return true, path
		}
	}
	return false, name + " is not installed"
}

// Again is the command that writes a file of ours anew. An install does not replace
// one that was edited since, so that it has to go first.
func Again(o Options, file, command string) string {
	if _, err := os.Lstat(o.Path(file)); err != nil {
		return command
	}
	return "rm " + o.Path(file) + " && " + command
}

// Executable reports whether the host path names a program.
func Executable(o Options, path string) bool {
	info, err := os.Stat(o.Path(path))
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// FirstLine runs cmd and returns the first line of its output, or "".
func FirstLine(cmd *exec.Cmd) string {
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

// Ours tells whether a registered program is one of envscrub's, by its name.
func Ours(program string) bool { return strings.HasPrefix(filepath.Base(program), "envscrub-") }

// NotOurs says what it means that one is not.
func NotOurs(program string) string {
	return "the handler " + RuntimeName + " runs " + program + ", which is none of envscrub's programs: its pods are NOT covered"
}
