package regs

import "testing"

// Behind the exec of a Thumb program its registers hold the entry point as the file has it, with bit 0 set. Code that
// is written for it has to stand at the instruction, not a byte behind it.
func TestThumbEntry(t *testing.T) {
	r := ARM64{Size: ARM32Size}
	r.set(arm32PC, 0x1_0341)
	r.set(arm32CPSR, 0x30)
	if r.PC() != 0x1_0340 {
		t.Errorf("PC = %#x", r.PC())
	}
	code, trap := r.Inject(Capset, [3]uint64{1, 2})
	if trap != 0x1_0344 || len(code) != 6 {
		t.Errorf("trap at %#x behind %d bytes", trap, len(code))
	}
}
