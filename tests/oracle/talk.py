"""How requests.py talks: HTTP/1.1, its odd shapes, and HTTP/2, as bytes.

No library: a library would mend what is to be seen here. Headers of HTTP/2 are
sent as literals; of an answer's headers only the status is read.
"""
import re
import struct

KEY = b"AAAAAAAAAAAAAAAAAAAAAA=="
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
END_STREAM, END_HEADERS, ACK = 1, 4, 1


class Closed(Exception):
    pass


# --- HTTP/1.1 ---


def spelled(shape, scheme, host, method, path, port):
    """The bytes of a request of one shape."""
    target, lines, body = path, [f"Host: {host}", "X-Secret: mine"], ""
    if shape == "fold":
        lines.insert(1, "X-Fold: a\r\n b")
    elif shape == "clte":
        lines += ["Content-Length: 4", "Transfer-Encoding: chunked"]
        body = "0\r\n\r\n"
    elif shape == "full":
        target = f"{scheme}://{host}{path}"
    elif shape == "other":
        target = f"{'http' if scheme == 'https' else 'https'}://{host}{path}"
    elif shape in ("websocket", "foo", "h2c"):
        lines += ["Connection: Upgrade", f"Upgrade: {shape}"]
        if shape == "websocket":
            lines += ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: " + KEY.decode()]
    elif shape == "port":
        lines[0] += f":{port}"
    elif shape == "dot":
        lines[0] += "."
    elif shape == "upper":
        lines[0] = f"Host: {host.upper()}"
    text = "\r\n".join([f"{method} {target} HTTP/1.1", *lines, "", ""]) + body
    return (text.replace("\r\n", "\n") if shape == "lf" else text).encode()


def answer(s, data):
    """One answer of HTTP/1.1: status, headers, body, and what came behind it."""
    while b"\r\n\r\n" not in data:
        more = s.recv(65536)
        if not more:
            raise Closed(data)
        data += more
    head, data = data.split(b"\r\n\r\n", 1)
    status = int(head.split()[1])
    size = re.search(rb"\r\ncontent-length: *(\d+)", head, re.I)
    size = int(size.group(1)) if size and status != 101 else 0
    while len(data) < size:
        more = s.recv(65536)
        if not more:
            raise Closed(data)
        data += more
    return status, head.decode("latin-1"), data[:size].decode("latin-1"), data[size:]


# --- HTTP/2 ---


def frame(kind, flags, stream, payload=b""):
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


def length(n):
    """An integer with a prefix of 7 bits, RFC 7541, 5.1."""
    if n < 127:
        return bytes([n])
    n, out = n - 127, b"\x7f"
    while n >= 128:
        out += bytes([n % 128 + 128])
        n //= 128
    return out + bytes([n])


def literal(name, value):
    """RFC 7541, 6.2.3."""
    name, value = name.encode(), value.encode()
    return b"\x10" + length(len(name)) + name + length(len(value)) + value


def status_of(block):
    """By its index, as HAProxy writes a few, or as a literal with that name."""
    if block[:1] in (b"\x88", b"\x8c"):
        return 200 if block[:1] == b"\x88" else 400
    found = re.search(rb"[\x08\x48]\x03(\d\d\d)", block)
    return int(found.group(1)) if found else 0


def frames(s, data=b""):
    while True:
        while len(data) < 9 or len(data) < 9 + int.from_bytes(data[:3], "big"):
            more = s.recv(65536)
            if not more:
                return
            data += more
        size = int.from_bytes(data[:3], "big")
        yield data[3], data[4], int.from_bytes(data[5:9], "big"), data[9:9 + size]
        data = data[9 + size:]


def multiplexed(s, requests):
    """All requests at once; (status, body) of each, in their order. A request: [(name, value)]."""
    out = PREFACE + frame(SETTINGS, 0, 0)
    answers, left = {}, set()
    for i, headers in enumerate(requests):
        stream = 2 * i + 1
        out += frame(HEADERS, END_STREAM | END_HEADERS, stream, b"".join(literal(*h) for h in headers))
        answers[stream] = [0, b""]
        left.add(stream)
    s.sendall(out)
    for kind, flags, stream, payload in frames(s):
        if kind == HEADERS and stream in answers:
            answers[stream][0] = answers[stream][0] or status_of(payload)
        elif kind == DATA and stream in answers:
            answers[stream][1] += payload
        elif kind == SETTINGS and not flags & ACK:
            s.sendall(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            s.sendall(frame(PING, ACK, 0, payload))
        if kind == RST_STREAM or (kind in (HEADERS, DATA) and flags & END_STREAM):
            left.discard(stream)
        if kind == GOAWAY or not left:
            break
    return [(status, body.decode("latin-1")) for status, body in answers.values()]


def serve(s, data):
    """An origin that says 200 to every request, and nothing else."""
    s.sendall(frame(SETTINGS, 0, 0))
    for kind, flags, stream, _ in frames(s, data):
        if kind == HEADERS:
            s.sendall(frame(HEADERS, END_STREAM | END_HEADERS, stream, b"\x88"))
        elif kind == SETTINGS and not flags & ACK:
            s.sendall(frame(SETTINGS, ACK, 0))
