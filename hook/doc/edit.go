package doc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A field is one that can be edited; each has at most one edit, so that setting
// it again replaces the first.
type field int

const (
	fieldEnv field = iota
	fieldArgs
	fieldMounts
	fieldCaps
	fieldProcess = fieldCaps + 5 // one a key of the process, for SetProcess
	fieldCount   = fieldProcess + 16
)

// An edit replaces a range of the document. An insertion has an empty range.
type edit struct {
	span
	text string
	set  bool
	into *object // for a new member: the object that it goes into
}

type edits [fieldCount]edit

var errNoProcess = errors.New("there is no process to edit")

// SetEnv replaces process.env. An entry that was there keeps the bytes it was
// written with. A document without a process makes Save fail.
func (f *File) SetEnv(env []string) {
	f.env = env
	f.setStrings(fieldEnv, &f.envList, "env", f.proc.vals[processEnv], f.envWas, env)
}

// SetArgs replaces process.args.
func (f *File) SetArgs(args []string) {
	f.args = args
	f.setStrings(fieldArgs, &f.argList, "args", f.proc.vals[processArgs], f.argsWas, args)
}

func (f *File) setStrings(n field, l *list, key string, at span, old, now []string) {
	if !f.HasProcess() {
		f.fail(errNoProcess)
		return
	}
	if slices.Equal(old, now) {
		f.edits[n] = edit{}
		return
	}
	raw := make([]string, len(now))
	next := 0
	var buf []byte
	for i, s := range now {
		if strings.IndexByte(s, 0) >= 0 {
			f.fail(fmt.Errorf("process.%s[%d] would hold a NUL byte", key, i))
			return
		}
		// The kept entries come in their old order; what is not found is new.
		if k := slices.Index(old[next:], s); k >= 0 {
			at := l.items[next+k]
			raw[i] = f.src[at.from:at.to]
			next += k + 1
			continue
		}
		from := len(buf)
		buf = appendQuoted(buf, s)
		raw[i] = string(buf[from:])
	}
	f.put(n, &f.proc, key, at, l.render(raw))
}

// put sets a member of an object: in its place, or behind the last.
func (f *File) put(n field, o *object, key string, at span, text string) {
	if at.to != 0 {
		f.edits[n] = edit{span: at, text: text, set: true}
		return
	}
	end, colon := o.last, o.colon
	if end == 0 {
		end, colon = o.from+1, ":"
	}
	f.edits[n] = edit{span: span{end, end}, text: o.lead + `"` + key + `"` + colon + text, set: true, into: o}
}

// SetProcess replaces a member of the process by JSON text; for env, args and
// capabilities there are methods of their own.
func (f *File) SetProcess(key, raw string) {
	i := slices.Index(processKeys, key)
	if i < 0 || !f.HasProcess() {
		f.fail(errNoProcess)
		return
	}
	if key == "capabilities" {
		clear(f.edits[fieldCaps:fieldProcess]) // those of its sets would lie within
	}
	f.put(fieldProcess+field(i), &f.proc, key, f.proc.vals[i], raw)
}

// Process returns the process of a config.json, as it was read, as a process.json.
func (f *File) Process() (*File, error) {
	if !f.HasProcess() {
		return nil, errNoProcess
	}
	return ParseProcess([]byte(f.src[f.proc.from:f.proc.to]))
}

// Quote renders a string as JSON.
func Quote(s string) string { return string(appendQuoted(nil, s)) }

// QuoteAll renders a list of strings as a JSON array.
func QuoteAll(list []string) string { return string(appendStrings(nil, list)) }

// AddMount appends a mount.
func (f *File) AddMount(m Mount) {
	if f.process {
		f.fail(errors.New("a process.json has no mounts"))
		return
	}
	b := []byte(`{"destination":`)
	b = appendQuoted(b, m.Destination)
	b = append(b, `,"type":`...)
	b = appendQuoted(b, m.Type)
	b = append(b, `,"source":`...)
	b = appendQuoted(b, m.Source)
	b = append(b, `,"options":`...)
	b = append(appendStrings(b, m.Options), '}')
	f.mounts = append(f.mounts, m)
	f.mountsRaw = append(f.mountsRaw, string(b))
	f.putMounts()
}

// RemoveMounts takes out the mounts that drop says.
func (f *File) RemoveMounts(drop func(Mount) bool) {
	if !slices.ContainsFunc(f.mounts, drop) {
		return
	}
	var mounts []Mount
	var raw []string
	for i, m := range f.mounts {
		if !drop(m) {
			mounts, raw = append(mounts, m), append(raw, f.mountsRaw[i])
		}
	}
	f.mounts, f.mountsRaw = mounts, raw
	f.putMounts()
}

func (f *File) putMounts() {
	f.put(fieldMounts, &f.top, "mounts", f.top.vals[topMounts], f.mountList.render(f.mountsRaw))
}

func appendStrings(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuoted(b, s)
	}
	return append(b, ']')
}

// Bytes returns the document with its edits.
func (f *File) Bytes() []byte {
	var todo []edit
	grow := 0
	for _, e := range f.edits {
		if e.set {
			todo = append(todo, e)
			grow += len(e.text)
		}
	}
	slices.SortStableFunc(todo, func(a, b edit) int { return a.from - b.from })
	out := make([]byte, 0, len(f.src)+grow)
	at := 0
	for i, e := range todo {
		out = append(out, f.src[at:e.from]...)
		if e.into != nil && (e.into.last != 0 || i > 0 && todo[i-1].into == e.into) {
			out = append(out, ',')
		}
		out = append(out, e.text...)
		at = e.to
	}
	return append(out, f.src[at:]...)
}

// Edited tells whether anything was set.
func (f *File) Edited() bool {
	return slices.ContainsFunc(f.edits[:], func(e edit) bool { return e.set })
}

func (f *File) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}
