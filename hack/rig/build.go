package rig

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
)

var built struct {
	sync.Mutex
	done map[string]error
}

// Dir is where this test process keeps what its tests share. Directories of test processes that have ended are removed
// on the way.
var Dir = sync.OnceValue(func() string {
	base := filepath.Join(os.TempDir(), "envscrub-rig-"+strconv.Itoa(os.Geteuid()))
	dir := filepath.Join(base, strconv.Itoa(os.Getpid()))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		panic(err)
	}
	old, _ := os.ReadDir(base)
	for _, entry := range old {
		pid, err := strconv.Atoi(entry.Name())
		if err == nil && syscall.Kill(pid, 0) == syscall.ESRCH {
			_ = os.RemoveAll(filepath.Join(base, entry.Name()))
		}
	}
	return dir
})

// Bin builds cmd/NAME as it is released (static, trimmed paths) and returns the path of the binary; all binaries stand
// in one directory. ENVSCRUB_BIN names a directory of binaries that are built already.
func Bin(t testing.TB, name string) string {
	t.Helper()
	if dir := os.Getenv("ENVSCRUB_BIN"); dir != "" {
		return filepath.Join(dir, name)
	}
	path := filepath.Join(Dir(), "bin", name)
	built.Lock()
	defer built.Unlock()
	err, ok := built.done[name]
	if !ok {
		err = build(path, "github.com/envscrub/envscrub/cmd/"+name, "-trimpath", "-ldflags=-s -w")
		if built.done == nil {
			built.done = map[string]error{}
		}
		built.done[name] = err
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Go builds the Go program in dir (a path, or an import path) as a static binary and returns its path.
func Go(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(dir))
	if err := build(path, dir); err != nil {
		t.Fatal(err)
	}
	readable(t, path)
	return path
}

func build(path, what string, flags ...string) error {
	args := append([]string{"build", "-o", path}, flags...)
	cmd := exec.Command("go", append(args, what)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", what, err, out)
	}
	return nil
}

// CC builds a C program as a static binary and returns its path; flags come last ("-m32", "-pthread", …).
func CC(t testing.TB, source string, flags ...string) string {
	t.Helper()
	Need(t, "gcc")
	path := filepath.Join(t.TempDir(), filepath.Base(source)+".bin")
	args := append([]string{"-O1", "-Wall", "-static", "-o", path, source}, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %s: %v\n%s", source, err, bytes.TrimSpace(out))
	}
	readable(t, path)
	return path
}

// readable opens a test's temporary directories to other users: containers run as somebody else.
func readable(t testing.TB, path string) {
	t.Helper()
	temp := filepath.Clean(os.TempDir())
	for dir := filepath.Dir(path); dir != temp && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
