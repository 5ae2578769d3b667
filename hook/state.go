package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/envscrub/envscrub/hook/doc"
)

// MaxInput bounds what a hook reads: a state holds the annotations, which are as
// long as somebody made them, and precreate's configuration the environment.
const MaxInput = doc.MaxSize

// usualInput is more than a state has as a rule, so that what is read need not be copied as it grows.
const usualInput = 4 << 10

// ReadInput reads a hook's standard input to its end, whatever it is: crun fails
// the container now and then when a hook goes without having read it all.
func ReadInput(r io.Reader) ([]byte, error) {
	var data bytes.Buffer
	data.Grow(usualInput)
	_, err := data.ReadFrom(io.LimitReader(r, MaxInput+1))
	var rest int64
	if data.Len() > MaxInput {
		var e error
		if rest, e = io.Copy(io.Discard, r); err == nil {
			err = e
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	if n := int64(data.Len()) + rest; n > MaxInput {
		return nil, fmt.Errorf("read standard input: it has %d bytes, more than the %d that are allowed", n, MaxInput)
	}
	return data.Bytes(), nil
}

// A State is what a runtime gives a hook on its standard input.
type State struct{ doc.State }

// ParseState reads a state and refuses one that a hook could not act on safely.
// The pid is not asked for: poststop has none.
func ParseState(data []byte) (*State, error) {
	if len(data) == 0 {
		return nil, errors.New("read the state: standard input is empty")
	}
	s, err := doc.ParseState(data)
	if err == nil {
		err = CheckID(s.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	return &State{*s}, nil
}

// CheckID refuses a container's id that could not be a file's name. Runtimes
// allow letters, digits and _+-. only.
func CheckID(id string) error {
	if id == "" {
		return errors.New("id: it is missing")
	}
	if len(id) > 255 {
		return errors.New("id: it is too long")
	}
	for i := 0; i < len(id); i++ {
		c := id[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '+' || c == '-' || c == '.') {
			return fmt.Errorf("id: %q is not a container's id", id)
		}
	}
	if id == "." || id == ".." {
		return fmt.Errorf("id: %q is not a container's id", id)
	}
	return nil
}

// Config returns where the bundle's config.json is.
func (s *State) Config() (string, error) {
	if s.Bundle == "" {
		return "", errors.New("read the state: bundle: it is missing")
	}
	if !filepath.IsAbs(s.Bundle) {
		return "", errors.New("read the state: bundle: it is not an absolute path")
	}
	return filepath.Join(s.Bundle, "config.json"), nil
}

// describes refuses a bundle whose config.json is not the one that the runtime
// read, as far as that can be seen: crun's create -f names another file.
func (s *State) describes(f *doc.File) error {
	want := f.Annotations()
	same := len(s.Annotations) == len(want)
	for key, value := range s.Annotations {
		same = same && want[key] == value
	}
	if !same {
		return fmt.Errorf("read %s: its annotations are not the container's: the runtime was given another file, and a hook cannot know which", f.Path())
	}
	return nil
}

// rootPath is where the container's root is before the runtime pivots into it:
// what crun says, else what the configuration says.
func (s *State) rootPath(f *doc.File) string {
	root := s.Root
	if root == "" {
		root = f.Root().Path
	}
	if !filepath.IsAbs(root) {
		root = filepath.Join(s.Bundle, root)
	}
	return root
}
