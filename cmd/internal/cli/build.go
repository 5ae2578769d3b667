package cli

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"runtime/debug"
	"strings"

	"github.com/envscrub/envscrub/harden/order"
)

// buildVersion is the name that hack/build gave this build, else what the Go
// toolchain recorded of the source: a tag, or a revision.
func buildVersion() string {
	if name := order.Build(); name != "" {
		return name
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return strings.TrimPrefix(v, "v")
	}
	revision, dirty := "unknown", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+changed"
			}
		}
	}
	return "devel-" + revision + dirty
}

// fileVersion is buildVersion of another program, which is not started for it.
func fileVersion(path string) string {
	if data, err := os.ReadFile(path); err == nil {
		if name := stamped(data); name != "" {
			return name
		}
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	return versionOf(info)
}

// maxStamp is longer than any name of a build.
const maxStamp = 128

// stamped finds the name of the build in a program's bytes.
func stamped(program []byte) string {
	for {
		_, rest, found := bytes.Cut(program, []byte(order.StampBegin))
		if !found {
			return ""
		}
		// The mark by itself is in every program that looks for it.
		name, _, ended := bytes.Cut(rest[:min(len(rest), maxStamp)], []byte(order.StampEnd))
		if ended && len(name) > 0 && !bytes.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return string(name)
		}
		program = rest
	}
}

// known tells whether a version says anything.
func known(version string) bool { return !strings.HasSuffix(version, "unknown") }
