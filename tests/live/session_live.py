#!/usr/bin/env python3
"""Sessions of the native engine in network namespaces; needs root, else 77.

What a launcher makes of a gate, and a Pod does not: its network, its way out by
a broker, a link or a company's proxy, its resolver and HAProxy, whoever asks in
its terminal. One policy and one command for each way out. Judged by what the
command met, what arrived at the servers and by the session's records.
"""
import base64
import contextlib
import json
import os
import pathlib
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import apart_live  # noqa: E402
import gate  # noqa: E402
import gate_inet  # noqa: E402
import l7_live  # noqa: E402
from gate import check  # noqa: E402

PROXY_PORT, PROXY_AT = 3128, "11.0.3.128"
LOGIN = "me:pass"
ZONE = {"web.test": "11.0.0.8", "past.test": "11.0.0.9",
        "proxy.test": PROXY_AT}

# What its command tries: [what, ...] each, and the answers as JSON.
PROBE = r"""
import http.client, json, socket, ssl, sys

def lookup(name, family=socket.AF_INET):
    return sorted({a[4][0] for a in socket.getaddrinfo(
        name, None, family, socket.SOCK_STREAM)})

def tcp(host, port, said=""):
    with socket.create_connection((host, port), 8) as s:
        s.sendall(said.encode())
        return s.recv(200).decode("latin-1")

def udp(host, port, said):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(3)
        s.connect((host, port))
        s.send(said.encode())
        return s.recv(200).decode("latin-1")

def serve(port):
    with socket.create_server(("127.0.0.1", port)) as s:
        s.settimeout(20)
        with s.accept()[0] as c:
            said = c.recv(200)
            c.sendall(b"inside: " + said)
            return said.decode("latin-1")

def web(method, host, path, at=None):
    c = http.client.HTTPConnection(at or host, 80, timeout=8)
    c.request(method, path, headers={"Host": host})
    return c.getresponse().status

def tls(method, host, path, at=None):
    context = ssl.create_default_context()
    with socket.create_connection((at or host, 443), 8) as plain, \
            context.wrap_socket(plain, server_hostname=host) as s:
        by = dict(p[0] for p in s.getpeercert()["issuer"])["commonName"]
        s.sendall(("%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\n\r\n" %
                   (method, path, host)).encode())
        return [int(s.recv(2000).split()[1]), by]

out = []
for what, *words in json.loads(sys.argv[1]):
    try:
        out.append(globals()[what](*words))
    except ssl.SSLError:
        out.append("ended")
    except (OSError, http.client.HTTPException, IndexError) as e:
        out.append(getattr(e, "strerror", None) or type(e).__name__)
print(json.dumps(out))
"""


# --- the internet -----------------------------------------------------------

class Proxy(socketserver.StreamRequestHandler):
    """CONNECT, for who has the login, to one address: the origin's."""

    def handle(self):
        line = self.rfile.readline().decode()
        login = None
        while (more := self.rfile.readline().strip()):
            name, _, value = more.decode().partition(":")
            if name.lower() == "proxy-authorization":
                login = value.strip()
        gate_inet.tell({"proxy": line.strip(), "login": login})
        target = line.split()[1].rpartition(":")
        if target[0] == "gone.test":
            self.wfile.write(b"HTTP/1.1 403 no\r\n\r\n")
            return
        self.wfile.write(b"HTTP/1.1 200 yes\r\n\r\n")
        at = target[0] if target[0][0].isdigit() else "11.0.0.1"
        with socket.create_connection((at, int(target[2]))) as on:
            back = threading.Thread(target=self.copy, args=(
                on, self.connection))
            back.start()
            self.copy(self.connection, on)
            back.join()

    @staticmethod
    def copy(a, b):
        with contextlib.suppress(OSError):
            while (data := a.recv(65536)):
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)


def echo():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("11.0.8.1", 4000))
        while True:
            data, peer = s.recvfrom(200)
            gate_inet.tell({"echo": data.decode("latin-1")})
            s.sendto(data, peer)


def internet(certs):
    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = daemon_threads = True
    for fn, *args in ((echo,), (gate_inet.serve_banner, 8080), (
            Server((PROXY_AT, PROXY_PORT), Proxy).serve_forever,)):
        threading.Thread(target=fn, args=args, daemon=True).start()
    apart_live.ZONE.update(ZONE)
    apart_live.internet(certs)


class World(l7_live.World):
    def serve(self):
        return [sys.executable, __file__, "--internet", str(self.certs)]


# --- a session --------------------------------------------------------------

# In the network of the host; with the fake internet's resolver, and roots.
HOST = r"""
set -e
mount --bind "$2" /etc/ssl/certs/ca-certificates.crt
echo nameserver 203.0.113.1 >"$1/resolv.conf"
mount --bind "$1/resolv.conf" "$(readlink -f /etc/resolv.conf)"
shift 2
exec "$@"
"""


class Session:
    def __init__(self, world, policy, attempts, env=None, config="",
                 roots="ca-certificates.crt"):
        self.roots = str(world.certs / roots)
        with tempfile.TemporaryDirectory() as home:
            work = pathlib.Path(home, "work")
            work.mkdir()
            if config:
                pathlib.Path(home, ".membrane").mkdir()
                pathlib.Path(home, ".membrane/config.yaml").write_text(config)
            (work / ".membrane.yaml").write_text(policy)
            (work / "probe.py").write_text(PROBE)
            self.run(world, work, attempts, env or {})
            self.events = [
                r for p in pathlib.Path(home).glob(
                    ".membrane/sessions/*/decisions.jsonl")
                for r in map(json.loads, p.read_text().splitlines())]

    def run(self, world, work, attempts, env):
        done = subprocess.run(
            ["ip", "netns", "exec", world.host, "unshare", "-m", "bash", "-c",
             HOST, "-", str(world.certs), self.roots, gate.MEMBRANE, "run", "--trust-workspace",
             "--",
             "python3", "probe.py", json.dumps(attempts)], cwd=work,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME":
                 str(work.parent), "MEMBRANE_HOME": str(work.parent /
                                                        ".membrane"),
                 "MEMBRANE_ENGINE": "native", **env}, timeout=60, check=False)
        self.status, self.stderr = done.returncode, done.stderr
        self.got = json.loads(done.stdout) if done.returncode == 0 else []
        check(self.got, "it runs", done.stdout, done.stderr)

    def decided(self, **want):
        return [e for e in self.events if want.items() <= e.items()]


# --- what is on record ------------------------------------------------------

# Not the same in two sessions, or of TLS, whose bytes are its own affair.
CHANGES = ("time", "sport", "id", "source", "event")


def told(s, **want):
    """The decisions of a session, without what chance has a part in."""
    out = []
    for e in s.decided(event="decision", **want):
        kept = {k: v for k, v in e.items() if k not in CHANGES}
        if e.get("tls"):
            del kept["sent"], kept["received"]
        out.append(kept)
    return out


def check_told(s, kind, *wanted):
    """Each of a kind once; one that went well when it has ended."""
    got = [tuple(e.get(k) for k in ("verdict", "reason", "name", "addr",
                                    "port")) for e in told(s, kind=kind)]
    check(sorted(got, key=str) == sorted(wanted, key=str),
          "on record: " + kind, got)


# --- checks -----------------------------------------------------------------

NAMES = """resolver: 203.0.113.1
allow:
  - good.test:443
  - http://web.test/api/
  - dest: a.wild.test:443
    http: [{methods: [GET], paths: [/v1/]}]
"""


def check_names(world):
    """Names alone: no route leads out, a broker makes each connection."""
    s = Session(world, NAMES, [
        ["lookup", "good.test"], ["lookup", "evil.test"],
        ["tls", "GET", "good.test", "/"],
        ["tls", "GET", "a.wild.test", "/v1/x"],
        ["tls", "POST", "a.wild.test", "/v1/x"],
        ["web", "GET", "web.test", "/api/x"],
        ["web", "GET", "web.test", "/other"],
        ["tcp", "11.0.0.1", 22], ["udp", "11.0.0.1", 4000, "x"]])
    check(s.got == [
        ["11.0.0.1"], "Name or service not known", [200, "root.test"],
        [200, "membrane session CA"], [403, "membrane session CA"], 200, 403,
        "Connection refused", "No route to host"], "its answers", s.got)
    granted = ("allow", "granted")
    check_told(s, "connect",
               (*granted, "good.test", "11.0.0.1", 443),
               ("deny", "port", "good.test", "11.0.0.1", 22),
               ("deny", "udp", "good.test", "11.0.0.1", 4000))
    check_told(s, "request",
               (*granted, "a.wild.test", "11.0.0.1", 443),
               ("deny", "method", "a.wild.test", "11.0.0.1", 443),
               (*granted, "web.test", "11.0.0.8", 80),
               ("deny", "path", "web.test", "11.0.0.8", 80))
    check([(e["method"], e["path"], e["status"], e["sent"], e["received"])
           for e in told(s, kind="request", tls=False)] == [
        ("GET", "/api/x", 200, 73, 118), ("GET", "/other", 403, 73, 329)],
        "what was asked", told(s, kind="request"))
    check(not [a for a in world.arrived if a.get("web") == "/other" or
               "echo" in a], "nothing else arrived", world.arrived)


NETWORKS = """resolver: 203.0.113.1
allow:
  - good.test:443
  - 11.0.9.0/24:8080
  - {dest: 11.0.8.0/24, ports: [4000/udp]}
  - web.test:80
deny: [11.0.9.7]
"""


def check_networks(world):
    """With networks and UDP: a link leads out."""
    s = Session(world, NETWORKS, [
        ["tls", "GET", "good.test", "/"], ["web", "GET", "web.test", "/a"],
        ["tcp", "11.0.9.1", 8080], ["tcp", "11.0.9.7", 8080],
        ["tcp", "11.0.9.1", 8081], ["tcp", "11.0.7.1", 8080],
        ["udp", "11.0.8.1", 4000, "asked"], ["udp", "11.0.8.1", 4001, "x"],
        ["udp", "11.0.7.1", 4000, "x"], ["tcp", "169.254.169.254", 80],
        ["tcp", "203.0.113.2", 8080]])
    closed, no_way = "Connection refused", "No route to host"
    check(s.got == [
        [200, "root.test"], 200, "banner", closed, closed, closed, "asked",
        no_way, no_way, closed, closed], "its answers", s.got)
    check_told(s, "connect",
               ("allow", "granted", "good.test", "11.0.0.1", 443),
               ("allow", "granted", None, "11.0.9.1", 8080),
               ("deny", "denied", None, "11.0.9.7", 8080),
               ("deny", "port", None, "11.0.9.1", 8081),
               ("deny", "no-grant", None, "11.0.7.1", 8080),
               ("allow", "granted", None, "11.0.8.1", 4000),
               ("deny", "udp", None, "11.0.8.1", 4001),
               ("deny", "no-grant", None, "11.0.7.1", 4000),
               ("deny", "floor", None, "169.254.169.254", 80),
               ("deny", "floor", None, "203.0.113.2", 8080))
    check_told(s, "request",
               ("allow", "granted", "web.test", "11.0.0.8", 80))


UPSTREAM = """resolver: 203.0.113.1
allow:
  - good.test
  - gone.test:443
  - http://web.test/api/
  - dest: a.wild.test:443
    http: [{methods: [GET], paths: [/v1/]}]
  - past.test:80
  - 11.0.9.0/24:8080
deny: [other.wild.test]
upstream: {proxy: "http://proxy.test:3128", from_env: LOGIN,
           direct: [past.test]}
"""


def check_upstream(world):
    """By a company's proxy, and past it."""
    s = Session(world, UPSTREAM, [
        ["lookup", "good.test"], ["lookup", "evil.test"],
        ["tls", "GET", "good.test", "/"],
        ["tls", "GET", "gone.test", "/"],
        ["tls", "GET", "a.wild.test", "/v1/x"],
        ["tls", "POST", "a.wild.test", "/v1/x"],
        ["web", "GET", "web.test", "/api/x"],
        ["web", "GET", "web.test", "/other"],
        ["web", "GET", "past.test", "/y"],
        ["tcp", "11.0.9.1", 8080, "x"], ["tcp", "11.0.9.1", 8081],
        ["tcp", PROXY_AT, PROXY_PORT]], {"LOGIN": LOGIN})
    closed = "Connection refused"
    check(s.got == [
        ["192.0.2.1"], "Name or service not known", [200, "root.test"],
        "ended",
        [200, "membrane session CA"], [403, "membrane session CA"], 200, 403,
        200, "banner", closed, closed], "its answers", s.got)
    asked = [a["proxy"] for a in world.arrived if "proxy" in a]
    check(asked == ["CONNECT %s HTTP/1.1" % t for t in (
        "good.test:443", "gone.test:443", "a.wild.test:443", "web.test:80",
        "11.0.9.1:8080")], "of the proxy", asked)
    login = "Basic " + base64.b64encode(LOGIN.encode()).decode()
    check({a["login"] for a in world.arrived if "proxy" in a} == {login},
          "by whom")
    check_told(s, "connect",
               ("allow", "granted", "good.test", "192.0.2.1", 443),
               ("deny", "upstream", "gone.test", "192.0.2.2", 443),
               ("allow", "granted", None, "11.0.9.1", 8080),
               ("deny", "port", None, "11.0.9.1", 8081),
               ("deny", "host-address", None, PROXY_AT, PROXY_PORT))
    check_told(s, "request",
               ("allow", "granted", "a.wild.test", "192.0.2.3", 443),
               ("deny", "method", "a.wild.test", "192.0.2.3", 443),
               ("allow", "granted", "web.test", "192.0.2.4", 80),
               ("deny", "path", "web.test", "192.0.2.4", 80),
               ("allow", "granted", "past.test", "11.0.0.9", 80))
    why = [e["error"] for e in told(s, reason="upstream")]
    check(why == ["the proxy refuses it (403)"], "why", why)


SERVICES = """resolver: 203.0.113.1
allow:
  - good.test
  - host:7001
  - web.test:80
ports: ["18080:8080"]
"""
# What is the machine's own to say.
CONFIG = """upstream_ca: %s
uplink: isolated
credentials:
  - {host: good.test, header: X-Key, from_env: TOKEN, format: 'Bearer {}'}
"""
# On the machine's loopback; and who calls what is published there, until
# somebody listens inside.
AT_HOST = r"""
import socket, threading, time
def banner():
    s = socket.create_server(("127.0.0.1", 7001))
    print(flush=True)
    while True:
        with s.accept()[0] as c:
            c.sendall(b"the machine")
threading.Thread(target=banner, daemon=True).start()
while True:
    try:
        with socket.create_connection(("127.0.0.1", 18080), 5) as s:
            s.sendall(b"from outside")
            got = s.recv(200)
            if got:
                break
    except OSError:
        pass
    time.sleep(0.02)
print(got.decode(), flush=True)
time.sleep(60)
"""


@contextlib.contextmanager
def at_host(world):
    """Its process; what it is answered is its next line."""
    p = subprocess.Popen(["ip", "netns", "exec", world.host, sys.executable,
                          "-c", AT_HOST], stdout=subprocess.PIPE, text=True)
    p.stdout.readline()
    try:
        yield p
    finally:
        p.kill()
        p.wait()
        p.stdout.close()


def check_services(world):
    """Ports of both sides, a credential, and roots of the machine's own."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                    "other.key", "-out", "other.crt", "-days", "30", "-subj",
                    "/CN=other.test"], check=True, cwd=world.certs,
                   capture_output=True)
    with at_host(world) as outside:
        s = Session(world, SERVICES, [
            ["serve", 8080], ["tcp", "host", 7001], ["tcp", "host", 7002],
            ["tcp", "127.0.0.1", 7001], ["tls", "GET", "good.test", "/api/k"],
            ["web", "GET", "web.test", "/s"], ["lookup", "host"]],
            {"TOKEN": "hush"}, CONFIG % (world.certs /
                                         "ca-certificates.crt"), "other.crt")
        answer = outside.stdout.readline().strip()
    closed = "Connection refused"
    check(s.got == [
        "from outside", "the machine", closed, closed,
        [200, "membrane session CA"], 200, ["192.0.0.5"]], "its answers",
        s.got)
    check(answer == "inside: from outside", "what is published", answer)
    keys = [a["key"] for a in world.arrived if a.get("http") == "/api/k"]
    check(keys == ["Bearer hush"], "with the credential", keys)
    check("hush" not in json.dumps(s.events), "which nobody tells")
    check_told(s, "connect",
               ("allow", "granted", "host", "192.0.0.5", 7001),
               ("deny", "port", "host", "192.0.0.5", 7002))
    check_told(s, "request",
               ("allow", "granted", "good.test", "11.0.0.1", 443),
               ("allow", "granted", "web.test", "11.0.0.8", 80))


def check_all():
    with tempfile.TemporaryDirectory() as tmp:
        certs = pathlib.Path(tmp, "certs")
        certs.mkdir()
        os.chmod(tmp, 0o755)
        l7_live.make_certs(certs)
        with World(True, certs) as world:
            check_names(world)
            check_networks(world)
            check_upstream(world)
            check_services(world)


def main():
    if gate.lacking(gate.MEMBRANE, pathlib.Path("/usr/bin/pasta")):
        return 77
    check_all()
    return gate.end()


if __name__ == "__main__":
    if "--internet" in sys.argv:
        internet(sys.argv[-1])
    else:
        sys.exit(main())
