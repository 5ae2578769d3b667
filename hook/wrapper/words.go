package wrapper

import (
	"slices"
	"strings"
)

// insert puts words right behind the command.
func (v *invocation) insert(words ...string) {
	v.words = slices.Insert(slices.Clone(v.words), v.at+1, words...)
	v.shift(v.at, len(words))
}

// shift moves what stands behind a word.
func (v *invocation) shift(behind, by int) {
	for i := range v.args.operands {
		if v.args.operands[i] > behind {
			v.args.operands[i] += by
		}
	}
	for i := range v.args.options {
		if m := &v.args.options[i]; m.from > behind {
			m.from += by
			m.to += by
		}
	}
}

// drop takes an option out, wherever it stands.
func (v *invocation) drop(name string) {
	v.words = slices.Clone(v.words)
	for i := len(v.args.options) - 1; i >= 0; i-- {
		m := v.args.options[i]
		if m.name != name {
			continue
		}
		v.args.options = slices.Delete(v.args.options, i, i+1)
		from := m.from
		if m.shared {
			// Other letters stand before it in the word; a value attached goes too.
			word := v.words[from]
			if m.to == m.from {
				word = strings.TrimSuffix(word, m.value)
			}
			v.words[from] = word[:len(word)-1]
			from++
		}
		v.words = slices.Delete(v.words, from, m.to+1)
		v.shift(m.to, from-m.to-1)
	}
}
