package soaktest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	validator "github.com/containerd/nri/plugins/default-validator/builtin"
	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig/nririg"
)

// nri is the plugin, connected to the engine's side of NRI, which requires it for the pods of the soak; what comes out
// is run by runc.
func (s *soak) nri() []door {
	if !s.wanted("nri") {
		return nil
	}
	// The engines' own two seconds would be a limit on the machine's speed.
	adaptation.SetPluginRequestTimeout(time.Minute)
	adaptation.SetPluginRegistrationTimeout(time.Minute)
	e := nririg.New(s.t, "", adaptation.WithDefaultValidator(&validator.DefaultValidatorConfig{Enable: true}))
	s.supervise(filepath.Join(s.bin, "envscrub-nri"), "-socket", e.Socket)
	return []door{{name: "nri", group: "nri", works: func(l *life) error { return s.pod(l, e) }}}
}

// supervise starts a daemon again whenever it ends, as systemd does.
func (s *soak) supervise(program string, args ...string) {
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		for ctx.Err() == nil {
			cmd := exec.CommandContext(ctx, program, args...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			_ = cmd.Run()
		}
	})
	s.daemons = append(s.daemons, func() { cancel(); ended.Wait() })
}

// pod is the life of a container in a pod that requires the plugin.
func (s *soak) pod(l *life, e *nririg.Engine) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	pod := &api.PodSandbox{
		Id: l.id + "-pod", Name: "pod", Namespace: "soak",
		Annotations: map[string]string{"required-plugins.noderesource.dev": `["envscrub"]`},
	}
	c := &api.Container{Id: l.id, PodSandboxId: pod.Id, Name: "main", User: &api.User{}, Linux: &api.LinuxContainer{}}
	b, err := s.bundle(l, func(spec *specs.Spec) error {
		c.Args, c.Env = spec.Process.Args, spec.Process.Env
		for _, m := range spec.Mounts {
			c.Mounts = append(c.Mounts, &api.Mount{Destination: m.Destination, Type: m.Type, Source: m.Source, Options: m.Options})
		}
		return e.Adjust(ctx, pod, c, spec)
	})
	defer os.RemoveAll(b.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = e.RemoveContainer(ctx, &api.RemoveContainerRequest{Pod: pod, Container: c}) }()
	c.Args, c.Env = b.Spec.Process.Args, b.Spec.Process.Env
	if err := e.StartContainer(ctx, &api.StartContainerRequest{Pod: pod, Container: c}); err != nil {
		return err
	}
	root := filepath.Join(s.bin, "root-nri")
	defer s.remove(l, filepath.Join(s.bin, "runc"), root)
	if err := l.do(exec.Command(filepath.Join(s.bin, "runc"), "--root", root, "run", "--bundle", b.Dir, l.id)); err != nil {
		return err
	}
	return l.shown()
}
