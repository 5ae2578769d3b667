package hook

import (
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/opencontainers/runc/libcontainer/user"
	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/hook/doc"
	"github.com/envscrub/envscrub/policy"
)

// imageKeys are the annotations in which engines name the image, over whatever a
// pod's author or an image's wrote there: CRI-O, containerd (CRI). No other key
// counts: Podman copies the annotations of an image, which could call itself anything.
var imageKeys = [...]string{
	"io.kubernetes.cri-o.ImageName",
	"io.kubernetes.cri.image-name",
}

// ImageOf names the image by the annotations of the engine, "" where none does
// (Docker and Podman tell a runtime no image).
func ImageOf(annotations map[string]string) string {
	if annotations["io.container.manager"] == "libpod" {
		return "" // the user's or the image's own
	}
	for _, key := range imageKeys {
		if name := annotations[key]; name != "" {
			return name
		}
	}
	return ""
}

// Sandbox tells whether the annotations are those of a pod's pause container,
// which runs no agent and is not touched. Only the engine's own word counts, which it
// sets over whatever a pod's author or a user writes: CRI-O passes a pod's
// annotations on, containerd's key among them, and Podman those of its command line.
func Sandbox(annotations map[string]string) bool {
	manager := annotations["io.container.manager"]
	if manager == "libpod" {
		return false
	}
	if kind, ok := annotations["io.kubernetes.cri-o.ContainerType"]; ok {
		return kind == "sandbox"
	}
	return annotations["io.kubernetes.cri.container-type"] == "sandbox" && manager == ""
}

// SubjectOf describes a container for the choice of a profile.
func SubjectOf(f *doc.File, id string) policy.Subject {
	annotations := f.Annotations()
	return policy.Subject{
		ContainerID: id,
		Image:       ImageOf(annotations),
		User:        strconv.Itoa(int(f.UID())) + ":" + strconv.Itoa(int(f.User().GID)),
		UserName:    userName(rootPath(f), f.UID()),
		Args:        f.Args(),
		Annotations: annotations,
	}
}

// rootPath is where the root file system is, by a configuration that was read
// from a bundle or, as in the precreate stage, from elsewhere; "" where that
// cannot be told.
func rootPath(f *doc.File) string {
	path := f.Root().Path
	switch {
	case path == "", filepath.IsAbs(path):
		return path
	case f.Path() == "":
		return ""
	}
	return filepath.Join(filepath.Dir(f.Path()), path)
}

// maxPasswd bounds what is read of the image's passwd file.
const maxPasswd = 1 << 20

// userName looks a user up in the container's own passwd file, "" where there is
// none. The file is the image's: it names its users as it likes.
func userName(root string, uid uint32) string {
	if root == "" {
		return ""
	}
	dir, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(dir)
	// Not blocking: the image may have a FIFO there.
	fd, err := unix.Openat2(dir, "etc/passwd", &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return ""
	}
	file := os.NewFile(uintptr(fd), "passwd")
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	users, err := user.ParsePasswdFilter(io.LimitReader(file, maxPasswd), func(u user.User) bool { return u.Uid == int(uid) })
	if err != nil || len(users) == 0 {
		return ""
	}
	return users[0].Name
}
