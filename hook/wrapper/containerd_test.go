package wrapper_test

import (
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

// TestContainerd is containerd's own client with a runc shim whose BinaryName is the
// wrapper: what the shim calls is what it calls for Kubernetes.
//
// report: containerd/nri#44, containerd#5608
func TestContainerd(t *testing.T) {
	rig.Need(t, "root", "containerd", "containerd-shim-runc-v2", "ctr", "runc")
	ctr := containerd(t)
	root := rig.Rootfs(t)
	bare, wrapped := look(t, "runc"), program(t, "runc", keepKey)
	n := 0
	run := func(binary string, args ...any) *exec.Cmd {
		n++
		id := fmt.Sprintf("made-up-%d", n)
		return ctr(join("run", "--runc-binary", binary, options(append(secrets, plain)...), join(args[:1]...), "--rootfs", root, id, join(args[1:]...))...)
	}
	// ctr loses the output of a container that ends before it has attached to it.
	show := "/bin/env; /bin/sleep 1"
	lines(t, "bare", ok(t, "run", rig.Run(t, run(bare, "--rm", "/bin/sh", "-c", show))).Stdout, append(secrets, plain), nil)
	lines(t, "wrapped", ok(t, "run", rig.Run(t, run(wrapped, "--rm", "/bin/sh", "-c", show))).Stdout, []string{plain}, secrets)
	if r := rig.Run(t, run(wrapped, "--rm", "/bin/sh", "-c", "exit 7")); r.Code != 7 {
		t.Errorf("exit code: %+v", r)
	}

	for _, binary := range []string{bare, wrapped} {
		ok(t, "run", rig.Run(t, run(binary, "--detach", "/bin/sleep", "300")))
		id := fmt.Sprintf("made-up-%d", n)
		out := ok(t, "exec", rig.Run(t, ctr("task", "exec", "--exec-id", "e1", id, "/bin/env"))).Stdout
		if binary == bare {
			lines(t, "exec, bare", out, append(secrets, plain), nil)
		} else {
			lines(t, "exec", out, []string{plain}, secrets)
			if records(id) != 1 {
				t.Errorf("%d records", records(id))
			}
		}
		if r := rig.Run(t, ctr("task", "exec", "--exec-id", "e2", id, "/bin/sh", "-c", "exit 42")); r.Code != 42 {
			t.Errorf("exec's exit code: %+v", r)
		}
		ok(t, "pause", rig.Run(t, ctr("task", "pause", id)))
		ok(t, "resume", rig.Run(t, ctr("task", "resume", id)))
		ok(t, "kill", rig.Run(t, ctr("task", "kill", "--signal", "KILL", id)))
		rig.Eventually(t, "the task to stop", func() bool { return strings.Contains(rig.Run(t, ctr("task", "list")).Stdout, "STOPPED") })
		_ = rig.Run(t, ctr("task", "delete", id)) // its exit code is the container's
		ok(t, "delete", rig.Run(t, ctr("container", "delete", id)))
		if records(id) != 0 {
			t.Error("the record is left")
		}
	}

	// The reason reaches the user through the file that containerd gives with --log.
	r := rig.Run(t, run(program(t, "runc", "runtimes = [\"runc\"]\ndeny = 5\n"), "--rm", "/bin/env"))
	if r.Code == 0 || !strings.Contains(r.Stderr, "policy.toml:2:") {
		t.Errorf("refusal: %+v", r)
	}
}

// containerd starts one of the test's own, and returns its client's command line.
func containerd(t *testing.T) func(args ...string) *exec.Cmd {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctr-") // short, for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	config := filepath.Join(dir, "config.toml")
	rig.Write(t, config, fmt.Sprintf("version = 2\nroot = %q\nstate = %q\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n[grpc]\naddress = %q\n",
		dir+"/root", dir+"/state", dir+"/sock"), 0o600)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	daemon := exec.Command("containerd", "--config", config)
	daemon.Stdout, daemon.Stderr = log, log
	daemon.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	ctr := func(args ...string) *exec.Cmd {
		return exec.Command("ctr", append([]string{"--address", dir + "/sock"}, args...)...)
	}
	t.Cleanup(func() {
		if t.Failed() {
			if data, err := os.ReadFile(log.Name()); err == nil {
				t.Logf("%s", data)
			}
		}
		list := rig.Run(t, ctr("task", "list", "--quiet"))
		for _, id := range strings.Fields(list.Stdout) {
			_ = rig.Run(t, ctr("task", "delete", "--force", id))
		}
		_ = daemon.Process.Signal(syscall.SIGTERM)
		timer := time.AfterFunc(10*time.Second, func() { _ = daemon.Process.Kill() })
		_ = daemon.Wait()
		timer.Stop()
		_ = log.Close()
	})
	rig.Eventually(t, "containerd", func() bool { return ctr("version").Run() == nil })
	return ctr
}
