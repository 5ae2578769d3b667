package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/envscrub/envscrub/hack/rig"
)

// crictl is the CRI's own client: the one on PATH, else built from the module that hack/tools names.
func crictl(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("crictl"); err == nil {
		return path
	}
	dir := filepath.Join(rig.Dir(), "crictl")
	cmd := exec.Command("go", "build", "-modfile=hack/tools/go.mod", "-buildvcs=false", "-o", dir+"/", "sigs.k8s.io/cri-tools/cmd/crictl")
	cmd.Dir = filepath.Join("..", "..", "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build crictl: %v\n%s", err, out)
	}
	return filepath.Join(dir, "crictl")
}

// node is a machine with a containerd that answers the kubelet's calls, which crictl makes here.
type node struct {
	*host
	config, crictl string
	pods           int
}

// A node's pods share its network here, so that no CNI plugin is needed; everything else is as the kubelet has it.
const (
	criConfig = `# the node's own
version = 2
root = "%[1]s/c"
state = "%[1]s/r"
[grpc]
  address = "%[1]s/s"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/node:1"
  restrict_oom_score_adj = true # a machine without CAP_SYS_RESOURCE
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
`
	criPod = `{"metadata":{"name":"%[1]s","namespace":"agents","uid":"%[1]s"},"log_directory":"%[2]s","annotations":%[3]s,
"linux":{"security_context":{"namespace_options":{"network":2}}}}`
	criContainer = `{"metadata":{"name":"%[1]s"},"image":{"image":"localhost/node:1"},"log_path":"%[1]s.log",
"command":["/bin/sh","-c","/bin/env; echo agent:${OPENAI_API_KEY:+has the key}; echo ready; exec /bin/sleep 1000"],
"envs":[{"key":"GH_TOKEN","value":"made-up-gh-0123456789"},{"key":"OPENAI_API_KEY","value":"made-up-ai-0123456789"},{"key":"MODEL","value":"gpt"}],
"linux":{"security_context":{"namespace_options":{"network":2,"pid":1}}}}`
	criPolicy = `overrides = ["io.envscrub.profile"]
[agent]
keep = ["OPENAI_API_KEY"]
[profile.gh]
allow = ["GH_TOKEN"]
`
)

// containerdNode writes the configuration; start starts the daemon.
func containerdNode(t *testing.T) *node {
	t.Helper()
	rig.Need(t, "root", "containerd", "containerd-shim-runc-v2", "ctr", "runc", "podman", "unshare")
	n := &node{host: rootHost(t), crictl: crictl(t)}
	n.config = filepath.Join(n.dir, "config.toml")
	rig.Write(t, n.config, fmt.Sprintf(criConfig, n.dir), 0o600)
	rig.Write(t, filepath.Join(n.dir, "etc/envscrub/policy.toml"), criPolicy, 0o644)
	n.env = []string{"CONTAINER_RUNTIME_ENDPOINT=unix://" + n.dir + "/s", "PATH=" + filepath.Dir(n.crictl) + ":" + os.Getenv("PATH")}
	return n
}

func (n *node) start() {
	t := n.t
	t.Helper()
	log, err := os.Create(filepath.Join(n.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	daemon := n.command("containerd", "--config", n.config)
	daemon.Stdout, daemon.Stderr = log, log
	daemon.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = n.run("crictl", "--timeout=60s", "rmp", "--all", "--force")
		_ = daemon.Process.Signal(syscall.SIGTERM)
		timer := time.AfterFunc(10*time.Second, func() { _ = daemon.Process.Kill() })
		_ = daemon.Wait()
		timer.Stop()
		_ = log.Close()
		if data, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("containerd's log:\n%s", data)
		}
	})
	rig.Eventually(t, "containerd", func() bool { return n.run("crictl", "--timeout=60s", "version").Code == 0 })
	builder := rig.Podman(t, rig.PodmanOptions{})
	builder.Import(rig.Rootfs(t), "localhost/node:1", `CMD ["/bin/sleep", "100000"]`, "ENV PATH=/bin")
	image := filepath.Join(n.dir, "image.tar")
	builder.Must("save", "--output", image, "localhost/node:1")
	n.must("ctr", "--address", n.dir+"/s", "--namespace", "k8s.io", "images", "import", image)
}

// pod starts one with one container, by the handler that its RuntimeClass would name, and returns the container's id, or
// what the kubelet would be told.
func (n *node) pod(handler, annotations string) (id, name string, err error) {
	n.t.Helper()
	n.pods++
	name = fmt.Sprintf("pod-%d", n.pods)
	pod, container := filepath.Join(n.dir, name+".pod.json"), filepath.Join(n.dir, name+".json")
	rig.Write(n.t, pod, fmt.Sprintf(criPod, name, n.dir, annotations), 0o600)
	rig.Write(n.t, container, fmt.Sprintf(criContainer, name), 0o600)
	r := n.run("crictl", "--timeout=60s", "runp", "--runtime", handler, pod)
	if r.Code != 0 {
		return "", name, fmt.Errorf("runp: %s", r.Stderr)
	}
	r = n.must("crictl", "--timeout=60s", "create", strings.TrimSpace(r.Stdout), container, pod)
	id = strings.TrimSpace(r.Stdout)
	if r = n.run("crictl", "--timeout=60s", "start", id); r.Code != 0 {
		return id, name, fmt.Errorf("start: %s", r.Stderr)
	}
	return id, name, nil
}

// log is what the container has written, once it has written all.
func (n *node) log(name string) string {
	n.t.Helper()
	var text string
	rig.Eventually(n.t, name+"'s log", func() bool {
		data, err := os.ReadFile(filepath.Join(n.dir, name+".log"))
		text = string(data)
		return err == nil && strings.Contains(text, "F ready\n")
	})
	return text
}

// has checks which of the planted values a text has.
func has(t *testing.T, what, text string, gh, ai bool) {
	t.Helper()
	for value, want := range map[string]bool{"GH_TOKEN=made-up-gh-0123456789": gh, "OPENAI_API_KEY=made-up-ai-0123456789": ai, "MODEL=gpt": true} {
		if strings.Contains(text, value) != want {
			t.Errorf("%s: %s there: %v, want %v", what, value, !want, want)
		}
	}
}

// TestCRI is a node: pods started through CRI by containerd with the plain handler and with the one that `envscrub
// install containerd` registers, execs through CRI, and what scan, status and uninstall say of them.
//
// report: containerd/nri#44, nvidia-container-toolkit PR#1360, #1404
func TestCRI(t *testing.T) {
	program := built(t)
	n := containerdNode(t)
	before, err := os.ReadFile(n.config)
	if err != nil {
		t.Fatal(err)
	}
	n.must(program, "install", "containerd", "--config", n.config)
	n.start()
	for _, c := range []struct {
		name, handler, annotations string
		gh, aiChild, aiExec        bool
	}{
		{"plain", "", "{}", true, true, true},
		{"envscrub", "envscrub", "{}", false, false, false},
		{"envscrub, profile by annotation", "envscrub", `{"io.envscrub.profile":"gh"}`, true, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			id, name, err := n.pod(c.handler, c.annotations)
			if err != nil {
				t.Fatal(err)
			}
			log := n.log(name)
			has(t, "a child of the agent", log, c.gh, c.aiChild)
			if !strings.Contains(log, "agent:has the key") {
				t.Errorf("the agent has not its key:\n%s", log)
			}
			has(t, "exec", n.must("crictl", "--timeout=60s", "exec", "--sync", id, "/bin/env").Stdout, c.gh, c.aiExec)
			if r := n.run("crictl", "--timeout=60s", "exec", "--sync", id, "/bin/sh", "-c", "cat /proc/1/environ"); (r.Code == 0) != (c.handler == "") {
				t.Errorf("an exec reads the agent's environment: exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
			}
			if r := n.run("crictl", "--timeout=60s", "exec", "--sync", id, "/bin/sh", "-c", "exit 7"); !strings.Contains(r.Stderr, "7") || r.Code == 0 {
				t.Errorf("exec's exit code: %+v", r)
			}
		})
	}

	r := n.must(program, "scan", "--engine", "cri", "--json")
	var found []scanned
	if err := json.Unmarshal([]byte(r.Stdout), &found); err != nil || len(found) != 3 {
		t.Fatalf("scan: %v\n%s%s", err, r.Stdout, r.Stderr)
	}
	for _, s := range found {
		want := map[string]string{"pod-1": "false GH_TOKEN /OPENAI_API_KEY", "pod-2": "true GH_TOKEN /OPENAI_API_KEY", "pod-3": "true /OPENAI_API_KEY"}[s.Name]
		got := fmt.Sprint(s.Scrubbed, " ")
		for _, name := range s.Remove {
			got += name + " "
		}
		if got += "/" + strings.Join(s.AgentOnly, " "); got != want || s.Engine != "cri" {
			t.Errorf("scan: %s: %s, want %s", s.Name, got, want)
		}
	}
	r = n.run(program, "status", "--json", "--config", "containerd="+n.config)
	if !strings.Contains(r.Stdout, `"engine": "containerd"`) || !strings.Contains(r.Stdout, `"GH_TOKEN"`) || strings.Contains(r.Stdout, "made-up") {
		t.Errorf("status: exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}

	// The kubelet is told why a pod does not start.
	policy := filepath.Join(n.dir, "etc/envscrub/policy.toml")
	rig.Write(t, policy, "alow = []\n", 0o644)
	if _, _, err := n.pod("envscrub", "{}"); err == nil || !strings.Contains(err.Error(), "policy.toml:1:1: alow") {
		t.Errorf("a pod with a broken policy: %v", err)
	}
	rig.Write(t, policy, criPolicy, 0o644)

	if r := n.run(program, "uninstall", "containerd", "--config", n.config); r.Code != 1 || !strings.Contains(r.Stderr, "agents/pod-2") || strings.Contains(r.Stderr, "agents/pod-1,") {
		t.Errorf("uninstall with live pods: exit %d, %s", r.Code, r.Stderr)
	}
	// Where crictl is not installed, or the engine is down, our records say so.
	if r := n.run("env", "CONTAINER_RUNTIME_ENDPOINT=unix:///nowhere.sock", program, "uninstall", "containerd", "--config", n.config); r.Code != 1 || !strings.Contains(r.Stderr, "4 running containers use the runtime") {
		t.Errorf("uninstall with live pods and no answer: exit %d, %s", r.Code, r.Stderr)
	}
	n.must("crictl", "--timeout=60s", "rmp", "--all", "--force")
	n.must(program, "uninstall", "containerd", "--config", n.config)
	if after, err := os.ReadFile(n.config); err != nil || string(after) != string(before) {
		t.Errorf("uninstall left %s, %v", after, err)
	}
}
