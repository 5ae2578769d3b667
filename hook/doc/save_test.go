package doc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/hack/rig"
)

func edited(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f.SetEnv([]string{"PATH=/bin"})
	return f
}

func leftovers(t *testing.T, path string) {
	t.Helper()
	names, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if strings.Contains(n.Name(), "envscrub") {
			t.Errorf("left behind: %s", n.Name())
		}
	}
}

// report: moby PR#34419, PR#41620, k3s#5972
func TestSaveKeepsModeAndOwner(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	for _, mode := range []os.FileMode{0o600, 0o640, 0o644, 0o400} {
		path := filepath.Join(t.TempDir(), "a dir\nwith newline", "config.json")
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, sample)
		uid, gid := os.Getuid(), os.Getgid()
		if uid == 0 {
			uid, gid = 1234, 4321
		}
		if err := errors.Join(os.Chown(path, uid, gid), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		if err := edited(t, path).Save(); err != nil {
			t.Fatal(err)
		}
		st, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		sys := st.Sys().(*syscall.Stat_t)
		if st.Mode() != mode || int(sys.Uid) != uid || int(sys.Gid) != gid {
			t.Errorf("%v %d %d, want %v %d %d", st.Mode(), sys.Uid, sys.Gid, mode, uid, gid)
		}
		if strings.Contains(read(t, path), "cret") {
			t.Error("not written")
		}
		leftovers(t, path)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real.json")
	write(t, real, sample)
	huge := filepath.Join(dir, "huge")
	write(t, huge, "")
	if err := os.Truncate(huge, 64<<20); err != nil {
		t.Fatal(err)
	}
	link, fifo := filepath.Join(dir, "link"), filepath.Join(dir, "fifo")
	if err := errors.Join(os.Symlink(real, link), unix.Mkfifo(fifo, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{link, "it is a symbolic link"},
		{fifo, "it is a named pipe"},
		{dir, "it is a directory"},
		{huge, "67108864 bytes, more than"},
		{filepath.Join(dir, "absent"), "no such file"},
	} {
		if _, err := Open(c.path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.path, err)
		}
	}
}

func TestSaveRefusesAChangedFile(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"written": func(t *testing.T, path string) { write(t, path, sample+" ") },
		"same size": func(t *testing.T, path string) {
			write(t, path, strings.Replace(sample, "PATH", "HTAP", 1))
		},
		"swapped": func(t *testing.T, path string) {
			write(t, path+".new", sample)
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		},
		"symlink": func(t *testing.T, path string) {
			if err := errors.Join(os.Rename(path, path+".old"), os.Symlink(path+".old", path)); err != nil {
				t.Fatal(err)
			}
		},
		"gone": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.json")
			write(t, path, sample)
			f := edited(t, path)
			change(t, path)
			was, _ := os.ReadFile(path)
			if err := f.Save(); err == nil {
				t.Error("not refused")
			}
			if now, _ := os.ReadFile(path); string(now) != string(was) {
				t.Error("written over")
			}
			leftovers(t, path)
		})
	}
}

func TestSaveOnAFullDisk(t *testing.T) {
	rig.Need(t, "root")
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	path := filepath.Join(dir, "config.json")
	write(t, path, sample)
	f := edited(t, path)
	f.SetEnv([]string{"BIG=" + strings.Repeat("x", 100<<10)})
	if err := f.Save(); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("%v", err)
	}
	if read(t, path) != sample {
		t.Error("the old file is gone")
	}
	leftovers(t, path)
}

func big(vars int) []byte {
	f, _ := Parse([]byte(sample))
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	for i := range vars {
		env = append(env, fmt.Sprintf("SOME_VARIABLE_%d=https://example.org/path/%d", i, i))
	}
	f.SetEnv(env)
	return f.Bytes()
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{30, 3000} {
		data := big(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRewrite(b *testing.B) {
	for _, n := range []int{30, 3000} {
		path := filepath.Join(b.TempDir(), "config.json")
		data := big(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := os.WriteFile(path, data, 0o600); err != nil {
					b.Fatal(err)
				}
				f, err := Open(path)
				if err != nil {
					b.Fatal(err)
				}
				env := f.Env()
				f.SetEnv(append(append([]string{}, env[:1]...), env[2:]...))
				if err := f.Save(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
