#!/usr/bin/env python3
"""The tracer by itself: real programs in the kernel, no Docker.

A process in namespaces of its own plays the agent. Needs root; without it, or
where the kernel takes no programs, skips with 77.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/guest"))
import actions  # noqa: E402
from tracer import (Agent, Watch, args, name, plan,  # noqa: E402
                    storm_program, why_not)

passed = failed = 0


def check(good, text, seen=None):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAIL: %s%s" % (text, "" if seen is None else
                              "\n      seen: %s" % (seen,)), flush=True)


def trace(folder, *command):
    watch, agent = Watch(folder), Agent(*command)
    ready = watch.hello(agent.netns)
    check(name(ready) == "ready", "ready", ready)
    status = agent.go()
    return (status, *watch.end())


def records(folder):
    plan(folder, ["sched_process_exec", "sched_process_exit",
                  "security_file_open"])
    status, found, _ = trace(folder, "/bin/sh", "-c", "exit 5")
    check(status == 5, "the agent's status", status)
    check(name(found[0]) == "membrane_start" and
          args(found[0])["back_end"] == "sys_exit", "the first line",
          found[0])
    check(name(found[1]) == "sched_process_exec" and
          args(found[1])["argv"] == ["/bin/sh", "-c", "exit 5"],
          "the first event", found[1])
    want = {"timestamp": int, "threadStartTime": int, "processorId": int,
            "processId": int, "threadId": int, "parentProcessId": int,
            "hostProcessId": int, "hostThreadId": int,
            "hostParentProcessId": int, "cgroupId": int, "userId": int,
            "mountNamespace": int, "pidNamespace": int, "processName": str,
            "hostName": str, "containerId": str, "container": dict,
            "eventId": str, "eventName": str, "argsNum": int,
            "returnValue": int, "syscall": str, "contextFlags": dict,
            "args": list}
    for key, kind in want.items():
        check(isinstance(found[1].get(key), kind), "Tracee's " + key,
              found[1].get(key))
    check(found[1]["eventId"] == "715" and found[1]["hostName"] == "box" and
          found[1]["argsNum"] == len(found[1]["args"]) == 18,
          "its number, host and arguments", found[1])
    check(args(found[-2])["exit_code"] == 5, "its exit", found[-2])
    check(args(found[-1])["lost"] == 0 and
          args(found[-1])["events"] == len(found) - 2, "the last line",
          found[-1])
    stamps = [e["timestamp"] for e in found[1:-1]]
    check(all(abs(a - stamps[0]) < 10e9 for a in stamps), "times")


def selection(folder):
    plan(folder, [{"name": "security_file_open", "filters":
                   ["data.pathname=/etc/*,*.c", "data.pathname!=/etc/x"]},
                  {"name": "sched_process_exec", "filters": ["comm!=cat"]},
                  {"name": "sched_process_exit", "filters":
                   ["retval=0", "pid>=1"]}], exclude=["/etc/ssl"])
    _, found, _ = trace(folder, "/bin/sh", "-c", "cat /etc/hostname "
                        "/etc/ssl/openssl.cnf /proc/self/stat; true; ls /")
    opened = {args(e)["pathname"] for e in found
              if name(e) == "security_file_open"}
    check("/etc/hostname" in opened, "what a filter takes", opened)
    check(all(p.startswith("/etc/") and not p.startswith("/etc/ssl")
              for p in opened), "and nothing else", opened)
    ran = {e["processName"] for e in found
           if name(e) == "sched_process_exec"}
    check("ls" in ran and "cat" not in ran, "processes left out", ran)
    check(args(found[-1])["filtered"] > 0, "what was left out is counted")


CHANGES = r"""
import os
made = os.open("made", os.O_RDONLY | os.O_CREAT)
os.close(os.open("made", os.O_RDONLY | os.O_TRUNC))
os.close(os.open("made", os.O_RDWR))
os.close(os.open("made", os.O_RDONLY))
"""


def writes_alone(folder):
    (folder / "changes.py").write_text(CHANGES)
    # Of the length of a name that is listed, with its first byte, or both.
    for near in ("hostnome", "xostname", "h", "h" * 63, "h" * 64, "h" * 255):
        (folder / near).touch()
    plan(folder, ["security_file_open"], reads=False,
         sensitive=["hostname", "shadow", "h" * 63])
    _, found, _ = trace(
        folder, "/bin/sh", "-c", "cat /etc/hostname /etc/passwd; echo > "
        "/dev/null; cd %s; ln -s /etc/hostname link; cat link h* xostname; "
        "python3 -SE changes.py" % folder)
    opened = [args(e)["pathname"] for e in found[1:-1]]
    check(opened.count("/etc/hostname") == 2 and
          opened.count("/dev/null") == 1 and "/etc/passwd" not in opened,
          "writes, and names that are listed", opened)
    mine = [p[len(str(folder)) + 1:] for p in opened
            if p.startswith(str(folder))]
    check(mine == ["h" * 63] + 3 * ["made"],
          "no name that is only alike, and what opening alone changes", mine)


DEEP = r"""
import os
for _ in range(700):
    os.mkdir("deep-down")
    os.chdir("deep-down")
os.close(os.open("file", os.O_WRONLY | os.O_CREAT))
"""


def deep(folder):
    """No path loses its beginning, by which filters know it."""
    (folder / "deep.py").write_text(DEEP)
    plan(folder, ["security_file_open"], reads=False)
    _, found, _ = trace(folder, "sh", "-c", "cd %s; exec python3 -SE deep.py"
                        % folder)
    opened = [args(e)["pathname"] for e in found[1:-1]]
    check(opened == [str(folder) + 700 * "/deep-down" + "/file"],
          "a path of 700 folders", [(len(p), p[:80]) for p in opened])


def counts(folder, storm):
    """What finds no room is counted, to the last event."""
    for ring, each, parts in ((4096, 20000, 4), (8 << 20, 20000, 4)):
        plan(folder, ["security_file_open"], ring=ring)
        _, found, said = trace(folder, storm, each, parts)
        told = sum(name(e) == "security_file_open" for e in found)
        lost = args(found[-1])["lost"]
        check(told + lost == each * parts, "told and lost are all",
              (ring, told, lost))
        if ring == 4096:
            check(lost > 0, "a ring that is too small loses some", lost)
        check(args(said[-1])["lost"] == lost, "the launcher hears of it",
              said[-1:])


def what_says_most(folder, storm):
    """Files that are read drive nothing else out of the trace."""
    plan(folder, ["security_file_open", "mkdir"], ring=1 << 20)
    (folder / "folders").mkdir()
    _, found, _ = trace(folder, storm, 100000, 4, folder / "folders")
    end = args(found[-1])
    told = sum(name(e) == "security_file_open" for e in found)
    check(told + end["lost"] == 400000 and end["lost"] ==
          end["lost_reads"] > 0, "reads are lost, and counted", end)
    check(sum(name(e) == "mkdir" for e in found) == 300,
          "and no folder is", end)


QUESTIONS = r"""
import os, socket
def ask(name, kind):
    return (b"\x12\x34\x01\0\0\1\0\0\0\0\0\0" + b"".join(
        bytes([len(part)]) + part for part in name.split(b".")) +
        b"\0" + bytes([0, kind]) + b"\0\1")
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to = ("127.0.0.1", 53)
u.sendto(ask(b"to.example.com", 1), to)
u.sendmsg([ask(b"msg.example.com", 28)], [], 0, to)
u.sendto(b"no question at all", to)
u.sendto(ask(b"elsewhere.example.com", 1), ("127.0.0.1", 5353))
c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
c.connect(to)
for send in (c.send, lambda data: os.write(c.fileno(), data)):
    try:
        send(ask(b"connected.example.com", 16))
    except ConnectionRefusedError:
        send(ask(b"connected.example.com", 16))
six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
six.sendto(ask(b"six.example.com", 12), ("::1", 53))
try:
    socket.getaddrinfo("both.example.com", 80, type=socket.SOCK_STREAM)
except OSError:
    pass
"""


def questions(folder):
    """What is asked of a resolver, whatever call it is sent by."""
    (folder / "ask.py").write_text(QUESTIONS)
    (folder / "resolv.conf").write_text(
        "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    plan(folder, ["net_packet_dns_request"])
    _, found, _ = trace(folder, "unshare", "--mount", "sh", "-c",
                        "ip link set lo up; mount --bind %s/resolv.conf "
                        "/etc/resolv.conf; python3 %s/ask.py" % (folder,
                                                                 folder))
    asked = [(q["query"], q["query_type"], q["query_class"],
              args(e)["metadata"]["dst_ip"], args(e)["metadata"]["dst_port"])
             for e in found[1:-1] for q in args(e)["dns_questions"]]
    v4 = ("127.0.0.1", 53)
    for one in (("to.example.com", "A", "IN", *v4),
                ("msg.example.com", "AAAA", "IN", *v4),
                ("connected.example.com", "TXT", "IN", *v4),
                ("six.example.com", "PTR", "IN", "::1", 53),
                ("both.example.com", "A", "IN", *v4),
                ("both.example.com", "AAAA", "IN", *v4)):
        check(one in asked, "asked: %s %s" % one[:2], asked)
    check(sum(q[0] == "connected.example.com" for q in asked) >= 2,
          "send and write", asked)
    check(len({q[0] for q in asked}) == 5, "and nothing else", asked)
    check({e["processName"] for e in found[1:-1]} == {"python3"}, "who asked")


ASKS = r"""
import socket
def ask(n):
    return (n.to_bytes(2, "big") + b"\1\0\0\1\0\0\0\0\0\0" +
            b"\7example\3com\0\0\1\0\1")
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind(("127.0.0.1", 4001))
for n in (7, 7, 8):
    u.sendto(ask(n), ("127.0.0.1", 53))
l = socket.create_server(("127.0.0.1", 53))
t = socket.socket()
t.bind(("127.0.0.1", 4002))
t.connect(("127.0.0.1", 53))
"""


def told(port, number, tcp=False, **more):
    return {"event": "answer", "time_ns": 1700000000123456789, "tcp": tcp,
            "client": "192.0.0.2", "port": port, "server": "192.0.0.1",
            "server_port": 53, "id": number, "bytes": 45,
            "name": "example.com", "type": "A", "rcode": "NOERROR",
            "cut": False, "records": [], **more}


def answers(folder):
    """What the gate tells is joined to who asked, once for each question."""
    (folder / "asks.py").write_text(ASKS)
    plan(folder, ["net_packet_dns_response", "security_socket_connect"])
    watch = Watch(folder)
    agent = Agent("sh", "-c", "ip link set lo up; python3 -SE %s/asks.py; "
                  "sleep 1" % folder)
    watch.hello(agent.netns)
    for line in (told(4001, 9), told(4009, 7, refused="no-grant",
                                     rcode="NXDOMAIN")):
        watch.send(line)  # no question is theirs
    agent.go()
    records = [{"type": "CNAME", "ttl": 5, "data": "www.example.com"},
               {"type": "A", "ttl": 60, "data": "192.0.2.1"}]
    for line in (told(4001, 7, records=records), told(4001, 7, cut=True),
                 told(4001, 7), told(4001, 8), told(4002, 1, True),
                 told(4002, 2, True), told(4003, 1, True),
                 {"event": "answer", "missing": 5}):
        watch.send(line)
    found, said = watch.end()
    got = [e for e in found if name(e) == "net_packet_dns_response"]
    check(len(got) == 9, "each answer is one event", len(got))
    who = [e["processName"] for e in got]
    check(sorted(who) == 4 * [""] + 5 * ["python3"], "whose they are", who)
    first = next(e for e in got if args(e)["dns_response"][0]["dns_answer"])
    check(args(first)["dns_response"] == [
        {"query_data": {"query": "example.com", "query_type": "A",
                        "query_class": "IN"},
         "dns_answer": [{"answer_type": "CNAME", "ttl": 5,
                         "answer": "www.example.com"},
                        {"answer_type": "A", "ttl": 60,
                         "answer": "192.0.2.1"}],
         "response_code": "NOERROR"}] and
        args(first)["metadata"] == {
            "src_ip": "192.0.0.1", "src_port": 53, "dst_ip": "192.0.0.2",
            "dst_port": 4001, "protocol": 17, "packet_len": 45,
            "iface": "any"} and first["timestamp"] == 1700000000123456789 and
        first["processName"] == "python3" and first["processId"] > 1 and
        first["eventId"] == "2008", "an answer", first)
    refused = [r for e in got for r in args(e)["dns_response"]
               if r.get("refused")]
    check([r["response_code"] for r in refused] == ["NXDOMAIN"], "refused",
          refused)
    check(sum(r.get("truncated", False) for e in got
              for r in args(e)["dns_response"]) == 1, "cut off")
    tcp = [args(e)["metadata"]["dst_port"] for e in got
           if args(e)["metadata"]["protocol"] == 6 and e["processName"]]
    check(tcp == [4002, 4002], "two over one connection", tcp)
    check(args(found[-1])["lost"] == 5 and args(said[-1])["lost"] == 5,
          "what the gate left out is lost", found[-1])


def many_answers(folder):
    """More than can wait: none is lost, and none waits for ever."""
    plan(folder, ["net_packet_dns_response"])
    watch = Watch(folder)
    agent = Agent("true")
    watch.hello(agent.netns)
    for n in range(1000):
        watch.send(told(5000, n))
    agent.go()
    found, _ = watch.end()
    check(len(found) == 1002 and args(found[-1])["lost"] == 0,
          "a thousand answers", len(found))


def nothing_of_others(folder):
    plan(folder, ["security_file_open", "sched_process_exec"])
    watch, agent = Watch(folder), Agent("/bin/sh", "-c", "true")
    watch.hello(agent.netns)
    for _ in range(20):
        subprocess.run(["cat", "/etc/hostname"], check=True,
                       stdout=subprocess.DEVNULL)
    agent.go()
    found, _ = watch.end()
    ran = [args(e)["argv"][0] for e in found
           if name(e) == "sched_process_exec"]
    check(ran == ["/bin/sh"], "one program, and none of the host's", ran)


def another_of_number(number):
    """A pid namespace of that number opens a file; False: it got others."""
    held = []
    for _ in range(20):
        held.append(subprocess.Popen(
            ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
             "sh", "-c", "readlink /proc/self/ns/pid; read go; exec cat "
             "/etc/hostname"], stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        if held[-1].stdout.readline() == number:
            break
    else:
        number = None
    for other in held:
        other.communicate(b"go\n", timeout=120)
    return number is not None


def nothing_of_the_next(folder):
    """The kernel gives the number of a namespace that ended to a new one."""
    plan(folder, ["security_file_open"])
    for _ in range(10):  # whoever else is at work may get the number first
        watch = Watch(folder)
        agent = Agent("readlink", "/proc/self/ns/pid")
        watch.hello(agent.netns)
        number, _ = agent.p.communicate(b"go\n", timeout=120)
        came = another_of_number(number)
        found, _ = watch.end()
        if came:
            break
    if not came:
        print("the number went to others each time")
    opened = [args(e)["pathname"] for e in found
              if name(e) == "security_file_open"]
    check(opened and "/etc/hostname" not in opened, "of which nothing is told",
          opened)


def refusals(folder):
    for text in ("", "[]", "{}", '{"version": 2}', "{", json.dumps(
            {"version": 1, "events": [{"name": "nosuch", "filters": []}],
             "reads": True, "sensitive": [], "exclude": []})):
        (folder / "trace.json").write_text(text)
        watch = Watch(folder)
        check(name(watch.first) == "error", "a plan that is none: " + text,
              watch.first)
        watch.end()
        check(watch.p.returncode == 1, "its status", watch.p.returncode)
    plan(folder, ["sched_process_exec"])
    watch = Watch(folder, "--user", "--map-root-user")
    check("user namespace" in args(watch.first).get("message", ""),
          "root of a user namespace alone", watch.first)
    watch.end()
    for hello in ([], {}, {"version": 1, "host": "x", "netns": 0, "pidns": 1},
                  {"version": 1, "host": "x", "netns": 1, "pidns": 1,
                   "agent": "both"},
                  {"version": 1, "host": "x", "netns": 0, "pidns": 1,
                   "agent": "a" * 64},
                  {"version": 1, "host": "x", "netns": -1,
                           "pidns": 1}, {"version": 2, "host": "x",
                                         "netns": 1, "pidns": 1}):
        watch = Watch(folder)
        watch.send(hello)
        check(name(watch.said()) == "error", "a hello that is none", hello)
        watch.end()
    plan(folder, ["net_packet_dns_response"])
    for line in ("x", [], {}, {"event": "answer"}, told(65536, 1),
                 told(1, 1, records=1), told(1, 1, name="x" * 4096)):
        watch = Watch(folder)
        watch.hello(1)
        watch.send(line)
        check(name(watch.said()) == "error", "an answer that is none", line)
        watch.end()
    watch = Watch(folder)
    found, _ = watch.end()
    check(watch.p.returncode == 0 and name(found[-1]) == "membrane_end",
          "an end before the beginning", found)


def known_actions(folder):
    """The same table as in the guest, by what this kernel takes."""
    actions.build(folder / "agent")
    (folder / "trace.json").write_text(json.dumps(actions.PLAN))
    work, sealed = folder / "known", folder / "sealed"
    work.mkdir()
    sealed.mkdir(0o700)
    work.chmod(0o777)
    folder.chmod(0o755)
    status, found, _ = trace(folder, folder / "agent", work,
                             sealed / "secret")
    check(status == 0, "the agent ends well", status)
    facts = args(found[0])
    check(facts["io_uring"] == "followed", "io_uring is followed", facts)
    actions.judge(facts["back_end"], str(work), str(sealed / "secret"), found,
                  capable="cap_capable" not in facts["missing"])


def main():
    global passed, failed
    if os.geteuid():
        print("the tracer needs root")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name_:
        folder = pathlib.Path(name_)
        storm = storm_program(folder)
        if why := why_not(folder):
            print("no tracing here: %s" % why)
            sys.exit(77)
        records(folder)
        selection(folder)
        writes_alone(folder)
        deep(folder)
        counts(folder, storm)
        what_says_most(folder, storm)
        questions(folder)
        answers(folder)
        many_answers(folder)
        nothing_of_others(folder)
        nothing_of_the_next(folder)
        refusals(folder)
        known_actions(folder)
    passed, failed = passed + actions.total()[0], failed + actions.total()[1]
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(bool(failed))


main()
