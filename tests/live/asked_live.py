#!/usr/bin/env python3
"""What a person may permit, asked about at random through live gates.

As decide_live.py, for policies that have `ask` beside what they allow and deny.
Somebody is behind each gate who answers by a script: yes, once, no, or that
nobody is there, by whom a question is about and its port. What `explain` permits
has to arrive and nobody is asked about it; what it denies never does, whatever
was answered; what it asks about does as was answered. Needs root, HAProxy and
a built tree; else 77.

    asked_live.py [POLICIES [SEED]]
"""
import pathlib
import random
import sys
import tempfile
import threading
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import decide_live  # noqa: E402
import gate  # noqa: E402
import witness_live  # noqa: E402
from decide_live import NAMES, NETS, PATTERNS, entry  # noqa: E402
from gate import check  # noqa: E402

POLICIES, SEED = 8, 1
ANSWERS = ["yes", "once", "no", "none"]

# A denial and a grant within what is asked about, and requests of each kind.
WRITTEN = ["""\
allow: ["a.test:443", {dest: "*.b.test", http: [{methods: [GET]}]}, 11.1.2.0/24]
ask:
  - {dest: "**.test", wait: 20s}
  - {dest: 11.1.0.0/16, ports: [80, 443, 8001], wait: 20s}
deny: [c.test, 11.1.9.9, {dest: "**.a.test", ports: [443]}]
""", """\
allow: [{dest: a.test, ports: [443], http: [{methods: [GET], paths: [/v1/]}]}]
ask:
  - {dest: "**.test", http: [{methods: [GET, POST]}], wait: 20s}
  - {dest: 11.0.0.0/9, ports: [22], wait: 20s}
deny: ["https://b.test/y", {dest: "**.a.test", http: [{paths: [/v1/x]}]}]
"""]


def asks(rng):
    kind = rng.random()
    if kind < 0.2:
        out = entry(rng, rng.choice(NETS), False)
    elif kind < 0.3:
        out = entry(rng, "*", rng.random() < 0.5)
    else:
        out = entry(rng, rng.choice(NAMES + PATTERNS), rng.random() < 0.5,
                    rng.random() < 0.3)
    # Nothing over UDP waits.
    out = [line.replace("53/udp, ", "").replace(", 1-65535/udp", "")
           for line in out]
    return out + ["    wait: 20s"]


def generated(rng):
    lines = ["ask:"]
    for _ in range(rng.randint(1, 3)):
        lines += asks(rng)
    return decide_live.generated(rng) + "\n".join(lines) + "\n"


def gather(count, seed):
    rng, out = random.Random(seed), []
    with tempfile.TemporaryDirectory() as tmp:
        while len(out) < count:
            pairs = [(rng.choice(NAMES), rng.choice(decide_live.ADDRS))
                     for _ in range(3)]
            policy = WRITTEN[len(out)] if len(out) < len(WRITTEN) \
                else generated(rng)
            texts = sorted({decide_live.asked(rng, pairs) for _ in range(200)})
            requests = decide_live.decided(pathlib.Path(tmp), policy, texts)
            if not requests or not any(is_asked(r) for r in requests):
                continue
            rng.shuffle(requests)
            some = [r for r in requests if is_asked(r)][:16]
            some += [r for r in requests if r.is_][:12]
            out.append((policy, some + [
                r for r in requests if not r.is_ and not is_asked(r)][:12]))
    return out


def is_asked(r):
    return r.why[1] == "ask"


# --- who answers --------------------------------------------------------------

def answer(who, port):
    return ANSWERS[zlib.crc32(("%s %d" % (who, port)).encode()) % len(ANSWERS)]


class Somebody:
    """Answers each question by the script, as soon as it is there."""

    def __init__(self, g, heard):
        self.g, self.heard, self.over = g, heard, threading.Event()
        self.thread = threading.Thread(target=self.listen, daemon=True)

    def say(self, line):
        self.g.p.stdin.write(line.encode() + b"\n")
        self.g.p.stdin.flush()

    def listen(self):
        seen = 0
        while not self.over.wait(0.01):
            new = self.g.events[seen:]
            seen += len(new)
            for e in new:
                if e.get("event") == "question":
                    self.heard.append(e)
                    self.say("answer %d %s" % (e["id"], answer(
                        e.get("name") or e["addr"], e["port"])))

    def __enter__(self):
        self.say("asking on")
        self.thread.start()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


# --- what they do -------------------------------------------------------------

def answers_to(r):
    """All that may be said of it: by its name, or by its address."""
    return {answer(who, r.port) in ("yes", "once")
            for who in {r.name, r.leads_to} if who}


def judge(r, got, policy):
    """Where a gate may be narrower (doc/semantics.md, section 2) only what was
    refused is looked at."""
    done, seen, *_ = got or (None, "nothing")
    if r.type:
        check(done, "a name that is asked about has an address", r.text, got)
        return None
    if answers_to(r) == {False}:
        check(not done, "nobody permitted it", r.text, got, "under\n" + policy)
        return False
    if r.leads_to or answers_to(r) != {True} or \
            not r.method and "http" in policy:
        return None
    check(done, "somebody permitted it", r.text, got, "under\n" + policy)
    return True


def text_of(e):
    """A question, as what `explain` is asked."""
    where = decide_live.at(e.get("name") or e["addr"], e["port"])
    if "method" not in e:
        return "tcp " + where
    return "%s %s://%s%s" % (e["method"], "https" if e["tls"] else "http",
                             where, e["path"])


def judge_questions(heard, policy):
    """Nobody is asked about what is granted or denied."""
    with tempfile.TemporaryDirectory() as tmp:
        for r in decide_live.decided(pathlib.Path(tmp), policy,
                                     sorted({text_of(e) for e in heard})):
            check(is_asked(r), "what is asked about", r.text, r.why[1],
                  "under\n" + policy)


def main():
    if gate.lacking(gate.MEMBRANE):
        return 77
    args = [int(a) for a in sys.argv[1:]]
    policies = gather(*(args + [POLICIES, SEED][len(args):]))
    counts = {True: 0, False: 0, None: 0}
    others = questions = 0
    names = {r.name for _, rs in policies for r in rs}
    with witness_live.names_exist(names) as world:
        for policy, requests in policies:
            heard = []
            got = witness_live.verdicts(world, policy, requests,
                                        lambda g: Somebody(g, heard))
            for r in requests:
                if is_asked(r):
                    counts[judge(r, got.get(r.text), policy)] += 1
                    continue
                witness_live.judge(r, r.is_, r.why[1], got.get(r.text)[:2],
                                   policy)
                others += 1
            if heard:
                judge_questions(heard, policy)
            questions += len(heard)
    check(min(counts[True], counts[False]) > len(policies), "enough of both",
          counts)
    print("%d policies, %d requests permitted by somebody and %d not, %d where "
          "the gate may be narrower, %d granted or denied; %d questions"
          % (len(policies), counts[True], counts[False], counts[None], others,
             questions))
    return gate.end()


if __name__ == "__main__":
    sys.exit(main())
