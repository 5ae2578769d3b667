package builtin

import (
	_ "embed"
	"strings"
)

// bip39 has the words of the English list of BIP-39, one a line: the list that
// wallets make their phrases from.
//
//go:embed bip39.txt
var bip39 string

// isMnemonic reports a wallet's phrase: twelve to twenty-four words of the list,
// three by three, and nothing else.
func isMnemonic(v string) bool {
	const shortest, longest = 12*3 + 11, 24*8 + 23
	if len(v) < shortest || len(v) > longest || byteKind[v[0]] != bLower {
		return false
	}
	count := 1
	for i := range len(v) {
		switch {
		case byteKind[v[i]] == bLower:
		case v[i] == ' ' && byteKind[v[i-1]] == bLower:
			count++
		default:
			return false
		}
	}
	if count < 12 || count > 24 || count%3 != 0 {
		return false
	}
	for word := range strings.SplitSeq(v, " ") {
		at := strings.Index(bip39, word+"\n")
		if len(word) < 3 || at < 0 || at > 0 && bip39[at-1] != '\n' && !strings.Contains(bip39, "\n"+word+"\n") {
			return false
		}
	}
	return true
}
