package nri

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	validator "github.com/containerd/nri/plugins/default-validator/builtin"
	"github.com/opencontainers/runtime-spec/specs-go"
	"github.com/sirupsen/logrus"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/hack/rig/nririg"
	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/hook/record"
)

// engine is NRI's own runtime side, as containerd and CRI-O embed it, on a real socket.
type engine struct{ *nririg.Engine }

func newEngine(t *testing.T, socket string, options ...adaptation.Option) *engine {
	t.Helper()
	return &engine{nririg.New(t, socket, options...)}
}

// buffer is a log that may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// plugin is ours, connected; policy is its policy file.
func connect(t *testing.T, e *engine, policy string, change func(*Plugin)) (*Plugin, *buffer) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "policy.toml")
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	log := &buffer{}
	p := &Plugin{Policies: []string{file}, StateDir: filepath.Join(dir, "state"), Log: logrus.New()}
	p.Log.SetOutput(log)
	p.Log.SetLevel(logrus.DebugLevel)
	if change != nil {
		change(p)
	}
	ready, before := filepath.Join(dir, "ready"), e.Plugins()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx, Options{Socket: e.Socket, Index: "50", Ready: ready}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("plugin: %v", err)
		}
	})
	rig.Eventually(t, "the plugin", func() bool { _, err := os.Stat(ready); return err == nil && e.Plugins() > before })
	return p, log
}

// other is a plugin of somebody else.
type other struct {
	adjust func(*api.Container, *api.ContainerAdjustment)
}

func (o *other) CreateContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	a := &api.ContainerAdjustment{}
	o.adjust(c, a)
	return a, nil, nil
}

func (e *engine) plug(t *testing.T, index, name string, adjust func(*api.Container, *api.ContainerAdjustment)) {
	t.Helper()
	s, err := stub.New(&other{adjust}, stub.WithPluginName(name), stub.WithPluginIdx(index), stub.WithSocketPath(e.Socket), stub.WithOnClose(func() {}))
	if err != nil {
		t.Fatal(err)
	}
	before := e.Plugins()
	if err := s.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	rig.Eventually(t, name, func() bool { return e.Plugins() > before })
}

const secret = "sk-made-up-0123456789abcdef"

func policyFor(t *testing.T, text string) string {
	return "shim = " + fmt.Sprintf("%q", rig.Bin(t, "envscrub-shim")) + "\n" + text
}

func agent() (*api.PodSandbox, *api.Container) {
	pod := &api.PodSandbox{Id: "pod0", Name: "agent-0", Namespace: "agents", Labels: map[string]string{"app": "agent"}}
	c := &api.Container{
		Id: "ctr0", PodSandboxId: "pod0", Name: "main", Args: []string{"sh", "-c", "env"},
		Env: []string{"PATH=/bin:/usr/bin", "HOME=/root", "OPENAI_API_KEY=" + secret, "COPY=" + secret, "MODEL=gpt"},
		Mounts: []*api.Mount{
			{Destination: "/proc", Type: "proc", Source: "proc"},
			{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "mode=755"}},
		},
		User: &api.User{}, Linux: &api.LinuxContainer{},
	}
	return pod, c
}

const forAgents = "[nri]\nnamespaces = [\"agent*\"]\nselector = { app = \"agent\" }\n"

// create sends the request and applies the answer as engines do.
func (e *engine) create(t *testing.T, pod *api.PodSandbox, c *api.Container) (*specs.Spec, error) {
	t.Helper()
	spec := &specs.Spec{Process: &specs.Process{Args: slices.Clone(c.Args), Env: slices.Clone(c.Env)}, Linux: &specs.Linux{}}
	for _, m := range c.Mounts {
		spec.Mounts = append(spec.Mounts, specs.Mount{Destination: m.Destination, Type: m.Type, Source: m.Source, Options: m.Options})
	}
	if err := e.Adjust(t.Context(), pod, c, spec); err != nil {
		return nil, err
	}
	return spec, nil
}

func envOf(spec *specs.Spec) map[string]string {
	m := map[string]string{}
	for _, e := range spec.Process.Env {
		name, value, _ := strings.Cut(e, "=")
		m[name] = value
	}
	return m
}

func noValue(t *testing.T, what, text string) {
	t.Helper()
	if strings.Contains(text, secret) {
		t.Errorf("%s shows a value", what)
	}
}

func TestCreateContainer(t *testing.T) {
	e := newEngine(t, "")
	_, log := connect(t, e, policyFor(t, "set = { GREETING = \"hello\", MODEL = \"other\" }\n"+forAgents+"[audit]\nfile = \""+filepath.Join(t.TempDir(), "audit.log")+"\"\n"), nil)
	pod, c := agent()
	spec, err := e.create(t, pod, c)
	if err != nil {
		t.Fatal(err)
	}
	env := envOf(spec)
	for name, want := range map[string]string{"PATH": "/bin:/usr/bin", "HOME": "/root", "OPENAI_API_KEY": "", "COPY": "", "GREETING": "hello", "MODEL": "other"} {
		if got, ok := env[name]; !ok || got != want {
			t.Errorf("%s=%q, want %q", name, got, want)
		}
	}
	if want := []string{"/dev/envscrub-shim", "sh", "-c", "env"}; !slices.Equal(spec.Process.Args, want) {
		t.Errorf("args %q, want %q", spec.Process.Args, want)
	}
	last := spec.Mounts[len(spec.Mounts)-1]
	if last.Destination != "/dev/envscrub-shim" || !slices.Contains(last.Options, "ro") {
		t.Errorf("mount %+v", last)
	}
	o, _, err := order.FromEnviron(spec.Process.Env)
	if err != nil || o == nil {
		t.Fatalf("order: %v %v", o, err)
	}
	if want := []string{"OPENAI_API_KEY", "COPY"}; !slices.Equal(o.Remove, want) {
		t.Errorf("the shim removes %v, want %v", o.Remove, want)
	}
	all, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	noValue(t, "the engine's record", string(all))
	noValue(t, "the log", log.String())

	// Its start is fine with that record.
	c.Env, c.Args = spec.Process.Env, spec.Process.Args
	if err := e.StartContainer(t.Context(), &api.StartContainerRequest{Pod: pod, Container: c}); err != nil {
		t.Error(err)
	}
}

func TestRecordAndAudit(t *testing.T) {
	e := newEngine(t, "")
	file := filepath.Join(t.TempDir(), "audit.log")
	p, _ := connect(t, e, policyFor(t, forAgents+"[audit]\nfile = \""+file+"\"\n"), nil)
	pod, c := agent()
	if _, err := e.create(t, pod, c); err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Door, Engine, Outcome, ID string }
	if err := json.Unmarshal(line, &got); err != nil || got.Door != "nri" || got.Engine != "containerd" || got.Outcome != "scrubbed" || got.ID != "ctr0" {
		t.Errorf("%v: %s", err, line)
	}
	noValue(t, "the audit line", string(line))
	list, err := record.At(p.StateDir).List()
	if err != nil || len(list) != 1 || list[0].Door != "nri" || len(list[0].Variables) == 0 {
		t.Errorf("records %+v, %v", list, err)
	}
	if err := e.RemoveContainer(t.Context(), &api.RemoveContainerRequest{Pod: pod, Container: c}); err != nil {
		t.Error(err)
	}
	if list, err := record.At(p.StateDir).List(); err != nil || len(list) != 0 {
		t.Errorf("after the removal: %+v, %v", list, err)
	}

	// One that went while we were away is forgotten when we connect again.
	pod, c = agent()
	if _, err := e.create(t, pod, c); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Synchronize(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if list, err := record.At(p.StateDir).List(); err != nil || len(list) != 0 {
		t.Errorf("after the synchronization: %+v, %v", list, err)
	}
}

func TestSelection(t *testing.T) {
	e := newEngine(t, "")
	connect(t, e, policyFor(t, forAgents), nil)
	for _, tc := range []struct {
		name   string
		change func(*api.PodSandbox, *api.Container)
		want   bool
	}{
		{"namespace and label", func(*api.PodSandbox, *api.Container) {}, true},
		{"other namespace", func(p *api.PodSandbox, _ *api.Container) { p.Namespace = "kube-system" }, false},
		{"other label", func(p *api.PodSandbox, _ *api.Container) { p.Labels["app"] = "web" }, false},
		{"no label", func(p *api.PodSandbox, _ *api.Container) { p.Labels = nil }, false},
		{"annotation", func(p *api.PodSandbox, _ *api.Container) {
			p.Namespace, p.Annotations = "web", map[string]string{"io.envscrub.ask": "1"}
		}, true},
		{"pause container", func(p *api.PodSandbox, c *api.Container) { c.Id, c.PodSandboxId = p.Id, p.Id }, false},
		{"a container that says so", func(_ *api.PodSandbox, c *api.Container) {
			c.Annotations = map[string]string{"io.kubernetes.cri.container-type": "sandbox"}
		}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pod, c := agent()
			tc.change(pod, c)
			spec, err := e.create(t, pod, c)
			if err != nil {
				t.Fatal(err)
			}
			if got := spec.Process.Args[0] == "/dev/envscrub-shim"; got != tc.want {
				t.Errorf("handled: %v, want %v", got, tc.want)
			}
		})
	}
}

// Another plugin sets variables before and after ours.
func TestOtherPlugins(t *testing.T) {
	for _, tc := range []struct {
		name   string
		index  string
		adjust func(*api.Container, *api.ContainerAdjustment)
		want   string // of the error; "" is none
		env    map[string]string
	}{
		{
			"before: a secret", "10", func(_ *api.Container, a *api.ContainerAdjustment) { a.AddEnv("DB_PASSWORD", "s3cret-value") }, "",
			map[string]string{"DB_PASSWORD": "", "HOME": "/root"},
		},
		{
			"before: a value of its own for a secret", "10", func(_ *api.Container, a *api.ContainerAdjustment) { a.AddEnv("OPENAI_API_KEY", "another-0123456") }, "",
			map[string]string{"OPENAI_API_KEY": ""},
		},
		{"before: harmless", "10", func(_ *api.Container, a *api.ContainerAdjustment) { a.AddEnv("GPU", "all") }, "", map[string]string{"GPU": "all"}},
		{"before: its own command", "10", func(c *api.Container, a *api.ContainerAdjustment) { a.SetArgs(append([]string{"wrap"}, c.Args...)) }, "", nil},
		{"after: harmless", "90", func(_ *api.Container, a *api.ContainerAdjustment) { a.AddEnv("GPU", "all") }, "", map[string]string{"GPU": "all", "COPY": ""}},
		{"after: a secret", "90", func(_ *api.Container, a *api.ContainerAdjustment) { a.AddEnv("DB_PASSWORD", "s3cret-value") }, "sets DB_PASSWORD", nil},
		{"after: brings ours back", "90", func(_ *api.Container, a *api.ContainerAdjustment) {
			a.RemoveEnv("OPENAI_API_KEY")
			a.AddEnv("OPENAI_API_KEY", secret)
		}, "sets OPENAI_API_KEY", nil},
		{"after: a copy of the value", "90", func(_ *api.Container, a *api.ContainerAdjustment) { a.AddEnv("PLAIN", "x"+secret) }, "sets PLAIN", nil},
		{"after: another command", "90", func(c *api.Container, a *api.ContainerAdjustment) { a.UpdateArgs(c.Args[1:]) }, "replaced the command", nil},
		{"after: without our mount", "90", func(_ *api.Container, a *api.ContainerAdjustment) { a.RemoveMount("/dev/envscrub-shim") }, "mount away", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := newEngine(t, "")
			_, log := connect(t, e, policyFor(t, forAgents), nil)
			e.plug(t, tc.index, "other", tc.adjust)
			pod, c := agent()
			spec, err := e.create(t, pod, c)
			noValue(t, "the log", log.String())
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Fatalf("got %v, want ...%s...", err, tc.want)
				}
				noValue(t, "the error", err.Error())
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			env := envOf(spec)
			for name, want := range tc.env {
				if got, ok := env[name]; !ok || got != want {
					t.Errorf("%s=%q, want %q", name, got, want)
				}
			}
			if spec.Process.Args[0] != "/dev/envscrub-shim" {
				t.Errorf("args %q", spec.Process.Args)
			}
			all, _ := json.Marshal(spec)
			noValue(t, "the engine's record", string(all))
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		name, policy, want string
		change             func(*api.PodSandbox, *api.Container)
	}{
		{"keep", "[agent]\nkeep = [\"OPENAI_API_KEY\"]\n", "OPENAI_API_KEY is for the agent alone", nil},
		{"redaction", "[redact]\noutput = true\n", "redact.output", nil},
		{"twice", "", "OPENAI_API_KEY stands 2 times", func(_ *api.PodSandbox, c *api.Container) {
			c.Env = append(c.Env, "OPENAI_API_KEY=other-0123456789")
		}},
		{"our own variable", "", "only envscrub may set", func(_ *api.PodSandbox, c *api.Container) {
			c.Env = append(c.Env, "ENVSCRUB_ORDER=x")
		}},
		{"malformed entry", "", "environment", func(_ *api.PodSandbox, c *api.Container) { c.Env = append(c.Env, "NOEQUALS") }},
		{"dash", "set = { MODEL = \"x\" }\ndeny = [\"-X\"]\n", "dash", func(_ *api.PodSandbox, c *api.Container) { c.Env = append(c.Env, "-X=1") }},
		{"no command", "", "no command", func(_ *api.PodSandbox, c *api.Container) { c.Args = nil }},
		{"strict and a secret in the arguments", "strict = true\n", "process.args[2]", func(_ *api.PodSandbox, c *api.Container) {
			c.Args = []string{"sh", "-c", "export K=" + secret + "; agent"}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := newEngine(t, "")
			_, log := connect(t, e, policyFor(t, tc.policy+forAgents), nil)
			pod, c := agent()
			if tc.change != nil {
				tc.change(pod, c)
			}
			_, err := e.create(t, pod, c)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want ...%s...", err, tc.want)
			}
			noValue(t, "the error", err.Error())
			noValue(t, "the log", log.String())
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
}

func TestBrokenPolicyRefusesAndHeals(t *testing.T) {
	e := newEngine(t, "")
	p, _ := connect(t, e, "alow = []\n", nil)
	pod, c := agent()
	if _, err := e.create(t, pod, c); err == nil || !strings.Contains(err.Error(), "policy.toml:1") {
		t.Errorf("got %v", err)
	}
	// parity: R3. The next container is decided by the mended policy, without a restart.
	if err := os.WriteFile(p.Policies[0], []byte(policyFor(t, forAgents)), 0o600); err != nil {
		t.Fatal(err)
	}
	pod, c = agent()
	if _, err := e.create(t, pod, c); err != nil {
		t.Error(err)
	}
}

// A slow decision is answered with an error before the engine gives up.
func TestOwnDeadline(t *testing.T) {
	adaptation.SetPluginRequestTimeout(400 * time.Millisecond)
	defer adaptation.SetPluginRequestTimeout(adaptation.DefaultPluginRequestTimeout)
	e := newEngine(t, "")
	release := make(chan struct{})
	defer close(release)
	connect(t, e, policyFor(t, forAgents), func(p *Plugin) { p.slow = func() { <-release } })
	pod, c := agent()
	begin := time.Now()
	_, err := e.create(t, pod, c)
	if err == nil || !strings.Contains(err.Error(), "no decision within 300ms") {
		t.Errorf("got %v", err)
	}
	if d := time.Since(begin); d > 390*time.Millisecond {
		t.Errorf("answered after %s", d)
	}
}

// hang is our plugin with a handler that never answers: what the engine does then
// is what the failure policy asks for.
type hang struct {
	*Plugin
	release chan struct{}
}

func (h hang) CreateContainer(context.Context, *api.PodSandbox, *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	<-h.release
	return nil, nil, nil
}

func TestFailurePolicy(t *testing.T) {
	adaptation.SetPluginRequestTimeout(200 * time.Millisecond)
	defer adaptation.SetPluginRequestTimeout(adaptation.DefaultPluginRequestTimeout)
	e := newEngine(t, "")
	p := &Plugin{Log: logrus.New()}
	p.Log.SetOutput(io.Discard)
	release := make(chan struct{})
	defer close(release)
	s, err := stub.New(hang{p, release}, stub.WithPluginName(Name), stub.WithPluginIdx("90"), stub.WithSocketPath(e.Socket),
		stub.WithOnClose(func() {}), stub.WithFailurePolicy(&api.FailurePolicy{FailRequest: true, KeepConnected: true}))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	rig.Eventually(t, "the plugin", func() bool { return e.Plugins() == 1 })
	for range 2 {
		pod, c := agent()
		if _, err := e.create(t, pod, c); err == nil {
			t.Error("the engine went on without us")
		}
	}
}

// While no plugin is connected, the engine's default validator is what refuses
// pods that require it; and a container from the gap is refused at its start.
func TestGap(t *testing.T) {
	e := newEngine(t, "", adaptation.WithDefaultValidator(&validator.DefaultValidatorConfig{Enable: true}))
	pod, c := agent()
	pod.Annotations = map[string]string{"required-plugins.noderesource.dev": `["envscrub"]`}
	if _, err := e.create(t, pod, c); err == nil || !strings.Contains(err.Error(), "envscrub") {
		t.Errorf("required and absent: %v", err)
	}
	pod, c = agent()
	spec, err := e.create(t, pod, c)
	if err != nil || spec.Process.Args[0] != "sh" {
		t.Errorf("not required and absent: %v %v", spec, err)
	}

	_, log := connect(t, e, policyFor(t, forAgents), nil)
	err = e.StartContainer(t.Context(), &api.StartContainerRequest{Pod: pod, Container: c})
	if err == nil || !strings.Contains(err.Error(), "not connected") {
		t.Errorf("started from the gap: %v", err)
	}
	noValue(t, "the log", log.String())

	pod, c = agent()
	pod.Annotations = map[string]string{"required-plugins.noderesource.dev": `["envscrub"]`}
	if _, err := e.create(t, pod, c); err != nil {
		t.Errorf("required and there: %v", err)
	}
}

// report: containerd/containerd#13432
func TestEngineThatIgnoresUs(t *testing.T) {
	e := newEngine(t, "")
	_, log := connect(t, e, policyFor(t, forAgents), nil)
	pod, c := agent()
	before := slices.Clone(c.Env)
	spec, err := e.create(t, pod, c)
	if err != nil {
		t.Fatal(err)
	}
	// New variables arrive, changes of old ones do not.
	o, _, _ := order.FromEnviron(spec.Process.Env)
	c.Env = append(before, o.Environ()...)
	err = e.StartContainer(t.Context(), &api.StartContainerRequest{Pod: pod, Container: c})
	if err == nil || !strings.Contains(err.Error(), "OPENAI_API_KEY") {
		t.Fatalf("got %v", err)
	}
	noValue(t, "the error", err.Error())
	noValue(t, "the log", log.String())
}

func TestObserveAndOff(t *testing.T) {
	for _, mode := range []string{"observe", "off"} {
		e := newEngine(t, "")
		_, log := connect(t, e, policyFor(t, "mode = \""+mode+"\"\n"+forAgents), nil)
		pod, c := agent()
		before := slices.Clone(c.Env)
		spec, err := e.create(t, pod, c)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(spec.Process.Env, before) || spec.Process.Args[0] != "sh" {
			t.Errorf("%s changed the container: %q", mode, spec.Process.Args)
		}
		if err := e.StartContainer(t.Context(), &api.StartContainerRequest{Pod: pod, Container: c}); err != nil {
			t.Error(err)
		}
		noValue(t, "the log", log.String())
	}
}

func TestNothingToDoForTheShim(t *testing.T) {
	e := newEngine(t, "")
	connect(t, e, policyFor(t, forAgents), nil)
	pod, c := agent()
	c.Env = []string{"PATH=/bin", "HOME=/root"}
	spec, err := e.create(t, pod, c)
	if err != nil {
		t.Fatal(err)
	}
	if spec.Process.Args[0] != "sh" || len(spec.Process.Env) != 2 {
		t.Errorf("%q %q", spec.Process.Args, spec.Process.Env)
	}
	if err := e.StartContainer(t.Context(), &api.StartContainerRequest{Pod: pod, Container: c}); err != nil {
		t.Error(err)
	}
}

// What a pod asks for counts as far as the policy's overrides go.
func TestAnnotations(t *testing.T) {
	for _, tc := range []struct {
		name, overrides string
		annotations     map[string]string
		kept            bool // GH_TOKEN
		handled         bool
	}{
		{"allow, permitted", `["GH_TOKEN"]`, map[string]string{"io.envscrub.allow": "GH_TOKEN"}, true, true},
		{"allow, not permitted", `[]`, map[string]string{"io.envscrub.allow": "GH_TOKEN"}, false, true},
		{"disable, permitted", `["io.envscrub.disable"]`, map[string]string{"io.envscrub.disable": "true"}, true, false},
		{"disable, not permitted", `[]`, map[string]string{"io.envscrub.disable": "true"}, false, true},
		{"profile", `["io.envscrub.profile"]`, map[string]string{"io.envscrub.profile": "gh"}, true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := newEngine(t, "")
			connect(t, e, policyFor(t, "overrides = "+tc.overrides+"\n[profile.gh]\nallow = [\"GH_TOKEN\"]\n"), nil)
			pod, c := agent()
			pod.Annotations = tc.annotations
			c.Env = append(c.Env, "GH_TOKEN=made-up-0123456789")
			spec, err := e.create(t, pod, c)
			if err != nil {
				t.Fatal(err)
			}
			if got := envOf(spec)["GH_TOKEN"] != ""; got != tc.kept {
				t.Errorf("GH_TOKEN kept: %v, want %v", got, tc.kept)
			}
			if got := spec.Process.Args[0] != "sh"; got != tc.handled {
				t.Errorf("handled: %v, want %v", got, tc.handled)
			}
		})
	}
}

// The policy's programs run here as at every door.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	hookProgram := filepath.Join(dir, "hook")
	rig.Write(t, hookProgram, "#!/bin/sh\nsed 's/\"MODEL\":\"gpt\"/\"MODEL\":\"changed\"/; s/MODEL=gpt/MODEL=changed/'\n", 0o755)
	e := newEngine(t, "")
	connect(t, e, policyFor(t, forAgents+"[[hook]]\ncommand = [\""+hookProgram+"\"]\n"), nil)
	pod, c := agent()
	spec, err := e.create(t, pod, c)
	if err != nil {
		t.Fatal(err)
	}
	if got := envOf(spec)["MODEL"]; got != "changed" {
		t.Errorf("MODEL=%q", got)
	}
}

// TestMain also is an engine in a process of its own, which a test can kill.
func TestMain(m *testing.M) {
	if socket := os.Getenv("NRI_TEST_ENGINE"); socket != "" {
		a, err := adaptation.New("containerd", "v2.3.4",
			func(ctx context.Context, cb adaptation.SyncCB) error { _, err := cb(ctx, nil, nil); return err },
			func(context.Context, []*adaptation.ContainerUpdate) ([]*adaptation.ContainerUpdate, error) {
				return nil, nil
			},
			adaptation.WithSocketPath(socket), adaptation.WithPluginPath("/nonexistent"), adaptation.WithPluginConfigPath("/nonexistent"))
		if err == nil {
			err = a.Start()
		}
		if err != nil {
			panic(err)
		}
		select {}
	}
	os.Exit(m.Run())
}

// The engine is killed and comes back on the same socket: the real program
// connects again by itself, and is ready only while it is connected.
func TestReconnects(t *testing.T) {
	dir := t.TempDir()
	socket, ready, file := filepath.Join(dir, "nri.sock"), filepath.Join(dir, "ready"), filepath.Join(dir, "policy.toml")
	rig.Write(t, file, policyFor(t, forAgents), 0o600)
	isReady := func() bool { _, err := os.Stat(ready); return err == nil }

	var log buffer
	plugin := exec.Command(rig.Bin(t, "envscrub-nri"), "-socket", socket, "-ready", ready, "-policy", file, "-state-dir", filepath.Join(dir, "state"))
	plugin.Stderr = &log
	if err := plugin.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plugin.Process.Kill(); _ = plugin.Wait() })
	probe := func() error {
		return exec.Command(rig.Bin(t, "envscrub-nri"), "-probe", "-ready", ready).Run()
	}
	if probe() == nil {
		t.Error("ready without an engine")
	}

	first := exec.Command(os.Args[0])
	first.Env = append(os.Environ(), "NRI_TEST_ENGINE="+socket)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = first.Process.Kill(); _ = first.Wait() })
	rig.Eventually(t, "the first engine", isReady)
	if err := probe(); err != nil {
		t.Error(err)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	rig.Eventually(t, "the loss", func() bool { return !isReady() })

	again := newEngine(t, socket)
	rig.Eventually(t, "the reconnection", func() bool { return again.Plugins() == 1 })
	pod, c := agent()
	spec, err := again.create(t, pod, c)
	if err != nil || spec.Process.Args[0] != "/dev/envscrub-shim" {
		t.Errorf("%v %v", spec, err)
	}
	noValue(t, "the log", log.String())

	if err := plugin.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := plugin.Wait(); err != nil {
		t.Errorf("SIGTERM: %v\n%s", err, log.String())
	}
	if isReady() {
		t.Error("ready after its end")
	}
}

func TestMainRefusesNonsense(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.toml")
	rig.Write(t, bad, "alow = []\n", 0o600)
	for _, args := range [][]string{{"-nonsense"}, {"argument"}, {"-log-level", "loud"}, {"-check", "-policy", bad}, {"-probe", "-ready", filepath.Join(dir, "no")}} {
		var out, err bytes.Buffer
		if code := Main(append([]string{"envscrub-nri"}, args...), nil, &out, &err); code == 0 || out.Len() > 0 || err.Len() == 0 {
			t.Errorf("%v: code %d, %q, %q", args, code, out.String(), err.String())
		}
	}
}

// What the engine is told runs: the adjusted configuration on the real runtimes,
// with the real shim. Also with an engine that ignored our changes of old variables.
func TestOnRealRuntimes(t *testing.T) {
	rig.Need(t, "root")
	root := rig.Rootfs(t)
	for _, rt := range rig.Runtimes(t) {
		for _, ignored := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/ignored=%v", rt.Name, ignored), func(t *testing.T) {
				e := newEngine(t, "")
				connect(t, e, policyFor(t, forAgents), nil)
				b := rig.NewBundle(t, root)
				pod, c := agent()
				c.Args = []string{"sh", "-c", "cat /proc/self/environ | tr '\\0' '\\n'; exit 7"}
				c.Mounts = nil
				for _, m := range b.Spec.Mounts {
					c.Mounts = append(c.Mounts, &api.Mount{Destination: m.Destination, Type: m.Type, Source: m.Source, Options: m.Options})
				}
				before := slices.Clone(c.Env)
				spec, err := e.create(t, pod, c)
				if err != nil {
					t.Fatal(err)
				}
				if ignored {
					o, _, _ := order.FromEnviron(spec.Process.Env)
					spec.Process.Env = append(before, o.Environ()...)
				}
				b.Spec.Process.Env, b.Spec.Process.Args, b.Spec.Mounts = spec.Process.Env, spec.Process.Args, spec.Mounts
				b.Write(t)
				r := b.Run(t, rt)
				if r.Code != 7 || !strings.Contains(r.Stdout, "HOME=/root") || !strings.Contains(r.Stdout, "MODEL=gpt") {
					t.Fatalf("code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
				}
				for _, gone := range []string{secret, "OPENAI_API_KEY", "COPY=", "ENVSCRUB"} {
					if strings.Contains(r.Stdout, gone) {
						t.Errorf("the agent sees %s:\n%s", gone, r.Stdout)
					}
				}
			})
		}
	}
}
