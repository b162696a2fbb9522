"""Beginning and end: status, signals, pipes, terminals, many at once."""
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time

import live
from live import Place, check, leftovers, shell, strays, test, within
from terminal import Terminal


def no_leftovers(seconds, what):
    check(within(seconds, lambda: not leftovers()),
          "no container is left: " + what, leftovers())
    check(within(5, lambda: not strays()), "no process is left: " + what,
          strays())


#
@test
def exit_status():
    with Place("") as where:
        for command, wanted in ((["true"], 0), (["false"], 1),
                                (["sh", "-c", "exit 42"], 42),
                                (["sh", "-c", "sh -c 'kill -9 $$'; exit $?"],
                                 137),
                                (["no-such-command"], 127),
                                (["/etc"], 126 if live.ENGINE == "docker"
                                 else 125)):
            s = where.membrane("run", "--", *command)
            check(s.status == wanted, "%s: %d" % (command, wanted),
                  (s.status, s.stderr))
            check(s.stdout == "", "stdout is the command's", s.stdout)
        s = where.membrane("--", "echo", "short form")
        check(s.stdout == "short form\n" and s.status == 0,
              "membrane -- command", (s.status, s.stderr))
        s = where.membrane("run", "--image", "no-such-image:1",
                           "--no-update", "--", "true")
        check(s.status == 125, "no such image: 125", (s.status, s.stderr))
    with Place("allow: [[[\n") as where:
        s = where.membrane("run", "--", "echo", "ran")
        check(s.status == 125 and not s.stdout, "a bad policy: 125",
              (s.status, s.stderr))
    no_leftovers(5, "after the end")


@test
def arguments_pass_unchanged():
    words = ["a b", "", "*", "$HOME", "'", '"', "\\", "-x", "--", "{session}",
             "{env:PATH}", "{{", "ü", "new\nline"]
    with Place("") as where:
        s = where.membrane("run", "--", "python3", "-c",
                           "import sys; print(sys.argv[1:])", *words)
        check(s.stdout == "%s\n" % words, "word by word", s.stdout + s.stderr)


@test
def pipes_are_binary_and_complete():
    block = hashlib.sha256(b"seed").digest() * 32768
    data = b"".join(bytes([i]) + block[1:] for i in range(50))
    with Place("") as where:
        s = where.membrane("run", "--", "cat", data=data, text=False)
        check(s.status == 0 and s.stdout == data, "50 MB in and out",
              (s.status, len(s.stdout), s.stderr[-500:]))
        s = where.membrane("run", "--", "sh", "-c", "sha256sum; echo e >&2",
                           data=data)
        check(s.stdout.split()[:1] == [hashlib.sha256(data).hexdigest()],
              "50 MB in", s.stdout)
        check("e\n" in s.stderr, "stderr is passed", s.stderr)
        s = where.membrane("run", "--", "head", "-c", "52428800",
                           "/dev/zero", text=False)
        check(len(s.stdout) == 52428800, "50 MB out", len(s.stdout))
        s = where.membrane("run", "--", "sh", "-c", "cat; echo eof")
        check(s.stdout == "eof\n", "end of input", s.stdout)
        s = where.membrane("run", "--", "test", "-t", "0")
        check(s.status == 1, "no terminal for a pipe", s.status)


def started(where, command, first="", **more):
    """A running session whose command has done what is first, and said 'up'."""
    p = where.popen("run", "--", "sh", "-c", first + "echo up; " + command,
                    **more)
    line = p.stdout.readline()
    check(line == b"up\n", "the command is up", line)
    return p


@test
def signals_end_everything():
    for number, wanted in ((signal.SIGINT, 130), (signal.SIGTERM, 143),
                           (signal.SIGHUP, 129)):
        with Place("allow: [site.test]\n") as where:
            p = started(where, "sleep 300")
            p.send_signal(number)
            try:
                p.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                p.kill()
                p.communicate()
            check(p.returncode == wanted, "%s: status %d" % (
                number.name, wanted), p.returncode)
            no_leftovers(5, number.name)


@test
def a_command_can_handle_a_signal():
    with Place("") as where:
        p = started(where, "sleep 600 & while :; do wait; done",
                    first="trap 'echo bye; exit 7' TERM; ")
        p.terminate()
        out, err = p.communicate(timeout=30)
        check(out == b"bye\n" and p.returncode in (7, 143), "its own end",
              (out, p.returncode, err))
        no_leftovers(5, "handled")


@test
def kill_9_of_membrane():
    with Place("allow: ['11.0.1.1']\n", files={"x.env": "s\n"}) as where:
        loop = ("while :; do python3 -c \"import socket; "
                "socket.create_connection(('11.0.1.1', 80), 1)\"; "
                "sleep 0.1; done")
        p = started(where, loop)
        p.kill()
        p.communicate(timeout=30)
        within(10, lambda: not leftovers())
        left = leftovers()
        check(within(5, lambda: not strays()), "no process is left",
              strays())
        check(not live.is_running("gate"), "the gate goes with it")
        log = live.Log("inet.jsonl")
        time.sleep(1)
        live.the.settle()
        check(not live.matching(log.events(), "packet", addr="11.0.1.1"),
              "the agent is cut off", log.events())
        s = where.membrane("run", "--", "true")
        check(s.status == 0, "the next one runs", s.stderr)
        check(not leftovers(), "and reaps what was left", (left, leftovers()))
        names = {x.name for x in where.work.iterdir()}
        check(names == {"probe.py", "x.env"}, "no placeholder is left", names)


def nothing_is_left(where):
    s = where.membrane("run", "--", "true")
    check(s.status == 0, "the next one runs", s.stderr)
    no_leftovers(10, "after eight kills")
    names = {x.name for x in where.work.iterdir()}
    check(names == {"probe.py", ".env"}, "no placeholder is left", names)


@test
def kill_9_at_any_moment():
    with Place("ignore: [.env]\n", files={".env": "s\n"}) as where:
        for ms in (5, 30, 80, 150, 250, 400, 600, 900):
            p = where.popen("run", "--", "sleep", "60")
            time.sleep(ms / 1000)
            p.kill()
            p.communicate(timeout=30)
        nothing_is_left(where)


@test
def kill_9_near_the_end():
    with Place("ignore: [.env]\n", files={".env": "s\n"}) as where:
        took = min(where.membrane("run", "--", "true").seconds
                   for _ in range(2))
        for before in range(8):
            p = where.popen("run", "--", "true")
            time.sleep(max(0, took - 0.03 * before))
            p.kill()
            p.communicate(timeout=30)
        nothing_is_left(where)


def locks(where):
    return list(where.state.glob("sessions/*/lock"))


@contextlib.contextmanager
def left_to_docker(where):
    """A session that has returned, while Docker still removes its gate: as
    long as this lasts, Docker stands still."""
    daemon = int(live.the.pid)
    for _ in range(10):
        p = where.popen("run", "--", "true")
        p.wait(timeout=60)
        os.kill(daemon, signal.SIGSTOP)
        try:
            if locks(where):
                p.communicate()
                check(p.returncode == 0, "it went well", p.returncode)
                yield
                return
        finally:
            os.kill(daemon, signal.SIGCONT)
    check(False, "a session that does not wait for Docker")


@live.docker_only("its daemon stands still")
def the_end_does_not_wait_for_docker():
    with Place("") as where:
        with left_to_docker(where):
            s = where.membrane("ps", "--all", "--json")
            states = [x["state"] for x in json.loads(s.stdout)["sessions"]]
            check(states and set(states) == {"ended"}, "it has ended",
                  s.stdout + s.stderr)
            held = locks(where)[0]
            s = where.membrane("stop", held.parent.name)
            check(s.status and "has ended" in s.stderr, "for stop, too",
                  s.stderr)
        check(within(10, lambda: not locks(where)), "its lock goes",
              locks(where))
        check(not live.containers(), "behind the last container",
              live.containers())
        # and when nobody is left to see to it
        with left_to_docker(where):
            held = locks(where)[0]
            os.kill(int(held.read_text().split()[0]), signal.SIGKILL)
        check(within(10, lambda: not live.containers()), "Docker goes on",
              live.containers())
        check(held.exists(), "nobody has looked", locks(where))
        s = where.membrane("run", "--", "true")
        check(s.status == 0 and not s.stderr and not held.exists(),
              "the next one does", (s.status, s.stderr))
    no_leftovers(5, "left to Docker")


@live.docker_only("ports and networks of its own")
def what_the_gate_held_is_free_at_the_end():
    with Place("args: ['-p', '127.0.0.1:18080:8000']\n") as where:
        for _ in range(3):
            s = where.membrane("run", "--", "true")
            check(s.status == 0 and not s.stderr, "the port", s.stderr)
    for _ in range(2):
        live.the.docker("network", "create", "membrane-live-uplink")
        with Place("uplink: membrane-live-uplink\n") as where:
            s = where.membrane("run", "--", "true")
        gone = live.the.docker("network", "rm", "membrane-live-uplink",
                               check_it=False)
        check(s.status == 0 and gone.returncode == 0, "the network",
              s.stderr + gone.stderr)


@test
def the_gate_dies():
    with Place("allow: ['11.0.1.1']\n") as where:
        p = started(where, "sleep 300")
        live.kill_part("gate")
        try:
            p.communicate(timeout=20)
            check(p.returncode == 125, "the session ends with 125",
                  p.returncode)
        except subprocess.TimeoutExpired:
            check(False, "the session ends")
            p.kill()
            p.communicate()
        no_leftovers(5, "gate killed")


def on_a_terminal(where, *args, keys=b"", rows=37, cols=91, seconds=30,
                  resize=None, when=b"ready", then=None):
    """Run membrane with a terminal as stdin, stdout and stderr: (status,
    what was on the screen). The keys are typed when that stands on it; then()
    is called before."""
    with Terminal(where.argv(*args), rows, cols) as t:
        if keys and t.shows(re.escape(when), seconds):
            if then:
                then()
            if resize:
                t.resize(*resize)
            t.type(keys)
        status = t.ends(seconds)
        check(status is not None, "it ended on the terminal", t.all)
        return status, t.all.decode("utf-8", "replace")


@test
def terminals():
    with Place("") as where:
        status, screen = on_a_terminal(
            where, "run", "--", "sh", "-c",
            "test -t 0 && test -t 1 && echo tty; "
            "sleep 1; stty size; exit 5")
        check(status == 5, "status", (status, screen))
        check("tty" in screen and "37 91" in screen, "a terminal of its size",
              screen)
        status, screen = on_a_terminal(
            where, "run", "--", "sh", "-c",
            # docker's client does not listen from the first instruction on
            "until [ \"$(stty size)\" = '37 91' ]; do sleep 0.1; done; "
            "sleep 1; echo ready; read x; for i in $(seq 100); do "
            "[ \"$(stty size)\" = '20 70' ] && break; sleep 0.1; done; "
            "stty size; echo got $x",
            keys=b"hello\r", resize=(20, 70))
        check("got hello" in screen, "keys", screen)
        check("20 70" in screen, "a new size is passed on", screen)
        status, screen = on_a_terminal(
            where, "run", "--", "sh", "-c",
            "trap 'echo int; exit 3' INT; echo ready; sleep 20",
            keys=b"\x03")
        check(status == 3 and "int" in screen, "ctrl-c is the command's",
              (status, screen))
        p = subprocess.run(
            where.argv("run", "--", "sh", "-c", "test -t 1 || echo plain"),
            stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
            check=False)
        check(p.stdout == b"plain\n", "none for a pipe", p.stdout)


@test
def eight_at_once():
    places = [Place("allow: ['n%d.wild.test']\n" % i) for i in range(8)]
    sessions = [None] * 8

    def one(i):
        command = ("curl -sS -m 8 http://n%d.wild.test/; "
                   "curl -sS -m 8 http://n%d.wild.test/ 2>/dev/null; "
                   "sleep 1; exit %d" % (i, (i + 1) % 8, i))
        p = subprocess.run(places[i].argv("run", "--", "sh", "-c", command),
                           stdin=subprocess.DEVNULL, capture_output=True,
                           timeout=120, check=False)
        sessions[i] = (p.returncode, p.stdout.decode(), p.stderr.decode())
    threads = [threading.Thread(target=one, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i, (status, out, err) in enumerate(sessions):
        check(status == i and out == "hello from n%d.wild.test\n" % i,
              "session %d has its own policy" % i, (status, out, err))
    no_leftovers(5, "eight sessions")
    with Place("") as where:   # and eight that share one state and workspace
        ps = [where.popen("run", "--", "sh", "-c", "echo %d" % i)
              for i in range(8)]
        out = sorted(p.communicate(timeout=120)[0] for p in ps)
        check(out == [b"%d\n" % i for i in range(8)], "in one workspace",
              out)
    for place in places:
        place.remove()
    no_leftovers(5, "eight in one workspace")


@live.docker_only("docker exec")
def docker_exec_goes_into_the_same_sandbox():
    with Place("allow: [site.test]\n") as where:
        p = started(where, "sleep 60")
        done = live.the.docker(
            "exec", live.running("membrane.role=agent")[0], "sh", "-c",
            "curl -sS -m 5 http://site.test/; "
            "curl -sS -m 5 http://11.0.2.1/ || echo refused; id -u",
            check_it=False)
        check(done.stdout.splitlines() == ["hello from site.test", "refused",
                                           str(live.the.uid)],
              "same policy", done.stdout + done.stderr)
        p.kill()
        p.communicate(timeout=30)


@live.docker_only("published ports")
def published_port():
    policy = "args: ['-p', '127.0.0.1:18080:8000', '-p', '18081:8001']\n"
    with Place(policy) as where:
        p = where.popen("run", "--", "sh", "-c",
                        "python3 -m http.server 8001 >/dev/null 2>&1 & "
                        "exec python3 -um http.server 8000")
        try:
            def fetch(port, addr="127.0.0.1"):
                return subprocess.run(
                    live.the.enter("curl", "-sS", "-m", "2",
                                   "http://%s:%d/probe.py" % (addr, port)),
                    capture_output=True, check=False).stdout
            for port in (18080, 18081):
                check(within(15, lambda port=port:
                             b"Runs inside" in fetch(port)),
                      "reached through %d" % port)
            check(b"Runs inside" in fetch(18081, "198.18.0.1"),
                  "on every address of the host")
            check(not fetch(18080, "198.18.0.1"), "not on others",
                  fetch(18080, "198.18.0.1"))
        finally:
            p.kill()
            p.communicate(timeout=30)


@live.docker_only("images")
def any_image_works():
    images = live.the.docker("images", "-q", "membrane-agent-plain").stdout
    check(images, "the plain image is there")
    with Place("allow: [site.test]\n") as where:
        s = where.membrane("run", "--image", "membrane-agent-plain", "--",
                           "curl", "-sS", "http://site.test/")
        check(s.stdout == "hello from site.test\n", "by flag", s.stderr)
    # From scratch: one static program, no shell, no passwd, no home.
    made = subprocess.run(
        live.the.enter("sh", "-c", "d=$(mktemp -d) && cd $d && "
                       "printf '#include <unistd.h>\\nint main(void)"
                       "{return write(1,\"bare\\\\n\",5)!=5;}' > a.c && "
                       "gcc -static -o bare a.c && tar c bare | docker -H " +
                       live.the.docker_host + " import - bare; rm -rf $d"),
        capture_output=True, text=True, check=False)
    check(made.returncode == 0, "an image is made", made.stderr)
    with Place("image: bare\n") as where:
        s = where.membrane("run", "--", "/bare")
        check(s.stdout == "bare\n" and s.status == 0, "an empty image",
              (s.status, s.stdout, s.stderr))


@test
def files_of_a_session():
    with Place("allow: [site.test]\n") as where:
        ids = where.root / "id"
        where.own()
        s = where.membrane("run", "--session-id-file", str(ids), "--",
                           "curl", "-sS", "http://site.test/")
        check(ids.exists() and re.fullmatch(r"[0-9a-f]{12}\n?",
                                            ids.read_text()),
              "--session-id-file", s.stderr)
        if not ids.exists():
            return
        session = where.state / "sessions" / ids.read_text().strip()
        names = {p.name for p in (session / "plan").iterdir()} \
            if (session / "plan").exists() else set()
        check({"ruleset.nft", "names.map", "mounts.plan", live.ENGINE + ".json",
               "manifest.json", "policy.json"} <= names, "the plan", names)
        check((session / "decisions.jsonl").exists(), "decisions")
        check((where.state.stat().st_mode & 0o077) == 0 or
              (session.stat().st_mode & 0o077) == 0, "private",
              oct(session.stat().st_mode))


@test
def reset_ends_sessions():
    with Place("") as where:
        p = started(where, "sleep 300")
        s = where.membrane("--reset=c", "--yes")
        check(s.status == 0, "status", s.stderr)
        p.communicate(timeout=30)
        check(p.returncode != 0, "the session was ended", p.returncode)
        no_leftovers(5, "reset")


@test
def resolver_file_is_ours():
    s = shell("", "cat /etc/resolv.conf; hostname; cat /etc/hosts")
    check("nameserver 192.0.0.1" in s.stdout, "the gate resolves", s.stdout)
    check("8.8.8.8" not in s.stdout, "and nobody else", s.stdout)


def as_root(where, *args):
    """As `sudo -E membrane`: root, with the user's HOME."""
    return subprocess.run(live.the.enter(
        "env", "-C", str(where.work), "HOME=%s" % where.root,
        "DOCKER_HOST=" + live.the.docker_host,
        "MEMBRANE_ENGINE=" + live.ENGINE, live.the.membrane, *args),
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=90 * live.SLOW, check=False)


def owners(top):
    """{uid: a path} of all that is there."""
    return {os.lstat(path).st_uid: path for top, dirs, names in os.walk(top)
            for path in [os.path.join(top, n) for n in ["."] + dirs + names]}


@live.user_only("root would be another")
def state_belongs_to_whose_home_it_is_in():
    """Once as root with the user's HOME, and then as the user."""
    with Place("") as where:
        shutil.rmtree(where.state)
        where.state = where.root / ".membrane"
        s = as_root(where, "run", "--", "sh", "-c", "id -u; touch ~/kept")
        check(s.returncode == 0 and s.stdout == "%d\n" % live.the.uid,
              "as root", (s.returncode, s.stderr))
        s = as_root(where, "start", "--", "sh", "-c", "sleep 300")
        session = s.stdout.strip()
        check(s.returncode == 0, "as root, detached", s.stderr)
        mine = owners(where.state)
        check(set(mine) == {live.the.uid}, "all of it is the user's", mine)
        s = where.membrane("ps")
        check(session in s.stdout and "lost" not in s.stdout, "ps", s.stdout)
        s = where.membrane("run", "--no-trace", "--", "sh", "-c",
                           "ls ~/kept; echo ran")
        check(s.status == 0 and s.stdout.endswith("ran\n") and
              not s.stderr, "as the user beside it", (s.status, s.stderr))
        s = where.membrane("stop", session)
        check(s.status == 3 and "cannot be signalled" in s.stderr,
              "root's process is root's to stop", (s.status, s.stderr))
        s = as_root(where, "stop", session)
        check(s.returncode == 0 and not leftovers(), "stop", s.stderr)
        # As older versions left it, and their masks.
        (where.state / "holds.lock").touch()
        for name in ("sessions", "trace", "last", "holds.lock", "workspaces"):
            path = where.state / name
            for top, dirs, names in os.walk(path):
                for one in dirs + names:
                    os.lchown(os.path.join(top, one), 0, 0)
            os.lchown(path, 0, 0)
            os.chmod(path, 0o700 if path.is_dir() else 0o600)
        s = where.membrane("run", "--", "echo", "ran")
        check(s.status == 0 and s.stdout == "ran\n" and
              "sessions.of-0" in s.stderr and "holds.lock.of-0" in s.stderr,
              "said, and passed over", (s.status, s.stderr))
        s = where.membrane("run", "--no-trace", "--", "echo", "ran")
        check(s.status == 0 and not s.stderr, "said once", s.stderr)
        one = next((where.state / "sessions").iterdir())
        os.chown(one, 0, 0)
        os.chmod(one, 0o700)
        s = where.membrane("run", "--", "echo", "ran")
        check(s.status == 0 and "1 session in" in s.stderr and
              "left alone" in s.stderr, "a session of root's",
              (s.status, s.stderr))
        # What somebody else says is not obeyed, and not passed over.
        config = where.state / "config.yaml"
        os.chown(config, 4242, 4242)
        os.chmod(config, 0o644)
        s = where.membrane("run", "--", "echo", "ran")
        check(s.status == 125 and not s.stdout and
              "belongs to user 4242" in s.stderr, "somebody's policy",
              (s.status, s.stderr))
        os.chown(config, 0, 0)
        s = where.membrane("run", "--", "echo", "ran")
        check(s.stdout == "ran\n", "root's policy", (s.status, s.stderr))
