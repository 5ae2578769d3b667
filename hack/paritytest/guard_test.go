package paritytest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
)

const key = "made-up-agent-key"

// guarded runs a script as the agent, user 1000, that alone has AGENT_KEY.
func guarded(t *testing.T, rt rig.Runtime, o *order.Order, script string) rig.Result {
	t.Helper()
	const shim = "/run/envscrub-shim"
	root := rig.Rootfs(t)
	rig.Write(t, filepath.Join(root, shim), "", 0o755)
	show := rig.CC(t, filepath.Join("testdata", "show.c"))
	rig.Copy(t, show, filepath.Join(root, "bin", "show"))
	rig.Copy(t, show, filepath.Join(root, "bin", "trusted"))
	b := rig.NewBundle(t, root)
	b.Spec.Mounts = append(b.Spec.Mounts, specs.Mount{
		Destination: shim, Type: "bind", Source: rig.Bin(t, "envscrub-shim"), Options: []string{"bind", "ro"},
	})
	o.AgentOnly = []string{"AGENT_KEY"}
	b.Spec.Process.User = specs.User{UID: 1000, GID: 1000}
	b.Spec.Process.Args = []string{shim, "sh", "-c", script}
	b.Spec.Process.Env = append([]string{"PATH=/bin", "AGENT_KEY=" + key}, o.Environ()...)
	b.Write(t)
	return b.Run(t, rt)
}

// parity: R6, V13
//
// report: NousResearch/hermes-agent#4427
func TestLaunchEnvironmentIsClosed(t *testing.T) {
	const script = `echo "agent $AGENT_KEY"; show; for p in /proc/[0-9]*; do cat $p/environ; done 2>&1 | tr '\0' '\n'; true`
	for _, rt := range rig.Runtimes(t) {
		r := guarded(t, rt, &order.Order{}, script)
		if r.Code != 0 || !strings.HasPrefix(r.Stdout, "agent "+key+"\nnot there\n") {
			t.Errorf("%s: code %d, %s%s", rt.Name, r.Code, r.Stdout, r.Stderr)
		}
		if strings.Contains(r.Stdout, "AGENT_KEY=") || !strings.Contains(r.Stdout, "Permission denied") {
			t.Errorf("%s: %s", rt.Name, r.Stdout)
		}
		// The counter-test: with hardening off the same reader has it.
		r = guarded(t, rt, &order.Order{Dumpable: order.Off}, script)
		if !strings.Contains(r.Stdout, "AGENT_KEY="+key) {
			t.Errorf("%s, off: %s%s", rt.Name, r.Stdout, r.Stderr)
		}
	}
}

// parity: V14
//
// report: dotnet/diagnostics#4390
func TestDiagnosticDoorsAreClosed(t *testing.T) {
	rt := rig.Runtimes(t)[0]
	r := guarded(t, rt, &order.Order{Diagnostics: []string{order.Dotnet, order.Python}}, "env")
	for _, entry := range []string{"DOTNET_EnableDiagnostics=0\n", "PYTHON_DISABLE_REMOTE_DEBUG=1\n"} {
		if !strings.Contains(r.Stdout, entry) {
			t.Errorf("%q is not in %q", entry, r.Stdout)
		}
	}
	if r = guarded(t, rt, &order.Order{}, "env"); strings.Contains(r.Stdout, "DOTNET_") {
		t.Errorf("nobody asked for it: %q", r.Stdout)
	}
}

// parity: V17
func TestTrustedCommandIsStillTheAgent(t *testing.T) {
	for _, rt := range rig.Runtimes(t) {
		r := guarded(t, rt, &order.Order{Trust: []string{"*/trusted"}}, "show; trusted")
		if want := "not there\n" + key + "\n"; r.Stdout != want {
			t.Errorf("%s: %q, want %q; %s", rt.Name, r.Stdout, want, r.Stderr)
		}
	}
}
