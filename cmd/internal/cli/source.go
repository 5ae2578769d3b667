package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/envscrub/envscrub/hook"
	"github.com/envscrub/envscrub/hook/doc"
)

// sourceFlags choose the environment that a verb is about.
type sourceFlags struct {
	envFile, environ, bundle, inspect string
	current                           bool
}

func (s *sourceFlags) add(f *pflag.FlagSet) {
	f.StringVar(&s.envFile, "env-file", "", "the variables of this `file`, in the format of docker run --env-file")
	f.StringVar(&s.environ, "environ", "", "the variables of this `file`, separated by NUL bytes (/proc/PID/environ)")
	f.StringVar(&s.bundle, "bundle", "", "the container of this OCI bundle `directory`")
	f.StringVar(&s.inspect, "inspect", "", "the containers of this `file`, the output of docker, podman or crictl inspect")
	f.BoolVar(&s.current, "current", false, "the current environment, whatever stands on standard input")
}

// targets reads the environment that was asked for.
func (s *sourceFlags) targets(a *app) ([]target, error) {
	given := 0
	for _, set := range []bool{s.envFile != "", s.environ != "", s.bundle != "", s.inspect != "", s.current} {
		if set {
			given++
		}
	}
	switch {
	case given > 1:
		return nil, usagef("--env-file, --environ, --bundle, --inspect and --current exclude one another")
	case s.envFile != "":
		data, err := a.readAll(s.envFile)
		if err != nil {
			return nil, err
		}
		env, skipped, err := parseEnvFile(data, os.LookupEnv)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.envFile, err)
		}
		for _, line := range skipped {
			a.note("%s: line %d: a bare name that the current environment does not have; Docker leaves it out", s.envFile, line)
		}
		return []target{{name: s.envFile, env: env, container: true}}, nil
	case s.environ != "":
		data, err := a.readAll(s.environ)
		if err != nil {
			return nil, err
		}
		return []target{{name: s.environ, env: parseEnviron(data), container: true}}, nil
	case s.bundle != "":
		return bundleTarget(s.bundle)
	case s.inspect != "":
		data, err := a.readAll(s.inspect)
		if err != nil {
			return nil, err
		}
		return inspectTargets(s.inspect, data)
	case !s.current && piped(a.in):
		data, err := readPipe(a)
		if err != nil {
			return nil, err
		}
		if len(data) > 0 {
			return inspectTargets("standard input", data)
		}
	}
	return []target{{name: "the current environment", env: os.Environ()}}, nil
}

func inspectTargets(name string, data []byte) ([]target, error) {
	out, err := parseInspect(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

func bundleTarget(dir string) ([]target, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f, err := doc.Open(filepath.Join(abs, "config.json"))
	if err != nil {
		return nil, err
	}
	if !f.HasProcess() {
		return nil, fmt.Errorf("%s: process: absent; a container without a process has no environment", f.Path())
	}
	return []target{{name: dir, env: f.Env(), subject: hook.SubjectOf(f, filepath.Base(abs)), container: true}}, nil
}

// piped reports whether somebody gave us standard input on purpose: a pipe or a
// file. A terminal, /dev/null and a socket (what daemons hand on) do not count.
func piped(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return in != nil
	}
	info, err := f.Stat()
	return err == nil && (info.Mode()&os.ModeNamedPipe != 0 || info.Mode().IsRegular())
}

// readPipe reads standard input; when nothing comes it says what it waits for.
func readPipe(a *app) ([]byte, error) {
	waiting := time.AfterFunc(2*time.Second, func() {
		a.note("waiting for the output of docker inspect or podman inspect on standard input; for the current environment use --current")
	})
	defer waiting.Stop()
	return a.readAll("-")
}
