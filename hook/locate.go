package hook

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/hook/doc"
)

// Whereabouts says whether an entrypoint is there, before any mount is made.
type Whereabouts int

// Unknown is where a mount hides what cannot be seen from outside.
const (
	Unknown Whereabouts = iota
	Found
	Missing
)

// Locate tells whether the entrypoint of a configuration is there, by the root
// file system and the sources of the mounts, through symbolic links as the
// container will see them. It decides nothing but whose error message a missing
// entrypoint gets.
func Locate(f *doc.File) Whereabouts {
	root := rootPath(f)
	if root == "" {
		return Unknown
	}
	fd, err := unix.Open(root, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		fd = -1
	} else {
		defer unix.Close(fd)
	}
	l := locator{root: fd, bundle: filepath.Dir(f.Path()), mounts: f.Mounts()}
	where := Missing
	for _, search := range (Command{f.Args(), f.Env(), f.Cwd()}).searches() {
		for _, path := range search {
			switch l.look(path) {
			case Found:
				return Found
			case Unknown:
				where = Unknown
			}
		}
	}
	return where
}

type locator struct {
	root   int // open, or -1 where it cannot be
	bundle string
	mounts []doc.Mount
}

// look follows a path from component to component.
func (l *locator) look(path string) Whereabouts {
	at := "/"
	links := 0
	rest := components(path)
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		at = filepath.Join(at, name)
		fd, where := l.open(at)
		if where == Missing && len(rest) > 0 && l.leads(at) {
			continue // the runtime makes the directory for the mount
		}
		if where != Found {
			return where
		}
		var st unix.Stat_t
		err := unix.Fstat(fd, &st)
		if err == nil && len(rest) == 0 && st.Mode&unix.S_IFMT != unix.S_IFLNK {
			ok, _, e := executable(fd)
			unix.Close(fd)
			if e == nil && ok {
				return Found
			}
			return Missing
		}
		if err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			target := make([]byte, unix.PathMax)
			n, e := unix.Readlinkat(fd, "", target)
			if links++; e != nil || links > 40 {
				unix.Close(fd)
				return Missing
			}
			at = filepath.Dir(at)
			if target[0] == '/' {
				at = "/"
			}
			rest = slices.Concat(components(string(target[:n])), rest)
		}
		unix.Close(fd)
		if err != nil {
			return Unknown
		}
	}
	return Missing // a directory
}

// leads tells whether a mount is below a directory.
func (l *locator) leads(dir string) bool {
	return slices.ContainsFunc(l.mounts, func(m doc.Mount) bool {
		return strings.HasPrefix(filepath.Clean("/"+m.Destination), dir+"/")
	})
}

func components(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" || s == "." })
}

// open opens a path of the container that has no symbolic link in it but perhaps
// the last component.
func (l *locator) open(path string) (int, Whereabouts) {
	below := path
	source, within, seen := "", l.root, l.root >= 0 // in a directory that is open, else in the source of a mount
	for _, m := range l.mounts {
		dir := filepath.Clean("/" + m.Destination)
		under, ok := strings.CutPrefix(path, dir)
		if !ok || dir != "/" && under != "" && under[0] != '/' {
			continue
		}
		switch {
		case m.Type == "bind" || m.Type == "none" || slices.Contains(m.Options, "bind") || slices.Contains(m.Options, "rbind"):
			source, within, seen, below = m.Source, -1, true, under
			if !filepath.IsAbs(source) {
				source = filepath.Join(l.bundle, source)
			}
		default:
			seen = false // made when the container is: what will be in it cannot be seen
		}
	}
	if !seen {
		return -1, Unknown
	}
	below = strings.Trim(below, "/")
	if within < 0 {
		fd, err := unix.Open(source, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1, Unknown
		}
		if below == "" {
			return fd, Found
		}
		defer unix.Close(fd)
		within = fd
	}
	inner, err := unix.Openat2(within, below, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_BENEATH,
	})
	switch err {
	case nil:
		return inner, Found
	case unix.ENOENT, unix.ENOTDIR, unix.ENAMETOOLONG:
		return -1, Missing
	}
	return -1, Unknown
}
