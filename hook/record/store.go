package record

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Store is a directory of records.
type Store struct{ dir string }

// At returns the store in a directory.
func At(dir string) Store { return Store{dir} }

// Default returns the caller's store: /run/envscrub, for a rootless user the same in
// the runtime directory, or /tmp/envscrub-UID where there is none.
func Default() (Store, error) {
	uid, rootless := outerID()
	if !rootless {
		return Store{"/run/envscrub"}, nil
	}
	switch dir := runtimeDir(uid); {
	case dir == "":
		return Store{"/tmp/envscrub-" + strconv.Itoa(uid)}, nil
	case !filepath.IsAbs(dir):
		return Store{}, errors.New("XDG_RUNTIME_DIR is not an absolute path")
	default:
		return Store{filepath.Join(dir, "envscrub")}, nil
	}
}

// initialUserNS is the inode of the machine's own user namespace (the kernel's
// PROC_USER_INIT_INO), the answer that costs nothing.
const initialUserNS = 0xEFFFFFFD

// outerID returns the user outside of the user namespace that a rootless engine
// runs its runtime in, and whether there is such a user: root of a namespace is not
// root where /run is not its own. In a container that is itself a machine it is.
var outerID = sync.OnceValues(func() (int, bool) {
	uid := os.Geteuid()
	if uid != 0 {
		return uid, true
	}
	var ns, run syscall.Stat_t
	if err := syscall.Stat("/proc/self/ns/user", &ns); err == nil && ns.Ino == initialUserNS {
		return 0, false
	}
	if err := syscall.Stat("/run", &run); err != nil || run.Uid == 0 {
		return 0, false
	}
	data, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return 0, false
	}
	outer := ownMapping(string(data))
	return outer, outer != 0
})

// runtimeDir is where a user's own files go that need not outlive the session. A hook
// has no environment but what its JSON says, and not every machine has a
// directory for each user.
func runtimeDir(uid int) string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return dir
	}
	dir := "/run/user/" + strconv.Itoa(uid)
	if _, err := os.Lstat(dir); err != nil {
		return ""
	}
	return dir
}

// Rootless returns the user whose engine this is, where that is not real root's.
func Rootless() (uid int, ok bool) { return outerID() }

// ownMapping returns the user that 0 is outside, by the text of a uid_map.
func ownMapping(uidMap string) int {
	for line := range strings.Lines(uidMap) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == "0" {
			if n, err := strconv.Atoi(f[1]); err == nil {
				return n
			}
		}
	}
	return 0
}

// CheckID refuses an id that is not the name of one directory. What else it may
// hold is for the runtime to say.
func CheckID(id string) error {
	switch {
	case id == "":
		return errors.New("the container id is empty")
	case id == "." || id == ".." || len(id) > 255 || strings.ContainsFunc(id, func(r rune) bool { return r == '/' || r < 0x20 || r == 0x7f }):
		return errors.New("invalid container ID format: it must be a single file name")
	}
	return nil
}

const prefix = "record-"

// file names the record of a container.
func (s Store) file(id, root string) string { return filepath.Join(s.dir, Name(id, root)) }

// Name names the record of a container from the store's directory on: the root is
// a part of its identity.
func Name(id, root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(id, prefix+hex.EncodeToString(sum[:8]))
}

// Open makes the store's directory where it is missing, and opens it.
func (s Store) Open() (int, error) {
	if err := private(s.dir); err != nil {
		return -1, fmt.Errorf("keep the record: %w", err)
	}
	fd, err := syscall.Open(s.dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: s.dir, Err: err}
	}
	return fd, nil
}

// Write keeps a record, in the place of one with the same id and root.
func (s Store) Write(r *Record) (err error) {
	if err := CheckID(r.ID); err != nil {
		return err
	}
	dir := filepath.Join(s.dir, r.ID)
	for _, d := range []string{s.dir, dir} {
		if err := private(d); err != nil {
			return fmt.Errorf("keep the record: %w", err)
		}
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("keep the record: %w", err)
			_ = os.Remove(dir) // only goes when it is empty
		}
	}()
	name := s.file(r.ID, r.Root)
	// Renamed into place: a part of a record, left by a crash, could not be told from a damaged one, which an exec
	// refuses and Sweep has to leave.
	part := filepath.Join(dir, "part-"+strconv.Itoa(os.Getpid()))
	fd, err := unix.Open(part, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return &os.PathError{Op: "create", Path: part, Err: err}
	}
	data := r.encode()
	n, err := unix.Write(fd, data)
	if err == nil && n < len(data) {
		err = unix.ENOSPC
	}
	if err = errors.Join(err, unix.Close(fd)); err != nil {
		return errors.Join(&os.PathError{Op: "write", Path: part, Err: err}, os.Remove(part))
	}
	return os.Rename(part, name)
}

// private makes a directory that nobody else can enter, or checks that it is one.
func private(dir string) error {
	if err := os.Mkdir(dir, 0o700); err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	return isPrivate(dir, st)
}

func isPrivate(dir string, st fs.FileInfo) error {
	mend := ""
	sys, ok := st.Sys().(*syscall.Stat_t)
	switch {
	case !st.IsDir() || !ok:
		mend = "move it away"
	case int(sys.Uid) != os.Geteuid():
		mend = "chown " + strconv.Itoa(os.Geteuid()) + " " + dir
	case st.Mode().Perm()&0o077 != 0:
		mend = "chmod 700 " + dir
	default:
		return nil
	}
	return &NotPrivateError{Dir: dir, Mend: mend}
}

// NotPrivateError is a directory in which nothing can be kept from others.
type NotPrivateError struct {
	Dir  string
	Mend string // what to do, such as a command
}

func (e *NotPrivateError) Error() string {
	return e.Dir + " is not a directory of mode 0700 that belongs to this user; mend it: " + e.Mend
}

// Check says why no record could be kept, and so no container started: it looks
// only. A directory that is not there yet is made with the first record.
func (s Store) Check() error {
	dir := s.dir
	st, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		dir = filepath.Dir(dir)
	case err != nil:
		return err
	default:
		if err := isPrivate(dir, st); err != nil {
			return err
		}
	}
	var space unix.Statfs_t
	if err := unix.Statfs(dir, &space); err != nil {
		return &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	const least = 1 << 20
	if space.Bavail*uint64(space.Bsize) < least || space.Files > 0 && space.Ffree == 0 {
		return fmt.Errorf("%s: the file system is full, and no record of a container can be kept; make room there", dir)
	}
	return nil
}

// Read returns a container's record; without one the error is fs.ErrNotExist.
func (s Store) Read(id, root string) (*Record, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	return load(s.file(id, root))
}

func load(name string) (*Record, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the record: %w", err)
	}
	r, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("read the record %s: %w", name, err)
	}
	return r, nil
}

// Remove forgets a container; one that is not known is no error.
func (s Store) Remove(id, root string) error {
	if err := CheckID(id); err != nil {
		return err
	}
	return s.remove(s.file(id, root))
}

func (s Store) remove(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the record: %w", err)
	}
	_ = os.Remove(filepath.Dir(name)) // other roots' records keep it
	return nil
}

// RemoveBundle forgets the records of a container whose runtime root is not known,
// as for a hook: those made for its bundle.
func (s Store) RemoveBundle(id, bundle string) error {
	if err := CheckID(id); err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(globQuote(s.dir), globQuote(id), prefix+"*"))
	for _, name := range names {
		if r, e := load(name); e == nil && r.Bundle == bundle {
			err = errors.Join(err, s.remove(name))
		}
	}
	return err
}

func globQuote(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// List returns all records, oldest first. A damaged one is skipped and reported
// in the error, beside the others.
func (s Store) List() ([]*Record, error) {
	names, err := s.names()
	var list []*Record
	for _, name := range names {
		r, e := load(name)
		if errors.Is(e, fs.ErrNotExist) {
			continue // gone in the meantime
		}
		if e != nil {
			err = errors.Join(err, e)
			continue
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *Record) int { return a.Time.Compare(b.Time) })
	return list, err
}

func (s Store) names() ([]string, error) {
	ids, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, id := range ids {
		names = append(names, s.under(id.Name())...)
	}
	return names, err
}

// under names the records of one id.
func (s Store) under(id string) (names []string) {
	files, _ := os.ReadDir(filepath.Join(s.dir, id))
	for _, f := range files {
		if strings.HasPrefix(f.Name(), prefix) {
			names = append(names, filepath.Join(s.dir, id, f.Name()))
		}
	}
	return names
}

// Sweep looks at a few ids, chosen at random, and forgets the containers that
// their runtime has forgotten. It is called at creates, each of which adds one record:
// looking at more than one for each keeps the number bounded.
func (s Store) Sweep(looks int) {
	d, err := os.Open(s.dir)
	if err != nil {
		return
	}
	ids, _ := d.Readdirnames(-1)
	d.Close()
	for range min(looks, len(ids)) {
		n := rand.IntN(len(ids))
		s.sweep(ids[n])
		ids = slices.Delete(ids, n, n+1)
	}
}

// settle is how long what is kept of a container is left alone: a create that is under way is not known to its
// runtime yet.
const settle = time.Minute

// sweep forgets one id: its records whose containers are gone, and what a crash left beside them.
func (s Store) sweep(id string) {
	dir := filepath.Join(s.dir, id)
	st, err := os.Lstat(dir)
	if err != nil || !st.IsDir() || time.Since(st.ModTime()) < settle {
		return
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), prefix) {
			if r, err := load(name); err != nil || !forgotten(r) {
				continue
			}
		}
		_ = os.Remove(name)
	}
	_ = os.Remove(dir) // only goes when it is empty
}

// forgotten tells that the runtime has no state of a container.
func forgotten(r *Record) bool {
	state := filepath.Join(r.Root, r.ID)
	if r.Root == "" {
		state = r.Bundle // a hook is not told the root; engines remove the bundle with the container
	}
	_, err := os.Lstat(state)
	return errors.Is(err, fs.ErrNotExist)
}
