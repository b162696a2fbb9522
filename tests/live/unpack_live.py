#!/usr/bin/env python3
"""Archives of images, those of tools and those of somebody who means harm.

membrane-unpack is given what Python's tarfile makes: layers over layers, and
names, links and digests that lead elsewhere. What it leaves is compared with
what an image's layers add up to by another way, a dictionary. As whoever runs
this, so as root with owners, too.
"""
import contextlib
import gzip
import hashlib
import io
import json
import os
import pathlib
import platform
import stat
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import gate  # noqa: E402
from gate import check  # noqa: E402

PROGRAM = pathlib.Path(os.environ.get(
    "UNPACK", HERE.parent.parent / "build" / "bin" / "membrane-unpack")).absolute()
OWN = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]


# --- archives ---------------------------------------------------------------

def entry(name, data=None, kind=None, link="", mode=0o644, **more):
    """One of a layer: a file unless kind says otherwise."""
    t = tarfile.TarInfo(name)
    t.type = kind or tarfile.REGTYPE
    t.mode, t.linkname, t.mtime = mode, link, 1000000000
    t.size = len(data or b"")
    for key, value in more.items():
        setattr(t, key, value)
    return t, data


def folder(name, mode=0o755):
    return entry(name, kind=tarfile.DIRTYPE, mode=mode)


def symlink(name, to):
    return entry(name, kind=tarfile.SYMTYPE, link=to)


def hardlink(name, to):
    return entry(name, kind=tarfile.LNKTYPE, link=to)


def tar(entries):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as t:
        for info, data in entries:
            t.addfile(info, io.BytesIO(data) if data is not None else None)
    return out.getvalue()


def config(os_="linux", machine=OWN, **what):
    return json.dumps({"os": os_, "architecture": machine, "config": {
        "Env": ["PATH=/opt/bin:/bin", "A=b=c"], **what}}).encode()


def docker(layers, about=None, **more):
    """As `docker save` writes it."""
    names = ["%d/layer.tar" % i for i in range(len(layers))]
    manifest = [{"Config": "c.json", "Layers": names, **more}]
    return tar([entry("c.json", about or config()),
                *(entry(n, x) for n, x in zip(names, layers)),
                entry("manifest.json", json.dumps(manifest).encode())])


def blob(data):
    digest = hashlib.sha256(data).hexdigest()
    return {"digest": "sha256:" + digest, "size": len(data)}, entry(
        "blobs/sha256/" + digest, data)


def oci(layers, about=None, nested=False, others=()):
    """An image layout, its layers compressed, the index before what it names."""
    about, made = blob(about or config())
    blobs, named = [made], []
    for data in layers:
        descriptor, made = blob(gzip.compress(data, mtime=0))
        named.append(descriptor)
        blobs.append(made)
    top, made = blob(json.dumps({"config": about, "layers": named}).encode())
    blobs.append(made)
    listed = [{**top, "platform": {"os": "linux", "architecture": OWN}},
              *others]
    if nested:
        top, made = blob(json.dumps({"manifests": listed}).encode())
        blobs.append(made)
        listed = [top]
    return tar([entry("index.json", json.dumps(
        {"manifests": listed}).encode()), entry("oci-layout", b"{}"), *blobs])


# --- what it makes of them -----------------------------------------------------

class Unpacked:
    def __init__(self, archive, digest=None):
        self.home = tempfile.TemporaryDirectory(prefix="unpack-")
        self.top = pathlib.Path(self.home.name)
        file = self.top / "image.tar"
        file.write_bytes(archive)
        (self.top / "outside").mkdir()
        (self.top / "outside/kept").write_text("kept")
        done = subprocess.run(
            [PROGRAM, file, digest or hashlib.sha256(archive).hexdigest(),
             self.top / "out"], capture_output=True, text=True, timeout=60,
            check=False)
        self.status, self.said = done.returncode, done.stderr.strip()
        self.root = self.top / "out/root"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.home.cleanup()

    def text(self, name):
        return (self.root / name).read_text()

    def listing(self):
        """{path: kind or content}, without what links lead to."""
        out = {}
        for p in sorted(self.root.rglob("*")):
            mode = p.lstat().st_mode
            name = str(p.relative_to(self.root))
            if stat.S_ISLNK(mode):
                out[name] = "-> " + os.readlink(p)
            elif stat.S_ISDIR(mode):
                out[name] = "/"
            elif stat.S_ISREG(mode):
                out[name] = p.read_text()
            else:
                out[name] = "other"
        return out

    def untouched(self):
        return sorted(os.listdir(self.top)) in (
            ["image.tar", "out", "outside"], ["image.tar", "outside"]) and \
            (self.top / "outside/kept").read_text() == "kept" and \
            os.listdir(self.top / "outside") == ["kept"]


BELOW = [folder("usr"), folder("usr/bin"), entry("usr/bin/sh", b"1", mode=0o755),
         symlink("bin", "usr/bin"), folder("etc"), entry("etc/old", b"old"),
         entry("etc/shared", b"below"), folder("var"), folder("var/cache"),
         entry("var/cache/a", b"a"), folder("var/cache/deep"),
         entry("var/cache/deep/b", b"b"), entry("gone", b"x")]
ABOVE = [entry("bin/tool", b"2", mode=0o755), entry("etc/.wh.old", b""),
         entry("etc/shared", b"above"), entry("var/cache/new", b"n"),
         entry("var/cache/.wh..wh..opq", b""), entry(".wh.gone", b""),
         entry("no/parent/was/there", b"y"), hardlink("usr/bin/sh2", "bin/sh")]
SUM = {"bin": "-> usr/bin", "etc": "/", "etc/shared": "above", "no": "/",
       "no/parent": "/", "no/parent/was": "/", "no/parent/was/there": "y",
       "usr": "/", "usr/bin": "/", "usr/bin/sh": "1", "usr/bin/sh2": "1",
       "usr/bin/tool": "2", "var": "/", "var/cache": "/",
       "var/cache/new": "n"}


def layers_add_up():
    layers = [tar(BELOW), tar(ABOVE)]
    for what, archive in (
            ("docker save", docker(layers)), ("an image layout", oci(layers)),
            ("a layout in an index", oci(layers, nested=True)),
            ("compressed as a whole", gzip.compress(docker(layers))),
            ("beside another processor's", oci(layers, others=[
                {"digest": "sha256:" + "0" * 64, "size": 1, "platform": {
                    "os": "linux", "architecture": "s390x"}}]))):
        with Unpacked(archive) as u:
            check(u.status == 0 and not u.said, what, u.status, u.said)
            if u.status:
                continue
            check(u.listing() == SUM, what + ": its files", u.listing())
            check((u.top / "out/env").read_bytes() ==
                  b"PATH=/opt/bin:/bin\0A=b=c\0", what + ": its environment")
            check(os.path.samefile(u.root / "usr/bin/sh",
                                   u.root / "usr/bin/sh2"), "one file")
            check((u.root / "usr/bin/sh").stat().st_mtime == 1000000000,
                  "its time")


def what_it_runs():
    """As the image says it; what it does not say is an empty list."""
    layer = [tar(BELOW)]
    for what, says, env, entrypoint, command in (
            ("both", {"Entrypoint": ["/e", "-x"], "Cmd": ["", "a b"]},
             b"PATH=/opt/bin:/bin\0A=b=c\0", b"/e\0-x\0", b"\0a b\0"),
            ("none", {"Entrypoint": None, "Env": None}, b"", b"", b""),
            ("what nothing here reads", {"User": "7", "WorkingDir": "/w",
             "Volumes": {"/v": {}}, "Env": [], "Cmd": ["x"]}, b"", b"",
             b"x\0")):
        with Unpacked(docker(layer, config(**says))) as u:
            check(u.status == 0 and [
                (u.top / "out" / name).read_bytes()
                for name in ("env", "entrypoint", "command")] == [
                    env, entrypoint, command], what, u.said)


def rights_are_less():
    layer = tar([
        entry("su", b"x", mode=0o4755), entry("sg", b"x", mode=0o2711),
        folder("tmp", 0o1777), folder("closed", 0o000),
        entry("closed/in", b"y", mode=0o000),
        entry("null", kind=tarfile.CHRTYPE, devmajor=1, devminor=3),
        entry("disk", kind=tarfile.BLKTYPE, devmajor=8, devminor=0),
        entry("pipe", kind=tarfile.FIFOTYPE, mode=0o600),
        entry("theirs", b"z", uid=7, gid=8)])
    with Unpacked(docker([layer])) as u:
        check(u.status == 0, "rights", u.said)
        modes = {n: stat.S_IMODE((u.root / n).lstat().st_mode)
                 for n in os.listdir(u.root)}
        check(modes == {"su": 0o755, "sg": 0o711, "tmp": 0o777,
                        "closed": 0o700, "pipe": 0o600, "theirs": 0o644},
              "no device, nothing set-user-ID, folders to be removed", modes)
        owner = (u.root / "theirs").stat()
        check((owner.st_uid, owner.st_gid) == (
            (7, 8) if os.geteuid() == 0 else (os.geteuid(), os.getegid())),
            "root keeps owners", owner.st_uid)


def links_stay_inside():
    """What they lead to on the machine is neither written nor linked."""
    for what, entries in (
            ("an absolute link to a folder",
             [symlink("a", "/outside"), entry("a/evil", b"x")]),
            ("one that goes up",
             [symlink("a", "../../outside"), entry("a/evil", b"x")]),
            ("a chain of them",
             [symlink("a", ".."), symlink("b", "a/../outside"),
              entry("b/evil", b"x")]),
            ("a file in the place of a link",
             [symlink("a", "/outside/kept"), entry("a", b"x")]),
            ("a whiteout through one",
             [symlink("a", "/outside"), entry("a/.wh.kept", b"")]),
            ("an opaque folder through one",
             [symlink("a", "../../outside"), entry("a/.wh..wh..opq", b"")]),
            ("a folder in the place of one",
             [symlink("a", "/outside"), folder("a"), entry("a/x", b"x")])):
        for form in (lambda e: [tar(e)], lambda e: [tar(e[:-1]), tar(e[-1:])]):
            with Unpacked(docker(form(entries))) as u:
                check(u.untouched(), what, u.said)


def refused():
    long = tar([entry("d/" * 2100 + "f", b"x")])
    for what, archive, says in (
            ("a name that leads out", docker([tar([entry("../evil", b"x")])]),
             "'../evil': its name leads out"),
            ("one in the middle", docker([tar([entry("a/../../e", b"x")])]),
             "its name leads out"),
            ("a hard link that leads out",
             docker([tar([hardlink("a", "../outside/kept")])]),
             "its link leads out"),
            ("a hard link to nothing",
             docker([tar([hardlink("a", "outside/kept")])]),
             "No such file or directory"),
            ("a hard link to itself",
             docker([tar([entry("a", b"x"), hardlink("a", "a")])]),
             "symbolic links"),
            ("a name that ends nowhere", docker([long]), "too long"),
            ("a layer that is cut", docker([tar(BELOW)[:1800]]), "runcated"),
            ("a layer that is none", docker([b"no tar" * 200]), "a layer: "),
            ("an archive that is cut", docker([tar(BELOW)])[:3000], ""),
            ("another system", docker([tar(BELOW)], config(os_="windows")),
             "it is for windows on %s, and this is linux on %s" % (OWN, OWN)),
            ("another processor", docker([tar(BELOW)], config(
                machine="riscv64")), "it is for linux on riscv64"),
            ("no layers", docker([]), "it has no layers"),
            ("a layer that is not there",
             tar([entry("c.json", config()), entry("manifest.json", json.dumps(
                 [{"Config": "c.json", "Layers": ["x"]}]).encode())]),
             "it has no 'x'"),
            ("a layer's name that leads out", tar([
                entry("c.json", config()), entry("manifest.json", json.dumps(
                    [{"Config": "c.json", "Layers": ["../x"]}]).encode())]),
             "makes no sense"),
            ("several images", tar([entry("manifest.json", b"[{},{}]")]),
             "several images"),
            ("no JSON", tar([entry("manifest.json", b"[")]), "is not JSON"),
            ("a digest that is a path", tar([entry("index.json", json.dumps(
                {"manifests": [{"digest": "sha256:../../etc/passwd"}]}
            ).encode())]), "not hold one image"),
            ("two for this processor", oci([tar(BELOW)], others=[
                {"digest": "sha256:" + "0" * 64, "platform": {
                    "os": "linux", "architecture": OWN}}]),
             "not hold one image"),
            ("an environment that makes no sense",
             docker([tar(BELOW)], config(Env=["=x"])), "its 'Env' makes no"),
            ("an entry point that is no list",
             docker([tar(BELOW)], config(Entrypoint="/bin/sh")),
             "its 'Entrypoint' makes no sense"),
            ("a command that is no words",
             docker([tar(BELOW)], config(Cmd=["a", 7])),
             "its 'Cmd' makes no sense"),
            ("neither form", tar([entry("x", b"x")]),
             "neither manifest.json nor index.json"),
            ("a layer that leads to itself", tar([
                entry("c.json", config()), symlink("a", "a"),
                entry("manifest.json", json.dumps(
                    [{"Config": "c.json", "Layers": ["a"]}]).encode())]),
             "'a' is a link"),
            ("no tar file", b"x" * 4000, ""), ("nothing", b"", "")):
        with Unpacked(archive) as u:
            check(u.status == 1 and says in u.said and "\n" not in u.said,
                  what, u.status, u.said)
            check(u.said.startswith(str(u.top / "image.tar") + ": "),
                  what + ": names the file", u.said)
            check(u.untouched(), what + ": nothing elsewhere")


def a_layer_twice():
    """As old Dockers write it: a link to the other."""
    archive = tar([
        entry("c.json", config()), entry("1/layer.tar", tar(BELOW)),
        symlink("2/layer.tar", "../1/layer.tar"),
        entry("manifest.json", json.dumps([{"Config": "c.json", "Layers": [
            "1/layer.tar", "2/layer.tar"]}]).encode())])
    with Unpacked(archive) as u:
        check(u.status == 0 and u.text("etc/old") == "old", "twice", u.said)


def another_file():
    with Unpacked(docker([tar(BELOW)]), "0" * 64) as u:
        check(u.status == 1 and "its SHA-256 is " in u.said and
              not (u.top / "out").exists(), "it is not even read", u.said)
    with tempfile.TemporaryDirectory() as top:
        for what, path in (("a folder", top), ("nothing", top + "/none"),
                           ("a device", "/dev/null")):
            done = subprocess.run([PROGRAM, path, "0" * 64, top + "/out"],
                                  capture_output=True, timeout=60, check=False)
            check(done.returncode == 1 and done.stderr.count(b"\n") == 1,
                  what, done)


def names_are_bytes():
    odd = ["\u00e4", "a b", "a\nb", "-x", "\\", "'"]
    with Unpacked(docker([tar([entry(n, b"x") for n in odd])])) as u:
        check(sorted(u.listing()) == sorted(odd), "odd names", u.said,
              u.status == 0 and u.listing())
    with Unpacked(docker([tar([hardlink("a\x1b[2J", "../x")])])) as u:
        check("\x1b" not in u.said and "an entry" in u.said,
              "none of them gets to a terminal", u.said)


def main():
    if not PROGRAM.exists():
        sys.exit("no %s: make" % PROGRAM)
    with contextlib.suppress(KeyboardInterrupt):
        for test in (layers_add_up, what_it_runs, rights_are_less, links_stay_inside, refused,
                     a_layer_twice, another_file, names_are_bytes):
            test()
    return gate.end()


if __name__ == "__main__":
    sys.exit(main())
