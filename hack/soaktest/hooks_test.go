package soaktest

import (
	"path/filepath"

	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// addHooks registers envscrub-hook as `envscrub install` does in a hooks.d directory.
func addHooks(spec *specs.Spec, bin string) {
	hook := func(stage string) []specs.Hook {
		return []specs.Hook{{
			Path: filepath.Join(bin, "envscrub-hook"), Args: []string{"envscrub-hook", stage},
			Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
		}}
	}
	spec.Hooks = &specs.Hooks{CreateRuntime: hook("createRuntime"), Poststop: hook("poststop")}
}
