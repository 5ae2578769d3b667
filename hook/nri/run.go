package nri

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"time"

	"github.com/containerd/nri/pkg/api"
	nrilog "github.com/containerd/nri/pkg/log"
	"github.com/containerd/nri/pkg/stub"
)

// Options say where the engine is.
type Options struct {
	Socket string // of the engine; "" is NRI's default
	Index  string // where among the plugins ours runs
	Ready  string // a file that exists while an engine is connected; "" for none
}

// The engine restarts: wait for it, but not in a tight loop, and not in step with
// every other plugin.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 5 * time.Second
	settled   = 10 * time.Second // a connection that held this long was a good one
)

// Run connects to the engine and stays connected until ctx ends. A plugin that
// an engine started itself (pre-installed) ends with its connection instead.
func (p *Plugin) Run(ctx context.Context, o Options) error {
	nrilog.Set(logger{p.Log})
	launched := os.Getenv(api.PluginSocketEnvVar) != ""
	wait, quiet := firstWait, false
	for {
		begin := time.Now()
		err := p.session(ctx, o, launched)
		if ctx.Err() != nil {
			return nil
		}
		if launched {
			return err
		}
		if time.Since(begin) > settled {
			wait, quiet = firstWait, false
		}
		if !quiet {
			p.Log.Warnf("not connected: %v; new agent pods may start unscrubbed unless they name the runtime handler or require this plugin; trying again", err)
			quiet = true
		}
		pause := wait + rand.N(wait)
		wait = min(2*wait, lastWait)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
	}
}

// session is one connection, from the registration to its end.
func (p *Plugin) session(ctx context.Context, o Options, launched bool) error {
	lost := make(chan struct{})
	options := []stub.Option{
		stub.WithLogger(logger{p.Log}),
		stub.WithOnClose(func() { close(lost) }),
		// An engine that knows failure policies fails what we did not answer, and
		// does not throw us out for it.
		stub.WithFailurePolicy(&api.FailurePolicy{FailRequest: true, KeepConnected: true}),
	}
	if !launched {
		options = append(options, stub.WithPluginName(Name), stub.WithPluginIdx(o.Index))
		if o.Socket != "" {
			options = append(options, stub.WithSocketPath(o.Socket))
		}
	}
	s, err := stub.New(p, options...)
	if err != nil {
		return err
	}
	connected := make(chan struct{}, 1)
	p.onConnect = func() { connected <- struct{}{} }
	if err := s.Start(ctx); err != nil {
		return err
	}
	defer s.Stop()
	p.setLimit(s.RequestTimeout())
	<-connected
	if o.Ready != "" {
		if err := os.WriteFile(o.Ready, nil, 0o644); err != nil {
			return err
		}
		defer os.Remove(o.Ready)
	}
	select {
	case <-lost:
		return errors.New("the engine closed the connection")
	case <-ctx.Done():
		return ctx.Err()
	}
}
