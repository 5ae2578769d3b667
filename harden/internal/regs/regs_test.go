package regs

import "testing"

func TestAMD64(t *testing.T) {
	entry := AMD64{Rax: ^uint64(37), OrigRax: 12, Rdi: 1, Rsi: 2, Rbx: 3, Rcx: 4, Rip: 0x1002, Rsp: 0x7fff_0000_0010, Cs: 0x33}
	at := entry
	at.Prctl(4, 0)
	if at.OrigRax != 157 || at.Rdi != 4 || at.Rsi != 0 || at.Rip != entry.Rip {
		t.Errorf("Prctl: %+v", at)
	}
	at.Rax = 0
	if at.Result() != 0 {
		t.Errorf("Result = %d", at.Result())
	}
	at.Again(&entry)
	if at.Rip != 0x1000 || at.Rax != 12 || at.Rdi != 1 || at.Rsi != 2 || at.OrigRax != ^uint64(0) {
		t.Errorf("Again: %+v", at)
	}
	at.Execve(0x2000, 5, 6, 7)
	if at.Rip != 0x2000 || at.Rax != 59 || at.Rdi != 5 || at.Rsi != 6 || at.Rdx != 7 {
		t.Errorf("Execve: %+v", at)
	}
}

func TestAMD64Compat(t *testing.T) {
	entry := AMD64{OrigRax: 45, Rbx: 1, Rcx: 2, Rdi: 9, Rip: 0xf7fd_5579, Rsp: 0xffff_d000, Cs: 0x23}
	at := entry
	at.Prctl(4, 0)
	if at.OrigRax != 172 || at.Rbx != 4 || at.Rcx != 0 || at.Rdi != 9 {
		t.Errorf("Prctl: %+v", at)
	}
	at.Rax = 0xffff_ffff
	if at.Result() != -1 {
		t.Errorf("Result = %d", at.Result())
	}
	at.Again(&entry)
	if at.Rip != 0xf7fd_5577 || at.Rax != 45 || at.Rbx != 1 || at.Rcx != 2 {
		t.Errorf("Again: %+v", at)
	}
	at.Execve(0x2000, 5, 6, 7)
	if at.Rax != 11 || at.Rbx != 5 || at.Rcx != 6 || at.Rdx != 7 {
		t.Errorf("Execve: %+v", at)
	}
}

func TestARM64(t *testing.T) {
	entry := ARM64{Size: ARM64Size, Call: 214}
	entry.Words = [34]uint64{0: 11, 1: 22, 7: 77, 8: 214, 31: 0x7fff_0000, 32: 0x1004}
	at := entry
	at.Prctl(4, 0)
	if at.Call != 167 || at.Words[0] != 4 || at.Words[1] != 0 || at.Words[8] != 214 || at.SP() != 0x7fff_0000 {
		t.Errorf("Prctl: %+v", at)
	}
	at.Words[0] = ^uint64(0)
	if at.Result() != -1 {
		t.Errorf("Result = %d", at.Result())
	}
	at.Again(&entry)
	if at.Words[32] != 0x1000 || at.Words[0] != 11 || at.Words[1] != 22 || at.Words[8] != 214 {
		t.Errorf("Again: %+v", at)
	}
	at.SetSP(0x7ffe_0000)
	if at.SP() != 0x7ffe_0000 {
		t.Errorf("SP = %#x", at.SP())
	}
	at.Execve(0x2000, 5, 6, 7)
	if at.Words[32] != 0x2000 || at.Words[8] != 221 || at.Words[0] != 5 || at.Words[1] != 6 || at.Words[2] != 7 {
		t.Errorf("Execve: %+v", at)
	}
}

func TestARM32(t *testing.T) {
	for name, c := range map[string]struct{ cpsr, want uint64 }{"arm": {0x10, 0x1000}, "thumb": {0x30, 0x1002}} {
		t.Run(name, func(t *testing.T) {
			entry := ARM64{Size: ARM32Size}
			entry.set(0, 99)
			entry.set(1, 22)
			entry.set(7, 45)
			entry.set(13, 0xfff0_0000)
			entry.set(15, 0x1004)
			entry.set(16, c.cpsr)
			entry.set(17, 11)
			at := entry
			at.Prctl(4, 0)
			if at.Call != 172 || at.get(0) != 4 || at.get(1) != 0 || at.get(7) != 45 || at.SP() != 0xfff0_0000 {
				t.Errorf("Prctl: %+v", at)
			}
			at.set(0, 0xffff_ffff)
			if at.Result() != -1 {
				t.Errorf("Result = %d", at.Result())
			}
			at.Again(&entry)
			if at.get(15) != c.want || at.get(0) != 11 || at.get(1) != 22 {
				t.Errorf("Again: %+v", at)
			}
			at.SetSP(0xffe0_0000)
			if at.SP() != 0xffe0_0000 || at.get(12) != 0 {
				t.Errorf("SP = %#x", at.SP())
			}
			at.Execve(0x2000, 5, 6, 7)
			if at.get(15) != 0x2000 || at.get(7) != 11 || at.get(2) != 7 || at.get(16)&arm32Thumb != 0 {
				t.Errorf("Execve: %+v", at)
			}
		})
	}
}
