package policy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Assignment is an explicit variable of a request: a value, or that the variable is not to be there.
type Assignment struct {
	Name  string
	Value string
	Unset bool
}

// Assignments makes a list of a map, in which nil means unset, in the order of the names.
func Assignments(m map[string]*string) []Assignment {
	list := make([]Assignment, 0, len(m))
	for name, value := range m {
		if value == nil {
			list = append(list, Assignment{Name: name, Unset: true})
		} else {
			list = append(list, Assignment{Name: name, Value: *value})
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

// Request is a process that an agent written in Go is about to start.
type Request struct {
	Purpose  string // what for: "shell", "mcp", "schedule"
	Command  string
	Args     []string // without the command itself
	Dir      string
	Env      []Assignment // explicit: applied after the filter, not filtered
	TimeZone string       // IANA id; over the policy's, under an explicit TZ
	Scope    string
	Session  string
	Origin   string
}

// Context is a complete process: what a hook gets and gives back, and what is started.
type Context struct {
	Purpose string
	Command string
	Args    []string
	Dir     string
	Env     Environ // complete; never merged with the environment of the caller
	Scope   string
	Session string
	Origin  string
}

// Apply makes the command start this context and nothing else: no variable of the caller comes through.
func (c *Context) Apply(cmd *exec.Cmd) error {
	path := c.Command
	if !strings.ContainsAny(path, `/\`) {
		found, err := exec.LookPath(path)
		if err != nil {
			return err
		}
		path = found
	}
	cmd.Path, cmd.Err = path, nil
	cmd.Args = append([]string{c.Command}, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = append(make([]string, 0, len(c.Env)), c.Env...) // never nil: that would mean the caller's
	return nil
}

// Hook changes a context before it is started. Purpose, scope, session and origin are put back whatever it returns.
// An error, nil, a panic or an incomplete context: nothing is started.
type Hook func(ctx context.Context, c Context) (*Context, error)

// Spawner makes contexts for an agent that starts processes. The agent itself keeps its own environment.
type Spawner struct {
	View     *View
	Environ  func() []string        // what is inherited; nil is the process's own environment
	Programs func(HookProgram) Hook // runs the policy's [[hook]] programs: program.Runner of the package below this one
	Hooks    []Hook                 // of the host, after the policy's programs
	Session  []Hook                 // of one session, after the host's
}

// Context makes a complete context of a request: the policy over what is inherited, then [set], unset, the time zone,
// then what the request says itself, then the hooks. It fails closed.
func (s *Spawner) Context(ctx context.Context, r Request) (*Context, error) {
	if r.Command == "" {
		return nil, errors.New("request has no command")
	}
	if r.TimeZone != "" {
		if what := checkZone(r.TimeZone); what != "" {
			return nil, fmt.Errorf("request's time zone: %s", what)
		}
	}
	for _, a := range r.Env {
		if !ValidName(a.Name) {
			return nil, fmt.Errorf("request's variable %q is not a name ([A-Za-z_][A-Za-z0-9_]*)", a.Name)
		}
		if strings.IndexByte(a.Value, 0) >= 0 {
			return nil, fmt.Errorf("request's variable %s holds a NUL byte", a.Name)
		}
	}
	inherited := os.Environ
	if s.Environ != nil {
		inherited = s.Environ
	}
	d, err := s.View.decide(inherited(), func(string, string) bool { return false }, r.Command, true)
	if err != nil {
		return nil, err
	}
	env := Environ(d.Container())
	if r.TimeZone != "" {
		env = env.with("TZ", r.TimeZone)
	}
	for _, a := range r.Env {
		if a.Unset {
			env = env.without(func(name string) bool { return strings.EqualFold(name, a.Name) })
		} else {
			env = env.with(a.Name, a.Value)
		}
	}
	c := &Context{
		Purpose: r.Purpose, Command: r.Command, Args: r.Args, Dir: r.Dir, Env: env.without(isControl),
		Scope: r.Scope, Session: r.Session, Origin: r.Origin,
	}
	hooks, err := s.View.programs(s.Programs)
	if err != nil {
		return nil, err
	}
	return runHooks(ctx, c, slices.Concat(hooks, s.Hooks, s.Session), d.secrets)
}

// programs gives the policy's [[hook]] programs as hooks. A policy that has some must not start anything without them.
func (v *View) programs(run func(HookProgram) Hook) ([]Hook, error) {
	if len(v.Hooks) == 0 {
		return nil, nil
	}
	if run == nil {
		return nil, &Error{At: v.Hooks[0].At, Key: "hook", What: "this program cannot run hooks; remove them or use a door that can"}
	}
	hooks := make([]Hook, len(v.Hooks))
	for i := range v.Hooks {
		hooks[i] = run(v.Hooks[i])
	}
	return hooks, nil
}

// runHooks runs hooks in order. Their errors are their own words; should these hold a value that was taken away, it is
// cut out.
func runHooks(ctx context.Context, c *Context, hooks []Hook, secrets []string) (*Context, error) {
	for i, hook := range hooks {
		next, err := call(ctx, hook, c.clone())
		if err == nil {
			err = complete(next)
		}
		if err != nil {
			return nil, fmt.Errorf("hook %d: %w", i+1, without(err, secrets))
		}
		next.Purpose, next.Scope, next.Session, next.Origin = c.Purpose, c.Scope, c.Session, c.Origin
		next.Env = next.Env.without(isControl)
		c = next
	}
	return c, nil
}

func (c *Context) clone() Context {
	copied := *c
	copied.Args, copied.Env = slices.Clone(c.Args), slices.Clone(c.Env)
	return copied
}

// call turns a panic into an error. What it panicked with is not repeated: nobody wrote that to be read.
func call(ctx context.Context, hook Hook, c Context) (next *Context, err error) {
	defer func() {
		if recover() != nil {
			next, err = nil, errors.New("panicked")
		}
	}()
	if hook == nil {
		return nil, errors.New("is nil")
	}
	return hook(ctx, c)
}

func complete(c *Context) error {
	switch {
	case c == nil:
		return errors.New("returned nothing")
	case c.Command == "":
		return errors.New("returned no command")
	case c.Env == nil:
		return errors.New("returned no environment")
	case strings.IndexByte(c.Command, 0) >= 0 || strings.IndexByte(c.Dir, 0) >= 0:
		return errors.New("returned a NUL byte")
	}
	for i, a := range c.Args {
		if strings.IndexByte(a, 0) >= 0 {
			return errors.New("returned a NUL byte in argument " + strconv.Itoa(i+1))
		}
	}
	for i, entry := range c.Env {
		if _, _, ok := cut(entry); !ok {
			return fmt.Errorf("returned a bad environment: %w", malformed(i, entry))
		}
	}
	return nil
}

// without gives the error, or its text with every value replaced should it hold one.
func without(err error, values []string) error {
	text := err.Error()
	clean := text
	for _, value := range values {
		if len(value) >= minProtected {
			clean = strings.ReplaceAll(clean, value, "[REDACTED]")
		}
	}
	if clean == text {
		return err
	}
	return errors.New(clean)
}

// RunHooks runs the policy's [[hook]] programs over a decision, at the container and exec boundary. They get what every
// process gets, not what the agent alone has; what they return takes its place. The context that comes back may
// have another command, arguments and directory. Nothing runs in mode observe, which changes nothing.
func (d *Decision) RunHooks(ctx context.Context, r Request, run func(HookProgram) Hook, more ...Hook) (*Context, error) {
	c := &Context{
		Purpose: r.Purpose, Command: r.Command, Args: r.Args, Dir: r.Dir, Env: d.container,
		Scope: r.Scope, Session: r.Session, Origin: r.Origin,
	}
	if d.view.Mode != ModeEnforce || len(d.view.Hooks)+len(more) == 0 {
		return c, nil
	}
	hooks, err := d.view.programs(run)
	if err != nil {
		return nil, err
	}
	c, err = runHooks(ctx, c, slices.Concat(hooks, more), d.secrets)
	if err != nil {
		return nil, err
	}
	d.replace(c.Env)
	return c, nil
}

// replace puts an environment that hooks returned in the place of the container's, and reports what they changed.
func (d *Decision) replace(env Environ) {
	before := make(map[string]string, len(d.container))
	for _, entry := range d.container {
		name, value, _ := cut(entry)
		before[name] = value
	}
	var at Position
	if hooks := d.view.Hooks; len(hooks) > 0 {
		at = hooks[0].At
	}
	after := make(map[string]bool, len(env))
	for _, entry := range env {
		name, value, _ := cut(entry)
		after[name] = true
		if old, ok := before[name]; !ok || old != value {
			d.report(Variable{Name: name, Fate: FateSet, Rule: "hook", At: at})
		}
	}
	for name := range before {
		if !after[name] {
			d.report(Variable{Name: name, Fate: FateUnset, Rule: "hook", At: at})
		}
	}
	var only []string
	for _, entry := range d.agent {
		name, _, _ := cut(entry)
		if i := d.find(name); i >= 0 && d.Variables[i].Fate == FateAgent {
			only = append(only, entry)
		}
	}
	d.container = env
	d.agent = env
	if len(only) > 0 {
		agentOnly := make(map[string]bool, len(only))
		for _, entry := range only {
			name, _, _ := cut(entry)
			agentOnly[name] = true
		}
		d.agent = append(env.without(func(name string) bool { return agentOnly[name] }), only...)
	}
}

// report replaces what is said about a variable. What the agent alone has stays its own.
func (d *Decision) report(v Variable) {
	i := d.find(v.Name)
	if i < 0 {
		d.Variables = append(d.Variables, v)
	} else if d.Variables[i].Fate != FateAgent {
		d.Variables[i] = v
	}
}

func (d *Decision) find(name string) int {
	return slices.IndexFunc(d.Variables, func(v Variable) bool { return v.Name == name })
}
