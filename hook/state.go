package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// MaxState bounds the state that a hook reads. It holds the annotations, which
// are as long as somebody made them.
const MaxState = 16 << 20

// A State is what a runtime gives a hook on its standard input.
type State struct {
	ID          string            `json:"id"`
	Status      string            `json:"status"`
	Pid         int               `json:"pid"`
	Bundle      string            `json:"bundle"`
	Root        string            `json:"root"` // crun's addition
	Annotations map[string]string `json:"annotations"`
}

// ReadInput reads a hook's standard input to its end, whatever it is: crun fails
// the container now and then when a hook goes without having read it all.
func ReadInput(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	rest, e := io.Copy(io.Discard, r)
	if err == nil {
		err = e
	}
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	if n := int64(len(data)) + rest; n > limit {
		return nil, fmt.Errorf("read standard input: it has %d bytes, more than the %d that are allowed", n, limit)
	}
	return data, nil
}

// ParseState reads a state and refuses one that a hook could not act on safely.
// The pid is not asked for: poststop has none.
func ParseState(data []byte) (*State, error) {
	if len(data) == 0 {
		return nil, errors.New("read the state: standard input is empty")
	}
	s := &State{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("read the state: %w", reason(err))
	}
	if err := CheckID(s.ID); err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	if s.Pid < 0 {
		return nil, fmt.Errorf("read the state: pid: %d is not a process", s.Pid)
	}
	return s, nil
}

// reason says what is wrong with a document without a piece of it: an annotation
// may be a secret.
func reason(err error) error {
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) {
		return fmt.Errorf("%s: a JSON %s does not belong here", typ.Field, kind(typ.Value))
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("not JSON at byte %d", syntax.Offset)
	}
	return errors.New("not JSON")
}

// kind cuts "number -5" to "number".
func kind(value string) string {
	for i, c := range value {
		if c == ' ' {
			return value[:i]
		}
	}
	return value
}

// CheckID refuses a container's id that could not be a file's name. Runtimes
// allow letters, digits and _+-. only.
func CheckID(id string) error {
	if id == "" {
		return errors.New("id: it is missing")
	}
	if len(id) > 1024 {
		return errors.New("id: it is too long")
	}
	if id == "." || id == ".." {
		return fmt.Errorf("id: %q is not a container's id", id)
	}
	for i := 0; i < len(id); i++ {
		c := id[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '+' || c == '-' || c == '.') {
			return fmt.Errorf("id: %q is not a container's id", id)
		}
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
