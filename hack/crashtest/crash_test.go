package crashtest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig"
)

// changing are the system calls that change something outside the process. openat is among them for O_CREAT.
const changing = "openat,write,pwrite64,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat,symlinkat," +
	"fchmod,fchmodat,fchown,fchownat,ftruncate,fsync,fdatasync,mount,move_mount,open_tree,mount_setattr,umount2,setns,clone,execve"

const planted = "made-up-planted-value"

// tracer is the command line that kills its command at the nth changing system call of one of its threads.
func tracer(n int, command ...string) []string {
	inject := fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", changing, n)
	// -D: the command is the caller's own child, and need not wait for what it leaves running (the lifter).
	return append([]string{"strace", "-D", "-f", "-qqq", "-o", "/dev/null", "-e", "trace=" + changing, "-e", inject}, command...)
}

// killed reports whether a command under strace died by our signal.
func killed(cmd *exec.Cmd) bool {
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && (status.Signaled() || status.ExitStatus() == 128+int(syscall.SIGKILL))
}

// bundle is a bundle with planted values whose process shows its environment.
func bundle(t *testing.T, edit func(*specs.Spec)) *rig.Bundle {
	b := rig.NewBundle(t, rig.Rootfs(t))
	b.Spec.Process.Args = []string{"/bin/sh", "-c", "/usr/bin/env; /bin/cat /proc/1/environ; exit 0"}
	b.Spec.Process.Env = append(b.Spec.Process.Env, "OPENAI_API_KEY="+planted, "COPY="+planted)
	if edit != nil {
		edit(b.Spec)
	}
	b.Write(t)
	return b
}

// checkConfig says what is wrong with a bundle after a crash: config.json has to be the old one byte for byte, or a whole
// one without the planted value.
func checkConfig(t *testing.T, b *rig.Bundle, old []byte) {
	t.Helper()
	now, err := os.ReadFile(b.Config())
	if err != nil {
		t.Fatal(err)
	}
	if string(now) == string(old) {
		return
	}
	var spec specs.Spec
	if err := json.Unmarshal(now, &spec); err != nil {
		t.Fatalf("config.json is half written: %v", err)
	}
	if strings.Contains(string(now), planted) {
		t.Fatal("config.json is neither the old one nor scrubbed")
	}
}

// noBackups: whatever else stays in the bundle has no planted value in it (moby PR#34419).
func noBackups(t *testing.T, b *rig.Bundle) {
	t.Helper()
	entries, err := os.ReadDir(b.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Name() == filepath.Base(b.Config()) || entry.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(b.Dir, entry.Name()))
		if err == nil && strings.Contains(string(data), planted) {
			t.Errorf("%s is left with a planted value in it", entry.Name())
		}
	}
}

// TestWrapper steps through `envscrub-runtime create`. A program that does nothing stands in the runtime's place: what
// the runtime does with the result is not the question.
func TestWrapper(t *testing.T) {
	rig.Need(t, "root", "strace", "runc")
	rig.Bin(t, "envscrub-shim")
	nothing := filepath.Join(rig.TempDir(t), "runc")
	rig.Copy(t, rig.CC(t, "testdata/nothing.c"), nothing)
	policy := filepath.Join(rig.TempDir(t), "policy.toml")
	rig.Write(t, policy, fmt.Sprintf("runtimes = [%q]\n", nothing), 0o644)
	b := bundle(t, nil)
	old, err := os.ReadFile(b.Config())
	if err != nil {
		t.Fatal(err)
	}
	create := []string{rig.Bin(t, "envscrub-runtime"), "--envscrub-policy=" + policy, "create", "--bundle", b.Dir, b.ID}
	forget := []string{rig.Bin(t, "envscrub-runtime"), "--envscrub-policy=" + policy, "delete", b.ID}
	points := 0
	for n := 1; ; n++ {
		rig.Write(t, b.Config(), string(old), 0o644)
		argv := tracer(n, create...)
		cmd := exec.Command(argv[0], argv[1:]...)
		_ = rig.Run(t, cmd)
		if !killed(cmd) {
			break
		}
		points++
		checkConfig(t, b, old)
		noBackups(t, b)
		// What the crash left is no obstacle.
		again := rig.Run(t, exec.Command(create[0], create[1:]...))
		if again.Code != 0 {
			t.Fatalf("point %d: create after the crash: %s", n, again.Stderr)
		}
		if data, err := os.ReadFile(b.Config()); err != nil || strings.Contains(string(data), planted) {
			t.Fatalf("point %d: create after the crash did not scrub (%v)", n, err)
		}
		_ = rig.Run(t, exec.Command(forget[0], forget[1:]...))
		if n == maxPoints {
			t.Fatal("there is no end of crash points")
		}
	}
	enough(t, points)
}

// TestHook steps through createRuntime inside a real `RUNTIME run`.
func TestHook(t *testing.T) {
	rig.Need(t, "strace")
	rig.Bin(t, "envscrub-shim")
	hook := rig.Bin(t, "envscrub-hook")
	state := filepath.Join(rig.TempDir(t), "state")
	for _, r := range rig.Runtimes(t) {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel() // a killed lifter costs the shim's whole time limit
			b := bundle(t, nil)
			strace, err := exec.LookPath("strace")
			if err != nil {
				t.Fatal(err)
			}
			points := 0
			for n := 1; ; n++ {
				// The exit code tells whether the hook was killed: the runtime does not hand it on.
				said := filepath.Join(b.Dir, "said")
				// A file for the output: strace outlives the hook, and runc waits for the last writer of a hook's pipes.
				script := `"$@" >` + said + `.out 2>&1; code=$?; cat ` + said + `.out; echo $code >` + said + `; exit $code`
				argv := append([]string{"sh", "-c", script, strace}, tracer(n, hook, "createRuntime", "--state-dir", state)...)
				b.Spec.Hooks = &specs.Hooks{CreateRuntime: []specs.Hook{{Path: "/bin/sh", Args: argv, Env: []string{"PATH=" + os.Getenv("PATH")}}}}
				b.Write(t)
				old, err := os.ReadFile(b.Config())
				if err != nil {
					t.Fatal(err)
				}
				result := b.Run(t, r)
				if strings.Contains(result.Stdout+result.Stderr, planted) {
					t.Fatalf("point %d: the planted value came out:\n%s%s", n, result.Stdout, result.Stderr)
				}
				checkConfig(t, b, old)
				noBackups(t, b)
				_ = rig.Run(t, r.Command("delete", "--force", b.ID))
				code := readCode(t, said)
				if code == 0 && result.Code == 0 {
					break
				}
				// Killed in the hook: the create fails. Killed in the lifter, later: the shim gives up.
				if code == 0 && result.Code != 125 || code != 0 && result.Code == 0 {
					t.Fatalf("point %d: the hook ended with %d, the container with %+v", n, code, result)
				}
				points++
				if n == maxPoints {
					t.Fatal("there is no end of crash points")
				}
			}
			enough(t, points)
		})
	}
}

func readCode(t *testing.T, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	code, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return code
}
