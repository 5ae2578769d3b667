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
	{name: "cri", program: "crictl", ids: []string{"ps", "--quiet", "--state", "running"}, inspect: []string{"inspect"}, one: true},
}

// list returns the running containers; there is false when the engine's program
// is not installed.
func (l lister) list() (targets []target, there bool, err error) {
	if _, err := exec.LookPath(l.program); err != nil {
		return nil, false, nil
	}
	out, err := engineOutput(l.program, l.ids...)
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
		out, err := engineOutput(l.program, append(append([]string{}, l.inspect...), group...)...)
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

// engineTimeout bounds one question to an engine: a daemon that hangs must not
// hang status.
const engineTimeout = 60 * time.Second

// engineOutput runs an engine's client and returns its standard output. The
// error has the client's last line, which is where they say the reason.
func engineOutput(program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), engineTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Env = os.Environ()
	out, err := cmd.Output()
	if err == nil {
		return out, nil
	}
	if ctx.Err() != nil {
		return out, fmt.Errorf("%s %s: no answer in %s", program, args[0], engineTimeout)
	}
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		if line := lastLine(stderr.String()); line != "" {
			err = errors.New(line)
		}
	}
	return out, fmt.Errorf("%s %s: %w", program, args[0], err)
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
