package builtin

import "strings"

// material reports whether a value is by its form something that unlocks
// nothing: the name of a file, a public key, a certificate, a fingerprint.
func material(v string) bool {
	return isPath(v) || isPublic(v) || isSchedule(v)
}

// isSchedule reports the times of a job as cron reads them.
func isSchedule(v string) bool {
	if len(v) < 9 || len(v) > 64 {
		return false
	}
	star, space := false, false
	for i := range len(v) {
		switch c := v[i]; {
		case c == '*':
			star = true
		case c == ' ':
			space = true
		case byteKind[c] == bDigit, c == '/', c == ',', c == '-':
		default:
			return false
		}
	}
	return star && space
}

// roots are where the names of files begin. A slash alone is not enough: one
// base64 text in sixty-four begins with it.
var roots = [...]string{
	"/run/", "/var/", "/etc/", "/home/", "/root/", "/usr/", "/opt/", "/tmp/", "/mnt/", "/srv/", "/dev/", "/proc/", "/app/", "/data/", "/secrets/", "/secret/",
	"/vault/", "/Users/", "/workspace", "/workdir/", "/config/", "/certs/", "/keys/", "/ssl/", "/bin/", "/lib/", "/media/", "/private/", "/nix/", "/builds/", "/github/", "/kaniko/",
	"/code/", "/conf/", "/credentials/", "/creds/", "/key/", "/bitnami/", "/snap/", "/sys/", "/work/", "/src/", "/project/", "/projects/", "/repo/", "/volumes/", "/path/", "~/", "./", "../", "file:/", "$HOME/", "${HOME}/", "%USERPROFILE%", "unix:/", "@/",
}

// isPath reports whether a value is the name of a file or a socket.
func isPath(v string) bool {
	if len(v) < 3 || len(v) > 4096 {
		return false
	}
	switch v[0] {
	case '/', '~', '.', 'f', '$', '%', 'u', '@':
		for _, r := range roots {
			if len(v) >= len(r) && v[:len(r)] == r {
				return pathBytes(v)
			}
		}
		if v[0] == '/' {
			return pathBytes(v) && wordlike(v[1:])
		}
	case 'C', 'D', 'c', 'd', '\\':
		if v[1] == ':' && (v[2] == '\\' || v[2] == '/') || v[0] == '\\' && v[1] == '\\' {
			return true
		}
	}
	if hasPrefix(v, "id_rsa") || hasPrefix(v, "id_ed25519") || hasPrefix(v, "id_ecdsa") || hasPrefix(v, "id_dsa") {
		return true
	}
	// A relative name with an extension that keys and credentials have.
	if dot := lastByte(v, '.'); dot > 0 && pathBytes(v) {
		switch v[dot+1:] {
		case "pem", "key", "crt", "cer", "json", "txt", "p12", "pfx", "jks", "p8", "der", "pub", "yaml", "yml", "toml", "ini", "conf", "cfg", "env", "asc", "gpg", "keystore", "ppk", "sock", "age", "enc", "sh", "py":
			return true
		}
	}
	return false
}

func pathBytes(v string) bool {
	for i := range len(v) {
		switch c := v[i]; {
		case c <= ' ', c == '=', c == '"', c == '\'', c == ';', c == '|', c == '<', c == '>', c == '?', c == '*', c == 0x7f:
			return false
		}
	}
	return true
}

func lastByte(v string, c byte) int {
	for i := len(v) - 1; i >= 0; i-- {
		if v[i] == c {
			return i
		}
	}
	return -1
}

// wordlike reports whether a path without a known root is made of words.
func wordlike(v string) bool {
	changes, slashes := 0, 0
	var prev byte
	for i := range len(v) {
		k := byteKind[v[i]]
		if v[i] == '/' {
			slashes++
		}
		if v[i] == '+' {
			return false
		}
		if prev != k && prev != bOther && k != bOther && (prev != bUpper || k != bLower) {
			changes++
		}
		prev = k
	}
	return changes <= 1+slashes && (slashes > 0 || lastByte(v, '.') > 0 || len(v) < 12)
}

// isPublic reports whether a value is made to be shown.
func isPublic(v string) bool {
	if len(v) < 20 {
		return false
	}
	switch v[0] {
	case 's':
		return hasPrefix(v, "ssh-rsa ") || hasPrefix(v, "ssh-ed25519 ") || hasPrefix(v, "ssh-dss ") || hasPrefix(v, "sk-ssh-") || hasPrefix(v, "sk-ecdsa-")
	case 'e':
		return hasPrefix(v, "ecdsa-sha2-")
	case '-':
		if !hasPrefix(v, "-----BEGIN ") {
			return false
		}
		rest := v[len("-----BEGIN "):]
		return hasPrefix(rest, "PUBLIC KEY") || hasPrefix(rest, "RSA PUBLIC KEY") || hasPrefix(rest, "EC PUBLIC KEY") || hasPrefix(rest, "CERTIFICATE") ||
			hasPrefix(rest, "TRUSTED CERTIFICATE") || hasPrefix(rest, "PGP PUBLIC") || hasPrefix(rest, "SSH2 PUBLIC") || hasPrefix(rest, "X509 CRL")
	case 'S':
		return hasPrefix(v, "SHA256:") || hasPrefix(v, "SHA1:")
	case 'M':
		return hasPrefix(v, "MD5:")
	case 'a':
		if hasPrefix(v, "age1") || hasPrefix(v, "arn:") {
			return true
		}
	case 'p':
		return hasPrefix(v, "projects/") // a resource's name at Google
	}
	if start := v[:min(len(v), 96)]; strings.Contains(start, "ssh-ed25519 AAAA") || strings.Contains(start, "ssh-rsa AAAA") {
		return true // with the user's name before it
	}
	return colonHex(v)
}

// colonHex reports whether a value is a fingerprint written as pairs.
func colonHex(v string) bool {
	if len(v) < 47 {
		return false
	}
	for i := range len(v) {
		if i%3 == 2 {
			if v[i] != ':' {
				return false
			}
		} else if !isHex(v[i]) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func hasPrefix(v, p string) bool { return len(v) >= len(p) && v[:len(p)] == p }

// plain reports whether a value is made of ordinary words: letters only, with
// separators between them.
func plain(v string) bool { return lettersOnly(v, 2) }

// lettersOnly is plain with a limit to how often small letters turn to capitals.
func lettersOnly(v string, limit int) bool {
	if len(v) == 0 || len(v) > 64 {
		return false
	}
	turns := 0
	var prev byte
	for i := range len(v) {
		k := byteKind[v[i]]
		switch k {
		case bDigit:
			return false
		case bOther:
			switch v[i] {
			case '-', '_', '.', '/', ':', ',', ' ':
			default:
				return false
			}
		case bUpper:
			if prev == bLower {
				turns++
			}
		}
		prev = k
	}
	return turns <= limit
}

// label reports whether a value is ordinary words and not ones that stand in a
// sample where a secret has to be put.
func label(v string) bool {
	if !plain(v) {
		return false
	}
	var buf [64]byte
	for i := range len(v) {
		buf[i] = lower(v[i])
	}
	l := string(buf[:len(v)])
	for _, word := range [...]string{"change", "secret", "passw", "insecure", "your", "modif", "generate", "replace", "redacted"} {
		if strings.Contains(l, word) {
			return false
		}
	}
	return true
}

// isURL reports whether a value is one URL that carries no user information.
func isURL(v string) bool {
	i := indexScheme(v)
	if i <= 0 {
		return false
	}
	for j := i + 3; j < len(v); j++ {
		switch v[j] {
		case '@':
			return false
		case '/', '?', '#':
			return true
		}
	}
	return true
}

// indexScheme finds the "://" that ends a scheme at the start of v, or -1.
func indexScheme(v string) int {
	for i := 0; i < len(v) && i < 32; i++ {
		c := v[i]
		if c == ':' {
			if i > 0 && i+2 < len(v) && v[i+1] == '/' && v[i+2] == '/' {
				return i
			}
			if i == 4 && v[:4] == "jdbc" {
				continue
			}
			return -1
		}
		if byteKind[c] == bOther && c != '+' && c != '-' && c != '.' {
			return -1
		}
	}
	return -1
}

// digitsOnly reports whether a value is a number, or a list of numbers.
func digitsOnly(v string) bool {
	for i := range len(v) {
		if c := v[i]; (c < '0' || c > '9') && c != ',' && c != '.' && c != '_' && c != ' ' && c != 'k' && c != 'K' && c != 'M' {
			return false
		}
	}
	return len(v) > 0
}

// random reports whether a value looks drawn rather than written: it has no
// spaces, is no path, URL, address, version or UUID, and changes between
// letters and digits more often than words do.
func random(v string) bool {
	if len(v) < 7 || len(v) > 8192 || material(v) || isURL(v) {
		return false
	}
	changes, digits, letters, symbols, separators, lowers, uppers := 0, 0, 0, 0, 0, 0, 0
	var prev byte
	for i := range len(v) {
		c := v[i]
		k := byteKind[c]
		switch k {
		case bDigit:
			digits++
		case bLower:
			lowers++
			letters++
		case bUpper:
			uppers++
			letters++
		default:
			switch c {
			case ' ', '\t':
				return false
			case '-', '_', '.', '/', ':', ',', '\n':
				separators++
			default:
				symbols++
			}
		}
		if prev != k && k != bOther && prev != bOther && i > 0 && !(prev == bUpper && k == bLower) {
			changes++
		}
		prev = k
	}
	if letters == 0 || digits == 0 && symbols == 0 {
		// Letters alone: a long run in both cases that no words make.
		return digits == 0 && len(v) >= 16 && separators == 0 && uppers >= 3 && lowers >= 3 && changes >= 5
	}
	if isUUID(v) {
		return false
	}
	if symbols > 0 && digits > 0 || len(v) >= 16 && separators == 0 && digits >= 4 {
		return true
	}
	return changes >= 3+separators/2 && changes*6 >= len(v)-separators || changes == 2 && len(v) >= 12 && digits >= 3 && separators == 0 || symbols > 0 && changes >= 1
}

func isUUID(v string) bool {
	if len(v) != 36 || v[8] != '-' || v[13] != '-' || v[18] != '-' || v[23] != '-' {
		return false
	}
	for i := range len(v) {
		if v[i] != '-' && !isHex(v[i]) {
			return false
		}
	}
	return true
}

// dense reports whether a value is one long run in the alphabet of base64 with
// capitals, small letters and digits mixed.
func dense(v string) bool {
	if len(v) < 20 {
		return false
	}
	var upper, low, digit bool
	for i := range len(v) {
		switch byteKind[v[i]] {
		case bUpper:
			upper = true
		case bLower:
			low = true
		case bDigit:
			digit = true
		default:
			if c := v[i]; c != '+' && c != '/' && c != '=' {
				return false
			}
		}
	}
	return upper && low && digit
}

// longBase64 reports whether a value is base64 and long enough for a key store.
func longBase64(v string) bool {
	if len(v) < 24 || isPath(v) {
		return false
	}
	digit := false
	for i := range len(v) {
		switch c := v[i]; {
		case byteKind[c] == bDigit:
			digit = true
		case byteKind[c] != bOther, c == '+', c == '/', c == '=', c == '-', c == '_', c == '\n', c == '\r':
		default:
			return false
		}
	}
	return digit || len(v) > 64
}
