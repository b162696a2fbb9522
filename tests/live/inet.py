#!/usr/bin/env python3
"""The whole internet, in one program and one network namespace.

    inet.py STATE IFACE     play every server; STATE/ca signs certificates
    inet.py --host STATE    play the services of the Docker host instead

Every address that is routed here is ours (world.sh). Each packet that opens
something (a TCP SYN, any datagram, anything else) is a line in
STATE/log/inet.jsonl, and so is each request that a server understood. Tests
judge by that file, not by what a client says.

    {"time", "event": "packet", "proto", "src", "addr", "port", "data"}
    {"time", "event": "dns"|"tcp"|"udp"|"sync", ...}      and those of origin.py
"""
import base64
import contextlib
import ctypes
import ipaddress
import json
import os
import pathlib
import select
import socket
import socketserver
import struct
import subprocess
import sys
import threading
import time

import dns
import sites
from origin import (RETRY, Certificates, Server, Web, WebServer, text,
                    where)

BANNERS = {22: b"SSH-2.0-OpenSSH_9.2p1 fake\r\n", 25: b"220 mail.test\r\n",
           5432: b"", 9418: b"", 8000: None, 8080: None, 8443: None}
UDP_ECHO = (7, 123, 443, 7777)
SYNC_PORT = 9
HALF_PORT = 7001
# Proxies: for everybody, for one login, for nobody; at the next nobody is.
PROXIES = {3128: None, 3129: "me@corp:pass:w%rd", 3130: ""}


class Log:
    def __init__(self, path):
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self.fd = os.open(path, flags, 0o644)

    def __call__(self, event, **fields):
        line = {"time": round(time.time(), 6), "event": event, **fields}
        os.write(self.fd, json.dumps(line).encode() + b"\n")


# --- what arrives on the wire ----------------------------------------------

def wire_filter():
    """Classic BPF: incoming IP; of TCP only what opens a connection."""
    ld, ldh, ldb, ldxb, ldb_x = 0x20, 0x28, 0x30, 0xb1, 0x50
    jeq, jset, alu_and, ret = 0x15, 0x45, 0x54, 0x06
    code = [  # what, true and false: how many lines to pass over
        (ld, 0, 0, 0xfffff004), (jeq, 17, 0, 4),        # 0: outgoing
        (ldh, 0, 0, 12), (jeq, 1, 0, 0x0800),           # 2: IPv4
        (jeq, 8, 14, 0x86dd),                           # 4: IPv6
        (ldb, 0, 0, 23), (jeq, 0, 11, 6),               # 5: TCP
        (ldh, 0, 0, 20), (jset, 9, 0, 0x1fff),          # 7: a fragment
        (ldxb, 0, 0, 14), (ldb_x, 0, 0, 27),            # 9: its flags
        (alu_and, 0, 0, 0x12), (jeq, 5, 6, 2),          # 11: SYN alone
        (ldb, 0, 0, 20), (jeq, 0, 3, 6),                # 13: TCP
        (ldb, 0, 0, 67), (alu_and, 0, 0, 0x12),         # 15: its flags
        (jeq, 0, 1, 2),                                 # 17: SYN alone
        (ret, 0, 0, 0x40000), (ret, 0, 0, 0),           # 18: keep, 19: drop
    ]
    return b"".join(struct.pack("HBBI", *op) for op in code), len(code)


def parse(frame):
    """One Ethernet frame as fields of a log line; None for noise."""
    kind = struct.unpack("!H", frame[12:14])[0]
    if kind == 0x0800:
        size, proto = (frame[14] & 15) * 4, frame[23]
        src, dst = frame[26:30], frame[30:34]
        body = frame[14 + size:]
    else:
        proto, src, dst, body = frame[20], frame[22:38], frame[38:54], \
            frame[54:]
    src, dst = (ipaddress.ip_address(a) for a in (src, dst))
    if dst.is_multicast and dst.version == 6:
        return None
    if proto == 58 and body[:1] and 133 <= body[0] <= 137:
        return None
    out = {"proto": {6: "tcp", 17: "udp", 1: "icmp", 58: "icmp6"}.get(
        proto, str(proto)), "src": str(src), "addr": str(dst)}
    if proto in (6, 17) and len(body) >= 8:
        out["sport"], out["port"] = struct.unpack("!HH", body[:4])
        out["data"] = text(body[8:] if proto == 17 else b"")
    else:
        out["data"] = text(body)
    return out


def watch_wire(log, iface, only=None):
    """Log what arrives on iface. Without one: on all but the uplink, and only
    what is meant for the addresses that only() returns."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    program, count = wire_filter()
    keep = ctypes.create_string_buffer(program)
    sock.setsockopt(socket.SOL_SOCKET, 26, struct.pack(
        "HL", count, ctypes.addressof(keep)))  # SO_ATTACH_FILTER
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    if iface:
        sock.bind((iface, 3))

    def loop():
        while True:
            frame, meta = sock.recvfrom(65535)
            fields = parse(frame)
            # Type 3: a frame on a bridge that is meant for somebody else.
            if fields and (iface or meta[0] != "uplink" and meta[2] != 3 and
                           fields["addr"] in only()):
                log("packet", **fields, iface=meta[0])
    threading.Thread(target=loop, daemon=True).start()


# --- UDP: the address that was asked is the address that answers ------------

def serve_udp(port, handle):
    """handle(data, fields, reply) runs for each datagram."""
    for family in (socket.AF_INET, socket.AF_INET6):
        sock = socket.socket(family, socket.SOCK_DGRAM)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.setsockopt(socket.IPPROTO_IPV6, 49, 1)  # RECVPKTINFO
        else:
            sock.setsockopt(socket.IPPROTO_IP, 8, 1)     # PKTINFO
        sock.bind(("", port))
        threading.Thread(target=udp_loop, args=(sock, port, handle),
                         daemon=True).start()


def udp_loop(sock, port, handle):
    six = sock.family == socket.AF_INET6
    while True:
        data, info, _, peer = sock.recvmsg(65535, 256)
        own = info[0][2]
        if six:
            addr = socket.inet_ntop(sock.family, own[:16])
            back = [(socket.IPPROTO_IPV6, 50, own[:16] + bytes(4))]
        else:
            addr = socket.inet_ntop(sock.family, own[8:12])
            back = [(socket.IPPROTO_IP, 8,
                     struct.pack("I", 0) + own[8:12] + bytes(4))]

        def reply(out, sock=sock, back=back, peer=peer):
            sock.sendmsg([out], back, 0, peer)
        fields = {"addr": addr, "port": port, "src": peer[0], "proto": "udp"}
        try:
            handle(data, fields, reply)
        except (OSError, ValueError, IndexError, struct.error) as e:
            print("udp %d: %s" % (port, e), file=sys.stderr)


def dns_udp(log):
    def handle(data, fields, reply):
        seen, delay, out = dns.answer(data, True)
        log("dns", **fields, **seen)
        if delay:
            threading.Timer(delay, lambda: [reply(m) for m in out]).start()
            return
        for m in out:
            reply(m)
    return handle


def echo_udp(log):
    def handle(data, fields, reply):
        log("udp", **fields, data=text(data))
        reply(data)
    return handle


def sync_udp(log):
    def handle(data, fields, reply):
        log("sync", data=text(data))
        reply(data)
    return handle


# --- TCP -------------------------------------------------------------------

def serve_tcp(port, handle):
    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.settimeout(30)
            handle(self.request, where(self.request))
    Server(("::", port), Handler).start()


def dns_tcp(log):
    def handle(sock, fields):
        stream = sock.makefile("rb")
        while True:
            head = stream.read(2)
            if len(head) < 2:
                return
            data = stream.read(struct.unpack("!H", head)[0])
            seen, delay, out = dns.answer(data, False)
            log("dns", proto="tcp", **fields, **seen)
            time.sleep(delay)
            for m in out:
                sock.sendall(struct.pack("!H", len(m)) + m)
    return handle


def banner_tcp(log, hello):
    """Say hello, then log and echo what comes; without one, HTTP answers."""
    def handle(sock, fields):
        log("tcp", proto="tcp", **fields, data="")
        sock.sendall(hello)
        while True:
            data = sock.recv(65536)
            if not data:
                return
            log("tcp", proto="tcp", **fields, data=text(data))
            sock.sendall(data)
    return handle


def half_tcp(log):
    """Say goodbye first, and go on to listen."""
    def handle(sock, fields):
        sock.sendall(b"goodbye\n")
        sock.shutdown(socket.SHUT_WR)
        size = 0
        while True:
            data = sock.recv(65536)
            if not data:
                break
            size += len(data)
        log("tcp", proto="tcp", **fields, data="%d bytes" % size)
    return handle


def carry(one, other):
    """What one says the other hears, until both have ended."""
    ends = {one: other, other: one}
    while ends:
        for sock in select.select(list(ends), [], [], 30)[0]:
            data = sock.recv(65536)
            if data:
                ends[sock].sendall(data)
            else:
                ends.pop(sock).shutdown(socket.SHUT_WR)


def proxy_tcp(log, login):
    """CONNECT, to where names lead here. What follows is none of the wire's:
    both ends are in this namespace."""
    def handle(sock, fields):
        head = b""
        while b"\r\n\r\n" not in head:
            data = sock.recv(4096)
            if not data:
                return
            head += data
        lines = head.decode("latin-1").split("\r\n")
        said = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
        method, target = lines[0].split()[:2]
        given = said.get("Proxy-Authorization", "Basic ").split()[1:]
        given = base64.b64decode(given[0]).decode() if given else None
        log("proxy", proto="tcp", **fields, method=method, target=target,
            login=given)
        if login == "":
            sock.sendall(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
            return
        if login is not None and given != login:
            sock.sendall(b"HTTP/1.1 407 Who?\r\nproxy-authenticate: Basic "
                         b"realm=corp\r\ncontent-length: 0\r\n\r\n")
            return
        with connect_for(target) as other:
            sock.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
            carry(sock, other)
    return handle


def connect_for(target):
    name, port = target.rsplit(":", 1)
    name = name.strip("[]")
    if not name.replace(".", "").isdigit() and ":" not in name:
        name = dns.find(name)["A"][0]
    return socket.create_connection((name, int(port)), 10)


def drip(sock):
    """A head without an end, a byte now and then."""
    for byte in b"HTTP/1.1 200 OK\r\nx: " + b"y" * 100:
        sock.sendall(bytes([byte]))
        time.sleep(0.5)


def flood(sock):
    """Nor has this one, which is as fast as it is read."""
    sock.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        sock.sendall((b"x-%d: " % time.monotonic_ns() + b"y" * 1000 +
                      b"\r\n") * 64)


def glue(sock, target):
    """What the server says first is in one piece with the head, which speaks
    of a body, too: a tunnel has none."""
    with connect_for(target) as other:
        sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n" +
                     other.recv(4096))
        carry(sock, other)


SICK = {
    3140: lambda sock, _: sock.sendall(
        b"HTTP/1.1 503 Gone\r\ncontent-length: 9\r\n\r\nno, sorry"),
    3141: lambda sock, _: sock.sendall(bytes(range(256)) * 40),
    3142: lambda sock, _: sock.sendall(b"HTTP/1.1 200 Conn"),
    3143: lambda sock, _: sock.sendall(
        b"HTTP/1.1 302 There\r\nlocation: http://site.test/\r\n"
        b"content-length: 0\r\n\r\n"),
    3144: lambda sock, _: sock.close(),
    3145: lambda sock, _: sock.sendall(b"HTTP/1.1 200 OK\r\nx: " +
                                       b"y" * 200000 + b"\r\n\r\n"),
    3150: lambda sock, _: drip(sock),
    3151: lambda sock, _: sock.recv(1),
    3152: lambda sock, _: flood(sock),
    3160: glue,
    3161: lambda sock, _: sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n"),
}


def sick_proxy(log, answer):
    def handle(sock, fields):
        head = b""
        while b"\r\n\r\n" not in head:
            data = sock.recv(4096)
            if not data:
                return
            head += data
        method, target = head.decode("latin-1").split()[:2]
        log("proxy", proto="tcp", **fields, method=method, target=target,
            login=None)
        with contextlib.suppress(OSError):
            answer(sock, target)
    return handle


# --- the two roles ---------------------------------------------------------

def play_internet(state, iface):
    log = Log(state / "log" / "inet.jsonl")
    Web.log = staticmethod(log)
    Web.sites = sites.all_sites(state)
    certificates = Certificates(state)
    watch_wire(log, iface)
    serve_udp(53, dns_udp(log))
    serve_udp(SYNC_PORT, sync_udp(log))
    for port in UDP_ECHO:
        serve_udp(port, echo_udp(log))
    serve_tcp(53, dns_tcp(log))
    for port, hello in BANNERS.items():
        if hello is None:
            WebServer(port).start()
        else:
            serve_tcp(port, banner_tcp(log, hello))
    serve_tcp(HALF_PORT, half_tcp(log))
    for port, login in PROXIES.items():
        serve_tcp(port, proxy_tcp(log, login))
    for port, answer in SICK.items():
        serve_tcp(port, sick_proxy(log, answer))
    WebServer(80).start()
    for port in (443, 4443, RETRY):
        WebServer(port, certificates).start()


def own_addresses():
    out = subprocess.run(["ip", "-o", "addr"], capture_output=True, text=True,
                         check=True).stdout
    return {line.split()[3].split("/")[0] for line in out.splitlines()}


def play_host(state):
    """Services on every address of the Docker host, and who came to them."""
    log = Log(state / "log" / "host.jsonl")
    known = {"at": 0.0, "set": set()}

    def addresses():
        if time.monotonic() - known["at"] > 1:
            known.update(at=time.monotonic(), set=own_addresses())
        return known["set"]
    watch_wire(log, "", addresses)
    serve_udp(SYNC_PORT, sync_udp(log))
    for port in (22, 53, 80, 443, 2375, 5000, 8000):
        serve_tcp(port, banner_tcp(log, b"host service\n"))
    for port in (53, 123, 5353):
        serve_udp(port, echo_udp(log))


def main():
    if sys.argv[1] == "--host":
        state = pathlib.Path(sys.argv[2])
        play_host(state)
    else:
        state = pathlib.Path(sys.argv[1])
        play_internet(state, sys.argv[2])
    print("ready", flush=True)
    threading.Event().wait()


main()
