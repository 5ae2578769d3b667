package hook

// GrowStack makes the caller's stack as large as a program of ours will need it. Otherwise Go doubles it several times
// on the way, and copies it each time.
func GrowStack() { deep(0) }

//go:noinline
func deep(at int) byte {
	var room [12 << 10]byte // asked for at a place that the compiler does not know, so that it is made
	return room[at]
}
