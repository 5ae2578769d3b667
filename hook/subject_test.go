package hook

import "testing"

// Only the engine's own word names the image: a profile that an image or a pod's author could choose by calling itself
// something else would be theirs.
func TestImageOf(t *testing.T) {
	for _, c := range []struct {
		name        string
		annotations map[string]string
		want        string
	}{
		{"CRI-O, over a pod's own", map[string]string{"io.kubernetes.cri-o.ImageName": "real", "io.kubernetes.cri.image-name": "made-up", "io.podman.annotations.image-name": "made-up"}, "real"},
		{"containerd", map[string]string{"io.kubernetes.cri.image-name": "real", "org.opencontainers.image.ref.name": "made-up"}, "real"},
		{"Podman copies an image's", map[string]string{"io.container.manager": "libpod", "io.kubernetes.cri-o.ImageName": "made-up", "io.kubernetes.cri.image-name": "made-up"}, ""},
		{"what anybody may write", map[string]string{"org.opencontainers.image.ref.name": "made-up", "nerdctl/image": "made-up", "io.podman.annotations.image-name": "made-up"}, ""},
		{"none", nil, ""},
	} {
		if got := ImageOf(c.annotations); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
