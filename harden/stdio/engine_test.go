package stdio_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
)

// fileSecret is one that the policy knows and the container may come across.
const fileSecret = "made-up-file-secret"

// policy writes one that leaves the agent its key, and maybe redacts. It and its secret are the owner's alone.
func policy(t *testing.T, output bool, owner int) string {
	t.Helper()
	dir := rig.TempDir(t)
	known, file := filepath.Join(dir, "known"), filepath.Join(dir, "policy.toml")
	rig.Write(t, known, fileSecret+"\n", 0o600)
	rig.Write(t, file, fmt.Sprintf("runtimes = [\"runc\", \"crun\"]\nsecrets = [\"file:%s\"]\n[agent]\nkeep = [\"AGENT_KEY\"]\n[redact]\noutput = %t\n", known, output), 0o600)
	for _, path := range []string{known, file} {
		if err := os.Chown(path, owner, -1); err != nil {
			t.Fatal(err)
		}
	}
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
		rig.Write(t, path, "#!/bin/sh\nexec "+rig.Bin(t, "envscrub-runtime")+" --envscrub-policy="+policy(t, output, 0)+" \"$@\"\n", 0o755)
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

// `podman logs` with the createRuntime hook, as root and as an ordinary user.
//
// parity: V16
func TestPodmanLogs(t *testing.T) {
	rig.Need(t, "root", "podman")
	rig.Bin(t, "envscrub-shim")
	for _, runtime := range []string{"runc", "crun"} {
		for name, podman := range map[string]func(testing.TB, rig.PodmanOptions) *rig.Engine{"root": rig.Podman, "rootless": rig.PodmanRootless} {
			owner := 0
			if name == "rootless" {
				owner, _ = strconv.Atoi(rig.OrdinaryUser(t).Uid)
			}
			for _, output := range []bool{true, false} {
				if !output && runtime != "runc" {
					continue // the counter-test: what leaks without us does not depend on the runtime
				}
				t.Run(fmt.Sprintf("%s/%s/output=%t", runtime, name, output), func(t *testing.T) {
					p := podman(t, rig.PodmanOptions{Runtime: runtime, HooksDir: logHooks(t, policy(t, output, owner))})
					known := fileSecret
					if output {
						known = "[REDACTED]"
					}
					for _, options := range [][]string{nil, {"--user", "agent", "--tty"}} {
						args := append([]string{"run", "--detach", "--network=none", "--env", "AGENT_KEY=" + secret}, options...)
						id := strings.TrimSpace(p.Must(append(args, rig.Image, "sh", "-c", talks)...))
						p.Must("wait", id)
						checkLogs(t, fmt.Sprint(options), p.Run("logs", id), output, known)
					}
				})
			}
		}
	}
}

// logHooks is a hooks.d with our hook and that policy.
func logHooks(t *testing.T, policy string) string {
	t.Helper()
	hook, err := json.Marshal(map[string]any{
		"version": "1.0.0",
		"hook": map[string]any{
			"path": rig.Bin(t, "envscrub-hook"), "args": []string{"envscrub-hook", "createRuntime", "--policy", policy},
			"env": []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
		},
		"when": map[string]any{"always": true}, "stages": []string{"createRuntime"},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := rig.TempDir(t)
	rig.Write(t, filepath.Join(dir, "envscrub.json"), string(hook), 0o644)
	return dir
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
