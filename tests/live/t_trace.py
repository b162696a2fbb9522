"""What the built-in tracer records of a session, and what it says when it
cannot."""
import collections
import contextlib
import gzip
import html
import json
import os
import re
import signal
import subprocess
import sys
import time

import live
from live import check, test, within

sys.path.append(str(live.ROOT / "tests/guest"))
import actions  # noqa: E402

FULL = "trace: {engine: native, events: [full]}\n"


class Place(live.Place):
    """Docker's daemon loads the tracer's programs; without it root has to."""
    launcher = 0 if live.ENGINE == "native" else None


def files(where):
    return sorted((where.state / "trace").glob("*.jsonl.gz"),
                  key=lambda p: p.stat().st_mtime_ns)


def events(where):
    """All records, oldest file first; every line must be whole JSON. What the
    session saw at its own path is called as filters call it."""
    return [json.loads(line.replace(str(where.work), "/workspace"))
            for path in files(where) for line in gzip.open(path, "rt")]


def args(event):
    return {a["name"]: a["value"] for a in event["args"]}


def paths(found, name, argument="pathname"):
    return collections.Counter(args(e)[argument] for e in found
                               if e["eventName"] == name)


def run(where, command, *flags, **more):
    return where.membrane("run", *flags, "--", "bash", "-c", command, **more)


# Twice what the ring has room for, once there is a file.
STORM = """
import os, time
def wait(name):
    while not os.path.exists(name):
        time.sleep(0.02)
print("up", flush=True)
wait("go")
for _ in range(400000):
    os.close(os.open("/tmp/x", os.O_WRONLY | os.O_CREAT))
print("done", flush=True)
wait("end")
"""


@contextlib.contextmanager
def running(where, *command):
    """A session while it runs; ended when the test is through with it."""
    p = where.popen("run", "--", *command, stderr=subprocess.PIPE, text=True)
    try:
        yield p
    finally:
        p.kill()
        p.communicate()


def end(found):
    return args(found[-1])


@test
def each_action_is_recorded_once():
    script = """
touch made; mv made moved; ln moved hard; ln -s moved soft; chmod 600 moved
truncate -s 5 moved; mkdir folder; rmdir folder; rm hard
cat .env secret.txt
sh -c 'exit 7'
(cd / && cat workspace/../workspace/deep/file)
unshare --user true 2>&-
mount -t tmpfs none /mnt 2>&-
python3 - <<'END'
import os, socket, threading
s = socket.socket()
s.bind(("127.0.0.1", 4321))
s.listen(3)
socket.create_connection(("127.0.0.1", 4321)).close()
for i in range(8):
    t = threading.Thread(target=lambda i=i: open("thread-%d" % i, "w"))
    t.start()
    t.join()
pid = os.fork()
if pid == 0:
    os.setsid()
    open("daemon", "w")
    os._exit(0)
os.waitpid(pid, 0)
END
exit 3
"""
    with Place(FULL + "ignore: [.env]\n",
               files={".env": "x", "secret.txt": "y",
                      "deep/file": "z"}) as where:
        s = run(where, script)
        check(s.status == 3, "the status is the command's", s.stderr)
        found = events(where)
        opened = paths(found, "security_file_open")
        for name in (["made", "secret.txt", "daemon", "deep/file", ".env"] +
                     ["thread-%d" % i for i in range(8)]):
            check(opened["/workspace/" + name] == 1, "opened once: " + name,
                  opened["/workspace/" + name])
        renamed = [args(e) for e in found
                   if e["eventName"] == "security_inode_rename"]
        check(renamed == [{"old_path": "/workspace/made",
                           "new_path": "/workspace/moved"}], "renamed",
              renamed)
        links = [args(e) for e in found if e["eventName"] == "linkat"]
        check([(x["oldpath"], x["newpath"]) for x in links] ==
              [("/workspace/moved", "/workspace/hard")], "linked", links)
        soft = [args(e) for e in found
                if e["eventName"] == "security_inode_symlink"]
        check(soft == [{"linkpath": "/workspace/soft", "target": "moved"}],
              "symlinked", soft)
        check(paths(found, "security_inode_unlink") ==
              {"/workspace/hard": 1}, "unlinked")
        check((paths(found, "mkdir")["/workspace/folder"],
               paths(found, "rmdir")["/workspace/folder"]) == (1, 1),
              "made and removed a folder")
        check(paths(found, "fchmodat")["/workspace/moved"] == 1, "chmod")
        sockets = [(e["eventName"], args(e)) for e in found
                   if "AF_INET" in json.dumps(e)]
        ports = [(name, a.get("local_addr", a.get("remote_addr")))
                 for name, a in sockets
                 if name.startswith("security_socket")]
        here = {"sa_family": "AF_INET", "sin_addr": "127.0.0.1",
                "sin_port": "4321"}
        check(sorted(p for p in ports if p[1] == here) ==
              [("security_socket_bind", here),
               ("security_socket_connect", here),
               ("security_socket_listen", here)], "sockets", ports)
        for name in ("unshare", "mount"):
            tried = [e["returnValue"] for e in found
                     if e["eventName"] == name]
            check(tried and all(r < 0 for r in tried), "refused: " + name,
                  tried)
        codes = [args(e)["exit_code"] for e in found
                 if e["eventName"] == "sched_process_exit"
                 and args(e)["process_group_exit"]]
        check(codes.count(7) == 1 and codes[-1] == 3, "exits", codes)
        check(end(found)["lost"] == 0, "nothing is lost", end(found))


def by_exec():
    """The agent's container, in which another process did something."""
    agent = live.the.docker("ps", "-q", "--no-trunc", "--filter",
                            "label=membrane.role=agent").stdout.strip()
    live.the.docker("exec", agent, "touch", "/workspace/by-exec")
    return agent


@test
def all_of_the_agent_and_nothing_of_the_host():
    with Place(FULL) as where:
        script = ("touch begun; for i in 1 2 3 4 5 6 7 8 9 10; do "
                  "(true > inner-$i); done; cat /proc/self/status >/dev/null; "
                  "until [ -e end ]; do sleep 0.1; done")
        with running(where, "bash", "-c", script) as p:
            within(30, (where.work / "begun").exists)
            agent = by_exec() if live.ENGINE == "docker" else None
            for i in range(50):
                (where.work / ("host-%d" % i)).write_text("")
            (where.work / "end").write_text("")
            p.wait(60)
        found = events(where)[1:-1]
        ids = {e["containerId"] for e in found}
        check(ids == {agent} if agent else len(ids) == 1,
              "all are the session's", ids)
        opened = paths(found, "security_file_open")
        check(opened["/workspace/by-exec"] == bool(agent),
              "docker exec is seen")
        check(not [p for p in opened if "/host-" in p], "the host is not")
        check(sum("/inner-" in p for p in opened) == 10, "subshells")
        first, command = [e for e in found
                          if e["eventName"] == "sched_process_exec"][:2]
        check(first == found[0] and first["processId"] == 1 and
              args(first)["argv"][0] == "/etc/membrane/init",
              "the first is the init", first)
        check(command["parentProcessId"] == 1 and
              args(command)["argv"][:2] == ["bash", "-c"],
              "the next is the command", command)


@test
def by_default_writes_and_what_is_secret():
    with Place("ignore: [.env]\n", files={".env": "x", "plain": "y",
                                         "id_rsa": "z"}) as where:
        (where.work / "id_rsa").chmod(0)
        run(where, "cat plain .env; cat ~/.ssh/id_rsa id_rsa; "
            "echo a > written; curl -s http://192.0.2.7/; "
            "curl -s http://not.granted.example/")
        found = events(where)
        opened = paths(found, "security_file_open")
        check(opened["/workspace/plain"] == 0, "plain reads are no news")
        check(opened["/workspace/.env"] == 1, "secrets are", opened)
        check(opened["/workspace/written"] == 1, "writes are", opened)
        check(opened["/workspace/id_rsa"] == 1, "refused reads are, too",
              opened)
        check([1 for e in found
               if e["eventName"] == "security_socket_connect" and
               args(e)["remote_addr"].get("sin_addr") == "192.0.2.7"],
              "connections are")
        check([1 for e in found if e["eventName"] == "net_packet_dns_request"
               and e["processName"] == "curl" and
               args(e)["dns_questions"][0]["query"] ==
               "not.granted.example"], "questions are")


ASK_TWICE = r"""
import socket, struct
q = (b"\0\x2a\1\0\0\1\0\0\0\0\0\0\7refused\4test\0\0\1\0\1")
t = socket.create_connection(("192.0.0.1", 53))
for _ in range(2):
    t.sendall(struct.pack(">H", len(q)) + q)
    t.recv(65535)
"""


@test
def answers_are_joined_to_who_asked():
    with Place("allow: [site.test]\n") as where:
        (where.work / "tcp.py").write_text(ASK_TWICE)
        run(where, "for i in 1 2 3 4 5; do getent ahostsv4 site.test; done; "
            "getent ahostsv4 other.test; python3 tcp.py; exec sleep 0.1")
        found = events(where)
        asked, got = [[e for e in found if e["eventName"] ==
                       "net_packet_dns_" + kind]
                      for kind in ("request", "response")]
        name = lambda e: args(e)["dns_response"][0]["query_data"]["query"]
        udp = [e for e in got if args(e)["metadata"]["protocol"] == 17]
        count = lambda what, of: collections.Counter(
            (what(e), e["hostThreadId"]) for e in of)
        check(count(name, udp) == count(
            lambda e: args(e)["dns_questions"][0]["query"], asked),
            "one answer for each question", [name(e) for e in got])
        check({e["processName"] for e in udp} == {"getent"}, "joined")
        site = [args(e)["dns_response"][0] for e in udp
                if name(e) == "site.test"]
        check(site and all(r["dns_answer"][0]["answer_type"] == "A" and
                           r["response_code"] == "NOERROR" for r in site),
              "addresses", site)
        no = [args(e)["dns_response"][0] for e in udp
              if name(e) == "other.test"]
        check(no and all(r["refused"] == "no-grant" and
                         r["response_code"] == "NXDOMAIN" for r in no),
              "refusals", no)
        tcp = [e for e in got if args(e)["metadata"]["protocol"] == 6]
        check([(name(e), e["processName"]) for e in tcp] ==
              2 * [("refused.test", "python3")], "by TCP", tcp)
        shown = where.membrane("trace", "show").stdout
        check("other.test A → NXDOMAIN (no-grant)" in shown and
              "site.test A → 11." in shown, "the story", shown)
        check(end(found)["lost"] == 0, "none is missing")


@test
def a_decision_is_below_who_it_is_about():
    """Of many that call one place at a time: by the connection's port."""
    command = "for i in $(seq 20); do curl -sSo /dev/null " \
        "http://other.test/p$i & done; wait"
    with Place("allow: [other.test]\n") as where:
        run(where, command)
        shown = where.membrane("trace", "show").stdout
        start = {m[1]: m[2] for m in re.finditer(
            r"curl\[(\d+)\] +exec +curl -sSo /dev/null \S+/(p\d+)", shown)}
        told = re.findall(
            r"(\S+)\[(\d+)\] +allow +GET other.test:80/(p\d+) ", shown)
        check(len(start) == len(told) == 20, "all of them", shown)
        wrong = [x for x in told if x[0] != "curl" or start[x[1]] != x[2]]
        check(not wrong, "each below its own process", (wrong, shown))


@test
def what_a_ring_does_is_recorded_or_refused():
    """Docker from 25 on refuses io_uring; before, the tracer follows it."""
    with Place(FULL) as where:
        actions.build(where.work / "agent")
        where.own()
        s = run(where, "./agent ring .; exit 3")
        check(s.status == 3, "it ran", s.stderr)
        found = events(where)
        setup = [e["returnValue"] for e in found
                 if e["eventName"] == "io_uring_setup"]
        check(len(setup) == 3, "the attempts are recorded", setup)
        opened = paths(found, "security_file_open")
        done = (opened["/workspace/by-ring"], opened["/workspace/by-worker"],
                paths(found, "security_inode_unlink")["/workspace/by-worker"],
                paths(found, "security_inode_rename", "new_path")[
                    "/workspace/ring-moved"])
        check(done == ((1,) * 4 if setup[0] >= 0 else (0,) * 4),
              "and what it does, if it is not refused", (setup, done))
        check(args(found[0])["io_uring"] == "followed", "which is said",
              args(found[0]))
        summary = json.loads(next((where.state / "sessions").glob(
            "*/summary.json")).read_text())["trace"]
        check(all(summary[k] == args(found[0])[k] for k in
                  ("back_end", "io_uring", "missing")), "in both places",
              summary)


@test
def what_is_done_by_other_numbers_is_recorded():
    """int $0x80: the calls of 32-bit programs, from any program."""
    with Place(FULL) as where:
        actions.build(where.work / "agent")
        where.own()
        s = run(where, "./agent compat .; exit 3")
        check(s.status == 3, "it ran", s.stderr)
        found = events(where)
        opened = paths(found, "security_file_open")
        check(opened["/workspace/by-compat"] ==
              opened["/workspace/compat-is-there"], "a file", opened)
        if not opened["/workspace/compat-is-there"]:
            return  # not on this kernel
        narrow = [e for e in found[1:-1] if e["contextFlags"]["isCompat"] and
                  e["eventName"] != "cap_capable"]
        at = [str(args(e)) for e in narrow]
        for part in ("/workspace/compat/moved", "'4331'", "'9982'", "'9984'",
                     "narrow.test"):
            check([a for a in at if part in a], part, at)
        shown = where.membrane("trace", "show").stdout
        check("127.0.0.1:4331" in shown and "compat/moved" in shown,
              "and shown", shown)
        check(end(found)["lost"] == 0, "nothing is lost", end(found))


@live.user_only("root chowns what is its own")
def a_capability_that_is_refused_is_recorded():
    with Place("") as where:
        run(where, "touch mine; chown 0 mine; exit 0")
        found = events(where)
        check("cap_capable" in args(found[0])["missing"] or
              [(e["syscall"], args(e)["cap"]) for e in found
               if e["eventName"] == "cap_capable" and
               e["processName"] == "chown"] == [("fchownat", 0)],
              "CAP_CHOWN in chown, by default",
              [(e["syscall"], args(e)) for e in found
               if e["eventName"] == "cap_capable"])


@test
def many_short_processes():
    """5,000 programs started and gone; each once, none lost."""
    with Place("trace: {engine: native, events: [sched_process_exec, "
               "sched_process_exit]}\n") as where:
        source = where.work / "storm.c"
        source.write_text("""
#include <stdio.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int n, char **v)
{
	if (n > 1)
		return 0;
	for (int i = 0; i < 5000; i++) {
		char text[16];
		char *child[] = {v[0], text, NULL};
		pid_t pid;

		snprintf(text, sizeof(text), "%d", i);
		if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, child,
				NULL))
			return 1;
		if (i % 8 == 7)
			while (wait(NULL) > 0)
				;
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
""")
        subprocess.run(["gcc", "-O1", "-static", "-o", where.work / "storm",
                        source], check=True)
        where.own()
        s = where.membrane("run", "--", "./storm", timeout=180)
        check(s.status == 0, "it ran", s.stderr)
        found = events(where)
        seen = collections.Counter(
            args(e)["argv"][1] for e in found
            if e["eventName"] == "sched_process_exec" and
            len(args(e)["argv"]) == 2)
        check(len(seen) == 5000 and set(seen.values()) == {1},
              "each is there once", len(seen))
        exits = [e for e in found if e["eventName"] == "sched_process_exit"]
        check(len(exits) == 5002, "and its end; the storm's, and the init's",
              len(exits))
        check(end(found)["lost"] == 0, "nothing is lost", end(found))


@test
def files_are_rotated_and_kept():
    with Place("trace: {engine: native, events: [full], "
               "rotate: {size: 16k, keep: 3}}\n") as where:
        run(where, "for k in 1 2 3; do for i in $(seq 1500); do "
            ": > file-$k-$i; done; done")
        kept = files(where)
        check(len(kept) == 3, "three are kept", [p.name for p in kept])
        for path in kept:
            check(path.stat().st_size <= 64 << 10, "none is much larger",
                  path.stat().st_size)
            lines = gzip.open(path, "rt").read().splitlines()
            check(all(json.loads(line) for line in lines),
                  "each can be read alone")
        check(args(json.loads(lines[-1]))["lost"] == 0, "the last is the end",
              lines[-1])


@test
def a_killed_tracer_is_reported():
    with Place(FULL) as where:
        with running(where, "bash", "-c", "touch begun; until [ -e end ]; "
                     "do sleep 0.1; done; exit 4") as p:
            within(30, lambda: files(where) and events(where))
            live.kill_part("tracer")
            check(within(20, lambda: where.records("lost")),
                  "it is on record while it runs")
            (where.work / "end").write_text("")
            said = p.communicate(timeout=60)[1]
        check(p.returncode == 4, "the session goes on", p.returncode)
        check("trace is not whole" in said, "and says so", said)
        told = where.records("lost")
        check([d["of"] for d in told] == ["trace"] and
              "the tracer ended" in told[0]["why"], "why, once", told)
        check(events(where), "what came before is there")


@test
def losses_are_told_while_it_runs():
    """Nobody reads the ring for a while: on record, and watched."""
    with Place() as where:
        p = where.popen("run", "--", "python3", "-c", STORM)
        p.stdout.readline()
        w = where.popen("watch", "--json")
        tracer = live.running("membrane.role=tracer")[0]

        def signal_it(name):
            if live.ENGINE == "native":
                os.kill(int(tracer), getattr(signal, "SIG" + name))
            else:
                live.the.docker("kill", "-s", name, tracer)
        signal_it("STOP")
        (where.work / "go").touch()
        check(p.stdout.readline() == b"done\n", "more than there is room for")
        check(not where.records("lost"), "nobody knows of it yet")
        start = time.monotonic()
        signal_it("CONT")
        check(within(60, lambda: where.records("lost")), "on record")
        (where.work / "end").touch()
        told = next((d for d in map(json.loads, w.stdout)
                     if d["event"] == "lost"), {})
        live.notes.append("%s events lost, told %.0f ms after the tracer could"
                          % (told.get("total"),
                             (time.monotonic() - start) * 1000))
        check(told.get("of") == "trace" and told["count"] == told["total"] > 0,
              "told to who watches", told)
        _, err = p.communicate(timeout=60)
        w.communicate(timeout=60)
        told = where.records("lost")
        check(sum(d["count"] for d in told) == told[-1]["total"] and
              b"it lacks %d events" % told[-1]["total"] in err,
              "the lines are all of it", (told, err))


@test
def a_required_trace_ends_the_session():
    with Place("trace: {engine: native, required: true}\n") as where:
        with running(where, "sleep", "600") as p:
            within(30, lambda: live.is_running("agent"))
            live.kill_part("tracer")
            said = p.communicate(timeout=60)[1]
        check(p.returncode == 125 and "trace is required" in said,
              "it ends", said)


def at_host(*argv):
    return subprocess.run(live.the.enter(*map(str, argv)), check=True,
                          text=True, capture_output=True).stdout


@test
def a_full_disk_is_reported():
    with Place(FULL) as where:
        folder = where.state / "trace"
        folder.mkdir(parents=True)
        where.own()
        # room for some members, however much a busy machine has in one
        at_host("mount", "-t", "tmpfs", "-o", "size=64k,mode=777", "none",
                folder)
        try:
            s = run(where, "for i in $(seq 4000); do "
                    ": > f-$i-$RANDOM$RANDOM$RANDOM; done; exit 6")
            check(s.status == 6, "the session goes on", s.stderr)
            check("No space left" in s.stderr, "and says why", s.stderr)
            kept = at_host("sh", "-c", "zcat %s/*.gz" % folder)
            check(kept.splitlines() and all(map(json.loads,
                                                kept.splitlines())),
                  "whole members stay", kept[-200:])
        finally:
            at_host("umount", folder)


@test
def followed_while_it_runs():
    with Place(FULL) as where:
        with running(where, "bash", "-c", "touch begun; until [ -e end ]; "
                     "do sleep 0.1; done"):
            within(30, lambda: files(where))
            follower = where.popen("trace", "follow", "path ~ '**/seen-*'",
                                   stdout=subprocess.PIPE, text=True)
            (where.work / "end").write_text("")
            said = follower.communicate(timeout=60)[0]
        check(follower.returncode == 0, "it ends with the session", said)
    with Place(FULL) as where:
        run(where, "touch a b; cat /etc/passwd; exit 3")
        shown = where.membrane("trace", "show", "event == file").stdout
        check("write    %s/a" % where.work in shown and
              "read     /etc/passwd" in shown, "the story", shown)
        counted = json.loads(where.membrane("trace", "stats",
                                            "--json").stdout)
        check(counted["has_end"] and counted["lost"] == 0, "statistics",
              counted)


@test
def without_a_trace():
    with Place("") as where:
        s = run(where, "true", "--no-trace")
        check(s.status == 0 and not files(where), "there is none", s.stderr)


@test
def the_launcher_killed():
    with Place(FULL) as where:
        with running(where, "bash", "-c", "touch begun; sleep 60"):
            within(30, lambda: files(where) and events(where))
        within(30, lambda: not live.is_running("tracer"))
        check(events(where), "what came before is there")
        s = run(where, "true")
        check(s.status == 0, "the next one runs", s.stderr)


@test
def what_a_session_needed_permits_it_again():
    rules = "[{methods: [GET], paths: [/v1/]}]"
    with Place("allow: ['site.test:443', 'unused.test:443', "
               "{dest: api.test, ports: [443], http: %s}]\nignore: [.env]\n"
               % rules, files={".env": "x"}) as where:
        s = run(where, "curl -sS https://site.test/; cat .env; touch made; "
                "curl -sS -o /dev/null https://api.test/v1/x; "
                "curl -sS -o /dev/null -X POST https://api.test/v1/x; "
                "curl -sSm 3 https://ungranted.test/")
        refused = [line for line in s.stderr.splitlines()
                   if line.startswith("  ") and " add to " in line]
        check(len(refused) == 2 and "read .env" in s.stderr,
              "a method, a name and a path are refused", s.stderr)
        s = where.membrane("trace", "suggest")
        check(s.status == 0, "a suggestion", s.stderr)
        for line in refused:
            check("# " + line in s.stdout.splitlines(),
                  "the same line as run's: " + line, s.stdout)
        granted = s.stdout[s.stdout.index("\nallow:"):]
        check(granted == "\nallow:\n- dest: api.test\n  ports: [443]\n"
              "  http:\n  - {methods: [GET], paths: [/v1/x]}\n"
              "- site.test:443\n", "what was needed, no more", granted)
        needed = where.work / "needed.yaml"
        needed.write_text(s.stdout)
        s = where.membrane("trace", "replay", "--policy", "needed.yaml")
        check(s.status == 0, "it permits what was done", s.stdout + s.stderr)
        s = where.membrane("trace", "replay", "--json")
        found = json.loads(s.stdout)
        check([u["text"] for u in found["unused"]] ==
              ["unused.test tcp/443"], "a grant that nothing used", s.stdout)
        check((s.status, found["refused"], found["lifted"]) == (0, [], []),
              "its own policy permits what it permitted", s.stdout)
        needed.write_text("allow: [site.test:443]\nreadonly: [/made]\n")
        s = where.membrane("trace", "replay", "--policy", "needed.yaml",
                           "--json")
        check((s.status, [r["text"] for r in json.loads(s.stdout)["refused"]])
              == (1, ["api.test:443", "write made"]),
              "what another one would refuse", s.stdout)


@test
def a_session_as_a_page_and_for_other_tools():
    rules = "[{methods: [GET], paths: [/v1/]}]"
    with Place("allow: ['site.test:443', {dest: api.test, ports: [443], "
               "http: %s}]\nignore: [.env]\n" % rules,
               files={".env": "x", "kept": "one\ntwo\nthree\n"}) as where:
        (where.work / ".gitignore").write_text("built\n")
        for words in (["init", "-q"], ["add", "kept", ".gitignore"],
                      ["-c", "user.name=x", "-c", "user.email=x@x.test",
                       "commit", "-qm", "first"]):
            subprocess.run(live.the.as_user("git", *words, cwd=where.work),
                           check=True)
        s = run(where, "curl -sS https://site.test/; sed -i s/two/2/ kept; "
                "printf QU%s UX >built; cat .env; touch '</td><b>x'; "
                "curl -sS -o /dev/null -X POST https://api.test/v1/x; "
                "curl -sSm 3 https://ungranted.test/")
        page = where.membrane("report").stdout
        section = dict(re.findall(r'<section id="(\w+)">(.*?)</section>', page,
                                  re.S))
        site = re.search(r"site\.test:443</code>.*?</tr>",
                         section["reached"].partition("<tbody>")[2], re.S)
        check(site and "by curl" in site[0] and " B sent, " in site[0] and
              "0 B received" not in site[0], "where it went, and who", site)
        for line in s.stderr.splitlines():
            if line.startswith("  ") and " add to " in line:
                grant = line.partition(":  ")[2]
                check("<code>%s</code>" % html.escape(grant) in
                      section["refused"], "the same entry as run's: " + grant,
                      section["refused"])
        check("ungranted.test" in section["ran"] and
              "✕" in section["ran"], "who was refused", section["ran"])
        # git tells root nothing of a folder that is another user's.
        check(where.launcher == 0 or
              'line del">-two</span>' in section["changed"] and
              'line add">+2</span>' in section["changed"],
              "what differs from the commit", section["changed"])
        check("QUUX" not in page and (where.launcher == 0 or
              "ignored by git" in section["changed"]),
              "not what git ignores", section["changed"])
        check("&lt;/td&gt;&lt;b&gt;x" in page and "<b>x" not in page,
              "a name is text", section["changed"])
        check(".env" in section["secrets"], "a secret", section["secrets"])
        told = where.membrane("trace", "show").stdout.splitlines()
        first = lambda fits: next(
            (i for i, t in enumerate(told) if fits(t)), len(told))
        check(first(lambda t: t.endswith(" site.test A")) <
              first(lambda t: " site.test A → " in t) <
              first(lambda t: t.endswith(":443  site.test")) < len(told),
              "a question, its answer, and the connection", told)
        spans, logs = [[json.loads(x) for x in where.membrane(
            "trace", "export", "--otlp-json=" + kind).stdout.splitlines()]
            for kind in ("spans", "logs")]
        names = [x["name"] for o in spans for r in o["resourceSpans"]
                 for c in r["scopeSpans"] for x in c["spans"]]
        check(names.count("curl") == 3 and "session" in names, "spans", names)
        check("deny request api.test" in json.dumps(logs), "records", logs)
        ocsf = [json.loads(x) for x in where.membrane(
            "trace", "export", "--ocsf").stdout.splitlines()]
        check({e["class_uid"] for e in ocsf} ==
              {1001, 1007, 4001, 4002, 4003}, "events", ocsf)
