package crio

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/tomledit"
)

const (
	defaultConf    = "/etc/crio/crio.conf"
	defaultConfDir = "/etc/crio/crio.conf.d"
	dropInName     = "50-envscrub.conf"
	// CRI-O's built-in hooks_dir, and the administrator's directory of oci-hooks(5).
	vendorHooks = "/usr/share/containers/oci/hooks.d"
	adminHooks  = "/etc/containers/oci/hooks.d"
)

// conf is CRI-O's configuration as its files have it.
type conf struct {
	dir       string // the drop-in directory in effect
	hooksDirs []string
	hooksFile string // the last file that sets hooks_dir; "" is CRI-O's default
	runtime   string // default_runtime; "" is CRI-O's default
	handlers  map[string]map[string]any
	handlerAt map[string]string // the file that defined a handler last
	nri       map[string]any
	nriFile   string // the last file that says anything of it
	files     []string
}

// units are the places of CRI-O's command line.
var units = []string{
	"/usr/lib/systemd/system/crio.service", "/lib/systemd/system/crio.service",
	"/run/systemd/system/crio.service", "/etc/systemd/system/crio.service",
	"/usr/lib/systemd/system/crio.service.d", "/run/systemd/system/crio.service.d", "/etc/systemd/system/crio.service.d",
	"/etc/default/crio", "/etc/sysconfig/crio", "/etc/sysconfig/crio-network",
}

var (
	dirFlag  = regexp.MustCompile(`(?:^|[\s"'=])(?:--config-dir|-d)[=\s]+["']?(/[^\s"']+)`)
	confFlag = regexp.MustCompile(`(?:^|[\s"'=])(?:--config|-c)[=\s]+["']?(/[^\s"']+)`)
	dirEnv   = regexp.MustCompile(`(?m)^\s*(?:Environment="?)?CONTAINER_CONFIG_DIR="?(/[^\s"']+)`)
	confEnv  = regexp.MustCompile(`(?m)^\s*(?:Environment="?)?CONTAINER_CONFIG="?(/[^\s"']+)`)
)

// places finds the file and the directory that the daemon is told to read.
func places(o install.Options) (file, dir string, err error) {
	file, dir = defaultConf, defaultConfDir
	if o.Config != "" {
		return o.Config, o.Config + ".d", nil
	}
	texts, err := install.Units(o, units...)
	if err != nil {
		return "", "", err
	}
	for _, text := range texts {
		for _, m := range []struct {
			re *regexp.Regexp
			to *string
		}{{dirEnv, &dir}, {confEnv, &file}, {dirFlag, &dir}, {confFlag, &file}} {
			if found := m.re.FindAllStringSubmatch(text, -1); len(found) > 0 {
				*m.to = found[len(found)-1][1]
			}
		}
	}
	return file, dir, nil
}

// read reads CRI-O's files in its order, without the one named skip.
func read(o install.Options, skip string) (*conf, error) {
	file, dir, err := places(o)
	if err != nil {
		return nil, err
	}
	c := &conf{dir: dir, hooksDirs: []string{vendorHooks}, handlers: map[string]map[string]any{}, handlerAt: map[string]string{}, nri: map[string]any{}}
	var drops []string
	entries, err := os.ReadDir(o.Path(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() {
			drops = append(drops, filepath.Join(dir, e.Name()))
		}
	}
	for _, host := range append([]string{file}, drops...) {
		if host == skip {
			continue
		}
		data, err := os.ReadFile(o.Path(host))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		doc, err := tomledit.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Path(host), err)
		}
		c.files = append(c.files, host)
		c.merge(host, doc)
	}
	return c, nil
}

func (c *conf) merge(host string, doc map[string]any) {
	run := tomledit.Table(doc, "crio", "runtime")
	if _, ok := run["hooks_dir"]; ok {
		c.hooksDirs, c.hooksFile = tomledit.Strings(run, "hooks_dir"), host
	}
	if name := tomledit.String(run, "default_runtime"); name != "" {
		c.runtime = name
	}
	for name, h := range tomledit.Table(run, "runtimes") {
		if table, ok := h.(map[string]any); ok {
			if c.handlers[name] == nil {
				c.handlers[name] = map[string]any{}
			}
			maps.Copy(c.handlers[name], table)
			c.handlerAt[name] = host
		}
	}
	if nri := tomledit.Table(doc, "crio", "nri"); nri != nil {
		maps.Copy(c.nri, nri)
		c.nriFile = host
	}
}

// base is the handler whose settings ours copies: the default one.
func (c *conf) base() (name string, table map[string]any) {
	name = c.runtime
	if name == "" || name == install.RuntimeName {
		for _, usual := range []string{"crun", "runc"} {
			if c.handlers[usual] != nil {
				return usual, c.handlers[usual]
			}
		}
		if len(c.handlers) == 1 {
			for only := range maps.Keys(c.handlers) {
				return only, c.handlers[only]
			}
		}
		return name, nil
	}
	return name, c.handlers[name]
}

func handlerPath(name string) []string { return []string{"crio", "runtime", "runtimes", name} }

// dropIn is our file. keep are the tables of it that another door wrote.
func (c *conf) dropIn(doors doorset, wrapper string) ([]byte, error) {
	var b strings.Builder
	b.WriteString("# Written by envscrub install crio; envscrub uninstall crio takes it away.\n")
	if doors.isDefault || doors.hooksDir != nil {
		b.WriteString("\n[crio.runtime]\n")
		if doors.isDefault {
			b.WriteString("default_runtime = " + tomledit.Quote(install.RuntimeName) + "\n")
		}
		if doors.hooksDir != nil {
			b.WriteString("hooks_dir = " + tomledit.Array(doors.hooksDir) + "\n")
		}
	}
	if doors.runtime {
		table := map[string]any{}
		_, base := c.base()
		maps.Copy(table, base)
		// These say which program to run; that is what we replace.
		for _, key := range []string{"platform_runtime_paths", "inherit_default_runtime"} {
			delete(table, key)
		}
		table["runtime_path"] = wrapper
		if tomledit.String(table, "runtime_type") == "" {
			table["runtime_type"] = "oci"
		}
		fields, err := tomledit.Fields("", table)
		if err != nil {
			return nil, err
		}
		b.WriteString("\n" + tomledit.Header(handlerPath(install.RuntimeName)...) + "\n" + fields)
		for _, sub := range slices.Sorted(maps.Keys(table)) {
			if inner, ok := table[sub].(map[string]any); ok {
				fields, err := tomledit.Fields("", inner)
				if err != nil {
					return nil, err
				}
				b.WriteString("\n" + tomledit.Header(append(handlerPath(install.RuntimeName), sub)...) + "\n" + fields)
			}
		}
	}
	if doors.nri {
		b.WriteString("\n[crio.nri]\nenable_nri = true\n" +
			"\n# A pod with the annotation required-plugins.noderesource.dev: '[\"envscrub\"]' does not start while\n" +
			"# the plugin is away; without this validator CRI-O starts it unscrubbed.\n" +
			"[crio.nri.default_validator]\nnri_enable_default_validator = true\n")
	}
	return []byte(b.String()), nil
}
