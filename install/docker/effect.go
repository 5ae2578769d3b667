package docker

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/jsonedit"
)

// effect is what a daemon has in effect of our keys, or should have by its file.
type effect struct {
	Runtimes       map[string]json.RawMessage
	DefaultRuntime string
}

// answerTime bounds one question to a daemon.
const answerTime = 20 * time.Second

// client is the docker program, talking to this daemon and not to the one that
// DOCKER_HOST or a context names, where that can be known.
func (d daemon) client(o install.Options, args ...string) []string {
	if socket := d.socket(o); socket != "" {
		args = append([]string{"--host", socket}, args...)
	}
	return append([]string{"docker"}, args...)
}

// socket is where the daemon listens; "" where that is not a local socket.
func (d daemon) socket(o install.Options) string {
	var hosts []string
	for i, arg := range d.args {
		value, ok := strings.CutPrefix(arg, "--host=")
		if !ok {
			value, ok = strings.CutPrefix(arg, "-H")
			value = strings.TrimPrefix(value, "=")
		}
		if (arg == "--host" || arg == "-H") && i+1 < len(d.args) {
			value, ok = d.args[i+1], true
		}
		if ok {
			hosts = append(hosts, value)
		}
	}
	if len(hosts) == 0 {
		if data, err := os.ReadFile(configFile(o)); err == nil {
			var file struct {
				Hosts []string `json:"hosts"`
			}
			_ = json.Unmarshal(data, &file) // a file that is not well is told elsewhere
			hosts = file.Hosts
		}
	}
	other := false
	for _, h := range hosts {
		if strings.HasPrefix(h, "unix://") {
			return h
		}
		other = other || h != "" && !strings.HasPrefix(h, "fd://")
	}
	if other {
		return ""
	}
	if o.User != nil {
		return "unix://" + filepath.Join(o.User.RuntimeDir, "docker.sock")
	}
	return "unix:///var/run/docker.sock"
}

// inEffect asks the daemon.
func (d daemon) inEffect(o install.Options) (effect, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	line := d.client(o, "info", "--format", `{"Runtimes":{{json .Runtimes}},"DefaultRuntime":{{json .DefaultRuntime}}}`)
	out, err := exec.CommandContext(ctx, line[0], line[1:]...).Output()
	var e effect
	if err != nil || json.Unmarshal(out, &e) != nil || e.Runtimes == nil {
		return effect{}, false
	}
	return e, true
}

// fromFile is what a daemon should have in effect by our file.
func fromFile(o install.Options) effect {
	e := effect{Runtimes: map[string]json.RawMessage{}}
	data, err := os.ReadFile(o.Path(configFile(o)))
	if err != nil {
		return e
	}
	doc, err := jsonedit.Parse(data)
	if err != nil {
		return e
	}
	if raw, ok, err := doc.Get("runtimes", install.RuntimeName); err == nil && ok {
		e.Runtimes[install.RuntimeName] = raw
	}
	raw, _, _ := doc.Get(keyDefault) // absent reads as ""
	e.DefaultRuntime = text(raw)
	return e
}

// mismatch says what the daemon does otherwise than its file wants, "" for nothing.
// A runtime that it still knows, and that nothing chooses, harms nobody.
func (e effect) mismatch(want effect) string {
	_, has := e.Runtimes[install.RuntimeName]
	_, wanted := want.Runtimes[install.RuntimeName]
	switch {
	case wanted && !has:
		return "does not know the runtime " + install.RuntimeName
	case want.DefaultRuntime == install.RuntimeName && e.DefaultRuntime != install.RuntimeName:
		return "has the default runtime " + e.DefaultRuntime + ", and not " + install.RuntimeName
	case want.DefaultRuntime != install.RuntimeName && e.DefaultRuntime == install.RuntimeName:
		return "has the default runtime " + install.RuntimeName + ", which its file does not name"
	}
	return ""
}
