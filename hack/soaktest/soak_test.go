package soaktest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/hook/record"
)

var (
	duration = flag.Duration("soak.for", 15*time.Second, "how long new containers are started")
	seed     = flag.Uint64("soak.seed", 1, "seed of every random choice")
	workers  = flag.Int("soak.workers", 4, "how many containers at once")
)

// inside says that the test runs in its private mount namespace.
const inside = "SOAK_INSIDE"

// limit is how long one command of a runtime may take, the shim's time limit included.
const limit = 30 * time.Second

const planted = "made-up-planted-value"

// TestSoak runs itself again in a mount namespace of its own, where /run/envscrub is a small file system that can be
// filled and /etc/envscrub is a policy that can be broken.
func TestSoak(t *testing.T) {
	rig.Need(t, "root", "runc", "crun", "unshare")
	if os.Getenv(inside) == "" {
		args := append([]string{"--mount", "--propagation", "private", os.Args[0]}, os.Args[1:]...)
		if !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-test.run") }) {
			args = append(args, "-test.run=^TestSoak$")
		}
		cmd := exec.Command("unshare", args...)
		cmd.Env = append(os.Environ(), inside+"=1")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		return
	}
	s := newSoak(t)
	ctx, cancel := context.WithTimeout(context.Background(), *duration)
	defer cancel()
	var all sync.WaitGroup
	for i := range *workers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(*seed, uint64(i)))
			for ctx.Err() == nil {
				s.container(random)
			}
		})
	}
	all.Go(func() { s.trouble(ctx, rand.New(rand.NewPCG(*seed, 1<<32))) })
	all.Wait()
	s.leftovers()
	t.Logf("seed %d: %d containers (%d ended well, %d refused or killed), %d processes killed, %d times a full disk, %d broken policies",
		*seed, s.count.started, s.count.well, s.count.started-s.count.well, s.count.killed, s.count.full, s.count.broken)
	if s.count.well == 0 || s.count.killed == 0 {
		t.Errorf("nothing was proved: %+v", s.count)
	}
}

type soak struct {
	t      *testing.T
	bin    string // copies of our binaries and the runtimes: what may be killed
	rootfs string

	sync.Mutex
	serial int
	count  struct{ started, well, killed, full, broken int }
}

const (
	state    = "/run/envscrub"
	policies = "/etc/envscrub"
)

func newSoak(t *testing.T) *soak {
	s := &soak{t: t, bin: rig.TempDir(t), rootfs: rig.Rootfs(t)}
	// The host's own /etc is not touched: what is made in it is in memory.
	upper := rig.TempDir(t)
	for _, dir := range []string{"up", "work"} {
		if err := os.Mkdir(filepath.Join(upper, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mount("soak", "/etc", "overlay", 0, "lowerdir=/etc,upperdir="+upper+"/up,workdir="+upper+"/work"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount("/etc", unix.MNT_DETACH) })
	for dir, mode := range map[string]string{state: "0700", policies: "0755"} {
		// The host's own directories, if they had to be made, are gone afterwards.
		if err := os.Mkdir(dir, 0o700); err == nil {
			t.Cleanup(func() { _ = os.Remove(dir) })
		} else if !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
		if err := unix.Mount("soak", dir, "tmpfs", 0, "size=256k,mode="+mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	}
	// crun cannot work with a hybrid cgroup hierarchy, and this mount namespace is ours.
	_ = unix.Unmount("/sys/fs/cgroup/unified", unix.MNT_DETACH)
	for _, name := range []string{"envscrub-hook", "envscrub-runtime", "envscrub-shim"} {
		rig.Copy(t, rig.Bin(t, name), filepath.Join(s.bin, name))
	}
	for _, name := range []string{"runc", "crun"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		rig.Copy(t, path, filepath.Join(s.bin, name))
		if err := os.Symlink("envscrub-runtime", filepath.Join(s.bin, "envscrub-"+name)); err != nil {
			t.Fatal(err)
		}
	}
	s.policy(good(s.bin))
	return s
}

func good(bin string) string {
	return fmt.Sprintf("runtimes = [%q, %q]\nshim = %q\n[harden]\nshim_timeout = \"3s\"\n",
		filepath.Join(bin, "runc"), filepath.Join(bin, "crun"), filepath.Join(bin, "envscrub-shim"))
}

// policy replaces the policy, as an administrator's editor does: by rename.
func (s *soak) policy(text string) {
	next := filepath.Join(policies, "next")
	if err := os.WriteFile(next, []byte(text), 0o644); err != nil {
		s.t.Error(err)
		return
	}
	if err := os.Rename(next, filepath.Join(policies, "policy.toml")); err != nil {
		s.t.Error(err)
	}
}

// trouble kills, fills and breaks until the time is up, and then mends what it broke.
func (s *soak) trouble(ctx context.Context, random *rand.Rand) {
	ballast := filepath.Join(state, "ballast")
	defer func() {
		_ = os.Remove(ballast)
		s.policy(good(s.bin))
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(random.IntN(40)) * time.Millisecond):
		}
		switch n := random.IntN(20); {
		case n == 0:
			// The file system is 256 KiB: the rest of it, and more.
			_ = os.WriteFile(ballast, bytes.Repeat([]byte{'x'}, 256<<10), 0o600)
			s.add(&s.count.full)
		case n == 1:
			s.policy("mode = ")
			s.add(&s.count.broken)
		case n == 2:
			s.policy("allow = [\"OPENAI_API_KEY\"]\n") // contradicts the built-in deny list
			s.add(&s.count.broken)
		case n < 8:
			_ = os.Remove(ballast)
			s.policy(good(s.bin))
		default:
			s.kill(random)
		}
	}
}

func (s *soak) add(counter *int) {
	s.Lock()
	*counter++
	s.Unlock()
}

// kill kills one process that runs a binary of ours, or a runtime.
func (s *soak) kill(random *rand.Rand) {
	ours := s.processes()
	if len(ours) == 0 {
		return
	}
	if syscall.Kill(ours[random.IntN(len(ours))], syscall.SIGKILL) == nil {
		s.add(&s.count.killed)
	}
}

// processes lists those whose program stands in the directory of binaries, in whatever mount namespace.
func (s *soak) processes() []int {
	var pids []int
	entries, err := os.ReadDir("/proc")
	if err != nil {
		s.t.Error(err)
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		exe, err := os.Readlink("/proc/" + entry.Name() + "/exe")
		if err == nil && strings.HasPrefix(exe, s.bin+"/") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// container is the life of one container, through a door chosen by chance.
func (s *soak) container(random *rand.Rand) {
	s.Lock()
	s.serial++
	id := fmt.Sprintf("soak-%d-%d", os.Getpid(), s.serial)
	s.count.started++
	s.Unlock()

	low := []string{"runc", "crun"}[random.IntN(2)]
	hooked := random.IntN(2) == 0
	program := filepath.Join(s.bin, "envscrub-"+low)
	if hooked {
		program = filepath.Join(s.bin, low)
	}
	dir, err := os.MkdirTemp(s.bin, id)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer os.RemoveAll(dir)
	s.bundle(dir, hooked)
	// A file, not a pipe: a container that was created keeps it open.
	output, err := os.Create(filepath.Join(dir, "output"))
	if err != nil {
		s.t.Error(err)
		return
	}
	defer output.Close()
	command := func(args ...string) error {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		cmd := exec.CommandContext(ctx, program, append([]string{"--root", filepath.Join(s.bin, "root-"+low)}, args...)...)
		cmd.Stdout, cmd.Stderr = output, output
		err := cmd.Run()
		if ctx.Err() != nil {
			s.t.Errorf("%s %s did not end in %s", filepath.Base(program), args[0], limit)
		}
		return err
	}
	switch random.IntN(3) {
	case 0: // to the end
		err = command("run", "--bundle", dir, id)
	case 1: // created, entered, started, ended by force
		if err = command("create", "--bundle", dir, "--pid-file", filepath.Join(dir, "pid"), id); err == nil {
			err = command("start", id)
		}
		if err == nil && !hooked {
			_ = command("exec", id, "/bin/env")
		}
	default: // created and never started
		err = command("create", "--bundle", dir, id)
	}
	s.remove(program, low, id)
	said, readErr := os.ReadFile(output.Name())
	if readErr != nil {
		s.t.Error(readErr)
	}
	if err == nil {
		s.add(&s.count.well)
	} else if testing.Verbose() {
		s.t.Logf("%s, hooked %v: %v: %q", low, hooked, err, bytes.TrimSpace(said))
	}
	if bytes.Contains(said, []byte(planted)) {
		s.t.Errorf("%s, hooked %v: a planted value came out: %q", low, hooked, said)
	}
}

// remove deletes a container that may be half made, half removed, or not there at all; delete may be killed too.
func (s *soak) remove(program, low, id string) {
	root := filepath.Join(s.bin, "root-"+low)
	for range 50 {
		_ = exec.Command(program, "--root", root, "delete", "--force", id).Run()
		if _, err := os.Stat(filepath.Join(root, id)); errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
	s.t.Errorf("%s cannot be deleted", id)
}

func (s *soak) bundle(dir string, hooked bool) {
	b := rig.NewBundle(s.t, s.rootfs)
	b.Dir = dir
	b.Spec.Process.Args = []string{"/bin/sh", "-c", "/usr/bin/env; /bin/cat /proc/1/environ /proc/self/environ"}
	b.Spec.Process.Env = append(b.Spec.Process.Env,
		"OPENAI_API_KEY="+planted, "SOME_TOKEN="+planted+"-2", "HARMLESS_COPY="+planted, "DB=postgres://u:"+planted+"@h/d")
	if hooked {
		addHooks(b.Spec, s.bin)
	}
	b.Write(s.t)
}

// leftovers counts what is still there when every container is gone.
func (s *soak) leftovers() {
	rig.Eventually(s.t, "the last process of ours to end", func() bool { return len(s.processes()) == 0 })
	// A runtime that was killed never called poststop: the records that stayed go with a later create, when they are old.
	entries, err := os.ReadDir(state)
	if err != nil {
		s.t.Error(err)
	}
	old := time.Now().Add(-time.Hour)
	for _, entry := range entries {
		if err := os.Chtimes(filepath.Join(state, entry.Name()), old, old); err != nil {
			s.t.Error(err)
		}
	}
	s.t.Logf("%d records are left to the sweep", len(entries))
	record.At(state).Sweep(len(entries))
	if entries, err = os.ReadDir(state); err != nil {
		s.t.Error(err)
	}
	for _, entry := range entries {
		s.t.Errorf("left in %s: %s", state, entry.Name())
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		s.t.Error(err)
	}
	for line := range strings.Lines(string(mounts)) {
		// A killed crun leaves the mount of its own binary behind; that is not ours.
		if strings.Contains(line, s.bin+"/envscrub") || strings.Contains(line, s.rootfs) {
			s.t.Errorf("left mounted: %s", line)
		}
	}
}
