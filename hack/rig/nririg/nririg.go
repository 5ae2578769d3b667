// Package nririg is the engine's side of NRI in tests: the code that containerd and CRI-O embed, on a real socket.
package nririg

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/runtime-tools/generate"
	"github.com/opencontainers/runtime-spec/specs-go"
)

// Engine is NRI's own runtime side.
type Engine struct {
	*adaptation.Adaptation
	Socket string
	count  *plugins
}

// New starts an engine that listens at socket ("": one of its own) until the test ends.
func New(t testing.TB, socket string, options ...adaptation.Option) *Engine {
	t.Helper()
	dir := t.TempDir()
	if socket == "" {
		socket = filepath.Join(dir, "nri.sock")
	}
	e := &Engine{Socket: socket, count: &plugins{}}
	options = append([]adaptation.Option{
		adaptation.WithMetrics(e.count), adaptation.WithSocketPath(socket),
		adaptation.WithPluginPath(filepath.Join(dir, "plugins")), adaptation.WithPluginConfigPath(filepath.Join(dir, "conf")),
	}, options...)
	if err := os.Mkdir(filepath.Join(dir, "plugins"), 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	if e.Adaptation, err = adaptation.New("containerd", "v2.3.4", sync, update, options...); err == nil {
		err = e.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Stop)
	return e
}

func sync(ctx context.Context, cb adaptation.SyncCB) error {
	_, err := cb(ctx, nil, nil)
	return err
}

func update(context.Context, []*adaptation.ContainerUpdate) ([]*adaptation.ContainerUpdate, error) {
	return nil, nil
}

// Plugins is how many plugins the engine has taken into its list.
func (e *Engine) Plugins() int { return int(e.count.n.Load()) }

// Adjust asks the plugins about a container and applies their answer to its configuration, as engines do. An error is a
// refusal.
func (e *Engine) Adjust(ctx context.Context, pod *api.PodSandbox, c *api.Container, spec *specs.Spec) error {
	r, err := e.CreateContainer(ctx, &api.CreateContainerRequest{Pod: pod, Container: c})
	if err != nil {
		return err
	}
	return generate.SpecGenerator(&generator{spec: spec}).Adjust(r.Adjust)
}

// plugins counts the plugins that the engine has taken into its list.
type plugins struct{ n atomic.Int64 }

func (p *plugins) RecordPluginInvocation(string, string, error)      {}
func (p *plugins) RecordPluginLatency(string, string, time.Duration) {}
func (p *plugins) RecordPluginAdjustments(string, string, *adaptation.ContainerAdjustment, int, int) {
}
func (p *plugins) UpdatePluginCount(n int) { p.n.Store(int64(n)) }

// generator is what NRI's own code, which applies adjustments in the engines, asks of the generator below it, as far as
// our adjustments go.
type generator struct {
	generate.UnderlyingGenerator // nil: whatever else is called is a fault
	spec                         *specs.Spec
}

func (g *generator) Spec() *specs.Spec            { return g.spec }
func (g *generator) ClearProcessEnv()             { g.spec.Process.Env = nil }
func (g *generator) SetProcessArgs(args []string) { g.spec.Process.Args = args }
func (g *generator) Mounts() []specs.Mount        { return g.spec.Mounts }
func (g *generator) ClearMounts()                 { g.spec.Mounts = nil }
func (g *generator) AddMount(m specs.Mount)       { g.spec.Mounts = append(g.spec.Mounts, m) }

func (g *generator) RemoveMount(dest string) {
	g.spec.Mounts = slices.DeleteFunc(g.spec.Mounts, func(m specs.Mount) bool { return m.Destination == dest })
}

// AddProcessEnv replaces the first entry of that name, as the real one does.
func (g *generator) AddProcessEnv(name, value string) {
	for i, e := range g.spec.Process.Env {
		if strings.HasPrefix(e, name+"=") {
			g.spec.Process.Env[i] = name + "=" + value
			return
		}
	}
	g.spec.Process.Env = append(g.spec.Process.Env, name+"="+value)
}
