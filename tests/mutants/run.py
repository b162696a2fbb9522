#!/usr/bin/python3
"""Which changes of the sources no test notices: make mutants.

    tests/mutants/run.py [-j N] [-s K/M] [-b SECONDS] [-r] [-n] [FILE...]

All mutants of ROOMS are built at once (schemata.py), every test runs once and
says in which of them it would meet a difference, and then each mutant, or each
of the files, is shown to those tests, first the quick ones and those that
noticed its neighbours, until one fails. What lives is on at once, all of it, in
every test that meets any: where that fails, halves of it are tried, until one
mutant by itself is found. What survives that meets its unit tests and oracles
once more, built with sanitizers, as each change of the project does: they see
what is read or written beside an object. K/M: of every M mutants the K-th, by
number; a part of a night's work on a day.

A verdict is in build/mutants/judged as soon as it is known, one a line:

    FATE KEY TEST SECONDS STATE      with tabs between

    killed     TEST fails; of some it is tried whether it passes without
    hung       TEST takes too much of the processor, or waits for nothing
    lived      by itself; what others are on with it is not known yet
    survived   no test fails
    unseen     in no test it would make a difference
    STATE      of the tests, by number: what they were then

The order is by chance, always the same: what has been judged when a run is
broken off is a sample of all. It goes on where it was, and what is there of an
earlier run is taken: of files that are the same the mutants that died stay
dead, and the others are shown to such tests as are new; with -r to all of them
again. -n: from the beginning. -b: a mutant by itself is shown to the tests that
take so many seconds of the processor together, the cheapest for what they
noticed first, and unit tests before golden cases.

Last is a table: for each folder what was killed, what survived, and what is
equivalent, which tests/mutants/equivalent says with a reason; it is shown with
the others that live. Those that survived are in build/mutants/survived. Status
1: some did.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import ctypes
import fcntl
import hashlib
import importlib.machinery
import importlib.util
import itertools
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
FAILED = b"FAIL:"  # what they say at once of what is not so
BUILD = ["make", "-s", "OPT=-O1 -DCOVERAGE -w", "WARN="]
SANITIZED = "build/sanitized"
SANITIZED_TIMES = 5  # what they make of a test's time
SANITIZED_S = 10     # and how much of it a mutant is shown
SLOW_S = 5       # a test that takes longer of the processor is shown to nobody
LIVE_S = 40      # and of those of LIVE
LIVE_IDLE_S = 30
CASES_MAX = 200  # golden cases that a mutant is shown to
CONTROL = 17     # of so many kills one is tried without the mutant
LOOK_S = 0.25    # how often a program that has not ended is looked at
DEAD = ("killed", "hung")
# What a shell ignores for what it runs in the background, or Python for itself.
IGNORED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE)
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


def build(*goals):
    subprocess.run([*BUILD, "-C", str(TREE), "-j%d" % os.cpu_count(), *goals],
                   check=True, stdout=subprocess.DEVNULL)


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
    build("all", "units")
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


def start(test, numbers, seen):
    """A test with these mutants in a session of its own; its process, and what
    it writes where that says how it goes."""
    said, out = os.pipe() if test.speaks else (None, None)
    pid = os.fork()
    if pid:
        if test.speaks:
            os.close(out)
        return pid, said
    try:
        die_with_parent()
        os.setsid()
        for ignored in IGNORED:
            signal.signal(ignored, signal.SIG_DFL)
        null = os.open("/dev/null", os.O_RDWR)
        for fd in 0, 1, 2:
            os.dup2(out if test.speaks and fd == 1 else null, fd)
        os.chdir(TREE)
        os.environ.update(MEMBRANE_MUTANT=",".join(map(str, numbers)),
                          MEMBRANE_MUTANTS_SEEN=str(seen))
        if len(numbers) == 1:
            resource.setrlimit(resource.RLIMIT_RTTIME, (
                MUTANT_LIMIT + numbers[0], MUTANT_LIMIT + numbers[0]))
        test.become()
    finally:
        os._exit(125)


class Test:
    """What it may take, by itself and, of standing still, with a mutant; and
    whether it says how it goes."""
    speaks, slow_s, slow_idle_s = False, SLOW_S, 3 * SLOW_S
    asks = 1      # how much it asks in its time, beside a golden case

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


class Sanitized(Program):
    """The same of another build: whether that passes without a mutant is tried
    with each kill."""

    def __init__(self, plain):
        super().__init__(plain.name)
        self.name += ", sanitized"
        self.path = "%s/%s" % (SANITIZED, plain.name)
        self.file = TREE / self.path
        self.seen, self.state = plain.seen, plain.state
        self.cpu_s = SANITIZED_TIMES * plain.cpu_s
        self.clock_s = SANITIZED_TIMES * plain.clock_s


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
    live = [Live(n) for n in LIVE if (ROOT / "tests/live" / n).exists()
            and os.geteuid() == 0]
    return [*(Program(str(p)) for p in [*units, *checks]), *live], [
        Case(p.name) for p in sorted((ROOT / "tests/cases").glob("*"))
        if p.is_dir()]


def begin_worker(below):
    """What a worker's tests write is below one folder, whose name is short, for
    tests/run; hung ones leave it. What they leave running is the worker's
    child."""
    for n in itertools.count():
        with contextlib.suppress(FileExistsError):
            os.mkdir(path := "%s/%d" % (below, n))
            break
    tempfile.tempdir = os.environ["TMPDIR"] = path
    os.chmod(path, 0o755)
    die_with_parent()
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if (TREE / "tests/run").exists():
        Case.load()


@contextlib.contextmanager
def workers(jobs):
    with tempfile.TemporaryDirectory(prefix="m-") as below:
        os.chmod(below, 0o755)
        with concurrent.futures.ProcessPoolExecutor(
                jobs, initializer=begin_worker, initargs=(below,)) as pool:
            yield pool


def be_alone():
    """What holds off a second run here; what one that was broken off has left
    running is ended: a mutant's loop has no end."""
    HERE.parent.mkdir(exist_ok=True)
    lock = open(HERE.parent / "mutants.lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("%s: another run is under way here" % sys.argv[0])
    for p in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.readlink("/proc/%s/exe" % p).startswith("%s/" % TREE):
                os.kill(int(p), signal.SIGKILL)
    return lock


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


def show(test, numbers):
    """How a test ends with mutants: passes, killed, hung."""
    status, _ = await_end(*start(test, numbers, ""), 1 + 6 * test.cpu_s,
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
    status, cpu_s = await_end(*start(test, [], seen), test.slow_s,
                              test.slow_idle_s)
    how = ("takes too long" if status is None else
           "passes" if status in (0, 77) else "fails")
    return {"how": how, "cpu_s": cpu_s, "clock_s": time.monotonic() - began}


# --- which tests ------------------------------------------------------------

def seen_by(test):
    """A byte for each number: whether the test would meet that mutant."""
    return (HERE / "seen" / test.name.replace("/", "-")).read_bytes()


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
            t.seen = seen_by(t)
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


def judge(number, indices, control=CONTROL):
    """A mutant's fate, the test that it is from, how long it took, and tests
    that fail by themselves."""
    began, unsteady = time.monotonic(), []
    for test in (EVERY[i] for i in indices):
        fate = show(test, [number])
        if fate == "passes":
            continue
        if number % control == 0 and show(test, []) != "passes":
            unsteady.append(test.name)
            continue
        return fate, test.name, time.monotonic() - began, unsteady
    return "lived", "-", time.monotonic() - began, unsteady


def rivals(test, sides):
    """Of two sets that fail a test together, and neither alone, one of each."""
    for i in 0, 1:
        while len(sides[i]) > 1:
            half = len(sides[i]) // 2
            one, other = sides[i][:half], sides[i][half:]
            sides[i] = one if show(
                test, one + sides[1 - i]) != "passes" else other
    return sides[0] + sides[1]


def guilty(test, numbers):
    """Of mutants that are on at once those that fail a test by themselves, each
    with how, and pairs that do together."""
    fate = show(test, numbers)
    if fate == "passes":
        return [], []
    if len(numbers) == 1:
        return [(numbers[0], fate)], []
    half = len(numbers) // 2
    sides = [numbers[:half], numbers[half:]]
    (one, pairs), (other, more) = (guilty(test, s) for s in sides)
    if not (one or pairs or other or more):
        more = [rivals(test, sides)]
    return one + other, pairs + more


def judge_together(i, sets):
    """What a test notices of mutants that live, pairs that are noticed only
    together, in what time; None where it fails without any."""
    began, test, found, pairs = time.monotonic(), EVERY[i], [], []
    for numbers in sets:
        if show(test, numbers) == "passes":
            continue
        if show(test, []) != "passes":
            return None, [], time.monotonic() - began
        some, more = guilty(test, numbers)
        found, pairs = found + some, pairs + more
    return found, pairs, time.monotonic() - began


def apart(numbers, foes):
    """As few sets as are easily found, none with two that are foes."""
    sets = []
    for n in numbers:
        fit = next((s for s in sets if not foes[n] & s), None)
        if fit is None:
            sets.append(fit := set())
        fit.add(n)
    return [sorted(s) for s in sets]


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
                known[m["key"]] = [fate, by, was[2] + took, state]
                out.write(line_of(m["key"], known[m["key"]]))
                out.flush()
                progress.step(known)


def show_living(pool, jobs, living, known, since, order, state):
    """To each test that is new to them, all at once of those that it would meet,
    but those that disturb each other; the costly tests last: what dies before
    need not be found there. Fills known; how long it took."""
    lives, foes, spent = {m["n"]: m for m in living}, {}, 0.0
    for m in living:
        meets = any(t.seen[m["n"]] for t in order.every)
        known[m["key"]] = ["survived" if meets else "unseen", "-",
                           known.get(m["key"], ["", "", 0.0, 0])[2], state]
        foes[m["n"]] = set()
    newest = min((since.get(m["key"], 0) for m in living), default=state)
    left = sorted(((i, t) for i, t in enumerate(order.every)
                   if t.state > newest), key=lambda it: -it[1].clock_s)
    progress, waiting = Progress(len(left)), {}
    with JUDGED.open("a") as out:
        while left or waiting:
            while left and len(waiting) < jobs:
                i, t = left.pop()
                waiting[pool.submit(judge_together, i, apart([
                    n for n, m in lives.items() if t.seen[n]
                    and t.state > since.get(m["key"], 0)], foes))] = t
            for done in concurrent.futures.wait(
                    waiting, return_when="FIRST_COMPLETED").done:
                t = waiting.pop(done)
                found, pairs, took = done.result()
                if found is None:
                    print("fails by itself: %s" % t.name, flush=True)
                for n, fate in found or []:
                    if n in lives:
                        key = lives.pop(n)["key"]
                        known[key] = [fate, t.name, known[key][2], state]
                        out.write(line_of(key, known[key]))
                for a, b in pairs:
                    foes[a].add(b)
                    foes[b].add(a)
                out.flush()
                spent += took
                progress.step(known)
        out.write("".join(line_of(m["key"], known[m["key"]])
                          for m in lives.values()))
    return spent


def show_sanitized(jobs, survivors, known, state):
    """To unit tests and oracles of the other build, each by itself. Fills
    known."""
    EVERY[:] = [Sanitized(t) for t in EVERY if type(t) is Program
                and t.name not in CHECKS
                and any(t.seen[m["n"]] for m in survivors)]
    build("B=" + SANITIZED, "SAN=1", *(t.path for t in EVERY))
    index, order = {t: i for i, t in enumerate(EVERY)}, Order(
        EVERY, SANITIZED_S)
    with workers(jobs) as pool, JUDGED.open("a") as out:
        waiting = {pool.submit(judge, m["n"], [index[t] for t in order.of(
            m, 0)], 1): m["key"] for m in survivors}
        for done in concurrent.futures.as_completed(waiting):
            key, (fate, by, _, unsteady) = waiting[done], done.result()
            for name in unsteady:
                print("fails by itself, with sanitizers: %s" % name, flush=True)
            if fate in DEAD:
                known[key] = [fate, by, known[key][2], state]
                out.write(line_of(key, known[key]))


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


def report(every, mutants, known, equivalent, spent):
    """every: the mutants there are, mutants: those that were shown, spent: how
    long it took to show all that lived together."""
    for key in sorted(set(equivalent) - {m["key"] for m in every}):
        print("tests/mutants/equivalent: there is no '%s'" % key)
    for m in mutants:
        if m["key"] in equivalent and known[m["key"]][0] in DEAD:
            print("tests/mutants/equivalent: %s notices '%s'" % (
                known[m["key"]][1], m["key"]))
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
    print("%.2f hours of one worker, %.2f of them with all that lived" % (
        (sum(known[m["key"]][2] for m in mutants) + spent) / 3600,
        spent / 3600))
    return not survived


def main():
    p = argparse.ArgumentParser()
    # Those that hang mostly wait.
    p.add_argument("-j", type=int, default=4 * os.cpu_count())
    p.add_argument("-s", default="1/1", metavar="K/M")
    p.add_argument("-b", type=float, default=2)
    p.add_argument("-r", action="store_true")
    p.add_argument("-n", action="store_true")
    p.add_argument("files", nargs="*")
    o = p.parse_args()
    part, parts = map(int, o.s.split("/"))
    lock = be_alone()
    if o.n:
        shutil.rmtree(HERE, ignore_errors=True)
    built = sources(ROOMS)
    wanted = sources(o.files or ROOMS)
    mutants = prepare(sorted({*built, *wanted}))
    with workers(min(o.j, os.cpu_count())) as pool:
        every, state = survey(pool, mutants)
    print("%d tests are shown mutants" % len(every), flush=True)
    EVERY[:] = every
    forget(set())
    known = verdicts()
    if o.r:
        known = {k: v for k, v in known.items() if v[0] in DEAD}
    some = [m for m in mutants if m["n"] % parts == part % parts
            and m["file"] in wanted]
    equivalent, order = equivalents(), Order(every, o.b)
    since = {k: v[3] for k, v in known.items() if v[0] != "lived"}
    with workers(o.j) as pool:
        judge_all(pool, o.j, [m for m in some if m["key"] not in equivalent],
                  known, order, state)
        spent = show_living(pool, o.j, [m for m in some if known.get(
            m["key"], [""])[0] not in DEAD], known, since, order, state)
    survivors = [m for m in some if known[m["key"]][0] == "survived"
                 and m["key"] not in equivalent]
    if survivors:
        show_sanitized(o.j, survivors, known, state)
    lock.close()
    return 0 if report(mutants, some, known, equivalent, spent) else 1


if __name__ == "__main__":
    sys.exit(main())
