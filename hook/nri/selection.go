package nri

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/containerd/nri/pkg/api"
	"github.com/gobwas/glob"

	"github.com/envscrub/envscrub/hook"
	"github.com/envscrub/envscrub/hook/doc"
	"github.com/envscrub/envscrub/policy"
)

// annotationPrefix begins every annotation that is meant for us.
const annotationPrefix = "io.envscrub."

// annotations are the container's and the pod's; the pod's win, as in CRI-O.
func annotations(pod *api.PodSandbox, c *api.Container) map[string]string {
	all := make(map[string]string, len(c.GetAnnotations())+len(pod.GetAnnotations()))
	maps.Copy(all, c.GetAnnotations())
	maps.Copy(all, pod.GetAnnotations())
	return all
}

// subject describes a container for the choice of a profile.
func subject(pod *api.PodSandbox, c *api.Container) policy.Subject {
	all := annotations(pod, c)
	image := c.GetImage().GetName()
	if image == "" {
		image = hook.ImageOf(all)
	}
	return policy.Subject{
		ContainerID: c.GetId(),
		Image:       image,
		User:        fmt.Sprintf("%d:%d", c.GetUser().GetUid(), c.GetUser().GetGid()),
		Args:        c.GetArgs(),
		Annotations: all,
	}
}

// document is the container as the part of a config.json that NRI shows, for what
// the doors do alike with one.
func document(pod *api.PodSandbox, c *api.Container) (*doc.File, error) {
	data, err := json.Marshal(map[string]any{
		"process":     map[string]any{"args": c.GetArgs(), "env": c.GetEnv(), "cwd": "/"},
		"annotations": annotations(pod, c),
	})
	if err != nil {
		return nil, err
	}
	return doc.Parse(data)
}

// selected tells whether the policy is for this pod's containers.
func selected(n policy.NRI, pod *api.PodSandbox, c *api.Container) bool {
	// The pause container has its pod's id. Its annotations would say it too, and so
	// could the pod's author.
	if c.GetId() == pod.GetId() {
		return false
	}
	for key := range pod.GetAnnotations() {
		if strings.HasPrefix(key, annotationPrefix) {
			return true
		}
	}
	if len(n.Namespaces) == 0 && len(n.Selector) == 0 {
		return false
	}
	for key, want := range n.Selector {
		if have, ok := pod.GetLabels()[key]; !ok || have != want {
			return false
		}
	}
	if len(n.Namespaces) == 0 {
		return true
	}
	for _, pattern := range n.Namespaces {
		// The policy has compiled each of them when it was loaded.
		if g, err := glob.Compile(pattern); err == nil && g.Match(pod.GetNamespace()) {
			return true
		}
	}
	return false
}
