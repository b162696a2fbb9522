"""What a session leaves when something ends in the middle of it.

A session of one command changes the machine in some two hundred system calls of
the launcher: its steps, found by tracing one session. At a step, strace kills
the launcher, lets the call find a full disk, or stops the launcher, so that
another part can be killed at that moment. Whatever it was, afterwards there is
no container, process or mount of ours, the workspace holds what it held, no
file of ours is half written, and the next session works.

    FAULTS=3 tests/live/run faults.     every third step, and with Docker's
                                        own death; FAULTS=all: every step
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile

import live
from l7 import below
from live import Place, Skip, check, leftovers, strays, test, within

POLICY = "allow: [site.test]\nignore: [.env]\nreadonly: [src/]\n"
FILES = {".env": "s\n", "src/a": "x\n"}
HELD = {"probe.py", ".env", "src", "src/a"}
CHANGES = ("mkdir mkdirat openat rename renameat renameat2 unlink unlinkat "
           "rmdir symlinkat linkat write ftruncate clone clone3 vfork kill "
           "connect sendto sendmsg chmod fchmod fchown flock").split()
MAKES = re.compile(r"O_CREAT|O_WRONLY|O_RDWR")
FULL = ("mkdir", "mkdirat", "openat", "write", "ftruncate")
EVERY = {"kill": 23, "full": 17, "part": 13}
COMMAND = ["run", "--", "sh", "-c", "echo here; cat .env"]


# A handler's word to its own loop (struct proc_signal), or a byte that wakes it,
# which no disk can refuse: how many there are before a step is as signals come.
SIGNALLED = re.compile(
    r"^write\(\d+, \"[^\"]{1,4}(?:\", 1|\\0\\0\\0\\(?:00)?[01][^\"]{3,12}\", 8)"
    r"\).*INJECTED", re.M)


class Traced:
    """The launcher under strace, with what is to happen to its calls."""

    def __init__(self, where, *options):
        # the user's own, who writes it
        self.dir = tempfile.mkdtemp(prefix="membrane-strace-")
        os.chown(self.dir, live.the.uid, live.the.gid)
        self.log = pathlib.Path(self.dir, "log")
        argv = where.argv(*COMMAND)
        at = argv.index(live.the.membrane)
        argv[at:at] = ["strace", "-o", str(self.log), "-e",
                       "trace=" + ",".join(CHANGES), *options]
        self.timed_out = False
        self.p = subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)

    def end(self):
        """(status, stdout, stderr)"""
        try:
            out, err = self.p.communicate(timeout=90 * live.SLOW)
        except subprocess.TimeoutExpired:
            self.timed_out = True
            # it has our pipes, and outlives who traces it
            kill_all([p for p in (child_of(self.p.pid), self.p.pid) if p])
            out, err = self.p.communicate()
        said = self.log.read_text(errors="replace") \
            if self.log.exists() else ""
        check(not self.timed_out or SIGNALLED.search(said), "it ends")
        self.log.unlink(missing_ok=True)
        os.rmdir(self.dir)
        return self.p.returncode, out, err.decode("utf-8", "replace"), said


def steps(where):
    """[(call, how many-th of these, what it was)] of a session that works."""
    status, _, err, said = Traced(where).end()
    if status:
        raise live.Failed("a session under strace: %s\n%s" % (status, err))
    seen, found = {}, []
    for line in said.splitlines():
        call = line.partition("(")[0]
        if call not in CHANGES:
            continue
        seen[call] = seen.get(call, 0) + 1
        if call != "openat" or MAKES.search(line):
            found.append((call, seen[call], line[:120]))
    check(len(found) > 50, "steps", len(found))
    return found


def with_containers(found):
    """From the first command of Docker's on; the watchdog is forked first."""
    forks = [i for i, (call, _, _) in enumerate(found) if call == "clone"]
    return found[forks[1]:]


def some(found, kind):
    """Those of this run, and a word about how many."""
    wanted = os.environ.get("FAULTS") or EVERY[kind]
    every = 1 if wanted == "all" else int(wanted)
    chosen = found[every // 2::every]
    live.notes.append("at %d of %d steps" % (len(chosen), len(found)))
    return chosen


def contents(where):
    return {str(p.relative_to(where.work)) for p in where.work.rglob("*")}


def half_written(where):
    """Files of the state folder that are not what their names say."""
    bad = [str(p) for p in where.state.rglob("*.tmp*")]
    for path in where.state.rglob("*.json"):
        try:
            json.loads(path.read_text())
        except ValueError as e:
            bad.append("%s: %s" % (path, e))
    for path in where.state.rglob("decisions*.jsonl"):
        for line in path.read_text().splitlines():
            try:
                json.loads(line)
            except ValueError as e:
                bad.append("%s: %s" % (path, e))
    return bad


def mounts(where):
    text = pathlib.Path("/proc", live.the.pid, "mountinfo").read_text()
    return [line for line in text.splitlines() if str(where.root) in line]


def is_a_line(container):
    """Docker lists it, and has nothing of it.

    One that was killed finds each container ended, and to be removed, twice
    when it starts. The second puts back what the first took out of the list,
    where it stays until Docker starts next.
    """
    asked = live.the.docker("container", "inspect", container, check_it=False)
    return "No such container" in asked.stderr and not list(
        (live.the.state / "docker" / "containers").glob(container + "*"))


def nothing_is_left(where, what, killed_docker=False):
    """And the next session works."""
    s = where.membrane("run", "--", "sh", "-c", "cat .env; cat src/a")
    check(s.status == 0 and s.stdout == "x\n", "the next one: " + what,
          (s.status, s.stdout, s.stderr))
    left = leftovers()
    lines = [c for c in left if killed_docker and is_a_line(c)]
    if lines:
        live.notes.append("Docker lists %d that are gone" % len(lines))
    check(left == lines, "no container: " + what, left)
    check(within(5, lambda: not strays()), "no process: " + what, strays())
    check(not mounts(where), "no mount: " + what, mounts(where))
    check(contents(where) == HELD, "the workspace: " + what,
          contents(where) ^ HELD)
    check(not half_written(where), "whole files: " + what,
          half_written(where))


def place():
    if not os.access("/usr/bin/strace", os.X_OK):
        raise Skip("there is no strace")
    return Place(POLICY, files=FILES)


@test
def launcher_is_killed_at_a_step():
    with place() as where:
        for call, n, line in some(steps(where), "kill"):
            what = "killed before %s %d: %s" % (call, n, line)
            _, out, _, _ = Traced(where, "-e", "inject=%s:signal=KILL:when=%d"
                                  % (call, n)).end()
            check(b"s\n" not in out, "nothing was seen: " + what, out)
            nothing_is_left(where, what)


@test
def disk_is_full_at_a_step():
    with place() as where:
        found = [s for s in steps(where) if s[0] in FULL]
        for call, n, line in some(found, "full"):
            what = "no room for %s %d: %s" % (call, n, line)
            status, out, err, said = Traced(
                where, "-e", "inject=%s:error=ENOSPC:when=%d" % (call, n)
                ).end()
            if SIGNALLED.search(said):
                continue
            check(status in (0, 125) and b"s\n" not in out, "status: " + what,
                  (status, out, err))
            check(status == 0 or "No space left" in err or "membrane: " in err,
                  "it says so: " + what, err)
            nothing_is_left(where, what)


# --- other parts --------------------------------------------------------------

def processes(name):
    """Those of this world's containers, or sessions, that run the program."""
    out = []
    if live.ENGINE == "native":
        return [pid for role in live.FIRST
                for first in live.first_processes(role) for pid in below(first)
                if name == pathlib.Path("/proc/%d/comm" % pid).read_text(
                ).strip()]
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (path / "comm").read_text().strip() == name and \
                    "/%s/" % live.the.run.name in \
                    (path / "cgroup").read_text():
                out.append(int(path.name))
        except OSError:
            continue   # it has ended
    return out


def kill_containers(role):
    if live.ENGINE == "native":
        kill_all(map(int, live.first_processes(role)))
        return True
    ids = live.the.docker("ps", "-q", "--filter", "label=membrane.role=" + role
                          ).stdout.split()
    if ids:
        live.the.docker("kill", *ids, check_it=False)
    return bool(ids)


def kill_all(pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):   # it has ended
            os.kill(pid, signal.SIGKILL)


def kill_programs(name):
    found = processes(name)
    kill_all(found)
    return bool(found)


def power_of_containers():
    """All that runs in this world's containers, and what watches over it."""
    mine = str(live.the.run).encode() + b"/exec/"
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            text = (path / "cgroup").read_text()
            shim = (path / "comm").read_text().startswith("containerd-shim")
            if "/%s/" % live.the.run.name in text or (
                    shim and mine in (path / "cmdline").read_bytes()):
                os.kill(int(path.name), signal.SIGKILL)
        except OSError:
            continue


def restart_docker(and_all=False):
    """kill -9, with the user's processes and all containers where that is
    wanted, and begun anew where it was."""
    old = int(live.the.pid)
    argv = pathlib.Path("/proc/%d/cmdline" % old).read_bytes().split(b"\0")
    spaces = [os.open("/proc/%d/ns/%s" % (old, s), os.O_RDONLY)
              for s in ("mnt", "net")]
    pids = [live.the.run / "dockerd.pid",
            live.the.run / "exec/containerd/containerd.pid"]
    if and_all:
        kill_all(users())
    for path in pids:
        pid = int(path.read_text())
        os.kill(pid, signal.SIGKILL)
        within(10, lambda: state_of(pid) in ("Z", "gone"))
        path.unlink()
    if and_all:
        power_of_containers()
    with open(live.the.state / "log" / "dockerd", "ab") as log:
        subprocess.Popen(
            ["nsenter", "--mount=/proc/self/fd/%d" % spaces[0],
             "--net=/proc/self/fd/%d" % spaces[1], "--", *argv[:-1]],
            pass_fds=spaces, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True)
    for fd in spaces:
        os.close(fd)
    check(within(60, lambda: live.the.docker(
        "version", check_it=False).returncode == 0), "Docker is back")
    live.the.pid = (live.the.run / "dockerd.pid").read_text().strip()
    return True


VICTIMS = {
    "the gate": lambda: kill_containers("gate"),
    "HAProxy": lambda: kill_programs("haproxy"),
    "the tracer": lambda: kill_programs("membrane-watch"),
    "the view": lambda: kill_programs("membrane-view"),
    "the view's container": lambda: kill_containers("view"),
    "Docker": restart_docker,
}


def users():
    """The processes of sessions in this world."""
    return [pid for pid, _ in live.of_sessions()]


def state_of(pid):
    try:
        text = pathlib.Path("/proc/%d/stat" % pid).read_text()
    except OSError:
        return "gone"
    return text.rpartition(") ")[2][:1]


def child_of(pid):
    path = pathlib.Path("/proc/%d/task/%d/children" % (pid, pid))
    words = path.read_text().split() if path.exists() else []
    return int(words[0]) if words else 0


def stop_at(where, call, n):
    """The launcher, and its pid once it stands still before that call."""
    t = Traced(where, "-e", "inject=%s:signal=STOP:when=%d" % (call, n))

    def stopped():
        pid = child_of(t.p.pid)
        return t.p.poll() is not None or pid and state_of(pid) == "t" and \
            "SIGSTOP" in t.log.read_text(errors="replace")
    check(within(30, lambda: t.log.exists() or t.p.poll() is not None),
          "it begins")
    check(within(60, stopped), "it stops at %s %d" % (call, n))
    return t, child_of(t.p.pid) if t.p.poll() is None else 0


def part_dies(name):
    with place() as where:
        hits = 0
        for call, n, line in some(with_containers(steps(where)), "part"):
            what = "%s dies at %s %d: %s" % (name, call, n, line)
            t, pid = stop_at(where, call, n)
            hits += VICTIMS[name]()
            if pid:
                os.kill(pid, signal.SIGCONT)
            status, out, err, _ = t.end()
            check(b"s\n" not in out, "nothing was seen: " + what, out)
            check(status in {0, 125, 137}, "status: " + what, (status, err))
            nothing_is_left(where, what, name == "Docker")
        check(hits > 0, "%s was there to be killed" % name)


@test
def gate_dies_at_a_step():
    part_dies("the gate")


@test
def haproxy_dies_at_a_step():
    part_dies("HAProxy")


@live.docker_only("a user's session has no tracer")
def tracer_dies_at_a_step():
    part_dies("the tracer")


@test
def view_dies_at_a_step():
    part_dies("the view")


@test
def container_of_the_view_dies_at_a_step():
    part_dies("the view's container")


@test
def a_command_may_see_the_end_of_its_view_first():
    """Whatever it makes of it: the reason is the view's end, and so said."""
    for name, own in (("the view", 1), ("the view's container", 3),
                      ("the view", 0)):
        with place() as where:
            s = where.popen("run", "--", "sh", "-c", "echo up; while "
                            "[ -e src/a ]; do :; done; exit %d" % own,
                            text=True)
            check(s.stdout.readline() == "up\n", "it runs")
            check(VICTIMS[name]() > 0, name + " was there to be killed")
            _, err = s.communicate(timeout=60)
            check(s.returncode == 125 and
                  "membrane: the view of the workspace ended" in err,
                  "%s, %d: it is said" % (name, own), (s.returncode, err))
            nothing_is_left(where, name)


@live.docker_only("its daemon dies")
def docker_dies_beside_a_view():
    """While the command reads: it has its files, or an error, and no others."""
    with place() as where:
        s = where.popen("run", "--", "sh", "-c",
                        "echo up; while cat .env src/a; do sleep 0.02; done",
                        text=True)
        check(s.stdout.readline() == "up\n", "it runs")
        restart_docker()
        out, err = s.communicate(timeout=60)
        check(set(out.split()) <= {"x"}, "what it saw", out[-300:])
        check(s.returncode in (125, 137), "it ends", (s.returncode, err))
        nothing_is_left(where, "docker died beside a view",
                        killed_docker=True)
    docker_forgets()


def only_when_asked():
    """Docker takes its time to come back, and to remove what it had."""
    if not os.environ.get("FAULTS"):
        raise Skip("make check-all does")


def docker_forgets():
    """Its list is empty once it has started again; the next test counts."""
    if live.containers():
        restart_docker()
        check(not leftovers(), "Docker lists nothing", leftovers())


@live.docker_only("its daemon dies")
def docker_dies_at_a_step():
    only_when_asked()
    part_dies("Docker")
    docker_forgets()


@live.docker_only("its daemon dies")
def power_is_lost_at_a_step():
    """All of it at once; what was written stays."""
    only_when_asked()
    with place() as where:
        for call, n, line in some(with_containers(steps(where)), "part"):
            what = "no power at %s %d: %s" % (call, n, line)
            t, _ = stop_at(where, call, n)
            restart_docker(and_all=True)
            _, out, _, _ = t.end()
            check(b"s\n" not in out, "nothing was seen: " + what, out)
            nothing_is_left(where, what, killed_docker=True)
        docker_forgets()
