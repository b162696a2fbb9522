"""Sessions of a Docker that a user runs without root (rootless.sh)."""
import contextlib
import json
import pathlib
import shlex
import shutil
import subprocess
import threading

import live
from live import Failed, Log, Skip, check, matching, within

test = live.docker_only("a daemon without root")

SCRIPT = live.HERE / "rootless.sh"
POLICY = "allow: [site.test]\nignore: [.env]\ntrace: {engine: off}\n"

# A name that is replaced again and again may be gone twice in one look.
RACE = """
opened = leaked = 0
for _ in range(20000):
    try:
        leaked += len(open(".env").read())
        opened += 1
    except OSError as e:
        assert e.errno == 116, e
print(opened, leaked)
"""

# Of a server that may not listen yet.
FETCH = """
import sys, time, urllib.request
for _ in range(200):
    try:
        sys.exit(print(end=urllib.request.urlopen(sys.argv[1]).read().decode()))
    except OSError:
        time.sleep(0.1)
"""


class Host:
    """Where it is, and what its user runs there."""

    def __init__(self):
        out = subprocess.run([SCRIPT, "env"], check=True, text=True,
                             capture_output=True).stdout
        env = dict(shlex.split(line)[0].split("=", 1)
                   for line in out.splitlines())
        # the user's name for it, and ours
        self.at, self.data = env["at"], pathlib.Path(env["data"])
        self.state = self.data / "home" / ".membrane"

    def run(self, *argv, how="user", status=None, seconds=90):
        done = subprocess.run([SCRIPT, how, *argv], text=True, timeout=seconds,
                              capture_output=True, check=False)
        if status is not None:
            check(done.returncode == status, "status %d of %s" % (
                status, argv), (done.returncode, done.stdout, done.stderr))
        return done

    def workspace(self, name, policy=POLICY, owner=None):
        """Made anew, with a secret; the path by which the user knows it."""
        folder = self.data / "home" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for file, text in ((".membrane.yaml", policy), (".env", "SECRET\n"),
                           ("plain", "hello\n")):
            (folder / file).write_text(text)
            self.chown(folder / file, owner)
        self.chown(folder, owner)
        return "%s/home/%s" % (self.at, name)

    @staticmethod
    def chown(path, owner):
        subprocess.run(["chown", "%s:%s" % (owner or live.the.uid,
                                            live.the.gid), path], check=True)

    def membrane(self, where, *argv, **more):
        return self.run("env", "-C", where, self.at + "/tree/build/bin/membrane",
                        *argv, **more)

    def mounted(self):
        """Mounts of ours that the daemon has."""
        text = self.run("cat", "/proc/self/mountinfo", how="inside",
                        status=0).stdout
        return [line for line in text.splitlines() if "/.membrane/" in line]

    def nothing_is_left(self, when):
        check(not self.mounted(), "nothing is mounted " + when, self.mounted())
        # a gate may end behind its launcher
        check(within(10, lambda: not self.containers()),
              "no container is there " + when, self.containers())

    def containers(self):
        return self.run("docker", "ps", "-a", "--format",
                        "{{.Names}} {{.Status}}", status=0).stdout


@contextlib.contextmanager
def rootless():
    up = subprocess.run([SCRIPT, "up"], text=True, capture_output=True,
                        check=False)
    if up.returncode == 77:
        raise Skip(up.stdout.strip())
    if up.returncode:
        raise Failed("no rootless Docker: " + up.stderr)
    try:
        yield Host()
    finally:
        subprocess.run([SCRIPT, "down"], check=True)


@test
def session_holds_and_reaches():
    with rootless() as h:
        where, log = h.workspace("ws"), Log("inet.jsonl")
        done = h.membrane(
            where, "run", "--trust-workspace", "--", "sh", "-c",
            "id -u; cat .env plain; echo x >.env; echo made >made;"
            "curl -sS https://site.test/; curl -sS https://other.test/;"
            "grep CapBnd /proc/self/status; grep workspace /proc/mounts")
        check("hello from site.test" in done.stdout, "a grant", done)
        check("SECRET" not in done.stdout and "hello\n" in done.stdout,
              "the mask holds", done.stdout)
        check("Could not resolve host: other.test" in done.stderr,
              "what is not granted is not there", done.stderr)
        check("read .env" in done.stderr, "and is told", done.stderr)
        check("CapBnd:\t0000000000000000" in done.stdout, "no capability",
              done.stdout)
        check("fuse.membrane" in done.stdout, "a view", done.stdout)
        live.the.settle()
        check(matching(log.events(), sni="site.test"), "it arrived")
        folder = h.data / "home" / "ws"
        check((folder / ".env").read_text() == "SECRET\n", "as it was")
        made = (folder / "made").stat()
        check((made.st_uid, made.st_gid) == (live.the.uid, live.the.gid),
              "what is made is the user's", made)
        h.nothing_is_left("afterwards")


@test
def masks_hold_against_the_users_renames():
    """The view's folder is in the daemon's mounts, the user's edits are not."""
    with rootless() as h:
        where, folder = h.workspace("ws"), h.data / "home" / "ws"
        stop, renames = threading.Event(), 0

        def replace():
            nonlocal renames
            while not stop.is_set():
                (folder / "new").write_text("SECRET\n")
                (folder / "new").rename(folder / ".env")
                renames += 1
        thread = threading.Thread(target=replace)
        thread.start()
        try:
            done = h.membrane(
                where, "run", "--trust-workspace", "--", "python3", "-c",
                RACE, status=0)
        finally:
            stop.set()
            thread.join()
        opened, leaked = map(int, done.stdout.split() or (0, -1))
        check(leaked == 0 and opened > 10000, "what was opened, and read",
              done.stdout)
        check(renames > 1000, "renamed meanwhile", renames)


@test
def ports_and_life_are_as_elsewhere():
    with rootless() as h:
        where = h.workspace("ws", POLICY + "ports: [18080]\n")
        h.membrane(where, "start", "--trust-workspace", "--",
                   "python3", "-m", "http.server", "18080", status=0)
        got = subprocess.run(
            live.the.enter("python3", "-c", FETCH, "http://127.0.0.1:18080/plain"),
            text=True, capture_output=True, check=False)
        check(got.stdout == "hello\n", "a published port", got)
        session = h.membrane(where, "ps", "--ids", status=0).stdout.strip()
        check(len(h.mounted()) == 1, "one mount of the session's", h.mounted())
        h.membrane(where, "allow", "more.test:443", "--yes", "--session",
                   session, status=0)
        change = json.loads((h.state / "sessions" / session / "changes.jsonl")
                            .read_text().splitlines()[-1])
        check(change["who"]["uid"] == live.the.uid,
              "who it was, as the host counts", change)
        h.membrane(where, "stop", session, status=0)
        h.nothing_is_left("after stop")
        # killed, and who looks after it, too
        h.membrane(where, "start", "--trust-workspace", "--", "sleep", "300",
                   status=0)
        h.run("pkill", "-KILL", "-f", "bin/membrane start", status=0)
        check(h.mounted(), "left behind")
        h.membrane(where, "run", "--trust-workspace", "--", "true", status=0)
        h.nothing_is_left("after the next session")


@test
def workspace_of_somebody_else():
    """The rights there are the user's own, not root's and not the owner's."""
    with rootless() as h:
        where = h.workspace("others", owner=1000)
        (h.data / "home" / "others").chmod(0o755)
        done = h.membrane(where, "run", "--trust-workspace", "--", "sh", "-c",
                          "cat plain; echo x >made || echo no", status=0)
        check("hello\n" in done.stdout and "no\n" in done.stdout,
              "readable, and not written", done)


@test
def what_a_rootless_docker_cannot():
    with rootless() as h:
        where = h.workspace("ws", "protect: [{files: [~/token], by: cat}]\n"
                            "trace: {engine: off}\n")
        done = h.membrane(where, "run", "--trust-workspace", "--", "cat",
                          "token", status=125)
        check("'protect' does not work with a rootless Docker" in done.stderr,
              "protect, and why", done.stderr)
        where = h.workspace("ws", "trace: {required: true}\n")
        done = h.membrane(where, "run", "--trust-workspace", "--", "true",
                          status=125)
        check("in a user namespace nothing can be traced" in done.stderr,
              "the tracer, and why", done.stderr)
        h.run("chmod", "600", "/dev/fuse", status=1)   # not the user's to do
        (h.data / "dev-fuse").chmod(0o600)
        where = h.workspace("ws")
        done = h.membrane(where, "run", "--trust-workspace", "--", "true",
                          status=125)
        check("/dev/fuse: Permission denied (chmod 666 /dev/fuse" in
              done.stderr, "a device of root's alone", done.stderr)
        found = json.loads(h.membrane(where, "doctor", "--json",
                                      status=1).stdout)
        text = json.dumps(found)
        check("chmod 666 /dev/fuse" in text, "doctor says so", text)
        (h.data / "dev-fuse").chmod(0o666)
        done = h.membrane(where, "doctor", status=0)
        check("rootless" in done.stdout and
              "sessions share one of their own" in done.stdout.replace(
                  "\n                              ", " "),
              "all that a session needs", done.stdout)
        # root, and a daemon that is somebody's
        done = subprocess.run(
            ["nsenter", "-t", h_pid(), "-m", "-p", "env",
             "HOME=%s/root" % h.at, "DOCKER_HOST=unix://%s/run/docker.sock" %
             h.at, "MEMBRANE_ENGINE=docker",
             h.at + "/tree/build/bin/membrane", "run",
             "--trust-workspace", "--workspace", where, "--", "true"],
            text=True, capture_output=True, check=False)
        check(done.returncode == 125 and
              "is rootless and user %d's, this is user 0" % live.the.uid in
              done.stderr, "not root's to use", done)
        h.nothing_is_left("of what was refused")


def h_pid():
    """The first process of the host's."""
    waits = (live.the.run / "rootless.pid").read_text().strip()
    return subprocess.run(["pgrep", "-P", waits], check=True, text=True,
                          capture_output=True).stdout.strip()
