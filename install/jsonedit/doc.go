// Package jsonedit changes single members of a JSON document and leaves every
// other byte alone.
//
// Promise: what Set and Delete do not name survives as it was written: order,
// indent, line ends, spacing, unknown keys, numbers of any length, escapes. A
// new member is written in the style of its neighbours. Setting a member to what
// it already is changes nothing. A document that encoding/json would not accept,
// or that holds a key twice on the way to the member, is refused.
//
// Non-goals: comments (JSON has none, and the engines that read these files
// refuse them), arrays, speed.
package jsonedit
