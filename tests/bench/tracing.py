"""What recording costs, how much of it fits, how fast it is read again."""
import gzip
import json
import os
import pathlib
import re
import statistics
import struct
import subprocess
import tempfile
import time

import live

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WATCH = ROOT / "build/bin/membrane-watch"
MEMBRANE = ROOT / "build/bin/membrane"

OFF = "trace: {engine: 'off'}\n"
DEFAULT = ""
FULL = "trace: {engine: native, events: [full]}\n"

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


def measured(place, script):
    done = subprocess.run(place.argv("run", "--", "bash", "-c", script),
                          check=True, text=True, stdin=subprocess.DEVNULL,
                          capture_output=True)
    return float(done.stdout)


def overhead(line):
    places = [live.Place(policy) for policy in (OFF, DEFAULT, FULL)]
    try:
        for place in places:
            measured(place, "python3 - <<'END'\n%s\nEND\necho 0" % FILES)
        for what, script in (("find and cat of 10,000 files", READ),
                             ("2,000 programs", SPAWN)):
            rounds = [[measured(p, script) for p in places]
                      for _ in range(9)]
            off, usual, full = (statistics.median(c) for c in zip(*rounds))
            for name, seconds, aim in (("default", usual, 1.05),
                                       ("full", full, 1.15)):
                line("%s, %s" % (what, name), "%.0f ms" % (seconds * 1e3),
                     "off %.0f ms" % (off * 1e3), "%.2f" % (seconds / off),
                     "aim: at most %.2f" % aim)
    finally:
        for place in places:
            place.remove()


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


STORM = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int n, char **v)
{
	for (int p = 0; p < atoi(v[2]); p++) {
		if (fork())
			continue;
		for (int i = 0; i < atoi(v[1]); i++)
			close(open("/proc/self/stat", O_RDONLY));
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
"""


class Watch:
    """The tracer in a pid namespace of its own; what it sends is kept."""

    def __init__(self, folder):
        self.p = subprocess.Popen(
            ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
             WATCH, "--plan", folder], stdin=subprocess.PIPE,
            stdout=open(folder / "frames", "wb"), stderr=subprocess.PIPE)
        self.p.stderr.readline()

    def follow(self, netns):
        self.p.stdin.write(json.dumps({
            "version": 1, "host": "bench", "netns": netns,
            "pidns": 1}).encode() + b"\n")
        self.p.stdin.flush()
        self.p.stderr.readline()

    def end(self):
        self.p.stdin.close()
        self.p.stderr.read()
        self.p.wait()


def storm(folder, each, parts):
    """(seconds of the storm, with the end of the tracer, JSON bytes, lost)"""
    watch = Watch(folder)
    agent = subprocess.Popen(
        ["unshare", "--net", "--pid", "--fork", "--kill-child",
         "--mount-proc", "sh", "-c", 'readlink /proc/self/ns/net; read go; '
         'exec "$@"', "sh", folder / "storm", str(each), str(parts)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    watch.follow(int(re.search(rb"\[(\d+)\]", agent.stdout.readline())[1]))
    begun = time.perf_counter()
    agent.communicate(b"go\n")
    ran = time.perf_counter() - begun
    watch.end()
    whole = time.perf_counter() - begun
    data, members = (folder / "frames").read_bytes(), []
    while data:
        size = struct.unpack("<I", data[:4])[0]
        members.append(data[4:4 + size])
        data = data[4 + size:]
    (folder / "trace.jsonl.gz").write_bytes(b"".join(members))
    last = gzip.decompress(members[-1]).splitlines()[-1]
    facts = {a["name"]: a["value"] for a in json.loads(last)["args"]}
    return ran, whole, facts["events"], facts["lost"]


def rate(line):
    with tempfile.TemporaryDirectory(prefix="membrane-bench-") as name:
        folder = pathlib.Path(name)
        (folder / "storm.c").write_text(STORM)
        subprocess.run(["gcc", "-O2", "-static", "-o", folder / "storm",
                        folder / "storm.c"], check=True)
        (folder / "trace.json").write_text(json.dumps({
            "version": 1, "reads": True, "sensitive": [], "exclude": [],
            "rotate": {}, "required": False,
            "events": [{"name": "security_file_open", "filters": []}]}))
        for parts in (1, 2, 4):
            ran, _, events, lost = storm(folder, 150000, parts)
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
