package nri

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/sirupsen/logrus"

	"github.com/envscrub/envscrub/hook"
	"github.com/envscrub/envscrub/hook/audit"
	"github.com/envscrub/envscrub/hook/record"
	"github.com/envscrub/envscrub/policy"
)

// Name is how the plugin registers; engines' required-plugins lists use it.
const Name = "envscrub"

// door is how records and audit lines name this way in.
const door = "nri"

// answerWithin is the plugin's own limit where the engine does not tell its own:
// NRI's default is 2 s, after which engines cut a plugin off and go on.
const answerWithin = 1500 * time.Millisecond

// Plugin implements the stub's interfaces for the events that we need, and no
// more: with a failure policy every subscribed event fails while we hang.
type Plugin struct {
	Policies []string // policy files in place of the standard ones
	StateDir string   // for the records, in place of the standard one
	Log      *logrus.Logger

	// onConnect is called when an engine has configured us.
	onConnect func()

	mu      sync.Mutex
	engine  string
	limit   time.Duration
	pending map[string]*created

	// slow is for tests: it is called in the middle of a decision.
	slow func()
}

// Configure implements stub.ConfigureInterface.
func (p *Plugin) Configure(_ context.Context, _, engine, version string) (api.EventMask, error) {
	p.mu.Lock()
	p.engine = engine
	p.mu.Unlock()
	p.Log.Infof("connected to %s %s", engine, version)
	if p.onConnect != nil {
		p.onConnect()
	}
	return 0, nil
}

// setLimit keeps three quarters of the engine's own limit, at most answerWithin.
func (p *Plugin) setLimit(engine time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit = answerWithin
	if quarter3 := engine * 3 / 4; quarter3 > 0 && quarter3 < p.limit {
		p.limit = quarter3
	}
}

func (p *Plugin) timeLimit() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limit == 0 {
		return answerWithin
	}
	return p.limit
}

// Synchronize implements stub.SynchronizeInterface: it names the containers that
// slipped through while we were away, and forgets those that went.
func (p *Plugin) Synchronize(_ context.Context, pods []*api.PodSandbox, containers []*api.Container) ([]*api.ContainerUpdate, error) {
	p.tidy(containers)
	pol, err := policy.Load(policy.LoadOptions{Files: p.Policies})
	if err != nil {
		// Creations will fail with this error; the engine has to stay connected for that.
		p.Log.Error(err)
		return nil, nil
	}
	byID := make(map[string]*api.PodSandbox, len(pods))
	for _, pod := range pods {
		byID[pod.GetId()] = pod
	}
	for _, c := range containers {
		pod := byID[c.GetPodSandboxId()]
		if pod == nil {
			continue
		}
		if err := p.verify(pol, pod, c); err != nil {
			p.Log.Warnf("%s: container %s: %v", podName(pod), c.GetName(), err)
		}
	}
	return nil, nil
}

// verify holds the engine's record of a container against the policy.
func (p *Plugin) verify(pol *policy.Policy, pod *api.PodSandbox, c *api.Container) error {
	v, _, _, err := hook.ViewFor(pol, subject(pod, c), c.GetEnv())
	if err != nil {
		return err
	}
	if v.Mode != policy.ModeEnforce || !selected(v.NRI, pod, c) {
		return nil
	}
	return started(c, v)
}

func podName(pod *api.PodSandbox) string { return pod.GetNamespace() + "/" + pod.GetName() }

// within runs f under our own limit: an error in time is fail closed, an answer
// too late is not.
func within[T any](ctx context.Context, limit time.Duration, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				// A dead plugin would be worse than a refused container. What a panic says may be anything.
				done <- outcome{err: fmt.Errorf("internal error (%T) at %s", r, place())}
			}
		}()
		v, err := f()
		done <- outcome{v, err}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var none T
	select {
	case o := <-done:
		return o.value, o.err
	case <-timer.C:
		return none, fmt.Errorf("no decision within %s (a slow [[hook]] program?)", limit)
	case <-ctx.Done():
		return none, errors.New("the engine took its request back")
	}
}

// place is where a recovered panic came from.
func place() string {
	pc := make([]uintptr, 8)
	frames := runtime.CallersFrames(pc[:runtime.Callers(4, pc)])
	f, _ := frames.Next()
	return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
}

// CreateContainer implements stub.CreateContainerInterface.
func (p *Plugin) CreateContainer(ctx context.Context, pod *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	a, err := within(ctx, p.timeLimit(), func() (*api.ContainerAdjustment, error) { return p.create(pod, c) })
	if err != nil {
		err = refusal(pod, c, err)
		p.Log.Error(err)
		return nil, nil, err
	}
	return a, nil, nil
}

func refusal(pod *api.PodSandbox, c *api.Container, err error) error {
	return fmt.Errorf("envscrub: %s: container %s: %w", podName(pod), c.GetName(), err)
}

func (p *Plugin) create(pod *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, error) {
	p.forget(c.GetId())
	pol, err := policy.Load(policy.LoadOptions{Files: p.Policies})
	if err != nil {
		return nil, err
	}
	v, _, refused, err := hook.ViewFor(pol, subject(pod, c), c.GetEnv())
	if err != nil {
		return nil, err
	}
	if !selected(v.NRI, pod, c) {
		return nil, nil
	}
	for _, name := range refused {
		p.Log.Warnf("%s: container %s asks for %s, which the policy's overrides do not name; it is not honoured", podName(pod), c.GetName(), name)
	}
	if p.slow != nil {
		p.slow()
	}
	if v.Mode == policy.ModeOff {
		p.Log.Infof("%s: container %s: mode off: nothing is done", podName(pod), c.GetName())
		return nil, p.audit(v, nil, pod, c, nil)
	}
	env := withoutControl(c.GetEnv())
	d, err := v.Decide(env)
	if err != nil {
		err = fmt.Errorf("environment: %w", err)
		return nil, errors.Join(err, p.audit(v, nil, pod, c, err))
	}
	a, err := p.prepare(pod, c, v, d, env)
	if err := errors.Join(err, p.audit(v, d, pod, c, err)); err != nil {
		return nil, err
	}
	p.Log.Infof("%s: container %s: %s", podName(pod), c.GetName(), d.Summary())
	if removed := d.Removed(); len(removed) > 0 {
		p.Log.Debugf("%s: container %s: removed: %s", podName(pod), c.GetName(), strings.Join(removed, " "))
	}
	return a, nil
}

func (p *Plugin) prepare(pod *api.PodSandbox, c *api.Container, v *policy.View, d *policy.Decision, env []string) (*api.ContainerAdjustment, error) {
	f, err := document(pod, c)
	if err != nil {
		return nil, err
	}
	if err := hook.RunPrograms(f, v, d); err != nil {
		return nil, err
	}
	if text := hook.Exposed(f, d); text != "" {
		if v.Strict {
			return nil, errors.New(text + "; the policy is strict and refuses that")
		}
		p.Log.Warnf("%s: container %s: %s", podName(pod), c.GetName(), text)
	}
	if v.Mode != policy.ModeEnforce {
		return nil, p.keep(pod, c, v, d, env)
	}
	shim, err := hook.FindShim(v)
	if err != nil {
		return nil, err
	}
	a, err := adjustment(c, v, d, shim)
	if err != nil {
		return nil, err
	}
	if err := p.keep(pod, c, v, d, env); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending == nil {
		p.pending = map[string]*created{}
	}
	w := &created{view: v, env: env}
	if m := a.GetMounts(); len(m) > 0 {
		w.mount = m[0]
	}
	p.pending[c.GetId()] = w
	return a, nil
}

func (p *Plugin) store() (record.Store, error) {
	if p.StateDir != "" {
		return record.At(p.StateDir), nil
	}
	return record.Default()
}

// RemoveContainer implements stub.RemoveContainerInterface. A record that stays is
// no reason to keep a container.
func (p *Plugin) RemoveContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) error {
	p.forget(c.GetId())
	store, err := p.store()
	if err == nil {
		err = store.Remove(c.GetId(), "")
	}
	if err != nil {
		p.Log.Warn(err)
	}
	return nil
}

// tidy removes our records of containers that went while we were away.
func (p *Plugin) tidy(alive []*api.Container) {
	store, err := p.store()
	if err != nil {
		p.Log.Warn(err)
		return
	}
	ids := make(map[string]bool, len(alive))
	for _, c := range alive {
		ids[c.GetId()] = true
	}
	list, err := store.List()
	for _, r := range list {
		if r.Door == door && r.Engine == p.engineName() && !ids[r.ID] {
			err = errors.Join(err, store.Remove(r.ID, ""))
		}
	}
	if err != nil {
		p.Log.Warn(err)
	}
}

// keep writes what was done where status finds it.
func (p *Plugin) keep(pod *api.PodSandbox, c *api.Container, v *policy.View, d *policy.Decision, env []string) error {
	store, err := p.store()
	if err != nil {
		return err
	}
	r := &record.Record{
		ID: c.GetId(), Engine: p.engineName(), Image: subject(pod, c).Image,
		Profile: v.Profile, Mode: string(v.Mode), Door: door, Time: time.Now(), Kept: len(d.Container()),
	}
	for _, x := range d.Variables {
		if x.Fate != policy.FateKept {
			r.Variables = append(r.Variables, record.Variable{Name: x.Name, Fate: string(x.Fate), Rule: x.Rule, At: x.At.String()})
		}
	}
	if err := r.Remember(env); err != nil {
		return err
	}
	return store.Write(r)
}

func (p *Plugin) engineName() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.engine
}

func (p *Plugin) audit(v *policy.View, d *policy.Decision, pod *api.PodSandbox, c *api.Container, refused error) error {
	conf := audit.Config{File: v.Audit.File, Metrics: v.Audit.Metrics}
	if !conf.Enabled() {
		return nil
	}
	e := &audit.Event{
		Door: door, Action: "create", Engine: p.engineName(), ID: c.GetId(),
		Image: subject(pod, c).Image, Profile: v.Profile,
	}
	e.Outcome = audit.Scrubbed
	switch {
	case refused != nil:
		e.Outcome, e.Reason = audit.Refused, refused.Error()
	case v.Mode == policy.ModeObserve:
		e.Outcome = audit.Observed
	case v.Mode == policy.ModeOff:
		e.Outcome = audit.Disabled
	}
	if d != nil {
		e.Take(d)
	}
	err := audit.Record(conf, e)
	if err != nil && !v.Strict {
		p.Log.Warn(err)
		return nil
	}
	return err
}

// ValidateContainerAdjustment implements stub.ValidateContainerAdjustmentInterface:
// the last word on what all plugins together made of the container.
func (p *Plugin) ValidateContainerAdjustment(ctx context.Context, req *api.ValidateContainerAdjustmentRequest) error {
	c, pod := req.GetContainer(), req.GetPod()
	_, err := within(ctx, p.timeLimit(), func() (struct{}, error) {
		w := p.forget(c.GetId())
		if w == nil {
			return struct{}{}, p.unseen(pod, c)
		}
		return struct{}{}, w.check(c, req.GetAdjust())
	})
	if err != nil {
		err = refusal(pod, c, err)
		p.Log.Error(err)
	}
	return err
}

// unseen refuses a container that we should have adjusted and never did, as when
// the engine gave up on that request.
func (p *Plugin) unseen(pod *api.PodSandbox, c *api.Container) error {
	pol, err := policy.Load(policy.LoadOptions{Files: p.Policies})
	if err != nil {
		return err
	}
	v, _, _, err := hook.ViewFor(pol, subject(pod, c), c.GetEnv())
	if err != nil {
		return err
	}
	if v.Mode == policy.ModeEnforce && selected(v.NRI, pod, c) {
		return errors.New("the engine did not wait for envscrub's adjustment")
	}
	return nil
}

// forget takes a container's memory, which holds values.
func (p *Plugin) forget(id string) *created {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.pending[id]
	delete(p.pending, id)
	return w
}

// StartContainer implements stub.StartContainerInterface. containerd fails the
// start by our error; CRI-O logs it and goes on.
func (p *Plugin) StartContainer(ctx context.Context, pod *api.PodSandbox, c *api.Container) error {
	_, err := within(ctx, p.timeLimit(), func() (struct{}, error) {
		p.forget(c.GetId()) // an engine without validation never asked for it
		pol, err := policy.Load(policy.LoadOptions{Files: p.Policies})
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, p.verify(pol, pod, c)
	})
	if err != nil {
		err = refusal(pod, c, err)
		p.Log.Error(err)
	}
	return err
}
