//go:build vm

package vmtest

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
)

const (
	key      = "made-up-agent-key-0123456789"
	probeDir = "/payload/probe" // hack/vm has built them
	shimPath = "/run/envscrub-shim"
	ordinary = 1000

	allLeak   = "agent leak: environ task tid mem vm_readv open: maps fd pidfd_getfd attach seize denied:\n"
	allDenied = "agent leak: open: denied: environ task tid maps mem vm_readv fd pidfd_getfd attach seize\n"
	guarded   = "agent: has the key\nchild: clean\n" + allDenied
)

// keeping is an order for an agent that alone has AGENT_KEY.
func keeping(dumpable string) *order.Order {
	return &order.Order{AgentOnly: []string{"AGENT_KEY"}, Dumpable: dumpable}
}

// probe is what the agents here do: look for the key, and have a child look for it, in the agent too.
var probe = []string{probeDir + "/agent", "run", "/bin/sh", "-c", probeDir + "/child; " + probeDir + "/reach agent=@"}

// process runs the shim without a container, as that user.
func process(t *testing.T, uid uint32, o *order.Order, args ...string) rig.Result {
	t.Helper()
	o.DropSysAdmin = uid == 0
	cmd := exec.Command(rig.Bin(t, "envscrub-shim"), args...)
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "AGENT_KEY=" + key}, o.Environ()...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	return rig.Run(t, cmd)
}

// container runs the shim in a container with Docker's capabilities, and more, as that user.
func container(t *testing.T, rt rig.Runtime, uid uint32, o *order.Order, edit func(*specs.Spec), args ...string) rig.Result {
	t.Helper()
	root := rig.Rootfs(t)
	rig.Write(t, root+shimPath, "", 0o755)
	if err := os.MkdirAll(root+probeDir, 0o755); err != nil {
		t.Fatal(err)
	}
	b := rig.NewBundle(t, root)
	bind := func(source, destination string) specs.Mount {
		return specs.Mount{Type: "bind", Source: source, Destination: destination, Options: []string{"rbind", "ro"}}
	}
	b.Spec.Mounts = append(b.Spec.Mounts, bind(rig.Bin(t, "envscrub-shim"), shimPath), bind(probeDir, probeDir))
	p := b.Spec.Process
	p.User = specs.User{UID: uid, GID: uid}
	caps := []string{"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_KILL", "CAP_SETGID", "CAP_SETPCAP", "CAP_SETUID"}
	p.Capabilities = &specs.LinuxCapabilities{Bounding: caps}
	if uid == 0 {
		p.Capabilities.Effective, p.Capabilities.Permitted = caps, caps
	}
	p.Env = append([]string{"PATH=/usr/bin:/bin", "AGENT_KEY=" + key}, o.Environ()...)
	p.Args = append([]string{shimPath}, args...)
	if edit != nil {
		edit(b.Spec)
	}
	b.Write(t)
	return b.Run(t, rt)
}

// works expects a guarded agent, and no word of the shim's.
func works(t *testing.T, what string, r rig.Result) {
	t.Helper()
	if r.Code != 0 || r.Stdout != guarded || r.Stderr != "" {
		t.Errorf("%s: code %d\ngot  %swant %s%s", what, r.Code, r.Stdout, guarded, r.Stderr)
	}
}

// refused expects that nothing was started, and one line that says each of the words.
func refused(t *testing.T, what string, r rig.Result, words ...string) {
	t.Helper()
	if r.Code != 125 || r.Stdout != "" {
		t.Errorf("%s: started, code %d\n%s%s", what, r.Code, r.Stdout, r.Stderr)
	}
	oneLine(t, what, r, words...)
}

// warned expects an agent without a guard, and one line that says each of the words.
func warned(t *testing.T, what string, r rig.Result, words ...string) {
	t.Helper()
	if r.Code != 0 || r.Stdout != "started\n" {
		t.Errorf("%s: not started, code %d\n%s%s", what, r.Code, r.Stdout, r.Stderr)
	}
	oneLine(t, what, r, append(words, "warning: ", "without a guard")...)
}

func oneLine(t *testing.T, what string, r rig.Result, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(r.Stderr, word) {
			t.Errorf("%s: %q is not in %q", what, word, r.Stderr)
		}
	}
	if strings.Count(r.Stderr, "\n") != 1 || strings.Contains(r.Stderr, key) {
		t.Errorf("%s: not one line: %q", what, r.Stderr)
	}
}
