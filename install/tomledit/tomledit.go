package tomledit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Decode parses data into plain maps.
func Decode(data []byte) (map[string]any, error) {
	var out map[string]any
	if err := toml.Unmarshal(data, &out); err != nil {
		var de *toml.DecodeError
		if errors.As(err, &de) {
			line, column := de.Position()
			return nil, fmt.Errorf("line %d, column %d: not TOML: %w", line, column, err)
		}
		return nil, fmt.Errorf("not TOML: %w", err)
	}
	if out == nil {
		out = map[string]any{}
	}
	return out, nil
}

// Get walks to the value at path; nil when there is none.
func Get(doc map[string]any, path ...string) any {
	var v any = doc
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

// Table is Get for a table; nil when there is none.
func Table(doc map[string]any, path ...string) map[string]any {
	m, _ := Get(doc, path...).(map[string]any)
	return m
}

// String is Get for a string; "" when there is none.
func String(doc map[string]any, path ...string) string {
	s, _ := Get(doc, path...).(string)
	return s
}

// Strings is Get for an array of strings.
func Strings(doc map[string]any, path ...string) []string {
	list, _ := Get(doc, path...).([]any)
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Quote writes s as a basic string.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Array writes a one-line array of strings.
func Array(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = Quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// span is where something stands in the file.
type span struct{ start, end int }

// layout is what the edits need to know of a file.
type layout struct {
	data       []byte
	firstTable int // offset of the first [table] line, or len(data)
	values     map[string]span
	headers    map[string]int // offset just behind a header's line
}

func key(path []string) string { return strings.Join(path, "\x00") }

func scan(data []byte) (*layout, error) {
	if _, err := Decode(data); err != nil {
		return nil, err
	}
	l := &layout{data: data, firstTable: len(data), values: map[string]span{}, headers: map[string]int{}}
	var p unstable.Parser
	p.Reset(data)
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = nil
			start := -1
			for it := e.Key(); it.Next(); {
				if start < 0 {
					start = int(it.Node().Raw.Offset)
				}
				table = append(table, string(it.Node().Data))
			}
			line := lineStart(data, start)
			l.firstTable = min(l.firstTable, line)
			if e.Kind == unstable.Table {
				l.headers[key(table)] = lineEnd(data, start)
			}
		case unstable.KeyValue:
			path := slices.Clone(table)
			end := 0
			for it := e.Key(); it.Next(); {
				path = append(path, string(it.Node().Data))
				end = int(it.Node().Raw.Offset + it.Node().Raw.Length)
			}
			v, err := valueSpan(data, end)
			if err != nil {
				return nil, err
			}
			l.values[key(path)] = v
		}
	}
	if p.Error() != nil {
		return nil, fmt.Errorf("not TOML: %w", p.Error())
	}
	return l, nil
}

// valueSpan finds the value behind a key that ends at offset i. The file is
// known to be valid.
func valueSpan(data []byte, i int) (span, error) {
	for i < len(data) && data[i] != '=' {
		i++
	}
	i++
	for i < len(data) && (data[i] == ' ' || data[i] == '\t') {
		i++
	}
	start, depth := i, 0
	for i < len(data) {
		switch c := data[i]; c {
		case '"', '\'':
			n, err := stringLen(data[i:])
			if err != nil {
				return span{}, err
			}
			i += n
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '#':
			if depth == 0 {
				return span{start, trimRight(data, start, i)}, nil
			}
			for i < len(data) && data[i] != '\n' {
				i++
			}
			continue
		case '\n':
			if depth == 0 {
				return span{start, trimRight(data, start, i)}, nil
			}
		}
		i++
	}
	return span{start, trimRight(data, start, i)}, nil
}

func trimRight(data []byte, start, end int) int {
	return start + len(bytes.TrimRight(data[start:end], " \t\r\n"))
}

// stringLen is the length of the string literal that data begins with.
func stringLen(data []byte) (int, error) {
	q := data[0]
	if triple := bytes.Repeat([]byte{q}, 3); bytes.HasPrefix(data, triple) {
		for i := 3; i < len(data); i++ {
			if q == '"' && data[i] == '\\' {
				i++
				continue
			}
			if bytes.HasPrefix(data[i:], triple) {
				i += 3
				for i < len(data) && data[i] == q { // up to two quotes may stand before the end
					i++
				}
				return i, nil
			}
		}
		return 0, errors.New("string without an end")
	}
	for i := 1; i < len(data); i++ {
		switch {
		case q == '"' && data[i] == '\\':
			i++
		case data[i] == q:
			return i + 1, nil
		}
	}
	return 0, errors.New("string without an end")
}

func lineStart(data []byte, i int) int { return bytes.LastIndexByte(data[:i], '\n') + 1 }

func lineEnd(data []byte, i int) int {
	if n := bytes.IndexByte(data[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(data)
}

func (l *layout) splice(start, end int, text string) []byte {
	out := make([]byte, 0, len(l.data)+len(text))
	out = append(out, l.data[:start]...)
	out = append(out, text...)
	return append(out, l.data[end:]...)
}

// eol is the file's own line ending.
func (l *layout) eol() string {
	if bytes.Contains(l.data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// Set gives the key at path the value (TOML text), in place where it exists,
// else as a new line: below its table's header, or before the first table for a
// key of the root. A table that does not exist is added at the end.
func Set(data []byte, value string, path ...string) ([]byte, error) {
	l, err := scan(data)
	if err != nil {
		return nil, err
	}
	var out []byte
	table, name := path[:len(path)-1], path[len(path)-1]
	v, exists := l.values[key(path)]
	header, hasTable := l.headers[key(table)]
	switch {
	case exists:
		out = l.splice(v.start, v.end, value)
	case len(table) == 0:
		line := bareKey(name) + " = " + value + l.eol()
		// Behind the keys that are there, before the comment block of the first table.
		at := l.firstTable
		for at > 0 {
			prev := lineStart(data, at-1)
			if t := bytes.TrimSpace(data[prev:at]); len(t) > 0 && t[0] != '#' {
				break
			}
			at = prev
		}
		if at > 0 && data[at-1] != '\n' {
			line = l.eol() + line
		}
		out = l.splice(at, at, line)
	case hasTable:
		// The header may be the last line and have no end.
		line := bareKey(name) + " = " + value + l.eol()
		if header > 0 && data[header-1] != '\n' {
			line = l.eol() + line
		}
		out = l.splice(header, header, indentAfter(data, header)+line)
	default:
		return Append(data, Header(table...)+"\n"+bareKey(name)+" = "+value+"\n")
	}
	if _, err := Decode(out); err != nil {
		return nil, fmt.Errorf("cannot set %s in this file: %w", Dotted(path...), err)
	}
	return out, nil
}

// indentAfter is the indent of the line at offset i, so that a new one looks the same.
func indentAfter(data []byte, i int) string {
	line := data[i:lineEnd(data, i)]
	t := bytes.TrimLeft(line, " \t")
	if len(t) == 0 || t[0] == '[' || t[0] == '\n' || t[0] == '\r' {
		return ""
	}
	return string(line[:len(line)-len(t)])
}

// Unset deletes the line of the key at path; a missing key is no error.
func Unset(data []byte, path ...string) ([]byte, error) {
	l, err := scan(data)
	if err != nil {
		return nil, err
	}
	v, ok := l.values[key(path)]
	if !ok {
		return data, nil
	}
	out := l.splice(lineStart(data, v.start), lineEnd(data, v.end), "")
	if _, err := Decode(out); err != nil {
		return nil, fmt.Errorf("cannot remove %s from this file: %w", Dotted(path...), err)
	}
	return out, nil
}

// AddString adds s to the array of strings at path, which is made if missing.
func AddString(data []byte, s string, path ...string) ([]byte, error) {
	doc, err := Decode(data)
	if err != nil {
		return nil, err
	}
	list := Strings(doc, path...)
	if slices.Contains(list, s) {
		return data, nil
	}
	v := Get(doc, path...)
	if v == nil {
		return Set(data, Array([]string{s}), path...)
	}
	if whole, ok := v.([]any); !ok || len(whole) != len(list) {
		return nil, fmt.Errorf("%s is not an array of strings", Dotted(path...))
	}
	l, err := scan(data)
	if err != nil {
		return nil, err
	}
	at, ok := l.values[key(path)]
	if !ok || data[at.start] != '[' {
		return nil, fmt.Errorf("%s is written in a form that cannot be edited", Dotted(path...))
	}
	text := data[at.start:at.end]
	body := bytes.TrimRight(text[:len(text)-1], " \t\r\n")
	insert := Quote(s)
	if len(list) > 0 && body[len(body)-1] != ',' {
		insert = ", " + insert
	} else if len(list) > 0 {
		insert = " " + insert
	}
	if i := lineStart(body, len(body)); bytes.IndexByte(body[i:], '#') >= 0 {
		// A comment stands behind the last element: the new one gets its own line, in front.
		open := at.start + 1
		sep := ""
		if len(list) > 0 {
			sep = ", "
		}
		return checked(l.splice(open, open, Quote(s)+sep), path)
	}
	pos := at.start + len(body)
	return checked(l.splice(pos, pos, insert), path)
}

// RemoveString takes s out of the array at path; an array that becomes empty goes with its line.
func RemoveString(data []byte, s string, path ...string) ([]byte, error) {
	doc, err := Decode(data)
	if err != nil {
		return nil, err
	}
	list := Strings(doc, path...)
	if !slices.Contains(list, s) {
		return data, nil
	}
	if len(list) == 1 {
		return Unset(data, path...)
	}
	l, err := scan(data)
	if err != nil {
		return nil, err
	}
	at := l.values[key(path)]
	text := data[at.start:at.end]
	for i := 1; i < len(text); {
		switch text[i] {
		case '#':
			i = lineEnd(text, i)
		case '"', '\'':
			n, err := stringLen(text[i:])
			if err != nil {
				return nil, err
			}
			got, err := Decode(append([]byte("x = "), text[i:i+n]...))
			if err != nil {
				return nil, err
			}
			if got["x"] != s {
				i += n
				continue
			}
			// With the element goes the comma behind it, or else the one before.
			start, end := i, i+n
			rest := bytes.TrimLeft(text[end:], " \t\r\n")
			if len(rest) > 0 && rest[0] == ',' {
				end = len(text) - len(rest) + 1
				for end < len(text) && text[end] == ' ' {
					end++
				}
			} else {
				start = len(bytes.TrimRight(text[:start], " \t\r\n"))
				if start > 0 && text[start-1] == ',' {
					start--
				}
			}
			return checked(l.splice(at.start+start, at.start+end, ""), path)
		default:
			i++
		}
	}
	return nil, fmt.Errorf("%s is written in a form that cannot be edited", Dotted(path...))
}

func checked(out []byte, path []string) ([]byte, error) {
	if _, err := Decode(out); err != nil {
		return nil, fmt.Errorf("cannot edit %s in this file: %w", Dotted(path...), err)
	}
	return out, nil
}

// Append adds text (whole lines) at the end.
func Append(data []byte, text string) ([]byte, error) {
	l, err := scan(data)
	if err != nil {
		return nil, err
	}
	if l.eol() == "\r\n" {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		text = l.eol() + text
	}
	out := l.splice(len(data), len(data), text)
	if _, err := Decode(out); err != nil {
		return nil, fmt.Errorf("cannot add to this file: %w", err)
	}
	return out, nil
}

// Cut deletes the lines from the one that is begin to the one that is end,
// both included; without them data returns as it is.
func Cut(data []byte, begin, end string) ([]byte, error) {
	start, stop := -1, -1
	for i := 0; i < len(data); {
		next := lineEnd(data, i)
		switch line := string(bytes.TrimSpace(data[i:next])); {
		case line == begin && start < 0:
			start = i
		case line == end && start >= 0 && stop < 0:
			stop = next
		}
		i = next
	}
	if start < 0 {
		return data, nil
	}
	if stop < 0 {
		return nil, fmt.Errorf("the line %q is missing behind %q; take our lines out by hand", end, begin)
	}
	out := slices.Concat(data[:start], data[stop:])
	if _, err := Decode(out); err != nil {
		return nil, fmt.Errorf("cannot take our lines out: %w", err)
	}
	return out, nil
}

// Header writes the header of the table at path.
func Header(path ...string) string { return "[" + Dotted(path...) + "]" }

// Dotted writes path as a dotted key.
func Dotted(path ...string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = bareKey(p)
	}
	return strings.Join(parts, ".")
}

func bareKey(s string) string {
	bare := s != ""
	for _, c := range []byte(s) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			bare = false
		}
	}
	if bare {
		return s
	}
	return Quote(s)
}

// Value writes a decoded scalar or array again; tables are not values here.
func Value(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return Quote(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			p, err := Value(e)
			if err != nil {
				return "", err
			}
			parts[i] = p
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	}
	if f, ok := v.(float64); ok {
		b, err := toml.Marshal(map[string]any{"x": f})
		return strings.TrimSpace(strings.TrimPrefix(string(b), "x = ")), err
	}
	return "", fmt.Errorf("a %T cannot be copied", v)
}

// Fields writes the scalars and arrays of a table as lines, sorted, tables left out.
func Fields(indent string, table map[string]any) (string, error) {
	names := make([]string, 0, len(table))
	for name, v := range table {
		if _, ok := v.(map[string]any); !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		v, err := Value(table[name])
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		b.WriteString(indent + bareKey(name) + " = " + v + "\n")
	}
	return b.String(), nil
}
