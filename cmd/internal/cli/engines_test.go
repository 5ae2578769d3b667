package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/install"
)

// programs of ours, as an installed host has them.
func built(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"envscrub-hook", "envscrub-runtime", "envscrub-shim", "envscrub-nri"} {
		rig.Bin(t, name)
	}
	return rig.Bin(t, "envscrub")
}

// host runs commands in a mount namespace where what an install writes to is the test's own, and where the machine's
// policy is not seen.
type host struct {
	t    *testing.T
	dir  string
	env  []string
	user *user.User // a rootless one, whose files are below dir/home; nil: root
}

func (h *host) run(args ...string) rig.Result {
	h.t.Helper()
	return rig.Run(h.t, h.command(args...))
}

func (h *host) command(args ...string) *exec.Cmd {
	script := `set -e; for d in etc usr/share/containers var/lib; do mount --bind "$0/$d" "/$d"; done` + "\n"
	env := append(os.Environ(), h.env...)
	if h.user != nil {
		env = h.env
		args = append([]string{"setpriv", "--reuid", h.user.Uid, "--regid", h.user.Gid, "--init-groups"}, args...)
	}
	cmd := exec.Command("unshare", append([]string{"--mount", "--propagation", "private", "sh", "-c", script + `exec "$@"`, h.dir}, args...)...)
	cmd.Env, cmd.Dir = env, "/"
	return cmd
}

func (h *host) must(args ...string) rig.Result {
	h.t.Helper()
	r := h.run(args...)
	if r.Code != 0 {
		h.t.Fatalf("%s: exit %d\n%s%s", strings.Join(args, " "), r.Code, r.Stdout, r.Stderr)
	}
	return r
}

// files shows the configuration, to compare it before and after.
func (h *host) files(dirs ...string) string {
	h.t.Helper()
	var b strings.Builder
	for _, dir := range dirs {
		out, err := exec.Command("sh", "-c", `cd "$1" && find . -type d ! -name networks -exec stat -c '%A %n' {} + | sort && find . -type f ! -name '*.lock' -exec sha256sum {} + | sort`, "sh", filepath.Join(h.dir, dir)).CombinedOutput()
		if err != nil {
			h.t.Fatalf("%v\n%s", err, out)
		}
		b.Write(out)
	}
	return b.String()
}

const podmanTestConf = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
`

func rootHost(t *testing.T) *host {
	t.Helper()
	rig.Need(t, "root", "podman", "conmon", "runc", "unshare")
	h := newHost(t)
	storage := "[storage]\ndriver = \"vfs\"\ngraphroot = \"" + h.dir + "/s\"\nrunroot = \"" + h.dir + "/r\"\n"
	rig.Write(t, filepath.Join(h.dir, "etc/containers/storage.conf"), storage, 0o644)
	rig.Write(t, filepath.Join(h.dir, "etc/containers/containers.conf"), podmanTestConf, 0o644)
	rig.Write(t, filepath.Join(h.dir, "etc/containers/policy.json"), `{"default":[{"type":"insecureAcceptAnything"}]}`, 0o644)
	return h
}

// newHost makes the directories, with a copy of /etc that has nothing of ours or of an engine's in it.
func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{t: t, dir: shortDir(t)}
	out, err := exec.Command("sh", "-ec", `cd "$1"; mkdir -p usr/share/containers var/lib
cp -a /etc . || test -e etc/passwd # another test may add a user meanwhile
rm -rf etc/envscrub etc/containers etc/docker; mkdir -p etc/containers
cp /usr/share/containers/seccomp.json usr/share/containers/`, "sh", h.dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return h
}

// shortDir is a directory whose path fits into the sockets of an engine.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "es")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func verdicts(t *testing.T, r rig.Result) map[string]verdict {
	t.Helper()
	var v verified
	if err := json.Unmarshal([]byte(r.Stdout), &v); err != nil {
		t.Fatalf("verify: exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	if strings.Contains(r.Stdout+r.Stderr, "made-up-") { // report: KiroCrew PR#12584
		t.Errorf("verify printed a value")
	}
	out := map[string]verdict{}
	for _, d := range v.Doors {
		for _, one := range d.Verdicts {
			out[one.Place] = one
		}
	}
	return out
}

// expect checks verdicts; the places of leaks are named. report: gluetrans#88
func expect(t *testing.T, got map[string]verdict, leaks ...string) {
	t.Helper()
	if len(got) != len(places) {
		t.Errorf("%d verdicts, want %d", len(got), len(places))
	}
	for place, v := range got {
		want := true
		for _, leak := range leaks {
			want = want && leak != place
		}
		if v.ok() != want || !want && v.Result != "leak" {
			t.Errorf("%s: %s %v (%s)", v.What, v.Result, v.Names, v.Detail)
		}
	}
}

func TestPodmanHook(t *testing.T) {
	program := built(t)
	h := rootHost(t)
	before := h.files("etc/containers", "usr")

	// Not registered: said, and nothing is started.
	if r := h.run(program, "verify", "podman"); r.Code != 1 || !strings.Contains(r.Stderr, "first: envscrub install podman") {
		t.Errorf("verify before: exit %d, %s", r.Code, r.Stderr)
	}
	for _, when := range []string{install.WhenAnnotation, install.WhenAlways} {
		h.must(program, "install", "podman", "--via", "hook", "--when", when)
		h.must(program, "status")
		// The hook does not see exec, and says so. report: podman#29347
		expect(t, verdicts(t, h.run(program, "verify", "podman", "--json")), placeExec, placeHealth)
		if when == install.WhenAlways {
			if r := h.run(program, "verify", "podman"); r.Code != 1 || !strings.HasSuffix(r.Stdout, "not exec and health checks; what does: envscrub install podman --via runtime --default\n") {
				t.Errorf("verify: exit %d, %s", r.Code, r.Stdout)
			}
		}
		h.must(program, "uninstall", "podman")
		if after := h.files("etc/containers", "usr"); after != before {
			t.Errorf("%s: uninstall left\n%s\nwant\n%s", when, after, before)
		}
	}
}

func TestPodmanRuntime(t *testing.T) {
	program := built(t)
	h := rootHost(t)
	before := h.files("etc/containers", "usr")
	h.must(program, "install", "podman", "--via", "runtime", "--default")
	expect(t, verdicts(t, h.run(program, "verify", "podman", "--json")))

	// A container that would lose the runtime which has to stop it, and what scan says of it.
	// report: nvidia-container-toolkit PR#1360
	tar := filepath.Join(h.dir, "i.tar")
	if out, err := exec.Command("tar", "-C", rig.Rootfs(t), "-cf", tar, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := h.must("sh", "-c", `podman import --quiet "$1" localhost/busybox >/dev/null
export GH_TOKEN=made-up-12345678
podman run --detach --name alive --network none --env GH_TOKEN localhost/busybox sleep 1000 >/dev/null
"$0" scan --engine podman --json
"$0" status --json
"$0" uninstall podman; echo "uninstall: $?"
podman rm --force --time 0 alive >/dev/null`, program, tar)
	for _, want := range []string{`"GH_TOKEN"`, `"scrubbed": true`, `"door": "runtime"`, "uninstall: 1\n"} {
		if !strings.Contains(r.Stdout, want) {
			t.Errorf("no %s in\n%s", want, r.Stdout)
		}
	}
	if !strings.Contains(r.Stderr, "(alive)") || strings.Contains(r.Stdout+r.Stderr, "made-up") {
		t.Errorf("stderr %s", r.Stderr)
	}
	h.must(program, "uninstall", "podman")
	if after := h.files("etc/containers", "usr"); after != before {
		t.Errorf("uninstall left\n%s\nwant\n%s", after, before)
	}
}

// What the agent alone keeps is there for it, and for nobody else. parity: V1
func TestVerifyKeep(t *testing.T) {
	program := built(t)
	h := rootHost(t)
	rig.Write(t, filepath.Join(h.dir, "etc/envscrub/policy.toml"), "[agent]\nkeep = [\"OPENAI_API_KEY\"]\n", 0o644)
	h.must(program, "install", "podman", "--via", "runtime", "--default")
	expect(t, verdicts(t, h.run(program, "verify", "podman", "--json")))

	// A policy that removes nothing proves nothing.
	rig.Write(t, filepath.Join(h.dir, "etc/envscrub/policy.toml"), "mode = \"observe\"\n", 0o644)
	if r := h.run(program, "verify", "podman"); r.Code != 1 || !strings.Contains(r.Stderr, "mode is observe") {
		t.Errorf("verify: exit %d, %s", r.Code, r.Stderr)
	}
	if r := h.run(program, "status"); r.Code != 1 || !strings.Contains(r.Stdout, "mode is observe: nothing is removed") {
		t.Errorf("status: exit %d, %s", r.Code, r.Stdout)
	}
	// One that does not load starts nothing, and status says so.
	rig.Write(t, filepath.Join(h.dir, "etc/envscrub/policy.toml"), "alow = []\n", 0o644)
	if r := h.run(program, "status"); r.Code != 1 || !strings.Contains(r.Stdout, "policy.toml:1:1: alow") {
		t.Errorf("status: exit %d, %s", r.Code, r.Stdout)
	}
	if r := h.run(program, "install", "podman", "--via", "hook"); r.Code != 1 || !strings.Contains(r.Stderr, "no container would start with this policy: /etc/envscrub/policy.toml:1:1: alow") {
		t.Errorf("install: exit %d, %s", r.Code, r.Stderr)
	}
}

// A user without any configuration. report: podman#7134, podman#3155
func TestPodmanRootless(t *testing.T) {
	rig.Need(t, "root", "podman", "conmon", "runc", "newuidmap", "unshare", "setpriv")
	program := built(t)
	account := rig.OrdinaryUser(t)
	h := newHost(t)
	home := filepath.Join(h.dir, "home")
	rig.Write(t, filepath.Join(h.dir, "etc/containers/policy.json"), `{"default":[{"type":"insecureAcceptAnything"}]}`, 0o644)
	h.user = account
	rig.Write(t, filepath.Join(home, ".config/containers/containers.conf"), podmanTestConf, 0o644)
	rig.Write(t, filepath.Join(home, ".config/containers/storage.conf"), "[storage]\ndriver = \"vfs\"\n", 0o644)
	for _, dir := range []string{"run", ".local/share", ".local/state"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("chown", "-R", account.Uid+":"+account.Gid, home).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	h.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home + "/run", "USER=envscrub-rig"}
	t.Cleanup(func() {
		h.run("podman", "rm", "--all", "--force", "--time=0")
		h.run("podman", "unshare", "rm", "-rf", filepath.Join(home, ".local/share"))
		h.run("podman", "system", "migrate")
	})
	before := h.files("home/.config/containers")
	h.must(program, "install", "podman", "--via", "hook", "--when", "always")
	h.must(program, "status")
	expect(t, verdicts(t, h.run(program, "verify", "podman", "--json")), placeExec, placeHealth)
	h.must(program, "uninstall", "podman")
	h.must(program, "install", "podman", "--via", "runtime")
	expect(t, verdicts(t, h.run(program, "verify", "podman", "--json")))
	h.must(program, "uninstall", "podman")
	if after := h.files("home/.config/containers"); after != before {
		t.Errorf("uninstall left\n%s\nwant\n%s", after, before)
	}
}

func TestDocker(t *testing.T) {
	rig.Need(t, "root", "dockerd", "docker", "runc", "unshare")
	program := built(t)
	h := rootHost(t)
	config := filepath.Join(h.dir, "daemon.json")
	const text = "{\n    \"max-concurrent-downloads\": 5,\n    \"default-runtime\": \"runc\"\n}\n"
	rig.Write(t, config, text, 0o640)
	engine := rig.Docker(t, rig.DockerOptions{Config: config})
	socket := engine.Command().Args[2]
	h.env = []string{"DOCKER_HOST=" + socket}

	// Another file than the one that the daemon reads. report: nvidia-container-toolkit#1404
	if r := h.must(program, "install", "docker", "--dry-run"); !strings.Contains(r.Stdout, "that reads "+config+" and not /etc/docker/daemon.json") {
		t.Errorf("install without --config says:\n%s", r.Stdout)
	}
	r := h.must(program, "install", "docker", "--config", config, "--default")
	if !strings.Contains(r.Stdout, "to do: kill -HUP ") || !strings.Contains(r.Stdout, "not covered: docker build") { // report: buildkit#2485
		t.Errorf("install says:\n%s", r.Stdout)
	}
	// Registered, and the daemon does not know yet: not well, with the command that mends it.
	if r := h.run(program, "status", "--config", "docker="+config); r.Code != 1 || !strings.Contains(r.Stdout, "mend: kill -HUP ") {
		t.Errorf("status: exit %d\n%s", r.Code, r.Stdout)
	}
	h.must(program, "uninstall", "docker", "--config", config)
	h.must(program, "install", "docker", "--config", config, "--default", "--restart")
	if got := engine.Must("info", "--format", "{{.DefaultRuntime}}"); got != install.RuntimeName {
		t.Errorf("default runtime %q", got)
	}
	h.must(program, "status", "--config", "docker="+config)
	expect(t, verdicts(t, h.run(program, "verify", "docker", "--config", config, "--json")))

	// A container that would lose the runtime which has to stop it. report: nvidia-container-toolkit PR#1360
	engine.Must("run", "--detach", "--name", "alive", "--env", "GH_TOKEN=made-up-12345678", rig.Image, "sleep", "1000")
	if r := h.run(program, "uninstall", "docker", "--config", config); r.Code != 1 || !strings.Contains(r.Stderr, "(alive)") {
		t.Errorf("uninstall with a live container: exit %d, %s", r.Code, r.Stderr)
	}
	r = h.must(program, "scan", "--engine", "docker", "--json")
	var found []scanned
	if err := json.Unmarshal([]byte(r.Stdout), &found); err != nil || len(found) != 1 || found[0].Name != "alive" || len(found[0].Remove) != 1 || found[0].Remove[0] != "GH_TOKEN" {
		t.Errorf("scan: %v\n%s", err, r.Stdout)
	}
	if strings.Contains(r.Stdout, "made-up") {
		t.Error("scan printed a value")
	}
	engine.Must("rm", "--force", "alive")
	h.must(program, "uninstall", "docker", "--config", config, "--restart")
	if got := engine.Must("info", "--format", "{{.DefaultRuntime}}"); got != "runc" {
		t.Errorf("after the uninstall the default runtime is %q", got)
	}
	if data, err := os.ReadFile(config); err != nil || string(data) != text {
		t.Errorf("uninstall left %q, %v", data, err)
	}
	if info, err := os.Stat(config); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// dockerd keeps a default runtime that is gone from its file until it is restarted. Without systemd that cannot be done
// here: said, by status too, and no success.
func TestDockerDefaultStays(t *testing.T) {
	rig.Need(t, "root", "dockerd", "docker", "runc", "unshare")
	program := built(t)
	h := rootHost(t)
	config := filepath.Join(h.dir, "daemon.json")
	rig.Write(t, config, "{}\n", 0o644)
	engine := rig.Docker(t, rig.DockerOptions{Config: config})
	h.env = []string{"DOCKER_HOST=unix:///nowhere.sock"} // the daemon's own socket is asked, whatever this names
	h.must(program, "install", "docker", "--config", config, "--default")
	h.must(program, "install", "docker", "--config", config, "--restart") // the change from before arrives
	if r := h.must(program, "install", "docker", "--config", config, "--restart"); strings.Contains(r.Stdout, "done:") {
		t.Errorf("an install that changed nothing restarted:\n%s", r.Stdout)
	}
	if got := engine.Must("info", "--format", "{{.DefaultRuntime}}"); got != install.RuntimeName {
		t.Errorf("default runtime %q", got)
	}
	r := h.run(program, "uninstall", "docker", "--config", config, "--restart")
	if r.Code != 1 || !strings.Contains(r.Stdout, "restored: "+config) || !strings.Contains(r.Stdout, "to do: kill ") || !strings.Contains(r.Stderr, "has to be restarted") {
		t.Errorf("uninstall --restart: exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	if r := h.run(program, "status", "--config", "docker="+config); r.Code != 1 || !strings.Contains(r.Stdout, "has the default runtime envscrub, which its file does not name") {
		t.Errorf("status: exit %d\n%s", r.Code, r.Stdout)
	}
}

// A directory of records that no record can be kept in starts no container: wrong, with the command that mends it.
func TestStatusStateDirectory(t *testing.T) {
	program := built(t)
	h := rootHost(t)
	for _, c := range []struct{ mount, want string }{
		{"mkdir -m 755 /run/envscrub", "mend: chmod 700 /run/envscrub\n"},
		{"mkdir -m 700 /run/envscrub; chown 1 /run/envscrub", "mend: chown 0 /run/envscrub\n"},
		{"mkdir /run/envscrub; mount -t tmpfs -o size=64k,mode=700 none /run/envscrub", "/run/envscrub: the file system is full"},
	} {
		r := h.run("sh", "-ec", "mount -t tmpfs none /run; "+c.mount+`; exec "$0" status`, program)
		if r.Code != 1 || !strings.Contains(r.Stdout, "no container starts through envscrub: ") || !strings.Contains(r.Stdout, c.want) {
			t.Errorf("%s: exit %d\n%s%s", c.mount, r.Code, r.Stdout, r.Stderr)
		}
	}
}

// A shim that an update left behind: seen by status, and no container starts with it.
func TestShimOfAnotherBuild(t *testing.T) {
	program := built(t)
	h := rootHost(t)
	bin := filepath.Join(h.dir, "bin")
	for _, name := range append([]string{"envscrub"}, programs...) {
		rig.Copy(t, filepath.Join(filepath.Dir(program), name), filepath.Join(bin, name))
	}
	shim := filepath.Join(bin, "envscrub-shim")
	cmd := exec.Command("sh", "-ec", `exec go build -trimpath -ldflags "-s -w $(hack/build --ldflags 0.0.1-old)" -o "$1" ./cmd/envscrub-shim`, "sh", shim)
	cmd.Dir = filepath.Join("..", "..", "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if v := fileVersion(shim); v != "0.0.1-old" {
		t.Errorf("the shim is of version %q", v)
	}
	program = filepath.Join(bin, "envscrub")
	h.must(program, "install", "podman", "--via", "runtime", "--default")
	tar := filepath.Join(h.dir, "i.tar")
	if out, err := exec.Command("tar", "-C", rig.Rootfs(t), "-cf", tar, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := h.run("sh", "-ec", `podman import --quiet "$1" localhost/busybox >/dev/null
podman run --rm --network none --env GH_TOKEN=made-up-12345678 localhost/busybox /bin/env`, "sh", tar)
	if r.Code == 0 || !strings.Contains(r.Stderr, "from another version or build than this shim") || strings.Contains(r.Stdout+r.Stderr, "made-up") || strings.Contains(r.Stdout, "PATH=") {
		t.Errorf("a container with a shim of another build: %+v", r)
	}
	// Where this program has a name too, status sees it.
	s := &status{Version: "0.0.2"}
	s.programs(install.Options{BinDir: bin}, true, nil)
	if len(s.Problems) != 1 || !strings.Contains(s.Problems[0].What, shim+" is 0.0.1-old") {
		t.Errorf("status: %+v", s.Problems)
	}
}
