#!/usr/bin/env python3
"""How much flows moved that the packet filter passes: what the records say is
what the servers counted. Needs root, HAProxy and a built tree; else 77.

A compiled plan in a live gate, in network namespaces of its own. Records count
IP packets: of UDP the payload follows exactly, of TCP within the room that its
header has. Half of the flows the kernel forgets while the session runs (it is
told to), the others are asked for at its end.
"""
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import gate  # noqa: E402
import gate_inet  # noqa: E402
import l7_live  # noqa: E402
import witness_live  # noqa: E402
from gate import check  # noqa: E402

POLICY = """\
resolver: 203.0.113.1
allow:
  - dest: 11.0.5.0/24
    ports: [1-65535, 1-65535/udp]
  - dest: 2a0e:5::/32
    ports: [1-65535, 1-65535/udp]
  - dest: '*'
    ports: [7777]
"""
IP = {socket.AF_INET: 20, socket.AF_INET6: 40}
TCP_MIN, TCP_MAX, UDP = 20, 60, 8
# proto, address, port, bytes out, bytes in
FLOWS = [
    ("tcp", "11.0.5.1", 5000, 1, 1),
    ("tcp", "11.0.5.2", 5001, 3000000, 10),
    ("tcp", "2a0e:5::1", 5002, 10, 3000000),
    ("tcp", "11.0.9.9", 7777, 70000, 70000),
    ("udp", "11.0.5.1", 5003, 900, 1100),
    ("udp", "2a0e:5::2", 5004, 1, 20000),
    ("udp", "11.0.5.3", 5005, 40000, 1),
]
ROUNDS = 2


# --- the internet -----------------------------------------------------------

def serve_one(c):
    """ "ID WANTED\\n" and bytes up to the end; then as many as were wanted."""
    with c:
        head = b""
        while not head.endswith(b"\n"):
            head += c.recv(1)
        ident, wanted = head.split()
        got = len(head)
        while data := c.recv(1 << 16):
            got += len(data)
        c.sendall(b"x" * int(wanted))
    gate_inet.tell({"flow": ident.decode(), "got": got, "said": int(wanted)})


def serve_tcp():
    s = socket.create_server(("::", witness_live.PORT),
                             family=socket.AF_INET6, dualstack_ipv6=True)
    while True:
        threading.Thread(target=serve_one, args=(s.accept()[0],),
                         daemon=True).start()


def serve_udp():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
        s.bind(("::", witness_live.PORT))
        while True:
            data, peer = s.recvfrom(1 << 16)
            ident, wanted = data.split()[:2]
            s.sendto(b"x" * int(wanted), peer)
            gate_inet.tell({"flow": ident.decode(), "got": len(data),
                            "said": int(wanted)})


def internet():
    for fn in (gate_inet.serve_udp, gate_inet.serve_tcp, serve_tcp, serve_udp):
        threading.Thread(target=fn, daemon=True).start()
    gate_inet.tell({})
    signal.pause()


class World(l7_live.World):
    def serve(self):
        i = self.inet
        gate.ip("-n", i, "route", "add", "local", "0.0.0.0/1", "dev", "lo")
        subprocess.run(["ip", "netns", "exec", i, "nft", "-f", "-"],
                       input=witness_live.REDIRECT, text=True, check=True)
        return [sys.executable, __file__, "--internet"]


# --- the agent's side -------------------------------------------------------

def use(ident, proto, addr, port, out, back):
    def fn():
        family = socket.AF_INET6 if ":" in addr else socket.AF_INET
        kind = socket.SOCK_STREAM if proto == "tcp" else socket.SOCK_DGRAM
        with socket.socket(family, kind) as s:
            s.settimeout(20)
            s.connect((addr, port))
            head = b"%s %d\n" % (ident.encode(), back)
            s.sendall(head + b"y" * (out - len(head)))
            got = 0
            if proto == "tcp":
                s.shutdown(socket.SHUT_WR)
            while more := s.recv(1 << 16):
                got += len(more)
                if proto == "udp":
                    break
            return [s.getsockname()[1], got]
    return fn


def forget():
    """In the gate's network namespace: flows are as if they had timed out."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12) as s:
        s.send(struct.pack("=IHHIIBBH", 20, 1 << 8 | 2, 5, 1, 0, 0, 0, 0))
        assert struct.unpack_from("=i", s.recv(1024), 16)[0] == 0


# --- the test ---------------------------------------------------------------

def judge(flow, sport, end, seen):
    proto, addr, port, _, _ = flow
    header = IP[socket.AF_INET6 if ":" in addr else socket.AF_INET]
    least, most = (UDP, UDP) if proto == "udp" else (TCP_MIN, TCP_MAX)
    for way, payload in (("sent", seen["got"]), ("received", seen["said"])):
        packets = end[way + "_packets"]
        # A datagram of several fragments is put together before it counts.
        rest = end[way] - payload
        # What TCP sends again is counted again.
        again = payload if proto == "tcp" else 0
        check(packets and packets * (header + least) <= rest <=
              packets * (header + most) + again, "as much as was counted", flow, sport,
              way, end, seen)


def one_round(g, world, number):
    used = []
    for i, flow in enumerate(FLOWS):
        ident = "%d-%d" % (number, i)
        out = max(flow[3], len(ident) + 12)
        got = g.agent(use(ident, *flow[:3], out, flow[4]))
        check(got and got[1] == flow[4], "it went through", flow, got)
        check(world.saw(lambda a, ident=ident: a.get("flow") == ident),
              "and arrived", flow)
        used.append((flow, ident, got[0]))
    return used


def ends(g, world, used):
    for flow, ident, sport in used:
        key = {"proto": flow[0], "addr": flow[1], "port": flow[2],
               "sport": sport}
        begun = g.decided(event="decision", verdict="allow", **key)
        check(begun and begun.get("id"), "a decision", flow, begun)
        end = g.decided(event="end", **key)
        seen = next(a for a in world.arrived if a.get("flow") == ident)
        check(end, "an end", flow, sport)
        if end:
            judge(flow, sport, end, seen)
    ended = [(e["proto"], e["addr"], e["port"], e["sport"])
             for e in g.events if e.get("event") == "end"]
    check(len(ended) == len(set(ended)), "each once", ended)
    return len(ended)


def main():
    if gate.lacking(gate.MEMBRANE):
        return 77
    with tempfile.TemporaryDirectory() as certs:
        l7_live.make_certs(pathlib.Path(certs))
        with World(True, pathlib.Path(certs)) as world, \
                gate.compiled(POLICY, stderr=subprocess.DEVNULL) as plan:
            with l7_live.Gate(world, plan, {}) as g:
                check(g.first.get("event") == "ready", "ready", g.first)
                first = one_round(g, world, 0)
                subprocess.run(["ip", "netns", "exec", world.host,
                                sys.executable, __file__, "--forget"],
                               check=True)
                check(ends(g, world, first) == len(FLOWS), "no more than that")
                second = one_round(g, world, 1)
                refused = g.agent(gate.connect("11.0.9.9", 80))
                check(refused[0] == "Connection refused", "refused", refused)
            check(ends(g, world, second) == ROUNDS * len(FLOWS), "all ended")
    return gate.end()


if __name__ == "__main__":
    if "--internet" in sys.argv:
        internet()
    elif "--forget" in sys.argv:
        forget()
    else:
        sys.exit(main())
