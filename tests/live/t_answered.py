"""Real clients that wait for a person: what is refused them is on a screen
beside them at once, and a yes lets the request through that they wait with."""
import contextlib
import datetime
import re
import time

import live
from live import Place, check, test, within
from t_ask import asked, is_held
from t_installed import ROOTS, home_of
from t_profiles import KEY, image
from terminal import Terminal

UP = "echo up; until [ -e go ]; do sleep 0.02; done; "
NPM = ("npm install --no-audit --no-fund --no-update-notifier tiny >&2 && "
       "node -e \"console.log(require('tiny'))\"")
PIP = ("PATH=/usr/bin:$PATH pip download -q --no-cache-dir --no-deps "
       "--disable-pip-version-check tinywheel >&2 && ls *.whl")
CLAUDE = ("NODE_EXTRA_CA_CERTS=%s ANTHROPIC_API_KEY=%s DISABLE_TELEMETRY=1 "
          "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 claude -p 'say hello'"
          % (ROOTS, KEY))


def stamp(record):
    """When it was decided, in seconds since 1970."""
    return datetime.datetime.fromisoformat(
        record["time"].replace("Z", "+00:00")).timestamp()


def note(where, name, when, what):
    first = [d for d in where.decisions() if d.get("name") == name and
             d["verdict"] == "deny"][0]
    live.notes.append("%s %.0f ms after it was refused" % (
        what, (when - stamp(first)) * 1000))


def seen_at_once(where, command, name):
    """In `membrane watch` at a terminal, of a program that asks for `name`."""
    p = where.popen("run", "--", "sh", "-c", UP + command)
    check(p.stdout.readline() == b"up\n", "it runs")
    with Terminal(where.argv("watch")) as t:
        lock = next(where.state.glob("sessions/*/asking"))
        check(within(10, lambda: is_held(lock)), "it listens")
        (where.work / "go").touch()
        check(t.shows(rb"deny [^\n]*" + re.escape(name).encode(), 60),
              "it is on the screen", t.all)
        when = time.time()
        check(p.poll() is None, "before it gives up")
        p.kill()
    p.communicate(timeout=60)
    note(where, name, when, "in watch")


def told_at_once(where, command, name):
    """At the launcher's own terminal, which the command does not read."""
    with Terminal(["sh", "-c", 'exec "$@" </dev/null', "sh", *where.argv(
            "run", "--", "sh", "-c", command)], owner=live.the.uid) as t:
        check(t.shows(rb"membrane: .*refused [^\n]*" +
                      re.escape(name).encode(), 60), "it is said", t.all)
        when = time.time()
        check(t.process.poll() is None, "before it gives up")
    note(where, name, when, "at the launcher's terminal")


def let_through(where, command, dest, said, arrived):
    """It waits, is permitted, and goes on: one request, one process."""
    out = live.Log("inet.jsonl")
    p, somebody = asked(where, command)
    with somebody:
        n = somebody.wait_for(dest)
        s = where.membrane("answer", str(n), "session")
        answered = time.time()
        check(s.status == 0 and "in force" in s.stderr, "answered", s.stderr)
        text, err = p.communicate(timeout=90)
    check(p.returncode == 0 and said in text, "it went on by itself",
          (p.returncode, text, err[-1500:]))
    mine = [q for q in where.records("question")
            if "%s:%d" % (q["name"], q["port"]) == dest]
    check(len(mine) == 1, "asked once", where.records("question"))
    live.the.settle()
    came = live.matching(out.events(), "http", **arrived)
    check(came, "the request arrived", out.events())
    live.notes.append("done %.1f s after the answer" % (
        time.time() - answered))


def answered_at_a_terminal(where, command, dest, said, key=b"y", means="once"):
    """By a key in `membrane watch`."""
    p = where.popen("run", "--", "sh", "-c", UP + command)
    check(p.stdout.readline() == b"up\n", "it runs")
    with Terminal(where.argv("watch"), 40, 120) as t:
        lock = next(where.state.glob("sessions/*/asking"))
        check(within(10, lambda: is_held(lock)), "it listens")
        (where.work / "go").touch()
        if check(t.shows(rb"(?s)" + re.escape(dest).encode() + rb".*leaves it\) ", 60),
                 "it is asked", t.all[-2000:]):
            t.type(key + b"\r")
        check(t.shows(rb"has ended with 0", 90), "and ends", t.all[-2000:])
    text, err = p.communicate(timeout=90)
    check(said in text, "it went on", (text, err[-1500:]))
    check([r["answer"] for r in where.records("answered")] == [means],
          "one question, one answer", where.records("answered"))


def asking(*dests):
    return "ask:\n" + "".join("  - %s:443\n" % d for d in dests)


@test
def npm_sees_it_at_once():
    with Place() as where:
        seen_at_once(where, NPM, "registry.npmjs.org")
    with Place() as where:
        told_at_once(where, NPM, "registry.npmjs.org")


@test
def npm_goes_on():
    with Place(asking("registry.npmjs.org")) as where:
        let_through(where, NPM, "registry.npmjs.org:443", b"tiny\n",
                    {"host": "registry.npmjs.org"})


@test
def npm_goes_on_by_a_y():
    with Place(asking("registry.npmjs.org")) as where:
        answered_at_a_terminal(
            where, "npm view --no-update-notifier tiny name",
            "registry.npmjs.org:443", b"tiny")


@test
def pip_sees_it_at_once():
    with Place() as where:
        seen_at_once(where, PIP, "pypi.org")


@test
def pip_goes_on():
    with Place("allow: ['files.pythonhosted.org:443']\n" +
               asking("pypi.org")) as where:
        let_through(where, PIP, "pypi.org:443",
                    b"tinywheel-1.2.0-py3-none-any.whl\n",
                    {"host": "pypi.org"})


@test
def pip_goes_on_by_a_y():
    with Place("allow: ['files.pythonhosted.org:443']\n" +
               asking("pypi.org")) as where:
        answered_at_a_terminal(where, PIP, "pypi.org:443", b"tinywheel")


@contextlib.contextmanager
def claude_home(policy):
    """Somebody who has claude: in a prefix of their own, or in its image."""
    if live.ENGINE == "docker":
        image("claude")
        with Place("image: membrane-agent-claude\n" + policy) as where:
            yield where
        return
    with home_of("claude") as where:
        config = where.state / "config.yaml"
        config.write_text('visible: ["~/.npm-global"]\n' + policy +
                          config.read_text())
        where.own()
        yield where


@test
def claude_sees_it_at_once():
    with claude_home("") as where:
        seen_at_once(where, CLAUDE, "api.anthropic.com")


@test
def claude_goes_on():
    with claude_home(asking("api.anthropic.com")) as where:
        let_through(where, CLAUDE, "api.anthropic.com:443",
                    b"hello from the model", {"host": "api.anthropic.com"})


@test
def claude_goes_on_by_a_key():
    """It opens a second connection, which a y would have asked about again."""
    with claude_home(asking("api.anthropic.com")) as where:
        answered_at_a_terminal(where, CLAUDE, "api.anthropic.com:443",
                               b"hello from the model", b"s", "session")
