package wrapper_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
)

// TestPodman is the wrapper with --runtime, as root and rootless.
//
// report: podman#29347, gluetrans#88
func TestPodman(t *testing.T) {
	rig.Need(t, "root", "podman", "runc")
	w := program(t, "runc", keepKey)
	for name, start := range map[string]func(testing.TB, rig.PodmanOptions) *rig.Engine{"root": rig.Podman, "rootless": rig.PodmanRootless} {
		t.Run(name, func(t *testing.T) {
			// Podman asks a runtime for its errors as JSON only where it is told that it
			// can; the install command says so for the wrapper.
			bare, p := start(t, rig.PodmanOptions{}), start(t, rig.PodmanOptions{Runtime: w, Conf: "runtime_supports_json = [\"runc\", \"wrapper\"]\n"})
			testPodman(t, bare, p)
		})
	}
}

func testPodman(t *testing.T, bare, p *rig.Engine) {
	planted := options(append(secrets, plain)...)

	t.Run("run", func(t *testing.T) {
		lines(t, "bare", bare.Must(join("run", "--rm", planted, rig.Image, "/bin/env")...), append(secrets, plain), nil)
		lines(t, "envscrub", p.Must(join("run", "--rm", planted, rig.Image, "/bin/env")...), []string{plain, key}, []string{token, dsn})
		lines(t, "a child", p.Must(join("run", "--rm", planted, rig.Image, "/bin/sh", "-c", "/bin/env; exit 0")...), []string{plain}, secrets)
	})

	t.Run("exec", func(t *testing.T) {
		id := bare.Must(join("run", "--detach", planted, rig.Image, "/bin/sleep", "300")...)
		lines(t, "bare", bare.Must("exec", id, "/bin/env"), append(secrets, plain), nil)

		id = p.Must(join("run", "--detach", planted, rig.Image, "/bin/sleep", "300")...)
		lines(t, "exec", p.Must("exec", id, "/bin/env"), []string{plain}, secrets)
		lines(t, "exec --env", p.Must("exec", "--env", "NPM_TOKEN=set-on-purpose", "--env", "GH_TOKEN=another-value-of-it", id, "/bin/env"),
			[]string{plain, "NPM_TOKEN=set-on-purpose", "GH_TOKEN=another-value-of-it"}, secrets)
		lines(t, "exec --user", p.Must("exec", "--user", "1000", "--workdir", "/tmp", id, "/bin/env"), []string{plain}, secrets)
		lines(t, "environ", p.Run("exec", id, "/bin/cat", "/proc/1/environ").Stdout, nil, secrets)
		if r := p.Run("exec", id, "/bin/sh", "-c", "exit 42"); r.Code != 42 {
			t.Errorf("exec's exit code: %+v", r)
		}
		// Again from Podman's own record, with nothing generated anew.
		p.Must("restart", "--time=1", id)
		lines(t, "exec after restart", p.Must("exec", id, "/bin/env"), []string{plain}, secrets)
		p.Must("stop", "--time=1", id)
		p.Must("start", id)
		lines(t, "exec after start", p.Must("exec", id, "/bin/env"), []string{plain}, secrets)
		p.Must("rm", "--force", "--time=0", id)
	})

	t.Run("the agent's own capability", func(t *testing.T) {
		show := join("run", "--rm", planted, "--user", "1000", rig.Image, "/bin/sh", "-c", "grep CapPrm /proc/$$/status; grep CapPrm /proc/self/status; exit 0")
		const none, one = "CapPrm:\t0000000000000000", "CapPrm:\t0000000800000000"
		if got := bare.Must(show...); got != none+"\n"+none {
			t.Errorf("bare: %s", got)
		}
		if got := p.Must(show...); got != one+"\n"+none {
			t.Errorf("envscrub: %s", got)
		}
	})

	t.Run("as without us", func(t *testing.T) {
		for _, c := range [][]string{
			{"--rm", rig.Image, "/bin/sh", "-c", "exit 7"},
			{"--rm", "--user", "1000", rig.Image, "/bin/id"},
			{"--rm", "--read-only", rig.Image, "/bin/sh", "-c", "touch /x; echo $?"},
			{"--rm", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", rig.Image, "/bin/sh", "-c", "id; grep NoNew /proc/self/status"},
			{"--rm", rig.Image, "/no/such/program"},
			{"--rm", rig.Image, "no-such-program"},
		} {
			want := bare.Run(join("run", c)...)
			got := p.Run(join("run", c)...)
			if got.Code != want.Code || got.Stdout != want.Stdout || message(got.Stderr) != message(want.Stderr) {
				t.Errorf("%q:\ngot  %+v\nwant %+v", c, got, want)
			}
		}
	})

	t.Run("health check", func(t *testing.T) {
		id := p.Must(join("run", "--detach", planted, "--health-cmd", "/bin/env > /tmp/health", "--health-interval=disable", rig.Image, "/bin/sleep", "300")...)
		p.Must("healthcheck", "run", id)
		lines(t, "health check", p.Must("exec", id, "/bin/cat", "/tmp/health"), []string{plain}, secrets)
		p.Must("rm", "--force", "--time=0", id)
	})

	t.Run("secret", func(t *testing.T) {
		file := filepath.Join(rig.TempDir(t), "secret")
		rig.Write(t, file, "made-up-secret-value", 0o644)
		p.Must("secret", "create", "made-up", file)
		defer p.Must("secret", "rm", "made-up")
		secret := []string{"STRIPE_API_KEY=made-up-secret-value"}
		id := p.Must("run", "--detach", "--secret", "made-up,type=env,target=STRIPE_API_KEY", rig.Image, "/bin/sh", "-c", "/bin/env; sleep 300")
		rig.Eventually(t, "the output", func() bool { return strings.Contains(p.Run("logs", id).Stdout, "PATH=") })
		lines(t, "secret", p.Must("logs", id), nil, secret)
		lines(t, "secret, exec", p.Must("exec", id, "/bin/env"), nil, secret)
		p.Must("rm", "--force", "--time=0", id)
	})

	t.Run("host's environment", func(t *testing.T) {
		cmd := p.Command("run", "--rm", "--env-host", rig.Image, "/bin/sh", "-c", "/bin/env; exit 0")
		cmd.Env = append(cmd.Env, append(secrets, plain)...)
		lines(t, "--env-host", ok(t, "run", rig.Run(t, cmd)).Stdout, []string{plain}, secrets)
	})

	t.Run("pod", func(t *testing.T) {
		// The pod without its pause container, which would have to be built.
		p.Must("pod", "create", "--infra=false", "--name", "made-up-pod")
		defer p.Must("pod", "rm", "--force", "made-up-pod")
		lines(t, "in a pod", p.Must(join("run", "--rm", "--pod", "made-up-pod", planted, rig.Image, "/bin/sh", "-c", "/bin/env; exit 0")...), []string{plain}, secrets)
	})

	t.Run("an annotation that is not honoured", func(t *testing.T) {
		lines(t, "annotation", p.Must(join("run", "--rm", "--annotation", "io.envscrub.disable=true", planted, rig.Image, "/bin/sh", "-c", "/bin/env; exit 0")...), []string{plain}, secrets)
	})

	t.Run("stop", func(t *testing.T) {
		id := p.Must("run", "--detach", rig.Image, "/bin/sh", "-c", "trap 'exit 5' TERM; while :; do sleep 0.1; done")
		p.Must("stop", "--time=10", id)
		if code := p.Must("inspect", "--format", "{{.State.ExitCode}}", id); code != "5" {
			t.Errorf("exit code %s after stop", code)
		}
		p.Must("rm", id)
	})
}

// message takes what differs between two runs out of Podman's own: ids, times, and the
// path of the runtime.
func message(s string) string {
	if _, rest, found := strings.Cut(s, "runc create failed"); found {
		return rest
	}
	return s
}

// A refusal reaches the user through conmon and the runtime's log.
func TestPodmanShowsRefusals(t *testing.T) {
	rig.Need(t, "root", "podman", "runc")
	p := rig.Podman(t, rig.PodmanOptions{Runtime: program(t, "runc", "runtimes = [\"runc\"]\ndeny = 5\n")})
	r := p.Run("run", "--rm", rig.Image, "/bin/env")
	if r.Code == 0 || !strings.Contains(r.Stderr, "policy.toml:2:") {
		t.Errorf("%+v", r)
	}
}

// TestPodmanConf is the wrapper as containers.conf names it, of crun by the name of its
// link.
func TestPodmanConf(t *testing.T) {
	rig.Need(t, "root", "podman", "runc")
	rig.Bin(t, "envscrub-shim")
	link := filepath.Join(rig.TempDir(t), "envscrub-runc")
	if err := os.Symlink(rig.Bin(t, "envscrub-runtime"), link); err != nil {
		t.Fatal(err)
	}
	p := rig.Podman(t, rig.PodmanOptions{Runtime: "envscrub-runc", Conf: "[engine.runtimes]\nenvscrub-runc = [\"" + link + "\"]\n"})
	lines(t, "containers.conf", p.Must(join("run", "--rm", options(append(secrets, plain)...), rig.Image, "/bin/env")...), []string{plain}, secrets)
}

// TestPodmanCrun is the wrapper of crun.
func TestPodmanCrun(t *testing.T) {
	rig.Need(t, "root", "podman", "crun")
	rig.Bin(t, "envscrub-shim")
	dir := rig.TempDir(t)
	link := filepath.Join(dir, "envscrub-crun")
	if err := os.Symlink(rig.Bin(t, "envscrub-runtime"), link); err != nil {
		t.Fatal(err)
	}
	// rig takes the hybrid cgroup hierarchy away for the runtime named crun.
	p := rig.Podman(t, rig.PodmanOptions{Runtime: "crun", Conf: "[engine.runtimes]\ncrun = [\"" + link + "\"]\n"})
	planted := options(append(secrets, plain)...)
	lines(t, "run", p.Must(join("run", "--rm", planted, rig.Image, "/bin/env")...), []string{plain}, secrets)
	id := p.Must(join("run", "--detach", planted, rig.Image, "/bin/sleep", "300")...)
	lines(t, "exec", p.Must("exec", id, "/bin/env"), []string{plain}, secrets)
	lines(t, "exec --env", p.Must("exec", "--env", "NPM_TOKEN=set-on-purpose", id, "/bin/env"), []string{plain, "NPM_TOKEN=set-on-purpose"}, secrets)
	p.Must("rm", "--force", "--time=0", id)
}
