"""Pods without Kubernetes: what a kubelet does with the containers of one, by
the sealed Docker: a pause container has the network, and the others join it, one
after the other, with the rights that they have in a Pod.

Containers, volumes and the plan are those of the manifests that `membrane compile
--target kubernetes` writes; docker_words() makes Docker's words of a container's.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import uuid

import live

network = "bridge"   # or "six", which has IPv6: live.ipv6()
GATE, AGENT = "membrane-gate", "membrane-agent"
RESOLVER = "8.8.8.8"   # as the sealed host's resolv.conf has it
DIGEST = "@sha256:" + "0" * 64   # none is pulled


def with_words_for_a_pod(policy):
    """What it has to say besides; its lines keep their numbers."""
    if "dns_resolver:" not in policy:
        policy += "\ndns_resolver: " + RESOLVER
    return policy + "\nimage: agent%s\n" % DIGEST


def docker_words(container, sources, values):
    """Docker's arguments for one; sources: {(volume, subPath): a folder of the
    host}, others are in memory; values: {fieldPath: what it stands for}."""
    s = container["securityContext"]
    words = ["--user=%d:%d" % (s["runAsUser"], s["runAsGroup"])]
    words += ["--cap-drop=" + c for c in s["capabilities"]["drop"]]
    words += ["--cap-add=" + c for c in s["capabilities"].get("add", ())]
    if s["readOnlyRootFilesystem"]:
        words.append("--read-only")
    if not s.get("allowPrivilegeEscalation", True):
        words.append("--security-opt=no-new-privileges")
    if s["privileged"] or s["seccompProfile"] != {"type": "RuntimeDefault"}:
        raise live.Failed("no such container here: %s" % s)
    for e in container.get("env", ()):
        words.append("--env=%s=%s" % (e["name"], e["value"] if "value" in e
                     else values[e["valueFrom"]["fieldRef"]["fieldPath"]]))
    for m in container.get("volumeMounts", ()):
        folder = sources.get((m["name"], m.get("subPath")))
        words.append("--tmpfs=%s:mode=777" % m["mountPath"]
                     if folder is None else
                     "--mount=type=bind,source=%s,target=%s%s" % (
                         folder, m["mountPath"],
                         ",readonly" if m.get("readOnly") else ""))
    if container.get("workingDir"):
        words.append("--workdir=" + container["workingDir"])
    first, *more = container["command"]
    image = container["image"].partition("@")[0].rpartition("/")[2]
    return [*words, "--entrypoint=" + first,
            AGENT if image == "agent" else image, *more]


def host_addresses():
    """The node's, as status.hostIPs has them."""
    out = subprocess.run(live.the.enter("ip", "-j", "addr"), check=True,
                         capture_output=True).stdout
    return [a["local"] for link in json.loads(out) for a in link["addr_info"]
            if a["scope"] == "global"]


def as_the_kubelet(files, folder):
    """{name: text} as it mounts a ConfigMap or a Secret: each file a link
    through another one."""
    data = folder / "..2026_11_28_12_00_00.1"
    data.mkdir(parents=True)
    (folder / "..data").symlink_to(data.name)
    for name, text in files.items():
        (data / name).write_text(text)
        (folder / name).symlink_to("..data/" + name)


class Pod:
    """One, as long as the block; its parts are started by name."""

    def __init__(self, where, *flags):
        self.where, self.flags = where, flags
        self.name = uuid.uuid4().hex[:12]
        self.said, self.events = [], []

    def __enter__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="pod-",
                                                  dir=self.where.root))
        os.chmod(self.root, 0o755)
        (self.root / "roots").mkdir()
        self.compiled = subprocess.run(self.where.argv(
            "compile", "--target", "kubernetes", "--gate-image",
            GATE + DIGEST, "-o", "out", *self.flags), capture_output=True,
            check=False)
        if self.compiled.returncode:
            return self
        self.read(self.where.work / "out")
        shutil.rmtree(self.where.work / "out")
        # a volume of the Pod's, which is its group's (fsGroup)
        subprocess.run(["chmod", "-R", "a+rwX", self.where.work], check=True)
        self.pause = self.docker_run(
            "-d", "--network=" + network, "--dns=192.0.0.1", "--cap-drop=ALL",
            "--read-only", "--entrypoint=sleep", AGENT, "infinity",
            role="pause").stdout.strip()
        return self

    def read(self, out):
        """What the manifests say, as far as there is a kubelet for it here."""
        import yaml   # python3-yaml, which no other engine needs
        spec = yaml.safe_load((out / "pod.yaml").read_text())["spec"]
        self.spec = {c["name"]: c for c in (*spec["initContainers"],
                                            *spec["containers"])}
        if spec["dnsPolicy"] != "None" or \
                spec["dnsConfig"]["nameservers"] != ["192.0.0.1"]:
            raise live.Failed("another resolver: %s" % spec["dnsConfig"])
        self.sources = {("workspace", "tree"): self.where.work,
                        ("workspace", None): self.where.work,
                        ("roots", None): self.root / "roots"}
        for volume in spec["volumes"]:
            folder = self.root / volume["name"]
            if "configMap" in volume:
                as_the_kubelet(yaml.safe_load(
                    (out / "configmap.yaml").read_text())["data"], folder)
            elif "secret" in volume:
                as_the_kubelet(self.secrets(volume["secret"]), folder)
            else:
                continue
            self.sources[volume["name"], None] = folder

    def secrets(self, secret):
        """What somebody has put into the cluster, with an editor."""
        return {i["path"]: self.where.env[i["key"]] + "\n"
                for i in secret["items"] if i["key"] in self.where.env}

    def container(self, role, **more):
        return {**self.spec[role], "name": role, **more}

    def words(self, container):
        """docker run, as a part of this Pod."""
        return [
            "docker", "-H", live.the.docker_host, "run", "--pull=never",
            *self.labels(container["name"]),
            "--network=container:" + self.pause,
            *docker_words(container, self.sources, {
                "metadata.uid": self.name,
                "status.hostIP": host_addresses()[0],
                "status.hostIPs": ",".join(host_addresses())})]

    def labels(self, role):
        return ["--name=membrane-%s-%s" % (role, self.name),
                "--log-driver=none", "--label=membrane.session=" + self.name,
                "--label=membrane.role=" + role]

    def docker_run(self, *words, role):
        return live.the.docker("run", "--pull=never", *self.labels(role),
                               *words)

    def run(self, role, **more):
        """To its end: a CompletedProcess."""
        words = self.words(self.container(role, **more))
        words.insert(words.index("run") + 1, "--rm")
        return subprocess.run(words, capture_output=True, text=True,
                              check=False, timeout=90 * live.SLOW)

    def start_gate(self, **more):
        """With what it says read as it comes; waits for its first word."""
        first = threading.Event()
        self.gate = live.Process(
            self.words(self.container("gate", **more)), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def read():
            for line in self.gate.stdout:
                self.events.append(json.loads(line))
                first.set()
            first.set()
        self.reader = threading.Thread(target=read, daemon=True)
        self.reader.start()
        first.wait(60 * live.SLOW)
        return self.events[-1] if self.events else {}

    def probe(self):
        """What the startup probe says."""
        return live.the.docker("exec", "membrane-gate-" + self.name,
                               "/membrane-gate", "--ready",
                               check_it=False).returncode

    def in_network(self, *argv):
        """As root, in P."""
        pid = live.the.docker("inspect", "-f", "{{.State.Pid}}",
                              self.pause).stdout.strip()
        return subprocess.run(["nsenter", "-t", pid, "-n", *argv],
                              check=False, capture_output=True, text=True)

    def links(self):
        """{name: (up, addresses)} of P."""
        return {l["ifname"]: ("UP" in l["flags"], {
            a["local"] for a in l["addr_info"] if a["scope"] == "global"})
            for l in json.loads(self.in_network("ip", "-j", "addr").stdout)}

    def end_gate(self, number=signal.SIGTERM):
        """As the kubelet does: a signal, and patience. Its status."""
        live.the.docker("kill", "--signal=%d" % number,
                        "membrane-gate-" + self.name, check_it=False)
        status = self.gate.wait(20)
        self.reader.join(10)
        live.the.docker("rm", "-f", "membrane-gate-" + self.name,
                        check_it=False)
        return status

    def __exit__(self, *_):
        with contextlib.suppress(AttributeError):
            if self.gate.poll() is None:
                self.end_gate()
        names = live.the.docker(
            "ps", "-aq", "--filter", "label=membrane.session=" + self.name
        ).stdout.split()
        if names:
            live.the.docker("rm", "-f", *names, check_it=False)
        shutil.rmtree(self.root, ignore_errors=True)


@contextlib.contextmanager
def on_network(name):
    """Pods that begin meanwhile are on that network of Docker's."""
    global network
    before, network = network, name
    try:
        yield
    finally:
        network = before


def run(where, words, timeout, **more):
    """What `membrane run` is to the other engines: a CompletedProcess of a
    command in a Pod with that policy; the gate's words go to where.said."""
    at = words.index("--")
    flags, command = words[:at], words[at + 1:]
    with Pod(where, *flags) as pod:
        if pod.compiled.returncode:
            return pod.compiled
        fence = pod.run("fence")
        first = pod.start_gate()
        if fence.returncode or first.get("event") != "ready":
            return subprocess.CompletedProcess(
                words, 125, b"", ("%s %s" % (fence, first)).encode())
        line = pod.words(pod.container("agent", command=list(command)))
        line[line.index("run") + 1:line.index("run") + 1] = ["--rm", "-i"]
        done = subprocess.run(line, capture_output=True, check=False,
                              timeout=timeout, **more)
        pod.end_gate()
        where.said += pod.events
        return done
