package nri

import (
	"maps"
	"strings"

	"github.com/containerd/nri/pkg/api"
	"github.com/gobwas/glob"

	"github.com/envscrub/envscrub/hook"
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
		User:        userOf(c),
		Args:        c.GetArgs(),
		Annotations: all,
	}
}

// selected tells whether the policy is for this pod's containers.
func selected(n policy.NRI, pod *api.PodSandbox, c *api.Container) bool {
	if hook.Sandbox(c.GetAnnotations()) {
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
