#!/usr/bin/env python3
"""The gate alone, in network namespaces of its own; needs root, else 77.

    gate.py           all checks
    gate.py --bench   start-up time and what the resolver adds

One namespace plays the internet: it owns 11.0.0.0/8, 192.168.0.0/16 and
2a0e::/16, answers DNS on 203.0.113.1 and serves a banner on every address.
The other is the one that Docker would give the gate. The agent's is made by
the gate. Judged by what arrives at the servers, and by what the kernel holds.
"""
import concurrent.futures
import contextlib
import ctypes
import json
import multiprocessing
import os
import pathlib
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
from gate_inet import (  # noqa: E402
    A, AAAA, ANY, FORMERR, HTTPS, NOERROR, NOTIMP, NULL, NXDOMAIN,
    REFUSED, SERVFAIL, TXT, internet, parse, question)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GATE = ROOT / os.environ.get("GATE", "build/bin/membrane-gate")
MEMBRANE = ROOT / os.environ.get("MEMBRANE", "build/bin/membrane")
SO_RCVBUFFORCE = 33
libc = ctypes.CDLL(None, use_errno=True)
SOON_S = 20  # for what comes at once, where much else goes on, too

RULES = """\
table inet membrane {
	set floor4 {
		type ipv4_addr
		flags interval
		elements = { 127.0.0.0/8, 169.254.0.0/16,
			     192.0.0.0/29, 224.0.0.0/3 }
	}

	set host4 {
		type ipv4_addr
		flags interval
	}

	set host6 {
		type ipv6_addr
		flags interval
	}

	set cidr4_2 {
		type ipv4_addr
		flags interval
		elements = { 192.168.7.0/24 }
	}

	set host4_1 {
		type ipv4_addr
		flags timeout
	}

	set host6_1 {
		type ipv6_addr
		flags timeout
	}

	set host4_2 {
		type ipv4_addr
		flags timeout
	}

	set host6_2 {
		type ipv6_addr
		flags timeout
	}

	chain input {
		type filter hook input priority filter; policy drop;
		iifname "lo" accept
		icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
		iifname != "agent0" ct state established,related accept
		iifname != "agent0" drop
		ip daddr 192.0.0.1 udp dport 53 accept
		ip daddr 192.0.0.1 tcp dport 53 accept
		ip6 daddr fd00:6d65:6d62::1 udp dport 53 accept
		ip6 daddr fd00:6d65:6d62::1 tcp dport 53 accept
		counter log prefix "membrane:floor:" group 77 goto refuse
	}

	chain granted {
		log prefix "membrane:allow:" group 78 accept
	}

	chain refuse {
		meta l4proto tcp reject with tcp reset
		reject with icmpx admin-prohibited
	}

	chain forward {
		type filter hook forward priority filter; policy drop;
		iifname != "agent0" oifname "agent0" ct state established,related accept
		iifname != "agent0" drop
		ip daddr @host4 counter log prefix "membrane:host-address:" group 77 goto refuse
		ip6 daddr @host6 counter log prefix "membrane:host-address:" group 77 goto refuse
		ip daddr @floor4 counter log prefix "membrane:floor:" group 77 goto refuse
		ct state established,related accept
		ip daddr @cidr4_2 tcp dport 80 goto granted
		ip daddr @host4_1 tcp dport 443 goto granted
		ip6 daddr @host6_1 tcp dport 443 goto granted
		ip daddr @host4_2 tcp dport 80 goto granted
		ip6 daddr @host6_2 tcp dport 80 goto granted
		counter log prefix "membrane:no-grant:" group 77 goto refuse
	}

	chain postrouting {
		type nat hook postrouting priority srcnat; policy accept;
		oifname != "agent0" masquerade
	}
}
"""
NAMES = """\
membrane-names 2
upstream udp 203.0.113.1 53
floor 127.0.0.0/8
floor 169.254.0.0/16
private 10.0.0.0/8
private 192.168.0.0/16
cover 192.168.7.0/24
ports 1 tcp/443
ports 2 tcp/80
name **.wild.test 1,2 - g-00000000aa
name *.star.test 1 - g-00000000ab
name big.test 1 - g-00000000b1
name broken.test 1 - g-00000000b4
name chain.test 1 - g-00000000b2
name dead.test 1 - g-00000000b6
name forged.test 1 - g-00000000b3
name good.test 1 - g-0000000001
name huge.test 1 - g-00000000b5
name inner.test 2 private g-0000000003
name mixed.test 1 - g-0000000002
"""
PROVENANCE = {"version": 1, "rules": {
    "g-0000000001": {"text": "good.test:443", "layer": "workspace",
                     "source": ".membrane.yaml", "line": 3, "column": 5}}}


# --- the world around the gate ----------------------------------------------

def ip(*words):
    subprocess.run(["ip", *words], check=True)


class World:
    def __init__(self, v6):
        self.inet = "membrane-gt-%d-i" % os.getpid()
        self.host = "membrane-gt-%d-h" % os.getpid()
        self.v6 = v6
        self.dns = []

    def __enter__(self):
        i, h = self.inet, self.host
        ip("netns", "add", i)
        ip("netns", "add", h)
        ip("-n", i, "link", "add", "wire", "type", "veth", "peer", "name",
           "eth0", "netns", h)
        for ns, dev in ((i, "lo"), (i, "wire"), (h, "lo"), (h, "eth0")):
            ip("-n", ns, "link", "set", dev, "up")
        ip("-n", i, "addr", "add", "203.0.113.1/24", "dev", "wire")
        ip("-n", h, "addr", "add", "203.0.113.2/24", "dev", "eth0")
        ip("-n", h, "route", "add", "default", "via", "203.0.113.1")
        for net in ("11.0.0.0/8", "192.168.0.0/16", "8.8.8.8/32"):
            ip("-n", i, "route", "add", "local", net, "dev", "lo")
        if self.v6:
            ip("-n", i, "addr", "add", "2a0f::1/64", "dev", "wire", "nodad")
            ip("-n", h, "addr", "add", "2a0f::2/64", "dev", "eth0", "nodad")
            ip("-n", h, "route", "add", "default", "via", "2a0f::1")
            ip("-n", i, "route", "add", "local", "2a0e::/16", "dev", "lo")
        self.server = subprocess.Popen(
            ["ip", "netns", "exec", i, *self.serve()],
            stdout=subprocess.PIPE, text=True)
        self.server.stdout.readline()
        self.arrived = []
        threading.Thread(target=self.collect, daemon=True).start()
        return self

    def serve(self):
        return [sys.executable, __file__, "--internet"]

    def saw(self, wanted, wait_s=SOON_S):
        """Something like that arrived out there, or does so now."""
        until = time.monotonic() + wait_s
        while not any(wanted(a) for a in list(self.arrived)):
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
        return True

    def asked(self, name, qtype=A):
        """The questions for a name that arrived so far."""
        return [a for a in list(self.arrived)
                if a.get("dns") == name and a["type"] == qtype]

    def collect(self):
        for line in self.server.stdout:
            self.arrived.append(json.loads(line))

    def __exit__(self, *_):
        self.server.kill()
        self.server.wait()
        for ns in (self.inet, self.host):
            subprocess.run(["ip", "netns", "del", ns], check=False)


class Gate:
    def __init__(self, world, plan, collect=True):
        self.world, self.plan = world, plan
        self.netns, self.collects = None, collect
        self.events = []

    def __enter__(self):
        self.began = time.monotonic()
        self.p = subprocess.Popen(
            ["ip", "netns", "exec", self.world.host, GATE, "--plan",
             self.plan], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.p.stdin.write(json.dumps(
            {"version": 1, "session": "0123456789ab",
             "host": ["11.0.0.99", "203.0.113.2", "2a0e::99"]}
        ).encode() + b"\n")
        self.p.stdin.flush()
        self.first = json.loads(self.p.stdout.readline() or "{}")
        self.ready_s = time.monotonic() - self.began
        if self.collects:
            threading.Thread(target=self.collect, daemon=True).start()
        return self

    def collect(self):
        for line in self.p.stdout:
            self.events.append(json.loads(line))

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.p.stdin.close()
        try:
            self.p.wait(SOON_S)
        except subprocess.TimeoutExpired:
            self.p.kill()
            raise
        # Docker's would go, this namespace stays: the link may be there yet.
        subprocess.run(["ip", "-n", self.world.host, "link", "del", "agent0"],
                       check=False, stderr=subprocess.DEVNULL)

    def worker(self):
        path = "/proc/%d/task/%d/children" % (self.p.pid, self.p.pid)
        return int(pathlib.Path(path).read_text().split()[0])

    def agent(self, fn):
        """Call fn in the agent's network namespace; its JSON result."""
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                fd = os.open(self.netns or "/proc/%d/ns/net" % self.p.pid,
                             os.O_RDONLY)
                if libc.setns(fd, 0x40000000):
                    raise OSError(ctypes.get_errno(), "setns")
                os.write(w, json.dumps(fn()).encode())
                os._exit(0)
            except BaseException as e:
                print("agent:", repr(e), file=sys.stderr)
                os._exit(1)
        os.close(w)
        with os.fdopen(r) as f:
            text = f.read()
        os.waitpid(pid, 0)
        return json.loads(text) if text else None

    def refused(self, addr):
        """The records of an address that no answer had."""
        return [e for e in list(self.events) if e.get("verdict") == "deny" and
                e.get("kind") == "resolve" and e.get("addr") == addr]

    def host(self, *argv):
        return subprocess.run(["ip", "netns", "exec", self.world.host, *argv],
                              check=True, capture_output=True,
                              text=True).stdout

    def decided(self, wait_s=SOON_S, **want):
        """An event with these fields, waited for."""
        until = time.monotonic() + wait_s
        while True:
            for e in list(self.events):
                if all(e.get(k) == v for k, v in want.items()):
                    return e
            if time.monotonic() > until:
                return None
            time.sleep(0.01)


def soon(condition):
    until = time.monotonic() + SOON_S
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def ask_raw(data, server="192.0.0.1", wait_s=20):
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.settimeout(wait_s)
        s.connect((server, 53))
        s.send(data)
        try:
            return parse(s.recv(65535))
        except OSError as e:
            return {"error": e.errno or "timeout"}


def jsonable(got):
    if "records" in got:
        got["records"] = [(n, t, ttl, r.hex() if isinstance(r, bytes) else r)
                          for n, t, ttl, r in got["records"]]
    return got


def ask(name, qtype=A, server="192.0.0.1", **more):
    return lambda: jsonable(ask_raw(question(name, qtype, **more), server))


def ask_tcp(*messages, server="192.0.0.1"):
    def fn():
        out, buf = [], b""
        with socket.create_connection((server, 53), 8) as s:
            s.sendall(b"".join(struct.pack(">H", len(m)) + m
                               for m in messages))
            while len(out) < len(messages):
                got = s.recv(65535)
                if not got:
                    break
                buf += got
                while len(buf) >= 2:
                    n = struct.unpack_from(">H", buf)[0]
                    if len(buf) < 2 + n:
                        break
                    out.append(jsonable(parse(buf[2:2 + n])))
                    buf = buf[2 + n:]
        return out
    return fn


# Sooner than after the gate's patience with who is silent; the client has more.
AT_ONCE_S = 5


def connect(addr, port, patience_s=20):
    def fn():
        began = time.monotonic()
        try:
            with socket.create_connection((addr, port), patience_s) as s:
                got = s.recv(100).decode()
        except OSError as e:
            got = e.strerror or "timeout"
        return [got, time.monotonic() - began]
    return fn


def addresses(got):
    return [r[3] for r in got.get("records", ()) if r[1] in (A, AAAA)]


# --- checks -----------------------------------------------------------------

passed = failed = 0


def check(ok, what, *seen):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print("FAIL:", what, *seen, flush=True)


def check_start(g):
    check(g.first.get("event") == "ready", "ready", g.first)
    status = pathlib.Path("/proc/%d/status" % g.p.pid).read_text()
    check("CapEff:\t0000000000000000" in status, "PID 1 has no capability")
    check("CapBnd:\t0000000000000000" in status, "PID 1 bounding set")
    check("NoNewPrivs:\t1" in status, "no_new_privs")
    status = pathlib.Path("/proc/%d/status" % g.worker()).read_text()
    for line in ("CapEff", "CapPrm", "CapBnd"):
        # NET_ADMIN; KILL, SETGID and SETUID for an HAProxy, now or later
        check(line + ":\t00000000000010e0" in status, "worker: " + line,
              status)
    links = json.loads(g.host("ip", "-j", "addr", "show", "dev", "agent0"))
    got = {(a["local"], a["prefixlen"]) for a in links[0]["addr_info"]}
    want = {("192.0.0.1", 30)}
    if g.world.v6:
        want.add(("fd00:6d65:6d62::1", 64))
    check(got == want, "agent0", got)
    got = g.agent(lambda: json.loads(subprocess.run(
        ["ip", "-j", "addr"], capture_output=True).stdout))
    eth0 = [l for l in got if l["ifname"] == "eth0"][0]
    check({a["local"] for a in eth0["addr_info"]} ==
          ({"192.0.0.2", "fd00:6d65:6d62::2"} if g.world.v6
           else {"192.0.0.2"}), "the agent's eth0", eth0)
    check("UP" in [l for l in got if l["ifname"] == "lo"][0]["flags"], "lo")


# N-16, R-3
def check_names(g):
    got = g.agent(ask("good.test"))
    check(addresses(got) == ["11.0.0.1"] and 1 <= got["records"][0][2] <= 7,
          "A", got)
    listed = g.host("nft", "list", "set", "inet", "membrane", "host4_1")
    check("11.0.0.1 timeout 1m expires" in listed, "element", listed)
    got = g.agent(ask("gOOd.TEST"))
    check(addresses(got) == ["11.0.0.1"] and got["asked"] == "gOOd.TEST",
          "upper case", got)
    for name in ("bad.test", "x.good.test", "good.tes", "test", "",
                 "good\\.test", "star.test", "a.b.star.test", "wild.test",
                 "x" * 60 + "." + "y" * 60 + ".example"):
        got = g.agent(ask(name))
        check(got.get("rcode") == NXDOMAIN and not got["records"],
              "NXDOMAIN", name, got)
    for name in ("a.star.test", "a.wild.test", "b.a.wild.test"):
        got = g.agent(ask(name))
        check(addresses(got) == ["11.0.0.1"], name, got)
    names = {a["dns"] for a in g.world.arrived if "dns" in a}
    check(not names & {"bad.test", "x.good.test", "wild.test"},
          "no refused name goes upstream", names)
    check(g.decided(kind="resolve", verdict="deny", reason="no-grant",
                    name="bad.test", type="A"), "record: no-grant")
    check(g.decided(kind="resolve", verdict="allow", name="good.test",
                    id="g-0000000001", source=".membrane.yaml", line=3),
          "record: granted", g.events)


#
def check_kept(g):
    """What was answered lately is answered again, aged, judged and told."""
    name, before = "again.star.test", len(g.events)
    got = [g.agent(ask(name)), g.agent(ask("AGAIN.star.test", edns=4096))]
    until = time.monotonic() + 3
    while time.monotonic() < until and got[-1]["records"][0][2] > 5:
        got.append(g.agent(ask(name)))
    got.append(g.agent(ask_tcp(question(name, A)))[0])
    check(all(addresses(a) == ["11.0.0.1"] for a in got), "again", got[-1])
    ttls = [a["records"][0][2] for a in got]
    check(ttls == sorted(ttls, reverse=True) and ttls[0] == 7 and
          ttls[-1] in (4, 5), "its time runs on", ttls)
    check(got[1]["asked"] == "AGAIN.star.test", "as it is asked for", got[1])
    check(len(g.world.asked(name)) == 1, "asked once",
          g.world.asked(name))

    def told(key, value):
        return [e for e in list(g.events)[before:]
                if e.get(key) == value and e.get("name") == name]
    for key, value in (("kind", "resolve"), ("event", "answer")):
        check(soon(lambda k=key, v=value: len(told(k, v)) == len(got)),
              "each is on record", told(key, value), len(got))
    # What is dropped from an answer is, and is told, each time.
    n = len(g.refused("10.1.2.3"))
    for _ in range(2):
        got = g.agent(ask("mixed.test"))
        check(addresses(got) == ["11.0.0.2", "192.168.7.9"], "judged again",
              got)
    check(soon(lambda: len(g.refused("10.1.2.3")) >= n + 2), "and told",
          n, g.refused("10.1.2.3"))
    # Neither a refusal of the upstream's is kept, nor what is no address.
    for name, qtype in (("none.invalid.wild.test", TXT),
                        ("broken.test", A)):
        for _ in range(2):
            g.agent(ask(name, qtype))
        check(soon(lambda n=name, t=qtype: len(g.world.asked(n, t)) > 1),
              "not kept", name)


#
def check_types(g):
    got = g.agent(ask("good.test", TXT))
    check(got["records"] and got["records"][0][3] == b"\x05hello".hex(),
          "TXT", got)
    got = g.agent(ask("good.test", HTTPS))
    check(got["records"] and got["records"][0][3] ==
          (b"\0\1\0" + struct.pack(">2H3s", 1, 3, b"\2h2")).hex(),
          "HTTPS without ECH and hints", got)
    for qtype in (NULL, ANY, 2, 6, 252, 43):
        got = g.agent(ask("good.test", qtype))
        check(got.get("rcode") == NOTIMP, "type %d" % qtype, got)
    got = g.agent(ask("good.test", AAAA))
    want = ["2a0e::1"] if g.world.v6 else []
    check(got["rcode"] == NOERROR and addresses(got) == want, "AAAA", got)
    got = g.agent(ask("good.test", klass=3))
    check(got.get("rcode") == REFUSED, "class CH", got)
    got = g.agent(ask("good.test", count=2))
    check(got.get("rcode") == FORMERR, "two questions", got)
    got = g.agent(ask("good.test", flags=0x2900))
    check(got.get("rcode") == NOTIMP, "opcode UPDATE", got)


# S-1, S-2, S-4
def check_filter(g):
    got = g.agent(ask("mixed.test"))
    check(addresses(got) == ["11.0.0.2", "192.168.7.9"], "filtered", got)
    for addr, reason in (("10.1.2.3", "private-address"),
                         ("127.0.0.1", "floor"),
                         ("169.254.169.254", "floor"),
                         ("192.168.8.9", "private-address"),
                         ("11.0.0.99", "host-address"),
                         ("203.0.113.1", "host-address")):
        check(g.decided(kind="resolve", verdict="deny", addr=addr,
                        reason=reason, name="mixed.test"), "record", addr)
    got = g.agent(ask("inner.test"))
    check(addresses(got) == ["192.168.8.1"], "private: true", got)
    listed = g.host("nft", "list", "set", "inet", "membrane", "host4_2")
    check("192.168.8.1" in listed and "192.168.7.9" not in listed,
          "sets of private addresses", listed)
    got = g.agent(ask("chain.test"))
    check([r[0] for r in got["records"]] ==
          ["chain.test", "c2.test", "c3.test"] and
          addresses(got) == ["11.0.0.3"], "chain", got)
    got = g.agent(ask("forged.test"))
    check(addresses(got) == ["11.0.0.4"], "forged answers", got)


def check_sizes(g):
    got = g.agent(ask("big.test"))
    check(got["tc"] and not got["records"], "too big for 512 bytes", got)
    got = g.agent(ask("big.test", edns=4096))
    check(len(addresses(got)) == 39, "EDNS", got)
    got = g.agent(ask("huge.test", edns=4096))
    check(got["rcode"] == NOERROR and len(got["records"]) == 64 or got["tc"],
          "upstream by TCP", got)
    got = g.agent(ask_tcp(question("huge.test", A, 5)))
    check(len(got) == 1 and len(addresses(got[0])) == 64, "TCP", got)
    check(g.world.saw(lambda a: a.get("dns") == "huge.test" and
                      not a["udp"]), "asked by TCP")
    got = g.agent(ask_tcp(question("good.test", A, 5),
                          question("bad.test", A, 6),
                          question("good.test", TXT, 7)))
    check([m["id"] for m in got] == [5, 6, 7] and
          [m["rcode"] for m in got] == [0, 3, 0], "pipelined", got)
    got = g.agent(ask("broken.test"))
    check(got.get("rcode") == SERVFAIL, "upstream fails", got)
    began = time.monotonic()
    got = g.agent(ask("dead.test"))
    took = time.monotonic() - began
    check(got.get("rcode") == SERVFAIL and took > 3.5,
          "upstream says nothing", got, took)
    check(g.decided(kind="resolve", reason="upstream", name="dead.test"),
          "record: upstream")


def check_packets(g):
    got, took = g.agent(connect("11.0.0.1", 443))
    check(got == "banner", "granted", got)
    check(g.world.saw(lambda a: a.get("tcp", "").endswith("11.0.0.1") and
                      a["port"] == 443 and a["from"].endswith("203.0.113.2")),
          "arrived, masqueraded", g.world.arrived)
    check(g.decided(kind="connect", verdict="allow", addr="11.0.0.1",
                    port=443, proto="tcp"), "record: connect")
    for addr, port, reason in (("11.0.0.1", 8080, "port"),
                               ("11.7.7.7", 443, "no-grant"),
                               ("11.0.0.99", 443, "host-address"),
                               ("203.0.113.1", 80, "host-address"),
                               ("192.0.0.1", 80, "floor"),
                               ("192.168.7.9", 443, "port"),
                               ("8.8.8.8", 53, "no-grant")):
        got, took = g.agent(connect(addr, port))
        check(got == "Connection refused" and took < AT_ONCE_S,
              "refused at once", addr, port, got, took)
        check(g.decided(kind="connect", verdict="deny", addr=addr, port=port,
                        reason=reason), "record", addr, port, reason,
              g.events[-3:])
        check(not any(a.get("tcp", "").endswith(addr) and a["port"] == port
                      for a in g.world.arrived), "nothing arrives", addr)
    got, took = g.agent(connect("192.168.7.9", 80))
    check(got == "banner", "covered", got)
    got = g.agent(ask("good.test", server="8.8.8.8"))
    check(got.get("error"), "another resolver", got)
    check(g.decided(kind="connect", proto="udp", addr="8.8.8.8", port=53),
          "record: udp")
    if g.world.v6:
        got, took = g.agent(connect("2a0e::1", 443))
        check(got == "banner", "IPv6", got)
        got, took = g.agent(connect("2a0e::2", 443))
        check(got == "Connection refused" and took < AT_ONCE_S, "IPv6 refused",
              got, took)
        got = g.agent(ask("good.test", server="fd00:6d65:6d62::1"))
        check(addresses(got) == ["11.0.0.1"], "resolver by IPv6", got)


#
def check_servfail(g):
    """A set that is gone: no address leaves, of what is kept neither."""
    check(addresses(g.agent(ask("kept.wild.test"))), "kept")
    g.host("nft", "flush", "chain", "inet", "membrane", "forward")
    g.host("nft", "delete", "set", "inet", "membrane", "host4_1")
    for name in ("other.wild.test", "kept.wild.test"):
        got = g.agent(ask(name))
        check(got.get("rcode") == SERVFAIL and not got["records"],
              "the kernel refuses", name, got)
    check(len(g.world.asked("kept.wild.test")) == 1, "that one was kept")
    check(g.decided(event="error"), "error event")


def check_prefetch(g):
    """Exact names are resolved without being asked for."""
    until = time.monotonic() + 3
    while time.monotonic() < until:
        if "11.0.0.4" in g.host("nft", "list", "set", "inet", "membrane",
                                "host4_1"):
            break
        time.sleep(0.02)
    check(time.monotonic() < until, "resolved at the start")


def many_questions(names):
    """Send them all, then count the answers by rcode."""
    def fn():
        rcodes = {}
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(3)
            s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
            s.connect(("192.0.0.1", 53))
            for i, name in enumerate(names):
                s.send(question(name, A, i & 0xffff))
                if i % 50 == 49:
                    time.sleep(0.005)
            with contextlib.suppress(TimeoutError):
                for _ in names:
                    r = parse(s.recv(4096))["rcode"]
                    rcodes[r] = rcodes.get(r, 0) + 1
        return rcodes
    return fn


def many_connects(n):
    def fn():
        for i in range(n):
            with socket.socket() as s:
                s.setblocking(False)
                s.connect_ex(("11.7.%d.%d" % (i // 250, i % 250 + 1), 443))
        return n
    return fn


def check_floods(world, plan):
    """Nobody reads the records, and still everything else goes on."""
    with Gate(world, plan, collect=False) as g:
        g.agent(many_connects(6000))
        got = g.agent(ask("good.test"))
        check(addresses(got) == ["11.0.0.1"], "A, records unread", got)
        got, took = g.agent(connect("11.0.0.1", 443))
        check(got == "banner", "granted, records unread", got)
        names = ["n%d.wild.test" % i for i in range(2000)]
        got = g.agent(many_questions(names))
        check(got.get("0", 0) == len(names), "2000 questions at once", got)
        got = g.agent(many_questions(["n%d.bad.test" % i
                                      for i in range(2000)]))
        check(got.get("3", 0) == 2000, "2000 refusals at once", got)
        threading.Thread(target=g.collect, daemon=True).start()
        check((g.decided(event="lost") or {}).get("count"),
              "lost records are counted")
        status = pathlib.Path("/proc/%d/status" % g.worker()).read_text()
        rss = int(status.split("VmRSS:")[1].split()[0])
        check(rss < 65536 or "asan" in str(GATE), "memory", rss)
        g.host("nft", "delete", "table", "inet", "membrane")


def refused_and_granted(rounds, refused):
    """Ports of connections that were granted, among many that were not."""
    def fn():
        ports = []
        for _ in range(rounds):
            many_connects(refused)()
            with socket.create_connection(("11.0.0.1", 443), 10) as s:
                ports.append(s.getsockname()[1])
                s.recv(64)
        return ports
    return fn


def check_pressure(world, plan):
    """Who reads late misses no grant, and learns how much was refused."""
    rounds, refused = 40, 500
    with Gate(world, plan, collect=False) as g:
        def collect():
            for line in g.p.stdout:
                g.events.append(json.loads(line))
        g.agent(ask("good.test"))
        ports = g.agent(refused_and_granted(rounds, refused))
        reader = threading.Thread(target=collect, daemon=True)
        reader.start()
        g.p.stdin.close()
        reader.join(30)
        g.p.wait(SOON_S)
        told = [e for e in g.events if e.get("kind") == "connect"]
        allowed = {e["sport"] for e in told if e["verdict"] == "allow"}
        check(set(ports) <= allowed, "each grant is on record",
              len(ports), sorted(set(ports) - allowed))
        denied = [e.get("count", 1) for e in told
                  if e["verdict"] == "deny" and e["addr"].startswith("11.7.")]
        lost = sum(e["count"] for e in g.events if e["event"] == "lost")
        check(len(denied) < sum(denied) <= rounds * refused and
              max(denied) > 1, "refusals are folded",
              len(denied), sum(denied), lost)
        check(g.events[-1]["event"] == "done", "and the end", g.events[-1])
        g.host("nft", "delete", "table", "inet", "membrane")


def check_bridge(world, plan):
    """The runtime brings the agent's interface, some time after the start."""
    (plan / "docker.json").write_text('{"version":1,"link":"bridge"}')
    agent = world.host[:-1] + "a"
    ip("netns", "add", agent)

    def bring():
        time.sleep(0.3)
        ip("-n", world.host, "link", "add", "eth1", "type", "veth", "peer",
           "name", "eth0", "netns", agent)
        ip("-n", world.host, "addr", "add", "192.0.0.3/29", "dev", "eth1")
        ip("-n", world.host, "link", "set", "eth1", "up")
        ip("-n", agent, "link", "set", "eth0", "up")
        ip("-n", agent, "addr", "add", "192.0.0.2/29", "dev", "eth0")
        ip("-n", agent, "route", "add", "default", "via", "192.0.0.1")

    try:
        threading.Thread(target=bring).start()
        with Gate(world, plan) as g:
            check(g.first.get("event") == "ready", "bridge link", g.first)
            links = json.loads(g.host("ip", "-j", "addr", "show", "agent0"))
            check("192.0.0.1" in {a["local"] for a in links[0]["addr_info"]},
                  "bridge: agent0", links)
            g.netns = "/run/netns/" + agent
            time.sleep(0.2)
            got = g.agent(ask("good.test"))
            check(addresses(got) == ["11.0.0.1"], "bridge: A", got)
            got, took = g.agent(connect("11.0.0.1", 443))
            check(got == "banner", "bridge: granted", got)
            got, took = g.agent(connect("11.0.0.1", 80))
            check(got == "Connection refused" and took < AT_ONCE_S,
                  "bridge: refused", got, took)
    finally:
        (plan / "docker.json").write_text('{"version":1,"link":"veth"}')
        subprocess.run(["ip", "netns", "exec", world.host, "nft", "delete",
                        "table", "inet", "membrane"], check=False)
        subprocess.run(["ip", "netns", "del", agent], check=False)


def check_end(world, plan):
    with Gate(world, plan) as g:
        worker = g.worker()
        g.p.stdin.close()
        check(g.p.wait(SOON_S) == 0, "status after EOF")
        check(not os.path.exists("/proc/%d" % worker), "the worker is gone")
        up = g.host("ip", "-o", "link", "show", "up")
        check("agent0" not in up, "the link is down", up)
        g.host("nft", "delete", "table", "inet", "membrane")
    for sig, status in ((signal.SIGTERM, 0), (signal.SIGINT, 0)):
        with Gate(world, plan) as g:
            g.p.send_signal(sig)
            check(g.p.wait(SOON_S) == status, "after signal %d" % sig)
            g.host("nft", "delete", "table", "inet", "membrane")
    with Gate(world, plan) as g:
        os.kill(g.worker(), signal.SIGKILL)
        check(g.p.wait(SOON_S) == 1, "when the worker dies")
        g.host("nft", "delete", "table", "inet", "membrane")
    with Gate(world, plan) as g:
        worker = os.pidfd_open(g.worker())
        g.p.kill()
        g.p.wait()
        check(select.select([worker], [], [], 5)[0],
              "the worker dies with PID 1")
        os.close(worker)
        g.host("nft", "delete", "table", "inet", "membrane")


def check_refusals(world, plan):
    """What must not start."""
    good = {n: (plan / n).read_text() for n in
            ("ruleset.nft", "names.map", "provenance.json")}
    for name, text in (("names.map", good["names.map"] + "nmae x 1 - g\n"),
                       ("names.map", good["names.map"][:-1]),
                       ("ruleset.nft", good["ruleset.nft"] + "garbage"),
                       # nft merges this, the listing differs
                       ("ruleset.nft", good["ruleset.nft"].replace(
                           "127.0.0.0/8, 169.254.0.0/16,",
                           "169.254.0.0/16, 127.0.0.0/8,")),
                       ("provenance.json", good["provenance.json"] + "x")):
        (plan / name).write_text(text)
        with Gate(world, plan) as g:
            check(g.first.get("event") == "error" and g.p.wait(SOON_S) == 1,
                  "refused", name, g.first)
        (plan / name).write_text(good[name])
        subprocess.run(["ip", "netns", "exec", world.host, "nft", "delete",
                        "table", "inet", "membrane"], check=False,
                       stderr=subprocess.DEVNULL)


POLICY = """\
resolver: 203.0.113.1
allow:
  - good.test:443
  - "**.wild.test:80"
  - 192.168.7.0/24:80
  - {dest: inner.test, ports: [80], private: true}
  - good.test:8080
deny:
  - 11.0.0.2
"""


@contextlib.contextmanager
def compiled(policy, **more):
    """A plan that the compiler wrote; it goes with the block."""
    with tempfile.TemporaryDirectory() as tmp:
        work = pathlib.Path(tmp) / "project"
        home = pathlib.Path(tmp) / "home"
        work.mkdir()
        home.mkdir()
        (home / "config.yaml").touch()
        (work / ".membrane.yaml").write_text(policy)
        subprocess.run([MEMBRANE, "compile", "-o", "out"], cwd=work,
                       env={**os.environ, "MEMBRANE_HOME": str(home)},
                       check=True, stdout=subprocess.DEVNULL, **more)
        subprocess.run(["chmod", "-R", "a+rX", tmp], check=True)
        yield work / "out"


def check_compiled(world, start):
    """The same, with a plan that the compiler wrote: names in it need HAProxy,
    so that l7_live.py calls this with a way to start such a gate."""
    with compiled(POLICY) as plan:
        with start(world, plan) as g:
            check(g.first.get("event") == "ready", "compiled", g.first)
            if g.first.get("event") != "ready":
                return
            got = g.agent(ask("good.test"))
            check(addresses(got) == ["11.0.0.1"], "compiled: A", got)
            e = g.decided(kind="resolve", verdict="allow", name="good.test")
            check(e and e.get("source") == ".membrane.yaml" and
                  e.get("line") == 3, "compiled: source", e)
            check(g.agent(ask("bad.test"))["rcode"] == NXDOMAIN,
                  "compiled: NXDOMAIN")
            g.agent(ask("inner.test"))
            # On these ports who is silent is given time to speak.
            for addr, port, want, slow in (
                    ("11.0.0.1", 443, "banner", True),
                    ("11.0.0.1", 80, None, False),
                    ("192.168.7.1", 80, "banner", False),
                    ("192.168.8.1", 80, "banner", True),
                    ("192.168.8.2", 80, None, False),
                    ("11.0.0.2", 443, None, False),
                    ("203.0.113.1", 80, None, False)):
                got, took = g.agent(connect(addr, port))
                check(got == (want or "Connection refused") and
                      (slow or took < AT_ONCE_S),
                      "compiled", addr, port, got, took)
            got, took = g.agent(connect("11.0.0.1", 8080))
            e = g.decided(kind="connect", port=8080)
            check(e and e["line"] == 7 and e["verdict"] == "allow",
                  "compiled: the grant with the port", e)
            e = g.decided(kind="connect", port=443, addr="11.0.0.1")
            check(e and e["line"] == 3, "compiled: the other grant", e)
            g.agent(ask("a.wild.test"))
            got, took = g.agent(connect("11.0.0.1", 80))
            check(got == "banner", "compiled: the second class", got)
            check(g.decided(verdict="deny", reason="denied",
                            addr="11.0.0.2"), "compiled: denied")


def write_plan(folder):
    folder = pathlib.Path(folder)
    (folder / "ruleset.nft").write_text(RULES)
    (folder / "names.map").write_text(NAMES)
    (folder / "provenance.json").write_text(json.dumps(PROVENANCE))
    (folder / "docker.json").write_text('{"version":1,"link":"veth"}')
    return folder


def delay(server, names):
    """Milliseconds per question, one after the other; the median."""
    def fn():
        took = []
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.connect((server, 53))
            for name in names:
                began = time.perf_counter()
                s.send(question(name, A))
                s.recv(4096)
                took.append((time.perf_counter() - began) * 1000)
        return sorted(took)[len(took) // 2]
    return fn


def bench(world, plan):
    starts, walls = [], []
    for _ in range(10):
        with Gate(world, plan) as g:
            starts.append(g.first.get("ms", -1))
            walls.append(g.ready_s * 1000)
        g.host("nft", "delete", "table", "inet", "membrane")
    print("ready after ms:", sorted(starts), "seen from outside: %.1f" %
          sorted(walls)[5])
    rules = RULES.replace("ip daddr @host4 counter", "ip daddr 203.0.113.1 "
                          "udp dport 53 accept\n\t\tip daddr @host4 counter")
    (plan / "ruleset.nft").write_text(rules)
    with Gate(world, plan) as g:
        time.sleep(1)
        names = ["n%d.wild.test" % i for i in range(1000)]
        same = g.agent(delay("203.0.113.1", names))
        new = g.agent(delay("192.0.0.1", names))
        print("median ms per question: direct %.3f, through the gate %.3f, "
              "added %.3f" % (same, new, new - same))


def check_all(v6):
    with World(v6) as world, tempfile.TemporaryDirectory() as tmp:
        plan = write_plan(tmp)
        with Gate(world, plan) as g:
            check_start(g)
            if g.first.get("event") != "ready":
                return
            check(g.first["ipv6"] is v6, "ipv6", g.first)
            check_prefetch(g)
            check_names(g)
            check_types(g)
            check_filter(g)
            check_kept(g)
            check_sizes(g)
            check_packets(g)
            check_servfail(g)
            g.host("nft", "delete", "table", "inet", "membrane")
        check_floods(world, plan)
        check_pressure(world, plan)
        check_bridge(world, plan)
        check_end(world, plan)
        check_refusals(world, plan)


# --- for the programs that stand on this one, too ---------------------------

def lacking(*programs):
    """Whether something that is needed is not there, which is said."""
    haproxy = shutil.which("haproxy", path="/usr/sbin:/usr/bin")
    if os.geteuid() == 0 and haproxy and all(p.exists() for p in programs):
        return False
    print("needs root, HAProxy", *programs)
    return True


def counted(checks, v6):
    checks(v6)
    return passed, failed


def families(checks):
    """checks(v6) without IPv6 and with it: side by side, as they wait more
    than they work; what they count counts here."""
    global passed, failed
    with concurrent.futures.ProcessPoolExecutor(
            2, multiprocessing.get_context("fork")) as pool:
        for good, bad in list(pool.map(counted, [checks] * 2, (False, True))):
            passed, failed = passed + good, failed + bad


def end():
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


def main():
    if os.geteuid() != 0:
        print("needs root")
        return 77
    if "--bench" in sys.argv:
        with World(False) as world, tempfile.TemporaryDirectory() as tmp:
            bench(world, write_plan(tmp))
        return 0
    families(check_all)
    return end()


if __name__ == "__main__":
    if "--internet" in sys.argv:
        internet()
    else:
        sys.exit(main())
