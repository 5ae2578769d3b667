package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// Limit is how long a command may take before the rig kills it and fails the test.
const Limit = 120 * time.Second

// Result is what a command left behind.
type Result struct {
	Code           int
	Stdout, Stderr string
}

// Env reads standard output as the output of env(1).
func (r Result) Env() map[string]string {
	vars := map[string]string{}
	for _, line := range strings.Split(r.Stdout, "\n") {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\r"), "="); ok {
			vars[name] = value
		}
	}
	return vars
}

// Run runs cmd to its end; a command that cannot be started or does not end in [Limit] fails the test. A non-zero exit
// is a result.
func Run(t testing.TB, cmd *exec.Cmd) Result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &stdout
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	}
	// A process that outlives the command must not keep the test waiting on the pipes.
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", cmd.Path, err)
	}
	timer := time.AfterFunc(Limit, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if !timer.Stop() {
		t.Fatalf("%s did not end in %s\nstdout: %s\nstderr: %s", cmd, Limit, stdout.String(), stderr.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v\nstdout: %s\nstderr: %s", cmd, err, stdout.String(), stderr.String())
	}
	return Result{Code: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
}

// Eventually waits until ok is true, and fails the test after half a minute: longer than any time limit of ours.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited 30 s for %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Runtime is a real low-level runtime.
type Runtime struct {
	Name string // "runc" or "crun"
	Path string // the binary to run: the runtime itself, or what stands in its place (a wrapper)
	Root string // --root, its own state directory
}

// Runtimes are the low-level runtimes of the promise: runc and crun.
func Runtimes(t testing.TB) []Runtime {
	t.Helper()
	Need(t, "root", "runc", "crun")
	var all []Runtime
	for _, name := range []string{"runc", "crun"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Runtime{Name: name, Path: path, Root: filepath.Join(TempDir(t), name)})
	}
	return all
}

// Command is the runtime's command line with its --root. crun refuses a hybrid cgroup hierarchy, so that it is started in
// a mount namespace without the unified part where there is one.
func (r Runtime) Command(args ...string) *exec.Cmd {
	args = append([]string{"--root", r.Root}, args...)
	if r.Name == "crun" {
		return withoutUnified(r.Path, args...)
	}
	return exec.Command(r.Path, args...)
}

const unified = "/sys/fs/cgroup/unified"

func withoutUnified(path string, args ...string) *exec.Cmd {
	if _, err := os.Stat(unified); err != nil {
		return exec.Command(path, args...)
	}
	script := "umount " + unified + ` && exec "$0" "$@"`
	return exec.Command("unshare", append([]string{"-m", "sh", "-c", script, path}, args...)...)
}

var bundles atomic.Int64

// Bundle is an OCI bundle on disk.
type Bundle struct {
	Dir  string
	ID   string
	Spec *specs.Spec // edit it, then [Bundle.Write]
}

// NewBundle makes a bundle around a root file system from the runtime's own `spec`: no terminal, no rlimits, /bin/env
// as the process.
func NewBundle(t testing.TB, rootfs string) *Bundle {
	t.Helper()
	Need(t, "runc")
	b := &Bundle{Dir: TempDir(t), ID: fmt.Sprintf("rig-%d-%d", os.Getpid(), bundles.Add(1))}
	cmd := exec.Command("runc", "spec")
	cmd.Dir = b.Dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("runc spec: %v\n%s", err, out)
	}
	data, err := os.ReadFile(b.Config())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &b.Spec); err != nil {
		t.Fatal(err)
	}
	b.Spec.Root.Path = rootfs
	b.Spec.Root.Readonly = false
	b.Spec.Process.Terminal = false
	b.Spec.Process.Rlimits = nil
	b.Spec.Process.Args = []string{"/bin/env"}
	b.Write(t)
	return b
}

// Config is the path of config.json.
func (b *Bundle) Config() string { return filepath.Join(b.Dir, "config.json") }

// Write writes Spec to config.json.
func (b *Bundle) Write(t testing.TB) {
	t.Helper()
	data, err := json.MarshalIndent(b.Spec, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	Write(t, b.Config(), string(data), 0o644)
}

// Read reads config.json back, as it is on disk now.
func (b *Bundle) Read(t testing.TB) *specs.Spec {
	t.Helper()
	data, err := os.ReadFile(b.Config())
	if err != nil {
		t.Fatal(err)
	}
	var spec specs.Spec
	if err := json.Unmarshal(data, &spec); err != nil {
		t.Fatal(err)
	}
	return &spec
}

// Run is `RUNTIME run ID`, to the end of the container.
func (b *Bundle) Run(t testing.TB, r Runtime, options ...string) Result {
	t.Helper()
	return Run(t, r.Command(append(append([]string{"run", "--bundle", b.Dir}, options...), b.ID)...))
}

// Created is a container between create and delete.
type Created struct {
	t      testing.TB
	r      Runtime
	b      *Bundle
	Pid    int
	Result Result // of create
	out    *os.File
}

// Create is `RUNTIME create ID`; the container is deleted, by force, at the end of the test. Its output goes to a file:
// [Created.Output].
func (b *Bundle) Create(t testing.TB, r Runtime, options ...string) *Created {
	t.Helper()
	out, err := os.Create(filepath.Join(TempDir(t), "output"))
	if err != nil {
		t.Fatal(err)
	}
	pidfile := filepath.Join(b.Dir, "pid")
	args := append(append([]string{"create", "--bundle", b.Dir, "--pid-file", pidfile}, options...), b.ID)
	cmd := r.Command(args...)
	cmd.Stdout, cmd.Stderr = out, out
	c := &Created{t: t, r: r, b: b, out: out}
	c.Result = Run(t, cmd)
	c.Result.Stdout = c.Output()
	t.Cleanup(func() {
		c.Delete()
		_ = out.Close()
	})
	if c.Result.Code == 0 {
		data, err := os.ReadFile(pidfile)
		if err != nil {
			t.Fatal(err)
		}
		if c.Pid, err = strconv.Atoi(strings.TrimSpace(string(data))); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// Start is `RUNTIME start ID`.
func (c *Created) Start() Result {
	c.t.Helper()
	return Run(c.t, c.r.Command("start", c.b.ID))
}

// Exec is `RUNTIME exec ID ARGS…`.
func (c *Created) Exec(args ...string) Result {
	c.t.Helper()
	return Run(c.t, c.r.Command(append([]string{"exec", c.b.ID}, args...)...))
}

// Output is what the container has written so far, standard output and error together.
func (c *Created) Output() string {
	c.t.Helper()
	data, err := os.ReadFile(c.out.Name())
	if err != nil {
		c.t.Fatal(err)
	}
	return string(data)
}

// Wait waits until the container's process has ended.
func (c *Created) Wait() {
	c.t.Helper()
	Eventually(c.t, "the container to stop", func() bool { return !Running(c.Pid) })
}

// Delete is `RUNTIME delete --force ID`.
func (c *Created) Delete() { _ = c.r.Command("delete", "--force", c.b.ID).Run() }

// Running reports whether a process exists and is not a zombie.
func Running(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// The state follows the command name, which may hold anything but ends at the last parenthesis (proc_pid_stat(5)).
	_, rest, ok := strings.Cut(string(data[bytes.LastIndexByte(data, ')'):]), ") ")
	return ok && rest[0] != 'Z' && rest[0] != 'X'
}
