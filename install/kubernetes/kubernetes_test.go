package kubernetes

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"sigs.k8s.io/yaml"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/policy"
)

var update = flag.Bool("update", false, "write the generated manifests anew")

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// golden compares a file that is made from others with what it should be.
func golden(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, path); !bytes.Equal(got, want) {
		t.Errorf("%s is out of date: go test ./install/kubernetes -update", path)
	}
}

type kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Resources  []string `json:"resources"`
}

// documents are the objects of a kustomization, in its order.
func documents(t *testing.T, dir string) [][]byte {
	t.Helper()
	var k kustomization
	if err := yaml.UnmarshalStrict(read(t, filepath.Join(dir, "kustomization.yaml")), &k); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, f := range files {
		if base := filepath.Base(f); base != "kustomization.yaml" {
			listed = append(listed, base)
		}
	}
	if got := slices.Sorted(slices.Values(k.Resources)); !slices.Equal(got, listed) {
		t.Errorf("%s lists %v, there are %v", dir, got, listed)
	}
	var out [][]byte
	for _, r := range k.Resources {
		out = append(out, bytes.Split(read(t, filepath.Join(dir, r)), []byte("\n---\n"))...)
	}
	return out
}

// object decodes strictly with the API's own type.
func object(t *testing.T, doc []byte) any {
	t.Helper()
	var meta struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal(doc, &meta); err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	into, ok := map[string]any{
		"v1/Namespace":                &corev1.Namespace{},
		"v1/ServiceAccount":           &corev1.ServiceAccount{},
		"v1/ConfigMap":                &corev1.ConfigMap{},
		"apps/v1/DaemonSet":           &appsv1.DaemonSet{},
		"node.k8s.io/v1/RuntimeClass": &nodev1.RuntimeClass{},
		"admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy":        &admissionv1.ValidatingAdmissionPolicy{},
		"admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding": &admissionv1.ValidatingAdmissionPolicyBinding{},
	}[meta.APIVersion+"/"+meta.Kind]
	if !ok {
		t.Fatalf("%s/%s: an unexpected kind of object", meta.APIVersion, meta.Kind)
	}
	if err := yaml.UnmarshalStrict(doc, into); err != nil {
		t.Fatalf("%s: %v", meta.Kind, err)
	}
	return into
}

func TestGenerated(t *testing.T) {
	var cm strings.Builder
	cm.WriteString("# Made from installer.sh: go test ./install/kubernetes -update\n" +
		"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: envscrub-installer\n  namespace: envscrub-system\ndata:\n  installer.sh: |\n")
	for line := range strings.Lines(string(read(t, "installer.sh"))) {
		if line != "\n" {
			cm.WriteString("    ")
		}
		cm.WriteString(line)
	}
	golden(t, "manifests/installer.yaml", []byte(cm.String()))
	all := append([]byte("# The kustomization in manifests/ as one file: go test ./install/kubernetes -update\n"),
		bytes.Join(documents(t, "manifests"), []byte("\n---\n"))...)
	golden(t, "envscrub.yaml", all)

	var parsed corev1.ConfigMap
	if err := yaml.UnmarshalStrict([]byte(cm.String()), &parsed); err != nil {
		t.Fatal(err)
	}
	if parsed.Data["installer.sh"] != string(read(t, "installer.sh")) {
		t.Error("the script in the ConfigMap differs from the file")
	}
}

func TestManifests(t *testing.T) {
	names := map[string]bool{}
	for _, dir := range []string{"manifests", "nri"} {
		for _, doc := range documents(t, dir) {
			switch o := object(t, doc).(type) {
			case *corev1.ServiceAccount:
				if o.AutomountServiceAccountToken == nil || *o.AutomountServiceAccountToken {
					t.Error("the service account has a token")
				}
			case *corev1.ConfigMap:
				names[o.Name] = true
				if text, ok := o.Data["policy.toml"]; ok {
					if _, err := policy.Parse("policy.toml", []byte(text)); err != nil {
						t.Error(err)
					}
				}
			case *nodev1.RuntimeClass:
				if o.Handler != install.RuntimeName {
					t.Errorf("handler %q", o.Handler)
				}
			case *appsv1.DaemonSet:
				checkDaemonSet(t, o, names)
			case *admissionv1.ValidatingAdmissionPolicy:
				if *o.Spec.FailurePolicy != admissionv1.Fail {
					t.Error("admission fails open")
				}
				names["policy/"+o.Name] = true
			case *admissionv1.ValidatingAdmissionPolicyBinding:
				if !names["policy/"+o.Spec.PolicyName] || !slices.Equal(o.Spec.ValidationActions, []admissionv1.ValidationAction{admissionv1.Deny}) {
					t.Errorf("binding %+v", o.Spec)
				}
			}
		}
	}
}

// checkDaemonSet holds it to the rights that its comments explain.
func checkDaemonSet(t *testing.T, d *appsv1.DaemonSet, configMaps map[string]bool) {
	t.Helper()
	if !reflect.DeepEqual(d.Spec.Selector.MatchLabels, d.Spec.Template.Labels) {
		t.Errorf("%s: selector %v, labels %v", d.Name, d.Spec.Selector.MatchLabels, d.Spec.Template.Labels)
	}
	spec := d.Spec.Template.Spec
	if spec.HostNetwork || spec.HostIPC || (spec.HostPID && d.Name != "envscrub-installer") {
		t.Errorf("%s: host namespaces", d.Name)
	}
	volumes := map[string]bool{}
	for _, v := range spec.Volumes {
		volumes[v.Name] = true
		if v.ConfigMap != nil && !configMaps[v.ConfigMap.Name] {
			t.Errorf("%s: there is no ConfigMap %s", d.Name, v.ConfigMap.Name)
		}
		if v.HostPath == nil {
			continue
		}
		switch v.HostPath.Path {
		case "/opt/envscrub", "/etc/envscrub", "/var/lib/envscrub", "/run/envscrub", "/etc/containerd", "/etc/crio",
			"/etc/systemd/system", "/usr/lib/systemd/system", "/var/run/nri":
		default:
			t.Errorf("%s: mounts %s of the node", d.Name, v.HostPath.Path)
		}
	}
	for _, c := range spec.Containers {
		s := c.SecurityContext
		if *s.Privileged || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || len(s.Capabilities.Add) > 0 ||
			!slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%s: %+v", d.Name, s)
		}
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				t.Errorf("%s: mounts a volume %s that is not there", d.Name, m.Name)
			}
			if strings.Contains(m.MountPath, "systemd") && !m.ReadOnly {
				t.Errorf("%s: may write units", d.Name)
			}
		}
	}
}

func TestKustomize(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("no kubectl")
	}
	for _, dir := range []string{"manifests", "nri"} {
		out, err := exec.Command("kubectl", "kustomize", dir).Output()
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		n := 0
		for doc := range bytes.SplitSeq(out, []byte("\n---\n")) {
			object(t, doc)
			n++
		}
		if want := len(documents(t, dir)); n != want {
			t.Errorf("%s: %d objects, want %d", dir, n, want)
		}
	}
}

func TestNodesEngine(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"kubeadm, containerd", map[string]string{"/var/lib/kubelet/kubeadm-flags.env": "KUBELET_KUBEADM_ARGS=\"--container-runtime-endpoint=unix:///run/containerd/containerd.sock --x\"\n"}, "containerd by"},
		{"configuration, CRI-O", map[string]string{"/var/lib/kubelet/config.yaml": "kind: KubeletConfiguration\ncontainerRuntimeEndpoint: unix:///var/run/crio/crio.sock\n"}, "crio by"},
		{"another engine", map[string]string{"/var/lib/kubelet/config.yaml": "containerRuntimeEndpoint: unix:///var/run/cri-dockerd.sock\n"}, "neither containerd nor CRI-O"},
		{"only directories", map[string]string{"/etc/crio/crio.conf": ""}, "crio by"},
		{"both", map[string]string{"/etc/crio/crio.conf": "", "/etc/containerd/config.toml": ""}, "by name"},
		{"nothing", nil, "found on this node"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := install.Options{Root: t.TempDir()}
			for path, text := range tc.files {
				rig.Write(t, o.Path(path), text, 0o644)
			}
			if _, got := (Engine{}).Found(o); !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want ...%s...", got, tc.want)
			}
		})
	}
}

// tree is every file below dir with its mode and content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(data)
		}
		out[strings.TrimPrefix(path, dir)] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const containerdConf = "version = 2\n# ours\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n  runtime_type = \"io.containerd.runc.v2\"\n  [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\n    SystemdCgroup = true\n"

// node is a tree that stands for a node, and the script in a real container on it,
// with the rights that the DaemonSet gives it.
type fakeNode struct {
	t           *testing.T
	dir, policy string
	podman      *rig.Engine
}

func newNode(t *testing.T, files map[string]string) *fakeNode {
	t.Helper()
	n := &fakeNode{t: t, dir: filepath.Join(rig.TempDir(t), "node"), podman: rig.Podman(t, rig.PodmanOptions{})}
	for _, dir := range []string{"/opt/envscrub", "/etc/envscrub", "/etc/containerd", "/etc/crio", "/var/lib/envscrub", "/run/envscrub"} {
		if err := os.MkdirAll(n.dir+dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range files {
		rig.Write(t, n.dir+path, text, 0o644)
	}
	n.policy = filepath.Join(rig.TempDir(t), "policy.toml")
	rig.Write(t, n.policy, "deny = [\"MINE\"]\n", 0o644)
	return n
}

// installer runs `installer.sh ACTION` to its end.
func (n *fakeNode) installer(action string, env ...string) rig.Result {
	n.t.Helper()
	return n.podman.Run(n.args(action, env...)...)
}

func (n *fakeNode) args(action string, env ...string) []string {
	n.t.Helper()
	script, err := filepath.Abs("installer.sh")
	if err != nil {
		n.t.Fatal(err)
	}
	programs := filepath.Dir(rig.Bin(n.t, "envscrub"))
	for _, p := range []string{"envscrub-hook", "envscrub-runtime", "envscrub-shim", "envscrub-nri"} {
		rig.Bin(n.t, p)
	}
	args := []string{"run", "--rm", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--read-only", "--tmpfs=/tmp"}
	mount := func(from, to, options string) {
		args = append(args, "--volume="+from+":"+to+":"+options)
	}
	mount(script, "/installer/installer.sh", "ro")
	mount(programs, "/envscrub", "ro")
	mount(n.policy, "/policy/policy.toml", "ro")
	for _, dir := range []string{"/opt/envscrub", "/etc/envscrub", "/etc/containerd", "/etc/crio", "/var/lib/envscrub", "/run/envscrub"} {
		mount(n.dir+dir, "/host"+dir, "rw")
	}
	for _, e := range env {
		args = append(args, "--env="+e)
	}
	return append(args, "rig:busybox", "sh", "/installer/installer.sh", action)
}

func TestInstaller(t *testing.T) {
	rig.Need(t, "root", "podman")
	for _, tc := range []struct {
		name  string
		files map[string]string
		conf  string // the file that says it is installed
		want  string
	}{
		{"containerd", map[string]string{"/etc/containerd/config.toml": containerdConf}, "/etc/containerd/config.toml", `BinaryName = "/opt/envscrub/bin/envscrub-runc"`},
		{
			"crio",
			map[string]string{"/etc/crio/crio.conf": "[crio.runtime]\ndefault_runtime = \"crun\"\n[crio.runtime.runtimes.crun]\nruntime_path = \"/usr/bin/crun\"\n"},
			"/etc/crio/crio.conf.d/50-envscrub.conf", `runtime_path = "/opt/envscrub/bin/envscrub-crun"`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := newNode(t, tc.files)
			rig.Write(t, n.dir+"/etc/envscrub/policy.toml", "# the administrator's own\n", 0o644)
			if err := os.Chmod(n.dir+"/run/envscrub", 0o700); err != nil {
				t.Fatal(err)
			}
			before := tree(t, n.dir)
			r := n.installer("install")
			if r.Code != 0 {
				t.Fatalf("code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
			}
			if got := string(read(t, n.dir+tc.conf)); !strings.Contains(got, tc.want) {
				t.Errorf("%s", got)
			}
			if got := string(read(t, n.dir+"/etc/envscrub/policy.d/50-kubernetes.toml")); got != "deny = [\"MINE\"]\n" {
				t.Errorf("policy %q", got)
			}
			for _, p := range []string{"envscrub-shim", "envscrub-runtime"} {
				if info, err := os.Stat(n.dir + "/opt/envscrub/bin/" + p); err != nil || info.Mode().Perm() != 0o755 {
					t.Errorf("%s: %v %v", p, info, err)
				}
			}

			// Again: nothing changes.
			after := tree(t, n.dir)
			if r := n.installer("install"); r.Code != 0 {
				t.Fatalf("code %d\n%s", r.Code, r.Stderr)
			}
			if got := tree(t, n.dir); !reflect.DeepEqual(got, after) {
				t.Errorf("the second install changed something")
			}

			// A policy that does not load is not taken over.
			rig.Write(t, n.policy, "dney = []\n", 0o644)
			if r := n.installer("install"); r.Code == 0 || !strings.Contains(r.Stderr, "dney") {
				t.Errorf("a broken policy: code %d\n%s", r.Code, r.Stderr)
			}
			if got := tree(t, n.dir); !reflect.DeepEqual(got, after) {
				t.Errorf("a broken policy changed the node")
			}

			// While an agent runs, its handler stays.
			if err := os.Mkdir(n.dir+"/run/envscrub/c0ffee", 0o700); err != nil {
				t.Fatal(err)
			}
			if r := n.installer("remove"); r.Code != 0 || !strings.Contains(r.Stderr, "c0ffee") {
				t.Errorf("code %d\n%s", r.Code, r.Stderr)
			}
			if _, err := os.Stat(n.dir + "/opt/envscrub/bin/envscrub-runtime"); err != nil {
				t.Error(err)
			}
			if err := os.Remove(n.dir + "/run/envscrub/c0ffee"); err != nil {
				t.Fatal(err)
			}

			if r := n.installer("remove"); r.Code != 0 {
				t.Fatalf("code %d\n%s", r.Code, r.Stderr)
			}
			got := tree(t, n.dir)
			for path := range got {
				if got[path] != before[path] {
					t.Errorf("%s: now %.80q, was %.80q", path, got[path], before[path])
				}
			}
			if len(got) != len(before) {
				t.Errorf("%d files, were %d", len(got), len(before))
			}
		})
	}
}

func TestInstallerNRI(t *testing.T) {
	rig.Need(t, "root", "podman")
	n := newNode(t, map[string]string{"/etc/containerd/config.toml": containerdConf})
	if r := n.installer("install", "VIA=nri"); r.Code != 0 {
		t.Fatalf("code %d\n%s", r.Code, r.Stderr)
	}
	got := string(read(t, n.dir+"/etc/containerd/config.toml"))
	if !strings.Contains(got, "io.containerd.nri.v1.nri") || strings.Contains(got, "BinaryName") {
		t.Errorf("%s", got)
	}
	if r := n.installer("remove"); r.Code != 0 {
		t.Fatalf("code %d\n%s", r.Code, r.Stderr)
	}
	if got := string(read(t, n.dir+"/etc/containerd/config.toml")); got != containerdConf {
		t.Errorf("%s", got)
	}
}

// The DaemonSet's own command: ready when installed, taken back at its end.
func TestInstallerRuns(t *testing.T) {
	rig.Need(t, "root", "podman")
	n := newNode(t, map[string]string{"/etc/containerd/config.toml": containerdConf})
	name := "installer-" + filepath.Base(filepath.Dir(n.dir))
	args := n.args("run", "INTERVAL=1")
	args = slices.Insert(args, 1, "--detach", "--name="+name)
	args = slices.DeleteFunc(args, func(s string) bool { return s == "--rm" })
	if r := n.podman.Run(args...); r.Code != 0 {
		t.Fatalf("code %d\n%s", r.Code, r.Stderr)
	}
	defer n.podman.Run("rm", "--force", "--time=0", name)
	rig.Eventually(t, "the installer to be ready", func() bool {
		return n.podman.Run("exec", name, "test", "-e", "/tmp/ready").Code == 0
	})
	// A change of the ConfigMap reaches the node (in place here: a bind mount of one file).
	if err := os.WriteFile(n.policy, []byte("deny = [\"OTHER\"]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	rig.Eventually(t, "the new policy", func() bool {
		return strings.Contains(string(read(t, n.dir+"/etc/envscrub/policy.d/50-kubernetes.toml")), "OTHER")
	})
	if r := n.podman.Run("stop", "--time=20", name); r.Code != 0 {
		t.Fatalf("code %d\n%s", r.Code, r.Stderr)
	}
	if got := string(read(t, n.dir+"/etc/containerd/config.toml")); got != containerdConf {
		t.Errorf("after its end:\n%s\n%s", got, n.podman.Run("logs", name).Stderr)
	}
	if _, err := os.Stat(n.dir + "/opt/envscrub/bin"); err == nil {
		t.Error("the programs are still there")
	}
}

func TestInstallerRefuses(t *testing.T) {
	rig.Need(t, "root", "podman")
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"both engines", map[string]string{"/etc/containerd/config.toml": containerdConf, "/etc/crio/crio.conf": "[crio]\n"}, "which engine"},
		{"no engine", nil, "which engine"},
		{"broken configuration", map[string]string{"/etc/containerd/config.toml": "version = \n"}, "line 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := newNode(t, tc.files)
			before := tree(t, n.dir+"/etc/containerd")
			r := n.installer("install")
			if r.Code == 0 || !strings.Contains(r.Stderr, tc.want) {
				t.Errorf("code %d\n%s", r.Code, r.Stderr)
			}
			if got := tree(t, n.dir+"/etc/containerd"); !reflect.DeepEqual(got, before) {
				t.Error("the engine's configuration changed")
			}
		})
	}
}
