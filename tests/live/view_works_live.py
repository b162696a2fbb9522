#!/usr/bin/env python3
"""What works inside a view: calls that few file systems have, file systems that
few workspaces lie on, and programs that save in their own way while the host
does the same. In mount namespaces of its own; needs root, else 77.
"""
import contextlib
import ctypes
import errno
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import gate  # noqa: E402
from gate import check, end  # noqa: E402
from view import (BIND, DETACH, NEWNS, PRIVATE, REC, VIEW, View,  # noqa: E402
                  libc, mount, unshare)

RULES = """\
ignore .env
ignore *.pem
ignore vault/
readonly *.kept
readonly /fixed/
"""
SECRETS = (".env", "key.pem", "vault/x")
FOLLOW, BASIC, BIRTH = 0x400, 0x7ff, 0x800
NEWUSER = 0x10000000
skipped = []


def skip(what, why):
    skipped.append("%s: %s" % (what, why))


def code(fn, *args, **named):
    """The errno of a call, or 0."""
    try:
        fn(*args, **named)
    except OSError as e:
        return e.errno
    return 0


def fill(s):
    (s / "vault").mkdir()
    for name in SECRETS:
        (s / name).write_text("SECRET\n")
    (s / "a.kept").write_text("kept\n")
    (s / "fixed").mkdir()
    (s / "plain").write_text("plain\n")


def give(top, owner):
    for path, folders, files in os.walk(top):
        for name in [".", *folders, *files]:
            os.lchown(os.path.join(path, name), *owner)


@contextlib.contextmanager
def started(owner=(0, 0), prepare=None, rules=RULES):
    """A view of what fill() makes; prepare may put a file system below it."""
    with View(rules, owner) as v, contextlib.ExitStack() as stack:
        if prepare:
            stack.enter_context(prepare(v))
        fill(v.source)
        with contextlib.suppress(OSError):   # FAT has no owners
            give(v.source, owner)
        v.start()
        yield v
        status, said = v.stop()
        check(status == 0 and not said, "a good end", status, said)
        check(not v.mounted(), "no mount is left")


def holds(v, when):
    """Nothing of what is hidden is read, and what is kept stays."""
    for name in SECRETS:
        with contextlib.suppress(FileNotFoundError):
            check((v.at / name).read_bytes() == b"", "hidden " + when, name)
        check((v.source / name).read_text().startswith("SECRET"),
              "the host has it " + when, name)
    check((v.source / "a.kept").read_text() == "kept\n", "kept " + when)


# --- calls --------------------------------------------------------------------

def unnamed(folder, flags=os.O_RDWR):
    return os.open(folder, os.O_TMPFILE | flags, 0o640)


def name_it(fd, path):
    if libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, os.fsencode(path),
                   FOLLOW):
        raise OSError(ctypes.get_errno(), path)


def check_unnamed(v):
    """O_TMPFILE, and linkat(2) of it."""
    before = sorted(os.listdir(v.source))
    fd = unnamed(v.at)
    check(os.write(fd, b"late\n") == 5 and os.fstat(fd).st_nlink == 0 and
          os.fstat(fd).st_size == 5 and os.pread(fd, 9, 0) == b"late\n" and
          stat.S_IMODE(os.fstat(fd).st_mode) == 0o640, "it is a file")
    os.ftruncate(fd, 4)
    os.fchmod(fd, 0o600)
    check(sorted(os.listdir(v.source)) == before, "that nobody sees")
    for name in ("new.pem", "vault/y", "new.kept", "fixed/y"):
        check(code(name_it, fd, v.at / name) == errno.EROFS,
              "no such name can be given", name)
    check(code(name_it, fd, v.at / ".env") == errno.EEXIST, "nor one again")
    name_it(fd, v.at / "late")
    check((v.source / "late").read_bytes() == b"late" and
          stat.S_IMODE(os.stat(v.source / "late").st_mode) == 0o600 and
          os.stat(v.at / "late").st_nlink == 1, "a name, and it is there")
    os.pwrite(fd, b" more", 4)
    check((v.at / "late").read_bytes() == b"late more", "and still the file")
    check(code(name_it, fd, v.at / "late") == errno.EEXIST, "over another")
    os.close(fd)
    check((v.at / "late").read_bytes() == b"late more", "closed")
    fd = unnamed(v.at, os.O_RDWR | os.O_EXCL)
    check(code(name_it, fd, v.at / "never") == errno.ENOENT,
          "O_EXCL: one that gets no name")
    os.close(fd)
    for folder in ("fixed", "vault"):
        check(code(unnamed, v.at / folder) == errno.EROFS, "none in", folder)
    check(sorted(os.listdir(v.source)) == sorted(before + ["late"]), "no more")


def statx(path):
    """(mask, seconds, nanoseconds of birth) as the kernel gives them."""
    out = ctypes.create_string_buffer(256)
    if libc.statx(-100, os.fsencode(path), 0x100, BASIC | BIRTH, out):
        raise OSError(ctypes.get_errno(), path)
    return (int.from_bytes(out[0:4], "little"),
            int.from_bytes(out[80:88], "little"),
            int.from_bytes(out[88:92], "little"))


def check_birth(v):
    """statx(2): as the host's, where the agent's kernel asks; never another."""
    (v.at / "born").write_text("x" * 1000)
    for name in ("plain", "born", "fixed", "."):
        inside, outside = statx(v.at / name), statx(v.source / name)
        if inside[0] & outside[0] & BIRTH:
            check(inside[1:] == outside[1:], "born", name, inside, outside)
        else:
            skip("time of birth", "not asked for, or not known")
    check(not statx(v.at / ".env")[0] & BIRTH, "when what is hidden was born")
    st = os.stat(v.at / "born")
    check(statx(v.at / "born")[0] & BASIC == BASIC and st.st_size == 1000 and
          st.st_ino == os.stat(v.source / "born").st_ino, "and all the rest")
    check(code(statx, v.at / "nothing") == errno.ENOENT, "of nothing")
    (v.source / "born").write_text("x")
    fd = os.open(v.at / "born", os.O_RDONLY)
    check(os.fstat(fd).st_size == 1, "of an open file")
    os.close(fd)


def check_large(v):
    """Files over 4 GB, by every call that has a place in one."""
    at, far = v.at / "large", (6 << 30) + 12345
    with open(at, "wb") as f:
        f.seek(far)
        f.write(b"end")
    check(os.stat(at).st_size == far + 3 ==
          os.stat(v.source / "large").st_size, "its size")
    with open(at, "r+b") as f:
        f.seek(-3, os.SEEK_END)
        check(f.read() == b"end", "read from the end")
        check(os.pread(f.fileno(), 5, far - 2) == b"\0\0end", "over a hole")
        os.ftruncate(f.fileno(), (5 << 30) + 1)
        f.seek(0, os.SEEK_END)
        check(f.tell() == (5 << 30) + 1, "cut")
    with open(v.source / "large", "r+b") as f:
        f.seek(far)
        f.write(b"host")
    with open(at, "rb") as f:
        check(os.pread(f.fileno(), 9, far) == b"host", "the host's bytes")
    os.unlink(at)


# --- file systems ---------------------------------------------------------------

@contextlib.contextmanager
def image(v, make, kind, options=None):
    """One in a file, over the workspace."""
    path = v.top / "image"
    with open(path, "wb") as f:
        f.truncate(64 << 20)
    mount_it = ["mount", "-t", kind, "-o",
                ",".join(filter(None, ("loop", options)))]
    if shutil.which(kind):   # a program's
        mount_it = [kind, "-o", options]
    for argv in (make + [path], [*mount_it, path, v.source]):
        done = subprocess.run(argv, capture_output=True, text=True,
                              check=False)
        if done.returncode:
            raise Unable(done.stderr.strip().splitlines()[0])
    try:
        yield
    finally:
        libc.umount2(os.fsencode(v.source), DETACH)


class Unable(Exception):
    """The host has no such file system."""


def on(what, make, kind, options=None, chattr=(), owner=(0, 0)):
    """The checks of a workspace that does not tell A from a; or skip."""
    @contextlib.contextmanager
    def prepare(v):
        if not shutil.which(make[0], path=os.environ["PATH"] + ":/sbin"):
            raise Unable("there is no %s" % make[0])
        with image(v, make, kind, options):
            lost = v.source / "lost+found"
            if lost.exists():
                lost.rmdir()
            if chattr:
                subprocess.run(["chattr", *chattr, v.source], check=True)
            yield
    try:
        with started(owner, prepare) as v:
            check_folded(v)
            holds(v, "on " + what)
    except Unable as e:
        skip(what, e)


def check_folded(v):
    """All that is one name to the workspace is one to the policy."""
    for name in (".ENV", "Key.PEM", "VAULT/x", ".eNv"):
        check(code(os.stat, v.at / name) != 0 or
              (v.at / name).read_bytes() == b"", "hidden as", name)
        check(code(os.open, v.at / name, os.O_WRONLY | os.O_CREAT) ==
              errno.EROFS, "nor made as", name)
    check((v.at / "PLAIN").read_text() == "plain\n", "the same file")
    check(code((v.at / "A.KEPT").write_text, "no") == errno.EROFS, "kept")
    (v.at / "Made").write_text("made\n")
    check((v.source / "made").read_text() == "made\n", "made")
    os.rename(v.at / "Made", v.at / "MOVED")
    (v.at / "moved").unlink()
    check(not (v.source / "moved").exists(), "removed")


def check_others_groups():
    """A user namespace that knows two users, and files of another group: they
    can be written to by whoever owns them."""
    user, group = (1000, 1000), 4242
    with View(RULES, user) as v:
        fill(v.source)
        give(v.source, user)
        for name in ("plain", "fixed"):
            os.chown(v.source / name, user[0], group)
        os.chmod(v.source / "plain", 0o660)
        child = os.fork()
        if child == 0:
            enter_few_ids()
            write_to_others(v, user, group)
            sys.stdout.flush()
            os._exit(1 if gate.failed else 0)
        check(os.waitpid(child, 0)[1] == 0, "in a namespace of few ids")


def enter_few_ids():
    ready, go = os.pipe(), os.pipe()
    mapper = os.fork()
    if mapper == 0:
        os.read(ready[0], 1)
        for name in ("uid_map", "gid_map"):
            pathlib.Path("/proc/%d/%s" % (os.getppid(), name)).write_text(
                "0 0 1\n1000 1000 1\n")
        os.write(go[1], b"x")
        os._exit(0)
    if libc.unshare(NEWUSER | NEWNS):
        raise OSError(ctypes.get_errno(), "unshare")
    os.write(ready[1], b"x")
    os.read(go[0], 1)
    os.waitpid(mapper, 0)
    mount("none", "/", None, REC | PRIVATE)


def write_to_others(v, user, group):
    v.start()
    st = os.stat(v.at / "plain")
    check((st.st_uid, st.st_gid) == user, "as the owner's", st)
    done = subprocess.run(
        ["sh", "-c", "echo more >>plain && cat plain && cat .env"],
        cwd=v.at, user=user[0], group=user[1], extra_groups=[],
        capture_output=True, text=True, check=False)
    check(done.stdout == "plain\nmore\n", "written to", done)
    check(code(os.chown, v.at / "plain", 1000, group) != 0,
          "and given to nobody else")
    status, said = v.stop()
    check(status == 0 and not said, "a good end", status, said)


def check_unmounted(v):
    """What was mounted below the workspace goes on the host."""
    over, at = v.top / "over", v.source / "below"
    check((v.at / "below/f").read_text() == "over\n" and
          (v.at / "below/.env").read_bytes() == b"", "mounted")
    held = os.open(v.at / "below/f", os.O_RDONLY)
    libc.umount2(os.fsencode(at), DETACH)
    for _ in range(200):
        if (v.at / "below/f").read_text() == "under\n":
            break
        time_passes()
    check((v.at / "below/f").read_text() == "under\n", "what was below it")
    check((v.at / "below/.env").read_bytes() == b"" and
          (at / ".env").read_text() == "SECRET under\n", "and hidden there")
    check(os.pread(held, 9, 0) == b"over\n", "what is open stays")
    os.close(held)
    check(code((v.at / "below/new").write_text, "x") == 0 and
          (at / "new").exists() and not (over / "new").exists(),
          "made where it is now")


def time_passes():
    """What the host does is seen within a second; nothing tells of a mount."""
    threading.Event().wait(0.05)


# --- programs -------------------------------------------------------------------

def run(where, *argv, status=0):
    done = subprocess.run(argv, cwd=where, capture_output=True, text=True,
                          timeout=60, stdin=subprocess.DEVNULL, check=False,
                          env={"PATH": os.environ["PATH"], "HOME": "/nowhere",
                               "TERM": "dumb", "LC_ALL": "C.UTF-8"})
    if status is not None:
        check(done.returncode == status, " ".join(map(str, argv)),
              done.returncode, done.stdout[-300:], done.stderr[-300:])
    return done


def vim(where, name, copy, text):
    """Saves in the way that copy names; what it does beside is its own."""
    return run(where, "vim", "-Nu", "NONE", "-i", "NONE", "-es", "-c",
               "set backup writebackup backupskip= backupcopy=" + copy, "-c",
               "call setline(1, '%s')" % text, "-c", "wq!", name, status=None)


def check_vim(v):
    if not shutil.which("vim"):
        skip("vim", "not there")
        return
    for copy in ("yes", "no", "auto", "breaksymlink", "breakhardlink"):
        (v.source / "text").write_text("old\n")
        os.chmod(v.source / "text", 0o751)
        before = os.stat(v.source / "text").st_ino
        # What the host does is seen soon, and vim asks about a file that
        # changes while it reads.
        check(gate.soon(lambda: os.stat(v.at / "text").st_size == 4),
              "the host's, seen", copy)
        vim(v.at, "text", copy, "new " + copy)
        st = os.stat(v.source / "text")
        check((v.source / "text").read_text() == "new %s\n" % copy and
              stat.S_IMODE(st.st_mode) == 0o751, "saved", copy)
        check(copy not in ("yes", "no") or
              (st.st_ino == before) == (copy == "yes"), "its own way", copy)
        check((v.source / "text~").read_text() == "old\n", "backed up", copy)
        vim(v.at, "a.kept", copy, "changed")
        for name in (".env", "new.pem"):
            vim(v.at, name, copy, "changed")
        check(not (v.source / "new.pem").exists(), "not made", copy)
        holds(v, "from vim inside")
        vim(v.source, ".env", copy, "SECRET " + copy)
        check((v.at / ".env").read_bytes() == b"", "saved by the host", copy)
        (v.source / "text~").unlink()


def check_sed(v):
    run(v.at, "sed", "-i.bak", "s/plain/changed/", "plain")
    check((v.source / "plain").read_text() == "changed\n" and
          (v.source / "plain.bak").read_text() == "plain\n", "sed -i inside")
    for name in ("a.kept", ".env"):
        done = run(v.at, "sed", "-i", "s/$/x/", name, status=None)
        check(done.returncode != 0, "sed -i of what is kept", name, done)
    run(v.source, "sed", "-i", "s/SECRET/SECRET again/", ".env")
    run(v.source, "sed", "-i", "s/changed/plain/", "plain")
    holds(v, "after sed")
    check((v.at / "plain").read_text() == "plain\n", "sed -i of the host")


def check_rsync(v):
    """Copies inside while the host changes what is copied."""
    if not shutil.which("rsync"):
        skip("rsync", "not there")
        return
    source, stop = v.source / "from", threading.Event()
    names = ["f%d" % i for i in range(40)] + [".env", "k.pem"]

    def text(name, n):
        return ("SECRET" if name in (".env", "k.pem") else name) + " %d\n" % n

    def change():
        n = 0
        while not stop.is_set():
            n += 1
            for name in names:
                (source / ".new").write_text(text(name, n))
                os.rename(source / ".new", source / name)
            (source / "f0").unlink()
    source.mkdir()
    for name in names:
        (source / name).write_text(text(name, 0))
    t = threading.Thread(target=change)
    t.start()
    for _ in range(8):
        done = run(v.at, "rsync", "-a", "--exclude=.new", "from/", "to/",
                   status=None)
        check(done.returncode in (0, 23, 24), "rsync", done)
    stop.set()
    t.join()
    run(v.at, "rsync", "-a", "-c", "--delete", "--exclude=*.pem",
        "--exclude=.env", "from/", "to/")
    for name in names[1:40]:
        check((v.source / "to" / name).read_bytes() ==
              (source / name).read_bytes(), "copied", name)
    for path in (v.source / "to").iterdir():
        check("SECRET" not in path.read_text(), "never that", path)
    (v.source / "to2").mkdir()
    run(v.source, "rsync", "-a", "from/", "to2/")
    for name in (".env", "k.pem"):
        check((v.source / "to2" / name).read_text().startswith("SECRET") and
              (v.at / "to2" / name).read_bytes() == b"", "by the host", name)


def bound():
    """A folder of the workspace with another mounted over it."""
    @contextlib.contextmanager
    def prepare(v):
        over, at = v.top / "over", v.source / "below"
        for folder, text in ((over, "over"), (at, "under")):
            folder.mkdir()
            (folder / "f").write_text(text + "\n")
            (folder / ".env").write_text("SECRET %s\n" % text)
        mount(over, at, None, BIND)
        try:
            yield
        finally:
            libc.umount2(os.fsencode(at), DETACH)
    return prepare


def main():
    if os.geteuid() or not VIEW.exists() or not os.path.exists("/dev/fuse"):
        print("needs root, /dev/fuse and", VIEW)
        return 77
    unshare()
    check_others_groups()
    with started((1000, 1000)) as v:
        check_unnamed(v)
        check_birth(v)
    with started() as v:
        check_unnamed(v)
        check_birth(v)
        check_large(v)
        check_sed(v)
        check_vim(v)
        check_rsync(v)
        holds(v, "at the end")
    with started(prepare=bound()) as v:
        check_unmounted(v)
    on("a case-insensitive ext4", ["mkfs.ext4", "-q", "-O", "casefold"],
       "ext4", chattr=["+F"])
    on("FAT", ["mkfs.vfat"], "vfat", "utf8,shortname=mixed")
    # The same without the kernel's: some have neither.
    on("NTFS", ["mkntfs", "-q", "-Q", "-F"], "lowntfs-3g", "ignore_case")
    on("FAT of a program's", ["mkfs.vfat"], "fusefat", "rw+")
    for line in sorted(set(skipped)):
        print("skipped:", line)
    return end()


if __name__ == "__main__":
    sys.exit(main())
