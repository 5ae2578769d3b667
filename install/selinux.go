package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	selinuxAttr = "security.selinux" // selinux(8)
	// shimType is what containers may read and execute and nobody in them may write
	// (container_selinux(8)); shimTypes do as well.
	shimType = "container_ro_file_t"
)

var shimTypes = []string{shimType, "container_file_t"}

// SELinuxOn reports whether the kernel enforces, or would report, SELinux rules.
func SELinuxOn(o Options) bool {
	_, err := os.Stat(o.Path("/sys/fs/selinux/enforce"))
	return err == nil
}

// ShimLabel returns the SELinux label of the file, and whether containers may
// execute a file of that label.
func ShimLabel(o Options, shim string) (label string, ok bool, err error) {
	buf := make([]byte, 256)
	n, err := unix.Getxattr(o.Path(shim), selinuxAttr, buf)
	if errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("%s: read its SELinux label: %w", o.Path(shim), err)
	}
	label = strings.TrimRight(string(buf[:n]), "\x00")
	return label, slices.Contains(shimTypes, typeOf(label)), nil
}

// typeOf is the third part of USER:ROLE:TYPE:LEVEL.
func typeOf(label string) string {
	parts := strings.SplitN(label, ":", 4)
	if len(parts) < 3 {
		return ""
	}
	return parts[2]
}

// LabelShim gives the shim a label under which containers may execute it, where
// SELinux is on and it has none. changed tells whether it did.
func LabelShim(o Options, shim string) (changed bool, err error) {
	if !SELinuxOn(o) {
		return false, nil
	}
	label, ok, err := ShimLabel(o, shim)
	if err != nil || ok {
		return false, err
	}
	parts := strings.SplitN(label, ":", 4)
	if len(parts) < 4 {
		parts = []string{"system_u", "object_r", "", "s0"}
	}
	parts[2] = shimType
	err = unix.Setxattr(o.Path(shim), selinuxAttr, append([]byte(strings.Join(parts, ":")), 0), 0)
	if err != nil {
		return false, &fs.PathError{Op: "label", Path: o.Path(shim), Err: err}
	}
	return true, nil
}

// LabelCommand is LabelShim for people; it lasts until the file is replaced.
func LabelCommand(shim string) string { return "chcon -t " + shimType + " " + shim }
