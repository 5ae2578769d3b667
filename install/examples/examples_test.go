// Package examples holds nothing but examples; its tests keep them true.
package examples

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/policy"
)

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestPolicy(t *testing.T) {
	p, err := policy.Parse("policy.toml", read(t, "policy.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if w := p.Warnings(); len(w) > 0 {
		t.Errorf("%v", w)
	}
	v, err := p.For(policy.Subject{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := v.Decide([]string{"ANTHROPIC_API_KEY=made-up-0123456789", "GH_TOKEN=made-up-9876543210", "LANG=C"})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.AgentOnly(); !slices.Equal(got, []string{"ANTHROPIC_API_KEY"}) {
		t.Errorf("the agent alone has %v", got)
	}
	if got := d.Container(); !slices.Equal(got, []string{"LANG=C"}) {
		t.Errorf("everybody has %d variables", len(got))
	}
}

func TestPod(t *testing.T) {
	var pod corev1.Pod
	if err := yaml.UnmarshalStrict(read(t, "pod.yaml"), &pod); err != nil {
		t.Fatal(err)
	}
	if pod.Spec.RuntimeClassName == nil || *pod.Spec.RuntimeClassName != install.RuntimeName {
		t.Errorf("runtime class %v", pod.Spec.RuntimeClassName)
	}
}

func TestCompose(t *testing.T) {
	var compose struct {
		Services map[string]struct {
			Image, Runtime string
			Environment    []string
		}
	}
	if err := yaml.UnmarshalStrict(read(t, "compose.yaml"), &compose); err != nil {
		t.Fatal(err)
	}
	if compose.Services["agent"].Runtime != install.RuntimeName {
		t.Errorf("%+v", compose)
	}
}

func TestOthersNameTheRuntime(t *testing.T) {
	var dev struct{ RunArgs []string }
	if err := json.Unmarshal(read(t, "devcontainer.json"), &dev); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(dev.RunArgs, []string{"--runtime", install.RuntimeName}) {
		t.Errorf("%v", dev.RunArgs)
	}
	if !strings.Contains(string(read(t, "agent.container")), "\nPodmanArgs=--runtime "+install.RuntimeName+"\n") {
		t.Error("the quadlet does not name the runtime")
	}
}
