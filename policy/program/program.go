package program

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/envscrub/envscrub/policy"
)

// maxAnswer bounds what a program may print.
const maxAnswer = 1 << 20

// maxComplaint bounds what an error repeats of a program's standard error.
const maxComplaint = 200

// wire is a context as programs see it.
type wire struct {
	Purpose string             `json:"purpose"`
	Command *string            `json:"command"`
	Args    *[]string          `json:"args"`
	Dir     *string            `json:"cwd"`
	Env     map[string]*string `json:"env"`
	Scope   string             `json:"scope"`
	Session string             `json:"session"`
	Origin  string             `json:"origin"`
}

// Runner gives the function that turns [[hook]] programs into hooks. The programs get what the view leaves of the
// environment; nil is the process's own.
func Runner(view *policy.View, environ []string) func(policy.HookProgram) policy.Hook {
	if environ == nil {
		environ = os.Environ()
	}
	return func(p policy.HookProgram) policy.Hook {
		return func(ctx context.Context, c policy.Context) (*policy.Context, error) {
			next, err := run(ctx, p, view, environ, &c)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", p.At, p.Command[0], err)
			}
			return next, nil
		}
	}
}

func run(ctx context.Context, p policy.HookProgram, view *policy.View, environ []string, c *policy.Context) (*policy.Context, error) {
	d, err := view.Decide(environ)
	if err != nil {
		return nil, fmt.Errorf("own environment: %w", err)
	}
	input, err := encode(c)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()

	answer := &capped{limit: maxAnswer, over: cancel}
	complaint := &capped{limit: 4096}
	cmd := exec.CommandContext(limited, p.Command[0], p.Command[1:]...)
	cmd.Env = append([]string{}, d.Container()...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), answer, complaint
	cmd.WaitDelay = 100 * time.Millisecond // a child that keeps the pipes open must not keep us
	together(cmd)
	// As for the policy itself: who may write it decides what becomes of the secrets.
	if info, err := os.Stat(cmd.Path); err == nil && info.Mode().Perm()&0o002 != 0 {
		return nil, errors.New("everybody may write the program; chmod o-w it")
	}
	err = cmd.Run()
	switch {
	case answer.exceeded:
		return nil, errors.New("printed more than 1 MiB")
	case errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil:
		return nil, fmt.Errorf("gave no answer within %s", p.Timeout)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, failure(err, string(complaint.kept), append(append([]string{}, environ...), c.Env...))
	}
	return decode(answer.kept, c)
}

// failure describes a program that failed. A program that cannot be started is named by the system's word alone.
func failure(err error, complaint string, env []string) error {
	line, _, _ := strings.Cut(strings.TrimSpace(complaint), "\n")
	for _, entry := range env {
		if _, value, _ := strings.Cut(entry, "="); len(value) >= 8 {
			for _, part := range strings.Split(value, "\n") {
				if len(part) >= 8 {
					line = strings.ReplaceAll(line, part, "[REDACTED]")
				}
			}
		}
	}
	line = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, line)
	if len(line) > maxComplaint {
		line = strings.ToValidUTF8(line[:maxComplaint], "") + "…"
	}
	var system *os.PathError
	if errors.As(err, &system) {
		err = system.Err
	}
	if line == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, line)
}

func encode(c *policy.Context) ([]byte, error) {
	args := c.Args
	if args == nil {
		args = []string{}
	}
	w := wire{
		Purpose: c.Purpose, Command: &c.Command, Args: &args, Dir: &c.Dir, Env: make(map[string]*string, len(c.Env)),
		Scope: c.Scope, Session: c.Session, Origin: c.Origin,
	}
	for _, entry := range c.Env {
		name, value, _ := strings.Cut(entry, "=")
		w.Env[name] = &value
	}
	data, err := json.Marshal(&w)
	if err != nil {
		return nil, fmt.Errorf("context cannot be encoded: %w", err)
	}
	return data, nil
}

func decode(data []byte, c *policy.Context) (*policy.Context, error) {
	var w wire
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		return nil, errors.New("answered what is not a context: " + shape(err))
	}
	if rest := bytes.TrimSpace(data[dec.InputOffset():]); len(rest) > 0 {
		return nil, errors.New("answered more than one JSON object")
	}
	switch {
	case w.Command == nil:
		return nil, errors.New("answered without command")
	case w.Args == nil || *w.Args == nil:
		return nil, errors.New("answered without args")
	case w.Dir == nil:
		return nil, errors.New("answered without cwd")
	case w.Env == nil:
		return nil, errors.New("answered without env")
	}
	next := &policy.Context{Command: same(*w.Command, c.Command), Dir: same(*w.Dir, c.Dir), Env: make(policy.Environ, 0, len(w.Env))}
	for i, a := range *w.Args {
		if i < len(c.Args) {
			a = same(a, c.Args[i])
		}
		next.Args = append(next.Args, a)
	}
	// What was there keeps its place, what is new follows by name.
	for _, entry := range c.Env {
		name, value, _ := strings.Cut(entry, "=")
		key := asJSON(name)
		if answered, ok := w.Env[key]; ok {
			if answered != nil {
				next.Env = append(next.Env, name+"="+same(*answered, value))
			}
			delete(w.Env, key)
		}
	}
	fresh := make([]string, 0, len(w.Env))
	for name, value := range w.Env {
		if strings.Contains(name, "=") {
			return nil, errors.New("answered with a variable whose name holds '='")
		}
		if value != nil {
			fresh = append(fresh, name+"="+*value)
		}
	}
	sort.Strings(fresh)
	next.Env = append(next.Env, fresh...)
	return next, nil
}

// shape describes a decoding error without the text that it was about.
func shape(err error) string {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return cmp.Or(kind.Field, "it") + " has the wrong type"
	case strings.HasPrefix(err.Error(), "json: unknown field"):
		return "it has an unknown field"
	}
	return "it is not a JSON object"
}

// same gives the original bytes of a text that only passed through JSON.
func same(answered, original string) string {
	if answered == asJSON(original) {
		return original
	}
	return answered
}

// asJSON is what becomes of a text in JSON: each byte that is not UTF-8 turns into U+FFFD.
func asJSON(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// capped keeps what is written up to its limit and says when there was more.
type capped struct {
	kept     []byte
	limit    int
	over     func()
	exceeded bool
}

func (c *capped) Write(p []byte) (int, error) {
	n := min(len(p), c.limit-len(c.kept))
	c.kept = append(c.kept, p[:n]...)
	if n < len(p) && !c.exceeded {
		c.exceeded = true
		if c.over != nil {
			c.over()
		}
	}
	return len(p), nil
}
