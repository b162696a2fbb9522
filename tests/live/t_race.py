"""An agent that runs while another session starts over the same folders."""
import contextlib
import os
import pathlib
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time

import live
from live import Failed, Place, check, leftovers, running, test, within

# What the agent of the first session runs: sit above a folder, wait until a
# scan opens it (or makes something in it), and put a link in its place.
SWAP = r"""
import ctypes, os, shutil, sys, time
tree, watched, name, leads, mask, rounds = sys.argv[1:7]
libc = ctypes.CDLL(None, use_errno=True)
for i in range(int(rounds)):
    if os.path.islink(name):
        os.unlink(name)
        shutil.rmtree(name + ".away")
    os.makedirs(tree, exist_ok=True)
    eye = libc.inotify_init()
    if libc.inotify_add_watch(eye, watched.encode(), int(mask)) < 0:
        raise OSError(ctypes.get_errno(), watched)
    print("armed", flush=True)
    os.read(eye, 4096)
    os.close(eye)
    time.sleep(0.02 if mask == "256" else 0)
    os.rename(name, name + ".away")
    os.symlink(leads, name)
    print("swapped", flush=True)
    if not sys.stdin.readline():
        break
while True:
    time.sleep(1)
"""
OPENED, CREATED = 0x20, 0x100
TRY = "cat {0}/key; echo planted > {0}/planted; ls -d {0}/key; echo end"


class Attacker:
    """A session whose agent swaps a folder for a link, again and again."""

    def __init__(self, where, *words):
        self.process = where.popen(
            "run", "--", "python3", "-uc", SWAP, *map(str, words),
            stdin=subprocess.PIPE, text=True)

    def hear(self, word):
        line = ""
        if select.select([self.process.stdout], [], [], 30 * live.SLOW)[0]:
            line = self.process.stdout.readline()
        if line != word + "\n":
            raise Failed("the attacker said %r in place of %r" % (line, word))

    def again(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=30)


def in_folder(where, folder):
    """The same user and state, another workspace."""
    other = Place.__new__(Place)
    other.__dict__.update(where.__dict__, work=folder)
    return other


def not_outside(where, s, what):
    check("secret" not in s.stdout and "key\n" not in s.stdout,
          "%s: nothing of the host is read" % what, s.stdout)
    check(not (where.root / "planted").exists(),
          "%s: nothing is planted on the host" % what, s.stdout)


def ran(s):
    """Natively nobody is stopped: what was exchanged ends the start instead."""
    refused = live.ENGINE == "native" and s.status == 125 and not s.stdout
    check("start again" in s.stderr if refused else
          s.status == 0 and s.stdout.endswith("end\n"),
          "the session ran", (s.status, s.stderr))


@test
def a_folder_swapped_while_it_is_mounted():
    """A pin is a writable mount: of what was looked at, or of nothing."""
    rounds = 8
    with Place("masks: start\n") as where:
        (where.root / "key").write_text("secret\n")
        (where.work / ".git/hooks").mkdir(parents=True)
        where.own()
        with Attacker(where, "x/project/.git/hooks", "x/project/.git", "x",
                      where.root, OPENED, rounds) as attacker:
            for i in range(rounds):
                attacker.hear("armed")
                s = where.membrane("run", "--", "sh", "-c", TRY.format("x"))
                not_outside(where, s, "round %d" % i)
                ran(s)
                attacker.hear("swapped")
                attacker.again()


def furnish(where, folder):
    """What masks stand on, in a folder that is no workspace at all."""
    plan = next(where.state.glob("sessions/*/plan/mounts.plan"))
    for line in plan.read_text().splitlines():
        if not line.startswith("hold "):
            continue
        path = folder / line[len("hold "):]
        path.parent.mkdir(parents=True, exist_ok=True)
        if line.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.touch()


@live.docker_only("its daemon mounts by name")
def a_workspace_below_another_swapped_while_it_is_mounted():
    """The workspace itself is a name in the other session's workspace."""
    rounds = 4
    with Place("masks: start\n") as where:
        (where.root / "key").write_text("secret\n")
        (where.work / "sub").mkdir()
        where.own()
        where.membrane("run", "--", "true")
        furnish(where, where.root)
        where.own()
        below = in_folder(where, where.work / "sub")
        with Attacker(where, "sub", "sub", "sub", where.root, CREATED,
                      rounds) as attacker:
            for i in range(rounds):
                attacker.hear("armed")
                s = below.membrane("run", "--", "sh", "-c", TRY.format("."))
                not_outside(where, s, "round %d" % i)
                check(s.status == 0 and s.stdout.endswith("end\n"),
                      "the session ran", (s.status, s.stderr))
                attacker.hear("swapped")
                attacker.again()


class Between:
    """Docker's socket with somebody in between, who may keep a request to
    themselves (hold: until it is let go) or answer in Docker's place."""

    def __init__(self, refuse=None, hold=None, times=1000):
        self.refuse, self.hold, self.times = refuse, hold, times
        self.held, self.go = threading.Event(), threading.Event()
        self.folder = tempfile.mkdtemp(prefix="membrane-between-")
        self.path = self.folder + "/docker.sock"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(64)
        os.chmod(self.folder, 0o755)
        os.chmod(self.path, 0o777)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            docker = socket.socket(socket.AF_UNIX)
            docker.connect(live.the.docker_host[len("unix://"):])
            threading.Thread(target=self.up, args=(client, docker),
                             daemon=True).start()
            threading.Thread(target=self.down, args=(docker, client),
                             daemon=True).start()

    def up(self, client, docker):
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                line = data.split(b"\r\n", 1)[0].decode("latin-1")
                if self.refuse and self.refuse in line and self.times:
                    self.times -= 1
                    body = b'{"message":"no freezer here"}'
                    client.sendall(b"HTTP/1.1 500 No\r\nApi-Version: 1.41\r\n"
                                   b"Content-Type: application/json\r\n"
                                   b"Content-Length: %d\r\n\r\n%s" %
                                   (len(body), body))
                    continue
                if self.hold and self.hold in line:
                    self.held.set()
                    self.go.wait()
                docker.sendall(data)
            docker.shutdown(socket.SHUT_WR)

    @staticmethod
    def down(docker, client):
        with contextlib.suppress(OSError):
            while data := docker.recv(65536):
                client.sendall(data)
            client.shutdown(socket.SHUT_WR)

    def env(self):
        return {"DOCKER_HOST": "unix://" + self.path}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.go.set()
        self.listener.close()
        os.unlink(self.path)
        os.rmdir(self.folder)


BEATS = "while :; do echo beat; sleep 0.05; done"


class Worker:
    """A session whose agent says again and again that it runs."""

    def __init__(self, where):
        self.process = where.popen("run", "--", "sh", "-c", BEATS, text=True)
        self.beats = 0
        threading.Thread(target=self.count, daemon=True).start()
        if not within(20, lambda: self.beats):
            raise Failed("the worker does not work")
        self.id = running("membrane.role=agent")[0]

    def count(self):
        for _ in self.process.stdout:
            self.beats += 1

    def state(self):
        return live.the.docker("inspect", "-f", "{{.State.Status}}",
                               self.id).stdout.strip()

    def goes_on(self, seconds):
        before = self.beats
        return within(seconds, lambda: self.beats > before + 3)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=30)


CREATE = "/containers/create?name=membrane-agent"


@live.docker_only("containers are paused at a start")
def others_stand_still_while_a_session_starts():
    with Place("") as where, Worker(where) as worker, \
            Between(hold=CREATE) as between:
        second = in_folder(where, where.work)
        second.env = between.env()
        s = second.popen("run", "--", "echo", "ran")
        check(between.held.wait(30), "the second session starts")
        check(worker.state() == "paused", "the first one's agent is stopped",
              worker.state())
        before = worker.beats
        time.sleep(0.5)
        check(worker.beats <= before + 1, "and does nothing")
        between.go.set()
        out, err = s.communicate(timeout=30)
        check((s.returncode, out) == (0, b"ran\n"), "the second one ran",
              (s.returncode, out, err))
        check(worker.state() == "running" and worker.goes_on(5),
              "the first one goes on", worker.state())
        check(not list(where.state.glob("sessions/*/frozen")),
              "no record is left")


@live.docker_only("containers are paused at a start")
def sessions_apart_do_not_disturb_each_other():
    with Place("") as where, Worker(where) as worker, \
            Between(hold=CREATE) as between:
        (where.root / "apart").mkdir()
        where.own()
        second = in_folder(where, where.root / "apart")
        second.env = between.env()
        s = second.popen("run", "--", "true")
        check(between.held.wait(30), "the second session starts")
        check(worker.state() == "running" and worker.goes_on(5),
              "the first one goes on meanwhile", worker.state())
        between.go.set()
        s.communicate(timeout=30)
        check(s.returncode == 0, "and the second one, too")


@live.docker_only("containers are paused at a start")
def an_agent_that_cannot_be_stopped_is_a_reason_not_to_start():
    with Place("") as where, Worker(where) as worker, \
            Between(refuse="/pause ") as between:
        (where.work / "sub").mkdir()
        where.own()
        for folder in (where.work, where.work / "sub"):
            second = in_folder(where, folder)
            second.env = between.env()
            s = second.membrane("run", "--", "echo", "ran")
            check(s.status == 125 and not s.stdout and
                  "no freezer here" in s.stderr and
                  "membrane stop" in s.stderr, "refused, with what to do",
                  (s.status, s.stdout, s.stderr))
            check(worker.goes_on(5), "the first one goes on")


@live.docker_only("containers are paused at a start")
def one_that_is_not_stopped_at_once_is_stopped_later():
    """A process that waits for a file cannot be, until it has it."""
    with Place("") as where, Worker(where) as worker, \
            Between(refuse="/pause ", times=3) as between:
        second = in_folder(where, where.work)
        second.env = between.env()
        s = second.membrane("run", "--", "echo", "ran")
        check((s.status, s.stdout) == (0, "ran\n") and not between.times,
              "the second session ran", (s.status, s.stderr))
        check(worker.goes_on(5), "the first one goes on")


@live.docker_only("containers are paused at a start")
def the_same_for_sessions_of_another_state_folder():
    """Known by what Docker says: through a view the agent writes, too."""
    for first, second in (("hold", "hold"), ("hold", "start"),
                          ("start", "hold")):
        with Place("masks: %s\n" % first) as where, Worker(where) as worker:
            stopped_by_another(where, worker, "masks: %s\n" % second)


def stopped_by_another(where, worker, policy):
    with Between(hold=CREATE) as between:
        (where.root / "other").mkdir()
        (where.root / "other/config.yaml").write_text(policy)
        where.own()
        second = in_folder(where, where.work)
        second.state = where.root / "other"
        second.env = between.env()
        s = second.popen("run", "--", "true")
        check(between.held.wait(30), "the second session starts")
        check(worker.state() == "paused", "stopped, by what Docker says",
              worker.state())
        between.go.set()
        s.communicate(timeout=30)
        check(worker.goes_on(5), "the first one goes on")


def processes_of(session):
    """The launcher and the watchdog: both have the folder's lock open, or
    had it when they were forked."""
    return [int(p.name) for p in pathlib.Path("/proc").iterdir()
            if p.name.isdigit() and session in cmdline(p)]


def cmdline(proc):
    with contextlib.suppress(OSError):
        return (proc / "cmdline").read_bytes().decode("utf-8", "replace")
    return ""


@live.docker_only("containers are paused at a start")
def a_killed_launcher_leaves_nobody_stopped():
    for both in (False, True):
        with Place("") as where, Worker(where) as worker, \
                Between(hold=CREATE) as between:
            second = in_folder(where, where.work)
            second.env = between.env()
            s = second.popen("run", "--", "echo", "mark-of-the-killed",
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
            check(between.held.wait(30), "the second session starts")
            check(worker.state() == "paused", "the agent is stopped",
                  worker.state())
            for pid in processes_of("mark-of-the-killed"):
                mine = "membrane\0run\0" in cmdline(
                    pathlib.Path("/proc", str(pid)))
                if mine and (both or os.getsid(pid) != pid):
                    os.kill(pid, signal.SIGKILL)
            s.wait(timeout=30)
            check(worker.goes_on(30), "it goes on, killed %s" % (
                "with its watchdog" if both else "alone"), worker.state())
            for pid in processes_of("mark-of-the-killed"):
                os.kill(pid, signal.SIGKILL)   # docker's command, held up


@live.docker_only("containers are paused at a start")
def two_starts_at_once_in_folders_of_each_other():
    with Place("") as where:
        (where.work / "sub").mkdir()
        where.own()
        below = in_folder(where, where.work / "sub")
        for _ in range(2):
            all_of = [p.popen("run", "--", "sh", "-c", "echo ran")
                      for p in (where, below, where, below)]
            for s in all_of:
                out, err = s.communicate(timeout=120)
                check((s.returncode, out) == (0, b"ran\n"), "each of them ran",
                      (s.returncode, out, err))
        check(not leftovers(), "no container is left", leftovers())


@live.docker_only("its daemon mounts by name")
def a_link_in_the_place_of_the_workspace_is_refused():
    """Found before anything of it is shown, by what was held open."""
    for masks in "hold", "start":
        with Place("masks: %s\n" % masks) as where:
            refused_with_a_link(where)


def refused_with_a_link(where):
    with Between(hold="/images/") as between:
        (where.work / "sub").mkdir()
        where.own()
        below = in_folder(where, where.work / "sub")
        below.env = between.env()
        s = below.popen("run", "--", "echo", "ran")
        check(between.held.wait(30), "the session starts")
        os.rename(where.work / "sub", where.work / "away")
        os.symlink(where.root, where.work / "sub")
        between.go.set()
        out, err = s.communicate(timeout=30)
        check(s.returncode == 125 and not out and b"replaced" in err,
              "refused, with the reason", (s.returncode, out, err))


@live.docker_only("its daemon mounts by name")
def a_folder_that_the_host_swaps_ends_the_session():
    """Nobody stops the host's own programs: the comparison finds them out."""
    with Place("masks: start\nreadonly: [/lib]\n",
               files={"lib/a": "x\n"}) as where, \
            Between(hold=CREATE) as between:
        (where.root / "elsewhere").mkdir()
        where.own()
        where.env = between.env()
        s = where.popen("run", "--", "sh", "-c", "sleep 20; echo ran")
        check(between.held.wait(30), "the session starts")
        os.rename(where.work / "lib", where.work / "away")
        os.symlink(where.root / "elsewhere", where.work / "lib")
        between.go.set()
        out, err = s.communicate(timeout=60)
        check(s.returncode == 125 and not out and
              b"in place of" in err, "ended, with the reason",
              (s.returncode, out, err))


@live.docker_only("an image is fetched")
def nobody_waits_for_an_image_to_be_fetched():
    with Place("") as where, Worker(where) as worker:
        s = where.membrane("run", "--image", "no-such-image:1", "--", "true")
        check(s.status == 125 and "could not fetch" in s.stderr,
              "refused, with the reason", (s.status, s.stderr))
        check(not list(where.state.glob("sessions/*/frozen")) and
              len(list(where.state.glob("sessions/*/reach"))) == 1,
              "before anybody was looked for")
        check(worker.goes_on(5), "the first one goes on")
