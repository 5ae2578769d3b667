package policy

// presetAuto in [agent] presets picks the preset by the container's command and image.
const presetAuto = "auto"

func presetNames() []string { return nil }

// presetKeep gives what the presets of a policy let the agent keep.
func presetKeep(presets []item, s *Subject) []item { return nil }
