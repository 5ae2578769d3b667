#include "textflag.h"

// The kernel calls these on a signal, with the number in R0 and the siginfo in
// R1, and restores every register afterwards: nothing has to be kept. They
// never enter Go.

// func faultHandler()
// For the signals of a fault: one that the kernel raised is this program's own,
// and ends it; one that was sent is forwarded like any other.
TEXT ·faultHandler(SB), NOSPLIT|NOFRAME, $0
	MOVW	8(R1), R2	// si_code
	CMPW	$0, R2
	BLE	sent
	MOVD	$125, R0
	MOVD	$94, R8	// exit_group
	SVC
sent:
	B	·signalHandler(SB)

// func signalHandler()
TEXT ·signalHandler(SB), NOSPLIT|NOFRAME, $0
	MOVD	·signalPipe(SB), R0
	MOVD	$128, R2
	MOVD	$64, R8	// write
	SVC
	RET

// func tickHandler()
// Being called is all: it interrupts a wait.
TEXT ·tickHandler(SB), NOSPLIT|NOFRAME, $0
	RET

// func signalReturn()
TEXT ·signalReturn(SB), NOSPLIT|NOFRAME, $0
	MOVD	$139, R8	// rt_sigreturn
	SVC
	BRK

// func signalCode() (signal, fault, tick, back uintptr)
TEXT ·signalCode(SB), NOSPLIT, $0-32
	MOVD	$·signalHandler(SB), R0
	MOVD	R0, signal+0(FP)
	MOVD	$·faultHandler(SB), R0
	MOVD	R0, fault+8(FP)
	MOVD	$·tickHandler(SB), R0
	MOVD	R0, tick+16(FP)
	MOVD	$·signalReturn(SB), R0
	MOVD	R0, back+24(FP)
	RET
