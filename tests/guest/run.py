#!/usr/bin/env python3
"""Each back end of the tracer on Debian's own kernels, in an emulated machine;
and what of ours runs in a session, by the same processor.

    tests/guest/run.py [ARCH [TEST...]]   amd64 or arm64; default: as this
                                          machine, and all of TESTS

The machine (machine.py) holds membrane-watch, an agent whose every action is
known (*.c), and init, which runs both once for each back end. What they
left is judged here, by the table of tests/guest/actions.py. Skips with 77 where
Debian's kernel or the emulator cannot be had.
"""
import gzip
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent /
                    "random"))
import account  # noqa: E402
import actions  # noqa: E402
import compare  # noqa: E402
import history  # noqa: E402
import world  # noqa: E402
from actions import check  # noqa: E402
from machine import ROOT, THIS, Machine, skip  # noqa: E402

BACK_ENDS = ("fexit", "lsm", "sys_exit")
# Of the agent that acts by chance; another one: SEED=7 tests/guest/run.py
SEEDS = {b: int(os.environ.get("SEED", n + 1))
         for n, b in enumerate(BACK_ENDS)}


def initramfs(machine, overlay, folder):
    named = dict(actions.PLAN, events=[{"name": "cap_capable", "filters": []}])
    return machine.initramfs(
        overlay, sorted((*folder.glob("agent*"), folder / "random",
                         *folder.glob("inside/*"))),
        {"plan": json.dumps(actions.PLAN), "named": json.dumps(named)})


def frames(data):
    """The lines of a trace: runtime/watch/pack.h."""
    at = 0
    while at + 4 <= len(data):
        size = struct.unpack_from("<I", data, at)[0]
        for line in gzip.decompress(data[at + 4:at + 4 + size]).splitlines():
            yield json.loads(line)
        at += 4 + size


def judge(machine, back_end, used, out):
    said = out.get(back_end + ".said", b"").decode()
    if not check('"ready"' in said, back_end + ": it is ready", said):
        return
    found = list(frames(out[back_end + ".trace"]))
    check(out.get(back_end + ".status") == b"0\n", back_end + ": the agent",
          out.get(back_end + ".status"))
    actions.judge(used, "/tmp/%s/at/w" % back_end, "/sealed/secret", found,
                  capable=used == "fexit", machine=machine.machine)
    check(not machine.cc32() or any(
        e.get("contextFlags", {}).get("isCompat") for e in found),
          back_end + ": a 32-bit program")


def run(machine, image, folder, *words):
    """What the guest left, by name; nothing when that was no tar file."""
    out, console = machine.boot(image, folder, "syscall.x32=y", *words)
    if keep := os.environ.get("KEEP"):
        pathlib.Path(keep).mkdir(exist_ok=True)
        for path, data in out.items():
            (pathlib.Path(keep) / path).write_bytes(data)
    check(out, "the guest said something", console[-2000:])
    return out


def judge_chance(back_end, seed, out):
    """The agent that acts by chance: tests/random."""
    what = "%s, seed %d" % (back_end, seed)
    if not check(out.get("random-%s.status" % back_end) == b"0\n",
                 what + ": it ends well",
                 out.get("random-%s.said" % back_end)):
        return
    first, *lines, last = frames(out["random-%s.trace" % back_end])
    check(actions.args(last)["lost"] == 0, what + ": the last line", last)
    records = account.read(gzip.decompress(
        out["random-%s.account" % back_end]))
    problems = compare.Comparison(
        history.History(records, back_end), lines,
        capable="cap_capable" not in actions.args(first)["missing"]).run()
    check(not problems, what, "\n".join(problems[:8]))


def named(out):
    said = out.get("named.said", b"").decode()
    check("this kernel cannot give 'cap_capable'" in said,
          "an event that is named and missing", said)


def all_back_ends(machine, image, folder):
    out = run(machine, image, folder,
              "back_ends=" + ",".join((*BACK_ENDS, "chosen")),
              "seeds=" + ",".join("%s:%d" % pair for pair in SEEDS.items()))
    for back_end in BACK_ENDS:
        judge(machine, back_end, back_end, out)
    judge(machine, "chosen", "fexit", out)
    named(out)
    for back_end, seed in SEEDS.items():
        judge_chance(back_end, seed, out)


def without_bpf_lsm(machine, image, folder):
    """Its programs load and attach all the same, and are never called."""
    out = run(machine, image, folder, "lsm=landlock,yama",
              "back_ends=lsm,chosen")
    said = out.get("lsm.said", b"").decode()
    check("the hooks are attached, and are not called" in said,
          "an LSM that is not active is not taken", said)
    judge(machine, "chosen", "fexit", out)


def no_trampolines(machine, image, folder):
    """Programs load at functions, and cannot be attached to them."""
    out = run(machine, image, folder, "back_ends=fexit,lsm,chosen")
    for back_end in ("fexit", "lsm"):
        said = out.get(back_end + ".said", b"").decode()
        check("the kernel takes no program" in said,
              back_end + ": not taken", said)
    judge(machine, "chosen", "sys_exit", out)
    named(out)


LOADERS = {"amd64": "ld-linux-x86-64.so.2", "arm64": "ld-linux-aarch64.so.1"}


def build_inside(machine, folder):
    """The init and the seal as sessions have them; what tries them, static,
    and once more as a program that loads libraries; two units of the view."""
    folder.mkdir()
    cc = [*machine.cc(), "-O2", "-D_GNU_SOURCE", "-std=gnu17", "-I."]

    def compile_it(name, *words):
        subprocess.run([*cc, "-o", folder / name, *words], check=True,
                       cwd=ROOT)
    compile_it("inside", "-static", "tests/guest/inside/inside.c")
    compile_it("inside.dynamic", "tests/guest/inside/inside.c",
               "-Wl,--dynamic-linker=/" + LOADERS[machine.arch],
               "-Wl,-rpath,/")
    base = [p.relative_to(ROOT) for p in (
        *ROOT.glob("compiler/base/sys/*.c"), ROOT / "runtime/view/rights.c",
        *ROOT.glob("runtime/view/who/*.c"),
        *(ROOT / "compiler/base" / (n + ".c")
          for n in ("arena", "buf", "err", "str")))]
    for unit in ("sealing", "who"):
        compile_it(unit, "-static", "tests/unit/view/%s.c" % unit, *base)
    for name in (LOADERS[machine.arch], "libc.so.6"):
        where = subprocess.run([*cc, "-print-file-name=" + name], check=True,
                               text=True, capture_output=True).stdout.strip()
        shutil.copy(where, folder / name)
    for name in ("membrane-init", "membrane-seal.so"):
        shutil.copy(machine.build / "obj/runtime/inside" / name, folder)


def inside(machine, image, folder):
    """The init, the seal, and how the view closes what loads nothing."""
    out = run(machine, image, folder, "inside=1")
    for one in ("inside", "sealing", "who"):
        said = out.get(one + ".said", b"").decode("utf-8", "replace")
        check(out.get(one + ".status") == b"0\n", one, said)
    said = out.get("inside.said", b"").decode("utf-8", "replace")
    check(said.count("ok: ") >= 14 and "FAIL" not in said,
          "the init and the seal", said)


# Which of Debian's kernels (from backports or not), and what is seen there. On
# arm64 functions can be traced, and the BPF LSM be used, from Linux 6.4 on.
TESTS = {
    "amd64": [("", [all_back_ends, without_bpf_lsm, inside])],
    "arm64": [("", [no_trampolines, inside]),
              ("/bookworm-backports", [all_back_ends, without_bpf_lsm])],
}


def main():
    arch = sys.argv[1] if len(sys.argv) > 1 else THIS
    if arch not in TESTS:
        skip("no emulated machine is an %s" % os.uname().machine)
    machine = Machine(arch)
    if not shutil.which(machine.emulator):
        skip("%s is not installed" % machine.package)
    if not machine.busybox():
        skip("busybox-static is not installed")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        actions.build(folder / "agent", machine.cc())
        world.build(folder / "random", machine.cc())
        if machine.cc32():
            actions.build(folder / "agent32", machine.cc32())
        build_inside(machine, folder / "inside")
        for suite, tests in TESTS[arch]:
            tests = [t for t in tests if t.__name__ in sys.argv[2:] or
                     not sys.argv[2:]]
            if not tests:
                continue
            image, overlay = machine.kernel(suite)
            (folder / "initramfs").write_bytes(
                initramfs(machine, overlay, folder))
            for test in tests:
                test(machine, image, folder)
    print("%d passed, %d failed" % actions.total())
    sys.exit(bool(actions.total()[1]))


main()
