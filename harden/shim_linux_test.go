package harden

import (
	"slices"
	"syscall"
	"testing"

	"github.com/envscrub/envscrub/harden/order"
)

func TestApply(t *testing.T) {
	env := []string{"A=1", "API_KEY=a", "PATH=/bin", "API_KEY=b", "ENVSCRUB_ORDER=x", "envscrub_y=1", "A=2", "NOEQUALS", "TZ=old", "odd name=1"}
	o := &order.Order{Remove: []string{"API_KEY"}, Set: []string{"TZ=new", "NEW="}}
	want := []string{"PATH=/bin", "A=2", "NOEQUALS", "odd name=1", "TZ=new", "NEW="}
	if got := apply(env, o); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestInitCommand(t *testing.T) {
	for _, c := range []struct {
		args    []string
		command string // "" for none
		group   bool
	}{
		{[]string{"/sbin/docker-init", "--", "agent", "-x"}, "agent", false},
		{[]string{"tini", "-s", "-p", "SIGTERM", "-vv", "agent"}, "agent", false},
		{[]string{"tini", "-pSIGTERM", "-g", "--", "agent"}, "agent", true},
		{[]string{"tini", "-se", "143", "agent"}, "agent", false},
		{[]string{"/usr/bin/tini-static", "agent", "--", "more"}, "agent", false},
		{[]string{"dumb-init", "agent"}, "agent", true},
		{[]string{"dumb-init", "-c", "agent"}, "agent", false},
		{[]string{"dumb-init", "--single-child", "--rewrite", "15:3", "--", "agent"}, "agent", false},
		{[]string{"dumb-init", "-r", "15:3", "agent"}, "agent", true},
		{[]string{"dumb-init", "--rewrite=15:3", "agent"}, "agent", true},
		{[]string{"/run/podman-init", "--", "agent"}, "agent", false},
		{[]string{"catatonit", "-P"}, "", false},
		{[]string{"tini", "--version"}, "", false},
		{[]string{"tini", "--"}, "", false},
		{[]string{"/bin/sh", "-c", "agent"}, "", false},
	} {
		n := initCommand(c.args[0], c.args)
		got := ""
		if n > 0 {
			got = c.args[n]
		}
		if got != c.command {
			t.Errorf("%q: command %q, want %q", c.args, got, c.command)
		}
		if n > 0 {
			if _, group := knownInit(c.args[0]).parse(c.args); group != c.group {
				t.Errorf("%q: group %v", c.args, group)
			}
		}
	}
}

// Who may send what: forged codes, the terminal, tools and the engine.
func TestForwarderPasses(t *testing.T) {
	const self, tool = 7, 99
	f := &forwarder{}
	f.nodeAgent.Store(true)
	f.javaAgent.Store(true)
	for _, c := range []struct {
		name   string
		sig    syscall.Signal
		code   int32
		pid    int32
		shared bool
		want   bool
	}{
		{"docker stop", syscall.SIGTERM, siUser, 0, false, true},
		{"a tool's TERM", syscall.SIGTERM, siUser, tool, false, true},
		{"our own", syscall.SIGPIPE, siUser, self, false, false},
		{"the terminal's, in a session of its own", syscall.SIGINT, siKernel, 0, false, true},
		{"the terminal's, in a shared group", syscall.SIGINT, siKernel, 0, true, false},
		{"the engine's USR1", syscall.SIGUSR1, siUser, 0, false, true},
		{"a tool's USR1", syscall.SIGUSR1, siUser, tool, false, false},
		{"a tool's USR1 through F_SETSIG", syscall.SIGUSR1, 1, 0, false, false},
		{"a tool's QUIT", syscall.SIGQUIT, siUser, tool, false, false},
		{"the engine's QUIT", syscall.SIGQUIT, siUser, 0, false, true},
		{"Ctrl-backslash", syscall.SIGQUIT, siKernel, 0, false, true},
	} {
		f.shared = c.shared
		if got := f.passes(&siginfo{signo: int32(c.sig), code: c.code, pid: c.pid}, self); got != c.want {
			t.Errorf("%s: passes %v", c.name, got)
		}
	}
}

func TestOpensDebugger(t *testing.T) {
	tr := &tracer{programs: []program{{pid: 50}}}
	own := int32(syscall.Getpid())
	for _, c := range []struct {
		name string
		info siginfo
		want bool
	}{
		{"a tool", siginfo{signo: 10, code: siUser, pid: 99}, true},
		{"a tool's thread", siginfo{signo: 10, code: siTkill, pid: 99}, true},
		{"the agent itself", siginfo{signo: 10, code: siUser, pid: 50}, false},
		{"the agent's name, made up with sigqueue", siginfo{signo: 10, code: -1, pid: 50}, true},
		{"forwarded by the guard", siginfo{signo: 10, code: siUser, pid: own}, false},
		{"from outside", siginfo{signo: 10, code: siUser}, false},
		{"through F_SETSIG", siginfo{signo: 10, code: 1}, true},
		{"Ctrl-backslash", siginfo{signo: 3, code: siKernel}, false},
	} {
		if got := tr.opensDebugger(&c.info); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestCloseDiagnostics(t *testing.T) {
	o := func() *order.Order { return &order.Order{Diagnostics: []string{order.Dotnet, order.Python}} }
	j := &job{order: o(), env: []string{"A=1"}}
	closeDiagnostics(j)
	if want := []string{"A=1", "DOTNET_EnableDiagnostics=0", "PYTHON_DISABLE_REMOTE_DEBUG=1"}; !slices.Equal(j.env, want) {
		t.Errorf("env = %q", j.env)
	}
	// report: dotnet/diagnostics#4390: one that is set was set on purpose.
	j = &job{order: o(), env: []string{"dotnet_enablediagnostics=1", "PYTHON_DISABLE_REMOTE_DEBUG="}}
	closeDiagnostics(j)
	if len(j.env) != 2 {
		t.Errorf("env = %q", j.env)
	}
	j = &job{order: o()}
	j.order.AgentOnly = []string{"KEY"}
	closeDiagnostics(j)
	if len(j.order.AgentOnly) != 3 {
		t.Errorf("children of an agent that holds something keep the variables: %q", j.order.AgentOnly)
	}
}

func TestResolve(t *testing.T) {
	env := []string{"PATH=/nowhere:relative:/usr/bin:/bin"}
	for _, c := range []struct {
		command string
		path    string
		code    int
		text    string
	}{
		{"env", "/usr/bin/env", 0, ""},
		{"/usr/bin/env", "/usr/bin/env", 0, ""},
		{"nope", "", 127, `exec: "nope": executable file not found in $PATH`},
		{"", "", 127, `exec: "": executable file not found in $PATH`},
		{"/nope", "", 127, `exec: "/nope": no such file or directory`},
		{"/etc/passwd", "", 126, `exec: "/etc/passwd": permission denied`},
		{"/etc", "", 126, `exec: "/etc": is a directory`},
	} {
		path, fail := resolve(c.command, env)
		if path != c.path || (fail == nil) != (c.code == 0) || fail != nil && (fail.code != c.code || fail.text != c.text) {
			t.Errorf("%q: %q, %+v", c.command, path, fail)
		}
	}
}

func TestPlain(t *testing.T) {
	for path, want := range map[string]bool{
		"/usr/bin/gh": true, "/usr/bin/..gh": true, "gh": false, "./gh": false, "/usr/bin/../../tmp/gh": false, "/a//gh": false, "/a/./gh": false, "/a/..": false,
	} {
		if plain(path) != want {
			t.Errorf("plain(%q) = %v", path, !want)
		}
	}
}
