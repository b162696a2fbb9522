#!/usr/bin/env python3
"""Each back end of the tracer on Debian's own kernel, in an emulated machine.

The machine has no disk and no network: an initramfs with membrane-watch, an
agent whose every action is known (agent.c), and init, which runs both once for
each back end. What they left comes out over a serial line and is judged here,
by the table of tests/guest/actions.py. Skips with 77 where Debian's kernel or
the emulator cannot be had.
"""
import gzip
import io
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

import actions
from actions import check

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = ROOT / "tests/guest"
CACHE = ROOT / "build/guest"
SECONDS = 120
BACK_ENDS = ("fexit", "lsm", "sys_exit", "chosen")


def skip(why):
    print(why)
    sys.exit(77)


def kernel():
    """(image, overlay.ko) of Debian's current kernel, without installing it:
    that would make it this machine's next one."""
    CACHE.mkdir(parents=True, exist_ok=True)
    said = subprocess.run(["apt-cache", "depends", "linux-image-amd64"],
                          text=True, capture_output=True, check=False).stdout
    names = [line.split()[-1] for line in said.splitlines()
             if "Depends: linux-image-" in line]
    if not names:
        skip("apt knows no linux-image-amd64 here")
    release = names[0].removeprefix("linux-image-")
    files = (CACHE / ("boot/vmlinuz-" + release), CACHE / (
        "lib/modules/%s/kernel/fs/overlayfs/overlay.ko" % release))
    if not all(f.exists() for f in files):
        got = subprocess.run(["apt-get", "-q", "download", names[0]],
                             cwd=CACHE, text=True, capture_output=True,
                             check=False)
        debs = sorted(CACHE.glob(names[0] + "_*.deb"))
        if got.returncode or not debs:
            skip("the kernel %s cannot be had: %s" % (
                release, got.stderr.strip()[-200:]))
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", debs[-1]],
                              stdout=subprocess.PIPE) as p, \
                tarfile.open(fileobj=p.stdout, mode="r|") as tar:
            for member in tar:
                if str(CACHE / member.name) in map(str, files):
                    tar.extract(member, CACHE)
        for deb in debs:
            deb.unlink()
    return files


class Cpio:
    """An initramfs: Documentation/driver-api/early-userspace of Linux."""

    def __init__(self):
        self.out, self.n = io.BytesIO(), 0

    def add(self, name, mode, data=b"", device=(0, 0)):
        self.n += 1
        path = name.encode() + b"\0"
        head = (self.n, mode, 0, 0, 1, 0, len(data), 0, 0, *device,
                len(path), 0)
        entry = b"070701" + b"".join(b"%08X" % x for x in head) + path
        entry += b"\0" * (-len(entry) % 4) + data
        self.out.write(entry + b"\0" * (-len(data) % 4))

    def folder(self, name):
        self.add(name, 0o40755)

    def file(self, name, path, mode=0o100755):
        self.add(name, mode, path.read_bytes())

    def done(self):
        self.add("TRAILER!!!", 0)
        return self.out.getvalue()


def initramfs(overlay, agent):
    c = Cpio()
    for name in ("bin", "dev", "proc", "sys", "tmp", "out", "plan", "named"):
        c.folder(name)
    c.add("dev/console", 0o20600, device=(5, 1))
    c.file("bin/busybox", pathlib.Path(shutil.which("busybox")))
    applets = subprocess.run(["busybox", "--list"], text=True,
                             capture_output=True, check=True).stdout.split()
    for name in applets:
        if name != "busybox":
            c.add("bin/" + name, 0o120777, b"busybox")
    c.file("init", HERE / "init")
    c.file("overlay.ko", overlay)
    c.file("agent", agent)
    c.file("membrane-watch", ROOT / "build/bin/membrane-watch")
    c.add("plan/trace.json", 0o100644, json.dumps(actions.PLAN).encode())
    c.add("named/trace.json", 0o100644, json.dumps(dict(
        actions.PLAN, events=[{"name": "cap_capable", "filters": []}]
    )).encode())
    return c.done()


def has_kvm():
    """Not where the processor has no virtualisation, whatever /dev says."""
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    return os.access("/dev/kvm", os.R_OK | os.W_OK) and (
        "vmx" in flags or "svm" in flags)


def boot(image, folder, *words):
    (folder / "out").write_bytes(b"")
    machine = ["-accel", "kvm", "-cpu", "host"] if has_kvm() else [
        "-accel", "tcg,thread=multi", "-cpu", "max"]
    argv = ["qemu-system-x86_64", *machine, "-m", "1024", "-smp", "2",
            "-nodefaults", "-display", "none", "-no-reboot", "-nic", "none",
            "-serial", "file:%s" % (folder / "console"),
            "-serial", "file:%s" % (folder / "out"),
            "-kernel", image, "-initrd", folder / "initramfs",
            "-append", " ".join(["console=ttyS0 quiet panic=-1", *words])]
    try:
        subprocess.run(argv, check=True, timeout=SECONDS,
                       stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        check(False, "the guest ended in %d s" % SECONDS)
    return (folder / "console").read_text("utf-8", "replace")


def frames(data):
    """The lines of a trace: runtime/watch/pack.h."""
    at = 0
    while at + 4 <= len(data):
        size = struct.unpack_from("<I", data, at)[0]
        for line in gzip.decompress(data[at + 4:at + 4 + size]).splitlines():
            yield json.loads(line)
        at += 4 + size


def output(folder):
    """What came over the line, by name; nothing when that was no tar file."""
    try:
        with tarfile.open(folder / "out") as tar:
            return {m.name.removeprefix("./"): tar.extractfile(m).read()
                    for m in tar if m.isfile()}
    except tarfile.ReadError:
        return {}


def judge(back_end, out):
    said = out.get(back_end + ".said", b"").decode()
    if not check('"ready"' in said, back_end + ": it is ready", said):
        return
    found = list(frames(out[back_end + ".trace"]))
    check(out.get(back_end + ".status") == b"0\n", back_end + ": the agent",
          out.get(back_end + ".status"))
    used = "fexit" if back_end == "chosen" else back_end
    actions.judge(used, "/tmp/%s/at/w" % back_end, "/sealed/secret", found,
                  capable=used == "fexit")


def all_back_ends(image, folder):
    console = boot(image, folder, "back_ends=" + ",".join(BACK_ENDS))
    out = output(folder)
    if keep := os.environ.get("KEEP"):
        pathlib.Path(keep).mkdir(exist_ok=True)
        for path, data in out.items():
            (pathlib.Path(keep) / path).write_bytes(data)
    if not check(out, "the guest said something", console[-2000:]):
        return
    for back_end in BACK_ENDS:
        judge(back_end, out)
    said = out.get("named.said", b"").decode()
    check("this kernel cannot give 'cap_capable'" in said,
          "an event that is named and missing", said)


def without_bpf_lsm(image, folder):
    """Its programs load and attach all the same, and are never called."""
    boot(image, folder, "lsm=landlock,yama", "back_ends=lsm,chosen")
    out = output(folder)
    said = out.get("lsm.said", b"").decode()
    check("the hooks are attached, and are not called" in said,
          "an LSM that is not active is not taken", said)
    judge("chosen", out)


def main():
    if os.uname().machine != "x86_64":
        skip("the emulated machine is an x86-64, this one is not")
    for program, package in (("qemu-system-x86_64", "qemu-system-x86"),
                             ("busybox", "busybox-static")):
        if not shutil.which(program):
            skip("%s is not installed" % package)
    image, overlay = kernel()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        actions.build(folder / "agent")
        (folder / "initramfs").write_bytes(
            initramfs(overlay, folder / "agent"))
        all_back_ends(image, folder)
        without_bpf_lsm(image, folder)
    print("%d passed, %d failed" % actions.total())
    sys.exit(bool(actions.total()[1]))


main()
