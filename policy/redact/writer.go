package redact

import (
	"errors"
	"io"
	"sync"
	"time"
)

// DefaultHold is a time limit that a person at a prompt does not notice and that
// no program takes between the halves of one value.
const DefaultHold = 100 * time.Millisecond

// maxGlimpse is how many bytes of a value's beginning the time limit may let
// through: fewer than four say nothing that the kind of value does not say.
const maxGlimpse = 3

// piece is how much of a long text is looked at in one go, so that it stays in
// the processor's cache and the memory that is needed does not depend on the caller.
const piece = 64 << 10

// A Writer is a stream that is redacted on its way to another writer. However the
// text is cut into writes, all of it together comes out as Redactor.Bytes of the whole would.
//
// Of each write, what no text to come can make part of a value goes on at once;
// only a tail that is the beginning of a value is held back. When that has waited
// for the time limit (a prompt may end in such a letter), up to three bytes of it are
// let through; of a longer tail the placeholder is shown. Either way the
// rest is still recognised: if it completes the value, it is gone, and if it does
// not, the text that was withheld comes out after all. So never more than
// three bytes of a value get out.
//
// Any number of goroutines may write.
type Writer struct {
	mu      sync.Mutex
	r       *Redactor
	w       io.Writer
	hold    time.Duration
	timer   *time.Timer
	armed   bool
	tail    []byte // the text held back, with as much before it as is needed to read it
	p       progress
	scratch []byte
	err     error // of the last write, for good
}

// ErrClosed is what a write to a closed Writer gets.
var ErrClosed = errors.New("redact: writer is closed")

// NewWriter returns a stream to w. Hold is the time limit; with none (zero or
// less) a tail is held back until it is decided or the stream closed.
func (r *Redactor) NewWriter(w io.Writer, hold time.Duration) *Writer {
	return &Writer{r: r, w: w, hold: hold}
}

// Write passes on what of the text so far is settled. An error is that of the writer behind.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	if w.r.Empty() {
		n, err := w.w.Write(b)
		w.err = err
		return n, err
	}
	for n := 0; n < len(b); {
		c := b[n:min(n+piece, len(b))]
		if len(w.tail) > 0 {
			w.tail = append(w.tail, c...)
			w.step(w.tail, false)
		} else {
			w.step(c, false)
		}
		if w.err != nil {
			return n, w.err
		}
		n += len(c)
	}
	w.arm()
	return len(b), nil
}

// Close passes on what was held back: with no more to come it is no value. It
// does not close the writer behind.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.err != nil {
		if w.err == ErrClosed {
			return nil
		}
		return w.err
	}
	if len(w.tail) > 0 {
		w.step(w.tail, true)
	}
	if w.err != nil {
		return w.err
	}
	w.err = ErrClosed
	w.tail, w.scratch = nil, nil
	return nil
}

// step puts out what is settled of the text and keeps the rest in tail.
func (w *Writer) step(text []byte, last bool) {
	v := w.r.view(text)
	limit := len(text)
	if !last {
		limit = v.settled()
		if limit < len(text)-w.r.set.max-maxCodes {
			limit = len(text) // so many colour codes in a value are not looked through
		}
	}
	if v.peek().start < 0 {
		// The usual case, without a copy.
		if w.p.done < limit {
			w.put(text[w.p.done:limit])
			w.p.done = limit
		}
	} else {
		w.scratch = v.replace(w.scratch[:0], &w.p, limit)
		w.put(w.scratch)
	}
	from := v.context(limit)
	if limit-from > maxCodes {
		from = limit
	}
	if limit != w.p.held {
		w.p.shown = false
		w.armed = false
	}
	w.p.held = limit - from
	w.p.done -= from
	w.p.cover = max(0, w.p.cover-from)
	w.tail = append(w.tail[:0], text[from:]...)
}

func (w *Writer) put(b []byte) {
	if len(b) == 0 || w.err != nil {
		return
	}
	n, err := w.w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	w.err = err
}

// waiting reports whether there is text that neither came out nor is replaced.
func (w *Writer) waiting() bool { return w.p.done < len(w.tail) && !w.p.shown }

func (w *Writer) arm() {
	switch {
	case w.hold <= 0:
	case !w.waiting():
		if w.armed {
			w.timer.Stop()
			w.armed = false
		}
	case w.armed:
		// The limit counts from the first byte that waits.
	case w.timer == nil:
		w.armed = true
		w.timer = time.AfterFunc(w.hold, w.expire)
	default:
		w.armed = true
		w.timer.Reset(w.hold)
	}
}

// expire is the time limit.
func (w *Writer) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.armed || w.err != nil {
		return
	}
	w.armed = false
	if !w.waiting() {
		return
	}
	if letters(w.tail[max(w.p.cover, w.p.held):]) <= maxGlimpse {
		// Half a colour code and then a placeholder would be neither.
		if open := w.r.view(w.tail).open; open > w.p.done {
			w.put(w.tail[w.p.done:open])
			w.p.done = open
		}
		return
	}
	w.put([]byte(Placeholder))
	w.p.shown = true
}
