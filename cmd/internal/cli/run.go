package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/opencontainers/runc/libcontainer/user"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/hook"
	"github.com/envscrub/envscrub/policy"
	"github.com/envscrub/envscrub/policy/program"
)

func newRun(a *app) *cobra.Command {
	var flags policyFlags
	var printArgv string
	cmd := &cobra.Command{
		Use:   "run [OPTION]... -- COMMAND [ARGUMENT]...",
		Short: "Run a command on this host with the scrubbed environment",
		Long: `Run a command on this host as an agent's container would: with the environment that the policy
leaves, and with its children kept from what [agent] keep gives to it alone. envscrub replaces
itself by the shim, which stays as the command's guard where the policy wants one; exit code,
signals and terminal are the command's.

As root, a child can read all memory in spite of the guard; use --user.

--print-argv prints, instead of running, the arguments for a launcher that cannot replace an
environment: /usr/bin/env -i NAME=VALUE … COMMAND, quoted for a shell or, with =nul, separated
by NUL bytes. It holds the kept variables WITH THEIR VALUES, without those of the agent alone.`,
		Example: `  envscrub run -- claude
  envscrub run --print-argv=nul -- make test | xargs -0 sh -c 'exec "$@"' sh`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if printArgv != "" && printArgv != "shell" && printArgv != "nul" {
				return usagef("--print-argv=%s: neither shell nor nul", printArgv)
			}
			loaded, err := flags.load()
			if err != nil {
				return refused(err)
			}
			account, err := lookUpUser(flags.user)
			if err != nil {
				return refused(err)
			}
			subject := policy.Subject{Args: args, User: account.id, UserName: account.name, Grant: allowed(os.LookupEnv)}
			flags.user = "" // the subject has it
			view, err := flags.view(loaded, subject)
			if err != nil {
				return refused(err)
			}
			d, err := view.Decide(account.environ(os.Environ()))
			if err != nil {
				return refused(err)
			}
			if holds(args, d.SecretValues()) {
				const what = "the value of a secret stands in the command's arguments, where everybody on the host can read it"
				if view.Strict {
					return refused(errors.New(what))
				}
				a.note("%s", what)
			}
			args, err = runHooks(cmd.Context(), view, d, args)
			if err != nil {
				return refused(err)
			}
			if printArgv != "" {
				argv, err := policy.Environ(d.Container()).Argv(args[0], args[1:]...)
				if err != nil {
					return refused(err)
				}
				return a.printArgv(argv, printArgv)
			}
			return refused(a.replace(view, d, account, args))
		},
	}
	cmd.Flags().SetInterspersed(false)
	flags.addFiles(cmd.Flags())
	f := cmd.Flags()
	f.StringVar(&flags.profile, "profile", "", "the `name` of the profile to apply")
	f.StringVar(&flags.user, "user", "", "run as this `user`, a name or a number (root only)")
	f.StringVar(&printArgv, "print-argv", "", "print the `form` shell or nul of the arguments instead of running them")
	f.Lookup("print-argv").NoOptDefVal = "shell"
	return cmd
}

// runHooks lets the policy's programs have their say: they may change the
// environment, the command and the directory.
func runHooks(ctx context.Context, view *policy.View, d *policy.Decision, args []string) ([]string, error) {
	if len(view.Hooks) == 0 {
		return args, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	c, err := d.RunHooks(ctx, policy.Request{Purpose: "run", Command: args[0], Args: args[1:], Dir: dir, Origin: "envscrub run"}, program.Runner(view, nil))
	if err != nil {
		return nil, err
	}
	if c.Dir != dir {
		if err := os.Chdir(c.Dir); err != nil {
			return nil, err
		}
	}
	return append([]string{c.Command}, c.Args...), nil
}

// exitRefused is what docker run, env and the shim answer when they fail
// themselves.
const exitRefused = 125

func refused(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code: exitRefused, err: err}
}

// account is whom the command runs as.
type account struct {
	id, name string
	change   *user.ExecUser // nil: whom we are
}

func lookUpUser(name string) (account, error) {
	uid := os.Geteuid()
	if name == "" {
		me := account{id: fmt.Sprint(uid)}
		if u, err := user.LookupUid(uid); err == nil {
			me.name = u.Name
		}
		return me, nil
	}
	u, err := user.GetExecUserPath(name, nil, "/etc/passwd", "/etc/group")
	if err != nil {
		return account{}, fmt.Errorf("--user %s: %w", name, err)
	}
	it := account{id: fmt.Sprint(u.Uid), change: u}
	if entry, err := user.LookupUid(u.Uid); err == nil {
		it.name = entry.Name
	}
	if u.Uid == uid {
		it.change = nil
	} else if uid != 0 {
		return account{}, fmt.Errorf("--user %s: only root may run a command as somebody else", name)
	}
	return it, nil
}

// environ is the environment before the policy: another user's home is not ours.
func (u account) environ(env []string) []string {
	if u.change == nil {
		return env
	}
	env = slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return name == "HOME" || name == "USER" || name == "LOGNAME"
	})
	env = append(env, "HOME="+u.change.Home)
	if u.name != "" {
		env = append(env, "USER="+u.name, "LOGNAME="+u.name)
	}
	return env
}

// become changes to the user. The saved ids go too, so there is no way back.
func (u account) become() error {
	if u.change == nil {
		return nil
	}
	if err := unix.Setgroups(append([]int{u.change.Gid}, u.change.Sgids...)); err != nil {
		return fmt.Errorf("set the groups of user %s: %w", u.id, err)
	}
	if err := unix.Setresgid(u.change.Gid, u.change.Gid, u.change.Gid); err != nil {
		return fmt.Errorf("set the group of user %s: %w", u.id, err)
	}
	if err := unix.Setresuid(u.change.Uid, u.change.Uid, u.change.Uid); err != nil {
		return fmt.Errorf("become user %s: %w", u.id, err)
	}
	return nil
}

// replace becomes the shim, which becomes or guards the command.
func (a *app) replace(view *policy.View, d *policy.Decision, u account, args []string) error {
	shim, err := hook.FindShim(view)
	if err != nil {
		return err
	}
	o := hook.OrderOf(view, d)
	if os.Geteuid() == 0 && u.change == nil && o.Guarded() {
		a.note("as root, the command's children can read its memory in spite of the guard; use --user")
	}
	env := o.Carry(slices.DeleteFunc(slices.Clone(d.Agent()), order.IsControl))
	if err := u.become(); err != nil {
		return err
	}
	err = unix.Exec(shim, append([]string{shim}, args...), append(env, o.Environ()...))
	if errors.Is(err, unix.E2BIG) {
		return fmt.Errorf("start %s: its arguments and environment are too long", printable(args[0]))
	}
	return &exec.Error{Name: shim, Err: err}
}

func (a *app) printArgv(argv []string, form string) error {
	var b strings.Builder
	for i, arg := range argv {
		switch {
		case form == "nul":
			b.WriteString(arg + "\x00")
		case i > 0:
			b.WriteString(" " + shellQuote(arg))
		default:
			b.WriteString(shellQuote(arg))
		}
	}
	if form == "shell" {
		b.WriteByte('\n')
	}
	_, err := a.out.Write([]byte(b.String()))
	return err
}

// shellQuote writes an argument for a POSIX shell.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:=@%+,", r))
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
