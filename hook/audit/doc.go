// Package audit writes down what each door decided: one JSON line a decision, to
// syslog (journald reads the same socket) or to a file, and counters for
// node-exporter's text-file collector.
//
// Promise: names, rules and counts, never a value. A line is one write of an
// append-only file, or one datagram, so lines of parallel starts do not mix. The
// counters are one file, replaced by rename under a lock, so that a hundred
// starts at once lose no count and a scrape never sees half a file. Where neither
// is configured Record costs one comparison.
//
// Non-goals: rotation (the system's: the file is opened anew for every line),
// delivery guarantees (a full disk or an absent syslog is an error that the
// caller may weigh), history (the record of a container is hook/record's).
//
// Known holes: the counters file is not synced, so a crash of the machine may
// cost the last counts; Prometheus takes that for a restart. A line that is too
// long for a datagram names the first variables only and says how many are
// missing.
package audit
