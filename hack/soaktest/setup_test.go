package soaktest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/hack/rig"
)

// state is where records of root's containers are kept.
const state = "/run/envscrub"

var programs = []string{"envscrub-hook", "envscrub-runtime", "envscrub-shim", "envscrub-nri"}

func newSoak(t *testing.T) *soak {
	s := &soak{
		t: t, bin: rig.TempDir(t), rootfs: rig.Rootfs(t), stores: []string{state},
		victims: victims{files: map[identity]string{}, dead: map[string]int{}},
	}
	// The host's own /etc is not touched: what is made in it is in memory.
	upper := rig.TempDir(t)
	for _, dir := range []string{"up", "work"} {
		if err := os.Mkdir(filepath.Join(upper, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mount(t, "overlay", "/etc", "lowerdir=/etc,upperdir="+upper+"/up,workdir="+upper+"/work")
	for dir, mode := range map[string]string{state: "0700", policies: "0755"} {
		// The host's own directory, if it had to be made, is gone afterwards.
		if err := os.Mkdir(dir, 0o700); err == nil {
			t.Cleanup(func() { _ = os.Remove(dir) })
		} else if !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
		mount(t, "tmpfs", dir, "size=256k,mode="+mode)
	}
	// crun cannot work with a hybrid cgroup hierarchy, and this mount namespace is ours.
	_ = unix.Unmount("/sys/fs/cgroup/unified", unix.MNT_DETACH)
	for _, name := range programs {
		s.copy(rig.Bin(t, name), name)
	}
	for _, name := range []string{"runc", "crun"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		s.copy(path, name)
		if err := os.Symlink("envscrub-runtime", filepath.Join(s.bin, "envscrub-"+name)); err != nil {
			t.Fatal(err)
		}
	}
	s.mend()
	return s
}

func mount(t *testing.T, kind, dir, options string) {
	t.Helper()
	if err := unix.Mount("soak", dir, kind, 0, options); err != nil {
		t.Fatalf("mount %s: %v", dir, err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
}

// copy makes a copy of a program a victim: the host's own is none.
func (s *soak) copy(from, name string) {
	to := filepath.Join(s.bin, name)
	rig.Copy(s.t, from, to)
	if err := s.add(to); err != nil {
		s.t.Fatal(err)
	}
}

// store makes a small file system of the directory of records of a rootless engine.
func (s *soak) store(e *rig.Engine) {
	runtimeDir := filepath.Join(e.Home, "run")
	var st unix.Stat_t
	if err := unix.Stat(runtimeDir, &st); err != nil {
		s.t.Fatal(err)
	}
	dir := filepath.Join(runtimeDir, "envscrub")
	if err := os.Mkdir(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	mount(s.t, "tmpfs", dir, fmt.Sprintf("size=256k,mode=0700,uid=%d,gid=%d", st.Uid, st.Gid))
	s.stores = append(s.stores, dir)
	e.Must("system", "migrate") // its mount namespace is older than this
}
