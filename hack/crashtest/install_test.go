package crashtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
)

// records is where an install keeps what it has to remember, backups among it.
const records = "/var/lib/envscrub"

// TestInstall steps through `envscrub install ENGINE` and `envscrub uninstall ENGINE` on a tree that stands for the host's /.
// After each kill every file is whole, the old one or the new one, and so is whatever stays beside it; the command, run again,
// completes; and an uninstall, at once or after that, gives back what was there, byte for byte, and leaves no backup.
func TestInstall(t *testing.T) {
	t.Parallel()
	const proxy = `"http-proxy": "http://user:` + planted + `@proxy:3128"`
	containerd := func(version, plugin string) string {
		return "# kept\nversion = " + version + "\n[plugins.\"" + plugin + "\".containerd]\n  default_runtime_name = \"runc\"\n" +
			"  [plugins.\"" + plugin + "\".containerd.runtimes.runc]\n    runtime_type = \"io.containerd.runc.v2\"\n" +
			"[plugins.\"io.containerd.grpc.v1.cri\".registry.configs.\"r\".auth]\n  password = \"" + planted + "\" # kept\n"
	}
	for _, c := range []struct {
		name  string
		args  []string
		files map[string]string
	}{
		{"docker", []string{"docker", "--default"}, map[string]string{"/etc/docker/daemon.json": "{\n    " + proxy + ",\n  \"default-runtime\": \"crun\", \"runtimes\": {\"crun\": {\"path\": \"crun\"}}\n}\n"}},
		{"podman hook", []string{"podman", "--via", "hook", "--when", "always"}, map[string]string{"/etc/containers/containers.conf": "[engine]\n# kept\nenv = [\"http_proxy=" + planted + "\"]\n"}},
		{"crio", []string{"crio"}, map[string]string{"/etc/crio/crio.conf": "[crio.runtime]\ndefault_runtime = \"runc\"\n[crio.runtime.runtimes.runc]\nruntime_path = \"/usr/bin/runc\"\n"}},
		{"containerd 2", []string{"containerd", "--default"}, map[string]string{"/etc/containerd/config.toml": containerd("2", "io.containerd.grpc.v1.cri")}},
		{"containerd 3", []string{"containerd"}, map[string]string{"/etc/containerd/config.toml": containerd("3", "io.containerd.cri.v1.runtime")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &host{t: t, root: filepath.Join(inMemory(t), "root"), step: newStepper(t), program: rig.Bin(t, "envscrub")}
			for _, name := range []string{"envscrub-hook", "envscrub-runtime", "envscrub-shim"} {
				rig.Write(t, filepath.Join(h.root, "usr/libexec/envscrub", name), "#!/bin/sh\n", 0o755)
			}
			if err := os.MkdirAll(h.root+"/var/lib", 0o755); err != nil {
				t.Fatal(err)
			}
			for path, text := range c.files {
				rig.Write(t, h.root+path, text, 0o640)
			}
			install := append([]string{"install"}, c.args...)
			uninstall := []string{"uninstall", c.args[0]}
			original := readTree(t, h.root)
			h.must(install)
			installed := readTree(t, h.root)
			h.must(uninstall)
			h.is("after install and uninstall", original)
			if len(original.differs(installed)) == 0 {
				t.Fatal("the install changed nothing")
			}
			points := 0
			for _, phase := range []struct {
				command, back []string
				from, to      tree
			}{
				{install, uninstall, original, installed},
				{uninstall, install, installed, original},
			} {
				for n := 1; n < maxPoints; n++ {
					phase.from.write(t, h.root)
					h.step.run(t, n, h.argv(phase.command)...)
					point := h.step.killed(t)
					if point == "" {
						h.is("at the end", phase.to)
						break
					}
					points++
					point = phase.command[0] + ", killed at " + point
					crashed := readTree(t, h.root)
					h.whole(point, crashed, phase.from, phase.to)

					h.must(phase.command)
					h.is(point+", run again", phase.to)
					crashed.write(t, h.root)
					h.must(phase.back)
					h.is(point+", taken back", phase.from)
					if t.Failed() {
						return
					}
				}
			}
			enough(t, points)
		})
	}
}

// inMemory is a directory that no disk is waited for, where there is such a thing: every step syncs what it writes.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "crashtest-")
	if err != nil {
		return rig.TempDir(t)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// host is a tree that stands for a host, and our program on it.
type host struct {
	t             *testing.T
	root, program string
	step          *stepper
}

func (h *host) argv(args []string) []string {
	return append(append([]string{h.program}, args...), "--root", h.root, "--bin-dir", "/usr/libexec/envscrub")
}

func (h *host) must(args []string) {
	h.t.Helper()
	argv := h.argv(args)
	if r := rig.Run(h.t, exec.Command(argv[0], argv[1:]...)); r.Code != 0 {
		h.t.Fatalf("%s: exit %d: %s", strings.Join(args, " "), r.Code, r.Stderr)
	}
}

func (h *host) is(when string, want tree) {
	h.t.Helper()
	now := readTree(h.t, h.root)
	for _, path := range now.differs(want) {
		h.t.Errorf("%s: %s\nis   %v %q\nwant %v %q", when, path, now[path].mode, now[path].data, want[path].mode, want[path].data)
	}
}

// whole: every file is one of the two trees', and what is in neither is a whole file of them under another name, that no more
// people can read.
func (h *host) whole(when string, now, from, to tree) {
	h.t.Helper()
	for _, path := range now.differs(from) {
		n, here := now[path]
		if m, ok := to[path]; here == ok && (n == m || n.mode.IsDir()) {
			continue
		}
		switch {
		case !here:
			if _, ok := from[path]; ok {
				h.t.Errorf("%s: %s is gone", when, path)
			}
		case n.mode.IsDir():
		case strings.HasPrefix(path, records) && n.mode.Perm() != 0o600:
			h.t.Errorf("%s: %s has mode %s", when, path, n.mode)
		case !h.known(path, n, from, to):
			h.t.Errorf("%s: %s is half a file, or nobody's: %v %q", when, path, n.mode, n.data)
		}
	}
	if _, err := os.Stat(h.root + records + "/install"); err == nil {
		if info, err := os.Stat(h.root + records + "/install"); err != nil || info.Mode().Perm() != 0o700 {
			h.t.Errorf("%s: the records are open: %v %v", when, info, err)
		}
	}
}

// known reports whether a file is a whole one of its directory.
func (h *host) known(path string, n node, trees ...tree) bool {
	for _, all := range trees {
		for other, m := range all {
			if filepath.Dir(other) == filepath.Dir(path) && m == n {
				return true
			}
		}
	}
	// The ledger of an install names what the ledger of an uninstall no longer does: it is whole if it can be read, and the
	// next command is what reads it. A backup is the original.
	for _, m := range trees[0] {
		if m.data == n.data {
			return true
		}
	}
	return strings.HasPrefix(path, records) && strings.HasSuffix(strings.TrimSpace(n.data), "}")
}
