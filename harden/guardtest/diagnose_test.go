package guardtest

import (
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
)

// A tool sends SIGUSR1 to a Node agent, whose inspector then answers everybody. With the guard the port stays closed,
// and with that door left open on purpose it opens.
//
// parity: V14
//
// report: nodejs/node#19619
func TestNodeInspector(t *testing.T) {
	rig.Need(t, "node")
	closed := on()
	closed.Diagnostics = []string{order.Node}
	const none = "agent: has the key\ninspector: closed\n"
	const open = "agent: has the key\ninspector: open\n"
	each(t, func(t *testing.T, rt rig.Runtime) {
		for name, c := range map[string]struct {
			order *order.Order
			want  string
		}{"on": {closed, none}, "door left open": {on(), open}, "off": {off(), open}} {
			a := agent{host: true, uid: 1000, order: c.order, args: []string{"/bin/sh", "-c", "exec /usr/bin/node /probe/inspect.js"}}
			r := a.run(t, rt)
			if r.Code != 0 || r.Stdout != c.want {
				t.Errorf("%s: code %d, %s%s", name, r.Code, r.Stdout, r.Stderr)
			}
		}
	})
}

// The JVM's attach door opens on SIGQUIT.
//
// parity: V14
func TestJVMAttach(t *testing.T) {
	rig.Need(t, "java", "javac")
	classes(t)
	closed := on()
	closed.Diagnostics = []string{order.Java}
	// A JVM that finds the file makes a socket for whoever asks; without the file it prints its threads.
	const script = `p=$1; (: >/tmp/.attach_pid$p; n=0; while test $n -lt 100 && ! test -S /tmp/.java_pid$p; do kill -QUIT $p; sleep 0.02; n=$((n+1)); done
test -S /tmp/.java_pid$p && echo attach: open || echo attach: closed)`
	each(t, func(t *testing.T, rt rig.Runtime) {
		for name, c := range map[string]struct {
			order *order.Order
			want  string
		}{"on": {closed, "attach: closed\n"}, "off": {off(), "attach: open\n"}} {
			b := agent{host: true, uid: 1000, order: c.order, args: []string{"/usr/bin/java", "-XX:TieredStopAtLevel=1", "-cp", "/probe", "Agent", "/bin/sh", "-c", script}}.bundle(t)
			r := b.Run(t, rt)
			if r.Code != 0 || !strings.HasSuffix(r.Stdout, c.want) {
				t.Errorf("%s: code %d, %s%s", name, r.Code, r.Stdout, r.Stderr)
			}
		}
	})
}

// What a runtime reads from its environment is there for the agent, and for no child where children are looked at.
//
// report: dotnet/diagnostics#4390
func TestDiagnosticVariables(t *testing.T) {
	o := on()
	o.Diagnostics = []string{order.Dotnet, order.Python}
	const script = `echo $DOTNET_EnableDiagnostics $PYTHON_DISABLE_REMOTE_DEBUG; child -l child DOTNET_EnableDiagnostics PYTHON_DISABLE_REMOTE_DEBUG; exit 0`
	each(t, func(t *testing.T, rt rig.Runtime) {
		checkOutput(t, "on", agent{order: o, args: []string{"/bin/sh", "-c", script}}.run(t, rt),
			"0 1\nchild: clean DOTNET_EnableDiagnostics- PYTHON_DISABLE_REMOTE_DEBUG-\n")
		// One that is set on purpose stays as it is.
		checkOutput(t, "set", agent{order: o, args: []string{"/bin/sh", "-c", script}, env: []string{"DOTNET_EnableDiagnostics=1"}}.run(t, rt),
			"1 1\nchild: clean DOTNET_EnableDiagnostics=1 PYTHON_DISABLE_REMOTE_DEBUG-\n")
	})
}

// An agent of an ordinary user logs to its standard streams by path, and so do its children; what else is in its own
// /proc/self belongs to root.
func TestStandardStreamsByPath(t *testing.T) {
	const script = `echo out >/dev/stdout; echo err >/dev/stderr; sh -c 'echo child >/dev/stdout'; (: </proc/self/environ) 2>/dev/null && echo open || echo closed; exit 0`
	each(t, func(t *testing.T, rt rig.Runtime) {
		for own, o := range map[string]*order.Order{"closed": on(), "open": off()} {
			r := agent{uid: 1000, order: o, args: []string{"/bin/sh", "-c", script}}.run(t, rt)
			if r.Code != 0 || r.Stdout != "out\nchild\n"+own+"\n" || r.Stderr != "err\n" {
				t.Errorf("%s: code %d, %q %q", own, r.Code, r.Stdout, r.Stderr)
			}
		}
	})
}
