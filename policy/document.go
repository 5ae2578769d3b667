package policy

import (
	"bytes"
	"errors"
	"sort"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// maxPolicySize bounds a policy file. The longest real list of names is a few kilobytes.
const maxPolicySize = 1 << 20

// kind is the type of a value in a policy file.
type kind uint8

const (
	kindTable kind = iota
	kindArray
	kindString
	kindBool
	kindInteger
	kindOther // floats and dates: no key takes one
)

func (k kind) String() string {
	return [...]string{"a table", "a list", "a string", "true or false", "an integer", "a number or a date"}[k]
}

// value is a value of a policy file, with the place where it stands.
type value struct {
	kind   kind
	at     Position
	text   string
	number int64
	truth  bool
	items  []*value // of a list
	keys   []*entry // of a table, in the order of the file

	origin origin
}

// origin says how a table came about, which decides whether it may be added to.
type origin uint8

const (
	byPath   origin = iota // a step of a longer header: may be defined later
	byHeader               // [name]
	byDotted               // a step of a dotted key
	byValue                // inline table or list: complete as it stands
	byArray                // [[name]]
)

type entry struct {
	name  string
	at    Position
	value *value
}

// maxKeys bounds the keys of one table.
const maxKeys = 4096

func (v *value) add(name string, at Position, child *value) error {
	if len(v.keys) == maxKeys {
		return &Error{At: at, Key: name, What: "more than " + strconv.Itoa(maxKeys) + " keys in one table; split it"}
	}
	v.keys = append(v.keys, &entry{name, at, child})
	return nil
}

func (v *value) get(name string) *entry {
	for _, e := range v.keys {
		if e.name == name {
			return e
		}
	}
	return nil
}

// document builds the tree of one TOML file. The parser below it checks syntax only: that no key stands twice and
// no table is opened again is checked here.
type document struct {
	file   string
	parser unstable.Parser
	lines  []int // offsets at which a line begins
	root   *value
}

// parseDocument reads a TOML file into a tree. Its errors carry positions, and nothing of the text.
func parseDocument(file string, data []byte) (*value, error) {
	d := &document{file: file, root: &value{origin: byHeader}}
	if len(data) > maxPolicySize {
		return nil, &Error{At: Position{File: file}, What: "larger than " + strconv.Itoa(maxPolicySize>>10) + " KiB; a policy lists names, split it if it has to be so long"}
	}
	// The parser measures offsets by capacity.
	data = data[:len(data):len(data)]
	d.lines = append(make([]int, 0, bytes.Count(data, []byte{'\n'})+1), 0)
	for i, c := range data {
		if c == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	d.parser.Reset(data)
	current := d.root
	for d.parser.NextExpression() {
		var err error
		switch e := d.parser.Expression(); e.Kind {
		case unstable.Table:
			current, err = d.header(e, false)
		case unstable.ArrayTable:
			current, err = d.header(e, true)
		case unstable.KeyValue:
			err = d.keyValue(current, e)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := d.parser.Error(); err != nil {
		return nil, d.syntax(err, data)
	}
	return d.root, nil
}

// syntax turns the parser's error into ours. The parser's message may quote a character of the file: it is cut off.
func (d *document) syntax(err error, data []byte) error {
	what, offset := "syntax error", len(data)
	var p *unstable.ParserError
	if errors.As(err, &p) {
		what = p.Message
		if i := strings.Index(what, "U+"); i >= 0 {
			what = strings.TrimRight(strings.TrimSuffix(what[:i], " but got "), ": ")
		}
		if len(p.Highlight) > 0 {
			offset = int(d.parser.Range(p.Highlight).Offset)
		}
	}
	return &Error{At: d.position(offset), What: "not valid TOML: " + what + "; correct the line"}
}

func (d *document) position(offset int) Position {
	line := sort.SearchInts(d.lines, offset+1)
	return Position{File: d.file, Line: line, Column: offset - d.lines[line-1] + 1}
}

func (d *document) step(n *unstable.Node) (string, Position) {
	return string(n.Data), d.position(int(n.Raw.Offset))
}

// header opens the table of a [header] or appends one for a [[header]].
func (d *document) header(e *unstable.Node, array bool) (*value, error) {
	at := d.root
	for it := e.Key(); it.Next(); {
		name, position := d.step(it.Node())
		last := it.IsLast()
		found := at.get(name)
		if found == nil {
			table := &value{at: position, origin: byPath}
			child := table
			if last {
				table.origin = byHeader
			}
			if last && array {
				child = &value{kind: kindArray, at: position, origin: byArray, items: []*value{table}}
			}
			if err := at.add(name, position, child); err != nil {
				return nil, err
			}
			at = table
			continue
		}
		v := found.value
		switch {
		case v.kind == kindArray && v.origin == byArray:
			if last && !array {
				return nil, twice(position, name, found)
			}
			if last {
				table := &value{at: position, origin: byHeader}
				v.items = append(v.items, table)
			}
			at = v.items[len(v.items)-1]
		case v.kind == kindTable && v.origin != byValue && (!last || v.origin == byPath && !array):
			if last {
				v.origin, v.at = byHeader, position
			}
			at = v
		default:
			return nil, twice(position, name, found)
		}
	}
	return at, nil
}

func twice(at Position, name string, first *entry) error {
	return &Error{At: at, Key: name, What: "is defined a second time, first on line " + strconv.Itoa(first.at.Line) + "; keep one of them"}
}

// keyValue adds a key to a table; a dotted key opens the tables on its way.
func (d *document) keyValue(table *value, e *unstable.Node) error {
	for it := e.Key(); it.Next(); {
		name, position := d.step(it.Node())
		found := table.get(name)
		if it.IsLast() {
			if found != nil {
				return twice(position, name, found)
			}
			v, err := d.value(e.Value(), position)
			if err != nil {
				return err
			}
			return table.add(name, position, v)
		}
		if found == nil {
			step := &value{at: position, origin: byDotted}
			if err := table.add(name, position, step); err != nil {
				return err
			}
			table = step
			continue
		}
		if found.value.kind != kindTable || found.value.origin != byDotted {
			return twice(position, name, found)
		}
		table = found.value
	}
	return nil
}

// value converts a node. Lists have no position of their own: they get the one given.
func (d *document) value(n *unstable.Node, at Position) (*value, error) {
	if n.Raw.Length > 0 {
		at = d.position(int(n.Raw.Offset))
	}
	v := &value{at: at, origin: byValue}
	switch n.Kind {
	case unstable.String:
		v.kind, v.text = kindString, string(n.Data)
	case unstable.Bool:
		v.kind, v.truth = kindBool, n.Data[0] == 't'
	case unstable.Integer:
		number, err := strconv.ParseInt(strings.ReplaceAll(string(n.Data), "_", ""), 0, 64)
		if err != nil {
			return nil, &Error{At: at, What: "the integer is too large; write a smaller one"}
		}
		v.kind, v.number = kindInteger, number
	case unstable.Array:
		v.kind = kindArray
		for it := n.Children(); it.Next(); {
			item, err := d.value(it.Node(), at)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, item)
		}
	case unstable.InlineTable:
		v.kind = kindTable
		for it := n.Children(); it.Next(); {
			if err := d.keyValue(v, it.Node()); err != nil {
				return nil, err
			}
		}
	default:
		v.kind = kindOther
	}
	return v, nil
}
