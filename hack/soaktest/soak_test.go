package soaktest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/hack/rig"
)

var (
	duration = flag.Duration("soak.for", 90*time.Second, "how long new containers are started")
	seed     = flag.Uint64("soak.seed", 1, "seed of every random choice")
	only     = flag.String("soak.doors", "", "only doors with this in their name")
)

// inside says that the test runs in its private mount namespace.
const inside = "SOAK_INSIDE"

// limit is how long one command on a container may take: many times what it needs, all time limits of ours included, on a
// machine that has much else to do.
const limit = 3 * time.Minute

// Nothing with this in it may come out of a container: the policies of the soak give it to the agent at most, and what
// shows it is never the agent itself.
const planted = "made-up-planted-value"

// plain has to come out.
const plain = "SOAK_PLAIN=is-kept"

var environment = []string{
	plain, "OPENAI_API_KEY=" + planted, "SOME_TOKEN=" + planted + "-2", "HARMLESS_COPY=" + planted, "DB=postgres://u:" + planted + "@h/d",
}

// show is the command of every container: programs that show what they have and what they can read. The shell is the agent.
const show = "/usr/bin/env; /bin/cat /proc/1/environ /proc/self/environ /proc/$PPID/environ /proc/$$/environ 2>/dev/null; echo"

// A door is one way to start containers through us.
type door struct {
	name  string
	group string            // doors of a group are taken in turns
	works func(*life) error // one container's life, chosen by chance
	// left says what is still there when every container is removed.
	left func() []string
}

// TestSoak runs itself again in a mount namespace of its own, where the directories of records are small file systems
// that can be filled and /etc/envscrub is a policy that can be broken.
func TestSoak(t *testing.T) {
	rig.Need(t, "root", "runc", "crun", "unshare", "dockerd", "podman")
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
	// What loses its parent stays among our descendants.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	s := newSoak(t)
	for _, d := range slices.Concat(s.direct(), s.engines(), s.nri()) {
		if s.wanted(d.name) {
			s.doors = append(s.doors, &passage{door: d})
		}
	}
	if len(s.doors) == 0 {
		t.Fatalf("no door has %q in its name", *only)
	}
	s.run()
	s.leftovers()
	for _, p := range s.doors {
		t.Logf("%-24s %4d containers, %4d from beginning to end, %4d refused or killed", p.name, p.started, p.well, p.started-p.well)
	}
	t.Logf("seed %d: %d processes killed (%s); %d times a full disk, %d broken and %d changed policies, %d storms; %d commands waited for a killed runtime",
		*seed, s.killed(), s.kills(), s.count.full, s.count.broken, s.count.changed, s.count.storms, s.stuck.Load())
	if s.killed() == 0 || s.count.storms == 0 {
		t.Errorf("nothing was proved: %+v", s.count)
	}
}

func (s *soak) wanted(name string) bool {
	return strings.Contains(name, *only) || strings.Contains(*only, name)
}

// passage is a door and what became of those who took it.
type passage struct {
	door
	started, well int
}

type soak struct {
	t      *testing.T
	bin    string // copies of our binaries and the runtimes: what may be killed
	rootfs string
	stores []string // directories of records
	victims
	doors   []*passage
	daemons []func() // which end them

	sync.Mutex
	serial int
	count  struct{ full, broken, changed, storms int }
}

// run sends containers through every door until the time is up, in storms and calm.
func (s *soak) run() {
	ctx, cancel := context.WithTimeout(context.Background(), *duration)
	defer cancel()
	groups := map[string][]*passage{}
	for _, p := range s.doors {
		groups[p.group] = append(groups[p.group], p)
	}
	var all sync.WaitGroup
	for i, name := range slices.Sorted(maps.Keys(groups)) {
		all.Go(func() {
			random := rand.New(rand.NewPCG(*seed, uint64(i)))
			for ctx.Err() == nil && !s.t.Failed() {
				_ = s.container(s.next(groups[name], random), random)
			}
		})
	}
	s.trouble(ctx, rand.New(rand.NewPCG(*seed, 1<<32)))
	all.Wait()
	// After all that every door works.
	for i, p := range s.doors {
		if s.t.Failed() {
			return
		}
		if err := s.container(p, rand.New(rand.NewPCG(*seed, uint64(i)))); err != nil {
			s.t.Errorf("%s: nothing is killed, full or broken any more, and a container fails: %v", p.name, err)
		}
	}
}

// next is any door of a group, and every other time the one with the fewest successes: calm waits for it.
func (s *soak) next(group []*passage, random *rand.Rand) *passage {
	s.Lock()
	defer s.Unlock()
	if random.IntN(2) == 0 {
		return group[random.IntN(len(group))]
	}
	return slices.MinFunc(group, func(a, b *passage) int { return a.well - b.well })
}

// container is the life of one container.
func (s *soak) container(p *passage, random *rand.Rand) error {
	s.Lock()
	s.serial++
	p.started++
	l := &life{t: s.t, victims: &s.victims, door: p.name, id: fmt.Sprintf("soak-%d-%d", os.Getpid(), s.serial), random: random}
	s.Unlock()
	var err error
	if l.output, err = os.CreateTemp(s.bin, "output-"); err != nil {
		s.t.Error(err)
		return err
	}
	defer os.Remove(l.output.Name())
	err = p.works(l)
	said := l.text()
	if strings.Contains(said, planted) {
		s.t.Errorf("%s: a planted value came out: %q", p.name, said)
	}
	if err == nil {
		s.Lock()
		p.well++
		s.Unlock()
	} else if testing.Verbose() {
		s.t.Logf("%s: %v: %.600q", p.name, err, strings.TrimSpace(said))
	}
	return errors.Join(err, l.output.Close())
}

// life is one container and all that was said by it and about it. A file, not a pipe: a container that was created and one that
// was detached keep it open.
type life struct {
	t       *testing.T
	victims *victims
	door    string
	id      string
	random  *rand.Rand
	output  *os.File
}

// do runs one command on the container.
func (l *life) do(cmd *exec.Cmd) error {
	what := strings.Join(cmd.Args[:min(len(cmd.Args), 12)], " ")
	cmd.Stdout, cmd.Stderr = l.output, l.output
	if err := cmd.Start(); err != nil {
		return err
	}
	killed := l.victims.runtimes.Load()
	late := time.AfterFunc(limit, func() {
		if l.victims.runtimes.Load() > killed {
			// Podman waits for ever for a container whose runtime was killed in the middle of a create or a start, without
			// us too. Nothing of ours hangs there: that would be a process left.
			l.victims.stuck.Add(1)
			_ = cmd.Process.Kill()
			return
		}
		l.t.Errorf("%s: %s hangs: it did not end in %s", l.door, what, limit)
		_ = cmd.Process.Kill()
	})
	defer late.Stop()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// text is what was said so far.
func (l *life) text() string {
	data, err := os.ReadFile(l.output.Name())
	if err != nil {
		l.t.Error(err)
	}
	return string(data)
}

// shown is an error if what a container has to show did not come out.
func (l *life) shown() error {
	if !strings.Contains(l.text(), plain) {
		return fmt.Errorf("it did not show %s", plain)
	}
	return nil
}

// eventually gives a container that was started time to show it; one whose processes were killed never does.
func (l *life) eventually() error {
	for range 500 {
		if l.shown() == nil {
			return nil
		}
		<-time.After(20 * time.Millisecond)
	}
	return l.shown()
}
