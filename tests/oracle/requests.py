"""The live half of requests.c: one HAProxy per policy, and its requests.

Runs in a network namespace of its own. Addresses of the internet are on its
loopback; HAProxy's own connections reach the server there.
"""
import base64
import concurrent.futures
import contextlib
import hashlib
import ipaddress
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import talk  # noqa: E402
from gate import TIMEOUT_S, TOP, Bad, Gate, Person, certificates, judged, network  # noqa: E402

NAMES = ["test", "a.test", "b.a.test", "c.b.a.test", "d.c.b.a.test", "x.test", "b.x.test", "other.example", "a.example"]
ADDRESSES = ("1.2.3.4/32", "1.2.3.5/32", "10.0.0.1/32", "2606:4700::5/128", "fd00::1/128")
PORTS = (80, 443, 8000, 8080, 8443)
SIDE_BY_SIDE = 16
PERMITTED = ("granted", "answered", "no handshake")
# RFC 6455, 4.2.2, of the one key that talk.py sends.
ACCEPTED = base64.b64encode(hashlib.sha1(talk.KEY + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())


class Origin:
    """Answers every request, on every port, by TLS or without, and says what it got."""

    def __init__(self):
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(TOP / "origin.pem")
        for port in PORTS:
            s = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=64)
            threading.Thread(target=self.accept, args=(s,), daemon=True).start()

    def accept(self, s):
        while True:
            c, _ = s.accept()
            threading.Thread(target=self.serve, args=(c,), daemon=True).start()

    def serve(self, c):
        try:
            c.settimeout(TIMEOUT_S)
            if c.recv(1, socket.MSG_PEEK) == b"\x16":
                c = self.tls.wrap_socket(c, server_side=True)
            with c:
                data = b""
                while True:
                    head, data = self.upto(c, data, b"\r\n\r\n")
                    if head.startswith(b"PRI "):
                        talk.serve(c, self.upto(c, data, b"SM\r\n\r\n")[1])
                        return
                    if b"\r\ntransfer-encoding: chunked" in head.lower():
                        _, data = self.upto(c, data, b"0\r\n\r\n")
                    if b"\r\nupgrade: websocket" in head.lower():
                        c.sendall(b"HTTP/1.1 101 OK\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: "
                                  + ACCEPTED + b"\r\n\r\n" + head)
                        echo(c)
                        return
                    body = json.dumps(head.decode("latin-1").split("\r\n")).encode()
                    c.sendall(b"HTTP/1.1 200 OK\r\nX-Origin: yes\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        except OSError:
            pass

    @staticmethod
    def upto(c, data, end):
        while end not in data:
            more = c.recv(65536)
            if not more:
                raise OSError("closed")
            data += more
        return data.split(end, 1)


class Asked(Person):
    """Answers by a table: of one connection at a time."""

    def __init__(self, gate):
        lines = (gate.plan / "profiles.map").read_text().splitlines()[1:]
        self.profiles = [line.split(" ") for line in lines]
        self.c, self.wrong = None, []
        super().__init__(gate)

    def says(self, what):
        """A token of the entry by which the connection was permitted, where that is about this."""
        for token, pattern, entry in self.profiles:
            if entry == self.c.yes != "-" and matches(pattern, what, self.c.addr):
                return token
        return None

    def answer(self, kind, addr, port, _, *more):
        c = self.c
        if kind == "conn":
            return f"yes {'strict' if c.entry == 4 else 'raw'} {addr} 7"
        if kind == "hello":
            # The gate's own: a yes is to the name that led there.
            token = self.says(more[0])
            return f"yes {token}" if token else "no -"
        token, name, scheme, method, path = more
        if self.says(name):
            return f"yes {addr}"
        key = name, int(port), scheme == "https", method, path
        for r in c.requests:
            want = r.want.split("|")[0]
            if r.key(c) == key and want in ("answered", "answered-no"):
                if not token.startswith("a") or not any(line[0] == token and matches(line[1], name, addr) for line in self.profiles):
                    self.wrong.append(f"{key}: asked for {token}")
                return f"yes {addr}" if want == "answered" else "no answered-no"
        self.wrong.append(f"asked about {key}")
        return "no answered-no"


def matches(pattern, name, addr):
    """Of profiles.map: an address in a network, a name, "**." for one label or more, "*" within one."""
    if "/" in pattern:
        return ipaddress.ip_address(addr) in ipaddress.ip_network(pattern)
    if pattern in ("*", "**"):
        # Who states an address states no name that led to a private one.
        return name != addr or not ipaddress.ip_address(addr).is_private
    text = "".join({"**": r"[^.]+(\.[^.]+)*", "*": r"[^.]*"}.get(p, re.escape(p)) for p in re.split(r"(\*+)", pattern))
    return re.fullmatch(text, name) is not None


class AskedGate(Gate):
    person = Asked


def connect(gate, c):
    """An open connection, or why HAProxy refused the hello."""
    s = socket.socket(socket.AF_INET6 if ":" in c.addr else socket.AF_INET)
    s.settimeout(TIMEOUT_S)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, c.entry)
    gate.drain()
    s.connect((c.addr, c.port))
    if not c.tls:
        return s, None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if c.h2:
        context.set_alpn_protocols(["h2", "http/1.1"])
    try:
        return context.wrap_socket(s, server_hostname=None if c.sni == "-" else c.sni), None
    except OSError:
        s.close()
    try:
        while (r := gate.record(("conn",)))["verdict"] != "deny":
            pass
        return None, r["reason"]
    except OSError:
        return None, "no handshake"


def ask(gate, c, r, s, data):
    """A connection, and the answer on it: another one where s has ended, but not where it hangs."""
    sent = talk.spelled(r.shape, "https" if c.tls else "http", r.host, r.method, r.path, c.port)
    if s:
        with contextlib.suppress(talk.Closed, ConnectionError):
            s.sendall(sent)
            return s, *talk.answer(s, data)
    s, refused = connect(gate, c)
    if not s:
        raise OSError(f"the hello of another connection: {refused}")
    s.sendall(sent)
    return s, *talk.answer(s, b"")


def turns(gate, c, s):
    """Its requests one after the other, on as few connections as they take."""
    data = b""
    for r in c.requests:
        try:
            s, status, _, body, data = ask(gate, c, r, s, data)
        except (talk.Closed, OSError) as e:
            s = None
            yield f"? {e!r}", ""
            continue
        if status == 101:
            while b"\r\nhost:" not in data.lower():
                data += s.recv(65536)
            body = json.dumps(data.decode("latin-1").split("\r\n"))
            s.sendall(b"\x81\x00")
            if s.recv(100) != b"got:\x81\x00":
                status = 0
            s.close()
            s = None
        yield judged(status, body), body


def streams(c, s):
    """The same all at once, over HTTP/2."""
    asked = []
    for r in c.requests:
        headers = [(":method", r.method), (":scheme", "https" if c.tls else "http"), (":authority", r.host),
                   (":path", r.path), ("x-secret", "mine")]
        if r.shape == "two names":
            headers.append(("host", "x.test"))
        asked.append(headers)
    for status, body in talk.multiplexed(s, asked):
        yield judged(status, body), body


class Request:
    def __init__(self, line):
        self.line = line
        shape, self.host, self.method, self.want, self.path = line.split(" ", 4)
        self.shape = shape.replace("_", " ")

    def is_wanted(self, verdict):
        if self.want == "refused":
            return verdict not in PERMITTED
        return verdict.replace("granted", "answered") in self.want.replace("granted", "answered").split("|")

    def key(self, c):
        """As it is asked about."""
        return self.host, c.port, c.tls, self.method, self.path.split("?")[0]


class Connection:
    def __init__(self, line):
        self.line = line
        tls, entry, self.addr, port, self.sni, decrypts, h2, net, self.yes = line.split(" ")
        self.net = net == "1"  # granted as such, and names are denied there
        self.tls, self.decrypts, self.h2 = tls == "1", decrypts == "1", h2 == "1"
        self.entry, self.port, self.requests = int(entry), int(port), []


def connections(folder):
    out = []
    for line in (folder / "requests").read_text().splitlines():
        kind, line = line.split(" ", 1)
        if kind == "C":
            out.append(Connection(line))
        else:
            out[-1].requests.append(Request(line))
    return out


def what_arrived(c, r, lines):
    """What is wrong with a request as the origin got it; None: nothing."""
    low = [line.lower() for line in lines]
    if lines[0].split(" ")[:2] != [r.method, r.path]:
        return "another target"
    if [h for h in low if h.startswith("host:")] not in ([f"host: {r.host}"], [f"host: {r.host}."], [f"host: {r.host}:{c.port}"]):
        return "another host"
    if any("\n" in line or line[:1] in (" ", "\t") for line in lines[1:] if line):
        return "a line end that is none"
    framing = [h.split(":")[0] for h in low if h.startswith(("content-length:", "transfer-encoding:"))]
    if len(framing) > 1:
        return "two framings"
    upgrade = [h for h in low if h.startswith("upgrade:")]
    if upgrade and r.shape != "websocket":
        return "an offer to upgrade"
    return None


def count(counts, c, r):
    for key in [r.want.split("|")[0]] + ["to a network: " + r.want.split("|")[0]] * c.net:
        counts[key] = counts.get(key, 0) + 1


def converse(gate, origin_leaf, c, counts):
    """Differences between decide and HAProxy on one connection."""
    s, refused = connect(gate, c)
    if not s:
        for r in c.requests:
            count(counts, c, r)
            if not r.is_wanted(refused):
                yield r, f"decide says {r.want}, HAProxy {refused} of the hello"
        return
    if c.tls and (s.getpeercert(True) != origin_leaf) != c.decrypts:
        yield c.requests[0], f"decrypted: decide says {c.decrypts}"
    h2 = c.h2 and (not c.tls or s.selected_alpn_protocol() == "h2")
    if c.decrypts and c.tls and c.h2 and not h2:
        yield c.requests[0], "no HTTP/2"
    with s:
        got = list(streams(c, s) if h2 else turns(gate, c, s))
    if len(got) != len(c.requests):
        yield c.requests[-1], f"{len(got)} answers"
    for r, (verdict, body) in zip(c.requests, got):
        count(counts, c, r)
        if not r.is_wanted(verdict):
            yield r, f"decide says {r.want}, HAProxy {verdict}"
        elif verdict == "granted" and body and (why := what_arrived(c, r, json.loads(body))):
            yield r, f"{why} arrived: {body}"


def one(folder, origin_leaf, counts):
    gate = AskedGate(folder)
    bad = 0
    try:
        for c in connections(folder):
            began = time.monotonic()
            gate.asked.c = c
            differences = list(converse(gate, origin_leaf, c, counts))
            differences += [(c.requests[0], why) for why in gate.asked.wrong]
            gate.asked.wrong = []
            for r, why in differences:
                bad += 1
                print(f"{folder.name}: {c.line}: {r.line}\n  {why}\n{(folder / 'policy').read_text()}", file=sys.stderr)
            if time.monotonic() - began > 1 and os.environ.get("SLOW"):
                print(f"{time.monotonic() - began:.1f} s: {c.line}", file=sys.stderr)
            if bad > 3:
                break
    finally:
        gate.done()
    return bad


# --- first bytes ---


def echo(c):
    """Says back what it hears; on ports 22 and 2200 it speaks first."""
    try:
        if c.getsockname()[1] in (22, 2200):
            c.sendall(b"hello\n")
        while data := c.recv(4096):
            c.sendall(b"got:" + data)
    except OSError:
        pass


def once(c):
    """Promises to serve on, and closes on the second request."""
    with c, contextlib.suppress(OSError):
        c.recv(65536)
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        c.recv(65536)


def listen(port, serve=echo):
    def loop(s):
        while True:
            c, _ = s.accept()
            threading.Thread(target=serve, args=(c,), daemon=True).start()
    threading.Thread(target=loop, args=(socket.create_server(("0.0.0.0", port)),), daemon=True).start()


def hello(name, extension=b""):
    """A ClientHello as OpenSSL makes it, with one extension more."""
    out = ssl.MemoryBIO()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    b = bytearray(out.read() + extension)
    b[3:5] = (len(b) - 5).to_bytes(2, "big")
    b[6:9] = (len(b) - 9).to_bytes(3, "big")
    p = 43
    p += 1 + b[p]
    p += 2 + int.from_bytes(b[p:p + 2], "big")
    p += 1 + b[p]
    b[p:p + 2] = (len(b) - p - 2).to_bytes(2, "big")
    return bytes(b)


def shapes():
    """What, parts of it, marked how, to which port, after how long, what comes back, and its beginning at most when."""
    get = b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n"
    whole = hello("a.test")
    split = whole[:3] + b"\0\x64" + whole[5:105] + whole[:3] + (len(whole) - 105).to_bytes(2, "big") + whole[105:]
    nothing = rb"\Z"
    yield "the server speaks first", [b""], 1, 22, 0, rb"hello", 0.5
    yield "the server speaks to who has closed", [b"", None], 1, 22, 0, rb"hello", 0.15
    yield "the client speaks first", [b"SSH-2.0-x y\r\n"], 1, 22, 0, rb"hello", 0.15
    for name, text in (("NUL first", b"\0\0\0\x08"), ("NUL later", b"AMQP\0\0\x09\x01"), ("a line", b"get foo\r\n"),
                       ("stars", b"*1\r\n$4\r\nPING\r\n"), ("a NUL in a line", b"get \0foo\r\n")):
        yield "raw, " + name, [text], 1, 9000, 0, rb"got:" + re.escape(text), 0.15
        yield "raw where only HTTP may pass, " + name, [text], 2, 9000, 0, nothing, 0.15
        yield "raw, late, " + name, [text], 1, 9000, 0.5, rb"got:" + re.escape(text), 0.15
    yield "text without an end", [b"ping"], 1, 9000, 0, rb"got:ping\Z", 0.5
    yield "text without an end, late", [b"ping pong"], 1, 9000, 0.5, rb"got:ping pong\Z", 0.15
    yield "a line in pieces", [b"pi", b"ng a", b"b\n", get], 1, 9000, 0, rb"got:pigot:ng agot:b\ngot:GET", 0.5
    yield "a request in pieces", [b"GE", get[2:]], 1, 9000, 0, rb"got:GE\Z", 0.5
    yield "an unknown method in pieces", [b"FOO /", b" HT", b"TP/1.1\r\nHost: x\r\n\r\n"], 1, 9000, 0, rb"got:FOO /got: HT\Z", 0.5
    yield "a NUL in a request line", [b"FOO /\0 HTTP/1.1\r\nHost: evil.test\r\n\r\n"], 1, 9000, 0, rb"HTTP/1.1 400", 0.15
    for name, text in (("blanks in front", b" \t" + get), ("VT between", get.replace(b" ", b"\v", 2)),
                       ("FF between", b"FOO" + get[3:].replace(b" ", b"\f", 2)),
                       ("CR between", get.replace(b" ", b"\r", 2)),
                       ("CR and NUL between", b"FOO\r\0\rHTTP/1.1" + get[14:])):
        yield name, [text], 1, 9000, 0, rb"HTTP/1.1 400", 0.15
        yield name + ", late", [text], 1, 9000, 0.5, nothing, 0.15
        yield name + ", in pieces", [text[:3], text[3:]], 1, 9000, 0, rb"(got:" + re.escape(text[:3]) + rb")?\Z", 0.5
    yield "words that are methods", [b"GET\r\n", b"QUIT\r\n"], 1, 9000, 0, rb"got:GET\r\ngot:QUIT\r\n", 0.15
    yield "words that are methods, late", [b"GET\r", b"\n", b"QUIT\r\n"], 1, 9000, 0.5, rb"got:GET\rgot:\ngot:QUIT\r\n", 0.15
    yield "empty lines before a word", [b"\r\n \r\n", b"QUIT\r\n"], 1, 9000, 0, rb"got:\r\n \r\ngot:QUIT\r\n", 0.5
    yield "empty lines before a request", [b"\r\n \r\n", get], 1, 9000, 0, rb"got:\r\n \r\n\Z", 0.5
    quoted = b"F'O /" + b"x" * 300 + b" HTTP/1.1\r\nHost: evil.test\r\n\r\n"
    yield "a quote in a method", [quoted], 1, 9000, 0, rb"HTTP/1.1 403", 0.15
    yield "a quote in a method, in pieces", [quoted[:3], quoted[3:]], 1, 9000, 0, rb"got:F'O\Z", 0.5
    yield "the same in pieces", [b"FOO /\0", b" HTTP/1.1\r\nHost: evil.test\r\n\r\n"], 1, 9000, 0, rb"got:FOO /\0\Z", 0.5
    yield "a NUL far into it", [b"FOO /" + b"x" * 300 + b"\0 HTTP/1.1\r\nHost: x\r\n\r\n"], 1, 9000, 0, nothing, 0.5
    yield "a long request line", [b"FOO /" + b"x" * 70000, b" HTTP/1.1\r\nHost: x\r\n\r\n"], 1, 9000, 0, rb"(got:|FOO /|x)+\Z", 0.5
    for method in ("GET", "GET", "POST", "POST"):
        text = f"{method} / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        yield method + " to a server that closes idle connections", [text.encode()], 1, 9500, 0, rb"HTTP/1.1 200", 0.15
    for name, text in (("", get), (" behind an empty line", b"\r\n" + get), (" in lower case", b"get" + get[3:]),
                       (" of an unknown method", b"FOO" + get[3:])):
        yield "another Host" + name, [text], 1, 9000, 0, rb"HTTP/1.1 403", 0.15
        yield "another Host, late," + name, [text], 1, 9000, 0.5, nothing, 0.15
        yield "another Host, late, on a port of HTTP," + name, [text], 1, 8080, 0.5, rb"HTTP/1.1 403", 0.15
    yield "TLS, late", [whole], 1, 9000, 0.5, nothing, 0.15
    yield "TLS, late, on a port of TLS", [whole], 1, 443, 0.5, rb"\x16\x03\x03", 0.15
    yield "another name, late, on a port of TLS", [hello("evil.test")], 1, 443, 0.5, nothing, 0.15
    yield "a hello of SSLv2, late", [b"\x80\x2e\x01\x03\x01" + bytes(40)], 1, 9000, 0.5, nothing, 0.15
    for name, text in (("an alert", b"\x15\3\1\0\2\1\x5a"), ("a cipher change", b"\x14\3\3\0\1\1"), ("data", b"\x17\3\1\0\0")):
        yield name + " before a hello", [text + whole], 1, 9000, 0, nothing, 0.15
        yield name + " before a hello, late", [text + whole], 1, 9000, 0.5, nothing, 0.15
        yield name + " before a hello, in pieces", [text[:1], text[1:] + whole], 1, 9000, 0, rb"got:" + re.escape(text[:1]) + rb"\Z", 0.5
    yield "a hello of SSLv2", [b"\x80\x2e\x01\0\2" + bytes(40)], 1, 9000, 0, nothing, 0.15
    yield "a hello of SSLv2, in pieces", [b"\x80", b"\x2e\x01\3\1" + bytes(40)], 1, 9000, 0, rb"got:\x80\Z", 0.5
    for name, text in (("as data", b"\x17\x01x"), ("as SSLv2", b"\x80\x2e\x02\0\2"), ("high", b"\xff\xfb\x01\xff")):
        yield "raw, begins " + name, [text], 1, 9000, 0, rb"got:" + re.escape(text), 0.15
        yield "raw, late, begins " + name, [text], 1, 9000, 0.5, rb"got:" + re.escape(text), 0.15
    for name, text in (("small letters", b"get / http/1.1\r\nhost: evil.test\r\n\r\n"), ("a small version", get.replace(b"HTTP", b"http"))):
        yield "a request in " + name, [text], 1, 9000, 0, rb"HTTP/1.1 400", 0.15
        yield "a request in " + name + ", late", [text], 1, 9000, 0.5, nothing, 0.15
    for name, text in (("a byte order mark", b"\xef\xbb\xbf"), ("a junk line", b"junk\r\n"), ("junk lines", b"a b\n\xff\xff c\n" * 99), ("a NUL", b"\0"),
                       ("NULs and blanks", b"\0 \0\t\r\n\0"), ("PROXY", b"PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\n"), ("junk", b"\1\2\3\4")):
        for kind, ask in (("HTTP/1", get), ("HTTP/0.9", b"GET /x\r\n"), ("HTTP/0.9 in small letters", b"get /x\r\n"), ("HTTP/2", talk.PREFACE)):
            yield kind + " behind " + name, [text + ask], 1, 9000, 0, nothing, 0.15
            yield kind + " behind " + name + ", late", [text + ask], 1, 9000, 0.5, nothing, 0.15
    for name, text in (("SSH", b"SSH-2.0-OpenSSH_9.2\r\n"), ("Redis", b"*2\r\n$3\r\nGET\r\n$5\r\n/path\r\n"), ("git", b"0032git-upload-pack /get.git\0host=a.test\0"),
                       ("PostgreSQL", b"\0\0\0\x2c\0\3\0\0user\0get\0options\0-c a\0database\0get\0\0"), ("SMTP", b"EHLO get\r\n"), ("AMQP", b"AMQP\0\0\t\1"),
                       ("memcached", b"get key\r\n"), ("Kafka", b"\0\0\0\x11\0\x12\0\0\0\0\0\1\0\7http/1x")):
        yield name, [text], 1, 9000, 0, rb"got:" + re.escape(text), 0.15
    yield "a hello", [whole], 2, 443, 0, rb"\x16\x03\x03", 0.15
    yield "a hello in two records", [split], 2, 443, 0, nothing, 0.15
    yield "two names", [hello("a.test", b"\0\0\0\x0b\0\x09\0\0\x06x.test")], 2, 443, 0, nothing, 0.15
    yield "an encrypted name", [hello("a.test", b"\xfe\x0d\0\4abcd")], 2, 443, 0, nothing, 0.15
    change, early = b"\x14\x03\x03\0\1\1", b"\x17\x03\x03\0\1x"
    for name, text in (("a cipher change", change), ("early data", early), ("an alert", b"\x15\3\3\0\2\1\x5a")):
        yield name + " behind the hello", [whole + text], 2, 443, 0, rb"[\x15\x16]\x03\x03", 0.15
    for name, text in (("no record", b"x"), ("HTTP", get), ("another name", hello("evil.test")), ("a hello in two records", split),
                       ("another name, behind data,", change + early + hello("evil.test")), ("another message", b"\x16\3\3\0\4\x10\0\0\0"),
                       ("an empty message", b"\x16\3\3\0\0"), ("a long record", b"\x16\3\3\x40\1"), ("SSLv2", b"\x80\x2e\x01\3\1")):
        yield name + " behind the hello", [whole + text], 2, 443, 0, nothing, 0.15
    yield "a name that nothing grants", [hello("evil.test")], 2, 443, 0, nothing, 0.15


def malformed():
    """What HAProxy's own parser would answer with a page of its own."""
    host = b"Host: any.test\r\n"

    def get(target, *lines, method=b"GET", version=b"1.1"):
        return method + b" " + target + b" HTTP/" + version + b"\r\n" + host + b"".join(l + b"\r\n" for l in lines) + b"\r\n"
    for target in (b"/a#b", b"/\x7f", b"/\x80", b"/\xc3\xa4", b"x", b"?x", b"any.test:8000", b"http:/x", b"://", b"1http://any.test/", b"http:///x",
                   b"http://b.test/", b"http://any.test:81/", b"http://any.test:/", b"http://any.test.:80/", b"http://u@any.test/",
                   b"http://any.test:080/", b"http://any.test:80:80/", b"http://[::1]/"):
        for method in (b"GET", b"OPTIONS", b"CONNECT", b"F'O"):
            if (target, method) != (b"any.test:8000", b"CONNECT"):
                yield f"{method} {target}", get(target, method=method)
    yield "CONNECT of another Host's", get(b"b.test:443", method=b"CONNECT")
    yield "CONNECT of a port that Host does not have", get(b"any.test:8000", method=b"CONNECT")
    yield "CONNECT of nowhere", get(b"/", method=b"CONNECT")
    yield "a word of HTTP/2", get(b"*", method=b"PRI")
    ws = b"Connection: upgrade", b"Upgrade: websocket"
    yield "a websocket without a key", get(b"/", *ws)
    yield "a websocket with a short key", get(b"/", *ws, b"Sec-WebSocket-Key: abc")
    yield "a websocket among others", get(b"/", ws[0], b"Upgrade: x, WebSocket")
    yield "a fold behind a websocket without a key", get(b"/", *ws, b" fold")
    for method in (b"GET", b"DELETE"):
        yield f"a body of {method} in HTTP/1.0", get(b"/", b"Content-Length: 1", method=method, version=b"1.0")
    for n in (98, 99, 100, 101):
        yield f"something malformed behind {n} lines", get(b"/", *[b"x: y"] * n, b"bad")
        yield f"the same of a websocket, {n}", get(b"/", *ws, b"Sec-WebSocket-Key: " + talk.KEY, *[b"x: y"] * n, b"bad")
    for n in (20000, 24000, 24400, 24500, 24576, 28600):
        yield f"something malformed behind {n} bytes", get(b"/", b"x: " + b"y" * n, b"bad")
    yield "a long target", get(b"/" + b"x" * 28600)
    # More than HAProxy takes at once: the rest may come before the refusal is heard, or behind it.
    for n in (30000, 40000, 60000, 200000) * 12:
        yield f"a head of {n} bytes", get(b"/", b"x: " + b"y" * n)
    for n in (40000, 2000000):
        yield f"a target of {n} bytes", get(b"/" + b"x" * n)


def net_shapes():
    """The same where 1.2.3.0/24 is granted as such, and names are denied there."""
    def get(host, method=b"GET", more=b""):
        return method + b" / HTTP/1.1\r\nHost: " + host + b"\r\n" + more + b"\r\n"
    whole = hello("any.test")
    split = whole[:3] + b"\0\x64" + whole[5:105] + whole[:3] + (len(whole) - 105).to_bytes(2, "big") + whole[105:]
    nothing, shaken = rb"\Z", rb"\x16\x03\x03"
    for mark, where in ((1, ""), (2, ", where a denied name led")):
        yield "a name that nothing denies" + where, [whole], mark, 443, 0, shaken, 0.15
        yield "a denied name" + where, [hello("evil.test")], mark, 443, 0, nothing, 0.15
        yield "a denied name in capitals" + where, [hello("EVIL.test")], mark, 443, 0, nothing, 0.15
        yield "one that a pattern denies" + where, [hello("a.b.bad.test")], mark, 443, 0, nothing, 0.15
        yield "an encrypted name" + where, [hello("any.test", b"\xfe\x0d\0\4abcd")], mark, 443, 0, nothing, 0.15
        yield "two names" + where, [hello("any.test", b"\0\0\0\x0b\0\x09\0\0\x06x.test")], mark, 443, 0, nothing, 0.15
        yield "a hello in two records" + where, [split], mark, 443, 0, nothing, 0.15
        yield "an alert before a hello" + where, [b"\x15\3\1\0\2\1\x5a" + whole], mark, 443, 0, nothing, 0.15
        yield "a hello of SSLv2" + where, [b"\x80\x2e\x01\0\2" + bytes(40)], mark, 9000, 0, nothing, 0.15
        yield "any Host" + where, [get(b"any.test")], mark, 8000, 0, rb"HTTP/1.1 200", 0.15
        yield "an address as Host" + where, [get(b"1.2.3.4")], mark, 8000, 0, rb"HTTP/1.1 200", 0.15
        yield "a denied Host" + where, [get(b"evil.test")], mark, 8000, 0, rb"HTTP/1.1 403", 0.15
        for n in (40000, 200000, 2000000):
            yield f"a body of {n} bytes for a denied Host" + where, [get(b"evil.test", b"POST", b"Content-Length: %d\r\n" % n) + bytes(n)], \
                mark, 8000, 0, rb"HTTP/1.1 403", 0.15
        yield "a denied Host with a dot" + where, [get(b"evil.test.")], mark, 8000, 0, rb"HTTP/1.1 403", 0.15
        yield "a denied Host behind another" + where, [get(b"any.test") + get(b"evil.test")], mark, 8000, 0, rb"(?s)HTTP/1.1 200.*HTTP/1.1 403", 0.5
        yield "a denied method" + where, [get(b"any.test", b"DELETE")], mark, 8443, 0, rb"HTTP/1.1 403", 0.15
        yield "the method elsewhere" + where, [get(b"any.test", b"DELETE")], mark, 8000, 0, rb"HTTP/1.1 200", 0.15
        yield "a tunnel" + where, [b"CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n"], mark, 8000, 0, rb"HTTP/1.1 403", 0.15
        yield "another protocol" + where, [get(b"any.test", more=b"Connection: upgrade\r\nUpgrade: foo\r\n")], mark, 8000, 0, rb"HTTP/1.1 403", 0.15
    for what, text in malformed():
        yield what, [text], 1, 8000, 0, rb"(?s)HTTP/1.1 400(?!.*<html).*\nmembrane refused .*HTTP/1 does not permit", 0.15
    yield "no name", [hello(None)], 1, 443, 0, shaken, 0.15
    yield "no name, where a denied name led", [hello(None)], 2, 443, 0, nothing, 0.15
    yield "no name, where a method is denied", [hello(None)], 1, 8443, 0, nothing, 0.15
    yield "no name, late, on a port of TLS", [hello(None)], 1, 443, 0.5, shaken, 0.15
    yield "a denied name, late, on a port of TLS", [hello("evil.test")], 1, 443, 0.5, nothing, 0.15
    yield "a denied name, late", [hello("evil.test")], 1, 9000, 0.5, nothing, 0.15
    yield "a denied Host, late", [get(b"evil.test")], 1, 9000, 0.5, nothing, 0.15
    yield "raw", [b"\0\0\0\x08"], 1, 9000, 0, rb"got:\0\0\0\x08", 0.15
    yield "raw, where a denied name led", [b"\0\0\0\x08"], 2, 9000, 0, nothing, 0.15
    yield "raw, late", [b"*1\r\n$4\r\nPING\r\n"], 1, 9000, 0.5, rb"got:\*1", 0.15
    yield "the server speaks first", [b""], 1, 2200, 0, rb"hello", 0.5
    yield "the server speaks first, where a denied name led", [b""], 2, 2200, 0, nothing, 0.5
    yield "the client speaks first", [b"SSH-2.0-x y\r\n"], 1, 2200, 0, rb"hello\ngot:SSH", 0.5


def send_parts(s, parts):
    """As far as they are taken: what came back says what became of them."""
    try:
        for i, part in enumerate(parts):
            if i:
                time.sleep(0.4)
            if part is None:
                s.shutdown(socket.SHUT_WR)
            else:
                s.sendall(part)
    except OSError:
        pass


def what_comes(s, parts):
    """All of it, and how long its beginning took from the first part on."""
    began, first, got = time.monotonic(), None, b""
    sender = threading.Thread(target=send_parts, args=(s, parts), daemon=True)
    sender.start()
    try:
        while data := s.recv(65536):
            first = first or time.monotonic()
            got += data
            if not sender.is_alive():
                s.settimeout(0.3)
    except OSError:
        pass
    return got, (first or time.monotonic()) - began


def check_shape(what, parts, mark, port, wait, want, limit):
    """What is wrong with what comes back, if anything."""
    s = socket.socket()
    s.settimeout(1 + len(parts))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, mark)
    with s:
        s.connect(("1.2.3.4", port))
        time.sleep(wait)
        got, took = what_comes(s, parts)
    # Twice the time, and some, for a machine that is busy.
    if re.match(want, got) and (not got or took <= 2 * limit + 1):
        return None
    return f"{what}: {got[:60]!r} after {took:.2f} s"


def check_shapes(folder, table):
    """All of them wait, for a silence or its end: hence side by side."""
    gate = Gate(folder)
    try:
        each = list(table())
        with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            said = list(pool.map(lambda shape: check_shape(*shape), each))
        # A machine that stood still makes all of them late: once more, alone.
        bad = list(filter(None, (check_shape(*shape) for shape, why in zip(each, said) if why)))
    finally:
        gate.done()
    for why in bad:
        print(why, file=sys.stderr)
    return len(bad)


def check_cases():
    """The configurations that the golden cases expect, as haproxy -c sees them."""
    bad = n = 0
    for cfg in sorted(pathlib.Path("tests/cases").glob("*/expect.gate.cfg")):
        folder = TOP / "cases" / cfg.parent.name
        folder.mkdir(parents=True)
        shutil.copyfile(cfg, folder / "gate.cfg")
        # Sentinels add to what all have.
        lua = cfg.parent.parent / "tokens-gate/expect.gate.lua" \
            if "lua.tokens" in cfg.read_text() else TOP / "shapes/gate.lua"
        shutil.copyfile(lua, folder / "gate.lua")
        for name in ("hosts.map", "addr.map"):
            (folder / name).write_text("# empty\n")
        (folder / "crt.lst").write_text("/run/gate/leaf/1.pem a.test\n")
        n += 1
        for line, text in enumerate(cfg.read_text().splitlines(), 1):
            if len(text) > 160:
                bad += 1
                print(f"{cfg}:{line}: {len(text)} columns", file=sys.stderr)
        try:
            Gate(folder, False)
        except Bad as e:
            bad += 1
            print(f"{cfg}: {e}", file=sys.stderr)
    return bad + (n < 5)


def main():
    origin_leaf = certificates(NAMES)
    network(ADDRESSES)
    Origin()
    for port in (22, 2200, 9000):
        listen(port)
    listen(9500, once)
    counts, n = {}, 0
    failed = check_cases() if (TOP / "shapes").exists() else 0
    for folder in sorted(p for p in TOP.iterdir() if p.is_dir()):
        if not (folder / "gate.cfg").exists():
            continue
        n += 1
        try:
            table = {"shapes": shapes, "net-shapes": net_shapes}.get(folder.name)
            failed += check_shapes(folder, table) if table else one(folder, origin_leaf, counts)
        except Bad as e:
            failed += 1
            print(f"{folder.name}: {e}\n{(folder / 'policy').read_text()}", file=sys.stderr)
        if failed > 8:
            break
    print(f"{n} policies, {sum(n for k, n in counts.items() if ':' not in k)} requests: {counts}")
    if not failed:
        shutil.rmtree(TOP)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
