package install_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/internal/tree"
)

// An engine as the command is asked to register with it, on a tree that stands for a host.
type engineCase struct {
	name    string
	args    []string
	program string
	config  string // what the engine's user has written
	text    string
	file    string // what the install writes
	broken  string // config cut off
	foreign string // config with a runtime of our name that is not ours
	strange string // config of a version that we do not know; "" where files have none
}

var engineCases = []engineCase{
	{
		name: "docker", args: []string{"--default"}, program: "dockerd",
		config: "/etc/docker/daemon.json", text: "{\n    \"max-concurrent-downloads\": 12345678901234567890,\n\t\"log-opts\": {}\n}",
		file:    "/etc/docker/daemon.json",
		broken:  `{"log-opts": {`,
		foreign: `{"runtimes": {"envscrub": {"path": "/opt/other"}}}`,
	},
	{
		name: "podman", args: []string{"--via", "runtime", "--default"}, program: "podman",
		config: "/etc/containers/containers.conf", text: "# ours\n[engine]\nevents_logger = \"file\" # kept\n",
		file:    "/etc/containers/containers.conf.d/50-envscrub-runtime.conf",
		broken:  "[engine\n",
		foreign: "[engine.runtimes]\nenvscrub = [\"/opt/other\"]\n",
	},
	{
		name: "crio", args: []string{"--default"}, program: "crio",
		config: "/etc/crio/crio.conf", text: "# ours\n[crio.runtime]\nlog_level = \"info\" # kept\n",
		file:    "/etc/crio/crio.conf.d/50-envscrub.conf",
		broken:  "[crio.runtime\n",
		foreign: "[crio.runtime.runtimes.envscrub]\nruntime_path = \"/opt/other\"\n",
	},
	{
		name: "containerd", args: []string{"--default"}, program: "containerd",
		config: "/etc/containerd/config.toml", text: "# ours\nversion = 2\noom_score = 0 # kept\n",
		file:    "/etc/containerd/config.toml",
		broken:  "version = 2\n[plugins\n",
		foreign: "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.envscrub]\nruntime_type = \"io.containerd.runc.v2\"\n",
		strange: "version = 9\n",
	},
}

// host is a tree with the engine, our programs and the user's configuration.
func (c engineCase) host(t *testing.T, text string) install.Options {
	t.Helper()
	files := map[string]string{c.config: text, "/var/lib/x": "", "/usr/share/containers/oci/hooks.d/x": ""}
	o := tree.New(t, files)
	tree.Write(t, o, "/usr/bin/"+c.program, "#!/bin/true\n", 0o755)
	return o
}

// command is the real one, for that host.
func (c engineCase) command(t *testing.T, o install.Options, verb string) *exec.Cmd {
	t.Helper()
	args := []string{verb, c.name, "--root", o.Root, "--rootless=false"}
	if verb == "install" {
		args = append(args, c.args...)
	}
	return exec.Command(rig.Bin(t, "envscrub"), args...)
}

func (c engineCase) must(t *testing.T, o install.Options, verb string) {
	t.Helper()
	if r := rig.Run(t, c.command(t, o, verb)); r.Code != 0 {
		t.Fatalf("%s: exit %d\n%s%s", verb, r.Code, r.Stdout, r.Stderr)
	}
}

// refused checks that nothing was changed, and that one line says where and why.
func refused(t *testing.T, r rig.Result, o install.Options, before, words string) {
	t.Helper()
	if r.Code != 1 || strings.Count(r.Stderr, "\n") != 1 || !strings.Contains(r.Stderr, words) {
		t.Errorf("exit %d, %q; want one line with %q", r.Code, r.Stderr, words)
	}
	if after := tree.List(t, o); after != before {
		t.Errorf("it changed\n%s\ninto\n%s", before, after)
	}
}

// report: nvidia-docker#490, nvidia-container-toolkit#132
func TestBadConfiguration(t *testing.T) {
	rig.Need(t, "root", "unshare")
	for _, c := range engineCases {
		t.Run(c.name, func(t *testing.T) {
			for name, text := range map[string]string{"broken": c.broken, "a runtime of our name": c.foreign, "unknown version": c.strange} {
				if text == "" {
					continue
				}
				t.Run(name, func(t *testing.T) {
					o := c.host(t, text)
					before := tree.List(t, o)
					words := "envscrub: install " + c.name + ": "
					if name != "a runtime of our name" {
						words += o.Path(c.config) + ":"
					}
					refused(t, rig.Run(t, c.command(t, o, "install")), o, before, words)
				})
			}
			t.Run("symlink", func(t *testing.T) {
				o := c.host(t, c.text)
				tree.Write(t, o, "/elsewhere", c.text, 0o644)
				_ = os.Remove(o.Path(c.file))
				if err := os.MkdirAll(filepath.Dir(o.Path(c.file)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(o.Path("/elsewhere"), o.Path(c.file)); err != nil {
					t.Fatal(err)
				}
				before := tree.List(t, o)
				refused(t, rig.Run(t, c.command(t, o, "install")), o, before, o.Path(c.file)+": is a symlink")
			})
			t.Run("read-only", func(t *testing.T) {
				o := c.host(t, c.text)
				before := tree.List(t, o)
				cmd := c.command(t, o, "install")
				args := append([]string{"--mount", "--propagation", "private", "sh", "-ec", `mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"; exec "$@"`, filepath.Dir(o.Path(c.config))}, cmd.Args...)
				refused(t, rig.Run(t, exec.Command("unshare", args...)), o, before, "read-only file system")
			})
			t.Run("another tool's file of our name", func(t *testing.T) {
				if c.file == c.config {
					t.Skip("the file is everybody's")
				}
				o := c.host(t, c.text)
				tree.Write(t, o, c.file, "# another tool's\n", 0o644)
				before := tree.List(t, o)
				refused(t, rig.Run(t, c.command(t, o, "install")), o, before, o.Path(c.file)+":")
			})
			t.Run("none", func(t *testing.T) {
				o := c.host(t, c.text)
				if err := os.Remove(o.Path(c.config)); err != nil {
					t.Fatal(err)
				}
				before := tree.List(t, o)
				c.must(t, o, "install")
				c.must(t, o, "uninstall")
				if after := tree.List(t, o); after != before {
					t.Errorf("it changed\n%s\ninto\n%s", before, after)
				}
			})
		})
	}
}

// straced runs the command with something done to it at a system call on a path. (By the path: strace counts calls for each
// thread of its own, and Go has many.)
func (c engineCase) straced(t *testing.T, o install.Options, verb, what, path string) *exec.Cmd {
	t.Helper()
	args := []string{"-f", "-qq", "-o", "/dev/null", "-P", path, "-e", "inject=" + what}
	return exec.Command("strace", append(args, c.command(t, o, verb).Args...)...)
}

// pending reports whether the command below strace has the new file open.
func (c engineCase) pending(o install.Options, strace int) bool {
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", strace, strace))
	for child := range strings.FieldsSeq(string(children)) {
		links, _ := filepath.Glob("/proc/" + child + "/fd/*")
		for _, link := range links {
			if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, filepath.Dir(o.Path(c.file))+"/#") {
				return true
			}
		}
	}
	return false
}

// Somebody edits the file between our read and our write: theirs stays, whole.
func TestEditedMeanwhile(t *testing.T) {
	rig.Need(t, "root", "strace")
	for _, c := range engineCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // they wait, mostly
			o := c.host(t, c.text)
			before := tree.List(t, o)
			const theirs = "# theirs\n"
			// The new file is opened in its directory, without a name, before the old one is looked at again.
			cmd := c.straced(t, o, "install", "openat:delay_exit=5s", filepath.Dir(o.Path(c.file)))
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			rig.Eventually(t, "the new file", func() bool { return c.pending(o, cmd.Process.Pid) })
			if err := os.WriteFile(o.Path(c.file), []byte(theirs), 0o644); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			code, line := cmd.ProcessState.ExitCode(), stderr.String()
			data, err := os.ReadFile(o.Path(c.file))
			if code != 1 || err != nil || string(data) != theirs || strings.Count(line, "\n") != 1 || !strings.Contains(line, o.Path(c.file)+": changed by somebody else just now") {
				t.Errorf("exit %d, %q; the file is %q, %v", code, line, data, err)
			}
			// Run again as the line says, with the file as it was before.
			if c.file == c.config {
				tree.Write(t, o, c.file, c.text, 0o644)
			} else if err := os.Remove(o.Path(c.file)); err != nil {
				t.Fatal(err)
			}
			c.must(t, o, "install")
			c.must(t, o, "uninstall")
			if after := tree.List(t, o); after != before {
				t.Errorf("it changed\n%s\ninto\n%s", before, after)
			}
		})
	}
}

// A command that was killed before any of its files was put in place or taken away can be run again, and taken back byte for
// byte.
func TestKilled(t *testing.T) {
	rig.Need(t, "root", "strace")
	for _, c := range engineCases {
		t.Run(c.name, func(t *testing.T) {
			for _, verb := range []string{"install", "uninstall"} {
				killed := 0
				ledger := "/var/lib/envscrub/install/" + c.name + "."
				for _, path := range []string{ledger + strings.ReplaceAll(strings.Trim(c.file, "/"), "/", "%") + ".orig", ledger + "json", c.file} {
					for _, call := range []string{"linkat", "renameat", "unlinkat"} {
						o := c.host(t, c.text)
						before := tree.List(t, o)
						if verb == "uninstall" {
							c.must(t, o, "install")
						}
						if r := rig.Run(t, c.straced(t, o, verb, call+":signal=KILL", o.Path(path))); r.Code == 0 {
							continue // no such call
						}
						killed++
						c.must(t, o, "install")
						if data, err := os.ReadFile(o.Path(c.file)); err != nil || !bytes.Contains(data, []byte("/usr/libexec/envscrub/envscrub-r")) {
							t.Errorf("%s killed at %s %s, then install: %v\n%s", verb, call, path, err, data)
						}
						c.must(t, o, "uninstall")
						if after := tree.List(t, o); after != before {
							t.Errorf("%s killed at %s %s, install, uninstall: it changed\n%s\ninto\n%s", verb, call, path, before, after)
						}
					}
				}
				if killed < 2 {
					t.Errorf("%s: killed at %d places only", verb, killed)
				}
			}
		})
	}
}
