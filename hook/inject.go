package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/hook/doc"
	"github.com/envscrub/envscrub/policy"
)

// shimBase is the shim's name in the container.
const shimBase = "envscrub-shim"

// rootShim is where the shim is mounted when the configuration has no tmpfs at
// all. The runtime makes an empty file there, in the container's root: the one
// trace that envscrub can leave.
const rootShim = "/." + shimBase

// voiding are the capabilities with which a child reads the agent's memory in
// spite of everything.
var voiding = []string{"CAP_SYS_PTRACE", "CAP_PERFMON"}

const sysAdmin = "CAP_SYS_ADMIN"

// Inject changes a configuration so that the runtime starts the shim, with the
// environment that is left, and the shim the entrypoint (the config door): args,
// env, a mount for the shim, capabilities.
//
// Where the entrypoint is not there, only the environment is scrubbed, and the
// runtime says in its own words what is missing. A configuration without a process
// is an error.
func Inject(f *doc.File, v *policy.View, d *policy.Decision, shim string) error {
	if !f.HasProcess() {
		return errors.New("process: it is missing")
	}
	if err := CheckCapabilities(f, v, d); err != nil {
		return err
	}
	if Locate(f) == Missing {
		f.SetEnv(d.Container())
		return nil
	}
	mount, err := ShimMount(f.Mounts(), shim)
	if err != nil {
		return err
	}
	o := OrderOf(v, d)
	if v.Harden.Dumpable != order.Off {
		f.DropCapabilities(voiding)
		if v.Harden.DropSysAdmin {
			f.DropCapabilities([]string{sysAdmin})
		}
	}
	distinguish(f, o)
	env := o.Carry(slices.DeleteFunc(slices.Clone(d.Agent()), order.IsControl))
	f.SetEnv(append(env, o.Environ()...))
	f.SetArgs(append([]string{mount.Destination}, f.Args()...))
	f.AddMount(mount)
	return nil
}

// CheckCapabilities refuses a container whose capabilities void the guard, where
// the policy wants that.
func CheckCapabilities(f *doc.File, v *policy.View, d *policy.Decision) error {
	if d.RefusesVoid() && v.Harden.Dumpable != order.Off && !v.Harden.DropSysAdmin && f.Has(sysAdmin) {
		return errors.New("process.capabilities: CAP_SYS_ADMIN voids the protection of what the agent alone may hold; take it from the container, or set harden.drop_sys_admin = true, or accept that with harden.privileged = \"allow\"")
	}
	return nil
}

// ShimMount says where the shim goes: onto a tmpfs that the container has anyway,
// where a new file is no trace in the image and no write to a volume, and where a
// read-only root does not matter.
func ShimMount(mounts []doc.Mount, shim string) (doc.Mount, error) {
	// nosuid is left out unless the source has it: SELinux refuses the change into
	// the container's domain on such a mount, unless its policy says otherwise. In a
	// user namespace what the source has must be repeated.
	options := []string{"bind", "ro", "nodev", "rprivate"}
	var fs unix.Statfs_t
	if err := unix.Statfs(shim, &fs); err != nil {
		return doc.Mount{}, fmt.Errorf("statfs %s: %w", shim, err)
	}
	if fs.Flags&unix.ST_NOSUID != 0 {
		options = append(options, "nosuid")
	}
	return doc.Mount{Destination: shimPlace(mounts), Type: "bind", Source: shim, Options: options}, nil
}

func shimPlace(mounts []doc.Mount) string {
	place := ""
	for _, dir := range []string{"/dev", "/run", "/tmp", "/dev/shm"} {
		// The last mount on a directory is the one that is seen.
		for _, m := range mounts {
			switch strings.TrimRight(m.Destination, "/") {
			case dir:
				place = ""
				if m.Type == "tmpfs" && !slices.Contains(m.Options, "ro") {
					place = dir + "/" + shimBase
				}
			case "":
				place = "" // something over all of the root
			}
		}
		if place != "" {
			return place
		}
	}
	return rootShim
}

// Injected tells whether Inject was here: the first argument is a shim that is
// mounted from ours, and an order for it is in the environment. An image can ask
// for the arguments and the environment, but not for the mount. An order without
// it is refused: at the mount door nobody can take it away from the shim.
func Injected(f *doc.File, shim string) (bool, error) {
	o, _, err := order.FromEnviron(f.Env())
	if o == nil && err == nil {
		return false, nil
	}
	args := f.Args()
	mounted := len(args) > 1 && slices.ContainsFunc(f.Mounts(), func(m doc.Mount) bool {
		return m.Destination == args[0] && sameFile(m.Source, shim)
	})
	if !mounted {
		return false, fmt.Errorf("process.env: %s stands there, which only envscrub may set", order.Variable)
	}
	if err != nil {
		return false, fmt.Errorf("process.env: %w", err)
	}
	return true, nil
}

func sameFile(a, b string) bool {
	var x, y unix.Stat_t
	return unix.Stat(a, &x) == nil && unix.Stat(b, &y) == nil && x.Dev == y.Dev && x.Ino == y.Ino
}
