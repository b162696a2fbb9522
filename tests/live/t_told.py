"""Refusals are told when they happen: on stderr, to a command, to a URL."""
import hashlib
import hmac
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time

import live
from live import Failed, Place, check, test, within
from terminal import Terminal


class Reader:
    """Lines of a session's stderr, each with when it came."""

    def __init__(self, stream):
        self.fd, self.text, self.lines = stream.fileno(), b"", []

    def line(self, wanted, seconds=20):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for line, when in self.lines:
                if wanted in line:
                    return line, when
            if not select.select([self.fd], [], [], 0.2)[0]:
                continue
            part = os.read(self.fd, 65536)
            if not part:
                break
            self.text += part
            *whole, self.text = self.text.split(b"\n")
            self.lines += [(w.decode(), time.time()) for w in whole]
        raise Failed("no line with %r" % wanted, )


@test
def refusals_are_said_when_they_happen():
    """Each destination and each file once, while the command runs."""
    with Place("allow: [site.test]\ndeny: [evil.site.test]\nignore: [.env]\n",
               files={".env": "secret\n"}) as where:
        session = where.popen(
            "run", "--", "sh", "-c",
            "for n in not.test not.test evil.site.test; do "
            "date +%s.%N; getent hosts $n; done; cat .env; date +%s.%N; "
            "read end", stdin=subprocess.PIPE)
        said = Reader(session.stderr)
        line, when = said.line("refused not.test")
        check(line.endswith(
            "not.test: no-grant; add to 'allow' in .membrane.yaml:  "
            "- not.test:443"), "the line that would allow it", line)
        denied, _ = said.line("refused evil.site.test")
        check(re.search(r"evil\.site\.test: denied \(.*membrane.*:2\); "
                        "a deny rule forbids it$", denied),
              "the line that refused it", denied)
        hidden, late = said.line("refused read .env")
        check("ignored (" in hidden and "); by '.env'" in hidden, "a file, too",
              hidden)
        # a busy machine may take longer to say whose the first was than is
        # waited for; by a user's trace it may be any of those that asked
        who, _ = said.line("membrane:   ")
        check(re.fullmatch(
            r"membrane:   (by (getent\[\d+\]: getent hosts [a-z.]+|"
            r"cat\[\d+\]: cat \.env)%s)" % (
                r"|probably by getent\[.*"
                if live.ENGINE == "native" else ""), who), "who", who)
        check(session.poll() is None, "the command runs on")
        out, err = session.communicate(b"\n", timeout=60)
        check(sum("refused not.test" in l for l, _ in said.lines) == 1,
              "once", said.lines)
        check(b"2 destinations were refused" in err, "and at the end", err)
        times = [float(t) for t in out.decode().split()
                 if re.fullmatch(r"\d+\.\d+", t)]
        live.notes.append("said %.0f ms after the question, a file %.0f ms "
                          "before" % ((when - times[0]) * 1000,
                                      (times[-1] - late) * 1000))


# Lines in two pieces, so that what is told comes within one; then a prompt. Each
# goes on once somebody has seen the last: what a container prints may take longer
# than what is told of it.
IN_LINES = ("await() { n=0; until [ -e $1 ] || [ $((n += 1)) = 600 ]; "
            "do sleep 0.05; done; }; rm -f asked told; "
            "for n in $(seq 60); do printf 'tick ' >&2; "
            "[ $n = 20 ] && getent hosts not.test & sleep 0.01; "
            "echo tock >&2; sleep 0.01; done; wait; printf 'name? ' >&2; "
            "await asked; getent hosts evil.test; await told; echo me >&2")


def goes_on(where, seen):
    """As far as that was seen of it; True: to its end."""
    is_told = re.search(rb"refused .*evil", seen)
    for name, is_there in (("asked", b"name? " in seen), ("told", is_told)):
        if is_there:
            (where.work / name).touch()
    return is_told


def printed(stream, where):
    """What comes through that pipe, until it ends."""
    text = b""
    while part := os.read(stream.fileno(), 65536):
        text += part
        goes_on(where, text)
    return text


def in_lines_of_its_own(text, prompt=b"name? \n"):
    ours = [l for l in text.splitlines() if b"membrane: refused " in l]
    check(len(ours) == 2 and all(l.startswith(b"membrane: ") for l in ours),
          "each begins a line", text)
    check(prompt + b"membrane: refused evil.test" in text and
          b"\nme\n" in text, "a prompt has its line ended", text[-400:])
    # a machine that takes long in a line has that one ended, too
    check(text.count(b"tick tock\n") >= 58, "lines are whole", text)


@test
def what_is_told_begins_a_line():
    """Where the command's own output passes through somebody anyway: a file,
    a terminal, and of Docker's commands a pipe."""
    with Place("") as where:
        with tempfile.NamedTemporaryFile() as seen:
            s = where.popen("run", "--", "sh", "-c", IN_LINES, stdout=seen,
                            stderr=seen)
            path = pathlib.Path(seen.name)
            within(60, lambda: goes_on(where, path.read_bytes()))
            check(s.wait(60) == 0, "it runs")
            in_lines_of_its_own(path.read_bytes())
        with Terminal(["sh", "-c", 'exec "$@" </dev/null', "sh", *where.argv(
                "run", "--", "sh", "-c", IN_LINES)],
                owner=live.the.uid) as t:
            within(60, lambda: (t.read(0), goes_on(where, t.all))[1])
            check(t.ends(60) == 0, "it ends", t.all)
            told = re.sub(rb"\x1b\[[0-9;]*[mK]", b"", t.all)
            in_lines_of_its_own(told.replace(b"\r\n", b"\n"))
        if live.ENGINE == "docker":
            s = where.popen("run", "--", "sh", "-c", IN_LINES,
                            stderr=subprocess.STDOUT)
            in_lines_of_its_own(printed(s.stdout, where))


@test
def the_end_begins_a_line_too():
    """And where nothing is told nothing is added."""
    with Place("allow: [site.test]\n") as where:
        for then, want in (("", b"x"), ("getent hosts not.test;", None)):
            with tempfile.TemporaryFile() as seen:
                s = where.popen("run", "--", "sh", "-c", then + "printf x >&2",
                                stderr=seen)
                s.communicate(timeout=60)
                seen.seek(0)
                text = seen.read()
            # at the end, of every trace that is a user's
            said = live.ENGINE == "native" and not live.AS_ROOT
            check(text == want if want and not said else re.search(
                rb"(?m)^x\n(?:membrane: .*\n)*membrane: %s" %
                (b"run by" if want else b"1 destination was refused"), text),
                  "the end", text)


@test
def a_pipe_that_is_handed_on_is_the_commands():
    """Nothing is between, whose ends and size it would see."""
    with Place("") as where:
        r, w = os.pipe()
        s = where.popen("run", "--", "sh", "-c", "stat -Lc %i /proc/self/fd/2",
                        stderr=w)
        same = int(s.communicate(timeout=60)[0]) == os.fstat(w).st_ino
        check(same == (live.ENGINE != "docker"), "whose pipe it has")
        os.close(r)
        os.close(w)


def program(text):
    """A program of the user's, where no agent writes; it appends to a log."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="membrane-hook-"))
    path = folder / "hook"
    path.write_text("#!/bin/sh\n" + text.replace("LOG", str(folder / "log")))
    path.chmod(0o755)
    for p in (folder, path):
        os.chown(p, live.the.uid, live.the.gid)
    return path, folder / "log"


def judged(event):
    live.hold(lambda s: filter(None, [s.complaint("refusal", event)]))
    return event


@test
def a_command_hears_of_each():
    """The event on its stdin, nothing in its words or its environment."""
    path, log = program('cat >>LOG; echo >>LOG; echo "$# $SECRET $(pwd)"'
                        ' >>LOG')
    with Place("allow: [site.test]\nignore: ['.env*']\non_refusal: [%s, one]\n"
               % path, files={".env;$(touch x)": "x"},
               env={"SECRET": "s3cret"}) as where:
        s = where.membrane(
            "run", "--", "sh", "-c",
            "getent hosts not.test; cat .env*; getent hosts not.test")
        lines = log.read_text().splitlines()
        check(lines[1::2] == ["1  /"] * 2, "its words and environment", lines)
        net, read = (judged(json.loads(line)) for line in lines[::2])
        check(net["what"] == "not.test" and net["grant"] == "not.test:443" and
              net["command"] == "membrane allow not.test:443 --session "
              + net["session"] and net["decision"]["kind"] == "resolve" and
              net["workspace"] == str(where.work), "a destination", net)
        check(read["what"] == "read .env;$(touch x)" and
              read["reason"] == "ignored", "a file", read)
        check("on_refusal" not in s.stderr, "nothing failed", s.stderr)
        shutil.rmtree(path.parent)


@test
def it_is_said_who_wanted_it_and_who_reads_there():
    """One program; what it has of secrets is not told on."""
    path, log = program('cat >>LOG; echo >>LOG')
    token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    with Place("on_refusal: [%s]\n" % path) as where:
        s = where.membrane(
            "run", "--", "sh", "-c",
            "curl -sS -m 5 -H 'Authorization: Bearer %s' "
            "https://gist.github.com/; sleep 0.3" % token)
        event = judged(json.loads(log.read_text()))
        check(event["third_party"]["kind"] == "forge", "whose place", event)
        by = event["process"] or {}
        check(by.get("name") == "curl" and by["command"] ==
              "curl -sS -m 5 -H 'Authorization: Bearer ghp_%s' "
              "https://gist.github.com/" % ("*" * 36), "who", event)
        check("others read there: gists" in s.stderr and token not in
              s.stderr + log.read_text(), "as it is said", s.stderr)
        w = where.membrane("watch", "--json",
                           str(event["session"]))
        check([json.loads(l)["process"] for l in w.stdout.splitlines()
               if '"event":"refusal"' in l] == [by], "in watch", w.stdout)
        log.write_text("")
        s = where.membrane("run", "--no-trace", "--", "getent", "hosts",
                           "not.test")
        event = judged(json.loads(log.read_text()))
        check(event["process"] is None and "membrane:   " not in s.stderr,
              "nobody knows", (event, s.stderr))
        shutil.rmtree(path.parent)


@test
def a_command_that_fails_or_lingers_holds_up_nobody():
    path, log = program("echo x >>LOG; exec sleep 600")
    with Place("on_refusal: [%s]\n" % path) as where:
        s = where.membrane("run", "--", "sh", "-c",
                           "getent hosts a.test; getent hosts b.test; exit 7")
        check(s.status == 7, "the session ends", s.status)
        check(log.read_text() == "x\n", "one at a time", log.read_text())
        path.write_text("#!/bin/sh\nexit 3\n")
        s = where.membrane("run", "--", "sh", "-c",
                           "getent hosts a.test; getent hosts b.test; true")
        check(s.status == 0 and s.stderr.count(
            "'on_refusal' failed: status 3") == 1, "said once", s.stderr)
        path.unlink()
        s = where.membrane("run", "--", "true")
        check(s.status == 125 and "No such file" in s.stderr, "none is there",
              s.stderr)
        own = where.work / "mine"
        own.write_text("#!/bin/sh\n")
        own.chmod(0o755)
        (where.state / "config.yaml").write_text(
            (where.state / "config.yaml").read_text().replace(
                str(path), str(own)))
        s = where.membrane("run", "--", "true")
        check(s.status == 125 and "is where agents write" in s.stderr,
              "none of the workspace", s.stderr)
        shutil.rmtree(path.parent)


def hooks(s, path):
    return s.arrived("hook", path=path)


@test
def a_url_hears_of_them_signed():
    policy = "on_refusal: {webhook: 'https://hooks.test%s', secret_env: KEY}\n"
    with Place(policy % "/hook", env={"KEY": "k"}) as where:
        s = where.membrane("run", "--", "sh", "-c",
                           "getent hosts a.test; getent hosts b.test; true")
        got = hooks(s, "/hook")
        check(s.status == 0 and got, "it was called", (s.status, s.stderr))
        whats = []
        for call in got:
            at, digits = re.fullmatch("t=([0-9]+),v1=([0-9a-f]{64})",
                                      call["signed"]).groups()
            check(digits == hmac.new(
                b"k", ("%s.%s" % (at, call["body"])).encode(),
                hashlib.sha256).hexdigest(), "the signature", call)
            check(abs(time.time() - int(at)) < 60 and call["tls"],
                  "when, and by TLS", call)
            body = json.loads(call["body"])
            check(body["version"] == 1, "its version", body)
            whats += [judged(r)["what"] for r in body["refusals"]]
        check(whats == ["a.test", "b.test"], "all of them", whats)
    with Place(policy % "/down", env={"KEY": "k"}) as where:
        s = where.membrane("run", "--", "sh", "-c",
                           "getent hosts a.test; sleep 4; true")
        check(len(hooks(s, "/down")) == 4, "tried three times more",
              hooks(s, "/down"))
        check("'on_refusal' failed: it answered with status 503" in s.stderr,
              "and said", s.stderr)
    with Place(policy % "/hook") as where:
        s = where.membrane("run", "--", "true")
        check(s.status == 125 and "the variable KEY holds" in s.stderr,
              "nothing to sign with", s.stderr)


@test
def urls_are_held_to_their_certificates():
    with Place("on_refusal: {webhook: 'https://selfsigned.test/hook', "
               "secret_env: KEY}\n", env={"KEY": "k"}) as where:
        s = where.membrane("run", "--", "sh", "-c",
                           "getent hosts a.test; sleep 4; true")
        check(not hooks(s, "/hook"), "nothing was sent", s.out)
        check("'on_refusal' failed: " in s.stderr, "said", s.stderr)
    with Place("on_refusal: {webhook: 'https://hooks.test/moved', "
               "secret_env: KEY}\n", env={"KEY": "k"}) as where:
        s = where.membrane("run", "--", "sh", "-c", "getent hosts a.test; true")
        check(len(hooks(s, "/moved")) == 1 and
              "it answered with status 302" in s.stderr,
              "no redirect is followed", s.stderr)


FLOOD = r"""
import os, random, socket, sys, time
def query(label):
    return (b"\0\1\1\0\0\1\0\0\0\0\0\0" + bytes([len(label)]) + label +
            b"\4test\0\0\1\0\1")
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("192.0.0.1", 53))
s.setblocking(False)
s.send(query(b"a\x1b]0;pwned\x07b\x1b[2J"))
n, until = 0, time.monotonic() + float(sys.argv[1])
while time.monotonic() < until:
    try:
        s.send(query(b"n%d" % n))
    except OSError:
        pass
    n += 1
print(n)
"""


@test
def a_flood_holds_up_nobody():
    """Nobody reads stderr; names are made up as fast as they can be asked."""
    with Place("allow: [site.test]\n", files={"flood.py": FLOOD}) as where:
        session = where.popen("run", "--", "sh", "-c",
                              "python3 flood.py 3; getent hosts site.test")
        out = session.stdout.read()
        check(session.wait(60) == 0, "it ends", session.returncode)
        err = session.stderr.read().decode("utf-8", "replace")
        check(b"site.test" in out, "and it works", out)
        said = [l for l in err.splitlines() if ": refused " in l]
        check(0 < len(said) <= 100, "bounded", len(said))
        check("\x1b" not in err and "\x07" not in err, "nothing raw",
              ascii(err[:2000]))
        live.notes.append("%d questions a second, %d lines" % (
            int(out.split()[0]) / 3, len(said)))


@test
def who_reads_hears_how_many_more():
    with Place("allow: [site.test]\n", files={"flood.py": FLOOD}) as where:
        s = where.membrane("run", "--", "sh", "-c", "python3 flood.py 2; "
                           "sleep 1")
        said = [l for l in s.stderr.splitlines() if ": refused " in l]
        check(10 <= len(said) <= 40, "ten a second", len(said))
        check(re.search(r"and \d+ more were refused: membrane logs", s.stderr),
              "and how many more", s.stderr[:3000])
        check(r"a\x5c027]0\x5c;pwned" in s.stderr or "027" in s.stderr,
              "a hostile name, escaped", s.stderr[:1000])


# org.freedesktop.Notifications: a line of JSON for each note.
NOTES = r"""
import json, dbus, dbus.mainloop.glib, dbus.service, gi.repository.GLib
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
NAME = "org.freedesktop.Notifications"
class Notes(dbus.service.Object):
    @dbus.service.method(NAME, "susssasa{sv}i", "u")
    def Notify(self, app, replaces, icon, title, body, actions, hints, wait):
        print(json.dumps([app, title, body, list(actions)]), flush=True)
        return 1
    @dbus.service.method(NAME, "", "as")
    def GetCapabilities(self):
        return ["body", "body-markup"]
    @dbus.service.method(NAME, "", "ssss")
    def GetServerInformation(self):
        return "stand-in", "membrane", "1", "1.2"
bus = dbus.SessionBus()
name = dbus.service.BusName(NAME, bus)
notes = Notes(bus, "/org/freedesktop/Notifications")
print("up", flush=True)
gi.repository.GLib.MainLoop().run()
"""

ODD = r"""
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("192.0.0.1", 53))
label = b"<b>&amp;\x1b]0;x\x07</b>"
s.send(b"\0\1\1\0\0\1\0\0\0\0\0\0" + bytes([len(label)]) + label +
       b"\4test\0\0\1\0\1")
s.settimeout(5)
s.recv(512)
"""


class Desktop:
    """A session bus of the user's, and who shows notes there."""

    def __init__(self, where):
        self.where, self.began = where, []

    def begin(self, *argv):
        self.began.append(subprocess.Popen(live.the.as_user(
            *argv, env=self.where.env), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True))
        return self.began[-1].stdout

    def __enter__(self):
        at = "unix:path=%s/bus" % self.where.root
        self.where.env["DBUS_SESSION_BUS_ADDRESS"] = at
        self.begin("dbus-daemon", "--session", "--nofork", "--print-address",
                   "--address=" + at).readline()
        self.out = self.begin("/usr/bin/python3", "-c", NOTES)
        check(self.out.readline() == "up\n", "somebody shows notes")
        return self

    def note(self):
        return json.loads(self.out.readline())

    def __exit__(self, *_):
        for p in self.began:
            p.kill()
            p.communicate()


def has_desktop():
    return (os.path.exists("/usr/bin/notify-send") and
            shutil.which("dbus-daemon") and subprocess.run(
                ["/usr/bin/python3", "-c", "import dbus, gi"],
                capture_output=True, check=False).returncode == 0)


@live.only(has_desktop(), "libnotify-bin, dbus-daemon, python3-dbus, python3-gi")
def a_desktop_shows_it_as_text():
    """By notify-send itself, of a command that has the terminal: what is told
    is a title and a text, and no markup of somebody inside."""
    with Place("", files={"odd.py": ODD}) as where, live.instead(where, {
            "/etc/passwd": live.with_a_name()}), Desktop(where) as desk:
        with Terminal(where.argv("run", "--", "sh", "-c",
                                 "getent hosts not.test; sleep 1; "
                                 "python3 odd.py; sleep 1")) as t:
            app, title, body, actions = desk.note()
            check((app, title, actions) == (
                "membrane", "membrane: refused not.test", []), "its title",
                (app, title, actions))
            check(re.fullmatch(
                r"add to 'allow' in \.membrane\.yaml:  - not\.test:443"
                r"(\n(probably )?by getent\[\d+\]: getent hosts not\.test)?", body), "its text", body)
            app, title, body, _ = desk.note()
            check(title.startswith("membrane: refused <b>&amp\\") and
                  title.isprintable(), "a title is no markup", title)
            check("<" not in body and "\x1b" not in body + title and
                  not re.search("&(?!(lt|gt|amp|quot|apos|#\\d+);)", body),
                  "nor is there any in the text", body)
            check(t.ends(60) == 0, "it ends", t.all)
        with Terminal(where.argv("run", "--quiet", "--", "sh", "-c",
                                 "getent hosts not.test; sleep 0.5")) as t:
            t.ends(60)
        check(not select.select([desk.out], [], [], 0.2)[0],
              "nobody who wants quiet is told", None)


@test
def a_terminal_is_the_commands_alone():
    with Place("allow: [site.test]\n") as where:
        t = Terminal(where.argv("run", "--", "sh", "-c",
                                "getent hosts not.test; echo d''one; sleep 1"))
        check(t.shows(b"done"), "it runs", t.screen)
        check(not t.shows(b"refused", 0.7), "nothing of ours", t.all)
        check(t.shows(b"1 destination was refused"), "at the end", t.all)


LOOKUPS = """
import concurrent.futures, os, socket, time
def wait(name):
    while not os.path.exists(name):
        time.sleep(0.02)
print("up", flush=True)
wait("go")
with concurrent.futures.ThreadPoolExecutor(32) as pool:
    for _ in pool.map(lambda i: socket.getaddrinfo("site.test", 80, 2),
                      range(12000)):
        pass
print("done", flush=True)
wait("end")
"""


@test
def decisions_that_are_lost_are_told():
    """The launcher reads nothing for a while, and the gate goes on."""
    with Place("allow: [site.test]\n") as where:
        p = where.popen("run", "--no-trace", "--", "python3", "-c", LOOKUPS)
        p.stdout.readline()
        w = where.popen("watch", "--json")
        p.send_signal(signal.SIGSTOP)
        (where.work / "go").touch()
        # natively this is the command's own pipe, and so it is by Docker's
        check(p.stdout.readline() == b"done\n", "it goes on")
        check(not where.records("lost"), "nobody knows of it yet")
        p.send_signal(signal.SIGCONT)
        check(within(60, lambda: where.records("lost")), "on record")
        (where.work / "end").touch()
        told = next((d for d in map(json.loads, w.stdout)
                     if d["event"] == "lost"), {})
        check(told.get("of") == "decisions" and told["count"] > 0,
              "told to who watches", told)
        _, err = p.communicate(timeout=60)
        w.communicate(timeout=60)
        lost = sum(d["count"] for d in where.records("lost"))
        kept = len(where.decisions())
        live.notes.append("%d of 12000 lookups lost" % lost)
        check(kept + lost >= 12000, "each is on record, or counted",
              (kept, lost))
        summary = json.loads(next(where.state.glob(
            "sessions/*/summary.json")).read_text())
        check(summary["unrecorded"] == {"decisions": lost, "refusals": 0} and
              b"%d decisions of the gate are neither" % lost in err,
              "and at the end", (summary, err))
