package wrapper

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/hook"
	"github.com/envscrub/envscrub/hook/record"
	"github.com/envscrub/envscrub/policy"
)

// policyOption is the one global option of our own; it comes first and names a policy
// file in place of the standard ones.
const policyOption = "--envscrub-policy"

// A wrapper is one call.
type wrapper struct {
	argv0  string
	load   policy.LoadOptions
	low    *lowLevel
	cmd    *invocation
	log    logger
	stderr io.Writer
}

// Main is the program: it replaces itself by the runtime, or returns an exit code
// with the reason on stderr and in the log that the engine asked for.
func Main(args []string, _ io.Reader, _, stderr io.Writer) int {
	w := &wrapper{argv0: self, stderr: stderr}
	if len(args) > 0 {
		w.argv0, args = args[0], args[1:]
	}
	w.log.refuse(stderr, w.run(args))
	if w.cmd != nil && w.cmd.command == "exec" {
		return 255 // as runc: no exit code of a command
	}
	return 1
}

// run only returns when something is wrong.
func (w *wrapper) run(words []string) error {
	words, err := w.ownOptions(words)
	if err != nil {
		return err
	}
	if err := checkLoop(); err != nil {
		return err
	}
	if w.low, err = findRuntime(w.candidates(), os.Getenv("PATH")); err != nil {
		return err
	}
	w.cmd, err = read(words, w.low.grammar)
	if w.cmd != nil {
		w.log = newLogger(&w.cmd.globals)
	}
	if err != nil {
		return fmt.Errorf("read the command line: %w", err)
	}
	if !w.cmd.plain {
		switch w.cmd.command {
		case "create", "run":
			hook.GrowStack()
			err = w.create()
		case "exec":
			err = w.exec()
		case "delete":
			w.forget()
		}
	}
	if err != nil {
		return err
	}
	return w.low.replace(w.argv0, w.cmd.words)
}

// ownOptions takes what is for us off the front of the command line.
func (w *wrapper) ownOptions(words []string) ([]string, error) {
	for len(words) > 0 {
		name, value, has := strings.Cut(words[0], "=")
		if name != policyOption {
			break
		}
		if !has {
			if len(words) < 2 {
				return nil, errors.New("read the command line: " + policyOption + " takes a file")
			}
			value, words = words[1], words[1:]
		}
		w.load.Files = append(w.load.Files, value)
		words = words[1:]
	}
	return words, nil
}

// options say which policy counts. What passes through by the name of a link does not ask.
func (w *wrapper) options() policy.LoadOptions {
	_, w.load.User = record.Rootless()
	return w.load
}

// candidates are the names of the runtime: the link's, else the policy's.
func (w *wrapper) candidates() []string {
	if name := ofLink(w.argv0); name != "" {
		return []string{name}
	}
	if names := policy.Runtimes(w.options()); len(names) > 0 {
		return names
	}
	return defaultRuntimes
}

// absolute returns the path of a directory as the kernel sees it: the bundle may be given
// by links, and with "..".
func absolute(dir string) (string, error) {
	if dir == "" {
		dir = "."
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(fd)
	return pathOf(fd)
}
