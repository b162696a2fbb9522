"""What a gate adds to a Pod, on this node. Prints; judges nothing."""
import json
import os
import statistics
import time

import yaml

import cluster
from cluster import Pod, kubectl, within
from t_pods import POLICY
from t_run import Place, of_sessions

PAIRS = 5
WITH_RULES = POLICY.replace("'site.test'", "'site.test', 'https://api.test/v1/'")
TICKS = 100   # a second, of /proc/PID/stat


def without_gate(spec):
    """The same Pod with its agent alone, in the node's way of names."""
    spec["containers"] = spec["containers"][-1:]
    spec.pop("initContainers")
    spec["containers"][0].pop("livenessProbe")


def begun_s(gate, policy):
    """Seconds from `create` until the agent runs and, with one, its gate is
    ready. The ConfigMap is there."""
    with Pod(policy, change=None if gate else without_gate) as p:
        kubectl("apply", "-f", p.plan / "configmap.yaml")
        manifest = json.dumps(p.manifest())
        start = time.monotonic()
        kubectl("create", "-f", "-", input=manifest)
        within(60, lambda: p.state("agent").get("running") and
               (not gate or p.words("ready")))
        took = time.monotonic() - start
        p.delete("--grace-period=1", "--wait=false")
        return took


def gate_processes(p):
    """Of a Pod's gate, on the node: [pid]."""
    group = cluster.enter("cat", "/proc/%s/cgroup" % p.first("gate")).stdout
    path = [l for l in group.splitlines() if ":memory:" in l][0].split(":")[2]
    return cluster.enter("cat", "/sys/fs/cgroup/memory%s/cgroup.procs" %
                         path).stdout.split(), path


def idle(policy):
    """(MB that its processes share out, MB of its cgroup, seconds of a
    processor in a minute)"""
    with Pod(policy) as p:
        p.begin()
        pids, path = gate_processes(p)

        def spent():
            return sum(sum(map(int, cluster.enter(
                "cat", "/proc/%s/stat" % pid).stdout.rpartition(")")[2].split()
                [11:13])) for pid in pids) / TICKS
        before = spent()
        time.sleep(60)
        after = spent()
        shares = sum(int(l.split()[1]) for pid in pids for l in cluster.enter(
            "cat", "/proc/%s/smaps_rollup" % pid).stdout.splitlines()
            if l.startswith("Pss:"))
        held = int(cluster.enter(
            "cat", "/sys/fs/cgroup/memory%s/memory.usage_in_bytes" %
            path).stdout)
        return shares / 1024, held / 1e6, after - before


def objects(policy):
    """{kind: bytes as JSON, as the API server has it once the Pod runs}"""
    with Pod(policy) as p:
        p.begin()
        name = yaml.safe_load(
            (p.plan / "configmap.yaml").read_text())["metadata"]["name"]
        return {what: len(json.dumps(json.loads(kubectl(
            "get", what, one, "-o", "json").stdout), separators=(",", ":")))
            for what, one in (("pod", p.name), ("configmap", name))}


def of_session():
    """{object: bytes as JSON, as the API server has it} of `membrane run`."""
    with Place(POLICY) as where, where.begun("sleep infinity") as p:
        seen = {name: len(json.dumps(json.loads(kubectl(
            "get", name, "-o", "json").stdout), separators=(",", ":")))
            for name in of_sessions()}
        where.kill("TERM")
        p.communicate(timeout=60)
        return seen


def run():
    for what, policy in (("names", POLICY), ("rules", WITH_RULES)):
        pairs = [(begun_s(False, policy), begun_s(True, policy))
                 for _ in range(PAIRS)]
        for name, some in zip(("without", "with"), zip(*pairs)):
            print("%s, %s a gate: %s s, median %.2f" % (
                what, name, " ".join("%.2f" % s for s in some),
                statistics.median(some)), flush=True)
        print("%s, difference: median %.2f s" % (what, statistics.median(
            b - a for a, b in pairs)), flush=True)
        print("%s, objects: %s" % (what, objects(policy)), flush=True)
        print("%s, load: %.1f" % (what, os.getloadavg()[0]), flush=True)
        print("%s, idle: %.1f MB, cgroup %.1f MB, %.2f s in a minute" % (
            what, *idle(policy)), flush=True)
    print("a session: %s" % of_session(), flush=True)
