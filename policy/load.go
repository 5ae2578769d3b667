package policy

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// systemDir is where the policy of the host stands. A variable so that tests can have their own.
var systemDir = "/etc/envscrub"

// LoadOptions says which files make the policy.
type LoadOptions struct {
	// Files are read instead of the standard places, in this order.
	Files []string
	// User reads $XDG_CONFIG_HOME/envscrub, else $HOME/.config/envscrub, over the system's files. It is for rootless
	// engines and ignored for real root, whose policy no environment may move.
	User bool
	// Lookup is the environment that User and secrets "env:NAME" are looked up in; nil is the process's own.
	Lookup func(string) (string, bool)
}

// Load reads, merges and validates the policy. With no file in the standard places it is Default. Its error is one
// line that says where, what and what to do, and holds no value.
func Load(o LoadOptions) (*Policy, error) {
	lookup := o.Lookup
	if lookup == nil {
		lookup = os.LookupEnv
	}
	root := sync.OnceValue(realRoot) // asked only when there is a file
	var files []string
	if o.Files != nil {
		files = o.Files
	} else {
		var err error
		if files, err = standard(systemDir, root); err != nil {
			return nil, err
		}
		if dir := userDir(lookup); o.User && dir != "" && !root() {
			more, err := standard(dir, func() bool { return false })
			if err != nil {
				return nil, err
			}
			files = append(files, more...)
		}
	}
	if len(files) == 0 {
		return Default(), nil
	}
	p := &Policy{}
	for _, file := range files {
		data, err := readFile(file, maxPolicySize, policyFile, o.Files == nil && root())
		if err != nil {
			return nil, err
		}
		if err := p.add(file, data); err != nil {
			return nil, err
		}
	}
	if err := p.finish(lookup); err != nil {
		return nil, err
	}
	return p, nil
}

// Parse is Load for one file whose text is given.
func Parse(file string, data []byte) (*Policy, error) {
	p := &Policy{}
	if err := p.add(file, data); err != nil {
		return nil, err
	}
	if err := p.finish(os.LookupEnv); err != nil {
		return nil, err
	}
	return p, nil
}

func userDir(lookup func(string) (string, bool)) string {
	if dir, ok := lookup("XDG_CONFIG_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "envscrub")
	}
	if home, ok := lookup("HOME"); ok && filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "envscrub")
	}
	return ""
}

// standard lists policy.toml and policy.d/*.toml of a directory, as far as they are there. A directory that others
// can write to is as bad as a file.
func standard(dir string, root func() bool) ([]string, error) {
	var files []string
	main := filepath.Join(dir, "policy.toml")
	switch _, err := os.Lstat(main); {
	case err == nil:
		files = append(files, main)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, unreadable(main, err)
	}
	parts := filepath.Join(dir, "policy.d")
	entries, err := os.ReadDir(parts)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable(parts, err)
	}
	for _, e := range entries { // sorted by name
		if name := e.Name(); strings.HasSuffix(name, ".toml") && !strings.HasPrefix(name, ".") {
			files = append(files, filepath.Join(parts, name))
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	dirs := []string{dir}
	if err == nil {
		dirs = append(dirs, parts)
	}
	for _, d := range dirs {
		info, err := os.Stat(d)
		if err != nil {
			return nil, unreadable(d, err)
		}
		if what := writableByOthers(info, root()); what != "" {
			return nil, &Error{At: Position{File: d}, What: "the directory is " + what + " " + d}
		}
	}
	return files, nil
}

func unreadable(file string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return &Error{At: Position{File: file}, What: "cannot be read: " + err.Error() + "; make it readable or remove it", Err: err}
}

// filePurpose decides how careful readFile is.
type filePurpose uint8

const (
	policyFile filePurpose = iota
	secretFile
)

// readFile reads a regular file of bounded size that nobody else could have written, and, for secrets, read.
func readFile(file string, limit int64, purpose filePurpose, root bool) ([]byte, error) {
	fail := func(what string) error { return &Error{At: Position{File: file}, What: what} }
	before, err := os.Stat(file) // opening a pipe would block
	if err != nil {
		return nil, unreadable(file, err)
	}
	if !before.Mode().IsRegular() {
		return nil, fail("is not a regular file; only those are read")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, unreadable(file, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable(file, err)
	}
	if !os.SameFile(before, info) {
		return nil, fail("was replaced while it was read; try again")
	}
	if what := writableByOthers(info, root); what != "" {
		return nil, fail("is " + what + " " + file)
	}
	if purpose == secretFile && readableByOthers(info) {
		return nil, fail("holds a secret and is readable by others; chmod o-rwx " + file)
	}
	// As much room as it takes at once: a buffer that grows is nearly as dear as all the rest.
	var data bytes.Buffer
	data.Grow(int(min(info.Size(), limit)) + bytes.MinRead)
	if _, err := data.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, unreadable(file, err)
	}
	if int64(data.Len()) > limit {
		return nil, fail("is larger than " + strconv.FormatInt(limit>>10, 10) + " KiB; use a smaller file")
	}
	return data.Bytes(), nil
}

// secret is a known value and where it comes from.
type secret struct {
	value  string
	source string // file or variable it was read from
	at     Position
}

// Bounds of the values of secrets.
const (
	maxSecretSize  = 64 << 10
	maxSecretFiles = 4096
)

// secretSources reads the list of secrets: "file:/absolute/path or glob", "env:NAME". Nothing else, so that no value
// can stand in a policy.
func (d *decoder) secretSources(v *value) []item {
	items := d.list(v, "secrets")
	for _, i := range items {
		path, isFile := strings.CutPrefix(i.text, "file:")
		name, isEnv := strings.CutPrefix(i.text, "env:")
		switch {
		case isFile && !absolute(path):
			d.fail(i.at, "secrets", "file: has to be followed by an absolute path")
		case isFile:
			if _, err := filepath.Match(path, ""); err != nil {
				d.fail(i.at, "secrets", "not a valid glob; correct it")
			}
		case isEnv && !ValidName(name):
			d.fail(i.at, "secrets", "env: has to be followed by the name of a variable")
		case !isFile && !isEnv:
			d.fail(i.at, "secrets", `an entry has to be "file:/path" or "env:NAME"; a value itself never stands in a policy`)
		}
	}
	return items
}

// read gives the values of a layer's secrets. A file is one value, as the secrets of Docker and Kubernetes are: one
// newline at its end does not count. A value that cannot be had is an error, for it would not be protected.
func (l *layer) read(lookup func(string) (string, bool)) error {
	for _, i := range l.secrets {
		fail := func(what string) error { return &Error{At: i.at, Key: "secrets", What: what} }
		if name, ok := strings.CutPrefix(i.text, "env:"); ok {
			value, ok := lookup(name)
			if !ok {
				return fail(name + " is not set in the environment of this program; set it or remove the entry")
			}
			l.known = append(l.known, secret{value, "env:" + name, i.at})
			continue
		}
		pattern := strings.TrimPrefix(i.text, "file:")
		files := []string{pattern}
		if strings.ContainsAny(pattern, `*?[\`) {
			// A glob may match nothing, but not because its directory is missing.
			if dir := filepath.Dir(pattern); !strings.ContainsAny(dir, `*?[\`) {
				if _, err := os.ReadDir(dir); err != nil {
					return within(i.at, "secrets", unreadable(dir, err))
				}
			}
			files, _ = filepath.Glob(pattern)
			files = slices.DeleteFunc(files, func(file string) bool {
				info, err := os.Stat(file)
				return err == nil && info.IsDir()
			})
		}
		if len(l.known)+len(files) > maxSecretFiles {
			return fail("more than " + strconv.Itoa(maxSecretFiles) + " files; name fewer")
		}
		for _, file := range files {
			data, err := readFile(file, maxSecretSize, secretFile, false)
			if err != nil {
				return within(i.at, "secrets", err)
			}
			text := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
			l.known = append(l.known, secret{text, "file:" + file, i.at})
		}
	}
	return nil
}

func within(at Position, key string, err error) error {
	return &Error{At: at, Key: key, What: err.Error(), Err: err}
}
