package wrapper

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/hook/doc"
)

// A state is what a runtime keeps of a container, as far as it is asked for here.
type state struct {
	bundle string
	pid    int
}

var errNoState = errors.New("the runtime's state of the container cannot be read")

// stateOf reads what runc or crun keeps under its root.
func stateOf(root, id string) (*state, error) {
	dir := filepath.Join(root, id)
	// doc reads it for its scanner; what it looks at in a config.json is not in
	// these.
	if f, err := doc.Open(filepath.Join(dir, "state.json")); err == nil {
		return runcState(f)
	}
	f, err := doc.Open(filepath.Join(dir, "status"))
	if err != nil {
		return nil, err
	}
	bundle, err := f.RawString("bundle")
	if err != nil {
		return nil, err
	}
	return newState(f, bundle, "pid")
}

func runcState(f *doc.File) (*state, error) {
	labels, err := f.Raw("config", "labels")
	if err != nil {
		return nil, err
	}
	if labels == "" {
		labels = "[]"
	}
	list, err := doc.ParseProcess([]byte(`{"args":` + labels + `}`))
	if err != nil {
		return nil, errNoState
	}
	bundle := ""
	for _, l := range list.Args() {
		if dir, ok := strings.CutPrefix(l, "bundle="); ok {
			bundle = dir
		}
	}
	return newState(f, bundle, "init_process_pid")
}

func newState(f *doc.File, bundle, key string) (*state, error) {
	raw, err := f.Raw(key)
	if err != nil {
		return nil, err
	}
	pid, err := strconv.Atoi(raw)
	if err != nil || bundle == "" {
		return nil, errNoState
	}
	return &state{bundle, pid}, nil
}

// alive tells whether the container's first process is there.
func (s *state) alive() bool {
	if s.pid <= 0 {
		return false
	}
	data, err := os.ReadFile("/proc/" + strconv.Itoa(s.pid) + "/stat")
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ESRCH)
	}
	// The state stands behind the name, which ends at the last parenthesis.
	_, rest, _ := strings.Cut(string(data[strings.LastIndexByte(string(data), ')')+1:]), " ")
	return rest == "" || rest[0] != 'Z' && rest[0] != 'X'
}
