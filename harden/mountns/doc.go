// Package mountns puts a file over another one in the mount namespace of a
// container that is being created, and takes it away again when the container
// runs it.
//
// # Promise
//
// Nothing outside the container's own mount namespace changes: a namespace that
// is the caller's own is refused, so is a mount that would show on the host, and
// what is covered is named by a descriptor, never by a path that someone could
// turn round in between. The mount that is lifted is the one that was made, or
// none.
//
// The process that lifts (see Lifter) outlives its parent, holds no descriptor
// that it was born with, and ends when the container's process ends, whether or
// not that was ever started.
//
// # Not promised
//
// That the covered file is the one that will be executed is the caller's
// business.
//
// # Known holes
//
// Someone who may write in the directory of the covered file from another mount
// namespace (a volume that is shared with another container) can unlink the
// file; the kernel then drops the mount with it.
//
// Linux 5.12 is needed, for mount_setattr.
package mountns
