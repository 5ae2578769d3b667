package soaktest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/hook/record"
)

// daemon are the programs of engines that stay until the end of the test.
var daemon = map[string]bool{"dockerd": true, "containerd": true, "podman": true, "podman pause": true, "catatonit": true}

// leftovers counts what is still there when every container is gone.
func (s *soak) leftovers() {
	for _, p := range s.doors {
		if p.left == nil {
			continue
		}
		for _, id := range p.left() {
			s.t.Errorf("%s: container %s is left", p.name, id)
		}
	}
	for _, stop := range s.daemons {
		stop()
	}
	if n := s.freeStuck(); n > 0 {
		s.t.Logf("%d processes of runtimes waited for one that was killed", n)
	}
	s.processes()
	for _, dir := range s.stores {
		s.records(dir)
	}
	s.mounts()
	s.files()
}

// processes waits for the last of them: containers were removed a moment ago.
func (s *soak) processes() {
	var left []string
	defer func() {
		if s.t.Failed() {
			s.t.Log("processes left: ", left)
		}
	}()
	rig.Eventually(s.t, "the last process and zombie", func() bool {
		// Who lost his parent is ours to reap; nobody else is waited for now.
		for {
			if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
		left = nil
		for _, p := range descendants() {
			if p.state == 'Z' || !daemon[p.name] {
				left = append(left, fmt.Sprintf("%+v", p))
			}
		}
		return len(left) == 0
	})
}

// records: a runtime that was killed never called poststop, and a wrapper that was killed forgot nothing: what they left
// goes with a later create, when it is old.
func (s *soak) records(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		s.t.Error(err)
	}
	old := time.Now().Add(-time.Hour)
	for _, entry := range entries {
		if err := os.Chtimes(filepath.Join(dir, entry.Name()), old, old); err != nil {
			s.t.Error(err)
		}
	}
	s.t.Logf("%s: %d records are left to the sweep", dir, len(entries))
	record.At(dir).Sweep(len(entries))
	if entries, err = os.ReadDir(dir); err != nil {
		s.t.Error(err)
	}
	for _, entry := range entries {
		s.t.Errorf("left in %s: %s", dir, entry.Name())
	}
}

func (s *soak) mounts() {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		s.t.Error(err)
	}
	for line := range strings.Lines(string(mounts)) {
		// A killed crun leaves the mount of its own binary behind; that is not ours.
		if strings.Contains(line, "/envscrub-") || strings.Contains(line, s.rootfs) {
			s.t.Errorf("left mounted: %s", line)
		}
	}
}

// files: in the image nothing of ours is left either.
func (s *soak) files() {
	err := filepath.WalkDir(s.rootfs, func(path string, _ os.DirEntry, err error) error {
		if strings.Contains(strings.TrimPrefix(path, s.rootfs), "envscrub") {
			s.t.Errorf("left in the root file system: %s", path)
		}
		return err
	})
	if err != nil {
		s.t.Error(err)
	}
}
