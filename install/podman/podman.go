package podman

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/envscrub/envscrub/install"
)

// Engine is Podman.
type Engine struct{}

// Name implements install.Engine.
func (Engine) Name() string { return "podman" }

// Doors implements install.Engine.
func (Engine) Doors() []string { return []string{install.ViaHook, install.ViaRuntime} }

// Found implements install.Engine.
func (Engine) Found(o install.Options) (bool, string) { return install.FindProgram(o, "podman") }

// The drop-ins: two, so that the doors come and go one by one.
const (
	hooksDropIn   = "50-envscrub-hooks.conf"
	runtimeDropIn = "50-envscrub-runtime.conf"
)

func dropInDir(o install.Options) string {
	if o.User != nil {
		return filepath.Join(o.User.ConfigHome, "containers/containers.conf.d")
	}
	return "/etc/containers/containers.conf.d"
}

// ownHooksDir is where our hooks go when nobody has configured a directory.
func ownHooksDir(o install.Options) string {
	if o.User != nil {
		return filepath.Join(o.User.ConfigHome, "containers/oci/hooks.d")
	}
	return adminHooks
}

// Install implements install.Engine.
func (e Engine) Install(o install.Options) (install.Report, error) {
	r := install.Report{Engine: e.Name(), Via: o.Via}
	if !o.DryRun {
		if err := noOverride(o); err != nil {
			return r, err
		}
	}
	p, err := install.NewPlan(o, ledger(o))
	if err != nil {
		return r, err
	}
	switch o.Via {
	case install.ViaHook, "":
		r.Via = install.ViaHook
		if o.Default {
			return r, fmt.Errorf("--default is for --via runtime; hooks have --when %s|%s", install.WhenAnnotation, install.WhenAlways)
		}
		err = planHook(p, o, &r)
	case install.ViaRuntime:
		err = planRuntime(p, o, &r)
	default:
		return r, fmt.Errorf("podman has no door %q; it has %s", o.Via, strings.Join(e.Doors(), " and "))
	}
	if err != nil {
		return r, err
	}
	if err := p.Commit(); err != nil {
		return r, err
	}
	r.Changes = p.Changes()
	if o.Root == "" && !o.DryRun {
		if err := verifyEffective(o, r.Via); err != nil {
			// Registered where nobody reads it is worse than not at all: it looks done.
			back := o
			back.Via, back.Force = r.Via, true
			_, undo := e.Uninstall(back)
			return r, errors.Join(err, undo)
		}
	}
	return r, nil
}

func ledger(o install.Options) string {
	if o.User != nil {
		return "podman-rootless"
	}
	return "podman"
}

// noOverride refuses what would make a drop-in look effective to us and not be so.
func noOverride(o install.Options) error {
	if o.Root != "" {
		return nil
	}
	for _, name := range []string{"CONTAINERS_CONF", "CONTAINERS_CONF_OVERRIDE"} {
		if os.Getenv(name) != "" {
			return fmt.Errorf("%s is set: Podman would be configured by another file than the drop-in; unset it and try again", name)
		}
	}
	return nil
}

func planHook(p *install.Plan, o install.Options, r *install.Report) error {
	if o.When == "" {
		o.When = o.EarlierWhen(filepath.Join(ownHooksDir(o), install.HookFileName("createRuntime")))
	}
	hook, err := o.Binary("envscrub-hook")
	if err != nil {
		return err
	}
	files, err := install.HookFiles(hook, o.When, o.User)
	if err != nil {
		return err
	}
	dropIn := filepath.Join(dropInDir(o), hooksDropIn)
	c, err := effective(o, dropIn)
	if err != nil {
		return err
	}
	own, dirs := ownHooksDir(o), c.hooksDirs
	if c.hooksFile != "" && c.hooksFile > dropIn && !slices.Contains(dirs, own) && filepath.Dir(c.hooksFile) == filepath.Dir(dropIn) {
		return fmt.Errorf("%s: sets hooks_dir without %s and is read after %s; add the directory there", o.Path(c.hooksFile), own, hooksDropIn)
	}
	if c.hooksFile == "" && o.User != nil {
		// Podman's default does not hold for users; one that does not exist would disable ours.
		dirs = existing(o, dirs)
	}
	if !slices.Contains(dirs, own) {
		dirs = append(slices.Clone(dirs), own)
	}
	if c.hooksFile == "" || !slices.Contains(c.hooksDirs, own) {
		if err := p.Put(dropIn, 0o644, hooksConf(dirs)); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := p.Put(filepath.Join(own, f.Name), 0o644, f.Data); err != nil {
			return err
		}
	}
	for _, dir := range dirs {
		if dir == own {
			continue
		}
		// One directory that is missing makes Podman skip all of them in silence.
		if err := p.Mkdir(dir); err != nil {
			return fmt.Errorf("%w; Podman runs no hook at all while a directory of hooks_dir is missing", err)
		}
	}
	when := "with an annotation io.envscrub.* (podman run --annotation " + install.Annotation + "=NAME …)"
	if o.When == install.WhenAlways {
		when = "of every container"
	}
	r.Notes = append(r.Notes,
		"runs at the start "+when+"; the next podman run uses it",
		"not covered by this door: podman exec and health checks, which take their environment from Podman's database; --via runtime covers them",
	)
	if o.User == nil {
		r.Notes = append(r.Notes, "a running Podman service (podman.socket) reads its configuration when it starts: systemctl restart podman.service")
	}
	return nil
}

func existing(o install.Options, dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		if info, err := os.Stat(o.Path(dir)); err == nil && info.IsDir() {
			out = append(out, dir)
		}
	}
	return out
}

func hooksConf(dirs []string) []byte {
	return []byte("# Written by envscrub install podman --via hook; envscrub uninstall podman takes it away.\n" +
		"[engine]\nhooks_dir = " + tomlList(dirs) + "\n")
}

func planRuntime(p *install.Plan, o install.Options, r *install.Report) error {
	if o.When != "" {
		return fmt.Errorf("--when is for --via hook; a runtime is chosen by podman --runtime, or for all by --default")
	}
	dropIn := filepath.Join(dropInDir(o), runtimeDropIn)
	c, err := effective(o, dropIn)
	if err != nil {
		return err
	}
	if !o.NoDefault && !o.Default {
		if o.Default, err = wasDefault(o, dropIn); err != nil {
			return err
		}
	}
	wrapper, pinned, err := o.Wrapper(c.runtime)
	if err != nil {
		return err
	}
	if paths, ok := c.runtimes[install.RuntimeName]; ok {
		if o.User != nil && strings.HasPrefix(filepath.Base(paths[0]), "envscrub-") {
			return fmt.Errorf("the runtime %q is there already, for every user of this host; choose it by runtime = %q under [engine] in ~/.config/containers/containers.conf, or by podman --runtime %s",
				install.RuntimeName, install.RuntimeName, install.RuntimeName)
		}
		return fmt.Errorf("a runtime %q is configured already, as %s; remove it first", install.RuntimeName, strings.Join(paths, ", "))
	}
	if o.Default && c.runtimeFile > dropIn && filepath.Dir(c.runtimeFile) == filepath.Dir(dropIn) {
		return fmt.Errorf("%s: sets runtime = %q and is read after %s; change it there", o.Path(c.runtimeFile), c.runtime, runtimeDropIn)
	}
	var b bytes.Buffer
	b.WriteString("# Written by envscrub install podman --via runtime; envscrub uninstall podman takes it away.\n[engine]\n")
	if o.Default {
		fmt.Fprintf(&b, "runtime = %s\n", tomlString(install.RuntimeName))
	}
	// Without its name in this list Podman does not read the runtime's error messages, and their exit codes are lost.
	fmt.Fprintf(&b, "runtime_supports_json = %s\n", tomlList(append(slices.Clone(c.supportsJSON), install.RuntimeName)))
	fmt.Fprintf(&b, "[engine.runtimes]\n%s = %s\n", install.RuntimeName, tomlList([]string{wrapper}))
	if err := p.Put(dropIn, 0o644, b.Bytes()); err != nil {
		return err
	}
	if o.Default {
		before := c.runtime
		if before == "" {
			before = "Podman's own choice"
		}
		which := "the policy's `runtimes` say which runtime does the work"
		if pinned {
			which = c.runtime + " still does the work"
		}
		r.Notes = append(r.Notes, "default runtime: "+install.RuntimeName+" instead of "+before+"; "+which)
	} else {
		r.Notes = append(r.Notes, "used where it is asked for: podman --runtime "+install.RuntimeName+" run …")
	}
	r.Notes = append(r.Notes, "containers that exist keep the runtime that they were created with",
		"not covered: podman build, which starts its steps with a runtime of its own choice (--runtime)")
	return nil
}

// wasDefault reports whether an earlier install made the wrapper the default.
func wasDefault(o install.Options, dropIn string) (bool, error) {
	data, err := os.ReadFile(o.Path(dropIn))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c := &conf{runtimes: map[string][]string{}}
	if err := c.merge(dropIn, data); err != nil {
		return false, fmt.Errorf("%s: %w", o.Path(dropIn), err)
	}
	return c.runtime == install.RuntimeName, nil
}

func tomlList(items []string) string {
	quoted := make([]string, len(items))
	for i, s := range items {
		quoted[i] = tomlString(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func tomlString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(s) + `"`
}

// Uninstall implements install.Engine.
func (e Engine) Uninstall(o install.Options) (install.Report, error) {
	r := install.Report{Engine: e.Name(), Via: o.Via}
	p, err := install.NewPlan(o, ledger(o))
	if err != nil {
		return r, err
	}
	if o.Via != "" && !slices.Contains(e.Doors(), o.Via) {
		return r, fmt.Errorf("podman has no door %q; it has %s", o.Via, strings.Join(e.Doors(), " and "))
	}
	runtimeFile := filepath.Join(dropInDir(o), runtimeDropIn)
	if o.Via != install.ViaHook {
		if _, err := os.Stat(o.Path(runtimeFile)); err == nil && o.Root == "" && !o.Force {
			if err := install.RefuseLive(live(), "podman"); err != nil {
				return r, err
			}
		}
	}
	files := p.Registered()
	for _, file := range []string{runtimeFile, filepath.Join(dropInDir(o), hooksDropIn), filepath.Join(ownHooksDir(o), install.HookFileName("createRuntime")), filepath.Join(ownHooksDir(o), install.HookFileName("poststop"))} {
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	for _, file := range files {
		if isRuntime := file == runtimeFile; o.Via == "" || isRuntime == (o.Via == install.ViaRuntime) {
			if err := p.Drop(file); err != nil {
				return r, err
			}
		}
	}
	if err := p.Commit(); err != nil {
		return r, err
	}
	r.Changes = p.Changes()
	if slices.ContainsFunc(r.Changes, func(c install.Change) bool { return filepath.Base(c.Path) == runtimeDropIn }) {
		r.Notes = append(r.Notes, "stopped containers that were created with the runtime "+install.RuntimeName+" do not start any more: create them again")
	}
	return r, nil
}

// live names the running containers that our runtime started.
func live() []string {
	ids, err := exec.Command("podman", "ps", "--quiet", "--no-trunc").Output()
	if err != nil || len(bytes.TrimSpace(ids)) == 0 {
		return nil
	}
	args := append([]string{"inspect", "--format", "{{.OCIRuntime}} {{.Name}}"}, strings.Fields(string(ids))...)
	out, _ := exec.Command("podman", args...).Output() // one that ended meanwhile is no reason to refuse
	return install.OfRuntime(string(out))
}
