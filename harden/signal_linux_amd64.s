#include "textflag.h"

// The kernel calls these on a signal, with the number in DI and the siginfo in
// SI, and restores every register afterwards: nothing has to be kept. They
// never enter Go.

// func faultHandler()
// For the signals of a fault: one that the kernel raised is this program's own,
// and ends it; one that was sent is forwarded like any other.
TEXT ·faultHandler(SB), NOSPLIT|NOFRAME, $0
	MOVL	8(SI), AX	// si_code
	CMPL	AX, $0
	JLE	sent
	MOVL	$125, DI
	MOVL	$231, AX	// exit_group
	SYSCALL
sent:
	JMP	·signalHandler(SB)

// func signalHandler()
TEXT ·signalHandler(SB), NOSPLIT|NOFRAME, $0
	MOVQ	·signalPipe(SB), DI
	MOVL	$128, DX
	MOVL	$1, AX	// write
	SYSCALL
	RET

// func tickHandler()
// Being called is all: it interrupts a wait.
TEXT ·tickHandler(SB), NOSPLIT|NOFRAME, $0
	RET

// func signalReturn()
TEXT ·signalReturn(SB), NOSPLIT|NOFRAME, $0
	MOVL	$15, AX	// rt_sigreturn
	SYSCALL
	INT	$3

// func signalCode() (signal, fault, tick, back uintptr)
TEXT ·signalCode(SB), NOSPLIT, $0-32
	MOVQ	$·signalHandler(SB), AX
	MOVQ	AX, signal+0(FP)
	MOVQ	$·faultHandler(SB), AX
	MOVQ	AX, fault+8(FP)
	MOVQ	$·tickHandler(SB), AX
	MOVQ	AX, tick+16(FP)
	MOVQ	$·signalReturn(SB), AX
	MOVQ	AX, back+24(FP)
	RET
