"""What recording costs, how much of it fits, how fast it is read again."""
import contextlib
import ctypes
import gzip
import json
import os
import pathlib
import platform
import resource
import statistics
import struct
import subprocess
import tempfile
import time

import live
from tracer import Agent, Watch, args, plan, storm_program

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MEMBRANE = ROOT / "build/bin/membrane"

# The host's own compiler: the agent's image has none.
USR = ("args: [--mount, 'type=bind,source=/usr,target=/usr,readonly']\n")
OFF = "trace: {engine: 'off'}\n"
DEFAULT = ""
FULL = "trace: {engine: native, events: [full]}\n"
ASKED = "trace: {events: [asked]}\n"
ASKED_EACH = "trace: {required: true, events: [asked], reads: true}\n"

FILES = """
import os, time
for i in range(10000):
    os.makedirs("tree/%d" % (i // 100), exist_ok=True)
    with open("tree/%d/%d" % (i // 100, i), "w") as f:
        f.write("x" * 2000)
"""
# Seconds of the command alone, without the session around it.
READ = """
begun=$EPOCHREALTIME
find tree -type f -exec cat {} + >/dev/null
end=$EPOCHREALTIME
python3 -c "print($end - $begun)"
"""
SPAWN = """
begun=$EPOCHREALTIME
for i in $(seq 2000); do /bin/true; done
end=$EPOCHREALTIME
python3 -c "print($end - $begun)"
"""
# Our own view, whose files need little that is made first.
BUILD = """
set -e
rm -rf out
begun=$EPOCHREALTIME
make -s -j"$(nproc)" B=out OPT=-O1 out/bin/membrane-view >&2
end=$EPOCHREALTIME
echo "$end $begun" | awk '{printf "%f", $1 - $2}'
"""


def measured(place, script):
    done = subprocess.run(place.argv("run", "--", "bash", "-c", script),
                          check=True, text=True, stdin=subprocess.DEVNULL,
                          capture_output=True)
    return float(done.stdout)


def bpf(command, *fields):
    """The system call, its attributes as (format, value); a descriptor."""
    attr = ctypes.create_string_buffer(
        struct.pack("<" + "".join(f for f, _ in fields),
                    *(v for _, v in fields)).ljust(128, b"\0"))
    fd = ctypes.CDLL(None, use_errno=True).syscall(
        {"x86_64": 321}.get(platform.machine(), 280), command, attr, 128)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "bpf")
    return fd


@contextlib.contextmanager
def empty_program():
    """At the end of each call, it returns at once: the least that the back end
    sys_exit can cost."""
    load, attach, raw_tracepoint = 5, 17, 17
    insns, license, name = (ctypes.create_string_buffer(b) for b in (
        bytes.fromhex("b700000000000000" "9500000000000000"), b"MIT",
        b"sys_exit"))
    prog = bpf(load, ("I", raw_tracepoint), ("I", 2),
               ("Q", ctypes.addressof(insns)),
               ("Q", ctypes.addressof(license)))
    link = bpf(attach, ("Q", ctypes.addressof(name)), ("I", prog))
    try:
        yield
    finally:
        os.close(link)
        os.close(prog)


def compare(line, places, what, script, rounds):
    def empty():
        with empty_program():
            return measured(places[0], script)

    seen = [[*(measured(p, script) for p in places), empty()]
            for _ in range(rounds)]
    off, *subjects = (statistics.median(c) for c in zip(*seen))
    for name, seconds, aim in zip(
            ("default", "full", "an empty program"), subjects,
            ("aim: at most 1.05", "aim: at most 1.15",
             "no aim: what the mechanism costs")):
        line("%s, %s" % (what, name), "%.0f ms" % (seconds * 1e3),
             "off %.0f ms" % (off * 1e3), "%.2f" % (seconds / off), aim)


def overhead(line):
    places = [live.Place(policy + USR) for policy in (OFF, DEFAULT, FULL)]
    try:
        for place in places:
            fill(place)
        compare(line, places, "find and cat of 10,000 files", READ, 15)
        compare(line, places, "2,000 programs", SPAWN, 9)
        compare(line, places, "a C build", BUILD, 7)
    finally:
        for place in places:
            place.remove()


def fill(place):
    """What READ reads and BUILD builds."""
    for name in ("Makefile", "compiler", "runtime", "grammar", "policies",
                 "doc/man", "build/gen"):
        subprocess.run(["cp", "-r", "--parents", name, place.work], cwd=ROOT,
                       check=True)
    place.own()
    measured(place, "python3 - <<'END'\n%s\nEND\necho 0" % FILES)


def taken(place, script):
    """(ms until it is through, ms of processors that all of its session took)"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = measured(place, script)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds * 1e3, (after.ru_utime + after.ru_stime -
                           before.ru_utime - before.ru_stime) * 1e3


def asked(line):
    """A user's own session, where the kernel asks the tracer before each call
    that makes an event; where it is required, before each opening, too."""
    native = "engine: native\n"
    off, usual, each = places = [live.Place(native + policy) for policy in (
        OFF, ASKED, ASKED_EACH)]
    try:
        for place in places:
            fill(place)
        for what, script, rounds in (("a C build", BUILD, 7),
                                     ("2,000 programs", SPAWN, 5)):
            taken(off, script)
            seen = [[taken(p, script) for p in (usual, each, off)]
                    for _ in range(rounds)]
            for i, opens in enumerate(("", ", each opening")):
                for k, of in enumerate((", time", ", processors")):
                    against(line, "a user's trace, " + what + opens + of,
                            [row[i][k] for row in seen],
                            [row[2][k] for row in seen])
    finally:
        for place in places:
            place.remove()


def against(line, what, subject, off):
    """Medians of pairs, and the median and range of their ratios."""
    ratios = sorted(s / b for s, b in zip(subject, off))
    line(what, "%.0f ms" % statistics.median(subject),
         "off %.0f ms" % statistics.median(off),
         "%.2f" % statistics.median(ratios), "[%.2f-%.2f] load %.1f" % (
             ratios[0], ratios[-1], os.getloadavg()[0]))


def start(line):
    """How much later the agent may start, for a tracer that must be ready."""
    waits, loads = [], []
    with live.Place(DEFAULT) as place:
        for _ in range(9):
            subprocess.run(place.argv("run", "--", "true"), check=True,
                           stdin=subprocess.DEVNULL, capture_output=True)
        for path in (place.state / "sessions").glob("*/summary.json"):
            at = json.loads(path.read_text())["ms"]
            loads.append(at["tracer_loaded"])
            waits.append(at["tracer_ready"] - at["ready"])
    line("tracer ready after the gate", "%.0f ms" %
         statistics.median(waits), "loaded at %.0f ms" %
         statistics.median(loads), "", "aim: under 100 ms")


def storm(folder, program, each, parts):
    """(seconds of the storm, events, lost)"""
    watch, agent = Watch(folder), Agent(program, each, parts)
    watch.hello(agent.netns)
    begun = time.perf_counter()
    agent.go()
    ran = time.perf_counter() - begun
    watch.stop()
    members = list(watch.members())
    (folder / "trace.jsonl.gz").write_bytes(b"".join(members))
    last = args(json.loads(gzip.decompress(members[-1]).splitlines()[-1]))
    return ran, last["events"], last["lost"]


def rate(line):
    with tempfile.TemporaryDirectory(prefix="membrane-bench-") as name:
        folder = pathlib.Path(name)
        program = storm_program(folder)
        plan(folder, ["security_file_open"])
        for parts in (1, 2, 4):
            # Longer than the ring can hold.
            ran, events, lost = storm(folder, program, 300000, parts)
            line("events from %d processes" % parts,
                 "%.0f /s" % (events / ran), "lost %d" % lost, "",
                 "aim: 300,000 /s, none lost")
        read(line, folder)


def read(line, folder):
    path = folder / "trace.jsonl.gz"
    size = int(subprocess.run("zcat %s | wc -c" % path, shell=True,
                              check=True, text=True,
                              capture_output=True).stdout)

    def seconds(argv):
        begun = time.perf_counter()
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begun

    subject, base = (statistics.median(c) for c in zip(*[
        (seconds([MEMBRANE, "trace", "stats", path]),
         seconds(["gzip", "-dc", path])) for _ in range(5)]))
    line("trace stats, of JSON", "%.0f MB/s" % (size / subject / 1e6),
         "gzip -d %.0f MB/s" % (size / base / 1e6), "%.2f" % (base / subject),
         "aim: 300 MB/s")
    line("size of the tracer's program", "%.1f MB" %
         (os.path.getsize(ROOT / "build/image/watch/membrane-watch") / 1e6),
         "", "", "aim: under 4 MB")
