package guardtest

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
)

// Capabilities that void the protection are taken from the agent, or the agent is refused and they are named; where it
// is to start all the same, there is a warning, and a reason for it.
//
// report: vybestack/llxprt-code#3028
func TestCapabilities(t *testing.T) {
	plain := []string{"/probe/agent", "run", "/probe/reach", "agent=@"}
	with := func(names ...string) []string { return append(slices.Clone(dockerCaps), names...) }
	without := slices.DeleteFunc(with(), func(c string) bool { return c == "CAP_SETPCAP" })
	prefer, sysAdmin, void := on(), on(), on()
	prefer.Dumpable, sysAdmin.DropSysAdmin, void.AllowVoid = order.Prefer, true, true
	for name, c := range map[string]struct {
		order *order.Order
		caps  []string
		uid   uint32
		out   string // what the probe says; "" for a refusal
		err   string // what the shim says
	}{
		"SYS_PTRACE is taken":                     {order: on(), caps: with("CAP_SYS_PTRACE"), out: allDenied},
		"PERFMON is taken":                        {order: on(), caps: with("CAP_PERFMON"), out: allDenied},
		"SYS_PTRACE of a user is taken":           {order: on(), caps: with("CAP_SYS_PTRACE"), uid: 1000, out: allDenied},
		"SYS_ADMIN is refused":                    {order: on(), caps: with("CAP_SYS_ADMIN"), err: "CAP_SYS_ADMIN"},
		"SYS_ADMIN is taken where asked for":      {order: sysAdmin, caps: with("CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_PERFMON"), out: allDenied},
		"what cannot be taken is refused":         {order: on(), caps: append(slices.Clone(without), "CAP_PERFMON", "CAP_SYS_PTRACE"), err: "CAP_SYS_PTRACE, CAP_PERFMON"},
		"void with a warning: PERFMON":            {order: void, caps: append(slices.Clone(without), "CAP_PERFMON"), out: "leak: environ task tid", err: "warning: the agent keeps CAP_PERFMON"},
		"void with a warning: SYS_PTRACE":         {order: prefer, caps: append(slices.Clone(without), "CAP_SYS_PTRACE"), out: "leak: environ task tid mem vm_readv", err: "warning: the agent keeps CAP_SYS_PTRACE"},
		"void with a warning: SYS_ADMIN":          {order: void, caps: with("CAP_SYS_ADMIN"), out: "leak: environ", err: "warning: the agent keeps CAP_SYS_ADMIN"},
		"a user's bounding set alone is no cause": {order: on(), caps: with("CAP_SYS_ADMIN"), uid: 1000, out: allDenied},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, rt rig.Runtime) {
				r := agent{order: c.order, caps: c.caps, uid: c.uid, plain: true, args: plain}.run(t, rt)
				switch {
				case c.out == "" && (r.Code != 125 || r.Stdout != "" || !strings.Contains(r.Stderr, c.err)):
					t.Errorf("not refused: code %d, %s%s", r.Code, r.Stdout, r.Stderr)
				case c.out != "" && (r.Code != 0 || !strings.Contains(r.Stdout, c.out) || !strings.Contains(r.Stderr, c.err) || c.err == "" && r.Stderr != ""):
					t.Errorf("code %d, %s%s, want %q and %q", r.Code, r.Stdout, r.Stderr, c.out, c.err)
				}
				if strings.Count(r.Stderr, "\n") > 1 || strings.Contains(r.Stderr, key) {
					t.Errorf("more than one line: %s", r.Stderr)
				}
			})
		})
	}
}

// A seccomp profile that forbids ptrace, by an error or by death.
func TestSeccompForbidsPtrace(t *testing.T) {
	prefer, preferKeeping := &order.Order{Dumpable: order.Prefer}, on()
	preferKeeping.Dumpable = order.Prefer
	eperm := uint(syscall.EPERM)
	for name, c := range map[string]struct {
		action specs.LinuxSeccompAction
		order  *order.Order
		code   int
		err    string
	}{
		"error":               {specs.ActErrno, on(), 125, "the container's seccomp profile refuses ptrace (operation not permitted)"},
		"error, prefer":       {specs.ActErrno, prefer, 0, "warning: the container's seccomp profile refuses ptrace"},
		"error, but keeping":  {specs.ActErrno, preferKeeping, 125, "the container's seccomp profile refuses ptrace"},
		"death of process":    {specs.ActKillProcess, on(), 125, "the container's seccomp profile kills a process that calls ptrace"},
		"death of thread":     {specs.ActKillThread, on(), 125, "the container's seccomp profile kills a process that calls ptrace"},
		"death, guard is off": {specs.ActKillProcess, off(), 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, rt rig.Runtime) {
				b := agent{uid: 1000, order: c.order, args: []string{"/bin/echo", "started"}}.bundle(t)
				s := &specs.LinuxSeccomp{
					DefaultAction: specs.ActAllow, Architectures: []specs.Arch{specs.ArchX86_64},
					Syscalls: []specs.LinuxSyscall{{Names: []string{"ptrace"}, Action: c.action}},
				}
				if c.action == specs.ActErrno {
					s.Syscalls[0].ErrnoRet = &eperm
				}
				b.Spec.Linux.Seccomp = s
				b.Write(t)
				r := b.Run(t, rt)
				if started := r.Stdout == "started\n"; r.Code != c.code || started != (c.code == 0) || !strings.Contains(r.Stderr, c.err) || strings.Count(r.Stderr, "\n") > 1 {
					t.Errorf("code %d, %s%s", r.Code, r.Stdout, r.Stderr)
				}
			})
		})
	}
}

// Where only process_vm_readv and process_vm_writev are forbidden, the guard works by ptrace alone.
func TestSeccompForbidsVM(t *testing.T) {
	eperm := uint(syscall.EPERM)
	each(t, func(t *testing.T, rt rig.Runtime) {
		for _, action := range []specs.LinuxSeccompAction{specs.ActErrno, specs.ActKillProcess} {
			b := agent{uid: 1000, order: on(), args: []string{"/bin/sh", "-c", "child; exit 0"}}.bundle(t)
			b.Spec.Linux.Seccomp = &specs.LinuxSeccomp{
				DefaultAction: specs.ActAllow, Architectures: []specs.Arch{specs.ArchX86_64},
				Syscalls: []specs.LinuxSyscall{{Names: []string{"process_vm_readv", "process_vm_writev"}, Action: action}},
			}
			if action == specs.ActErrno {
				b.Spec.Linux.Seccomp.Syscalls[0].ErrnoRet = &eperm
			}
			b.Write(t)
			r := b.Run(t, rt)
			if action == specs.ActErrno {
				checkOutput(t, "error", r, "child: clean\n")
			} else if r.Code != 125 || !strings.Contains(r.Stderr, "kills a process that calls process_vm_readv") {
				t.Errorf("death: code %d, %s%s", r.Code, r.Stdout, r.Stderr)
			}
		}
	})
}
