package harden

import (
	"strings"
	"syscall"

	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/harden/stdio"
	"github.com/envscrub/envscrub/policy/redact"
)

// redirect puts a redactor between the agent and the container's standard output
// and error, where the order asks for it. It returns nil where there is
// nothing to be looked for: then the streams are the agent's own, at no cost.
func redirect(j *job) (*stdio.Relay, *failure) {
	if j.order.Redact == nil {
		return nil, nil
	}
	r := redactor(j.order, j.env)
	for _, name := range r.Ignored() {
		if contains(j.added, name) {
			continue
		}
		say("warning: " + name + ": a value of fewer than " + itoa(redact.MinLength) + " bytes is not redacted from the output")
	}
	if r.Empty() {
		return nil, nil
	}
	relay, err := stdio.Open(r, redact.DefaultHold)
	if err != nil {
		return nil, refuse("redact the output: ", err.Error())
	}
	return relay, nil
}

// redactor knows what the order names, and every value that the agent has and its
// children have not: those are never in an order, which may lie on a disk.
func redactor(o *order.Order, env []string) *redact.Redactor {
	var forms redact.Forms
	for _, name := range o.Redact.Forms {
		f, _ := redact.ParseForm(name) // whoever wrote the order has checked it
		forms |= f
	}
	var values []redact.Secret
	for _, v := range o.Redact.Values {
		values = append(values, redact.Secret{Name: "a secret of the policy", Value: v})
	}
	for _, entry := range env {
		if name, value, _ := strings.Cut(entry, "="); contains(o.AgentOnly, name) {
			values = append(values, redact.Secret{Name: name, Value: value})
		}
	}
	for _, entry := range o.Held {
		name, value, _ := strings.Cut(entry, "=")
		values = append(values, redact.Secret{Name: name, Value: value})
	}
	return redact.New(values, forms)
}

// connect gives the child the relay's streams, and the session that goes with them.
func connect(relay *stdio.Relay, c *child) {
	fds, session := relay.Child()
	for i, fd := range fds {
		if fd != i {
			c.stdio[i] = fd
		}
	}
	if session {
		c.session, c.tty = ownSession, fds[0]
	}
}

// resizer is what SIGWINCH does to a relay. The agent gets one of its own from
// its terminal, if it has one.
func (f *forwarder) resizer(relay *stdio.Relay, session bool) {
	f.special = func(s syscall.Signal) (done bool) {
		if s != syscall.SIGWINCH {
			return false
		}
		relay.Resize()
		return session
	}
}
