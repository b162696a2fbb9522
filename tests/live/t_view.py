"""Masks that a view holds: for the whole session, whatever the host does."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

import live
from live import Failed, Place, Skip, check, leftovers, strays, test, within

HOLD = "masks: hold\nignore: [.env, '*.pem', secret/]\nreadonly: [ro/]\n" \
    "trace: {engine: off}\n"
# Until the host says so: a file that the command waits for.
WAIT = "until [ -e go-%d ]; do sleep 0.02; done; "


def mounts(where):
    """What of views is mounted in a state folder, as the Docker host sees."""
    seen = pathlib.Path("/proc", live.the.pid, "mountinfo").read_text()
    return [line for line in seen.splitlines()
            if str(where.root) in line and " - fuse" in line]


def nothing_left(where, what):
    check(within(15, lambda: not mounts(where)), "no mount is left: " + what,
          mounts(where))
    check(within(15, lambda: not leftovers()),
          "no container is left: " + what, leftovers())
    check(within(15, lambda: not strays()), "no process is left: " + what,
          strays())


def tell(where, n):
    path = where.work / ("go-%d" % n)
    path.touch()
    os.chown(path, live.the.uid, live.the.gid)


def put(where, name, text):
    """As an editor saves: another file, under the old name."""
    path = where.work / name
    new = path.with_name(path.name + ".new")
    new.write_text(text)
    os.chown(new, live.the.uid, live.the.gid)
    new.rename(path)


def start(where, command):
    """One that has printed its first line."""
    session = where.popen("run", "--", "sh", "-c", "echo up; " + command,
                          text=True)
    if session.stdout.readline() != "up\n":
        raise Failed("it does not start: " + session.communicate(
            timeout=20)[1])
    return session


def summary(where):
    one, = where.state.glob("sessions/*/summary.json")
    return json.loads(one.read_text())


def server():
    """The first process of the one view, and its child."""
    ids = live.running("membrane.role=view")
    if len(ids) != 1:
        raise Failed("no single view: %s" % ids)
    pid = ids[0] if live.ENGINE == "native" else live.the.docker(
        "inspect", "-f", "{{.State.Pid}}", ids[0]).stdout.strip()
    children = pathlib.Path("/proc", pid, "task", pid, "children")
    return int(pid), int(children.read_text().split()[0])


# M-1, M-2, M-3
@test
def what_the_host_does_lifts_no_mask():
    """A rename over a hidden file, files that come late, sed -i."""
    files = {".env": "key=leak\n", "ro/a": "host\n", "a": "1\n"}
    with Place(HOLD, files=files) as where:
        s = start(where, WAIT % 1 + "cat .env late.pem sub/b.pem secret/x; "
                  "echo bad >ro/a; cat ro/a a; ls; echo x >new.pem; "
                  "mv a b.pem; ln a c.pem; mkdir secret2 && "
                  "mv secret2 secret; echo end")
        put(where, ".env", "key=leak again\n")
        put(where, "late.pem", "key=leak\n")
        (where.work / "sub").mkdir()
        put(where, "sub/b.pem", "key=leak\n")
        (where.work / "secret").mkdir()
        put(where, "secret/x", "key=leak\n")
        put(where, "ro/a", "host again\n")
        subprocess.run(["sed", "-i", "s/leak/leak twice/",
                        where.work / ".env"], check=True)
        one, = json.loads(where.membrane("ps", "--json").stdout)["sessions"]
        check({c["role"] for c in one["containers"]} ==
              live.roles("gate", "view", "agent"), "its containers", one)
        check(within(5, lambda: not mounts(where)),
              "the host has no mount while it runs", mounts(where))
        tell(where, 1)
        out, err = s.communicate(timeout=30)
        check("leak" not in out and "host again\n1\n" in out and
              "late.pem" in out and out.endswith("end\n"), "seen", out + err)
        check(s.returncode == 0, "it ends well", s.returncode)
        check((where.work / ".env").read_text() == "key=leak twice again\n",
              "the host's are the host's")
        check((where.work / "ro/a").read_text() == "host again\n" and
              not (where.work / "new.pem").exists() and
              not (where.work / "b.pem").exists() and
              not (where.work / "c.pem").exists(), "nothing was made")
        nothing_left(where, "at the end")


@test
def branches_with_secrets_are_checked_out_while_it_reads():
    with Place(HOLD) as where:
        def git(*words):
            subprocess.run(
                ["git", "-c", "safe.directory=*", "-c", "user.name=x",
                 "-c", "user.email=x@x.test", *words], cwd=where.work,
                check=True, capture_output=True)
        git("init", "-q", "-b", "main")
        put(where, "plain", "one\n")
        git("add", "plain")
        git("commit", "-qm", "one")
        git("checkout", "-qb", "other")
        for i in range(20):
            put(where, "k%d.pem" % i, "leak\n")
        put(where, ".env", "leak\n")
        git("add", "-f", ".")
        git("commit", "-qm", "two")
        where.own()
        s = start(where, "n=0; until [ -e go-1 ]; do cat *.pem .env; "
                  "n=$((n+1)); done 2>/dev/null; echo rounds $n")
        for _ in range(25):
            git("checkout", "-q", "main")
            git("checkout", "-q", "other")
        tell(where, 1)
        out, err = s.communicate(timeout=60)
        rounds = int(out.split()[-1])
        check("leak" not in out and rounds > 5, "what it saw", out + err)
        live.notes.append("%d rounds of reading, 50 checkouts" % rounds)
        nothing_left(where, "at the end")


@test
def repositories_that_it_makes_are_its_own():
    """As with mounts: they can be made, and are named; those that were there
    are held."""
    def git(*words):
        subprocess.run(live.the.as_user(
            "git", "-c", "user.name=x", "-c", "user.email=x@x.test", *words,
            cwd=where.work), check=True, capture_output=True)
    with Place("masks: hold\ntrace: {engine: off}\n") as where:
        for folder in ".", "up":
            git("init", "-q", folder)
            git("-C", folder, "commit", "-qm", "one", "--allow-empty")
        s = where.membrane(
            "run", "--", "bash", "-c",
            "set -e; git init -q made; git clone -q up cl; "
            "git worktree add -q wt; cp -r up copy; "
            "for r in made cl wt; do git -C $r -c user.name=x "
            "-c user.email=x@x.test commit -qm two --allow-empty; done; "
            "git -C made config some.key value; mkdir -p made/.git/hooks; "
            "echo x >made/.git/hooks/x; "
            "echo made; set +e; mkdir -p q; mv up/.git q/.git; mv up q/up; "
            "for d in . up wt/..; do echo bad >>$d/.git/hooks/x; "
            "echo bad >>$d/.git/config; done; "
            "mv up/.git/hooks made/.git/theirs; echo end")
        check(s.status == 0 and s.stdout == "made\nend\n", "made",
              (s.status, s.stdout, s.stderr))
        for folder, branch, n in (("made", "HEAD", 1), ("cl", "HEAD", 2),
                                  (".", "wt", 2), ("up", "HEAD", 1)):
            out = subprocess.run(
                live.the.as_user("git", "-C", folder, "rev-list", "--count",
                                 branch, "--", cwd=where.work), text=True,
                capture_output=True, check=False)
            check(out.stdout == "%d\n" % n, "on the host: " + folder,
                  out.stdout + out.stderr)
        check("key = value" in (where.work / "made/.git/config").read_text(),
              "its configuration is on the disk")
        for folder in ".", "up":
            git_folder = where.work / folder / ".git"
            check(not (git_folder / "hooks/x").exists() and
                  "bad" not in (git_folder / "config").read_text(),
                  "held: " + folder)
        line, = [w for w in s.stderr.splitlines() if "on your machine" in w]
        check(all(name in line for name in (
            ".git/worktrees/wt/commondir", "cl/.git", "copy/.git",
            "made/.git")), "named", line)
        nothing_left(where, "at the end")


@test
def refusals_are_counted_and_named():
    files = {".env": "x\n"}
    with Place(HOLD, files=files) as where:
        subprocess.run(["git", "init", "-q", where.work], check=True)
        where.own()
        s = where.membrane(
            "run", "--", "sh", "-c", "for i in 1 2 3; do "
            "echo x >>.git/config; done; cat .env; touch .git/hooks/x")
        check(any("write .git/config" in line and "3×" in line and
                  "readonly" in line and
                  "membrane explain write .git/config" in line
                  for line in s.stderr.splitlines()), "in words", s.stderr)
        files = {(f["kind"], f["path"]): f for f in summary(where)["files"]}
        check(files["write", ".git/config"]["count"] == 3 and
              files["read", ".env"]["by"] == ".env" and
              ("write", ".git/hooks/x") in files, "in the summary", files)
        said = [d for d in where.decisions() if d["kind"] == "write"]
        check(sum(d["count"] for d in said
                  if d["path"] == ".git/config") == 3, "in the records", said)
        s = where.membrane("logs")
        check("write .git/config" in s.stdout, "in the log", s.stdout)


# M-5
@test
def a_view_that_dies_ends_the_session():
    """The server, its supervisor, the container: never the bare tree."""
    def kill_server():
        os.kill(server()[1], signal.SIGKILL)

    def kill_supervisor():
        os.kill(server()[0], signal.SIGKILL)

    def kill_container():
        live.kill_part("view")
    for kill in kill_server, kill_supervisor, kill_container:
        with Place(HOLD, files={".env": "leak\n"}) as where:
            s = start(where, "exec 2>&1; while cat .env; do :; done; "
                      "cat .env; cat /workspace/.env; sleep 60")
            kill()
            out, err = s.communicate(timeout=40)
            what = kill.__name__
            check(s.returncode == 125 and "view of the workspace" in err,
                  what + ": 125, and words", (s.returncode, err))
            # or what was asked just then, and given up; or the command had
            # the first words of that out when it was ended
            gone = ("not connected" in out or "connection abort" in out or
                    "cat: .env: ".startswith(out))
            check("leak" not in out and gone, what + ": what the command saw",
                  out)
            where.membrane("ps")
            nothing_left(where, what)
            check((where.work / ".env").read_text() == "leak\n",
                  what + ": the files are there")


@test
def a_launcher_that_is_killed_leaves_nothing():
    with Place(HOLD, files={".env": "leak\n", "sub/a": "1\n"}) as where:
        for delay in (0.2, 0.6, 0.9, 1.2, None):
            s = where.popen("run", "--", "sh", "-c", "echo up; sleep 60",
                            text=True)
            if delay is None:
                s.stdout.readline()
            else:
                time.sleep(delay * live.SLOW)
            s.kill()
            s.communicate(timeout=20)
            what = "killed after %s s" % delay
            nothing_left(where, what)
        s = where.membrane("run", "--", "true")
        check(s.status == 0, "the next one runs", s.stderr)
        check((where.work / "sub/a").read_text() == "1\n" and
              (where.work / ".env").read_text() == "leak\n",
              "the files are there")
        nothing_left(where, "at the end")


@test
def three_at_once_in_one_workspace():
    with Place(HOLD, files={".env": "leak\n"}) as where:
        command = "for i in $(seq 200); do cat .env; echo $i >f-$1-$i; " \
            "mv f-$1-$i g-$1-$i; done; ls | grep -c g-$1-"
        all_ = [where.popen("run", "--", "sh", "-c", command, "sh", str(i),
                            text=True) for i in range(3)]
        for s in all_:
            out, err = s.communicate(timeout=90)
            check(s.returncode == 0 and out == "200\n", "one of three",
                  (s.returncode, out, err))
        check(len(list(where.work.glob("g-*"))) == 600, "all were made")
        nothing_left(where, "at the end")


@test
def one_with_mounts_beside_one_with_a_view():
    """In one workspace, `masks: start` and `hold`: each holds its own."""
    files = {".env": "leak\n", "ro/a": "host\n", "secret/x": "leak\n"}
    with Place(HOLD, files=files) as where:
        s = start(where, WAIT % 1 + "cat .env secret/x; echo bad >ro/a; "
                  "cat from-mounts; ls -A secret .vscode; echo end")
        (where.state / "config.yaml").write_text(
            HOLD.replace("hold", "start"))
        for i in range(2):
            t = where.membrane("run", "--", "sh", "-c",
                               "cat .env secret/x; echo bad >ro/a; "
                               "echo %d >from-mounts; echo end" % i)
            check(t.status == 0 and t.stdout == "end\n", "with mounts",
                  (t.status, t.stdout, t.stderr))
        tell(where, 1)
        out, err = s.communicate(timeout=30)
        check(s.returncode == 0 and out.split() == ["1", "secret:", "end"],
              "with a view", (s.returncode, out, err))
        check(all((where.work / n).read_text() == text
                  for n, text in files.items()), "the files are there")
        check(not (where.work / ".vscode").exists(), "no placeholder is left")
        nothing_left(where, "at the end")


# F-10
@test
def names_of_any_bytes():
    odd = [b"co,mma", b'quo"te', b"new\nline", b"\xff\xfe", b"%41", b"sp ace"]
    files = {n.decode("utf-8", "surrogateescape") + "/.env": "leak\n"
             for n in odd}
    with Place(HOLD, files=files) as where:
        s = where.membrane("run", "--", "sh", "-c",
                           "cat */.env; for d in */; do echo x >\"$d/made\"; done; "
                           "echo end")
        check(s.stdout.split() == ["end"], "seen", s.stdout + s.stderr)
        check(all(os.path.exists(os.fsencode(where.work) + b"/" + n +
                                 b"/made") for n in odd), "made", s.stderr)
        nothing_left(where, "at the end")
    with Place(HOLD, files={"x": "y\n"}) as where:
        for name in ("a,b", 'q"uote', "new\nline", "%0a"):
            where.work = where.root / name
            where.work.mkdir()
            put(where, ".env", "leak\n")
            where.own()
            s = where.membrane("run", "--", "sh", "-c", "cat .env; pwd")
            at = str(where.work) if name.isprintable() else "/workspace"
            check(s.stdout == at + "\n", "workspace %r" % name,
                  s.stdout + s.stderr)


SET_IDS = """
import ctypes, os, shutil
def mode(name): print(name, oct(os.stat(name).st_mode & 0o7777))
os.umask(0)
shutil.copy('/bin/true', 'changed')
os.chmod('changed', 0o6755)
os.close(os.open('created', os.O_CREAT | os.O_WRONLY, 0o6755))
os.mknod('node', 0o106755)
fd = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o6755)
ctypes.CDLL(None).linkat(-100, b'/proc/self/fd/%d' % fd, -100, b'unnamed', 0x400)
os.mkdir('folder')
os.chmod('folder', 0o3775)
for name in 'changed', 'created', 'node', 'unnamed', 'folder': mode(name)
"""


@test
def nobody_becomes_another_by_a_file():
    """On the host, where a set-user-ID file of root's would make one root."""
    with Place(HOLD) as where:
        s = where.membrane("run", "--", "python3", "-c", SET_IDS)
        wanted = dict.fromkeys(("changed", "created", "node", "unnamed"),
                               0o755)
        wanted["folder"] = 0o3775   # where its files' group is from
        check(s.stdout.splitlines() == ["%s %s" % (name, oct(mode))
                                        for name, mode in wanted.items()],
              "as it is told", s.stdout + s.stderr)
        modes = {name: (where.work / name).stat().st_mode & 0o7777
                 for name in wanted}
        check(modes == wanted, "and is", modes)


@test
def root_runs_it_for_the_owner():
    """Their ids, in a state folder that is root's."""
    with Place(HOLD, files={".env": "leak\n", "a": "1\n"}) as where:
        state = where.root / "roots"
        state.mkdir(mode=0o700)
        (state / "config.yaml").write_text(HOLD)
        argv = live.the.enter(
            "env", "-i", "-C", str(where.work), "HOME=/root",
            "PATH=" + os.environ["PATH"], "MEMBRANE_HOME=%s" % state,
            "DOCKER_HOST=" + live.the.docker_host,
            "MEMBRANE_ENGINE=" + live.ENGINE, live.the.membrane, "run",
            "--", "sh", "-c", "cat .env; id -u; echo x >made; "
            "echo x >.env; echo end")
        s = subprocess.run(argv, text=True, capture_output=True, timeout=60,
                           stdin=subprocess.DEVNULL, check=False)
        check(s.stdout.split() == [str(live.the.uid), "end"], "seen",
              s.stdout + s.stderr)
        check((where.work / "made").stat().st_uid == live.the.uid, "whose")
        nothing_left(where, "at the end")


@live.user_only("root writes everywhere")
def a_workspace_that_one_cannot_write_to():
    with Place(HOLD, files={"a": "text\n", ".env": "leak\n"}) as where:
        os.chown(where.work, 0, 0)
        s = where.membrane("run", "--", "sh", "-c",
                           "cat a .env; echo x >a; touch new; echo end")
        check(s.stdout.split() == ["text", "end"], "seen", s.stdout)
        check("read-only for the command" in s.stderr, "said", s.stderr)
        check((where.work / "a").read_text() == "text\n" and
              not (where.work / "new").exists(), "nothing was changed")
        nothing_left(where, "at the end")


@contextlib.contextmanager
def no_fuse(where):
    """The Docker host's /dev without that device, for as long."""
    top = where.root / "dev"
    top.mkdir()
    done = subprocess.run(live.the.enter(
        "sh", "-ec", 'mount -t tmpfs none "$1"; mkdir "$1/upper" "$1/work"; '
        'mount -t overlay none -o "lowerdir=/dev,upperdir=$1/upper,'
        'workdir=$1/work" /dev; rm /dev/fuse', "sh", str(top)),
        capture_output=True, text=True, check=False)
    try:
        if done.returncode:
            raise Skip("no overlay over /dev: " + done.stderr.strip())
        yield
    finally:
        subprocess.run(live.the.enter(
            "sh", "-c", 'grep -q " /dev overlay" /proc/mounts && '
            'umount -l /dev; umount -l "$1"', "sh", str(top)), check=False)


# M-6
@live.docker_only("masks: start is the other step")
def a_host_without_fuse():
    """Refused before anything of the agent runs; and nothing weaker is put in
    the view's place unasked."""
    with Place(HOLD, files={"a": "text\n", ".env": "key=leak\n"}) as where, \
            no_fuse(where):
        s = where.membrane("run", "--", "sh", "-c", "touch ran")
        check(s.status == 125 and "no /dev/fuse: modprobe fuse" in s.stderr and
              "masks: start" in s.stderr, "refused, with both next steps",
              (s.status, s.stderr))
        check(not (where.work / "ran").exists(), "nothing ran")
        said = json.loads(where.membrane("doctor", "--json").stdout)
        bad = [c for c in said["checks"] if c["needed"] and c["state"] != "ok"]
        check(not said["runs"] and [c["name"] for c in bad] == ["/dev/fuse"],
              "doctor", said)
        text = " ".join(where.membrane("doctor").stdout.split())
        check("modprobe fuse" in text and "masks: start" in text,
              "with its next step", text)
        (where.state / "config.yaml").write_text(
            HOLD.replace("masks: hold", "masks: start"))
        s = where.membrane("run", "--", "sh", "-c", "cat a .env")
        check(s.stdout == "text\n", "the other step", s.stdout + s.stderr)
        nothing_left(where, "at the end")


# M-6
@live.docker_only("its daemon needs a shared mount")
def a_host_where_mounts_do_not_pass_on():
    """Refused before anything of the agent runs, with the next step."""
    with Place(HOLD, files={"a": "text\n"}) as where:
        subprocess.run(live.the.enter("mount", "--bind", str(where.state),
                                      str(where.state)), check=True)
        subprocess.run(live.the.enter("mount", "--make-private",
                                      str(where.state)), check=True)
        try:
            s = where.membrane("run", "--", "sh", "-c", "touch ran")
            check(s.status == 125 and "mount --make-rshared " in s.stderr and
                  "masks: start" in s.stderr, "refused, with both next steps",
                  (s.status, s.stderr))
            check(not (where.work / "ran").exists(), "nothing ran")
            said = json.loads(where.membrane("doctor", "--json").stdout)
            check(not said["runs"] and [
                c["name"] for c in said["checks"] if c["needed"] and
                c["state"] != "ok"] == ["shared mount"], "doctor", said)
            (where.state / "config.yaml").write_text("masks: start\n")
            s = where.membrane("run", "--", "sh", "-c", "echo ran")
            check(s.stdout == "ran\n", "the other step", s.stderr)
        finally:
            # lazily: what the session leaves holds its files for a moment
            subprocess.run(live.the.enter("umount", "-l", str(where.state)),
                           check=True)
        nothing_left(where, "at the end")
