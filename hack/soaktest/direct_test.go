package soaktest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig"
)

// direct are the low-level runtimes without an engine, by hook and by wrapper.
func (s *soak) direct() (doors []door) {
	for _, low := range []string{"runc", "crun"} {
		doors = append(doors,
			door{name: low + " hook", group: low, works: func(l *life) error { return s.runtime(l, low, low, s.hooks()) }},
			door{name: low + " wrapper", group: low, works: func(l *life) error { return s.runtime(l, low, "envscrub-"+low, nil) }},
		)
	}
	return doors
}

// hooks are those that `envscrub install` writes in a hooks.d directory.
func (s *soak) hooks() *specs.Hooks {
	hook := func(stage string) []specs.Hook {
		return []specs.Hook{{
			Path: filepath.Join(s.bin, "envscrub-hook"), Args: []string{"envscrub-hook", stage},
			Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
		}}
	}
	return &specs.Hooks{CreateRuntime: hook("createRuntime"), Poststop: hook("poststop")}
}

// bundle makes the bundle of a life; the caller removes it.
func (s *soak) bundle(l *life, edit func(*specs.Spec) error) (*rig.Bundle, error) {
	b := rig.NewBundle(s.t, s.rootfs)
	b.ID = l.id
	b.Spec.Process.Args = []string{"/bin/sh", "-c", show}
	b.Spec.Process.Env = append(b.Spec.Process.Env, environment...)
	if err := edit(b.Spec); err != nil {
		return b, err
	}
	b.Write(s.t)
	return b, nil
}

// runtime is a life with a low-level runtime; without hooks the program is the wrapper.
func (s *soak) runtime(l *life, low, program string, hooks *specs.Hooks) error {
	stays := l.random.IntN(2) == 0
	b, err := s.bundle(l, func(spec *specs.Spec) error {
		spec.Hooks = hooks
		if stays {
			spec.Process.Args[2] += "; /bin/sleep 600; :"
		}
		return nil
	})
	defer os.RemoveAll(b.Dir)
	if err != nil {
		return err
	}
	root := filepath.Join(s.bin, "root-"+low)
	command := func(args ...string) error {
		return l.do(exec.Command(filepath.Join(s.bin, program), append([]string{"--root", root}, args...)...))
	}
	defer s.remove(l, filepath.Join(s.bin, program), root)
	if !stays {
		if err := command("run", "--bundle", b.Dir, l.id); err != nil {
			return err
		}
		return l.shown()
	}
	if err := command("create", "--bundle", b.Dir, l.id); err != nil {
		return err
	}
	if l.random.IntN(3) == 0 { // never started
		return nil
	}
	if err := command("start", l.id); err != nil {
		return err
	}
	if hooks != nil { // which do not see an exec
		return l.eventually()
	}
	if err := command("exec", l.id, "/bin/sh", "-c", show); err != nil {
		return err
	}
	return l.shown()
}

// remove deletes a container that may be half made, half removed, or not there at all; delete may be killed too.
func (s *soak) remove(l *life, program, root string) {
	for range 100 {
		_ = l.do(exec.Command(program, "--root", root, "delete", "--force", l.id))
		if _, err := os.Stat(filepath.Join(root, l.id)); errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
	s.t.Error(fmt.Errorf("%s: %s cannot be deleted: %.2000q", l.door, l.id, l.text()))
}
