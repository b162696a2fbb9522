#!/usr/bin/python3
"""Which changes of the sources no test notices: make mutants.

    tests/mutants/run.py [-j N] [-s K/M] [-b SECONDS] [-r] [-n] [FILE...]

All mutants of ROOMS are built at once (schemata.py), every test runs once and
says in which of them it would meet a difference, and then each mutant, or each
of the files, is shown to those tests, first the quick ones and those that
noticed its neighbours, until one fails. K/M: of every M mutants the K-th, by
number; a part of a night's work on a day.

A verdict is in build/mutants/judged as soon as it is known, one a line:

    FATE KEY TEST SECONDS STATE      with tabs between

    killed     TEST fails; of some it is tried whether it passes without
    hung       TEST takes too much of the processor, or waits for nothing
    survived   no test fails
    unseen     in no test it would make a difference
    STATE      of the tests, by number: what they were then

The order is by chance, always the same: what has been judged when a run is
broken off is a sample of all. It goes on where it was, and what is there of an
earlier run is taken: of files that are the same the mutants that died stay
dead, and the others are shown to such tests as are new; with -r to all of them
again. -n: from the beginning. -b: a mutant is shown to the tests that take so
many seconds of the processor together, the cheapest for what they noticed
first, and unit tests before golden cases.

Last is a table: for each folder what was killed, what survived, and what is
equivalent, which tests/mutants/equivalent says with a reason. Those that
survived are in build/mutants/survived. Status 1: some did.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import ctypes
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "build/mutants"
TREE = HERE / "tree"
MUTANTS = TREE / "mutants.json"
JUDGED = HERE / "judged"
EQUIVALENT = ROOT / "tests/mutants/equivalent"
TOOLS = ["tests/mutants/schemata.py", "tests/mutants/mutant.h"]
ROOMS = ["compiler/algebra/*/*.c", "compiler/emit/*.c", "compiler/emit/*/*.c",
         "compiler/passes/*.c", "compiler/passes/*/*.c", "runtime/gate/*.c",
         "runtime/gate/*/*.c", "compiler/front/bind/*.c",
         "compiler/front/word/*.c"]
# Oracles try a part: what meets a mutant often kills it soon.
FEW = {"additions": ["1", "150"], "algebra": ["150"], "algebra_files": ["1500"],
       "docker_run": ["30"], "names_gate": ["150"], "never": ["100"],
       "nft_load": ["3"], "packets": ["40"], "proof": ["15"],
       "recompile": ["12"], "requests": ["4"], "third_party": ["100"]}
# Beside unit tests, oracles and golden cases: what alone reads an output.
CHECKS = ["tests/check/schema"]
# As root, the gate in network namespaces: some seconds of waiting for each.
LIVE = ["gate.py", "apart_live.py", "ask_live.py", "change_live.py",
        "decide_live.py", "flows_live.py", "l7_live.py", "origin_live.py",
        "pod_live.py", "source_live.py", "witness_live.py"]
# The same, whole sessions: what of the gate they meet it cannot say, in a root of
# its own, so all of it is taken to be met.
SESSIONS = ["session_live.py"]
SESSIONS_MEET = "runtime/gate/"
FAILED = b"FAIL:"  # what they say at once of what is not so
BUILD = ["make", "-s", "OPT=-O1 -DCOVERAGE -w", "WARN=", "all", "units"]
SLOW_S = 5       # a test that takes longer of the processor is shown to nobody
LIVE_S = 40      # and of those of LIVE
LIVE_IDLE_S = 30
CASES_MAX = 200  # golden cases that a mutant is shown to
CONTROL = 17     # of so many kills one is tried without the mutant
LOOK_S = 0.25    # how often a program that has not ended is looked at
DEAD = ("killed", "hung")
MUTANT_LIMIT = 10 ** 12  # mutant.h
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


# --- what is there ----------------------------------------------------------

def tracked(*patterns):
    """What git tracks, or would if it were told."""
    return sorted(set(subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard",
         *patterns], cwd=ROOT, check=True, capture_output=True,
        text=True).stdout.split()))


def sources(patterns):
    return [p for p in tracked(*patterns) if not p.endswith(".y")]


def digest(*paths):
    """Of files, and of all files of folders."""
    h = hashlib.sha256()
    for top in paths:
        below = [top] if top.is_file() else sorted(
            p for p in top.rglob("*") if p.is_file() or p.is_symlink())
        for p in below:
            h.update(b"%s\0" % str(p.relative_to(top.parent)).encode())
            h.update(os.readlink(p).encode() if p.is_symlink()
                     else p.read_bytes())
    return h.hexdigest()


def read_json(path):
    return json.loads(path.read_text()) if path.exists() else {}


def write_json(path, value):
    aside = path.with_suffix(".new")
    aside.write_text(json.dumps(value, indent=0))
    aside.rename(path)


def copy(paths):
    """To the tree what is not there, or not so; a time that stays is nothing
    to build."""
    for p in paths:
        a, b = ROOT / p, TREE / p
        b.parent.mkdir(parents=True, exist_ok=True)
        if b.is_file() and not b.is_symlink() and not a.is_symlink() \
                and a.read_bytes() == b.read_bytes():
            continue
        if b.is_symlink():
            b.unlink()
        shutil.copy2(a, b, follow_symlinks=False)


def mutate(files):
    """A copy of what git tracks, generated sources, all mutants."""
    MUTANTS.unlink(missing_ok=True)
    shutil.rmtree(TREE, ignore_errors=True)
    copy(p for p in tracked() if os.path.lexists(ROOT / p))
    subprocess.run(["make", "-s", "-C", str(TREE), "generated"], check=True)
    said = subprocess.run(
        ["/usr/bin/python3", str(ROOT / TOOLS[0]), str(TREE), *files],
        check=True, capture_output=True, text=True).stdout
    print(said, end="", flush=True)


def prepare(files):
    """The tree with all mutants, built; their list. What is tested as it was is
    kept, and tests are brought to what they are now."""
    HERE.mkdir(parents=True, exist_ok=True)
    made = [p for p in tracked() if not p.startswith(("tests/", "doc/"))
            and not p.endswith(".md") and os.path.lexists(ROOT / p)]
    stamp = {p: digest(ROOT / p) for p in [*made, *TOOLS]
             if (ROOT / p).is_file()}
    stamp[""] = " ".join(files)
    before = read_json(HERE / "stamp")
    if before != stamp or not MUTANTS.exists():
        forget({p for p in stamp if before.get(p) != stamp[p]})
        mutate(files)
        write_json(HERE / "stamp", stamp)
    now = [p for p in tracked("tests", "doc") if os.path.lexists(ROOT / p)]
    for p in (TREE / "tests/cases").glob("*/**/*"):
        if not p.is_dir() and str(p.relative_to(TREE)) not in set(now):
            p.unlink()
    copy(now)
    subprocess.run([*BUILD, "-C", str(TREE), "-j%d" % os.cpu_count()],
                   check=True, stdout=subprocess.DEVNULL)
    return json.loads(MUTANTS.read_text())


# --- processes --------------------------------------------------------------

def used(session):
    """Processor time of what is alive of a session, in seconds, and whether any
    of it wants more."""
    ticks, wants = 0, False
    for p in os.listdir("/proc"):
        if not p.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % p, "rb") as f:
                stat = f.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(stat[3]) == session:
            ticks += sum(map(int, stat[11:15]))
            wants |= stat[0] in b"RD"
    return ticks / os.sysconf("SC_CLK_TCK"), wants


def has_failed(said, ended):
    """Whether a test says so before its end, which it need not come to."""
    text = os.read(said, 1 << 16)
    if not text:
        ended.unregister(said)
    return FAILED in text


def await_end(pid, said, busy_s, idle_s):
    """Of a process that leads a session its status and its processor time; None
    where it took more of that than it may, or stood still for longer than it
    may: by a clock that does not run while others have the processor. said:
    what it writes, or None."""
    fd = os.pidfd_open(pid)
    ended = select.poll()
    ended.register(fd, select.POLLIN)
    if said is not None:
        ended.register(said, select.POLLIN)
    idle, before, hung, failed = 0.0, 0.0, False, False
    while not hung and not failed:
        ready = [n for n, _ in ended.poll(1000 * LOOK_S)]
        if said in ready:
            failed = has_failed(said, ended)
        elif fd in ready:
            break
        busy, wants = used(pid)
        idle = 0.0 if ready or wants or busy != before else idle + LOOK_S
        before = busy
        hung = busy > busy_s or idle > idle_s
    os.close(fd)
    if said is not None:
        os.close(said)
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    _, status, spent = os.wait4(pid, 0)
    end_rest()
    return (1 if failed else None if hung
            else os.waitstatus_to_exitcode(status),
            spent.ru_utime + spent.ru_stime)


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def start(test, number, seen):
    """A test in a session of its own; its process, and what it writes where
    that says how it goes."""
    said, out = os.pipe() if test.speaks else (None, None)
    pid = os.fork()
    if pid:
        if test.speaks:
            os.close(out)
        return pid, said
    try:
        die_with_parent()
        os.setsid()
        null = os.open("/dev/null", os.O_RDWR)
        for fd in 0, 1, 2:
            os.dup2(out if test.speaks and fd == 1 else null, fd)
        os.chdir(TREE)
        os.environ.update(MEMBRANE_MUTANT=str(number),
                          MEMBRANE_MUTANTS_SEEN=str(seen))
        resource.setrlimit(resource.RLIMIT_RTTIME, (
            MUTANT_LIMIT + number, MUTANT_LIMIT + number))
        test.become()
    finally:
        os._exit(125)


class Test:
    """What it may take, by itself and, of standing still, with a mutant; and
    whether it says how it goes."""
    speaks, slow_s, slow_idle_s = False, SLOW_S, 3 * SLOW_S
    asks = 1      # how much it asks in its time, beside a golden case
    meets = None  # what it would meet, where it cannot say

    def idle_s(self):
        return 3 + 3 * self.clock_s


class Program(Test):
    """A unit test, an oracle or a check."""
    asks = 8

    def __init__(self, path):
        self.name = path
        self.file = TREE / (path if path in CHECKS else "build/" + path)
        self.args = FEW.get(path.removeprefix("tests/oracle/"), [])

    def signature(self):
        return digest(self.file) + " ".join(self.args)

    def become(self):
        os.execv(self.file, [str(self.file), *self.args])


class Live(Program):
    """A gate in network namespaces. Where it is broken off nothing of it stays:
    its processes, its names of namespaces and its links are in others."""
    speaks, slow_s, slow_idle_s = True, LIVE_S, LIVE_IDLE_S
    asks = 1

    def __init__(self, name):
        super().__init__("tests/live/" + name)
        self.file = TREE / self.name

    def signature(self):
        return digest(TREE / "tests/live")

    def become(self):
        # what they show a gate in a root of its own, as for tests/check/coverage
        os.environ["COUNTS"] = str(HERE / "seen")
        os.execvp("unshare", [
            "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child",
            "--mount-proc", "sh", "-c", "mount -t tmpfs live /run && "
            "ip link set lo up && exec \"$0\"", str(self.file)])

    def idle_s(self):
        return LIVE_IDLE_S


class Session(Live):
    meets = SESSIONS_MEET


class Case(Test):
    """A golden case. It runs by the code of tests/run, but in a process that
    has been started already."""
    module = None

    def __init__(self, name):
        self.name = name
        self.folder = TREE / "tests/cases" / name
        self.artefacts = {p.name for p in self.folder.glob("expect.*")} - {
            "expect.status", "expect.stdout", "expect.stderr"}

    def signature(self):
        return digest(self.folder, TREE / "tests/run", TREE / "tests/standin")

    @classmethod
    def load(cls):
        os.environ.pop("MEMBRANE", None)
        path = str(TREE / "tests/run")
        loader = importlib.machinery.SourceFileLoader("cases", path)
        cls.module = importlib.util.module_from_spec(
            importlib.util.spec_from_loader("cases", loader))
        loader.exec_module(cls.module)
        plain = cls.module.prepare

        def prepare_with(case, tmp):
            work, env = plain(case, tmp)
            for name in "MEMBRANE_MUTANT", "MEMBRANE_MUTANTS_SEEN":
                env[name] = os.environ[name]
            return work, env
        cls.module.prepare = prepare_with

    def become(self):
        os.umask(0o022)
        os._exit(bool(Case.module.run(self.folder)))


def tests():
    units = sorted(p.with_suffix("").relative_to(ROOT) for place in (
        "tests/unit/*/*.c", "tests/oracle/*.c") for p in ROOT.glob(place))
    checks = [p for p in CHECKS if (ROOT / p).exists()]
    live = [kind(n) for kind, names in ((Live, LIVE), (Session, SESSIONS))
            for n in names if (ROOT / "tests/live" / n).exists()
            and os.geteuid() == 0]
    return [*(Program(str(p)) for p in [*units, *checks]), *live], [
        Case(p.name) for p in sorted((ROOT / "tests/cases").glob("*"))
        if p.is_dir()]


def begin_worker(below):
    """What a worker's tests write is below one folder; hung ones leave it. What
    they leave running is the worker's child."""
    tempfile.tempdir = os.environ["TMPDIR"] = tempfile.mkdtemp(dir=below)
    os.chmod(tempfile.tempdir, 0o755)
    die_with_parent()
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if (TREE / "tests/run").exists():
        Case.load()


@contextlib.contextmanager
def workers(jobs):
    with tempfile.TemporaryDirectory(prefix="mutants-") as below:
        os.chmod(below, 0o755)
        with concurrent.futures.ProcessPoolExecutor(
                jobs, initializer=begin_worker, initargs=(below,)) as pool:
            yield pool


def end_rest():
    """What a test has left running, in whatever session."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            me = os.getpid()
            with open("/proc/%d/task/%d/children" % (me, me)) as f:
                for child in f.read().split():
                    os.kill(int(child), signal.SIGKILL)
            time.sleep(0.001)


def show(test, number):
    """How a test ends with a mutant: passes, killed, hung."""
    status, _ = await_end(*start(test, number, ""), 1 + 6 * test.cpu_s,
                          test.idle_s())
    if status in (0, 77):
        return "passes"
    for left in pathlib.Path(tempfile.tempdir).iterdir():
        shutil.rmtree(left, ignore_errors=True)
    return "hung" if status is None else "killed"


def meet(test, count):
    """A test without a mutant: how long it takes, and in seen/ what it would
    meet."""
    seen = HERE / "seen" / test.name.replace("/", "-")
    seen.write_bytes(bytes(count))
    seen.chmod(0o666)
    began = time.monotonic()
    status, cpu_s = await_end(*start(test, 0, seen), test.slow_s,
                              test.slow_idle_s)
    how = ("takes too long" if status is None else
           "passes" if status in (0, 77) else "fails")
    return {"how": how, "cpu_s": cpu_s, "clock_s": time.monotonic() - began}


# --- which tests ------------------------------------------------------------

def seen_by(test, mutants):
    """A byte for each number: whether the test would meet that mutant."""
    seen = bytearray(
        (HERE / "seen" / test.name.replace("/", "-")).read_bytes())
    if test.meets:
        for m in mutants:
            seen[m["n"]] = m["file"].startswith(test.meets)
    return bytes(seen)


def survey(pool, mutants):
    """The tests that can notice something, each with what it meets and the
    state in which it is new; that state."""
    count = max(m["n"] for m in mutants) + 1
    (HERE / "seen").mkdir(exist_ok=True)
    known = read_json(HERE / "tests")
    programs, cases = tests()
    every = programs + cases
    stamp = digest(HERE / "stamp")
    wanted = {t.name: stamp + t.signature() for t in every}
    fresh = [t for t in every
             if known.get(t.name, {}).get("signature") != wanted[t.name]]
    state = max([0, *(k["state"] for k in known.values())]) + bool(fresh)
    done = pool.map(meet, fresh, [count] * len(fresh))
    for i, (t, got) in enumerate(zip(fresh, done), 1):
        known[t.name] = dict(got, signature=wanted[t.name], state=state)
        if got["how"] != "passes":
            print("not shown to: %s, which %s (%.1f s)" % (
                t.name, got["how"], got["cpu_s"]), flush=True)
        if i % 50 == 0:
            print("%d of %d tests tried" % (i, len(fresh)), file=sys.stderr)
            write_json(HERE / "tests", known)
    write_json(HERE / "tests", {n: known[n] for n in wanted})
    some = []
    for t in every:
        vars(t).update(known[t.name])
        if t.how == "passes":
            t.seen = seen_by(t, mutants)
            some.append(t)
    return some, state


def spread(some, most):
    """So many of them at most, evenly."""
    return some[::max(1, -(-len(some) // most))]


def choose(cases):
    """Of cases those that say most: what compares artefacts goes first, since
    all that compile anything meet what writes them."""
    full = [t for t in cases if t.artefacts]
    full = spread(full, CASES_MAX)
    return full + spread([t for t in cases if not t.artefacts],
                         max(1, CASES_MAX - len(full)))


class Order:
    """Which tests a mutant is shown to: first those that are quick, or noticed
    its neighbours."""

    def __init__(self, every, budget_s):
        self.every, self.budget_s = every, budget_s
        self.by = collections.Counter()

    def of(self, m, since):
        meets = [t for t in self.every if t.seen[m["n"]] and t.state > since]
        cases = [t for t in meets if isinstance(t, Case)]
        known = [t for t in cases if self.by[m["file"], t.name]]
        some = {*known[:CASES_MAX], *choose(cases)}

        def cost(t):
            return t.cpu_s / (t.asks + 20 * self.by[m["file"], t.name] +
                              200 * self.by[m["file"], m["function"], t.name])
        out, left = [], self.budget_s
        for t in sorted((t for t in meets if t in some or isinstance(
                t, Program)), key=cost):
            left -= t.cpu_s
            if out and left < 0:
                break
            out.append(t)
        return out

    def told(self, m, name):
        self.by[m["file"], name] += 1
        self.by[m["file"], m["function"], name] += 1


# --- verdicts ---------------------------------------------------------------

EVERY = []  # the tests, for workers: they are forked when it is filled


def judge(number, indices):
    """A mutant's fate, the test that it is from, how long it took, and tests
    that fail by themselves."""
    began, unsteady = time.monotonic(), []
    for test in (EVERY[i] for i in indices):
        fate = show(test, number)
        if fate == "passes":
            continue
        if number % CONTROL == 0 and show(test, 0) != "passes":
            unsteady.append(test.name)
            continue
        return fate, test.name, time.monotonic() - began, unsteady
    return ("survived" if indices else "unseen", "-",
            time.monotonic() - began, unsteady)


def verdicts():
    """{key: [fate, test, seconds, state]} so far; the last line was broken off
    perhaps."""
    out = {}
    for line in JUDGED.read_text().splitlines() if JUDGED.exists() else []:
        part = line.split("\t")
        if len(part) == 5 and part[4]:
            out[part[1]] = [part[0], part[2], float(part[3]), int(part[4])]
    return out


def line_of(key, verdict):
    return "%s\t%s\t%s\t%.2f\t%d\n" % (verdict[0], key, *verdict[1:])


def forget(changed):
    """What was said of files that are other ones now."""
    aside = JUDGED.with_suffix(".new")
    aside.write_text("".join(
        line_of(key, v) for key, v in verdicts().items()
        if key.split(" ")[0] not in changed))
    aside.rename(JUDGED)


class Progress:
    def __init__(self, some):
        self.left, self.done, self.began = some, 0, time.monotonic()
        self.last = self.began

    def step(self, known):
        self.done += 1
        now = time.monotonic()
        if now < self.last + 20 and self.done < self.left:
            return
        self.last, each = now, (now - self.began) / self.done
        fates = collections.Counter(v[0] for v in known.values())
        print("%d of %d: %s; %.2f s each, %d min left" % (
            self.done, self.left,
            ", ".join("%d %s" % (fates[f], f) for f in sorted(fates)), each,
            each * (self.left - self.done) / 60), file=sys.stderr, flush=True)


def judge_all(pool, jobs, mutants, known, order, state):
    """Fills known; a line of the file for each as it comes."""
    index = {t.name: i for i, t in enumerate(order.every)}
    for m in mutants:
        got = known.get(m["key"])
        if got and got[0] in DEAD:
            order.told(m, got[1])
    left = [m for m in mutants if not (m["key"] in known and (
        known[m["key"]][0] in DEAD or known[m["key"]][3] >= state))]
    progress, waiting = Progress(len(left)), {}
    left.sort(key=lambda m: hashlib.sha256(m["key"].encode()).digest())
    with JUDGED.open("a") as out:
        while left or waiting:
            while left and len(waiting) < 2 * jobs:
                m = left.pop()
                was = known.get(m["key"], ["", "", 0.0, 0])
                some = order.of(m, was[3])
                waiting[pool.submit(judge, m["n"], [
                    index[t.name] for t in some])] = m, was
            for done in concurrent.futures.wait(
                    waiting, return_when="FIRST_COMPLETED").done:
                m, was = waiting.pop(done)
                fate, by, took, unsteady = done.result()
                for name in unsteady:
                    print("fails by itself: %s" % name, flush=True)
                if fate in DEAD:
                    order.told(m, by)
                elif fate == "unseen" and was[0] == "survived":
                    fate = "survived"  # of the new tests none met it
                known[m["key"]] = [fate, by, was[2] + took, state]
                out.write(line_of(m["key"], known[m["key"]]))
                out.flush()
                progress.step(known)


def equivalents():
    """{a mutant's key: why nothing can notice it}"""
    out, at = {}, None
    for line in EQUIVALENT.read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line[0] != "\t":
            at = line
        else:
            out[at] = out.get(at, "") + line.strip() + " "
    return out


def report(every, mutants, known, equivalent):
    """every: the mutants there are, mutants: those that were shown."""
    for key in sorted(set(equivalent) - {m["key"] for m in every}):
        print("tests/mutants/equivalent: there is no '%s'" % key)
    rows = collections.defaultdict(collections.Counter)
    survived = []
    for m in mutants:
        fate = known[m["key"]][0]
        if fate not in DEAD and m["key"] in equivalent:
            fate = "equivalent"
        rows[os.path.dirname(m["file"])][fate] += 1
        if fate in ("survived", "unseen"):
            survived.append("%s:%d: %s [%s]\n" % (m["file"], m["line"],
                                                  m["key"], fate))
    (HERE / "survived").write_text("".join(survived))
    fates = ["killed", "hung", "survived", "unseen", "equivalent"]
    print("%-30s %s" % ("", "".join("%11s" % f for f in fates)))
    total = collections.Counter()
    for room, row in sorted(rows.items()):
        total.update(row)
        print("%-30s %s" % (room, "".join("%11d" % row[f] for f in fates)))
    print("%-30s %s" % ("all", "".join("%11d" % total[f] for f in fates)))
    print("%.2f hours of one worker" % (
        sum(known[m["key"]][2] for m in mutants) / 3600))
    return not survived


def main():
    p = argparse.ArgumentParser()
    p.add_argument("-j", type=int, default=os.cpu_count())
    p.add_argument("-s", default="1/1", metavar="K/M")
    p.add_argument("-b", type=float, default=20)
    p.add_argument("-r", action="store_true")
    p.add_argument("-n", action="store_true")
    p.add_argument("files", nargs="*")
    o = p.parse_args()
    part, parts = map(int, o.s.split("/"))
    if o.n:
        shutil.rmtree(HERE, ignore_errors=True)
    built = sources(ROOMS)
    wanted = sources(o.files or ROOMS)
    mutants = prepare(sorted({*built, *wanted}))
    with workers(o.j) as pool:
        every, state = survey(pool, mutants)
    print("%d tests are shown mutants" % len(every), flush=True)
    EVERY[:] = every
    forget(set())
    known = verdicts()
    if o.r:
        known = {k: v for k, v in known.items() if v[0] in DEAD}
    some = [m for m in mutants if m["n"] % parts == part % parts
            and m["file"] in wanted]
    with workers(o.j) as pool:
        judge_all(pool, o.j, some, known, Order(every, o.b), state)
    return 0 if report(mutants, some, known, equivalents()) else 1


if __name__ == "__main__":
    sys.exit(main())
