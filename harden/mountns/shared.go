package mountns

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrShared says that a mount over a file would show outside of the container.
var ErrShared = errors.New("it is on a mount that is shared with the host, where the shim's mount would show; use the runtime wrapper")

// Unshared refuses a file whose mount is in a peer group: what is mounted there is
// mounted everywhere. To be called after Enter. It reads the list of all mounts, so
// it is for containers whose configuration can make such a mount.
func Unshared(file int) error {
	var st unix.Statx_t
	if err := unix.Statx(file, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &st); err != nil {
		return fmt.Errorf("find the mount of a file: %w", err)
	}
	data, err := os.ReadFile("/proc/thread-self/mountinfo")
	if err != nil {
		return fmt.Errorf("list the mounts: %w", err)
	}
	id := strconv.FormatUint(st.Mnt_id, 10)
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) < 7 || fields[0] != id {
			continue
		}
		for _, tag := range fields[6:] {
			if tag == "-" {
				return nil
			}
			if strings.HasPrefix(tag, "shared:") {
				return ErrShared
			}
		}
	}
	return errors.New("find the mount of a file: it is not in the list")
}
