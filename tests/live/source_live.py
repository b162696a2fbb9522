#!/usr/bin/env python3
"""Packets of the agent's that say they are somebody else's.

Whoever may send raw packets writes any source address on them, and with
IPV6_FREEBIND every process does in IPv6. What the gate answers to those would
go to that address, whoever it belongs to. Here an agent with all rights over
its own network sends them through a live gate that runs a compiled plan, by the
link that the gate makes and by one that a container runtime brings. Judged by
every packet on the gate's uplink, and by its records. Needs root; else 77.
"""
import contextlib
import ipaddress
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import gate  # noqa: E402
import gate_inet  # noqa: E402
from gate import check  # noqa: E402

# Addresses only, so that there is no HAProxy; and a name would do for DNS.
POLICY = """\
resolver: 203.0.113.1
allow:
  - 11.0.0.1:443
  - {dest: 11.0.0.2, ports: [7777/udp, 443]}
  - "[2a0e::1]:443"
  - "[2a0e::2]:443"
  - {dest: good.test, ports: [5353/udp]}
"""
GATE4, AGENT4 = "192.0.0.1", "192.0.0.2"
GATE6, AGENT6 = "fd00:6d65:6d62::1", "fd00:6d65:6d62::2"
VICTIM4, VICTIM6 = "11.66.6.6", "2a0e:66::6"
REFUSED4, REFUSED6 = "11.7.7.7", "2a0e:7::7"
IGMP, TCP, UDP, ICMP6 = 2, 6, 17, 58
IPV6_FREEBIND = 78
# What no agent has: others' addresses, the gate's own, and no addresses at all.
SOURCES4 = (VICTIM4, "203.0.113.1", "203.0.113.2", "192.0.0.1", "192.0.0.3",
            "127.0.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255",
            "169.254.1.1", "192.0.0.7")
SOURCES6 = (VICTIM6, "2a0f::1", "2a0f::2", GATE6, "fd00:6d65:6d62::3", "::",
            "::1", "fe80::2", "ff02::1", "::ffff:11.66.6.6", "64:ff9b::1")


# --- packets by hand --------------------------------------------------------

def summed(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def packed(addr):
    return ipaddress.ip_address(addr).packed


def with_sum(proto, src, dst, segment, at):
    """A segment whose checksum at that place is right."""
    pseudo = packed(src) + packed(dst) + struct.pack("!II", len(segment), proto)
    n = summed(pseudo + segment)
    return segment[:at] + struct.pack("!H", n or 0xffff) + segment[at + 2:]


def udp(src, dst, port, data, sport=40000):
    head = struct.pack("!4H", sport, port, 8 + len(data), 0)
    return UDP, with_sum(UDP, src, dst, head + data, 6)


def syn(src, dst, port, sport=40001):
    head = struct.pack("!2H2I4H", sport, port, 1, 0, 5 << 12 | 2, 65535, 0, 0)
    return TCP, with_sum(TCP, src, dst, head, 16)


def icmp6(src, dst, kind, body):
    head = struct.pack("!BBH", kind, 0, 0) + body
    return ICMP6, with_sum(ICMP6, src, dst, head, 2)


def packet(src, dst, proto, body, options=b"", fragment=0, hops=64):
    """An IP packet; options: of IPv4, or an extension header of IPv6."""
    if ":" not in src:
        head = struct.pack("!BBHHHBBH", 0x45 + len(options) // 4, 0,
                           20 + len(options) + len(body), 77, fragment, hops,
                           proto, 0) + packed(src) + packed(dst) + options
        return head[:10] + struct.pack("!H", summed(head)) + head[12:] + body
    if options:
        kind, options = options[0], bytes([proto]) + options[2:]
        proto, body = kind, options + body
    return struct.pack("!IHBB", 6 << 28, len(body), proto, hops) + \
        packed(src) + packed(dst) + body


def frames(mac, packets, group=None, kind=None):
    """Out of the agent's link, to the gate's end of it."""
    def fn():
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
            s.bind(("eth0", 0))
            own = s.getsockname()[4]
            for p in packets:
                ip = 0x0800 if p[0] >> 4 == 4 else 0x86dd
                s.send((group or mac) + own + struct.pack("!H", kind or ip) + p)
        return len(packets)
    return fn


# --- the world --------------------------------------------------------------

def watch_uplink():
    """Every packet on the gate's uplink, as one line each."""
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.bind(("wire", 3))
    while True:
        frame, meta = s.recvfrom(65535)
        at = 14
        if meta[2] == 4 or len(frame) < at + 20:  # what we send ourselves
            continue
        kind = struct.unpack("!H", frame[12:14])[0]
        if kind == 0x0800:
            src, dst, proto = frame[26:30], frame[30:34], frame[23]
        elif kind == 0x86dd:
            src, dst, proto = frame[22:38], frame[38:54], frame[20]
        else:
            continue
        gate_inet.tell({"wire": str(ipaddress.ip_address(dst)),
                        "src": str(ipaddress.ip_address(src)),
                        "proto": proto, "size": len(frame)})


class World(gate.World):
    def serve(self):
        return [sys.executable, __file__, "--internet"]

    def on_wire(self, *addrs):
        """What the gate sent there."""
        return [a for a in list(self.arrived) if a.get("wire") in addrs]


class Gate(gate.Gate):
    def mac(self):
        link = json.loads(self.host("ip", "-j", "link", "show", "agent0"))
        return bytes.fromhex(link[0]["address"].replace(":", ""))

    def send(self, *packets, group=None):
        self.agent(frames(self.mac(), packets, group))

    def settle(self):
        """What was sent before has been seen, if it went anywhere. A switch
        of a container runtime's has no IPv6 of its own: what comes back by it
        finds nobody when the agent was silent for long."""
        for addr in ("11.0.0.1", "2a0e::1")[:1 if self.netns else 2]:
            n = len(self.world.on_wire(addr))
            got = self.agent(gate.connect(addr, 443))
            check(got[0] == "banner", "who is the agent gets through", got)
            until = time.monotonic() + 2
            while len(self.world.on_wire(addr)) == n and \
                    time.monotonic() < until:
                time.sleep(0.01)

    def nft(self, *words):
        return self.host("nft", *words)

    def forged(self):
        return [e for e in list(self.events)
                if e.get("reason") == "forged-source"]


def quiet(g, what, *victims, proto=None):
    g.settle()
    seen = [a for a in g.world.on_wire(*victims)
            if proto in (None, a["proto"])]
    check(not seen, "nothing goes to " + what, seen[:3], len(seen))
    g.world.arrived.clear()


# --- checks -----------------------------------------------------------------

def freebind(dst, port, data):
    """As any process can, without a capability."""
    def fn():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
            s.setsockopt(socket.IPPROTO_IPV6, IPV6_FREEBIND, 1)
            s.bind((VICTIM6, 0))
            s.sendto(data, (dst, port))
        return True
    return fn


def check_freebind(g):
    g.agent(gate.ask("good.test", server=GATE6))  # the neighbour is known
    check(g.agent(freebind(GATE6, 53, gate_inet.question("bad.test", gate.A))),
          "a question in somebody else's name")
    check(g.agent(freebind(REFUSED6, 7, b"x" * 1100)),
          "what is refused, in somebody else's name")
    quiet(g, "whom an unprivileged process names", VICTIM6)


def question():
    return gate_inet.question("bad." + "x" * 60 + ".test", gate.A)


def check_sources(g):
    """Answers, refusals and what is granted: from no source but its own."""
    for src in SOURCES4:
        g.send(packet(src, GATE4, *udp(src, GATE4, 53, question())),
               packet(src, REFUSED4, *udp(src, REFUSED4, 7, b"x" * 400)),
               packet(src, REFUSED4, *syn(src, REFUSED4, 443)),
               packet(src, "11.0.0.2", *udp(src, "11.0.0.2", 7777, b"x")),
               packet(src, "11.0.0.2", *syn(src, "11.0.0.2", 443)))
    quiet(g, "forged sources, nor from them", VICTIM4, "11.0.0.2", REFUSED4,
          *SOURCES4)
    for src in SOURCES6:
        g.send(packet(src, GATE6, *udp(src, GATE6, 53, question())),
               packet(src, REFUSED6, *udp(src, REFUSED6, 7, b"x" * 1100)),
               packet(src, REFUSED6, *syn(src, REFUSED6, 443)),
               packet(src, "2a0e::2", *syn(src, "2a0e::2", 443)))
    quiet(g, "forged sources of IPv6", VICTIM6, "2a0e::2", REFUSED6,
          "64:ff9b::1")


def check_parts(g):
    """In pieces, with options, along a route of the sender's."""
    body = udp(VICTIM4, GATE4, 53, question())[1]
    g.send(packet(VICTIM4, GATE4, UDP, body[:64], fragment=0x2000),
           packet(VICTIM4, GATE4, UDP, body[64:], fragment=8))
    held = g.host("cat", "/proc/net/snmp").split("\n")
    names, values = (held[i].split() for i in (0, 1))
    check(dict(zip(names, values))["ReasmReqds"] == "0",
          "no piece of a forged one is kept", values)
    # A route that the sender made, to somewhere else behind whom it may reach.
    loose = bytes([131, 7, 4]) + packed(REFUSED4) + b"\0"
    rest = bytes([43, 0, 2, 4, 1, 0, 0, 0, 0]) + packed(REFUSED6)
    g.send(packet(AGENT4, "11.0.0.2", *syn(AGENT4, "11.0.0.2", 443, 41000),
                  options=loose),
           packet(AGENT4, "11.0.0.2", *syn(AGENT4, "11.0.0.2", 443, 41000),
                  options=b"\1" * 4),
           packet(AGENT6, "2a0e::2", *syn(AGENT6, "2a0e::2", 443, 41001),
                  options=rest))
    quiet(g, "who is named in pieces", VICTIM4, "11.0.0.2", "2a0e::2")
    check(g.decided(reason="protocol", addr="2a0e::2"), "a record of that")


def check_neighbours(g):
    """What neighbours say to each other goes on, and teaches the gate nothing
    that it did not ask for."""
    before = g.host("ip", "-6", "route"), g.host("ip", "route")
    own = bytes([1, 1]) + bytes.fromhex("020000000001")
    prefix = struct.pack("!BBBBIII", 3, 4, 64, 0xc0, 86400, 86400, 0) + \
        packed("2a0e:66::")
    advert = struct.pack("!BBHII", 64, 0, 1800, 0, 0) + own + prefix
    for src in ("fe80::2", AGENT6):
        g.send(packet(src, "ff02::1", *icmp6(src, "ff02::1", 134, advert),
                      hops=255), group=bytes.fromhex("333300000001"))
        redirect = bytes(4) + packed("2a0e::1") + packed("2a0e::1")
        g.send(packet(src, GATE6, *icmp6(src, GATE6, 137, redirect), hops=255))
    claim = struct.pack("!I", 0x20000000) + packed("2a0f::1") + bytes([2, 1]) + \
        own[2:]
    g.send(packet("fe80::2", GATE6, *icmp6("fe80::2", GATE6, 136, claim),
                  hops=255))
    time.sleep(0.1)
    after = g.host("ip", "-6", "route"), g.host("ip", "route")
    check(before == after, "routes are as they were", before, after)
    g.host("ip", "-6", "neigh", "flush", "dev", "agent0")
    g.agent(lambda: subprocess.run(["ip", "-6", "neigh", "flush", "dev",
                                    "eth0"]).returncode)
    got = g.agent(gate.connect("2a0e::1", 443))
    check(got[0] == "banner", "neighbours find each other again", got)
    # A kernel that looks for its own double, and one with such an address.
    g.agent(lambda: subprocess.run(
        ["ip", "addr", "add", "fe80::2/64", "dev", "eth0"]).returncode)
    got = g.agent(gate.ask("good.test", server=GATE6))
    check(gate.addresses(got) == ["11.0.0.1"], "and with more addresses", got)


def check_known(g):
    """Each end knows the other for good: what comes back finds the agent when
    nobody has asked for it for long, and nobody's word changes who it is."""
    own = bytes.fromhex("020000000001")
    for addr, kind in ((AGENT4, 1), (GATE4, 2)):
        g.agent(frames(g.mac(), [struct.pack("!HHBBH", 1, 0x0800, 6, 4, kind) +
                                 own + packed(addr) + g.mac() +
                                 packed(GATE4)], kind=0x0806))
    for family in ("-4", "-6"):
        known = g.host("ip", family, "neigh", "show", "dev", "agent0")
        check("PERMANENT" in known and own.hex(":") not in known, "known",
              known)
        g.host("ip", family, "neigh", "flush", "dev", "agent0")
    g.world.arrived.clear()
    g.settle()


def check_flood(g):
    """The log says so once, with the address, and not forty thousand times."""
    g.events.clear()
    g.send(*[packet(VICTIM4, "11.9.%d.%d" % (i >> 8, i & 255), UDP,
                    udp(VICTIM4, "11.9.%d.%d" % (i >> 8, i & 255), 53, b"x",
                        sport=1 + i)[1]) for i in range(20000)])
    g.settle()
    listed = g.nft("list", "chain", "inet", "membrane", "source")
    check("packets 20" in listed, "they are counted", listed)
    check(len(g.forged()) <= 25, "a flood in the log", len(g.forged()))
    g.world.arrived.clear()


def check_bridge(g):
    """A bridge under the link snoops: the host's kernel tells the group of all
    routers so, from its own address. That is nobody's refused destination."""
    report = struct.pack("!BBHHHBBH", 0x22, 0, 0, 0, 1, 4, 0, 0) + \
        packed("224.0.0.106")
    report = report[:2] + struct.pack("!H", summed(report)) + report[4:]
    to = bytes.fromhex("01005e000016")
    g.send(packet("10.9.0.1", "224.0.0.22", IGMP, report,
                  options=bytes([148, 4, 0, 0]), hops=1), group=to)


def check_records(g):
    """Called when what went before is the first that the log may hold."""
    until = time.monotonic() + 2
    while len(g.forged()) < 1 and time.monotonic() < until:
        time.sleep(0.01)
    found = {e.get("src") for e in g.forged()}
    check(VICTIM6 in found, "who it was made out to be", g.forged()[:3])
    check("10.9.0.1" not in found, "not the bridge", g.forged()[:3])


def segments():
    """How many of TCP have come to the agent."""
    text = pathlib.Path("/proc/thread-self/net/snmp").read_text()
    rows = [l.split() for l in text.splitlines() if l.startswith("Tcp:")]
    return int(dict(zip(*rows))["InSegs"])


def check_refusals(g):
    """A refusal comes at once, and a flood of them is no flood of answers."""
    got, took = g.agent(gate.connect(REFUSED4, 80))
    check(got == "Connection refused" and took < gate.AT_ONCE_S, "at once",
          got, took)
    before, began = g.agent(segments), time.monotonic()
    g.send(*[packet(AGENT4, REFUSED4, *syn(AGENT4, REFUSED4, 1 + i, 50000))
             for i in range(30000)])
    many = g.agent(segments) - before
    most = 5000 + 1000 * (time.monotonic() - began)
    check(4000 < many <= most, "answers to 30,000 refusals", many, most)
    time.sleep(0.3)
    got, took = g.agent(gate.connect(REFUSED4, 80))
    check(got == "Connection refused" and took < gate.AT_ONCE_S,
          "at once, again", got, took)


def check_belts(g):
    """Each holds without the one before: nothing of the gate's own goes to a
    stranger by the uplink, and the resolver talks to the agent alone."""
    g.nft("flush", "chain", "inet", "membrane", "source")
    g.world.arrived.clear()
    check_freebind(g)
    g.send(packet(VICTIM4, GATE4, *udp(VICTIM4, GATE4, 53, question())),
           packet(VICTIM4, REFUSED4, *udp(VICTIM4, REFUSED4, 7, b"x" * 400)),
           packet(VICTIM4, REFUSED4, *syn(VICTIM4, REFUSED4, 443)),
           packet(VICTIM4, GATE4, *syn(VICTIM4, GATE4, 53)))
    quiet(g, "forged sources, by the second belt", VICTIM4)
    g.nft("flush", "chain", "inet", "membrane", "output")
    g.nft("add", "chain", "inet", "membrane", "output", "{ policy accept; }")
    n = len([e for e in g.events if e.get("name", "").startswith("bad.")])
    g.send(packet(VICTIM4, GATE4, *udp(VICTIM4, GATE4, 53, question())),
           packet(VICTIM6, GATE6, *udp(VICTIM6, GATE6, 53, question())))
    # Of TCP the kernel may go on to answer what came before.
    quiet(g, "who asks the resolver and is not the agent", VICTIM4, VICTIM6,
          proto=UDP)
    check(len([e for e in g.events
               if e.get("name", "").startswith("bad.")]) == n,
          "it is not even judged")


def check_gate(g):
    check(g.first.get("event") == "ready", "ready", g.first)
    if g.first.get("event") != "ready":
        return
    g.settle()
    check_bridge(g)
    check_freebind(g)
    check_records(g)
    check_sources(g)
    check_parts(g)
    check_neighbours(g)
    if not g.netns:
        check_known(g)
    check_flood(g)
    check_refusals(g)
    check_belts(g)


@contextlib.contextmanager
def bridge(world):
    """A switch between the two, as a container runtime brings it."""
    agent, wire = world.host[:-1] + "a", world.host[:-1] + "b"
    for ns in (agent, wire):
        gate.ip("netns", "add", ns)
    gate.ip("-n", wire, "link", "add", "br0", "type", "bridge")
    gate.ip("-n", wire, "link", "set", "br0", "up")
    for i, (ns, dev, addr) in enumerate(((world.host, "eth1", "192.0.0.6/29"),
                                         (agent, "eth0", "192.0.0.2/29"))):
        gate.ip("-n", wire, "link", "add", "port%d" % i, "type", "veth", "peer",
                "name", dev, "netns", ns)
        gate.ip("-n", wire, "link", "set", "port%d" % i, "master", "br0", "up")
        gate.ip("-n", ns, "addr", "add", addr, "dev", dev)
        gate.ip("-n", ns, "link", "set", dev, "up")
    gate.ip("-n", agent, "route", "add", "default", "via", GATE4)
    gate.ip("-n", agent, "addr", "add", AGENT6 + "/64", "dev", "eth0", "nodad")
    gate.ip("-n", agent, "route", "add", "default", "via", GATE6)
    try:
        yield "/run/netns/" + agent
    finally:
        for ns in (agent, wire):
            subprocess.run(["ip", "netns", "del", ns], check=False)


def main():
    if os.geteuid() != 0 or not gate.MEMBRANE.exists():
        print("needs root and", gate.MEMBRANE)
        return 77
    with World(True) as world, gate.compiled(
            POLICY, stderr=subprocess.DEVNULL) as plan:
        with Gate(world, plan) as g:
            check_gate(g)
            g.nft("delete", "table", "inet", "membrane")
        text = (plan / "docker.json").read_text()
        (plan / "docker.json").write_text(
            text.replace('"link": "veth"', '"link": "bridge"'))
        world.arrived.clear()
        with bridge(world) as agent, Gate(world, plan) as g:
            g.netns = agent
            check_gate(g)
            g.nft("delete", "table", "inet", "membrane")
    return gate.end()


if __name__ == "__main__":
    if "--internet" in sys.argv:
        threading.Thread(target=watch_uplink, daemon=True).start()
        gate_inet.internet()
    else:
        sys.exit(main())
