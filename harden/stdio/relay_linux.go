package stdio

import (
	"sync"
	"syscall"
	"time"

	"github.com/envscrub/envscrub/policy/redact"
)

// A Relay is the way of a command's standard streams through a redactor.
type Relay struct {
	child    [3]int // what the command gets as 0, 1 and 2
	ours     []int  // of those, the ones that are no inheritance and are closed here once it has them
	pumps    []*pump
	keys     *pump // from the outer terminal to the inner one
	master   int   // of the inner terminal that is the command's own; -1 without one
	outs     []int // masters of terminals for one stream
	restore  *termios
	finished sync.Once
}

// Open prepares the relay for the standard streams that this process has. Nothing
// is read yet.
func Open(r *redact.Redactor, hold time.Duration) (*Relay, error) {
	p := &Relay{child: [3]int{0, 1, 2}, master: -1}
	err := p.open(r, hold)
	if err != nil {
		p.abandon()
		return nil, err
	}
	return p, nil
}

func (p *Relay) open(r *redact.Redactor, hold time.Duration) error {
	in, out, err2 := isTerminal(0), isTerminal(1), isTerminal(2)
	if in && out {
		master, slave, err := p.terminal(0)
		if err != nil {
			return err
		}
		p.master = master
		p.child[0], p.child[1] = slave, slave
		if p.keys, err = newPump(0, writer{master}, false); err != nil {
			return err
		}
		if err := p.add(master, r.NewWriter(writer{1}, hold), true); err != nil {
			return err
		}
		if err2 {
			p.child[2] = slave
			return nil
		}
		return p.stream(2, false, r, hold)
	}
	if !isOpen(1) {
		return p.stream(2, err2, r, hold)
	}
	if err := p.stream(1, out, r, hold); err != nil {
		return err
	}
	if sameFile(1, 2) {
		p.child[2] = p.child[1]
		return nil
	}
	return p.stream(2, err2, r, hold)
}

// stream puts a redactor behind the descriptor fd of the command.
func (p *Relay) stream(fd int, terminal bool, r *redact.Redactor, hold time.Duration) error {
	if !isOpen(fd) {
		return nil
	}
	to := r.NewWriter(writer{fd}, hold)
	if terminal {
		master, slave, err := p.terminal(fd)
		if err != nil {
			return err
		}
		if err := plainOutput(slave); err != nil {
			return err
		}
		p.outs = append(p.outs, master)
		p.child[fd] = slave
		return p.add(master, to, true)
	}
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err != nil {
		return &failure{"make a pipe", err}
	}
	p.ours = append(p.ours, ends[1])
	p.child[fd] = ends[1]
	return p.add(ends[0], to, false)
}

func (p *Relay) add(from int, to *redact.Writer, terminal bool) error {
	pump, err := newPump(from, to, terminal)
	if err != nil {
		closeFD(from)
		return err
	}
	p.pumps = append(p.pumps, pump)
	return nil
}

// terminal makes a terminal like the one at fd.
func (p *Relay) terminal(fd int) (master, slave int, err error) {
	master, slave, err = openTerminal()
	if err != nil {
		return -1, -1, err
	}
	p.ours = append(p.ours, slave)
	if err := copyTerminal(fd, slave); err != nil {
		closeFD(master)
		return -1, -1, err
	}
	return master, slave, nil
}

// Child returns the descriptors that the command is to have as 0, 1 and 2; they
// are closed at an exec unless duplicated. Where session is true it is to begin a
// session of its own, with its descriptor 0 as the controlling terminal.
func (p *Relay) Child() (fds [3]int, session bool) { return p.child, p.master >= 0 }

// Start lets the streams run. Call it once the command has its descriptors.
func (p *Relay) Start() error {
	p.closeOurs()
	if err := p.Resume(); err != nil {
		return err
	}
	for _, pump := range p.pumps {
		go pump.run()
	}
	if p.keys != nil {
		go p.keys.run()
	}
	return nil
}

// Resume puts the outer terminal in raw mode, at the start and after Suspend.
func (p *Relay) Resume() error {
	if p.master < 0 {
		return nil
	}
	p.Resize()
	old, err := makeRaw(0)
	if err != nil {
		return err
	}
	p.restore = old
	return nil
}

// Suspend gives the outer terminal its settings back while the command is stopped.
func (p *Relay) Suspend() {
	if p.restore != nil {
		setTermios(0, p.restore)
		p.restore = nil
	}
}

// Resize gives the inner terminals the size of the outer one. Call it on SIGWINCH.
func (p *Relay) Resize() {
	if p.master >= 0 {
		copySize(0, p.master)
	}
	for _, out := range p.outs {
		for _, fd := range [...]int{1, 2} {
			if isTerminal(fd) {
				copySize(fd, out)
				break
			}
		}
	}
}

// Finish waits until what the command has written so far is written on. Call it when it has ended.
func (p *Relay) Finish() {
	p.finished.Do(func() {
		for _, pump := range p.pumps {
			pump.finish()
		}
		if p.keys != nil {
			p.keys.abandon()
		}
		p.Suspend()
	})
}

// abandon takes back what Open did.
func (p *Relay) abandon() {
	p.closeOurs()
	for _, pump := range p.pumps {
		closeFD(pump.from)
	}
}

func (p *Relay) closeOurs() {
	for _, fd := range p.ours {
		closeFD(fd)
	}
	p.ours = nil
}

// A failure says what could not be done.
type failure struct {
	what string
	err  error
}

func (f *failure) Error() string { return f.what + ": " + f.err.Error() }

func (f *failure) Unwrap() error { return f.err }
