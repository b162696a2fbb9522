"""What the node's tests are written with: Pods of compiled policies.

    with Pod("allow: [site.test]\\n") as p:
        p.begin()                            # until its gate is ready
        check(p.tried([["get", "https://site.test/"]])[0]["ok"], "it answers")

Everything is asked of the API server by kubectl, and judged besides by what
arrived out there (tests/live/inet.py) and by the node's own namespaces. Which
tests there are, what passed, and what arrived: as tests/live/live.py has it.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "live"))
import live  # noqa: E402
from live import Failed, check, within  # noqa: E402

FOLDER = pathlib.Path(os.environ.get("MEMBRANE_CLUSTER") or
                      ROOT / "build" / "cluster").resolve()
MEMBRANE = ROOT / "build" / "bin" / "membrane"
PROBE = HERE.parent / "live" / "probe.py"
RESOLVER = "8.8.8.8"
# Flags, for a gate in a Pod of its own.
APART = ("--topology", "apart", "--gate-address", "10.96.0.53")


class Node:
    """The one that stands: what a live test's World is, for Log and settle()."""

    def __init__(self):
        self.state = FOLDER / "internet"
        self.pid = (FOLDER / "run" / "init.pid").read_text().strip()
        self.images = {role: one["name"] for role, one in json.loads(
            (FOLDER / "images" / "names.json").read_text()).items()}
        self.socket = live.World.socket_in("/proc/%s/ns/net" % self.pid)

    def settle(self):
        """Until all that was sent so far is in the log."""
        self.socket.sendto(b"settled", ("198.18.0.2", 9))
        self.socket.recv(100)


node = None   # the Node; set by tests/cluster/run


def enter(*argv, fails=False, **more):
    """A command as root in the node's namespaces: a CompletedProcess."""
    done = subprocess.run([HERE / "node", "enter", *argv], check=False,
                          text=True, capture_output=True,
                          timeout=180 * live.SLOW, **more)
    if done.returncode and not fails:
        raise Failed("%s: %s" % (" ".join(map(str, argv)), done.stderr))
    return done


def kubectl(*argv, **more):
    return enter("kubectl", *argv, **more)


def masquerades():
    """The node's rules by which the addresses of Pods go out."""
    return set(re.findall(r"-s (10\.244\.0\.\d+)/32", enter(
        "iptables-save", "-t", "nat").stdout))


def pid_of(container):
    """On the node: of the first process of a container, by its containerd://."""
    out = enter("ctr", "-a", "/run/containerd.sock", "-n", "k8s.io", "task",
                "ls").stdout
    for line in out.splitlines():
        words = line.split()
        if words[0] == container.partition("://")[2]:
            return words[1]
    raise Failed("no such container runs: " + container)


class Pod:
    """A policy's, as long as the block. The manifest is as it was written, but
    for the agent's command; change(spec) may change more."""
    count = 0

    def __init__(self, policy, *flags, command=("sleep", "infinity"),
                 change=None):
        Pod.count += 1
        self.name = "agent-%d" % Pod.count
        self.policy, self.flags = policy, flags
        self.command, self.change = list(command), change
        self.out = live.Log("inet.jsonl")

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="membrane-cluster-"))
        (self.folder / ".membrane.yaml").write_text(
            "image: %s\nresolver: %s\n%s" % (node.images["agent"], RESOLVER,
                                             self.policy))
        usual = {"--workspace-from": "empty"}
        if "apart" not in self.flags:
            usual["--sidecar"] = "container"
        done = self.membrane(
            "compile", "--target", "kubernetes", "--name", self.name,
            "--gate-image", node.images["gate"], "-o", "out", *self.flags,
            *(w for option, word in usual.items() if option not in self.flags
              for w in (option, word)))
        if done.returncode:
            raise Failed("compile: " + done.stderr)
        self.plan = self.folder / "out"
        return self

    def membrane(self, *argv, **more):
        return subprocess.run(
            [MEMBRANE, argv[0], "--no-global-config", *argv[1:]], check=False,
            cwd=self.folder, text=True, capture_output=True,
            env={**os.environ, "MEMBRANE_HOME": str(self.folder / "home")},
            **more)

    def manifest(self):
        """The one that is run."""
        whole = yaml.safe_load((self.plan / "pod.yaml").read_text())
        spec = whole["spec"]
        if whole["kind"] != "Pod":
            spec = spec["template"]["spec"]
        spec["containers"][-1]["command"] = self.command
        if self.change:
            self.change(spec)
        return whole

    def apply(self):
        kubectl("apply", "-f", self.plan / "configmap.yaml")
        kubectl("create", "-f", "-", input=json.dumps(self.manifest()))

    def begin(self):
        self.apply()
        if not within(60, lambda: self.words("ready") and
                      self.state("agent").get("running")):
            raise Failed("%s does not begin: %s\n%s" % (
                self.name, self.logs(), kubectl("describe", "pod", self.pod(),
                                                fails=True).stdout[-1500:]))
        return self

    def pod(self):
        """Its name, also of one that something else made; "" where there is
        none."""
        if "deployment" not in self.flags:
            return self.name
        return kubectl("get", "pod", "-l", "app.kubernetes.io/name=" + self.name,
                       "-o", "name", fails=True).stdout.strip()[4:]

    def get(self):
        done = kubectl("get", "pod", self.pod(), "-o", "json", fails=True)
        return json.loads(done.stdout) if done.stdout else {"status": {}}

    def status(self, container):
        for kind in ("containerStatuses", "initContainerStatuses"):
            for one in self.get()["status"].get(kind, ()):
                if one["name"] == container:
                    return one
        return {}

    def state(self, container):
        return self.status(container).get("state", {})

    def logs(self, container="gate"):
        return kubectl("logs", self.pod(), "-c", container, fails=True).stdout

    def words(self, event):
        """What the gate has said of that kind."""
        return [r for r in map(json.loads, self.logs().splitlines())
                if r["event"] == event]

    def inside(self, *command, **more):
        """In the agent's container: a CompletedProcess."""
        return kubectl("exec", "-i", self.pod(), "-c", "agent", "--", *command,
                       fails=True, **more)

    def tried(self, attempts):
        """What probe.py says of them."""
        done = self.inside("python3", "-", json.dumps(attempts),
                           input=PROBE.read_text())
        if done.returncode:
            raise Failed("the probe did not run: " + done.stderr)
        return json.loads(done.stdout)

    def arrived(self, event=None, **fields):
        node.settle()
        return live.matching(self.out.events(), event, **fields)

    def first(self, container):
        return pid_of(self.status(container)["containerID"])

    def network(self, *argv):
        """A command of the node's in P: what it prints."""
        return enter("nsenter", "-t", self.first("agent"), "-n", *argv).stdout

    def links(self):
        return [l["ifname"] for l in json.loads(self.network(
            "ip", "-j", "link"))]

    def delete(self, *words, **more):
        kubectl("delete", "--ignore-not-found", "-f",
                self.plan / "pod.yaml", *words, **more)

    def __exit__(self, *_):
        if hasattr(self, "plan"):
            self.delete("--grace-period=0", "--force", "--wait=false",
                        fails=True)
            # Another test's Pod of that name has another plan.
            kubectl("delete", "configmap", "--wait=false", "-l",
                    "app.kubernetes.io/name=" + self.name, fails=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def closed(p, results):
    """Nothing of what was tried got anywhere."""
    for result in results:
        check(not result["ok"], "closed", result)
    check(not p.arrived(), "nothing arrived", p.arrived())
