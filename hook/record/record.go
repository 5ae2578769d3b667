package record

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Variable is one that did not reach the container as it was, or only its agent.
type Variable struct {
	Name string `json:"name"`
	Fate string `json:"fate"`
	Rule string `json:"rule"`
	At   string `json:"source"`
}

// A Record is what is kept of a create.
type Record struct {
	ID      string    `json:"id"`
	Root    string    `json:"root,omitempty"` // the runtime's state directory, --root
	Bundle  string    `json:"bundle"`
	Runtime string    `json:"runtime,omitempty"`
	Engine  string    `json:"engine,omitempty"`
	Image   string    `json:"image,omitempty"`
	Profile string    `json:"profile,omitempty"`
	Mode    string    `json:"mode"`
	Door    string    `json:"door"`
	Time    time.Time `json:"time"`
	Kept    int       `json:"kept"` // how many variables the container has

	Variables []Variable `json:"variables"`
	Grants    []string   `json:"grants,omitempty"` // names that the container asked for and got

	key    []byte
	hashes map[string][]digest
	lost   map[digest]string // by the hash of the value alone
}

// A digest is half an HMAC-SHA256, which is enough to tell two values apart.
type digest [16]byte

// Remember hashes the environment that the container was asked to have. Entries
// without a name are left out; a decision has refused them before. The values of
// r.Variables are hashed once more, to be known under any name.
func (r *Record) Remember(env []string) error {
	r.key = make([]byte, 32)
	// The system call itself: unix.Getrandom first maps memory for a faster way, which pays from the second call on.
	if n, _, err := unix.Syscall(unix.SYS_GETRANDOM, uintptr(unsafe.Pointer(&r.key[0])), uintptr(len(r.key)), 0); err != 0 || n != uintptr(len(r.key)) {
		return fmt.Errorf("no random key for the record: %w", err)
	}
	r.hashes, r.lost = make(map[string][]digest, len(env)), map[digest]string{}
	sum := r.summer()
	for _, e := range env {
		if name, value, ok := strings.Cut(e, "="); ok {
			r.hashes[name] = append(r.hashes[name], sum(name, value))
			if len(value) >= protectedLength && slices.ContainsFunc(r.Variables, func(v Variable) bool { return v.Name == name && v.taken() }) {
				r.lost[sum("", value)] = name
			}
		}
	}
	return nil
}

// protectedLength is the least that a value must have to be known elsewhere, as
// everywhere in the policy.
const protectedLength = 8

func (v *Variable) taken() bool { return v.Fate == "removed" || v.Fate == "agent" }

// Lost returns the variable that a value was taken away with.
func (r *Record) Lost() func(value string) (name string, ok bool) {
	sum := r.summer()
	return func(value string) (name string, ok bool) {
		if len(value) >= protectedLength && len(r.lost) > 0 {
			name, ok = r.lost[sum("", value)]
		}
		return name, ok
	}
}

// summer returns the keyed hash, which keeps its state between calls.
func (r *Record) summer() func(name, value string) digest {
	mac := hmac.New(sha256.New, r.key)
	var buf []byte
	return func(name, value string) (d digest) {
		mac.Reset()
		// A name holds no "=", so the pair is unambiguous.
		buf = append(append(append(buf[:0], name...), '='), value...)
		mac.Write(buf)
		clear(buf)
		copy(d[:], mac.Sum(nil))
		return d
	}
}

// Changed returns a function that tells whether a variable is new or has another
// value than the container was created with.
func (r *Record) Changed() func(name, value string) bool {
	sum := r.summer()
	return func(name, value string) bool {
		known := r.hashes[name]
		return len(known) == 0 || !slices.Contains(known, sum(name, value))
	}
}

const magic = "envscrub record 1"

// usualSize is room for a few dozen variables.
const usualSize = 4 << 10

// fields are the single values, by the word that their line begins with.
func (r *Record) fields() []struct {
	word string
	at   *string
} {
	return []struct {
		word string
		at   *string
	}{
		{"id", &r.ID},
		{"root", &r.Root},
		{"bundle", &r.Bundle},
		{"runtime", &r.Runtime},
		{"engine", &r.Engine},
		{"image", &r.Image},
		{"profile", &r.Profile},
		{"mode", &r.Mode},
		{"door", &r.Door},
	}
}

func (r *Record) encode() []byte {
	b := append(append(make([]byte, 0, usualSize), magic...), '\n')
	for _, f := range r.fields() {
		b = append(append(b, f.word...), ' ')
		b = append(strconv.AppendQuote(b, *f.at), '\n')
	}
	b = strconv.AppendInt(append(b, "time "...), r.Time.UnixNano(), 10)
	b = strconv.AppendInt(append(b, "\nkept "...), int64(r.Kept), 10)
	b = append(hex.AppendEncode(append(b, "\nkey "...), r.key), '\n')
	for _, v := range r.Variables {
		b = append(b, "variable"...)
		for _, s := range []string{v.Name, v.Fate, v.Rule, v.At} {
			b = strconv.AppendQuote(append(b, ' '), s)
		}
		b = append(b, '\n')
	}
	for _, name := range r.Grants {
		b = append(strconv.AppendQuote(append(b, "grant "...), name), '\n')
	}
	names := make([]string, 0, len(r.hashes))
	for name := range r.hashes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, d := range r.hashes[name] {
			b = append(hex.AppendEncode(append(b, "hash "...), d[:]), ' ')
			b = append(strconv.AppendQuote(b, name), '\n')
		}
	}
	for _, d := range slices.SortedFunc(maps.Keys(r.lost), func(a, b digest) int { return bytes.Compare(a[:], b[:]) }) {
		b = append(hex.AppendEncode(append(b, "lost "...), d[:]), ' ')
		b = append(strconv.AppendQuote(b, r.lost[d]), '\n')
	}
	return append(b, "end\n"...)
}

var errDamaged = errors.New("the record is damaged")

// decode reads a record. Whatever is not as encode writes it is an error: an exec
// that cannot know what is explicit must not guess.
func decode(data []byte) (*Record, error) {
	r := &Record{hashes: map[string][]digest{}, lost: map[digest]string{}}
	fields := map[string]*string{}
	for _, f := range r.fields() {
		fields[f.word] = f.at
	}
	in := bufio.NewReader(bytes.NewReader(data))
	for n := 0; ; n++ {
		line, err := in.ReadString('\n')
		if err == io.EOF {
			return nil, errDamaged
		}
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case n == 0:
			if line != magic+"\n" {
				return nil, errors.New("the record is of another version")
			}
		case fields[word] != nil:
			*fields[word], _, err = unquote(rest)
		case word == "time":
			var ns int64
			ns, err = strconv.ParseInt(rest, 10, 64)
			r.Time = time.Unix(0, ns)
		case word == "kept":
			r.Kept, err = strconv.Atoi(rest)
		case word == "key":
			r.key, err = hex.DecodeString(rest)
		case word == "variable":
			var v Variable
			for _, at := range []*string{&v.Name, &v.Fate, &v.Rule, &v.At} {
				if err == nil {
					*at, rest, err = unquote(rest)
				}
			}
			r.Variables = append(r.Variables, v)
		case word == "grant":
			var name string
			name, _, err = unquote(rest)
			r.Grants = append(r.Grants, name)
		case word == "hash" || word == "lost":
			var d digest
			sum, name, _ := strings.Cut(rest, " ")
			if len(sum) != 2*len(d) {
				return nil, errDamaged
			}
			if _, err = hex.Decode(d[:], []byte(sum)); err == nil {
				name, _, err = unquote(name)
			}
			if word == "lost" {
				r.lost[d] = name
			} else {
				r.hashes[name] = append(r.hashes[name], d)
			}
		case word == "end":
			if len(r.key) == 0 {
				return nil, errDamaged
			}
			return r, nil
		default:
			return nil, errDamaged
		}
		if err != nil {
			return nil, errDamaged
		}
	}
}

// unquote takes one quoted string off s.
func unquote(s string) (string, string, error) {
	q, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", err
	}
	v, err := strconv.Unquote(q)
	return v, strings.TrimPrefix(s[len(q):], " "), err
}
