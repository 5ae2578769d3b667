package wrapper_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
)

// options renders what is planted as options of an engine's run.
func options(entries ...string) (args []string) {
	for _, e := range entries {
		args = append(args, "--env", e)
	}
	return args
}

func join(parts ...any) (args []string) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			args = append(args, p)
		case []string:
			args = append(args, p...)
		}
	}
	return args
}

// TestDocker runs a real dockerd, where a container of the runtime "bare" leaks and one
// of the runtime "envscrub" does not.
//
// report: moby#45178, miklosbagi/gluetrans#88, kirodotdev/KiroCrew PR#12584
func TestDocker(t *testing.T) {
	rig.Need(t, "root", "dockerd", "docker", "runc")
	strict := program(t, "runc", "strict = true\n[harden]\nprivileged = \"refuse\"\n")
	broken := program(t, "runc", "runtimes = [\"runc\"]\ndeny = 5\n")
	d := rig.Docker(t, rig.DockerOptions{Runtimes: map[string]string{
		"bare": look(t, "runc"), "envscrub": program(t, "runc", keepKey), "allowed": program(t, "runc", keepKey+"\n[harden]\nprivileged = \"allow\"\n"), "strict": strict, "broken": broken,
	}})
	planted := options(append(secrets, plain)...)
	run := func(runtime string, args ...any) []string {
		return join("run", "--network=none", "--runtime", runtime, planted, join(args...))
	}

	t.Run("run", func(t *testing.T) {
		lines(t, "bare", d.Must(run("bare", "--rm", rig.Image, "/bin/env")...), append(secrets, plain), nil)
		lines(t, "envscrub", d.Must(run("envscrub", "--rm", rig.Image, "/bin/env")...), []string{plain, key}, []string{token, dsn})
		lines(t, "a child", d.Must(run("envscrub", "--rm", rig.Image, "/bin/sh", "-c", "/bin/env; exit 0")...), []string{plain}, secrets)
	})

	t.Run("exec", func(t *testing.T) {
		for _, runtime := range []string{"bare", "envscrub"} {
			id := d.Must(run(runtime, "--detach", rig.Image, "/bin/sleep", "300")...)
			for _, c := range []struct {
				args []string
				has  []string
			}{
				{[]string{"exec", id, "/bin/env"}, []string{plain}},
				{[]string{"exec", "-e", "NPM_TOKEN=set-on-purpose", "-e", "GH_TOKEN=another-value-of-it", id, "/bin/env"}, []string{plain, "NPM_TOKEN=set-on-purpose", "GH_TOKEN=another-value-of-it"}},
				{[]string{"exec", "-u", "1000", "-w", "/tmp", id, "/bin/env"}, []string{plain, "PWD=/tmp"}},
				{[]string{"exec", id, "/bin/cat", "/proc/1/environ"}, nil},
			} {
				if runtime == "bare" && c.args[1] == id {
					lines(t, strings.Join(c.args, " "), d.Must(c.args...), secrets, nil)
				} else if runtime == "envscrub" {
					if c.args[2] == "/bin/cat" { // the guard's own environment is not readable, or has nothing
						lines(t, strings.Join(c.args, " "), d.Run(c.args...).Stdout, nil, secrets)
						continue
					}
					has := c.has
					if c.args[1] == "-u" {
						has = []string{plain}
					}
					lines(t, strings.Join(c.args, " "), d.Must(c.args...), has, secrets)
				}
			}
			if r := d.Run("exec", id, "/bin/sh", "-c", "exit 42"); r.Code != 42 {
				t.Errorf("exec's exit code: %d", r.Code)
			}
			d.Must("cp", id+":/etc/passwd", filepath.Join(rig.TempDir(t), "passwd"))
			d.Must("pause", id)
			d.Must("unpause", id)
			d.Must("restart", "--time=1", id)
			lines(t, "exec after restart", d.Must("exec", id, "/bin/env"), []string{plain}, map[string][]string{"envscrub": secrets}[runtime])
			d.Must("stop", "--time=1", id)
			d.Must("rm", id)
		}
	})

	t.Run("as without us", func(t *testing.T) {
		for _, c := range [][]string{
			{"--rm", rig.Image, "/bin/sh", "-c", "exit 7"},
			{"--rm", rig.Image, "/no/such/program"},
			{"--rm", rig.Image, "no-such-program"},
			{"--rm", rig.Image, "/etc/passwd"},
			{"--rm", "--user", "1000:1000", rig.Image, "/bin/id"},
			{"--rm", "--read-only", rig.Image, "/bin/sh", "-c", "touch /x; echo $?"},
			{"--rm", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", "1000", rig.Image, "/bin/sh", "-c", "id; grep NoNew /proc/self/status"},
			{"--rm", "--workdir", "/tmp", rig.Image, "/bin/pwd"},
			{"--rm", "--init", rig.Image, "/bin/sh", "-c", "exit 9"},
			{"--rm", "--hostname", "h", rig.Image, "/bin/hostname"},
			{"--rm", "--env", "made up=x", rig.Image, "/bin/true"},
			{"--rm", "--entrypoint", "", rig.Image, "/bin/echo", "a b", ""},
		} {
			want := d.Run(join("run", "--network=none", "--runtime", "bare", c)...)
			got := d.Run(join("run", "--network=none", "--runtime", "envscrub", c)...)
			if got.Code != want.Code || got.Stdout != want.Stdout || got.Stderr != want.Stderr {
				t.Errorf("%q:\ngot  %+v\nwant %+v", c, got, want)
			}
		}
	})

	t.Run("init", func(t *testing.T) {
		id := d.Must(run("envscrub", "--init", "--detach", rig.Image, "/bin/sh", "-c", "/bin/env; sleep 300")...)
		rig.Eventually(t, "the output", func() bool { return strings.Contains(d.Run("logs", id).Stdout, plain) })
		lines(t, "child behind init", d.Must("logs", id), []string{plain}, secrets)
		lines(t, "exec", d.Must("exec", id, "/bin/env"), []string{plain}, secrets)
		lines(t, "/proc/1/environ", d.Run("exec", id, "/bin/cat", "/proc/1/environ").Stdout, nil, secrets)
		if comm := d.Must("exec", id, "/bin/cat", "/proc/1/comm"); !strings.Contains(comm, "init") {
			t.Errorf("PID 1 is %q", comm)
		}
		d.Must("rm", "--force", id)
	})

	t.Run("terminal", func(t *testing.T) {
		rig.Need(t, "script")
		cmd := d.Command(run("envscrub", "--rm", "-it", rig.Image, "/bin/sh", "-c", "tty; /bin/env; exit 0")...)
		r := rig.Run(t, exec.Command("script", "-qec", quote(cmd.Args), "/dev/null"))
		out := strings.ReplaceAll(r.Stdout, "\r\n", "\n")
		if r.Code != 0 || !strings.Contains(out, "/dev/pts/") {
			t.Fatalf("%+v", r)
		}
		lines(t, "with a terminal", out, []string{plain}, secrets)
	})

	t.Run("health check", func(t *testing.T) {
		for runtime, leaks := range map[string]bool{"bare": true, "envscrub": false} {
			id := d.Must(run(runtime, "--detach", "--health-cmd", "/bin/env > /tmp/health", "--health-interval=1s", rig.Image, "/bin/sleep", "300")...)
			rig.Eventually(t, "a health check", func() bool { return d.Run("exec", id, "/bin/grep", "-q", "KEEP_ME", "/tmp/health").Code == 0 })
			out := d.Must("exec", id, "/bin/cat", "/tmp/health")
			if leaks {
				lines(t, runtime, out, secrets, nil)
			} else {
				lines(t, runtime, out, []string{plain}, secrets)
			}
			d.Must("rm", "--force", id)
		}
	})

	t.Run("stop", func(t *testing.T) {
		for _, runtime := range []string{"bare", "envscrub"} {
			id := d.Must(run(runtime, "--detach", rig.Image, "/bin/sh", "-c", "trap 'exit 5' TERM; while :; do sleep 0.1; done")...)
			d.Must("stop", "--time=10", id)
			if code := d.Must("inspect", "--format", "{{.State.ExitCode}}", id); code != "5" {
				t.Errorf("%s: exit code %s after stop", runtime, code)
			}
			d.Must("rm", id)
		}
	})

	t.Run("restart policy", func(t *testing.T) {
		id := d.Must(run("envscrub", "--detach", "--restart", "on-failure:2", rig.Image, "/bin/sh", "-c", "/bin/env; exit 3")...)
		rig.Eventually(t, "the last restart", func() bool {
			return d.Must("inspect", "--format", "{{.RestartCount}} {{.State.Status}} {{.State.ExitCode}}", id) == "2 exited 3"
		})
		lines(t, "all three starts", d.Must("logs", id), []string{plain}, secrets)
		d.Must("rm", id)
	})

	t.Run("refusals", func(t *testing.T) { // report: moby#45178
		_, value, _ := strings.Cut(token, "=")
		for _, c := range []struct {
			args []string
			want string
		}{
			{run("broken", "--rm", rig.Image, "/bin/env"), "policy.toml:2:"},
			{run("strict", "--rm", rig.Image, "/bin/sh", "-c", "echo "+value), "process.args[2]"},
			{run("strict", "--rm", "--privileged", rig.Image, "/bin/env"), "harden.privileged"},
			{run("envscrub", "--rm", "--cap-add", "SYS_ADMIN", rig.Image, "/bin/env"), "CAP_SYS_ADMIN"},
		} {
			r := d.Run(c.args...)
			if r.Code == 0 || !strings.Contains(r.Stderr, c.want) || strings.Contains(strings.ReplaceAll(r.Stderr, "echo "+value, ""), value) {
				t.Errorf("%q: %+v, want %s", c.args, r, c.want)
			}
		}
		// --privileged asks for more than the machine of a test may have.
		lines(t, "CAP_SYS_ADMIN, allowed", d.Must(run("allowed", "--rm", "--cap-add", "SYS_ADMIN", rig.Image, "/bin/sh", "-c", "/bin/env; exit 0")...), []string{plain}, secrets)
	})

	t.Run("an image that tries", func(t *testing.T) {
		d.Import(rig.Rootfs(t), "rig:hostile", "ENV ENVSCRUB_DISABLE=1 ENVSCRUB_PROFILE=off ENVSCRUB_ALLOW=GH_TOKEN ENVSCRUB_ORDER=envscrub=1;end;",
			"LABEL io.envscrub.disable=true", "ENV LD_PRELOAD=/evil.so")
		out := d.Must(run("envscrub", "--rm", "rig:hostile", "/bin/sh", "-c", "/bin/env; exit 0")...)
		lines(t, "hostile image", out, []string{plain}, append(secrets, "LD_PRELOAD=/evil.so"))
	})

	t.Run("update", func(t *testing.T) {
		id := d.Must(run("envscrub", "--detach", rig.Image, "/bin/sleep", "300")...)
		if r := d.Run("update", "--restart", "no", id); r.Code != 0 {
			t.Errorf("%+v", r)
		}
		if got := d.Must("top", id); !strings.Contains(got, "sleep") {
			t.Errorf("top: %s", got)
		}
		d.Must("kill", id)
		d.Must("rm", "--force", id)
	})

	rig.Eventually(t, "the records of Docker's containers to go", func() bool {
		left, _ := filepath.Glob("/run/envscrub/*/record-*")
		for _, file := range left {
			if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), "moby") {
				return false
			}
		}
		return true
	})
}

func look(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// quote renders a command line for a shell.
func quote(args []string) string {
	var q []string
	for _, a := range args {
		q = append(q, "'"+strings.ReplaceAll(a, "'", `'\''`)+"'")
	}
	return strings.Join(q, " ")
}

// TestDockerDefault is the wrapper as the daemon's default, under its own name and with
// runtimeArgs, as install writes it.
func TestDockerDefault(t *testing.T) {
	rig.Need(t, "root", "dockerd", "docker", "runc")
	dir := rig.TempDir(t)
	policy := filepath.Join(dir, "policy.toml")
	rig.Write(t, policy, "allow = [\"GH_TOKEN\"]\n", 0o644)
	rig.Bin(t, "envscrub-shim")
	config, err := json.Marshal(map[string]any{
		"default-runtime": "envscrub",
		"runtimes":        map[string]any{"envscrub": map[string]any{"path": rig.Bin(t, "envscrub-runtime"), "runtimeArgs": []string{"--envscrub-policy=" + policy}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "daemon.json")
	rig.Write(t, file, string(config), 0o644)
	d := rig.Docker(t, rig.DockerOptions{Config: file})
	out := d.Must(join("run", "--rm", "--network=none", options(append(secrets, plain)...), rig.Image, "/bin/env")...)
	lines(t, "default runtime", out, []string{plain, token}, []string{key, dsn})
	if t.Failed() {
		fmt.Println(out)
	}
}
