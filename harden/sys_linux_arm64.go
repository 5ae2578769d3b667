package harden

const (
	sysClockGettime    = 113
	sysMemfdCreate     = 279
	sysFaccessat2      = 439
	sysProcessVMReadv  = 270
	sysProcessVMWritev = 271
	sysTimerCreate     = 107
	sysTimerSettime    = 110
)
