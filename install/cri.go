package install

import (
	"encoding/json"
	"os/exec"
)

// LivePods names the running pods that our handler started, as the CRI client
// tells them. Where it is not installed or gets no answer (an engine that is down
// leaves its containers running) they are the containers of Options.Recorded.
func LivePods(o Options) []string {
	out, err := exec.Command("crictl", "--timeout=30s", "pods", "--state", "ready", "--output", "json").Output()
	if err != nil {
		return o.Recorded
	}
	return podsOfHandler(out)
}

func podsOfHandler(crictl []byte) []string {
	var list struct {
		Items []struct {
			RuntimeHandler string `json:"runtimeHandler"`
			Metadata       struct{ Name, Namespace string }
		}
	}
	if json.Unmarshal(crictl, &list) != nil {
		return nil
	}
	var names []string
	for _, pod := range list.Items {
		if pod.RuntimeHandler == RuntimeName {
			names = append(names, pod.Metadata.Namespace+"/"+pod.Metadata.Name)
		}
	}
	return names
}
