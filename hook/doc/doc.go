// Package doc edits the two JSON documents that an OCI runtime is given: a
// bundle's config.json and the process.json of an exec.
//
// # Promise
//
// An edit is lossless: the fields that were set are written anew, every other
// byte of the document stays (unknown keys, integers of any length, order of
// keys, indentation, escapes). The whole document is checked against the JSON
// grammar in one pass, without a typed decode, because it is on the critical
// path of every container's start.
//
// What is read here is what the runtime will read, or the document is refused.
// runc decodes with encoding/json, crun with yajl or json-c, and they disagree:
//
//   - encoding/json matches keys without case ("ENV", "proceſs"), crun exactly;
//   - of two equal keys encoding/json merges or takes the last, yajl the first;
//   - runc ignores what follows the document, and yajl allows comments;
//   - a NUL ends a string, and a key, for a C program;
//   - an unpaired surrogate is U+FFFD for Go, "?" or three odd bytes for yajl,
//     which also swallows the character behind it.
//
// So these are errors wherever they could change what is read here: in the
// document itself, in process, process.user, process.capabilities, root, every
// mount, hooks and annotations, and in every string that is taken from them. In objects
// that are not looked at (linux.resources and the like) duplicate and oddly
// spelled keys are the runtime's business and pass. Bytes that are no UTF-8 are
// U+FFFD for runc and an error for crun: they are read as U+FFFD, and an entry
// that is kept is written back with the bytes it had. null stands for absent, as
// it does for both.
//
// Save replaces the file by rename: mode and owner are kept, a process that dies
// on the way leaves the old file, nothing else is left behind. Symbolic links,
// other kinds of file and a file that changed since it was read are refused.
// It does not wait for the disk, which would cost each start more than all the
// rest: every engine writes these files anew for each start, so that a machine's
// crash takes nothing that is used again, and an empty file starts no container.
//
// # Not promised
//
// It does not judge whether a document is a valid runtime configuration; that
// is the runtime's work, and its error message.
//
// # Known holes
//
// Whoever may write in the bundle can change config.json after Save and before
// the runtime reads it; such a one owns the container anyway. Extended
// attributes other than those which the directory gives are not copied.
package doc
