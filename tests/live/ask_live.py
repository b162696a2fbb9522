#!/usr/bin/env python3
"""What waits for a person's answer, at a gate in network namespaces of its own;
needs root, else 77. The plans are the compiler's, the answers go to the gate as
the launcher's do; what arrives at the servers judges.
"""
import concurrent.futures
import contextlib
import pathlib
import socket
import ssl
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import change_live  # noqa: E402
import gate  # noqa: E402
import l7_live  # noqa: E402
from change_live import HEAD, banner, compiled  # noqa: E402
from gate import check, soon  # noqa: E402
from l7_live import fetch  # noqa: E402

WAIT = 6
POLICY = HEAD + """\
allow: ["own.star.test:80"]
ask:
  - {dest: "**.wild.test", ports: [80, 443], wait: 6s}
  - {dest: good.test, ports: [443], http: [{methods: [GET, POST], paths: [/api/]}], wait: 6s}
  - {dest: 11.3.0.0/16, ports: [80], wait: 6s}
  - {dest: short.star.test, ports: [80], wait: 1s}
  - {dest: own.star.test, ports: [443], wait: 6s}
  - {dest: unfound.test, ports: [443], http: [{methods: [GET], paths: [/]}], wait: 6s}
deny: [never.wild.test]
"""
STAND_INS = ("192.0.2.", "198.51.100.", "203.0.113.")


class Gate(change_live.Gate):
    """A gate that a person is behind."""

    def __init__(self, *words):
        super().__init__(*words)
        self.pool = concurrent.futures.ThreadPoolExecutor(64)

    def find(self, name):
        """The address that the name has inside."""
        got = gate.addresses(self.agent(gate.ask(name)))
        return got[0] if got else None

    def beside(self, fn):
        return self.pool.submit(self.agent, fn)

    def questions(self, **want):
        return [e for e in list(self.events) if e.get("event") == "question"
                and all(e.get(k) == v for k, v in want.items())]

    def question(self, **want):
        soon(lambda: self.questions(**want))
        got = self.questions(**want)
        check(len(got) == 1, "one question", want, got)
        return got[-1] if got else {"id": 0}

    def ended(self, q, answer):
        got = self.decided(WAIT + gate.SOON_S, event="answered", id=q["id"])
        check(got and got["answer"] == answer, "its end", q, got)

    def answer(self, q, word, end=None):
        self.say("answer %d %s" % (q["id"], word))
        self.ended(q, end or word)

    def decisions(self, **want):
        return [e for e in list(self.events) if e.get("event") == "decision"
                and e["kind"] != "resolve" and
                all(e.get(k) == v for k, v in want.items())]

    def decision(self, **want):
        """The only record about it."""
        about = {k: want[k] for k in ("name", "port", "path") if k in want}
        soon(lambda: self.decisions(**want))
        got = self.decisions(**about)
        check(len(got) == 1 and got == self.decisions(**want), "its record",
              want, got)
        return got[0] if got else {}


def hello(addr, name):
    """Only whether a hello with this name gets an answer."""
    def fn():
        context = ssl._create_unverified_context()
        try:
            with socket.create_connection((addr, 443), 9) as raw:
                with context.wrap_socket(raw, server_hostname=name):
                    return {"tls": True}
        except OSError as e:
            return {"error": str(e)}
    return fn


def silent(addr, port, stay_s):
    def fn():
        with socket.create_connection((addr, port), 9):
            time.sleep(stay_s)
        return {}
    return fn


def requests(addr, name, roots, head, body=b"", leaves_s=None):
    """The first line that comes back."""
    def fn():
        context = ssl.create_default_context(cadata=roots)
        try:
            with socket.create_connection((addr, 443), 9) as raw:
                with context.wrap_socket(raw, server_hostname=name) as s:
                    s.sendall(head.encode() + b"\r\nHost: " + name.encode() +
                              b"\r\nContent-Length: %d\r\n\r\n" % len(body))
                    if leaves_s:
                        time.sleep(leaves_s)
                        return {}
                    threading.Thread(target=quietly, args=(s, body),
                                     daemon=True).start()
                    return {"said": s.recv(65536).decode().split("\r\n")[0]}
        except OSError as e:
            return {"error": str(e)}
    return fn


def clear(addr, name):
    """The first line that a request in the clear gets, twice."""
    def fn():
        out = []
        with socket.create_connection((addr, 80), 9) as s:
            s.settimeout(9)
            for _ in range(2):
                s.sendall(b"GET / HTTP/1.1\r\nHost: %s\r\n\r\n" %
                          name.encode())
                out.append(s.recv(65536).decode().split("\r\n")[0])
        return out
    return fn


def quietly(s, body):
    with contextlib.suppress(OSError):
        s.sendall(body)


def timed(fn):
    def run():
        began = time.monotonic()
        return {**fn(), "took": time.monotonic() - began}
    return run


# --- checks -----------------------------------------------------------------

#
def check_nobody(g):
    """At first nobody is there: refused at once, and nothing leaves."""
    addr = g.find("early.wild.test")
    check(addr and addr.startswith(STAND_INS), "stands in", addr)
    check(g.agent(gate.ask("early.wild.test", gate.AAAA))["rcode"] ==
          gate.NOERROR, "no IPv6")
    check(not g.find("never.wild.test"), "denied")
    check(not g.find("other.test"), "not asked about")
    got = g.agent(timed(banner(addr)))
    check(not got.get("said") and got["took"] < WAIT, "refused", got)
    e = g.decision(name="early.wild.test", port=80, verdict="deny",
                   reason="not-asked")
    check(e.get("id", "").startswith("a-") and e.get("line") == 4, "whose", e)
    check(not g.questions(), "nobody asked")
    check(not g.world.asked("early.wild.test"), "nothing left")


def check_yes(g):
    addr = g.find("y.wild.test")
    first = g.beside(fetch(addr, "y.wild.test", "/api/x", roots=g.roots))
    second = g.beside(fetch(addr, "y.wild.test", "/api/x", roots=g.roots))
    q = g.question(name="y.wild.test")
    check(q["port"] == 443 and q["wait_s"] == WAIT and q["line"] == 4 and
          "method" not in q and "addr" not in q, "question", q)
    time.sleep(1.5)
    check(not g.world.asked("y.wild.test"), "no name is asked for before")
    check(not [a for a in g.world.arrived if a.get("sni") == "y.wild.test"],
          "nothing arrived")
    g.answer(q, "yes")
    for got in (first.result(), second.result()):
        check(got.get("status") == 200 and got.get("by") == "root.test",
              "goes on, untouched", got)
    soon(lambda: len(g.decisions(name="y.wild.test")) == 2)
    got = g.decisions(name="y.wild.test")
    check(len(got) == 2 and all(
        e["verdict"] == "allow" and e["reason"] == "answered" and
        e["addr"] == "11.0.0.1" and e["id"] == q["rule"] for e in got),
        "records", got)
    got = g.agent(fetch(addr, "y.wild.test", "/api/y", roots=g.roots))
    check(got.get("status") == 200, "for the session", got)
    check(len(g.questions(name="y.wild.test")) == 1, "and nobody is asked")
    # another name on the approved connection's address, and another port
    got = g.agent(hello(addr, "z.wild.test"))
    check("error" in got, "another name", got)
    check(not g.world.asked("z.wild.test") and not
          g.questions(name="z.wild.test"), "is not even asked about")
    g.decision(name="z.wild.test", verdict="deny")
    other = g.beside(banner(addr))
    g.answer(g.question(name="y.wild.test", port=80), "none")
    check(not other.result().get("said"), "another port", other.result())


def check_once(g):
    addr = g.find("o.wild.test")
    got = [g.beside(banner(addr)) for _ in range(3)]
    q = g.question(name="o.wild.test")
    time.sleep(0.5)
    g.answer(q, "once")
    check([x.result().get("said") for x in got] == ["banner"] * 3,
          "all who waited", [x.result() for x in got])
    again = g.beside(banner(addr))
    soon(lambda: len(g.questions(name="o.wild.test")) == 2)
    q = g.questions(name="o.wild.test")[-1]
    g.answer(q, "no")
    check(not again.result().get("said"), "asked again")
    got = g.agent(timed(banner(addr)))
    check(not got.get("said") and got["took"] < WAIT, "never more", got)
    check(len(g.questions(name="o.wild.test")) == 2, "and not asked")
    soon(lambda: len(g.decisions(name="o.wild.test")) == 5)
    check([e["reason"] for e in g.decisions(name="o.wild.test")] ==
          ["answered"] * 3 + ["answered-no"] * 2, "records",
          g.decisions(name="o.wild.test"))


def check_clear(g):
    """Requests of a connection that was permitted go by its answer; a name
    that they state and nobody was asked about does not."""
    addr = g.find("clear.wild.test")
    got = g.beside(clear(addr, "clear.wild.test"))
    g.answer(g.question(name="clear.wild.test"), "once")
    # who answers there speaks no HTTP
    check(all(" 502 " in x for x in got.result()), "goes on", got.result())
    soon(lambda: len(g.decisions(name="clear.wild.test",
                                 kind="request")) == 2)
    e = g.decisions(name="clear.wild.test", kind="request")
    check([(x["reason"], x["addr"]) for x in e] ==
          [("upstream", "11.0.0.1")] * 2, "records", e)
    check(len(g.questions(name="clear.wild.test")) == 1, "one question")
    addr = g.find("front.wild.test")
    got = g.beside(clear(addr, "hidden.wild.test"))
    g.answer(g.question(name="front.wild.test"), "once")
    check(all(" 403 " in x for x in got.result()), "another Host",
          got.result())
    check(not g.questions(name="hidden.wild.test"), "not asked about")
    check(not g.world.asked("hidden.wild.test"), "nothing left")


#
def check_time(g):
    addr = g.find("short.star.test")
    got = g.agent(timed(banner(addr)))
    check(not got.get("said") and 0.8 < got["took"] < WAIT, "nobody answers",
          got)
    g.ended(g.question(name="short.star.test"), "timeout")
    g.decision(name="short.star.test", verdict="deny", reason="not-answered")
    # a client that leaves takes its question with it
    addr = g.find("gone.wild.test")
    left = g.beside(silent(addr, 443, 0.4))
    q = g.question(name="gone.wild.test")
    g.ended(q, "gone")
    left.result()
    g.say("answer %d yes" % q["id"])
    g.decision(name="gone.wild.test", verdict="deny", reason="not-answered")
    check(not g.world.asked("gone.wild.test"), "nothing left")


def check_address(g):
    got = g.beside(banner("11.3.0.1"))
    q = g.question(addr="11.3.0.1")
    check("name" not in q and q["port"] == 80 and q["line"] == 6, "address",
          q)
    g.answer(q, "yes")
    check(got.result().get("said") == "banner", "an address", got.result())
    got = g.beside(banner("11.3.0.2"))
    g.answer(g.question(addr="11.3.0.2"), "none")
    check(not got.result().get("said"), "another one is another question")
    # a name that is granted on another port has its own address
    addr = g.find("own.star.test")
    check(addr == "11.0.0.1", "granted", addr)
    check(g.agent(banner(addr)).get("said") == "banner", "granted port")
    got = g.beside(hello(addr, "own.star.test"))
    g.answer(g.question(name="own.star.test", port=443), "once")
    check(got.result().get("tls"), "asked port", got.result())
    if not g.world.v6:
        return
    addr = gate.addresses(g.agent(gate.ask("own.star.test", gate.AAAA)))
    check(addr == ["2a0e::1"], "granted, by IPv6", addr)
    got = g.beside(hello(addr[0], "own.star.test"))
    soon(lambda: len(g.questions(name="own.star.test")) == 2)
    g.answer(g.questions(name="own.star.test")[-1], "once")
    check(got.result().get("tls"), "asked port, by IPv6", got.result())


#
def check_requests(g, ca):
    addr = g.find("good.test")
    check(addr.startswith(STAND_INS), "stands in", addr)
    got = g.beside(fetch(addr, "good.test", "/api/one", roots=ca))
    q = g.question(name="good.test", path="/api/one")
    check(q["method"] == "GET" and q["port"] == 443, "request", q)
    check(not g.world.asked("good.test"), "nothing left")
    g.answer(q, "once")
    check(got.result().get("status") == 200 and
          got.result().get("by") == "membrane session CA", "once",
          got.result())
    e = g.decision(name="good.test", path="/api/one", verdict="allow",
                   reason="answered", kind="request")
    check(e.get("addr") == "11.0.0.1" and e.get("id") == q["rule"], "record",
          e)
    got = g.beside(fetch(addr, "good.test", "/api/two", roots=ca))
    g.answer(g.question(name="good.test", path="/api/two"), "no")
    got = got.result()
    check(got.get("status") == 403, "refused", got)
    g.decision(name="good.test", path="/api/two", verdict="deny",
               reason="answered-no", kind="request")
    got = g.agent(fetch(addr, "good.test", "/api/two", roots=ca))
    check(got.get("status") == 403 and
          len(g.questions(name="good.test", path="/api/two")) == 1,
          "never more", got)
    # what is permitted and has no address is nobody's refusal
    got = g.beside(fetch(g.find("unfound.test"), "unfound.test", "/x", roots=ca))
    g.answer(g.question(name="unfound.test", path="/x"), "once")
    got = got.result()
    check(got.get("status") == 502 and "could not be resolved" in
          str(got.get("body")), "no address", got)
    g.decision(name="unfound.test", path="/x", verdict="deny",
               reason="upstream")
    got = g.agent(fetch(addr, "good.test", "/other", roots=ca))
    check(got.get("status") == 403, "not asked about", got)
    g.decision(name="good.test", path="/other", verdict="deny",
               kind="request")
    got = g.beside(fetch(addr, "good.test", "/api/three", roots=ca))
    g.answer(g.question(name="good.test", path="/api/three"), "yes")
    check(got.result().get("status") == 200, "yes", got.result())
    got = g.agent(fetch(addr, "good.test", "/api/three", roots=ca))
    check(got.get("status") == 200 and
          len(g.questions(name="good.test", path="/api/three")) == 1,
          "for the session", got)
    # a body that no buffer holds waits with it, and a client that leaves
    got = g.beside(requests(addr, "good.test", ca, "POST /api/big HTTP/1.1",
                            b"x" * 3000000))
    q = g.question(name="good.test", path="/api/big")
    check(q["method"] == "POST", "a long request", q)
    time.sleep(1.5)
    g.answer(q, "once")
    check(" 200 " in got.result().get("said", ""), "arrives", got.result())
    left = g.beside(requests(addr, "good.test", ca, "GET /api/left HTTP/1.1",
                             leaves_s=0.5))
    g.ended(g.question(name="good.test", path="/api/left"), "gone")
    left.result()
    # a path that no line can have is not asked about, and no line is forged
    for path in ("/api/\xc3\xa9", "/api/a%0Aanswer%201%20yes"):
        got = g.agent(fetch(addr, "good.test", path, roots=ca))
        check(got.get("status") in (400, 403), "odd path", path, got)


def check_flood(g):
    """So many are open, and what inside is in a hurry is refused at once."""
    before = len(g.questions())
    names = ["f%d.wild.test" % i for i in range(120)]
    addrs = [g.find(n) for n in names]
    waits = [g.beside(timed(silent(a, 443, 0))) for a in addrs]
    for w in waits:
        w.result()

    def closing():
        out = []
        for a in addrs:
            s = socket.create_connection((a, 443), 9)
            s.settimeout(1)
            try:
                out.append(s.recv(1).decode())
            except OSError as e:
                out.append(type(e).__name__)
            s.close()
        return out
    g.agent(closing)
    check(len(g.questions()) - before <= 61, "bounded",
          len(g.questions()) - before)
    check(g.decided(reason="too-many") is not None, "told")
    check(not [n for n in names if g.world.asked(n)], "nothing left")


def check_change(g):
    """Whoever waits goes on by a plan that permits it; an address that stood in
    for the name leads to its own then."""
    addr = g.find("later.wild.test")
    fetches = fetch(addr, "later.wild.test", "/api/x", roots=g.roots)
    got = g.beside(fetches)
    q = g.question(name="later.wild.test")
    said = g.change(POLICY.replace(
        "allow: [", "allow: [\"later.wild.test:443\", "))
    check(said.get("ok"), "applied", said)
    check(got.result().get("status") == 200, "goes on", got.result())
    g.answer(q, "yes")
    e = g.decision(name="later.wild.test", verdict="allow", reason="granted")
    check(e.get("addr") == "11.0.0.1", "its own", e)
    got = g.agent(fetches)
    check(got.get("status") == 200, "a connection to the stand-in", got)
    check(len(g.questions(name="later.wild.test")) == 1, "no question")
    check(g.find("later.wild.test") == "11.0.0.1", "resolved", addr)
    got = g.agent(fetch("11.0.0.1", "later.wild.test", "/api/x",
                        roots=g.roots))
    check(got.get("status") == 200, "reached as any", got)
    # what was answered for the session is so by the next plan, too
    addr = g.find("y.wild.test")
    got = g.agent(fetch(addr, "y.wild.test", "/api/z", roots=g.roots))
    check(got.get("status") == 200, "answered before", got)
    # and what a plan denies is refused while it waits
    addr = g.find("bad.wild.test")
    got = g.beside(timed(banner(addr)))
    q = g.question(name="bad.wild.test")
    said = g.change(POLICY.replace("deny: [", "deny: [bad.wild.test, "))
    check(said.get("ok"), "applied", said)
    check(not got.result().get("said") and got.result()["took"] < WAIT,
          "denied meanwhile", got.result())
    g.answer(q, "no")


def check_forged(world, plan):
    for line in ("answer", "answer 0 yes", "answer 1 maybe", "answer 1 gone",
                 "asking perhaps", "answer 1 yes now"):
        with Gate(world, plan) as g:
            g.say(line)
            check(g.p.wait(gate.SOON_S) == 0, "nonsense ends it", line)


def check_all(v6):
    with tempfile.TemporaryDirectory() as certs:
        certs = pathlib.Path(certs)
        l7_live.make_certs(certs)
        with l7_live.World(v6, certs) as world:
            with compiled(POLICY) as plan:
                with Gate(world, plan) as g:
                    check_nobody(g)
                    g.say("asking on")
                    check_yes(g)
                    check_once(g)
                    check_clear(g)
                    check_time(g)
                    check_address(g)
                    check_requests(g, g.first["ca"])
                    check_change(g)
                    check_flood(g)
                    check(not [e for e in g.events
                               if e.get("event") == "error"], "no errors",
                          [e for e in g.events if e.get("event") == "error"])
            if not v6:
                with compiled(POLICY) as plan:
                    check_forged(world, plan)


def main():
    if gate.lacking(gate.MEMBRANE):
        return 77
    gate.families(check_all)
    return gate.end()


if __name__ == "__main__":
    sys.exit(main())
