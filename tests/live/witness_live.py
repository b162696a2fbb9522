#!/usr/bin/env python3
"""What `diff` claims, done: each witness is sent through two live gates.

For pairs of policies, some written and some generated, every request that
`membrane diff --json` shows is made from the agent's side of a gate that runs
OLD and of one that runs NEW. What comes back, or does not, has to be what the
diff says of each. Needs root, HAProxy and a built tree; else 77.

    witness_live.py [PAIRS [SEED]]

All packets stay in two network namespaces made here: one plays an internet in
which every name exists, and every address answers on every port by whatever
protocol it is spoken to. Witnesses that no gate sees (files, docker's
arguments, settings) are counted and left out.
"""
import concurrent.futures
import contextlib
import hashlib
import ipaddress
import json
import os
import pathlib
import random
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import gate  # noqa: E402
import gate_inet  # noqa: E402
import l7_live  # noqa: E402
from gate import check  # noqa: E402

PAIRS, SEED = 8, 1
TYPES = {"A": 1, "MX": 15, "TXT": 16, "AAAA": 28, "SRV": 33}
ELSEWHERE = "elsewhere.json"
PORT = 9000  # of all that the internet serves
LATE_S = 0.1  # half of what a gate waits for a first word
UNVERIFIED = ssl._create_unverified_context()
HEAD = "resolver: 203.0.113.1\n"
STAND_INS = ("192.0.2.", "198.51.100.", "203.0.113.")

# Each shows what generated ones meet seldom.
WRITTEN = [
    ("""\
allow: [good.test:443, "*.wild.test:443", 11.3.0.0/16, gone.test]
""", """\
allow:
  - good.test:443
  - "**.wild.test:443"
  - 11.3.0.0/17
  - {dest: dns.test, ports: [53/udp]}
deny: [secret.wild.test]
"""),
    ("""\
allow:
  - dest: api.test:443
    http:
      - {methods: [GET], paths: [/repos/acme/]}
      - {paths: [/public/]}
""", """\
allow:
  - dest: api.test:443
    http:
      - {methods: [GET, POST], paths: [/repos/acme/]}
  - http://plain.test:8080/v1/
"""),
    ("""\
allow: ["*"]
deny: [evil.test, 11.9.0.0/16]
""", """\
allow: [{dest: "*", ports: [80, 443]}]
deny: [evil.test]
"""),
]


# --- policies ---------------------------------------------------------------

def generated(rng):
    """A policy about few names, networks and ports, so that two of them say
    different things of the same."""
    names = ["a.test", "b.test", "x.a.test", "*.a.test", "**.b.test"]
    nets = ["11.1.0.0/16", "11.1.2.0/24", "11.1.2.3", "11.2.0.0/15",
            "2a0e:1::/32", "2a0e:1:2::/48"]
    ports = [["443"], ["80", "443"], ["8000-8003"], ["53/udp"], ["22"]]
    methods = [["GET"], ["GET", "POST"], ["PUT"]]
    paths = [["/v1/"], ["/v1/x/", "/y"], ["/"]]
    urls = ["https://a.test/v1/", "http://*.a.test:8080/", "https://b.test/"]
    lines = ["allow:"]
    for _ in range(rng.randint(1, 5)):
        if rng.random() < 0.15:
            lines.append("  - '%s'" % rng.choice(urls + ["*:443"]))
            continue
        dest = rng.choice(names + nets)
        lines.append("  - dest: '%s'" % dest)
        tcp = [p for p in ports if "udp" not in p[0]]
        if dest in names and rng.random() < 0.4:
            lines.append("    ports: %s" % json.dumps(rng.choice(tcp)))
            lines.append("    http: %s" % json.dumps(
                [{"methods": rng.choice(methods), "paths": rng.choice(paths)}
                 for _ in range(rng.randint(1, 2))]))
        elif dest in names and rng.random() < 0.2:
            lines.append("    ports: ['443']")
            lines.append("    tls: inspect")
        else:
            lines.append("    ports: %s" % json.dumps(rng.choice(ports)))
    lines.append("deny:%s" % (" []" if rng.random() < 0.3 else ""))
    for _ in range(rng.randint(1, 2) if lines[-1] == "deny:" else 0):
        lines.append("  - dest: '%s'" % rng.choice(names + nets))
        requests = rng.random() < 0.3
        if requests:
            lines.append("    http: %s" % json.dumps(
                [{"methods": rng.choice(methods), "paths": rng.choice(paths)}]))
        if rng.random() < 0.4:
            lines.append("    ports: %s" % json.dumps(
                rng.choice(ports[:3] if requests else ports)))
    return "\n".join(lines) + "\n"


def difference(folder, old, new):
    """What `diff` says, or None when it refuses one of the two."""
    for name, text in (("old.yaml", old), ("new.yaml", new)):
        (folder / name).write_text(HEAD + text)
    done = subprocess.run(
        [gate.MEMBRANE, "diff", "old.yaml", "new.yaml", "--json",
         "--fail-on=none"], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "MEMBRANE_HOME": str(folder / "home")})
    return json.loads(done.stdout) if done.returncode == 0 else None


def resolve(name, qtype):
    """As resolvers do: a datagram may be lost, where much else goes on."""
    for wait_s in 5, 10, 20:
        got = gate.jsonable(gate.ask_raw(gate.question(name, qtype),
                                         wait_s=wait_s))
        if got.get("error") != "timeout":
            break
    return got


# --- requests ---------------------------------------------------------------

class Request:
    """A witness, as grammar/request.y has it."""

    def __init__(self, change):
        self.text = change["witness"]
        self.kind = change["kind"]
        self.was, self.is_ = change["was"]["allow"], change["is"]["allow"]
        self.why = change["was"]["reason"], change["is"]["reason"]
        words = self.text.split(" ")
        self.method = self.type = None
        self.proto, self.path, self.tls = "tcp", None, False
        self.leads_to, self.resolves = None, True
        if words[0] == "resolve":
            self.name = words[1]
            self.type = words[2] if len(words) > 2 else "A"
        elif len(words) > 1 and "://" in words[1]:
            self.method = words[0]
            if len(words) > 3:  # "at" where the name leads, or does not
                self.leads_to = words[3]
                self.resolves = words[-1] != "unresolved"
            url = urllib.parse.urlsplit(words[1])
            self.tls = url.scheme == "https"
            self.name, self.path = url.hostname, url.path or "/"
            self.port = url.port or (443 if self.tls else 80)
        else:
            if words[0] in ("tcp", "udp"):
                self.proto = words.pop(0)
            host, _, port = words[0].rpartition(":")
            self.name, self.port = host.strip("[]"), int(port)
            if len(words) > 1:  # an address that a name led to
                self.leads_to, self.name = self.name, words[1]

    def states_name(self):
        return bool(self.leads_to and self.proto == "tcp" and not self.method)

    def is_address(self):
        try:
            return bool(ipaddress.ip_address(self.name))
        except ValueError:
            return False

    def state(self):
        """In the agent's namespace: the name stated at the address that is
        given, resolved or not, in TLS and in the clear: what came through."""
        def attempt(tls):
            self.method, self.path, self.tls = "GET", "/", tls
            return self.connect(self.leads_to)
        return attempt(True), attempt(False)

    def send(self):
        """In the agent's namespace: was it done? And what was seen."""
        addr = self.leads_to or self.name
        if self.type or (self.resolves and not self.is_address()):
            asked = self.type or (
                "AAAA" if ":" in (self.leads_to or "") else "A")
            got = resolve(self.name, TYPES[asked])
            if "error" in got:
                return False, "no answer: %s" % got["error"]
            if got["rcode"] != gate.NOERROR:
                return False, "rcode %d" % got["rcode"]
            if self.type:
                return True, "answered"
            addr = self.leads_to
            given = gate.addresses(got)
            # what somebody has to permit leads there only then
            if not addr or given and given[0].startswith(STAND_INS):
                addr = given[0]
        try:
            return self.datagram(addr) if self.proto == "udp" else \
                self.connect(addr)
        except OSError as e:
            return False, str(e)

    def connect(self, addr):
        """Who says nothing for 200 ms awaits a server's greeting, for a gate:
        a hello after that is refused. Who was held up so long tries again."""
        for _ in range(5):
            self.spoke_s = 0
            try:
                with socket.create_connection((addr, self.port), 5) as s:
                    got = self.http(s) if self.method else self.raw(s)
            except OSError as e:
                got = False, str(e)
            if self.spoke_s < LATE_S:
                break
        return got

    def datagram(self, addr):
        family = socket.AF_INET6 if ":" in addr else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as s:
            s.settimeout(1)
            s.connect((addr, self.port))
            for _ in range(3):  # a datagram may be lost
                s.send(b"hello")
                with contextlib.suppress(socket.timeout):
                    got = s.recv(64)
                    return got == b"banner", repr(got)
        return False, "no answer"

    def raw(self, s):
        s.sendall(b"hello\n")
        got = s.recv(64)
        return got == b"banner", repr(got)

    def http(self, s):
        began = time.monotonic()
        if self.tls:
            named = None if self.is_address() else self.name
            s = UNVERIFIED.wrap_socket(s, server_hostname=named,
                                       do_handshake_on_connect=False)
            self.spoke_s = time.monotonic() - began
            s.do_handshake()
        host = "[%s]" % self.name if ":" in self.name else self.name
        if self.port != (443 if self.tls else 80):
            host += ":%d" % self.port
        s.sendall(("%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\n"
                   "Connection: close\r\n\r\n"
                   % (self.method, self.path, host)).encode())
        if not self.tls:
            self.spoke_s = time.monotonic() - began
        got = b""
        while b"\r\n\r\n" not in got:
            more = s.recv(4096)
            if not more:
                break
            got += more
        return b"x-origin: yes" in got.lower(), repr(got[:60])


# --- the internet -----------------------------------------------------------

def address(name):
    """Of a name: one of its own, the same each time."""
    digest = hashlib.sha256(name.encode()).digest()
    return "11.%d.%d.%d" % (128 | digest[0] >> 1, digest[1], digest[2])


def zone(name, qtype):
    """Every name exists. Where one leads that a witness puts elsewhere is in
    the file that ELSEWHERE names."""
    elsewhere = json.loads(pathlib.Path(sys.argv[-1], ELSEWHERE).read_text())
    where = elsewhere.get(name, address(name))
    if qtype == (gate.AAAA if ":" in where else gate.A):
        return [gate_inet.record(name, qtype, where)]
    return []


def serve_one(c, context):
    try:
        with c:
            c.settimeout(5)
            if c.recv(1, socket.MSG_PEEK) == b"\x16":
                c = context.wrap_socket(c, server_side=True)
            got = c.recv(4096)
            if b" HTTP/1." in got:
                c.sendall(b"HTTP/1.1 200 OK\r\nX-Origin: yes\r\n"
                          b"Content-Length: 0\r\nConnection: close\r\n\r\n")
            else:
                c.sendall(b"banner")
    except OSError:
        pass


def serve_tcp(context):
    listener = socket.create_server(("::", PORT), family=socket.AF_INET6,
                                    dualstack_ipv6=True, backlog=256)
    while True:
        c = listener.accept()[0]
        threading.Thread(target=serve_one, args=(c, context),
                         daemon=True).start()


def serve_udp():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
        s.bind(("::", PORT))
        while True:
            _, peer = s.recvfrom(2048)
            s.sendto(b"banner", peer)


def internet(certs):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pathlib.Path(certs) / "origin.pem")
    gate_inet.zone = zone
    for fn, *args in ((gate_inet.serve_udp,), (gate_inet.serve_tcp,),
                      (serve_tcp, context), (serve_udp,)):
        threading.Thread(target=fn, args=args, daemon=True).start()
    gate_inet.tell({})
    signal.pause()


# Whatever is not the resolver's is served by the two servers above.
REDIRECT = """
table ip world {
	chain prerouting {
		type nat hook prerouting priority dstnat;
		ip daddr 203.0.113.1 meta l4proto { tcp, udp } th dport 53 accept
		meta l4proto { tcp, udp } redirect to :%d
	}
}
table ip6 world {
	chain prerouting {
		type nat hook prerouting priority dstnat;
		meta l4proto { tcp, udp } redirect to :%d
	}
}
""" % (PORT, PORT)


class World(l7_live.World):
    def serve(self):
        i = self.inet
        for net in ("0.0.0.0/1", "128.0.0.0/1"):
            gate.ip("-n", i, "route", "add", "local", net, "dev", "lo")
        subprocess.run(["ip", "netns", "exec", i, "nft", "-f", "-"],
                       input=REDIRECT, text=True, check=True)
        return [sys.executable, __file__, "--internet", str(self.certs)]


def make_certs(folder, names):
    """As in l7_live.py, for the names that are asked for."""
    l7_live.make_certs(folder)
    (folder / "o.ext").write_text("subjectAltName=" + ",".join(
        ("IP:" if ":" in n or n.replace(".", "").isdigit() else "DNS:") + n
        for n in sorted(names)) + "\n")
    subprocess.run(
        ["openssl", "x509", "-req", "-in", "o.csr", "-CA",
         "ca-certificates.crt", "-CAkey", "root.key", "-CAcreateserial",
         "-days", "30", "-extfile", "o.ext", "-out", "o.crt"], cwd=folder,
        check=True, stderr=subprocess.DEVNULL)
    (folder / "origin.pem").write_text((folder / "o.crt").read_text() +
                                       (folder / "o.key").read_text())


# --- the test ---------------------------------------------------------------

def gather(count, seed):
    """Pairs with their witnesses: [(old, new, [Request])]."""
    rng, pairs, skipped = random.Random(seed), [], 0
    with tempfile.TemporaryDirectory() as tmp:
        todo = list(WRITTEN)
        while todo or len(pairs) < len(WRITTEN) + count:
            old, new = todo.pop(0) if todo else (generated(rng),
                                                 generated(rng))
            found = difference(pathlib.Path(tmp), old, new)
            if found is None:
                continue  # a grant that a denial makes void, and the like
            requests = []
            for change in found["changes"] + found["unchanged_access"]:
                if change["kind"] in ("connect", "http", "resolve"):
                    requests.append(Request(change))
                else:
                    skipped += 1
            if requests:
                pairs.append((old, new, requests))
    return pairs, skipped


def rounds(requests):
    """Requests that may share a session. Those that put a name elsewhere have
    theirs: an address where a denied name led is guarded from then on."""
    yield [r for r in requests if not r.leads_to], {}
    places = sorted({(r.name, r.leads_to, r.resolves) for r in requests
                     if r.leads_to})
    for name, addr, resolves in places:
        yield [r for r in requests
               if (r.name, r.leads_to, r.resolves) == (name, addr, resolves)
               ], {name: addr} if resolves else {}


def verdicts(world, policy, requests, somebody=contextlib.nullcontext):
    """What a live gate of the policy does with each: {text: verdict}. Whoever
    is behind the gate is asked by somebody(gate)."""
    out = {}
    with gate.compiled(HEAD + policy, stderr=subprocess.DEVNULL) as plan:
        for some, elsewhere in rounds(requests):
            (world.certs / ELSEWHERE).write_text(json.dumps(elsewhere))
            with l7_live.Gate(world, plan, {}) as g:
                if g.first.get("event") != "ready":
                    check(False, "the gate is ready", policy, g.first)
                    return out
                with somebody(g), \
                        concurrent.futures.ThreadPoolExecutor(8) as pool:
                    got = list(pool.map(g.agent, [r.send for r in some]))
                out.update((r.text, v) for r, v in zip(some, got))
                for r in some:
                    if r.states_name():
                        out[r.text].append(g.agent(r.state))
    return out


def judge(request, claimed, reason, got, policy):
    """Nobody gets an address from a name that does not resolve: what a policy
    would say of other protocols there is not seen. Of TLS and HTTP it is."""
    done, seen, *stated = got or (None, "nothing")
    unresolved = request.leads_to and seen.startswith("rcode")
    if not (claimed and unresolved):
        check(done == claimed, "a gate does as was said", request.text,
              claimed, got, "under\n" + policy)
    for tls, clear in stated:
        # Rules of http may let through what is no connection of its own, and
        # may refuse what was made to see whether there is one.
        if claimed:
            check(tls[0] or request_refused(tls), "a name may be stated in TLS",
                  request.text, tls, "under\n" + policy)
        elif reason != "not-http":
            check(not tls[0] and not clear[0], "a name may not be stated",
                  request.text, tls, clear, "under\n" + policy)


def request_refused(got):
    """The hello went through, and the request behind it did not."""
    return "HTTP/1.1 403" in got[1]


@contextlib.contextmanager
def names_exist(names):
    """The world in which they do."""
    with tempfile.TemporaryDirectory() as certs:
        certs = pathlib.Path(certs)
        make_certs(certs, names)
        (certs / ELSEWHERE).write_text("{}")
        with World(True, certs) as world:
            yield world


def main():
    if gate.lacking(gate.MEMBRANE):
        return 77
    args = [int(a) for a in sys.argv[1:]]
    pairs, skipped = gather(*(args + [PAIRS, SEED][len(args):]))
    names = {r.name for _, _, rs in pairs for r in rs}
    differ = same = 0
    with names_exist(names) as world:
        for old, new, requests in pairs:
            was = verdicts(world, old, requests)
            is_ = verdicts(world, new, requests)
            for r in requests:
                judge(r, r.was, r.why[0], was.get(r.text), old)
                judge(r, r.is_, r.why[1], is_.get(r.text), new)
                differ += r.was != r.is_
                same += r.was and r.is_
    check(differ >= 3 * len(pairs), "enough witnesses", differ)
    check(same >= len(pairs) / 2, "enough that both permit", same)
    print("%d pairs, %d witnesses of changes and %d of what is unchanged sent "
          "through both, %d not for a gate"
          % (len(pairs), differ, same, skipped))
    return gate.end()


if __name__ == "__main__":
    if "--internet" in sys.argv:
        internet(sys.argv[-1])
    else:
        sys.exit(main())
