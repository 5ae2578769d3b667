package harden

const (
	sysClockGettime    = 228
	sysMemfdCreate     = 319
	sysFaccessat2      = 439
	sysProcessVMReadv  = 310
	sysProcessVMWritev = 311
	sysTimerCreate     = 222
	sysTimerSettime    = 223
)
