"""What a gate costs a Pod, and a cluster, beside the same Pod without one.

Compiling and sizes are of the manifests as they are written. A Pod begins as the
live tests have it (tests/live/pod.py): by the sealed Docker in the kubelet's
place, from a pause container on, with the rights and mounts of pod.yaml.
"""
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import live
import pod
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEMBRANE = ROOT / "build" / "bin" / "membrane"
IMAGE = "registry.example.com/%s@sha256:" + "1" * 64
HEAD = "image: %s\nresolver: 10.96.0.10\n" % (IMAGE % "agent")
KINDS = (("10 grants", 10), ("1,000 grants", 1000))
PODS = 1000
FILES = ("pod.yaml", "configmap.yaml", "networkpolicy.yaml")
IDLE_PODS, IDLE_S = 8, 30
TICKS = os.sysconf("SC_CLK_TCK")


def timed(argv, **more):
    begun = time.perf_counter()
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    return time.perf_counter() - begun


def medians(rounds, *functions):
    """Of each, called in turn; once before, to warm up."""
    for f in functions:
        f()
    return [statistics.median(column) for column in zip(
        *([f() for f in functions] for _ in range(rounds)))]


class Policy:
    """A workspace with that many grants, as long as the block."""

    def __init__(self, grants):
        self.text = HEAD + "allow:\n" + "".join(
            "  - h%d.example.com:443\n" % i for i in range(grants))

    def __enter__(self):
        self.tmp = tempfile.TemporaryDirectory(prefix="membrane-bench-")
        self.folder = pathlib.Path(self.tmp.name)
        (self.folder / ".membrane.yaml").write_text(self.text)
        self.env = {**os.environ, "MEMBRANE_HOME": self.tmp.name + "/state"}
        return self

    def __exit__(self, *_):
        self.tmp.cleanup()

    def compile(self, *flags):
        """Into out, over what is there: seconds."""
        return timed([MEMBRANE, "compile", "-o", "out", *flags],
                     cwd=self.folder, env=self.env)

    def for_cluster(self, *flags):
        return self.compile("--target", "kubernetes", "--gate-image",
                            IMAGE % "gate", *flags)

    def objects(self):
        """{file: bytes of its object, as an API server has it}, and the Pod."""
        found = {name: yaml.safe_load((self.folder / "out" / name).read_text())
                 for name in FILES}
        return {name: size(o) for name, o in found.items()}, found["pod.yaml"]


def size(o):
    return len(json.dumps(o, separators=(",", ":")))


def without_gate(o):
    """The size of the same Pod, its agent alone."""
    spec = dict(o["spec"], initContainers=[], volumes=[
        v for v in o["spec"]["volumes"] if v["name"] in ("workspace", "tmp")])
    del spec["initContainers"]
    return size({**o, "spec": spec})


def compiled(line):
    """A plan is compiled once, for however many Pods: per Pod it is the
    quotient. Beside the same policy's plan for one machine."""
    fleet = ("--kind", "deployment", "--replicas", str(PODS))
    for what, grants in KINDS:
        with Policy(grants) as one, Policy(grants) as other:
            subject, base = medians(9, lambda: one.for_cluster(*fleet),
                                    other.compile)
        line("compile, %d Pods, %s" % (PODS, what), "%.1f ms" % (subject * 1e3),
             "a machine %.1f ms" % (base * 1e3), "%.2f" % (subject / base),
             "per Pod %.1f us; load %.1f" % (subject / PODS * 1e6,
                                             os.getloadavg()[0]))


def sizes(line):
    for what, grants in KINDS:
        with Policy(grants) as p:
            p.for_cluster()
            held, manifest = p.objects()
        own = held["pod.yaml"] + held["networkpolicy.yaml"]
        base = without_gate(manifest)
        line("bytes of a session, %s" % what, "%.1f KB" % (own / 1e3),
             "no gate %.1f KB" % (base / 1e3), "%.1f" % (own / base),
             "2 objects beside 1; and a ConfigMap of %.1f KB, one per plan" %
             (held["configmap.yaml"] / 1e3))
        whole, bare = own * PODS + held["configmap.yaml"], base * PODS
        line("the same, %d of them" % PODS, "%.1f MB" % (whole / 1e6),
             "no gate %.1f MB" % (bare / 1e6), "%.1f" % (whole / bare),
             "%d objects beside %d" % (2 * PODS + 1, PODS))


# --- in the sealed world -----------------------------------------------------

POLICIES = (("networks", "allow: ['11.0.1.1:443']\n"),
            ("names", "allow: [site.test]\n"),
            ("decrypted", "allow:\n  - {dest: site.test, http: [{methods: "
             "[GET], paths: [/a/]}]}\n"))


def until_ended(place, gate):
    """From a standing sandbox until `true` has ended, with the gate's way."""
    with pod.Pod(place) as p:
        if p.compiled.returncode:
            raise live.Failed(p.compiled.stderr.decode())
        begun = time.perf_counter()
        if gate and (p.run("fence").returncode or
                     p.start_gate().get("event") != "ready"):
            raise live.Failed("no gate: %s" % p.events)
        done = p.run("agent", command=["true"])
        took = time.perf_counter() - begun
        if done.returncode:
            raise live.Failed(done.stderr)
        return took


def begun(line):
    for what, policy in POLICIES:
        with live.Place(pod.with_words_for_a_pod(policy)) as place:
            subject, base = medians(9, lambda: until_ended(place, True),
                                    lambda: until_ended(place, False))
        line("a Pod, %s: until true ended" % what, "%.0f ms" % (subject * 1e3),
             "no gate %.0f ms" % (base * 1e3), "%.2f" % (subject / base),
             "two containers more: +%.0f ms; load %.1f" % (
                 (subject - base) * 1e3, os.getloadavg()[0]))


def processes(container):
    """Of a container of the sealed Docker: their /proc."""
    out = live.the.docker("top", container, "-eo", "pid").stdout
    return [pathlib.Path("/proc", pid) for pid in out.split()[1:]]


def memory(procs):
    """MB of what they share out."""
    return sum(int(l.split()[1]) for p in procs
               for l in (p / "smaps_rollup").read_text().splitlines()
               if l.startswith("Pss:")) / 1024


def spent(procs):
    """Seconds of a processor so far."""
    return sum(sum(map(int, (p / "stat").read_text().rpartition(")")[2].split()
                       [11:13])) for p in procs) / TICKS


def idle(line):
    """Several side by side, since their programs share pages; each beside its
    pause container."""
    for what, policy in POLICIES:
        with live.Place(pod.with_words_for_a_pod(policy)) as place:
            gates, pauses = [], []
            pods = [pod.Pod(place) for _ in range(IDLE_PODS)]
            try:
                for p in pods:
                    p.__enter__()
                    if p.run("fence").returncode or \
                            p.start_gate().get("event") != "ready":
                        raise live.Failed("no gate: %s" % p.events)
                    gates.append(processes("membrane-gate-" + p.name))
                    pauses.append(processes(p.pause))
                before = [spent(procs) for procs in gates]
                time.sleep(IDLE_S)
                used = [spent(g) - b for g, b in zip(gates, before)]
                held = statistics.median(map(memory, gates))
                base = statistics.median(map(memory, pauses))
            finally:
                for p in pods:
                    if hasattr(p, "root"):
                        p.__exit__()
        line("a gate at rest, %s" % what, "%.1f MB" % held,
             "pause %.1f MB" % base, "%.0f" % (held / base),
             "%d side by side; %.3f s of a processor in a minute each" % (
                 IDLE_PODS, sum(used) / IDLE_PODS * 60 / IDLE_S))
