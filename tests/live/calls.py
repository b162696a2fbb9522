"""Runs inside the sandbox: make system calls, say how each ended.

    python3 calls.py NAME...

prints one JSON object: of each name "ok", or the name of its error. Numbers are
those of amd64 and arm64.
"""
import ctypes
import errno
import json
import mmap
import os
import platform
import signal
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
ARM = platform.machine() == "aarch64"
CLONE_NEWUSER = 0x10000000


def call(amd64, arm64, *args):
    """The call's result, or OSError."""
    result = LIBC.syscall(*[ctypes.c_long(v) for v in (
        arm64 if ARM else amd64, *args)])
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def socket(family, kind, protocol):
    return lambda: call(41, 198, family, kind, protocol)


def pair(family):
    return lambda: call(53, 199, family, 1, 0, room())


NOTHING = ctypes.create_string_buffer(256)


def room():
    return ctypes.addressof(NOTHING)


def in_child(what):
    """How a child that does it ends: "ok", the error, or the signal."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            what()
            os.write(writes, b"ok")
        except OSError as e:
            os.write(writes, errno.errorcode[e.errno].encode())
        os._exit(0)
    os.close(writes)
    said = os.read(reads, 100).decode()
    os.close(reads)
    ended = os.waitpid(child, 0)[1]
    return said or signal.Signals(os.WTERMSIG(ended)).name


def i386():
    """socketcall(SOCKET, {AF_VSOCK, SOCK_STREAM, 0}) by int 0x80."""
    low = 0x40   # MAP_32BIT
    page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | low,
                     mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    at = ctypes.addressof(ctypes.c_char.from_buffer(page))
    page[0:12] = b"".join(v.to_bytes(4, "little") for v in (40, 1, 0))
    # mov eax, 102; push rbx; mov ebx, 1; mov ecx, at; int 0x80; pop rbx; ret
    page[64:84] = (b"\xb8\x66\0\0\0" b"\x53" b"\xbb\1\0\0\0" b"\xb9" +
                   at.to_bytes(4, "little") + b"\xcd\x80\x5b\xc3")
    result = ctypes.CFUNCTYPE(ctypes.c_int)(at + 64)()
    if result < 0:
        raise OSError(-result, "")


def forks(*args):
    """A child of the call itself ends at once."""
    def make():
        pid = call(*args)
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
    return make


def clone(flags):
    return forks(56, 220, flags | signal.SIGCHLD, 0, 0, 0, 0)


# struct clone_args: the flags first, the signal at the end as the fifth.
CLONE_ARGS = (ctypes.c_uint64 * 11)(CLONE_NEWUSER, 0, 0, 0, signal.SIGCHLD)


CALLS = {
    "unix": socket(1, 1, 0),
    "tcp": socket(2, 1 | 0x80000, 6),
    "udp6": socket(10, 2 | 0x800, 17),
    "route": socket(16, 3, 0),
    "unix pair": pair(1),
    "vsock": socket(40, 1, 0),
    "alg": socket(38, 5, 0),
    "packet": socket(17, 3, 0),
    "raw": socket(2, 3, 1),
    "ping": socket(2, 2, 1),
    "sctp": socket(2, 1, 132),
    "sctp unnamed": socket(2, 5, 0),
    "udplite": socket(2, 2, 136),
    "mptcp": socket(2, 1, 262),
    "netfilter": socket(16, 3, 12),
    "audit": socket(16, 3, 9),
    "tipc pair": pair(30),
    "vsock, upper half set": socket(40 + (1 << 32), 1, 0),
    "io_uring": lambda: call(425, 425, 4, room()),
    "userfaultfd": lambda: call(323, 282, 0x80001),
    "keyctl": lambda: call(250, 219, 0, -3, 0),
    "add_key": lambda: call(248, 217, room(), room(), 0, 0, -3),
    "bpf": lambda: call(321, 280, 0, 0, 0),
    "perf_event_open": lambda: call(298, 241, room(), 0, -1, -1, 0),
    "modify_ldt": lambda: call(154, 1000, 0, 0, 0),
    "memfd_secret": lambda: call(447, 447, 0),
    "unshare user": lambda: call(272, 97, CLONE_NEWUSER),
    "unshare mounts": lambda: call(272, 97, 0x20000),
    "setns": lambda: call(308, 268, os.open("/proc/self/ns/user", 0), 0),
    "clone": clone(0),
    "clone user": clone(CLONE_NEWUSER),
    "clone3 user": forks(435, 435, ctypes.addressof(CLONE_ARGS), 88),
    "chroot": lambda: os.chroot("/"),
    "mount": lambda: call(165, 40, room(), room(), room(), 0, 0),
    "fsopen": lambda: call(430, 430, room(), 0),
    "newer": lambda: call(600, 600),
    "ptrace child": lambda: call(101, 117, 0, 0, 0, 0),
    "i386": i386,
    "x32": lambda: call(0x40000000 + 39, 1000),
}


def main():
    print(json.dumps({name: in_child(CALLS[name]) for name in sys.argv[1:]}))


main()
