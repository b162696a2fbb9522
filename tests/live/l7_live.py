#!/usr/bin/env python3
"""The gate with HAProxy, in network namespaces of its own; needs root, else 77.

    l7_live.py           all checks
    l7_live.py --bench   what HAProxy adds to the gate's start

The configuration is this file's own: small, and only as strict as the gate's
side needs (what the compiler writes has tests of its own). The gate runs in a
file system like that of its container, with /plan and /run/gate where they
are there. Judged by what arrives at the servers.
"""
import contextlib
import http.client
import http.server
import json
import os
import pathlib
import select
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import gate  # noqa: E402
import gate_inet  # noqa: E402
from gate import check, soon  # noqa: E402

UID = 64100
READER = gate.ROOT / "build/bin/membrane-reader.so"
# Of the reader, all but what HAProxy calls; as the Makefile has it.
PURE = [p for p in (gate.ROOT / "runtime/reader").glob("*.c")
        if p.name != "interpose.c"] + [
            gate.ROOT / "runtime/broker/ask.c",
            gate.ROOT / "compiler/base/sys/fdpass.c"]
SECRET = "s3cret-of-the-session"

RULES = gate.RULES.replace("""\
	chain input {
		type filter hook input priority filter; policy drop;
		iifname "lo" accept
""", """\
	set http4_1 {
		type ipv4_addr
		flags timeout
	}

	set http6_1 {
		type ipv6_addr
		flags timeout
	}

	chain prerouting {
		type nat hook prerouting priority dstnat; policy accept;
		iifname != "agent0" accept
		ip daddr @host4_1 tcp dport 443 redirect to :15001
		ip daddr @http4_1 tcp dport { 80, 443 } redirect to :15002
	}

	chain divert {
		type filter hook prerouting priority mangle; policy accept;
		iifname != "agent0" accept
		ip6 daddr @host6_1 tcp dport 443 tproxy ip6 to [::1]:15001 meta mark set 0x00000001 accept
		ip6 daddr @http6_1 tcp dport { 80, 443 } tproxy ip6 to [::1]:15002 meta mark set 0x00000001 accept
	}

	chain input {
		type filter hook input priority filter; policy drop;
		iifname "lo" accept
		ct status dnat tcp dport { 15001, 15002 } accept
		meta mark 0x00000001 accept
""")

NAMES = """\
membrane-names 2
upstream udp 203.0.113.1 53
floor 127.0.0.0/8
private 10.0.0.0/8
ports 1 tcp/443
name **.wild.test h1 - g-0000000002
name good.test 1 - g-0000000001
name mixed.test h1 - g-0000000003
deny bad.wild.test d-0000000001
"""
PROFILES = """\
membrane-profiles 1
1 good.test g-0000000001
2 **.wild.test g-0000000002
2 mixed.test g-0000000003
d1 bad.wild.test d-0000000001
"""
PROVENANCE = {"version": 1, "rules": {
    "g-0000000001": {"source": ".membrane.yaml", "line": 3},
    "g-0000000002": {"source": ".membrane.yaml", "line": 4},
    "g-0000000003": {"source": ".membrane.yaml", "line": 5},
    "d-0000000001": {"source": ".membrane.yaml", "line": 7}}}
CRT = "/run/gate/leaf/1.pem *.wild.test mixed.test\n"

LUA = """\
core.register_action("ensure_cert", {"tcp-req"}, function(txn)
  local s = core.tcp()
  s:settimeout(3)
  local answer = "no"
  if s:connect("unix@/run/gate/signer.sock") then
    s:send(txn:get_var("sess.name") .. "\\n")
    answer = s:receive("*l") or "no"
  end
  s:close()
  txn:set_var("sess.cert", answer)
end)
"""

HAPROXY = r"""
global
    uid 64100
    gid 64100
    log /run/gate/log.sock len 8192 format raw local0
    stats socket /run/gate/admin.sock mode 666 level admin
    stats timeout 2m
    unix-bind mode 666
    lua-load-per-thread /plan/gate.lua
    maxconn 2000
    nbthread 2
defaults
    log global
    retries 0
    timeout connect 5s
    timeout client 1h
    timeout server 1h
frontend gate
    mode tcp
    maxconn 900
    bind "${MEMBRANE_RAW4}"
    bind "${MEMBRANE_RAW6}"
    bind "${MEMBRANE_HTTP4}"
    bind "${MEMBRANE_HTTP6}"
    log-format '{"k":"conn","verdict":"%[var(sess.verdict)]","reason":"%[var(sess.reason)]","rule":"%[var(sess.rule)]","proto":"tls","addr":"%[dst]","port":%[dst_port],"sport":%cp,"end":"%ts","up":%U,"down":%B,"name":%{+Q}[var(sess.name),bytes(0,300),json(utf8s)]}'
    tcp-request inspect-delay 5s
    tcp-request content set-var(sess.verdict) str(deny)
    tcp-request content set-var(sess.reason) str(no-sni)
    tcp-request content set-var(sess.rule) str(-)
    tcp-request content reject unless { req.ssl_hello_type 1 }
    tcp-request content set-var(sess.name) req.ssl_sni,lower
    tcp-request content reject unless { var(sess.name) -m found }
    tcp-request content set-var(sess.reason) str(no-grant)
    tcp-request content set-var(sess.rule) str(1) if { var(sess.name) -m str good.test }
    tcp-request content set-var(sess.rule) str(2) if { var(sess.name) -m end .wild.test } or { var(sess.name) -m str mixed.test }
    tcp-request content reject if { var(sess.rule) -m str -- - }
    tcp-request content set-var(sess.reason) str(not-resolved)
    tcp-request content set-var(sess.pin) dst
    tcp-request content set-var(sess.pin) var(sess.name),concat(@,sess.pin)
    tcp-request content reject unless { var(sess.pin),map_str(/run/gate/pins.map) -m found }
    tcp-request content set-var(sess.reason) str(granted)
    tcp-request content lua.ensure_cert if { var(sess.rule) -m str 2 } { var(sess.name) -m reg ^[^.]+[.][^.]+[.]wild[.]test\z }
    tcp-request content set-var(sess.verdict) str(allow) if { var(sess.rule) -m str 1 }
    tcp-request content set-var(sess.verdict) str(l7) if { var(sess.rule) -m str 2 }
    use_backend inner if { var(sess.rule) -m str 2 }
    default_backend tunnel
backend tunnel
    mode tcp
    server origin 0.0.0.0
backend inner
    mode tcp
    server l7 unix@/run/gate/l7.sock send-proxy-v2
frontend l7
    mode http
    bind unix@/run/gate/l7.sock accept-proxy ssl crt-list /plan/crt.lst strict-sni alpn h2,http/1.1
    log-format '{"k":"req","reason":"%[var(txn.reason)]","rule":"2","status":%ST,"tls":1,"addr":"%[dst]","port":%[dst_port],"sport":%cp,"end":"%ts","up":%U,"down":%B,"err":%{+Q}[bc_err_str],"name":%{+Q}[var(txn.host),json(utf8s)],"method":%{+Q}[var(txn.method),json(utf8s)],"path":%{+Q}[var(txn.path),json(utf8s)]}'
    http-request set-var(txn.reason) str(path)
    http-request set-var(txn.host) req.hdr(host),host_only,lower
    http-request set-var(txn.method) method
    http-request set-var(txn.path) path
    http-request deny deny_status 403 unless { path -m beg /api/ }
    http-request set-var(txn.reason) str(granted)
    http-request del-header x-key
    http-request set-header x-key "Bearer %[env(MEMBRANE_CREDENTIAL_1)]"
    default_backend origin
backend origin
    mode http
    server o 0.0.0.0 ssl verify required ca-file /etc/ssl/certs/ca-certificates.crt sni ssl_fc_sni
"""


# --- the internet -----------------------------------------------------------

class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        gate_inet.tell({"http": self.path, "host": self.headers["host"],
                   "key": self.headers["x-key"],
                   "sni": self.connection.sni})
        body = b"page"
        if self.path == "/api/slow":
            time.sleep(30)
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.do_GET()

    def log_message(self, *_):
        pass


class Origin(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, certs):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certs / "origin.pem")

        def note(sock, name, _):
            sock.sni = name
        self.context.sni_callback = note
        super().__init__(("::", 443), Page)

    def get_request(self):
        sock, peer = super().get_request()
        sock.settimeout(40)
        return self.context.wrap_socket(
            sock, server_side=True, do_handshake_on_connect=False), peer

    def handle_error(self, *_):
        pass


def internet(certs):
    for fn in (gate_inet.serve_udp, gate_inet.serve_tcp, lambda: gate_inet.serve_banner(80),
               Origin(pathlib.Path(certs)).serve_forever):
        threading.Thread(target=fn, daemon=True).start()
    time.sleep(0.2)
    gate_inet.tell({})
    signal.pause()


def make_certs(folder):
    """A root of the fake internet's own, and what its origin shows."""
    def run(*words):
        subprocess.run(["openssl", *words], check=True, cwd=folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run("req", "-x509", "-newkey", "ec", "-pkeyopt",
        "ec_paramgen_curve:P-256", "-nodes", "-keyout", "root.key", "-out",
        "ca-certificates.crt", "-days", "30", "-subj", "/CN=root.test")
    run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
        "-nodes", "-keyout", "o.key", "-out", "o.csr", "-subj", "/CN=o")
    (folder / "o.ext").write_text(
        "subjectAltName=DNS:good.test,DNS:*.wild.test,DNS:a.b.wild.test\n")
    run("x509", "-req", "-in", "o.csr", "-CA", "ca-certificates.crt",
        "-CAkey", "root.key", "-CAcreateserial", "-days", "30", "-extfile",
        "o.ext", "-out", "o.crt")
    (folder / "origin.pem").write_text((folder / "o.crt").read_text() +
                                       (folder / "o.key").read_text())


class World(gate.World):
    def __init__(self, v6, certs):
        super().__init__(v6)
        self.certs = certs

    def serve(self):
        return [sys.executable, __file__, "--internet", str(self.certs)]


# The gate's container, as far as files go: /usr and its like are the host's.
CONTAINER = r"""
set -e
root=$1 plan=$2 certs=$3 gate=$4 reader=$5
mount -t tmpfs none "$root"
mkdir -p "$root"/{plan,run/gate,usr,etc/ssl/certs,proc,dev,sys}
for d in usr proc dev sys; do mount --rbind "/$d" "$root/$d"; done
for d in bin sbin lib lib64; do
	if [ -L "/$d" ]; then cp -P "/$d" "$root/"
	elif [ -d "/$d" ]; then mkdir "$root/$d"; mount --rbind "/$d" "$root/$d"
	fi
done
cp /etc/protocols "$root/etc/"
cp "$certs/ca-certificates.crt" "$root/etc/ssl/certs/"
mount --bind "$plan" "$root/plan"
mount -t tmpfs -o mode=0770,uid=64100,gid=0 none "$root/run/gate"
cp "$gate" "$root/membrane-gate"
cp "$reader" "$root/membrane-reader.so"
# Of a gate that is counted: tests/check/coverage.
if [ "${COUNTS-}" ]; then
	mkdir -p "$root$COUNTS"
	mount --bind "$COUNTS" "$root$COUNTS"
fi
exec chroot "$root" /membrane-gate
"""


class Gate(gate.Gate):
    def __init__(self, world, plan, credentials=None, reader=READER):
        super().__init__(world, plan, collect=False)
        self.reader = reader
        self.credentials = {"1": SECRET} if credentials is None else \
            credentials

    def __enter__(self):
        self.root = tempfile.mkdtemp()
        self.began = time.monotonic()
        self.p = subprocess.Popen(
            ["ip", "netns", "exec", self.world.host, "unshare", "-m", "bash",
             "-c", CONTAINER, "-", self.root, self.plan, self.world.certs,
             gate.GATE, self.reader], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        hello = {"version": 1, "session": "0123456789ab",
                 "host": ["11.0.0.99", "203.0.113.2", "2a0e::99"]}
        if self.credentials:
            hello["credentials"] = self.credentials
        self.p.stdin.write(json.dumps(hello).encode() + b"\n")
        self.p.stdin.flush()
        self.roots = ""
        while True:
            self.first = json.loads(self.p.stdout.readline() or "{}")
            if self.first.get("event") != "roots":
                break
            self.roots += self.first["pem"]
        self.ready_s = time.monotonic() - self.began
        threading.Thread(target=self.collect, daemon=True).start()
        return self

    def __exit__(self, *words):
        super().__exit__(*words)
        with contextlib.suppress(OSError):
            os.rmdir(self.root)
        subprocess.run(["ip", "netns", "exec", self.world.host, "nft",
                        "delete", "table", "inet", "membrane"], check=False,
                       stderr=subprocess.DEVNULL)
        for what in ("rule", "route"):
            subprocess.run(["ip", "-6", "-n", self.world.host, what, "flush",
                            "table", "100"], check=False,
                           stderr=subprocess.DEVNULL)

    def haproxy(self):
        """Once it answers: a session begins before that."""
        check(soon(lambda: "Pid: " in self.admin("show info")),
              "HAProxy answers")
        worker = self.worker()
        path = "/proc/%d/task/%d/children" % (worker, worker)
        return int(pathlib.Path(path).read_text().split()[0])

    def admin(self, text):
        """What HAProxy says; "" where it is not there."""
        with socket.socket(socket.AF_UNIX) as s, \
                contextlib.suppress(OSError):
            s.connect("/proc/%d/root/run/gate/admin.sock" % self.p.pid)
            s.sendall(text.encode() + b"\n")
            return s.makefile().read()
        return ""


def fetch(addr, name, path="/api/x", roots=None, port=443, sni=True):
    """One request over TLS; what came back, or what went wrong."""
    def fn():
        context = ssl.create_default_context(cadata=roots)
        if not sni:
            context.check_hostname = False
        try:
            with socket.create_connection((addr, port), 8) as raw, \
                    context.wrap_socket(raw, server_hostname=name
                                        if sni else None) as s:
                issuer = dict(p[0] for p in s.getpeercert()["issuer"])
                s.sendall(("GET %s HTTP/1.1\r\nHost: %s\r\nX-Key: mine\r\n"
                           "Connection: close\r\n\r\n" % (path, name))
                          .encode())
                got = b""
                while True:
                    more = s.recv(65536)
                    if not more:
                        break
                    got += more
            return {"status": int(got.split()[1]), "by": issuer["commonName"],
                    "body": got.rpartition(b"\r\n\r\n")[2].decode()}
        except (OSError, ValueError, IndexError) as e:
            return {"error": str(e) or type(e).__name__}
    return fn


# --- checks -----------------------------------------------------------------

def open_files(pid):
    """What its descriptors lead to; it closes some in the meantime."""
    links = []
    for link in pathlib.Path("/proc/%d/fd" % pid).iterdir():
        with contextlib.suppress(FileNotFoundError):
            links.append(os.readlink(link))
    return links


def check_start(g):
    check(g.first.get("event") == "ready", "ready", g.first)
    if g.first.get("event") != "ready":
        return False
    check("BEGIN CERTIFICATE" in g.first.get("ca", ""), "the CA is told")
    check("PRIVATE" not in json.dumps(g.first), "and not its key")
    check(g.roots == (g.world.certs / "ca-certificates.crt").read_text(),
          "the roots are told")
    status = pathlib.Path("/proc/%d/status" % g.haproxy()).read_text()
    for line in ("Uid:\t64100\t64100\t64100\t64100",
                 "Gid:\t64100\t64100\t64100\t64100",
                 "CapPrm:\t0000000000000000", "CapEff:\t0000000000000000",
                 "CapInh:\t0000000000000000", "CapAmb:\t0000000000000000",
                 "NoNewPrivs:\t1"):
        check(line in status, "HAProxy: " + line, status)
    check("Groups:\t \n" in status or "Groups:\t\n" in status,
          "HAProxy: no groups", status)
    words = pathlib.Path("/proc/%d/cmdline" % g.haproxy()).read_bytes()
    check(SECRET.encode() not in words, "no secret in its arguments")
    status = pathlib.Path("/proc/%d/status" % g.worker()).read_text()
    check("CapEff:\t00000000000010e0" in status and
          "CapBnd:\t00000000000010e0" in status,
          "worker: what it needs, and nothing else", status)
    links = open_files(g.haproxy())
    check(links and not any("plan" in l for l in links),
          "nothing else inherited", links)
    return True


def check_unpaced(g):
    """What goes to the agent is not paced as the machine's own network may be."""
    for port in (15001, 15002):
        said = subprocess.run(
            ["ip", "netns", "exec", g.world.host, "ss", "-Htlni",
             "sport = :%d" % port], check=False, capture_output=True,
            text=True).stdout
        ways = [line.split()[0] for line in said.splitlines()[1::2]]
        check(len(ways) >= 1 and set(ways) == {"reno"},
              "what HAProxy's clients are sent by", port, said)


def check_splice(g):
    roots = g.roots
    check(gate.addresses(g.agent(gate.ask("good.test"))) == ["11.0.0.1"],
          "resolved")
    got = g.agent(fetch("11.0.0.1", "good.test", roots=roots))
    check(got.get("by") == "root.test" and got["status"] == 200,
          "spliced: the origin's own certificate", got)
    check(g.world.saw(lambda a: a.get("sni") == "good.test" and
                      a.get("key") == "mine"), "untouched")
    e = g.decided(kind="connect", verdict="allow", name="good.test")
    check(e and e["addr"] == "11.0.0.1" and e["port"] == 443 and e["tls"] and
          e["sent"] > 100 and e["received"] > 500 and
          e["id"] == "g-0000000001" and e["line"] == 3, "its record", e)
    for name, reason in (("evil.test", "no-grant"),
                         ("bad.wild.test", "not-resolved"),
                         ("a.wild.test", "not-resolved")):
        got = g.agent(fetch("11.0.0.1", name, roots=roots))
        check("error" in got, "refused SNI", name, got)
        e = g.decided(kind="connect", verdict="deny", name=name)
        check(e and e["reason"] == reason, "refused SNI: record", name, e)
    got = g.agent(fetch("11.0.0.1", "x", roots=roots, sni=False))
    check("error" in got, "no SNI", got)
    e = g.decided(kind="connect", verdict="deny", reason="no-sni")
    check(e and e.get("name") == "good.test", "no SNI: whose address", e)
    e = g.decided(kind="connect", name="bad.wild.test")
    check(not any(a.get("sni") == "evil.test" for a in g.world.arrived),
          "nothing arrived")


def check_bump(g):
    ca = g.first["ca"]
    check(gate.addresses(g.agent(gate.ask("a.wild.test"))) == ["11.0.0.1"],
          "resolved")
    listed = g.host("nft", "list", "set", "inet", "membrane", "http4_1")
    check("11.0.0.1" in listed, "in the set of HTTP", listed)
    # the address is in both sets: raw wins, HAProxy decides by the name
    got = g.agent(fetch("11.0.0.1", "a.wild.test", roots=ca))
    check(got.get("by") == "membrane session CA" and got["body"] == "page",
          "decrypted", got)
    check(g.world.saw(lambda a: a.get("host") == "a.wild.test" and
                      a.get("key") == "Bearer " + SECRET), "credential")
    e = g.decided(kind="request", verdict="allow", name="a.wild.test")
    check(e and e["method"] == "GET" and e["path"] == "/api/x" and
          e["status"] == 200 and e["line"] == 4 and e["tls"], "record", e)
    check(g.decided(wait_s=0.1, kind="connect", name="a.wild.test",
                    verdict="allow") is None, "one record for a request")
    got = g.agent(fetch("11.0.0.1", "a.wild.test", "/other", roots=ca))
    check(got.get("status") == 403, "refused path", got)
    e = g.decided(kind="request", verdict="deny", path="/other")
    check(e and e["reason"] == "path" and e["status"] == 403, "record", e)
    # not in the origin's certificate: HAProxy must not go on
    g.agent(gate.ask("mixed.test"))
    got = g.agent(fetch("11.0.0.2", "mixed.test", roots=ca))
    check(got.get("status") == 503, "bad certificate upstream", got)
    e = g.decided(kind="request", verdict="deny", name="mixed.test")
    check(e and e["reason"] == "upstream" and e.get("error"), "record", e)


def check_signer(g):
    ca = g.first["ca"]
    g.agent(gate.ask("a.b.wild.test"))
    got = g.agent(fetch("11.0.0.1", "a.b.wild.test", roots=ca))
    check(got.get("status") == 200, "a leaf on first use", got)
    began = time.monotonic()
    got = g.agent(fetch("11.0.0.1", "a.b.wild.test", roots=ca))
    check(got.get("status") == 200, "and again", time.monotonic() - began)
    listed = g.admin("show ssl crt-list -n /plan/crt.lst")
    check(listed.count("gen-a.b.wild.test.pem") == 1, "installed once",
          listed)

    def signed(line):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect("/proc/%d/root/run/gate/signer.sock" % g.p.pid)
            s.settimeout(3)
            s.sendall(line)
            try:
                return s.recv(10)
            except ConnectionResetError:
                return b""
    for line in (b"evil.test\n", b"*.wild.test\n", b"bad.wild.test\n",
                 b"\n", b"a;show.wild.test\n", b"a b.wild.test\n",
                 b"../x.wild.test\n", b"A.wild.test\n"):
        check(signed(line) == b"no\n", "not signed", line)
    check(signed(b"x" * 300) == b"", "too long")
    check(signed(b"c.d.wild.test\n") == b"ok\n", "signed")
    # as many as it listens to at a time
    idle = []
    for _ in range(16):
        s = socket.socket(socket.AF_UNIX)
        s.connect("/proc/%d/root/run/gate/signer.sock" % g.p.pid)
        idle.append(s)
    time.sleep(4.5)
    check(signed(b"e.f.wild.test\n") == b"ok\n", "idle clients go")
    for s in idle:
        s.close()


def check_pins(g):
    listed = g.admin("show map /run/gate/pins.map")
    check("good.test@11.0.0.1" in listed, "pinned", listed)
    check("mixed.test@11.0.0.2" in listed and
          "mixed.test@127.0.0.1" not in listed and
          "mixed.test@10.1.2.3" not in listed, "only what is kept", listed)
    for _ in range(3):
        g.agent(gate.ask("good.test"))
    listed = g.admin("show map /run/gate/pins.map")
    check(listed.count("good.test@11.0.0.1") == 1, "pinned once", listed)
    e = g.decided(kind="resolve", name="bad.wild.test")
    got = g.agent(gate.ask("bad.wild.test"))
    e = g.decided(kind="resolve", verdict="deny", name="bad.wild.test")
    check(got["rcode"] == gate.NXDOMAIN and e and e["reason"] == "denied" and
          e["id"] == "d-0000000001" and e["line"] == 7, "denied name", e)


def check_v6(g):
    if not g.world.v6:
        return
    got = gate.addresses(g.agent(gate.ask("good.test", gate.AAAA)))
    check(got == ["2a0e::1"], "AAAA", got)
    got = g.agent(fetch("2a0e::1", "good.test", roots=g.roots))
    check(got.get("by") == "root.test", "spliced over IPv6", got)
    e = g.decided(kind="connect", verdict="allow", addr="2a0e::1")
    check(e and e["name"] == "good.test", "IPv6: record", e)
    g.agent(gate.ask("a.wild.test", gate.AAAA))
    got = g.agent(fetch("2a0e::1", "a.wild.test", roots=g.first["ca"]))
    check(got.get("by") == "membrane session CA", "decrypted over IPv6", got)


def check_direct(g):
    """Nobody gets to HAProxy but through a redirect."""
    for addr in ("192.0.0.1", "203.0.113.2"):
        for port in (15001, 15002):
            got, _ = g.agent(gate.connect(addr, port))
            check(got == "Connection refused", "direct", addr, port, got)


def check_many(g):
    """Every connection has a record, side by side too."""
    def fn():
        def one(i, out):
            out[i] = fetch("11.0.0.1", "good.test", "/api/%d" % i,
                           roots=g.roots)().get("status")
        out = [None] * 150
        threads = [threading.Thread(target=one, args=(i, out))
                   for i in range(len(out))]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return out
    time.sleep(0.3)
    before = len([e for e in g.events if e.get("kind") == "connect"])
    got = g.agent(fn)
    check(got == [200] * 150, "150 at a time", got)
    until = time.monotonic() + 3
    while time.monotonic() < until:
        n = len([e for e in g.events if e.get("kind") == "connect"]) - before
        if n == 150:
            break
        time.sleep(0.02)
    check(n == 150, "150 records", n)


def ask_often(addr, name, path, n, roots):
    """Requests one after the other, on as few connections as there can be;
    how many were answered with 403."""
    def fn():
        context = ssl.create_default_context(cadata=roots)
        refused, c = 0, None
        for _ in range(n):
            if c is None:
                c = http.client.HTTPSConnection(name, timeout=20,
                                                context=context)
                c.sock = context.wrap_socket(
                    socket.create_connection((addr, 443), 20),
                    server_hostname=name)
            c.request("GET", path)
            answer = c.getresponse()
            answer.read()
            refused += answer.status == 403
            if answer.will_close:
                c.close()
                c = None
        return refused
    return fn


def check_told(g):
    """Nothing is decided that cannot be told: HAProxy waits for the gate."""
    n = 3000

    def told():
        return sum(e.get("count", 1) for e in list(g.events)
                   if e.get("path") == "/told")
    worker = g.worker()
    os.kill(worker, signal.SIGSTOP)
    go_on = threading.Timer(0.8, os.kill, (worker, signal.SIGCONT))
    go_on.start()
    got = g.agent(ask_often("11.0.0.1", "a.wild.test", "/told", n,
                            g.first["ca"]))
    go_on.join()
    check(got == n, "answered while the gate does not read", got)
    check(soon(lambda: told() == n), "and told", told())
    check("DroppedLogs: 0\n" in g.admin("show info"), "nothing dropped",
          g.admin("show info"))


POLICY = """\
resolver: 203.0.113.1
allow:
  - good.test:443
  - {dest: "**.wild.test", ports: [80, 443], http: [{paths: [/api/]}]}
  - {dest: mixed.test, ports: [443], tls: inspect}
deny:
  - bad.wild.test
"""


def check_compiled(world):
    """The same, with a plan that the compiler wrote."""
    with gate.compiled(POLICY) as plan:
        with Gate(world, plan, {}) as g:
            check(g.first.get("event") == "ready", "compiled", g.first)
            if g.first.get("event") != "ready":
                return
            ca = g.first["ca"]
            for name in ("good.test", "a.wild.test", "a.b.wild.test"):
                g.agent(gate.ask(name))
            got = g.agent(fetch("11.0.0.1", "good.test", roots=g.roots))
            check(got.get("by") == "root.test", "compiled: spliced", got)
            e = g.decided(kind="connect", name="good.test")
            check(e and e["line"] == 3 and e["verdict"] == "allow",
                  "compiled: record", e)
            for name in ("a.wild.test", "a.b.wild.test"):
                got = g.agent(fetch("11.0.0.1", name, roots=ca))
                check(got.get("by") == "membrane session CA" and
                      got["status"] == 200, "compiled: decrypted", name, got)
                e = g.decided(kind="request", name=name)
                check(e and e["line"] == 4 and e["verdict"] == "allow",
                      "compiled: request", e)
            got = g.agent(fetch("11.0.0.1", "a.wild.test", "/other",
                                roots=ca))
            check(got.get("status") == 403, "compiled: path", got)
            e = g.decided(kind="request", verdict="deny", path="/other")
            check(e and e["reason"] == "path" and e["line"] == 4,
                  "compiled: refused", e)
            got = g.agent(fetch("11.0.0.1", "evil.test", roots=ca))
            e = g.decided(kind="connect", verdict="deny", name="evil.test")
            check("error" in got and e and e["reason"] == "no-grant",
                  "compiled: refused SNI", got, e)
            if world.v6:
                g.agent(gate.ask("a.wild.test", gate.AAAA))
                got = g.agent(fetch("2a0e::1", "a.wild.test", roots=ca))
                check(got.get("status") == 200, "compiled: IPv6", got)
            check_direct(g)


# Libraries that HAProxy could be given in the reader's place.
UNREAD = {
    "is no library": "",
    "does nothing": "int nothing;",
    "only says that it is there": """#include <stdlib.h>
__attribute__((constructor)) static void begin(void)
{ setenv("MEMBRANE_READER", "1", 1); }""",
    "reads nothing inside TLS": """#define SSL_read another
#include "runtime/reader/interpose.c"
#undef SSL_read
STANDS_IN int SSL_read(SSL *ssl, void *buf, int n)
{ return real_ssl_read(ssl, buf, n); }""",
}


def library_of(source, folder):
    """What a gate's HAProxy is to load; of no source, an empty file."""
    library, code = folder / "r.so", folder / "r.c"
    code.write_text(source)
    library.write_text("")
    if source:
        subprocess.run(["gcc", "-D_GNU_SOURCE", "-I", gate.ROOT, "-shared",
                        "-fPIC", "-fvisibility=hidden", "-Wl,-z,defs", "-o",
                        library, code, *PURE, "-lssl", "-lcrypto"], check=True)
    return library


def check_unread(world):
    """Without the reader, or with a part of it, nobody is let in, and the
    session ends."""
    with gate.compiled(POLICY) as plan, tempfile.TemporaryDirectory() as t:
        for what, source in UNREAD.items():
            with Gate(world, plan, {},
                      library_of(source, pathlib.Path(t))) as g:
                got = g.agent(fetch("11.0.0.1", "a.wild.test", roots=g.roots))
                check(got is None or "error" in got,
                      "nobody is let in, the reader " + what, got)
                check(g.p.wait(gate.SOON_S) == 1 and soon(lambda: any(
                    "read" in e.get("message", "") for e in g.events)),
                      "and it ends, the reader " + what, g.events)
                check(not any(e.get("verdict") == "allow" for e in g.events),
                      "nothing was decided", g.events)


# An HAProxy that dies while it is asked for the proof that it reads.
DYING = """#include "runtime/reader/stream.h"
#include <signal.h>
#define stream_read(s, source, ...) \\
    (strcmp(#source, "%s") ? (stream_read)(s, source, __VA_ARGS__) \\
                           : (ssize_t)-raise(SIGKILL))
#include "runtime/reader/interpose.c"
"""


def check_dying(world):
    """That it ended is what is said of it, not what went wrong with it."""
    with gate.compiled(POLICY) as plan, tempfile.TemporaryDirectory() as t:
        for source in ("from_socket", "from_tls"):
            with Gate(world, plan, {},
                      library_of(DYING % source, pathlib.Path(t))) as g:
                check(g.p.wait(gate.SOON_S) == 1 and soon(
                    lambda: {"event": "done"} in g.events), "it ends", source)
                check([e["message"] for e in g.events if "message" in e] ==
                      ["HAProxy ended: it said nothing"], "and says so",
                      source, g.events)


# An HAProxy that takes its time: until a file is there.
SLOW = """#include <poll.h>
#include <unistd.h>
__attribute__((constructor(101))) static void wait_for_it(void)
{ while (access("/run/gate/go", F_OK) < 0) poll(NULL, 0, 1); }
#include "runtime/reader/interpose.c"
"""


def check_door(world):
    """The session begins while HAProxy starts. A name has its answer; who
    connects waits, and is served by what the answer was pinned to."""
    with gate.compiled(POLICY) as plan, tempfile.TemporaryDirectory() as t, \
            Gate(world, plan, {}, library_of(SLOW, pathlib.Path(t))) as g:
        check(g.first.get("event") == "ready", "it begins", g.first)
        got = g.agent(gate.ask("a.wild.test"))
        check(got and got.get("records"), "a name has its answer", got)
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            got = g.agent(fetch("11.0.0.1", "a.wild.test",
                                roots=g.first["ca"]))
            os.write(w, json.dumps(got).encode())
            os._exit(0)
        os.close(w)
        check(not select.select([r], [], [], 1)[0] and not any(
            e.get("kind") == "connect" for e in g.events), "who comes waits",
              g.events)
        pathlib.Path("/proc/%d/root/run/gate/go" % g.p.pid).write_text("")
        with os.fdopen(r) as f:
            got = json.loads(f.read() or "{}")
        os.waitpid(pid, 0)
        check(got.get("status") == 200 and
              got.get("by") == "membrane session CA", "and is served", got)
        check(g.decided(kind="request", name="a.wild.test"), "on record",
              g.events)


def is_gone(pid):
    try:
        return "zombie" in pathlib.Path("/proc/%d/status" % pid).read_text()
    except OSError:
        return True


def check_end(world, plan):
    # a connection that is open when the session ends has its record
    with Gate(world, plan) as g:
        g.agent(gate.ask("good.test"))
        pid = os.fork()
        if pid == 0:
            os.close(g.p.stdin.fileno())
            g.agent(fetch("11.0.0.1", "good.test", "/api/slow",
                          roots=g.roots))
            os._exit(0)
        check(world.saw(lambda a: a.get("http") == "/api/slow"), "slow")
        haproxy = g.haproxy()
        g.p.stdin.close()
        check(g.p.wait(gate.SOON_S) == 0, "ends before the request does")
        check(g.decided(kind="connect", verdict="allow", name="good.test"),
              "open at the end: record")
        check(is_gone(haproxy), "HAProxy is gone")
        os.waitpid(pid, 0)
        check(SECRET not in json.dumps(g.events), "no secret in records")
    with Gate(world, plan) as g:
        os.kill(g.haproxy(), signal.SIGKILL)
        check(g.p.wait(gate.SOON_S) == 1, "when HAProxy is killed")
        check(soon(lambda: any("HAProxy ended" in e.get("message", "")
                               for e in g.events)),
              "and says so", g.events)
    with Gate(world, plan) as g:
        haproxy = g.haproxy()
        os.kill(g.worker(), signal.SIGKILL)
        check(g.p.wait(gate.SOON_S) == 1, "when the worker is killed")
        check(soon(lambda: is_gone(haproxy)), "HAProxy goes with the worker")


def check_trial(world, plan, status, wanted=""):
    """membrane-gate --check: what nft and `haproxy -c` say, elsewhere too."""
    done = subprocess.run(["ip", "netns", "exec", world.host, gate.GATE,
                           "--check", "--plan", plan], check=False,
                          capture_output=True, text=True)
    check(done.returncode == status and wanted in done.stdout, "--check",
          wanted, done.stdout)
    check("plan" not in pathlib.Path("/proc/mounts").read_text() and
          not os.path.exists("/sys/plan"), "nothing is left")


def check_refusals(world, plan):
    check_trial(world, plan, 0)
    good = {n: (plan / n).read_text() for n in
            ("gate.cfg", "crt.lst", "profiles.map", "gate.lua")}
    bad_value = "hush\nhush"
    for name, text, credentials, wanted in (
            ("gate.cfg", good["gate.cfg"] + "    nonsense\n", None,
             "nonsense"),
            ("gate.cfg", good["gate.cfg"].replace("/run/gate/pins.map",
                                                  "/plan/other.map"), None,
             "no map"),
            ("crt.lst", "/etc/x a.test\n", None, "not a file of ours"),
            ("profiles.map", "x\n", None, "profiles.map"),
            ("gate.lua", "nonsense(\n", None, "gate.lua"),
            ("gate.lua", good["gate.lua"], {}, "was not given"),
            ("gate.lua", good["gate.lua"], {"1": bad_value}, "credential 1"),
            ("gate.lua", good["gate.lua"], {"1": ""}, "credential 1")):
        (plan / name).write_text(text)
        (plan / "other.map").touch()
        if credentials is None and wanted != "no map":
            check_trial(world, plan, 1, wanted)
        with Gate(world, plan, credentials) as g:
            # what HAProxy itself refuses it does once the session has begun
            begins = wanted in ("nonsense", "no map", "gate.lua")
            check(g.first.get("event") == ("ready" if begins else "error"),
                  "whether it begins", name, wanted, g.first)
            check(g.p.wait(gate.SOON_S) == 1 and soon(lambda: any(
                wanted in e.get("message", "") for e in [g.first, *g.events])),
                  "refused", name, wanted, g.first, g.events)
            said = json.dumps([g.first, *g.events])
            check("hush" not in said and SECRET not in said, "no secret", said)
        (plan / name).write_text(good[name])


def write_plan(folder):
    folder = pathlib.Path(folder)
    os.chmod(folder, 0o755)
    for name, text in (("ruleset.nft", RULES), ("names.map", NAMES),
                       ("provenance.json", json.dumps(PROVENANCE)),
                       ("docker.json", '{"version":1,"link":"veth"}'),
                       ("gate.cfg", HAPROXY), ("gate.lua", LUA),
                       ("crt.lst", CRT), ("profiles.map", PROFILES)):
        (folder / name).write_text(text)
        os.chmod(folder / name, 0o644)
    return folder


def bench(world, plan):
    for what in ("with HAProxy, decrypting", "with HAProxy", "without"):
        times = []
        for _ in range(10):
            with Gate(world, plan) as g:
                if what != "without":
                    g.haproxy()
                times.append(round(1e3 * (time.monotonic() - g.began)))
        print("%s: serves after ms: %s, median %d" %
              (what, sorted(times), sorted(times)[5]))
        if what == "with HAProxy":
            (plan / "gate.cfg").unlink()
        elif what != "without":
            text = (plan / "gate.cfg").read_text()
            text = text.replace(
                "ssl crt-list /plan/crt.lst strict-sni alpn h2,http/1.1", "")
            (plan / "gate.cfg").write_text(text)
            (plan / "crt.lst").unlink()


@contextlib.contextmanager
def folders():
    """What an origin shows, and a plan."""
    with tempfile.TemporaryDirectory() as tmp, \
            tempfile.TemporaryDirectory() as certs:
        make_certs(pathlib.Path(certs))
        yield pathlib.Path(certs), write_plan(tmp)


def check_all(v6):
    with folders() as (certs, plan):
        check_own(v6, certs, plan)
        # An internet that speaks no TLS.
        with gate.World(v6) as world:
            world.certs = certs
            gate.check_compiled(world, lambda w, p: Gate(w, p, {}))


def check_own(v6, certs, plan):
    with World(v6, certs) as world:
        with Gate(world, plan) as g:
            if not check_start(g):
                return
            check_unpaced(g)
            check_splice(g)
            check_bump(g)
            check_signer(g)
            check_pins(g)
            check_v6(g)
            check_direct(g)
            check_many(g)
            check_told(g)
        check_compiled(world)
        check_unread(world)
        check_dying(world)
        check_door(world)
        check_end(world, plan)
        check_refusals(world, plan)


def main():
    if gate.lacking(gate.MEMBRANE):
        return 77
    if "--bench" in sys.argv:
        with folders() as (certs, plan), World(False, certs) as world:
            bench(world, plan)
        return 0
    gate.families(check_all)
    return gate.end()


if __name__ == "__main__":
    if "--internet" in sys.argv:
        internet(sys.argv[-1])
    else:
        sys.exit(main())
