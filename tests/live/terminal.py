"""A program on a terminal of its own, for tests that type and look."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time


class Terminal:
    """argv with a pseudo-terminal as stdin, stdout and stderr; owner: whose it
    is, as a login makes it, by number."""

    def __init__(self, argv, rows=37, cols=91, owner=None):
        self.master, self.slave = pty.openpty()
        if owner is not None:
            os.fchown(self.slave, owner, -1)
        self.resize(rows, cols)
        self.before = termios.tcgetattr(self.slave)
        self.screen = self.all = b""   # all: also what shows() took

        def controlling():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        self.process = subprocess.Popen(
            argv, stdin=self.slave, stdout=self.slave, stderr=self.slave,
            preexec_fn=controlling)

    def resize(self, rows, cols):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, cols, 0, 0))

    def type(self, keys):
        os.write(self.master, keys)

    def read(self, seconds):
        """What comes within that time goes onto the screen; False: none."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        try:
            part = os.read(self.master, 65536)
        except OSError:   # nobody has it any more
            return False
        self.screen += part
        self.all += part
        return True

    def shows(self, pattern, seconds=15):
        """True once that is on the screen; what was before it goes."""
        until = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.screen)
            if found:
                self.screen = self.screen[found.end():]
                return True
            if time.monotonic() > until:
                return False
            self.read(0.1)

    def ends(self, seconds=20):
        """The exit status; None when it does not end."""
        until = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < until:
            self.read(0.05)
        while self.read(0):
            pass
        return self.process.poll()

    def make_usual(self):
        termios.tcsetattr(self.slave, termios.TCSANOW, self.before)

    def is_restored(self):
        return termios.tcgetattr(self.slave) == self.before

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.slave)
        os.close(self.master)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
