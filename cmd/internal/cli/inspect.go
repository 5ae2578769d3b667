package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/envscrub/envscrub/policy"
)

// target is an environment and whose it is.
type target struct {
	name    string // for people
	env     []string
	subject policy.Subject
	// health is the command of the health check: like the arguments, everybody may
	// read it in /proc, and engines publish it.
	health []string
	image  string // to show; what a policy sees of it stands in subject
	// container: it is one's environment, or meant for one, and may ask for overrides.
	container bool
}

// inspected is what docker inspect, podman inspect (of containers and images)
// and crictl inspect have in common, for our purpose.
type inspected struct {
	ID        string   `json:"Id"`
	Name      string   `json:"Name"`
	ImageName string   `json:"ImageName"` // Podman
	RepoTags  []string `json:"RepoTags"`  // images
	Path      string   `json:"Path"`
	Args      []string `json:"Args"`
	Config    *struct {
		Env         []string          `json:"Env"`
		Image       string            `json:"Image"`
		User        string            `json:"User"`
		Annotations map[string]string `json:"Annotations"` // Podman
		Healthcheck struct {
			Test []string `json:"Test"`
		} `json:"Healthcheck"`
	} `json:"Config"`
	HostConfig struct {
		Annotations map[string]string `json:"Annotations"` // Docker 24
	} `json:"HostConfig"`

	Status *criStatus `json:"status"` // crictl
	Info   *criInfo   `json:"info"`
}

type criStatus struct {
	ID       string `json:"id"`
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Image struct {
		Image string `json:"image"`
	} `json:"image"`
}

type criInfo struct {
	Spec *struct {
		Process *struct {
			Env  []string `json:"env"`
			Args []string `json:"args"`
		} `json:"process"`
		Annotations map[string]string `json:"annotations"`
	} `json:"runtimeSpec"`
}

// parseInspect reads the JSON of docker|podman|crictl inspect.
func parseInspect(data []byte) ([]target, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil, errors.New("empty; expected the output of docker inspect or podman inspect")
	}
	var list []inspected
	if data[0] == '{' {
		data = append(append([]byte{'['}, data...), ']')
	}
	if err := json.Unmarshal(data, &list); err != nil {
		if s, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, fmt.Errorf("not JSON (at byte %d); expected the output of docker inspect or podman inspect (for an env file: --env-file -)", s.Offset)
		}
		if s, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			// Its own message would show the value.
			return nil, fmt.Errorf("%s: not of the type that docker inspect and podman inspect give it", s.Field)
		}
		return nil, errors.New("not the JSON of docker inspect or podman inspect")
	}
	if len(list) == 0 {
		return nil, errors.New("an empty list: no such container?")
	}
	out := make([]target, 0, len(list))
	for i := range list {
		t, ok := list[i].target()
		if !ok {
			return nil, fmt.Errorf("entry %d has no environment (Config.Env); expected the output of docker inspect or podman inspect of a container or an image", i+1)
		}
		t.container = true
		out = append(out, t)
	}
	return out, nil
}

func (c *inspected) target() (target, bool) {
	if c.Status != nil && c.Info != nil && c.Info.Spec != nil && c.Info.Spec.Process != nil {
		p := c.Info.Spec.Process
		return target{
			name:    c.Status.Metadata.Name,
			env:     p.Env,
			image:   c.Status.Image.Image,
			subject: policy.Subject{ContainerID: c.Status.ID, Image: c.Status.Image.Image, Args: p.Args, Annotations: c.Info.Spec.Annotations},
		}, true
	}
	if c.Config == nil {
		return target{}, false
	}
	// Without an image: Docker and Podman tell a runtime none, so that none decides.
	t := target{
		name:   strings.TrimPrefix(c.Name, "/"),
		image:  cmp.Or(c.ImageName, c.Config.Image),
		env:    c.Config.Env,
		health: c.Config.Healthcheck.Test,
		subject: policy.Subject{
			ContainerID: c.ID, User: c.Config.User,
			Annotations: c.Config.Annotations,
		},
	}
	if len(c.RepoTags) > 0 {
		t.image, t.subject.Image = c.RepoTags[0], c.RepoTags[0]
	}
	if t.subject.Annotations == nil {
		t.subject.Annotations = c.HostConfig.Annotations
	}
	if c.Path != "" {
		t.subject.Args = append([]string{c.Path}, c.Args...)
	}
	if t.name == "" {
		t.name = t.image
	}
	return t, true
}
