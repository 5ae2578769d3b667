package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Plan is one install or uninstall: every file is read and every edit computed
// before the first byte is written, so that an error leaves the host as it was.
//
// A Plan keeps a ledger of what it wrote and, for each edited file, the bytes
// from before the first install. That is what makes an uninstall exact.
type Plan struct {
	opts       Options
	engine     string
	steps      []*step
	paths      []string // all that were planned, also where there is nothing to do
	mkdirs     []string
	ledger     ledger
	ledgerFile *File
	dropped    map[string]string // notes that go when all is done
}

type step struct {
	file   *File
	data   []byte // nil: remove
	mode   fs.FileMode
	action string
	entry  *entry // nil: forget the file
	backup []byte // nil: none to write
	before File   // what carryOut found
}

// ledger is what stands in StateDir/ENGINE.json.
type ledger struct {
	Files map[string]*entry `json:"files"`
	// Dirs were made by Mkdir, innermost first.
	Dirs []string `json:"dirs,omitempty"`
	// Notes are an engine's own memory, such as the default runtime before ours.
	Notes map[string]string `json:"notes,omitempty"`
}

type entry struct {
	Written  string `json:"written"`            // SHA-256 of what we wrote last
	Original string `json:"original,omitempty"` // SHA-256 of the file before our first write
	Created  bool   `json:"created,omitempty"`  // there was no file
	Exact    bool   `json:"exact"`              // the original is still what an uninstall may give back
	// Dirs did not exist before, innermost first; they go when they are empty.
	Dirs []string `json:"dirs,omitempty"`
}

// NewPlan begins an install or uninstall of engine.
func NewPlan(opts Options, engine string) (*Plan, error) {
	p := &Plan{opts: opts, engine: engine, ledger: ledger{Files: map[string]*entry{}, Notes: map[string]string{}}, dropped: map[string]string{}}
	f, err := Read(opts.Path(p.ledgerPath()))
	if err != nil {
		return nil, err
	}
	p.ledgerFile = f
	if f.Exists {
		if err := json.Unmarshal(f.Data, &p.ledger); err != nil {
			return nil, fmt.Errorf("%s: not the record of an install: %w; move it away to continue without it", f.Path, err)
		}
		if p.ledger.Files == nil {
			p.ledger.Files = map[string]*entry{}
		}
		if p.ledger.Notes == nil {
			p.ledger.Notes = map[string]string{}
		}
	}
	return p, nil
}

// StateDir is where installs are remembered, as the host sees it.
func (o Options) StateDir() string {
	if o.User != nil {
		return filepath.Join(o.User.StateHome, "envscrub", "install")
	}
	return "/var/lib/envscrub/install"
}

// Path turns a path of the host into one that can be opened here.
func (o Options) Path(hostPath string) string {
	if o.Root == "" {
		return hostPath
	}
	return filepath.Join(o.Root, hostPath)
}

// HostPath is the inverse of Path.
func (o Options) HostPath(path string) string {
	if o.Root == "" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, strings.TrimRight(o.Root, "/")); ok && strings.HasPrefix(rest, "/") {
		return rest
	}
	return path
}

func (p *Plan) ledgerPath() string { return filepath.Join(p.opts.StateDir(), p.engine+".json") }

func (p *Plan) backupPath(hostPath string) string {
	return filepath.Join(p.opts.StateDir(), p.engine+"."+strings.ReplaceAll(strings.Trim(hostPath, "/"), "/", "%")+".orig")
}

// Note returns what an earlier install remembered under key.
func (p *Plan) Note(key string) (string, bool) {
	v, ok := p.ledger.Notes[key]
	return v, ok
}

// SetNote remembers value for a later Plan of the same engine.
func (p *Plan) SetNote(key, value string) { p.ledger.Notes[key] = value }

// DropNote forgets key.
func (p *Plan) DropNote(key string) {
	if value, ok := p.ledger.Notes[key]; ok {
		p.dropped[key] = value
		delete(p.ledger.Notes, key)
	}
}

// Edit plans a change to a file that other people own too. change gets the
// file's bytes (nil when there is none) and returns the new ones. mode is used
// only for a file that does not exist yet.
func (p *Plan) Edit(hostPath string, mode fs.FileMode, change func(old []byte) ([]byte, error)) error {
	p.paths = append(p.paths, hostPath)
	f, err := Read(p.opts.Path(hostPath))
	if err != nil {
		return err
	}
	data, err := change(f.Data)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	s := &step{file: f, data: data, mode: mode, action: Edited}
	p.steps = append(p.steps, s)
	known := p.ledger.Files[hostPath]
	if f.Exists && bytes.Equal(data, f.Data) {
		// What stands there is what we want. The ledger may still be missing
		// (a configuration written by hand, or by another tool): then it is not ours.
		s.action, s.entry = Unchanged, known
		return nil
	}
	if !f.Exists {
		s.action = Created
	}
	s.entry = &entry{Written: sum(data), Created: !f.Exists, Exact: true}
	switch {
	case known != nil && f.Exists && (sum(f.Data) == known.Written):
		// Our own earlier version: the original stays what it was.
		s.entry.Original, s.entry.Created, s.entry.Exact = known.Original, known.Created, known.Exact
	case known != nil && f.Exists && sum(f.Data) != known.Original:
		// Edited by somebody since: from here on an uninstall takes only our keys out.
		s.entry.Original, s.entry.Created, s.entry.Exact = known.Original, known.Created, false
	case f.Exists:
		s.entry.Original = sum(f.Data)
		s.backup = f.Data
	}
	return nil
}

// Put plans a file that is wholly ours, such as a drop-in. A file of that name
// with other content that we did not write is refused.
func (p *Plan) Put(hostPath string, mode fs.FileMode, data []byte) error {
	p.paths = append(p.paths, hostPath)
	f, err := Read(p.opts.Path(hostPath))
	if err != nil {
		return err
	}
	known := p.ledger.Files[hostPath]
	s := &step{file: f, data: data, mode: mode, action: Created, entry: &entry{Written: sum(data), Created: true, Exact: true}}
	p.steps = append(p.steps, s)
	if !f.Exists {
		return nil
	}
	switch {
	case bytes.Equal(f.Data, data):
		s.action = Unchanged
	case known != nil && sum(f.Data) == known.Written:
		s.action = Edited
	default:
		return fmt.Errorf("%s: edited since envscrub wrote it, or not written by envscrub; move it away and try again", f.Path)
	}
	return nil
}

// Mkdir plans a directory that must exist; it stays at an uninstall unless it is
// empty by then.
func (p *Plan) Mkdir(hostPath string) error {
	info, err := os.Stat(p.opts.Path(hostPath))
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s: is not a directory", p.opts.Path(hostPath))
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	marker := &File{Path: p.opts.Path(filepath.Join(hostPath, ".envscrub"))}
	if err := marker.Writable(); err != nil {
		return fmt.Errorf("%s: does not exist and cannot be made: %w", p.opts.Path(hostPath), err)
	}
	p.mkdirs = append(p.mkdirs, hostPath)
	return nil
}

// Revert plans the way back for a file given to Edit. Where the file is still
// what we wrote, the original bytes return (or the file goes, if there was
// none); otherwise inverse takes our keys out of what stands there now.
func (p *Plan) Revert(hostPath string, inverse func(now []byte) ([]byte, error)) error {
	p.paths = append(p.paths, hostPath)
	f, err := Read(p.opts.Path(hostPath))
	if err != nil {
		return err
	}
	known := p.ledger.Files[hostPath]
	s := &step{file: f, action: Unchanged, data: f.Data}
	p.steps = append(p.steps, s)
	if !f.Exists {
		return nil
	}
	if known != nil && known.Exact && sum(f.Data) == known.Written {
		if known.Created {
			s.action, s.data = Removed, nil
			return nil
		}
		original, err := os.ReadFile(p.opts.Path(p.backupPath(hostPath)))
		if err == nil && sum(original) == known.Original {
			s.action, s.data = Restored, original
			return nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read the backup of %s: %w", f.Path, err)
		}
	}
	data, err := inverse(f.Data)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	switch {
	case bytes.Equal(data, f.Data):
	case len(data) == 0:
		s.action, s.data = Removed, nil
	default:
		s.action, s.data = Edited, data
	}
	return nil
}

// savedAs is where an edited file is kept that an engine must not read any more: beside
// it, or, as CRI-O reads all files of its crio.conf.d, whatever they are called, above
// that.
func savedAs(path string) string {
	dir, name := filepath.Split(path)
	if filepath.Base(dir) == "crio.conf.d" {
		dir = filepath.Dir(filepath.Clean(dir))
	}
	return filepath.Join(dir, name+".saved")
}

// Drop plans the removal of a file given to Put. One that was edited since is
// kept as NAME.saved, where no engine reads it.
func (p *Plan) Drop(hostPath string) error {
	p.paths = append(p.paths, hostPath)
	f, err := Read(p.opts.Path(hostPath))
	if err != nil {
		return err
	}
	if !f.Exists {
		if p.ledger.Files[hostPath] != nil {
			p.steps = append(p.steps, &step{file: f, action: Unchanged})
		}
		return nil
	}
	known := p.ledger.Files[hostPath]
	s := &step{file: f, action: Removed}
	if known == nil || sum(f.Data) != known.Written {
		saved, err := Read(savedAs(f.Path))
		if err != nil {
			return err
		}
		p.steps = append(p.steps, &step{file: saved, data: f.Data, mode: f.Mode, action: Created})
	}
	p.steps = append(p.steps, s)
	return nil
}

// Forget takes hostPath out of the ledger and leaves the file where it is,
// because another engine's ledger has it too.
func (p *Plan) Forget(hostPath string) { delete(p.ledger.Files, hostPath) }

// Registered are the files that an earlier install wrote and that were not
// taken back yet, as host paths.
func (p *Plan) Registered() []string {
	var out []string
	for path := range p.ledger.Files {
		out = append(out, path)
	}
	slices.Sort(out)
	return out
}

// Changes is what Commit will do (or did).
func (p *Plan) Changes() []Change {
	out := make([]Change, 0, len(p.steps))
	for _, s := range p.steps {
		if s.action == Unchanged && !s.file.Exists {
			continue
		}
		c := Change{Path: s.file.Path, Action: s.action}
		if s.backup != nil {
			c.Backup = p.opts.Path(p.backupPath(p.opts.HostPath(s.file.Path)))
		}
		out = append(out, c)
	}
	return out
}

// Changed reports whether there is anything to do.
func (p *Plan) Changed() bool {
	for _, s := range p.steps {
		if s.action != Unchanged {
			return true
		}
	}
	return false
}

// Commit carries the plan out, unless Options.DryRun. The ledger and the backups
// are written before the files that they describe, so that an install which was
// cut off can be run again, or taken back. Should one file fail, those before it
// get their old bytes again.
func (p *Plan) Commit() error {
	if p.opts.DryRun {
		return nil
	}
	var gone []string
	var dirs []string
	for _, s := range p.steps {
		host := p.opts.HostPath(s.file.Path)
		known := p.ledger.Files[host]
		switch {
		case s.entry != nil:
			if known != nil {
				s.entry.Dirs = known.Dirs
			}
			if !s.file.Exists {
				for _, dir := range slices.Backward(p.missingDirs(host)) {
					if !slices.Contains(s.entry.Dirs, dir) {
						s.entry.Dirs = slices.Insert(s.entry.Dirs, 0, dir)
					}
				}
			}
			p.ledger.Files[host] = s.entry
		case known != nil:
			gone, dirs = append(gone, host), append(dirs, known.Dirs...)
		}
		// All that can be refused is refused before anything is written.
		if s.action != Unchanged {
			if err := s.file.Writable(); err != nil {
				return err
			}
		}
	}
	for _, s := range p.steps {
		if s.backup == nil {
			continue
		}
		b, err := Read(p.opts.Path(p.backupPath(p.opts.HostPath(s.file.Path))))
		if err != nil {
			return err
		}
		// An engine's configuration may hold a proxy's or a registry's password.
		if err := b.Write(s.backup, 0o600); err != nil {
			return fmt.Errorf("back up %s: %w", s.file.Path, err)
		}
	}
	for _, dir := range p.mkdirs {
		missing := slices.DeleteFunc(p.missingDirs(filepath.Join(dir, "x")), func(dir string) bool { return slices.Contains(p.ledger.Dirs, dir) })
		p.ledger.Dirs = append(missing, p.ledger.Dirs...)
	}
	// Until all is done the notes of what is there still hold, also those that go.
	notes := p.ledger.Notes
	p.ledger.Notes = maps.Clone(p.dropped)
	maps.Copy(p.ledger.Notes, notes)
	if err := p.writeLedger(); err != nil {
		return err
	}
	p.ledger.Notes = notes
	for _, dir := range p.mkdirs {
		if err := os.MkdirAll(p.opts.Path(dir), 0o755); err != nil {
			return err
		}
	}
	for i, s := range p.steps {
		if err := s.carryOut(); err != nil {
			return errors.Join(err, p.undo(i))
		}
	}
	touched := slices.Concat(p.paths, p.Registered())
	for _, host := range gone {
		delete(p.ledger.Files, host)
	}
	if err := p.tidy(touched); err != nil {
		return err
	}
	if len(p.ledger.Files) == 0 {
		dirs = append(dirs, p.ledger.Dirs...)
	}
	// The longest first: a directory before the one that it stands in.
	slices.SortFunc(dirs, func(a, b string) int { return len(b) - len(a) })
	for _, dir := range dirs {
		_ = os.Remove(p.opts.Path(dir)) // only when nothing else is in it
	}
	return p.writeLedger()
}

// tidy removes the backups of files that are not in the ledger (any more), and what
// an earlier run left beside the touched ones because it was cut off.
func (p *Plan) tidy(touched []string) error {
	var errs []error
	for _, host := range touched {
		errs = append(errs, sweep(p.opts.Path(host)))
	}
	dir := p.opts.Path(p.opts.StateDir())
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, err)
	}
	for _, entry := range entries {
		name := entry.Name()
		backup := strings.HasPrefix(name, p.engine+".") && strings.HasSuffix(name, ".orig")
		for host := range p.ledger.Files {
			backup = backup && name != filepath.Base(p.backupPath(host))
		}
		if backup || strings.HasPrefix(name, "."+p.engine+".") {
			errs = append(errs, os.Remove(filepath.Join(dir, name)))
		}
	}
	return errors.Join(errs...)
}

func (s *step) carryOut() error {
	switch {
	case s.action == Unchanged:
		return nil
	case s.data == nil:
		s.before = *s.file
		return s.file.Remove()
	default:
		s.before = *s.file
		return s.file.Write(s.data, s.mode)
	}
}

// undo gives the files of the first n steps their old content again.
func (p *Plan) undo(n int) error {
	var errs []error
	for _, s := range p.steps[:n] {
		switch {
		case s.action == Unchanged:
		case s.before.Exists:
			errs = append(errs, s.file.Write(s.before.Data, s.before.Mode))
		default:
			errs = append(errs, s.file.Remove())
		}
	}
	return errors.Join(errs...)
}

// missingDirs are the parents of hostPath that do not exist yet, innermost first.
func (p *Plan) missingDirs(hostPath string) []string {
	var out []string
	for dir := filepath.Dir(hostPath); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(p.opts.Path(dir)); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		out = append(out, dir)
	}
	return out
}

func (p *Plan) writeLedger() error {
	if len(p.ledger.Files) == 0 {
		if err := p.ledgerFile.Remove(); err != nil {
			return err
		}
		// Only when nothing else is in them.
		dir := p.opts.Path(p.opts.StateDir())
		_ = os.Remove(dir)
		_ = os.Remove(filepath.Dir(dir))
		return nil
	}
	data, err := json.MarshalIndent(p.ledger, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if p.ledgerFile.Exists && bytes.Equal(data, p.ledgerFile.Data) {
		return nil
	}
	return p.ledgerFile.Write(data, 0o600)
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}
