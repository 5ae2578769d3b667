package wrapper_test

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

// What is planted; all values are made up.
const (
	token   = "GH_TOKEN=ghp_madeup0123456789abcdefghijklmnopqrst"
	key     = "OPENAI_API_KEY=sk-made-up-key-0123456789"
	dsn     = "DATABASE_URL=postgres://user:made-up-pw@db/x"
	plain   = "KEEP_ME=plain"
	keepKey = "[agent]\nkeep = [\"OPENAI_API_KEY\"]\n"
)

var secrets = []string{token, key, dsn}

// program writes a program that is the wrapper of a runtime with a policy of its own,
// as runtimeArgs make it one in Docker.
func program(t testing.TB, name, policy string) string {
	t.Helper()
	rig.Bin(t, "envscrub-shim")
	dir := rig.TempDir(t)
	link := filepath.Join(dir, "envscrub-"+name)
	if err := os.Symlink(rig.Bin(t, "envscrub-runtime"), link); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "policy.toml")
	rig.Write(t, file, policy, 0o644)
	script := filepath.Join(dir, "wrapper")
	rig.Write(t, script, fmt.Sprintf("#!/bin/sh\nexec %s --envscrub-policy=%s \"$@\"\n", link, file), 0o755)
	return script
}

func wrap(t testing.TB, r rig.Runtime, policy string) rig.Runtime {
	t.Helper()
	r.Path = program(t, r.Name, policy)
	return r
}

// each runs a test with runc and with crun.
func each(t *testing.T, test func(t *testing.T, r rig.Runtime)) {
	for _, r := range rig.Runtimes(t) {
		t.Run(r.Name, func(t *testing.T) { test(t, r) })
	}
}

// bundle is one with everything planted.
func bundle(t testing.TB, args ...string) *rig.Bundle {
	t.Helper()
	b := rig.NewBundle(t, rig.Rootfs(t))
	b.Spec.Process.Env = append(b.Spec.Process.Env, token, key, dsn, plain)
	if len(args) > 0 {
		b.Spec.Process.Args = args
	}
	b.Write(t)
	return b
}

// lines checks that an environment has some entries and lacks others.
func lines(t testing.TB, what string, got string, has, lacks []string) {
	t.Helper()
	list := strings.Split(strings.ReplaceAll(got, "\x00", "\n"), "\n")
	for _, e := range has {
		if !slices.Contains(list, e) {
			t.Errorf("%s: %s is missing", what, name(e))
		}
	}
	for _, e := range lacks {
		_, value, _ := strings.Cut(e, "=")
		if strings.Contains(got, value) {
			t.Errorf("%s: %s leaks", what, name(e))
		}
	}
	if strings.Contains(got, "ENVSCRUB_") {
		t.Errorf("%s: a control variable is visible", what)
	}
	if t.Failed() {
		t.Logf("%s:\n%s", what, got)
	}
}

func name(entry string) string {
	n, _, _ := strings.Cut(entry, "=")
	return n
}

// ok fails the test unless a command did what it should.
func ok(t testing.TB, what string, r rig.Result) rig.Result {
	t.Helper()
	if r.Code != 0 {
		t.Fatalf("%s: exit %d\n%s%s", what, r.Code, r.Stdout, r.Stderr)
	}
	return r
}

// records counts what is kept of containers with an id.
func records(id string) int {
	names, _ := filepath.Glob("/run/envscrub/" + id + "/*")
	return len(names)
}

// command is a runtime's command line without rig's --root, in a directory.
func command(r rig.Runtime, dir string, args ...string) *exec.Cmd {
	cmd := r.Command(args...)
	cmd.Dir = dir
	return cmd
}
