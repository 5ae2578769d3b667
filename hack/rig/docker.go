package rig

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// DockerOptions are what a test of Docker sets.
type DockerOptions struct {
	Runtimes map[string]string // --add-runtime NAME=PATH
	Default  string            // --default-runtime
	Config   string            // --config-file, instead of an empty one
}

// Docker starts a dockerd of the test's own (data root, socket, containerd) and gives it the image [Image]. It is ended
// with the test. Its log is shown when the test fails.
func Docker(t testing.TB, o DockerOptions) *Engine {
	t.Helper()
	Need(t, "root", "dockerd", "docker", "containerd", "runc")
	dir := shortTempDir(t)
	config := o.Config
	if config == "" {
		config = filepath.Join(dir, "daemon.json")
		Write(t, config, "{}\n", 0o644)
	}
	socket := "unix://" + filepath.Join(dir, "docker.sock")
	args := []string{
		"--config-file", config, "--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"),
		"--pidfile", filepath.Join(dir, "docker.pid"), "--host", socket, "--storage-driver", "vfs",
		"--bridge", "none", "--iptables=false", "--ip6tables=false", "--cgroup-parent", "/envscrub-rig",
	}
	for name, path := range o.Runtimes {
		args = append(args, "--add-runtime", name+"="+path)
	}
	if o.Default != "" {
		args = append(args, "--default-runtime", o.Default)
	}
	log, err := os.Create(filepath.Join(dir, "dockerd.log"))
	if err != nil {
		t.Fatal(err)
	}
	daemon := exec.Command("dockerd", args...)
	daemon.Stdout, daemon.Stderr = log, log
	// If the test process dies, the daemon must not stay.
	daemon.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	e := &Engine{Name: "docker", t: t}
	e.command = func(args ...string) *exec.Cmd {
		cmd := exec.Command("docker", append([]string{"--host", socket}, args...)...)
		cmd.Env = append(os.Environ(), "DOCKER_CONFIG="+dir, "DOCKER_CONTEXT=", "DOCKER_HOST=")
		return cmd
	}
	ended := make(chan error, 1)
	go func() { ended <- daemon.Wait() }()
	t.Cleanup(func() {
		if ids, err := e.command("ps", "--all", "--quiet").Output(); err == nil && len(ids) > 0 {
			_ = e.command(append([]string{"rm", "--force"}, strings.Fields(string(ids))...)...).Run()
		}
		_ = daemon.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = daemon.Process.Kill()
			<-ended
		}
		_ = log.Close()
		if t.Failed() {
			if data, err := os.ReadFile(log.Name()); err == nil {
				t.Logf("dockerd's log:\n%s", data)
			}
		}
	})
	deadline := time.Now().Add(60 * time.Second)
	for e.command("version").Run() != nil {
		select {
		case err := <-ended:
			ended <- err
			data, _ := os.ReadFile(log.Name())
			t.Fatalf("dockerd ended: %v\n%s", err, data)
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatal("dockerd did not answer in 60 s")
		}
	}
	e.Import(Rootfs(t), Image)
	return e
}
