"""An account against a trace."""
import collections

from history import SLACK_NS, Found, differences

LIFE = {"sched_process_exit", "sched_process_exec", "sched_process_fork"}
# What the agent calls for its account, and may not do: no event, but a
# capability that it asked for.
WITNESS = {"readlink", "readlinkat", "newfstatat", "fstat", "getcwd", "stat",
           "lstat", "chdir", "fchdir", "access", "execve", "execveat",
           "io_uring_enter", "fallocate", "tgkill", "statx", "setrlimit",
           "faccessat2", "prlimit64", "ioctl", "setgid", "setuid"}
REFUSED = {-1, -13}
# Always refused to who has no capability, and for which.
NEEDS = {"mount": 21, "umount2": 21, "init_module": 16, "delete_module": 16,
         "fsopen": 21, "acct": 20, "iopl": 17, "chroot": 18}


class Comparison:
    def __init__(self, history, lines, taken=lambda event: True,
                 capable=True):
        self.history = history
        self.capable = capable
        self.problems = []
        self.found = [Found(line) for line in lines]
        if history.judge.hooked:
            self.found = [f for f in self.found if not self.is_several(f)]
        self.wanted = collections.defaultdict(list)
        for thread, events in history.of.items():
            for event in events:
                there = taken(event)
                if (history.judge.hooked and
                        event.name == "net_packet_dns_request" and any(
                            r.thread == thread and r.call == "sendmmsg"
                            for r in history.records)):
                    there = False
                event.optional = there is None or event.maybe
                if there is not False:
                    self.wanted[thread].append(event)
        self.pairs = []

    def is_several(self, f):
        """Of these the judge does not know what hooks see, nor what is asked
        by them."""
        r = next((r for r in self.history.records if r.thread == f.thread and
                  r.call == "sendmmsg"), None)
        return f.line["syscall"] == "sendmmsg" or (
            r is not None and f.name == "net_packet_dns_request")

    def problem(self, text):
        self.problems.append(text)

    def run(self, lossy=False):
        """What is wrong: texts. lossy: events may be missing."""
        by_thread = collections.defaultdict(list)
        for f in self.found:
            if f.name != "cap_capable" and not self.is_worker(f):
                by_thread[f.thread].append(f)
        missing = 0
        for thread in sorted(set(by_thread) | set(self.wanted)):
            missing += self.thread(self.wanted[thread], by_thread[thread],
                                   lossy)
        if not lossy:  # what is alike cannot be told apart
            self.times()
        self.order()
        self.hosts()
        self.last_ones()
        if self.capable:
            self.refusals()
        self.missing = missing
        return self.problems

    def is_worker(self, f):
        """The kernel's own threads for a ring end as others do."""
        return (f.name == "sched_process_exit" and
                f.line["processName"].startswith("iou-"))

    def thread(self, wanted, found, lossy):
        """One after the other; how many messages are missing."""
        i, missing, n = 0, 0, len(self.problems)
        for f in found:
            skipped = 0
            while i < len(wanted) and (lossy or wanted[i].optional) and (
                    wanted[i].name != f.name or differences(wanted[i], f)):
                skipped += wanted[i].is_first
                i += 1
            if i == len(wanted):
                self.problem("not wanted: %s" % f)
                return missing
            missing += skipped
            if wanted[i].name != f.name:
                self.problem("wanted: %s\n      of: %s\n      found: %s" % (
                    wanted[i], wanted[i].record, f))
                return missing
            for field in differences(wanted[i], f):
                self.problem("%s: %s wanted, %s found\n      in %s\n"
                             "      of %s" % (*map(str, field), f,
                                              wanted[i].record))
            if len(self.problems) > n + 3:
                return missing
            self.pairs.append((wanted[i], f))
            i += 1
        rest = [e for e in wanted[i:] if not e.optional]
        if rest and not lossy:
            self.problem("missing: %s\n      of: %s" % (rest[0],
                                                        rest[0].record))
        return missing + sum(e.is_first for e in rest)

    def times(self):
        """One clock for all, and never backwards in a thread."""
        lowest, highest = None, None
        for e, f in self.pairs:
            if e.record is None or e.name in LIFE:
                continue
            stamp = f.line["timestamp"]
            low = stamp - e.record.after, f
            high = stamp - e.record.before, f
            lowest = max(lowest or low, low, key=lambda x: x[0])
            highest = min(highest or high, high, key=lambda x: x[0])
        if lowest and lowest[0] > highest[0] + SLACK_NS:
            self.problem("times apart by %d ns: %s and %s" % (
                lowest[0] - highest[0], lowest[1], highest[1]))
        self.offset = lowest[0] if lowest else None

    def order(self):
        last = {}
        for f in self.found:
            key, stamp = f.line["hostThreadId"], f.line["timestamp"]
            if last.get(key, 0) > stamp:
                self.problem("a time before the last one: %s" % f)
            last[key] = stamp

    def hosts(self):
        """The numbers that the agent does not see: always the same."""
        of = {}
        home = self.history.records[0].pidns
        for e, f in self.pairs:
            line = f.line
            start = line["threadStartTime"]
            one = [((*f.thread, start), line["hostThreadId"]),
                   (line["hostThreadId"], start)]
            # Namespaces, and the numbers in them, are used again.
            if f.thread[0] == home:
                one.append(((home, line["processId"]), line["hostProcessId"]))
            # Who runs another program takes the place of the leader.
            for key, value in one * (e.name not in LIFE):
                if of.setdefault(key, value) != value:
                    self.problem("not %s on the host: %s" % (of[key], f))
        for e, f in self.pairs:
            if e.name == "sched_process_fork":
                self.fork(f, of)

    def fork(self, f, of):
        line, v = f.line, f.values
        for a, b in (("parent_tid", line["hostThreadId"]),
                     ("parent_pid", line["hostProcessId"]),
                     ("parent_process_tid", line["hostProcessId"]),
                     ("parent_process_pid", line["hostProcessId"]),
                     ("parent_start_time", line["threadStartTime"]),
                     ("leader_tid", v["child_pid"]),
                     ("leader_pid", v["child_pid"])):
            if v[a] != b:
                self.problem("%s is not %s: %s" % (a, b, f))
        child, start = v["child_tid"], v["start_time"]
        if of.get(child, start) != start:
            self.problem("the child's start is %d: %s" % (of[child], f))
        there = of.get((f.thread[0], v["child_ns_tid"], start), child)
        if there != child:
            self.problem("the child is %d on the host: %s" % (there, f))

    def last_ones(self):
        """Of the threads of a process exactly one is the last."""
        told = {id(e): f for e, f in self.pairs}
        for group in self.history.groups:
            of = [told[id(e)] for e in group if id(e) in told]
            if len(of) == len(group) and sum(
                    f.values["process_group_exit"] for f in of) != 1:
                self.problem("which was the last thread? %s" % "\n".join(
                    map(str, of)))

    # --- capabilities

    def refusals(self):
        calls = collections.defaultdict(list)
        for r in self.history.records:
            if r.kind == "ACCOUNT_CALL" and r.ret in REFUSED:
                calls[r.thread].append(r)
        told = collections.defaultdict(list)
        for f in self.found:
            if f.name == "cap_capable":
                told[f.thread].append(f)
        for thread, found in told.items():
            for f in found:
                self.refusal(f, calls[thread])
        for thread in calls:
            for r in calls[thread]:
                if r.call in NEEDS and r.ret == -1 and not getattr(
                        r, "cap", None) and r.mntns == self.history.records[
                            0].mntns and self.complete:
                    self.problem("no capability is told of: %s" % r)

    complete = True

    def refusal(self, f, calls):
        if f.line["syscall"] in WITNESS:
            return
        for r in calls:
            if (self.offset is not None and r.before - SLACK_NS <=
                    f.line["timestamp"] - self.offset <= r.after + SLACK_NS
                    and f.line["syscall"] in (r.call, "io_uring_enter") and
                    r.ret == f.line["returnValue"] and
                    not hasattr(r, "cap")):
                r.cap = f.values["cap"]
                if r.ret == -1 and NEEDS.get(r.call, r.cap) != r.cap:
                    self.problem("capability %d: %s" % (NEEDS[r.call], f))
                return
        self.problem("no call was refused: %s %s" % (f.line["syscall"], f))
