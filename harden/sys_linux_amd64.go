package harden

const (
	sysClockGettime = 228
	sysMemfdCreate  = 319
	sysFaccessat2   = 439
)
