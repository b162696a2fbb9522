"""membrane-watch by itself, and somebody for it to watch."""
import gzip
import json
import os
import pathlib
import re
import struct
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WATCH = ROOT / os.environ.get("WATCH", "build/bin/membrane-watch")

STORM = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
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
	for (int i = 0; n > 3 && i < 300; i++) {
		char name[200];

		snprintf(name, sizeof(name), "%s/%d", v[3], i);
		mkdir(name, 0700);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
"""


def storm_program(folder):
    """storm N P [FOLDER]: P processes that open a file N times each, and
    meanwhile 300 folders are made."""
    (folder / "storm.c").write_text(STORM)
    subprocess.run(["gcc", "-O2", "-static", "-o", folder / "storm",
                    folder / "storm.c"], check=True)
    return folder / "storm"


def plan(folder, events, **more):
    what = {"version": 1, "reads": True, "sensitive": [], "exclude": [],
            "rotate": {}, "required": False,
            "events": [e if isinstance(e, dict) else
                       {"name": e, "filters": []} for e in events], **more}
    (folder / "trace.json").write_text(json.dumps(what))


class Watch:
    """The tracer in a pid namespace of its own, as a container gives it."""

    def __init__(self, folder, *unshared):
        # Nobody who reads a pipe is as fast as a file.
        self.frames = open(folder / "frames", "w+b")
        self.p = subprocess.Popen(
            ["unshare", *unshared, "--pid", "--fork", "--kill-child",
             "--mount-proc", WATCH, "--plan", folder], stdin=subprocess.PIPE,
            stdout=self.frames, stderr=subprocess.PIPE)
        self.first = self.said()

    def members(self):
        """Pieces of gzip, each whole by itself; none follows one of size 0."""
        self.frames.seek(0)
        while (head := self.frames.read(4)) not in (b"", bytes(4)):
            yield self.frames.read(struct.unpack("<I", head)[0])

    def said(self):
        line = self.p.stderr.readline()
        return json.loads(line) if line else {}

    def hello(self, netns, pidns=1):
        self.send({"version": 1, "host": "box", "netns": netns,
                   "pidns": pidns})
        return self.said()

    def send(self, value):
        self.p.stdin.write(json.dumps(value).encode() + b"\n")
        self.p.stdin.flush()

    def stop(self):
        """What it said last."""
        self.p.stdin.close()
        rest = self.p.stderr.read().splitlines()
        self.p.wait(30)
        return [json.loads(line) for line in rest]

    def end(self):
        """(records, what it said last)"""
        said = self.stop()
        return ([json.loads(line) for m in self.members()
                 for line in gzip.decompress(m).splitlines()], said)


class Agent:
    """Waits in namespaces of its own, then becomes the command."""

    def __init__(self, *command):
        self.p = subprocess.Popen(
            ["unshare", "--net", "--pid", "--fork", "--kill-child",
             "--mount-proc", "sh", "-c",
             'readlink /proc/self/ns/net; read go; exec "$@"', "sh",
             *map(str, command)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.netns = int(re.search(rb"\[(\d+)\]",
                                   self.p.stdout.readline())[1])

    def go(self):
        self.p.communicate(b"go\n", timeout=120)
        return self.p.returncode


def name(event):
    return event.get("eventName")


def args(event):
    return {a["name"]: a["value"] for a in event["args"]}


def why_not(folder):
    """Why nothing can be traced here; None: it can."""
    plan(folder, ["sched_process_exec"])
    watch = Watch(folder)
    watch.end()
    return None if name(watch.first) == "loaded" else (
        args(watch.first)["message"])
