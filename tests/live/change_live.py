#!/usr/bin/env python3
"""Another plan for a gate that runs, in network namespaces of its own; needs
root, else 77. The plans are the compiler's; what arrives at the servers judges.
"""
import contextlib
import json
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import gate  # noqa: E402
import l7_live  # noqa: E402
from gate import check  # noqa: E402
from l7_live import fetch  # noqa: E402

HEAD = "resolver: 203.0.113.1\n"
FIRST = HEAD + """\
allow:
  - good.test:443
  - https://a.wild.test/api/
  - {dest: "**.star.test", ports: [80]}
  - {dest: 11.2.0.0/16, ports: [80]}
"""
MORE = FIRST + "  - b.wild.test:443\n  - https://c.wild.test/api/\n"
LESS = MORE + "deny: [good.test, 11.2.0.1]\n"
NOTHING = HEAD


def compiled(policy):
    return gate.compiled(policy, stderr=subprocess.DEVNULL)


class Gate(l7_live.Gate):
    """A gate whose plan can be another one."""

    def __init__(self, world, plan):
        super().__init__(world, plan, {})
        self.number = 1

    def __enter__(self):
        super().__enter__()
        check(self.first.get("event") == "ready", "ready", self.first)
        return self

    def put(self, policy, **texts):
        """Replace the plan's files; texts: name (dot as _) to what it says."""
        with compiled(policy) as new:
            for name in os.listdir(self.plan):
                if not (new / name).exists():
                    os.unlink(self.plan / name)
            for f in new.iterdir():
                text = texts.get(f.name.replace(".", "_"))
                data = f.read_bytes() if text is None else text.encode()
                part = self.plan / (f.name + ".part")
                part.write_bytes(data)
                os.rename(part, self.plan / f.name)

    def say(self, line):
        self.p.stdin.write(line.encode() + b"\n")
        self.p.stdin.flush()

    def change(self, policy, how="keep", **texts):
        """What the gate says to it."""
        self.number += 1
        if policy is not None:
            self.put(policy, **texts)
        began = time.monotonic()
        self.say("change %d %s" % (self.number, how))
        said = self.decided(12, event="generation", generation=self.number)
        self.took_ms = (time.monotonic() - began) * 1000
        return said or {}

    def get(self, name, path="/api/x", ca=None, addr="11.0.0.1"):
        return self.agent(fetch(addr, name, path, roots=ca or self.roots))

    def resolves(self, name):
        return bool(gate.addresses(self.agent(gate.ask(name))))

    def haproxies(self):
        worker = self.worker()
        path = "/proc/%d/task/%d/children" % (worker, worker)
        return pathlib.Path(path).read_text().split()


def banner(addr, port=80):
    def fn():
        try:
            with socket.create_connection((addr, port), 8) as s:
                return {"said": s.recv(100).decode()}
        except OSError as e:
            return {"error": str(e)}
    return fn


class Kept:
    """A connection of the agent over TLS, with one request after the other."""

    def __init__(self, g, name, ca, addr="11.0.0.1"):
        self.name, self.box, self.asked = name, [], threading.Event()
        self.lock = threading.Condition()
        self.want, self.got = 0, []
        self.thread = threading.Thread(target=self.run, args=(
            "/proc/%d/ns/net" % g.p.pid, ca, addr), daemon=True)
        self.thread.start()

    def run(self, netns, ca, addr):
        try:
            with open(netns, "rb") as ns:
                if gate.libc.setns(ns.fileno(), 0x40000000):
                    raise OSError("setns")
            context = ssl.create_default_context(cadata=ca)
            raw = socket.create_connection((addr, 443), 8)
            with context.wrap_socket(raw, server_hostname=self.name) as s:
                while True:
                    with self.lock:
                        self.lock.wait_for(lambda: self.want > len(self.got))
                    s.sendall(("GET /api/x HTTP/1.1\r\nHost: %s\r\n\r\n" %
                               self.name).encode())
                    text = s.recv(65536)
                    while text and b"page" not in text and \
                            b" 40" not in text[:20]:
                        more = s.recv(65536)
                        text = text + more if more else b""
                    with self.lock:
                        self.got.append(text.split(b"\r\n")[0].decode())
                        self.lock.notify_all()
                    if not text:
                        return
        except OSError as e:
            with self.lock:
                self.got.append("error: %s" % e)
                self.lock.notify_all()

    def ask(self):
        with self.lock:
            self.want += 1
            self.lock.notify_all()
            self.lock.wait_for(lambda: len(self.got) >= self.want, 9)
            return self.got[-1] if len(self.got) >= self.want else "nothing"


@contextlib.contextmanager
def looping(g, fn):
    """What fn got, again and again, beside the block."""
    got, stop = [], threading.Event()

    def run():
        while not stop.is_set():
            got.append(g.agent(fn))
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield got
    finally:
        stop.set()
        thread.join()


# --- checks -----------------------------------------------------------------

def check_more(g, ca):
    """Names, requests and leaves that were not there; what was stays."""
    check(not g.resolves("b.wild.test"), "not before")
    for name in ("good.test", "a.wild.test", "x.star.test"):
        check(g.resolves(name), "resolved", name)
    spliced, inside = Kept(g, "good.test", g.roots), \
        Kept(g, "a.wild.test", ca)
    check(spliced.ask() == "HTTP/1.1 200 OK", "kept", spliced.got)
    check(inside.ask() == "HTTP/1.1 200 OK", "kept, inside", inside.got)
    old = g.haproxies()
    with looping(g, fetch("11.0.0.1", "good.test", roots=g.roots)) as got:
        time.sleep(0.1)
        said = g.change(MORE)
        time.sleep(0.2)
    check(said.get("ok"), "applied", said)
    check(len(got) > 5 and all(x.get("status") == 200 for x in got),
          "nobody noticed", [x for x in got if x.get("status") != 200][:3])
    check(spliced.ask() == "HTTP/1.1 200 OK", "still there", spliced.got)
    check(inside.ask() in ("HTTP/1.1 200 OK", ""), "its connection may end "
          "between requests", inside.got)
    check(g.resolves("b.wild.test"), "a new name")
    got = g.get("b.wild.test")
    check(got.get("by") == "root.test", "spliced", got)
    e = g.decided(kind="connect", verdict="allow", name="b.wild.test")
    check(e and e.get("generation") == 2 and e["line"] == 7, "record", e)
    check(g.resolves("c.wild.test"), "a new name, inside")
    got = g.get("c.wild.test", ca=ca)
    check(got.get("by") == "membrane session CA" and got["status"] == 200,
          "a leaf was minted", got)
    got = g.get("c.wild.test", "/other", ca=ca)
    check(got.get("status") == 403, "and its paths hold", got)
    got = g.get("a.wild.test", ca=ca)
    check(got.get("status") == 200, "a pin from before", got)
    got = g.agent(banner("11.0.0.1"))
    check(got.get("said") == "banner", "a raw port from before", got)
    spliced.thread = None
    return spliced, old


def check_less(g, ca, spliced, old):
    """What is denied ends; what is not needs no new question."""
    direct = g.agent(banner("11.2.0.1"))
    check(direct.get("said") == "banner", "a network", direct)
    said = g.change(LESS, "cut")
    check(said.get("ok"), "applied", said)
    check(spliced.ask() == "" or "error" in spliced.got[-1],
          "the connection is cut", spliced.got)
    e = g.decided(kind="connect", verdict="allow", name="good.test",
                  generation=None) or {}
    check(e.get("received", 0) > 500, "and has its record", e)
    left = g.haproxies()
    check(not set(old) & set(left) and len(left) == 1, "one HAProxy", left)
    check("error" in g.get("good.test"), "denied")
    check(not g.resolves("good.test"), "denied name")
    check("error" in g.agent(banner("11.2.0.1")), "denied network")
    check(g.agent(banner("11.2.0.2")).get("said") == "banner", "the rest")
    got = g.get("b.wild.test")
    check(got.get("status") == 200, "others go on", got)
    # at a port that only this name has, which nothing resolves by itself
    check(g.agent(banner("11.0.0.1")).get("said") == "banner", "what was "
          "resolved stays open")
    check(len([a for a in g.world.arrived if a.get("dns") == "x.star.test"])
          == 1, "and is not asked for again")


def check_refused(g, ca):
    """What cannot be enforced leaves everything as it was."""
    with compiled(MORE) as plan:
        good = {n: (plan / n).read_text() for n in
                ("ruleset.nft", "gate.cfg", "names.map", "crt.lst")}
    before = g.haproxies()
    for texts, wanted in (
            ({"ruleset_nft": good["ruleset.nft"].replace("policy drop",
                                                         "policy drip")},
             "ruleset.nft"),
            ({"gate_cfg": good["gate.cfg"] + "    nonsense\n"}, "nonsense"),
            ({"gate_cfg": good["gate.cfg"].replace(
                "/run/gate/pins.map", "/plan/hosts.map")}, "no map"),
            ({"names_map": "membrane-names 1\n"}, "names.map"),
            ({"crt_lst": "/etc/x a.test\n"}, "crt.lst"),
            # what the kernel holds is not what was written
            ({"ruleset_nft": good["ruleset.nft"].replace(
                "priority filter", "priority 0")}, "ruleset.nft")):
        said = g.change(MORE, **texts)
        check(said.get("ok") is False and wanted in said["message"],
              "refused", wanted, said)
        check(g.haproxies() == before, "HAProxy stays", wanted)
        check(not g.resolves("c.wild.test"), "as before", wanted)
        check(g.resolves("a.wild.test"), "as before", wanted)
        for name, roots in (("good.test", g.roots), ("a.wild.test", ca)):
            g.resolves(name)
            got = g.get(name, ca=roots)
            check(got.get("status") == 200, "as before", wanted, name, got)
    said = g.change(MORE)
    check(said.get("ok"), "then a good one", said)
    check(g.resolves("c.wild.test"), "in effect")


def check_killed(g, ca):
    """The next HAProxy is killed while it starts."""
    stop = threading.Event()
    until = time.monotonic() + 5
    while len(g.haproxies()) > 1 and time.monotonic() < until:
        time.sleep(0.05)
    old = set(g.haproxies())

    def kill():
        while not stop.is_set():
            for pid in set(g.haproxies()) - old:
                with contextlib.suppress(OSError):
                    os.kill(int(pid), signal.SIGKILL)
                stop.set()
    thread = threading.Thread(target=kill)
    thread.start()
    said = g.change(LESS, "cut")
    stop.set()
    thread.join()
    check(said.get("ok") is False and "HAProxy ended" in said["message"],
          "canceled", said)
    check(set(g.haproxies()) == old, "the old one goes on")
    for name, roots in (("good.test", g.roots), ("a.wild.test", ca)):
        got = g.get(name, ca=roots)
        check(got.get("status") == 200, "as before", name, got)
    # two at once: the second is refused
    g.put(MORE)
    g.say("change %d keep\nchange %d keep" % (g.number + 1, g.number + 2))
    first = g.decided(9, event="generation", generation=g.number + 1) or {}
    second = g.decided(9, event="generation", generation=g.number + 2) or {}
    g.number += 2
    check(first.get("ok") and second.get("ok") is False and
          "under way" in second["message"], "one at a time", first, second)


def check_many(g):
    """Many changes; old processes are not kept without end."""
    kept = [Kept(g, "good.test", g.roots)]
    kept[0].ask()
    took = []
    for i in range(8):
        policy = MORE + "  - n%d.star.test:443\n" % i
        said = g.change(policy)
        check(said.get("ok"), "many", i, said)
        took.append(g.took_ms)
        check(g.resolves("n%d.star.test" % i), "many", i)
        kept.append(Kept(g, "good.test", g.roots))
        check(kept[-1].ask() == "HTTP/1.1 200 OK", "many: kept", i)
    check(len(g.haproxies()) <= 5, "at most five", g.haproxies())
    check(kept[-2].ask() == "HTTP/1.1 200 OK", "the last but one is there")
    said = g.change(LESS, "cut")
    check(said.get("ok") and len(g.haproxies()) == 1, "all are cut", said,
          g.haproxies())
    check(all(k.ask() != "HTTP/1.1 200 OK" for k in kept), "every one",
          [k.got[-1] for k in kept])
    print("keep: median %.0f ms of %d; cut: %.0f ms" %
          (sorted(took)[len(took) // 2], len(took), g.took_ms))


def check_from_nothing(world):
    """Where there was no HAProxy at all, and is none afterwards."""
    with compiled(NOTHING) as plan:
        with Gate(world, plan) as g:
            check(g.haproxies() == [], "no HAProxy")
            check(not g.resolves("good.test"), "nothing")
            said = g.change(HEAD + "allow: [good.test, 11.2.0.0/16]\n")
            check(said.get("ok"), "from nothing", said)
            check(g.resolves("good.test"), "a name")
            g.roots = (g.world.certs / "ca-certificates.crt").read_text()
            got = g.get("good.test")
            check(got.get("status") == 200, "reached", got)
            if world.v6:
                check(gate.addresses(g.agent(gate.ask("good.test", gate.AAAA)))
                      == ["2a0e::1"], "IPv6")
                got = g.get("good.test", addr="2a0e::1")
                check(got.get("status") == 200, "reached by IPv6", got)
            got = g.agent(banner("11.2.0.1"))
            check(got.get("said") == "banner", "a network", got)
            said = g.change(HEAD + "allow: ['https://a.wild.test/']\n")
            check(said.get("ok") is False and "no CA" in
                  said.get("message", "").replace("trusts ", ""),
                  "no CA, no decryption", said)
            said = g.change(NOTHING, "cut")
            check(said.get("ok") and g.haproxies() == [], "back", said,
                  g.haproxies())
            check(not g.resolves("good.test") and "error" in
                  g.get("good.test") and "error" in
                  g.agent(banner("11.2.0.1")), "nothing again")


def check_flow(world):
    """What the packet filter passes by itself is cut as well."""
    with compiled(HEAD + "allow: ['*']\n") as plan:
        with Gate(world, plan) as g:
            r, w = os.pipe()
            again, go = os.pipe()
            pid = os.fork()
            if pid == 0:
                fd = os.open("/proc/%d/ns/net" % g.p.pid, os.O_RDONLY)
                gate.libc.setns(fd, 0x40000000)
                s = socket.create_connection(("11.0.0.1", 443), 5)
                os.write(w, b"up")
                os.read(again, 1)
                s.settimeout(3)
                try:
                    s.sendall(b"x")
                    time.sleep(0.2)
                    s.sendall(b"x")
                    said = b"ok" if s.recv(1) else b"end"
                except OSError as e:
                    said = type(e).__name__.encode()
                os.write(w, said)
                os._exit(0)
            check(os.read(r, 10) == b"up", "a flow")
            said = g.change(HEAD + "allow: ['*']\ndeny: ['good.test']\n",
                            "cut")
            check(said.get("ok"), "applied", said)
            os.write(go, b"x")
            got = os.read(r, 50)
            check(got == b"ConnectionResetError", "the flow ends", got)
            os.waitpid(pid, 0)


def check_networks(world):
    """Intervals of the next ruleset may lie across those of this one; the
    floor's have holes where the policy opens it."""
    with compiled(NOTHING) as plan, Gate(world, plan) as g:
        for nets in (["11.2.0.1"], ["11.2.0.0/16"], ["11.2.0.0/24"],
                     ["169.254.169.254", "11.2.0.0/17"], ["fe80::1"],
                     ["2001:db8::1"], ["2001:db8::/32", "127.0.0.1"], []):
            said = g.change(HEAD + "allow: %s\n" % json.dumps(nets))
            check(said.get("ok"), "applied", nets, said)


def check_nonsense(world, plan):
    for line in ("change 1 keep", "change 2", "change 2 kept", "x" * 40,
                 "change 2 keep now", "{}"):
        with Gate(world, plan) as g:
            g.say(line)
            check(g.p.wait(gate.SOON_S) == 0, "nonsense ends it", line)


def check_all(v6):
    with tempfile.TemporaryDirectory() as certs:
        certs = pathlib.Path(certs)
        l7_live.make_certs(certs)
        with l7_live.World(v6, certs) as world:
            with compiled(FIRST) as plan, Gate(world, plan) as g:
                ca = g.first.get("ca")
                spliced, old = check_more(g, ca)
                check_less(g, ca, spliced, old)
            with compiled(FIRST) as plan, Gate(world, plan) as g:
                check_refused(g, g.first["ca"])
                check_killed(g, g.first["ca"])
                check_many(g)
            check_from_nothing(world)
            check_networks(world)
            check_flow(world)
            with compiled(FIRST) as plan:
                check_nonsense(world, plan)


def main():
    if gate.lacking(gate.MEMBRANE):
        return 77
    gate.families(check_all)
    return gate.end()


if __name__ == "__main__":
    sys.exit(main())
