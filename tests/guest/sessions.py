#!/usr/bin/env python3
"""Whole sessions on stock Debian hosts, in emulated machines.

    tests/guest/sessions.py [HOST] [NAME...]

bookworm (Linux 6.1, Docker 20.10) and trixie (Linux 6.12, Docker 26), each
with its own systemd, cgroup v2, AppArmor and Docker; and bookworm-native and
trixie-native, the same without Docker, where an ordinary user runs what the
Debian packages of this tree install, built there (debs.sh). disk.sh makes the
disk, stock.sh is what the machine does. What runs there are live tests
(tests/live), against the same fake internet, and t_stock.py; those of BOOTS, or
those whose name contains NAME. Needs root, 8 GB of disk for each, and half an
hour without KVM. Skips with 77 where the machine cannot be had.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import actions
from actions import check
from machine import CACHE, ROOT, Machine, skip

# With what words of the kernel's command line, which tests.
USUAL = ["stock.is_what_debian_installs", "sessions.", "trace.", "control.",
         "network.name_", "network.cidr", "network.deny_wins", "network.udp",
         "http.methods_and", "tls.granted_names", "tls.fronting",
         "dns.refused", "attach.it_runs", "attach.a_terminal_is_joined",
         "escape."]
NATIVE = ["stock.", "native.", "escape.", "control.", "sessions.", "dns.refused",
          "network.name_", "network.cidr", "network.udp", "http.methods_and",
          "tls.granted_names", "view.nobody", "attach.it_runs"]
BOOTS = {
    "bookworm": [
        ([], USUAL),
        # As an administrator may have it: cgroup v1, no BPF LSM, locked down.
        (["systemd.unified_cgroup_hierarchy=0", "lockdown=integrity",
          "lsm=landlock,lockdown,yama,apparmor"],
         ["stock.old_cgroups", "sessions.doctor", "trace.each_action"]),
    ],
    "trixie": [([], USUAL)],
    "bookworm-native": [([], NATIVE)],
    "trixie-native": [([], NATIVE)],
}


class Host:
    def __init__(self, name):
        self.machine, self.at = Machine("amd64"), CACHE / name
        self.suite, _, kind = name.partition("-")
        self.kind = kind or "docker"
        self.does = "native:" if kind else "live:"

    def boot(self, guest, out, words, keep=False):
        """What it left in the folder out; with keep, also on its disk."""
        drive = "file=%s,format=raw,if=virtio,cache=unsafe" % (
            self.at / "disk")
        share = "local,mount_tag=%s,path=%s,security_model=none%s"
        console = self.machine.emulate(
            out, 7200, ["root=/dev/vda", "rw", "systemd.unit=stock.target",
                        "guest=" + guest, *words],
            "-m", "3072", "-kernel", self.at / "vmlinuz",
            "-initrd", self.at / "initrd",
            "-drive", drive + ("" if keep else ",snapshot=on"),
            "-virtfs", share % ("tree", ROOT, ",readonly=on,multidevs=remap"),
            "-virtfs", share % ("out", out, ""))
        said = out / "said"
        return said.read_text("utf-8", "replace") if said.exists() \
            else console[-2000:]

    def prepare(self, out):
        """A disk on which the live tests have been once."""
        image = "membrane-agent:" + os.environ.get("MEMBRANE_TAG", "latest")
        make = [[ROOT / "tests/guest/disk.sh", self.suite, self.kind, image]]
        if self.kind == "native":
            make.insert(0, [ROOT / "tests/guest/debs.sh", self.suite])
        for argv in make:
            if subprocess.run(argv, check=False).returncode:
                skip("there is no disk of %s" % self.at.name)
        if self.kind == "native":
            return
        stamp = self.at / "prepared"
        if stamp.exists():
            return
        print("== booting %s for the first time" % self.at.name, flush=True)
        said = self.boot("prepare", out, [], keep=True)
        if check(said.endswith("prepared\n"), "prepared", said):
            stamp.touch()

    def test(self, words, names):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            said = self.boot(self.does + ",".join(names), out, words)
        print("== %s %s\n%s" % (self.at.name, " ".join(words), said),
              flush=True)
        ended = re.findall(r"^(\d+) passed, (\d+) failed$", said, re.M)
        if check(ended, "the tests came to their end"):
            actions.counted[0] += int(ended[-1][0])
            actions.counted[1] += int(ended[-1][1])


def without_ipv6(host):
    """Its switches cannot be set: nothing runs, and that is said."""
    with tempfile.TemporaryDirectory() as folder:
        said = host.boot("run:run,--,true", pathlib.Path(folder),
                         ["ipv6.disable=1"])
    check("start it without 'ipv6.disable=1'" in said and
          said.endswith("status 125\n"), "no IPv6: refused", said)


def main():
    hosts, names = sys.argv[1:2] or BOOTS, sys.argv[2:]
    if os.geteuid():
        skip("it needs root")
    if not shutil.which(Machine("amd64").emulator):
        skip("qemu-system-x86 is not installed")
    for name in hosts:
        host = Host(name)
        with tempfile.TemporaryDirectory() as folder:
            host.prepare(pathlib.Path(folder))
        for words, usual in BOOTS[name][:1] if names else BOOTS[name]:
            host.test(words, names or usual)
        if name == "bookworm" and not names:
            without_ipv6(host)
    print("%d passed, %d failed" % actions.total())
    sys.exit(bool(actions.total()[1]))


main()
