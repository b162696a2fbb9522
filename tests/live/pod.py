"""Pods without Kubernetes: what a kubelet does with the containers of one, by
the sealed Docker: a pause container has the network, and the others join it, one
after the other, with the rights that they have in a Pod.

A container is said in the words of a Pod's (core/v1, Container); docker_words()
makes Docker's of them.
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
OF_THE_GATE = ["KILL", "NET_ADMIN", "NET_BIND_SERVICE", "SETGID", "SETPCAP",
               "SETUID", "SYS_ADMIN"]
# As compiler/emit/docker/agent.c lists them.
TRUSTING = {"SSL_CERT_FILE": "bundle", "CURL_CA_BUNDLE": "bundle",
            "REQUESTS_CA_BUNDLE": "bundle", "GIT_SSL_CAINFO": "bundle",
            "NODE_EXTRA_CA_CERTS": "ca"}


def secured(add=(), user=0, group=0, escalates=False):
    """A securityContext: everything that is not added is taken away."""
    return {"allowPrivilegeEscalation": escalates, "privileged": False,
            "capabilities": {"drop": ["ALL"], "add": list(add)},
            "readOnlyRootFilesystem": True,
            "runAsUser": user, "runAsGroup": group,
            "seccompProfile": {"type": "RuntimeDefault"}}


def docker_words(container, volumes):
    """Docker's arguments for one; volumes: {name: a folder of the host, or
    None for one in memory}."""
    s = container["securityContext"]
    words = ["--user=%d:%d" % (s["runAsUser"], s["runAsGroup"])]
    words += ["--cap-drop=" + c for c in s["capabilities"]["drop"]]
    words += ["--cap-add=" + c for c in s["capabilities"]["add"]]
    if s["readOnlyRootFilesystem"]:
        words.append("--read-only")
    if not s["allowPrivilegeEscalation"]:
        words.append("--security-opt=no-new-privileges")
    for e in container.get("env", ()):
        words.append("--env=%s=%s" % (e["name"], e["value"]))
    for m in container.get("volumeMounts", ()):
        folder = volumes[m["name"]]
        words.append("--tmpfs=%s:mode=777" % m["mountPath"]
                     if folder is None else
                     "--mount=type=bind,source=%s,target=%s%s" % (
                         folder, m["mountPath"],
                         ",readonly" if m.get("readOnly") else ""))
    if container.get("workingDir"):
        words.append("--workdir=" + container["workingDir"])
    first, *more = container["command"]
    return [*words, "--entrypoint=" + first, container["image"], *more]


def host_addresses():
    """The node's, as status.hostIPs has them."""
    out = subprocess.run(live.the.enter("ip", "-j", "addr"), check=True,
                         capture_output=True).stdout
    return [a["local"] for link in json.loads(out) for a in link["addr_info"]
            if a["scope"] == "global"]


def as_config_map(plan, folder):
    """As the kubelet mounts one: each file a link through another one."""
    data = folder / "..2026_11_28_12_00_00.1"
    shutil.copytree(plan, data)
    (folder / "..data").symlink_to(data.name)
    for path in data.iterdir():
        (folder / path.name).symlink_to("..data/" + path.name)


class Pod:
    """One, as long as the block; its parts are started by name."""

    def __init__(self, where, *flags):
        self.where, self.flags = where, flags
        self.name = uuid.uuid4().hex[:12]
        self.said, self.events = [], []

    def __enter__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="pod-",
                                                  dir=self.where.root))
        for name in ("plan", "secrets", "roots"):
            (self.root / name).mkdir()
        os.chmod(self.root, 0o755)
        os.chmod(self.root / "roots", 0o755)
        done = subprocess.run(self.where.argv(
            "compile", "-o", "out", *self.flags), capture_output=True,
            check=False)
        self.compiled = done
        if done.returncode:
            return self
        self.plan = self.where.work / "out"
        subprocess.run(["chmod", "-R", "a+rX", self.plan], check=True)
        as_config_map(self.plan, self.root / "plan")
        shutil.rmtree(self.plan)
        self.plan = self.root / "plan" / "..data"
        self.decrypts = (self.plan / "crt.lst").exists()
        self.write_secrets()
        self.pause = self.docker_run(
            "-d", "--network=" + network, "--dns=192.0.0.1", "--cap-drop=ALL",
            "--read-only", "--entrypoint=sleep", AGENT, "infinity",
            role="pause").stdout.strip()
        return self

    def write_secrets(self):
        vectors = json.loads((self.plan / "docker.json").read_text())
        for c in vectors.get("credentials", ()):
            value = self.where.env.get(c.get("from_env"))
            if "from_file" in c:
                value = pathlib.Path(c["from_file"].replace(
                    "~", str(self.where.root), 1)).read_text().strip()
            if value is not None:
                (self.root / "secrets" / str(c["n"])).write_text(value + "\n")

    def container(self, role, **more):
        c = {"name": role, "volumeMounts": [], "env": []}
        if role == "fence":
            c.update(image=GATE, command=["/membrane-gate", "--fence"],
                     securityContext=secured(["NET_ADMIN"]))
        elif role == "gate":
            c.update(image=GATE, securityContext=secured(
                OF_THE_GATE, escalates=True), command=[
                    "/membrane-gate", "--link", "wire", "--plan", "/plan",
                    "--digest", self.digest(), "--secrets", "/secrets",
                    *(["--roots", "/roots"] if self.decrypts else [])])
            c["env"] = env(MEMBRANE_SESSION=self.name,
                           MEMBRANE_HOSTS=",".join(host_addresses()))
            c["volumeMounts"] = mounts(plan="/plan:ro", run="/run/gate",
                                       secrets="/secrets:ro", roots="/roots")
        else:
            c.update(image=AGENT, workingDir="/workspace",
                     securityContext=secured(user=live.the.uid,
                                             group=live.the.gid))
            c["env"] = env(HOME="/home/agent", MEMBRANE="1",
                           **({name: "/etc/membrane/%s.pem" % file
                               for name, file in TRUSTING.items()}
                              if self.decrypts else {}))
            c["volumeMounts"] = mounts(
                work="/workspace", home="/home/agent", tmp="/tmp",
                **({"roots": "/etc/membrane:ro"} if self.decrypts else {}))
        return {**c, **more}

    def digest(self):
        return subprocess.run(
            ["sha256sum", self.plan / "manifest.json"], check=True,
            capture_output=True, text=True).stdout.split()[0]

    def words(self, container):
        """docker run, as a part of this Pod."""
        return [
            "docker", "-H", live.the.docker_host, "run", "--pull=never",
            *self.labels(container["name"]),
            "--network=container:" + self.pause,
            *docker_words(container, {
                "plan": self.root / "plan", "secrets": self.root / "secrets",
                "roots": self.root / "roots", "work": self.where.work,
                "run": None, "home": None, "tmp": None})]

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


def env(**values):
    return [{"name": n, "value": v} for n, v in values.items()]


def mounts(**paths):
    return [{"name": n, "mountPath": p.partition(":")[0],
             "readOnly": p.endswith(":ro")} for n, p in paths.items()]


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
