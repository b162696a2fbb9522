"""The internet of gate.py: DNS on 203.0.113.1, a banner on every address.

What arrives goes to stdout as JSON, one line each.
"""
import contextlib
import json
import os
import signal
import socket
import struct
import threading
import time

A, CNAME, NULL, TXT, AAAA, HTTPS, ANY = 1, 5, 10, 16, 28, 65, 255
NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED = 0, 1, 2, 3, 4, 5
PORTS = (80, 443, 8080)


# --- DNS, as little as the test needs ---------------------------------------

def wire_name(name):
    return b"".join(bytes([len(p)]) + p.encode() for p in
                    name.split(".") if p) + b"\0"


def question(name, qtype, ident=1, klass=1, count=1, edns=0, flags=0x0100):
    q = struct.pack(">6H", ident, flags, count, 0, 0, 1 if edns else 0)
    q += (wire_name(name) + struct.pack(">2H", qtype, klass)) * count
    if edns:
        q += b"\0" + struct.pack(">2HIH", 41, edns, 0, 0)
    return q


def read_name(data, at):
    labels, end = [], None
    while data[at]:
        if data[at] >= 192:
            end = end or at + 2
            at = (data[at] & 63) << 8 | data[at + 1]
            continue
        labels.append(data[at + 1:at + 1 + data[at]].decode("latin-1"))
        at += 1 + data[at]
    return ".".join(labels), end or at + 1


def parse(data):
    ident, flags, qd, an, _, _ = struct.unpack_from(">6H", data)
    at, records, asked = 12, [], None
    for _ in range(qd):
        asked, at = read_name(data, at)
        at += 4
    for _ in range(an):
        name, at = read_name(data, at)
        rtype, _, ttl, n = struct.unpack_from(">2HIH", data, at)
        rdata = data[at + 10:at + 10 + n]
        if rtype == A:
            rdata = socket.inet_ntop(socket.AF_INET, rdata)
        elif rtype == AAAA:
            rdata = socket.inet_ntop(socket.AF_INET6, rdata)
        elif rtype == CNAME:
            rdata = read_name(data, at + 10)[0]
        records.append((name, rtype, ttl, rdata))
        at += 10 + n
    return {"id": ident, "rcode": flags & 15, "tc": bool(flags & 0x200),
            "asked": asked, "records": records}


def record(name, rtype, rdata, ttl=300):
    if rtype == A:
        rdata = socket.inet_pton(socket.AF_INET, rdata)
    elif rtype == AAAA:
        rdata = socket.inet_pton(socket.AF_INET6, rdata)
    elif rtype == CNAME:
        rdata = wire_name(rdata)
    return wire_name(name) + struct.pack(">2HIH", rtype, 1, ttl,
                                         len(rdata)) + rdata


# --- the internet -----------------------------------------------------------

def zone(name, qtype):
    """The records of an answer, or None for NXDOMAIN."""
    if name == "good.test" or name.endswith((".wild.test", ".star.test")):
        return {A: [record(name, A, "11.0.0.1", 7)],
                AAAA: [record(name, AAAA, "2a0e::1")],
                TXT: [record(name, TXT, b"\x05hello")],
                HTTPS: [record(name, HTTPS, b"\0\1\0" + struct.pack(
                    ">2H3s2H4s2H4s", 1, 3, b"\2h2", 4, 4, b"\1\2\3\4",
                    5, 4, b"ECH!"))]}.get(qtype, [])
    if name == "mixed.test" and qtype == A:
        return [record(name, A, a) for a in (
            "10.1.2.3", "11.0.0.2", "127.0.0.1", "169.254.169.254",
            "192.168.7.9", "192.168.8.9", "203.0.113.1", "11.0.0.99")]
    if name == "inner.test" and qtype == A:
        return [record(name, A, a) for a in ("192.168.8.1", "127.0.0.1")]
    if name == "chain.test":
        return [record("evil.test", A, "11.6.6.6"),
                record("c2.test", CNAME, "c3.test"),
                record(name, CNAME, "c2.test"),
                record("c3.test", A, "11.0.0.3")]
    if name in ("big.test", "huge.test") and qtype == A:
        n = 40 if name == "big.test" else 200
        return [record(name, A, "11.1.0.%d" % i) for i in range(1, n)]
    if name == "forged.test":
        return [record(name, A, "11.0.0.4")]
    return None


def tell(what):
    os.write(1, json.dumps(what).encode() + b"\n")  # one write per line


def answer(data, udp):
    """Datagrams to send back for one message."""
    asked = parse(data)
    name, qtype = asked["asked"], data[12 + len(wire_name(
        asked["asked"])) + 1]
    tell({"dns": name, "type": qtype, "udp": udp})
    end = 12 + len(wire_name(name)) + 4
    records = zone(name, qtype)
    if name == "broken.test":
        return [data[:2] + b"\x81\x82" + data[4:6] + bytes(6) + data[12:end]]
    if name == "dead.test":
        return []
    head = data[:2] + struct.pack(">5H", 0x8180 | (
        NXDOMAIN if records is None else 0), 1, len(records or ()), 0, 0)
    body = data[12:end] + b"".join(records or ())
    if udp and len(head + body) > 1232:
        return [data[:2] + struct.pack(">5H", 0x8380, 1, 0, 0, 0) +
                data[12:end]]
    if name == "forged.test" and udp:
        bad = record(name, A, "11.66.0.1")
        wrong = struct.pack(">H", (asked["id"] + 1) & 0xffff)
        other = wire_name("other.test") + data[end - 4:end]
        return [wrong + head[2:] + data[12:end] + bad,
                head + other + record("other.test", A, "11.66.0.1"),
                head + body]
    return [head + body]


def serve_udp():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("203.0.113.1", 53))
    while True:
        data, peer = s.recvfrom(4096)
        for out in answer(data, True):
            s.sendto(out, peer)


def serve_tcp():
    s = socket.create_server(("203.0.113.1", 53))
    while True:
        with s.accept()[0] as c, contextlib.suppress(OSError):
            data = c.recv(4096)
            if len(data) > 14:
                out = answer(data[2:], False)[0]
                c.sendall(struct.pack(">H", len(out)) + out)


def serve_banner(port):
    s = socket.create_server(("::", port), family=socket.AF_INET6,
                             dualstack_ipv6=True, backlog=64)
    while True:
        with contextlib.suppress(OSError):
            c = s.accept()[0]
            tell({"tcp": c.getsockname()[0], "from": c.getpeername()[0],
                  "port": port})
            c.sendall(b"banner")
            c.close()


def internet():
    for fn, *args in ((serve_udp,), (serve_tcp,),
                      *((serve_banner, p) for p in PORTS)):
        threading.Thread(target=fn, args=args, daemon=True).start()
    time.sleep(0.2)
    tell({})
    signal.pause()
