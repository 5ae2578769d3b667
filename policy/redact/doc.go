// Package redact keeps known secret values out of a stream of bytes.
//
// # Promise
//
// Every occurrence of a value becomes Placeholder. Occurrences that overlap become one
// placeholder together, so no part of one survives because another was found
// first; of values that begin at the same place the longest counts. Nothing else
// in the text changes: it is bytes, not text, so invalid UTF-8, NUL and whatever a
// terminal understands pass as they are. However a stream is cut into writes, its
// output is that of the whole text at once, and only a tail that is the beginning
// of a value is ever held back (see Writer for the time limit).
//
// A value interrupted by colour codes (grep --color writes such) is an
// occurrence too; the codes inside it are kept behind the placeholder.
//
// # Non-goals
//
// It knows values, not patterns: what merely looks like a credential passes, so
// code, lock files and JSON are never damaged by a guess.
//
// # Known holes
//
//   - A value that is re-encoded in a way that is not among the Forms: encrypted,
//     compressed, reversed, one letter a line, split over the messages of a protocol
//     ({"text":"sk-ma"} {"text":"de-up"}), twice percent-encoded.
//   - Values under MinLength bytes, and ones that the placeholder itself contains.
//     They are named by Ignored.
//   - Base64 of a longer text can leave one character on either side of the
//     placeholder that shares up to four bits with the value.
//   - Wrapped base64 and hexadecimal (xxd -p) are known by whole lines at the usual widths only
//     where the value begins the text; a last line of fewer than eight characters only right behind
//     the one before it.
//   - A stream that ends in the middle of a value: what came of it is no value.
//   - The time limit can let through the first three bytes of a value, no more.
//   - Colour codes of more than 4 KiB inside one value of a stream, and whatever else than
//     colour codes stands inside one: a line that a terminal program redraws or wraps.
//   - The search is linear in the text whatever the number of values; a value that
//     repeats itself (aaaa…) and a text made of it cost its length for each byte.
package redact
