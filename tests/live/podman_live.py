#!/usr/bin/env python3
"""podman's reading of our Pods, `podman kube play`; needs root, else 77.

It makes a Pod of what `membrane compile --target kubernetes` writes, in a
network namespace of its own, which plays the internet: the addresses out there
are its own, and no packet leaves it. The images are made here, of the gate's
programs and of busybox. Judged by what arrives, by what the agent sees of
itself, and by the gate's records.

podman 4.3 takes all of it but two things, which are given in its own way: see
Manifests.
"""
import contextlib
import io
import json
import os
import pathlib
import re
import resource
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import gate  # noqa: E402
import l7_live  # noqa: E402
from gate import check, ip  # noqa: E402

BUSYBOX = pathlib.Path("/bin/busybox")
PODMAN = shutil.which("podman")
GRANTED, OTHER = "192.0.2.7", "198.51.100.7"
PORT = 8080
NAME = "membrane-agent"   # of the Pod, when nobody names one
BRIDGE = "10.88.0.1"      # podman's own network, in a namespace of its own

# Says who was reached, one line each, and answers.
SERVER = """
import socket, sys
s = socket.create_server(("", %d))
print("up", flush=True)
while True:
    c, _ = s.accept()
    print(c.getsockname()[0], flush=True)
    c.sendall(b"page\\n")
    c.close()
""" % PORT


# --- images -----------------------------------------------------------------

def libraries(*programs):
    """What ldd says they load, and the loader."""
    said = subprocess.run(["ldd", *programs], check=True, text=True,
                          capture_output=True).stdout
    return set(re.findall(r"(/\S+) \(0x", said))


def packed(files, links=()):
    """A tar of {path inside: path here}, and of links to busybox."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for inside, here in sorted(files.items()):
            info = tar.gettarinfo(os.path.realpath(here), inside.lstrip("/"))
            info.mode, info.uid, info.gid = 0o755, 0, 0
            with open(here, "rb") as f:
                tar.addfile(info, f)
        for name in links:
            info = tarfile.TarInfo("bin/" + name)
            info.type, info.linkname = tarfile.SYMTYPE, "busybox"
            tar.addfile(info)
    return out.getvalue()


def of_gate():
    haproxy = shutil.which("haproxy", path="/usr/sbin:/usr/bin")
    files = {"/membrane-gate": gate.GATE, "/usr/sbin/haproxy": haproxy,
             "/membrane-reader.so": l7_live.READER,
             "/etc/protocols": gate.ROOT / "image/gate/protocols",
             "/etc/ssl/certs/ca-certificates.crt":
                 "/etc/ssl/certs/ca-certificates.crt"}
    return packed(files | {lib: lib for lib in libraries(gate.GATE, haproxy)})


def of_agent():
    return packed({"/bin/busybox": BUSYBOX},
                  ("sh", "sleep", "cat", "ls", "id", "nc", "nslookup"))


# --- podman -----------------------------------------------------------------

class Podman:
    """With storage, state and a network of its own."""

    def __init__(self, home):
        self.home = home
        self.netns = "membrane-podman-%d" % os.getpid()
        _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
        # its own defaults are more than a test's limits may allow
        (home / "containers.conf").write_text(
            '[containers]\n'
            'default_ulimits = ["nofile=%d:%d", "nproc=4096:4096"]\n'
            '[engine]\nevents_logger = "file"\n'
            '[network]\nnetwork_config_dir = "%s/networks"\n' % (
                files, files, home))
        self.env = {**os.environ,
                    "CONTAINERS_CONF": str(home / "containers.conf")}

    def argv(self, *words):
        return ["nsenter", "--net=/run/netns/" + self.netns,
                "--mount=/proc/%d/ns/mnt" % self.mounts.pid, PODMAN, "--root",
                self.home / "root", "--runroot", self.home / "run", *words]

    def __call__(self, *words, **more):
        return subprocess.run(self.argv(*words), env=self.env, check=False,
                              capture_output=True, timeout=120, **more)

    def text(self, *words, **more):
        done = self(*words, text=True, **more)
        return done.stdout if done.returncode == 0 else done.stderr

    def image(self, name, tar):
        """Its name with the digest by which Pods name it."""
        made = self("import", "-", name, input=tar)
        check(made.returncode == 0, "image of the " + name, made.stderr)
        return "%s@%s" % (name, self.text(
            "image", "inspect", "--format", "{{.Digest}}", name).strip())

    def inside(self, *command):
        """What the agent says."""
        return self("exec", NAME + "-agent", *command, text=True)

    def __enter__(self):
        # crun runs nothing where groups of both versions are mounted and one of
        # the second has a controller: here there is the first alone. And it
        # gives what a container's streams are, /dev/null, to its user.
        os.mknod(self.home / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        self.mounts = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", "umount /sys/fs/cgroup/unified "
             "2>/dev/null; mount --bind \"$1\" /dev/null && echo up && "
             "exec sleep 3600", "sh", self.home / "null"],
            stdout=subprocess.PIPE)
        check(self.mounts.stdout.readline() == b"up\n", "mounts of its own")
        ip("netns", "add", self.netns)
        ip("-n", self.netns, "link", "set", "lo", "up")
        for address in (GRANTED, OTHER):
            ip("-n", self.netns, "addr", "add", address + "/32", "dev", "lo")
        return self

    def __exit__(self, *_):
        self("pod", "rm", "--all", "--force", "--time", "0")
        self("rmi", "--all", "--force")
        ip("netns", "del", self.netns)
        self.mounts.kill()
        self.mounts.communicate()


class Manifests:
    """What is compiled, and what podman 4.3 is given in its place: it knows no
    `status.hostIP`, and an emptyDir of its is root's alone, where those of
    kubelets are everybody's (HAProxy is not root)."""

    def __init__(self, home, gate_image, agent_image):
        import yaml   # python3-yaml, which no other test of gates needs
        done = subprocess.run(
            [gate.MEMBRANE, "compile", "--no-global-config", "--target",
             "kubernetes", "--sidecar", "container", "--gate-image",
             gate_image, "--image", agent_image, "--resolver", "203.0.113.1",
             "--cidr", GRANTED + "/32", "--hostname", "site.test", "-o",
             home / "out"],
            cwd=home / "work", capture_output=True, text=True, check=False)
        check(done.returncode == 0, "compiled", done.stderr)
        plan = yaml.safe_load((home / "out/configmap.yaml").read_text())
        pod = yaml.safe_load((home / "out/pod.yaml").read_text())
        spec = pod["spec"]
        parts = {c["name"]: c for c in spec["containers"]}
        for variable in parts["gate"]["env"]:
            if variable["name"] == "MEMBRANE_HOSTS":
                del variable["valueFrom"]
                variable["value"] = BRIDGE
        for volume in spec["volumes"]:
            if volume["name"] == "gate-run":
                del volume["emptyDir"]
                volume["hostPath"] = {"path": str(home / "gate-run")}
        parts["agent"]["command"] = ["/bin/sleep", "600"]
        self.path = home / "pod.yaml"
        self.path.write_text(yaml.safe_dump_all([plan, pod]))


# --- what is checked ----------------------------------------------------------

def await_record(podman, seen, wanted):
    """Reads the gate's records until one is it; all of them stay in seen."""
    follower = subprocess.Popen(
        ["timeout", "30", *podman.argv("logs", "--follow", NAME + "-gate")],
        env=podman.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with follower:
        for line in follower.stdout:
            seen.append(json.loads(line))
            if wanted(seen[-1]):
                follower.terminate()
                return True
        return False


def decided(verdict, **fields):
    return lambda r: r.get("event") == "decision" and \
        r["verdict"] == verdict and \
        all(r.get(k) == v for k, v in fields.items())


def check_agent(podman):
    status = podman.inside("/bin/cat", "/proc/self/status").stdout
    check(len(re.findall(r"^Cap\w+:\t0{16}$", status, re.M)) == 5,
          "the agent has no capability", status)
    check(podman.inside("/bin/id", "-u").stdout == "1000\n", "and is no root")
    check(podman.inside("/bin/cat", "/sys/class/net/eth0/address").stdout ==
          "02:6d:65:6d:62:02\n", "its eth0 is the gate's")
    check("nameserver 192.0.0.1" in podman.inside(
        "/bin/cat", "/etc/resolv.conf").stdout, "and so is its resolver")


def check_reached(podman, server):
    got = podman.inside("/bin/nc", "-w", "3", GRANTED, str(PORT))
    check(got.stdout == "page\n", "what is granted answers", got)
    check(server.stdout.readline() == GRANTED + "\n", "and was reached")
    got = podman.inside("/bin/nc", "-w", "3", OTHER, str(PORT))
    check(got.returncode != 0 and not got.stdout, "the other does not", got)
    got = podman.inside("/bin/nslookup", "other.test")
    check(got.returncode != 0, "nor has it a name", got)
    check(await_record(podman, [], decided(
        "allow", proto="tcp", addr=GRANTED, port=PORT)), "that is on record")
    check(await_record(podman, [], decided(
        "deny", reason="no-grant", addr=OTHER, port=PORT)), "and that")
    check(await_record(podman, [], decided(
        "deny", reason="no-grant", name="other.test")), "and the name")


def check_killed(podman):
    podman("kill", "--signal", "KILL", NAME + "-gate")
    podman("wait", NAME + "-gate")
    check(podman.inside("/bin/ls", "/sys/class/net").stdout == "lo\n",
          "a gate that is killed leaves loopback")
    got = podman.inside("/bin/nc", "-w", "3", GRANTED, str(PORT))
    check(got.returncode != 0 and not got.stdout, "and nothing answers", got)


@contextlib.contextmanager
def serving(podman):
    p = subprocess.Popen(
        ["ip", "netns", "exec", podman.netns, sys.executable, "-c", SERVER],
        stdout=subprocess.PIPE, text=True)
    try:
        check(p.stdout.readline() == "up\n", "somebody is out there")
        yield p
    finally:
        p.kill()
        p.wait()


def check_played(podman, manifests):
    records = []
    done = podman("kube", "play", manifests.path, text=True)
    check(done.returncode == 0, "played", done.stdout, done.stderr)
    if not await_record(podman, records,
                        lambda r: r.get("event") == "ready"):
        check(False, "the gate is ready", records, podman.text(
            "ps", "--all"))
        return
    with serving(podman) as server:
        check_agent(podman)
        check_reached(podman, server)
        check_killed(podman)
        check(server.poll() is None, "who was out there still is")


def main():
    if gate.lacking(gate.MEMBRANE, l7_live.READER, BUSYBOX) or not PODMAN:
        print("needs podman")
        return 77
    # a short name: sockets are below it
    with tempfile.TemporaryDirectory(prefix="mp", dir="/tmp") as made:
        home = pathlib.Path(made)
        (home / "work").mkdir()
        (home / "gate-run").mkdir()
        os.chmod(home / "gate-run", 0o1777)
        os.chmod(home, 0o755)
        with Podman(home) as podman:
            check_played(podman, Manifests(
                home, podman.image("localhost/gate", of_gate()),
                podman.image("localhost/agent", of_agent())))
    return gate.end()


if __name__ == "__main__":
    sys.exit(main())
