"""What the agent in tests/guest does, and what a trace holds of it: one table
for all back ends."""
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
                    *HERE.glob("*.c"), "-lpthread"], check=True)


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

EPERM, EBADF, EACCES, EISDIR, ENOSYS, ENOTEMPTY, ECONNREFUSED = (
    1, 9, 13, 21, 38, 39, 111)
OPEN = "security_file_open"
UNLINK = "security_inode_unlink"
CONNECT = "security_socket_connect"


# Calls that arm64 has no more: what its C library calls instead, if anything.
ARM64 = {"mkdir": "mkdirat", "chown": "fchownat", "iopl": None,
         "ioperm": None}


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
        ("sendmsg", {"dest_addr": inet(9997)}, None),
        ("sendmmsg", {"dest_addr": inet(53)}, 2),
        ("net_packet_dns_request", {"dns_questions": [{
            "query": "first.test", "query_type": "A",
            "query_class": "IN"}]}, 0),
        ("net_packet_dns_request", {"dns_questions": [{
            "query": "second.test", "query_type": "A",
            "query_class": "IN"}]}, 0),
        ("execve", {"pathname": d + "/folder", "argv": None, "envp": None},
         -EACCES),
        ("execveat", {"pathname": d + "/folder"}, -EACCES),
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


def ways(d, exe):
    """What tests/guest/ways.c does."""
    return [
        ("mkdirat", {"pathname": d + "/by-wide"}, 0),
        (OPEN, {"syscall_pathname": "."}, None),
        (OPEN, {"pathname": d + "/by-ways"}, 0),
        ("fchmodat", {"pathname": d + "/by-ways", "mode": 0o611}, None),
        (OPEN, {"pathname": exe, "flags": 0}, 0),
        ("memfd_create", {"name": "copy"}, None),
        # Of several messages in one call those to one address are one event.
        ("sendmmsg", {"vlen": 4, "dest_addr": inet(9971)}, 1),
        ("sendmmsg", {"vlen": 4, "dest_addr": inet(9972)}, 1),
        ("sendmmsg", {"vlen": 4, "dest_addr": inet(9973)}, 4),
        (CONNECT, {"type": 2, "remote_addr": inet(9974)}, 0),
        (CONNECT, {"type": 2, "remote_addr": {"sa_family": "AF_UNSPEC"}}, 0),
        ("security_socket_bind", {"local_addr": inet(4341)}, 0),
        ("security_socket_listen", {"local_addr": inet(4341)}, 0),
        (CONNECT, {"type": 1, "remote_addr": inet(4341)}, 0),
        (CONNECT, {"type": 1, "remote_addr": inet(4342)}, -ECONNREFUSED),
        ("fsopen", {"fsname": "tmpfs"}, -EPERM),
        ("fsconfig", {"key": "ro"}, None),
        ("fspick", {"pathname": d + "/folder"}, -EPERM),
        ("fsmount", {}, -EPERM),
        ("open_tree", {"filename": d + "/folder"}, None),
        ("move_mount", {"to_path": d + "/folder"}, -EPERM),
        ("mount_setattr", {"path": d + "/folder"}, -EPERM),
        ("clone", {}, -EPERM),
        ("clone3", {}, -EPERM),
        ("pidfd_getfd", {"pidfd": -1}, -EBADF),
        ("acct", {"filename": d + "/by-ways"}, None),
        ("swapon", {"path": d + "/by-ways"}, None),
        ("swapoff", {"path": d + "/by-ways"}, None),
        ("reboot", {"cmd": -1985229329}, -EPERM),
        ("iopl", {"level": 3}, None),
        ("ioperm", {"from": 128}, None),
        ("add_key", {"description": "a-key"}, None),
        ("request_key", {"description": "no-key"}, None),
        ("keyctl", {"operation": 119}, None),
        ("quotactl", {"special": "by-ways"}, None),
    ]


def compat(d):
    """What tests/guest/compat.c does, of which nothing may be missing."""
    hard = d + "/compat/hard"
    return [
        (OPEN, {"pathname": d + "/by-compat", "flags": 0o102,
                "syscall_pathname": "by-compat"}, 0),
        ("mkdir", {"pathname": d + "/compat"}, 0),
        (OPEN, {"pathname": d + "/compat/in", "flags": 0o101}, 0),
        (OPEN, {"pathname": d + "/compat/in", "flags": 0}, 0),
        (OPEN, {"pathname": d + "/compat/other", "flags": 0o1101}, 0),
        ("fchmod", {"mode": 0o640}, 0),
        ("ftruncate", {"length": 7}, 0),
        ("security_inode_rename", {"old_path": d + "/compat/in",
                                   "new_path": d + "/compat/moved"}, 0),
        ("link", {"oldpath": d + "/compat/moved", "newpath": hard}, 0),
        ("security_inode_symlink", {"linkpath": d + "/compat/soft",
                                    "target": "compat/moved"}, 0),
        ("mknod", {"pathname": d + "/compat/fifo"}, 0),
        ("chmod", {"pathname": hard, "mode": 0o604}, 0),
        ("chown", {"pathname": hard, "owner": -1, "group": 1000}, 0),
        ("chown", {"pathname": hard, "owner": 1000, "group": -1}, 0),
        ("truncate", {"path": hard, "length": (1 << 32) + 5}, None),
        (UNLINK, {"pathname": d + "/compat/soft"}, 0),
        (UNLINK, {"pathname": hard}, 0),
        ("rmdir", {"pathname": d + "/compat"}, -ENOTEMPTY),
        ("security_socket_bind", {"local_addr": inet(4331)}, 0),
        ("security_socket_listen", {"local_addr": inet(4331), "backlog": 9},
         0),
        (CONNECT, {"type": 1, "remote_addr": inet(4331)}, 0),
        ("security_socket_accept", {"local_addr": inet(4331)}, None),
        (CONNECT, {"remote_addr": inet(4332)}, -ECONNREFUSED),
        ("sendto", {"dest_addr": inet(9981), "len": 1}, 1),
        ("sendmsg", {"dest_addr": inet(53)}, 29),
        ("net_packet_dns_request", {"dns_questions": [{
            "query": "narrow.test", "query_type": "A",
            "query_class": "IN"}]}, 0),
        ("sendmmsg", {"vlen": 3, "dest_addr": inet(9982)}, 1),
        ("sendmmsg", {"vlen": 3, "dest_addr": inet(9983)}, 1),
        ("sendmmsg", {"vlen": 3, "dest_addr": inet(9984)}, 3),
        ("mount", {"source": "none", "target": d + "/folder"}, -EPERM),
        ("umount2", {"target": d + "/folder", "flags": 0}, -EPERM),
        ("ptrace", {"request": 16, "pid": 0x3ffffe}, None),
    ]


def ring(d, worked, hooked):
    """What tests/guest/uring.c does on this kernel; worked: letters for what
    not every kernel does."""
    done = [
        ("io_uring_setup", {}, None),
        ("io_uring_setup", {}, None),
        (OPEN, {"pathname": d + "/ring-two", "flags": 0o101}, 0),
        ("linkat", {"oldpath": d + "/ring-two",
                    "newpath": d + "/ring-hard"}, 0),
        ("security_inode_symlink", {"linkpath": d + "/ring-soft",
                                    "target": "ring-two"}, 0),
        ("mkdirat", {"pathname": d + "/ring-folder"}, 0),
        ("sendmsg", {"dest_addr": inet(9961)}, None),
        (CONNECT, {"type": 1, "remote_addr": inet(4352)}, None),
        ("security_socket_bind", {"local_addr": inet(4353)}, 0),
        ("security_socket_listen", {"local_addr": inet(4353)}, 0),
        (CONNECT, {"remote_addr": inet(4353)}, 0),
        (CONNECT, {"remote_addr": inet(4353)}, 0),
        ("security_socket_accept", {"local_addr": inet(4353)}, None),
        ("security_socket_accept", {"local_addr": inet(4353)}, None),
    ]
    some = {
        "t": ("linkat", {"newpath": d + "/by-tmpfile"}, 0),
        "p": (OPEN, {"pathname": d + "/by-poller"}, 0),
        "m": ("sendmsg", {"dest_addr": inet(9962)}, None),
        "z": ("sendmsg", {"dest_addr": inet(9963)}, None),
        "b": ("security_socket_bind", {"local_addr": inet(4351)}, 0),
        "l": ("security_socket_listen", {"backlog": 6}, 0),
    }
    if not hooked:
        some["f"] = ("ftruncate", {"length": 9}, 0)
    return done + [some[c] for c in worked if c in some]


# Calls that failed for a capability, and for which one.
REFUSED = {("openat", 1), ("mount", 21), ("umount2", 21), ("chroot", 18),
           ("bpf", 21), ("init_module", 16), ("delete_module", 16),
           ("unshare", 21), ("sethostname", 21), ("chown", 0),
           ("fsopen", 21), ("fspick", 21), ("fsmount", 21),
           ("move_mount", 21), ("mount_setattr", 21), ("clone", 21),
           ("clone3", 21), ("acct", 20), ("swapon", 21), ("swapoff", 21),
           ("reboot", 22), ("iopl", 17), ("ioperm", 17)}
COMPAT_REFUSED = [("mount", 21), ("umount2", 21)]


def matches(entry, event):
    wanted_name, some, ret = entry
    have = args(event)
    return (name(event) == wanted_name and
            (ret is None or event["returnValue"] == ret) and
            all(have.get(k) == v for k, v in some.items()))


# Of every program that starts.
LIFE = ("sched_process_exec", "sched_process_exit", "sched_process_fork")


def numbers_of(found, word):
    """Those that the agent wrote into the name of a file: word-1-2."""
    return [[int(n) for n in args(e)["pathname"].split("-")[-2:]]
            for e in found if name(e) == OPEN and
            "/" + word in args(e)["pathname"]]


def judge_races(back_end, folder, found, machine):
    """Hooks tell the name that the kernel took, whatever it became since; and
    all tell where a connection went. What is left of the events."""
    told = [sum(name(e) == call(machine, "mkdir") and e["returnValue"] == 0
                and args(e)["pathname"] == folder + "/race-" + c
                for e in found) for c in "ab"]
    made = numbers_of(found, "race-made")
    check(len(made) == 1 and sum(made[0]) == sum(told) == 200,
          back_end + ": folders made in a race", (made, told))
    if back_end != "sys_exit":
        check(made == [told], back_end + ": and under which name",
              (made, told))
    told = [sum(name(e) == CONNECT and e["returnValue"] == 0 and
                args(e)["remote_addr"] == inet(port) for e in found)
            for port in (4361, 4362)]
    came = numbers_of(found, "joined")
    check(came == [told] and sum(told) == 200,
          back_end + ": where connections went in a race", (came, told))
    opened = [e for e in found if name(e) == OPEN and
              args(e)["pathname"] == folder + "/raced-open"]
    check(len(opened) == 500 and not any(e["returnValue"] for e in opened),
          back_end + ": files that were closed at once", len(opened))
    return [e for e in found if not any(
        w in str(args(e)) for w in ("race-", "raced-", "joined-", "'4361'",
                                    "'4362'"))]


def judge_programs(back_end, found):
    """By exec, from memory, from a thread, after vfork: once each."""
    for status in (7, 8, 9, 10):
        ran = [e for e in found if name(e) == "sched_process_exec" and
               args(e)["argv"][1:] == ["exit", str(status)]]
        ended = [e for e in found if name(e) == "sched_process_exit" and
                 args(e)["exit_code"] == status]
        check(len(ran) == len(ended) == 1,
              "%s: program %d, and its end" % (back_end, status),
              (ran, ended))
        check(status != 8 or args(ran[0])["pathname"] == "/memfd:copy",
              back_end + ": a program in memory", ran)


def judge_refusals(back_end, found, has_compat, machine):
    refused = sorted((e["syscall"], args(e)["cap"]) for e in found
                     if name(e) == "cap_capable")
    # A kernel without modules has nothing to refuse.
    there = [(call(machine, c), cap) for c, cap in REFUSED
             if call(machine, c) and not any(
                 name(e) == c and e["returnValue"] == -ENOSYS
                 for e in found)]
    check(refused == sorted(there + has_compat * COMPAT_REFUSED),
          back_end + ": capabilities refused", refused)


def judge_table(back_end, entries, rest):
    for entry in entries:
        wanted = entries.count(entry)
        hits = [e for e in rest if matches(entry, e)]
        check(len(hits) == wanted or hits == [] and wanted > 1,
              "%s: once: %s" % (back_end, entry),
              hits or [(e["returnValue"], args(e)) for e in rest
                       if name(e) == entry[0]])
        rest = [e for e in rest if e not in hits]
    check(not rest, back_end + ": nothing else",
          [(name(e), e["returnValue"], args(e)) for e in rest])


def judge(back_end, folder, secret, found, capable,
          machine=os.uname().machine):
    check(("cap_capable" in args(found[0])["missing"]) != capable,
          back_end + ": what it cannot give", found[0])
    check(name(found[0]) == "membrane_start" and
          args(found[0])["back_end"] == back_end, back_end + ": the first line",
          found[0])
    check(name(found[-1]) == "membrane_end" and args(found[-1])["lost"] == 0,
          back_end + ": the last line", found[-1])
    exe = args(found[1])["pathname"]
    found = found[1:-1]
    judge_programs(back_end, found)
    rest = [e for e in found if name(e) not in LIFE]
    has_compat = any(args(e).get("pathname") == folder + "/compat-is-there"
                     for e in rest)
    if capable:
        judge_refusals(back_end, rest, has_compat, machine)
        rest = [e for e in rest if name(e) != "cap_capable"]
    rest = judge_races(back_end, folder, rest, machine)
    worked = next(args(e)["pathname"] for e in rest if name(e) == OPEN and
                  "/worked-" in args(e)["pathname"])
    # A ring asks once more, and has to wait: some kernels, with hooks.
    asked = [e for e in rest if name(e) == "security_socket_accept" and
             args(e)["local_addr"] == inet(4353)]
    if back_end != "sys_exit" and len(asked) == 3:
        rest.remove(asked[-1])
    letters = worked.split("-")[-1]
    entries = [(call(machine, what), *more) for what, *more in
               table(folder, secret) + ways(folder, exe) if
               call(machine, what)]
    entries += ring(folder, letters, back_end != "sys_exit")
    entries += [(OPEN, {"pathname": worked}, 0)]
    if machine == "x86_64":
        entries += [("mkdirat", {"pathname": folder + "/by-x32"},
                     0 if "x" in letters else -ENOSYS)]
    narrow = [e for e in rest if e["contextFlags"]["isCompat"] and
              args(e).get("pathname") != folder + "/by-x32"]
    if has_compat:
        judge_table(back_end + ", 32 bits", compat(folder), narrow)
        entries += [(OPEN, {"pathname": folder + "/compat-is-there"}, 0)]
    judge_table(back_end, entries, [e for e in rest if e not in narrow])
