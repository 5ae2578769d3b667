package rig

import (
	"testing"
)

const planted = "RIG_PLANTED=made-up-value"

// TestRuntimes shows that the rig runs the real thing: what is planted arrives.
func TestRuntimes(t *testing.T) {
	for _, r := range Runtimes(t) {
		t.Run(r.Name, func(t *testing.T) {
			b := NewBundle(t, Rootfs(t))
			b.Spec.Process.Env = append(b.Spec.Process.Env, planted)
			b.Write(t)
			check(t, b.Run(t, r))

			b.ID += "-created"
			c := b.Create(t, r)
			if c.Result.Code != 0 {
				t.Fatalf("create: %+v", c.Result)
			}
			if s := c.Start(); s.Code != 0 {
				t.Fatalf("start: %+v", s)
			}
			c.Wait()
			check(t, Result{Stdout: c.Output()})
		})
	}
}

func TestPodman(t *testing.T) {
	for _, runtime := range []string{"runc", "crun"} {
		t.Run(runtime, func(t *testing.T) {
			check(t, Podman(t, PodmanOptions{Runtime: runtime}).Run("run", "--rm", "--env", planted, Image, "env"))
		})
		t.Run("rootless "+runtime, func(t *testing.T) {
			check(t, PodmanRootless(t, PodmanOptions{Runtime: runtime}).Run("run", "--rm", "--env", planted, Image, "env"))
		})
	}
}

func TestDocker(t *testing.T) {
	check(t, Docker(t, DockerOptions{}).Run("run", "--rm", "--network=none", "--env", planted, Image, "env"))
}

func check(t *testing.T, r Result) {
	t.Helper()
	if r.Code != 0 || r.Env()["RIG_PLANTED"] != "made-up-value" {
		t.Errorf("exit %d\nstdout: %s\nstderr: %s", r.Code, r.Stdout, r.Stderr)
	}
}
