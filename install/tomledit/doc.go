// Package tomledit makes small edits to a TOML file and leaves every other byte
// alone: comments, order, indent, line endings.
//
// Promise: the result parses, differs from the input in the named key alone, and
// an edit that the file's own form does not allow (a key inside an inline table,
// a table that is defined twice) is an error that names it.
//
// Non-goals: formatting, sorting, edits inside inline tables or arrays of tables.
package tomledit
