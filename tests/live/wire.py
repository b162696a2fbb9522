"""Runs inside the sandbox, with probe.py: bytes that no library would send.

TLS hellos are made by OpenSSL and then taken apart and put together again
wrongly; HTTP is what the test writes.
"""
import base64
import os
import re
import socket
import ssl
import struct
import time

ALPN = ["http/1.1"]


# --- TLS hellos ------------------------------------------------------------

def hello_bytes(name):
    """A genuine ClientHello: the handshake message, without its record."""
    context = ssl.create_default_context()
    out = ssl.MemoryBIO()
    tls = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name)
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()[5:]


def take_apart(hello):
    """(all up to the extensions, [(type, data)])."""
    at = 4 + 2 + 32
    at += 1 + hello[at]
    at += 2 + struct.unpack("!H", hello[at:at + 2])[0]
    at += 1 + hello[at]
    head, at, extensions = hello[4:at], at + 2, []
    while at < len(hello):
        kind, size = struct.unpack("!HH", hello[at:at + 4])
        extensions.append((kind, hello[at + 4:at + 4 + size]))
        at += 4 + size
    return head, extensions


def put_together(head, extensions, lie=0):
    body = b"".join(struct.pack("!HH", k, len(d)) + d for k, d in extensions)
    message = head + struct.pack("!H", len(body) + lie) + body
    return b"\1" + struct.pack("!I", len(message))[1:] + message


def sni(*names):
    out = b"".join(b"\0" + struct.pack("!H", len(n)) + n for n in (
        x.encode("latin-1") for x in names))
    return 0, struct.pack("!H", len(out)) + out


def record(data, version=b"\3\1"):
    return b"\x16" + version + struct.pack("!H", len(data)) + data


def shifted(head, extensions, shown, real):
    """Cut inside an extension such that a reader who takes the header of the
    second record for five bytes of the hello sees another name first."""
    rest = [e for e in extensions if e[0] != 0]
    inner = struct.pack("!HH", 0, len(sni(shown)[1])) + sni(shown)[1]
    first = bytes(24) + struct.pack("!HH", 0x7a7a, 5) + b"\0"
    message = put_together(head, [(0x5a5a, first), (0x6a6a, inner),
                                  sni(real)] + rest)
    cut = message.index(bytes(24)) + 10
    while message[cut - 10:cut + 14] != bytes(24):
        cut += 1
    return record(message[:cut]) + record(message[cut:])


def renamed(message, *names):
    """The same hello with other names in it; without any, with none."""
    head, extensions = take_apart(message)
    out = []
    for kind, data in extensions:
        if kind == 0 and not names:
            continue
        out.append(sni(*names) if kind == 0 else (kind, data))
    return put_together(head, out)


def with_extension(message, kind, data):
    head, extensions = take_apart(message)
    return put_together(head, extensions + [(kind, data)])


def with_early_data(message):
    """As if it knew a secret of the server's: RFC 8446, 4.2.10 and 4.2.11."""
    secret = (b"\0\x26\0\x20" + bytes(32) + bytes(4) +
              b"\0\x21\x20" + bytes(32))
    return with_extension(with_extension(message, 42, b""), 41, secret)


def shape(how, name, other):
    """The bytes of a hello of one shape."""
    message = hello_bytes(name)
    head, extensions = take_apart(message)
    without = [e for e in extensions if e[0] != 0]
    half = len(message) // 2
    return {
        "good": lambda: record(message),
        "none": lambda: record(put_together(head, without)),
        "empty": lambda: record(put_together(head, [sni("")] + without)),
        "two names": lambda: record(put_together(
            head, [sni(name, other)] + without)),
        "two extensions": lambda: record(put_together(
            head, [sni(name), sni(other)] + without)),
        "ech": lambda: record(put_together(
            head, extensions + [(0xfe0d, b"\0\0\1\0\1\7\0\x20" + bytes(32) +
                                 b"\0\x80" + bytes(128))])),
        "esni": lambda: record(put_together(
            head, extensions + [(0xffce, bytes(64))])),
        "split": lambda: record(message[:half]) + record(message[half:]),
        "split early": lambda: record(message[:2]) + record(message[2:]),
        "shifted": lambda: shifted(head, extensions, name, other),
        "record too long": lambda: b"\x16\3\1" + struct.pack(
            "!H", len(message) + 40) + message,
        "record too short": lambda: b"\x16\3\1" + struct.pack(
            "!H", len(message) - 40) + message,
        "message too long": lambda: record(
            b"\1" + struct.pack("!I", len(message) + 36)[1:] + message[4:]),
        "extensions too long": lambda: record(put_together(
            head, extensions, 20)),
        "extensions too short": lambda: record(put_together(
            head, extensions, -20)),
        "nul": lambda: record(put_together(
            head, [sni(name + "\0." + other)] + without)),
        "dot": lambda: record(put_together(head, [sni(name + ".")] +
                                           without)),
        "upper": lambda: record(put_together(head, [sni(name.upper())] +
                                             without)),
        "quote": lambda: record(put_together(
            head, [sni(name + '"\r\n')] + without)),
        "address": lambda: record(put_together(
            head, [sni("11.0.1.1")] + without)),
        "long": lambda: record(put_together(
            head, [sni("a." * 200 + name)] + without)),
        "sslv2": lambda: b"\x80\x2e\1\0\2\0\x15\0\0\0\x10" + bytes(37),
        "padded": lambda: record(put_together(
            head, extensions + [(0x7a7a, bytes(14000))])),
    }[how]()


def read_some(s, wait=3.0, most=65536):
    """What comes until the other end is silent for a while, or closes."""
    s.settimeout(wait)
    data, end = b"", "silent"
    try:
        while len(data) < most:
            part = s.recv(65536)
            if not part:
                end = "closed"
                break
            data += part
            s.settimeout(min(wait, 1.0))
    except socket.timeout:
        pass
    except OSError as e:
        end = type(e).__name__
    return data, end


def hello(host, port, how, name, other="", dribble=0, wait=20):
    """Send one hello; ok when a server answered with a handshake message."""
    data = shape(how, name, other)
    with socket.create_connection((host, port), 4) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if dribble:
            for i in range(0, len(data), dribble):
                s.sendall(data[i:i + dribble])
                time.sleep(0.002)
        else:
            s.sendall(data)
        got, end = read_some(s, wait)
    return {"ok": got[:1] == b"\x16", "size": len(got), "end": end,
            "error": "no handshake", "first": got[:6].hex()}


# --- second hellos ---------------------------------------------------------

CHANGE = b"\x14\3\3\0\1\1"
EARLY = b"\x17\3\3\0\x40" + bytes(64)


def stepped(s, first, back):
    """Send the first hello; what a client says to the server's answer."""
    s.sendall(record(first))
    answer = stream(s, 5)
    answer += stream(s, struct.unpack("!H", answer[3:5])[0])
    back.write(answer)
    return answer


def stream(s, n):
    data = b""
    while len(data) < n:
        part = s.recv(n - len(data))
        if not part:
            raise EOFError("the connection ended")
        data += part
    return data


def both_hellos(host, port, name):
    """(first hello, second hello) as a client sends them to a server that wants
    another key than the first one offers."""
    context = ssl.create_default_context()
    back, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(back, out, server_hostname=name)
    with socket.create_connection((host, port), 4) as s:
        s.settimeout(7)
        for step in range(2):
            try:
                tls.do_handshake()
            except ssl.SSLWantReadError:
                pass
            if step == 0:
                first = out.read()[5:]
                stepped(s, first, back)
    second = out.read()
    if second.startswith(CHANGE):
        second = second[len(CHANGE):]
    return first, second[5:]


def second_parts(how, first, second, name, other):
    """What is sent at once, and then what after each answer."""
    wrong = renamed(second, other)
    half = len(wrong) // 2
    return {
        "same": lambda: [record(first), CHANGE + record(second)],
        "upper": lambda: [record(first),
                          CHANGE + record(renamed(second, name.upper()))],
        "other": lambda: [record(first), CHANGE + record(wrong)],
        "bare": lambda: [record(first), record(wrong)],
        "nameless": lambda: [record(first), CHANGE + record(renamed(second))],
        "two names": lambda: [record(first), CHANGE + record(
            renamed(second, name, other))],
        "ech": lambda: [record(first), CHANGE + record(with_extension(
            second, 0xfe0d, b"\0\0\1\0\1\7\0\x20" + bytes(32) +
            b"\0\x80" + bytes(128)))],
        "split": lambda: [record(first), CHANGE + record(wrong[:half]) +
                          record(wrong[half:])],
        "split, same": lambda: [record(first), CHANGE + record(
            second[:half]) + record(second[half:])],
        "bytes": lambda: [record(first), CHANGE + b"".join(
            record(wrong[i:i + 1]) for i in range(len(wrong)))],
        "early": lambda: [record(with_early_data(first)), EARLY + CHANGE +
                          record(wrong)],
        "early, at once": lambda: [record(with_early_data(first)) + EARLY,
                                   CHANGE + record(wrong)],
        "early, same": lambda: [record(with_early_data(first)) + EARLY,
                                CHANGE + record(second)],
        "at once": lambda: [record(first) + CHANGE + record(wrong)],
        "behind": lambda: [record(first), CHANGE + record(
            b"\x18\0\0\1\0" + wrong)],
        "third": lambda: [record(first), CHANGE + record(second) +
                          record(wrong)],
        "alert": lambda: [record(first), b"\x15\3\3\0\2\1\x5a" +
                          record(wrong)],
        "SSLv2": lambda: [record(first), b"\x80\x2e\1\3\1\0\x15\0\0\0\x10" +
                          bytes(37)],
    }[how]()


def second(host, port, how, name, other="", dribble=0):
    """A second hello, in one of many shapes; ok when it was answered."""
    parts = second_parts(how, *both_hellos(host, port, name), name, other)
    with socket.create_connection((host, port), 4) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        s.settimeout(7)
        for part in parts[:-1]:
            s.sendall(part)
            size = stream(s, 5)
            stream(s, struct.unpack("!H", size[3:])[0])
        step = dribble or len(parts[-1])
        for i in range(0, len(parts[-1]), step):
            s.sendall(parts[-1][i:i + step])
            time.sleep(0.002 if dribble else 0)
        got, end = read_some(s, 20)
    return {"ok": b"\x16\3\3" in got, "size": len(got), "end": end,
            "error": end, "first": got[:6].hex()}


# --- inside TLS ------------------------------------------------------------

def client(host, port, name, alpn=None, verify=True):
    """A TLS connection that is open."""
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(alpn or ALPN)
    raw = socket.create_connection((host, port), 5)
    raw.settimeout(8)
    try:
        return context.wrap_socket(raw, server_hostname=name)
    except BaseException:
        raw.close()
        raise


def cert(host, port, name, alpn=None):
    """Who signed the certificate that is shown, and for whom it is."""
    with client(host, port, name, alpn) as s:
        shown = s.getpeercert()
        return {"issuer": dict(x[0] for x in shown["issuer"]).get(
            "commonName", ""), "alpn": s.selected_alpn_protocol(),
            "version": s.version(),
            "names": [v for _, v in shown.get("subjectAltName", ())]}


def statuses(data):
    return [int(n) for n in re.findall(rb"HTTP/1\.[01] (\d\d\d)[ \r]", data)]


def sent(s, data, wait, pause):
    parts = data.split("\0PAUSE\0")
    for i, part in enumerate(parts):
        if i:
            time.sleep(pause)
        s.sendall(part.encode("latin-1"))
    got, end = read_some(s, wait)
    codes = statuses(got)
    return {"ok": bool(codes) and max(codes) < 400, "codes": codes,
            "end": end, "error": str(codes or end),
            "data": got[-3000:].decode("latin-1")}


def http(host, port, data, name=None, wait=3, pause=0.3, alpn=None):
    """Write these bytes, inside TLS when a name is given; read answers."""
    s = client(host, port, name, alpn) if name else \
        socket.create_connection((host, port), 5)
    with s:
        return sent(s, data, wait, pause)


def websocket(host, port, name, path="/ws", tls=True, said="ping"):
    """Open one, say something, hear it again."""
    s = client(host, port, name) if tls else \
        socket.create_connection((host, port), 5)
    with s:
        s.settimeout(5)
        s.sendall(("GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\n"
                   "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: %s\r\n\r\n" % (
                       path, name, base64.b64encode(os.urandom(16)).decode())
                   ).encode())
        head = b""
        while b"\r\n\r\n" not in head:
            part = s.recv(1)
            if not part:
                break
            head += part
        codes = statuses(head)
        if codes != [101]:
            return {"ok": False, "codes": codes, "error": str(codes)}
        mask, data = os.urandom(4), said.encode()
        s.sendall(bytes([0x81, 0x80 | len(data)]) + mask + bytes(
            b ^ mask[i % 4] for i, b in enumerate(data)))
        back = s.recv(2 + len(data))
        return {"ok": back[2:] == data, "codes": codes,
                "data": back.decode("latin-1")}


# --- connections -----------------------------------------------------------

def half_close(host, port, data):
    """Write, close our half, and read what comes all the same."""
    with socket.create_connection((host, port), 5) as s:
        s.sendall(data.encode())
        s.shutdown(socket.SHUT_WR)
        got, end = read_some(s, 5)
    return {"data": got.decode("latin-1"), "end": end, "ok": end == "closed"}


def half_closed(host, port, size):
    """Read until the other half is closed, then write on."""
    with socket.create_connection((host, port), 5) as s:
        got, end = read_some(s, 5)
        time.sleep(0.3)
        s.sendall(b"x" * size)
        s.shutdown(socket.SHUT_WR)
        time.sleep(0.3)
    return {"data": got.decode("latin-1"), "end": end, "ok": True}


def silent(host, port, wait=12):
    """Say nothing: what does the other end say, and when?"""
    with socket.create_connection((host, port), 5) as s:
        s.settimeout(wait)
        got = s.recv(200)
    return {"data": got.decode("latin-1"), "ok": bool(got), "error": "silent"}


def late(host, port, how, name, other="", pause=0.0, first=""):
    """Say nothing, or something else, and only later a hello or a request
    (how is then its text)."""
    data = how.encode("latin-1") if "\r\n" in how else \
        shape(how, name, other)
    with socket.create_connection((host, port), 5) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if first:
            s.sendall(first.encode("latin-1"))
        time.sleep(pause)
        s.sendall(data)
        got, end = read_some(s, 5)
    return {"ok": b"\x16\3" in got or 200 in statuses(got), "end": end,
            "error": end, "data": got[:300].decode("latin-1")}


def slowly(host, port, data, pause=0.05, name=None):
    """A request, byte after byte."""
    s = client(host, port, name) if name else \
        socket.create_connection((host, port), 5)
    with s:
        for c in data:
            s.sendall(c.encode("latin-1"))
            time.sleep(pause)
        got, end = read_some(s, 5)
    codes = statuses(got)
    return {"ok": codes == [200], "codes": codes, "end": end,
            "error": str(codes)}
