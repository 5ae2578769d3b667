package soaktest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/install"
)

// engines are Docker, and Podman as root and as a user, by hook and by wrapper.
func (s *soak) engines() []door {
	var doors []door
	add := func(name, group string, e *rig.Engine, exec bool) {
		doors = append(doors, door{
			name: name, group: group,
			works: func(l *life) error { return s.engine(l, e, exec) },
			left:  func() []string { return strings.Fields(e.Run("ps", "--all", "--quiet").Stdout) },
		})
	}
	if s.wanted("docker") {
		s.t.Cleanup(s.networks) // registered before the engine, so that it comes after its end
		wrapper := filepath.Join(s.bin, "envscrub-runtime")
		add("docker", "docker", rig.Docker(s.t, rig.DockerOptions{Runtimes: map[string]string{"envscrub": wrapper}, Default: "envscrub"}), true)
	}
	if s.wanted("podman") {
		hooks := rig.TempDir(s.t)
		s.writeHooks(hooks, nil)
		add("podman hook", "podman", rig.Podman(s.t, rig.PodmanOptions{Runtime: filepath.Join(s.bin, "runc"), HooksDir: hooks}), false)
		add("podman wrapper", "podman", rig.Podman(s.t, rig.PodmanOptions{Runtime: filepath.Join(s.bin, "envscrub-crun")}), true)
	}
	if s.wanted("rootless") {
		e := rig.PodmanRootless(s.t, rig.PodmanOptions{Runtime: filepath.Join(s.bin, "envscrub-runc")})
		s.store(e)
		add("rootless wrapper", "rootless", e, true)

		hooks := rig.TempDir(s.t)
		e = rig.PodmanRootless(s.t, rig.PodmanOptions{Runtime: filepath.Join(s.bin, "crun"), HooksDir: hooks})
		s.store(e)
		account := rig.OrdinaryUser(s.t)
		uid, err := strconv.Atoi(account.Uid)
		if err != nil {
			s.t.Fatal(err)
		}
		s.writeHooks(hooks, &install.User{UID: uid, Home: e.Home, RuntimeDir: filepath.Join(e.Home, "run")})
		add("rootless hook", "rootless", e, false)
	}
	return doors
}

// networks removes what dockerd forgets of containers that could not start: a mount, and with it its whole directory.
func (s *soak) networks() {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		s.t.Error(err)
	}
	forgotten := map[string]bool{}
	for line := range strings.Lines(string(mounts)) {
		place := strings.Fields(line)[4]
		if dir, _, ok := strings.Cut(place, "/exec/netns/"); ok && strings.Contains(dir, "/rig-") {
			forgotten[dir] = true
			if err := unix.Unmount(place, unix.MNT_DETACH); err != nil {
				s.t.Errorf("unmount %s: %v", place, err)
			}
		}
	}
	for dir := range forgotten {
		if err := os.RemoveAll(dir); err != nil {
			s.t.Error(err)
		}
	}
}

// writeHooks writes what `envscrub install podman --via hook --when always` does.
func (s *soak) writeHooks(dir string, user *install.User) {
	files, err := install.HookFiles(filepath.Join(s.bin, "envscrub-hook"), install.WhenAlways, user)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
}

// engine is a life with an engine; exec says that the door covers exec and health checks too.
func (s *soak) engine(l *life, e *rig.Engine, exec bool) error {
	command := func(args ...string) error { return l.do(e.Command(args...)) }
	options := []string{"--name", l.id, "--network=none"}
	for _, entry := range environment {
		options = append(options, "--env", entry)
	}
	if e.Name == "docker" {
		options = append(options, "--health-cmd", show, "--health-interval", "1s")
	} else {
		options = append(options, "--health-cmd", show, "--health-interval", "disable")
	}
	make := func(verb string, more ...string) []string {
		return append(append([]string{verb}, options...), more...)
	}
	defer s.removeFrom(l, e)
	const stay = show + "; /bin/sleep 600; :"
	switch l.random.IntN(4) {
	case 0:
		if err := command(make("run", rig.Image, "/bin/sh", "-c", show)...); err != nil {
			return err
		}
		return l.shown()
	case 1: // made, and started later or never
		if err := command(make("create", rig.Image, "/bin/sh", "-c", show)...); err != nil || l.random.IntN(3) == 0 {
			return err
		}
		if err := command("start", "--attach", l.id); err != nil {
			return err
		}
		return l.shown()
	}
	if err := command(make("run", "--detach", rig.Image, "/bin/sh", "-c", stay)...); err != nil {
		return err
	}
	for range 2 {
		if exec {
			if err := command("exec", l.id, "/bin/sh", "-c", show); err != nil {
				return err
			}
			if e.Name != "docker" {
				if err := command("healthcheck", "run", l.id); err != nil {
					return err
				}
			}
			// The output of health checks is here.
			if err := command("inspect", "--format", "{{json .State}}", l.id); err != nil {
				return err
			}
		}
		if err := command("restart", "--time", "0", l.id); err != nil {
			return err
		}
	}
	if err := command("stop", "--time", "0", l.id); err != nil {
		return err
	}
	if err := command("logs", l.id); err != nil {
		return err
	}
	if exec {
		return l.shown()
	}
	return nil // it may have been stopped before it had shown anything
}

// removeFrom removes a container from its engine, whose runtime may be killed meanwhile.
func (s *soak) removeFrom(l *life, e *rig.Engine) {
	remove := []string{"rm", "--force", l.id}
	if e.Name != "docker" {
		remove = []string{"rm", "--force", "--time", "0", l.id}
	}
	for range 100 {
		_ = l.do(e.Command(remove...))
		if r := e.Run("ps", "--all", "--quiet", "--filter", "name=^"+l.id+"$"); r.Code == 0 && strings.TrimSpace(r.Stdout) == "" {
			return
		}
	}
	s.t.Error(fmt.Errorf("%s: %s cannot be removed: %.2000q", l.door, l.id, l.text()))
}
