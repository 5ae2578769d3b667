package cli

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/install"
)

// kernelStatus is what the kernel says about what the guard builds on.
type kernelStatus struct {
	Release        string `json:"release"`
	Yama           string `json:"yama"` // ptrace_scope, or "absent"
	UserNamespaces string `json:"user_namespaces"`
	SELinux        string `json:"selinux"`
	ShimLabel      string `json:"shim_label,omitempty"` // where SELinux is on
	AppArmor       string `json:"apparmor"`
}

func kernel(o install.Options) kernelStatus {
	read := func(path string) (string, bool) {
		data, err := os.ReadFile(o.Path(path))
		return strings.TrimSpace(string(data)), err == nil
	}
	k := kernelStatus{Release: "unknown", Yama: "absent", UserNamespaces: "unknown", SELinux: "absent", AppArmor: "absent"}
	var u unix.Utsname
	if o.Root == "" && unix.Uname(&u) == nil {
		k.Release = unix.ByteSliceToString(u.Release[:])
	}
	if v, ok := read("/proc/sys/kernel/yama/ptrace_scope"); ok {
		k.Yama = v
	}
	if v, ok := read("/proc/sys/user/max_user_namespaces"); ok {
		k.UserNamespaces = "allowed"
		if v == "0" {
			k.UserNamespaces = "off (user.max_user_namespaces = 0)"
		}
	}
	if v, ok := read("/proc/sys/kernel/unprivileged_userns_clone"); ok && v == "0" {
		k.UserNamespaces = "off (kernel.unprivileged_userns_clone = 0)"
	}
	if v, ok := read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"); ok && v == "1" {
		k.UserNamespaces = "restricted by AppArmor"
	}
	if v, ok := read("/sys/fs/selinux/enforce"); ok {
		k.SELinux = "permissive"
		if v == "1" {
			k.SELinux = "enforcing"
		}
	}
	if v, ok := read("/sys/module/apparmor/parameters/enabled"); ok {
		k.AppArmor = "off"
		if v == "Y" {
			k.AppArmor = "on"
		}
	}
	return k
}

func (k kernelStatus) String() string {
	selinux := k.SELinux
	if k.ShimLabel != "" {
		selinux += " (the shim is " + k.ShimLabel + ")"
	}
	return fmt.Sprintf("%s; Yama ptrace_scope %s; user namespaces %s; SELinux %s; AppArmor %s", k.Release, k.Yama, k.UserNamespaces, selinux, k.AppArmor)
}

// problems are the settings that keep the guard from working. Yama's 0 to 2
// leave a parent its child, or go by a capability that the container has not;
// the guard's own protection does not rest on Yama at all.
func (k kernelStatus) problems() []install.Problem {
	if k.Yama == "3" {
		return []install.Problem{{
			What: "kernel.yama.ptrace_scope is 3: no process may trace another, so the guard cannot run and containers are refused",
			Mend: `set kernel.yama.ptrace_scope to 1 or 2 and restart the machine, or set harden.dumpable = "off" in the policy`,
		}}
	}
	return nil
}
