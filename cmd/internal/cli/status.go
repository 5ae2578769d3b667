package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/envscrub/envscrub/hook/record"
	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/policy"
)

func newStatus(a *app) *cobra.Command {
	var host hostFlags
	var flags policyFlags
	var asJSON bool
	var configs map[string]string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show where envscrub is registered, what it did last, and what is wrong",
		Long: `Show, for every engine that is found, how envscrub is registered; the policy; the programs and
whether they are of one version; what the kernel allows; the last containers that were handled
(names of variables only); and what is wrong, with the command that mends it.

Exit code 1 when something is wrong.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			o, err := host.options()
			if err != nil {
				return err
			}
			for name := range configs {
				if _, err := engineByName(name); err != nil {
					return err
				}
			}
			s := gather(o, configs, &flags)
			if asJSON {
				err = printJSON(a.out, s)
			} else {
				err = s.write(a.out)
			}
			if err == nil && len(s.Problems) > 0 {
				return failed
			}
			return err
		},
	}
	host.add(cmd.Flags())
	flags.addFiles(cmd.Flags())
	cmd.Flags().StringToStringVar(&configs, "config", nil, "`ENGINE=FILE`: an engine's configuration file, where it is not the standard one")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

type status struct {
	Version  string            `json:"version"`
	Engines  []install.Status  `json:"engines"`
	Policy   policyStatus      `json:"policy"`
	Programs []programStatus   `json:"programs"`
	Kernel   kernelStatus      `json:"kernel"`
	Last     []*record.Record  `json:"last"`
	Problems []install.Problem `json:"problems"`
}

type policyStatus struct {
	Files   []string `json:"files"` // none: the built-in rules
	Mode    string   `json:"mode"`
	Summary string   `json:"summary"`
}

type programStatus struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	Version string `json:"version"` // "missing" when it is not there
}

// programs are what has to be of one version.
var programs = []string{"envscrub-hook", "envscrub-runtime", "envscrub-shim", "envscrub-nri"}

func gather(o install.Options, configs map[string]string, flags *policyFlags) *status {
	s := &status{Version: buildVersion(), Engines: []install.Status{}, Last: []*record.Record{}, Problems: []install.Problem{}}
	registered := false
	vias := map[string]bool{}
	for _, e := range engines {
		own := o
		own.Config = configs[e.Name()]
		es := e.Status(own)
		if _, err := install.NewPlan(own, e.Name()); err != nil {
			es.Problems = append(es.Problems, install.Problem{What: err.Error()})
		}
		for _, p := range es.Problems {
			s.problem(p.Mend, "%s: %s", es.Engine, p.What)
		}
		for _, d := range es.Doors {
			registered, vias[d.Via] = true, true
		}
		if es.Found || len(es.Doors) > 0 || len(es.Problems) > 0 {
			s.Engines = append(s.Engines, es)
		}
	}
	if vias[install.ViaNRI] {
		s.plugin(o)
	}
	s.policy(o, flags)
	s.programs(o, registered, vias)
	s.Kernel = kernel(o)
	s.label(o, registered)
	s.Problems = append(s.Problems, s.Kernel.problems()...)
	if o.Root == "" {
		s.last()
	}
	return s
}

// problem notes what is wrong. Where no one command mends it, the message says what to do.
func (s *status) problem(mend, format string, args ...any) {
	if mend == "" {
		mend = "mend what it says, then: envscrub status"
	}
	s.Problems = append(s.Problems, install.Problem{What: fmt.Sprintf(format, args...), Mend: mend})
}

func (s *status) policy(o install.Options, flags *policyFlags) {
	if s.Policy.Files = slices.Clone(flags.files); len(s.Policy.Files) == 0 {
		s.Policy.Files = policyFiles(o)
	}
	loaded, err := statusPolicy(o, flags, s.Policy.Files)
	if err != nil {
		s.problem("correct the line, then: envscrub check", "policy: %v; no container starts through envscrub", err)
		return
	}
	view, err := loaded.For(policy.Subject{})
	if err != nil {
		s.problem("envscrub check", "policy: %v", err)
		return
	}
	s.Policy.Mode = string(view.Mode)
	if d, err := view.Decide(nil); err == nil {
		s.Policy.Summary = d.Summary()
	}
	if view.Mode != policy.ModeEnforce {
		s.problem(`set mode = "enforce" in the policy`, "policy: mode is %s: nothing is removed", view.Mode)
	}
}

// statusPolicy loads this host's policy, or that of the tree.
func statusPolicy(o install.Options, flags *policyFlags, files []string) (*policy.Policy, error) {
	switch {
	case o.Root == "" || len(flags.files) > 0:
		return flags.load()
	case len(files) == 0:
		return policy.Default(), nil
	}
	inTree := &policyFlags{}
	for _, file := range files {
		inTree.files = append(inTree.files, o.Path(file))
	}
	return inTree.load()
}

// policyFiles are the files in the standard places, for people to see.
func policyFiles(o install.Options) []string {
	out := []string{}
	dirs := []string{"/etc/envscrub"}
	if o.User != nil {
		dirs = append(dirs, filepath.Join(o.User.ConfigHome, "envscrub"))
	}
	for _, dir := range dirs {
		files, _ := filepath.Glob(o.Path(filepath.Join(dir, "policy.d", "*.toml")))
		for _, path := range append([]string{o.Path(filepath.Join(dir, "policy.toml"))}, files...) {
			if _, err := os.Stat(path); err == nil {
				out = append(out, o.HostPath(path))
			}
		}
	}
	return out
}

func (s *status) programs(o install.Options, registered bool, vias map[string]bool) {
	odd := []string{}
	for _, name := range programs {
		p := programStatus{Name: name, Path: filepath.Join(o.BinDir, name), Version: "missing"}
		if install.Executable(o, p.Path) {
			p.Version = fileVersion(o.Path(p.Path))
			if p.Version != s.Version && known(p.Version) && known(s.Version) {
				odd = append(odd, p.Path+" is "+p.Version)
			}
		} else if registered && (name == "envscrub-shim" || vias[strings.TrimPrefix(name, "envscrub-")]) {
			s.problem("install envscrub's programs again, or name their directory with --bin-dir", "%s is not there", p.Path)
		}
		s.Programs = append(s.Programs, p)
	}
	if len(odd) > 0 {
		s.problem("install all programs from one build", "the programs are not of one build: this one is %s, %s; a shim refuses orders from another build", s.Version, strings.Join(odd, ", "))
	}
}

// plugin looks whether the NRI plugin runs, as a service or in a pod: while it does
// not, engines start containers unchanged.
func (s *status) plugin(o install.Options) {
	names, _ := filepath.Glob(o.Path("/proc/[0-9]*/comm"))
	for _, name := range names {
		if comm, err := os.ReadFile(name); err == nil && strings.TrimSpace(string(comm)) == "envscrub-nri" {
			return
		}
	}
	if len(names) > 0 { // a tree without processes says nothing
		s.problem("systemctl enable --now envscrub-nri.service", "nri: registered, and envscrub-nri does not run: agent pods start unscrubbed")
	}
}

// label looks whether SELinux lets containers execute the shim.
func (s *status) label(o install.Options, registered bool) {
	shim := filepath.Join(o.BinDir, "envscrub-shim")
	if !install.SELinuxOn(o) || !install.Executable(o, shim) {
		return
	}
	label, ok, err := install.ShimLabel(o, shim)
	switch {
	case err != nil:
		s.problem("", "%v", err)
	case !ok && registered:
		s.problem(install.LabelCommand(shim), "SELinux is %s and the label of %s is %q: a container may not execute it", s.Kernel.SELinux, shim, label)
	}
	s.Kernel.ShimLabel = label
}

// unnamed tells whether a program does not say of which build it is.
func (s *status) unnamed() bool {
	return !known(s.Version) || slices.ContainsFunc(s.Programs, func(p programStatus) bool { return !known(p.Version) })
}

// maxLast is how many of the last containers are shown.
const maxLast = 10

func (s *status) last() {
	store, err := record.Default()
	if err != nil {
		return
	}
	if err := store.Check(); err != nil {
		mend := ""
		if e, ok := errors.AsType[*record.NotPrivateError](err); ok {
			mend = e.Mend
		}
		s.problem(mend, "no container starts through envscrub: %v", err)
	}
	records, err := store.List()
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		s.problem("", "records of containers: %v", err)
	}
	slices.SortFunc(records, func(a, b *record.Record) int { return b.Time.Compare(a.Time) })
	s.Last = append(s.Last, records[:min(maxLast, len(records))]...)
}

func hooksOnly(e install.Status) bool {
	return len(e.Doors) > 0 && !slices.ContainsFunc(e.Doors, func(d install.Door) bool { return d.Via != install.ViaHook })
}

func (s *status) write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "envscrub %s\n\n", s.Version)
	rows := [][]string{{"ENGINE", "VERSION", "REGISTERED", "DEFAULT", "FILE"}}
	for _, e := range s.Engines {
		name := e.Engine
		if e.Rootless {
			name += " (rootless)"
		}
		version := e.Version
		if !e.Found {
			version = "not found"
		}
		if len(e.Doors) == 0 {
			rows = append(rows, []string{name, version, "no", "", ""})
		}
		for _, d := range e.Doors {
			def := "no"
			if d.Default {
				def = "yes"
			}
			via := d.Via
			if d.When != "" {
				via += " (" + d.When + ")"
			}
			rows = append(rows, []string{name, version, via, def, d.File})
		}
	}
	if len(s.Engines) == 0 {
		b.WriteString("engines: none found\n")
	} else if err := table(&b, rows); err != nil {
		return err
	}
	for _, e := range s.Engines {
		if hooksOnly(e) {
			fmt.Fprintf(&b, "note: %s: exec and health checks are not covered by the hook door; --via runtime covers them\n", e.Engine)
		}
		if e.Engine == "docker" && len(e.Doors) > 0 {
			b.WriteString("note: docker: docker build is not covered, its steps run without the daemon's runtimes\n") // report: buildkit#2485
		}
	}
	files := "built-in rules (no file)"
	if len(s.Policy.Files) > 0 {
		files = strings.Join(s.Policy.Files, ", ")
	}
	fmt.Fprintf(&b, "\npolicy: %s", printable(files))
	if s.Policy.Mode != "" {
		fmt.Fprintf(&b, "; mode %s; %s", s.Policy.Mode, printable(s.Policy.Summary))
	}
	b.WriteString("\n")
	for _, p := range s.Programs {
		fmt.Fprintf(&b, "program: %s %s\n", printable(p.Path), p.Version)
	}
	if s.unnamed() {
		b.WriteString("note: not every program says of which build it is, so that nobody can tell whether they belong together; hack/build and the packages name it\n")
	}
	fmt.Fprintf(&b, "kernel: %s\n", s.Kernel)
	if len(s.Last) > 0 {
		b.WriteString("\nlast containers:\n")
		rows := [][]string{{"TIME", "ID", "IMAGE", "DOOR", "PROFILE", "NOT PASSED ON"}}
		for _, r := range s.Last {
			var names []string
			for _, v := range r.Variables {
				names = append(names, v.Name)
			}
			rows = append(rows, []string{r.Time.Local().Format(time.DateTime), r.ID[:min(12, len(r.ID))], r.Image, r.Door, r.Profile, strings.Join(names, " ")})
		}
		if err := table(&b, rows); err != nil {
			return err
		}
	}
	b.WriteString("\n")
	if len(s.Problems) == 0 {
		b.WriteString("nothing is wrong\n")
	}
	for _, p := range s.Problems {
		fmt.Fprintf(&b, "wrong: %s\n", printable(p.What))
		if p.Mend != "" {
			fmt.Fprintf(&b, "  mend: %s\n", printable(p.Mend))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
