"""What live tests are written with: sessions, and what arrived outside.

    @test
    def name_is_permitted():
        s = session("allow: [site.test]", [["get", "https://site.test/"]])
        check(s.tried[0]["ok"], "it answers")
        check(s.arrived(addr="11.0.1.1"), "it arrived out there")

A test is a function; it fails when any check() fails, and goes on after one.
tests/live/run raises the world (world.sh), runs them one after the other.
"""
import contextlib
import ctypes
import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = ROOT / "tests" / "live"
TESTS = []
failures = []
notes = []   # what a test says that passed: how much of what there is it did
# How many times slower than others a machine is (tests/guest): of bounds alone.
SLOW = int(os.environ.get("MEMBRANE_SLOW", "1"))
# What runs sessions whose policy does not say: docker, or native; native-root is
# the same where root launches it, in folders of root's; pod is a Pod's gate, which
# has no launcher (pod.py).
ENGINE = os.environ.get("MEMBRANE_ENGINE", "docker")
AS_ROOT = ENGINE == "native-root"
if AS_ROOT:
    ENGINE = os.environ["MEMBRANE_ENGINE"] = "native"


def test(function):
    TESTS.append(function)
    return function


def only(here, why):
    """A test that is skipped where that does not hold, and what it says of it."""
    def decorate(function):
        @functools.wraps(function)
        def run():
            if not here:
                raise Skip(why)
            function()
        return test(run)
    return decorate


def launcher_only(why):
    return only(ENGINE != "pod", "a launcher's: " + why)


def pod_only(why):
    return only(ENGINE == "pod", "a Pod's: " + why)


def docker_only(why):
    return only(ENGINE == "docker", "Docker's: " + why)


def native_only(why):
    return only(ENGINE == "native", "the native engine's: " + why)


def native_beside_docker(why):
    """Not where there is no Docker at all (world.sh)."""
    return only(ENGINE == "native" and
                os.environ.get("MEMBRANE_DOCKER") != "none",
                "the native engine's, beside Docker: " + why)


def user_only(why):
    """Not for sessions that root launches."""
    return only(not AS_ROOT, "a user's: " + why)


def native_user_only(why):
    return only(ENGINE == "native" and not AS_ROOT, "a user's: " + why)


def root_only(why):
    return only(AS_ROOT, "root's: " + why)


# Modules about what the gate does by itself: these are tried in Pods, too.
IN_PODS = {"t_credentials", "t_deny", "t_dns", "t_http", "t_ipv6", "t_network",
           "t_pod", "t_tls"}

# Somebody says at the end what was refused: a launcher.
SUMS = ENGINE != "pod"
# How what is hidden can be held.
MASKS = ("hold", "start") if ENGINE == "docker" else ("hold",)
# For stderr of which nothing is said of how a session was traced.
UNTRACED = "" if ENGINE == "docker" else "trace: {engine: off}\n"
# The agent runs as a user whom the image has a name for.
NAMED = "hardening: {user: '1000:1000'}\n" if ENGINE == "docker" else ""


def check(good, text, seen=None):
    if not good:
        failures.append(text if seen is None else
                        "%s\n      seen: %.700s" % (text, seen))
    return bool(good)


def is_refused(result):
    """Of probe.py: was it told no, by the kernel or by a resolver that has no
    such name? What is left without an answer is not."""
    return not result["ok"] and (
        result["error"] in ("ECONNREFUSED", "EHOSTUNREACH", "EACCES", "EPERM",
                            "ENETUNREACH") or "[Errno -2]" in result["said"])


class Failed(Exception):
    """Ends a test at once: what follows would make no sense."""


class Skip(Exception):
    """Raised by a test that cannot be run here; its text says why."""


def world_env():
    out = subprocess.run([HERE / "world.sh", "env"], check=True, text=True,
                         capture_output=True).stdout
    return dict((line.split("=", 1)[0], shlex.split(line)[0].split("=", 1)[1])
                for line in out.splitlines())


class World:
    """Paths and names of the world that stands; see world.sh env."""

    def __init__(self):
        for name, value in world_env().items():
            setattr(self, name, value)
        if AS_ROOT:
            self.user = self.group = "0"
        self.uid, self.gid = int(self.user), int(self.group)
        self.state, self.run = (pathlib.Path(p) for p in
                                (self.state, self.run))
        self.pid = (self.run / "dockerd.pid").read_text().strip()
        self.membrane = os.environ.get(
            "MEMBRANE", "%s/tree/build/bin/membrane" % self.run)
        self.sockets = {name: self.socket_in("/run/netns/" + name)
                        for name in (self.inet, self.host)}

    @staticmethod
    def socket_in(namespace):
        """A UDP socket inside a network namespace, by its path; threads enter
        alone."""
        box = []

        def enter():
            libc = ctypes.CDLL(None, use_errno=True)
            with open(namespace, "rb") as ns:
                if libc.setns(ns.fileno(), 0x40000000):
                    raise OSError(ctypes.get_errno(), "setns")
                box.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        box[0].settimeout(2)
        return box[0]

    def settle(self):
        """Until all that was sent so far is in both logs."""
        for name, addr in ((self.host, "198.18.0.2"), (self.host,
                                                       "127.0.0.1")):
            sock = self.sockets[name]
            sock.sendto(uuid.uuid4().bytes, (addr, 9))
            with contextlib.suppress(socket.timeout):
                sock.recv(100)
        time.sleep(0.03)

    def enter(self, *argv):
        """argv as root in the network and mounts of the Docker host."""
        return ["nsenter", "-t", self.pid, "-m", "-n", "--", *argv]

    def as_user(self, *argv, cwd="/", env=None, uid=None):
        # root's own may have what is in root's home
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
            if AS_ROOT else os.environ["PATH"]
        variables = {"PATH": path, "TERM": "xterm",
                     "LC_ALL": "C.UTF-8", "DOCKER_HOST": self.docker_host,
                     "MEMBRANE_ENGINE": "docker" if ENGINE == "pod" else ENGINE,
                     **(env or {})}
        return self.enter(
            "setpriv", "--reuid",
            str(self.uid if uid is None else uid), "--regid",
            str(self.gid), "--clear-groups", "--", "env", "-i", "-C",
            str(cwd), *("%s=%s" % v for v in variables.items()), *argv)

    def docker(self, *argv, check_it=True, **more):
        if ENGINE not in ("docker", "pod"):
            raise Failed("it asks Docker, which runs no part of it")
        return subprocess.run(
            ["docker", "-H", self.docker_host, *argv], check=check_it,
            text=True, capture_output=True, timeout=60 * SLOW, **more)


the = None  # the World; set by tests/live/run
# doc/schemas, of tests/check/outputs.py, where the tree has them: likewise
schemas = None


def hold(judge):
    """What was written or printed is as its schema has it."""
    for said in judge(schemas) if schemas else ():
        check(False, "doc/schemas: " + said)


class Log:
    """What a log file says from now on, in whole lines: where one goes on in
    another of the file's pages, there is a moment that has half of it."""

    LONGEST = 1 << 20

    def __init__(self, name):
        self.path = the.state / "log" / name
        end = self.path.stat().st_size
        self.start = max(0, end - self.LONGEST)
        self.start += len(self.whole())

    def whole(self):
        with self.path.open("rb") as f:
            f.seek(self.start)
            said = f.read()
        return said[:said.rfind(b"\n") + 1]

    def events(self):
        return [json.loads(line) for line in self.whole().splitlines()]


def matching(events, event=None, **fields):
    """Events of one kind (any but sync) whose fields are as given; a value
    that is a function is asked."""
    def fits(e):
        if e["event"] == "sync" or 9 in (e.get("port"), e.get("sport")):
            return False
        return (event is None or e["event"] == event) and all(
            v(e.get(k)) if callable(v) else e.get(k) == v
            for k, v in fields.items())
    return [e for e in events if fits(e)]


def left_past(events, proxy):
    """What left for any other place than the proxy; membrane itself asks for
    the proxy's name, and the kernel says of an answer that comes too late that
    nobody waits for it (ICMP, of which only TCP and UDP have ports)."""
    return [e for e in matching(events, "packet", addr=lambda a: a != proxy)
            if e["proto"] not in ("icmp", "icmp6") and e.get("port") != 53]


class Process(subprocess.Popen):
    """Waited for as long as this machine needs."""

    def wait(self, timeout=None):
        return super().wait(timeout and timeout * SLOW)

    def communicate(self, input=None, timeout=None):
        return super().communicate(input, timeout and timeout * SLOW)


PLACES = "membrane-live-"   # what their folders' names begin with
OURS = ("MEMBRANE_HOME=%s/%s" % (tempfile.gettempdir(), PLACES)).encode()


class Place:
    """A workspace and a ~/.membrane of the unprivileged user."""

    launcher = None   # who runs membrane, by number; None: that user

    def __init__(self, policy=None, workspace=None, files=None, env=None):
        self.env = env or {}
        self.root = pathlib.Path(tempfile.mkdtemp(prefix=PLACES))
        self.work, self.state = self.root / "project", self.root / "state"
        self.work.mkdir()
        self.state.mkdir()
        policy = policy or ""
        self.said = []   # by the gate of a Pod
        if ENGINE == "pod":
            policy = pod.with_words_for_a_pod(policy)
        elif ENGINE == "native" and not policy.startswith("engine:") and \
                "\nengine:" not in policy:
            policy += "\nengine: %s\n" % ENGINE   # lines keep their numbers
        (self.state / "config.yaml").write_text(policy)
        if workspace is not None:
            (self.work / ".membrane.yaml").write_text(workspace)
        shutil.copy(HERE / "probe.py", self.work)
        for name, data in (files or {}).items():
            path = os.path.join(os.fsencode(self.work), os.fsencode(name))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(data if isinstance(data, bytes) else data.encode())
        self.own()

    def own(self):
        os.chmod(self.root, 0o755)
        for top, dirs, names in os.walk(os.fsencode(self.root)):
            for name in [b"."] + dirs + names:
                os.lchown(os.path.join(top, name), the.uid, the.gid)

    def argv(self, *args):
        return the.as_user(the.membrane, *args, cwd=self.work,
                           uid=self.launcher, env={"HOME": str(self.root),
                                "MEMBRANE_HOME": str(self.state),
                                **self.env})

    def popen(self, *args, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        return Process(self.argv(*args), **more)

    def membrane(self, *args, data=None, timeout=90, text=True):
        """Run to the end: a Session."""
        out, host = Log("inet.jsonl"), Log("host.jsonl")
        start = time.monotonic()
        more = {"input": data} if data is not None else {
            "stdin": subprocess.DEVNULL}
        try:
            if ENGINE == "pod" and args[0] == "run":
                done = pod.run(self, args[1:], timeout * SLOW, **more)
            else:
                done = subprocess.run(self.argv(*args), capture_output=True,
                                      timeout=timeout * SLOW, check=False,
                                      **more)
            status, stdout, stderr = (done.returncode, done.stdout,
                                      done.stderr)
        except subprocess.TimeoutExpired as e:
            status, stdout, stderr = "timeout", e.stdout or b"", \
                e.stderr or b""
            check(False, "%s ended in %d s" % (" ".join(args)[:200],
                                               timeout * SLOW),
                  stderr.decode("utf-8", "replace"))
        if text:
            stdout = stdout.decode("utf-8", "replace")
            hold(lambda s: s.judge(args, stdout))
        stderr = stderr.decode("utf-8", "replace")
        return Session(self, status, stdout, stderr,
                       time.monotonic() - start, out, host)

    def records(self, event):
        """All records of a kind, of all sessions here."""
        if ENGINE == "pod":
            return [r for r in self.said if r["event"] == event]
        return [r for path in sorted(self.state.glob(
                    "sessions/*/decisions.jsonl"))
                for r in map(json.loads, path.read_text().splitlines())
                if r["event"] == event]

    def decisions(self):
        return self.records("decision")

    def remove(self):
        hold(lambda s: s.judge_home(self.state))
        shutil.rmtree(self.root, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


def small_program():
    """For machines of 32 bits, and static: it ends with status 0."""
    code = bytes.fromhex("b801000000" "31db" "cd80")
    at, size = 0x08048000, 84 + len(code)
    return struct.pack("<4sBBBBQHHIIIIIHHHHHH", b"\x7fELF", 1, 1, 1, 0, 0, 2, 3,
                       1, at + 84, 52, 0, 0, 52, 32, 1, 0, 0, 0) + struct.pack(
        "<IIIIIIII", 1, 0, at, at, size, size, 5, 4096) + code


@functools.lru_cache(None)
def has_narrow():
    """Does this kernel take programs and calls of 32 bits? Where not, it ends
    who makes such a call by SIGSEGV, before any filter is asked."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "small")
        path.write_bytes(small_program())
        path.chmod(0o755)
        try:
            return subprocess.run([path], check=False).returncode == 0
        except OSError:
            return False


# Of a refusal that was told: whose it was, in the line below; none, where the
# trace does not say.
WHOSE = r"membrane:   .*\n?"


def without_whose(text):
    """What differs from run to run, and comes a moment later, or not."""
    return re.sub("(?m)^" + WHOSE, "", text)


class Session:
    def __init__(self, place, status, stdout, stderr, seconds, out, host):
        the.settle()
        self.place, self.status, self.seconds = place, status, seconds
        self.stdout, self.stderr = stdout, stderr
        self.out, self.at_host = out.events(), host.events()
        self.tried = []

    def arrived(self, event=None, **fields):
        return matching(self.out, event, **fields)

    def reached_host(self, **fields):
        return matching(self.at_host, **fields)

    def parse(self, count):
        try:
            self.tried = json.loads(self.stdout)
        except ValueError:
            raise Failed("the probe did not run, status %s: %s" % (
                self.status, self.stdout[-500:] + self.stderr[-800:])) \
                from None
        if len(self.tried) != count:
            raise Failed("the probe tried %d things" % len(self.tried))
        return self


def session(policy, attempts, *flags, place=None, **more):
    """One session that runs probe.py with these attempts."""
    where = place or Place(policy, **more)
    try:
        s = where.membrane("run", *flags, "--", "python3", "probe.py",
                           json.dumps(attempts))
        s.decided = where.decisions()
        s.ended = where.records("end")
        return s.parse(len(attempts))
    finally:
        if not place:
            where.remove()


def shell(policy, command, *flags, data=None, **more):
    """One session that runs a shell command."""
    with Place(policy, **more) as where:
        s = where.membrane("run", *flags, "--", "sh", "-c", command,
                           data=data)
        s.decided = where.decisions()
        return s


# By what the first process of a part is known, where that is no container.
FIRST = {"gate": "/membrane-gate", "view": "/membrane-view",
         "agent": "/etc/membrane/init", "tracer": "/membrane-watch"}


def parent_of(pid):
    return int(pathlib.Path("/proc", str(pid), "stat").read_text()
               .rpartition(")")[2].split()[1])


def is_of_this_world(pid):
    """Its launcher, two above it, is in the network of this Docker host."""
    with contextlib.suppress(OSError):
        launcher = parent_of(parent_of(pid))
        return os.stat("/proc/%d/ns/net" % launcher).st_ino == \
            os.stat("/run/netns/" + the.host).st_ino
    return False


def first_processes(role):
    """The first processes of parts, of sessions of the native engine."""
    out = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            status = (path.parent / "status").read_text()
            numbers = status.split("NSpid:")[1].splitlines()[0].split()
            if path.read_bytes().split(b"\0")[0].decode() == FIRST[role] and \
                    numbers[-1] == "1" and \
                    is_of_this_world(path.parent.name):
                out.append(path.parent.name)
    return out


def running(label, count=1):
    """The containers that run under a label. Awaited: Docker lists one a
    moment after its command began to speak. Of the native engine the first
    processes of the parts."""
    def ids():
        if ENGINE == "native":
            role = label.partition("membrane.role=")[2]
            return [p for r in ([role] if role else FIRST)
                    for p in first_processes(r)]
        return the.docker("ps", "-q", "--filter", "label=" + label
                          ).stdout.split()
    if not within(10, lambda: len(ids()) >= count):
        raise Failed("no %d containers with %s: %s" % (count, label, ids()))
    return ids()


def is_running(role):
    """Does any session have that part now?"""
    return bool(first_processes(role) if ENGINE == "native" else the.docker(
        "ps", "-q", "--filter", "label=membrane.role=" + role).stdout)


def kill_part(role):
    """By a signal that nobody can hold, whichever engine runs it."""
    for part in running("membrane.role=" + role):
        if ENGINE == "native":
            os.kill(int(part), signal.SIGKILL)
        else:
            the.docker("kill", part)


def containers():
    """Those of sessions that the Docker host has now."""
    if ENGINE == "native":
        return []
    out = the.docker("ps", "-aq", "--filter", "label=membrane.session")
    return out.stdout.split()


def roles(*names):
    """The roles whose containers a session has: none without Docker."""
    return set(names) if ENGINE == "docker" else set()


def leftovers():
    """The containers that sessions left in the Docker host. A session that
    ended by itself does not wait for Docker to remove its gate: this does."""
    within(5, lambda: not containers())
    return containers()


@contextlib.contextmanager
def ipv6():
    """The lines of a policy whose uplink has it. Of the native engine that is
    the host's own, which has it for as long."""
    if ENGINE == "docker":
        yield "uplink: six\n"
        return
    if ENGINE == "pod":
        with pod.on_network("six"):
            yield ""
        return
    route = ["ip", "-n", the.host, "route"]
    way = ["default", "via", "fd18::2"]
    subprocess.run([*route, "add", *way], check=True)
    try:
        yield ""
    finally:
        subprocess.run([*route, "del", *way], check=True)


@contextlib.contextmanager
def instead(where, files):
    """{path: text} of the host, for as long."""
    for path, text in files.items():
        own = where.root / os.path.basename(path)
        own.write_text(text)
        subprocess.run(the.enter("mount", "--bind", str(own), path),
                       check=True)
    try:
        yield
    finally:
        for path in files:
            subprocess.run(the.enter("umount", path), check=True)


def with_a_name():
    """/etc/passwd in which the user has one: "kept"."""
    return pathlib.Path("/etc/passwd").read_text() + \
        "kept:x:%d:%d::/:/bin/sh\n" % (the.uid, the.gid)


def subordinate_numbers(where):
    """The user has a name, and 65536 numbers from 200000 on."""
    numbers = "kept:200000:65536\n"
    return instead(where, {"/etc/subuid": numbers, "/etc/subgid": numbers,
                           "/etc/passwd": with_a_name()})


def of_sessions():
    """(pid, its words) of processes in the host's network that are a test's:
    they have the folder of a Place from whoever began them. A user's are all
    that user has there."""
    pids = subprocess.run(["ip", "netns", "pids", the.host], text=True,
                          capture_output=True, check=True).stdout.split()
    for pid in pids:
        path = pathlib.Path("/proc", pid)
        with contextlib.suppress(OSError):
            if OURS in (path / "environ").read_bytes() or (
                    the.uid and path.stat().st_uid == the.uid):
                yield int(pid), (path / "cmdline").read_bytes().replace(
                    b"\0", b" ").decode("utf-8", "replace")


def strays():
    """The processes of sessions, and of who runs them, in the host's network."""
    return [words for _, words in of_sessions()]


def end_strays():
    """End what sessions of the native engine left that a test did not see to
    the end; the next test is not to count them."""
    for pid, _ in of_sessions():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def within(seconds, function):
    until = time.monotonic() + seconds * SLOW
    while not function():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


import pod  # noqa: E402  which stands on this one
