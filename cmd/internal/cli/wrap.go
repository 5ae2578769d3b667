package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
	"unsafe"

	"github.com/spf13/cobra"

	"github.com/envscrub/envscrub/harden/stdio"
	"github.com/envscrub/envscrub/policy/redact"
)

// monitorVerb is how redact starts itself in the command's session.
const monitorVerb = "redact-session"

// forwarded are the signals that are meant for the command although they reach us.
var forwarded = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
}

// wrap runs a command, its standard output and error through the redactor, and
// ends as the command ended.
func wrap(r *redact.Redactor, hold time.Duration, args []string) error {
	path, err := exec.LookPath(args[0])
	if err != nil {
		code := 127
		if errors.Is(err, os.ErrPermission) {
			code = 126
		}
		return &exitError{code: code, err: err}
	}
	if r.Empty() {
		return &exitError{code: 126, err: fmt.Errorf("run %s: %w", path, syscall.Exec(path, args, os.Environ()))}
	}
	relay, err := stdio.Open(r, hold)
	if err != nil {
		return err
	}
	fds, session := relay.Child()
	attr := &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{uintptr(fds[0]), uintptr(fds[1]), uintptr(fds[2])}}
	run, argv := path, args
	if session {
		// A command that leads a session cannot be stopped by its terminal: its
		// process group has no parent in the session. So somebody else leads it.
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find our own program: %w", err)
		}
		run, argv = self, append([]string{"envscrub", monitorVerb, "--", path}, args...)
		attr.Sys = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, append([]os.Signal{syscall.SIGWINCH}, forwarded...)...)
	pid, err := syscall.ForkExec(run, argv, attr)
	if err != nil {
		return &exitError{code: 126, err: fmt.Errorf("run %s: %w", path, err)}
	}
	go func() {
		for s := range signals {
			switch {
			case s == syscall.SIGWINCH:
				relay.Resize()
			case !session && fromTerminal(s):
				// The terminal has sent it to the command as well.
			default:
				syscall.Kill(pid, s.(syscall.Signal))
			}
		}
	}()
	if err := relay.Start(); err != nil {
		syscall.Kill(pid, syscall.SIGKILL)
		return err
	}
	for {
		status, err := await(pid)
		if err != nil {
			relay.Finish()
			return fmt.Errorf("wait for %s: %w", path, err)
		}
		if !status.Stopped() {
			relay.Finish()
			return end(status)
		}
		if session {
			relay.Suspend()
			syscall.Kill(0, syscall.SIGSTOP)
			// Somebody has continued us. In the background the terminal is not ours.
			if foreground() {
				if err := relay.Resume(); err != nil {
					return err
				}
			}
			syscall.Kill(pid, syscall.SIGCONT)
		}
	}
}

// newMonitor is the leader of the session in which redact runs a command on a
// terminal of its own. It does what a shell does for one job.
func newMonitor() *cobra.Command {
	return &cobra.Command{
		Use:    monitorVerb + " -- PATH COMMAND [ARG]...",
		Hidden: true,
		Args:   cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			signals := make(chan os.Signal, 16)
			signal.Notify(signals, forwarded...)
			pid, err := syscall.ForkExec(args[0], args[1:], &syscall.ProcAttr{
				Env: os.Environ(), Files: []uintptr{0, 1, 2},
				Sys: &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 0},
			})
			if err != nil {
				return &exitError{code: 126, err: fmt.Errorf("run %s: %w", args[0], err)}
			}
			signal.Ignore(syscall.SIGTTOU) // only now: the command would inherit it
			go func() {
				for s := range signals {
					syscall.Kill(pid, s.(syscall.Signal))
				}
			}()
			for {
				status, err := await(pid)
				if err != nil {
					return fmt.Errorf("wait for %s: %w", args[0], err)
				}
				if !status.Stopped() {
					return end(status)
				}
				syscall.Kill(os.Getpid(), syscall.SIGSTOP)
				setForeground(pid)
				syscall.Kill(-pid, syscall.SIGCONT)
			}
		},
	}
}

// await waits until the process has ended or is stopped.
func await(pid int) (syscall.WaitStatus, error) {
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil)
		if err != syscall.EINTR {
			return status, err
		}
	}
}

// end ends this process as the command has ended: with its code, or of the same signal.
func end(status syscall.WaitStatus) error {
	if !status.Signaled() {
		if status.ExitStatus() == 0 {
			return nil
		}
		return &exitError{code: status.ExitStatus()}
	}
	s := status.Signal()
	// A core dump of ours would be a dump of the values.
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err == nil {
		signal.Reset(s)
		if syscall.Kill(os.Getpid(), s) == nil && s != syscall.SIGCHLD {
			time.Sleep(time.Second)
		}
	}
	return &exitError{code: 128 + int(s)}
}

// fromTerminal reports whether a signal came to us as one of the terminal's
// foreground process group.
func fromTerminal(s os.Signal) bool {
	return (s == syscall.SIGINT || s == syscall.SIGQUIT) && foreground()
}

// foreground reports whether our process group has the terminal.
func foreground() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	var group int32
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, tty.Fd(), syscall.TIOCGPGRP, uintptr(unsafe.Pointer(&group)))
	return errno == 0 && int(group) == syscall.Getpgrp()
}

func setForeground(group int) {
	g := int32(group)
	syscall.Syscall(syscall.SYS_IOCTL, 0, syscall.TIOCSPGRP, uintptr(unsafe.Pointer(&g)))
}
