package stdio_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
)

// fileSecret is one that the policy knows and the container may come across.
const fileSecret = "made-up-file-secret"

// policy writes one that leaves the agent its key, and maybe redacts.
func policy(t *testing.T, output bool) string {
	t.Helper()
	dir := rig.TempDir(t)
	known, file := filepath.Join(dir, "known"), filepath.Join(dir, "policy.toml")
	rig.Write(t, known, fileSecret+"\n", 0o600)
	rig.Write(t, file, fmt.Sprintf("runtimes = [\"runc\"]\nsecrets = [\"file:%s\"]\n[agent]\nkeep = [\"AGENT_KEY\"]\n[redact]\noutput = %t\n", known, output), 0o600)
	return file
}

const talks = `echo "key $AGENT_KEY"; echo "error $AGENT_KEY" >&2; printf 'half sk-made'; sleep 0.3; echo "-up-0123456789 and ` + fileSecret + `"`

// `docker logs` behind the runtime wrapper.
//
// parity: V16
func TestDockerLogs(t *testing.T) {
	rig.Need(t, "root", "dockerd", "docker", "runc")
	rig.Bin(t, "envscrub-shim")
	runtimes := map[string]string{}
	for name, output := range map[string]bool{"with": true, "without": false} {
		path := filepath.Join(rig.TempDir(t), "runtime")
		rig.Write(t, path, "#!/bin/sh\nexec "+rig.Bin(t, "envscrub-runtime")+" --envscrub-policy="+policy(t, output)+" \"$@\"\n", 0o755)
		runtimes[name] = path
	}
	d := rig.Docker(t, rig.DockerOptions{Runtimes: runtimes})
	for _, options := range [][]string{nil, {"--tty"}, {"--init"}, {"--init", "--tty"}, {"--user", "agent"}, {"--user", "agent", "--tty", "--cap-drop=all"}} {
		for name := range runtimes {
			args := []string{"run", "--detach", "--network=none", "--runtime", name, "--env", "AGENT_KEY=" + secret}
			args = append(args, options...)
			id := strings.TrimSpace(d.Must(append(args, rig.Image, "sh", "-c", talks)...))
			d.Must("wait", id)
			r := d.Run("logs", id)
			// The config door's order holds no values, so the policy's own secret stays.
			checkLogs(t, fmt.Sprintf("%s %v", name, options), r, name == "with", fileSecret)
		}
	}
}

// `podman logs` with the createRuntime hook.
func TestPodmanLogs(t *testing.T) {
	rig.Need(t, "root", "podman")
	rig.Bin(t, "envscrub-shim")
	for _, runtime := range []string{"runc", "crun"} {
		for _, output := range []bool{true, false} {
			file, dir := policy(t, output), rig.TempDir(t)
			hook, err := json.Marshal(map[string]any{
				"version": "1.0.0",
				"hook": map[string]any{
					"path": rig.Bin(t, "envscrub-hook"), "args": []string{"envscrub-hook", "createRuntime", "--policy", file},
					"env": []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
				},
				"when": map[string]any{"always": true}, "stages": []string{"createRuntime"},
			})
			if err != nil {
				t.Fatal(err)
			}
			rig.Write(t, filepath.Join(dir, "envscrub.json"), string(hook), 0o644)
			p := rig.Podman(t, rig.PodmanOptions{Runtime: runtime, HooksDir: dir})
			id := strings.TrimSpace(p.Must("run", "--detach", "--network=none", "--env", "AGENT_KEY="+secret, rig.Image, "sh", "-c", talks))
			p.Must("wait", id)
			known := fileSecret
			if output {
				known = "[REDACTED]"
			}
			checkLogs(t, fmt.Sprintf("%s, output %t", runtime, output), p.Run("logs", id), output, known)
		}
	}
}

func checkLogs(t *testing.T, name string, r rig.Result, redacted bool, known string) {
	t.Helper()
	key := secret
	if redacted {
		key = "[REDACTED]"
	}
	all := strings.ReplaceAll(r.Stdout+r.Stderr, "\r\n", "\n")
	for _, line := range []string{"key " + key + "\n", "error " + key + "\n", "half " + key + " and " + known + "\n"} {
		if !strings.Contains(all, line) {
			t.Errorf("%s: %q is not in %q", name, line, all)
		}
	}
}
