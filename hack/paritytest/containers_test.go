package paritytest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
)

// What the rows say of a policy, in real containers: each with the plain runtime, where everything is still there, and
// behind the wrapper.
//
// parity: N1, N2, R1, R3, V4, V6, V7, V9, E1, E4, E5, P1, P2
func TestRowsInContainers(t *testing.T) {
	rig.Need(t, "root", "runc")
	rig.Bin(t, "envscrub-shim")
	dir := rig.TempDir(t)
	known := filepath.Join(dir, "known")
	rig.Write(t, known, "made-up-known-value\n", 0o600)
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	rig.Write(t, first, "#!/bin/sh\nexec sed 's/\"env\":{/\"env\":{\"HOOKS\":\"first\",/'\n", 0o755)
	rig.Write(t, second, "#!/bin/sh\nexec sed 's/\"HOOKS\":\"first\"/\"HOOKS\":\"first, second\"/'\n", 0o755)
	base := fmt.Sprintf("[[hook]]\ncommand = [%q]\n", first)

	for _, tt := range []struct{ rows, policy, env, want string }{
		{"N1 none", `inherit = "none"` + "\n" + `allow = ["KEPT", "NOT_SET"]`, "PATH=/bin KEPT=1 OTHER=2", "KEPT=1"},
		{"N1 core", `inherit = "core"` + "\n" + `allow = ["KEPT", "NOT_SET"]`, "PATH=/bin KEPT=1 OTHER=2", "PATH=/bin KEPT=1"},
		{"N2", "", "PATH=/bin LD_PRELOAD=/no.so LD_AUDIT=/no.so DYLD_INSERT_LIBRARIES=/no.so", "PATH=/bin"},
		{"R1", `deny = ["EXTRA"]` + "\n" + `allow = ["GH_TOKEN"]`, "PATH=/bin OPENAI_API_KEY=k1 EXTRA=1 GH_TOKEN=made-up-token KEPT=1", "PATH=/bin GH_TOKEN=made-up-token KEPT=1"},
		{"V4", `deny = ["A_*", "EXACT"]` + "\n" + `allow = ["a_key*"]`, "PATH=/bin a_key_1=1 A_OTHER=2 exact=3 OPENAI_API_KEY=4", "PATH=/bin a_key_1=1"},
		{"V6", "secrets = [\"file:" + known + "\"]", "PATH=/bin HARMLESS=made-up-known-value KEPT=made-up", "PATH=/bin KEPT=made-up"},
		{"V7 not set", `time_zone = "Europe/Berlin"`, "PATH=/bin", "PATH=/bin TZ=Europe/Berlin"},
		{"V7 set", `time_zone = "Europe/Berlin"` + "\n[set]\nTZ = \"UTC\"", "PATH=/bin", "PATH=/bin TZ=UTC"},
		{"E1", `inherit = "core"`, "PATH=/bin HOME=/ LANG=C GOPATH=/go NODE_PATH=/n JAVA_HOME=/j CARGO_HOME=/c https_proxy=http://p:1 NO_PROXY=x XDG_DATA_HOME=/x LC_TIME=C MADE_UP=1", "PATH=/bin HOME=/ LANG=C GOPATH=/go NODE_PATH=/n JAVA_HOME=/j CARGO_HOME=/c https_proxy=http://p:1 NO_PROXY=x XDG_DATA_HOME=/x LC_TIME=C"},
		{"E4", "[set]\nRUN = \"${container.id}\"\nPROJECT = \"${annotation:com.example.project}\"", "PATH=/bin RUN=forged", "PATH=/bin RUN=ID PROJECT=p-17"},
		{"E5", `inherit = "core"` + "\n" + `allow = ["AGENTHUB_*"]`, "PATH=/bin AGENTHUB_RUN=7 OTHER=1", "PATH=/bin AGENTHUB_RUN=7"},
		{"P1", base, "PATH=/bin", "PATH=/bin HOOKS=first"},
		{"V9", fmt.Sprintf("%s[profile.p.match]\ncommand = \"*/env\"\n[[profile.p.hook]]\ncommand = [%q]", base, second), "PATH=/bin", "PATH=/bin HOOKS=first,_second"},
		{"P2", "", "PATH=/bin ENVSCRUB_ALLOW=* ENVSCRUB_MODE=off KEPT=1", "PATH=/bin KEPT=1"},
	} {
		t.Run(tt.rows, func(t *testing.T) {
			policy := filepath.Join(rig.TempDir(t), "policy.toml")
			rig.Write(t, policy, tt.policy+"\n", 0o600)
			link := filepath.Join(rig.TempDir(t), "envscrub-runc")
			if err := os.Symlink(rig.Bin(t, "envscrub-runtime"), link); err != nil {
				t.Fatal(err)
			}
			b := rig.NewBundle(t, rig.Rootfs(t))
			b.Spec.Process.Env = strings.Fields(tt.env)
			b.Spec.Process.Args = []string{"/bin/env"}
			b.Spec.Annotations = map[string]string{"com.example.project": "p-17"}
			b.Write(t)
			seen := func(r rig.Result) []string {
				if r.Code != 0 {
					t.Fatalf("code %d: %s", r.Code, r.Stderr)
				}
				env := strings.Split(strings.TrimSpace(strings.ReplaceAll(r.Stdout, " ", "_")), "\n")
				return slices.DeleteFunc(env, func(e string) bool {
					// The runtime's own, where the container has none; and what the guard sets.
					return strings.HasPrefix(e, "HOME=") && !strings.Contains(tt.env, "HOME=") || strings.HasPrefix(e, "DOTNET_") || strings.HasPrefix(e, "PYTHON_DISABLE")
				})
			}
			if got := seen(b.Run(t, rig.Runtimes(t)[0])); !slices.Equal(sorted(got), sorted(strings.Fields(tt.env))) {
				t.Errorf("without: %q", got)
			}
			want := strings.Fields(strings.ReplaceAll(tt.want, "RUN=ID", "RUN="+b.ID))
			run := func() []string {
				return seen(rig.Run(t, exec.Command(link, "--envscrub-policy", policy, "run", "--bundle", b.Dir, b.ID)))
			}
			if got := run(); !slices.Equal(sorted(got), sorted(want)) {
				t.Errorf("with: %q, want %q", got, want)
			}
			if tt.rows != "R1" {
				return
			}
			// parity R3: the next container has the next policy, with nothing to restart.
			rig.Write(t, policy, tt.policy+"\nunset = [\"KEPT\"]\n", 0o600)
			if got := run(); slices.Contains(got, "KEPT=1") || len(got) == 0 {
				t.Errorf("after the change: %q", got)
			}
		})
	}
}
