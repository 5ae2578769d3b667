package securitytest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/policy/redact"
)

const (
	key     = "sk-made-up-key-0123456789"
	keepKey = "[agent]\nkeep = [\"OPENAI_API_KEY\"]\n"
)

// wrapper is a runtime that is the wrapper of another, with a policy of its own.
func wrapper(t *testing.T, name, policy string, options ...string) string {
	t.Helper()
	rig.Bin(t, "envscrub-shim")
	dir := rig.TempDir(t)
	link, file, script := filepath.Join(dir, "envscrub-"+name), filepath.Join(dir, "policy.toml"), filepath.Join(dir, "wrapper")
	if err := os.Symlink(rig.Bin(t, "envscrub-runtime"), link); err != nil {
		t.Fatal(err)
	}
	rig.Write(t, file, policy, 0o644)
	rig.Write(t, script, fmt.Sprintf("#!/bin/sh\nexec %s --envscrub-policy=%s %s \"$@\"\n", link, file, strings.Join(options, " ")), 0o755)
	return script
}

// agent runs a shell script as an agent that keeps its key; options are the runtime's global ones.
func agent(t *testing.T, r rig.Runtime, script string, edit func(*specs.Spec), options ...string) rig.Result {
	t.Helper()
	r.Path = wrapper(t, r.Name, keepKey, options...)
	b := rig.NewBundle(t, rig.Rootfs(t))
	b.Spec.Process.User = specs.User{UID: 1000, GID: 1000}
	b.Spec.Process.Env = append(b.Spec.Process.Env, "OPENAI_API_KEY="+key)
	b.Spec.Process.Args = []string{"/bin/sh", "-c", script + "; :"}
	if edit != nil {
		edit(b.Spec)
	}
	b.Write(t)
	result := b.Run(t, r)
	if result.Code != 0 {
		t.Fatalf("exit %d: %s", result.Code, result.Stderr)
	}
	return result
}

// TestHandedOn: what the agent hands over on purpose, the tool has; the control is a tool that is handed nothing.
func TestHandedOn(t *testing.T) {
	for _, r := range rig.Runtimes(t) {
		for name, c := range map[string]struct {
			script string
			leaks  bool
		}{
			"nothing":                        {"/bin/env", false},
			"a file":                         {`echo "$OPENAI_API_KEY" >/tmp/key; /bin/cat /tmp/key`, true},
			"an argument":                    {`/bin/echo "$OPENAI_API_KEY"`, true},
			"a pipe":                         {`echo "$OPENAI_API_KEY" | /bin/cat`, true},
			"a fork that is still the agent": {`(echo "$OPENAI_API_KEY")`, true},
		} {
			t.Run(r.Name+" "+name, func(t *testing.T) {
				if got := strings.Contains(agent(t, r, c.script, nil).Stdout, key); got != c.leaks {
					t.Errorf("the tool had it: %v, want %v", got, c.leaks)
				}
			})
		}
	}
}

// TestCommandLine: the agent's arguments are everybody's, its environment beside them is not; create says so in the runtime's log.
func TestCommandLine(t *testing.T) {
	for _, r := range rig.Runtimes(t) {
		t.Run(r.Name, func(t *testing.T) {
			log := filepath.Join(rig.TempDir(t), "log")
			result := agent(t, r, "/bin/cat /proc/$$/cmdline; /bin/cat /proc/$$/environ 2>/dev/null", func(spec *specs.Spec) {
				spec.Process.Args = append(spec.Process.Args, "--key="+key)
			}, "--log", log)
			if strings.Count(result.Stdout, key) != 1 {
				t.Errorf("the command line and no more was to be read: %q", result.Stdout)
			}
			said, err := os.ReadFile(log)
			if err != nil || !strings.Contains(string(said), "process.args[3]") || strings.Contains(string(said), key) {
				t.Errorf("it was not said: %q %v", said, err)
			}
		})
	}
}

// TestFileInTheImage: a login shell's profile brings a variable into every process behind it.
func TestFileInTheImage(t *testing.T) {
	const other = "made-up-value-of-a-profile"
	for _, r := range rig.Runtimes(t) {
		t.Run(r.Name, func(t *testing.T) {
			result := agent(t, r, "/bin/sh -lc /bin/env", func(spec *specs.Spec) {
				rig.Write(t, filepath.Join(spec.Root.Path, "etc/profile"), "export GITHUB_TOKEN="+other+"\n", 0o644)
			})
			if !strings.Contains(result.Stdout, other) || strings.Contains(result.Stdout, key) {
				t.Errorf("the profile's variable was to be there, and no other: %q", result.Stdout)
			}
		})
	}
}

// TestReframed: a value that the agent sends in two messages is whole for whoever joins them. report: managoat/fountain#2359
func TestReframed(t *testing.T) {
	r := redact.New([]redact.Secret{{Value: key}}, 0)
	const sent = `{"text":"sk-made-up-"}` + "\n" + `{"text":"key-0123456789"}` + "\n"
	if got := string(r.Bytes([]byte(sent))); got != sent {
		t.Errorf("got %q", got)
	}
	if got := string(r.Bytes([]byte(`{"text":"` + key + `"}`))); strings.Contains(got, key) {
		t.Errorf("in one message it was not found: %q", got)
	}
}

// TestHost: who may talk to the engine sees what it was given, and root on the host sees the agent.
func TestHost(t *testing.T) {
	e := rig.Podman(t, rig.PodmanOptions{Runtime: wrapper(t, "runc", keepKey)})
	e.Must("run", "--detach", "--name", "c", "--env", "OPENAI_API_KEY="+key, rig.Image, "/bin/sh", "-c", "/bin/sleep 600; :")
	if got := e.Must("inspect", "--format", "{{.Config.Env}}", "c"); !strings.Contains(got, key) {
		t.Errorf("the engine does not show it: %s", got)
	}
	pid := e.Must("inspect", "--format", "{{.State.Pid}}", "c")
	children, err := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, child := range strings.Fields(string(children)) {
		environ, err := os.ReadFile("/proc/" + child + "/environ")
		if err != nil {
			t.Error(err)
		}
		found = found || strings.Contains(string(environ), key)
	}
	if !found {
		t.Errorf("root does not see it in the agent of %s (%s)", pid, children)
	}
}

// TestDockerBuild: a build's steps have what the build was given, by BuildKit, which does not use the daemon's runtimes.
//
// report: moby/buildkit#2485
func TestDockerBuild(t *testing.T) {
	// Another client may stand before it on PATH, without the part that talks to BuildKit.
	rig.Need(t, "/usr/bin/docker")
	d := rig.Docker(t, rig.DockerOptions{Runtimes: map[string]string{"envscrub": wrapper(t, "runc", "")}, Default: "envscrub"})
	dir := rig.TempDir(t)
	rig.Write(t, filepath.Join(dir, "Dockerfile"), "FROM "+rig.Image+"\nARG GITHUB_TOKEN\nRUN echo \"had $GITHUB_TOKEN\" >/had\nCMD [\"cat\", \"/had\"]\n", 0o644)
	build := d.Command("build", "--network=none", "--build-arg", "GITHUB_TOKEN="+key, "--tag", "rig:built", dir)
	build.Path = "/usr/bin/docker"
	build.Env = append(build.Environ(), "DOCKER_BUILDKIT=1")
	if r := rig.Run(t, build); r.Code != 0 {
		t.Fatalf("%s%s", r.Stdout, r.Stderr)
	}
	if got := d.Must("run", "--rm", "--network=none", "rig:built"); got != "had "+key {
		t.Errorf("the step %s: it is covered now?", got)
	}
	if got := d.Must("run", "--rm", "--network=none", "--env", "GITHUB_TOKEN="+key, rig.Image, "env"); strings.Contains(got, key) {
		t.Error("the same daemon's containers are not")
	}
}
