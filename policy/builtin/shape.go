package builtin

import "strings"

// Shape reports whether a value is a credential by its form alone, and which
// kind. name only helps where a value by itself could be read in two ways.
//
// One pass from left to right; whatever looks further is bounded, or ends where
// the pass goes on, so the time grows with the length and no faster.
func Shape(name, value string) (kind string, ok bool) {
	if len(value) < 5 || len(value) <= shortToken && !pointed(value) {
		return "", false
	}
	kind, seen := scan(value)
	if kind == "" {
		kind = whole(name, value, seen)
	}
	return kind, kind != ""
}

// shortToken is the length up to which no token is known: the forms that short
// are a pair, a URL or a flag.
const shortToken = 10

// pointed reports whether a value has one of the bytes that such forms have.
func pointed(v string) bool {
	for i := range len(v) {
		switch v[i] {
		case ':', '=', '@', '>', '-':
			return true
		}
	}
	return false
}

// sight is what a pass over a value has seen of its bytes.
type sight struct {
	colons, ats int
	foreign     bool // a byte that base64 does not write
}

// scan looks for forms at any place of a value.
func scan(v string) (kind string, seen sight) {
	for i := 0; i < len(v); {
		c := v[i]
		switch wordByte[c] {
		case wStart:
			if len(v)-i > shortToken && second[c]>>(v[i+1]&31)&1 != 0 {
				if kind = tokenAt(v, i); kind != "" {
					return kind, seen
				}
			}
			i = wordEnd(v, i+1)
			continue
		case wInner:
			if c == '-' {
				if kind = dashAt(v, i); kind != "" {
					return kind, seen
				}
			}
			i = wordEnd(v, i+1)
			continue
		}
		switch c {
		case '+', '/':
		case ':':
			seen.colons++
			seen.foreign = true
			kind = colonAt(v, i)
		case '=':
			kind = pairAt(v, i)
		case '@':
			seen.ats++
			seen.foreign = true
			kind = atAt(v, i)
		case '>':
			seen.foreign = true
			kind = elementAt(v, i)
		case '.':
			seen.foreign = true
			if strings.HasPrefix(v[i+1:], "atlasv1.") && i > 8 {
				kind = "terraform-token"
			}
		case '~':
			seen.foreign = true
			if i >= 2 && v[i-1] == 'Q' && byteKind[v[i-2]] == bDigit && run(v[i+1:], dotted, 64) >= 24 {
				kind = "azure-client-secret"
			}
		case '\n', '\r':
		default:
			seen.foreign = true
		}
		if kind != "" {
			return kind, seen
		}
		i++
	}
	return "", seen
}

// wordEnd gives the end of the word that goes on at i.
func wordEnd(v string, i int) int {
	for i < len(v) && wordByte[v[i]] != wNone {
		i++
	}
	return i
}

const (
	wNone  = iota
	wInner // part of a word: _ and -
	wStart // letters and digits
)

// run counts the bytes of an alphabet at the start of v, up to a limit.
func run(v string, a alphabet, limit int) int {
	n := 0
	for n < len(v) && n < limit && (a.has(v[n]) || a == dotted && v[n] == '~') {
		n++
	}
	return n
}

// tokenAt looks for a known token that begins at i, the start of a word.
func tokenAt(v string, i int) string {
	rest := v[i:]
	switch c := rest[0]; c {
	case 'e':
		if rest[1] == 'y' && rest[2] == 'J' && isJWT(rest) {
			return "jwt"
		}
	case 'B', 'b':
		if kind := authorization(rest); kind != "" {
			return kind
		}
	case 'M', 'N', 'O':
		if isDiscord(rest) {
			return "discord-token"
		}
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if isTelegram(rest) {
			return "telegram-token"
		}
		if c == '1' && hasPrefix(rest, "1//0") && run(rest[4:], url64, 64) >= 24 {
			return "google-token"
		}
		return ""
	case 'P':
		if hasPrefix(rest, "PuTTY-User-Key-File-") {
			return "private-key"
		}
	case 'F':
		if hasPrefix(rest, "FlyV1 fm") {
			return "fly-token"
		}
	case 'm':
		if hasPrefix(rest, "machine ") && i == 0 && strings.Contains(rest, "password ") {
			return "netrc"
		}
	case 'v':
		if hasPrefix(rest, "v1.0-") && run(rest[5:], hexa, 24) == 24 {
			return "cloudflare-token"
		}
		if (rest[1] >= '1' && rest[1] <= '4') && hasPrefix(rest[2:], ".local.") && run(rest[9:], url64, 64) >= 24 {
			return "paseto"
		}
	case 's':
		if hasPrefix(rest, "sdk-") && len(rest) >= 40 && isUUID(rest[4:40]) {
			return "launchdarkly-key"
		}
	case 'p':
		if hasPrefix(rest, "pat") && len(rest) > 60 && rest[17] == '.' && run(rest[3:], alnum, 15) == 14 && run(rest[18:], hexa, 64) == 64 {
			return "airtable-token"
		}
	}
	if h := triple(rest); triples[h>>6]>>(h&63)&1 == 0 {
		return ""
	}
	list := prefixesOf(rest[0])
	for k := range list {
		if p := &list[k]; p.text[0] == rest[0] && p.text[1] == rest[1] && p.match(rest) {
			return p.kind
		}
	}
	return ""
}

// triple hashes the first three bytes of a token.
func triple(v string) uint {
	return (uint(v[0]) ^ uint(v[1])<<3 ^ uint(v[2])<<6) & (64*64 - 1)
}

// isJWT reports three parts of base64url of which the first is a JSON header.
func isJWT(v string) bool {
	head := run(v, url64, 4096)
	if head < 8 || head >= len(v) || v[head] != '.' {
		return false
	}
	body := run(v[head+1:], url64, 1<<16)
	at := head + 1 + body
	if body < 4 || at >= len(v) || v[at] != '.' {
		return false
	}
	mac := run(v[at+1:], url64, 64)
	if hasPrefix(v[head+1:], "ey") || hasPrefix(v[head+1:], "ew") {
		return mac >= 1
	}
	return mac >= 16 || body >= 16 && mac >= 4
}

// isDiscord reports a bot's token: its id, a time and a MAC.
func isDiscord(v string) bool {
	if len(v) < 50 {
		return false
	}
	n := run(v, url64, 32)
	if n < 23 || n > 28 || v[n] != '.' {
		return false
	}
	m := run(v[n+1:], url64, 8)
	if m < 5 || m > 7 || v[n+1+m] != '.' {
		return false
	}
	return run(v[n+m+2:], url64, 40) >= 20
}

// isTelegram reports a bot's token: its number, a colon and the secret.
func isTelegram(v string) bool {
	n := 0
	for n < len(v) && n < 13 && byteKind[v[n]] == bDigit {
		n++
	}
	if n < 6 || n > 12 || n+28 > len(v) || v[n] != ':' {
		return false
	}
	body := run(v[n+1:], url64, 64)
	return body >= 28 && body <= 48 && !allHex(v[n+1:n+1+body]) && !digitsOnly(v[n+1:n+1+body])
}

func allHex(v string) bool {
	for i := range len(v) {
		if !isHex(v[i]) {
			return false
		}
	}
	return true
}

// authorization looks for the value of an Authorization header.
func authorization(v string) string {
	var rest string
	switch {
	case len(v) > 7 && equalFold(v[:7], "bearer ") || len(v) > 9 && equalFold(v[:9], "bearer%20"):
		rest = strings.TrimPrefix(strings.TrimPrefix(v[6:], " "), "%20")
		if n := run(rest, base, 256); n >= 8 && !plain(rest[:n]) && !reference(rest) {
			return "authorization"
		}
	case len(v) > 6 && equalFold(v[:6], "basic ") || len(v) > 8 && equalFold(v[:8], "basic%20"):
		rest = strings.TrimPrefix(strings.TrimPrefix(v[5:], " "), "%20")
		if n := run(rest, base, 256); n >= 8 && basicCredential(rest[:n]) {
			return "authorization"
		}
	}
	return ""
}

// dashAt looks for what begins with a dash: the frame of a key, a flag.
func dashAt(v string, i int) string {
	rest := v[i:]
	if len(rest) < 4 {
		return ""
	}
	if rest[1] == '-' && hasPrefix(rest, "-----BEGIN ") {
		label := rest[len("-----BEGIN "):]
		if len(label) > 64 {
			label = label[:64]
		}
		if dash := strings.Index(label, "-----"); dash >= 0 && strings.Contains(label[:dash], "PRIVATE KEY") {
			return "private-key"
		}
		return ""
	}
	if i > 0 && v[i-1] != ' ' && v[i-1] != '\'' && v[i-1] != '"' && v[i-1] != ',' && v[i-1] != '\n' && v[i-1] != '\t' {
		return ""
	}
	return flagAt(v, i)
}

// flagAt looks for a flag that is followed by its value as a word of its own:
// --password x, mysql -px, curl -u name:password.
func flagAt(v string, i int) string {
	if v[i+1] != '-' {
		return shortFlag(v, i)
	}
	n := run(v[i:], url64, 48)
	at := i + n
	if at >= len(v)-1 || v[at] != ' ' && v[at] != '"' && v[at] != '\'' {
		return ""
	}
	name := v[i+2 : at]
	value := word(v[at+1:])
	if len(value) == 0 || value[0] == '-' || equalFold(value, name) {
		return ""
	}
	if equalFold(name, "user") && hasPassword(value) {
		return "command-line"
	}
	if s := sensitiveKey(name); s != 0 && sensitiveValue(s, value, false) {
		return "command-line"
	}
	return ""
}

func shortFlag(v string, i int) string {
	before := v[:i]
	if len(before) > 256 {
		before = before[len(before)-256:]
	}
	switch v[i+1] {
	case 'p':
		value := v[i+2:]
		if strings.Contains(before, "sshpass") {
			value = strings.TrimLeft(value, " ")
		} else if strings.Contains(before, " login") {
			if value = strings.TrimLeft(value, " "); len(value) == len(v)-i-2 {
				return ""
			}
		} else if !strings.Contains(before, "mysql") && !strings.Contains(before, "mariadb") {
			return ""
		}
		if value = word(value); len(value) > 0 && !reference(value) && value[0] != '-' {
			return "command-line"
		}
	case 'u':
		if value := word(strings.TrimLeft(v[i+2:], " ")); strings.Contains(before, "curl") && hasPassword(value) {
			return "command-line"
		}
	case 'U':
		if value := word(strings.TrimLeft(v[i+2:], " ")); strings.Contains(before, "smbclient") && strings.IndexByte(value, '%') > 0 {
			return "command-line"
		}
	case 'w':
		if value := word(strings.TrimLeft(v[i+2:], " ")); strings.Contains(before, "ldap") && len(value) > 0 && !reference(value) {
			return "command-line"
		}
	case 'a':
		if value := word(strings.TrimLeft(v[i+2:], " ")); strings.Contains(before, "redis-cli") && len(value) > 0 && !reference(value) {
			return "command-line"
		}
	}
	return ""
}

// word returns the first word of a command line, without its quotes.
func word(v string) string {
	if len(v) > 512 {
		v = v[:512]
	}
	for len(v) > 0 && (v[0] == '"' || v[0] == '\'' || v[0] == '\\' || v[0] == ' ' || v[0] == ',') {
		v = v[1:]
	}
	for i := range len(v) {
		switch v[i] {
		case ' ', '"', '\'', '\n', '\t', '\\', ';', '|':
			return v[:i]
		}
	}
	return v
}

// hasPassword reports whether a word is name:password.
func hasPassword(v string) bool {
	i := strings.IndexByte(v, ':')
	return i >= 0 && i < len(v)-1 && !reference(v[i+1:])
}

// colonAt looks at a colon: of a URL, of a pair.
func colonAt(v string, i int) string {
	if i+2 < len(v) && v[i+1] == '/' && v[i+2] == '/' {
		return urlAt(v, i)
	}
	if i+1 >= len(v) || v[i+1] == '/' {
		return ""
	}
	return pairAt(v, i)
}

// urlAt looks at the URL whose scheme ends at i for a password, or for a token
// in the place of a name.
func urlAt(v string, i int) string {
	rest := v[i+3:]
	end := len(rest)
	last, colon := -1, -1
scan:
	for j := range len(rest) {
		switch rest[j] {
		case '@':
			last = j
		case ':':
			if colon < 0 {
				colon = j
			}
		case '/', '?', '#', ' ', '"', '\'', '<', '>', '|', '\\', '\n', '\t', '`':
			end = j
			break scan
		}
	}
	if last < 0 {
		// A password may hold what ends an authority elsewhere: u:p/w@host.
		if colon > 0 && end < len(rest) && end-colon > 1 && !digitsOnly(rest[colon+1:end]) && rest[0] != '[' {
			tail := rest[end:]
			if len(tail) > 256 {
				tail = tail[:256]
			}
			if stop := strings.IndexAny(tail, " \"'\n,"); stop >= 0 {
				tail = tail[:stop]
			}
			if at := strings.IndexByte(tail, '@'); at > 0 && !reference(rest[colon+1:]) {
				return "url-password"
			}
		}
		return webhookURL(rest)
	}
	if hasPrefix(rest[last:], "@sha256:") {
		return "" // an image by its digest
	}
	user := rest[:last]
	if colon >= 0 && colon < last {
		password := user[colon+1:]
		if password != "" {
			if masked(password) {
				return ""
			}
			return "url-password"
		}
		user = user[:colon]
	}
	if len(user) >= 16 && !reference(user) && (random(user) || allHex(user) || len(user) > 10 && tokenAt(user, 0) != "") {
		return "url-token"
	}
	return ""
}

// masked reports whether a password in a URL is a place for one.
func masked(p string) bool {
	if reference(p) || p[0] == '[' || p[0] == '{' && p[len(p)-1] == '}' || p == "%s" || p == "..." {
		return true
	}
	for i := range len(p) {
		if p[i] != '*' && p[i] != 'x' && p[i] != 'X' {
			return false
		}
	}
	return len(p) > 2
}

// webhookURL reports the addresses to which whoever knows them can write.
func webhookURL(rest string) string {
	switch {
	case len(rest) < 24:
		return ""
	case rest[0] == 'h' && (hasPrefix(rest, "hooks.slack.com/services/T") || hasPrefix(rest, "hooks.slack.com/triggers/") || hasPrefix(rest, "hooks.slack.com/workflows/") || hasPrefix(rest, "hooks.zapier.com/hooks/catch/")):
		return "webhook-url"
	case rest[0] == 'd' && (hasPrefix(rest, "discord.com/api/webhooks/") || hasPrefix(rest, "discordapp.com/api/webhooks/")):
		return "webhook-url"
	}
	host := rest
	if len(host) > 128 {
		host = host[:128]
	}
	if !strings.Contains(host, "hook") {
		return ""
	}
	if strings.Contains(host, ".webhook.office.com/webhookb2/") || strings.Contains(host, ".discord.com/api/webhooks/") || strings.Contains(host, "open.feishu.cn/open-apis/bot/v2/hook/") || strings.Contains(host, "open.larksuite.com/open-apis/bot/v2/hook/") {
		return "webhook-url"
	}
	return ""
}

// atAt looks at an @ that no scheme stands before: the data source names of
// Go's MySQL driver, of Oracle.
func atAt(v string, i int) string {
	rest := v[i+1:]
	if hasPrefix(rest, "tcp(") || hasPrefix(rest, "unix(") || hasPrefix(rest, "(") {
		from := max(0, i-256)
		if colon := strings.LastIndexByte(v[from:i], ':'); colon >= 0 && colon < i-from-1 && !reference(v[from+colon+1:i]) {
			return "url-password"
		}
		return ""
	}
	if i > 12 {
		from := max(0, i-256)
		before := v[from:i]
		if thin := strings.Index(before, ":thin:"); thin >= 0 {
			if slash := strings.IndexByte(before[thin:], '/'); slash > 0 && thin+slash < len(before)-1 {
				return "url-password"
			}
		}
	}
	return ""
}

// queryPassword reports the p of a URL's ?u=name&p=password.
func queryPassword(v string, start, end int) bool {
	return end-start == 1 && v[start] == 'p' && start > 4 && v[start-1] == '&' && strings.Contains(v[max(0, start-64):start], "u=")
}

// elementAt looks at the XML element whose start tag ends at i.
func elementAt(v string, i int) string {
	from := max(0, i-48)
	open := strings.LastIndexByte(v[from:i], '<')
	if open < 0 {
		return ""
	}
	s := sensitiveKey(v[from+open+1 : i])
	value := v[i+1:]
	if len(value) > 256 {
		value = value[:256]
	}
	if stop := strings.IndexByte(value, '<'); s != 0 && stop > 0 && sensitiveValue(s, value[:stop], false) {
		return "xml-credential"
	}
	return ""
}

// sensitivity of the key of a pair.
type sensitivity uint8

const (
	secretKey sensitivity = iota + 1 // token, secret, key: a value that is drawn
	passwordKey
	headerKey // Authorization
	looseKey  // auth, sig: only with a value that is random
)

// pairAt looks at the pair whose = or : stands at i.
func pairAt(v string, i int) string {
	end := i
	quoted := false
	for end > 0 && i-end < 4 && (v[end-1] == '"' || v[end-1] == '\'' || v[end-1] == ' ' || v[end-1] == '\\') {
		if v[end-1] != ' ' && v[end-1] != '\\' {
			quoted = true
		}
		end--
	}
	if end == 0 || i+1 >= len(v) {
		return ""
	}
	if !mayEndKey(v, end) {
		return ""
	}
	start := end
	for start > 0 && end-start < 48 && dotted.has(v[start-1]) {
		start--
	}
	s := sensitiveKey(v[start:end])
	switch {
	case s == 0:
		if !queryPassword(v, start, end) {
			return ""
		}
		s = passwordKey
	case end-start <= 4 && start > 0 && (v[start-1] == '+' || v[start-1] == '/'):
		return "" // the end of something in base64
	case v[i] == ':' && start > 0 && v[start-1] == ':':
		return "" // a name of many parts: arn:aws:secretsmanager:…:secret:app
	}
	value, stop := v[i+1:], 0
	for k := 0; k < 4 && len(value) > 0 && value[0] == ' '; k++ {
		value = value[1:]
	}
	var quote byte
	for k := 0; k < 3 && len(value) > 0 && (value[0] == '"' || value[0] == '\'' || value[0] == '\\'); k++ {
		if quote = value[0]; quote != '\\' {
			value = value[1:]
			break
		}
		value = value[1:]
	}
	for stop < len(value) && stop < 256 {
		c := value[stop]
		if c == '"' || c == '\'' && quote != '"' || c == '\n' || c == '\r' || c == '\\' ||
			quote == 0 && (c == '&' || c == ' ' && s != headerKey || c == ';' || c == ',' || c == '}') {
			break
		}
		stop++
	}
	if v[i] == ':' && v[i+1] == ' ' && !quoted && quote == 0 && s != headerKey && prose(v, start, value) {
		return ""
	}
	if quote == 0 && stop > 0 && (value[0] == '{' || value[0] == '[') && quoted {
		return "" // JSON goes on below this name
	}
	if sensitiveValue(s, value[:stop], quoted) {
		if quoted {
			return "json-credential"
		}
		return "key-value"
	}
	return ""
}

// mayEndKey says at little cost of most keys that sensitiveKey does not know them.
func mayEndKey(v string, end int) bool {
	last := (v[end-1] | 0x20) - 'a'
	if last >= 26 || keyEnds[last] == 0 {
		return false
	}
	if end < 2 {
		return true
	}
	before := v[end-2]
	return byteKind[before] == bOther || byteKind[before] == bDigit || keyEnds[last]>>(before&31)&1 != 0
}

// prose reports whether a colon stands in a sentence and not in a file of
// settings: after other words on its line, or before several plain ones.
func prose(v string, start int, value string) bool {
	line := value
	if len(line) > 128 {
		line = line[:128]
	}
	if end := strings.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	for k := 0; start > 0 && v[start-1] == ' '; k++ {
		if start--; k > 64 {
			return true
		}
	}
	if start > 0 && v[start-1] != '\n' && v[start-1] != '\r' && v[start-1] != '-' && v[start-1] != '\'' && v[start-1] != '"' {
		return plain(word(line))
	}
	return strings.IndexByte(strings.TrimSpace(line), ' ') > 0 && plain(word(line))
}

// sensitiveKey reports what the key of a pair says of its value.
func sensitiveKey(k string) sensitivity {
	if len(k) < 2 || len(k) > 64 {
		return 0
	}
	var buf [64]byte
	n := 0
	for i := range len(k) {
		if k[i] != '_' && k[i] != '-' && k[i] != '.' {
			buf[n] = lower(k[i])
			n++
		}
	}
	if n == 0 {
		return 0
	}
	b := buf[:n]
	end := func(s string) bool { return n >= len(s) && string(b[n-len(s):]) == s }
	switch b[n-1] {
	case 'd':
		if end("password") || end("passwd") || end("pwd") {
			return passwordKey
		}
	case 's':
		if string(b) == "pass" || end("pass") && n <= 12 && !end("bypass") && !end("compass") || end("userpass") {
			return passwordKey
		}
	case 'w':
		if string(b) == "pw" {
			return passwordKey
		}
	case 'e':
		switch {
		case end("passphrase"), end("passcode"):
			return passwordKey
		case end("signature") && n <= 16:
			return looseKey
		}
	case 't':
		if end("secret") {
			return secretKey
		}
	case 'n':
		switch {
		case end("token") && !end("webtoken"):
			return secretKey
		case end("authorization"):
			return headerKey
		}
	case 'y':
		switch {
		case end("apikey"), end("accesskey"), end("accountkey"), end("secretkey"), end("privatekey"), end("sharedaccesskey"), end("sharedkey"), end("encryptionkey"), end("signingkey"),
			end("masterkey"), end("authkey"), end("secretaccesskey"), end("appkey"), end("licensekey"), end("sharedsecretkey"), end("primarykey") && n > 10, end("clientkey"):
			return secretKey
		case string(b) == "key":
			return looseKey
		}
	case 'a':
		if string(b) == "clientkeydata" {
			return secretKey
		}
	case 'h':
		if string(b) == "auth" || end("basicauth") || end("authhash") {
			return looseKey
		}
	case 'g':
		if string(b) == "sig" {
			return looseKey
		}
	case 'c':
		if end("mnemonic") {
			return passwordKey
		}
	case 'm':
		if string(b) == "xhoneycombteam" {
			return secretKey
		}
	}
	return 0
}

// sensitiveValue reports whether the value of such a pair is more than a place
// for one.
func sensitiveValue(s sensitivity, v string, quoted bool) bool {
	if Spared(v) || reference(v) || isPath(v) || masked(v) || v[0] == '=' {
		return false
	}
	switch v {
	case "string", "str", "number", "boolean", "object": // the type of it
		return false
	}
	switch s {
	case passwordKey:
		return true
	case headerKey:
		if space := strings.LastIndexByte(v, ' '); space >= 0 && (space == len(v)-1 || reference(v[space+1:]) || masked(v[space+1:])) {
			return false
		}
		return len(v) >= 8 && (quoted || !plain(v))
	case looseKey:
		return len(v) >= 8 && (random(v) || dense(v) || basicCredential(v))
	}
	if quoted {
		return len(v) >= 4 && !isURL(v)
	}
	return len(v) >= 6 && !lettersOnly(v, 0) && !isURL(v)
}
