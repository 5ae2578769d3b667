package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/policy"
)

func newInstall(a *app) *cobra.Command {
	var host hostFlags
	var o install.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "install ENGINE",
		Short: "Register envscrub with a container engine",
		Long: `Register envscrub with a container engine. Its configuration is edited, not replaced: what is not
ours stays byte for byte, and "envscrub uninstall" gives back what was there. Installing twice
changes nothing: --default and --when stay as an earlier install set them, until they are given
again (--default=false takes the default back).

Doors:
  hook     an OCI hook (Podman, CRI-O): light; covers what a container starts with, not exec
  runtime  a wrapper in the runtime's place (Docker, Podman, CRI-O, containerd): covers exec
           and health checks too
  nri      an NRI plugin (CRI-O, containerd): convenient; the engine starts a container
           unchanged when it cuts the plugin off

What has to be restarted is said, and done only with --restart.`,
		Example: `  sudo envscrub install podman --via hook --when always
  sudo envscrub install docker --default --restart
  envscrub install podman --rootless`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: engineNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.NoDefault = cmd.Flags().Changed("default") && !o.Default
			e, opts, err := engineOptions(args[0], &host, o)
			if err != nil {
				return err
			}
			shim, err := preflight(opts)
			if err != nil {
				return fmt.Errorf("install %s: %w", e.Name(), err)
			}
			if found, why := e.Found(opts); !found {
				a.note("%s; its configuration is written all the same, and it could not be asked whether it reads it", why)
			}
			r, err := e.Install(opts)
			if err == nil {
				a.unasked(opts, r)
				a.label(opts, shim)
			}
			return a.report(asJSON, opts, "install")(r, err)
		},
	}
	f := cmd.Flags()
	host.add(f)
	f.StringVar(&o.Via, "via", "", "the door: `hook`, runtime or nri (default: the engine's first)")
	f.BoolVar(&o.Default, "default", false, "make the wrapper the engine's default runtime; --default=false takes that back")
	f.StringVar(&o.When, "when", "", "hook: run for containers with an `annotation` io.envscrub.* (the first install's default), or always")
	f.StringVar(&o.Config, "config", "", "the engine's configuration `file`, where it is not the standard one")
	f.BoolVar(&o.Restart, "restart", false, "restart or reload what must be")
	f.BoolVar(&o.DryRun, "dry-run", false, "say what would be done and change nothing")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// unasked says plainly what was chosen for somebody who chose nothing, where that
// leaves containers out.
func (a *app) unasked(o install.Options, r install.Report) {
	if o.Via != "" || r.Via != install.ViaHook {
		return
	}
	whose, rootless := "the host's "+r.Engine, ""
	if o.User != nil {
		whose = "the rootless " + r.Engine + " of this user"
	}
	if o.User != nil && os.Geteuid() == 0 {
		rootless = " --rootless"
	}
	earlier := install.Options{}.EarlierWhen(hookFile(r)) // a report has paths as they are opened here
	what := "only containers with an annotation io.envscrub.* are covered"
	if o.When == install.WhenAlways || earlier == install.WhenAlways {
		what = "exec and health checks are not covered"
	}
	done := "registered a hook"
	if o.DryRun {
		done = "would register a hook"
	}
	a.note("%s with %s; %s. For all containers, with exec and health checks: envscrub install %s%s --via runtime --default", done, whose, what, r.Engine, rootless)
}

// hookFile is the host path of the hook that a report is about.
func hookFile(r install.Report) string {
	for _, c := range r.Changes {
		if filepath.Base(c.Path) == install.HookFileName("createRuntime") {
			return c.Path
		}
	}
	return ""
}

func newUninstall(a *app) *cobra.Command {
	var host hostFlags
	var o install.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "uninstall ENGINE",
		Short: "Take envscrub out of a container engine's configuration",
		Long: `Take envscrub out of a container engine's configuration. A file that nobody else changed is given
back byte for byte; from one that was edited since, only our keys are taken. A default runtime
that was in place before comes back.

While running containers use the wrapper this is refused: the engine would need it to stop them.`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: engineNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, opts, err := engineOptions(args[0], &host, o)
			if err != nil {
				return err
			}
			opts.Recorded = wrapped(e.Name())
			return a.report(asJSON, opts, "uninstall")(e.Uninstall(opts))
		},
	}
	f := cmd.Flags()
	host.add(f)
	f.StringVar(&o.Via, "via", "", "only this door: `hook`, runtime or nri (default: all)")
	f.StringVar(&o.Config, "config", "", "the engine's configuration `file`, where it is not the standard one")
	f.BoolVar(&o.Restart, "restart", false, "restart or reload what must be")
	f.BoolVar(&o.DryRun, "dry-run", false, "say what would be done and change nothing")
	f.BoolVar(&o.Force, "force", false, "although running containers use the wrapper")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func engineOptions(name string, host *hostFlags, o install.Options) (install.Engine, install.Options, error) {
	e, err := engineByName(name)
	if err != nil {
		return nil, o, err
	}
	base, err := host.options()
	if err != nil {
		return nil, o, err
	}
	o.Root, o.BinDir, o.User = base.Root, base.BinDir, base.User
	if o.Via != "" && !slices.Contains(e.Doors(), o.Via) {
		return nil, o, usagef("%s has no door %q; it has %s", name, o.Via, strings.Join(e.Doors(), ", "))
	}
	if o.When != "" && o.When != install.WhenAnnotation && o.When != install.WhenAlways {
		return nil, o, usagef("--when %s: neither %s nor %s", o.When, install.WhenAnnotation, install.WhenAlways)
	}
	return e, o, nil
}

// label lets containers execute the shim where SELinux asks for that.
func (a *app) label(o install.Options, shim string) {
	if o.DryRun || o.User != nil {
		return
	}
	changed, err := install.LabelShim(o, shim)
	switch {
	case err != nil:
		a.note("%v; SELinux keeps containers from executing it without: %s", err, install.LabelCommand(shim))
	case changed:
		a.note("%s has an SELinux label now that lets containers execute it; it lasts until the file is replaced (the packages make it last)", shim)
	}
}

// preflight refuses an install after which no container would start: with a policy
// that does not load, or without the shim, which it returns.
// report: nvidia-container-toolkit PR#2023
func preflight(o install.Options) (shim string, err error) {
	shims := []string{filepath.Join(o.BinDir, "envscrub-shim"), filepath.Join(libexec, "envscrub-shim")}
	if o.Root == "" {
		loaded, err := (&policyFlags{}).load()
		if err != nil {
			return "", fmt.Errorf("no container would start with this policy: %w", err)
		}
		view, err := loaded.For(policy.Subject{})
		if err != nil {
			return "", fmt.Errorf("no container would start with this policy: %w", err)
		}
		if view.Shim != "" {
			shims = append(shims, view.Shim)
		}
	}
	shims = slices.Compact(shims)
	for _, shim = range shims {
		if install.Executable(o, shim) {
			return shim, nil
		}
	}
	return "", fmt.Errorf("no container would start: envscrub-shim is neither of %s", strings.Join(shims, ", "))
}

// report prints what an install or uninstall did.
func (a *app) report(asJSON bool, o install.Options, verb string) func(install.Report, error) error {
	return func(r install.Report, err error) error {
		if err != nil {
			err = fmt.Errorf("%s %s: %w", verb, r.Engine, err)
			if _, written := errors.AsType[*install.RestartError](err); !written {
				return err
			}
		}
		if asJSON {
			return errors.Join(printJSON(a.out, r), err)
		}
		return errors.Join(writeReport(a.out, r, o), err)
	}
}

func writeReport(w io.Writer, r install.Report, o install.Options) error {
	var b strings.Builder
	would := ""
	if o.DryRun {
		would = "would be "
	}
	for _, c := range r.Changes {
		fmt.Fprintf(&b, "%s%s: %s", would, c.Action, c.Path)
		if c.Backup != "" {
			fmt.Fprintf(&b, " (backup: %s)", c.Backup)
		}
		b.WriteByte('\n')
	}
	if len(r.Changes) == 0 {
		b.WriteString("nothing to do\n")
	}
	for _, s := range r.Restart {
		if s.Done {
			fmt.Fprintf(&b, "done: %s\n", strings.Join(s.Command, " "))
		} else {
			fmt.Fprintf(&b, "to do: %s  (%s)\n", strings.Join(s.Command, " "), s.Why)
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
