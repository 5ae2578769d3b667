// Package containerd registers envscrub with containerd: as a runtime handler of
// its CRI part (the complete door), or by switching NRI on.
//
// Promise: config.toml is edited, never replaced, and what the default handler
// has set (SystemdCgroup above all) is copied to ours. On a live node containerd's
// own reading of the result (`containerd config dump`) must show our handler, else
// everything is taken back and the install fails.
//
// Where the configuration is version 3 the handler stands in a drop-in of its
// own, which config.toml imports. In version 2 it stands in config.toml itself,
// between two marker lines: containerd 1.x replaces a plugin's whole table by the
// one of an imported file, so a drop-in with only our handler would silently take
// away every other setting of the CRI plugin.
//
// Non-goals: starting containerd; version 1 files (containerd no longer writes
// them: `containerd config migrate`).
//
// Known holes: a containerd that is started with another --config than the one
// that its systemd unit names is not seen. k3s and other distributions that
// generate config.toml at every start need their template edited instead; such a
// file is recognised and refused.
package containerd
