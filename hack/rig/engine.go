package rig

import (
	"os/exec"
	"strings"
	"testing"
)

// Image is the image that every [Engine] of the rig has: the root file system of [Rootfs].
const Image = "rig:busybox"

// Engine is a real container engine with storage of its own.
type Engine struct {
	Name    string
	Home    string // the rootless user's home directory, "" for root
	t       testing.TB
	command func(args ...string) *exec.Cmd
}

// Command is the engine's command line: the caller's arguments behind the options that select its own storage.
func (e *Engine) Command(args ...string) *exec.Cmd { return e.command(args...) }

// Run runs an engine's command to its end.
func (e *Engine) Run(args ...string) Result {
	e.t.Helper()
	return Run(e.t, e.command(args...))
}

// Must is Run, where a non-zero exit fails the test. It returns standard output without the last newline.
func (e *Engine) Must(args ...string) string {
	e.t.Helper()
	r := e.Run(args...)
	if r.Code != 0 {
		e.t.Fatalf("%s %s: exit %d\n%s%s", e.Name, strings.Join(args, " "), r.Code, r.Stdout, r.Stderr)
	}
	return strings.TrimSuffix(r.Stdout, "\n")
}

// Import makes an image from a root file system; changes are Dockerfile instructions ("ENV A=b", "CMD …").
func (e *Engine) Import(rootfs, image string, changes ...string) {
	e.t.Helper()
	args := []string{"import"}
	for _, change := range changes {
		args = append(args, "--change", change)
	}
	cmd := e.command(append(args, "-", image)...)
	tar := exec.Command("tar", "-C", rootfs, "-c", ".")
	pipe, err := tar.StdoutPipe()
	if err != nil {
		e.t.Fatal(err)
	}
	cmd.Stdin = pipe
	if err := tar.Start(); err != nil {
		e.t.Fatal(err)
	}
	r := Run(e.t, cmd)
	if err := tar.Wait(); err != nil {
		e.t.Fatalf("tar %s: %v", rootfs, err)
	}
	if r.Code != 0 {
		e.t.Fatalf("%s import: exit %d\n%s", e.Name, r.Code, r.Stderr)
	}
}
