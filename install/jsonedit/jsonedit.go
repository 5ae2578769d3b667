package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Doc is a JSON object as text.
type Doc struct {
	text []byte
	unit string // one level of indent; "" when the document is on one line
	nl   string // line end
}

// Parse checks data and prepares it for editing. Only blanks count as {}.
func Parse(data []byte) (*Doc, error) {
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return nil, errors.New("1:1: starts with a byte order mark, which engines refuse; save it without")
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return &Doc{text: []byte("{}\n"), unit: "  ", nl: "\n"}, nil
	}
	var probe json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&probe); err != nil {
		return nil, syntax(data, dec.InputOffset(), err)
	}
	if rest := bytes.TrimLeft(data[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return nil, fmt.Errorf("%s: text after the end of the document", position(data, int64(len(data)-len(rest))))
	}
	start := skip(data, 0)
	if data[start] != '{' {
		return nil, fmt.Errorf("%s: not a JSON object", position(data, int64(start)))
	}
	d := &Doc{text: bytes.Clone(data), nl: "\n"}
	if bytes.Contains(data, []byte("\r\n")) {
		d.nl = "\r\n"
	}
	first := skip(data, start+1)
	gap := string(data[start+1 : first])
	switch i := strings.LastIndexByte(gap, '\n'); {
	case data[first] == '}':
		d.unit = "  "
	case i >= 0:
		d.unit = gap[i+1:]
	}
	return d, nil
}

func syntax(data []byte, offset int64, err error) error {
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%s: not valid JSON: %s", position(data, max(0, min(s.Offset, int64(len(data)))-1)), s)
	}
	return fmt.Errorf("%s: not valid JSON: %w", position(data, offset), err)
}

func position(data []byte, offset int64) string {
	before := data[:min(int(offset), len(data))]
	return fmt.Sprintf("%d:%d", bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n'))
}

// Bytes is the document as it stands now.
func (d *Doc) Bytes() []byte { return bytes.Clone(d.text) }

// Get returns the text of the member at path.
func (d *Doc) Get(path ...string) (json.RawMessage, bool, error) {
	m, _, err := d.find(path)
	if err != nil || m == nil {
		return nil, false, err
	}
	return bytes.Clone(d.text[m.value:m.end]), true, nil
}

// Keys are the names of the members of the object at path, in order.
func (d *Doc) Keys(path ...string) ([]string, error) {
	obj := skip(d.text, 0)
	if len(path) > 0 {
		m, _, err := d.find(path)
		if err != nil || m == nil {
			return nil, err
		}
		obj = m.value
	}
	members, err := d.members(obj, path)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(members))
	for i, m := range members {
		out[i] = m.name
	}
	return out, nil
}

// Set makes the member at path be value, making the objects on the way.
func (d *Doc) Set(value json.RawMessage, path ...string) error {
	m, depth, err := d.find(path)
	if err != nil {
		return err
	}
	if m != nil {
		if same(d.text[m.value:m.end], value) {
			return nil
		}
		d.splice(m.value, m.end, d.render(value, d.lineIndent(m.key)))
		return nil
	}
	// depth of the path exists; what is missing below becomes one new member.
	for i := len(path) - 1; i > depth; i-- {
		value = json.RawMessage(`{` + quote(path[i]) + `:` + string(value) + `}`)
	}
	obj := skip(d.text, 0)
	if depth > 0 {
		parent, _, err := d.find(path[:depth])
		if err != nil {
			return err
		}
		obj = parent.value
	}
	members, err := d.members(obj, path[:depth])
	if err != nil {
		return err
	}
	name := quote(path[depth])
	if len(members) == 0 {
		end := skip(d.text, obj+1) + 1
		if d.unit == "" {
			d.splice(obj, end, "{"+name+": "+d.render(value, "")+"}")
			return nil
		}
		outer := d.lineIndent(obj)
		inner := outer + d.unit
		d.splice(obj, end, "{"+d.nl+inner+name+": "+d.render(value, inner)+d.nl+outer+"}")
		return nil
	}
	last := members[len(members)-1]
	from := obj + 1
	if len(members) > 1 {
		from = members[len(members)-2].end
	}
	gap := string(bytes.Replace(d.text[from:last.key], []byte(","), nil, 1))
	colon := string(d.text[last.keyEnd:last.value])
	indent, multiline := "", false
	if i := strings.LastIndexByte(gap, '\n'); i >= 0 {
		indent, multiline = gap[i+1:], true
	} else if gap == "" && len(members) == 1 && strings.HasSuffix(colon, " ") {
		gap = " " // {"a": 1} is followed by a blank after the comma
	}
	text := d.render(value, indent)
	if !multiline {
		text = string(value)
	}
	d.splice(last.end, last.end, ","+gap+name+colon+text)
	return nil
}

// Delete takes the member at path out; nothing happens when there is none.
func (d *Doc) Delete(path ...string) error {
	m, _, err := d.find(path)
	if err != nil || m == nil {
		return err
	}
	members, err := d.members(m.parent, path[:len(path)-1])
	if err != nil {
		return err
	}
	for i, c := range members {
		if c.key != m.key {
			continue
		}
		switch {
		case i > 0:
			d.splice(members[i-1].end, c.end, "")
		case len(members) > 1:
			d.splice(c.key, members[1].key, "")
		default:
			d.splice(m.parent, skip(d.text, c.end)+1, "{}")
		}
	}
	return nil
}

type member struct {
	name                    string
	parent                  int // where the object's { stands
	key, keyEnd, value, end int
}

// find returns the member at path, or nil and how many names of path exist.
func (d *Doc) find(path []string) (*member, int, error) {
	obj := skip(d.text, 0)
	var found *member
	for depth, name := range path {
		members, err := d.members(obj, path[:depth])
		if err != nil {
			return nil, depth, err
		}
		found = nil
		for i := range members {
			if members[i].name != name {
				continue
			}
			if found != nil {
				return nil, depth, fmt.Errorf("%s: %q stands twice; remove one", position(d.text, int64(members[i].key)), strings.Join(path[:depth+1], "."))
			}
			found = &members[i]
		}
		if found == nil {
			return nil, depth, nil
		}
		obj = found.value
	}
	return found, len(path), nil
}

// members lists the object at offset obj. The text is known to be valid JSON.
func (d *Doc) members(obj int, path []string) ([]member, error) {
	if d.text[obj] != '{' {
		return nil, fmt.Errorf("%s: %q is not an object", position(d.text, int64(obj)), strings.Join(path, "."))
	}
	var out []member
	for i := skip(d.text, obj+1); d.text[i] != '}'; {
		m := member{parent: obj, key: i}
		m.keyEnd = value(d.text, i)
		if err := json.Unmarshal(d.text[i:m.keyEnd], &m.name); err != nil {
			return nil, err
		}
		m.value = skip(d.text, skip(d.text, m.keyEnd)+1)
		m.end = value(d.text, m.value)
		out = append(out, m)
		if i = skip(d.text, m.end); d.text[i] == ',' {
			i = skip(d.text, i+1)
		}
	}
	return out, nil
}

func (d *Doc) splice(from, to int, text string) {
	d.text = append(append(bytes.Clone(d.text[:from]), text...), d.text[to:]...)
}

// lineIndent is the white space at the start of the line that offset stands in.
func (d *Doc) lineIndent(offset int) string {
	line := d.text[bytes.LastIndexByte(d.text[:offset], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func (d *Doc) render(value json.RawMessage, indent string) string {
	var b bytes.Buffer
	if d.unit == "" {
		return string(value)
	}
	if err := json.Indent(&b, value, indent, d.unit); err != nil {
		return string(value)
	}
	if d.nl == "\n" {
		return b.String()
	}
	return strings.ReplaceAll(b.String(), "\n", d.nl)
}

func same(a, b json.RawMessage) bool {
	var ca, cb bytes.Buffer
	return json.Compact(&ca, a) == nil && json.Compact(&cb, b) == nil && bytes.Equal(ca.Bytes(), cb.Bytes())
}

func quote(s string) string {
	b, _ := json.Marshal(s) // a string always marshals
	return string(b)
}

// skip returns the offset of the first byte at or after i that is not white space.
func skip(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

// value returns the offset after the value that starts at i in valid JSON.
func value(text []byte, i int) int {
	switch text[i] {
	case '"':
		for i++; text[i] != '"'; i++ {
			if text[i] == '\\' {
				i++
			}
		}
		return i + 1
	case '{', '[':
		for depth := 0; ; i++ {
			switch text[i] {
			case '"':
				i = value(text, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	default:
		for i < len(text) && !strings.ContainsRune(" \t\r\n,]}", rune(text[i])) {
			i++
		}
		return i
	}
}
