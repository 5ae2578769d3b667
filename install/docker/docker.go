package docker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/jsonedit"
)

// Engine is Docker.
type Engine struct{}

// Name implements install.Engine.
func (Engine) Name() string { return "docker" }

// Doors implements install.Engine.
func (Engine) Doors() []string { return []string{install.ViaRuntime} }

// Found implements install.Engine.
func (Engine) Found(o install.Options) (bool, string) {
	if ok, path := install.FindProgram(o, "dockerd"); ok {
		return true, path
	}
	return install.FindProgram(o, "docker")
}

// keyDefault is the member of daemon.json, and the note of the ledger that holds
// its value before ours: the JSON text, or "" for none.
const keyDefault = "default-runtime"

func configFile(o install.Options) string {
	switch {
	case o.Config != "":
		return o.Config
	case o.User != nil:
		return filepath.Join(o.User.ConfigHome, "docker/daemon.json")
	}
	return "/etc/docker/daemon.json"
}

func ledger(o install.Options) string {
	if o.User != nil {
		return "docker-rootless"
	}
	return "docker"
}

// runtimeEntry is our member of `runtimes`.
type runtimeEntry struct {
	Path string          `json:"path"`
	Args json.RawMessage `json:"runtimeArgs,omitempty"`
}

// Install implements install.Engine.
func (e Engine) Install(o install.Options) (install.Report, error) {
	r := install.Report{Engine: e.Name(), Via: install.ViaRuntime}
	if o.Via != "" && o.Via != install.ViaRuntime {
		return r, fmt.Errorf("docker has no door %q: it reads no hooks.d, only --via runtime works", o.Via)
	}
	if o.When != "" {
		return r, fmt.Errorf("--when is for hooks; with Docker a runtime is chosen by docker run --runtime %s, or for all by --default", install.RuntimeName)
	}
	if _, err := o.Binary("envscrub-runtime"); err != nil {
		return r, err
	}
	file := configFile(o)
	ds := findDaemons(o, file)
	if err := ds.conflict(file); err != nil {
		return r, err
	}
	p, err := install.NewPlan(o, ledger(o))
	if err != nil {
		return r, err
	}
	var before string // the default runtime in whose place we are
	pinned := false
	err = p.Edit(file, 0o644, func(old []byte) ([]byte, error) {
		doc, err := jsonedit.Parse(old)
		if err != nil {
			return nil, err
		}
		now, _, err := doc.Get(keyDefault)
		if err != nil {
			return nil, err
		}
		// Installing again keeps what an earlier install made of it.
		if before = text(now); before == install.RuntimeName {
			o.Default = o.Default || !o.NoDefault
			old, _ := p.Note(keyDefault)
			before = text(json.RawMessage(old))
		}
		low, args := lowLevel(doc, before)
		var wrapper string
		if wrapper, pinned, err = o.Wrapper(low); err != nil {
			return nil, err
		}
		if err := checkOwner(doc, p, file); err != nil {
			return nil, err
		}
		entry, err := json.Marshal(runtimeEntry{Path: wrapper, Args: args})
		if err != nil {
			return nil, err
		}
		if err := doc.Set(entry, "runtimes", install.RuntimeName); err != nil {
			return nil, err
		}
		if err := setDefault(doc, p, o.Default, now); err != nil {
			return nil, err
		}
		return doc.Bytes(), nil
	})
	if err != nil {
		return r, err
	}
	if err := p.Commit(); err != nil {
		return r, err
	}
	r.Changes = p.Changes()
	if len(ds) == 0 {
		r.Notes = elsewhere(o, file)
	}
	restarted := ds.reload(o, p.Changed(), &r)
	if o.Default {
		r.Notes = append(r.Notes, "every new container passes through envscrub; containers that exist keep their runtime until they are created again")
		if before != "" && before != "runc" && !pinned {
			r.Notes = append(r.Notes, fmt.Sprintf("the default runtime was %q; so that it still does the work, name it first in the policy's `runtimes`", before))
		}
	} else {
		r.Notes = append(r.Notes, "used where it is asked for: docker run --runtime "+install.RuntimeName+" …, or runtime: "+install.RuntimeName+" in a compose file")
	}
	r.Notes = append(r.Notes, "not covered: docker build, whose steps run without the daemon's runtimes")
	return r, restarted
}

// checkOwner refuses a runtime of our name that somebody else configured.
func checkOwner(doc *jsonedit.Doc, p *install.Plan, file string) error {
	raw, ok, err := doc.Get("runtimes", install.RuntimeName)
	if err != nil || !ok {
		return err
	}
	var entry runtimeEntry
	if json.Unmarshal(raw, &entry) == nil && install.IsWrapper(entry.Path) {
		return nil
	}
	for _, known := range p.Registered() {
		if known == file {
			return nil
		}
	}
	return fmt.Errorf("runtimes.%s: is there already and is not envscrub's wrapper; rename it first", install.RuntimeName)
}

// lowLevel is the program of the runtime of that name, and its arguments, which
// ours hands on.
func lowLevel(doc *jsonedit.Doc, name string) (low string, args json.RawMessage) {
	if name == "" {
		return "", nil
	}
	raw, ok, err := doc.Get("runtimes", name)
	if err != nil || !ok {
		return name, nil
	}
	var entry struct {
		Path string   `json:"path"`
		Args []string `json:"runtimeArgs"`
	}
	if json.Unmarshal(raw, &entry) != nil || entry.Path == "" {
		return name, nil
	}
	if len(entry.Args) > 0 {
		args, _, _ = doc.Get("runtimes", name, "runtimeArgs") // it was just read
	}
	return entry.Path, args
}

// setDefault makes default-runtime what was asked for. What stood there before
// us is remembered the first time.
func setDefault(doc *jsonedit.Doc, p *install.Plan, want bool, before json.RawMessage) error {
	ours := text(before) == install.RuntimeName
	switch {
	case want && !ours:
		p.SetNote(keyDefault, string(before))
		return doc.Set(json.RawMessage(`"`+install.RuntimeName+`"`), keyDefault)
	case !want && ours:
		return restoreDefault(doc, p)
	}
	return nil
}

func restoreDefault(doc *jsonedit.Doc, p *install.Plan) error {
	if old, _ := p.Note(keyDefault); old != "" {
		p.DropNote(keyDefault)
		return doc.Set(json.RawMessage(old), keyDefault)
	}
	p.DropNote(keyDefault)
	return doc.Delete(keyDefault)
}

// text is a JSON string's value, "" for anything else.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// Uninstall implements install.Engine.
func (e Engine) Uninstall(o install.Options) (install.Report, error) {
	r := install.Report{Engine: e.Name(), Via: install.ViaRuntime}
	if o.Via != "" && o.Via != install.ViaRuntime {
		return r, fmt.Errorf("docker has no door %q", o.Via)
	}
	file := configFile(o)
	ds := findDaemons(o, file)
	if o.Root == "" && !o.Force && !o.DryRun {
		if err := install.RefuseLive(live(o, ds), "Docker"); err != nil {
			return r, err
		}
	}
	p, err := install.NewPlan(o, ledger(o))
	if err != nil {
		return r, err
	}
	err = p.Revert(file, func(now []byte) ([]byte, error) { return withoutUs(now, p) })
	if err != nil {
		return r, err
	}
	if err := p.Commit(); err != nil {
		return r, err
	}
	r.Changes = p.Changes()
	if len(ds) == 0 {
		r.Notes = elsewhere(o, file)
	}
	err = ds.reload(o, p.Changed(), &r)
	return r, err
}

// withoutUs takes our keys out of a file that others have edited since.
func withoutUs(now []byte, p *install.Plan) ([]byte, error) {
	doc, err := jsonedit.Parse(now)
	if err != nil {
		return nil, err
	}
	if raw, _, err := doc.Get(keyDefault); err != nil {
		return nil, err
	} else if text(raw) == install.RuntimeName {
		if err := restoreDefault(doc, p); err != nil {
			return nil, err
		}
	}
	raw, ok, err := doc.Get("runtimes", install.RuntimeName)
	if err != nil || !ok {
		return doc.Bytes(), err
	}
	var entry runtimeEntry
	if json.Unmarshal(raw, &entry) != nil || !install.IsWrapper(entry.Path) {
		return doc.Bytes(), nil // somebody else's, under our name
	}
	if err := doc.Delete("runtimes", install.RuntimeName); err != nil {
		return nil, err
	}
	if keys, err := doc.Keys("runtimes"); err != nil {
		return nil, err
	} else if len(keys) == 0 {
		if err := doc.Delete("runtimes"); err != nil {
			return nil, err
		}
	}
	return doc.Bytes(), nil
}

// live names the running containers that our runtime started.
func live(o install.Options, ds readers) []string {
	clients := [][]string{{"docker"}} // whichever the caller's environment names
	if len(ds) > 0 {
		clients = nil
		for _, d := range ds {
			clients = append(clients, d.client(o))
		}
	}
	var out []string
	for _, c := range clients {
		docker := func(args ...string) []byte {
			line := slices.Concat(c, args)
			out, _ := exec.Command(line[0], line[1:]...).Output() // one that ended meanwhile is no reason to refuse
			return out
		}
		if ids := strings.Fields(string(docker("ps", "--quiet", "--no-trunc"))); len(ids) > 0 {
			out = append(out, install.OfRuntime(string(docker(append([]string{"inspect", "--format", "{{.HostConfig.Runtime}} {{.Name}}"}, ids...)...)))...)
		}
	}
	return out
}

// Status implements install.Engine.
func (e Engine) Status(o install.Options) install.Status {
	s := install.Status{Engine: e.Name(), Rootless: o.User != nil}
	s.Found, s.Where = e.Found(o)
	problem := func(what, mend string) { s.Problems = append(s.Problems, install.Problem{What: what, Mend: mend}) }
	if s.Found && o.Root == "" {
		s.Version = install.FirstLine(exec.Command(s.Where, "--version"))
	}
	file := configFile(o)
	data, err := os.ReadFile(o.Path(file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		problem(err.Error(), "")
		return s
	}
	doc, err := jsonedit.Parse(data)
	if err != nil {
		problem(o.Path(file)+": "+err.Error(), "")
		return s
	}
	raw, registered, err := doc.Get("runtimes", install.RuntimeName)
	if err != nil {
		problem(o.Path(file)+": "+err.Error(), "")
		return s
	}
	def, _, _ := doc.Get(keyDefault)
	if o.Root == "" {
		askDaemons(o, file, registered, problem)
	}
	if !registered {
		if text(def) == install.RuntimeName {
			problem(o.Path(file)+": default-runtime is "+install.RuntimeName+", which is not configured: nothing starts", "envscrub install docker --default")
		}
		return s
	}
	var entry runtimeEntry
	if err := json.Unmarshal(raw, &entry); err != nil {
		problem(o.Path(file)+": runtimes."+install.RuntimeName+" is not readable", "envscrub install docker")
	}
	s.Doors = append(s.Doors, install.Door{Via: install.ViaRuntime, File: o.Path(file), Default: text(def) == install.RuntimeName, Program: entry.Path})
	if !install.Executable(o, entry.Path) {
		problem(entry.Path+": the wrapper is registered and not there: nothing starts with it", "install envscrub's programs again, or envscrub uninstall docker")
	}
	return s
}

// askDaemons compares what the running daemons do with what their file says.
func askDaemons(o install.Options, file string, registered bool, problem func(what, mend string)) {
	ds := findDaemons(o, file)
	if registered {
		if err := ds.conflict(file); err != nil {
			problem(err.Error(), "")
		}
	}
	for _, d := range ds {
		if has, known := d.inEffect(o); known {
			if what := has.mismatch(fromFile(o)); what != "" {
				problem(fmt.Sprintf("the running dockerd (process %d) %s", d.pid, what), strings.Join(d.restart(o).Command, " "))
			}
		}
	}
	if len(ds) == 0 && o.Config == "" {
		if has, known := (daemon{}).inEffect(o); known {
			if what := has.mismatch(fromFile(o)); what != "" {
				problem("the Docker daemon that answers "+what, "restart it")
			}
		}
	}
}
