package guardtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
)

// key is what the probes look for.
const key = "made-up-agent-key-0123456789"

const shimPath = "/run/envscrub-shim"

// The guard with all that it does by default, for an agent that alone has AGENT_KEY.
func on() *order.Order { return &order.Order{AgentOnly: []string{"AGENT_KEY"}} }

// No guard: the shim executes the agent and is gone.
func off() *order.Order { return &order.Order{Dumpable: order.Off} }

var probes struct {
	sync.Mutex
	dir string
}

// probeDir holds the probes, built once for all tests: child, child32, reach, spawns, agent and the scripts.
func probeDir(t *testing.T) string {
	t.Helper()
	rig.Need(t, "gcc")
	probes.Lock()
	defer probes.Unlock()
	if probes.dir != "" {
		return probes.dir
	}
	dir := filepath.Join(rig.Dir(), "probe")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join("..", "..", "testdata", "probe")
	for _, p := range [][]string{{"child", "child.c"}, {"child32", "child.c", "-m32"}, {"reach", "reach.c"}, {"spawns", "spawns.c", "-pthread"}, {"init", "init.c"}, {"stand", "stand.c"}, {"race", "race.c"}} {
		rig.Copy(t, rig.CC(t, filepath.Join(source, p[1]), p[2:]...), filepath.Join(dir, p[0]))
	}
	rig.Copy(t, rig.Go(t, "./"+filepath.Join(source, "agent")), filepath.Join(dir, "agent"))
	for _, name := range []string{"agent.js", "inspect.js", "agent.py", "self.py", "behind", "script", "stops"} {
		rig.Copy(t, filepath.Join(source, name), filepath.Join(dir, name))
	}
	probes.dir = dir
	return dir
}

// hostRoot is a root file system with the host's /usr and /etc, for agents that need a whole language below them.
func hostRoot(t *testing.T) (root string, mounts []specs.Mount) {
	t.Helper()
	root = filepath.Join(rig.TempDir(t), "rootfs")
	for _, dir := range []string{"dev", "etc", "probe", "proc", "run", "sys", "tmp", "usr"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(root, "tmp"), 0o1777); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"bin", "sbin", "lib", "lib64"} {
		if target, err := os.Readlink("/" + dir); err == nil {
			if err := os.Symlink(target, filepath.Join(root, dir)); err != nil {
				t.Fatal(err)
			}
		} else if _, err := os.Stat("/" + dir); err == nil {
			mounts = append(mounts, bind("/"+dir, "/"+dir))
		}
	}
	return root, append(mounts, bind("/usr", "/usr"), bind("/etc", "/etc"))
}

func bind(source, destination string) specs.Mount {
	return specs.Mount{Type: "bind", Source: source, Destination: destination, Options: []string{"rbind", "ro"}}
}

// agent is a container whose main process is args. Its environment has AGENT_KEY, KEPT and PATH.
type agent struct {
	order *order.Order // nil: no shim at all
	uid   uint32
	caps  []string // nil: Docker's default ones
	plain bool     // the agent has no capability more than its tools: as through a door that cannot change them
	host  bool     // the host's programs, instead of a busybox
	env   []string
	args  []string
}

// dockerCaps are what Docker and Podman leave a container by default.
var dockerCaps = []string{
	"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FSETID", "CAP_FOWNER", "CAP_MKNOD", "CAP_NET_RAW", "CAP_SETGID", "CAP_SETUID",
	"CAP_SETFCAP", "CAP_SETPCAP", "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT", "CAP_KILL", "CAP_AUDIT_WRITE",
}

func (a agent) bundle(t *testing.T) *rig.Bundle {
	t.Helper()
	var root string
	var mounts []specs.Mount
	if a.host {
		root, mounts = hostRoot(t)
	} else {
		root = rig.Rootfs(t)
	}
	rig.Write(t, filepath.Join(root, shimPath), "", 0o755)
	b := rig.NewBundle(t, root)
	// Above what the runtime mounts by itself, /run is the root file system's own.
	b.Spec.Mounts = append(b.Spec.Mounts, append(mounts, bind(rig.Bin(t, "envscrub-shim"), shimPath), bind(probeDir(t), "/probe"))...)
	p := b.Spec.Process
	p.User = specs.User{UID: a.uid, GID: a.uid}
	p.Cwd = "/tmp"
	caps := a.caps
	if caps == nil {
		caps = dockerCaps
	}
	p.Capabilities = &specs.LinuxCapabilities{Bounding: caps}
	if a.uid == 0 {
		p.Capabilities.Effective, p.Capabilities.Permitted = caps, caps
	}
	p.NoNewPrivileges = false
	p.Env = append([]string{"PATH=/probe:/usr/sbin:/usr/bin:/bin", "AGENT_KEY=" + key, "KEPT=kept", "CHANGED=old"}, a.env...)
	p.Args = a.args
	if a.order != nil {
		o := *a.order
		if len(o.AgentOnly) > 0 && !a.plain {
			distinguish(&o, p.Capabilities)
		}
		p.Args = append([]string{shimPath}, a.args...)
		p.Env = append(p.Env, o.Environ()...)
	}
	b.Write(t)
	return b
}

// distinguish gives the agent the capability that its tools do not have, as the doors do that can.
func distinguish(o *order.Order, c *specs.LinuxCapabilities) {
	const wakeAlarm = 35
	o.Capability = wakeAlarm
	for i, set := range []*[]string{&c.Bounding, &c.Effective, &c.Inheritable, &c.Permitted, &c.Ambient} {
		more := []string{"CAP_WAKE_ALARM"}
		if !slices.Contains(*set, "CAP_SETPCAP") {
			more = append(more, "CAP_SETPCAP")
			o.Lent += order.Sets[i : i+1]
		}
		*set = append(slices.Clone(*set), more...)
	}
}

func (a agent) run(t *testing.T, rt rig.Runtime) rig.Result {
	t.Helper()
	return a.bundle(t).Run(t, rt)
}

// each runs the test on both runtimes.
func each(t *testing.T, test func(t *testing.T, rt rig.Runtime)) {
	t.Helper()
	for _, rt := range rig.Runtimes(t) {
		t.Run(rt.Name, func(t *testing.T) {
			t.Parallel()
			test(t, rt)
		})
	}
}

// ordinary is the user of agents without a container. It has no account.
const ordinary = 54321

// process is an agent without a container, of an ordinary user: the shim with its order, leading a session as process 1
// does.
func process(t *testing.T, o *order.Order, args ...string) *exec.Cmd {
	t.Helper()
	rig.Need(t, "root")
	cmd := exec.Command(rig.Bin(t, "envscrub-shim"), args...)
	cmd.Env = append([]string{"PATH=" + probeDir(t) + ":/usr/sbin:/usr/bin:/sbin:/bin", "AGENT_KEY=" + key, "KEPT=kept", "CHANGED=old"}, o.Environ()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	cmd.Dir = rig.TempDir(t)
	if err := os.Chown(cmd.Dir, ordinary, ordinary); err != nil {
		t.Fatal(err)
	}
	return cmd
}
