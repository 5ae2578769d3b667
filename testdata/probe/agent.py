"""An agent in Python: it starts its first argument by every way that Python has."""
import multiprocessing
import os
import subprocess
import sys


def key():
    return "has the key" if os.environ.get("AGENT_KEY") else "clean"


def worker(label):
    print(f"{label}: {key()}", flush=True)


def main():
    child = sys.argv[1]
    print("agent:", key(), flush=True)
    subprocess.run([child, "-l", "subprocess"], check=True)
    subprocess.run(child + " -l subprocess-shell", shell=True, check=True)
    subprocess.run([child, "-l", "session"], start_new_session=True, close_fds=True, check=True)
    os.system(child + " -l system")
    os.waitpid(os.posix_spawn(child, [child, "-l", "posix_spawn"], os.environ), 0)
    os.spawnv(os.P_WAIT, child, [child, "-l", "spawnv"])
    for n in range(2):
        pid = os.fork()
        if pid == 0:
            print(f"worker {n}: {key()}", flush=True)  # a copy of the agent, no program of its own
            subprocess.run([child, "-l", f"worker {n} child"], check=True)
            os.execv(child, [child, "-l", f"worker {n} exec"])
        os.waitpid(pid, 0)
    for method in "fork", "spawn":
        p = multiprocessing.get_context(method).Process(target=worker, args=("multiprocessing " + method,))
        p.start()
        p.join()


if __name__ == "__main__":
    main()
