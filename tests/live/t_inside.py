"""What is around the command: the init, the terminal, what it is told."""
import json
import os
import re
import signal
import time

import live
from live import Failed, Place, check, leftovers, running, shell, test, within
from terminal import Terminal

# Of a process: its state, parent, group, session and the terminal's group.
STAT = "cut -d' ' -f3-6,8 /proc/%s/stat"


def image(tag, *lines):
    """One of our agent's, and more."""
    live.the.docker("build", "-q", "-t", tag, "-", input="\n".join(
        ("FROM membrane-agent", *lines)) + "\n")
    return tag


def at_terminal(where, *command, flags=(), **more):
    return Terminal(where.argv("run", *flags, "--", *command),
                    **more)


def typed(where, command, keys, shows, status):
    """Keys at a command that says it is up; the status, and how."""
    t = at_terminal(where, *command)
    try:
        if not t.shows(rb"up\r\n", 60):
            raise Failed("it does not begin: %s" % t.all[-500:])
        t.type(keys)
        if shows:
            check(t.shows(shows), "it shows %s" % shows, t.all[-300:])
        check(t.ends(30) == status, "status %d" % status,
              (t.process.poll(), t.all[-300:]))
    finally:
        t.close()


def keys_arrive(where):
    # No shell: one that is about to become another forgets a key. And no
    # Python, whose handler only notes it: one that comes just before the
    # wait begins is noticed when the wait is over.
    up = ["awk", 'BEGIN { print "up"; fflush(); getline }']
    typed(where, up, b"\x03", None, 130)
    typed(where, up, b"\x1c", None, 131)


@test
def keys_of_the_terminal_arrive():
    with Place("trace: {engine: off}\n") as where:
        keys_arrive(where)
        # nobody could let it go on: it is not stopped
        typed(where, ["sh", "-c", "echo up; read x; echo went $x; exit 4"],
              b"\x1aon\r", rb"went on", 4)
        check(not leftovers(), "nothing is left", leftovers())


@test
def keys_arrive_where_the_caller_ignores_them():
    """As a shell without job control begins what it has in the background."""
    ignored = [signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE,
               signal.SIGUSR1]
    with Place("trace: {engine: off}\n") as where:
        before = [signal.signal(s, signal.SIG_IGN) for s in ignored]
        try:
            keys_arrive(where)
            s = where.membrane("run", "--", "grep", "SigIgn", "/proc/self/status")
            # Docker's own may ignore one of the C library's (32) there
            mask = int(s.stdout.split()[1], 16)
            check(not any(mask >> (signo - 1) & 1 for signo in ignored),
                  "and none of them is ignored", s.stdout + s.stderr)
        finally:
            for signo, handler in zip(ignored, before):
                signal.signal(signo, handler)


@test
def a_shell_has_its_jobs():
    with Place("trace: {engine: off}\n") as where:
        t = at_terminal(where, "bash", "--norc")
        try:
            for keys, shows in (
                    (b"", rb"[$#] "), (b"PS1='>> '\r", rb">> (?!')"),
                    # Keys come when it has the terminal, not before; and no
                    # child begins once it is up: dash waits in vfork() for
                    # one that is stopped before it executes, for good.
                    (b"sh -c 'trap \"echo on\" CONT; sleep 600 & echo up; "
                     b"while :; do wait; done'\r", rb"[\r\n]up\r\n"),
                    (b"\x1a", rb"Stopped"),
                    (b"jobs -l\r", rb"Stopped +sh -c"),
                    (b"fg\r", rb"[\r\n]on\r\n"),
                    (b"\x03", rb">> "),
                    (b"jobs | wc -l\r", rb"\r0\r\n"),
                    (b"stty size\r", rb"37 91\r\n")):
                t.type(keys)
                if not check(t.shows(shows, 60), "after %s" % keys,
                             t.all[-300:]):
                    return
            t.resize(20, 55)
            os.kill(t.process.pid, signal.SIGWINCH)
            t.type(b"until [ $(stty size | tr ' ' x) = 20x55 ]; do sleep .1; "
                   b"done; echo re''sized\r")
            check(t.shows(rb"resized"), "a new size arrives", t.all[-300:])
            t.type(b"exit 9\r")
            check(t.ends() == 9, "its status", t.process.poll())
        finally:
            t.close()


@test
def the_first_instruction_knows_the_terminal():
    """Its size, each time, and what it is."""
    with Place("trace: {engine: off}\n", env={
            "TERM": "tmux-256color", "COLORTERM": "truecolor",
            "LANG": "xx_YY.UTF-8", "TZ": "Europe/Berlin"}) as where:
        for _ in range(3):
            t = at_terminal(where, "sh", "-c", "stty size; echo $TERM "
                            "$COLORTERM $LANG $TZ $MEMBRANE", rows=31, cols=77)
            check(t.ends(60) == 0, "it ends", t.process.poll())
            check(t.all.endswith(b"31 77\r\ntmux-256color truecolor C.UTF-8 "
                                 b"Europe/Berlin 1\r\n"), "all of it", t.all)
            t.close()
    said = []
    for term, policy in (("xterm-nobody-has", ""), ("evil;rm -rf", ""),
                         ("xterm-kitty", "args: [-e, TERM=mine]\n")):
        with Place("trace: {engine: off}\n" + policy,
                   env={"TERM": term}) as where:
            t = at_terminal(where, "sh", "-c", "echo $TERM")
            check(t.ends(60) == 0, "it ends", t.process.poll())
            said.append(t.all.split()[-1].replace(b"\x1b[K", b""))
            t.close()
    check(said == [b"xterm-256color", b"xterm", b"mine"],
          "one that the image lacks, none, the user's own", said)
    s = shell("trace: {engine: off}\n", "echo $TERM. $LANG $MEMBRANE "
              "$MEMBRANE_SESSION", env={"LANG": "C.UTF-8", "TERM": "vt100"})
    check(re.fullmatch(r"\. C\.UTF-8 1 [0-9a-f]{12}\n", s.stdout),
          "and no terminal", s.stdout + s.stderr)


@test
def statuses_are_the_commands():
    for script, status in (("kill -TERM $$; sleep 600", 143),
                           ("kill -KILL $$; sleep 600", 137),
                           ("kill -STOP $$; exit 6", 6), ("exit 42", 42)):
        with Place("trace: {engine: off}\n") as where:
            s = where.membrane("run", "--", "sh", "-c", script)
            check(s.status == status, script, (s.status, s.stderr))
            summary = json.loads(next(where.state.glob(
                "sessions/*/summary.json")).read_text())
            check(summary["status"] == status, "on record", summary)


@test
def it_ends_when_it_is_asked_to():
    """By SIGTERM, which nothing of ours withholds: not by force."""
    with Place("trace: {engine: off}\n") as where:
        for command in (["sleep", "600"],
                        ["sh", "-c", "trap 'echo bye; exit 3' TERM; echo up; "
                         "sleep 600 & while :; do wait; done"]):
            session = where.membrane("start", "--", *command).stdout.strip()
            running("membrane.role=agent")
            began = time.monotonic()
            s = where.membrane("stop", session)
            live.notes.append("stopped in %.2f s" %
                              (time.monotonic() - began))
            check(s.status == 0, "stopped", (s.status, s.stderr))
            summary = json.loads((where.state / "sessions" / session /
                                  "summary.json").read_text())
            check(summary["status"] == 143, "by a signal", summary)
        check("bye" in where.membrane("attach", "--logs", session).stdout,
              "and it heard of it")
        check(not leftovers(), "nothing is left", leftovers())


@test
def nothing_is_left_unburied():
    s = shell("trace: {engine: off}\n",
              "for i in 1 2 3 4 5; do (sh -c 'sleep 0.1 & exec true' &); done;"
              " sleep 1; grep -l '^State:.Z' /proc/[0-9]*/status | wc -l; "
              + STAT % "$$" + "; echo $$; cat /proc/1/comm")
    # it may not have come to wait for who looks
    check(re.fullmatch(r"0\n[RS] 1 (\d+) \1 -1\n\1\ninit\n", s.stdout),
          "no zombie; a leader", s.stdout + s.stderr)


@test
def the_init_is_nobodys_way_in():
    s = shell("trace: {engine: off}\n",
              "for f in environ mem maps fd/0 root/etc; do "
              "cat /proc/1/$f >/dev/null 2>&1 && echo read $f; done; "
              "python3 -c 'import ctypes; c = ctypes.CDLL(None); "
              "print(c.ptrace(0x4206, 1, 0, 0))'; "
              "kill -KILL 1; kill -STOP 1; sleep 0.2; "
              "grep ^State: /proc/1/status; echo still here")
    check(s.stdout == "-1\nState:\tS (sleeping)\nstill here\n" and
          s.status == 0, "closed, and not to be ended", s.stdout + s.stderr)
    with Place("trace: {engine: off}\n") as where:
        s = where.membrane("run", "--", "sh", "-c", "trap 'exit 5' USR2; "
                           "kill -USR2 1; sleep 5 & wait; exit 1")
        check(s.status == 5, "what it is sent goes to the command",
              (s.status, s.stderr))


@live.docker_only("images' entry points")
def an_image_begins_as_ever():
    """Its entrypoint and its command; those of the policy; an init of its
    own."""
    tag = image("membrane-entry:t", "ENTRYPOINT [\"/bin/echo\", \"entered\"]",
                "CMD [\"by itself\"]")
    plain = image("membrane-plain:t", "CMD [\"sh\", \"-c\", \"echo $$\"]")
    try:
        for policy, command, wanted in (
                ("", [], "entered by itself\n"), ("", ["a b"], "entered a b\n"),
                ("args: [--entrypoint, printf]\n", ["<%s>", "x"], "<x>"),
                ("args: ['--entrypoint=']\n", ["echo", "x"], "x\n"),
                ("args: [--init]\n", ["x"], "entered x\n")):
            with Place("trace: {engine: off}\nimage: %s\n%s" % (
                    tag, policy)) as where:
                s = where.membrane("run", "--no-update", "--", *command)
                check(s.stdout == wanted, "%r %r" % (policy, command),
                      s.stdout + s.stderr)
        for policy, first in (("", False), ("args: [--init=false]\n", True)):
            with Place("trace: {engine: off}\nimage: %s\n%s" % (
                    plain, policy)) as where:
                s = where.membrane("run", "--no-update")
                check((s.stdout == "1\n") == first, "its number",
                      s.stdout + s.stderr)
    finally:
        live.the.docker("rmi", tag, plain, check_it=False)


# Commands of a kind, and what is said: an image is asked, of this machine the
# launcher looks for what a session would have to be shown.
CANNOT_BEGIN = {
    "docker": [("claude-x", 127, "the image membrane-agent has no 'claude-x': "
                "name one that has it with 'image:'"),
               ("./broken", 126, "'./broken' needs '/no/such/thing'"),
               ("/etc", 126, "'/etc' is a folder")],
    "native": [("claude-x", 127, "there is no 'claude-x' in the sandbox: "),
               ("./broken", 125, "./broken is found by /no/such/thing, which no "
                "session is shown"),
               ("/etc", 125, "/etc is found by /etc, which no session is "
                "shown")],
}[live.ENGINE]


@test
def what_cannot_begin_says_so():
    files = {"no-x": "#!/bin/sh\n", "broken": "#!/no/such/thing -x\n",
             "text": "words\n"}
    with Place("trace: {engine: off}\n", files=files) as where:
        for name in ("broken", "text"):
            (where.work / name).chmod(0o755)
        for command, status, words in (
                *CANNOT_BEGIN,
                ("./none", 127, "there is no './none' in the sandbox"),
                ("./no-x", 126, "nobody may execute it (chmod +x)"),
                ("./text", 126, "no script whose first line names")):
            s = where.membrane("run", "--", command)
            check(s.status == status and words in s.stderr and
                  "OCI" not in s.stderr and not s.stdout, words,
                  (s.status, s.stdout, s.stderr))
    with Place("trace: {engine: off}\nargs: [-w, /workspace/none]\n") as where:
        s = where.membrane("run", "--", "pwd")
        check(s.status == 126 and "begin in '/workspace/none'" in s.stderr and
              "OCI" not in s.stderr, "a folder that is not there",
              (s.status, s.stderr))
        (where.work / "none").mkdir()
        where.own()
        s = where.membrane("run", "--", "pwd")
        check(s.stdout == "/workspace/none\n", "and one that is",
              s.stdout + s.stderr)
    check(within(5, lambda: not leftovers()), "nothing is left", leftovers())


@test
def a_readme_says_what_there_is():
    """For whoever looks for a reason: the plan's own words."""
    with Place("allow: ['site.test:443', {dest: 'api.test:443', "
               "http: [{methods: [GET], paths: [/v1/]}]}]\n"
               "trace: {engine: off}\n") as where:
        s = where.membrane("run", "--", "sh", "-c", "cat /etc/membrane/README;"
                           " echo x >/etc/membrane/README")
        for words in ("\n  site.test  tcp/443\n",
                      "\n  api.test  tcp/443\n    only GET /v1/\n",
                      "membrane allow HOST:PORT", "/etc/membrane/ca.pem"):
            check(words in s.stdout, words, s.stdout + s.stderr)
        check("Read-only file system" in s.stderr, "read-only", s.stderr)
        plan = where.membrane("plan", "--emit", "README")
        check(s.stdout == plan.stdout, "as it is reviewed", plan.stdout)


@test
def start_hears_of_what_cannot_begin():
    """At once, and of what ends at once that it began."""
    with Place("trace: {engine: off}\n") as where:
        s = where.membrane("start", "--", "claude-x")
        check(s.status == 127 and not s.stdout and
              " no 'claude-x'" in s.stderr, "no such command",
              (s.status, s.stdout, s.stderr))
        for command in (["true"], ["sh", "-c", "exit 127"]):
            s = where.membrane("start", "--", *command)
            check(s.status == 0 and re.fullmatch(r"[0-9a-f]{12}\n", s.stdout),
                  "%s" % command, (s.status, s.stdout, s.stderr))
        s = shell("trace: {engine: off}\n", "ls -l /etc/membrane/begun | "
                  "cut -c1-10; chmod 777 /etc/membrane/begun; "
                  "cat /etc/membrane/begun")
        check(s.stdout == "p-w--w--w-\n" and s.status == 1,
              "it leads out alone", (s.status, s.stdout, s.stderr))
        check(within(5, lambda: not leftovers()), "nothing is left",
              leftovers())
