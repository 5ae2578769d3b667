// Package record keeps what an exec has to know about a container's create: which
// variables it was created with, and what was done to them.
//
// # Promise
//
// No value is on disk. Of each variable there is a keyed hash (HMAC-SHA256 under a
// key of the record's own, of name and value), so that an exec can tell a variable
// that the caller sets on purpose from one that comes from the container. Names,
// rules, counts, profile, door, image and time are there to be shown.
//
// Records stand under /run/envscrub/<id>/, or $XDG_RUNTIME_DIR/envscrub/<id>/ for
// a rootless user (/tmp/envscrub-<uid>/ where there is no such directory), in directories of mode 0700 that belong to the caller. Real root
// is never led elsewhere by its environment. The same id under another --root of
// the runtime is another record.
//
// # Not promised
//
// A record is no proof against root, who can read its key and guess short values;
// root can read the engine's own files anyway.
//
// # Known holes
//
// No program of ours runs when a container that was started with "run" in the
// foreground ends: its record stays until Sweep, which each later create calls,
// sees that the runtime forgot the container.
package record
