package kubernetes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/install/containerd"
	"github.com/envscrub/envscrub/install/crio"
)

// Engine is a node of a cluster: the engine that its kubelet talks to.
type Engine struct{}

// Name implements install.Engine.
func (Engine) Name() string { return "kubernetes" }

// Doors implements install.Engine.
func (Engine) Doors() []string { return []string{install.ViaRuntime, install.ViaNRI} }

// kubelet are the places where a kubelet is told its engine, the later ones count.
var kubelet = []string{
	"/etc/kubernetes/kubelet.conf", "/var/lib/kubelet/config.yaml", "/etc/default/kubelet", "/etc/sysconfig/kubelet",
	"/var/lib/kubelet/kubeadm-flags.env",
	"/usr/lib/systemd/system/kubelet.service", "/etc/systemd/system/kubelet.service",
}

var endpoint = regexp.MustCompile(`(?m)(?:--container-runtime-endpoint[=\s]|^\s*containerRuntimeEndpoint:\s*)["']?(?:unix://)?(\S+?)["']?(?:\s|$)`)

// socket is where this node's kubelet looks for its engine, and the file that says
// so; "" where no kubelet is told.
func socket(o install.Options) (socket, where string, err error) {
	for _, path := range kubelet {
		text, err := os.ReadFile(o.Path(path))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", "", err
		}
		if m := endpoint.FindAllSubmatch(text, -1); len(m) > 0 {
			socket, where = string(m[len(m)-1][1]), o.Path(path)
		}
	}
	return socket, where, nil
}

// node finds the engine of this node.
func node(o install.Options) (install.Engine, string, error) {
	socket, where, err := socket(o)
	switch {
	case err != nil:
		return nil, "", err
	case regexp.MustCompile(`/crio\b`).MatchString(socket):
		return crio.Engine{}, where, nil
	case regexp.MustCompile(`/containerd\b`).MatchString(socket):
		return containerd.Engine{}, where, nil
	case socket != "":
		return nil, "", fmt.Errorf("%s: the kubelet talks to %s, which is neither containerd nor CRI-O", where, socket)
	}
	// The directories are there also where the installer cannot see the programs.
	var found []install.Engine
	for dir, e := range map[string]install.Engine{"/etc/crio": crio.Engine{}, "/etc/containerd": containerd.Engine{}} {
		if info, err := os.Stat(o.Path(dir)); err == nil && info.IsDir() {
			found, where = append(found, e), o.Path(dir)
		}
	}
	switch len(found) {
	case 1:
		return found[0], where, nil
	case 0:
		return nil, "", errors.New("neither a kubelet's configuration nor containerd nor CRI-O was found on this node")
	}
	return nil, "", errors.New("this node has containerd and CRI-O, and no kubelet's configuration says which one it uses: install into one of them by name")
}

// Found implements install.Engine.
func (Engine) Found(o install.Options) (bool, string) {
	e, where, err := node(o)
	if err != nil {
		return false, err.Error()
	}
	return true, e.Name() + " by " + where
}

// Install implements install.Engine.
func (Engine) Install(o install.Options) (install.Report, error) {
	e, _, err := node(o)
	if err != nil {
		return install.Report{Engine: "kubernetes", Via: o.Via}, err
	}
	return e.Install(o)
}

// Uninstall implements install.Engine.
func (Engine) Uninstall(o install.Options) (install.Report, error) {
	e, _, err := node(o)
	if err != nil {
		return install.Report{Engine: "kubernetes", Via: o.Via}, err
	}
	return e.Uninstall(o)
}

// Status implements install.Engine. A node's engine has a status of its own, so
// that this one only says which it is, on a node.
func (e Engine) Status(o install.Options) install.Status {
	s := install.Status{Engine: e.Name()}
	if socket, _, err := socket(o); err == nil && socket == "" {
		s.Where = "no kubelet on this host is told its engine"
		return s
	}
	s.Found, s.Where = e.Found(o)
	return s
}
