package policy

import (
	"bytes"
	"os"
	"sync"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Runtimes returns the list of the key `runtimes` at the top of the policy files, and
// of nothing else: a runtime wrapper has to find its runtime for every command, also
// to stop containers while the policy is broken. What cannot be read counts as not
// there; a create loads the whole policy and refuses it.
func Runtimes(o LoadOptions) []string {
	files := o.Files
	if files == nil {
		root := sync.OnceValue(realRoot)
		files, _ = standard(systemDir, root)
		lookup := o.Lookup
		if lookup == nil {
			lookup = os.LookupEnv
		}
		if dir := userDir(lookup); o.User && dir != "" && !root() {
			more, _ := standard(dir, func() bool { return false })
			files = append(files, more...)
		}
	}
	var list []string
	for _, file := range files {
		// A file that others may write to is as bad here as at a create.
		if data, err := readFile(file, maxPolicySize, policyFile, o.Files == nil && realRoot()); err == nil {
			list = append(list, runtimesOf(data)...)
		}
	}
	return list
}

// runtimesOf reads the key up to the first table or mistake.
func runtimesOf(data []byte) (list []string) {
	if !bytes.Contains(data, []byte("runtimes")) {
		return nil
	}
	var p unstable.Parser
	p.Reset(data)
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.KeyValue {
			return list
		}
		key := e.Key()
		if !key.Next() || string(key.Node().Data) != "runtimes" || key.Next() || e.Value().Kind != unstable.Array {
			continue
		}
		for it := e.Value().Children(); it.Next(); {
			if it.Node().Kind == unstable.String {
				list = append(list, string(it.Node().Data))
			}
		}
	}
	return list
}
