#!/usr/bin/env python3
"""What is made aside in a view, by somebody who wants more than git does: no byte
of a hidden file is ever read, and none that is written aside reaches the host.
In mount namespaces of its own; needs root, else 77.

    VIEW=all view_aside_live.py    more random steps
"""
import contextlib
import ctypes
import errno
import mmap
import os
import pathlib
import random
import shutil
import stat
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
from gate import check, end  # noqa: E402
from view import VIEW, View, libc, unshare  # noqa: E402

STEPS = 60000 if os.environ.get("VIEW") == "all" else 6000
RULES = """\
ignore .env
ignore *.pem
ignore .netrc
ignore vault/
ignore /conf/deep.env
readonly **/.git/config
hold .git/config
hold .git/config.worktree
"""
EXCHANGE = 2


def code(fn, *args, **named):
    """The errno of a call, or 0."""
    try:
        fn(*args, **named)
    except OSError as e:
        return e.errno
    return 0


def exchange(a, b):
    done = libc.renameat2(-100, os.fsencode(a), -100, os.fsencode(b), EXCHANGE)
    return 0 if done == 0 else ctypes.get_errno()


def fill(s):
    (s / ".git").mkdir()
    (s / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (s / ".git/config").write_text("[core]\n\tbare = false\n")
    (s / ".env").write_text("SECRET env\n")
    (s / "known.pem").write_text("SECRET known\n")
    (s / "real").write_text("SECRET real\n")
    (s / ".netrc").symlink_to("real")
    for d in ("vault", "vault/in", "conf", "open", "open/vault", "nested/.git"):
        (s / d).mkdir(parents=True)
    (s / "vault/x").write_text("SECRET x\n")
    (s / "vault/in/y").write_text("SECRET y\n")
    (s / "open/vault/z").write_text("SECRET z\n")
    (s / "conf/deep.env").write_text("SECRET deep\n")
    (s / "open/k.pem").write_text("SECRET k\n")
    (s / "nested/.git/HEAD").write_text("ref: refs/heads/main\n")
    (s / "nested/.git/config").write_text("[core]\n")
    (s / "plain").write_text("plain\n")


@contextlib.contextmanager
def started(say=(), rules=RULES):
    with View(rules, say=say) as v:
        fill(v.source)
        v.start()
        yield v
        status, said = v.stop()
        check(status == 0 and not said, "a good end", status, said)


@contextlib.contextmanager
def locked(v, where=".git"):
    """As git does; gone at the end, as when git is done."""
    path = v.at / where / "index.lock"
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    try:
        yield path
    finally:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


def make(path, data=b"ASIDE\n", flags=os.O_EXCL):
    fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | flags, 0o644)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)


# --- when -------------------------------------------------------------------

def check_locks():
    with started() as v:
        at = v.at
        check(code(make, at / "n.pem") == errno.EROFS, "without a lock")
        os.mkdir(at / "nogit")
        with locked(v, "nogit"):
            check(code(make, at / "n.pem") == errno.EROFS, "no HEAD beside it")
        (v.source / ".git/index.lock").touch()
        check(code(make, at / "n.pem") == errno.EROFS, "the host's lock")
        (v.source / ".git/index.lock").unlink()
        for let_go in (lambda p: p.unlink(),
                       lambda p: p.rename(p.with_name("index")),
                       lambda p: (v.source / ".git/index.lock").unlink()):
            with locked(v) as path:
                check(code(make, at / "n.pem") == 0, "with it")
                check(code(os.unlink, at / "n.pem") == 0, "removed")
                let_go(path)
                check(code(make, at / "n.pem") == errno.EROFS, "it let go")
        with locked(v, "nested/.git"), locked(v):
            check(code(make, at / "n.pem") == 0, "two of them")
        check((at / "n.pem").read_bytes() == b"ASIDE\n", "stays readable")
        make(at / "n.pem", b"MORE ASIDE\n", os.O_TRUNC)
        check((at / "n.pem").read_bytes() == b"MORE ASIDE\n", "and writable")
        check(code(os.unlink, at / "n.pem") == 0 and
              code(make, at / "n.pem") == errno.EROFS, "and may go")
        refused = v.event("decision", path="n.pem", kind="write")
        check(refused and refused["rule"]["section"] == "ignore", "counted")


def check_config():
    with started() as v:
        at, git = v.at, v.at / ".git"
        check(code(os.open, git / "config", os.O_WRONLY) == errno.EROFS,
              "itself is not written")
        make(git / "config.lock", b"[core]\n\tASIDE = 1\n")
        check(code(make, git / "config.lock") == errno.EEXIST, "one at a time")
        check(code(os.rename, git / "config.lock", at / "x") == errno.EXDEV and
              code(os.link, git / "config.lock", at / "x") == errno.EXDEV,
              "nothing else becomes of it")
        check(exchange(git / "config.lock", git / "config") == errno.EXDEV,
              "no exchange")
        os.rename(git / "config.lock", git / "config")
        check(b"ASIDE" in (git / "config").read_bytes() and
              "config.lock" not in os.listdir(git), "in its place")
        for what in (lambda: os.unlink(git / "config"),
                     lambda: os.rename(git / "config", at / "x"),
                     lambda: os.rename(git / "config", at / "x.pem"),
                     lambda: os.mkdir(git / "config.lock"),
                     lambda: os.rmdir(git / "config.lock")):
            what_is = code(what)
            check(what_is in (errno.EROFS, errno.ENOENT, 0), "config", what_is)
        with locked(v):
            make(at / "x.pem")
            os.symlink("../plain", at / "l.pem")
            check(code(os.rename, at / "x.pem", git / "config") != 0 and
                  code(os.rename, at / ".env", git / "config") != 0,
                  "nor comes anything else there")
            make(git / "config.lock")
            os.rename(at / "l.pem", git / "config.lock")
            check(code(os.rename, git / "config.lock", git / "config") ==
                  errno.EXDEV, "nor a link")
            os.unlink(git / "config.lock")
        check((v.source / ".git/config").read_text() ==
              "[core]\n\tbare = false\n", "the host's")
        with contextlib.suppress(OSError):
            os.rmdir(git / "config.lock")
        (v.source / ".git/config.lock").touch()
        check(code(make, git / "config.lock") == errno.EEXIST or
              not os.path.exists(git / "config.lock"), "the host's lock")
        (v.source / ".git/config.lock").unlink()
        nested = at / "nested/.git"
        make(nested / "config.lock", b"real\n")
        check(code(os.rename, nested / "config.lock", nested / "config") ==
              errno.EROFS and (v.source / "nested/.git/config.lock").exists(),
              "a policy's readonly")
    with started(say=[b"readonly"]) as v:
        check(code(make, v.at / ".git/config.lock") == errno.EROFS and
              code(make, v.at / ".git/index.lock") == errno.EROFS, "all of it")


def tracked(*names):
    """That git's index has them, each of 13 bytes."""
    return [b"tracked file %s 13 1 0 1 0 9 0 0" % n.encode() for n in names]


# --- what -------------------------------------------------------------------

def check_between():
    """Between aside and the disk there is no way."""
    with started(say=tracked("known.pem", "gone/t.pem")) as v:
        at, s = v.at, v.source
        os.lstat(at / ".netrc")
        with locked(v):
            os.unlink(at / ".env")
            check(not (at / ".env").exists() and
                  ".env" not in os.listdir(at) and (s / ".env").exists(),
                  "gone, and there")
            make(at / ".env")
            for name in (".env",):
                check(code(os.rename, at / name, at / "out") == errno.EXDEV,
                      "to the disk", name)
                check(code(os.link, at / name, at / "out") == errno.EXDEV,
                      "linked", name)
                check(exchange(at / name, at / "plain") == errno.EXDEV,
                      "exchanged", name)
                check(exchange(at / "plain", at / name) == errno.EXDEV,
                      "exchanged", name)
            check(code(os.rename, at / "plain", at / ".env") == errno.EXDEV and
                  (at / "plain").exists(), "from the disk")
            check(code(os.rename, at / "open/k.pem", at / "out") == errno.EROFS,
                  "a hidden one to the disk")
            os.rename(at / "open/k.pem", at / "moved.pem")
            st = os.lstat(at / "moved.pem")
            check((at / "moved.pem").read_bytes() == b"" and
                  st.st_size == 0 and not (at / "open/k.pem").exists(),
                  "a hidden one says no more elsewhere", st)
            os.rename(at / "known.pem", at / "open/known.pem")
            check(os.lstat(at / "open/known.pem").st_size == 13 and
                  (at / "open/known.pem").read_bytes() == b"" and
                  (s / "known.pem").exists() and
                  not (s / "open/known.pem").exists(), "what git knows does")
            make(at / "open/known.pem", b"ASIDE", os.O_TRUNC)
            check((at / "open/known.pem").read_bytes() == b"ASIDE", "written")
            check(code(os.unlink, at / "real") == errno.EROFS and
                  code(os.rename, at / "real", at / "r.pem") == errno.EROFS and
                  code(make, at / "real", b"ASIDE", os.O_TRUNC) ==
                  errno.EROFS, "hidden by its inode")
            os.symlink("plain", at / "l.pem")
            check(os.readlink(at / "l.pem") == "plain" and
                  (at / "l.pem").read_text() == "plain\n" and
                  not os.path.lexists(s / "l.pem"), "a link")
            check(code(os.mkfifo, at / "f.pem") == errno.EROFS, "no FIFO")
            check(code(os.rename, at / "vault", at / "open/vault") ==
                  errno.EXDEV, "a hidden folder stays where it is")
        # What git would know of a name is not of what comes to have it.
        os.mkdir(at / "gone")
        os.rename(at / "gone", at / "to")
        (s / "from").mkdir()
        (s / "from/t.pem").write_text("SECRET t\n")
        os.rename(at / "from", at / "to")
        check(os.lstat(at / "to/t.pem").st_size == 0, "nothing is known of it")


def check_folders():
    with started(say=tracked("vault/x")) as v:
        at, s = v.at, v.source
        check(os.listdir(at / "vault") == ["x"] and
              os.listdir(at / "open/vault") == [], "listed")
        check(code(os.stat, at / "vault/in") == errno.ENOENT and
              code(os.stat, at / "vault/in/y") == errno.ENOENT, "no other")
        with locked(v):
            check(code(os.rmdir, at / "vault") == errno.ENOTEMPTY, "not empty")
            os.mkdir(at / "vault/in")
            check(os.listdir(at / "vault/in") == [] and
                  code(os.stat, at / "vault/in/y") == errno.ENOENT,
                  "another folder of a hidden one's name")
            make(at / "vault/in/y")
            check((at / "vault/in/y").read_bytes() == b"ASIDE\n" and
                  (s / "vault/in/y").read_text() == "SECRET y\n", "its own")
            check(sorted(os.listdir(at / "vault")) == ["in", "x"], "both")
            shutil.rmtree(at / "vault")
            check(not (at / "vault").exists() and (s / "vault/x").exists() and
                  (s / "vault/in/y").exists(), "away, and there")
            os.rmdir(at / "open/vault")
            os.makedirs(at / "open/vault/deep")
            for i in range(400):
                make(at / ("open/vault/deep/%d" % i), b"%d" % i)
            check(len(os.listdir(at / "open/vault/deep")) == 400, "many")
            os.rename(at / "open/vault", at / "vault")
            check((at / "vault/deep/7").read_bytes() == b"7" and
                  not (at / "open/vault").exists(), "moved, all of it")
            os.mkdir(at / "d")
            make(at / "d/a.pem")
            check(code(os.rmdir, at / "d") == errno.ENOTEMPTY, "not empty")
        os.rename(at / "d", at / "e")
        check((at / "e/a.pem").read_bytes() == b"ASIDE\n" and
              os.listdir(at / "e") == ["a.pem"] and
              os.listdir(s / "e") == [], "it goes with its folder")
        os.mkdir(at / "d")
        check(os.listdir(at / "d") == [], "and is not left")
        check(code(os.rename, at / "d", at / "e") == errno.ENOTEMPTY, "over")
        check(exchange(at / "d", at / "e") == 0 and
              os.listdir(at / "d") == ["a.pem"] and
              os.listdir(at / "e") == [], "exchanged with it")
        shutil.rmtree(at / "vault")
        check(not (at / "vault").exists() and (s / "vault/x").exists(),
              "removed without a lock")
        os.rmdir(s / "d")
        until = time.monotonic() + 3
        while (at / "d").exists() and time.monotonic() < until:
            time.sleep(0.01)
        os.mkdir(at / "d")
        check(os.listdir(at / "d") == [], "the host removed its folder")


def check_content():
    with started() as v:
        p = v.at / "c.pem"
        with locked(v):
            make(p, b"x" * 10000)
        with open(p, "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
            m[:5] = b"mmap!"
            m.flush()
        check(p.read_bytes()[:6] == b"mmap!x", "shared mmap")
        with open(p, "ab") as f:
            f.write(b"end")
            os.fsync(f.fileno())
        check(p.read_bytes().endswith(b"xend") and os.stat(p).st_size == 10003,
              "append")
        os.chmod(p, 0o755)
        os.utime(p, (5, 6))
        st = os.stat(p)
        check((st.st_mode & 0o777, st.st_mtime, st.st_nlink) == (0o755, 6, 1),
              "mode and times", st)
        os.truncate(p, 3)
        check(p.read_bytes() == b"mma", "truncate")
        check(code(os.setxattr, p, "user.x", b"1") == errno.EOPNOTSUPP, "xattr")
        fd = os.open(p, os.O_RDWR)
        os.posix_fallocate(fd, 0, 8192)
        check(os.fstat(fd).st_size == 8192, "fallocate")
        os.pwrite(fd, b"z", 1 << 20)
        check(os.lseek(fd, 8192, os.SEEK_DATA) >= 8192, "holes")
        with open(v.at / "plain", "rb") as f:
            os.copy_file_range(f.fileno(), fd, 6, 0, 0)
        check(os.pread(fd, 6, 0) == b"plain\n", "copy_file_range")
        os.unlink(p)
        os.pwrite(fd, b"still", 0)
        check(os.pread(fd, 5, 0) == b"still" and os.fstat(fd).st_size > 1 << 20,
              "open, and without a name")
        with open("/proc/self/fd/%d" % fd, "rb") as f:
            check(f.read(5) == b"still", "and again")
        os.close(fd)
        numbers = set()
        with locked(v):
            for i in range(50):
                make(v.at / ("%d.pem" % i))
                numbers.add(os.stat(v.at / ("%d.pem" % i)).st_ino)
        check(len(numbers) == 50, "numbers of their own")


def check_bounds():
    with started() as v, locked(v):
        p = v.at / "big.pem"
        fd = os.open(p, os.O_CREAT | os.O_RDWR)
        check(code(os.pwrite, fd, b"x", 64 << 20) == errno.ENOSPC and
              code(os.ftruncate, fd, (64 << 20) + 1) == errno.ENOSPC and
              code(os.posix_fallocate, fd, 0, 65 << 20) == errno.ENOSPC,
              "64 MiB")
        os.ftruncate(fd, 0)
        os.ftruncate(fd, 64 << 20)
        os.unlink(p)
        make(v.at / "small.pem", b"")
        check(code(make, v.at / "small.pem", b"x", 0) == errno.ENOSPC,
              "as long as it is open")
        os.close(fd)
        make(v.at / "small.pem", b"x", 0)
        n = 0
        while n < 5000 and not code(make, v.at / ("%d.pem" % n), b""):
            n += 1
        check(n == 4095, "4096 names", n)
        check(code(os.unlink, v.at / "known.pem") == errno.ENOSPC, "removed")
        os.unlink(v.at / "7.pem")
        check(code(os.unlink, v.at / "known.pem") == 0, "one for another")


def check_told():
    """All that is left, however much: a configuration in the longest line."""
    for size in (16 << 10, (16 << 10) + 1):
        with View(RULES) as v:
            fill(v.source)
            v.start()
            with locked(v):
                os.unlink(v.at / ".env")
                for i in range(4000):
                    make(v.at / ("%d.pem" % i), b"")
            text = b"\x01" * size
            make(v.at / ".git/config.lock", text)
            os.rename(v.at / ".git/config.lock", v.at / ".git/config")
            status, _ = v.stop()
            kept = [e for e in v.said if e["event"] == "kept"]
            whats = [e["what"] for e in kept]
            check(status == 0 and v.said[-1] == {"event": "done"} and
                  whats.count("file") == 4000 and
                  whats.count("removed") == 1, "all is told", len(kept))
            config = [e for e in kept if e["what"] == "config"]
            check(len(config) == 1 and config[0].get("text") ==
                  (text.decode() if size == 16 << 10 else None), "config",
                  len(config))


# --- anything ---------------------------------------------------------------

NAMES = [".env", "a.pem", "known.pem", ".netrc", "plain", "real", "x", "y",
         "vault", "conf", "deep.env", "index.lock", "HEAD", "config",
         "config.lock", "d"]
FOLDERS = ["", "open", "conf", "vault", "vault/in", "d", "d/vault", ".git",
           "open/vault", "nested/.git", "open/d"]


def look(path, bad):
    with contextlib.suppress(OSError):
        st = os.lstat(path)
        data = b""
        if stat.S_ISREG(st.st_mode):
            with open(path, "rb", buffering=0) as f:
                data = f.read()
        elif stat.S_ISLNK(st.st_mode):
            data = os.fsencode(os.readlink(path))
        elif stat.S_ISDIR(st.st_mode):
            os.listdir(path)
        if b"SECRET" in data:
            bad.append((path, data))


def is_hidden(path):
    parts = path.parts
    return any(p in (".env", ".netrc") or p.endswith(".pem")
               for p in parts) or "vault" in parts[:-1] or \
        parts[-2:] == ("conf", "deep.env")


def step(r, v, bad, fds):
    a, b = (v.at / r.choice(FOLDERS) / r.choice(NAMES) for _ in range(2))
    what = r.randrange(15)
    with contextlib.suppress(OSError):
        if what == 0:
            fds.append(os.open(v.at / r.choice(FOLDERS) / "index.lock",
                               os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        elif what == 1:
            # Aside where it is hidden, wherever links lead before that.
            there = pathlib.Path(os.path.realpath(a.parent)) / a.name
            make(there, b"ASIDE" if is_hidden(there) else b"other",
                 r.choice((0, os.O_EXCL, os.O_TRUNC)))
        elif what == 2:
            os.unlink(a)
        elif what == 3:
            os.mkdir(a)
        elif what == 4:
            os.rmdir(a)
        elif what in (5, 6, 7):
            os.rename(a, b)
        elif what == 8:
            os.link(a, b)
        elif what == 9:
            os.symlink(r.choice(("plain", "../.env", "vault/x", "/x")), a)
        elif what == 10:
            exchange(a, b)
        elif what == 11:
            os.chmod(a, r.choice((0o600, 0o777)), follow_symlinks=True)
        elif what == 12:
            fds.append(os.open(a, os.O_RDWR))
        else:
            look(a, bad)
    while len(fds) > 20:
        os.close(fds.pop(r.randrange(len(fds))))


def state(s):
    """Each secret of the host, by its number: what is in it."""
    out = {}
    for top, _, files in os.walk(s):
        for name in files:
            path = os.path.join(top, name)
            if not os.path.islink(path):
                with open(path, "rb") as f:
                    data = f.read()
                if b"SECRET" in data or b"ASIDE" in data:
                    st = os.stat(path)
                    out[st.st_ino] = (data, st.st_nlink, st.st_mode)
    return out


def check_random(seed):
    r, bad, fds = random.Random(seed), [], []
    with View(RULES, say=tracked("known.pem", "vault/x",
                                  "d/vault/t")) as v:
        fill(v.source)
        v.start()
        os.lstat(v.at / ".netrc")
        before = state(v.source)
        for _ in range(STEPS):
            step(r, v, bad, fds)
            if bad:
                break
        for fd in fds:
            with contextlib.suppress(OSError):
                data = os.pread(fd, 100, 0)
                if b"SECRET" in data:
                    bad.append((fd, data))
            os.close(fd)
        for top, _, files in os.walk(v.at):
            for name in files:
                look(pathlib.Path(top) / name, bad)
        check(not bad, "seed", seed, bad[:3])
        after = state(v.source)
        check(after == before, "the host's, seed", seed,
              [(k, before.get(k), after.get(k)) for k in
               set(before) | set(after) if before.get(k) != after.get(k)])
        status, said = v.stop()
        check(status == 0 and not said, "it lives, seed", seed, status, said,
              v.said[-1:])


def main():
    if os.geteuid() or not VIEW.exists() or not os.path.exists("/dev/fuse"):
        print("needs root, /dev/fuse and", VIEW)
        return 77
    unshare()
    check_locks()
    check_config()
    check_between()
    check_folders()
    check_content()
    check_bounds()
    check_told()
    for seed in range(1, 4):
        check_random(seed)
    return end()


if __name__ == "__main__":
    sys.exit(main())
