"""What a whole account demands of a trace, thread by thread, and whether the
trace is that."""
import collections
import struct

from account import ANY, Among
from semantics import EVENTS, NEW_PID, Event, Judge

SLACK_NS = 1000000  # the kernel's clock for programs is not the vDSO's
ARGV_MAX = 8191


def mended(text):
    """A byte that belongs to no character of UTF-8 is U+FFFD."""
    out, at = [], 0
    while at < len(text):
        try:
            out.append(text[at:].decode())
            break
        except UnicodeDecodeError as e:
            out.append(text[at:at + e.start].decode() + "\ufffd")
            at += e.start + 1
    return "".join(out)


def printed(value):
    """As a line has it."""
    if isinstance(value, bytes):
        return mended(value)
    if isinstance(value, Among):
        return Among(*map(printed, value.values))
    if isinstance(value, list):
        return [printed(v) for v in value]
    if type(value) is dict:
        return {k: printed(v) for k, v in value.items()}
    return value


class Process:
    """Its threads, of which one leads."""

    def __init__(self, key):
        self.key, self.alive = key, {key}
        self.ends = []  # of its threads


class History:
    """The demands of an account: self.of[thread] is a list of events."""

    def __init__(self, records, back_end="sys_exit"):
        self.judge = Judge(back_end)
        self.records = records
        self.of = collections.defaultdict(list)
        self.processes, self.ended, self.ringed = {}, set(), set()
        self.groups = []  # [events of exit]: of one is said that it is last
        for r in records:
            self.take(r)

    def process(self, key):
        if key not in self.processes:
            self.processes[key] = Process(key)
        return self.processes[key]

    def add(self, event):
        self.of[event.thread].append(event)

    def take(self, r):
        # A number is used again, once nobody has it.
        if not self.process(r.process).alive:
            self.process(r.process).alive = {r.process}
        if r.kind == "ACCOUNT_CALL" and r.call in ("execve", "execveat"):
            if r.ret == 0:
                self.program(r)
            else:
                for event in self.judge.no_program(r):
                    self.add(event)
        elif r.kind == "ACCOUNT_CALL":
            if r.call in ("clone", "clone3") and r.ret > 0:
                self.fork(r, r.ret, r.ret)
            if r.call == "io_uring_setup" and r.ret >= 0:
                self.ringed.add(r.process)
            for event in self.judge.events(r):
                self.add(event)
        elif r.kind == "ACCOUNT_FORK":
            self.fork(r, *r.args[:2])
        elif r.kind == "ACCOUNT_EXIT":
            self.end(r)
        elif r.kind == "ACCOUNT_BORN" and not r.at:
            self.first(r)

    def fork(self, r, tid, pid):
        flags = 0
        if r.call == "clone":
            flags = r.args[0]
        elif r.call == "clone3":
            flags = struct.unpack("<Q", r.one("ITEM_FLAGS"))[0]
        # It may have come to its end before its parent said so.
        if pid == r.pid and (r.pidns, tid) not in self.ended:
            self.process(r.process).alive.add((r.pidns, tid))
        if flags & NEW_PID:
            tid = pid = 1
        values = dict.fromkeys((a for a, _ in
                                EVENTS["sched_process_fork"][1]), ANY)
        values.update(parent_ns_tid=r.tid, parent_ns_pid=r.pid,
                      child_ns_tid=tid, child_ns_pid=pid,
                      parent_process_ns_tid=r.pid,
                      parent_process_ns_pid=r.pid, leader_ns_tid=pid,
                      leader_ns_pid=pid)
        self.add(Event(r, "sched_process_fork", 0, values, syscall="",
                       compat=ANY))

    def program(self, r):
        process = self.process(r.process)
        # Others end, and this one is the leader from now on.
        for thread in sorted(process.alive - {r.thread}):
            self.exit(r, thread, 0, 0, False)
        process.alive = {process.key}
        values = dict.fromkeys((a for a, _ in
                                EVENTS["sched_process_exec"][1]), ANY)
        path, script = self.names(r)
        dev, inode, mode = self.judge.file(r)
        found = r.one("ITEM_FOUND")
        if found.startswith(b"/memfd:"):
            dev = inode = mode = ANY
        values.update(
            cmdpath=path, pathname=found, dev=dev, inode=inode,
            inode_mode=mode, argv=self.words(r, path),
            interp=script[0] if script else path, ctime=0,
            interpreter_pathname=b"", interpreter_dev=0,
            interpreter_inode=0, interpreter_ctime=0, stdin_type=0,
            stdin_path=b"", invoked_from_kernel=False, prev_comm=b"",
            env=None, pwd=r.link(0xffff))
        event = Event(r, "sched_process_exec", 0, values, syscall="",
                      thread=process.key, comm=ANY, compat=ANY)
        self.add(event)

    def first(self, r):
        """What somebody else has started: the trace begins with it."""
        words = r.all("ITEM_ARGV")
        values = dict.fromkeys((a for a, _ in
                                EVENTS["sched_process_exec"][1]), ANY)
        values.update(cmdpath=words[0], pathname=words[0], argv=words,
                      pwd=r.link(0xffff))
        self.add(Event(r, "sched_process_exec", 0, values, syscall="",
                       compat=ANY))

    def names(self, r):
        """(what was asked for, [interpreter, its argument])"""
        path = r.one("ITEM_TEXT", 0)
        fd = r.args[0]
        if r.call == "execveat" and fd >= 0 and path[:1] != b"/":
            path = b"/dev/fd/%d" % fd + (b"/" + path if path else b"")
        script = r.one("ITEM_INTERP")
        return path, script.split(b" ", 1) if script else None

    def words(self, r, path):
        argv = [data for tag, _, data in r.items if tag == "ITEM_ARGV"]
        _, script = self.names(r)
        if script:
            argv = script + [path] + argv[1:]
        whole = b"".join(a + b"\0" for a in argv or [b""])[:ARGV_MAX]
        return (whole[:-1] if whole.endswith(b"\0") else whole).split(b"\0")

    def exit(self, r, thread, code, signal, last):
        event = Event(r, "sched_process_exit", 0, {
            "exit_code": code, "signal_code": signal,
            "process_group_exit": last}, syscall="", thread=thread,
            compat=ANY)
        if thread != r.thread:
            event.comm = event.record = None
        self.add(event)
        return event

    def end(self, r):
        process = self.process(r.process)
        how, what = r.args[:2]
        going = {r.thread} if how == 1 else set(process.alive)
        self.ended |= going if how == 1 else set()
        code, signal = (0, what) if how > 1 else (what & 0xff, 0)
        # One that has ended may be told of while the next one ends: which is
        # the last is not known. Nor where a ring had threads of its own.
        known = (process.alive == {r.thread} == going and not process.ends and
                 r.process not in self.ringed)
        process.ends += [self.exit(r, thread, code, signal, known or ANY)
                         for thread in sorted(going)]
        process.alive -= going
        if process.alive:
            return
        if len(process.ends) > 1 and r.process not in self.ringed:
            self.groups.append(process.ends)
        process.ends = []

    def events(self):
        return [e for each in self.of.values() for e in each]


# --- the trace ---------------------------------------------------------------

class Found:
    """A line of the trace."""

    def __init__(self, line):
        self.line = line
        self.name = line["eventName"]
        self.thread = line["pidNamespace"], line["threadId"]
        self.values = {a["name"]: a["value"] for a in line["args"]}

    def __str__(self):
        return "%s(%s) = %s in %s, by %s" % (self.name, ", ".join(
            "%s=%r" % v for v in self.values.items()),
            self.line["returnValue"], self.thread, self.line["syscall"])


def differences(event, found):
    """What is not as it has to be: [(field, wanted, have)]"""
    line, r = found.line, event.record
    number, args = EVENTS[event.name]
    wanted = {"eventName": event.name, "eventId": number,
              "returnValue": event.ret, "syscall": event.syscall,
              "argsNum": len(args), "containerId": "", "container": {},
              "hostName": "box", "stackAddresses": None}
    if r is not None:
        wanted.update(processId=r.pid, parentProcessId=r.ppid,
                      userId=r.uid)
        if event.name != "sched_process_exec":
            wanted.update(mountNamespace=r.mntns)
        if event.comm is not ANY and r.call not in ("unshare", "setns"):
            wanted.update(processName=mended(event.comm))
        if r.cpus[0] == r.cpus[1] and event.name not in (
                "sched_process_exec", "sched_process_exit"):
            wanted.update(processorId=r.cpus[0])
    if r is not None and r.call in ("unshare", "setns"):
        wanted.pop("mountNamespace")
    if event.name == "sched_process_exec":
        wanted.update(processId=event.thread[1])
    out = [(k, v, line.get(k)) for k, v in wanted.items()
           if not v == line.get(k)]
    if [(a["name"], a["type"]) for a in line["args"]] != args:
        out.append(("args", args, line["args"]))
    flags = {"containerStarted": True, "isCompat": event.compat}
    if not flags == line["contextFlags"]:
        out.append(("contextFlags", flags, line["contextFlags"]))
    for key, value in event.values.items():
        value = printed(value)
        if not value == found.values.get(key):
            out.append((key, value, found.values.get(key)))
    return out
