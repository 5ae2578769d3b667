package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// lister asks one engine for its running containers.
type lister struct {
	name    string
	program string
	ids     []string // arguments that print the running containers' ids
	inspect []string // arguments before the ids
	one     bool     // inspect takes one id at a time
}

var listers = []lister{
	{name: "docker", program: "docker", ids: []string{"ps", "--quiet", "--no-trunc"}, inspect: []string{"inspect"}},
	{name: "podman", program: "podman", ids: []string{"ps", "--quiet", "--no-trunc"}, inspect: []string{"inspect"}},
	{name: "cri", program: "crictl", ids: []string{crictlTimeout, "ps", "--quiet", "--state", "running"}, inspect: []string{crictlTimeout, "inspect"}, one: true},
}

// list returns the running containers; there is false when the engine's program
// is not installed.
func (l lister) list(ctx context.Context) (targets []target, there bool, err error) {
	if _, err := exec.LookPath(l.program); err != nil {
		return nil, false, nil
	}
	out, err := engineOutput(ctx, nil, l.program, l.ids...)
	if err != nil {
		return nil, true, err
	}
	ids := strings.Fields(string(out))
	if len(ids) == 0 {
		return nil, true, nil
	}
	groups := [][]string{ids}
	if l.one {
		groups = nil
		for _, id := range ids {
			groups = append(groups, []string{id})
		}
	}
	for _, group := range groups {
		out, err := engineOutput(ctx, nil, l.program, append(append([]string{}, l.inspect...), group...)...)
		if err != nil && len(bytes.TrimSpace(out)) == 0 {
			return nil, true, err // one that ended meanwhile leaves the others in the output
		}
		some, err := parseInspect(out)
		if err != nil {
			return nil, true, fmt.Errorf("%s inspect: %w", l.program, err)
		}
		targets = append(targets, some...)
	}
	return targets, true, nil
}

// crictlTimeout is for crictl's own limit on an answer: its 2 seconds are too
// short for a node under load.
const crictlTimeout = "--timeout=60s"

// engineTimeout bounds one question to an engine: a daemon that hangs must not
// hang status.
const engineTimeout = 60 * time.Second

// engineOutput runs an engine's client, with more in its environment, and returns
// its standard output. The error has the client's last line, which is where they
// say the reason.
func engineOutput(ctx context.Context, env []string, program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	switch {
	case err == nil:
		return out, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return out, fmt.Errorf("%s: no answer in %s", program, engineTimeout)
	}
	if line := lastLine(stderr.String()); line != "" {
		err = errors.New(line)
	}
	return out, fmt.Errorf("%s: %w", program, err)
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
