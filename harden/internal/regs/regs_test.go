package regs

import (
	"encoding/hex"
	"testing"
)

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
	code, trap := at.Inject(Capset, [3]uint64{5, 6, 7})
	if at.Rip != 0x1000 || at.Rdi != 5 || at.Rsi != 6 || at.Rdx != 7 || trap != 0x1008 {
		t.Errorf("Inject: %+v", at)
	}
	if want := "b87e0000000f05cc"; hex.EncodeToString(code) != want {
		t.Errorf("Inject: code %x, want %s", code, want)
	}
	at.Rax = ^uint64(37) // -ENOSYS, as in the stop behind an exec
	if at.Fresh(); at.Rax != 0 || at.OrigRax != ^uint64(0) {
		t.Errorf("Fresh: %+v", at)
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
	code, _ := at.Inject(Execve, [3]uint64{5, 6, 7})
	if at.Rbx != 5 || at.Rcx != 6 || at.Rdx != 7 || at.Rdi != 9 {
		t.Errorf("Inject: %+v", at)
	}
	if want := "b80b000000cd80cc"; hex.EncodeToString(code) != want {
		t.Errorf("Inject: code %x, want %s", code, want)
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
	code, trap := at.Inject(Execve, [3]uint64{5, 6, 7})
	if at.Words[8] != 221 || at.Words[9] != 5 || at.Words[1] != 6 || at.Words[2] != 7 || trap != 0x1008 {
		t.Errorf("Inject: %+v", at)
	}
	if want := "e00309aa010000d4000020d4"; hex.EncodeToString(code) != want {
		t.Errorf("Inject: code %x, want %s", code, want)
	}
}

func TestARM32(t *testing.T) {
	for name, c := range map[string]struct {
		cpsr, want, trap uint64
		code             string
	}{
		"arm":   {0x10, 0x1000, 8, "0400a0e1000000ef700020e1"},
		"thumb": {0x30, 0x1002, 4, "204600df00be"},
	} {
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
			code, trap := at.Inject(Capset, [3]uint64{5, 6, 7})
			if at.get(7) != 185 || at.get(4) != 5 || at.get(1) != 6 || at.get(2) != 7 || trap != c.want+c.trap {
				t.Errorf("Inject: %+v, trap %#x", at, trap)
			}
			if hex.EncodeToString(code) != c.code {
				t.Errorf("Inject: code %x, want %s", code, c.code)
			}
		})
	}
}
