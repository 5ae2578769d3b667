//go:build arm64 || riscv64 || loong64

package mountns

import "golang.org/x/sys/unix"

const sysFstatat = unix.SYS_FSTATAT
