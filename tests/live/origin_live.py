#!/usr/bin/env python3
"""By which connection a decrypted request goes on to its origin.

Connections to origins outlive the client's: whose request may take which is
decided by HAProxy, by the configuration that the compiler wrote. Judged by an
origin that numbers its connections and says of each request by which it came,
for which name, address and port. Needs root; else 77.
"""
import contextlib
import itertools
import pathlib
import re
import signal
import socket
import ssl
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "oracle")]
sys.dont_write_bytecode = True
import gate  # noqa: E402
import gate_inet  # noqa: E402
import l7_live  # noqa: E402
import talk  # noqa: E402
from gate import check, soon  # noqa: E402

PORTS, CLEAR = (443, 8443), 8080
BULK = 4 << 20   # bytes
FILES = 20000    # that a gate may have open, by docker.json
FOUR, SIX = "11.0.0.1", "2a0e::1"
# Served by an origin that prefers HTTP/2, and by one that speaks nothing else.
BOTH, ONLY = "both.wild.test", "only.wild.test"
POLICY = """\
resolver: 203.0.113.1
allow:
  - {dest: "**.wild.test", ports: [443, 8080, 8443], tls: inspect}
"""


def bulk():
    return b"".join(b"%08x" % i for i in range(BULK // 8))


# --- the internet -----------------------------------------------------------

class Origin:
    """Numbers its connections. The first request for a path /cut/... ends its
    connection without an answer."""

    def __init__(self, certs):
        self.certs, self.numbers, self.cut = certs, itertools.count(1), set()
        for port in (*PORTS, CLEAR):
            s = socket.create_server(("::", port), family=socket.AF_INET6,
                                     dualstack_ipv6=True, backlog=64)
            threading.Thread(target=self.accept, args=(s,),
                             daemon=True).start()

    def accept(self, s):
        while True:
            c = s.accept()[0]
            threading.Thread(
                target=self.serve if c.getsockname()[1] in PORTS else
                self.send_bulk, args=(c,), daemon=True).start()

    @staticmethod
    def send_bulk(s):
        """One answer, of bytes that are not all the same."""
        with s:
            s.recv(65536)
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % BULK
                      + bulk())

    def context(self):
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.load_cert_chain(self.certs / "origin.pem")
        return made

    def shake(self, raw):
        """Over TLS; the name that the client stated is the socket's sni."""
        def note(sock, name, _):
            sock.sni = name
            if name in (BOTH, ONLY):
                other = self.context()
                other.set_alpn_protocols(["h2", "http/1.1"][:1 + (
                    name == BOTH)])
                sock.context = other
        context = self.context()
        context.sni_callback = note
        return context.wrap_socket(raw, server_side=True)

    def serve(self, raw):
        with contextlib.suppress(OSError, talk.Closed), self.shake(raw) as s:
            s.settimeout(40)
            addr, port = s.getsockname()[:2]
            here = {"conn": next(self.numbers), "sni": s.sni, "port": port,
                    "addr": addr.removeprefix("::ffff:"),
                    "alpn": s.selected_alpn_protocol()}
            gate_inet.tell({"shaken": here})
            if here["alpn"] == "h2":
                first = s.recv(65536)
                talk.serve(s, first.removeprefix(talk.PREFACE))
            elif s.sni != ONLY:
                self.speak(s, here)

    def speak(self, s, here):
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                more = s.recv(65536)
                if not more:
                    return
                data += more
            head, _, data = data.partition(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            method, path, _ = lines[0].split(" ")
            gate_inet.tell({**here, "method": method, "path": path,
                            "host": [l[6:] for l in lines
                                     if l.lower().startswith("host: ")]})
            if path.startswith("/cut/") and path not in self.cut:
                self.cut.add(path)
                return
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


def internet(certs):
    for fn in (gate_inet.serve_udp, gate_inet.serve_tcp):
        threading.Thread(target=fn, daemon=True).start()
    Origin(pathlib.Path(certs))
    time.sleep(0.2)
    gate_inet.tell({})
    signal.pause()


class World(l7_live.World):
    def serve(self):
        return [sys.executable, __file__, "--internet", str(self.certs)]

    def requests(self, n, **want):
        """What arrived with these fields, once that is n or it is no
        use to wait."""
        def there():
            return [a for a in list(self.arrived) if "path" in a and
                    all(a[k] == v for k, v in want.items())]
        soon(lambda: len(there()) >= n)
        return there()


# --- the agent --------------------------------------------------------------

def ask(name, *paths, addr=FOUR, port=443, method="GET", ca=None):
    """Requests on one new connection; the status of each, 0 where the
    connection ended instead."""
    def fn():
        out, data = [], b""
        context = ssl.create_default_context(cadata=ca)
        with socket.create_connection((addr, port), 8) as raw, \
                context.wrap_socket(raw, server_hostname=name) as s:
            for path in paths:
                s.sendall(("%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 0"
                           "\r\n\r\n" % (method, path, name)).encode())
                try:
                    status, _, _, data = talk.answer(s, data)
                except (talk.Closed, OSError):
                    return out + [0]
                out.append(status)
        return out
    return fn


def ask2(name, *paths, ca=None):
    """The same by HTTP/2."""
    def fn():
        context = ssl.create_default_context(cadata=ca)
        context.set_alpn_protocols(["h2"])
        with socket.create_connection((FOUR, 443), 8) as raw, \
                context.wrap_socket(raw, server_hostname=name) as s:
            s.settimeout(8)
            return [status for status, _ in talk.multiplexed(s, [
                [(":method", "GET"), (":scheme", "https"), (":path", p),
                 (":authority", name)] for p in paths])]
    return fn


def fetch_clear(name):
    """One answer in the clear: its status, and whether its bytes are right."""
    def fn():
        with socket.create_connection((FOUR, CLEAR), 8) as s:
            s.settimeout(8)
            s.sendall(b"GET /bulk HTTP/1.1\r\nHost: %s:%d\r\n\r\n" % (
                name.encode(), CLEAR))
            status, _, body, rest = talk.answer(s, b"")
            return [status, body.encode() == bulk() and not rest]
    return fn


# --- checks -----------------------------------------------------------------

def told(g, name):
    """A figure of HAProxy's own."""
    found = re.search("^%s: ([0-9]+)$" % name, g.admin("show info"), re.M)
    return int(found.group(1)) if found else -1


def resolve(g, *names):
    for name in names:
        for qtype in (gate.A, gate.AAAA)[:1 + g.world.v6]:
            check(gate.addresses(g.agent(gate.ask(name, qtype))), "resolved",
                  name)


def check_apart(g):
    """A connection to an origin carries what is for one name, at one address
    and port; and more than one client's, or this would prove nothing."""
    ca, whom = g.first["ca"], [("a.wild.test", FOUR, 443),
                               ("b.wild.test", FOUR, 443),
                               ("a.wild.test", FOUR, 8443)]
    if g.world.v6:
        whom.append(("a.wild.test", SIX, 443))
    resolve(g, "a.wild.test", "b.wild.test", "no.b.wild.test")
    for name, addr, port in whom:
        got = g.agent(ask(name, "/1", "/2", "/3", addr=addr, port=port,
                          ca=ca))
        check(got == [200] * 3, "answered", name, addr, port, got)
    for i in range(6):
        for name, addr, port in whom:
            got = g.agent(ask(name, "/again/%d" % i, addr=addr, port=port,
                              ca=ca))
            check(got == [200], "again", name, addr, port, got)
    # The origin has no certificate for it: no connection of another's serves.
    got = g.agent(ask("no.b.wild.test", "/1", ca=ca))
    check(got == [503], "another name is verified for itself", got)
    seen = g.world.requests(9 * len(whom))
    check(len(seen) == 9 * len(whom), "all arrived", len(seen))
    carried = {}
    for a in seen:
        check(a["host"] == [a["sni"]], "the name of its connection", a)
        carried.setdefault(a["conn"], set()).add(
            (a["sni"], a["addr"], a["port"]))
    check(all(len(c) == 1 for c in carried.values()), "one each", carried)
    check(len(carried) < 7 * len(whom), "and not one for each client",
          len(carried))


def check_methods(g):
    """Only what may be asked again takes another client's connection."""
    ca = g.first["ca"]
    resolve(g, "e.wild.test")
    for method, shared in (("GET", True), ("HEAD", True), ("OPTIONS", True),
                           ("POST", False), ("PUT", False), ("PATCH", False),
                           ("DELETE", False)):
        path = "/method/" + method
        for _ in range(8):
            got = g.agent(ask("e.wild.test", path, method=method, ca=ca))
            check(got == [200], "served", method, got)
        seen = g.world.requests(8, path=path, sni="e.wild.test")
        used = {a["conn"] for a in seen}
        check(len(seen) == 8 and (len(used) < 8) == shared,
              "shared, or of its own", method, len(used))


def check_closed(g):
    """An origin that closes what a request just goes to."""
    ca = g.first["ca"]
    resolve(g, "c.wild.test")
    for method, status, times in (("GET", 200, 2), ("HEAD", 200, 2),
                                  ("POST", 502, 1), ("PUT", 502, 1)):
        path = "/cut/" + method
        g.agent(ask("c.wild.test", "/1", ca=ca))
        got = g.agent(ask("c.wild.test", path, method=method, ca=ca))
        check(got == [status], "closed before its answer", method, got)
        check(g.decided(kind="request", path=path), "its record", method)
        records = [e for e in g.events if e.get("path") == path]
        check(len(records) == 1, "and one record", method, records)
        seen = g.world.requests(times, path=path)
        check(len(seen) == times, "asked so often", method, seen)
    e = g.decided(kind="request", path="/cut/POST")
    check(e and e["reason"] == "upstream" and e["status"] == 502,
          "its record", e)


# N-9
def check_versions(g):
    """An origin is asked in the version that its client speaks."""
    ca = g.first["ca"]
    resolve(g, BOTH, ONLY)
    got = g.agent(ask(BOTH, "/1", "/2", ca=ca))
    check(got == [200, 200], "HTTP/1", got)
    seen = g.world.requests(2, sni=BOTH)
    check([a["alpn"] for a in seen] == ["http/1.1"] * 2, "to its origin",
          seen)
    got = g.agent(ask2(BOTH, "/1", "/2", ca=ca))
    check(got == [200, 200], "HTTP/2", got)
    check(g.world.saw(lambda a: a.get("shaken", {}).get("sni") == BOTH and
                      a["shaken"]["alpn"] == "h2"), "to its origin",
          g.world.arrived[-3:])
    got = g.agent(ask2(ONLY, "/1", ca=ca))
    check(got == [200], "HTTP/2 to an origin that has nothing else", got)
    got = g.agent(ask(ONLY, "/1", ca=ca))
    check(got in ([502], [503]), "HTTP/1 to that is an error", got)
    e = g.decided(kind="request", name=ONLY, verdict="deny")
    check(e and e["reason"] == "upstream", "its record", e)


def check_pipes(g):
    """What is in the clear is handed on by the kernel, through pipes."""
    resolve(g, "d.wild.test")
    check(told(g, "PipesUsed") == 0 and told(g, "PipesFree") == 0,
          "none for what is decrypted", g.admin("show info"))
    got = g.agent(fetch_clear("d.wild.test"))
    check(got == [200, True], "in the clear", got)
    check(told(g, "PipesUsed") + told(g, "PipesFree") > 0, "by pipes",
          g.admin("show info"))
    # HAProxy does not start where it could not open all that it may.
    check(0 < told(g, "Maxsock") < FILES, "files", told(g, "Maxsock"))


def check_all(v6):
    with l7_live.folders() as (certs, _), gate.compiled(POLICY) as plan, \
            World(v6, certs) as world, l7_live.Gate(world, plan, {}) as g:
        check(g.first.get("event") == "ready", "ready", g.first)
        if g.first.get("event") == "ready":
            check_apart(g)
            check_methods(g)
            check_closed(g)
            check_versions(g)
            check_pipes(g)


def main():
    if gate.lacking(gate.MEMBRANE):
        return 77
    gate.families(check_all)
    return gate.end()


if __name__ == "__main__":
    if "--internet" in sys.argv:
        internet(sys.argv[-1])
    else:
        sys.exit(main())
