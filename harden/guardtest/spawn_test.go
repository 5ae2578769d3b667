package guardtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/policy/spawn"
)

// dirty is what a child prints that has the key everywhere.
const dirty = " libc environ stack"

// unguarded turns what the children of a guarded agent print into what they print without the guard.
func unguarded(want string) string { return strings.ReplaceAll(want, " clean", dirty) }

func checkOutput(t *testing.T, what string, r rig.Result, want string) {
	t.Helper()
	if r.Stdout != want || r.Code != 0 {
		t.Errorf("%s: code %d\ngot  %s\nwant %s\n%s", what, r.Code, r.Stdout, want, r.Stderr)
	}
}

// Every way that the kernel has to start a program.
func TestChildrenOfC(t *testing.T) {
	ways := []string{
		"fork", "vfork", "posix_spawn", "clone3", "clone", "CLONE_PARENT", "CLONE_UNTRACED", "thread", "execveat", "fexecve",
		"fexecve-script", "script", "32-bit", "grandchild",
	}
	each(t, func(t *testing.T, rt rig.Runtime) {
		for name, o := range map[string]*order.Order{"on": on(), "off": off()} {
			r := agent{uid: 1000, order: o, args: []string{"/probe/spawns", "all", "/probe"}}.run(t, rt)
			lines := strings.Split(r.Stdout, "\n")
			missing := 0
			for _, way := range ways {
				if way == "CLONE_PARENT" && name == "off" {
					missing++ // process 1 may not do that
					continue
				}
				i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, way+":") })
				got := ""
				if i >= 0 {
					got = lines[i]
				}
				want := way + ": clean"
				// The kernel hides such a child from every tracer: an agent that asks for it is on its own.
				if name == "off" || way == "CLONE_UNTRACED" {
					want = way + ": libc environ stack"
				}
				if !strings.Contains(way, "script") {
					want += " CHANGED=old"
				}
				if way == "execveat" || way == "fexecve" {
					want = strings.TrimSuffix(want, " CHANGED=old")
				}
				if got != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
			want := []string{"on purpose: clean AGENT_KEY=another-value ADDED=added OTHER_NAME=kept CHANGED=new", "alias: clean ALIAS- URL- AGENT_KEY-"}
			if name == "off" {
				want = []string{want[0], "alias: libc environ stack ALIAS=" + key + " URL=https://user:" + key + "@host/ AGENT_KEY=" + key}
			}
			for _, line := range append(want, "agent: has the key") {
				if !slices.Contains(lines, line) {
					t.Errorf("%s: %q is not there", name, line)
				}
			}
			if len(lines) != len(ways)-missing+4 || r.Code != 0 {
				t.Errorf("%s: code %d, %d lines\n%s%s", name, r.Code, len(lines), r.Stdout, r.Stderr)
			}
		}
	})
}

func TestChildrenOfNode(t *testing.T) {
	rig.Need(t, "node")
	const want = `agent: has the key
spawnSync: clean
execSync: clean
exec: clean
execFile: clean
spawn-shell: clean
spawn-env: clean SET=on-purpose AGENT_KEY=other
fork: clean
worker: clean
`
	language(t, want, "/usr/bin/node", "/probe/agent.js", "/probe/child")
}

func TestChildrenOfPython(t *testing.T) {
	rig.Need(t, "/usr/bin/python3")
	const want = `agent: has the key
subprocess: clean
subprocess-shell: clean
session: clean
system: clean
posix_spawn: clean
spawnv: clean
worker 0: has the key
worker 0 child: clean
worker 0 exec: clean
worker 1: has the key
worker 1 child: clean
worker 1 exec: clean
multiprocessing fork: has the key
multiprocessing spawn: clean
`
	language(t, want, "/usr/bin/python3", "/probe/agent.py", "/probe/child")
}

func TestChildrenOfJVM(t *testing.T) {
	rig.Need(t, "java", "javac")
	const want = `agent: has the key
fault: caught
ProcessBuilder: clean
Runtime.exec: clean
environment: clean SET=on-purpose AGENT_KEY=other
thread: clean
thread: clean
thread: clean
thread: clean
`
	classes(t)
	command := func(way string) []string {
		return []string{"/usr/bin/java", "-XX:TieredStopAtLevel=1", "-Djdk.lang.Process.launchMechanism=" + way, "-cp", "/probe", "Agent", "/probe/child"}
	}
	language(t, want, command("POSIX_SPAWN")...)
	for _, way := range []string{"VFORK", "FORK"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			checkOutput(t, "on", agent{host: true, uid: 1000, args: command(way), order: on()}.run(t, rig.Runtimes(t)[0]), want)
		})
	}
}

// classes compiles the agent in Java, once.
func classes(t *testing.T) {
	t.Helper()
	dir := probeDir(t)
	probes.Lock()
	defer probes.Unlock()
	if _, err := os.Stat(filepath.Join(dir, "Agent.class")); err == nil {
		return
	}
	if out, err := exec.Command("javac", "-d", dir, filepath.Join("..", "..", "testdata", "probe", "Agent.java")).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
}

// language runs an agent that is started by a script that ends in exec, as images do it.
func language(t *testing.T, want string, args ...string) {
	t.Helper()
	each(t, func(t *testing.T, rt rig.Runtime) {
		args := append([]string{"/bin/sh", "-c", `export STARTED=1; exec "$@"`, "entrypoint"}, args...)
		a := agent{host: true, uid: 1000, args: args, order: on()}
		checkOutput(t, "on", a.run(t, rt), want)
		without := strings.NewReplacer("\nfork: clean", "\nfork: has the key", "multiprocessing spawn: clean", "multiprocessing spawn: has the key",
			" clean SET", " clean SET", " clean", dirty).Replace(want)
		a.order = off()
		checkOutput(t, "off", a.run(t, rt), without)
	})
}

func TestChildrenOfShell(t *testing.T) {
	const script = `test -n "$AGENT_KEY" && echo agent: has the key
child -l plain
echo $(child -l substitution)
child -l pipe | cat
(child -l subshell)
(exec child -l subshell-exec)
child -l background & wait
AGENT_KEY=other child -l assigned AGENT_KEY
X=$AGENT_KEY child -l alias X
script script
env child -l through-env
busybox env | grep -c AGENT_KEY
exec child -l last`
	const want = `agent: has the key
plain: clean
substitution: clean
pipe: clean
subshell: clean
subshell-exec: clean
background: clean
assigned: clean AGENT_KEY=other
alias: clean X-
script: clean
through-env: clean
0
`
	each(t, func(t *testing.T, rt rig.Runtime) {
		// A script that becomes another that becomes the shell; what the agent becomes is the agent.
		for _, a := range []agent{
			{args: []string{"/bin/sh", "-c", script}},
			{args: []string{"/bin/sh", "-c", script}, host: true},
		} {
			a.uid, a.order = 1000, on()
			if a.host {
				a.args[2] = strings.Replace(script, "busybox env", "/usr/bin/env", 1)
			}
			checkOutput(t, "on", a.run(t, rt), want+"last: libc environ stack\n")
			a.order = off()
			off := strings.NewReplacer(" clean AGENT", " clean AGENT", " clean X-", dirty+" X="+key, " clean", dirty, "\n0\n", "\n1\n").Replace(want)
			checkOutput(t, "off", a.run(t, rt), off+"last: libc environ stack\n")
		}
	})
}

// A static Go agent whose scheduler interrupts itself with SIGURG while children come and go.
func TestChildrenOfGo(t *testing.T) {
	each(t, func(t *testing.T, rt rig.Runtime) {
		args := []string{"/probe/agent", "many", "150", "/probe/child"}
		checkOutput(t, "on", agent{uid: 1000, order: on(), args: args}.run(t, rt), "agent: has the key\nclean 150, other 0\n")
		checkOutput(t, "off", agent{uid: 1000, order: off(), args: args}.run(t, rt), "agent: has the key\nclean 0, other 150\n")
	})
}

// Each of ten thousand short children looks for itself, and none is lost.
func TestManyChildren(t *testing.T) {
	each(t, func(t *testing.T, rt rig.Runtime) {
		n := "10000"
		if rt.Name != "runc" {
			n = "2000" // the guard is the same
		}
		args := []string{"/probe/spawns", "flood", n, "/probe/child"}
		checkOutput(t, "on", agent{uid: 1000, order: on(), args: args}.run(t, rt), "clean "+n+", dirty 0, failed 0\n")
		args[2] = "100"
		checkOutput(t, "off", agent{uid: 1000, order: off(), args: args}.run(t, rt), "clean 0, dirty 100, failed 0\n")
	})
}

// Children that are killed or stopped while the guard holds them.
func TestHeldChildren(t *testing.T) {
	each(t, func(t *testing.T, rt rig.Runtime) {
		r := agent{uid: 1000, order: on(), args: []string{"/probe/spawns", "held", "50", "/probe/child"}}.run(t, rt)
		if !strings.HasSuffix(r.Stdout, "\nkilled 50, continued 50\n") || strings.Contains(r.Stdout, "!") || strings.Count(r.Stdout, ".") != 50 || r.Code != 0 {
			t.Errorf("code %d, %s%s", r.Code, r.Stdout, r.Stderr)
		}
		if strings.Contains(r.Stdout, "libc") || strings.Contains(r.Stdout, "stack") {
			t.Errorf("a child with the key: %s", r.Stdout)
		}
	})
}

// A rule grants by command, and by the command's file, not by what it calls itself.
//
// report: NousResearch/hermes-agent#56935
func TestSpawnRuleGrants(t *testing.T) {
	const script = `child -l other; tool -l tool AGENT_KEY; /bin/made-up-tool -l link; sh -c 'exec tool -l inner'; X=$AGENT_KEY tool -l alias X; script script
tool -l held HELD; child -l held HELD; exit 0`
	each(t, func(t *testing.T, rt rig.Runtime) {
		o := on()
		o.Held = []string{"HELD=made-up-held-value"}
		o.Rules = []spawn.Rule{{Command: "*/bin/tool", Allow: []string{"AGENT_*", "HELD"}}}
		b := agent{uid: 1000, order: o, args: []string{"/bin/sh", "-c", script}}.bundle(t)
		rig.Copy(t, filepath.Join(probeDir(t), "child"), filepath.Join(b.Spec.Root.Path, "bin/tool"))
		rig.Copy(t, filepath.Join(probeDir(t), "child"), filepath.Join(b.Spec.Root.Path, "bin/made-up-tool"))
		checkOutput(t, "on", b.Run(t, rt), "other: clean\ntool: libc environ stack AGENT_KEY="+key+"\nlink: clean\n"+
			"inner: clean\nalias: libc environ stack X="+key+"\nscript: clean\nheld: libc environ stack HELD=made-up-held-value\nheld: clean HELD-\n")
	})
}

// A trusted command keeps the agent's view, is closed like it, and its own children are not.
func TestTrustedCommands(t *testing.T) {
	const script = `/probe/agent run /probe/reach agent=@; /probe/agent run /probe/child; child; exit 0`
	each(t, func(t *testing.T, rt rig.Runtime) {
		o := on()
		o.Trust = []string{"*/agent"}
		a := agent{uid: 1000, order: o, args: []string{"/bin/sh", "-c", script}}
		checkOutput(t, "on", a.run(t, rt), "agent: has the key\n"+allDenied+"agent: has the key\nchild: clean\nchild: clean\n")
	})
}

// A set-user-id program keeps its privileges, and does not get the key with them.
func TestSetuidChildren(t *testing.T) {
	each(t, func(t *testing.T, rt rig.Runtime) {
		for name, o := range map[string]*order.Order{"on": on(), "off": off()} {
			b := agent{uid: 1000, order: o, args: []string{"/bin/sh", "-c", "suid EUID; child EUID; exit 0"}}.bundle(t)
			suid := filepath.Join(b.Spec.Root.Path, "bin/suid")
			rig.Copy(t, filepath.Join(probeDir(t), "child"), suid)
			if err := os.Chmod(suid, os.ModeSetuid|0o755); err != nil {
				t.Fatal(err)
			}
			want := "child: clean EUID=0\nchild: clean EUID=1000\n"
			if name == "off" {
				want = unguarded(want)
			}
			checkOutput(t, name, b.Run(t, rt), want)
		}
	})
}

// Once it runs its program, a child is like any other process: it can be looked at and traced.
func TestChildIsLetGo(t *testing.T) {
	each(t, func(t *testing.T, rt rig.Runtime) {
		const script = `mkfifo /tmp/f; stand -w </tmp/f & exec 3>/tmp/f
until reach child=$! | grep -q 'open: environ .* attach'; do :; done; reach child=$!; exec 3>&-; wait; grep TracerPid /proc/self/status; exit 0`
		r := agent{uid: 1000, order: on(), args: []string{"/bin/sh", "-c", script}}.run(t, rt)
		want := "child leak: open: environ task tid maps mem vm_readv fd pidfd_getfd attach seize denied:\nTracerPid:\t0\n"
		if r.Code != 0 || !strings.HasSuffix(r.Stdout, want) {
			t.Errorf("code %d, %s%s", r.Code, r.Stdout, r.Stderr)
		}
	})
	t.Run("strace", func(t *testing.T) {
		rig.Need(t, "strace")
		r := rig.Run(t, process(t, on(), "sh", "-c", "strace -f -o /dev/null sh -c 'child; exit 3'; exit $?"))
		if r.Code != 3 || r.Stdout != "child: clean\n" {
			t.Errorf("code %d, %s%s", r.Code, r.Stdout, r.Stderr)
		}
	})
}
