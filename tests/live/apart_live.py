#!/usr/bin/env python3
"""The gate of a Pod of its own, in network namespaces; needs root, else 77.

Three namespaces are the internet, the gate's Pod and the agent's. The plan is
what `membrane compile --target kubernetes --topology apart` writes, as a
kubelet mounts it; the gate has the user, the rights, the sysctls and the
read-only root of gate.yaml, and nothing else. The agent's namespace has rules
in the place of a cluster's: the Service's address leads to the gate's Pod, and
nothing but the ports of networkpolicy.yaml leaves. Judged by what arrives at
the servers, and by the gate's records.
"""
import contextlib
import http.server
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import gate  # noqa: E402
import gate_inet  # noqa: E402
import l7_live  # noqa: E402
from gate import check, ip  # noqa: E402

SERVICE = ("10.96.0.53", "fd00::53")
GATE_AT = ("10.9.0.1", "fd00:9::1")
AGENT_AT = ("10.9.0.2", "fd00:9::2")
IMAGE = "registry.example.com/gate@sha256:" + "2" * 64
POLICY = """\
resolver: 203.0.113.1
image: registry.example.com/agent:1
allow:
  - good.test:443
  - "**.wild.test:443"
  - mixed.test:80
  - {dest: inner.test, ports: [80], private: true}
  - floor.test:443
  - self.test:443
  - net.test:443
  - http://web.test/api
deny: [bad.wild.test, 11.9.0.0/16]
"""
# Of the test's own: what says what of the gate it meets.
KEPT = ("PATH", "COUNTS", "MEMBRANE_MUTANT", "MEMBRANE_MUTANTS_SEEN")
ZONE = {"floor.test": "127.0.0.1", "self.test": "203.0.113.2",
        "net.test": "11.9.9.9", "web.test": "11.0.0.8"}

# The gate's container as gate.yaml has it. /usr and its like are the host's.
CONTAINER = r"""
set -e
root=$1 plan=$2 certs=$3 gate=$4 reader=$5 uid=$6 gid=$7
shift 7
mount -t tmpfs none "$root"
mkdir -p "$root"/{plan,run/gate,usr,etc/ssl/certs,proc,dev,sys}
for d in usr proc dev sys; do mount --rbind "/$d" "$root/$d"; done
for d in bin sbin lib lib64; do
	if [ -L "/$d" ]; then cp -P "/$d" "$root/"
	elif [ -d "/$d" ]; then mkdir "$root/$d"; mount --rbind "/$d" "$root/$d"
	fi
done
cp "$certs/ca-certificates.crt" "$root/etc/ssl/certs/"
cp "$gate" "$root/membrane-gate"
cp "$reader" "$root/membrane-reader.so"
mount --bind "$plan" "$root/plan"
mount -o remount,bind,ro "$root/plan"
mount -t tmpfs -o mode=2777,gid="$gid" none "$root/run/gate"
# Of a gate that is counted: tests/check/coverage.
if [ "${COUNTS-}" ]; then
	mkdir -p "$root$COUNTS"
	mount --bind "$COUNTS" "$root$COUNTS"
fi
mount -o remount,ro "$root"
exec chroot "$root" setpriv --reuid="$uid" --regid="$gid" --clear-groups \
	--bounding-set=-all --inh-caps=-all --no-new-privs "$@"
"""

# What a cluster does: where the Service leads, and what may leave the Pod.
CLUSTER = """\
table inet cluster {
	chain services {
		type nat hook output priority -100; policy accept;
		ip daddr %s dnat ip to %s
		ip6 daddr %s dnat ip6 to %s
	}

	chain leaving {
		type filter hook output priority 10; policy drop;
		oifname "lo" accept
		icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
		ip daddr %s udp dport 53 accept
		ip6 daddr %s udp dport 53 accept
		ip daddr %s tcp dport { %s } accept
		ip6 daddr %s tcp dport { %s } accept
	}
}
"""


# --- the internet -----------------------------------------------------------

class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        gate_inet.tell({"web": self.path, "host": self.headers["host"],
                        "at": self.connection.getsockname()[0]})
        self.send_response(200)
        self.send_header("content-length", "4")
        self.end_headers()
        self.wfile.write(b"page")

    def log_message(self, *_):
        pass


class Web(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
    daemon_threads = True

    def handle_error(self, *_):
        pass   # who goes away


def internet(certs):
    known = gate_inet.zone

    def zone(name, qtype):
        if name not in ZONE:
            return known(name, qtype)
        return [gate_inet.record(name, gate.A, ZONE[name])] \
            if qtype == gate.A else []
    gate_inet.zone = zone
    for fn in (gate_inet.serve_udp, gate_inet.serve_tcp,
               Web(("::", 80), Page).serve_forever,
               l7_live.Origin(pathlib.Path(certs)).serve_forever):
        threading.Thread(target=fn, daemon=True).start()
    time.sleep(0.2)
    gate_inet.tell({})
    signal.pause()


class World(l7_live.World):
    """With a third namespace, the agent's."""

    def serve(self):
        return [sys.executable, __file__, "--internet", str(self.certs)]

    def __enter__(self):
        self.agent = self.host[:-1] + "a"
        ip("netns", "add", self.agent)
        super().__enter__()
        h, a = self.host, self.agent
        ip("-n", h, "link", "add", "pods", "type", "veth", "peer", "name",
           "eth0", "netns", a)
        for ns, dev, at in ((h, "pods", GATE_AT), (a, "eth0", AGENT_AT)):
            ip("-n", ns, "link", "set", dev, "up")
            ip("-n", ns, "addr", "add", at[0] + "/24", "dev", dev)
            if self.v6:
                ip("-n", ns, "addr", "add", at[1] + "/64", "dev", dev,
                   "nodad")
        ip("-n", a, "link", "set", "lo", "up")
        # Out there nothing knows of it: what is not kept would arrive.
        ip("-n", a, "route", "add", "default", "via", GATE_AT[0])
        ip("-n", self.inet, "route", "add", "10.9.0.0/24", "via",
           "203.0.113.2")
        subprocess.run(["ip", "netns", "exec", h, "sysctl", "-qw",
                        "net.ipv4.ip_forward=1"], check=True)
        if self.v6:
            ip("-n", a, "route", "add", "default", "via", GATE_AT[1])
        return self

    def apply(self, ports):
        """The cluster's part, for the TCP ports of a NetworkPolicy."""
        s, g, p = SERVICE, GATE_AT, ", ".join(map(str, ports))
        subprocess.run(
            ["ip", "netns", "exec", self.agent, "nft", "-f", "-"],
            input=CLUSTER % (s[0], g[0], s[1], g[1], g[0], g[1], g[0], p,
                             g[1], p), text=True, check=True)

    def __exit__(self, *words):
        super().__exit__(*words)
        subprocess.run(["ip", "netns", "del", self.agent], check=False)


# --- what the compiler wrote ------------------------------------------------

class Manifests:
    def __init__(self, folder, policy):
        import yaml   # python3-yaml, which no other test of gates needs
        (folder / ".membrane.yaml").write_text(policy)
        done = subprocess.run(
            [gate.MEMBRANE, "compile", "--no-global-config", "--target",
             "kubernetes", "--topology", "apart", "--gate-address",
             ",".join(SERVICE), "--gate-image", IMAGE, "-o", "out"],
            cwd=folder, capture_output=True, text=True, check=False)
        check(done.returncode == 0, "compiled", done.stderr)
        out = folder / "out"
        self.service, deployment = yaml.safe_load_all(
            (out / "gate.yaml").read_text())
        self.pod = deployment["spec"]["template"]["spec"]
        self.agent = yaml.safe_load((out / "pod.yaml").read_text())["spec"]
        network, _ = yaml.safe_load_all(
            (out / "networkpolicy.yaml").read_text())
        self.ports = [p["port"] for p in
                      network["spec"]["egress"][0]["ports"]
                      if p["protocol"] == "TCP"]
        # As a kubelet mounts it: each file a link through another one.
        self.plan = folder / "plan"
        data = self.plan / "..2026_11_28_12_00_00.1"
        data.mkdir(parents=True)
        os.chmod(folder, 0o755)
        (self.plan / "..data").symlink_to(data.name)
        for name, text in yaml.safe_load(
                (out / "configmap.yaml").read_text())["data"].items():
            (data / name).write_text(text)
            (self.plan / name).symlink_to("..data/" + name)


class Gate(gate.Gate):
    """As gate.yaml has it; agent() is somebody in the other Pod."""

    def __init__(self, world, made, command=None):
        super().__init__(world, made.plan, collect=False)
        self.container, = made.pod["containers"]
        self.made, self.command = made, command or self.container["command"]
        self.netns = "/run/netns/" + world.agent

    def __enter__(self):
        self.root = tempfile.mkdtemp()
        rights = self.container["securityContext"]
        for s in self.made.pod["securityContext"]["sysctls"]:
            self.host("sysctl", "-qw", "%s=%s" % (s["name"], s["value"]))
        self.p = subprocess.Popen(
            ["ip", "netns", "exec", self.world.host, "unshare", "-m", "bash",
             "-c", CONTAINER, "-", self.root, self.plan, self.world.certs,
             gate.GATE, l7_live.READER, str(rights["runAsUser"]),
             str(rights["runAsGroup"]), *self.command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            env={**{k: os.environ[k] for k in KEPT if k in os.environ},
                 "MEMBRANE_SESSION": "0123", "MEMBRANE_HOSTS": "11.0.0.99"})
        self.first = json.loads(self.p.stdout.readline() or "{}")
        self.reader = threading.Thread(target=self.collect, daemon=True)
        self.reader.start()
        return self

    def probe(self):
        return subprocess.run(
            ["nsenter", "-t", str(self.p.pid), "-m", "chroot", self.root,
             "/membrane-gate", "--ready"], check=False).returncode

    def end(self, number=signal.SIGTERM):
        self.p.send_signal(number)
        status = self.p.wait(gate.SOON_S)
        self.reader.join(5)
        return status

    def __exit__(self, *_):
        if self.p.poll() is None:
            self.p.kill()
        self.p.wait(gate.SOON_S)
        with contextlib.suppress(OSError):
            os.rmdir(self.root)


# --- the agent --------------------------------------------------------------

def ask(name, qtype=gate.A):
    return gate.ask(name, qtype, server=SERVICE[0])


def page(host, path="/", at=SERVICE[0], port=80, more=()):
    """The answers to requests on one connection: [status, …]."""
    def fn():
        try:
            with socket.create_connection((at, port), 8) as s:
                got = []
                f = s.makefile("rb")
                for h, p in ((host, path), *more):
                    s.sendall(("GET %s HTTP/1.1\r\nHost: %s\r\n\r\n" %
                               (p, h)).encode())
                    got.append(int(f.readline().split()[1]))
                    size = 0
                    while (line := f.readline()) not in (b"\r\n", b""):
                        if line.lower().startswith(b"content-length:"):
                            size = int(line.split(b":")[1])
                    f.read(size)
                return got
        except (OSError, IndexError, ValueError) as e:
            return [str(e) or type(e).__name__]
    return fn


def raw(said, at=SERVICE[0], port=443):
    def fn():
        try:
            with socket.create_connection((at, port), 8) as s:
                s.sendall(said)
                return s.recv(100).decode("latin-1")
        except OSError as e:
            return e.strerror or "timed out"
    return fn


# --- checks -----------------------------------------------------------------

def check_rights(g):
    check(g.first.get("event") == "ready" and g.first["session"] == "0123",
          "ready", g.first)
    if g.first.get("event") != "ready":
        return False
    check(g.first["ipv6"] == g.world.v6, "IPv6", g.first)
    worker = g.worker()
    children = pathlib.Path("/proc/%d/task/%d/children" % (worker, worker))
    for pid in (g.p.pid, worker, *map(int, children.read_text().split())):
        status = pathlib.Path("/proc/%d/status" % pid).read_text()
        for line in ("Uid:\t64100\t64100\t64100\t64100", "NoNewPrivs:\t1",
                     *("Cap%s:\t%016x" % (w, 0) for w in (
                         "Inh", "Prm", "Eff", "Bnd", "Amb"))):
            check(line in status, line, status)
    check(g.probe() == 0, "the probe")
    tables = g.host("nft", "list", "ruleset")
    check(not tables, "nothing is filtered in the gate's Pod", tables)
    return True


def check_names(g):
    for name in ("good.test", "gOOd.TEST", "deep.er.wild.test"):
        got = g.agent(ask(name))
        check(gate.addresses(got) == [SERVICE[0]], "its gate", name, got)
        got = g.agent(ask(name, gate.AAAA))
        check(gate.addresses(got) == [SERVICE[1]], "likewise", name, got)
    check(g.decided(kind="resolve", verdict="allow", name="good.test",
                    addr=SERVICE[0], line=4), "told")
    for name, reason in (("evil.test", "no-grant"),
                         ("bad.wild.test", "denied")):
        got = g.agent(ask(name))
        check(got["rcode"] == gate.NXDOMAIN and not got["records"], "none",
              name, got)
        check(g.decided(kind="resolve", verdict="deny", name=name,
                        reason=reason), "told", name)
        check(not g.world.asked(name), "nobody was asked", name)
    got = g.agent(gate.ask_tcp(gate.question("good.test", gate.A, 5),
                               server=SERVICE[0]))
    check(got and gate.addresses(got[0]) == [SERVICE[0]], "by TCP", got)


def fetch(g, name, at=SERVICE[0], **more):
    roots = (g.world.certs / "ca-certificates.crt").read_text()
    return g.agent(l7_live.fetch(at, name, roots=roots, **more))


def check_tls(g):
    for name in ("good.test", "a.wild.test", "a.b.wild.test"):
        got = fetch(g, name)
        check(got.get("status") == 200 and got["by"] == "root.test",
              "by TLS, end to end", name, got)
        check(g.world.saw(lambda a: a.get("sni") == name), "arrived", name)
        e = g.decided(kind="connect", verdict="allow", name=name)
        check(e and e["addr"] == "11.0.0.1" and e["reason"] == "granted" and
              e["port"] == 443, "told where to", name, e)
    for name, reason in (("evil.test", "no-grant"),
                         ("mixed.test", "port"),
                         ("bad.wild.test", "denied"),
                         ("floor.test", "not-resolved"),
                         ("self.test", "not-resolved"),
                         ("net.test", "denied")):
        before = len(g.world.arrived)
        got = fetch(g, name)
        check("error" in got, "refused", name, got)
        e = g.decided(kind="connect", verdict="deny", name=name)
        check(e and e["reason"] == reason, "told why", name, reason, e)
        check(not any("sni" in a for a in g.world.arrived[before:]),
              "nothing arrived", name)
    for name, addr, reason in (("floor.test", "127.0.0.1", "floor"),
                               ("self.test", "203.0.113.2",
                                "host-address")):
        check(g.decided(kind="resolve", verdict="deny", name=name, addr=addr,
                        reason=reason), "its address is refused", name)
    got = g.agent(l7_live.fetch(SERVICE[0], "good.test", sni=False))
    check("error" in got and g.decided(kind="connect", verdict="deny",
                                       reason="no-sni"), "no name", got)
    got = g.agent(raw(b"SSH-2.0-OpenSSH_9.2p1\r\n"))
    check("SSH" not in got and g.decided(
        kind="connect", verdict="deny", reason="not-http", port=443),
        "another protocol", got)


def check_http(g):
    got = g.agent(page("mixed.test"))
    check(got == [200], "in the clear", got)
    check(g.world.saw(lambda a: a.get("host") == "mixed.test" and
                      a["at"].endswith("11.0.0.2")),
          "at the one address that no rule is against", g.world.arrived[-3:])
    e = g.decided(kind="request", verdict="allow", name="mixed.test")
    check(e and e["addr"] == "11.0.0.2" and e["line"] == 6, "told", e)
    for addr, reason in (("10.1.2.3", "private-address"),
                         ("169.254.169.254", "floor"),
                         ("11.0.0.99", "host-address")):
        check(g.decided(kind="resolve", verdict="deny", addr=addr,
                        name="mixed.test", reason=reason), "judged", addr)
    got = g.agent(page("inner.test"))
    check(got == [200] and g.world.saw(lambda a: a.get("host") == "inner.test"
                                       and a["at"].endswith("192.168.8.1")),
          "a private one that is granted", got)
    # Each request of a connection is looked up by itself.
    got = g.agent(page("mixed.test", more=(
        ("evil.test", "/"), ("web.test", "/api/x"), ("web.test", "/other"),
        ("good.test", "/"))))
    check(got == [200, 403, 200, 403, 403], "one after the other", got)
    check(g.world.saw(lambda a: a.get("host") == "web.test" and
                      a["at"].endswith("11.0.0.8") and a["web"] == "/api/x"),
          "by its rules")
    for name, path, reason in (("evil.test", "/", "no-grant"),
                               ("web.test", "/other", "path"),
                               ("good.test", "/", "port")):
        check(g.decided(kind="request", verdict="deny", name=name, path=path,
                        reason=reason), "told", name, path)
    for host, status in (("127.0.0.1", 403), ("10.96.0.53", 403),
                         ("mixed.test:81", 421), ("MIXED.test.", 200)):
        got = g.agent(page(host))
        check(got == [status], "by the name alone", host, got)
    seen = [a for a in g.world.arrived if "web" in a]
    check(all(a["host"] in ("mixed.test", "inner.test", "web.test",
                            "MIXED.test.") for a in seen), "none else", seen)


def check_kept(g):
    """What the cluster's rules leave: the gate, at its ports, and no way by."""
    for addr, port in (("11.0.0.1", 443), ("203.0.113.1", 53),
                       (SERVICE[0], 8080), (GATE_AT[0], 15053)):
        got, _ = g.agent(gate.connect(addr, port, 8))
        check(got == "timeout", "no way", addr, port, got)
    check(not any(str(a.get("from", "")).startswith("10.9.")
                  for a in g.world.arrived), "nothing of the agent's arrived")


def check_six(g):
    got = fetch(g, "good.test", SERVICE[1])
    check(got.get("status") == 200, "called by IPv6", got)
    got = g.agent(page("mixed.test", at=SERVICE[1]))
    check(got == [200], "likewise", got)
    got = g.agent(gate.ask("good.test", gate.AAAA, server=SERVICE[1]))
    check(gate.addresses(got) == [SERVICE[1]], "asked by IPv6", got)


def check_killed(world, made):
    for victim in ("gate", "worker"):
        with Gate(world, made) as g:
            check(g.first.get("event") == "ready", "ready", g.first)
            os.kill(g.p.pid if victim == "gate" else g.worker(),
                    signal.SIGKILL)
            g.p.wait(gate.SOON_S)
            check(gate.soon(lambda: "error" in fetch(g, "good.test")),
                  "without its gate it reaches nothing", victim)
            got = g.agent(ask("good.test"))
            check("error" in got, "nor asks", victim, got)
    # and one that comes anew is the gate again
    with Gate(world, made) as g:
        got = fetch(g, "good.test")
        check(got.get("status") == 200, "made anew", got)
        check(g.end() == 0, "at a signal")
        check(g.events[-1].get("event") == "done", "done", g.events[-1])


def check_refusals(world, made):
    command = made.pod["containers"][0]["command"]
    for what, words, says in (
            ("another digest", [*command[:-1], "0" * 64], "another plan"),
            ("another link", ["wire" if w == "apart" else w
                              for w in command], None)):
        with Gate(world, made, words) as g:
            check(g.first.get("event") == "error" and
                  (not says or says in g.first["message"]) and
                  g.p.wait(gate.SOON_S) == 1, what, g.first)


def check_all(v6):
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        (tmp / "certs").mkdir()
        (tmp / "made").mkdir()
        l7_live.make_certs(tmp / "certs")
        os.chmod(tmp, 0o755)
        made = Manifests(tmp / "made", POLICY)
        check(made.agent["dnsConfig"]["nameservers"] == list(SERVICE),
              "the agent asks its gate")
        with World(v6, tmp / "certs") as world:
            world.apply(made.ports)
            with Gate(world, made) as g:
                if not check_rights(g):
                    return
                check_names(g)
                check_tls(g)
                check_http(g)
                check_kept(g)
                if v6:
                    check_six(g)
            check_killed(world, made)
            check_refusals(world, made)


def main():
    if gate.lacking(gate.MEMBRANE, l7_live.READER):
        return 77
    gate.families(check_all)
    return gate.end()


if __name__ == "__main__":
    if "--internet" in sys.argv:
        internet(sys.argv[-1])
    else:
        sys.exit(main())
