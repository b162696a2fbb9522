"""A view of a folder, in mount namespaces of its own: what view_live.py and the
benchmark begin with. Needs root.
"""
import contextlib
import ctypes
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VIEW = ROOT / os.environ.get("VIEW_PROGRAM", "build/bin/membrane-view")
libc = ctypes.CDLL(None, use_errno=True)
NEWNS, REC, PRIVATE, SHARED, BIND = 0x20000, 0x4000, 1 << 18, 1 << 20, 0x1000
DETACH = 2
# As the guard's container starts it.
LIMITED = ["setpriv", "--no-new-privs", "--bounding-set",
           "-all,+sys_admin,+setuid,+setgid,+setpcap", "--"]
HEAD = "membrane-mounts 1\nworkspace /workspace\n"


def mount(source, target, kind, flags):
    if libc.mount(*(None if x is None else os.fsencode(x)
                    for x in (source, target, kind)), flags, None):
        raise OSError(ctypes.get_errno(), "mount %s" % target)


def unshare():
    """Mounts of our own from here on; nothing of them reaches the host."""
    if libc.unshare(NEWNS):
        raise OSError(ctypes.get_errno(), "unshare")
    mount("none", "/", None, REC | PRIVATE)


def quoted(path):
    """As a path stands in what is said on stdin."""
    return b"".join(b"%%%02X" % c if c <= 0x20 or c in b"%\x7f" else
                    bytes([c]) for c in os.fsencode(path))


class View:
    """source is made, and everything is removed again."""

    def __init__(self, rules="", owner=(0, 0), say=(), top=None):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="membrane-view-",
                                                 dir=top))
        self.source, self.shared = self.top / "source", self.top / "view"
        self.at = self.shared / "workspace"
        self.owner, self.say, self.rules = owner, say, rules
        self.p, self.said, self.rest = None, [], b""

    def __enter__(self):
        os.chmod(self.top, 0o755)
        for d in (self.source, self.shared):
            d.mkdir()
            os.chown(d, *self.owner)
            os.chmod(d, 0o700)
        mount(self.shared, self.shared, None, BIND)
        mount("none", self.shared, None, SHARED)
        (self.top / "mounts.plan").write_text(HEAD + self.rules)
        return self

    def start(self, root=None, wait=True):
        st = os.stat(self.source)
        words = [b"membrane-view 1", b"owner %d %d" % self.owner,
                 b"root %d %d" % (root or (st.st_dev, st.st_ino)),
                 *self.say, b"go", b""]
        self.p = subprocess.Popen(
            LIMITED + [VIEW, self.top / "mounts.plan", self.source, self.at],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.p.stdin.write(b"\n".join(words))
        self.p.stdin.flush()
        if wait and not self.event("ready"):
            raise AssertionError("not ready: %s" % self.said)
        return self

    def word(self, text):
        self.p.stdin.write(text)
        self.p.stdin.flush()

    def read(self, wait_s):
        """What is there to read; False: nothing more will be."""
        if not select.select([self.p.stdout], [], [], max(0, wait_s))[0]:
            return True
        text = os.read(self.p.stdout.fileno(), 65536)
        *lines, self.rest = (self.rest + text).split(b"\n")
        self.said += [json.loads(line) for line in lines]
        return bool(text)

    def event(self, name, wait_s=10, **want):
        """The first line like that, waited for; None."""
        until = time.monotonic() + wait_s
        while True:
            for line in self.said:
                if line["event"] == name and all(
                        line.get(k) == v for k, v in want.items()):
                    return line
            if time.monotonic() > until or \
                    not self.read(until - time.monotonic()):
                return None

    def server(self):
        pid = self.p.pid
        return int(pathlib.Path("/proc/%d/task/%d/children" %
                                (pid, pid)).read_text().split()[0])

    def mounted(self):
        return any(line.split()[4] == str(self.at) for line in
                   open("/proc/self/mountinfo", encoding="utf-8"))

    def stop(self):
        """Its end by the end of stdin: status and what it said on stderr."""
        with contextlib.suppress(OSError):
            self.p.stdin.close()
        until = time.monotonic() + 15
        while self.read(until - time.monotonic()):
            if time.monotonic() > until:
                raise AssertionError("does not end")
        return self.p.wait(15), self.p.stderr.read().decode()

    def __exit__(self, *_):
        if self.p and self.p.poll() is None:
            self.p.send_signal(signal.SIGKILL)
            self.p.wait()
        for path in (self.at, self.shared):
            libc.umount2(os.fsencode(path), DETACH)
        shutil.rmtree(self.top)
