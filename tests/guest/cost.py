#!/usr/bin/env python3
"""What tracing costs a program that reads files, in instructions.

    tests/guest/cost.py [ARCH]

On Debian's kernel (machine.py), with a clock that counts the instructions of
one processor: the figures are the same each time, whatever this machine does,
and those of kernel, program and tracer together. By plan (the default policy's
and `full`) and back end, for each file that cost/walk.c lists, opens, reads and
closes. Skips with 77 where the machine cannot be had.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from machine import ROOT, SHIFT, THIS, Machine, skip

FILES = 2 * 2000
ROUNDS = ("1", "2")
PLANS = {"default": "", "full": "trace: {engine: native, events: [full]}\n"}


def trace_json(folder, policy):
    (folder / ".membrane.yaml").write_text(policy)
    return subprocess.run(
        [ROOT / "build/bin/membrane", "plan", "--no-global-config",
         "--workspace", folder, "--emit", "trace"], check=True, text=True,
        capture_output=True).stdout


def measure(machine, folder):
    image, overlay = machine.kernel()
    subprocess.run([*machine.cc(), "-O2", "-static", "-o", folder / "walk",
                    ROOT / "tests/guest/cost/walk.c"], check=True)
    plans = {name: trace_json(folder, p) for name, p in PLANS.items()}
    (folder / "initramfs").write_bytes(machine.initramfs(
        overlay, [folder / "walk"], {**plans, "named": plans["default"]}))
    out, console = machine.boot(image, folder, "cost=" + ",".join(PLANS),
                                counted=True)
    if not out:
        sys.exit(console[-2000:])
    return out


def of(out, plan, back_end):
    """Instructions for each file; None: it does not run there."""
    found = [int(out[name]) for name in
             ("%s.%s.%s" % (plan, back_end, n) for n in ROUNDS) if name in out]
    return min(found) / 2 ** SHIFT / FILES if found else None


def main():
    machine = Machine(sys.argv[1] if len(sys.argv) > 1 else THIS)
    if not shutil.which(machine.emulator) or not machine.busybox():
        skip("%s or busybox-static is not installed" % machine.package)
    os.environ.setdefault("MEMBRANE_POLICIES", str(ROOT / "policies"))
    with tempfile.TemporaryDirectory() as name:
        out = measure(machine, pathlib.Path(name))
    for plan in PLANS:
        off = of(out, plan, "off")
        print("%-8s off       %6.0f a file" % (plan, off))
        for back_end in ("fexit", "lsm", "sys_exit"):
            cost = of(out, plan, back_end)
            if cost:
                print("%-8s %-9s %+6.0f   x %.3f" % (
                    plan, back_end, cost - off, cost / off))


main()
