package builtin

import "strings"

// verdict is what judge found: which group removes the variable by which rule.
type verdict uint8

const (
	vNone verdict = iota
	vAPIKeyEnd
	vAPIKey
	vTokenEnd
	vToken
	vTokens
	vJWT
	vPAT
	vSecretEnd
	vSecret
	vSecrets
	vSecretID
	vCredential
	vAuth
	vHeaders
	vWebhook
	vPasswordEnd
	vPassword
	vPass
	vPIN
	vOTP
	vCode
	vPSK
	vKeyEnd
	vKey
	vSalt
	vStore
	vKubeconfig
	vLicense
	vSession
	vCookie
	vAccessKeyID
	vDSN
	vConnection
	vMnemonic
	vSeed
	vPhrase
	vBundle
	vFile
)

// Positions of the groups in denyGroups; a test holds the two together.
const (
	iAgents = iota
	iAPIKeys
	iTokens
	iSecrets
	iPasswords
	iKeys
	iSessions
	iCloud
	iDatabases
	iConnections
	iCI
	iPackages
	iMonitoring
	iCrypto
	iLoader
	iCredentialFiles
)

var verdicts = [...]struct {
	group uint8
	rule  string
}{
	vNone:        {},
	vAPIKeyEnd:   {iAPIKeys, "*_API_KEY"},
	vAPIKey:      {iAPIKeys, "*API_KEY*"},
	vTokenEnd:    {iTokens, "*_TOKEN"},
	vToken:       {iTokens, "*TOKEN*"},
	vTokens:      {iTokens, "*_TOKENS"},
	vJWT:         {iTokens, "*_JWT"},
	vPAT:         {iTokens, "*_PAT"},
	vSecretEnd:   {iSecrets, "*_SECRET"},
	vSecret:      {iSecrets, "*SECRET*"},
	vSecrets:     {iSecrets, "*_SECRETS"},
	vSecretID:    {iSecrets, "*_SECRET_ID"},
	vCredential:  {iSecrets, "*CREDENTIAL*"},
	vAuth:        {iSecrets, "*_AUTH"},
	vHeaders:     {iSecrets, "*_HEADERS"},
	vWebhook:     {iSecrets, "*_WEBHOOK*"},
	vPasswordEnd: {iPasswords, "*_PASSWORD"},
	vPassword:    {iPasswords, "*PASSWORD*"},
	vPass:        {iPasswords, "*_PASS"},
	vPIN:         {iPasswords, "*_PIN"},
	vOTP:         {iPasswords, "*_OTP"},
	vCode:        {iPasswords, "*_CODE"},
	vPSK:         {iPasswords, "*_PSK"},
	vKeyEnd:      {iKeys, "*_KEY"},
	vKey:         {iKeys, "*KEY*"},
	vSalt:        {iKeys, "*_SALT"},
	vStore:       {iKeys, "*_KEYSTORE"},
	vKubeconfig:  {iCloud, "*KUBECONFIG*"},
	vLicense:     {iKeys, "*_LICENSE"},
	vSession:     {iSessions, "*_SESSION"},
	vCookie:      {iSessions, "*_COOKIE"},
	vAccessKeyID: {iCloud, "*_ACCESS_KEY_ID"},
	vDSN:         {iConnections, "*_DSN"},
	vConnection:  {iConnections, "*CONNECTION_STRING*"},
	vMnemonic:    {iCrypto, "*MNEMONIC*"},
	vSeed:        {iCrypto, "*_SEED"},
	vPhrase:      {iCrypto, "*_PHRASE"},
	vBundle:      {iPackages, "BUNDLE_*__*"},
	vFile:        {iCredentialFiles, "*_FILE"},
}

// tail is what follows the word that names a credential.
type tail uint8

const (
	tailNone    tail = iota
	tailNeutral      // which one of several: DB_PASSWORD_2, TOKEN_PROD
	tailUnknown      // words that say nothing: the value decides
	tailMeta         // the variable is about the credential: TOKEN_URL
	tailFile         // and is the name of a file: TOKEN_FILE
)

func (w *words) tail(from int) tail {
	t := tailNone
	for i := from; i < w.count; i++ {
		c := w.side(i)
		switch {
		case c&fFile != 0:
			t = tailFile
		case c&fMeta != 0:
			t = max(t, tailMeta)
		case c&fNeutral != 0:
			t = max(t, tailNeutral)
		default:
			t = max(t, tailUnknown)
		}
	}
	// TOKEN_FILE_CONTENT, KEY_FILE_BASE64: the content after all.
	if t >= tailMeta && w.side(w.count-1)&fContent != 0 {
		t = tailNeutral
	}
	return t
}

// judge reads a name from its end for a word that names a credential, and the
// value, which is not spared, where the name alone is not enough.
func judge(w *words, value string) verdict {
	for i := w.count - 1; i >= 0; i-- {
		kind := w.kind(i) & kindMask
		if kind == kNone {
			continue
		}
		if kind == kString {
			if !w.is(i-1, "connection") && !w.is(i-1, "conn") && !w.is(i-1, "connect") {
				continue // SESSION_STRING: the word before says what it is
			}
			kind = kConnection
		}
		v := w.judgeWord(i, kind, value)
		if v != vNone && v != vFile {
			return v
		}
		// CODE, HEADER, HOOK are also what a variable about a credential is
		// named after: the words before them are asked too.
		if w.side(i)&fMeta == 0 {
			if v == vNone {
				return w.special(value)
			}
			return v
		}
	}
	return w.special(value)
}

// special covers schemes of names in which the part that matters has a name of
// the user's own.
func (w *words) special(value string) verdict {
	last := w.count - 1
	if last > 0 {
		switch {
		case w.is(0, "bundle") && hasDoubleUnderscore(w) && !isURL(value) && (bundleCredential(value) || random(value)):
			return vBundle
		case w.is(last, "hash") && w.is(last-1, "api") && !plain(value):
			return vAPIKey // Telegram's
		case w.is(last, "info") && w.is(last-1, "user") && loginPair(value):
			return vAuth // BASIC_AUTH_USER_INFO of Confluent's clients
		case (w.is(last, "login") || w.is(last, "users") && w.is(last-1, "auth")) && loginPair(value):
			return vAuth // IMAP_LOGIN, BASIC_AUTH_USERS: not the name alone, the password with it
		}
	}
	if w.is(last, "pk") && hexKey(value) {
		return vKeyEnd // a wallet's; a primary key is no 32 bytes of hex
	}
	return vNone
}

func hasDoubleUnderscore(w *words) bool {
	for i := 1; i < w.n; i++ {
		if w.buf[i] == '_' && w.buf[i-1] == '_' {
			return true
		}
	}
	return false
}

// bundleCredential reports whether a value is user:password as Bundler takes it.
func bundleCredential(v string) bool {
	colon := -1
	for i := range len(v) {
		switch v[i] {
		case ':':
			if colon < 0 {
				colon = i
			}
		case '/', ' ':
			return false
		}
	}
	return colon > 0 && colon < len(v)-1
}

func (w *words) judgeWord(i int, kind wordClass, value string) verdict {
	t := w.tail(i + 1)
	// PASS_WORD, PASS_PHRASE: one word written as two.
	if kind == kPass && (w.is(i+1, "word") || w.is(i+1, "phrase") || w.is(i+1, "code")) {
		kind, t = kPassword, w.tail(i+2)
	}
	if w.ownPrefix(i) {
		t = tailUnknown
	}
	if t == tailFile && kind != kCode && kind != kHook && kind != kHeaders {
		return vFile
	}
	if t == tailMeta {
		return w.judgeMeta(i, kind, value)
	}
	if t == tailUnknown && kind != kSeed && kind != kPhrase && !random(value) && !(kind == kAuth && (value[0] == '{' || loginPair(value))) && !w.ownPrefix(i) {
		return vNone
	}
	switch kind {
	case kPassword:
		return unlessFile(value, end(t, vPasswordEnd, vPassword))
	case kPass:
		if w.is(i-1, "ask") || w.is(i, "pwd") && (w.count == 1 || value[0] == '/') {
			return vNone
		}
		return unlessFile(value, vPass)
	case kToken:
		if special := value[0] == '<' || value[0] == '['; special && len(value) <= 24 && (value[len(value)-1] == '>' || value[len(value)-1] == ']') {
			return vNone // a token of a language model: <s>, [PAD]
		}
		return unlessFile(value, end(t, vTokenEnd, vToken))
	case kSecret:
		return unlessFile(value, end(t, vSecretEnd, vSecret))
	case kAPIKey:
		return unlessFile(value, end(t, vAPIKeyEnd, vAPIKey))
	case kCredential:
		return unlessFile(value, vCredential)
	case kJWT:
		return unlessFile(value, vJWT)
	case kPSK:
		return unlessFile(value, vPSK)
	case kMnemonic:
		return unlessFile(value, vMnemonic)
	case kLongKey:
		if isURL(value) {
			return vNone
		}
		return unlessFile(value, vKeyEnd)
	case kTokens, kSecrets:
		if digitsOnly(value) || isURL(value) || value[0] == '<' || i > 0 && w.side(i-1)&fCount != 0 {
			return vNone
		}
		if plain(value) && (i == 0 || w.side(i-1)&fStrong == 0) {
			return vNone
		}
		if kind == kTokens {
			return unlessFile(value, vTokens)
		}
		return unlessFile(value, vSecrets)
	case kKey, kKeys:
		return w.judgeKey(i, t, value)
	case kAuth:
		if isURL(value) || authScheme(value) {
			return vNone
		}
		return unlessFile(value, vAuth)
	case kSalt:
		return unlessFile(value, vSalt)
	case kPAT:
		if plain(value) || i == 0 && !random(value) {
			return vNone
		}
		return unlessFile(value, vPAT)
	case kDSN:
		if isURL(value) || plain(value) || keyValues(value) || address(value) {
			return vNone
		}
		return unlessFile(value, vDSN)
	case kConnection:
		if isURL(value) || plain(value) || keyValues(value) {
			return vNone
		}
		return unlessFile(value, vConnection)
	}
	if t == tailUnknown && kind == kLicense {
		return vNone
	}
	return w.judgeWeak(i, kind, value)
}

// judgeWeak covers the words that name a credential only with a value to match.
func (w *words) judgeWeak(i int, kind wordClass, value string) verdict {
	switch kind {
	case kSession:
		if random(value) || len(value) >= 24 && !plain(value) && !isUUID(value) && !material(value) && !isURL(value) {
			return vSession
		}
	case kCookie:
		if w.is(i-1, "erlang") || w.is(i-1, "release") || w.is(i-1, "rabbitmq") {
			return vCookie
		}
		if random(value) || cookiePair(value) {
			return vCookie
		}
	case kPIN:
		if len(value) >= 6 && digitsOnly(value) || random(value) {
			return vPIN
		}
	case kOTP:
		if len(value) >= 6 && digitsOnly(value) && lastByte(value, '.') < 0 || random(value) {
			return vOTP
		}
	case kCode:
		if i > 0 && codeHead(w.text(i-1)) && len(value) >= 6 && strings.ContainsAny(value, "0123456789") && !material(value) && !isURL(value) {
			return vCode
		}
	case kSeed:
		if wordCount(value) >= 12 || len(value) >= 24 && (random(value) || allHex(value) && !digitsOnly(value)) {
			return vSeed
		}
	case kPhrase:
		if i > 0 && (w.is(i-1, "seed") || w.is(i-1, "recovery") || w.is(i-1, "secret") || w.is(i-1, "backup") || w.is(i-1, "mnemonic") || w.is(i-1, "wallet")) {
			return unlessFile(value, vPhrase)
		}
	case kLicense:
		if len(value) >= 20 && random(value) || strings.HasPrefix(value, "<?xml") {
			return vLicense
		}
	case kStore:
		if longBase64(value) {
			return vStore
		}
	case kKubeconfig:
		if longBase64(value) || len(value) > 40 && strings.Contains(value, "clusters:") {
			return vKubeconfig
		}
	case kWebhook, kHook:
		if kind == kHook && !(w.is(i-1, "deploy") || w.is(i-1, "build") || w.is(i-1, "web")) {
			return vNone
		}
		if secretURL(value) {
			return vWebhook
		}
	case kConn:
		if at := strings.IndexByte(value, '@'); at > 0 && indexScheme(value) < 0 && strings.ContainsAny(value[:at], ":/") && !strings.ContainsAny(value, " ") {
			return vConnection // name/password@host
		}
	case kAuthentication:
		if random(value) || dense(value) {
			return vAuth
		}
	case kCommunity:
		for k := range i {
			if w.is(k, "snmp") {
				return vPassword
			}
		}
	case kHMAC:
		if random(value) || dense(value) {
			return vKeyEnd
		}
	case kHeaders:
		if headerCredential(value) {
			return vHeaders
		}
		if i > 0 && w.side(i-1)&kindMask == kAuth && random(value) {
			return vHeaders
		}
	}
	return vNone
}

// judgeMeta covers what looks like talk about a credential and is half of one.
func (w *words) judgeMeta(i int, kind wordClass, value string) verdict {
	last := w.count - 1
	switch kind {
	case kKey:
		if w.is(i+1, "id") && i+1 == last && w.is(i-1, "access") && !material(value) {
			return vAccessKeyID
		}
	case kLongKey:
		if w.is(i+1, "id") && i+1 == last && w.is(i, "accesskey") && !material(value) {
			return vAccessKeyID
		}
	case kSecret:
		if w.is(i+1, "id") && i+1 == last && (random(value) || isUUID(value)) {
			return vSecretID
		}
	case kWebhook:
		if secretURL(value) {
			return vWebhook
		}
	case kAuth:
		// AUTH_HEADER is asked for its value by the word HEADER.
	case kHook:
		return w.judgeWeak(i, kind, value)
	}
	return vNone
}

// judgeKey decides about KEY, the word that most often means something else.
func (w *words) judgeKey(i int, t tail, value string) verdict {
	if w.is(i-1, "api") {
		return unlessFile(value, end(t, vAPIKeyEnd, vAPIKey))
	}
	if material(value) || isURL(value) {
		if isPath(value) {
			return vFile
		}
		return vNone
	}
	head := i - 1
	for head >= 0 && w.side(head)&(fNeutral|fStrong|fMeta) == fNeutral {
		head--
	}
	rule := end(t, vKeyEnd, vKey)
	if head < 0 {
		if i > 0 && !label(value) || random(value) {
			return rule
		}
		return vNone
	}
	if w.is(head, "s3") && strings.ContainsAny(value, "/.") && !dense(value) {
		return vNone // the name of an object
	}
	if isFingerprint(value) {
		return vNone
	}
	for k := range w.count {
		if (w.is(k, "gpg") || w.is(k, "pgp")) && isKeyName(value) {
			return vNone
		}
	}
	c := w.side(head)
	switch {
	case c&fPublic != 0:
		return vNone
	case c&fBenign != 0:
		if dense(value) {
			return rule
		}
		return vNone
	case c&fStrong != 0, c&kindMask != kNone && c&fMeta == 0:
		return rule
	case label(value):
		return vNone
	case c&fMeta != 0 && !random(value):
		return vNone
	}
	return rule
}

// ownPrefix reports the schemes where a name of the user's own follows the word.
func (w *words) ownPrefix(i int) bool {
	return i == 1 && (w.is(0, "tf") && w.is(1, "token")) ||
		i == 2 && (w.is(0, "aws") && w.is(1, "bearer") || w.is(0, "poetry") && w.is(1, "pypi"))
}

func unlessFile(value string, v verdict) verdict {
	switch {
	case isPath(value):
		return vFile
	case isPublic(value), isSchedule(value):
		return vNone
	}
	return v
}

func end(t tail, atEnd, inside verdict) verdict {
	if t == tailNone {
		return atEnd
	}
	return inside
}

// authScheme reports whether a value names a way to log in.
func authScheme(v string) bool {
	if len(v) > 20 {
		return false
	}
	var buf [20]byte
	for i := range len(v) {
		buf[i] = lower(v[i])
	}
	switch string(buf[:len(v)]) {
	case "basic", "digest", "bearer", "ldap", "ldaps", "oauth", "oauth2", "oidc", "openid", "saml", "saml2", "iam", "trust", "peer", "md5", "password", "scram-sha-256", "scram-sha-512", "scram",
		"ntlm", "kerberos", "gssapi", "negotiate", "token", "jwt", "apikey", "api_key", "api-key", "any", "anonymous", "mtls", "tls", "ssl", "cert", "certificate", "sso", "google", "github", "gitlab", "azure", "azuread",
		"aws", "local", "internal", "external", "simple", "plain", "login", "cram-md5", "xoauth2", "htpasswd", "silly", "proxy", "default", "db", "database", "file", "pam", "sasl", "auto", "required", "optional",
		"ssh", "http", "https", "aws_iam", "userpass", "approle", "kubernetes", "session", "cookie", "header", "form", "database_auth", "oauth-personal", "vertex-ai", "gemini-api-key", "cloud-shell", "passkey", "magic_link", "email", "insecure", "sha256_password", "caching_sha2_password", "mysql_native_password":
		return true
	}
	return false
}

// keyValues reports whether a value is a list of settings none of which is a
// credential; Shape has found those that have one.
func keyValues(v string) bool {
	if _, bad := Shape("", v); bad {
		return false
	}
	if i := strings.IndexByte(v, '='); i <= 0 || i == len(v)-1 {
		return false
	}
	if strings.ContainsAny(v, "; ") || strings.Contains(v, "Source") || strings.Contains(v, "=/") {
		return !strings.Contains(v, "Key=") && !strings.Contains(v, "key=")
	}
	return false
}

// isFingerprint reports fingerprints of OpenPGP keys: forty hexadecimal digits
// in capitals, as gpg writes them and nobody writes a secret.
func isFingerprint(v string) bool {
	letters := false
	for len(v) >= 40 {
		v = strings.TrimPrefix(v, "0x")
		if len(v) < 40 {
			return false
		}
		for i := range 40 {
			if !isHex(v[i]) || byteKind[v[i]] == bLower {
				return false
			}
			letters = letters || byteKind[v[i]] == bUpper
		}
		if v = strings.TrimLeft(v[40:], " ,\t\n"); v == "" {
			return letters
		}
	}
	return false
}

// isKeyName reports the name of an OpenPGP key, long or short.
func isKeyName(v string) bool {
	v = strings.TrimPrefix(v, "0x")
	return (len(v) == 8 || len(v) == 16 || len(v) == 40) && allHex(v)
}

// hexKey reports 32 bytes in hex, as private keys of wallets are written.
func hexKey(v string) bool {
	if len(v) == 66 && v[0] == '0' && v[1]|0x20 == 'x' {
		v = v[2:]
	}
	return len(v) == 64 && allHex(v)
}

// loginPair reports whether a value is name:password and no host with a port.
func loginPair(v string) bool {
	return userPassword(v) && !digitsOnly(v[strings.IndexByte(v, ':')+1:])
}

// address reports host:port, perhaps with the name of a database, and no user.
func address(v string) bool {
	colon := strings.IndexByte(v, ':')
	if colon <= 0 || strings.ContainsAny(v, "@=; ") {
		return false
	}
	port, _, _ := strings.Cut(v[colon+1:], "/")
	return len(port) >= 2 && len(port) <= 5 && allDigits(port)
}

func allDigits(v string) bool {
	for i := range len(v) {
		if byteKind[v[i]] != bDigit {
			return false
		}
	}
	return true
}

func cookiePair(v string) bool {
	for i := range len(v) {
		if v[i] == '=' {
			return i > 0 && len(v)-i > 8
		}
	}
	return false
}

func codeHead(s string) bool {
	switch s {
	case "recovery", "backup", "mfa", "2fa", "auth", "authorization", "access", "verification", "otp", "totp", "security", "login", "pin", "invite", "activation", "pairing", "unlock", "factor", "oauth":
		return true
	}
	return false
}

func wordCount(v string) int {
	n := 0
	in := false
	for i := range len(v) {
		letter := byteKind[v[i]] == bLower || byteKind[v[i]] == bUpper
		if letter && !in {
			n++
		}
		in = letter
	}
	return n
}

// secretURL reports whether a URL has a part that only its owner knows.
func secretURL(v string) bool {
	s := indexScheme(v)
	if s < 0 {
		return random(v)
	}
	slash := -1
	for i := s + 3; i < len(v); i++ {
		if v[i] == '/' || v[i] == '?' {
			slash = i
			break
		}
	}
	if slash < 0 {
		return false
	}
	start := slash + 1
	for i := start; i <= len(v); i++ {
		if i < len(v) && v[i] != '/' && v[i] != '=' && v[i] != '&' && v[i] != '?' && v[i] != '@' {
			continue
		}
		if part := v[start:i]; len(part) >= 10 && (random(part) || isUUID(part)) {
			return true
		}
		start = i + 1
	}
	return false
}

// headerCredential reports whether a list of headers has one that logs in.
func headerCredential(v string) bool {
	start := 0
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case ',', '\n', ';', ' ':
			start = i + 1
		case '=', ':':
			if i > start && i < len(v)-1 && headerName(v[start:i]) && !reference(withoutScheme(v[i+1:])) {
				return true
			}
		}
	}
	return false
}

// withoutScheme takes Bearer or Basic from the value of a header.
func withoutScheme(v string) string {
	v = strings.TrimLeft(v, " ")
	for _, scheme := range [...]string{"bearer", "basic", "token"} {
		if len(v) > len(scheme) && equalFold(v[:len(scheme)], scheme) && (v[len(scheme)] == ' ' || v[len(scheme)] == '%') {
			return strings.TrimPrefix(strings.TrimPrefix(v[len(scheme):], "%20"), " ")
		}
	}
	return v
}

func headerName(h string) bool {
	if len(h) > 64 {
		return false
	}
	var buf [64]byte
	for i := range len(h) {
		buf[i] = lower(h[i])
	}
	s := string(buf[:len(h)])
	return s == "cookie" || s == "x-honeycomb-team" || strings.Contains(s, "authorization") || strings.Contains(s, "token") || strings.Contains(s, "key") || strings.Contains(s, "secret") || strings.Contains(s, "password") || strings.Contains(s, "auth")
}

// reference reports whether a value is filled in later.
func reference(v string) bool {
	for len(v) > 0 && (v[0] == ' ' || v[0] == '"' || v[0] == '\'') {
		v = v[1:]
	}
	return len(v) > 0 && (v[0] == '$' && len(v) > 1 && (v[1] == '{' || v[1] == '(' || byteKind[v[1]] == bUpper) || hasPrefix(v, "{{") || hasPrefix(v, "<") || hasPrefix(v, "%(") || hasPrefix(v, "***") || hasPrefix(v, "xxx") || hasPrefix(v, "XXX") || hasPrefix(v, "..."))
}
