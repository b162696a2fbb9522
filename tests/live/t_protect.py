"""`protect`: the files of the home that the session's first process alone
opens, against all that its tools may try."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile

from l7 import header
import live
import terminal
from live import (HERE, ROOT, Failed, Place, Skip, check, first_processes,
                  kill_part, leftovers, strays, subordinate_numbers,
                  test, within)

FILE = ".claude/.credentials.json"
PROTECT = "protect: [{files: ['~/.claude/.credentials.json*'], by: %s}]\n" \
    "trace: {engine: off}\n"
# What gives the secret away where nothing is protected. Else an attack that
# never works would be held by anything.
LEAKS = ["cat", "a child of the same program", "exec of the same program",
         "python", "hard link", "rename", "exchange", "folder",
         "link to the folder", "link to the file", "copy", "descriptors",
         "root of the process", "mem", "a thread of another",
         "cat of the new one", "cat of what was moved"]
PROGRAMS = ["claude", "static", "agent", "wrapped"]
CHANGES = ["exchange", "replace", "write", "append", "truncate", "remove",
           "folder"]


def agent(policy, command, root=False, around=contextlib.nullcontext, **more):
    """One session whose first process is the agent: what it said."""
    files = {"agent.js": (HERE / "protect_agent.js").read_text(),
             "attack.py": (HERE / "protect_attack.py").read_text(),
             "attacks": (HERE / "protect_attacks.txt").read_text(),
             **more.pop("files", {})}
    with Place(policy, files=files, **more) as where:
        for path in (where.work / name for name in PROGRAMS):
            if path.exists():
                path.chmod(0o755)
        secret = keep(where)
        if root:
            take(where)
        with around(where):
            s = where.membrane("run", "--", *command)
        try:
            s.told = json.loads(s.stdout)
        except ValueError:
            raise Failed("the agent did not speak, status %s: %s" % (
                s.status, s.stdout[-500:] + s.stderr[-900:])) from None
        s.decided = where.decisions()
        s.summary = json.loads(next(where.state.glob(
            "sessions/*/summary.json")).read_text())
        s.left = secret.read_text() if secret.exists() else None
        return s


def take(where):
    """All of it is root's, who runs membrane."""
    for top, folders, names in os.walk(where.root):
        for name in [".", *folders, *names]:
            os.lchown(os.path.join(top, name), 0, 0)
    user = where.argv

    def argv(*args):
        words = user(*args)
        at = words.index("setpriv")
        return words[:at] + words[words.index("--", at) + 1:]
    where.argv = argv


def keep(where):
    """The file with the secret, in the home."""
    secret = where.state / "home" / FILE
    secret.parent.mkdir(parents=True)
    secret.write_text("TOKEN-first\n")
    where.own()
    return secret


def leaked(told):
    return [name for name, text in told["said"].items() if "TOKEN" in text]


def static_program(source):
    """Without a loader, so that nothing can be loaded into it."""
    with tempfile.TemporaryDirectory() as d:
        to = pathlib.Path(d, "static")
        subprocess.run(["gcc", "-static", "-w", "-x", "c", "-o", to, "-"],
                       input=source, text=True, check=True)
        return to.read_bytes()


def static_reader():
    """One that prints a file."""
    return static_program(
        "#include <fcntl.h>\n#include <stdio.h>\n#include <unistd.h>\n"
        "int main(int n, char **v) { char b[99]; ssize_t k;\n"
        " int f = open(v[n - 1], O_RDONLY);\n"
        " if (f < 0) { perror(\"open\"); return 1; }\n"
        " k = read(f, b, sizeof(b));\n"
        " return k < 0 || write(1, b, (size_t)k) != k; }\n")


def static_agent():
    return static_program((HERE / "protect_agent.c").read_text())


def is_held(s):
    told = s.told
    check(not leaked(told), "no tool has the secret",
          {n: told["said"][n] for n in leaked(told)})
    for way in ("ptrace", "readv", "getfd", "signals"):
        check("given" not in told["said"][way], way, told["said"][way])
    for way in ("SIGUSR1", "SIGUSR1 by a descriptor"):
        check("webSocketDebuggerUrl" not in told["said"][way],
              "no debugger by " + way, told["said"][way])
    check("refused" in told["said"]["SIGUSR1 by a descriptor"],
          "nor can one ask for the signal", told["said"])
    check("<>" in told["said"]["preloaded"],
          "a tool's environment is without the seal",
          told["said"]["preloaded"])
    check(not told["changed"], "no tool has changed it", told["changed"])
    check("was not closed" not in s.stderr, "it is sealed", s.stderr)
    own = told["own"]
    check(own["reads"] == "TOKEN-first", "the agent reads it", own)
    check(own["rewrites"] == "TOKEN-new", "writes it anew by a rename", own)
    check(own["refreshes"] == "TOKEN-newer\nmore", "and in place", own)
    check(own["removes"] == "TOKEN-last", "and another in its place", own)
    check(own["moves aside"] == "TOKEN-last" and own["moves back"] == "done",
          "and moves it", own)
    check(s.left == "TOKEN-last\n", "that is what the host has", s.left)


# P-2, P-4
@test
def the_first_process_alone():
    s = agent(PROTECT % "node", ["node", "agent.js"],
              files={"static": static_reader()})
    is_held(s)
    refused = {(d["kind"], d["path"]) for d in s.decided
               if d.get("reason") == "protected"}
    check(("read", "~/" + FILE) in refused and
          ("write", "~/" + FILE) in refused, "both are on record", refused)
    check("read ~/" + FILE in s.stderr and "protected" in s.stderr,
          "the summary says so", s.stderr[-900:])
    check("membrane explain 'read ~/%s'" % FILE in s.stderr and
          "config.yaml:1:" in s.stderr, "with its place", s.stderr[-900:])
    check(any(f["path"] == "~/" + FILE and f["reason"] == "protected"
              for f in s.summary["files"]), "summary.json, too", s.summary)
    check(not leftovers(), "nothing is left", leftovers())


@test
def a_script_that_an_interpreter_runs():
    script = "#!/usr/bin/env node\n" + (HERE / "protect_agent.js").read_text()
    is_held(agent(PROTECT % "claude", ["./claude"],
                  files={"claude": script}))


@test
def the_attacks_work_where_nothing_is_protected():
    s = agent("trace: {engine: off}\n", ["node", "agent.js"])
    missing = [name for name in LEAKS if name not in leaked(s.told)]
    check(not missing, "all of them", {n: s.told["said"][n] for n in missing})
    missing = [name for name in CHANGES if name not in s.told["changed"]]
    check(not missing, "and all changes", {n: s.told["said"][n]
                                           for n in missing})
    for way in ("ptrace", "readv", "signals"):
        check("given" in s.told["said"][way], way, s.told["said"][way])
    check("sent" in s.told["said"]["SIGUSR1 by a descriptor"],
          "a descriptor sends it", s.told["said"])
    check("webSocketDebuggerUrl" in s.told["said"]["SIGUSR1"],
          "the debugger opens", s.told["said"]["SIGUSR1"])


# P-7
@test
def another_program_is_nobody():
    with Place(PROTECT % "claude") as where:
        secret = keep(where)
        s = where.membrane("run", "--", "sh", "-c",
                           "cat ~/%s; echo $?; echo x > ~/other; cat ~/other"
                           % FILE)
        check(s.stdout == "1\nx\n", "not even the first process",
              s.stdout + s.stderr)
        check("nobody opens them" in s.stderr, "it is said", s.stderr)
        check(os.stat(secret).st_size == 12, "it is as it was")


# P-3
@test
def what_the_first_process_goes_on_as_is_nobody():
    with Place(PROTECT % "sh") as where:
        keep(where)
        f = "/home/agent/" + FILE
        s = where.membrane("run", "--", "sh", "-c",
                           "read x <%s; echo $x; cat %s; exec cat %s"
                           % (f, f, f))
        check(s.stdout == "TOKEN-first\n", "the shell alone reads it",
              s.stdout + s.stderr)
        s = where.membrane("run", "--", "sh", "-c", "exec cat " + f)
        check(s.stdout == "", "another program under its number",
              s.stdout + s.stderr)


# P-5
@test
def a_link_on_the_way_is_not_followed():
    """One that the host has made: the name behind it is no protected one."""
    with Place(PROTECT % "sh") as where:
        secret = keep(where)
        secret.parent.rename(where.state / "home/elsewhere")
        secret.parent.symlink_to("elsewhere")
        s = where.membrane("run", "--", "sh", "-c", "read x <~/%s; echo $x; "
                           "cat ~/%s; ls ~/elsewhere" % (FILE, FILE))
        check("TOKEN" not in s.stdout + s.stderr, "by nobody",
              s.stdout + s.stderr)
        check("read ~/.claude" in s.stderr, "it is said", s.stderr)


@test
def for_root_too():
    """Where the workspace is root's, so are the agent and its tools."""
    is_held(agent(PROTECT % "node", ["node", "agent.js"], root=True))


@live.native_only("users of its own namespace")
def for_a_user_with_numbers_of_their_own():
    """Root inside is one of these, and not the machine's."""
    is_held(agent(PROTECT % "node", ["node", "agent.js"],
                  around=subordinate_numbers))
    is_held(agent(PROTECT % "agent", ["./agent"], around=subordinate_numbers,
                  files={"static": static_reader(), "agent": static_agent()}))


@contextlib.contextmanager
def nobody(where):
    """Who launches it is who root is shown as, where one user is mapped."""
    subprocess.run(["chown", "-R", "65534", where.root], check=True)
    where.launcher = 65534
    yield


@live.native_only("users of its own namespace")
def for_nobody_too():
    is_held(agent(PROTECT % "node", ["node", "agent.js"], around=nobody))


# What a tool may do to be taken for the main process, or to lie elsewhere.
DISGUISES = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
path, main = sys.argv[1], os.getppid()

def reads(name, before=lambda: None):
    child = os.fork()
    if child == 0:
        try:
            before()
            print(name, open(path).read().strip(), flush=True)
        except OSError as e:
            print(name, "refused:", e.strerror, flush=True)
        os._exit(0)
    os.waitpid(child, 0)

def unshare(*flags):
    for flag in flags:
        if libc.unshare(flag):
            raise OSError(ctypes.get_errno(), "unshare")

def runs(program, name, how):
    child = os.fork()
    if child == 0:
        os.dup2(1, 2)
        try:
            how(program, name)
        except OSError as e:
            print("not run", e)
        os._exit(0)
    os.waitpid(child, 0)

def by_memory(program, name):
    fd = os.memfd_create(name)
    os.write(fd, open(program, "rb").read())
    os.execve(fd, [name, "-c", "read x <%s; echo $x" % path], {})

def joins(kind):
    fd = os.open("/proc/%d/ns/%s" % (main, kind), os.O_RDONLY)
    if libc.setns(fd, 0):
        raise OSError(ctypes.get_errno(), "setns")

reads("plainly")
runs("/bin/sh", "sh", lambda p, n: os.execv(
    p, [n, "-c", "read x <%s; echo $x" % path]))
runs("/bin/sh", "sh", by_memory)
reads("users", lambda: unshare(0x10000000))
reads("processes", lambda: unshare(0x10000000, 0x20000000))
reads("mounts", lambda: unshare(0x10000000, 0x20000))
for kind in ("user", "pid", "mnt"):
    reads("of " + kind, lambda: joins(kind))
# numbers come again: each number that there is, once
for _ in range(600):
    reads("number")
# whoever looks for others than the session's own
seen = [open("/proc/%s/comm" % p).read().strip()
        for p in os.listdir("/proc") if p.isdigit()]
print("seen", sorted(set(seen)))
"""


@test
def no_disguise_helps():
    """Names, programs in memory, and namespaces of a tool's own."""
    namespaces = "hardening: {user_namespaces: true}\n"
    for policy in (PROTECT % "sh" + namespaces, namespaces):
        with Place(policy, files={"disguise.py": DISGUISES}) as where:
            keep(where)
            s = where.membrane(
                "run", "--", "sh", "-c", "read x <~/%s; echo own $x; "
                "python3 disguise.py ~/%s; read x <~/%s; echo still $x" % (
                    FILE, FILE, FILE))
        lines = s.stdout.splitlines()
        if policy == namespaces:   # each of them works where nothing is
            got = [line.rpartition(" ")[0] for line in lines[1:-1]
                   if line.endswith("TOKEN-first")]
            check(got[:6] == ["plainly", "", "", "users", "processes",
                              "mounts"] and got.count("number") == 600,
                  "without 'protect' they read it", s.stdout[-900:])
            continue
        check(lines and lines[0] == "own TOKEN-first" and
              lines[-1] == "still TOKEN-first", "the main process reads it",
              s.stdout[-900:] + s.stderr[-900:])
        check(not [line for line in lines[1:-1] if "TOKEN" in line],
              "and nobody else", s.stdout[-900:])
        check(sum(line.startswith("number refused") for line in lines) == 600,
              "whatever its number", s.stdout[-900:])
        seen, = [line for line in lines if line.startswith("seen")]
        check("view" not in seen and "gate" not in seen, "nor is more seen",
              seen)


@test
def a_static_program_is_sealed():
    """Its memory is closed before it begins, since it loads nothing."""
    for root in (False, True):
        s = agent(PROTECT % "agent", ["./agent"], root=root,
                  files={"static": static_reader(), "agent": static_agent()})
        is_held(s)
    check(not leftovers(), "nothing is left", leftovers())


@test
def a_static_program_behind_others():
    """What a script goes on as."""
    is_held(agent(PROTECT % "wrapped", ["./wrapped"], files={
        "wrapped": '#!/usr/bin/env bash\nexec -a wrapped "$PWD/agent"\n',
        "agent": static_agent()}))


@test
def what_cannot_be_sealed_is_not_started():
    if os.uname().machine != "x86_64":
        raise Skip("another machine has no such programs")
    with Place(PROTECT % "agent",
               files={"agent": live.small_program()}) as where:
        keep(where)
        (where.work / "agent").chmod(0o755)
        if not live.has_narrow():
            raise Skip("the kernel runs no programs of 32 bits")
        s = where.membrane("run", "--", "./agent")
        check(s.status == 125 and "word size" in s.stderr and
              "leave 'protect' out" in s.stderr, "refused, with what to do",
              (s.status, s.stdout + s.stderr))
        check(not leftovers(), "nothing is left", leftovers())


@test
def what_was_left_unsealed_opens_nothing():
    """A program that loads nothing, behind one that is no shell."""
    goes_on = "import os; os.execv('./static', ['reads', '/home/agent/%s'])"
    with Place(PROTECT % "reads", files={
            "static": static_reader(), "reads":
            "#!/usr/bin/env python3\n" + goes_on % FILE + "\n"}) as where:
        keep(where)
        for name in ("static", "reads"):
            (where.work / name).chmod(0o755)
        s = where.membrane("run", "--", "./reads")
        check(s.status == 1 and "TOKEN" not in s.stdout, "refused",
              s.stdout + s.stderr)
        check("Permission denied" in s.stderr, "so it is told", s.stderr)
        check("run the program itself" in s.stderr, "and why", s.stderr)


@test
def what_is_not_there_is_said_as_ever():
    with Place(PROTECT % "absent") as where:
        keep(where)
        for command, status, words in (
                ("absent", 127, " no 'absent'"),
                ("./absent", 126, "'./absent' cannot be run")):
            if status == 126:
                (where.work / "absent").write_text("not to be run")
            s = where.membrane("run", "--", command)
            check(s.status == status and words in s.stderr, words,
                  (s.status, s.stderr))


@test
def static_attacks_work_where_nothing_is_protected():
    s = agent("trace: {engine: off}\n", ["./agent"],
              files={"agent": static_agent()})
    missing = [name for name in LEAKS if name not in leaked(s.told)]
    check(not missing, "all of them", {n: s.told["said"][n] for n in missing})
    for way in ("ptrace", "readv"):
        check("given" in s.told["said"][way], way, s.told["said"][way])


@test
def a_view_that_dies_ends_the_session():
    with Place(PROTECT % "sh") as where:
        keep(where)
        session = where.popen(
            "run", "--", "sh", "-c", "echo up; read x <~/%s; while "
            "sleep 0.1; do cat ~/%s ~/x; done" % (FILE, FILE), text=True)
        check(session.stdout.readline() == "up\n", "it runs")
        kill_part("view")
        status = session.wait(timeout=30)
        out = session.stdout.read() + session.stderr.read()
        check(status == 125, "the session ends", out)
        check("TOKEN" not in out, "and nothing was told", out)
        check(not leftovers(), "nothing is left", leftovers())
        mounts = pathlib.Path("/proc", live.the.pid, "mountinfo").read_text()
        check(str(where.root) not in mounts, "no mount is left", mounts)


@test
def at_a_terminal_too():
    """Where keys and jobs go by the process that is told of."""
    with Place(PROTECT % "bash") as where:
        keep(where)
        with terminal.Terminal(where.argv("run", "--", "bash", "--norc")) as t:
            t.type(b"read x <~/%s; echo own $x\r" % FILE.encode())
            check(t.shows(b"own TOKEN-first"), "it reads it", t.all)
            t.type(b"cat ~/%s\r" % FILE.encode())
            check(t.shows(b"Permission denied"), "its tool does not", t.all)
            t.type(b"exit 7\r")
            check(t.ends() == 7, "and it ends", t.all)
    check(within(10, lambda: not strays()), "nobody is left", strays())


@live.native_only("a namespace of processes for all")
def each_process_of_the_view_is_its_end():
    """The one that knows who asks, and those that answer."""
    for victim in ("supervisor", "server", "server of the home"):
        with Place(PROTECT % "sh") as where:
            keep(where)
            session = where.popen("run", "--", "sh", "-c", "echo up; while :; "
                                  "do sleep 0.1; cat ~/%s; done" % FILE,
                                  text=True)
            check(session.stdout.readline() == "up\n", "it runs")
            supervisor, = first_processes("view")
            servers = pathlib.Path("/proc", supervisor, "task", supervisor,
                                   "children").read_text().split()
            check(len(servers) == 2, "of workspace and home", servers)
            os.kill(int({"supervisor": supervisor, "server": servers[0],
                         "server of the home": servers[1]}[victim]),
                    signal.SIGKILL)
            status = session.wait(timeout=30)
            out = session.stdout.read() + session.stderr.read()
            check(status == 125 and "view" in out and "TOKEN" not in out,
                  "without its %s the session ends" % victim, (status, out))
            check(within(5, lambda: not strays()), "nobody is left", strays())


NPM = ROOT / "build/clients/npm"
BUN = "/npm/node_modules/opencode-ai/bin/opencode.exe"


def npm(*more):
    """The words of a policy that have what npm installed."""
    if not NPM.with_suffix(".stamp").exists():
        raise Skip("not fetched: tests/live/clients.sh")
    return "args: [--mount, 'type=bind,source=%s,target=/npm,readonly'%s]\n" % (
        NPM.resolve(), "".join(", " + word for word in more))


@test
def bun_is_sealed():
    """A program of one file, which reads itself."""
    is_held(agent(npm("--env", "BUN_BE_BUN=1") + PROTECT % "opencode.exe",
                  [BUN, "agent.js"]))


@test
def codex_itself_opens_its_login():
    """A static program, as npm installs it."""
    key = "sk-of-a-login"
    words = npm()
    codex, = NPM.glob("node_modules/@openai/codex-linux-*/vendor/*/bin/codex")
    policy = "allow: [{dest: api.openai.com:443, http: [{methods: [POST], " \
        "paths: [/v1/responses]}]}]\ntrace: {engine: off}\n" \
        "protect: [{files: [~/.codex/auth.json], by: codex}]\n" + words
    with Place(policy) as where:
        login = where.state / "home/.codex/auth.json"
        login.parent.mkdir(parents=True)
        login.write_text(json.dumps({"OPENAI_API_KEY": key}))
        where.own()
        s = where.membrane("run", "--", "/npm/%s" % codex.relative_to(NPM),
                           "exec", "-m", "gpt-5-codex",
                           "--skip-git-repo-check", "say hello", timeout=120)
        check(s.status == 0 and s.stdout.strip() == "hello from the model",
              "it answers", (s.status, s.stdout, s.stderr))
        sent = [header(e, "authorization") for e in s.arrived("http")
                if e["path"] == "/v1/responses"]
        check(sent and all(h == ["Bearer " + key] for h in sent),
              "with its key", sent)
        check("was not closed" not in s.stderr, "it is sealed", s.stderr)
        check(not [d for d in where.decisions()
                   if d.get("reason") == "protected"],
              "and was refused nothing", s.stderr)


@test
def claude_itself_opens_its_login():
    """As npm installs it: it reads its token, sends it, and is sealed."""
    token = "sk-ant-oat01-of-a-login"
    policy = "allow: [{dest: api.anthropic.com:443, http: [{methods: [POST]," \
        " paths: [/v1/messages]}]}]\n" + npm()
    with Place(policy + PROTECT % "claude") as where:
        keep(where).write_text(json.dumps({"claudeAiOauth": {
            "accessToken": token, "refreshToken": "sk-ant-ort01-of-a-login",
            "expiresAt": 4102444800000, "subscriptionType": "max",
            "scopes": ["user:inference", "user:profile"]}}))
        s = where.membrane("run", "--", "/npm/node_modules/.bin/claude", "-p",
                           "say hello", timeout=120)
        check(s.stdout.strip() == "hello from the model", "it answers",
              (s.status, s.stdout, s.stderr))
        sent = [header(e, "authorization") for e in s.arrived("http")]
        check(sent and all(h == ["Bearer " + token] for h in sent),
              "with its token", sent)
        check("was not closed" not in s.stderr, "it is sealed", s.stderr)
        check(not [d for d in where.decisions()
                   if d.get("reason") == "protected"],
              "and was refused nothing", s.stderr)
