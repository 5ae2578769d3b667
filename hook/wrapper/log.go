package wrapper

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/envscrub/envscrub/hook/doc"
)

// A logger writes into the file that the engine gave with --log, which is the only
// way for a reason to reach the user of Docker, containerd and others.
type logger struct {
	file  string
	json  bool
	debug bool
	// once is Podman's file: it is decoded as one JSON value, so that a line of
	// ours would hide the runtime's error. Only an error of ours goes there, for
	// then the runtime writes none.
	once bool
}

func newLogger(g *parsed) logger {
	file := g.get("log")
	switch kind, rest, ok := strings.Cut(file, ":"); {
	case !ok || strings.Contains(kind, "/"):
	case kind == "file": // crun's spelling
		file = rest
	case kind == "journald" || kind == "syslog":
		file = ""
	}
	if file == "/dev/stderr" || file == "/dev/stdout" {
		file = "" // an error goes to standard error anyway, and nothing else may
	}
	return logger{file: file, json: g.get("log-format") == "json", debug: g.has("debug"), once: filepath.Base(file) == "oci-log"}
}

func (l logger) info(text string) { l.unlessOnce("info", text) }
func (l logger) warn(text string) { l.unlessOnce("warning", text) }
func (l logger) verbose(text string) {
	if l.debug {
		l.unlessOnce("debug", text)
	}
}

func (l logger) unlessOnce(level, text string) {
	if !l.once {
		l.line(level, text)
	}
}

// refuse says why nothing was started.
func (l logger) refuse(stderr io.Writer, err error) {
	text := oneLine(err.Error())
	fmt.Fprintln(stderr, self+": "+text)
	l.line("error", self+": "+text)
}

// oneLine keeps whatever is in an error, such as a path, from making more lines of it.
func oneLine(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		return s
	}
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}

func (l logger) line(level, text string) {
	if l.file == "" {
		return
	}
	// As the runtimes open it; not blocking, should it be a pipe that nobody reads.
	f, err := os.OpenFile(l.file, os.O_CREATE|os.O_WRONLY|os.O_APPEND|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return // the runtime, too, has nowhere to say so but standard error
	}
	defer f.Close()
	now := time.Now().UTC().Format(time.RFC3339)
	if l.json {
		fmt.Fprintf(f, "{\"level\":\"%s\",\"msg\":%s,\"time\":\"%s\"}\n", level, doc.Quote(text), now)
		return
	}
	fmt.Fprintf(f, "time=\"%s\" level=%s msg=%s\n", now, level, strconv.Quote(text))
}
