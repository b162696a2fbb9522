"""Detached sessions: start, attach, and what becomes of them."""
import contextlib
import hashlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

import live
from live import (Failed, Place, check, containers, leftovers, strays, test,
                  within)
from terminal import Terminal

KEYS = b"\x10\x11"


def nothing_left(where, what, seconds=10):
    check(within(seconds, lambda: not leftovers()),
          "no container is left: " + what, leftovers())
    check(within(5, lambda: not strays()), "no process is left: " + what,
          strays())
    locks = list(where.state.glob("sessions/*/lock")) + \
        list(where.state.glob("sessions/*/attach"))
    check(not locks, "no lock and no socket is left: " + what, locks)


def start(where, *args):
    """The ID of a session that runs."""
    s = where.membrane("start", *args)
    session = s.stdout.strip()
    if s.status or len(session) != 12:
        raise Failed("it does not start: %s %r %s" % (s.status, s.stdout,
                                                      s.stderr))
    check(s.stdout == session + "\n", "stdout is the ID alone", s.stdout)
    return session


def start_shell(where, command, *flags):
    return start(where, *flags, "--", "sh", "-c", command)


def keeper(where, session):
    return int((where.state / "sessions" / session / "lock").read_text())


def users(word):
    """The processes of sessions that have that word."""
    return [pid for pid, words in live.of_sessions() if word in words]


def listed(where, session, *flags):
    for one in json.loads(where.membrane("ps", "--json", *flags).stdout)[
            "sessions"]:
        if one["session"] == session:
            return one
    return {}


def terminal(where, *args, **more):
    return Terminal(where.argv(*args), **more)


def stop(where, *sessions):
    for session in sessions:
        s = where.membrane("stop", "--timeout", "0", session)
        check(s.status == 0, "it is stopped", s.stderr)


@test
def it_runs_in_the_background():
    with Place("ignore: [.env]\n", files={".env": "s\n"}) as where:
        ids = where.root / "id"
        where.own()
        session = start_shell(
            where, "echo out; echo err >&2; while [ ! -e go ]; do sleep 0.1; "
            "done; exit 7", "--session-id-file", str(ids))
        check(ids.read_text() == session + "\n", "--session-id-file",
              ids.read_text())
        one = listed(where, session)
        check(one.get("state") == "running" and one["detached"] and
              not one["terminal"] and {c["role"]: c["state"] for c in
                                       one["containers"]} ==
              dict.fromkeys(live.roles("gate", "tracer", "view", "agent"),
                            "running"),
              "it runs, all of it", one)
        status = os.stat("/proc/%d" % keeper(where, session))
        check(status.st_uid == live.the.uid, "the keeper is the user's")
        links = [os.readlink(p) for fd in "012" for p in
                 ["/proc/%d/fd/%s" % (keeper(where, session), fd)]]
        check(links == ["/dev/null", "/dev/null", str(
            where.state / "sessions" / session / "keeper.log")],
            "the keeper has none of the caller's streams", links)
        joined = where.popen("attach", "--logs", text=True)
        first = joined.stdout.readline()   # it has joined
        (where.work / "go").touch()
        out, err = joined.communicate(timeout=30)
        own = [line for line in err.splitlines()
               if not line.startswith("membrane: ")]
        check((first, out, own) == ("out\n", "", ["err"]),
              "both streams, apart", (first, out, err))
        check(joined.returncode == 7, "its exit status", joined.returncode)
        check(listed(where, session) == {}, "it runs no more")
        one = listed(where, session, "--all")
        check(one.get("state") == "ended" and one["status"] == 7, "its end",
              one)
        nothing_left(where, "ended")
        check({p.name for p in where.work.iterdir()} ==
              {"probe.py", ".env", "go"}, "no placeholder is left")
        for s in (where.membrane("attach", session),
                  where.membrane("attach", "--logs", session[:5])):
            check(s.status == 7 and "ended with status 7" in s.stderr,
                  "attach after the end", (s.status, s.stderr))
        check(s.stdout == "out\n", "with what it printed", s.stdout)
        s = where.membrane("logs", "--agent", session)
        check((s.stdout, s.stderr) == ("out\n", "err\n"), "logs --agent",
              (s.stdout, s.stderr))
        s = where.membrane("stop", session)
        check(s.status == 1, "it cannot be stopped again", s.stderr)


@test
def who_starts_is_let_go():
    """A pipeline behind start ends at once, by whichever descriptor."""
    with Place("") as where:
        argv = where.argv("start", "--no-trace", "--", "sleep", "60")
        for redirect in ("", "3>&1", "2>&1"):
            done = subprocess.run(
                ["bash", "-c", '"$@" %s | cat' % redirect, "-", *argv],
                capture_output=True, timeout=30, check=False,
                stdin=subprocess.DEVNULL)
            check(len(done.stdout) == 13, "start %s | cat" % redirect, done)
            stop(where, done.stdout.decode().strip())
        nothing_left(where, "piped")


@test
def failures_are_those_of_run():
    """The same words, the same status, at once, and nothing stays."""
    cases = [
        ("allow: [[[\n", None, []),
        ("", "allow: [site.test]\n", []),
        ("", None, ["--image", "no-such-image:1", "--no-update"]),
        ("", None, ["--", "no-such-command"]),
        ("", None, ["--", "/etc"]),
        ("args: ['--mount=type=bind,source=/nowhere,target=/x']\n", None, []),
        ("uplink: no-such-network\n", None, []),
        ("", None, ["--plan", "nowhere"]),
    ]
    for policy, workspace, flags in cases:
        with Place(policy, workspace=workspace) as where:
            ran = where.membrane("run", *flags)
            s = where.membrane("start", *flags)
            what = "%r %r %s" % (policy, workspace, flags)
            # IDs differ from session to session
            for one in (ran, s):
                for folder in where.state.glob("sessions/*"):
                    one.stderr = one.stderr.replace(folder.name, "ID")
            check(ran.status != 0 and s.status == ran.status,
                  "the same status: " + what, (s.status, ran.status))
            check(s.stderr == ran.stderr, "the same words: " + what,
                  (s.stderr, ran.stderr))
            check(s.stdout == "", "nothing on stdout: " + what, s.stdout)
            nothing_left(where, what)
    if live.ENGINE != "docker":
        return
    with Place("", env={"DOCKER_HOST": "unix:///nowhere"}) as where:
        s = where.membrane("start", "--", "true")
        check(s.status == 125 and "nowhere" in s.stderr, "no Docker",
              (s.status, s.stderr))


@live.docker_only("an image in the tracer's place")
def a_tracer_that_fails():
    """A required one ends start; it has nothing to load its programs with."""
    policy = "trace: {required: true}\n"
    with Place(policy) as where:
        live.the.docker("tag", "membrane-watch", "kept-watch")
        live.the.docker("build", "-t", "membrane-watch", "-",
                        input="FROM membrane-agent\n"
                        "ENTRYPOINT [\"false\"]\n")
        try:
            s = where.membrane("start", "--", "sleep", "60")
        finally:
            live.the.docker("tag", "kept-watch", "membrane-watch")
            live.the.docker("rmi", "kept-watch")
        check(s.status == 125 and "trace is required" in s.stderr and
              not s.stdout, "it is said in the foreground",
              (s.status, s.stderr))
        nothing_left(where, "no tracer")


def catches(pid, signo):
    """Whether a process has a handler of that, and does not die of it."""
    with open("/proc/%d/status" % pid, encoding="ascii") as f:
        mask = next(l for l in f if l.startswith("SigCgt:")).split()[1]
    return int(mask, 16) >> (signo - 1) & 1


def attached(where, *args):
    """`membrane attach`, once it has joined and reads the session's output."""
    p = where.popen("attach", *args, text=True)

    def reads():
        try:
            return any(os.readlink(fd).endswith("/output")
                       for fd in pathlib.Path("/proc/%d/fd" % p.pid).iterdir())
        except OSError:
            return False   # a descriptor, or it, is gone meanwhile
    check(within(20, lambda: reads() or p.poll() is not None) and
          p.poll() is None, "it joins", args)
    return p


@test
def who_starts_goes_too_early():
    """Killed or interrupted before the command ran: nothing goes on."""
    with Place("") as where:
        for ms in (20, 100, 180, 260, 340):
            p = where.popen("start", "--", "sleep", "60", text=True)
            time.sleep(ms / 1000)
            p.kill()
            if p.communicate(timeout=30)[0]:
                break
        for session in json.loads(where.membrane("ps", "--json").stdout)[
                "sessions"]:
            within(10, lambda s=session: listed(where, s["session"]).get(
                "state") != "running" or containers() == [])
        # those that were told of in time run on
        for session in json.loads(where.membrane("ps", "--json").stdout)[
                "sessions"]:
            where.membrane("stop", session["session"])
        nothing_left(where, "killed", 20)
        p = where.popen("start", "--", "sleep", "60", text=True)
        check(within(20, lambda: catches(p.pid, signal.SIGINT)), "it is asked")
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=30)
        if out:
            stop(where, out.strip())
        else:
            check(p.returncode == 130, "interrupted", (p.returncode, err))
        nothing_left(where, "interrupted")


@test
def trust_is_asked_before():
    with Place("", workspace="allow: [site.test]\n") as where:
        with terminal(where, "start", "--", "sleep", "60") as t:
            check(t.shows(rb"\[y/N\]|\(y/n\)|yes"), "it asks", t.screen)
            t.type(b"yes\n")
            check(t.shows(rb"[0-9a-f]{12}\r\n"), "and starts", t.screen)
            check(t.ends() == 0, "in order", t.screen)
        session = json.loads(where.membrane("ps", "--json").stdout)[
            "sessions"][0]["session"]
        stop(where, session)
        nothing_left(where, "trusted")


SCREEN = r"""
import os, signal, sys, tty
def say(text):
    os.write(1, text.encode())
def size(*_):
    say("size %dx%d." % (os.get_terminal_size().lines,
                         os.get_terminal_size().columns))
signal.signal(signal.SIGWINCH, size)
tty.setraw(0)
say("\033[?1049h\033[?25lhello")
line = b""
while line != b"bye":
    line = b""
    while not line.endswith(b"\r"):
        line += os.read(0, 1)
    line = line[:-1]
    say("got <%s>" % line.decode())
say("\033[?1049l\033[?25h")
sys.exit(3)
"""


def start_screen(where, program=SCREEN):
    """Its ID, once it is ready for keys: before, they are echoed."""
    session = start(where, "-t", "--", "python3", "-c", program)
    check(within(15, lambda: "hello" in where.membrane(
        "logs", "--agent", session).stdout), "the program is ready")
    return session


@test
def a_terminal_is_joined_and_left():
    with Place("") as where:
        session = start_screen(where)
        check(listed(where, session)["terminal"], "it has a terminal")
        with terminal(where, "attach") as t:
            check(t.shows(rb"\x1b\[\?1049h\x1b\[\?25l"),
                  "the other screen, as the program believes", t.screen)
            check(t.shows(rb"size 37x91\."), "its size", t.screen)
            t.type(b"one\r")
            check(t.shows(rb"got <one>"), "keys", t.screen)
            t.resize(20, 70)
            check(t.shows(rb"size 20x70\."), "a new size", t.screen)
            t.type(b"two" + KEYS)
            check(t.ends() == 0, "it is left", t.screen)
            check(t.shows(rb"\x1b\[\?25h\x1b\[\?1049l"),
                  "our screen is ours again", t.screen)
            check(b"goes on" in t.screen, "which is said", t.screen)
            check(t.is_restored(), "the terminal is as it was")
        check(listed(where, session).get("state") == "running",
              "it goes on")
        with terminal(where, "attach", "--detach-keys", "ctrl-x,d",
                      rows=20, cols=70) as t:
            check(t.shows(rb"size 20x70\."),
                  "drawn anew, though the size is the same", t.screen)
            t.type(KEYS + b"\x18three\r")
            check(t.shows(rb"got <two\x10\x11\x18three>"),
                  "what are no keys here is typed", t.screen)
            t.type(b"\x18d")
            check(t.ends() == 0 and t.is_restored(), "by other keys",
                  t.screen)
        with terminal(where, "attach", session) as t:
            check(t.shows(rb"size"), "again")
            t.process.send_signal(signal.SIGTERM)
            check(t.ends() == 143 and t.is_restored(),
                  "a signal leaves it, the terminal as it was",
                  (t.process.returncode, t.screen))
        with terminal(where, "attach", session) as t:
            check(t.shows(rb"size"), "joined")
            # no shell is there: SIGTSTP would stop nobody
            t.process.send_signal(signal.SIGSTOP)
            check(within(5, lambda: os.waitid(
                os.P_PID, t.process.pid, os.WSTOPPED | os.WNOHANG)),
                  "stopped")
            t.make_usual()   # as a shell does whose job was stopped
            t.process.send_signal(signal.SIGCONT)
            check(t.shows(rb"size 37x91\."), "drawn anew", t.screen)
            t.type(b"cont\r")
            check(t.shows(rb"got <cont>"), "and raw again", t.screen)
            t.type(KEYS)
            check(t.ends() == 0 and t.is_restored(), "left", t.screen)
        with terminal(where, "attach", session) as t:
            check(t.shows(rb"size"), "once more")
            t.type(b"bye\r")
            check(t.ends() == 3 and t.is_restored(), "its end",
                  (t.process.returncode, t.screen))
        nothing_left(where, "terminal")


@test
def keys_of_docker_are_the_commands():
    """docker's own keys would end its command, and with it the session."""
    with Place("") as where:
        with terminal(where, "run", "--", "python3", "-c", SCREEN) as t:
            check(t.shows(rb"hello"), "it runs", t.screen)
            t.type(b"a" + KEYS + b"b\r")
            check(t.shows(rb"got <a\x10\x11b>"), "in run", t.screen)
            t.type(b"bye\r")
            check(t.ends() == 3 and t.is_restored(), "its end",
                  (t.process.returncode, t.screen))
        session = start_screen(where)
        # without a terminal there are no keys: a script can type anything
        s = where.membrane("attach", "--logs", session,
                           data=b"a" + KEYS + b"b\rbye\r", text=False)
        check(s.status == 3 and b"got <a\x10\x11b>" in s.stdout,
              "typed by a script", (s.status, s.stdout, s.stderr))
        nothing_left(where, "keys")


@test
def what_was_printed_is_not_lived_through_again():
    """Of what a program asked its terminal, and of the modes that it left."""
    with Place("") as where:
        session = start_screen(where, SCREEN.replace(
            "hello", "hello\\033[6n"))
        with terminal(where, "attach", "--logs", session) as t:
            check(t.shows(rb"hello\x1b\[6n"), "it asks", t.screen)
            t.type(b"\x1b[24;80R")
            # of ours; what was printed has the size of nobody's
            check(t.shows(rb"size 37x91\."), "joined", t.screen)
            t.type(b"x\r")
            check(t.shows(rb"got <x>"), "the answer is nobody's keys",
                  t.screen)
        stop(where, session)
        with terminal(where, "logs", "--agent", session) as t:
            check(t.ends() == 0 and t.shows(rb"\x1b\[\?1049l\x1b\[0m$"),
                  "our screen is ours", t.screen)
        nothing_left(where, "asked")


@test
def the_keeper_is_killed_early():
    with Place("") as where:
        for ms in (0, 60, 150):
            p = where.popen("start", "--", "sleep", "60", text=True)
            within(5, lambda: list(where.state.glob("sessions/*/lock")))
            time.sleep(ms / 1000)
            for lock in where.state.glob("sessions/*/lock"):
                with contextlib.suppress(ValueError, OSError):
                    os.kill(int(lock.read_text()), signal.SIGKILL)
            out, err = p.communicate(timeout=30)
            check(p.returncode == 125 and not out and "signal 9" in err or
                  p.returncode == 0, "it is said", (p.returncode, err))
            check(within(20, lambda: not leftovers() and not strays()),
                  "nothing is left", (leftovers(), strays()))
        s = where.membrane("run", "--", "true")
        check(s.status == 0, "the next one runs", s.stderr)
        nothing_left(where, "killed early")


@test
def several_join_at_once():
    with Place("") as where:
        session = start_screen(where)
        with contextlib.ExitStack() as stack:
            all_of_them = [stack.enter_context(terminal(
                where, "attach", session)) for _ in range(4)]
            for t in all_of_them:
                check(t.shows(rb"size"), "joined", t.screen)
            all_of_them[0].type(b"all\r")
            for t in all_of_them:
                check(t.shows(rb"got <all>"), "all see it", t.screen)
            all_of_them[1].process.kill()   # -9: nothing can be done
            all_of_them[1].ends()
            all_of_them[2].type(b"rest\r")
            for t in (all_of_them[0], all_of_them[2], all_of_them[3]):
                check(t.shows(rb"got <rest>"), "the others go on", t.screen)
            all_of_them[3].type(b"bye\r")
            for t in (all_of_them[0], all_of_them[2], all_of_them[3]):
                check(t.ends() == 3 and t.is_restored(), "all have its end",
                      (t.process.returncode, t.screen))
        nothing_left(where, "several")


@test
def streams_are_joined():
    data = b"".join(hashlib.sha256(b"%d" % i).digest()
                    for i in range(100000))
    with Place("") as where:
        start(where, "--interactive", "--", "cat")
        s = where.membrane("attach", data=data, text=False)
        check(s.status == 0 and s.stdout == data, "3 MB in and out, binary",
              (s.status, len(s.stdout), s.stderr))
        start_shell(where, "cat; echo ended", "--interactive")
        s = where.membrane("attach")
        check(s.stdout == "ended\n", "the end of input is passed on",
              (s.stdout, s.stderr))
        session = start_shell(where, "read x; echo got $x", "--interactive")
        deaf = attached(where, "--no-stdin")
        time.sleep(0.5)   # for what must not come
        check(deaf.poll() is None, "--no-stdin passes nothing on, no end")
        s = where.membrane("attach", data=b"it\n")
        check(s.stdout == "got it\n", "another speaks", s.stdout)
        check(deaf.communicate(timeout=20)[0] == "got it\n", "both hear")
        session = start_shell(where, "cat; sleep 0.5; echo $?")
        s = where.membrane("attach", session, data=b"nothing\n")
        check(s.stdout == "0\n", "without --interactive stdin is at its end",
              (s.stdout, s.stderr))
        session = start(where, "--", "sleep", "60")
        p = attached(where, session)
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=20)[1]
        check(p.returncode == 130 and "goes on" in err and listed(
            where, session).get("state") == "running",
              "an interrupt leaves it", (p.returncode, err))
        stop(where, session)
        nothing_left(where, "streams")


@test
def who_is_slow_holds_nothing_up():
    """50 MB while nobody reads: the command ends, the record is bounded."""
    with Place("") as where:
        session = start_shell(
            where, "sleep 1; i=0; while [ $i -lt 50 ]; do head -c 1048576 "
            "/dev/zero; i=$((i + 1)); done; echo; echo last")
        slow = where.popen("attach", session)
        with contextlib.ExitStack() as stack:
            stack.callback(slow.kill)
            check(within(30, lambda: not listed(where, session)),
                  "it ends while somebody does not read")
            size = sum(p.stat().st_size for p in (
                where.state / "sessions" / session / "output").iterdir())
            check(28 << 20 <= size <= 33 << 20, "what is kept", size)
            out, err = slow.communicate(timeout=30)
            check(0 < len(out) < 50 << 20 and b"was gone" in err,
                  "who was too slow is told", (len(out), err))
            check(slow.returncode == 0, "status", slow.returncode)
        s = where.membrane("logs", "--agent", session, text=False)
        check(s.stdout.endswith(b"\0\nlast\n") and "is gone" in s.stderr,
              "the end of it", (len(s.stdout), s.stderr))
        s = where.membrane("logs", "--agent", "--tail", "1", session)
        check((s.stdout, s.stderr) == ("last\n", ""), "--tail 1",
              (len(s.stdout), s.stderr))
        nothing_left(where, "slow")


@test
def output_is_followed():
    with Place("") as where:
        session = start_shell(where, "for i in 1 2 3; do echo $i; done; "
                              "while [ ! -e go ]; do sleep 0.1; done; echo 4")
        follower = where.popen("logs", "--agent", "-f", "--tail", "2",
                               session, text=True)
        joined = where.popen("attach", "--tail", "1", text=True)
        time.sleep(0.7)
        (where.work / "go").touch()
        check(follower.communicate(timeout=20)[0] == "2\n3\n4\n", "logs -f")
        check(joined.communicate(timeout=20)[0] == "3\n4\n", "attach --tail")
        s = where.membrane("run", "--", "echo", "ran")
        s = where.membrane("logs", "--agent")
        check(s.status == 1 and "to its caller" in s.stderr,
              "of run there is none", (s.status, s.stderr))
        check(where.membrane("attach").status == 125, "nothing to join")


@test
def the_summary_is_kept():
    with Place("allow: [site.test]\n") as where:
        session = start_shell(where, "sleep 1; curl -s https://not.test/")
        s = where.membrane("attach", session)
        check("not.test" in s.stderr, "who has joined sees it", s.stderr)
        s = where.membrane("attach", session)
        check("not.test" in s.stderr, "and who comes later", s.stderr)


@test
def the_keeper_is_killed():
    with Place("ignore: [.env]\n", files={".env": "s\n"}) as where:
        session = start_shell(where, "echo up; sleep 300", "-t")
        with terminal(where, "attach", "--logs", session) as t:
            check(t.shows(rb"up"), "joined", t.screen)
            os.kill(keeper(where, session), signal.SIGKILL)
            check(t.ends() == 125 and t.is_restored() and
                  b"was lost" in t.screen, "who had joined is told",
                  (t.process.returncode, t.screen))
        check(within(20, lambda: not leftovers()), "its containers go",
              leftovers())
        check(within(10, lambda: not strays()), "its processes go", strays())
        s = where.membrane("ps", "--all")
        check("lost" in s.stdout, "it is lost", s.stdout)
        s = where.membrane("logs", "--agent", session)
        check(s.stdout == "up\r\n", "what it printed is there", s.stdout)
        s = where.membrane("attach", session)
        check(s.status == 125 and "lost" in s.stderr, "it cannot be joined",
              (s.status, s.stderr))
        s = where.membrane("start", "--", "sleep", "60")
        check(s.status == 0, "the next one starts", s.stderr)
        stop(where, s.stdout.strip())
        check(within(10, lambda: not list(where.state.glob(
            "sessions/*/lock"))), "no lock is left")
        check({p.name for p in where.work.iterdir()} == {"probe.py", ".env"},
              "no placeholder is left")


@test
def the_host_goes_down():
    """As after a reboot: no process of a session, what Docker had stopped."""
    with Place("") as where:
        session = start(where, "--", "sleep", "300")
        one = keeper(where, session)
        # the watchdog, and docker's commands, die with it
        for pid in [one, *users("membrane")]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        check(within(10, lambda: listed(where, session).get("state") ==
                     "lost"), "it is shown as lost", listed(where, session))
        s = where.membrane("attach", session)
        check(s.status == 125 and "membrane stop " + session in s.stderr,
              "what to do is said", (s.status, s.stderr))
        s = where.membrane("stop", session)
        check(s.status == 0, "stop cleans up", s.stderr)
        nothing_left(where, "reboot")
        check(listed(where, session, "--all").get("state") == "lost" and
              "status" not in listed(where, session, "--all"),
              "it stays lost")


@test
def the_gate_is_killed():
    with Place("") as where:
        session = start(where, "--", "sleep", "300")
        joined = attached(where, session)
        live.kill_part("gate")
        err = joined.communicate(timeout=40)[1]
        check(joined.returncode == 125 and "the gate ended" in err,
              "who has joined is told", (joined.returncode, err))
        one = listed(where, session, "--all")
        check(one.get("status") == 125 and "the gate ended" in one["error"],
              "so is ps", one)
        s = where.membrane("attach", session)
        check(s.status == 125 and "the gate ended" in s.stderr,
              "and who comes later", (s.status, s.stderr))
        nothing_left(where, "gate killed")


class Deaf(threading.Thread):
    """A way to Docker on which no events come."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        os.chmod(path, 0o777)
        self.socket.listen(64)
        self.start()

    def run(self):
        while True:
            near = self.socket.accept()[0]
            threading.Thread(target=self.serve, args=(near,),
                             daemon=True).start()

    @staticmethod
    def serve(near):
        first = near.recv(65536)
        far = socket.socket(socket.AF_UNIX)
        if b"/events" in first.split(b"\n")[0]:
            near.close()
            return
        far.connect(live.the.docker_host[len("unix://"):])
        far.sendall(first)

        def pass_on(a, b):
            with contextlib.suppress(OSError):
                while data := a.recv(65536):
                    b.sendall(data)
            with contextlib.suppress(OSError):
                b.shutdown(socket.SHUT_WR)
        threading.Thread(target=pass_on, args=(near, far),
                         daemon=True).start()
        pass_on(far, near)


@test
def no_events_come():
    """They only make it quicker to know that the command runs."""
    with Place("") as where:
        path = str(where.root / "docker.sock")
        Deaf(path)
        where.env["DOCKER_HOST"] = "unix://" + path
        session = start_shell(where, "sleep 3; exit 4")
        check(listed(where, session).get("state") == "running", "it runs")
        check(where.membrane("attach", session).status == 4, "its status")
        # over before anybody looked
        session = start_shell(where, "exit 5")
        s = where.membrane("attach", session)
        check(s.status == 5, "a short one", (s.status, s.stderr))
        s = where.membrane("start", "--", "no-such-command")
        check(s.status == 127 and not s.stdout, "one that cannot start",
              (s.status, s.stdout))
        nothing_left(where, "no events")


@live.docker_only("its own command dies")
def its_docker_command_is_killed():
    with Place("") as where:
        session = start(where, "--", "sleep", "300")
        joined = attached(where, session)
        pids = users("membrane-agent-" + session)
        check(len(pids) == 1, "docker's command", pids)
        os.kill(pids[0], signal.SIGKILL)
        joined.communicate(timeout=40)
        check(joined.returncode == 137, "the session ends",
              joined.returncode)
        nothing_left(where, "docker's command killed")


@test
def five_at_once_and_stop():
    places = [Place("") for _ in range(5)]
    with contextlib.ExitStack() as stack:
        for where in places:
            stack.enter_context(where)
        shared = places[0]
        sessions = [None] * 5

        def one(i):
            sessions[i] = start_shell(
                shared, "trap 'echo bye %d; exit 0' TERM; "
                "sleep 600 & while :; do wait; done" % i)
        threads = [threading.Thread(target=one, args=(i,)) for i in range(5)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        check(len(set(sessions)) == 5 and None not in sessions, "five run",
              sessions)
        s = shared.membrane("attach")
        check(s.status == 125 and "several" in s.stderr,
              "which one has to be said", (s.status, s.stderr))
        joined = attached(shared, "--logs", sessions[2])
        s = shared.membrane("stop", *sessions[:3])
        check(s.status == 0 and s.stderr.count("has ended") == 3,
              "stop of three", s.stderr)
        out = joined.communicate(timeout=20)[0]
        check(out == "bye 2\n" and joined.returncode == 143,
              "the command had the signal", (out, joined.returncode))
        os.kill(keeper(shared, sessions[3]), signal.SIGTERM)
        check(within(20, lambda: not listed(shared, sessions[3])),
              "a signal to the keeper does the same")
        s = shared.membrane("logs", "--agent", sessions[3])
        check(s.stdout == "bye 3\n", "in order", s.stdout)
        check(listed(shared, sessions[4]).get("state") == "running",
              "the fifth goes on")
        s = shared.membrane("--reset=c", "--yes")
        check(s.status == 0, "reset ends it", s.stderr)
        nothing_left(shared, "five")


@test
def stop_waits_as_long_as_it_is_told():
    stubborn = "trap '' TERM; echo up; sleep 600 & wait"
    with Place("") as where:
        # Each is told from the next longer one.
        for flags, least, most in ((["--timeout", "0"], 0, 5), ([], 5, 10),
                                   (["--timeout=10"], 10, 60)):
            session = start_shell(where, stubborn)
            begun = time.monotonic()
            s = where.membrane("stop", *flags, session)
            took = time.monotonic() - begun
            check(s.status == 0 and least <= took <= most,
                  "stop %s" % flags, (took, s.stderr))
            check(listed(where, session, "--all").get("status") == 143,
                  "its status", listed(where, session, "--all"))
        nothing_left(where, "stubborn")
