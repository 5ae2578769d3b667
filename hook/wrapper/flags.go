package wrapper

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/hook"
	"github.com/envscrub/envscrub/hook/doc"
)

// flags is exec without a process.json: the runtime takes the container's own process
// as a base, and options change it. That base holds what only the agent may have, and the
// order for the shim.
func (x *execution) flags() error {
	if x.w.low.grammar == argpGrammar {
		return x.crunFlags()
	}
	return x.runcFlags()
}

// crunFlags cleans the copy of the configuration that crun made at create, which it
// uses for nothing else any more, and the options. With an --env crun takes those
// given and nothing of the base.
func (x *execution) crunFlags() error {
	f, err := doc.Open(filepath.Join(x.root, x.id, "config.json"))
	if errors.Is(err, os.ErrNotExist) {
		if _, e := os.Lstat(filepath.Join(x.root, x.id)); errors.Is(e, os.ErrNotExist) {
			return nil // no such container: the runtime says so
		}
	}
	if err != nil {
		return err
	}
	hook.TakeBack(f)
	args := x.w.cmd.args.operandsOf(x.w.cmd.words)[1:]
	dir := x.w.cmd.args.get("cwd")
	base, err := x.decide(f.Path()+": process.env", f.Env(), args, dir)
	if err != nil {
		return err
	}
	f.SetEnv(base)
	if given := x.w.cmd.args.all("env"); len(given) > 0 {
		env, err := x.decide("the option --env", given, args, dir)
		if err != nil {
			return err
		}
		if !slices.Equal(env, given) {
			x.w.cmd.drop("env")
			for i, e := range env {
				env[i] = "--env=" + e
			}
			x.w.cmd.insert(env...)
		}
	}
	return f.Save()
}

// runcFlags makes the process.json that runc would make of its configuration, which
// it reads from the bundle again, and of the options; filtered.
func (x *execution) runcFlags() error {
	bundle, err := x.bundle()
	if err != nil {
		return err
	}
	if bundle == "" || len(x.w.cmd.args.operands) < 2 {
		return nil // no such container, or no command: the runtime says so
	}
	config, err := doc.Open(filepath.Join(bundle, "config.json"))
	if err != nil {
		return err
	}
	f, err := config.Process()
	if err != nil {
		return fmt.Errorf("read %s: %w", config.Path(), err)
	}
	hook.TakeBack(f)
	if err := x.apply(f); err != nil {
		return fmt.Errorf("read the options of exec: %w", err)
	}
	env, err := x.decide(config.Path()+": process.env", f.Env(), f.Args(), f.Cwd())
	if err != nil {
		return err
	}
	if slices.Equal(env, f.Env()) {
		return nil // nothing to take away: runc does this best itself
	}
	f.SetEnv(env)
	hand, err := handOver(f.Bytes(), x.w.cmd.args.get("preserve-fds"))
	if err != nil {
		return err
	}
	x.w.cmd.insert("--process", hand)
	return nil
}

func (x *execution) bundle() (string, error) {
	if x.record != nil {
		return x.record.Bundle, nil
	}
	s, err := stateOf(x.root, x.id)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return s.bundle, nil
}

// apply changes a process as runc does by its options.
func (x *execution) apply(f *doc.File) error {
	cmd := x.w.cmd
	f.SetArgs(cmd.args.operandsOf(cmd.words)[1:])
	for option, key := range map[string]string{"cwd": "cwd", "apparmor": "apparmorProfile", "process-label": "selinuxLabel"} {
		if s := cmd.args.get(option); s != "" {
			f.SetProcess(key, doc.Quote(s))
		}
	}
	f.SetEnv(append(slices.Clone(f.Env()), cmd.args.all("env")...))
	f.SetProcess("terminal", cmd.flag("tty"))
	if cmd.args.has("no-new-privs") {
		f.SetProcess("noNewPrivileges", cmd.flag("no-new-privs"))
	}
	if caps := cmd.args.all("cap"); len(caps) > 0 {
		f.SetProcess("capabilities", withCaps(f.Caps(), caps))
	}
	groups := cmd.args.all("additional-gids")
	if user := cmd.args.get("user"); user != "" || len(groups) > 0 {
		raw, err := withUser(f, user, groups)
		if err != nil {
			return err
		}
		f.SetProcess("user", raw)
	}
	return nil
}

// flag is a boolean option as JSON; Go's package flag lets it have a value.
func (v *invocation) flag(name string) string {
	if !v.args.has(name) {
		return "false"
	}
	value := v.args.get(name)
	if on, err := strconv.ParseBool(value); err == nil && !on {
		return "false"
	}
	return "true"
}

// withCaps adds capabilities to the sets that runc adds them to.
func withCaps(sets map[string][]string, caps []string) string {
	var raw []string
	for _, set := range []string{"bounding", "effective", "permitted", "ambient"} {
		raw = append(raw, doc.Quote(set)+":"+doc.QuoteAll(append(slices.Clone(sets[set]), caps...)))
	}
	if set := sets["inheritable"]; len(set) > 0 {
		raw = append(raw, `"inheritable":`+doc.QuoteAll(set))
	}
	return "{" + strings.Join(raw, ",") + "}"
}

// withUser is process.user with what --user UID[:GID] and --additional-gids change.
func withUser(f *doc.File, user string, groups []string) (string, error) {
	u := f.User()
	id := func(s string) (uint32, error) {
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return 0, errors.New("an id of a user or group is not a number")
		}
		return uint32(n), nil
	}
	var err error
	if user != "" {
		uid, gid, has := strings.Cut(user, ":")
		if u.UID, err = id(uid); err != nil {
			return "", err
		}
		if has {
			if u.GID, err = id(gid); err != nil {
				return "", err
			}
		}
	}
	for _, g := range groups {
		n, err := id(g)
		if err != nil {
			return "", err
		}
		u.AdditionalGIDs = append(u.AdditionalGIDs, n)
	}
	raw := fmt.Sprintf(`{"uid":%d,"gid":%d`, u.UID, u.GID)
	if len(u.AdditionalGIDs) > 0 {
		list := make([]string, len(u.AdditionalGIDs))
		for i, g := range u.AdditionalGIDs {
			list[i] = strconv.FormatUint(uint64(g), 10)
		}
		raw += `,"additionalGids":[` + strings.Join(list, ",") + "]"
	}
	umask, err := f.Raw("user", "umask")
	if err != nil {
		return "", err
	}
	if umask != "" {
		raw += `,"umask":` + umask
	}
	return raw + "}", nil
}

// isDescriptor tells of a path that names a descriptor of this very process.
func isDescriptor(path string) bool {
	switch filepath.Clean(path) {
	case "/dev/stdin":
		return true
	}
	dir := filepath.Dir(filepath.Clean(path))
	return dir == "/dev/fd" || dir == "/proc/self/fd"
}

func readStream(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, doc.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

// handOver puts a document where the runtime can read it and nobody else, and where
// nothing has to be removed: in memory, on a descriptor that outlives exec. Runtimes
// keep descriptors from the container except the first few, which the caller can
// ask for with --preserve-fds; this is one far above.
func handOver(data []byte, preserve string) (string, error) {
	const far = 200
	n, err := strconv.Atoi(preserve)
	if preserve == "" {
		n, err = 0, nil
	}
	if err != nil || n < 0 || n > math.MaxInt16 {
		return "", errors.New("read the options of exec: --preserve-fds is not a number")
	}
	fd, err := unix.MemfdCreate("envscrub-process", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return "", fmt.Errorf("hand the process over: %w", err)
	}
	f := os.NewFile(uintptr(fd), "process.json")
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return "", fmt.Errorf("hand the process over: %w", err)
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL); err != nil {
		return "", fmt.Errorf("hand the process over: %w", err)
	}
	kept, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD, max(far, n+16))
	if err != nil {
		return "", fmt.Errorf("hand the process over: %w", err)
	}
	return "/proc/self/fd/" + strconv.Itoa(kept), nil
}
