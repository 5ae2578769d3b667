package podman

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/envscrub/envscrub/install"
)

const (
	systemHooks = "/usr/share/containers/oci/hooks.d"
	adminHooks  = "/etc/containers/oci/hooks.d"
)

// conf is what we need to know of the effective containers.conf.
type conf struct {
	hooksDirs    []string
	hooksFile    string // where hooksDirs was set; "" for Podman's default
	runtime      string
	runtimeFile  string
	runtimes     map[string][]string
	supportsJSON []string
}

// confFiles are the files that Podman reads, in its order; the later one wins.
func confFiles(o install.Options) ([]string, error) {
	files := []string{"/usr/share/containers/containers.conf", "/etc/containers/containers.conf"}
	dirs := []string{"/etc/containers/containers.conf.d"}
	if o.User != nil {
		files = append(files, filepath.Join(o.User.ConfigHome, "containers/containers.conf"))
		dirs = append(dirs, filepath.Join(o.User.ConfigHome, "containers/containers.conf.d"))
	}
	var out []string
	add := func(path string) {
		if _, err := os.Stat(o.Path(path)); err == nil {
			out = append(out, path)
		}
	}
	add(files[0])
	for i, dir := range dirs {
		add(files[i+1])
		entries, err := os.ReadDir(o.Path(dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries { // sorted by name, as Podman does
			if strings.HasSuffix(e.Name(), ".conf") {
				add(filepath.Join(dir, e.Name()))
			}
		}
	}
	return out, nil
}

// effective reads the configuration as Podman would; files named in without are
// left out.
func effective(o install.Options, without ...string) (*conf, error) {
	files, err := confFiles(o)
	if err != nil {
		return nil, err
	}
	c := &conf{
		hooksDirs:    []string{systemHooks},
		runtimes:     map[string][]string{},
		supportsJSON: []string{"crun", "runc", "kata", "runsc", "youki", "krun"},
	}
	for _, file := range files {
		if slices.Contains(without, file) {
			continue
		}
		data, err := os.ReadFile(o.Path(file))
		if err != nil {
			return nil, err
		}
		if err := c.merge(file, data); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Path(file), err)
		}
	}
	return c, nil
}

func (c *conf) merge(file string, data []byte) error {
	var doc struct {
		Engine struct {
			HooksDir     any              `toml:"hooks_dir"`
			Runtime      *string          `toml:"runtime"`
			Runtimes     map[string][]any `toml:"runtimes"`
			SupportsJSON any              `toml:"runtime_supports_json"`
		} `toml:"engine"`
	}
	if err := toml.Unmarshal(data, &doc); err != nil {
		if d, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, col := d.Position()
			return fmt.Errorf("%d:%d: Podman cannot read this either: %w", line, col, err)
		}
		return fmt.Errorf("not readable as TOML: %w", err)
	}
	e := doc.Engine
	if e.HooksDir != nil {
		dirs, err := list(e.HooksDir, c.hooksDirs)
		if err != nil {
			return fmt.Errorf("engine.hooks_dir: %w", err)
		}
		c.hooksDirs, c.hooksFile = dirs, file
	}
	if e.SupportsJSON != nil {
		names, err := list(e.SupportsJSON, c.supportsJSON)
		if err != nil {
			return fmt.Errorf("engine.runtime_supports_json: %w", err)
		}
		c.supportsJSON = names
	}
	if e.Runtime != nil {
		c.runtime, c.runtimeFile = *e.Runtime, file
	}
	for name, paths := range e.Runtimes {
		list, err := list(paths, nil)
		if err != nil {
			return fmt.Errorf("engine.runtimes.%s: %w", name, err)
		}
		c.runtimes[name] = list
	}
	return nil
}

// list reads an array of strings. An entry {append=true} (Podman 5) adds to what
// was there before instead of taking its place.
func list(value any, before []string) ([]string, error) {
	entries, ok := value.([]any)
	if !ok {
		return nil, errors.New("not an array of strings")
	}
	var out []string
	for _, entry := range entries {
		switch e := entry.(type) {
		case string:
			out = append(out, e)
		case map[string]any:
			if e["append"] == true {
				out = append(slices.Clone(before), out...)
			}
		default:
			return nil, errors.New("not an array of strings")
		}
	}
	return out, nil
}
