package install_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/internal/tree"
)

type statusJSON struct {
	Engines  []install.Status
	Kernel   struct{ Yama, SELinux, AppArmor string }
	Problems []install.Problem
}

// statusOf is what the real command says of a tree.
func statusOf(t *testing.T, o install.Options, code int) statusJSON {
	t.Helper()
	r := rig.Run(t, exec.Command(rig.Bin(t, "envscrub"), "status", "--root", o.Root, "--rootless=false", "--json"))
	var s statusJSON
	if err := json.Unmarshal([]byte(r.Stdout), &s); err != nil || r.Code != code {
		t.Fatalf("exit %d, want %d; %v\n%s%s", r.Code, code, err, r.Stdout, r.Stderr)
	}
	return s
}

func remove(paths ...string) func(*testing.T, install.Options) {
	return func(t *testing.T, o install.Options) {
		for _, path := range paths {
			if err := os.Remove(o.Path(path)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func replace(path, old, with string) func(*testing.T, install.Options) {
	return func(t *testing.T, o install.Options) {
		text := tree.Read(t, o, path)
		if !strings.Contains(text, old) {
			t.Fatalf("%s has no %q:\n%s", path, old, text)
		}
		tree.Write(t, o, path, strings.ReplaceAll(text, old, with), 0o644)
	}
}

func put(path, text string) func(*testing.T, install.Options) {
	return func(t *testing.T, o install.Options) { tree.Write(t, o, path, text, 0o644) }
}

const (
	wrapper     = "/usr/libexec/envscrub/envscrub-runtime"
	podmanDrop  = "/etc/containers/containers.conf.d/50-envscrub-runtime.conf"
	podmanHook  = "/etc/containers/oci/hooks.d/50-envscrub-createruntime.json"
	crioDrop    = "/etc/crio/crio.conf.d/50-envscrub.conf"
	containerd  = "/etc/containerd/config.toml"
	containerd3 = "/etc/containerd/conf.d/50-envscrub.toml"
)

// Each broken state of a registered engine, of the policy, the programs and the kernel: status fails, says what is wrong, and
// the command that mends it. Without the breakage it says that nothing is wrong.
func TestStatusOfBrokenStates(t *testing.T) {
	docker, podman, crio, ctrd := engineCases[0], engineCases[1], engineCases[2], engineCases[3]
	hooked := podman
	hooked.args = []string{"--via", "hook", "--when", "always"}
	crioHook := crio
	crioHook.args = []string{"--via", "hook"}
	ctrd3 := ctrd
	ctrd3.text = "version = 3\n"
	crioNRI := crio
	crioNRI.args = []string{"--via", "nri"}
	flapping := ctrd
	flapping.text = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\nruntime_type = \"io.containerd.runc.v2\"\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\nSystemdCgroup = false\n"
	for _, tc := range []struct {
		name       string
		engine     engineCase
		breakIt    func(*testing.T, install.Options)
		what, mend string
	}{
		{"docker: wrapper gone", docker, remove(wrapper), wrapper, "envscrub uninstall docker"},
		{"docker: configuration broken", docker, put(docker.config, docker.broken), "daemon.json", "envscrub status"},
		{"podman: wrapper gone", podman, remove(wrapper), wrapper, "envscrub uninstall podman"},
		{"podman: default without its runtime", podman, put(podmanDrop, "[engine]\nruntime = \"envscrub\"\n"), "default runtime is envscrub, which is not configured", "envscrub install podman --via runtime --default"},
		{"podman: exit codes lost", podman, replace(podmanDrop, "runtime_supports_json", "#"), "runtime_supports_json", "envscrub install podman --via runtime"},
		{"podman: configuration broken", podman, put(podman.config, podman.broken), "containers.conf", "envscrub status"},
		{"podman: hook gone", hooked, remove("/usr/libexec/envscrub/envscrub-hook"), "envscrub-hook", "envscrub uninstall podman"},
		{"podman: hook file broken", hooked, put(podmanHook, "{"), podmanHook, "envscrub install podman --via hook"},
		{"podman: a directory of hooks_dir missing", hooked, put("/etc/containers/containers.conf.d/99-x.conf", "[engine]\nhooks_dir = [\"/etc/containers/oci/hooks.d\", \"/nowhere\"]\n"), "/nowhere", "mkdir -p"},
		{"podman: hooks_dir elsewhere", hooked, put("/etc/containers/containers.conf.d/99-x.conf", "[engine]\nhooks_dir = [\"/usr/share/containers/oci/hooks.d\"]\n"), "does not read this directory", "to hooks_dir in"},
		{"podman: poststop gone", hooked, remove(strings.Replace(podmanHook, "createruntime", "poststop", 1)), "poststop", "envscrub install podman --via hook"},
		{"crio: wrapper gone", crio, remove(wrapper), wrapper, "envscrub uninstall crio"},
		{"crio: default without its handler", crio, put(crioDrop, "[crio.runtime]\ndefault_runtime = \"envscrub\"\n"), "there is no such handler: CRI-O does not start", "envscrub install crio --via runtime --default"},
		{"crio: configuration broken", crio, put(crio.config, crio.broken), "crio.conf", "envscrub status"},
		{"crio: hook gone", crioHook, remove("/usr/libexec/envscrub/envscrub-hook"), "envscrub-hook", "envscrub uninstall crio --via hook"},
		{"crio: NRI plugin does not run", crioNRI, put("/proc/1/comm", "systemd\n"), "envscrub-nri does not run", "systemctl enable --now envscrub-nri.service"},
		{"crio: NRI switched off elsewhere", crioNRI, put("/etc/crio/crio.conf.d/99-x.conf", "[crio.nri]\nenable_nri = false\n"), "NRI is switched off", "set enable_nri = true"},
		{"containerd: wrapper gone", ctrd, remove(wrapper), wrapper, "envscrub uninstall containerd"},
		{"containerd: the handler runs something else", ctrd, replace(containerd, wrapper, "/usr/sbin/runc"), "which is none of envscrub's programs: its pods are NOT covered", "envscrub install containerd --via runtime"},
		{"crio: the handler runs something else", crio, replace(crioDrop, wrapper, "/usr/sbin/runc"), "which is none of envscrub's programs: its pods are NOT covered", "envscrub install crio --via runtime"},
		{"containerd: default without its handler", ctrd, put(containerd, "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd]\ndefault_runtime_name = \"envscrub\"\n"), "there is no such handler: no pod starts", "envscrub install containerd --via runtime --default"},
		{"containerd: another cgroup driver", flapping, replace(containerd, "SystemdCgroup = false\n# envscrub", "SystemdCgroup = true\n# envscrub"), "SystemdCgroup", "envscrub install containerd"},
		{"containerd: unknown version", ctrd, put(containerd, "version = 9\n"), "version 9", "envscrub status"},
		{"containerd: drop-in not imported", ctrd3, put(containerd, "version = 3\n"), "does not import it", "envscrub install containerd"},
		{"containerd: drop-in broken", ctrd3, put(containerd3, "[[["), containerd3, "50-envscrub.toml && envscrub install containerd"},
		{"shim gone", docker, remove("/usr/libexec/envscrub/envscrub-shim"), "envscrub-shim is not there", "install envscrub's programs again"},
		{"policy broken", docker, put("/etc/envscrub/policy.toml", "alow = []\n"), "policy.toml:1:1: alow", "envscrub check"},
		{"policy that removes nothing", docker, put("/etc/envscrub/policy.d/1.toml", "mode = \"observe\"\n"), "mode is observe", `mode = "enforce"`},
		{"Yama forbids tracing", docker, put("/proc/sys/kernel/yama/ptrace_scope", "3\n"), "kernel.yama.ptrace_scope is 3", "kernel.yama.ptrace_scope to 1 or 2"},
		{"SELinux, shim without a label", docker, put("/sys/fs/selinux/enforce", "1\n"), "a container may not execute it", "chcon -t container_ro_file_t /usr/libexec/envscrub/envscrub-shim"},
		{"the record of the install broken", docker, put("/var/lib/envscrub/install/docker.json", "{"), "docker.json", "envscrub status"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := tc.engine.host(t, tc.engine.text)
			tc.engine.must(t, o, "install")
			if s := statusOf(t, o, 0); len(s.Problems) != 0 || len(s.Engines) != 1 || len(s.Engines[0].Doors) != 1 {
				t.Errorf("before: %+v", s)
			}
			tc.breakIt(t, o)
			s := statusOf(t, o, 1)
			found := false
			for _, p := range s.Problems {
				found = found || strings.Contains(p.What, tc.what) && strings.Contains(p.Mend, tc.mend)
				if p.Mend == "" || strings.Contains(p.What+p.Mend, "\n") {
					t.Errorf("no command, or more than a line: %+v", p)
				}
			}
			// The command does mend it.
			for _, p := range s.Problems {
				if !strings.HasPrefix(p.Mend, "envscrub install ") && !strings.HasPrefix(p.Mend, "rm ") {
					continue // not a command, or one for the host itself
				}
				script := strings.Replace(p.Mend, "envscrub ", rig.Bin(t, "envscrub")+" ", 1) + " --rootless=false --root " + o.Root
				r := rig.Run(t, exec.Command("sh", "-ec", script))
				if r.Code != 0 {
					t.Errorf("%s: exit %d\n%s", p.Mend, r.Code, r.Stderr)
				} else if s := statusOf(t, o, 0); len(s.Problems) != 0 {
					t.Errorf("after %s: %+v", p.Mend, s.Problems)
				}
			}
			if !found {
				t.Errorf("not among the problems: %s; mend: %s\n%+v", tc.what, tc.mend, s.Problems)
			}
		})
	}
}

func TestStatusOfARunningPlugin(t *testing.T) {
	c := engineCases[2]
	c.args = []string{"--via", "nri"}
	o := c.host(t, c.text)
	c.must(t, o, "install")
	tree.Write(t, o, "/proc/1/comm", "systemd\n", 0o644)
	tree.Write(t, o, "/proc/77/comm", "envscrub-nri\n", 0o644)
	if s := statusOf(t, o, 0); len(s.Problems) != 0 {
		t.Errorf("%+v", s.Problems)
	}
}

// Where SELinux is on, install gives the shim a label under which containers may execute it, and status shows it.
// report: bottlerocket-core-kit#959
func TestSELinuxLabel(t *testing.T) {
	rig.Need(t, "root")
	c := engineCases[0]
	o := c.host(t, c.text)
	shim := o.Path("/usr/libexec/envscrub/envscrub-shim")
	err := unix.Setxattr(shim, "security.selinux", []byte("system_u:object_r:bin_t:s0\x00"), 0)
	if err != nil {
		t.Skipf("no such attribute on the file system of %s: %v", filepath.Dir(shim), err)
	}
	tree.Write(t, o, "/sys/fs/selinux/enforce", "1\n", 0o644)
	label := func() string {
		got, ok, err := install.ShimLabel(o, "/usr/libexec/envscrub/envscrub-shim")
		if err != nil || ok != strings.Contains(got, "container_ro_file_t") {
			t.Fatal(got, ok, err)
		}
		return got
	}
	r := rig.Run(t, exec.Command(rig.Bin(t, "envscrub"), "install", "docker", "--root", o.Root, "--rootless=false", "--dry-run"))
	if got := label(); r.Code != 0 || got != "system_u:object_r:bin_t:s0" {
		t.Errorf("a dry run: exit %d, label %s", r.Code, got)
	}
	c.must(t, o, "install")
	if got := label(); got != "system_u:object_r:container_ro_file_t:s0" {
		t.Errorf("label %s", got)
	}
	if s := statusOf(t, o, 0); s.Kernel.SELinux != "enforcing" {
		t.Errorf("status: %+v", s)
	}
}
