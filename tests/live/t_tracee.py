"""Tracee as the tracer: what the launcher makes of it.

The image is a stand-in, tracee_standin.py: Tracee itself was never run here.
What is shown is that membrane starts it by the reviewed words, waits for it,
keeps what is the agent's, and says what is missing; not that Tracee does what
its source says.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import tempfile
import time
import uuid

import live
from live import check, within
from t_trace import args, events, files, running

test = live.docker_only("a container that traces")

POLICY = ("trace: {engine: tracee, version: %s, events: [sched_process_exec, "
          "security_file_open]%s}\n")
IMAGE = "aquasec/tracee:"
CAPS = ["IPC_LOCK", "NET_ADMIN", "SETPCAP", "SYSLOG", "SYS_ADMIN",
        "SYS_PTRACE", "SYS_RESOURCE"]
WAIT = "sleep 0.5"   # the stand-in polls
MARK = ""   # what the stand-in knows the agent's container by


def missing():
    """Of these capabilities, what this machine itself does not have."""
    bits = {"IPC_LOCK": 14, "NET_ADMIN": 12, "SETPCAP": 8, "SYSLOG": 34,
            "SYS_ADMIN": 21, "SYS_PTRACE": 19, "SYS_RESOURCE": 24}
    status = pathlib.Path("/proc/self/status").read_text()
    have = int(re.search(r"CapBnd:\s*([0-9a-f]+)", status)[1], 16)
    return [c for c in CAPS if not have >> bits[c] & 1]


class Place(live.Place):
    """Where this machine lacks a capability, docker is not asked for it: the
    one difference between the reviewed words and what runs here."""

    def own(self):
        real = shutil.which("docker")
        lacks = "|".join("--cap-add=" + c for c in missing())
        if lacks:
            (self.root / "bin").mkdir(exist_ok=True)
            wrapper = self.root / "bin" / "docker"
            wrapper.write_text(
                "#!/bin/bash\nwords=()\nfor word; do\n"
                "\tcase $word in\n\t%s) ;;\n\t*) words+=(\"$word\") ;;\n"
                "\tesac\ndone\nexec %s \"${words[@]}\"\n" % (lacks, real))
            wrapper.chmod(0o755)
            self.env["PATH"] = "%s:%s" % (self.root / "bin",
                                          os.environ["PATH"])
        super().own()


def policy(release="0.24.1", more=""):
    return POLICY % (release, more)


@contextlib.contextmanager
def tracee(release="0.24.1", **behaviour):
    """An image of that release in the Docker host, while a test runs."""
    global MARK   # of each its own: the machine's processes are all seen
    MARK = "agent-" + uuid.uuid4().hex
    behaviour = {"release": release, "agent": MARK, "caps": sorted(
        set(CAPS) - set(missing())), **behaviour}
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder)
        (top / "tracee").write_bytes(
            (live.HERE / "tracee_standin.py").read_bytes())
        (top / "tracee").chmod(0o755)
        (top / "events.tsv").write_bytes(
            (live.ROOT / "grammar/tracee-events.tsv").read_bytes())
        (top / "behaviour.json").write_text(json.dumps(behaviour))
        # as in the image: a script that does not pass on signals
        (top / "entrypoint.sh").write_text(
            "#!/bin/sh\n/tracee/tracee \"$@\"\n")
        (top / "entrypoint.sh").chmod(0o755)
        (top / "Dockerfile").write_text(
            "FROM membrane-agent\nUSER root\nCOPY . /tracee/\n"
            "ENTRYPOINT [\"/tracee/entrypoint.sh\"]\n")
        tag = IMAGE + behaviour.pop("tag", release)
        live.the.docker("build", "-q", "--network", "none", "-t", tag,
                        folder)
    try:
        yield
    finally:
        live.the.docker("rmi", "-f", tag, check_it=False)


def run(where, command=WAIT, *flags, **more):
    return where.membrane("run", *flags, "--", "sh", "-c",
                          ": %s; %s" % (MARK, command), **more)


def programs(found):
    return [args(e)["pathname"] for e in found
            if e["eventName"] == "sched_process_exec"]


def summary(where):
    path = max(where.state.glob("sessions/*/summary.json"),
               key=lambda p: p.stat().st_mtime_ns)
    return json.loads(path.read_text())


@test
def records_of_the_agent_alone():
    with tracee(others=True), Place(policy()) as where:
        bystander = live.the.docker(
            "run", "-d", "--rm", "--network", "none", "membrane-agent",
            "sh", "-c", "while sleep 0.2; do :; done").stdout.strip()
        try:
            s = run(where, "sleep 0.3; exec sleep 0.4")
        finally:
            live.the.docker("rm", "-f", bystander)
        check(s.status == 0, "status", s.stderr)
        found = events(where)
        check(found[0]["eventName"] == "membrane_start" and
              args(found[0]) == {"back_end": "tracee", "version": "0.24.1"},
              "first record", found[0])
        check("sh" in programs(found) and "sleep" in programs(found),
              "the agent's programs", programs(found))
        ids = {e.get("containerId") for e in found[1:-1]}
        check(len(ids) == 1, "one container", ids)
        check("/other" not in programs(found), "nobody else's")
        last = args(found[-1])
        check(found[-1]["eventName"] == "membrane_end" and
              last["back_end"] == "tracee", "last record", found[-1])
        check(last["events"] == len(found) - 2, "counted", last)
        check(last["filtered"] >= 2 and last["lost"] == 0, "counted", last)
        times = summary(where)["ms"]
        check(times["tracer_ready"] <= times["agent_spawned"],
              "ready before the agent", times)
        check(not live.leftovers(), "nothing is left", live.leftovers())


@test
def whole_and_read_by_the_commands():
    with tracee(), Place(policy()) as where:
        s = run(where, "sleep 0.5; exit 4")
        check(s.status == 4, "status", s.stderr)
        check("trace" not in s.stderr, "nothing to say", s.stderr)
        check(summary(where)["trace"] == {"whole": True, "lost": 0},
              "summary", summary(where).get("trace"))
        for words, wanted in (
                (("show",), "exec     sh -c ': %s; sleep 0.5; exit 4'" % MARK),
                (("stats",), "sched_process_exec"),
                (("grep", "comm == sleep"), '"processName":"sleep"')):
            out = where.membrane("trace", *words)
            check(out.status == 0 and wanted in out.stdout,
                  " ".join(words), out.stdout + out.stderr)


@test
def started_with_no_more_than_it_needs():
    with tracee(), Place(policy()) as where:
        with running(where, "sleep", "20"):
            (tracer,) = live.running("membrane.role=tracer")
            box = json.loads(live.the.docker("inspect", tracer).stdout)[0]
        host = box["HostConfig"]
        check(not host["Privileged"] and host["CapDrop"] == ["ALL"],
              "not privileged", host["CapDrop"])
        check(sorted(c.removeprefix("CAP_") for c in host["CapAdd"]) ==
              [c for c in CAPS if c not in missing()], "capabilities",
              host["CapAdd"])
        check(host["ReadonlyRootfs"] and host["NetworkMode"] == "none",
              "read-only, without a network")
        check(all(not m["RW"] for m in box["Mounts"]) and
              not [m for m in box["Mounts"] if "docker.sock" in m["Source"]
                   or m["Source"] in ("/run", "/var/run", "/")],
              "mounts", box["Mounts"])
        check(box["Config"]["Entrypoint"] == ["/tracee/tracee"],
              "its own program", box["Config"]["Entrypoint"])


@test
def what_is_left_at_the_end_is_kept():
    """It ends by SIGTERM after what the agent did last, and is waited for."""
    with tracee(drains=1), Place(policy()) as where:
        s = run(where)
        check(s.status == 0 and "trace" not in s.stderr, "whole", s.stderr)
        check(programs(events(where))[-1] == "/last", "to the last record")


@test
def each_release_has_its_flags_and_its_events():
    for release in ("0.20.0", "0.22.4", "0.23.1", "0.24.1"):
        with tracee(release), Place(
                "trace: {engine: tracee, version: %s, events: ["
                "sched_process_exec, {event: security_file_open, filters: "
                "['data.pathname=/workspace/*']}, net_packet_dns], exclude: "
                "[]}\n" % release) as where:
            s = run(where)
            check(s.status == 0 and "sh" in programs(events(where)), release,
                  s.stderr)


@test
def absent_image():
    with Place(policy("0.21.0")) as where:
        s = run(where)
        check(s.status == 125 and
              "`docker pull aquasec/tracee:0.21.0` fetches it" in s.stderr,
              "what to do", s.stderr)
        check(not files(where), "no trace")
        s = run(where, WAIT, "--no-trace")
        check(s.status == 0, "and without a trace it runs", s.stderr)


@test
def another_release_under_the_name():
    with tracee("0.22.0", tag="0.24.1"), Place(policy()) as where:
        s = run(where)
        check(s.status == 125 and "the policy is for Tracee 0.24.1" in
              s.stderr and "v0.22.0" in s.stderr, "refused", s.stderr)
        check(not live.leftovers(), "nothing is left", live.leftovers())


@test
def dead_tracee():
    with tracee(dies=0.2), Place(policy()) as where:
        s = run(where, "sleep 2; echo on")
        check(s.status == 0 and s.stdout == "on\n", "it goes on", s.stderr)
        check("not whole: Tracee runner failed: it fell over" in s.stderr,
              "said", s.stderr)
        check("sh" in programs(events(where)), "what it had is kept",
              events(where))
    with tracee(dies=0.2), Place(policy(more=", required: true")) as where:
        s = run(where, "sleep 600")
        check(s.status == 125 and "the trace is required" in s.stderr,
              "it ends", s.stderr)


@test
def killed_tracee():
    for more, status in (("", 0), (", required: true", 125)):
        with tracee(), Place(policy(more=more)) as where:
            with running(where, "sh", "-c", ": %s; sleep 3" % MARK) as p:
                (tracer,) = live.running("membrane.role=tracer")
                live.running("membrane.role=agent")
                time.sleep(0.5)
                live.the.docker("kill", tracer)
                _, said = p.communicate(timeout=40)
            check(p.returncode == status and "trace" in said, more, said)
            check(within(10, lambda: not live.leftovers()), "nothing is left")


@test
def one_that_does_not_start():
    for behaviour, said in (
            ({"fails": "no BTF"}, "Tracee runner failed: no BTF"),
            ({"release": "0.23.0", "tag": "0.24.1", "says": "0.24.1"},
             "unknown flag: --containers")):
        for more, status in (("", 0), (", required: true", 125)):
            with tracee(**behaviour), Place(policy(more=more)) as where:
                s = run(where)
                check((s.status == status or s.status == 125) and
                      said in s.stderr, said + more, s.stderr)
                check(not live.leftovers(), "nothing is left")


@test
def losses_are_told():
    """What it says it lost, and lines that are no record."""
    with tracee(lost=[3, 4], broken=True), Place(policy()) as where:
        s = run(where)
        check(s.status == 0, "it goes on", s.stderr)
        check("lacks 10 events" in s.stderr, "said", s.stderr)
        last = args(events(where)[-1])   # every line is whole JSON
        check((last["lost"], last["lost_in_kernel"], last["broken"]) ==
              (10, 7, 3), "on record", last)
        check(summary(where)["trace"]["whole"] is False, "in the summary")
        stats = " ".join(where.membrane("trace", "stats").stdout.split())
        check("10 events are missing (lost by Tracee: 7; lines that are no "
              "record: 3)" in stats, "stats", stats)


@test
def silent_tracee():
    with tracee(silent=True), Place(policy()) as where:
        s = run(where)
        check(s.status == 0 and "sent no record of the agent" in s.stderr,
              "said", s.stderr)
