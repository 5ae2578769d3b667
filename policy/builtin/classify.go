package builtin

import (
	"strings"
	"sync"
)

// A Classifier answers rule 3 for the groups that a policy leaves on. It is safe
// for use by several goroutines.
type Classifier struct {
	off   [len(denyGroups)]bool
	table [1024]uint16 // open addressing, by the hash of the name in lower case
	names []knownName
}

type knownName struct {
	name  string
	group uint8
}

// New makes a classifier. groups says which deny groups are on or off; one that
// it does not name has its default.
func New(groups map[string]bool) *Classifier {
	c := &Classifier{names: make([]knownName, 1, 256)}
	for i := range denyGroups {
		g := &denyGroups[i]
		on, said := groups[g.Name]
		if !said {
			on = !g.Off
		}
		c.off[i] = !on
		if !on {
			continue
		}
		for _, n := range g.Names {
			c.add(n, uint8(i))
		}
	}
	for _, n := range harmless {
		c.add(n, noGroup)
	}
	return c
}

func (c *Classifier) add(name string, group uint8) {
	c.names = append(c.names, knownName{name, group})
	slot := hashName(name)
	for c.table[slot%uint32(len(c.table))] != 0 {
		slot++
	}
	c.table[slot%uint32(len(c.table))] = uint16(len(c.names) - 1)
}

// noGroup marks a name that is no credential, whatever its words say.
const noGroup = 0xff

// hashName mixes the length, the first and the last eight bytes of a name,
// whatever their case.
func hashName(name string) uint32 {
	var first, last uint64
	if len(name) >= 8 {
		first, last = load(name), load(name[len(name)-8:])
	} else {
		for i := range len(name) {
			first = first<<8 | uint64(name[i]|0x20)
		}
	}
	h := (first*0x9e3779b97f4a7c15 ^ last) * 0xff51afd7ed558ccd
	return uint32(h>>32) + uint32(len(name))*0x9e3779b1
}

// load reads eight bytes, with the bit set that tells small letters from capitals.
func load(s string) uint64 {
	_ = s[7]
	return 0x2020202020202020 | (uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
}

// known looks the whole name up among the names that never look at a value.
func (c *Classifier) known(name string) *knownName {
	for slot := hashName(name); ; slot++ {
		at := c.table[slot%uint32(len(c.table))]
		if at == 0 {
			return nil
		}
		if k := &c.names[at]; equalFold(k.name, name) {
			return k
		}
	}
}

// Classify reports the group and the rule that remove the variable at rule 3.
func (c *Classifier) Classify(name, value string) (group, rule string, ok bool) {
	if k := c.known(name); k != nil && k.group == noGroup {
		return "", "", false
	} else if k != nil && (k.group != iConnections || !localDatabase(value)) {
		return denyGroups[k.group].Name, k.name, true
	}
	if Spared(value) {
		return "", "", false
	}
	var w words
	w.split(name)
	v := judge(&w, value)
	if v == vNone || c.off[verdicts[v].group] {
		return "", "", false
	}
	return denyGroups[verdicts[v].group].Name, verdicts[v].rule, true
}

// localDatabase reports the address of a database that is a file.
func localDatabase(v string) bool {
	if strings.HasSuffix(v, ".db") || strings.HasSuffix(v, ".sqlite") || strings.HasSuffix(v, ".sqlite3") {
		return !strings.ContainsAny(v, "@=")
	}
	return hasPrefix(v, "sqlite:") || hasPrefix(v, "file:") || hasPrefix(v, "jdbc:sqlite:") || hasPrefix(v, "jdbc:h2:") || hasPrefix(v, "duckdb:") || hasPrefix(v, "sqlite3:")
}

var defaults = sync.OnceValue(func() *Classifier { return New(nil) })

// IsSensitiveName reports whether the default deny groups remove a variable of
// this name when its value could be a secret.
func IsSensitiveName(name string) bool {
	for i := range denyGroups {
		if denyGroups[i].Off {
			continue
		}
		for _, n := range denyGroups[i].Exact {
			if equalFold(n, name) {
				return true
			}
		}
	}
	_, _, ok := defaults().Classify(name, unknownValue)
	return ok
}

// unknownValue stands for a value of which nothing is known but that it could be
// a secret.
const unknownValue = "x9Kq7made2up77hG2"

func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}
