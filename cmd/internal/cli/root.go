package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// app is what every verb works with.
type app struct {
	in       io.Reader
	out, err io.Writer
}

// exitError ends the program with a code of its own.
type exitError struct {
	code int
	err  error // nil: everything was said already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// failed is the error of a verb that has told its bad result on standard output.
var failed = &exitError{code: 1}

func usagef(format string, args ...any) error {
	return &exitError{code: 2, err: fmt.Errorf(format, args...)}
}

// Main runs one command line and returns the exit code.
func Main(args []string, in io.Reader, out, errw io.Writer) int {
	root := newRoot(&app{in: in, out: out, err: errw})
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if err == nil {
		return 0
	}
	code := 1
	if e, ok := errors.AsType[*exitError](err); ok {
		code = e.code
		if e.err == nil {
			return code
		}
	}
	fmt.Fprintf(errw, "envscrub: %s\n", printable(strings.ReplaceAll(err.Error(), "\n", "; ")))
	return code
}

func newRoot(a *app) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "envscrub",
		Short: "Keep secrets in the environment away from AI agents' containers and their tools",
		Long: `envscrub takes secrets out of the environment that containers start with. The policy in
/etc/envscrub decides; an OCI hook or a runtime wrapper, which "envscrub install" registers
with an engine, carries it out. With no policy file the built-in rules apply.

It is not a sandbox: a program that can read a secret from a file, or that the agent hands
it to on purpose, has it.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if version {
				return a.version()
			}
			if len(args) == 0 {
				return cmd.Help()
			}
			hint := "see envscrub --help"
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				hint = "did you mean " + strings.Join(near, " or ") + "?"
			}
			return usagef("no command %q; %s", args[0], hint)
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print the version")
	root.SuggestionsMinimumDistance = 2
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w (see %s --help)", err, cmd.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(
		newExplain(a),
		newCheck(a),
		newRun(a),
		newRedact(a),
		newMonitor(),
		newInstall(a),
		newUninstall(a),
		newStatus(a),
		newScan(a),
		newVerify(a),
		newVersion(a),
		newMan(),
		newProbe(a),
	)
	for _, cmd := range root.Commands() {
		usageArgs(cmd)
	}
	return root
}

// usageArgs makes wrong arguments errors of usage, as wrong options are.
func usageArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usagef("%w (see %s --help)", err, cmd.CommandPath())
			}
			return nil
		}
	}
}

// note writes a line for people to standard error.
func (a *app) note(format string, args ...any) {
	fmt.Fprintf(a.err, "envscrub: %s\n", printable(fmt.Sprintf(format, args...)))
}

// input opens a file named on the command line; "-" is standard input.
func (a *app) input(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(a.in), nil
	}
	return os.Open(path)
}

// maxInput bounds what is read from a file or a pipe; no environment comes near.
const maxInput = 64 << 20

func (a *app) readAll(path string) ([]byte, error) {
	r, err := a.input(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	if err == nil && len(data) > maxInput {
		err = fmt.Errorf("%s: larger than %d MiB", path, maxInput>>20)
	}
	return data, err
}
