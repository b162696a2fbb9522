#!/usr/bin/python3
"""What stands in for Tracee in tests/live: /tracee/tracee of an image that is
named like its own.

It is no tracer. It does by its source (releases 0.20 to 0.24) what the
launcher relies on: which flags there are and which it refuses, how it reads a
policy, what it needs to start, its log lines, its signal, its records. Its
records are of real processes of real containers, found by polling /proc, so
it misses what is short. behaviour.json beside it says what shall go wrong.
"""
import csv
import json
import os
import re
import signal
import sys
import time
import zlib

HERE = os.path.dirname(os.path.realpath(__file__))
CAPS = {"IPC_LOCK": 14, "NET_ADMIN": 12, "SETPCAP": 8, "SYSLOG": 34,
        "SYS_ADMIN": 21, "SYS_PTRACE": 19, "SYS_RESOURCE": 24}
# cmd/tracee/cmd/root.go; True: takes a value. Cobra knows no other.
FLAGS = {"scope": True, "events": True, "policy": True, "output": True,
         "capture": True, "config": True, "signatures-dir": True,
         "perf-buffer-size": True, "blob-perf-buffer-size": True,
         "proctree": True, "dnscache": True, "capabilities": True,
         "install-path": True, "log": True}
SHORT = {"s": "scope", "e": "events", "p": "policy", "o": "output",
         "c": "capture", "l": "log"}
OLD = {"no-containers": False, "cri": True, "healthz": False,
       "metrics": False, "http-listen-addr": True, "cache": True}
NEW = {"containers": True, "server": True}
POLL_S = 0.005
with open(HERE + "/behaviour.json", encoding="utf-8") as f:
    DO = json.load(f)
RELEASE = DO.get("release", "0.24.1")


def log(level, message, **fields):
    print(json.dumps({"L": level, "T": time.strftime("%FT%TZ"),
                      "M": message, **fields}), file=sys.stderr, flush=True)


def stop(text, status=1):
    print("Error: %s" % text, file=sys.stderr, flush=True)
    sys.exit(status)


def number(release):
    a, b, c = map(int, release.split("."))
    return a * 10000 + b * 100 + c


# --- the command line --------------------------------------------------------

def parse(argv):
    known = {**FLAGS, **(OLD if number(RELEASE) < 2400 else NEW)}
    given, words = {}, list(argv)
    while words:
        word = words.pop(0)
        if word.startswith("--"):
            name, has, value = word[2:].partition("=")
            if name not in known:
                stop("unknown flag: --%s" % name)
        elif word.startswith("-") and word[1:2] in SHORT:
            name, has, value = SHORT[word[1]], len(word) > 2, word[2:]
        elif word.startswith("-"):
            stop("unknown shorthand flag: %r in %s" % (word[1:2], word))
        else:
            stop("unknown command %r for \"tracee\"" % word)
        if known[name] and not has:
            if not words:
                stop("flag needs an argument: --%s" % name)
            value = words.pop(0)
        given.setdefault(name, []).append(value)
    if "policy" in given and ("scope" in given or "events" in given):
        stop("policy and scope flags cannot be used together")
    for value in given.get("containers", []):
        if value not in ("enrich=true", "enrich=false"):
            stop("unknown container flag: %s" % value)
    for value in given.get("log", []):
        if value not in ("debug", "info", "warn", "error", "fatal"):
            stop("invalid log option: %s" % value)
    if given.get("output") != ["json"]:
        stop("this stand-in writes json alone: %s" % given.get("output"))
    return given


# --- the policy --------------------------------------------------------------

def scalar(text):
    if text.startswith('"'):
        return json.loads(text)
    if not re.fullmatch(r"[^\s#:{}\[\],&*!|>'\"%@`-][^#{}\[\],&*!|>'\"%@`]*",
                        text):
        stop("yaml: a plain scalar that is none: %r" % text)
    return text


def block(lines, depth):
    """A block mapping or sequence of the lines at this depth."""
    out = None
    while lines and (len(lines[0]) - len(lines[0].lstrip(" ")) == depth):
        line = lines[0][depth:]
        if line.startswith("- "):
            out = [] if out is None else out
            if re.match(r"- [A-Za-z]+:( |$)", line):
                lines[0] = " " * (depth + 2) + line[2:]
                out.append(block(lines, depth + 2))
            else:
                lines.pop(0)
                out.append(scalar(line[2:]))
            continue
        if isinstance(out, list):
            return out   # a sequence may stand at its key's own depth
        m = re.fullmatch(r"([A-Za-z]+):(?: (.+))?", line)
        if not m:
            stop("yaml: %r" % line)
        out = {} if out is None else out
        if m[1] in out:
            stop("yaml: mapping key %r already defined" % m[1])
        lines.pop(0)
        if m[2]:
            out[m[1]] = scalar(m[2])
            continue
        under = len(lines[0]) - len(lines[0].lstrip(" ")) if lines else -1
        is_list = lines and lines[0].lstrip(" ").startswith("- ")
        if under < depth + (0 if is_list else 1):
            stop("yaml: nothing under %r" % m[1])
        out[m[1]] = block(lines, under)
    return out


def only(what, keys, place):
    extra = set(what) - set(keys)
    if extra:
        stop("policy: unknown field %s in %s" % (sorted(extra), place))


def schema():
    events = {}
    with open(HERE + "/events.tsv", encoding="utf-8", newline="") as f:
        for row in csv.DictReader(f, delimiter="\t"):
            def release(text, otherwise):
                text = text.lstrip("<=")
                return number(text) if text else otherwise
            if release(row["since"], 0) <= number(RELEASE) <= \
                    release(row["last_seen"], 99999):
                events.setdefault(row["event"], set()).add(row["arg"])
    return events


def check_filter(name, text, fields):
    m = re.fullmatch(r"([A-Za-z_.]+)(=|!=|<=|>=|<|>)(.+)", text)
    if not m:
        stop("policy: invalid filter operator: %s" % text)
    prefix, _, field = m[1].partition(".")
    if prefix in ("data", "args"):
        if prefix == "data" and number(RELEASE) < 2200:
            stop("policy: invalid filter: %s" % text)
        if field not in fields:
            stop("policy: event %s does not have data %s" % (name, field))
        if m[2] not in ("=", "!="):
            stop("policy: invalid filter operator: %s" % text)


def read_policy(path):
    with open(path, encoding="utf-8") as f:
        lines = [line for line in f.read().split("\n") if line.strip()]
    p = block(lines, 0)
    if lines:
        stop("yaml: %r" % lines[0])
    only(p, ("apiVersion", "kind", "metadata", "spec"), "policy")
    if p["apiVersion"] != "tracee.aquasec.com/v1beta1":
        stop("policy: apiVersion not supported")
    if p["kind"] != "Policy":
        stop("policy: kind not supported")
    if not re.fullmatch(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?",
                        p["metadata"]["name"]):
        stop("policy: invalid name")
    only(p["spec"], ("scope", "defaultActions", "rules"), "spec")
    if p["spec"]["scope"] != ["container=new"]:
        stop("this stand-in knows container=new alone")
    known, rules = schema(), {}
    for rule in p["spec"]["rules"]:
        only(rule, ("event", "filters", "actions"), "rule")
        name = rule["event"]
        if name not in known:
            stop("policy: event %s is not valid" % name)
        if name in rules:
            stop("policy: event %s is duplicated" % name)
        for text in rule.get("filters", []):
            check_filter(name, text, known[name])
        rules[name] = rule.get("filters", [])
    return p["metadata"]["name"], rules


# --- what it needs -----------------------------------------------------------

def check_rights():
    status = open("/proc/self/status", encoding="ascii").read()
    have = int(re.search(r"CapPrm:\s*([0-9a-f]+)", status)[1], 16)
    for name, bit in CAPS.items():
        if name in DO["caps"] and not have >> bit & 1:
            log("FATAL", "Tracee runner failed",
                error="could not set capabilities: %s" % name)
            sys.exit(1)
    # it looks at all processes of the host, and at cgroups from their root
    seen = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            seen.add(os.readlink("/proc/%s/ns/mnt" % pid))
        except OSError:   # gone, or a thread of the kernel
            continue
    if len(seen) < 2:
        stop("no other process can be looked at")
    with open("/proc/self/cgroup", encoding="ascii") as f:
        if not any(container_of(line.strip()) for line in f):
            log("WARN", "Cgroup mountpoint is not in the host cgroup namespace")
    os.makedirs("/tmp/tracee", 0o755)
    with open("/tmp/tracee/tracee.pid", "w", encoding="ascii") as f:
        f.write("%d\n" % os.getpid())
    if not os.path.exists(os.environ.get("LIBBPFGO_OSRELEASE_FILE", "")):
        log("DEBUG", "OSInfo", **{
            "warning: os-release file could not be found": ""})


# --- records -----------------------------------------------------------------

def container_of(path):
    """containers.go: the innermost id of a cgroup's path."""
    for part in reversed(path.split("/")):
        part = part.removesuffix(".scope")
        part = re.sub("^(docker|crio|cri-containerd|libpod)-", "", part)
        if re.fullmatch("[0-9a-fA-F]{64}", part):
            return part
    return ""


def cgroup_of(pid):
    """(path, number) of its cgroup. Here the number is made up of the path:
    to see the directory whose inode it is, Tracee mounts cgroup v1 itself."""
    with open("/proc/%d/cgroup" % pid, encoding="utf-8") as f:
        for line in f:
            at, names, path = line.rstrip("\n").split(":", 2)
            if at == "0" or "cpuset" in names.split(","):
                return path, zlib.crc32(path.encode())
    return "", 0


class Records:
    def __init__(self, policy, rules):
        self.policy, self.rules = policy, rules
        self.out = sys.stdout.buffer
        self.agent, self.cgroup = "", 0

    def write(self, name, args, pid=0, container="", cgroup=0, comm=""):
        if name not in self.rules:
            return
        now = time.time_ns()
        record = {
            "timestamp": now, "threadStartTime": now, "processorId": 0,
            "processId": pid, "cgroupId": cgroup, "threadId": pid,
            "parentProcessId": 0, "hostProcessId": pid, "hostThreadId": pid,
            "hostParentProcessId": 1, "userId": 0, "mountNamespace": 1,
            "pidNamespace": 1, "processName": comm[:15],
            "executable": {"path": ""}, "hostName": "membrane",
            "containerId": container,
            "container": {"id": container} if container else {},
            "kubernetes": {}, "eventId": "715", "eventName": name,
            "matchedPolicies": [self.policy], "argsNum": len(args),
            "returnValue": 0, "syscall": "", "stackAddresses": None,
            "contextFlags": {"containerStarted": bool(container),
                             "isCompat": False},
            "threadEntityId": 1, "processEntityId": 1, "parentEntityId": 1,
            "args": [{"name": k, "type": "string", "value": v}
                     for k, v in args.items()]}
        self.raw(json.dumps(record, separators=(",", ":")) + "\n")

    def raw(self, text):
        self.out.write(text.encode())
        self.out.flush()

    def exec(self, pid, container, cgroup):
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            argv = f.read().decode("utf-8", "replace").split("\0")[:-1]
        with open("/proc/%d/comm" % pid, encoding="utf-8") as f:
            comm = f.read().rstrip("\n")
        if not argv or comm.startswith("runc"):
            return False
        self.write("sched_process_exec",
                   {"pathname": argv[0], "argv": argv}, pid, container,
                   cgroup, comm)
        return True

    def first(self, pid, container):
        """What behaviour.json wants, once the agent is there."""
        some = {"pathname": "/other", "argv": ["\"containerId\":\"" +
                                               container + "\""]}
        if DO.get("others"):
            self.write("sched_process_exec", some, pid, "ef" * 32, 9, "other")
            self.write("sched_process_exec", some, pid, "", 1, "host")
        if DO.get("broken"):
            self.raw('{"timestamp":1,"eventName":"half\n')
            self.raw("x" * (1 << 21) + "\n")
            self.raw("no record\n")
        for n in DO.get("lost", []):
            log("WARN", "Lost %d events" % n)
        if "dies" in DO:
            time.sleep(DO["dies"])
            log("FATAL", "Tracee runner failed", error="it fell over")
            os._exit(1)


def watch(records):
    """New processes of new containers, until a signal."""
    old = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            old.add(container_of(cgroup_of(int(pid))[0]))
        except OSError:
            continue
    seen = {}
    while not ENDING:
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as f:
                    line = f.read()
                if not line or seen.get(pid) == line:
                    continue   # a thread of the kernel, or nothing new
                path, number_ = cgroup_of(int(pid))
                container = container_of(path)
                if container in old:
                    seen[pid] = line
                    continue
                if DO.get("silent"):
                    continue
                if records.exec(int(pid), container, number_):
                    seen[pid] = line
                if not records.agent and DO["agent"].encode() in line and \
                        container and not line.startswith(INIT):
                    records.agent, records.cgroup = container, number_
                    records.first(int(pid), container)
            except (OSError, ValueError):
                continue
        time.sleep(POLL_S)


# It has the command's words among its own, and is there before it.
INIT = b"/etc/membrane/init\0"
ENDING = []


def main():
    if sys.argv[1:] == ["version"]:
        print("Tracee version: v" + DO.get("says", RELEASE))
        return 0
    given = parse(sys.argv[1:])
    policy, rules = read_policy(given["policy"][0])
    check_rights()
    for number_ in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number_, lambda *_: ENDING.append(1))
    if "fails" in DO:
        log("FATAL", "Tracee runner failed", error=DO["fails"])
        return 1
    records = Records(policy, rules)
    if "tracee_info" in rules:
        records.write("tracee_info", {"version": RELEASE}, comm="tracee")
    log("DEBUG", "Tracee is ready callback")
    watch(records)
    if "drains" in DO:   # what its pipeline still holds after the signal
        time.sleep(DO["drains"])
        records.write("sched_process_exec", {"pathname": "/last"}, 1,
                      records.agent, records.cgroup, "last")
    return 0


try:
    sys.exit(main())
except (KeyError, OSError, TypeError, ValueError) as e:
    log("FATAL", "the stand-in failed", error="%s: %s" % (type(e).__name__, e))
    sys.exit(2)
