package audit

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// What a door did with a container or an exec.
const (
	Scrubbed = "scrubbed" // started with the policy's environment, also when nothing had to go
	Observed = "observed" // mode = "observe": started unchanged, the line says what would have gone
	Refused  = "refused"  // not started
	Disabled = "disabled" // left alone because an honoured override or mode = "off" said so
)

// Name is one variable that was (or would be) taken away.
type Name struct {
	Name string
	Rule string // as in envscrub explain
	At   string // FILE:LINE, or "built-in"
}

// Event is one decision. It has no field for a value, on purpose.
type Event struct {
	Time    time.Time // zero: now
	Door    string    // hook, precreate, runtime, nri
	Action  string    // create or exec
	Outcome string    // Scrubbed, Observed, Refused or Disabled
	Engine  string    // see EngineOf
	ID      string    // the container's id
	Image   string
	Profile string
	Reason  string // of a refusal or an override: one line, without values

	Kept, Set, Unset, AgentOnly int
	Removed                     []Name
}

// EngineOf tells the engine by the annotations that it gives its containers.
// Docker gives none.
func EngineOf(annotations map[string]string) string {
	for _, e := range [...]struct{ key, engine string }{
		{"io.kubernetes.cri-o.ContainerType", "cri-o"},
		{"io.kubernetes.cri-o.Annotations", "cri-o"},
		{"io.kubernetes.cri.container-type", "containerd"},
		{"io.container.manager", "podman"},
		{"io.podman.annotations.seccomp", "podman"},
		{"org.opencontainers.image.stopSignal", "podman"},
		{"nerdctl/version", "nerdctl"},
	} {
		if _, ok := annotations[e.key]; ok {
			return e.engine
		}
	}
	return "oci"
}

// AppendJSON appends the event as one line of JSON, without the newline, naming
// at most limit of the removed variables.
func (e *Event) AppendJSON(b []byte, limit int) []byte {
	t := e.Time
	if t.IsZero() {
		t = time.Now()
	}
	b = append(b, `{"time":"`...)
	b = t.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
	b = append(b, '"')
	for _, f := range [...]struct{ key, value string }{
		{"door", e.Door},
		{"action", e.Action},
		{"outcome", e.Outcome},
		{"engine", e.Engine},
		{"id", e.ID},
		{"image", e.Image},
		{"profile", e.Profile},
		{"reason", e.Reason},
	} {
		if f.value == "" {
			continue
		}
		b = append(b, `,"`...)
		b = append(b, f.key...)
		b = append(b, `":`...)
		b = appendString(b, f.value)
	}
	for _, f := range [...]struct {
		key   string
		value int
	}{
		{"kept", e.Kept},
		{"removed", len(e.Removed)},
		{"set", e.Set},
		{"unset", e.Unset},
		{"agent_only", e.AgentOnly},
	} {
		b = append(b, `,"`...)
		b = append(b, f.key...)
		b = append(b, `":`...)
		b = strconv.AppendInt(b, int64(f.value), 10)
	}
	b = append(b, `,"names":[`...)
	n := min(limit, len(e.Removed))
	for i, r := range e.Removed[:n] {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"name":`...)
		b = appendString(b, r.Name)
		b = append(b, `,"rule":`...)
		b = appendString(b, r.Rule)
		if r.At != "" {
			b = append(b, `,"at":`...)
			b = appendString(b, r.At)
		}
		b = append(b, '}')
	}
	b = append(b, ']')
	if more := len(e.Removed) - n; more > 0 {
		b = append(b, `,"more":`...)
		b = strconv.AppendInt(b, int64(more), 10)
	}
	return append(b, '}')
}

// appendString is encoding/json's quoting without its reflection: this runs
// before every container starts. Control characters and invalid UTF-8 never get
// through raw, so a name cannot forge a second line.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c == '"' || c == '\\':
				b = append(b, '\\', c)
			case c == '\n':
				b = append(b, `\n`...)
			case c == '\t':
				b = append(b, `\t`...)
			case c < 0x20 || c == 0x7f:
				b = append(b, `\u00`...)
				b = append(b, hex[c>>4], hex[c&15])
			default:
				b = append(b, c)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(b, `\ufffd`...)
		case r == '\u2028' || r == '\u2029' || (r >= 0x80 && r < 0xa0):
			// Line separators and C1 controls: some log viewers break lines there.
			b = append(b, `\u`...)
			b = append(b, hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			b = append(b, s[i:i+size]...)
		}
		i += size
	}
	return append(b, '"')
}
