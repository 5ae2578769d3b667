package rig

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TempDir is t.TempDir, open to other users.
func TempDir(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	readable(t, dir)
	return dir
}

// shortTempDir is a temporary directory whose path leaves room for the sockets below it (unix(7): 108 bytes; Podman
// does not fail where they do not fit, it waits ten seconds).
func shortTempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rig-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Log("remove an engine's directory:", err)
		}
	})
	return dir
}

// Rootfs makes a root file system: a static busybox with all its applets as symbolic links in /bin, /etc/passwd with
// root and "agent" (1000), and the directories a runtime mounts on. Real programs are added with [Copy].
func Rootfs(t testing.TB) string {
	t.Helper()
	Need(t, "busybox")
	root := filepath.Join(TempDir(t), "rootfs")
	for _, dir := range []string{"bin", "dev", "etc", "home/agent", "proc", "run", "sys", "tmp", "usr/bin"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatal(err)
	}
	Copy(t, busybox, filepath.Join(root, "bin/busybox"))
	for _, applet := range applets(t, busybox) {
		if applet != "busybox" {
			if err := os.Symlink("busybox", filepath.Join(root, "bin", applet)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Symlink("../../bin/env", filepath.Join(root, "usr/bin/env")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(root, "tmp"), 0o1777); err != nil {
		t.Fatal(err)
	}
	Write(t, filepath.Join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000::/home/agent:/bin/sh\n", 0o644)
	Write(t, filepath.Join(root, "etc/group"), "root:x:0:\nagent:x:1000:\n", 0o644)
	collectCoverage(t, root)
	return root
}

func applets(t testing.TB, busybox string) []string {
	t.Helper()
	out, err := exec.Command(busybox, "--list").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// Copy copies a file with its mode, making the directories above it.
func Copy(t testing.TB, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()|0o444)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// Write writes a file, making the directories above it.
func Write(t testing.TB, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
