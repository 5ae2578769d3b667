package doc

import (
	"strconv"
	"strings"
)

// The keys of the objects that are looked at, all of them, so that a look-alike
// of any is noticed. Keys that a later specification adds pass as unknown.
var (
	topKeys = []string{
		"process", "root", "mounts", "hooks", "annotations", "linux",
		"ociVersion", "hostname", "domainname", "solaris", "windows", "vm", "zos",
	}
	processKeys = []string{
		"env", "args", "cwd", "user", "capabilities", "terminal",
		"noNewPrivileges", "apparmorProfile", "selinuxLabel", "consoleSize", "commandLine",
		"rlimits", "oomScoreAdj", "scheduler", "ioPriority", "execCPUAffinity",
	}
	userKeys  = []string{"uid", "gid", "additionalGids", "username", "umask"}
	rootKeys  = []string{"path", "readonly"}
	mountKeys = []string{"destination", "type", "source", "options", "uidMappings", "gidMappings"}
	capKeys   = []string{"bounding", "effective", "inheritable", "permitted", "ambient"}
	hookKeys  = []string{"prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"}
)

// Where the edited keys stand in the lists above.
const (
	topProcess, topRoot, topMounts, topHooks, topAnnotations = 0, 1, 2, 3, 4
	processEnv, processArgs                                  = 0, 1
)

// A User is process.user.
type User struct {
	UID, GID       uint32
	AdditionalGIDs []uint32
	Username       string // Windows only, by the specification
}

// A Root is the container's root file system, as it is written.
type Root struct {
	Path     string
	Readonly bool
}

// A Mount is an entry of mounts.
type Mount struct {
	Destination, Type, Source string
	Options                   []string
}

// An object is one that is looked at. With from == to it is absent.
type object struct {
	span
	lead  string // white space before the first key
	colon string // what stands between a key and its value
	last  int    // end of the last value, 0 with no members
	vals  [16]span
}

func (o *object) present() bool { return o.to > o.from }

// A list is an array whose elements are looked at.
type list struct {
	span
	lead, sep, tail string // white space after "[", what separates two, white space before "]"
	items           []span
}

// object scans an object: visit is called at the value of each key of known, by
// its index. Unknown keys pass, look-alikes and duplicates of known ones do not.
func (p *scanner) object(o *object, known []string, visit func(i int) error) error {
	if err := p.want('{', "an object"); err != nil {
		return err
	}
	o.from = p.i
	err := p.keys(func(t text) error {
		if o.last == 0 {
			o.lead, o.colon = p.s[o.from+1:t.from], p.s[t.to:p.i]
		}
		i, err := p.known(t, known)
		if err != nil {
			return err
		}
		if i < 0 {
			_, err = p.value()
			o.last = p.i
			return err
		}
		if o.vals[i].to != 0 {
			return under(p.fail(t.from, "stands here twice, and runtimes differ in which one counts"), known[i])
		}
		from := p.i
		if p.peek() == 'n' {
			_, err = p.value()
		} else {
			err = visit(i)
		}
		o.vals[i] = span{from, p.i}
		o.last = p.i
		if err != nil {
			return under(err, known[i])
		}
		return nil
	})
	o.to = p.i
	return err
}

// known finds a key, -1 for one that nobody reads.
func (p *scanner) known(t text, known []string) (int, error) {
	key, _ := p.decode(t)
	for i, k := range known {
		if key == k {
			return i, nil
		}
	}
	if strings.IndexByte(key, 0) >= 0 {
		return 0, p.fail(t.from, "a key holds a NUL byte, and runtimes differ in what it means")
	}
	for _, k := range known {
		if strings.EqualFold(key, k) {
			return 0, under(p.fail(t.from, "is spelled in another case, which some runtimes take for it and others do not"), k)
		}
	}
	return -1, nil
}

// under puts a key, or the place in an array, before the path that an error has: the
// path is only put together where there is an error to tell.
func under(err error, key string) error {
	e, ok := err.(*Error)
	switch {
	case !ok:
	case e.Path == "", e.Path[0] == '[':
		e.Path = key + e.Path
	default:
		e.Path = key + "." + e.Path
	}
	return err
}

// list scans an array, of about expect elements; each is called at every element, by
// its index.
func (p *scanner) list(l *list, expect int, each func(i int) error) error {
	if err := p.want('[', "an array"); err != nil {
		return err
	}
	l.from = p.i
	err := p.elements(func() error {
		n := len(l.items)
		from := p.i
		switch n {
		case 0:
			l.lead = p.s[l.from+1 : from]
			l.sep = "," + l.lead
			l.items = make([]span, 0, expect)
		case 1:
			l.sep = p.s[l.items[0].to:from]
		}
		if err := each(n); err != nil {
			return under(err, "["+strconv.Itoa(n)+"]")
		}
		l.items = append(l.items, span{from, p.i})
		return nil
	})
	l.to = p.i
	if n := len(l.items); err == nil && n > 0 {
		l.tail = p.s[l.items[n-1].to : l.to-1]
	}
	return err
}

// strings scans an array of strings.
func (p *scanner) strings(l *list, expect int) ([]string, error) {
	var out []string
	err := p.list(l, expect, func(int) error {
		if out == nil {
			out = make([]string, 0, expect)
		}
		s, err := p.text()
		out = append(out, s)
		return err
	})
	return out, err
}

// render writes a list of elements in the way that l was written.
func (l *list) render(raw []string) string {
	if len(raw) == 0 {
		return "[]"
	}
	sep := l.sep
	if sep == "" {
		sep = ","
	}
	return "[" + l.lead + strings.Join(raw, sep) + l.tail + "]"
}

// How many elements the arrays usually have.
const (
	usualEnv, usualArgs, usualMounts, usualOptions, usualCaps = 48, 4, 16, 4, 16
)

func (f *File) scan() error {
	p := &scanner{s: f.src}
	var err error
	if f.process {
		err = f.scanProcess(p)
	} else {
		err = p.object(&f.top, topKeys, func(i int) error { return f.scanTop(p, i) })
	}
	if err != nil {
		return err
	}
	if p.peek(); p.i < len(p.s) {
		return p.fail(p.i, "more follows after the end of the document")
	}
	return nil
}

func (f *File) scanTop(p *scanner, i int) (err error) {
	switch i {
	case topProcess:
		return f.scanProcess(p)
	case topRoot:
		return p.object(&f.rootAt, rootKeys, func(i int) (err error) {
			if i == 0 {
				f.root.Path, err = p.text()
			} else {
				f.root.Readonly, err = p.boolean()
			}
			return err
		})
	case topMounts:
		f.mounts, f.mountsRaw = make([]Mount, 0, usualMounts), make([]string, 0, usualMounts)
		return p.list(&f.mountList, usualMounts, func(int) error {
			from := p.i
			m, err := p.mount()
			f.mounts = append(f.mounts, m)
			f.mountsRaw = append(f.mountsRaw, p.s[from:p.i])
			return err
		})
	case topHooks:
		var at object
		return p.object(&at, hookKeys, func(int) error {
			var l list
			return p.list(&l, 1, func(int) error {
				_, err := p.value()
				return err
			})
		})
	case topAnnotations:
		return f.scanAnnotations(p)
	}
	_, err = p.value()
	return err
}

func (f *File) scanProcess(p *scanner) error {
	return p.object(&f.proc, processKeys, func(i int) (err error) {
		switch i {
		case processEnv:
			f.env, err = p.strings(&f.envList, usualEnv)
		case processArgs:
			f.args, err = p.strings(&f.argList, usualArgs)
		case 2:
			f.cwd, err = p.text()
		case 3:
			err = f.scanUser(p)
		case 4:
			err = p.object(&f.capsAt, capKeys, func(i int) (err error) {
				f.caps[i], err = p.strings(&f.capLists[i], usualCaps)
				return err
			})
		case 5, 6: // nobody reads them, but runtimes refuse what is of another type
			_, err = p.boolean()
		case 7, 8:
			_, err = p.text()
		default:
			_, err = p.value()
		}
		return err
	})
}

func (f *File) scanUser(p *scanner) error {
	var at object
	return p.object(&at, userKeys, func(i int) (err error) {
		switch i {
		case 0:
			f.user.UID, err = p.integer()
		case 1:
			f.user.GID, err = p.integer()
		case 2:
			var l list
			err = p.list(&l, 1, func(int) error {
				n, err := p.integer()
				f.user.AdditionalGIDs = append(f.user.AdditionalGIDs, n)
				return err
			})
		case 3:
			f.user.Username, err = p.text()
		default:
			_, err = p.value()
		}
		return err
	})
}

func (p *scanner) mount() (m Mount, err error) {
	var at object
	err = p.object(&at, mountKeys, func(i int) (err error) {
		switch i {
		case 0:
			m.Destination, err = p.text()
		case 1:
			m.Type, err = p.text()
		case 2:
			m.Source, err = p.text()
		case 3:
			var l list
			m.Options, err = p.strings(&l, usualOptions)
		default:
			_, err = p.value()
		}
		return err
	})
	return m, err
}

// scanAnnotations reads a map, whose keys are compared exactly by every runtime;
// only a key that stands twice is ambiguous.
func (f *File) scanAnnotations(p *scanner) error {
	o := &f.annotationsAt
	if err := p.want('{', "an object"); err != nil {
		return err
	}
	o.from = p.i
	f.annotations = map[string]string{}
	err := p.keys(func(t text) error {
		if o.last == 0 {
			o.lead, o.colon = p.s[o.from+1:t.from], p.s[t.to:p.i]
		}
		key, lone := p.decode(t)
		if lone || strings.IndexByte(key, 0) >= 0 {
			return p.fail(t.from, "a key holds a NUL byte or half of a surrogate pair, and runtimes differ in what it means")
		}
		if _, ok := f.annotations[key]; ok {
			return p.fail(t.from, "a key stands here twice, and runtimes differ in which one counts")
		}
		null, err := p.null()
		if err != nil {
			return err
		}
		value := ""
		if !null {
			value, err = p.text()
		}
		f.annotations[key] = value
		o.last = p.i
		return err
	})
	o.to = p.i
	return err
}

// Raw returns the JSON text of the value that stands under a path of keys, which
// may lead through objects that are not looked at otherwise: Raw("linux",
// "mountLabel"). It is "" where there is none. A key that stands twice, or looks
// like the one asked for, is an error.
func (f *File) Raw(keys ...string) (string, error) {
	s := f.src
	for n, key := range keys {
		p := &scanner{s: s}
		if p.peek() != '{' {
			return "", nil
		}
		var o object
		found := false
		if err := p.object(&o, []string{key}, func(int) error { found = true; _, err := p.value(); return err }); err != nil {
			if n > 0 {
				err = under(err, strings.Join(keys[:n], "."))
			}
			return "", err
		}
		if !found {
			return "", nil
		}
		s = s[o.vals[0].from:o.vals[0].to]
	}
	return s, nil
}

// RawString is Raw for a value that is a string.
func (f *File) RawString(keys ...string) (string, error) {
	raw, err := f.Raw(keys...)
	if raw == "" || err != nil {
		return "", err
	}
	p := &scanner{s: raw}
	s, err := p.text()
	if err != nil {
		return "", under(err, strings.Join(keys, "."))
	}
	return s, nil
}
