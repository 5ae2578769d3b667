package policy

import "io/fs"

// Windows has no root, and its modes say nothing about who may read: access lists are the administrator's.

func realRoot() bool { return false }

func writableByOthers(fs.FileInfo, bool) string { return "" }

func readableByOthers(fs.FileInfo) bool { return false }
