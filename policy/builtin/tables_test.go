package builtin

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

func TestTables(t *testing.T) {
	var next [256]uint32
	var three [len(triples)]uint64
	set := func(first, second string) {
		for i := range len(first) {
			for k := range len(second) {
				next[first[i]] |= 1 << (second[k] & 31)
			}
		}
	}
	for c := range 256 {
		for _, p := range prefixesOf(byte(c)) {
			if p.text[0] != byte(c) {
				continue
			}
			set(p.text[:1], p.text[1:2])
			thirds := "0123456789ABCDEFabcdef" // the body follows two letters at once
			if len(p.text) > 2 {
				thirds = p.text[2:3]
			} else if p.in != hexa {
				t.Errorf("%s: the form is too short for another alphabet", p.text)
			}
			for k := range len(thirds) {
				h := triple(p.text[:2] + thirds[k:k+1])
				three[h>>6] |= 1 << (h & 63)
			}
		}
	}
	// What tokenAt looks for itself.
	set("e", "y")
	set("Bb", "eaEA")
	set("MNO", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") // letters of both cases have the same low bits
	set("0123456789", "0123456789/")
	set("P", "u")
	set("F", "l")
	set("m", "a")
	set("v", "1234")
	set("s", "d")
	set("p", "a")
	if second != next {
		var lines strings.Builder
		for c, bits := range next {
			if bits != 0 {
				fmt.Fprintf(&lines, "\t%q: %#x,\n", rune(c), bits)
			}
		}
		t.Errorf("second has to be\n%s", lines.String())
	}
	if triples != three {
		var lines strings.Builder
		for i, bits := range three {
			fmt.Fprintf(&lines, "%s%#x,", [...]string{"\n\t", " ", " ", " "}[i%4], bits)
		}
		t.Errorf("triples has to be%s", lines.String())
	}
	for c := range 256 {
		b := byte(c)
		kind := byte(bOther)
		switch {
		case b >= 'a' && b <= 'z':
			kind = bLower
		case b >= 'A' && b <= 'Z':
			kind = bUpper
		case b >= '0' && b <= '9':
			kind = bDigit
		}
		word := byte(wNone)
		if kind != bOther {
			word = wStart
		} else if b == '_' || b == '-' {
			word = wInner
		}
		if byteKind[c] != kind || wordByte[c] != word || folded[c] != lower(b) {
			t.Errorf("byte %#x stands wrongly", c)
		}
	}
}

// kindLengths is what the cases of kindWord say.
func TestKindLengths(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "words.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want [26]uint32
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Name.Name != "kindWord" {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if clause, ok := n.(*ast.CaseClause); ok {
				for _, e := range clause.List {
					word, err := strconv.Unquote(e.(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					want[word[0]-'a'] |= 1 << len(word)
				}
			}
			return true
		})
	}
	if want != kindLengths {
		for i, bits := range want {
			if bits != kindLengths[i] {
				t.Errorf("'%c' - 'a': %#x", 'a'+i, bits)
			}
		}
	}
}

// longEnds lets every word through that longEnd knows.
func TestLongEnds(t *testing.T) {
	for _, word := range []string{
		"password", "passwd", "pwd", "passphrase", "passcode", "token", "secret", "credential", "credentials", "creds", "passwords", "apikeys", "tokens", "secrets",
		"pass", "mnemonic", "basicauth", "connstr", "connstring", "apikey", "secretkey", "pw",
	} {
		if b := []byte("my" + word); !mayEndLong(b) || longEnd(b) == kNone {
			t.Errorf("my%s is not seen", word)
		}
	}
}

// keyEnds lets every key through that sensitiveKey knows.
func TestKeyEnds(t *testing.T) {
	for _, key := range []string{
		"password", "passwd", "PWD", "pass", "userpass", "pw", "passphrase", "passcode", "signature", "client_secret", "token", "Authorization", "apikey",
		"accesskey", "key", "api_ke_y", "client-key-data", "auth", "basicauth", "auth.hash", "sig", "mnemonic", "x-honeycomb-team",
	} {
		if sensitiveKey(key) == 0 {
			t.Errorf("%s is no key", key)
		}
		if !mayEndKey(key, len(key)) {
			t.Errorf("%s is not seen", key)
		}
	}
}
