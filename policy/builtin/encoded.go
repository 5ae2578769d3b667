package builtin

import "encoding/base64"

// whole looks at a value as one thing: what it says when it is decoded, and a
// name and password in front of a host where the variable's name says that the
// value is an address.
func whole(name, v string, seen sight) string {
	if seen.ats > 0 && seen.colons > 0 {
		if kind := schemeless(name, v); kind != "" {
			return kind
		}
	}
	if seen.colons == 4 && passfile(v) {
		return "pgpass"
	}
	if seen.foreign {
		if isMnemonic(v) {
			return "mnemonic"
		}
		return ""
	}
	if len(v) < 12 {
		return ""
	}
	if n := len(v); n > 36 && n < 48 && v[n-4:] == "NRAL" && allHex(v[:n-4]) {
		return "newrelic-key"
	}
	if len(v) > 34 && len(v) < 40 && v[32] == '-' && v[33] == 'u' && v[34] == 's' && allHex(v[:32]) {
		return "mailchimp-key"
	}
	return encoded(v)
}

// passfile reports a line of libpq's password file: host:port:database:user:password.
func passfile(v string) bool {
	if len(v) > 512 {
		return false
	}
	var at [4]int
	n := 0
	for i := range len(v) {
		switch v[i] {
		case ':':
			if n == len(at) {
				return false
			}
			at[n] = i
			n++
		case '/', ' ', ',', ';', '=', '@':
			return false
		}
	}
	if n != len(at) {
		return false
	}
	port, database, user, password := v[at[0]+1:at[1]], v[at[1]+1:at[2]], v[at[2]+1:at[3]], v[at[3]+1:]
	name := func(s string) bool { return s == "*" || s != "" && !allHex(s) }
	return at[0] > 0 && (port == "*" || len(port) >= 2 && len(port) <= 5 && digitsOnly(port)) && name(database) && name(user) && password != ""
}

// schemeless looks for name:password@host.
func schemeless(name, v string) string {
	at := -1
	for i := range len(v) {
		switch v[i] {
		case '@':
			at = i
		case '/', ' ', '\n', '"':
			if at < 0 {
				return ""
			}
		}
		if at >= 0 {
			break
		}
	}
	if at <= 0 || at == len(v)-1 || hasPrefix(v[at:], "@sha256:") || hasPrefix(v[at:], "@sha512:") {
		return ""
	}
	colon := -1
	for i := range at {
		if v[i] == ':' {
			colon = i
			break
		}
	}
	if colon <= 0 || colon == at-1 || masked(v[colon+1:at]) {
		return ""
	}
	switch v[:colon] {
	case "mailto", "sip", "acct", "npm", "xmpp", "link", "workspace", "file", "catalog", "git", "gist", "github":
		return ""
	}
	if !addressName(name) {
		return ""
	}
	return "url-password"
}

// addressName reports whether a variable's name says that its value is an address.
func addressName(name string) bool {
	var w words
	w.split(name)
	for i := range w.count {
		switch w.text(i) {
		case "proxy", "url", "uri", "dsn", "database", "db", "broker", "server", "servers", "amqp", "redis", "mongo", "mongodb", "postgres", "mysql", "smtp", "connection", "conn", "host", "hosts", "endpoint", "remote", "source", "ftp", "rabbitmq", "address", "addr", "socks", "upstream", "backend", "registry":
			return true
		}
	}
	return false
}

// encoded looks into a value that is base64 as a whole.
func encoded(v string) string {
	for len(v) > 0 && (v[len(v)-1] == '\n' || v[len(v)-1] == '\r') {
		v = v[:len(v)-1]
	}
	if len(v) < 12 {
		return ""
	}
	// The first letters tell whether text comes out: most values end here.
	var first [9]byte
	if !decodeStart(v[:12], &first) {
		return ""
	}
	if first[0] == 0x30 && first[1] >= 0x80 {
		return derKey(v)
	}
	for _, c := range first {
		if !printable(c) {
			return ""
		}
	}
	text, ok := decodeText(v)
	if !ok {
		return ""
	}
	if kind, _ := scan(text); kind != "" {
		return "base64-" + kind
	}
	if userPassword(text) {
		return "base64-password"
	}
	return ""
}

func printable(c byte) bool { return c >= 0x20 && c < 0x7f || c == '\n' || c == '\r' || c == '\t' }

func sextet(c byte) int {
	switch k := byteKind[c]; {
	case k == bUpper:
		return int(c - 'A')
	case k == bLower:
		return int(c-'a') + 26
	case k == bDigit:
		return int(c-'0') + 52
	case c == '+', c == '-':
		return 62
	case c == '/', c == '_':
		return 63
	}
	return -1
}

// decodeStart decodes twelve letters.
func decodeStart(v string, out *[9]byte) bool {
	for g := range 3 {
		bits := 0
		for k := range 4 {
			s := sextet(v[g*4+k])
			if s < 0 {
				return false
			}
			bits = bits<<6 | s
		}
		out[g*3], out[g*3+1], out[g*3+2] = byte(bits>>16), byte(bits>>8), byte(bits)
	}
	return true
}

// decodeText decodes a value if it is text in base64 from its first letter to its last;
// of a very long one it decodes the beginning.
func decodeText(v string) (string, bool) {
	const limit = 64 << 10
	if len(v) > limit {
		v = v[:limit]
	}
	clean := make([]byte, 0, len(v))
	for i := range len(v) {
		switch c := v[i]; {
		case c == '\n' || c == '\r':
		case c == '=':
			if i < len(v)-2 {
				return "", false
			}
		case c == '-':
			clean = append(clean, '+')
		case c == '_':
			clean = append(clean, '/')
		case sextet(c) >= 0:
			clean = append(clean, c)
		default:
			return "", false
		}
	}
	text := make([]byte, base64.RawStdEncoding.DecodedLen(len(clean)))
	n, err := base64.RawStdEncoding.Decode(text, clean)
	if err != nil && n < len(text)-3 {
		return "", false
	}
	text = text[:n]
	for _, c := range text {
		if !printable(c) && c < 0x80 {
			return "", false
		}
	}
	return string(text), true
}

// userPassword reports whether a decoded text is name:password and nothing else.
func userPassword(t string) bool {
	colon := -1
	for i := range len(t) {
		switch c := t[i]; {
		case c == ':' && colon < 0:
			colon = i
		case c <= ' ' || c >= 0x7f:
			return false
		case colon < 0 && byteKind[c] == bOther && c != '.' && c != '-' && c != '_' && c != '@' && c != '+' && c != '$':
			return false
		}
	}
	return colon > 0 && colon < len(t)-1 && t[colon+1] != '/' && t[colon+1] != ':'
}

// basicCredential reports whether a value is name:password in base64.
func basicCredential(v string) bool {
	if len(v) > 512 {
		return false
	}
	for len(v) > 3 && v[len(v)-1] == '=' {
		v = v[:len(v)-1]
	}
	text, ok := decodeText(v)
	if !ok {
		return false
	}
	for i := range len(text) {
		if text[i] == ':' {
			return i < len(text)-1
		}
	}
	return false
}

// derKey reports a private key or a key store in DER: unlike a certificate or a
// public key, it begins with a version number.
func derKey(v string) string {
	var b [18]byte
	if len(v) < 24 {
		return ""
	}
	var half [9]byte
	if !decodeStart(v[:12], &half) {
		return ""
	}
	copy(b[:], half[:])
	if !decodeStart(v[12:24], &half) {
		return ""
	}
	copy(b[9:], half[:])
	at := 2
	if b[1] > 0x80 {
		at += int(b[1] & 0x7f)
	}
	if at+3 > len(b) || b[at] != 0x02 || b[at+1] != 0x01 || b[at+2] > 3 {
		return ""
	}
	return "private-key"
}
