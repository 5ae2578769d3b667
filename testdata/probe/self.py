# An agent that looks at itself, starts a child as another user, and makes a user
# namespace of its own; it prints what works. Where it may not change users, that is
# left out.
import ctypes
import os
import subprocess

PR_GET_DUMPABLE, CLONE_NEWUSER = 3, 0x10000000
libc = ctypes.CDLL(None, use_errno=True)

for name in ("status", "exe", "fd", "maps", "environ", "mem"):
    try:
        path = "/proc/self/" + name
        {"exe": os.readlink, "fd": os.listdir}.get(name, lambda p: open(p, "rb").close())(path)
        print(name, "open")
    except PermissionError:
        print(name, "refused")
if os.getuid() == 0:
    print("another user:", subprocess.check_output(["id", "-u"], user=65534, text=True).strip())
print("dumpable:", libc.prctl(PR_GET_DUMPABLE))
print("executed sandbox:", subprocess.run(["unshare", "--user", "--map-root-user", "id", "-u"], stdout=subprocess.PIPE, text=True).stdout.strip(), flush=True)
if os.getuid() != 0:
    try:
        uid = os.getuid()
        if libc.unshare(CLONE_NEWUSER):
            raise OSError(ctypes.get_errno(), "unshare")
        with open("/proc/self/uid_map", "w") as f:
            f.write(f"0 {uid} 1")
        print("own sandbox:", os.getuid())
    except PermissionError:
        print("own sandbox: refused")
