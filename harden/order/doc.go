// Package order is what a door (hook, wrapper, precreate, NRI, CLI) tells the
// shim: one [Order], as one line of printable ASCII.
//
// The same text travels three ways:
//
//   - through a pipe of the shim's (the mount door, see [Ready]): the shim says
//     in its command name which descriptor of /proc/<pid>/fd the lifter opens for
//     writing;
//   - in the shim's own environment (the config door, see [Environ] and
//     [FromEnviron]): ENVSCRUB_ORDER, split into ENVSCRUB_ORDER_1 and so on
//     where one string would come near the kernel's limit of 128 KiB;
//   - in a memory file, from the shim that is process 1 to the shim behind the
//     container's own init.
//
// A cut-off order never decodes: the text ends in a terminator. Errors name
// the field, never what it holds, since Set and Held hold values.
//
// The shim links this package: it imports nothing but errors, strconv and
// strings.
package order
