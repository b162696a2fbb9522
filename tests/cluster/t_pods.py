"""Pods of compiled policies on a real kubelet, with CRI and CNI."""
import contextlib
import json
import subprocess

import yaml

import cluster
import live
from cluster import APART, Pod, check, closed, enter, kubectl, within
from live import test

POLICY = "allow: ['site.test', 11.0.2.0/24]\nports: [8080]\n"
TRIES = [["resolve", "site.test"], ["tcp", "11.0.2.1", 80],
         ["tcp", "198.18.0.1", 6443], ["udp", "8.8.8.8", 53]]
SERVER = ("python3", "-u", "-m", "http.server", "-b", "127.0.0.1", "8080")


# --- what is judged as on Docker ----------------------------------------------

JUDGED = """\
allow:
  - site.test:443
  - "*.wild.test:443"
  - 11.0.2.0/24:22
  - {dest: 11.0.6.0/24, ports: [7777/udp]}
  - https://api.test/v1/
  - {dest: 198.18.0.0/24, ports: [8000]}
deny: [evil.wild.test]
"""
# What `explain` is asked, how it is tried, what the gate's record has of it, and
# what arrives out there where it is permitted, and else does not.
REQUESTS = [
    ("resolve site.test", ["resolve", "site.test"],
     {"kind": "resolve", "name": "site.test"},
     {"event": "dns", "name": "site.test"}),
    ("GET https://site.test/", ["get", "https://site.test/"],
     {"kind": "connect", "name": "site.test", "port": 443},
     {"event": "http", "host": "site.test"}),
    ("tcp 11.0.1.1:443 neighbour.test",
     ["sh", "curl -sk --resolve neighbour.test:443:11.0.1.1 "
      "https://neighbour.test/"],
     {"kind": "connect", "name": "neighbour.test", "port": 443},
     {"event": "tls", "sni": "neighbour.test"}),
    ("resolve ungranted.test", ["resolve", "ungranted.test"],
     {"kind": "resolve", "name": "ungranted.test"},
     {"event": "dns", "name": "ungranted.test"}),
    ("GET https://a.wild.test/", ["get", "https://a.wild.test/"],
     {"kind": "connect", "name": "a.wild.test", "port": 443},
     {"event": "http", "host": "a.wild.test"}),
    ("resolve evil.wild.test", ["resolve", "evil.wild.test"],
     {"kind": "resolve", "name": "evil.wild.test"},
     {"event": "dns", "name": "evil.wild.test"}),
    ("tcp 11.0.2.1:22", ["tcp", "11.0.2.1", 22],
     {"kind": "connect", "addr": "11.0.2.1", "port": 22},
     {"event": "packet", "addr": "11.0.2.1", "port": 22}),
    ("tcp 11.0.2.1:25", ["tcp", "11.0.2.1", 25],
     {"kind": "connect", "addr": "11.0.2.1", "port": 25},
     {"event": "packet", "addr": "11.0.2.1", "port": 25}),
    ("tcp 11.0.3.1:22", ["tcp", "11.0.3.1", 22],
     {"kind": "connect", "addr": "11.0.3.1"},
     {"event": "packet", "addr": "11.0.3.1"}),
    ("udp 11.0.6.6:7777", ["udp", "11.0.6.6", 7777],
     {"kind": "connect", "proto": "udp", "addr": "11.0.6.6", "port": 7777},
     {"event": "udp", "addr": "11.0.6.6", "port": 7777}),
    ("udp 11.0.6.6:123", ["udp", "11.0.6.6", 123],
     {"kind": "connect", "proto": "udp", "addr": "11.0.6.6", "port": 123},
     {"event": "packet", "addr": "11.0.6.6", "port": 123}),
    ("GET https://api.test/v1/x", ["get", "https://api.test/v1/x"],
     {"kind": "request", "name": "api.test", "path": "/v1/x"},
     {"event": "http", "host": "api.test", "path": "/v1/x"}),
    ("GET https://api.test/v2/x", ["get", "https://api.test/v2/x"],
     {"kind": "request", "name": "api.test", "path": "/v2/x"},
     {"event": "http", "host": "api.test", "path": "/v2/x"}),
]


def record_of(records, fields):
    """The last one with these."""
    fitting = [r for r in records if all(
        r.get(k) == v for k, v in fields.items())]
    return fitting[-1] if fitting else {}


@test
def decisions_are_those_of_explain():
    with Pod(JUDGED) as p:
        p.begin()
        judged = json.loads(p.membrane("explain", "--json", "-", input="".join(
            r[0] + "\n" for r in REQUESTS)).stdout)["requests"]
        got = p.tried([r[1] for r in REQUESTS])
        records = []

        def told():
            records[:] = p.words("decision")
            return all(record_of(records, r[2]) for r in REQUESTS)
        within(10, told)
        for (text, _, fields, out), said, result in zip(REQUESTS, judged, got):
            allow = said["verdict"] == "allow"
            check(result["ok"] == allow, text, result)
            record = record_of(records, fields)
            check(record.get("verdict") == said["verdict"] and
                  record["reason"] == said["reason"],
                  "%s: %s, %s" % (text, said["verdict"], said["reason"]),
                  record or records)
            check(bool(p.arrived(**out)) == allow, "what arrived of " + text,
                  p.out.events())
        verdicts = {one["verdict"] for one in judged}
        check(verdicts == {"allow", "deny"}, "both are among them", verdicts)
        # Of a granted network, the node's own address is none.
        refused = p.tried([["tcp", "198.18.0.1", 8000],
                           ["tcp", "198.18.0.77", 8000, "GET / HTTP/1.0\r\n\r\n"]])
        check(not refused[0]["ok"] and refused[1]["ok"], "the node's address",
              refused)


@test
def resets_come_at_once():
    with Pod(POLICY) as p:
        p.begin()
        for result in p.tried([["tcp", "11.0.3.1", 443],
                               ["tcp", "2a0e:11::3:1", 443]]):
            check(not result["ok"] and result["error"] == "ECONNREFUSED",
                  "refused", result)
        ready = p.words("ready")[0]
        check(ready.get("ipv6") is True, "IPv6, too", ready)
        check(p.inside("id", "-u").stdout.strip() not in ("", "0"), "no root")
        status = p.inside("grep", "Cap\\|NoNewPrivs", "/proc/self/status").stdout
        check(status.count("0000000000000000") == 5 and
              "NoNewPrivs:\t1" in status, "no rights", status)
        check(p.inside("cat", "/etc/resolv.conf").stdout.split() ==
              ["nameserver", "192.0.0.1"], "the gate is asked for names")


# --- what ends, and what is open then ---------------------------------------

@test
def a_gate_that_fails_leaves_nothing_open():
    def another_digest(spec):
        words = spec["containers"][0]["command"]
        words[words.index("--digest") + 1] = "0" * 64
    with Pod(POLICY, change=another_digest) as p:
        p.apply()
        check(within(60, lambda: p.state("gate").get("terminated") and
                     p.state("agent").get("running")), "the agent runs alone",
              p.get()["status"])
        errors = p.words("error")
        check(errors and "another plan" in errors[0]["message"], "it says why",
              errors)
        check("eth0" in p.links(), "though the wire is there")
        closed(p, p.tried(TRIES))


@test
def a_gate_that_is_killed_leaves_loopback():
    with Pod(POLICY) as p:
        p.begin()
        check(all(r["ok"] for r in p.tried(TRIES[:2])), "before")
        p.out = live.Log("inet.jsonl")
        enter("kill", "-9", p.first("gate"))
        check(within(20, lambda: p.links() == ["lo"]), "lo alone", p.links())
        results = p.tried(TRIES[1:])
        closed(p, results)
        for result in results:
            check(result["error"] == "ENETUNREACH" and result["ms"] < 1000,
                  "at once", result)
        check(within(60, lambda: p.state("gate").get("terminated", {}).get(
            "exitCode") == 137), "its status", p.state("gate"))
        check(within(90, lambda: p.get()["status"].get("phase") == "Failed"),
              "the probe ends the agent", p.get()["status"])


@test
def the_wire_is_given_back():
    with Pod(POLICY) as p:
        p.begin()
        address = p.get()["status"]["podIP"]
        check(address in cluster.masquerades(), "a rule for it", address)
        p.delete("--wait=true")
        check(address not in cluster.masquerades(), "no rule is left",
              cluster.masquerades())


@test
def killed_gates_leave_one_rule():
    """doc/kubernetes.md says so: it is CNI's bridge that leaves it."""
    with Pod(POLICY) as p:
        p.begin()
        address = p.get()["status"]["podIP"]
        enter("kill", "-9", p.first("gate"))
        check(within(20, lambda: p.links() == ["lo"]), "lo alone")
        p.delete("--wait=true")
        check(address in cluster.masquerades(), "the rule stays")


@test
def kubelet_and_containerd_are_restarted():
    with Pod(POLICY) as p:
        p.begin()
        before = p.status("agent"), p.status("gate"), p.get()["status"]["podIP"]
        subprocess.run([cluster.HERE / "node", "restart"], check=True)
        check(within(60, lambda: not kubectl("get", "--raw", "/api/v1/nodes/node"
              "/proxy/healthz", fails=True).returncode), "kubelet is there again")
        results = p.tried(TRIES)
        check([r["ok"] for r in results] == [True, True, False, False],
              "the wire is as it was", results)
        after = p.status("agent"), p.status("gate"), p.get()["status"]["podIP"]
        check([s.get("containerID") for s in after[:2]] ==
              [s.get("containerID") for s in before[:2]] and
              before[2] == after[2], "nothing was restarted", after)


@test
def a_sandbox_is_replaced():
    """Of a Deployment: the only cure, where a Pod's network has ended."""
    with Pod(POLICY, "--kind", "deployment") as p:
        p.begin()
        uid, gate = p.get()["metadata"]["uid"], p.status("gate")["containerID"]
        sandbox = enter(
            "ctr", "-a", "/run/containerd.sock", "-n", "k8s.io", "container",
            "ls", "-q", 'labels."io.cri-containerd.kind"==sandbox,'
            'labels."io.kubernetes.pod.uid"==' + uid).stdout.split()
        check(len(sandbox) == 1, "one sandbox", sandbox)
        enter("kill", "-9", cluster.pid_of("containerd://" + sandbox[0]))

        def anew():
            return p.status("gate").get("containerID") != gate and \
                p.state("agent").get("running") and p.words("ready")
        check(within(90, anew), "made anew", p.get()["status"])
        results = p.tried(TRIES)
        check([r["ok"] for r in results] == [True, True, False, False],
              "with a wire and a gate", results)


# --- what a user has of it --------------------------------------------------

@test
def ports_logs_and_exec():
    def probed(spec):
        spec["containers"][-1]["readinessProbe"] = {
            "httpGet": {"port": 8080, "path": "/"}, "periodSeconds": 1}
    with Pod(POLICY, command=SERVER, change=probed) as p:
        p.begin()
        check(within(60, lambda: p.status("agent").get("ready")),
              "the kubelet's probe reaches it", p.get()["status"])
        address = p.get()["status"]["podIP"]
        got = enter("curl", "-sS", "-m", "5", "http://%s:8080/" % address)
        check("Directory listing" in got.stdout, "so does the node", got)
        got = enter("curl", "-sS", "-m", "2", "http://%s:8081/" % address,
                    fails=True)
        check(got.returncode == 28, "no other port answers", got)
        check("GET / " in p.logs("agent"), "kubectl logs", p.logs("agent"))
        check(p.inside("echo", "x").stdout == "x\n", "kubectl exec")
        with forwarded(p, 8080) as port:
            check("Directory listing" in enter(
                "curl", "-sS", "-m", "5", "http://127.0.0.1:%d/" % port).stdout,
                "kubectl port-forward")


@contextlib.contextmanager
def forwarded(p, port):
    """The port of the node that kubectl port-forward chose."""
    process = subprocess.Popen(
        [cluster.HERE / "node", "enter", "kubectl", "port-forward", p.name,
         ":%d" % port], text=True, stdout=subprocess.PIPE)
    try:
        line = process.stdout.readline()
        yield int(line.split("127.0.0.1:")[1].split()[0])
    finally:
        process.terminate()
        process.wait()


@test
def a_secret_is_the_gates_alone():
    with Pod(SECRET) as p:
        kubectl("create", "secret", "generic", p.name + "-credentials",
                "--from-literal=TOKEN=of-the-gate")
        p.begin()
        got = p.tried([["get", "https://api.test/v1/x"]])
        check(got[0]["ok"], "it answers", got)
        seen = [dict(e["headers"]).get("authorization")
                for e in p.arrived("http", host="api.test")]
        check(seen == ["Bearer of-the-gate"], "the gate adds it", seen)
        found = p.inside("sh", "-c", "env; cat /proc/1/environ /proc/mounts")
        check("of-the-gate" not in found.stdout and
              "/secrets" not in found.stdout, "the agent has none", found)


# --- what the API server says of the manifests ---------------------------------

CLAIM = ["--workspace-from", "claim:work"]
FORMS = [CLAIM, [*CLAIM, "--kind", "job"], [*CLAIM, "--kind", "deployment"]]
NATIVE = ["--sidecar", "native", "--workspace-from",
          "git:https://git.test/hello.git#main"]
SECRET = """\
allow: ['https://api.test/v1/']
credentials:
  - {host: api.test, header: Authorization, from_env: TOKEN, format: "Bearer {}"}
"""
FULL = """\
allow: ['site.test:443', 'https://api.test/v1/', '11.0.2.0/24:22']
readonly: [/deploy/]
ports: [8080, 9090]
credentials:
  - {host: api.test, header: Authorization, from_env: TOKEN, format: "Bearer {}"}
hardening: {memory: 2g, cpus: 1.5, tmpfs: ["/scratch:size=64m"]}
"""
# What 1.20 does not know, and the words for it.
UNKNOWN = [
    (FULL, NATIVE, 'unknown field "restartPolicy"'),
    (FULL, [*CLAIM, "--own-users"], 'unknown field "hostUsers"'),
    ("allow: ['site.test:443']\n", APART, '"status.hostIPs"'),
    (FULL, [*CLAIM, "--kind", "sandbox"], 'no matches for kind "Sandbox"'),
    ("allow: ['site.test:8000-8100']\n", [], 'unknown field "endPort"'),
]


def dry_run(p):
    return kubectl("create", "--dry-run=server", "-k", p.plan, fails=True)


@test
def every_form_is_taken():
    for form in FORMS:
        with Pod(FULL, *form) as p:
            done = dry_run(p)
            files = yaml.safe_load((p.plan / "kustomization.yaml").read_text())
            check(not done.returncode and len(done.stdout.splitlines()) ==
                  len(files["resources"]), "taken: %s" % form, done)


@test
def what_an_old_server_does_not_know():
    for policy, form, words in UNKNOWN:
        with Pod(policy, *form) as p:
            done = dry_run(p)
            check(done.returncode and words in done.stderr, "refused: %s" % form,
                  done)


@test
def all_else_of_a_native_sidecar_is_taken():
    def older(spec):
        gate = spec["initContainers"][1]
        check(gate.pop("restartPolicy") == "Always" and gate.pop("startupProbe"),
              "the gate", gate)
        field = gate["env"][1]["valueFrom"]["fieldRef"]
        check(field["fieldPath"] == "status.hostIPs", "the node's", field)
        field["fieldPath"] = "status.hostIP"
    with Pod(FULL, *NATIVE, change=older) as p:
        done = kubectl("create", "--dry-run=server", "-f", "-", fails=True,
                       input=json.dumps(p.manifest()))
        check(not done.returncode, "taken", done)
