package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/hack/rig"
)

// A command of an ordinary user on the host, with both boundaries: what the policy removes is gone, what [agent] keep
// names is there for the command itself and for no child, neither in its environment nor by way of /proc.
// parity: V1, V15, V18
func TestRunAsUser(t *testing.T) {
	rig.Need(t, "root", "setpriv", "useradd")
	program := built(t)
	account := rig.OrdinaryUser(t)
	dir := shortDir(t)
	rig.Write(t, filepath.Join(dir, "policy.toml"), "[agent]\nkeep = [\"OPENAI_API_KEY\"]\n", 0o644)
	rig.Write(t, filepath.Join(dir, "agent.sh"), `
[ "$OPENAI_API_KEY" = made-up-1234567890 ] && echo agent has it
[ -z "$GH_TOKEN" ] && echo removed
/usr/bin/env | grep -c OPENAI_API_KEY
cat /proc/$$/environ >/dev/null 2>&1 || echo environ closed
head -c 1 /proc/$$/mem 2>&1 | grep -q Permission && echo memory closed
cat /proc/self/environ | tr '\0' '\n' | grep -c OPENAI_API_KEY
echo "$0 $*"
exit 7
`, 0o755)
	run := func(args ...string) rig.Result {
		cmd := exec.Command("setpriv", append([]string{"--reuid", account.Uid, "--regid", account.Gid, "--init-groups", program, "run", "--policy", filepath.Join(dir, "policy.toml")}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "OPENAI_API_KEY=made-up-1234567890", "GH_TOKEN=made-up-0987654321"}
		cmd.Dir = dir
		return rig.Run(t, cmd)
	}
	r := run("--", "sh", "agent.sh", "a b", "c")
	want := "agent has it\nremoved\n0\nenviron closed\nmemory closed\n0\nagent.sh a b c\n"
	if r.Code != 7 || r.Stdout != want {
		t.Errorf("exit %d\n%s\nwant 7\n%s\n%s", r.Code, r.Stdout, want, r.Stderr)
	}
	if strings.Contains(r.Stderr, "made-up") {
		t.Errorf("a value in %s", r.Stderr)
	}
	if r := run("--", "no-such-command"); r.Code != 127 || !strings.Contains(r.Stderr, "executable file not found in $PATH") {
		t.Errorf("exit %d, %s", r.Code, r.Stderr)
	}
	// The policy's programs have their say, and a failing one stops it all. parity: V8
	rig.Write(t, filepath.Join(dir, "hook.toml"), "[[hook]]\ncommand = [\"/bin/cat\"]\n", 0o644)
	if r := run("--policy", filepath.Join(dir, "hook.toml"), "--", "echo", "hi"); r.Code != 0 || r.Stdout != "hi\n" {
		t.Errorf("hook cat: exit %d, %s%s", r.Code, r.Stdout, r.Stderr)
	}
	rig.Write(t, filepath.Join(dir, "hook.toml"), "[[hook]]\ncommand = [\"/bin/false\"]\n", 0o644)
	if r := run("--policy", filepath.Join(dir, "hook.toml"), "--", "echo", "hi"); r.Code != 125 || r.Stdout != "" || !strings.Contains(r.Stderr, "hook.toml:1") {
		t.Errorf("hook false: exit %d, %s%s", r.Code, r.Stdout, r.Stderr)
	}
	if r := run("--user", "root", "--", "true"); r.Code != 125 || !strings.Contains(r.Stderr, "only root may") {
		t.Errorf("exit %d, %s", r.Code, r.Stderr)
	}
}

// root gives up what it is, all of it.
func TestRunDropsRoot(t *testing.T) {
	rig.Need(t, "root", "useradd")
	program := built(t)
	account := rig.OrdinaryUser(t)
	cmd := exec.Command(program, "run", "--user", account.Username, "--", "sh", "-c", `grep -E '^(Uid|Gid|CapEff):' /proc/self/status | tr -s '\t' ' '; echo $HOME $USER`)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/root", "USER=root"}
	r := rig.Run(t, cmd)
	ids := func(id string) string { return strings.Repeat(" "+id, 4) }
	want := "Uid:" + ids(account.Uid) + "\nGid:" + ids(account.Gid) + "\nCapEff: 0000000000000000\n" + account.HomeDir + " " + account.Username + "\n"
	if r.Code != 0 || r.Stdout != want {
		t.Errorf("exit %d\n%s\nwant\n%s\n%s", r.Code, r.Stdout, want, r.Stderr)
	}
}
