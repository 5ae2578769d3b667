package builtin

import "encoding/binary"

// A wordClass says what one word of a name can mean: in its low bits the kind
// of credential that it names, above them what it does to its neighbours.
type wordClass uint16

const (
	kNone wordClass = iota
	kPassword
	kPass
	kPIN
	kToken
	kTokens
	kSecret
	kSecrets
	kAPIKey
	kCredential
	kKey
	kKeys
	kLongKey // a key that says in the same word what it opens: PRIVATEKEY
	kAuth
	kSession
	kCookie
	kSalt
	kSeed
	kPhrase
	kMnemonic
	kOTP
	kCode
	kDSN
	kConnection
	kJWT
	kPAT
	kPSK
	kWebhook
	kHook
	kLicense
	kHeaders
	kStore // a container of keys: PKCS #12, Java, Kerberos
	kKubeconfig
	kString // after CONNECTION
	kHMAC
	kCommunity // SNMP's password
	kAuthentication
	kConn

	kindMask wordClass = 0x3f
)

const (
	fMeta    wordClass = 1 << (iota + 6) // after a credential word: the variable is about it, not it
	fFile                                // likewise, and it is a file or a socket
	fNeutral                             // after a credential word: which one of several it is
	fStrong                              // before KEY: such a key unlocks something
	fBenign                              // before KEY: such a key is a label or is public
	fCount                               // before TOKENS: they are counted
	fContent                             // after a file word: the content and not the name
	fPublic                              // before KEY: made to be shown
)

const maxWords = 32

// words is a name in lower case, cut into words.
type words struct {
	buf   [128]byte
	n     int // bytes in buf
	count int
	word  [maxWords]struct {
		start, end uint8
	}
}

// split cuts a name. Of a very long name only the end is read, which is where
// the word that decides stands.
func (w *words) split(name string) {
	if len(name) > len(w.buf) {
		name = name[len(name)-len(w.buf):]
	}
	w.n, w.count = copy(w.buf[:], name), 0
	for i := 0; i < len(name) && i+8 <= len(w.buf); i += 8 {
		eight := w.buf[i : i+8]
		binary.LittleEndian.PutUint64(eight, lowerWord(binary.LittleEndian.Uint64(eight)))
	}
	for i := 0; i < len(name); {
		prev := byteKind[name[i]]
		if prev == bOther {
			i++
			continue
		}
		start := i
		for i++; ; i++ {
			for i < len(name) && byteKind[name[i]] == prev {
				i++
			}
			if i == len(name) {
				break
			}
			kind := byteKind[name[i]]
			if kind == bOther {
				break
			}
			if kind == bUpper && prev == bLower {
				w.add(start, i)
				start = i
			} else if kind == bLower && prev == bUpper && i-1 > start {
				w.add(start, i-1) // the last capital of a run begins the next word: APIKey
				start = i - 1
			}
			prev = kind
		}
		w.add(start, i)
	}
}

// lowerWord lower-cases the ASCII letters among eight bytes.
func lowerWord(w uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	low := w &^ high
	capitals := (low + (0x80-'A')*ones) &^ (low + (0x80-'Z'-1)*ones) &^ w & high
	return w | capitals>>2
}

const (
	bOther = iota
	bLower
	bUpper
	bDigit
)

func (w *words) add(start, end int) {
	if w.count == maxWords {
		copy(w.word[:], w.word[1:])
		w.count--
	}
	w.word[w.count].start, w.word[w.count].end = uint8(start), uint8(end)
	w.count++
}

func (w *words) text(i int) string { return string(w.buf[w.word[i].start:w.word[i].end]) }

// is compares a word without a copy.
func (w *words) is(i int, s string) bool {
	return i >= 0 && i < w.count && string(w.buf[w.word[i].start:w.word[i].end]) == s
}

// kind looks for a credential in a word: in the whole word, then without a
// number at its end, then in the long words at its end.
func (w *words) kind(i int) wordClass {
	b := w.buf[w.word[i].start:w.word[i].end]
	n := len(b)
	for n > 0 && b[n-1] <= '9' {
		n--
	}
	if n == 0 {
		return kNone
	}
	if mayBeKind(b) {
		if c := kindWord(b); c != kNone {
			return c
		}
	}
	if b = b[:n]; n < int(w.word[i].end-w.word[i].start) && mayBeKind(b) {
		if c := kindWord(b); c != kNone {
			return c
		}
	}
	if mayEndLong(b) {
		return longEnd(b)
	}
	return kNone
}

// side says what a word does to the one beside it that names a credential.
func (w *words) side(i int) wordClass {
	b := w.buf[w.word[i].start:w.word[i].end]
	n := len(b)
	for n > 0 && b[n-1] <= '9' {
		n--
	}
	if n == 0 {
		return fNeutral
	}
	if c := sideWord(b); c != kNone {
		return c
	}
	if n < len(b) {
		if c := sideWord(b[:n]); c != kNone {
			return c
		}
	}
	return w.kind(i)
}

// mayEndLong says at little cost of most words that longEnd does not know them.
func mayEndLong(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	last, before := b[len(b)-1]-'a', b[len(b)-2]
	return last < 26 && longEnds[last]>>(before&31)&1 != 0
}

// longEnd finds the words that are long enough to be meant even when they are
// written together with the one before them.
func longEnd(b []byte) wordClass {
	end := func(s string) bool { return len(b) >= len(s) && string(b[len(b)-len(s):]) == s }
	switch b[len(b)-1] {
	case 'd':
		switch {
		case end("password"), end("passwd"):
			return kPassword
		case end("pwd") && string(b) != "oldpwd":
			return kPass
		}
	case 'w':
		if end("pw") {
			return kPass
		}
	case 'e':
		if end("passphrase") || end("passcode") {
			return kPassword
		}
	case 'n':
		if end("token") {
			return kToken
		}
	case 't':
		if end("secret") {
			return kSecret
		}
	case 'l':
		if end("credential") {
			return kCredential
		}
	case 's':
		switch {
		case end("credentials"), end("creds"):
			return kCredential
		case end("passwords"):
			return kPassword
		case end("apikeys"):
			return kAPIKey
		case end("tokens"):
			return kTokens
		case end("secrets"):
			return kSecrets
		case end("pass"):
			switch string(b) {
			case "askpass", "bypass", "compass", "encompass", "overpass", "underpass", "trespass", "surpass",
				"multipass", "lowpass", "highpass", "bandpass", "singlepass", "onepass", "twopass", "renderpass":
				return kNone
			}
			return kPass
		}
	case 'c':
		if end("mnemonic") {
			return kMnemonic
		}
	case 'h':
		if end("basicauth") || end("proxyauth") || end("httpauth") || end("userauth") {
			return kAuth
		}
	case 'r':
		if end("connstr") {
			return kConnection
		}
	case 'g':
		if end("connectionstring") || end("connstring") {
			return kConnection
		}
	case 'y':
		if !end("key") {
			return kNone
		}
		switch stem := b[:len(b)-3]; {
		case len(stem) >= 3 && end("apikey"):
			return kAPIKey
		case end("secretkey"), end("privatekey"), end("accesskey"), end("authkey"), end("masterkey"), end("signingkey"), end("signkey"),
			end("encryptionkey"), end("cryptkey"), end("instrumentationkey"), end("licensekey"), end("servicekey"), end("deploykey"), end("accountkey"), end("storagekey"), end("sharedkey"),
			end("sessionkey"), end("appkey"), end("hmackey"), end("aeskey"), end("adminkey"), end("cipherkey"), end("securitykey"), end("authenticationkey"), end("preauthkey"), end("passkey"):
			return kLongKey
		}
	}
	return kNone
}

// mayBeKind says at little cost of most words that kindWord does not know them.
func mayBeKind(b []byte) bool {
	first := b[0] - 'a'
	return first < 26 && len(b) < 32 && kindLengths[first]>>len(b)&1 != 0
}

// kindWord classes the words that name a credential and count only when they
// stand alone. A switch, so that nothing has to be built when the program starts.
func kindWord(b []byte) wordClass {
	switch string(b) {
	// What names a credential.
	case "password", "passwd", "passphrase", "passcode", "passwords", "passwort", "pword", "pswd", "passwrd":
		return kPassword
	case "pass", "pwd", "pw", "psw", "passw", "pwds":
		return kPass
	case "pin":
		return kPIN
	case "token":
		return kToken
	case "tokens":
		return kTokens
	case "secret":
		return kSecret | fStrong
	case "secrets":
		return kSecrets | fStrong
	case "apikey", "apikeys":
		return kAPIKey
	case "credential", "credentials", "cred", "creds":
		return kCredential
	case "key":
		return kKey
	case "keys":
		return kKeys
	case "privkey", "seckey", "privatekey", "secretkey", "accesskey", "authkey", "masterkey", "skey", "passkey", "wif", "nsec":
		return kLongKey
	case "auth", "oauth", "authorization", "bearer":
		return kAuth | fStrong
	case "session", "sess", "sessionid", "sessid", "phpsessid":
		return kSession | fStrong
	case "cookie", "cookies":
		return kCookie | fStrong
	case "salt", "pepper":
		return kSalt
	case "seed":
		return kSeed | fStrong
	case "phrase":
		return kPhrase
	case "mnemonic", "mnemonics":
		return kMnemonic
	case "otp", "totp":
		return kOTP
	case "code", "codes":
		return kCode | fMeta
	case "dsn", "dsns":
		return kDSN
	case "string", "strings", "str":
		return kString
	case "hmac":
		return kHMAC | fStrong
	case "conn", "connection":
		return kConn
	case "authentication":
		return kAuthentication
	case "community":
		return kCommunity
	case "connectionstring", "connectionstrings", "connstr", "connstring", "connstrings":
		return kConnection
	case "jwt", "jwts":
		return kJWT | fStrong
	case "pat":
		return kPAT
	case "psk":
		return kPSK
	case "webhook", "webhooks":
		return kWebhook | fStrong
	case "hook":
		return kHook | fMeta
	case "license", "licence":
		return kLicense | fStrong
	case "headers", "header":
		return kHeaders | fMeta
	case "p12", "pfx", "pkcs12", "keystore", "jks", "keytab":
		return kStore
	case "kubeconfig":
		return kKubeconfig
	}
	return kNone
}

// sideWord classes the words that stand beside one that names a credential.
func sideWord(b []byte) wordClass {
	switch string(b) {
	// What a file or a socket is named after.
	case "file", "files", "filename", "filepath", "path", "paths", "sock", "socket", "location", "dir", "directory", "folder", "filenames":
		return fMeta | fFile

	// What a variable about a credential is named after.
	case "url", "urls", "uri", "uris", "endpoint", "endpoints", "host", "hostname", "hosts", "port", "address", "addr", "ip", "domain", "domains",
		"name", "names", "id", "ids", "identifier", "uuid", "guid", "arn", "arns", "sid", "userid", "clientid", "keyid",
		"type", "types", "kind", "mode", "method", "methods", "scheme", "algorithm", "algorithms", "algo", "alg",
		"length", "len", "size", "min", "max", "limit", "limits", "count", "num", "number", "budget", "threshold", "rate", "rounds", "iterations", "cost",
		"timeout", "ttl", "expiry", "expires", "expiration", "expire", "exp", "lifetime", "duration", "age", "interval", "period", "delay", "validity",
		"seconds", "secs", "minutes", "hours", "days", "ms", "bytes", "bits", "chars", "retries", "retry", "attempts", "skew", "leeway", "grace",
		"issuer", "audience", "aud", "scope", "scopes", "realm", "provider", "providers", "driver", "backend", "engine", "class",
		"format", "version", "policy", "policies", "rule", "rules", "regex", "pattern", "prefix", "suffix", "separator", "delimiter",
		"field", "fields", "param", "parameter", "attribute", "attributes", "claim", "claims", "column", "label", "labels", "description", "desc", "hint", "prompt",
		"required", "enabled", "disabled", "enable", "disable", "require", "allow", "allowed", "optional", "supported",
		"usage", "reset", "strength", "complexity", "hasher", "hashers", "hashing", "encoder", "region", "zone", "namespace", "manager", "managers",
		"command", "cmd", "helper", "program", "bin", "exec", "executable", "script", "process", "hooks", "template", "templates", "page", "route", "redirect", "callback",
		"map", "mapping", "schema", "config", "configuration", "conf", "settings", "options", "option", "opts", "args", "flags",
		"parallelism", "status", "level", "log", "logging", "logs", "debug", "verbose", "samesite", "httponly", "domainname",
		"validation", "validate", "validator", "verification", "verify", "verified", "check", "checks", "rotation", "rotate", "renew", "renewal", "refreshing",
		"fingerprint", "fingerprints", "thumbprint", "checksum", "sha256", "sha1", "sha512", "md5", "digest", "email", "username", "usernames", "owner",
		"display", "title", "keyboard", "layout", "protocol", "protocols", "group", "groups", "order", "strategy", "handler", "lookup", "source", "variables", "vars",
		"generator", "gen", "agent", "agents", "extension", "feature", "features", "support", "cache", "caching", "index", "bucket", "table", "queue", "topic", "metrics",
		"style", "color", "colour", "theme", "language", "lang", "locale", "charset", "encoding", "store", "stores", "tls", "ssl", "syntax", "docs", "mount", "mounts",
		"lock", "proxy", "subject", "placeholder", "reminder", "notification", "expired", "user", "users", "login", "window", "per", "sync", "interactive", "repo", "repository", "registry", "binding", "bindings":
		c := fMeta
		switch string(b) {
		case "group", "cache", "index", "bucket", "topic", "queue", "lookup", "config", "feature", "order", "map", "schema", "field", "column", "attribute", "label",
			"claim", "param", "parameter", "option", "host", "page", "locale", "lang", "language", "table", "lock", "prefix", "binding", "display", "namespace", "region", "zone", "template", "subject",
			"keyboard", "layout", "window":
			c |= fBenign
		}
		switch string(b) {
		case "max", "min", "num", "number", "limit", "count", "budget", "per", "size":
			c |= fCount
		case "id", "ssl", "tls", "store", "registry", "repo", "repository", "agent", "proxy":
			// A key of such a thing is neither a label nor surely a secret.
		case "verification", "verify", "email", "user":
			c |= fStrong
		}
		return c

	// Which one of several.
	case "prod", "production", "staging", "stage", "stg", "dev", "devel", "development", "test", "testing", "live", "sandbox", "local", "ci", "qa", "uat", "preprod", "preview",
		"old", "new", "current", "previous", "prev", "next", "backup", "default", "fallback", "fallbacks", "alt", "primary", "secondary", "first", "second", "last", "main", "extra", "env",
		"value", "values", "raw", "plain", "plaintext", "text", "encoded", "escaped", "str", "string", "json", "yaml", "b64", "base64", "pem", "der", "hex", "base", "ident",
		"v", "a", "b", "ro", "rw", "readonly", "global", "internal", "external", "all", "list", "override", "data", "body", "content", "contents", "blob", "ed25519", "rsa", "ecdsa", "dsa", "confirm", "confirmation", "again":
		c := fNeutral
		switch string(b) {
		case "content", "contents", "base64", "b64", "data", "value", "body", "blob", "raw", "json", "pem", "text", "string", "encoded":
			c |= fContent
		case "ed25519", "rsa", "ecdsa", "dsa":
			c |= fStrong
		}
		return c

	// What makes a key one that unlocks something.
	case "api", "private", "priv", "access", "encryption", "encrypt", "encrypted", "decryption", "decrypt", "signing", "sign", "signature", "master", "app", "application",
		"service", "account", "storage", "shared", "sas", "subscription", "admin", "root", "write", "read", "ingest", "ingestion", "integration", "server", "deploy", "deployment",
		"ssh", "aes", "wallet", "cipher", "crypt", "crypto", "cryptography", "security", "sdk", "consumer", "bot", "database", "db", "fernet", "recovery", "unseal", "transport",
		"sa", "preshared", "presharedkey", "instrumentation", "client", "cosmos", "cosmosdb", "search", "insert", "nonce", "logged", "secure", "registration", "enrollment", "join", "provisioning",
		"unlock", "decoder", "vault", "kek", "dek", "hkdf", "pgcrypto", "symmetric", "management", "enc", "push", "installation", "setup", "csrf", "xsrf", "supabase", "google", "maps", "mapbox", "stripe", "twilio", "slack", "github", "gitlab", "aws", "azure", "gcp", "linode", "cloudflare", "cf", "algolia", "sentry", "datadog", "dd", "pagerduty", "openai", "anthropic", "gemini", "mailgun", "sendgrid", "airbrake", "function", "functions", "system", "wireguard", "wg", "trading", "exchange", "binance", "activation", "product", "serial":
		return fStrong

	// What makes a key a label, or public.
	case "public", "pub", "publishable", "publickey", "pubkey", "site", "foreign", "sort", "partition", "range", "row", "object", "hot", "arrow", "meta", "project", "plan", "routing",
		"message", "event", "dict", "flag", "translation", "i18n", "idempotency", "dedup", "unique", "composite", "natural", "surrogate", "gpg", "pgp", "known", "authorized", "trusted",
		"shortcut", "modifier", "compose", "menu", "leader", "home", "build", "artifact", "restore", "sccache", "shard", "sharding", "tag", "tags", "setting", "context", "metadata", "stream",
		"hash", "distribution", "cluster", "document", "entity", "item", "issue", "ticket", "short", "branch", "repokey", "apt", "rpm", "yum", "keyserver", "press", "modifierkey", "control", "ctrl", "escape", "esc", "super", "hotkey", "answer", "i18nkey", "input", "result", "dnssec", "verifying", "verifier":
		c := fBenign
		switch string(b) {
		case "public", "pub", "publishable", "publickey", "pubkey", "site", "gpg", "pgp", "known", "authorized", "trusted", "apt", "rpm", "yum", "dnssec", "verifying", "verifier":
			c |= fPublic
		}
		return c

	// What is counted.
	case "completion", "output", "thinking", "total", "used", "remaining", "response", "reasoning", "generation":
		return fCount
	}
	return kNone
}
