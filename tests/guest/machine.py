"""An emulated machine with one of Debian's own kernels: no disk, no network, an
initramfs, a console and a second serial line for what comes out of it."""
import io
import lzma
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

from actions import check

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CACHE = ROOT / "build/guest"
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
SHIFT = 1   # an instruction takes 2^SHIFT ns on a clock that counts them
THIS = {v: k for k, v in MACHINES.items()}.get(os.uname().machine)


def skip(why):
    print(why)
    sys.exit(77)


class Machine:
    """Of one architecture, as Debian calls it. Programs of another one than
    this machine's, and what Debian has for it, are those of `make ARCH=...`:
    below build/ARCH, see image/sysroot.sh."""

    def __init__(self, arch):
        self.arch, self.own = arch, arch == THIS
        self.machine = MACHINES[arch]
        self.build = ROOT / ("build" if self.own else "build/" + arch)
        self.emulator, self.package, self.seconds = {
            "amd64": ("qemu-system-x86_64", "qemu-system-x86", 600),
            "arm64": ("qemu-system-aarch64", "qemu-system-arm", 900)}[arch]
        # This board has one line of its own; the other is a PCI device.
        self.console, self.out = {"amd64": ("ttyS0", "ttyS1"),
                                  "arm64": ("ttyAMA0", "ttyS0")}[arch]

    def cc(self):
        if self.own:
            return ["gcc"]
        return ["aarch64-linux-gnu-gcc", "--sysroot=%s" % (
            self.build / "root")]

    def cc32(self):
        """What builds an agent of 32 bits, where that is a program."""
        cc = "arm-linux-gnueabihf-gcc"
        return [cc] if self.arch == "arm64" and shutil.which(cc) else None

    def busybox(self):
        path = shutil.which("busybox") if self.own else (
            self.build / "root/bin/busybox")
        return pathlib.Path(path) if path and os.path.exists(path) else None

    def has_kvm(self):
        """Not where the processor has no virtualisation, whatever /dev
        says."""
        flags = pathlib.Path("/proc/cpuinfo").read_text().split()
        return (self.own and os.access("/dev/kvm", os.R_OK | os.W_OK) and
                (self.arch != "amd64" or "vmx" in flags or "svm" in flags))

    def processor(self, counted):
        """With counted, its clock is how many instructions it has done."""
        if counted:
            return ["-accel", "tcg,thread=single", "-cpu", "max",
                    "-icount", "shift=%d,sleep=off" % SHIFT]
        if self.has_kvm():
            return ["-accel", "kvm", "-cpu", "host"]
        # Pointers are signed by a hash that takes most of the time otherwise.
        return ["-accel", "tcg,thread=multi", "-cpu",
                "max,pauth-impdef=on" if self.arch == "arm64" else "max"]

    def emulate(self, folder, seconds, words, *more, counted=False):
        """What the console said until the machine went off."""
        # On a busy host an emulated timer's test fails for nothing.
        board, own = [], ["no_timer_check"]
        if self.arch == "arm64":
            board, own = ["-machine", "virt,gic-version=max"], []
        argv = [self.emulator, *board, *self.processor(counted),
                "-smp", "1" if counted else "2", "-nodefaults", "-display",
                "none", "-no-reboot", "-nic", "none",
                "-serial", "file:%s" % (folder / "console"), *more,
                "-append", " ".join(["console=" + self.console, "quiet",
                                     "panic=-1", *own, *words])]
        try:
            subprocess.run(argv, check=True, timeout=seconds,
                           stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            check(False, "the guest ended in %d s" % seconds)
        return (folder / "console").read_text("utf-8", "replace")

    def boot(self, image, folder, *words, counted=False):
        """An initramfs of one's own, and nothing else: what it left, by name,
        and what the console said."""
        (folder / "out").write_bytes(b"")
        serial = ["-serial", "file:%s" % (folder / "out")]
        if self.arch == "arm64":
            serial = ["-chardev", "file,id=out,path=%s" % (folder / "out"),
                      "-device", "pci-serial,chardev=out"]
        console = self.emulate(
            folder, 1800 if counted else self.seconds,
            ["out=" + self.out, *words], "-m", "1024",
            *serial, "-kernel", image, "-initrd", folder / "initramfs",
            counted=counted)
        try:
            with tarfile.open(folder / "out") as tar:
                return {m.name.removeprefix("./"): tar.extractfile(m).read()
                        for m in tar if m.isfile()}, console
        except tarfile.ReadError:
            return {}, console

    def initramfs(self, overlay, programs, plans):
        """Of init, the tracer, programs, and plans by name."""
        c = Cpio()
        for name in ("bin", "dev", "proc", "sys", "tmp", "out", *plans):
            c.folder(name)
        c.add("dev/console", 0o20600, device=(5, 1))
        c.file("bin/busybox", self.busybox())
        c.add("bin/sh", 0o120777, b"busybox")
        c.file("init", ROOT / "tests/guest/init")
        c.file("overlay.ko", overlay)
        for program in (*programs, self.build / "bin/membrane-watch"):
            c.file(program.name, program)
        for name, text in plans.items():
            c.add(name + "/trace.json", 0o100644, text.encode())
        return c.done()

    def apt(self, *argv):
        env = dict(os.environ, LC_ALL="C")
        if not self.own:
            env["APT_CONFIG"] = str(self.build / "apt/apt.conf")
        return subprocess.run(argv, text=True, capture_output=True,
                              check=False, env=env, cwd=CACHE)

    def kernel(self, suite=""):
        """(image, overlay.ko) of Debian's current kernel, without installing
        it: that would make it this machine's next one."""
        CACHE.mkdir(parents=True, exist_ok=True)
        wanted = "linux-image-%s%s" % (self.arch, suite)
        said = self.apt("apt-cache", "depends", wanted).stdout
        names = [line.split()[-1] for line in said.splitlines()
                 if "Depends: linux-image-" in line]
        if not names:
            skip("apt knows no %s here" % wanted)
        release = names[0].removeprefix("linux-image-")
        files = (CACHE / ("boot/vmlinuz-" + release), CACHE / (
            "lib/modules/%s/kernel/fs/overlayfs/overlay.ko" % release))
        if not all(f.exists() for f in files):
            self.fetch(names[0], files)
        return files

    def fetch(self, name, files):
        """Files of a package; modules may be compressed in it."""
        got = self.apt("apt-get", "-q", "download", name)
        debs = sorted(CACHE.glob(name + "_*.deb"))
        if got.returncode or not debs:
            skip("%s cannot be had: %s" % (name, got.stderr.strip()[-200:]))
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", debs[-1]],
                              stdout=subprocess.PIPE) as p, \
                tarfile.open(fileobj=p.stdout, mode="r|") as tar:
            for member in tar:
                path = CACHE / member.name.removesuffix(".xz")
                if path not in files:
                    continue
                data = tar.extractfile(member).read()
                if member.name.endswith(".xz"):
                    data = lzma.decompress(data)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        for deb in debs:
            deb.unlink()


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
