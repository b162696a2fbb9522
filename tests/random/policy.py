"""Policies that nobody has thought of, and which events they take: Tracee's
filters as doc/trace.md and its documentation have them."""
import re

from account import ANY, Among
from semantics import EVENTS, ROOT

# All that the tracer can record, by the table that the compiler reads, too.
EVERY = re.findall(r"^EVENT\((\w+),",
                   (ROOT / "grammar/native-events.def").read_text(), re.M)

# What is made of what others send, or by somebody else.
MADE = {"net_packet_dns_request", "net_packet_dns_response", "cap_capable"}
LIFE = ("sched_process_exec", "sched_process_fork", "sched_process_exit")
# A ring does them, too, and has no numbers of that kind.
RINGED = ("mkdirat", "linkat")
FIELDS = ("comm", "processName", "uid", "userId", "p", "pid", "tid",
          "threadId", "ppid", "syscall", "retval")
NAMES = ("a", "*a", "a*", "*made*", "*/b", "*dir/*", "/proc/*", "*\"*", "worker",
         "*bytes!!", "*\n*", "openat", "open*", "*at", "connect")
NUMBERS = (-22, -17, -13, -1, 0, 1, 2, 7, 9, 12, 577, 1000, 2112)


def random_filter(rng, event):
    texts = [a for a, kind in EVENTS[event][1] if kind == "string"]
    numbers = [a for a, kind in EVENTS[event][1] if kind in (
        "int32", "int64") and event not in RINGED]
    field = rng.choice(FIELDS)
    if rng.random() < 0.5 and texts + numbers:
        field = "data." + rng.choice(texts + numbers)
    if field in ("comm", "processName", "syscall") or field[5:] in texts:
        values = rng.sample(NAMES, rng.randint(1, 3))
        return field + rng.choice(("=", "!=")) + ",".join(values)
    values = map(str, rng.sample(NUMBERS, rng.randint(1, 2)))
    ops = ("=", "!=") if field.startswith("data.") else (
        "=", "!=", "<", ">", "<=", ">=")
    return field + rng.choice(ops) + ",".join(values)


def random_policy(rng, folder):
    """(trace.json, what it takes)"""
    names = [e for e in EVERY if e not in MADE]
    chosen = rng.sample(names, rng.randint(3, len(names)))
    events = []
    for name in chosen:
        filters = []
        if name not in LIFE:
            for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
                filters.append(random_filter(rng, name))
        events.append({"name": name, "filters": filters})
    plan = {"version": 1, "reads": rng.random() < 0.5, "rotate": {},
            "sensitive": rng.sample(("a", "b", "made", "link", ".hidden"), 2),
            "exclude": rng.sample(("/proc", folder + "/w2", folder + "/w1/x",
                                   folder + "/w5/x/y/z/a"), rng.randint(0, 2)),
            "required": False, "events": events}
    return plan, Policy(plan)


class Undecided(Exception):
    """By a value that the judge does not know."""


class Policy:
    """takes(): None where nobody can say."""

    def __init__(self, plan):
        self.events = {e["name"]: [parse(f) for f in e["filters"]]
                       for e in plan["events"]}
        self.exclude = [p.encode() for p in plan["exclude"]]
        self.reads = plan["reads"]
        self.sensitive = [n.encode() for n in plan["sensitive"]]

    def takes(self, event):
        if event.name not in self.events or self.is_read(event):
            return False
        path = event.values.get("pathname")
        if isinstance(path, bytes) and event.name != "sched_process_exec":
            if any(path == d or path.startswith(d + b"/")
                   for d in self.exclude):
                return False
        try:
            return holds(self.events[event.name], event)
        except Undecided:
            return None

    def is_read(self, event):
        """A file that was opened to be read alone, of no name that counts."""
        return not self.reads and event.reads and (
            event.leaf not in self.sensitive)


def parse(text):
    field, op, values = re.fullmatch(r"([^=!<>]+)(!=|<=|>=|=|<|>)(.*)", text,
                                     re.S).groups()
    return SAME.get(field, field), op, values.split(",")


# Two names of one field.
SAME = {"processName": "comm", "userId": "uid", "p": "pid",
        "threadId": "tid"}


def value_of(event, field):
    r = event.record
    if field.startswith("data."):
        return event.values.get(field[5:])
    return {"comm": event.comm, "uid": r.uid, "pid": r.pid, "tid": r.tid,
            "ppid": r.ppid, "syscall": event.syscall.encode(),
            "retval": event.ret}[field]


def text_fits(pattern, text):
    begins, ends = pattern[:1] == b"*", pattern[-1:] == b"*"
    core = pattern.strip(b"*")
    if begins and ends:
        return core in text
    if begins:
        return text.endswith(core)
    return text.startswith(core) if ends else text == core


def fits(op, want, value):
    if isinstance(value, bytes):
        return text_fits(want.encode(), value)
    if not isinstance(value, int) or not re.fullmatch(r"-?[0-9]+", want):
        return False
    want = int(want)
    return {"=": value == want, "!=": value == want, "<": value < want,
            ">": value > want, "<=": value <= want, ">=": value >= want}[op]


def holds(filters, event):
    """Several '=' of one field are alternatives, all else must hold."""
    def matches(one):
        field, op, values = one
        have = value_of(event, field)
        if have is ANY or isinstance(have, Among):
            raise Undecided
        return any(fits(op, v, have) for v in values)

    for one in filters:
        field, op, _ = one
        if op == "=":
            if not any(matches(o) for o in filters if o[:2] == one[:2]):
                return False
        elif matches(one) == (op == "!="):
            return False
    return True
