package hook

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sirupsen/logrus"
	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/harden/mountns"
	"github.com/envscrub/envscrub/hook/doc"
	"github.com/envscrub/envscrub/hook/record"
	"github.com/envscrub/envscrub/policy"
)

// A Hook is one call of the OCI hook.
type Hook struct {
	Policies []string // policy files in place of the standard ones
	StateDir string   // for the records, in place of the standard one
	Log      *logrus.Logger
}

// Doors, as records and audit lines name them.
const (
	doorHook      = "hook"
	doorPrecreate = "precreate"
)

// CreateRuntime takes the state of a container that is being created and sees to
// it that its process starts scrubbed, or not at all.
func (h *Hook) CreateRuntime(s *State) error {
	if s.Pid == 0 {
		return errors.New("read the state: pid: it is missing; the hook belongs in the createRuntime stage")
	}
	path, err := s.Config()
	if err != nil {
		return err
	}
	f, err := doc.Open(path)
	if err != nil {
		return err
	}
	if err := s.describes(f); err != nil {
		return err
	}
	if Sandbox(f.Annotations()) {
		return nil
	}
	x, err := h.judge(f, s.ID)
	if x == nil {
		return err
	}
	if err == nil {
		h.say(x)
		err = h.create(x, s)
	}
	return errors.Join(err, h.audit(x, doorHook, err))
}

func (h *Hook) create(x *verdict, s *State) error {
	if x.view.Mode == policy.ModeOff {
		return nil
	}
	if err := CheckCapabilities(x.file, x.view, x.decision); err != nil {
		return err
	}
	shim, err := FindShim(x.view)
	if err != nil {
		return err
	}
	injected, err := Injected(x.file, shim)
	if err != nil {
		return err
	}
	if injected {
		return x.verify()
	}
	if x.view.Mode == policy.ModeObserve {
		return h.observe(x, s)
	}
	store, err := h.store()
	if err != nil {
		return err
	}
	records, err := store.Open()
	if err != nil {
		return err
	}
	propagation, err := x.file.RawString("linux", "rootfsPropagation")
	if err != nil {
		return err
	}
	message := mountOrder(x.view, x.decision, x.file.Env()).Encode()
	ns, targets, err := reach(s.Pid, s.rootPath(x.file), Command{x.file.Args(), x.file.Env(), x.file.Cwd()})
	if err != nil || len(targets) == 0 {
		return err // what is not there is the runtime's to complain about
	}
	if strings.HasSuffix(propagation, "shared") {
		for _, target := range targets {
			if err := mountns.Unshared(target); err != nil {
				return fmt.Errorf("cover the entrypoint: %w", err)
			}
		}
	}
	// First the files, then the lifter. Side by side they take longer: a fork copies what a second thread works on, and
	// makes it wait meanwhile.
	if err := ns.Outside(func() error { return h.write(x, store, s.Bundle) }); err != nil {
		return err
	}
	return cover(ns, targets, shim, []byte(message), func(l *mountns.Lifter) {
		l.Forget(records, record.Name(s.ID, ""), s.ID)
	})
}

// observe changes nothing and writes down what would go.
func (h *Hook) observe(x *verdict, s *State) error {
	store, err := h.store()
	if err != nil {
		return err
	}
	return x.keep(store, s.Bundle)
}

// write leaves a record, and the scrubbed environment in config.json for whoever
// reads it from now on; the runtime has read it before.
func (h *Hook) write(x *verdict, store record.Store, bundle string) error {
	if err := x.keep(store, bundle); err != nil {
		return err
	}
	x.file.SetEnv(x.decision.Container())
	if err := x.file.Save(); err != nil {
		return errors.Join(err, store.Remove(x.id, ""))
	}
	return nil
}

// verify holds what the precreate stage made against the policy: what came later
// (podman run --secret …,type=env) is not scrubbed, and the shim is not to be told
// any more.
func (x *verdict) verify() error {
	if late := x.decision.Removed(); len(late) > 0 {
		return fmt.Errorf("process.env: %s: added after the precreate hook, which could not see it; install the createRuntime hook alone", strings.Join(late, ", "))
	}
	return nil
}

// reach enters the mount namespace of a container whose process waits for the
// hook, and finds there what will be executed. The caller's goroutine stays.
func reach(pid int, root string, command Command) (*mountns.Namespace, []int, error) {
	ns, err := mountns.Open(pid)
	if err != nil {
		return nil, nil, err
	}
	if err := ns.Enter(); err != nil {
		return nil, nil, err
	}
	dir, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open the root file system %s in the container's mount namespace: %w", root, err)
	}
	targets, err := Entrypoint(dir, command)
	return ns, targets, err
}

// cover puts the shim over the targets and leaves a process behind that takes it
// away again.
func cover(ns *mountns.Namespace, targets []int, shim string, message []byte, prepare func(*mountns.Lifter)) error {
	var lifter *mountns.Lifter
	err := ns.Outside(func() (err error) {
		lifter, err = ns.NewLifter(shim)
		return err
	})
	if err != nil {
		return err
	}
	for _, target := range targets {
		if err := lifter.Cover(target); err != nil {
			return fmt.Errorf("put the shim over the entrypoint: %w", err)
		}
	}
	prepare(lifter)
	return lifter.Start(message)
}

// sweepLooks is how many other containers' records are looked at when one ends: those of killed runtimes, which never
// called poststop, go in the course of time.
const sweepLooks = 8

// Poststop forgets a container. One that is not known is no error, and neither is
// a directory that is not there.
func (h *Hook) Poststop(s *State) error {
	store, err := h.store()
	if err != nil {
		return err
	}
	store.Sweep(sweepLooks) // nobody waits for a start here
	return store.RemoveBundle(s.ID, s.Bundle)
}

// Precreate is Podman's own stage: it reads a configuration and writes the changed
// one.
func (h *Hook) Precreate(input []byte, out io.Writer) error {
	f, err := doc.Parse(input)
	if err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	if !Sandbox(f.Annotations()) {
		x, err := h.judge(f, "")
		if x == nil {
			return err
		}
		if err == nil && x.view.Mode == policy.ModeEnforce {
			err = h.precreate(x)
		}
		if err := errors.Join(err, h.audit(x, doorPrecreate, err)); err != nil {
			return err
		}
	}
	if _, err := out.Write(f.Bytes()); err != nil {
		return fmt.Errorf("write standard output: %w", err)
	}
	return nil
}

func (h *Hook) precreate(x *verdict) error {
	shim, err := FindShim(x.view)
	if err != nil {
		return err
	}
	return Inject(x.file, x.view, x.decision, shim)
}
