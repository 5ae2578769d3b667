package rig

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// PodmanOptions are what a test of Podman sets.
type PodmanOptions struct {
	Runtime  string // "runc" (default), "crun", or the path of a wrapper
	HooksDir string // --hooks-dir
	Conf     string // further containers.conf text, at its end
}

// podmanConf keeps Podman from raising limits, which fails where CAP_SYS_RESOURCE is missing, and from needing a network,
// systemd or a journal.
const podmanConf = `[containers]
default_ulimits = ["nofile=%d:%d", "nproc=%d:%d"]
netns = "none"
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
`

// Podman is Podman as root, with storage of its own and the image [Image].
func Podman(t testing.TB, o PodmanOptions) *Engine {
	t.Helper()
	Need(t, "root", "podman", "conmon")
	dir := shortTempDir(t)
	conf := filepath.Join(dir, "containers.conf")
	Write(t, conf, fmt.Sprintf(podmanConf, 20000, 20000, 32768, 32768)+o.Conf, 0o644)
	global := []string{"--root", filepath.Join(dir, "root"), "--runroot", filepath.Join(dir, "run"), "--tmpdir", filepath.Join(dir, "tmp"), "--storage-driver", "vfs"}
	e := &Engine{Name: "podman", t: t}
	e.command = func(args ...string) *exec.Cmd {
		args = append(podmanGlobal(global, o), args...)
		cmd := exec.Command("podman", args...)
		if o.Runtime == "crun" {
			cmd = withoutUnified("podman", args...)
		}
		cmd.Env = append(os.Environ(), "CONTAINERS_CONF="+conf)
		return cmd
	}
	t.Cleanup(func() { _ = e.command("rm", "--all", "--force", "--time=0").Run() })
	e.Import(Rootfs(t), Image)
	return e
}

func podmanGlobal(global []string, o PodmanOptions) []string {
	runtime := o.Runtime
	if runtime == "" {
		runtime = "runc"
	}
	global = append(global[:len(global):len(global)], "--runtime", runtime)
	if o.HooksDir != "" {
		global = append(global, "--hooks-dir", o.HooksDir)
	}
	return global
}

// rootlessUser is the ordinary user that rootless tests run as; it is made where it is missing.
const rootlessUser = "envscrub-rig"

// PodmanRootless is Podman as an ordinary user, with a home directory of its own and the image [Image].
func PodmanRootless(t testing.TB, o PodmanOptions) *Engine {
	t.Helper()
	Need(t, "root", "podman", "conmon", "newuidmap", "useradd")
	account := OrdinaryUser(t)
	uid, _ := strconv.Atoi(account.Uid)
	gid, _ := strconv.Atoi(account.Gid)
	home := shortTempDir(t)
	runtimeDir := filepath.Join(home, "run")
	conf := filepath.Join(home, "containers.conf")
	Write(t, conf, fmt.Sprintf(podmanConf, 1024, 1024, 1000, 1000)+o.Conf, 0o644)
	if err := os.Mkdir(runtimeDir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{home, runtimeDir} {
		if err := os.Chown(path, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	e := &Engine{Name: "podman (rootless)", Home: home, t: t}
	global := []string{"--storage-driver", "vfs"}
	e.command = func(args ...string) *exec.Cmd {
		cmd := exec.Command("podman", append(podmanGlobal(global, o), args...)...)
		if o.Runtime == "crun" {
			// Without the unified hierarchy crun cannot find its cgroup; the mount namespace is root's, the process the user's.
			cmd = withoutUnified("setpriv", append([]string{"--reuid", account.Uid, "--regid", account.Gid, "--init-groups", "podman"}, cmd.Args[1:]...)...)
		} else {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		}
		cmd.Dir = home
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "USER=" + rootlessUser, "XDG_RUNTIME_DIR=" + runtimeDir,
			"CONTAINERS_CONF=" + conf, "TMPDIR=" + home,
		}
		return cmd
	}
	t.Cleanup(func() {
		_ = e.command("rm", "--all", "--force", "--time=0").Run()
		// The storage belongs to subordinate ids: only Podman's own user namespace may remove all of it.
		_ = e.command("unshare", "rm", "-rf", filepath.Join(home, ".local")).Run()
		_ = e.command("system", "migrate").Run() // ends the pause process
	})
	e.Import(Rootfs(t), Image)
	return e
}

// OrdinaryUser is the user that rootless tests run as.
func OrdinaryUser(t testing.TB) *user.User {
	t.Helper()
	account, err := user.Lookup(rootlessUser)
	if err != nil {
		// Two test processes may do this at once: the loser finds the account made.
		out, addErr := exec.Command("useradd", "--create-home", rootlessUser).CombinedOutput()
		if account, err = user.Lookup(rootlessUser); err != nil {
			t.Fatalf("useradd %s: %v\n%s", rootlessUser, addErr, out)
		}
	}
	return account
}
