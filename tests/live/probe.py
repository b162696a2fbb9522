"""Runs inside the sandbox: try things, say what happened.

    python3 probe.py '[["tcp", "11.0.1.1", 443], ["resolve", "site.test"]]'

prints one JSON list with one result per attempt: {"ok": ..., "error": "name
of the errno or exception", "ms": how long it took, ...}. It only reports:
whether something got out is for the log out there to say.
"""
import errno
import json
import os
import random
import socket
import ssl
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request

try:
    from wire import (cert, half_close, half_closed, hello, http,  # noqa: F401
                      late, second, silent, slowly, websocket)
except ImportError:   # only where a test put it (l7.py)
    pass

TYPES = {"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "NULL": 10, "PTR": 12,
         "MX": 15, "TXT": 16, "AAAA": 28, "SRV": 33, "AXFR": 252,
         "HTTPS": 65, "ANY": 255}


def family(addr):
    return socket.AF_INET6 if ":" in addr else socket.AF_INET


def tcp(host, port, data="probe"):
    with socket.create_connection((host, port), 4) as s:
        s.sendall(data.encode())
        s.settimeout(1)
        try:
            return {"data": s.recv(200).decode("latin-1")}
        except socket.timeout:
            return {"data": ""}


def udp(host, port, data="probe"):
    with socket.socket(family(host), socket.SOCK_DGRAM) as s:
        s.settimeout(1)
        s.connect((host, port))
        s.send(data.encode())
        return {"data": s.recv(2000).decode("latin-1")}


def get(url, method="GET", body=None, headers=None):
    request = urllib.request.Request(
        url, method=method, data=body.encode() if body else None,
        headers=headers or {})
    with urllib.request.urlopen(request, timeout=8) as answer:
        return {"data": answer.read(4000).decode("latin-1"),
                "code": answer.status}


def resolve(name):
    found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return {"addresses": sorted({a[4][0] for a in found})}


def put_name(name):
    """As in a master file: \\056 is a dot within a label."""
    out = b""
    for label in name.split("."):
        if label:
            raw = label.replace("\\056", ".").encode("latin-1")
            out += bytes([len(raw)]) + raw
    return out + b"\0"


def skip_name(data, at):
    labels, end, hops = [], None, 0
    while data[at]:
        if data[at] & 0xc0 == 0xc0:
            end = end or at + 2
            at, hops = (data[at] & 0x3f) << 8 | data[at + 1], hops + 1
            if hops > 30:
                raise ValueError("a loop of pointers")
            continue
        labels.append(data[at + 1:at + 1 + data[at]].decode("latin-1"))
        at += 1 + data[at]
    return ".".join(labels), end or at + 1


def answers(data):
    qd, an = struct.unpack("!HH", data[4:8])
    at, out = 12, []
    for _ in range(qd):
        at = skip_name(data, at)[1] + 4
    for _ in range(an):
        name, at = skip_name(data, at)
        kind, _, ttl, size = struct.unpack("!HHIH", data[at:at + 10])
        raw = data[at + 10:at + 10 + size]
        if kind in (1, 28):
            text = socket.inet_ntop(
                socket.AF_INET if kind == 1 else socket.AF_INET6, raw)
        elif kind in (2, 5, 12):
            text = skip_name(data, at + 10)[0]
        else:
            text = raw.decode("latin-1")
        out.append([name, kind, ttl, text])
        at += 10 + size
    return out


def stream_read(s, n):
    data = b""
    while len(data) < n:
        part = s.recv(n - len(data))
        if not part:
            raise EOFError("the connection ended")
        data += part
    return data


def dns(server, name, kind="A", tcp=False, questions=1, qclass=1, edns=0,
        flags=0x0100, wait=4, extra=""):
    """One raw query. questions > 1 repeats the name as q2.NAME, q3.NAME."""
    ident = random.randrange(65536)
    number = TYPES[kind] if isinstance(kind, str) else kind
    body = b""
    for i in range(questions):
        shown = name if i == 0 else "q%d.%s" % (i + 1, name)
        body += put_name(shown) + struct.pack("!HH", number, qclass)
    if edns:
        body += b"\0" + struct.pack("!HHIH", 41, edns, 0, 0)
    query = struct.pack("!HHHHHH", ident, flags, questions, 0, 0,
                        1 if edns else 0) + body + extra.encode("latin-1")
    if tcp:
        with socket.create_connection((server, 53), wait) as s:
            s.sendall(struct.pack("!H", len(query)) + query)
            size = struct.unpack("!H", stream_read(s, 2))[0]
            reply = stream_read(s, size)
    else:
        with socket.socket(family(server), socket.SOCK_DGRAM) as s:
            s.settimeout(wait)
            s.connect((server, 53))
            s.send(query)
            reply = s.recv(65535)
    got, bits = struct.unpack("!HH", reply[:4])
    return {"rcode": bits & 15, "tc": bool(bits & 0x200), "size": len(reply),
            "id": got == ident, "answers": answers(reply)}


def ping(addr):
    """An ICMP socket of the kind that needs no capability."""
    six = ":" in addr
    proto = socket.IPPROTO_ICMPV6 if six else socket.IPPROTO_ICMP
    with socket.socket(family(addr), socket.SOCK_DGRAM, proto) as s:
        s.settimeout(1)
        s.sendto(struct.pack("!BBHHH", 128 if six else 8, 0, 0xf7ff - six, 0,
                             0), (addr, 0))
        return {"size": len(s.recv(200))}


def raw(addr, proto):
    with socket.socket(family(addr), socket.SOCK_RAW, proto) as s:
        s.sendto(b"raw probe", (addr, 0))
    return {}


def packet():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3).close()
    return {}


def sctp(addr, port):
    with socket.socket(family(addr), socket.SOCK_STREAM, 132) as s:
        s.settimeout(1)
        s.connect((addr, port))
    return {}


def sh(command):
    done = subprocess.run(["sh", "-c", command], capture_output=True,
                          timeout=30, check=False)
    return {"status": done.returncode, "out": done.stdout.decode("latin-1"),
            "err": done.stderr.decode("latin-1"), "ok": done.returncode == 0}


def open_sockets(addr, ports):
    """Which of the ports accept."""
    out = []
    for port in ports:
        try:
            socket.create_connection((addr, port), 1).close()
            out.append(port)
        except OSError:
            pass
    return {"open": out, "ok": bool(out)}


def attempt(what, *args):
    start = time.monotonic()
    try:
        named = {}
        if args and isinstance(args[-1], dict):
            *args, named = args
        result = globals()[what](*args, **named)
        result.setdefault("ok", True)
    except (OSError, EOFError, ValueError, struct.error,
            subprocess.SubprocessError) as e:
        inner = getattr(e, "reason", e)
        code = getattr(inner, "errno", None) or getattr(e, "errno", None)
        if isinstance(inner, ssl.SSLError):
            code = None
        result = {"ok": False, "error": errno.errorcode.get(code) or
                  type(inner).__name__, "said": str(e)}
        if isinstance(e, urllib.error.HTTPError):
            result["code"] = e.code
            result["data"] = e.read(4000).decode("latin-1")
            result["type"] = e.headers.get("Content-Type", "")
    result["ms"] = round((time.monotonic() - start) * 1000, 1)
    return result


if __name__ == "__main__":
    os.environ.setdefault("PATH", "/usr/bin:/bin")
    print(json.dumps([attempt(*a) for a in json.loads(sys.argv[1])]))
