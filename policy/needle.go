package policy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/envscrub/envscrub/policy/builtin"
)

// A needle is a value that was taken away and must not come back under another name (rule 5) or is known from the
// policy's secrets (rule 4).
type needle struct {
	text  string
	owner int32 // index of the variable; -1-i for the policy's secret i
	reach reach
	rank  uint8 // of several with one text, the lowest is named
	end   int32 // of the first of those with the same first eight bytes: where they end
	up    int32 // the longest other needle that this one begins with, +1
	key   uint64
}

// reach is how a needle is looked for. A value that occurs by chance must not take harmless variables with it.
type reach uint8

const (
	reachNone    reach = iota // not at all
	reachWhole                // a variable that equals it
	reachBounded              // also inside another value, standing alone
	reachAny                  // also anywhere inside another value
)

// reachOf decides by the shape of a value:
//
//   - under eight characters, a value that package builtin spares, or a published default password: none. What
//     everybody knows is no secret, and "postgres" is the name of half of all databases;
//   - a path, a URL without a password, a host with a port: whole. Removing KUBECONFIG must not remove HOME;
//   - a word, a number, a slug of words (us-east-1, my-project): inside another value only between delimiters such
//     as in "password=word" or "://user:word@": none of letters, digits and "._-/" may touch it. If a variable such as
//     DB_USER has the same value, not at all;
//   - anything else, which is what generated secrets look like: anywhere.
func reachOf(value string) reach {
	switch {
	case len(value) < minProtected:
		return reachNone
	case len(value) >= longestWord && value[0] != '/' && value[0] != '.' && value[0] != '~' && strings.IndexByte(value, ':') < 0:
		return reachAny // none of the other cases; most secrets end here
	case builtin.Spared(value) || published(value):
		return reachNone
	case looksPublic(value):
		return reachWhole
	case isWord(value):
		return reachBounded
	}
	return reachAny
}

// published says whether a value is a default that documentation prints.
func published(value string) bool {
	if len(value) > 13 || value[0] > '1' && value[0]|0x20 < 'a' {
		return false
	}
	switch strings.ToLower(value) {
	case "password", "passw0rd", "postgres", "postgresql", "changeme", "changeit", "rabbitmq", "minioadmin", "opensearch",
		"elasticsearch", "administrator", "localhost", "username", "undefined", "disabled", "anonymous", "127.0.0.1":
		return true
	}
	return false
}

// looksPublic says whether a value is a place: a path, or a URL or host that has no user part.
func looksPublic(value string) bool {
	if strings.ContainsAny(value, " \t\n\"'") {
		return false
	}
	switch value[0] {
	case '/':
		return isPath(value)
	case '.', '~':
		return strings.HasPrefix(value, "./") || strings.HasPrefix(value, "../") || strings.HasPrefix(value, "~/")
	}
	if value[1] == ':' && (value[2] == '\\' || value[2] == '/') {
		return true
	}
	scheme, rest, ok := strings.Cut(value, "://")
	if ok && len(scheme) < 16 && !strings.ContainsAny(scheme, "=:/@") {
		return !strings.ContainsAny(rest, "@?=#") && longestPart(rest) < 20
	}
	return isHostPort(value)
}

// isPath tells a path from base64 that happens to begin with a slash: its parts are not that long.
func isPath(value string) bool {
	return !strings.ContainsAny(value, "+=") && longestPart(value) < 40
}

func longestPart(value string) int {
	longest, start := 0, 0
	for i := 0; i <= len(value); i++ {
		if i == len(value) || value[i] == '/' || value[i] == '.' || value[i] == '-' || value[i] == '_' {
			longest = max(longest, i-start)
			start = i + 1
		}
	}
	return longest
}

func isHostPort(value string) bool {
	host, port, ok := strings.Cut(value, ":")
	if !ok || port == "" || len(port) > 5 || host == "" {
		return false
	}
	for i := range len(port) {
		if port[i] < '0' || port[i] > '9' {
			return false
		}
	}
	for i := range len(host) {
		if c := host[i]; c != '.' && c != '-' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// longestWord is the length from which on a value is none.
const longestWord = 24

// isWord says whether a value reads like a word, a number or a slug of both rather than like something generated.
func isWord(value string) bool {
	if len(value) >= longestWord {
		return false
	}
	pieces := 0
	for rest := value; rest != ""; {
		i := 0
		for i < len(rest) && rest[i] != '-' && rest[i] != '_' && rest[i] != '.' && rest[i] != ' ' {
			i++
		}
		if i == len(rest) {
			i = -1
		}
		piece := rest
		if i >= 0 {
			piece, rest = rest[:i], rest[i+1:]
		} else {
			rest = ""
		}
		if !plainPiece(piece) {
			return false
		}
		pieces++
	}
	return pieces > 1 || len(value) < 16
}

// plainPiece: letters of one case, or the first one a capital, then up to four digits; or digits alone.
func plainPiece(piece string) bool {
	i, capital := 0, 0
	for i < len(piece) && (piece[i]|0x20 >= 'a' && piece[i]|0x20 <= 'z') {
		if piece[i] < 'a' {
			capital++
		}
		i++
	}
	if capital != 0 && capital != i && (capital != 1 || piece[0] >= 'a') {
		return false
	}
	digits := len(piece) - i
	for j := i; j < len(piece); j++ {
		if piece[j] < '0' || piece[j] > '9' {
			return false
		}
	}
	return i == 0 || digits <= 4
}

// passwordOf gives the password of a URL, as written and decoded.
func passwordOf(value string) (written, decoded string) {
	i := strings.Index(value, "://")
	if i < 0 {
		return "", ""
	}
	authority := value[i+3:]
	if end := strings.IndexAny(authority, "/?# \t\n\"'"); end >= 0 {
		// A password may hold what it should not: then the last @ still ends it.
		if !strings.Contains(authority[:end], "@") {
			end = strings.LastIndexByte(authority, '@') + 1
		}
		authority = authority[:end]
	}
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return "", ""
	}
	_, written, _ = strings.Cut(authority[:at], ":")
	if strings.IndexByte(written, '%') >= 0 {
		decoded = percentDecoded(written)
	}
	return written, decoded
}

// percentDecoded decodes %XX and leaves what is none.
func percentDecoded(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				c = byte(n)
				i += 2
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

// haystack finds needles in values. Its cost does not grow with their number: a shift table over three bytes skips
// what cannot be the beginning of one (Wu and Manber), and the rest is looked up by the first eight bytes.
type haystack struct {
	needles []needle    // sorted
	any     bool        // some reach into values
	near    [4096]uint8 // maxShift less the bytes that may be skipped: 0 is what no needle begins with
	slots   []int32     // hash table over the first eight bytes: first needle of the group, +1
}

const (
	blockSize = 3
	maxShift  = minProtected - blockSize + 1
)

func block(s string, i int) uint {
	return (uint(s[i]) ^ uint(s[i+1])<<4 ^ uint(s[i+2])<<8 ^ uint(s[i+2])>>3) & 4095
}

// newHaystack gives nil when there is nothing to find.
func newHaystack(needles []needle) *haystack {
	if len(needles) == 0 {
		return nil
	}
	h := &haystack{needles: needles}
	for i := range needles {
		needles[i].key = load8(needles[i].text, 0)
	}
	slices.SortFunc(needles, func(a, b needle) int {
		return cmp.Or(cmp.Compare(a.key, b.key), strings.Compare(a.text, b.text), cmp.Compare(b.reach, a.reach), cmp.Compare(a.rank, b.rank), cmp.Compare(a.owner, b.owner))
	})
	size := 16
	for size < 2*len(needles) {
		size *= 2
	}
	h.slots = make([]int32, size)
	first := 0
	for i := range needles {
		n := &needles[i]
		if i == 0 || needles[i-1].key != n.key {
			first = i
			slot := n.key * mix >> 32 & uint64(size-1)
			for h.slots[slot] != 0 {
				slot = (slot + 1) & uint64(size-1)
			}
			h.slots[slot] = int32(i) + 1
		} else {
			up := int32(i)
			for up > 0 && !strings.HasPrefix(n.text, needles[up-1].text) {
				up = needles[up-1].up
			}
			n.up = up
		}
		needles[first].end = int32(i) + 1
		if n.reach > reachWhole {
			h.any = true
			for j := range maxShift {
				b := block(n.text, j)
				h.near[b] = max(h.near[b], uint8(j+1))
			}
		}
	}
	return h
}

// group gives the needles that begin with the eight bytes.
func (h *haystack) group(key uint64) (from, to int) {
	size := uint64(len(h.slots))
	for slot := key * mix >> 32 & (size - 1); h.slots[slot] != 0; slot = (slot + 1) & (size - 1) {
		from = int(h.slots[slot]) - 1
		if h.needles[from].key != key {
			continue
		}
		return from, int(h.needles[from].end)
	}
	return 0, 0
}

// find gives the first needle that a value equals or contains, and that the filter accepts; -1 if there is none.
func (h *haystack) find(value string, accept func(*needle) bool) (index int, whole bool) {
	if len(value) < minProtected {
		return -1, false
	}
	if i := h.at(value, 0, true, accept); i >= 0 {
		return i, true
	}
	if !h.any {
		return -1, false
	}
	for pos := maxShift - 1; pos+blockSize <= len(value); {
		if skip := maxShift - int(h.near[block(value, pos)]); skip > 0 {
			pos += skip
			continue
		}
		if i := h.at(value, pos-maxShift+1, false, accept); i >= 0 {
			return i, false
		}
		pos++
	}
	return -1, false
}

// at looks for a needle that begins at a place of a value; whole, for one that is all of it.
func (h *haystack) at(value string, start int, whole bool, accept func(*needle) bool) int {
	from, to := h.group(load8(value, start))
	if from == to {
		return -1
	}
	text := value[start:]
	// The largest needle that sorts before the text, then its own beginnings: a needle that the text begins with
	// is among these.
	i, same := slices.BinarySearchFunc(h.needles[from:to], text, func(n needle, text string) int { return strings.Compare(n.text, text) })
	i += from
	if whole {
		for ; same && i < to && h.needles[i].text == text; i++ {
			if accept(&h.needles[i]) {
				return i
			}
		}
		return -1
	}
	if same {
		for i+1 < to && h.needles[i+1].text == text {
			i++
		}
		i++
	}
	for up := int32(i); int(up) > from; up = h.needles[up-1].up {
		n := &h.needles[up-1]
		if n.reach <= reachWhole || !strings.HasPrefix(text, n.text) {
			continue
		}
		if n.reach == reachBounded && !(boundary(value, start-1) && boundary(value, start+len(n.text))) {
			continue
		}
		if accept(n) {
			return int(up) - 1
		}
	}
	return -1
}

// boundary says whether a word ends at the byte.
func boundary(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return true
	}
	c := s[i]
	return c != '.' && c != '_' && c != '-' && c != '/' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c < 0x80
}
