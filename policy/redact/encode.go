package redact

// The encoders are written out here: the standard library's would bring fmt and
// reflect into the shim.

import "unicode/utf8"

const (
	stdAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	urlAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	lowerHex    = "0123456789abcdef"
	upperHex    = "0123456789ABCDEF"
)

func (c *collector) base64(v, alphabet string) {
	for before := range 3 {
		e := encode64(v, before, alphabet)
		first := (8*before + 5) / 6 // the first character that only v decides
		whole := 8 * (before + len(v)) / 6
		c.add(e[first:whole])
		c.add(e[first:]) // the last one as well, where nothing follows v
		c.add(e[first:] + padding(e))
	}
	e := encode64(v, 0, alphabet)
	e += padding(e)
	c.columns(e, 64)
	c.columns(e, 76)
}

func padding(e string) string { return "=="[:(4-len(e)%4)%4] }

// encode64 returns v in base64 without padding, behind some zero bytes.
func encode64(v string, before int, alphabet string) string {
	e := make([]byte, 0, (before+len(v)+2)/3*4)
	var bits uint32
	n := 8 * before
	for n >= 6 {
		e = append(e, alphabet[0])
		n -= 6
	}
	for i := range len(v) {
		bits = bits<<8 | uint32(v[i])
		for n += 8; n >= 6; n -= 6 {
			e = append(e, alphabet[bits>>(n-6)&63])
		}
	}
	if n > 0 {
		e = append(e, alphabet[bits<<(6-n)&63])
	}
	return string(e)
}

// columns adds the lines of an encoded text that is wrapped. A last line that is too short to
// be looked for is, together with the end of the one before it.
func (c *collector) columns(e string, width int) {
	if len(e) <= width {
		return
	}
	before := ""
	for ; len(e) > width; e = e[width:] {
		before = e[:width]
		c.add(before)
	}
	if len(e) < MinLength {
		before = before[width-MinLength:]
		c.add(before + "\n" + e)
		c.add(before + "\r\n" + e)
	}
	c.add(e)
}

func (c *collector) hex(v string) {
	for _, digits := range [...]string{lowerHex, upperHex} {
		e := make([]byte, 0, 2*len(v))
		for i := range len(v) {
			e = append(e, digits[v[i]>>4], digits[v[i]&15])
		}
		c.add(string(e))
		c.columns(string(e), 60)
	}
}

// What each way of percent-encoding leaves as it is, besides letters and digits.
var percentKeeps = [...]string{
	"-._~",                 // RFC 3986, and HTML forms
	"-_.!~*'()",            // JavaScript: encodeURIComponent
	"-_.!~*'();/?:@&=+$,#", // JavaScript: encodeURI
	"-_.~$&+:=@",           // Go: url.PathEscape
	"-_.~/",                // Python: urllib.parse.quote
	"*-._",                 // URLSearchParams
}

func (c *collector) percent(v string) {
	for _, digits := range [...]string{upperHex, lowerHex} {
		for _, keeps := range percentKeeps {
			c.add(percent(v, keeps, digits, false))
			c.add(percent(v, keeps, digits, true))
		}
		e := make([]byte, 0, 3*len(v))
		for i := range len(v) {
			e = append(e, '%', digits[v[i]>>4], digits[v[i]&15])
		}
		c.add(string(e))
	}
}

func percent(v, keeps, digits string, plus bool) string {
	e := make([]byte, 0, len(v)+8)
	for i := range len(v) {
		switch b := v[i]; {
		case alphanumeric(b) || contains(keeps, b):
			e = append(e, b)
		case b == ' ' && plus:
			e = append(e, '+')
		default:
			e = append(e, '%', digits[b>>4], digits[b&15])
		}
	}
	return string(e)
}

// A jsonStyle is what an encoder escapes although it need not.
type jsonStyle struct {
	slash, html, ascii bool
	digits             string
}

var jsonStyles = [...]jsonStyle{
	{},
	{slash: true},
	{html: true},
	{ascii: true},
	{ascii: true, slash: true},
	{ascii: true, html: true},
	{ascii: true, digits: upperHex},
}

func (c *collector) json(v string) {
	for _, style := range jsonStyles {
		if style.digits == "" {
			style.digits = lowerHex
		}
		once := style.encode(v)
		c.add(once)
		c.add(style.encode(once))
	}
}

func (j jsonStyle) encode(v string) string {
	e := make([]byte, 0, len(v)+8)
	for i := 0; i < len(v); {
		b := v[i]
		if b >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(v[i:])
			if j.ascii && (r != utf8.RuneError || n > 1) {
				e = j.rune(e, r)
			} else {
				e = append(e, v[i:i+n]...)
			}
			i += n
			continue
		}
		i++
		switch short := jsonShort(b); {
		case short != 0:
			e = append(e, '\\', short)
		case b == '/' && j.slash:
			e = append(e, '\\', b)
		case b < 0x20, b == 0x7f && j.ascii, j.html && (b == '<' || b == '>' || b == '&'):
			e = j.unit(e, uint16(b))
		default:
			e = append(e, b)
		}
	}
	return string(e)
}

func jsonShort(b byte) byte {
	switch b {
	case '"', '\\':
		return b
	case '\n':
		return 'n'
	case '\r':
		return 'r'
	case '\t':
		return 't'
	case '\b':
		return 'b'
	case '\f':
		return 'f'
	}
	return 0
}

func (j jsonStyle) rune(e []byte, r rune) []byte {
	if r >= 0x10000 {
		r -= 0x10000
		return j.unit(j.unit(e, uint16(0xd800+r>>10)), uint16(0xdc00+r&0x3ff))
	}
	return j.unit(e, uint16(r))
}

func (j jsonStyle) unit(e []byte, u uint16) []byte {
	return append(e, '\\', 'u', j.digits[u>>12], j.digits[u>>8&15], j.digits[u>>4&15], j.digits[u&15])
}

func (c *collector) shell(v string) {
	c.add(escapeWith(v, "'", `'\'`))
	var sq []byte
	for i := range len(v) {
		if v[i] == '\'' {
			sq = append(sq, `'"'"'`...)
			continue
		}
		sq = append(sq, v[i])
	}
	c.add(string(sq))
	c.add(escapeWith(v, "\"$`\\", `\`))
	c.add(escapeWith(v, "\"$`\\!", `\`))
	c.add(escapeWith(v, `'\`, `\`)) // fish
	var bs, ansi []byte
	for i := range len(v) {
		b := v[i]
		if !alphanumeric(b) && !contains("_@%+=:,./-", b) && b < utf8.RuneSelf {
			bs = append(bs, '\\')
		}
		bs = append(bs, b)
		switch short := jsonShort(b); {
		case b == '\'':
			ansi = append(ansi, '\\', b)
		case short != 0 && b != '"':
			ansi = append(ansi, '\\', short)
		case b == escape:
			ansi = append(ansi, '\\', 'E')
		case b < 0x20 || b == 0x7f:
			ansi = append(ansi, '\\', '0'+b>>6, '0'+b>>3&7, '0'+b&7)
		default:
			ansi = append(ansi, b)
		}
	}
	c.add(string(bs))
	c.add(string(ansi))
}

// escapeWith puts prefix before each byte of v that is in special.
func escapeWith(v, special, prefix string) string {
	e := make([]byte, 0, len(v)+8)
	for i := range len(v) {
		if contains(special, v[i]) {
			e = append(e, prefix...)
		}
		e = append(e, v[i])
	}
	return string(e)
}

func alphanumeric(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func contains(s string, b byte) bool {
	for i := range len(s) {
		if s[i] == b {
			return true
		}
	}
	return false
}
