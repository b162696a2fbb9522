"""The live half of cells.c: one HAProxy per policy, and every cell of it.

Runs in a network namespace of its own, in which every address of the internet
is on loopback: what a client sends there, marked, is redirected to HAProxy,
and HAProxy's own connections, to whatever port, to the one server of this
program's. Connections go side by side and requests one behind the other, so
that some hundred thousand take minutes.

    cells.py FOLDER [KEEP]    each folder of it that has a gate.cfg
"""
import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import struct
import sys
import threading
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import gate  # noqa: E402
import talk  # noqa: E402
from gate import TIMEOUT_S, TOP, Bad, Gate, Person, judged  # noqa: E402

ADDRESSES = ("2001:db8::99/128",)
ORIGIN_PORT = 9
# Of the client, in turn: two of one port at a time would be told apart by the
# packet filter, which gives one of them another. HAProxy's own are below.
OUR_PORTS = itertools.cycle(range(16000, 65536))
SIDE_BY_SIDE = 32
IN_A_ROW = 40
SHOWN_MAX = 5
# A hello that is only to be passed on: nobody else has this Random.
RANDOM = b"membrane: a hello that is a cell"
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.I)


# --- the server --------------------------------------------------------------


def head_of(c, data):
    while b"\r\n\r\n" not in data:
        more = c.recv(65536)
        if not more:
            return None, b""
        data += more
    return data.split(b"\r\n\r\n", 1)


def serve_http(c):
    """What it is asked for is what it answers: method, target and Host."""
    data = b""
    while True:
        head, data = head_of(c, data)
        if head is None:
            return
        if head.startswith(b"PRI "):
            talk.serve(c, head_of(c, b"\r\n" + data)[1] if b"SM\r\n\r\n" not in data else data.split(b"SM\r\n\r\n", 1)[1])
            return
        lines = head.split(b"\r\n")
        body = b" ".join(lines[0].split(b" ")[:2] + [h[6:] for h in lines if h[:6].lower() == b"host: "])
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


def serve(c, tls):
    with contextlib.suppress(OSError), c:
        c.settimeout(60)
        began = c.recv(43, socket.MSG_PEEK)
        if began[11:43] == RANDOM:
            c.sendall(b"passed on")
        elif began[:1] == b"\x16":
            with tls.wrap_socket(c, server_side=True) as inside:
                serve_http(inside)
        else:
            serve_http(c)


def origin():
    """In a process of its own, which ends with this one."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(TOP / "origin.pem")
    tls.set_alpn_protocols(["http/1.1"])
    s = socket.create_server(("::", ORIGIN_PORT), family=socket.AF_INET6, dualstack_ipv6=True, backlog=4096)
    alive, ours = os.pipe()
    if os.fork():
        s.close()
        os.close(alive)
        return ours
    os.close(ours)

    def accept():
        while True:
            threading.Thread(target=serve, args=(s.accept()[0], tls), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    os.read(alive, 1)
    os._exit(0)


def network():
    gate.network(ADDRESSES)
    gate.sh("""ip route add local 0.0.0.0/0 dev lo
    ip -6 route add local ::/0 dev lo
    cd /proc/sys/net
    echo 1024 14999 > ipv4/ip_local_port_range
    echo 1 > ipv4/tcp_tw_reuse
    echo 100000 > unix/max_dgram_qlen
    echo 1 > netfilter/nf_conntrack_tcp_timeout_time_wait
    echo 1 > netfilter/nf_conntrack_tcp_timeout_close""")
    for family in ("ip", "ip6"):
        gate.nft(f"""table {family} origin {{ chain o {{ type nat hook output priority -90;
          meta mark 0 meta l4proto tcp redirect to :{ORIGIN_PORT}
        }}
        }}""")


# --- the gate ----------------------------------------------------------------


def question(name, method, path):
    """What is asked about: no query."""
    return name, method, path.split("?", 1)[0]


def is_yes(*about):
    """Whether a person says yes: to one half of what is asked."""
    return zlib.crc32(repr(question(*about)).encode()) & 1


def flow(addr, port, sport):
    """What tells connections apart, in a record of HAProxy's and in a question."""
    return addr, int(port), int(sport)


class Answers(Person):
    """Says by which answer a hello passes, and yes to a half of the requests."""

    def __init__(self, gate):
        # By flow, before anything is sent: the connection. And for what entry somebody was asked.
        self.of, self.asked = {}, {}
        super().__init__(gate)

    def answer(self, kind, addr, port, sport, *more):
        at = flow(addr, port, sport)
        c = self.of[at]
        if kind == "conn":
            return f"yes {'strict' if c.entry == 4 else 'raw'} {addr} 7"
        if kind == "hello":
            return "no -" if c.answer == "-" else f"yes {c.answer}"
        token, name, _, method, path = more
        self.asked[at, *question(name, method, path)] = token
        return f"yes {addr}" if is_yes(name, method, path) else "no answered-no"


class CellGate(Gate):
    """Remembers why connections were refused."""

    person = Answers

    def __init__(self, folder):
        self.refused, self.changed = {}, threading.Condition()
        super().__init__(folder)

    def here(self, text):
        # Whether a server is who it says is not asked here; nor are the records
        # of requests, of which there would be too many for the socket.
        text = re.sub(r"verify required ca-file \S+", "verify none", super().here(text))
        # Nor is the way there by a proxy.
        text = re.sub(r"server origin unix@\S+ send-proxy-v2", "server origin 0.0.0.0", text)
        return re.sub(r"(?m)^(frontend l7 .*)$", r"\1\n    http-request set-log-level silent", text)

    def announce(self, path, name):
        self.admin(f"add ssl crt-list {self.plan}/crt.lst <<\n{path} {name}\n")

    def hear(self):
        with contextlib.suppress(OSError):
            while line := self.log.recv(16384):
                if line.startswith(b'{"k":"conn","verdict":"deny"'):
                    with self.changed:
                        r = json.loads(line)
                        self.refused[flow(r["addr"], r["port"], r["sport"])] = r["reason"]
                        self.changed.notify_all()

    def why(self, at):
        with self.changed:
            self.changed.wait_for(lambda: at in self.refused, TIMEOUT_S)
            return self.refused.pop(at, "? closed, and nothing in the log")


# --- what is sent ------------------------------------------------------------


def hello(name):
    def sized(n, data):
        return len(data).to_bytes(n, "big") + data

    def extension(kind, data):
        return struct.pack("!H", kind) + sized(2, data)

    extensions = extension(10, sized(2, b"\0\x1d\0\x17")) + extension(13, sized(2, b"\4\3\x08\4")) + extension(11, b"\1\0")
    if name != "-":
        extensions = extension(0, sized(2, b"\0" + sized(2, name.encode()))) + extensions
    body = b"\3\3" + RANDOM + b"\0" + sized(2, b"\xc0\x2b\xc0\x2f\x13\x01") + b"\1\0" + sized(2, extensions)
    return b"\x16\3\1" + sized(2, b"\1" + sized(3, body))


class Request:
    def __init__(self, line):
        self.host, self.method, self.want, self.path = line.split(" ", 3)

    def bytes(self, c):
        if self.method == "CONNECT":
            return "CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\n".format(f"{self.host}:{c.port}").encode()
        return f"{self.method} {self.path} HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode()

    def arrived(self):
        return f"{self.method} {self.path} {self.host}"


class Connection:
    def __init__(self, line):
        tls, entry, self.addr, port, self.sni, self.kind, pinned, self.answer = line.split(" ")
        self.tls, self.entry, self.port, self.pinned = tls == "1", int(entry), int(port), pinned == "1"
        self.requests = []

    def parts(self):
        """As one connection takes them."""
        if self.kind not in ("plain", "opened"):
            yield self, None
        part = []
        for r in self.requests:
            part.append(r)
            # Nothing is read behind what asks for a tunnel.
            if len(part) == IN_A_ROW or r.method == "CONNECT":
                yield self, part
                part = []
        if part:
            yield self, part

    def __str__(self):
        return f"{'TLS' if self.tls else 'in the clear'} to {self.addr} port {self.port}" \
            + f", hello of {self.sni}" * self.tls + ", the name led there" * self.pinned \
            + f", door {self.entry}" + f", answered {self.answer}" * (self.answer != "-")


def connections(folder):
    out = []
    with open(folder / "cells") as f:
        for line in f:
            kind, line = line[0], line[2:].rstrip("\n")
            if kind == "C":
                out.append(Connection(line))
            else:
                out[-1].requests.append(Request(line))
    return out


def connect(g, c):
    s = socket.socket(socket.AF_INET6 if ":" in c.addr else socket.AF_INET)
    s.settimeout(TIMEOUT_S)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, c.entry)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sport = next(OUR_PORTS)
    s.bind(("", sport))
    at = flow(c.addr, c.port, sport)
    g.refused.pop(at, None)
    g.asked.of[at] = c
    s.connect((c.addr, c.port))
    return s, at


# --- what comes --------------------------------------------------------------


def heard_hello(g, s, at):
    with contextlib.suppress(OSError):
        got = s.recv(16)
        if got == b"passed on":
            return "granted"
        if got:
            return "opened"
    return g.why(at)


def answers(s, requests):
    """As many answers of HTTP/1.1 as come: status and body, which HEAD has none of."""
    data, at = b"", 0
    for r in requests:
        while (end := data.find(b"\r\n\r\n", at)) < 0:
            try:
                more = s.recv(65536)
            except OSError:
                return
            if not more:
                return
            data, at = data[at:] + more, 0
        size = LENGTH.search(data, at, end + 2)
        size = int(size.group(1)) if size and r.method != "HEAD" else 0
        while len(data) < end + 4 + size:
            more = s.recv(65536)
            if not more:
                return
            data += more
        yield int(data[at + 9:at + 12]), data[end + 4:end + 4 + size].decode("latin-1")
        at = end + 4 + size


def head_judged(status, wants):
    """Nothing says why: the status alone."""
    for want in wants:
        if status == {"granted": 200, "name-mismatch": 421, "bad-request": 400}.get(want, 403):
            return want
    return f"? {status}"


def heard(r, status, body, wants):
    # There are no tokens here, and who would renew them says so.
    if status == 502 and "the tokens were not renewed" in body:
        return "renewed"
    return head_judged(status, wants) if r.method == "HEAD" else judged(status, body)


def what_differs(g, at, r, status, body):
    """None where HAProxy says what was wanted."""
    wants = r.want.split("|")
    if wants[0].startswith("ask:"):
        token = g.asked.asked.get((at, *question(r.host, r.method, r.path)))
        if token and f".{token}." not in wants[0]:
            return f"decide wants {wants[0]}, HAProxy asked for {token}"
        wants[0] = "granted" if is_yes(r.host, r.method, r.path) else "answered-no"
        got = heard(r, status, body, wants)
        if not token and got in ("granted", "answered-no"):
            return f"decide wants a person asked, HAProxy says {got} and asked nobody"
    got = heard(r, status, body, wants)
    if got not in wants:
        return f"decide says {' or '.join(wants)}, HAProxy {got}"
    if got == "granted" and r.method != "HEAD" and body != r.arrived():
        return f"another request arrived: {body}"
    return None


class Talk:
    """All cells of a policy."""

    def __init__(self, folder, g, enough):
        self.folder, self.gate, self.enough, self.cells, self.bad = folder, g, enough, 0, 0
        self.plain = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.plain.check_hostname = False
        self.plain.verify_mode = ssl.CERT_NONE

    def differs(self, c, r, why):
        self.bad += 1
        if self.bad <= self.enough:
            what = f": {r.method} {r.path}, Host {r.host}" if r else ""
            print(f"{self.folder.name}: {c}{what}\n  {why}", file=sys.stderr)

    def hear_requests(self, c, requests, s, at):
        """How many were answered."""
        n = 0
        for status, body in answers(s, requests):
            if why := what_differs(self.gate, at, requests[n], status, body):
                self.differs(c, requests[n], why)
            n += 1
        self.cells += n
        return n

    def send(self, c, requests):
        """Whatever can be sent before anything comes back."""
        s, at = connect(self.gate, c)
        if requests is None:
            s.sendall(hello(c.sni))
            return s, at
        if c.tls:
            try:
                s = self.plain.wrap_socket(s, server_hostname=c.sni)
            except OSError:
                s.close()
                return None, at
        s.sendall(b"".join(r.bytes(c) for r in requests))
        return s, at

    def hear(self, c, requests, s, at, again=False):
        if requests is None:
            got = heard_hello(self.gate, s, at)
            if got == "bad-hello" != c.kind and not again:
                # The machine was so busy that HAProxy's time for it was over.
                s, at = self.send(c, None)
                with s:
                    return self.hear(c, None, s, at, True)
            self.cells += 1
            if got != c.kind:
                self.differs(c, None, f"decide says {c.kind}, HAProxy {got}")
        elif not s:
            self.differs(c, requests[0], f"decide says it is decrypted, HAProxy {self.gate.why(at)}")
        else:
            return requests[self.hear_requests(c, requests, s, at):]
        return []

    def batch(self, parts):
        sent = [(c, requests, *self.send(c, requests)) for c, requests in parts]
        for c, requests, s, at in sent:
            left = self.hear(c, requests, s, at)
            if s:
                s.close()
            self.again(c, left)
        self.gate.asked.of.clear()
        self.gate.asked.asked.clear()

    def again(self, c, left):
        """On connections of their own, after one was closed."""
        while left:
            s, at = self.send(c, left)
            after = self.hear(c, left, s, at)
            if s:
                s.close()
            if len(after) == len(left):
                self.differs(c, left[0], f"no answer: {self.gate.why(at)}")
                after = after[1:]
            left = after

    def all(self, cs):
        parts = []
        for c in cs:
            for part in c.parts():
                parts.append(part)
                if len(parts) == SIDE_BY_SIDE:
                    self.batch(parts)
                    parts = []
                if self.bad >= self.enough:
                    return
        self.batch(parts)


def one(folder, cs, enough):
    """Cells that were compared, and differences, until there are enough of them."""
    g = CellGate(folder)
    t = Talk(folder, g, enough)
    try:
        t.all([c for c in cs if not c.pinned])
        later = [c for c in cs if c.pinned]
        g.pin(sorted({f"{c.sni if c.tls else c.requests[0].host}@{c.addr}" for c in later}))
        t.all(later)
    finally:
        g.done()
    return t.cells, t.bad


def main():
    gate.certificates(["origin.test"])
    network()
    alive = origin()
    began, cells, failed, n = time.monotonic(), 0, 0, 0
    for folder in sorted(p for p in TOP.iterdir() if (p / "gate.cfg").exists()):
        n += 1
        start, before = time.monotonic(), cells
        try:
            some, bad = one(folder, connections(folder), SHOWN_MAX)
        except (Bad, OSError, ValueError) as e:
            some, bad = 0, 1
            print(f"{folder.name}: {e!r}", file=sys.stderr)
        cells += some
        failed += bad
        if bad:
            print((folder / "policy").read_text(), file=sys.stderr)
        elif len(sys.argv) < 3:
            shutil.rmtree(folder)
        if os.environ.get("SLOW"):
            took = time.monotonic() - start
            print(f"{folder.name}: {cells - before} cells in {took:.1f} s", file=sys.stderr)
    took = time.monotonic() - began
    print(f"{n} policies, {cells} cells in {took:.0f} s, {cells / took:.0f} a second", flush=True)
    os.close(alive)
    if not failed and len(sys.argv) < 3:
        shutil.rmtree(TOP)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
