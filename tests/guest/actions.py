"""What tests/guest/agent.c does, and what a trace holds of it: one table for
all back ends."""
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
counted = [0, 0]


def total():
    return tuple(counted)


def check(good, text, seen=None):
    counted[not good] += 1
    if not good:
        print("FAIL: %s%s" % (text, "" if seen is None else
                              "\n      seen: %.3000s" % (seen,)), flush=True)
    return bool(good)


def build(to, cc=("gcc",)):
    subprocess.run([*cc, "-O1", "-static", "-Wall", "-Wextra", "-o", to,
                    HERE / "agent.c"], check=True)


def name(event):
    return event["eventName"]


def args(event):
    return {a["name"]: a["value"] for a in event["args"]}


ROOT = HERE.parent.parent
EVENTS = [line[6:].split(",")[0] for line in
          (ROOT / "grammar/native-events.def").read_text().splitlines()
          if line.startswith("EVENT(")]
PLAN = {"version": 1, "reads": True, "sensitive": [], "exclude": [],
        "rotate": {}, "required": False,
        "events": [{"name": e, "filters": [], "optional": True}
                   for e in EVENTS]}

EPERM, EBADF, EACCES, EISDIR, ENOSYS, ECONNREFUSED = 1, 9, 13, 21, 38, 111
OPEN = "security_file_open"
UNLINK = "security_inode_unlink"
CONNECT = "security_socket_connect"


# Calls that arm64 has no more: what its C library calls instead.
ARM64 = {"mkdir": "mkdirat", "chown": "fchownat"}


def call(machine, wanted):
    return ARM64.get(wanted, wanted) if machine == "aarch64" else wanted


def inet(port):
    return {"sa_family": "AF_INET", "sin_addr": "127.0.0.1",
            "sin_port": str(port)}


def table(d, secret):
    """(event, some of its arguments, what it returned)"""
    return [
        (OPEN, {"pathname": d + "/made", "flags": 0o1101 | 0,
                "syscall_pathname": "made"}, 0),
        (OPEN, {"pathname": d + "/made", "flags": 0}, 0),
        (OPEN, {"pathname": d + "/made", "flags": 2,
                "syscall_pathname": "./made"}, 0),
        (OPEN, {"pathname": d + "/folder"}, 0),
        (OPEN, {"pathname": d + "/folder/inner",
                "syscall_pathname": "inner"}, 0),
        (OPEN, {"pathname": d + "/folder", "flags": 1}, -EISDIR),
        (OPEN, {"pathname": d + "/by-thread"}, 0),
        (OPEN, {"pathname": secret}, -EACCES),
        ("mkdir", {"pathname": d + "/folder"}, 0),
        (UNLINK, {"pathname": d + "/folder/inner"}, 0),
        ("security_inode_rename", {"old_path": d + "/made",
                                   "new_path": d + "/folder/moved"}, 0),
        ("linkat", {"oldpath": d + "/folder/moved", "newpath": d + "/hard"},
         0),
        ("security_inode_symlink", {"linkpath": d + "/soft",
                                    "target": "folder/moved"}, 0),
        ("mkdirat", {"pathname": d + "/other"}, 0),
        ("mknodat", {"pathname": d + "/fifo"}, 0),
        ("fchmodat", {"pathname": d + "/hard", "mode": 0o640}, 0),
        ("truncate", {"path": d + "/hard", "length": 5}, 0),
        ("fchownat", {"pathname": d + "/hard", "owner": 1000}, 0),
        (UNLINK, {"pathname": d + "/hard"}, 0),
        (UNLINK, {"pathname": d + "/other"}, 0),
        ("security_socket_bind", {"local_addr": inet(4321)}, 0),
        ("security_socket_listen", {"local_addr": inet(4321), "backlog": 7},
         0),
        (CONNECT, {"remote_addr": inet(4321)}, 0),
        ("security_socket_accept", {"local_addr": inet(4321)}, None),
        (CONNECT, {"remote_addr": inet(4322)}, -ECONNREFUSED),
        ("security_socket_bind", {"local_addr": {
            "sa_family": "AF_UNIX", "sun_path": "folder/socket"}}, 0),
        ("sendto", {"dest_addr": inet(9998), "len": 1}, 1),
        ("sendmsg", {}, None),
        ("sendmmsg", {}, 2),
        ("net_packet_dns_request", {"dns_questions": [{
            "query": "first.test", "query_type": "A",
            "query_class": "IN"}]}, 0),
        ("net_packet_dns_request", {"dns_questions": [{
            "query": "second.test", "query_type": "A",
            "query_class": "IN"}]}, 0),
        ("mount", {"source": "none", "target": d + "/folder"}, -EPERM),
        ("umount2", {}, -EPERM),
        ("chroot", {"path": d + "/folder"}, -EPERM),
        ("ptrace", {"pid": 1}, None),
        ("bpf", {"cmd": 5}, -EPERM),
        ("init_module", {}, None),
        ("delete_module", {"name": "nosuch"}, None),
        ("setns", {"fd": -1}, -EBADF),
        ("unshare", {}, -EPERM),
        ("io_uring_setup", {}, None),
        ("chown", {"pathname": d + "/folder/moved"}, -EPERM),
        (OPEN, {"pathname": d + "/by-ring"}, 0),
        (OPEN, {"pathname": d + "/by-worker"}, 0),
        ("security_inode_rename", {"old_path": d + "/by-ring",
                                   "new_path": d + "/ring-moved"}, 0),
        (UNLINK, {"pathname": d + "/by-worker"}, 0),
        (CONNECT, {"remote_addr": inet(4323)}, None),
    ]


def hooked(d, machine):
    """What hooks alone see."""
    if machine != "x86_64":
        return []
    return [(OPEN, {"pathname": d + "/by-compat"}, 0)]


# Calls that failed for a capability, and for which one.
REFUSED = {("openat", 1), ("mount", 21), ("umount2", 21), ("chroot", 18),
           ("bpf", 21), ("init_module", 16), ("delete_module", 16),
           ("unshare", 21), ("sethostname", 21), ("chown", 0)}


def matches(entry, event):
    wanted_name, some, ret = entry
    have = args(event)
    return (name(event) == wanted_name and
            (ret is None or event["returnValue"] == ret) and
            all(have.get(k) == v for k, v in some.items()))


# Of every program that starts.
LIFE = ("sched_process_exec", "sched_process_exit", "sched_process_fork")


def judge_race(back_end, folder, found, machine):
    """Hooks tell the name that the kernel took, whatever it became since."""
    told = [sum(name(e) == call(machine, "mkdir") and e["returnValue"] == 0
                and args(e)["pathname"] == folder + "/race-" + c
                for e in found) for c in "ab"]
    made = [[int(n) for n in args(e)["pathname"].split("-")[-2:]]
            for e in found if name(e) == OPEN and
            "race-made" in args(e)["pathname"]]
    check(len(made) == 1 and sum(made[0]) == sum(told) == 200,
          back_end + ": folders made in a race", (made, told))
    if back_end != "sys_exit":
        check(made == [told], back_end + ": and under which name",
              (made, told))


def judge(back_end, folder, secret, found, capable,
          machine=os.uname().machine):
    check(("cap_capable" in args(found[0])["missing"]) != capable,
          back_end + ": what it cannot give", found[0])
    check(name(found[0]) == "membrane_start" and
          args(found[0])["back_end"] == back_end, back_end + ": the first line",
          found[0])
    check(name(found[-1]) == "membrane_end" and args(found[-1])["lost"] == 0,
          back_end + ": the last line", found[-1])
    found = found[1:-1]
    rest = [e for e in found if name(e) not in LIFE]
    if capable:
        refused = sorted((e["syscall"], args(e)["cap"]) for e in rest
                         if name(e) == "cap_capable")
        # A kernel without modules has nothing to refuse.
        there = {(call(machine, c), cap) for c, cap in REFUSED if not any(
            name(e) == c and e["returnValue"] == -ENOSYS for e in rest)}
        check(refused == sorted(there), back_end + ": capabilities refused",
              refused)
        rest = [e for e in rest if name(e) != "cap_capable"]
    judge_race(back_end, folder, rest, machine)
    rest = [e for e in rest if "race-" not in str(args(e))]
    ran = [e for e in found if name(e) == "sched_process_exec" and
           args(e)["argv"][1:] == ["exit", "7"]]
    ended = [e for e in found if name(e) == "sched_process_exit" and
             args(e)["exit_code"] == 7]
    check(len(ran) == len(ended) == 1, back_end + ": a program, and its end",
          (ran, ended))
    entries = [(call(machine, what), *more)
               for what, *more in table(folder, secret)]
    if back_end != "sys_exit":
        entries += hooked(folder, machine)
    for entry in entries:
        hits = [e for e in rest if matches(entry, e)]
        check(len(hits) == 1, "%s: once: %s" % (back_end, entry),
              hits or [(e["returnValue"], args(e)) for e in rest
                       if name(e) == entry[0]])
        rest = [e for e in rest if e not in hits]
    check(not rest, back_end + ": nothing else",
          [(name(e), e["returnValue"], args(e)) for e in rest])
