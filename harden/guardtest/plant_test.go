package guardtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/policy/spawn"
)

// A tool lays something by a granted command's name where the agent finds it: a copy, a link to another program, a
// hard link, a script. What the agent's user could have put there gets nothing.
func TestPlantedCommands(t *testing.T) {
	const script = `mkdir -p /tmp/bin; cp /probe/child /tmp/bin/tool; /tmp/bin/tool -l copy AGENT_KEY
ln -sf /probe/child /tmp/bin/tool; /tmp/bin/tool -l link AGENT_KEY
rm /tmp/bin/tool; { ln /bin/made-up /tmp/bin/tool || ln -s /bin/made-up /tmp/bin/tool; } 2>/dev/null; /tmp/bin/tool -l hard-link AGENT_KEY
rm /tmp/bin/tool; printf '#!/bin/sh\nexec child -l $1 AGENT_KEY\n' >/tmp/bin/tool; chmod +x /tmp/bin/tool; /tmp/bin/tool script
ln -sf /bin/script-tool /tmp/bin/tool; /tmp/bin/tool linked-script
/writable/bin/tool -l writable AGENT_KEY; /group/bin/tool -l group AGENT_KEY; cd /tmp; bin/tool relative
cd /; opt/bin/tool -l right-relative AGENT_KEY; ln -s /opt/bin/tool /tmp/other; /tmp/other -l right-by-link AGENT_KEY
/opt/link/bin/tool -l right-link AGENT_KEY; /opt/script/bin/tool right-script; exit 0`
	const dirtyKey = dirty + " AGENT_KEY=" + key
	var want, free strings.Builder
	for _, way := range []string{"copy", "link", "hard-link", "script", "linked-script", "writable", "group", "relative"} {
		want.WriteString(way + ": clean AGENT_KEY-\n")
		free.WriteString(way + ":" + dirtyKey + "\n")
	}
	for _, way := range []string{"right-relative", "right-by-link", "right-link", "right-script"} {
		want.WriteString(way + ":" + dirtyKey + "\n")
		free.WriteString(way + ":" + dirtyKey + "\n")
	}
	each(t, func(t *testing.T, rt rig.Runtime) {
		for name, o := range map[string]*order.Order{"on": on(), "off": off()} {
			if name == "on" {
				o.Rules = []spawn.Rule{{Command: "*/bin/tool", Allow: []string{"AGENT_KEY"}}}
			}
			b := agent{uid: 1000, order: o, args: []string{"/bin/sh", "-c", script}}.bundle(t)
			root := b.Spec.Root.Path
			child := filepath.Join(probeDir(t), "child")
			for _, path := range []string{"bin/made-up", "writable/bin/tool", "group/bin/tool", "opt/bin/tool"} {
				if err := os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755); err != nil {
					t.Fatal(err)
				}
				rig.Copy(t, child, filepath.Join(root, path))
			}
			const text = "#!/bin/sh\nexec child -l $1 AGENT_KEY\n"
			rig.Write(t, filepath.Join(root, "bin/script-tool"), text, 0o755)
			rig.Write(t, filepath.Join(root, "opt/script/bin/tool"), text, 0o755)
			must(t, os.MkdirAll(filepath.Join(root, "opt/link/bin"), 0o755))
			must(t, os.Symlink("/bin/made-up", filepath.Join(root, "opt/link/bin/tool")))
			must(t, os.Chmod(filepath.Join(root, "writable/bin/tool"), 0o777))
			must(t, os.Chown(filepath.Join(root, "group/bin"), 0, 1000))
			must(t, os.Chmod(filepath.Join(root, "group/bin"), 0o775))
			expect := want.String()
			if name == "off" {
				expect = free.String()
			}
			checkOutput(t, name, b.Run(t, rt), expect)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A granted command holds a secret: a process beside it, of the same user, reads it as little as the agent.
func TestGrantedCommandIsClosed(t *testing.T) {
	const script = `mkfifo /tmp/f; stand -w </tmp/f & exec 3>/tmp/f; usleep 300000
reach child=$!; exec 3>&-; wait; exit 0`
	each(t, func(t *testing.T, rt rig.Runtime) {
		for _, uid := range []uint32{0, 1000} {
			o := on()
			o.Rules = []spawn.Rule{{Command: "*/stand", Allow: []string{"AGENT_KEY"}}}
			r := agent{uid: uid, order: o, args: []string{"/bin/sh", "-c", script}}.run(t, rt)
			if r.Code != 0 || !strings.HasSuffix(r.Stdout, denied("child")) {
				t.Errorf("uid %d: code %d, %s%s", uid, r.Code, r.Stdout, r.Stderr)
			}
		}
	})
}
