package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Binary returns the absolute path of one of our programs as the engine will
// call it. The file must be there, executable, and not writable by everybody:
// an engine runs it as root.
func (o Options) Binary(name string) (string, error) {
	if !filepath.IsAbs(o.BinDir) {
		return "", fmt.Errorf("%q: the directory of envscrub's programs must be an absolute path", o.BinDir)
	}
	path := filepath.Join(o.BinDir, name)
	info, err := os.Stat(o.Path(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: not there; install it, or name its directory with --bin-dir", o.Path(path))
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		return "", fmt.Errorf("%s: not an executable file", o.Path(path))
	case info.Mode().Perm()&0o002 != 0:
		return "", fmt.Errorf("%s: anybody may write to it (mode %04o), and an engine would run it; chmod o-w first", o.Path(path), info.Mode().Perm())
	}
	return path, nil
}

// Wrapper returns the wrapper as the engine will call it, in the place of the
// runtime low (a name or a path; "" when nobody has chosen one). Packages have a
// link for each runtime, such as envscrub-crun, under which the wrapper calls
// that one; otherwise the policy's `runtimes` say which. pinned tells whether it
// is such a link.
func (o Options) Wrapper(low string) (path string, pinned bool, err error) {
	if base := filepath.Base(low); low != "" && base != "runc" {
		if link := filepath.Join(o.BinDir, wrapperPrefix+base); base != "runtime" && Executable(o, link) {
			path, err = o.Binary(wrapperPrefix + base)
			return path, true, err
		}
	}
	path, err = o.Binary("envscrub-runtime")
	return path, false, err
}

const wrapperPrefix = "envscrub-"

// IsWrapper reports whether a configured runtime is ours, under whatever name.
func IsWrapper(path string) bool {
	return strings.HasPrefix(filepath.Base(path), wrapperPrefix)
}
