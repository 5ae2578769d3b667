//go:build vm

package vmtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
)

// dockerDefault allows what the profile does that Docker and Podman give every container. NAME is its own; RULE is what
// the tests are about.
const dockerDefault = `abi <abi/3.0>,
profile NAME flags=(attach_disconnected,mediate_deleted) {
  network,
  capability,
  file,
  umount,
  signal (receive) peer=unconfined,
  signal (send,receive) peer=NAME,
  deny @{PROC}/* w,
  deny @{PROC}/{[^1-9],[^1-9][^0-9],[^1-9s][^0-9y][^0-9s],[^1-9][^0-9][^0-9][^0-9/]*}/** w,
  deny @{PROC}/sys/[^k]** w,
  deny @{PROC}/sys/kernel/{?,??,[^s][^h][^m]**} w,
  deny @{PROC}/sysrq-trigger rwklx,
  deny @{PROC}/kcore rwklx,
  deny mount,
  deny /sys/[^f]*/** wklx,
  deny /sys/firmware/** rwklx,
  deny /sys/kernel/security/** rwklx,
  RULE
}
`

// load gives the kernel a profile.
func load(t *testing.T, name, rule string) {
	t.Helper()
	if on, err := os.ReadFile("/sys/module/apparmor/parameters/enabled"); err != nil || !strings.HasPrefix(string(on), "Y") {
		t.Fatalf("this kernel runs without AppArmor: %q, %v", on, err)
	}
	file := filepath.Join(t.TempDir(), name)
	text := "@{PROC}=/proc/\n" + strings.NewReplacer("NAME", name, "RULE", rule).Replace(dockerDefault)
	rig.Write(t, file, text, 0o644)
	if out, err := exec.Command("apparmor_parser", "--replace", "--skip-cache", file).CombinedOutput(); err != nil {
		t.Fatalf("apparmor_parser: %v\n%s", err, out)
	}
}

func TestAppArmor(t *testing.T) {
	const allowed, denied = "vmtest-default", "vmtest-no-ptrace"
	load(t, allowed, "ptrace (trace,read,tracedby,readby) peer="+allowed+",")
	load(t, denied, "deny ptrace,")
	under := func(profile string) func(*specs.Spec) {
		return func(s *specs.Spec) { s.Process.ApparmorProfile = profile }
	}
	off := &order.Order{Dumpable: order.Off}
	for _, rt := range rig.Runtimes(t) {
		for name, uid := range map[string]uint32{rt.Name: ordinary, rt.Name + ", root": 0} {
			works(t, name, container(t, rt, uid, keeping(""), under(allowed), probe...))
			refused(t, name, container(t, rt, uid, keeping(""), under(denied), probe...), "AppArmor", denied)
			refused(t, name, container(t, rt, uid, keeping(order.Prefer), under(denied), probe...), "AppArmor", denied)
			warned(t, name, container(t, rt, uid, &order.Order{Dumpable: order.Prefer}, under(denied), "/bin/echo", "started"), "AppArmor", denied)
		}
		// The profile is in force, and without the guard it alone closes nothing.
		r := container(t, rt, ordinary, off, under(allowed), probeDir+"/agent", "run", "/bin/sh", "-c", "cat /proc/self/attr/current; "+probeDir+"/reach agent=@")
		if want := "agent: has the key\n" + allowed + " (enforce)\n" + allLeak; r.Stdout != want {
			t.Errorf("%s, off: code %d\ngot  %swant %s%s", rt.Name, r.Code, r.Stdout, want, r.Stderr)
		}
	}
}
