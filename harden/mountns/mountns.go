package mountns

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// A Namespace is the mount namespace of a process that is alive.
type Namespace struct {
	proc  int // /proc/<pid>, bound to this very process whatever becomes of the number
	pidfd int
	ns    int
	host  int // the mount namespace to return to
}

// Open finds the mount namespace of a process. It refuses one that is the
// caller's own: a mount in it would be on the host.
func Open(pid int) (_ *Namespace, err error) {
	n := &Namespace{-1, -1, -1, -1}
	defer func() {
		if err != nil {
			n.Close()
		}
	}()
	dir := "/proc/" + strconv.Itoa(pid)
	if n.pidfd, err = unix.PidfdOpen(pid, 0); err != nil {
		return nil, fmt.Errorf("open the container's process %d: %w", pid, err)
	}
	if n.proc, err = unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	// The number may have been given to another process between the two calls;
	// if the one behind pidfd is alive now, it was not.
	if err := unix.PidfdSendSignal(n.pidfd, 0, nil, 0); err != nil {
		return nil, fmt.Errorf("find the container's process %d: %w", pid, err)
	}
	if n.ns, err = unix.Openat(n.proc, "ns/mnt", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("open %s/ns/mnt: %w", dir, err)
	}
	if n.host, err = unix.Open("/proc/self/ns/mnt", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("open own mount namespace: %w", err)
	}
	same, err := sameFile(n.ns, n.host)
	if err != nil {
		return nil, fmt.Errorf("compare mount namespaces: %w", err)
	}
	if same {
		return nil, errors.New("the container has no mount namespace of its own, and nothing may be mounted on the host")
	}
	return n, nil
}

// Close gives the descriptors back.
func (n *Namespace) Close() {
	for _, fd := range []int{n.proc, n.pidfd, n.ns, n.host} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// Enter moves the calling thread into the namespace and keeps the goroutine on
// it, for good: a thread that was somewhere else must not serve another.
func (n *Namespace) Enter() error {
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("unshare the working directory: %w", err)
	}
	if err := unix.Setns(n.ns, unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("enter the container's mount namespace: %w", err)
	}
	return nil
}

// Outside runs f in the namespace that Enter left.
func (n *Namespace) Outside(f func() error) error {
	if err := unix.Setns(n.host, unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("return to own mount namespace: %w", err)
	}
	err := f()
	if e := unix.Setns(n.ns, unix.CLONE_NEWNS); e != nil && err == nil {
		err = fmt.Errorf("enter the container's mount namespace: %w", e)
	}
	return err
}

func sameFile(a, b int) (bool, error) {
	var x, y unix.Stat_t
	if err := unix.Fstat(a, &x); err != nil {
		return false, err
	}
	if err := unix.Fstat(b, &y); err != nil {
		return false, err
	}
	return x.Dev == y.Dev && x.Ino == y.Ino, nil
}

// clone makes a mount of one file that is attached nowhere yet: read-only, no
// devices. Flags that it has from where it comes stay, in a user namespace too.
func clone(file int) (int, error) {
	fd, err := unix.OpenTree(file, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH)
	if err != nil {
		return -1, fmt.Errorf("clone the mount: %w", err)
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &attr); err != nil {
		unix.Close(fd)
		if err == unix.ENOSYS {
			return -1, errors.New("mount_setattr: this needs Linux 5.12 or newer")
		}
		return -1, fmt.Errorf("make the mount read-only: %w", err)
	}
	return fd, nil
}
