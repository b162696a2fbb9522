"""What a tool may try against the process that started it: attack.py WAY ..."""
import ctypes
import fcntl
import os
import platform
import re
import signal
import socket
import sys
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
way, args = sys.argv[1], sys.argv[2:]


def why(result):
    return "given" if result >= 0 else os.strerror(ctypes.get_errno())


def mem(pid, _):
    """All that it has written to, for the secret."""
    with open("/proc/%s/mem" % pid, "rb", 0) as m:
        for line in open("/proc/%s/maps" % pid, encoding="utf-8"):
            at = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            beg, end = (int(x, 16) for x in at.groups()) if at else (0, 0)
            if not 0 < end - beg <= 64 << 20:
                continue
            try:
                m.seek(beg)
                found = b"TOKEN-first" in m.read(end - beg)
            except OSError:
                continue
            if found:
                return "TOKEN-first is in its memory"
    return "not seen in its memory"


def ptrace(pid, _):
    return "seize: " + why(libc.ptrace(0x4206, int(pid), 0, 0))


def readv(pid, _):
    class Part(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
    room = ctypes.create_string_buffer(16)
    own = Part(ctypes.addressof(room), 16)
    other = Part(0x400000, 16)
    n = libc.process_vm_readv(int(pid), ctypes.byref(own), 1,
                              ctypes.byref(other), 1, 0)
    # EFAULT: it may look, and there is nothing at that address
    given = n > 0 or ctypes.get_errno() == 14
    return "readv: " + ("given" if given else why(n))


def getfd(pid, fd):
    held = os.pidfd_open(int(pid))
    return "getfd: " + why(libc.syscall(438, held, int(fd), 0))


def signals(pid, _):
    """SIGUSR1 by each call that sends one, with bits that are not read, too."""
    numbers = {"x86_64": (62, 200, 234, 129, 297, 424),
               "aarch64": (129, 130, 131, 138, 240, 424)}
    kill, tkill, tgkill, queue, tgqueue, pidfd = numbers[platform.machine()]
    info = ctypes.create_string_buffer(128)
    info[0], info[8] = signal.SIGUSR1, 0xff   # si_code: SI_QUEUE, -1
    info[9] = info[10] = info[11] = 0xff
    held, pid = os.pidfd_open(int(pid)), int(pid)
    said = []
    for ten in (10, 10 | 1 << 32):
        ten = ctypes.c_ulong(ten)
        said += [why(libc.syscall(*call)) for call in (
            (kill, pid, ten), (tkill, pid, ten), (tgkill, pid, pid, ten),
            (queue, pid, ten, info), (tgqueue, pid, pid, ten, info),
            (pidfd, held, ten, 0, 0))]
    return "signals: " + ", ".join(said)


def exchange(one, other):
    return why(libc.renameat2(-100, one.encode(), -100, other.encode(), 2))


def thread(path):
    """A thread that is not the first of its process asks."""
    out = []

    def read():
        try:
            out.append(open(path, encoding="utf-8").read())
        except OSError as e:
            out.append(str(e))
    t = threading.Thread(target=read)
    t.start()
    t.join()
    return out[0]


def sigio(pid):
    """The kernel sends SIGUSR1 to whoever owns a descriptor."""
    a, b = socket.socketpair()
    fcntl.fcntl(a, fcntl.F_SETOWN, int(pid))
    fcntl.fcntl(a, 10, signal.SIGUSR1)   # F_SETSIG
    fcntl.fcntl(a, fcntl.F_SETFL, os.O_ASYNC)
    b.send(b"x")
    time.sleep(0.1)
    return "sent"


try:
    print(globals()[way](*args))
except OSError as e:
    print("refused:", e)
