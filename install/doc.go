// Package install registers envscrub with container engines and takes it out
// again.
//
// Promise: an engine's configuration is edited, never replaced. Every byte that
// is not ours survives (order, indent, comments, unknown keys, long numbers). A
// file is read once, the whole plan is computed and checked, and only then is
// anything written: beside the old file, synced, renamed. A file that is a
// symlink, is not regular, does not parse, cannot be written, or changed between
// our read and our write is refused with one line and nothing has changed. What
// an uninstall finds as we left it goes back byte for byte; where somebody else
// edited it since, only our own keys leave. Installing twice changes nothing.
//
// Non-goals: starting, stopping or restarting an engine unless asked to
// (Options.Restart); merging two administrators' edits; configuration that is
// given to an engine on its command line.
//
// Known holes: an engine that is started with another configuration file than
// the one in the standard place is not seen. Between the last look at a file and
// the rename of ours there is a window of microseconds in which another
// program's edit would be lost; no file system offers a compare-and-rename.
package install
