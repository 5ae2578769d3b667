package cli

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/envscrub/envscrub/install"
	"github.com/envscrub/envscrub/policy"
)

// driver is what differs between Docker's and Podman's command lines.
type driver struct {
	program string
	// healthImage: the health check is a part of the image (Docker's option takes
	// a shell, and the image has none); else it is an option of run.
	healthImage bool
	// healthRun: health checks run when asked; else by the daemon's clock.
	healthRun bool
}

var drivers = map[string]driver{
	"docker": {program: "docker", healthImage: true},
	"podman": {program: "podman", healthRun: true},
}

// trial is one throw-away container.
type trial struct {
	driver
	door        install.Door
	name, image string
	self        string
}

func newTrial(d driver, door install.Door) (*trial, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := static(self); err != nil {
		return nil, err
	}
	id := strings.ToLower(rand.Text()[:12])
	return &trial{driver: d, door: door, self: self, name: "envscrub-verify-" + id, image: "localhost/envscrub-verify:" + id}, nil
}

// static refuses a program that would need libraries in the empty container.
func static(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	dynamic := slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	if err := f.Close(); err != nil {
		return err
	}
	if dynamic {
		return fmt.Errorf("%s: built with shared libraries, so it cannot run in an empty container; build it with CGO_ENABLED=0", path)
	}
	return nil
}

func (c *trial) annotations() map[string]string {
	if c.door.Via == install.ViaHook && c.door.When == install.WhenAnnotation {
		return map[string]string{verifyAnnotation: "verify"}
	}
	return nil
}

// verifyAnnotation makes the hook run; it names no profile, so that the policy
// that is verified is the one that unmarked containers get.
const verifyAnnotation = "io.envscrub.verify"

func (c *trial) subject() policy.Subject {
	return policy.Subject{Image: c.image, User: "0", Args: []string{probePath}, Annotations: c.annotations()}
}

// run makes the image, starts the container, lets every probe look, and removes
// both again.
func (c *trial) run(ctx context.Context, p *planted) (seen map[string]sighting, err error) {
	argument, err := p.plant.argument()
	if err != nil {
		return nil, err
	}
	health, err := json.Marshal([]string{probePath, "probe", placeHealth, argument})
	if err != nil {
		return nil, err
	}
	if err := c.makeImage(ctx, string(health)); err != nil {
		return nil, err
	}
	// Clean-up must work after an interrupt, too.
	defer func() {
		_, rmErr := c.engine(context.WithoutCancel(ctx), nil, "rm", "--force", c.name)
		if _, rmiErr := c.engine(context.WithoutCancel(ctx), nil, "rmi", "--force", c.image); rmErr == nil {
			rmErr = rmiErr
		}
		if err == nil && rmErr != nil {
			err = fmt.Errorf("remove the container: %w", rmErr)
		}
	}()
	var args, env []string
	if c.door.Via == install.ViaRuntime && c.healthRun {
		args = append(args, "--runtime", install.RuntimeName) // a global option of Podman
	}
	args = append(args, "run", "--detach", "--name", c.name, "--network", "none")
	if c.door.Via == install.ViaRuntime && !c.healthRun {
		args = append(args, "--runtime", install.RuntimeName)
	}
	for key, value := range c.annotations() {
		args = append(args, "--annotation", key+"="+value)
	}
	if !c.healthImage {
		args = append(args, "--health-cmd", string(health), "--health-interval", "disable", "--health-retries", "1")
	}
	for name, value := range p.env {
		args = append(args, "--env", name) // the value comes from the client's environment, not its arguments
		env = append(env, name+"="+value)
	}
	if _, err := c.engine(ctx, env, append(args, c.image, probePath, "probe", placeAgent, argument)...); err != nil {
		return nil, err
	}
	seen = map[string]sighting{}
	if err := c.waitReady(ctx, seen); err != nil {
		return nil, err
	}
	out, err := c.engine(ctx, nil, "exec", c.name, probePath, "probe", placeExec, argument)
	if err != nil {
		return nil, err
	}
	collect(out, seen)
	return seen, c.health(ctx, seen)
}

// makeImage imports a root file system that consists of this program.
func (c *trial) makeImage(ctx context.Context, health string) error {
	program, err := os.ReadFile(c.self)
	if err != nil {
		return err
	}
	var image bytes.Buffer
	w := tar.NewWriter(&image)
	for _, dir := range []string{"dev/", "proc/", "sys/", "run/", "tmp/", "etc/"} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755}); err != nil {
			return err
		}
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(probePath, "/"), Mode: 0o755, Size: int64(len(program))}); err != nil {
		return err
	}
	if _, err := w.Write(program); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	args := []string{"import"}
	if c.healthImage {
		args = append(args, "--change", "HEALTHCHECK --interval=1s --retries=1 CMD "+health)
	}
	cmd := exec.CommandContext(ctx, c.program, append(args, "-", c.image)...)
	cmd.Stdin = &image
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s import: %w: %s", c.program, err, lastLine(string(out)))
	}
	return nil
}

func (c *trial) engine(ctx context.Context, env []string, args ...string) ([]byte, error) {
	return engineOutput(ctx, env, c.program, args...)
}

// waitReady reads the container's log until the probe has said all.
func (c *trial) waitReady(ctx context.Context, seen map[string]sighting) error {
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	for {
		out, err := c.engine(ctx, nil, "logs", c.name)
		if err != nil {
			return err
		}
		if bytes.Contains(out, []byte(probeReady)) {
			collect(out, seen)
			return nil
		}
		state, err := c.engine(ctx, nil, "inspect", "--format", "{{.State.Status}} {{.State.ExitCode}}", c.name)
		if err != nil {
			return err
		}
		if s := string(bytes.TrimSpace(state)); strings.HasPrefix(s, "exited") {
			return fmt.Errorf("the container ended (%s) before its probe had reported", s)
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("the container's probe did not report: %w", err)
		}
	}
}

// health lets the health check run and reads its output.
func (c *trial) health(ctx context.Context, seen map[string]sighting) error {
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	if c.healthRun {
		if _, err := c.engine(ctx, nil, "healthcheck", "run", c.name); err != nil {
			return err
		}
	}
	for {
		out, err := c.engine(ctx, nil, "inspect", c.name)
		if err != nil {
			return err
		}
		for _, line := range healthOutput(out) {
			collect([]byte(line), seen)
		}
		if _, ok := seen[placeHealth]; ok || c.healthRun {
			return nil
		}
		if err := pause(ctx); err != nil {
			return nil // told as a verdict: the probe did not report
		}
	}
}

// healthOutput reads the log of health checks; Podman has had two names for it.
func healthOutput(inspect []byte) []string {
	type health struct{ Log []struct{ Output string } }
	var list []struct {
		State struct{ Health, Healthcheck health }
	}
	if json.Unmarshal(inspect, &list) != nil || len(list) != 1 {
		return nil
	}
	var out []string
	for _, h := range []health{list[0].State.Health, list[0].State.Healthcheck} {
		for _, l := range h.Log {
			out = append(out, l.Output)
		}
	}
	return out
}

// collect reads a probe's lines; what else stands there is not ours.
func collect(out []byte, seen map[string]sighting) {
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var s sighting
		if dec.Decode(&s) != nil {
			return
		}
		if s.Place != "" && s.Place != "ready" {
			seen[s.Place] = s
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(100 * time.Millisecond):
		return nil
	}
}
