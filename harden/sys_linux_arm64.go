package harden

const (
	sysClockGettime = 113
	sysMemfdCreate  = 279
	sysFaccessat2   = 439
)
