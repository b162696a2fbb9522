#!/usr/bin/env python3
"""The gate of a Pod, in network namespaces of its own; needs root, else 77.

The namespace that gate.py calls the host's is the Pod's here: it begins with
eth0, which the gate takes away and leaves a link of its own under that name. It
runs with the capabilities that a Pod gives it and with /proc/sys read-only, as
container runtimes leave it. Judged by what arrives at the servers, and by what
the kernel holds in either namespace.
"""
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
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
from gate import check, connect, ip  # noqa: E402

CONTAINER = """\
set -e
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/gate
mount --bind "$1" /run/gate
rights=$2
shift 2
exec setpriv --bounding-set "$rights" --inh-caps -all "$@"
"""
# Of the test's own; the second says what of the gate it meets: tests/mutants.
KEPT = ("PATH", "MEMBRANE_MUTANT", "MEMBRANE_MUTANTS_SEEN")
RIGHTS = ("-all,+net_admin,+net_bind_service,+setpcap,+sys_admin,+kill,"
          "+setgid,+setuid")
POLICY = """\
resolver: 203.0.113.1
allow:
  - 192.168.7.0/24:80
  - "[2a0e::7]:80"
ports: ["8081:8080", "8082:8080", "9090"]
"""


class World(gate.World):
    """With what some networks of Pods have, too."""

    def __enter__(self):
        super().__enter__()
        h = self.host
        ip("-n", h, "link", "set", "eth0", "mtu", "1400")
        # A gateway that no prefix has, as several CNI plugins make it.
        ip("-n", h, "route", "del", "default")
        ip("-n", h, "route", "add", "203.0.113.1", "dev", "eth0", "scope",
           "link")
        ip("-n", h, "route", "add", "default", "via", "203.0.113.1", "dev",
           "eth0")
        self.wire = json.loads(subprocess.run(
            ["ip", "-n", self.inet, "-j", "link", "show", "wire"],
            check=True, capture_output=True).stdout)[0]["address"]
        ip("-n", h, "neigh", "replace", "203.0.113.1", "lladdr", self.wire,
           "dev", "eth0", "nud", "permanent")
        return self

    def serve(self):
        return [sys.executable, __file__, "--internet"]

    def pod(self, *argv, **more):
        """A command in the Pod's namespace; its CompletedProcess."""
        return subprocess.run(["ip", "netns", "exec", self.host, *argv],
                              check=False, capture_output=True, text=True,
                              timeout=20, **more)

    def links(self):
        """{name: (up, addresses)} of the Pod's namespace."""
        return {l["ifname"]: ("UP" in l["flags"], {
            a["local"] for a in l["addr_info"] if a["scope"] == "global"})
            for l in json.loads(self.pod("ip", "-j", "addr").stdout)}

    def fenced(self):
        return "table inet fence" in self.pod("nft", "list", "tables").stdout

    def fence(self):
        got = self.pod("setpriv", "--bounding-set", "-all,+net_admin",
                       "--inh-caps", "-all", str(gate.GATE), "--fence")
        check(got.returncode == 0 and not got.stdout + got.stderr,
              "the fence is raised with one capability", got)

    def own(self):
        return {"203.0.113.2"} | ({"2a0f::2"} if self.v6 else set())


class Gate(gate.Gate):
    """--link wire; with the folder that a Pod has as long as it lives."""

    def __init__(self, world, plan, *words, run=None, env=None):
        super().__init__(world, plan, collect=False)
        self.words, self.run = words, run
        self.env = {"MEMBRANE_SESSION": "0123", "MEMBRANE_HOSTS":
                    "11.0.0.99,2a0e::99"} if env is None else env

    def __enter__(self):
        self.own_run = None
        if not self.run:
            self.run = self.own_run = tempfile.mkdtemp()
        os.chmod(self.run, 0o777)
        self.began = time.monotonic()
        self.p = subprocess.Popen(
            ["ip", "netns", "exec", self.world.host, "unshare", "-m", "bash",
             "-c", CONTAINER, "-", self.run, RIGHTS, gate.GATE, "--link",
             "wire", "--plan", self.plan, *self.words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            env={**{k: os.environ[k] for k in KEPT if k in os.environ},
                 **self.env})
        self.first = json.loads(self.p.stdout.readline() or "{}")
        self.ready_s = time.monotonic() - self.began
        self.reader = threading.Thread(target=self.collect, daemon=True)
        self.reader.start()
        return self

    def end(self, number=signal.SIGTERM):
        """Its status, when all that it said was read."""
        self.p.send_signal(number)
        status = self.p.wait(gate.SOON_S)
        self.reader.join(5)
        return status

    def __exit__(self, *_):
        if self.p.poll() is None:
            self.p.kill()
        self.p.wait(gate.SOON_S)
        if self.own_run:
            shutil.rmtree(self.own_run)

    def host(self, *argv):
        """In the gate's namespace."""
        return subprocess.run(
            ["nsenter", "-t", str(self.worker()), "-n", *argv], check=True,
            capture_output=True, text=True).stdout

    def probe(self):
        """What the startup probe says: the status of --ready."""
        return subprocess.run(["nsenter", "-t", str(self.p.pid), "-m", "-n",
                               str(gate.GATE), "--ready"],
                              check=False).returncode


@contextlib.contextmanager
def pod(v6):
    """A world whose Pod has its fence, and a plan."""
    with World(v6) as world, tempfile.TemporaryDirectory() as tmp:
        world.fence()
        yield world, gate.write_plan(tmp)


def refused(world, plan, what, *words, says, **more):
    """A gate that must not start; the fence stands behind it."""
    with Gate(world, plan, *words, **more) as g:
        check(g.first.get("event") == "error" and
              says in g.first.get("message", "") and g.p.wait(gate.SOON_S) == 1,
              what, g.first)
    check(world.fenced(), "the fence stands: " + what)


# --- checks -----------------------------------------------------------------

def check_fence(v6):
    with World(v6) as world:
        def out(addr):
            return gate.Gate.agent(world_gate, connect(addr, 80))
        world_gate = gate.Gate(world, "")
        world_gate.netns = "/run/netns/" + world.host
        check(out("11.0.0.1")[0] == "banner", "before there is one")
        world.fence()
        world.fence()   # and once more
        listed = world.pod("nft", "list", "table", "inet", "fence").stdout
        check(listed.count("chain") == 3 and listed.count("drop;") == 3,
              "one fence", listed)
        for addr in ("11.0.0.1", "203.0.113.1") + (
                ("2a0e::1",) if v6 else ()):
            got, took = out(addr)
            check(got != "banner", "nothing leaves", addr, got)
        server = subprocess.Popen(
            ["ip", "netns", "exec", world.host, sys.executable, "-c",
             "import socket\ns = socket.create_server(('', 8080))\n"
             "print(flush=True)\nwhile 1: s.accept()[0].sendall(b'in')"],
            stdout=subprocess.PIPE)
        server.stdout.readline()
        try:
            check(dial(world.host, "127.0.0.1", 8080) == "in", "loopback")
            check(dial(world.inet, "203.0.113.2", 8080) == "timed out",
                  "nothing comes in")
        finally:
            server.kill()
            server.wait()
        got = world.pod("setpriv", "--bounding-set", "-all", "--inh-caps",
                        "-all", str(gate.GATE), "--fence")
        check(got.returncode == 1 and '"event":"error"' in got.stdout,
              "without the capability", got)


def dial(netns, addr, port, wait_s=0.5):
    """What a server says to somebody in that namespace."""
    got = subprocess.run(
        ["ip", "netns", "exec", netns, sys.executable, "-c",
         "import socket, sys\n"
         "try:\n s = socket.create_connection((sys.argv[1], "
         "int(sys.argv[2])), float(sys.argv[3]))\n"
         " print(s.recv(99).decode(), end='')\n"
         "except OSError as e: print(e.strerror or e, end='')",
         addr, str(port), str(wait_s)], check=True, capture_output=True,
        text=True)
    return got.stdout


def check_wire(v6):
    with pod(v6) as (world, plan), Gate(world, plan) as g:
        gate.check_start(g)
        if g.first.get("event") != "ready":
            return
        check(g.first["session"] == "0123", "whose it is", g.first)
        check(g.first["ipv6"] == v6, "IPv6 as the Pod has it", g.first)
        check(not world.fenced(), "the fence is gone")
        check(g.probe() == 0, "the probe")
        got = json.loads(g.host("ip", "-j", "addr", "show", "eth0"))[0]
        check({a["local"] for a in got["addr_info"]
               if a["scope"] == "global"} == world.own(), "its addresses",
              got)
        check(got["mtu"] == 1400, "its MTU", got)
        check(json.loads(world.pod("ip", "-j", "link", "show",
                                   "eth0").stdout)[0]["mtu"] == 1400,
              "and the agent's")
        routes = g.host("ip", "route")
        check("default via 203.0.113.1 dev eth0" in routes and
              "203.0.113.1 dev eth0 scope link" in routes, "its routes",
              routes)
        check("%s PERMANENT" % world.wire in
              g.host("ip", "neigh", "show", "203.0.113.1"),
              "who was written down")
        gate.check_names(g)
        gate.check_packets(g)
        check(g.end() == 0, "at a signal")


def check_killed(v6):
    """The Pod has loopback, and stays so."""
    run = tempfile.mkdtemp()
    try:
        with pod(v6) as (world, plan):
            with Gate(world, plan, run=run) as g:
                check(g.first.get("event") == "ready", "before", g.first)
                check(g.end(signal.SIGKILL) == -signal.SIGKILL, "killed")
            check(gate.soon(lambda: list(world.links()) == ["lo"]),
                  "loopback is left", world.links())
            alone = gate.Gate(world, "")
            alone.netns = "/run/netns/" + world.host
            got, took = alone.agent(connect("11.0.0.1", 443))
            check(got == "Network is unreachable" and took < gate.AT_ONCE_S,
                  "and nothing else", got, took)
            with Gate(world, plan, run=run) as g:
                check("no wire here" in g.first.get("message", "") and
                      g.p.wait(gate.SOON_S) == 1, "started again", g.first)
                check(subprocess.run([str(gate.GATE), "--ready"],
                                     check=False).returncode == 1,
                      "nobody is ready")
            check(world.fenced(), "its fence stands")
    finally:
        shutil.rmtree(run)


def check_worker_killed(v6):
    """It has the wire, and PID 1 ends with it."""
    with pod(v6) as (world, plan), Gate(world, plan) as g:
        check(g.first.get("event") == "ready", "before", g.first)
        os.kill(g.worker(), signal.SIGKILL)
        check(g.p.wait(gate.SOON_S) == 1, "PID 1 ends")
        check(gate.soon(lambda: list(world.links()) == ["lo"]),
              "loopback is left", world.links())


def check_return(v6):
    with pod(v6) as (world, plan):
        with Gate(world, plan) as g:
            check(g.end() == 0, "the end")
            check(g.events and g.events[-1]["event"] == "done",
                  "its last words", g.events[-1:])
        check(world.links() == {"lo": (True, set()),
                                "eth0": (False, world.own())},
              "given back, down, with its addresses", world.links())
        check(not world.pod("ip", "route").stdout, "and without a route")
        got = world.pod("setpriv", "--reuid", "1000", "--regid", "1000",
                        "--clear-groups", "--bounding-set", "-all",
                        "ip", "link", "set", "eth0", "up")
        check("Operation not permitted" in got.stderr,
              "the agent cannot set it up", got)
        refused(world, plan, "started again", says="no wire here")


def check_refusals(v6):
    with pod(v6) as (world, plan):
        names = (plan / "names.map").read_text()
        # Whether somebody has raised the fence before or not.
        world.pod("nft", "delete", "table", "inet", "fence")
        (plan / "names.map").write_text(names + "nmae x 1 - g\n")
        refused(world, plan, "a plan that is none", says="names.map")
        (plan / "names.map").write_text(names)
        for env, says in (
                ({"MEMBRANE_SESSION": "0123"}, "MEMBRANE_HOSTS"),
                ({"MEMBRANE_SESSION": "0123", "MEMBRANE_HOSTS": "11.0.0.1,x"},
                 "not an address"),
                ({"MEMBRANE_HOSTS": "11.0.0.1"}, "MEMBRANE_SESSION")):
            refused(world, plan, "what the Pod says", says=says, env=env)
        for text, says in (
                ('{"link":"bridge"}', "a Pod has none"),
                ('{"link":"veth","host_ports":[22]}', "ports of the host")):
            (plan / "docker.json").write_text(text)
            refused(world, plan, "a plan of another engine's", says=says)
        (plan / "docker.json").write_text('{"link":"wire"}')
        with gate.Gate(world, plan) as g:
            check("--link wire" in g.first.get("message", ""),
                  "a Pod's plan elsewhere", g.first)
        check(world.links()["eth0"] == (True, world.own()),
              "eth0 is where it was", world.links())
        # All that was before the wire was taken: a gate may try again.
        with Gate(world, plan) as g:
            check(g.first.get("event") == "ready", "once more", g.first)
            check(world.links()["eth0"][1] >= {"192.0.0.2"}, "the agent's")
            run = tempfile.mkdtemp()
            refused_beside(world, plan, run)


def refused_beside(world, plan, run):
    """A second gate in a Pod whose first lives: eth0 is that one's."""
    try:
        with Gate(world, plan, run=run) as g:
            check("no wire here" in g.first.get("message", "") and
                  g.p.wait(gate.SOON_S) == 1, "a second one", g.first)
    finally:
        shutil.rmtree(run)


def check_another(v6):
    """An interface that no policy is held on keeps the fence up."""
    with pod(v6) as (world, plan):
        ip("-n", world.inet, "link", "add", "net1", "type", "veth", "peer",
           "name", "net1", "netns", world.host)
        ip("-n", world.host, "link", "set", "net1", "up")
        refused(world, plan, "another interface",
                says="another interface, net1")
        check(world.links()["eth0"] == (False, world.own()),
              "given back by one that failed", world.links())


def through_links(folder):
    """The same plan, as the kubelet mounts a ConfigMap."""
    data = folder.parent / "map" / "..2026_11_28_12_00_00.1"
    shutil.copytree(folder, data)
    (data.parent / "..data").symlink_to(data.name)
    for path in data.iterdir():
        (data.parent / path.name).symlink_to("..data/" + path.name)
    return data.parent


def check_sealed(v6):
    with World(v6) as world, gate.compiled(
            POLICY, stderr=subprocess.DEVNULL) as plan:
        world.fence()
        mount = through_links(plan)
        digest = hashlib.sha256(
            (plan / "manifest.json").read_bytes()).hexdigest()
        refused(world, mount, "another plan", "--digest", "0" * 64,
                says="another plan")
        with open(mount / "..data" / "README", "a", encoding="utf-8") as f:
            f.write("\n")
        refused(world, mount, "an altered plan", "--digest", digest,
                says="altered since")
        shutil.copy(plan / "README", mount / "..data" / "README")
        with Gate(world, mount, "--digest", digest) as g:
            check(g.first.get("event") == "ready", "behind links", g.first)
            check_ports(world, g)
            check(g.end() == 0, "at a signal")
        (mount / "..data").unlink()
        (mount / "..data").symlink_to(plan)
        refused(world, mount, "a link elsewhere", says="no link of")


SERVER = """\
import socket, sys
s = socket.create_server(("127.0.0.1", 8080))
print(flush=True)
while 1:
    c, who = s.accept()
    c.sendall(("inside for " + who[0]).encode())
    c.close()
"""


def check_ports(world, g):
    """What the policy lets in, and how little that changes."""
    server = subprocess.Popen(
        ["ip", "netns", "exec", world.host, sys.executable, "-c", SERVER],
        stdout=subprocess.PIPE)
    server.stdout.readline()
    try:
        for addr in sorted(world.own()):
            check(dial(world.inet, addr, 8080, 5) ==
                  "inside for 127.0.0.1", "a port leads inside", addr)
            check(dial(world.inet, addr, 9090, 5) in
                  ("", "Connection reset by peer"),
                  "where nobody listens", addr)
            for port in (8081, 53, 22):
                check(dial(world.inet, addr, port) == "timed out",
                      "others do not", addr, port)

        def from_port(addr, port, own):
            def fn():
                with socket.create_connection(
                        (addr, port), 8, source_address=("192.0.0.2", own)) as s:
                    return s.recv(100).decode()
            return fn
        check(g.agent(from_port("192.168.7.9", 80, 8080)) == "banner",
              "the agent's own connections may have such a port")
        if world.v6:
            def six():
                with socket.socket(socket.AF_INET6) as s:
                    s.settimeout(8)
                    s.bind(("::", 9090))
                    s.connect(("2a0e::7", 80))
                    return s.recv(100).decode()
            check(g.agent(six) == "banner", "likewise by IPv6")
        got, took = g.agent(connect("192.168.8.9", 80))
        check(got == "Connection refused" and took < gate.AT_ONCE_S,
              "as ever", got)
    finally:
        server.kill()
        server.wait()


def check_usage():
    for words in (["--link", "veth"], ["--secrets", "/s"], ["--roots", "/r"],
                  ["--digest", "0"], ["--fence", "x"], ["--link", "wire",
                                                       "more"]):
        got = subprocess.run([gate.GATE, *words], check=False,
                             capture_output=True, text=True)
        check(got.returncode == 2 and "usage:" in got.stderr, "usage", words,
              got)


def check_all(v6):
    check_fence(v6)
    check_wire(v6)
    check_killed(v6)
    check_worker_killed(v6)
    check_return(v6)
    check_refusals(v6)
    check_another(v6)
    check_sealed(v6)
    if not v6:
        check_usage()


def main():
    if gate.lacking(gate.MEMBRANE):
        return 77
    gate.families(check_all)
    return gate.end()


if __name__ == "__main__":
    if "--internet" in sys.argv:
        gate_inet.internet()
    else:
        sys.exit(main())
