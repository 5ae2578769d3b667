package soaktest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// victims are the programs whose processes may be killed, by the identity of their files: a process in a container has
// another path for it.
type victims struct {
	files map[identity]string
	dead  map[string]int
	// runtimes counts the runtimes among the dead, and stuck the commands of engines that waited for one of them for ever.
	runtimes, stuck atomic.Int64
}

type identity struct{ dev, ino uint64 }

// add makes the program a victim.
func (v *victims) add(path string) error {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return err
	}
	v.files[identity{st.Dev, st.Ino}] = filepath.Base(path)
	return nil
}

// program names the victim that a process runs, "" if it is none.
func (v *victims) program(pid int) string {
	exe := fmt.Sprintf("/proc/%d/exe", pid)
	var st unix.Stat_t
	if err := unix.Stat(exe, &st); err != nil {
		return ""
	}
	if name, ok := v.files[identity{st.Dev, st.Ino}]; ok {
		return name
	}
	// Both runtimes execute a sealed copy of themselves in the container's namespaces.
	if link, err := os.Readlink(exe); err == nil {
		if _, low, ok := strings.Cut(link, "memfd:"); ok {
			return strings.Fields(low)[0]
		}
	}
	return ""
}

// named are the names of all victims.
func (v *victims) named() []string {
	return append(slices.Sorted(maps.Values(v.files)), "runc_cloned:/proc/self/exe")
}

// hunt waits a moment for a process of one victim, and kills it at whatever it does then; another one where there is none.
// Most of them live for some milliseconds: who only looked now and then would kill nothing but runtimes.
func (v *victims) hunt(name string, random *rand.Rand) {
	other := 0
	for range 40 {
		var found []int
		entries, _ := os.ReadDir("/proc")
		for _, entry := range entries {
			pid, err := strconv.Atoi(entry.Name())
			if err != nil {
				continue
			}
			switch v.program(pid) {
			case "":
			case name:
				found = append(found, pid)
			default:
				other = pid
			}
		}
		if len(found) > 0 {
			<-time.After(time.Duration(random.IntN(3000)) * time.Microsecond)
			v.kill(found[random.IntN(len(found))])
			return
		}
		<-time.After(2 * time.Millisecond)
	}
	if other != 0 {
		v.kill(other)
	}
}

// kill kills a process, if it still is a victim, and a descendant of ours.
func (v *victims) kill(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	// The number may be somebody else's by now; the descriptor stays with whom it was opened for.
	name := v.program(pid)
	if name != "" && slices.ContainsFunc(descendants(), func(p process) bool { return p.pid == pid }) && unix.PidfdSendSignal(fd, syscall.SIGKILL, nil, 0) == nil {
		v.dead[name]++
		if !ours(name) {
			v.runtimes.Add(1)
		}
	}
}

func ours(program string) bool { return strings.HasPrefix(program, "envscrub-") }

// freeStuck kills the runtimes that wait for another of their own processes, which was killed, and returns how many there
// were: a container's crun reads its exec.fifo in a loop for ever where its crun start was killed behind the open. Such a
// one stands in the container's root by now and is known by its name alone.
func (v *victims) freeStuck() (n int) {
	if v.runtimes.Load() == 0 {
		return 0
	}
	for _, p := range descendants() {
		name := v.program(p.pid)
		if (name != "" && !ours(name) || p.name == "crun" || strings.HasPrefix(p.name, "runc")) && syscall.Kill(p.pid, syscall.SIGKILL) == nil {
			n++
		}
	}
	return n
}

func (v *victims) killed() (n int) {
	for _, k := range v.dead {
		n += k
	}
	return n
}

// kills is the list of who was killed how often.
func (v *victims) kills() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v.dead)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, v.dead[name]))
	}
	return strings.Join(parts, ", ")
}

// process is a line of proc_pid_stat(5).
type process struct {
	pid, parent int
	state       byte
	name        string
}

// descendants are the processes below this one, zombies included.
func descendants() (below []process) {
	all := map[int]process{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		data, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue
		}
		open, shut := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
		fields := strings.Fields(string(data[shut+1:]))
		parent, err := strconv.Atoi(fields[1])
		if err == nil {
			all[pid] = process{pid, parent, fields[0][0], string(data[open+1 : shut])}
		}
	}
	for _, p := range all {
		for up := p.parent; up > 1; up = all[up].parent {
			if up == os.Getpid() {
				below = append(below, p)
				break
			}
		}
	}
	return below
}
