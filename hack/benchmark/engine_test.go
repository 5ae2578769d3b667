package benchmark

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/envscrub/envscrub/hack/benchmark/report"
	"github.com/envscrub/envscrub/hack/rig"
)

// given are the secrets as options of an engine's run.
func given() (options []string) {
	for _, entry := range secrets {
		options = append(options, "--env", entry)
	}
	return options
}

// docker is `docker run` and `docker exec` of /bin/true, by the runtime.
func docker(t *testing.T, b *bench) {
	rig.Need(t, "dockerd", "docker", "runc")
	all := doors(t, look(t, "runc"))
	runtimes := map[string]string{}
	for _, d := range all {
		runtimes[key(d)] = d.path
	}
	d := rig.Docker(t, rig.DockerOptions{Runtimes: runtimes})
	options := func(door door, how string) []string {
		return append([]string{"run", how, "--network=none", "--runtime", key(door)}, given()...)
	}
	var run, into []Variant
	for _, door := range all {
		run = append(run, command(door.name, door.role, func() *exec.Cmd {
			return d.Command(append(options(door, "--rm"), rig.Image, "/bin/true")...)
		}))
		id := d.Must(append(options(door, "--detach"), rig.Image, "/bin/sleep", "3600")...)
		into = append(into, command(door.name, door.role, func() *exec.Cmd { return d.Command("exec", id, "/bin/true") }))
	}
	b.measure(t, Figure{Name: "docker run", Variants: run, Rounds: 20, Headline: "`docker run /bin/true`, wrapper and guard"})
	b.measure(t, Figure{Name: "docker exec", Variants: into, Rounds: 20, Headline: "`docker exec /bin/true`"})
}

// key is a door's name as a runtime of Docker.
func key(d door) string { return "bench-" + filepath.Base(d.path) }

// podman is `podman run` and `podman exec` of /bin/true: by the runtime, and `podman run` with the hook.
func podman(t *testing.T, b *bench) {
	rig.Need(t, "podman", "conmon", "runc")
	type way struct {
		name    string
		role    report.Role
		options rig.PodmanOptions
	}
	var ways []way
	for _, d := range doors(t, look(t, "runc")) {
		ways = append(ways, way{d.name, d.role, rig.PodmanOptions{Runtime: d.path}})
	}
	ways = append(ways, way{"envscrub-hook", report.Ours, rig.PodmanOptions{Runtime: look(t, "runc"), HooksDir: hooksDir(t, shimBeside(t, "envscrub-hook"))}})
	var run, into []Variant
	for _, w := range ways {
		p := rig.Podman(t, w.options)
		options := func(how string) []string { return append([]string{"run", how, "--network=none"}, given()...) }
		run = append(run, command(w.name, w.role, func() *exec.Cmd {
			return p.Command(append(options("--rm"), rig.Image, "/bin/true")...)
		}))
		if w.options.HooksDir == "" { // which exec does not call
			id := p.Must(append(options("--detach"), rig.Image, "/bin/sleep", "3600")...)
			into = append(into, command(w.name, w.role, func() *exec.Cmd { return p.Command("exec", id, "/bin/true") }))
		}
	}
	b.measure(t, Figure{Name: "podman run", Variants: run, Rounds: 20, Headline: "`podman run /bin/true`, wrapper and guard"})
	b.measure(t, Figure{Name: "podman exec", Variants: into, Rounds: 20, Headline: "`podman exec /bin/true`"})
}

// hooksDir is a hooks.d with the hook in it.
func hooksDir(t *testing.T, hook string) string {
	t.Helper()
	data, err := json.Marshal(map[string]any{
		"version": "1.0.0",
		"hook":    map[string]any{"path": hook, "args": []string{"envscrub-hook", "createRuntime"}, "env": []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}},
		"when":    map[string]any{"always": true},
		"stages":  []string{"createRuntime"},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := rig.TempDir(t)
	rig.Write(t, filepath.Join(dir, "envscrub.json"), string(data), 0o644)
	return dir
}

func look(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
