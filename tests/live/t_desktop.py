"""What a user's desktop listens on, reached for from inside: by the variable, by
the path and by the abstract name, of programs that really listen. Each is
reached from outside first, by the same words, so that silence means something.
And the user's keys in the kernel, and the terminal that membrane runs at."""
import fcntl
import json
import os
import select
import shutil
import subprocess

import live
from live import Place, check, test, within
from terminal import Terminal

POLICY = "allow: [site.test]\n" + live.UNTRACED

# Listens at each path and abstract name it is told, until its input ends; one
# line for each who came.
LISTEN = """
import selectors, socket, sys
ready = selectors.DefaultSelector()
for name in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX)
    s.bind("\\0" + name[1:] if name.startswith("@") else name)
    s.listen(50)
    ready.register(s, selectors.EVENT_READ, name)
ready.register(sys.stdin, selectors.EVENT_READ)
print("up", flush=True)
while True:
    for key, _ in ready.select():
        if key.data is None:
            sys.exit()
        key.fileobj.accept()[0].close()
        print("came", key.data, flush=True)
"""

# {what: [words]}: a path, an abstract name, a program that goes by a variable.
REACH = """
import json, os, socket, subprocess, sys
def connects(name):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(3)
        s.connect("\\0" + name[1:] if name.startswith("@") else name)
    return True
def works(*argv):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, timeout=20,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0
out = {}
for what, words in json.loads(sys.argv[1]).items():
    try:
        out[what] = connects(*words) if len(words) == 1 else works(*words)
    except (OSError, subprocess.TimeoutExpired):
        out[what] = False
print(json.dumps(out))
"""


def made(path):
    """As root, for the user: a folder that was not there is mounted over."""
    subprocess.run(live.the.enter("mkdir", "-p", path), check=True)
    subprocess.run(live.the.enter(
        "mount", "-t", "tmpfs", "-o", "mode=700,uid=%d,gid=%d" % (
            live.the.uid, live.the.gid), "none", path), check=True)


class Desktop:
    """A user's services, in the host of this world."""

    def __init__(self, where):
        self.where = where
        self.at = "/run/user/%s" % live.the.user
        self.folders = [self.at, "/tmp/.X11-unix", "/run/dbus"]
        self.began = []
        number = live.the.run.name[-6:]   # names are the network namespace's
        self.variables = {
            "XDG_RUNTIME_DIR": self.at, "DISPLAY": ":7",
            "WAYLAND_DISPLAY": "wayland-7",
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=%s/bus" % self.at,
            "SSH_AUTH_SOCK": self.at + "/ssh-agent",
            "GNUPGHOME": self.at + "/gnupg",
            "DOCKER_HOST": "unix://%s/docker.sock" % self.at,
            "PULSE_SERVER": "unix:%s/pulse" % self.at,
            "AT_SPI_BUS_ADDRESS": "unix:abstract=/at-spi-" + number}
        self.names = ["/tmp/.X11-unix/X7", "@/tmp/.X11-unix/X7",
                      "/run/dbus/system_bus_socket"] + [
            self.at + "/" + name for name in (
                "wayland-7", "docker.sock", "pulse", "pipewire-0",
                "keyring-control")] + ["@/at-spi-" + number, "@/dbus-" + number,
                                       "@/ibus-" + number]

    def begin(self, *argv, **more):
        self.began.append(subprocess.Popen(live.the.as_user(
            *argv, env=self.variables), stdin=subprocess.PIPE, text=True,
            **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL,
               **more}))
        return self.began[-1]

    def __enter__(self):
        try:
            for folder in self.folders:
                made(folder)
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        self.listener = self.begin("python3", "-c", LISTEN, *self.names,
                                   stdout=subprocess.PIPE)
        self.listener.stdout.readline()
        self.ways = {name: [name] for name in self.names}
        self.begin("ssh-agent", "-D", "-a", self.variables["SSH_AUTH_SOCK"])
        key = self.where.root / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
                        key], check=True)
        self.where.own()
        self.ways["ssh-agent"] = [self.variables["SSH_AUTH_SOCK"]]
        self.ways["ssh-add"] = ["ssh-add", "-l"]
        check(within(5, lambda: subprocess.run(live.the.as_user(
            "ssh-add", "-q", str(key), env=self.variables), check=False,
            capture_output=True).returncode == 0), "a key in the agent")
        if shutil.which("dbus-daemon"):
            self.begin("dbus-daemon", "--session", "--nofork", "--address=" +
                       self.variables["DBUS_SESSION_BUS_ADDRESS"])
            self.ways["bus"] = [self.at + "/bus"]
            self.ways["dbus-send"] = [
                "dbus-send", "--session", "--print-reply",
                "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.GetId"]
        if shutil.which("gpg-agent"):
            home = self.variables["GNUPGHOME"]
            subprocess.run(live.the.as_user("mkdir", "-m", "700", home),
                           check=True)
            # it goes on behind this, until __exit__() has it ended
            self.begin("gpg-agent", "--daemon", "--homedir", home)
            self.ways["gpg-agent"] = subprocess.run(live.the.as_user(
                "gpgconf", "--homedir", home, "--list-dirs", "agent-socket"),
                check=True, text=True, capture_output=True).stdout.split()

    def reach(self, argv):
        """By words that are run, as the user or in a session: {way: reached}."""
        done = subprocess.run(argv, capture_output=True, text=True, timeout=90,
                              stdin=subprocess.DEVNULL, check=False)
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise live.Failed("it did not run: " + done.stdout[-300:] +
                              done.stderr[-600:]) from None

    def visitors(self):
        """Who has come since the last time."""
        out = self.listener.stdout.fileno()
        said = b""
        while select.select([out], [], [], 0.2)[0]:
            said += os.read(out, 65536)
        return said.decode().splitlines()

    def __exit__(self, *_):
        if shutil.which("gpgconf"):
            subprocess.run(live.the.as_user(
                "gpgconf", "--homedir", self.variables["GNUPGHOME"], "--kill",
                "gpg-agent"), check=False, capture_output=True)
        for process in self.began:
            process.kill()
            process.wait()
        for folder in self.folders:
            subprocess.run(live.the.enter("umount", "-l", folder), check=False,
                           capture_output=True)


@test
def nobody_of_the_desktop_is_reached():
    with Place() as where, live.instead(where, {
            "/etc/passwd": live.with_a_name()}), Desktop(where) as desk:
        words = ["--env=%s=%s" % v for v in desk.variables.items()]
        (where.state / "config.yaml").write_text(
            "engine: %s\n" % live.ENGINE + POLICY +
            "args: %s\n" % json.dumps(words))
        where.env = {k: v for k, v in desk.variables.items()
                     if k != "DOCKER_HOST"}
        where.own()
        asked = ["python3", "-c", REACH, json.dumps(desk.ways)]
        outside = {}

        def all_are_up():
            outside.update(desk.reach(live.the.as_user(
                *asked, env=desk.variables)))
            return all(outside.values())
        check(within(10, all_are_up), "outside all of them are reached",
              outside)
        check(set(desk.names) <= {v.split()[-1] for v in desk.visitors()},
              "and say who comes")
        inside = desk.reach(where.argv("run", "--", *asked))
        check(inside == dict.fromkeys(desk.ways, False), "inside none is",
              [way for way, reached in inside.items() if reached])
        check(desk.visitors() == [], "and nobody came")
        live.notes.append("%d ways" % len(inside))


KEYS = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(250, 1, None)
for ring in -3, -4:
    libc.syscall(248, b"user", b"of-the-launcher-%d" % -ring, b"secret", 6, ring)
os.execvp(sys.argv[1], sys.argv[1:])
"""
SEARCH = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer(64)
def asks(*call):
    got = libc.syscall(*call)
    return got if got >= 0 else -ctypes.get_errno()
print("keys", "of-the-launcher" in open("/proc/keys").read())
for ring in 3, 4:
    name = b"of-the-launcher-%d" % ring
    found = asks(250, 10, -ring, b"user", name, 0)
    print("search", found > 0, asks(250, 11, found, room, 64) == 6)
    print("request", asks(249, b"user", name, None, 0) > 0)
    print("add", asks(248, b"user", b"mine", b"x", 1, -ring) > 0)
print("join", asks(250, 1, None) > 0)
"""


@live.only(os.uname().machine == "x86_64", "its numbers are of another machine")
def keys_in_the_kernel_are_the_launchers():
    """Of its session and of its user: found by whatever it runs, but not by who
    is inside."""
    with Place(POLICY) as where:
        argv = where.argv("run", "--", "python3", "-c", SEARCH)
        at = argv.index(live.the.membrane)
        begin = argv[:at] + ["python3", "-c", KEYS]
        seen = subprocess.run([*begin, "python3", "-c", SEARCH], text=True,
                              capture_output=True, check=True).stdout.split()
        check(set(seen[1::2]) >= {"True"} and seen[:2] == ["keys", "True"] and
              seen.count("True") >= 6, "outside they are there", seen)
        done = subprocess.run(begin + argv[at:], text=True, check=False,
                              capture_output=True, timeout=90,
                              stdin=subprocess.DEVNULL)
        said = done.stdout.split()
        check("join" in said and "True" not in said, "inside there are none",
              done.stdout + done.stderr)


PUSH = """
import fcntl, glob, os, termios
def pushes(fd):
    for c in b"echo pushed\\n":
        fcntl.ioctl(fd, termios.TIOCSTI, bytes([c]))
opened = []
for path in "/dev/tty", "/dev/console", "/dev/tty0", *glob.glob("/dev/pts/*"):
    try:
        opened.append((os.open(path, os.O_RDWR | os.O_NOCTTY), path))
    except OSError:
        pass
for fd, name in [(0, "0"), (1, "1"), (2, "2"), *opened]:
    for what in pushes, lambda fd: fcntl.ioctl(fd, 0x541D), \
            lambda fd: fcntl.ioctl(fd, 0x541C, b"\\3\\0"):
        try:
            what(fd)
            print("did", name)
        except OSError:
            pass
print("of", [name for _, name in opened])
"""


@test
def the_terminal_of_the_caller_is_not_typed_at():
    """With the session's own in its place, and where streams are pipes."""
    with Place(POLICY) as where:
        argv = where.argv("run", "--", "python3", "-c", PUSH)
        for begin, seen in (
                ([], rb"of \['/dev/tty', (?:'/dev/console', )?'/dev/pts/0', "
                 rb"'/dev/pts/ptmx'\]"),
                (["sh", "-c", "\"$@\" </dev/null 2>&1 | cat", "sh"],
                 rb"of \['/dev/pts/ptmx'\]")):
            with Terminal(begin + argv) as t:
                check(t.ends(60) == 0, "it ends", t.all)
                check(t.shows(seen, 1), "no other is there", t.all)
                check(not begin or b"did" not in t.all,
                      "nothing is done to a pipe", t.all)
                fcntl.fcntl(t.slave, fcntl.F_SETFL, os.O_NONBLOCK)
                try:
                    typed = os.read(t.slave, 100)
                except BlockingIOError:
                    typed = b""
                check(not typed, "nothing was typed", typed)
                check(t.is_restored(), "it is as it was")
