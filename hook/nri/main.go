package nri

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/containerd/nri/pkg/api"
	"github.com/sirupsen/logrus"

	"github.com/envscrub/envscrub/policy"
)

// Main is the program envscrub-nri.
func Main(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	log := &logrus.Logger{Out: stderr, Formatter: &logrus.TextFormatter{DisableColors: true}, Hooks: logrus.LevelHooks{}, Level: logrus.InfoLevel}
	p := &Plugin{Log: log}
	var o Options
	flags := flag.NewFlagSet("envscrub-nri", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.Socket, "socket", api.DefaultSocketPath, "the engine's NRI `socket`")
	flags.StringVar(&o.Index, "index", "90", "two digits: plugins run in this order, and ours should be among the last")
	flags.StringVar(&o.Ready, "ready", "", "a `file` that exists while an engine is connected")
	flags.StringVar(&p.StateDir, "state-dir", "", "keep records of containers in this `directory`")
	flags.Func("policy", "a policy `file` in place of the standard ones (may be repeated)", func(s string) error {
		p.Policies = append(p.Policies, s)
		return nil
	})
	level := flags.String("log-level", "info", "error, warning, info or debug (names of removed variables)")
	probe := flags.Bool("probe", false, "exit 0 if an engine is connected (the file of -ready exists), else 1")
	check := flags.Bool("check", false, "load the policy and exit")
	if err := flags.Parse(args[1:]); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	fail := func(err error) int {
		fmt.Fprintln(stderr, "envscrub-nri:", err)
		return 1
	}
	if flags.NArg() > 0 {
		return fail(fmt.Errorf("%s: no argument is expected", flags.Arg(0)))
	}
	lvl, err := logrus.ParseLevel(*level)
	if err != nil {
		return fail(err)
	}
	log.SetLevel(min(lvl, logrus.DebugLevel))
	if *probe {
		if _, err := os.Stat(o.Ready); err != nil {
			return fail(fmt.Errorf("no engine is connected: %w", err))
		}
		return 0
	}
	// A policy that does not load is said at the start; containers are refused as
	// long as it stands.
	if _, err := policy.Load(policy.LoadOptions{Files: p.Policies}); err != nil {
		if *check {
			return fail(err)
		}
		log.Error(err)
	}
	if *check {
		fmt.Fprintln(stdout, "ok")
		return 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := p.Run(ctx, o); err != nil {
		return fail(err)
	}
	return 0
}
