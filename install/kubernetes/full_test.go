package kubernetes

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
)

// On a full disk nothing is put in place by half, and the installer says so: a policy that is cut off may still load.
func TestInstallerOnFullDisk(t *testing.T) {
	rig.Need(t, "root", "unshare")
	rig.Bin(t, "envscrub")
	long := "deny = [\n" + strings.Repeat("  # explains the policy\n", 5000) + "\"MY_DB\"]\n"
	const old = "deny = [\"MINE\"]\n"
	for name, size := range map[string]string{"the policy's directory": "64k", "room enough": "8m"} {
		t.Run(name, func(t *testing.T) {
			dir := rig.TempDir(t)
			root := filepath.Join(dir, "node")
			rig.Write(t, filepath.Join(dir, "policy.toml"), long, 0o644)
			rig.Write(t, filepath.Join(root, "etc/containerd/config.toml"), "version = 2\n", 0o644)
			for _, d := range []string{"etc/envscrub", "var/lib/envscrub", "run"} {
				if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			script := `mount -t tmpfs -o size=$SIZE tmpfs $ROOT/etc/envscrub && mkdir $ROOT/etc/envscrub/policy.d && printf '` + strings.TrimSpace(old) + `\n' >$ROOT/etc/envscrub/policy.d/50-kubernetes.toml
sh installer.sh install; code=$?; cp $ROOT/etc/envscrub/policy.d/* $OUT; exit $code`
			cmd := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c", script)
			out := filepath.Join(dir, "out")
			if err := os.Mkdir(out, 0o755); err != nil {
				t.Fatal(err)
			}
			cmd.Env = append(os.Environ(), "SIZE="+size, "ROOT="+root, "OUT="+out, "PROGRAMS="+filepath.Dir(rig.Bin(t, "envscrub")), "POLICY="+filepath.Join(dir, "policy.toml"),
				"READY="+filepath.Join(dir, "ready"), "ENGINE=containerd", "RESTART=none")
			for _, p := range []string{"envscrub-hook", "envscrub-runtime", "envscrub-shim", "envscrub-nri"} {
				rig.Bin(t, p)
			}
			r := rig.Run(t, cmd)
			files, err := os.ReadDir(out)
			if err != nil || len(files) != 1 {
				t.Fatalf("%v, %v\n%s", files, err, r.Stderr)
			}
			now, err := os.ReadFile(filepath.Join(out, files[0].Name()))
			if err != nil {
				t.Fatal(err)
			}
			if size == "8m" {
				if r.Code != 0 || string(now) != long {
					t.Errorf("code %d, %d bytes of %d\n%s", r.Code, len(now), len(long), r.Stderr)
				}
				return
			}
			if r.Code == 0 || string(now) != old || !strings.Contains(r.Stderr, "could not be written; is the disk full?") {
				t.Errorf("code %d, the policy is now %.40q (%d bytes)\n%s", r.Code, now, len(now), r.Stderr)
			}
		})
	}
}
