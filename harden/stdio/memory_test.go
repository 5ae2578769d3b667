package stdio_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/envscrub/envscrub/hack/rig"
	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/policy/redact/redacttest"
)

var outputSize = flag.Int64("output-mib", 256, "how much a container writes in the test of the shim's memory")

// The shim's memory does not grow with the container's output: 100 values in all forms are looked for in it,
// one of which is in it.
func TestContainerOutputMemory(t *testing.T) {
	const size = 16 << 20
	text := redacttest.LogText(1, size)
	for at := 1000; at+len(secret) < size; at += 100000 {
		copy(text[at:], secret)
	}
	text[size-1] = '\n'
	want := int64(len(bytes.ReplaceAll(text, []byte(secret), []byte("[REDACTED]"))))

	r := &order.Redact{Forms: []string{"all"}}
	for _, s := range redacttest.Secrets(1, 100, 20, 60) {
		r.Values = append(r.Values, s.Value)
	}
	rounds := *outputSize << 20 / size
	b := bundle(t, r, fmt.Sprintf("i=0; while [ $i -lt %d ]; do cat /text; i=$((i+1)); done", rounds))
	rig.Write(t, filepath.Join(b.Spec.Root.Path, "text"), string(text), 0o644)
	cmd := rig.Runtimes(t)[0].Command("run", "--bundle", b.Dir, "--pid-file", filepath.Join(b.Dir, "pid"), b.ID)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var seen int64
	var resident []int // kB, after each sixteenth of the output
	buf := make([]byte, len(secret)-1+1<<20)
	kept := 0 // of the bytes read before
	for {
		n, err := out.Read(buf[kept:])
		seen += int64(n)
		if bytes.Contains(buf[:kept+n], []byte(secret)) {
			t.Fatal("the secret is in the output")
		}
		if len(resident) < 16 && seen >= want*rounds/16*int64(len(resident)+1)-1<<20 {
			resident = append(resident, memory(t, b, "VmRSS:"))
			t.Logf("%d MiB after %s: %d kB, at most %d kB", seen>>20, time.Since(begin).Round(time.Millisecond), resident[len(resident)-1], memory(t, b, "VmHWM:"))
		}
		from := max(0, kept+n-len(secret)+1)
		kept = copy(buf, buf[from:kept+n])
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err, errOut.String())
	}
	if seen < want*rounds || seen > want*rounds+3*rounds {
		t.Errorf("%d bytes, want %d", seen, want*rounds)
	}
	if len(resident) < 16 {
		t.Fatalf("looked at %d times", len(resident))
	}
	// What the garbage collector has not yet taken back is at most as much again as the values and their forms.
	if last := resident[15]; last > resident[1]+4<<10 || last > 16<<10 {
		t.Errorf("the shim has grown from %d kB to %d kB", resident[1], last)
	}
}

// memory is what the status of the container's first process, the shim, says.
func memory(t *testing.T, b *rig.Bundle, what string) int {
	t.Helper()
	pid, err := os.ReadFile(filepath.Join(b.Dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), what)
	kB, err := strconv.Atoi(strings.Fields(after + " ?")[0])
	if err != nil {
		t.Fatalf("%s is not in the shim's status", what)
	}
	return kB
}
