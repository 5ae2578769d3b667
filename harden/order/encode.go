package order

import (
	"errors"
	"strconv"
	"strings"

	"github.com/envscrub/envscrub/policy/spawn"
)

// The text is a sequence of fields, each KEY=VALUE;, and ends in end. A list
// is a repeated field, and a grant belongs to the rule before it.
const (
	keyVersion   = "envscrub"
	keyRemove    = "remove"
	keySet       = "set"
	keyAgent     = "agent"
	keyHeld      = "held"
	keyRule      = "rule"
	keyGrant     = "grant"
	keyTrust     = "trust"
	keyDumpable  = "dumpable"
	keyVoid      = "void"
	keySysAdmin  = "sysadmin"
	keyCap       = "cap"
	keyLent      = "lent"
	keyNNP       = "nnp"
	keyCore      = "core"
	keyDiag      = "diag"
	keyRedact    = "redact"
	keyForm      = "form"
	keySecret    = "secret"
	keyGroup     = "group"
	end          = "end;"
	hexDigits    = "0123456789ABCDEF"
	flagTrue     = "1"
	versionStart = keyVersion + "="
)

// Encode returns the order as one line of printable ASCII without a space.
func (o *Order) Encode() string {
	b := make([]byte, 0, o.sizeHint())
	b = appendField(b, keyVersion, Version)
	b = appendList(b, keyRemove, o.Remove)
	b = appendList(b, keySet, o.Set)
	b = appendList(b, keyAgent, o.AgentOnly)
	b = appendList(b, keyHeld, o.Held)
	for _, r := range o.Rules {
		b = appendField(b, keyRule, r.Command)
		b = appendList(b, keyGrant, r.Allow)
	}
	b = appendList(b, keyTrust, o.Trust)
	if o.Dumpable != "" {
		b = appendField(b, keyDumpable, o.Dumpable)
	}
	b = appendFlag(b, keyVoid, o.AllowVoid)
	b = appendFlag(b, keySysAdmin, o.DropSysAdmin)
	if o.Capability != 0 {
		b = appendField(b, keyCap, strconv.Itoa(o.Capability))
	}
	if o.Lent != "" {
		b = appendField(b, keyLent, o.Lent)
	}
	b = appendFlag(b, keyNNP, o.NoNewPrivileges)
	if o.CoreLimit != nil {
		b = appendField(b, keyCore, strconv.FormatUint(*o.CoreLimit, 10))
	}
	b = appendList(b, keyDiag, o.Diagnostics)
	if o.Redact != nil {
		b = appendFlag(b, keyRedact, true)
		b = appendList(b, keyForm, o.Redact.Forms)
		b = appendList(b, keySecret, o.Redact.Values)
	}
	b = appendFlag(b, keyGroup, o.Group)
	return string(append(b, end...))
}

func (o *Order) sizeHint() int {
	n := 256
	for _, list := range [][]string{o.Remove, o.Set, o.AgentOnly, o.Held} {
		for _, s := range list {
			n += len(s) + 16
		}
	}
	return n
}

func appendFlag(b []byte, key string, set bool) []byte {
	if !set {
		return b
	}
	return appendField(b, key, flagTrue)
}

func appendList(b []byte, key string, values []string) []byte {
	for _, v := range values {
		b = appendField(b, key, v)
	}
	return b
}

func appendField(b []byte, key, value string) []byte {
	b = append(b, key...)
	b = append(b, '=')
	for i := 0; i < len(value); i++ {
		if c := value[i]; c <= ' ' || c >= 0x7f || c == ';' || c == '%' {
			b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
		} else {
			b = append(b, c)
		}
	}
	return append(b, ';')
}

// Errors of Decode. Others name the field that is wrong.
var (
	ErrVersion = errors.New("the order is from another version or build than this shim; install all of envscrub's programs from one build (envscrub status shows which)")
	ErrCut     = errors.New("the order is cut off")
)

// Complete reports whether text ends as an order does: what a reader of a
// pipe looks for.
func Complete(text []byte) bool {
	return len(text) > len(end) && string(text[len(text)-len(end)-1:]) == ";"+end
}

// Decode reads what Encode wrote.
func Decode(text string) (*Order, error) {
	if !strings.HasPrefix(text, versionStart) {
		return nil, errors.New("what stands there is no order")
	}
	if !strings.HasPrefix(text, versionStart+Version+";") {
		return nil, ErrVersion
	}
	text, whole := strings.CutSuffix(text, end)
	if !whole {
		return nil, ErrCut
	}
	o := &Order{}
	for text != "" {
		field, rest, found := strings.Cut(text, ";")
		if !found {
			return nil, ErrCut
		}
		text = rest
		key, raw, found := strings.Cut(field, "=")
		if !found {
			return nil, errors.New("a field of the order has no value")
		}
		value, ok := unescape(raw)
		if !ok {
			return nil, errors.New(key + ": bad escape in the order")
		}
		if err := o.take(key, value); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (o *Order) take(key, value string) error {
	switch key {
	case keyVersion:
		if value != Version {
			return ErrVersion
		}
		o.Version = value
	case keyRemove:
		o.Remove = append(o.Remove, value)
	case keySet:
		o.Set = append(o.Set, value)
	case keyAgent:
		o.AgentOnly = append(o.AgentOnly, value)
	case keyHeld:
		o.Held = append(o.Held, value)
	case keyRule:
		o.Rules = append(o.Rules, spawn.Rule{Command: value})
	case keyGrant:
		if len(o.Rules) == 0 {
			return errors.New("grant: stands before any rule in the order")
		}
		last := &o.Rules[len(o.Rules)-1]
		last.Allow = append(last.Allow, value)
	case keyTrust:
		o.Trust = append(o.Trust, value)
	case keyDumpable:
		switch value {
		case Require, Prefer, Off:
			o.Dumpable = value
		default:
			return errors.New("dumpable: unknown word in the order")
		}
	case keyCore:
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return errors.New("core: no number in the order")
		}
		o.CoreLimit = &n
	case keyDiag:
		o.Diagnostics = append(o.Diagnostics, value)
	case keyRedact:
		o.Redact = &Redact{}
		return needTrue(key, value)
	case keyForm, keySecret:
		if o.Redact == nil {
			return errors.New(key + ": stands before redact in the order")
		}
		if key == keyForm {
			o.Redact.Forms = append(o.Redact.Forms, value)
		} else {
			o.Redact.Values = append(o.Redact.Values, value)
		}
	case keyVoid:
		o.AllowVoid = true
		return needTrue(key, value)
	case keySysAdmin:
		o.DropSysAdmin = true
		return needTrue(key, value)
	case keyCap:
		n, err := strconv.ParseUint(value, 10, 6)
		if err != nil || n == 0 {
			return errors.New("cap: no capability's number in the order")
		}
		o.Capability = int(n)
	case keyLent:
		if strings.Trim(value, Sets) != "" {
			return errors.New("lent: unknown set in the order")
		}
		o.Lent = value
	case keyNNP:
		o.NoNewPrivileges = true
		return needTrue(key, value)
	case keyGroup:
		o.Group = true
		return needTrue(key, value)
	default:
		return errors.New("unknown field in the order: " + strconv.Quote(key))
	}
	return nil
}

func needTrue(key, value string) error {
	if value != flagTrue {
		return errors.New(key + ": no flag in the order")
	}
	return nil
}

func unescape(s string) (string, bool) {
	at := strings.IndexByte(s, '%')
	if at < 0 {
		return s, true
	}
	b := make([]byte, 0, len(s))
	b = append(b, s[:at]...)
	for i := at; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		high, low := nibble(s[i+1]), nibble(s[i+2])
		if high > 15 || low > 15 {
			return "", false
		}
		b = append(b, high<<4|low)
		i += 2
	}
	return string(b), true
}

func nibble(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}
