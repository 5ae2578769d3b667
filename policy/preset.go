package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/envscrub/envscrub/policy/builtin"
)

// presetAuto in [agent] presets picks presets by the container's command and image.
const presetAuto = "auto"

func presetNames() []string {
	presets := builtin.Presets()
	names := make([]string, len(presets), len(presets)+1)
	for i := range presets {
		names[i] = presets[i].Name
	}
	return append(names, presetAuto)
}

// apply adds what the presets of a policy give: names to keep, and grants to tools. They stand where the policy names
// the preset.
func (l *layer) apply(s *Subject) {
	presets := builtin.Presets()
	for _, asked := range l.presets {
		for i := range presets {
			if p := &presets[i]; asked.text == p.Name || asked.text == presetAuto && recognised(p, s) {
				l.keep = joined(l.keep, presetItems(p.Keep, p.Name, asked.at))
				for _, g := range p.Grants {
					l.rules = joined(l.rules, []SpawnRule{{Command: g.Command, Allow: g.Allow, At: asked.at}})
				}
			}
		}
	}
}

func presetItems(names []string, preset string, at Position) []item {
	items := make([]item, len(names))
	for i, name := range names {
		items[i] = item{text: name, at: at, preset: preset}
	}
	return items
}

// recognised says whether a container runs the agent of a preset, by its command, by the script that an interpreter
// runs, or by its image.
func recognised(p *builtin.Preset, s *Subject) bool {
	commands := s.Args[:min(len(s.Args), 1)]
	if len(s.Args) > 1 && interpreter(s.Args[0]) {
		commands = s.Args[:2]
	}
	for _, command := range commands {
		if slices.ContainsFunc(p.Commands, func(pattern string) bool { return globMatches(pattern, command) }) {
			return true
		}
	}
	return s.Image != "" && slices.ContainsFunc(p.Images, func(pattern string) bool { return globMatches(pattern, s.Image) })
}

func interpreter(command string) bool {
	name := path.Base(command)
	return name == "node" || name == "bun" || name == "deno" || strings.HasPrefix(name, "python")
}
