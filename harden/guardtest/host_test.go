package guardtest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
)

// `envscrub run` gives an ordinary user's program on the host both boundaries.
func TestRunOnTheHost(t *testing.T) {
	rig.Need(t, "root", "setpriv", "useradd")
	t.Parallel()
	rig.Bin(t, "envscrub-shim")
	probes := probeDir(t)
	user := rig.OrdinaryUser(t)
	dir := rig.TempDir(t)
	rig.Write(t, filepath.Join(dir, "on.toml"), "deny = [\"AGENT_KEY\"]\n[agent]\nkeep = [\"AGENT_KEY\"]\n", 0o644)
	rig.Write(t, filepath.Join(dir, "off.toml"), "allow = [\"AGENT_KEY\"]\n[harden]\ndumpable = \"off\"\n", 0o644)
	for policy, want := range map[string]string{
		"on.toml":  "agent: has the key\nchild: clean\n" + allDenied,
		"off.toml": "agent: has the key\nchild:" + dirty + "\n" + allLeak,
	} {
		cmd := exec.Command("setpriv", "--reuid", user.Uid, "--regid", user.Gid, "--init-groups", rig.Bin(t, "envscrub"), "run", "--policy", filepath.Join(dir, policy),
			"--", filepath.Join(probes, "agent"), "run", "sh", "-c", "child; reach agent=@; exit 5")
		cmd.Env = []string{"PATH=" + probes + ":/usr/bin:/bin", "HOME=" + dir, "AGENT_KEY=" + key}
		cmd.Dir = dir
		r := rig.Run(t, cmd)
		if r.Code != 5 || r.Stdout != want {
			t.Errorf("%s: code %d\n%s%s", policy, r.Code, r.Stdout, r.Stderr)
		}
		if strings.Contains(r.Stderr, key) {
			t.Errorf("%s: the key on standard error", policy)
		}
	}
}

// Podman, as root and as an ordinary user, with the shim as the container's command.
func TestPodman(t *testing.T) {
	t.Parallel()
	probes, shim := probeDir(t), rig.Bin(t, "envscrub-shim")
	for name, p := range map[string]*rig.Engine{
		"runc": rig.Podman(t, rig.PodmanOptions{}), "crun": rig.Podman(t, rig.PodmanOptions{Runtime: "crun"}), "rootless": rig.PodmanRootless(t, rig.PodmanOptions{}),
	} {
		run := func(order []string, args ...string) rig.Result {
			all := []string{"run", "--rm", "--network=none", "--user=1000", "--volume", probes + ":/probe:ro", "--volume", shim + ":" + shimPath + ":ro", "--env", "AGENT_KEY=" + key}
			for _, e := range order {
				all = append(all, "--env", e)
			}
			return p.Run(append(append(all, rig.Image, shimPath), args...)...)
		}
		args := []string{"/probe/agent", "run", "/bin/sh", "-c", "/probe/child; /probe/reach agent=@; exit 5"}
		if r := run(on().Environ(), args...); r.Code != 5 || r.Stdout != "agent: has the key\nchild: clean\n"+allDenied {
			t.Errorf("%s: code %d\n%s%s", name, r.Code, r.Stdout, r.Stderr)
		}
		if r := run(off().Environ(), args...); r.Code != 5 || !strings.Contains(r.Stdout, "child:"+dirty+"\nagent leak: environ") {
			t.Errorf("%s, off: code %d\n%s%s", name, r.Code, r.Stdout, r.Stderr)
		}
		// Podman's own time-out: an agent that knows SIGTERM has its say.
		if r := run(on().Environ(), "/bin/sh", "-c", "(sleep 0.1; kill -TERM 1) & trap 'exit 3' TERM; while :; do sleep 0.05; done"); r.Code != 3 {
			t.Errorf("%s: SIGTERM to process 1: code %d, %s", name, r.Code, r.Stderr)
		}
	}
}
