"""A Pod's gate in containers: in which order they come and go, and what the
agent has meanwhile."""
import contextlib
import json
import pathlib
import signal
import subprocess

import live
import pod
from live import Place, check, pod_only, within

POLICY = "allow: ['site.test', 11.0.2.0/24]\nports: [8080]\n"
TRIES = [["resolve", "site.test"], ["tcp", "11.0.1.1", 443],
         ["tcp", "11.0.2.1", 80], ["udp", "8.8.8.8", 53],
         ["tcp", "8.8.8.8", 53]]
SERVER = ["python3", "-u", "-c", """
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"inside for " + self.client_address[0].encode())
print("serves")
http.server.HTTPServer(("127.0.0.1", 8080), Handler).serve_forever()
"""]
SET_UP = """
import fcntl, socket, struct
s = socket.socket()
for flags in (1, 0x41):
    try:
        fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"eth0", flags))
        print("it is up")
    except PermissionError:
        print("not permitted")
"""


@contextlib.contextmanager
def begun(policy=POLICY, gate=True):
    """A Pod with its fence, and with a gate that is ready."""
    with Place(policy) as where, pod.Pod(where) as p:
        check(p.run("fence").returncode == 0, "the fence")
        if gate:
            first = p.start_gate()
            if not check(first.get("event") == "ready", "the gate", first):
                raise live.Failed("no gate")
        yield p


def agent(p, *command):
    """An agent that stays, for inside()."""
    words = p.words(p.container("agent", command=list(command) or
                                ["sleep", "600"]))
    words.insert(words.index("run") + 1, "-d")
    return subprocess.run(words, check=True, capture_output=True,
                          text=True).stdout.strip()


def inside(name, *command):
    return live.the.docker("exec", name, *command, check_it=False).stdout


def tried(name, tries=None):
    return json.loads(inside(name, "python3", "probe.py",
                             json.dumps(TRIES if tries is None else tries)))


def alive(name):
    """What the agent's liveness probe says."""
    return live.the.docker("exec", name, "/bin/sh", "-c",
                           "test -e /sys/class/net/eth0",
                           check_it=False).returncode == 0


def address_of(p):
    out = live.the.docker("inspect", "-f",
                          "{{range .NetworkSettings.Networks}}"
                          "{{.IPAddress}} {{.GlobalIPv6Address}}{{end}}",
                          p.pause).stdout.split()
    return out


def from_outside(addr, port, wait_s=3):
    """What a client on the node gets of that port of the Pod."""
    host = "[%s]" % addr if ":" in addr else addr
    return subprocess.run(live.the.enter(
        "curl", "-sS", "-m", str(wait_s), "http://%s:%d/" % (host, port)),
        check=False, capture_output=True, text=True)


@pod_only("its order")
def a_gate_that_does_not_come_leaves_nothing_open():
    with begun(gate=False) as p:
        out = live.Log("inet.jsonl")
        for result in tried(agent(p)):
            check(not result["ok"], "closed without a gate", result)
        live.the.settle()
        check(not live.matching(out.events()), "nothing arrived",
              out.events())
        check(p.links()["eth0"][0], "though the wire is there")


@pod_only("its order")
def a_gate_that_fails_leaves_nothing_open():
    with begun(gate=False) as p:
        first = p.start_gate(command=[
            "/membrane-gate", "--link", "wire", "--plan", "/plan",
            "--digest", "0" * 64])
        check(first.get("event") == "error" and
              "another plan" in first["message"], "says why", first)
        check(p.gate.wait(10) == 1, "and ends")
        out = live.Log("inet.jsonl")
        for result in tried(agent(p)):
            check(not result["ok"], "closed", result)
        live.the.settle()
        check(not live.matching(out.events()), "nothing arrived",
              out.events())


@pod_only("its probe and rights")
def ready_is_the_gate_with_what_it_keeps():
    with begun() as p:
        check(p.probe() == 0, "the probe")
        check("fence" not in p.in_network("nft", "list", "tables").stdout,
              "the fence is gone")
        check(p.links() == {"lo": (True, set()),
                            "eth0": (True, {"192.0.0.2"})}, "P", p.links())
        pid = live.the.docker("inspect", "-f", "{{.State.Pid}}",
                              "membrane-gate-" + p.name).stdout.strip()
        status = pathlib.Path("/proc", pid, "status").read_text()
        check("CapEff:\t0000000000000000" in status and
              "NoNewPrivs:\t1" in status, "PID 1 has no right left", status)
        status = p.end_gate()
        check(status == 0, "at a signal", status)
        check(p.events[-1]["event"] == "done", "its last words", p.events[-1])


@pod_only("its end")
def a_gate_that_is_killed_leaves_loopback():
    with begun() as p:
        name = agent(p)
        before = tried(name, TRIES[:1])
        check(before[0]["ok"] and alive(name), "before", before)
        check(p.end_gate(signal.SIGKILL) == 137, "killed")
        check(within(5, lambda: list(p.links()) == ["lo"]), "loopback alone",
              p.links())
        for result in tried(name, [["tcp", "11.0.2.1", 80],
                                   ["tcp", "192.0.0.1", 53]]):
            check(result.get("error") == "ENETUNREACH", "no way", result)
        check(not alive(name), "the liveness probe ends it")
        again(p)


@pod_only("its end")
def at_a_signal_the_wire_goes_back_down():
    with begun() as p:
        name = agent(p)
        own = set(address_of(p))
        check(p.end_gate() == 0, "the end")
        check(p.links() == {"lo": (True, set()), "eth0": (False, own)},
              "down, with its address", (own, p.links()))
        check(inside(name, "python3", "-c", SET_UP) ==
              "not permitted\nnot permitted\n", "the agent cannot set it up")
        for result in tried(name):
            check(not result["ok"], "and reaches nothing", result)
        again(p)


def again(p):
    """The kubelet starts the gate once more."""
    p.events.clear()
    first = p.start_gate()
    check(first.get("event") == "error" and
          "no wire here" in first["message"], "a second start", first)
    check(p.gate.wait(10) == 1, "ends")
    check(p.probe() != 0, "and is not ready")


@pod_only("ports that probes and Services reach")
def ports_lead_to_the_agents_loopback():
    for network in ("bridge", "six"):
        with pod.on_network(network), begun() as p:
            name = agent(p, *SERVER)
            check(within(10, lambda n=name: "serves" in live.the.docker(
                "logs", n, check_it=False).stdout or
                p.in_network("ss", "-ltn").stdout.count(":8080")),
                "the server")
            for addr in address_of(p):
                got = from_outside(addr, 8080)
                check(got.stdout == "inside for 127.0.0.1", "reached by " +
                      addr, got)
                got = from_outside(addr, 8081, 1)
                check(got.returncode == 28, "others do not answer", got)
            for result in tried(name, [["tcp", "11.0.2.1", 80, ""]]):
                check(result["ok"], "and the agent has what it had", result)
