#!/usr/bin/env python3
"""The view of a workspace, with real programs in it and a host that edits
beside it. In mount namespaces of its own; needs root, else 77.

    VIEW=all view_live.py    the races as long as they were meant
"""
import contextlib
import errno
import mmap
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
from gate import check, end  # noqa: E402
from view import (BIND, DETACH, NEWNS, PRIVATE, REC, VIEW, View,  # noqa: E402
                  libc, mount, quoted, unshare)

ALL = os.environ.get("VIEW") == "all"
RULES = """\
ignore .env
ignore *.pem
ignore !ca.pem
ignore .netrc
ignore /conf/deep.env
ignore vault/
readonly *.kept
readonly /fixed/
readonly **/.git/config
hold .git/config
hold .git/hooks/
"""
USER = (1000, 1000)


def code(fn, *args, **named):
    """The errno of a call, or 0."""
    try:
        fn(*args, **named)
    except OSError as e:
        return e.errno
    return 0


def run(where, *argv, owner=None, status=0):
    ids = {"user": owner[0], "group": owner[1], "extra_groups": []} \
        if owner else {}
    done = subprocess.run(argv, cwd=where, capture_output=True, text=True,
                          timeout=60, stdin=subprocess.DEVNULL, check=False,
                          env={"PATH": os.environ["PATH"], "HOME": "/nowhere",
                               "GIT_CONFIG_GLOBAL": "/dev/null",
                               "GIT_CONFIG_COUNT": "1",
                               "GIT_CONFIG_KEY_0": "safe.directory",
                               "GIT_CONFIG_VALUE_0": "*",
                               "LC_ALL": "C"}, **ids)
    if status is not None:
        check(done.returncode == status, " ".join(argv), done.returncode,
              done.stdout[-300:], done.stderr[-300:])
    return done


@contextlib.contextmanager
def started(rules=RULES, owner=(0, 0), fill=None, **more):
    with View(rules, owner, **more) as v:
        if fill:
            fill(v.source)
        for top, folders, files in os.walk(v.source):
            for name in folders + files:
                os.chown(os.path.join(top, name), *owner,
                         follow_symlinks=False)
        v.start()
        yield v
        status, said = v.stop()
        check(status == 0 and not said, "a good end", status, said)
        check(v.said and v.said[-1] == {"event": "done"}, "done comes last",
              v.said[-1:])
        check(not v.mounted(), "no mount is left")


def fill_tree(s):
    (s / ".env").write_text("SECRET-1\n")
    (s / "key.pem").write_text("SECRET-2\n")
    (s / "ca.pem").write_text("public\n")
    (s / "real").write_text("SECRET-3\n")
    (s / ".netrc").symlink_to("real")
    (s / "conf").mkdir()
    (s / "conf" / "deep.env").write_text("SECRET-4\n")
    (s / "vault").mkdir()
    (s / "vault" / "x").write_text("SECRET-5\n")
    (s / "a.kept").write_text("kept\n")
    (s / "fixed").mkdir()
    (s / "fixed" / "f").write_text("kept\n")
    (s / "plain").write_text("plain\n")
    (s / "dir" / "sub").mkdir(parents=True)
    (s / "dir" / "sub" / "f").write_text("f\n")


# --- what is hidden, and what is kept ---------------------------------------

# M-9
def check_hidden(v):
    at = v.at
    for name in (".env", "key.pem", ".netrc", "real", "conf/deep.env"):
        st = os.lstat(at / name)
        check(stat.S_IMODE(st.st_mode) == 0o444 and st.st_size == 0 and
              stat.S_ISREG(st.st_mode), "an empty file", name, st)
        check((at / name).read_bytes() == b"", "reads as empty", name)
        for how in (os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_TRUNC,
                    os.O_WRONLY | os.O_APPEND):
            check(code(os.open, at / name, how) == errno.EROFS, "open", name,
                  how)
        check(code(os.unlink, at / name) == errno.EROFS, "unlink", name)
        check(code(os.truncate, at / name, 0) == errno.EROFS, "truncate")
        check(code(os.chmod, at / name, 0o600) == errno.EROFS, "chmod", name)
        check(code(os.utime, at / name, (1, 1)) == errno.EROFS, "utime", name)
        check(code(os.link, at / name, at / "l") == errno.EROFS, "link", name)
        check(code(os.rename, at / name, at / "r") == errno.EROFS, "rename")
        check(code(os.rename, at / "plain", at / name) == errno.EROFS,
              "rename over", name)
        check(code(os.setxattr, at / name, "user.x", b"1") == errno.EROFS,
              "setxattr", name)
    st = os.lstat(at / "vault")
    check(stat.S_IMODE(st.st_mode) == 0o555 and stat.S_ISDIR(st.st_mode) and
          os.listdir(at / "vault") == [], "an empty folder", st)
    check(code(os.open, at / "vault/x", os.O_RDONLY) == errno.ENOENT,
          "nothing is in it")
    check(code(os.mkdir, at / "vault/y") == errno.EROFS, "nor can be made")
    check(code(os.rmdir, at / "vault") == errno.EROFS, "rmdir")
    check(code(os.rename, at / "vault", at / "v") == errno.EROFS, "mv vault")
    check((at / "ca.pem").read_text() == "public\n", "taken back")
    check(code(os.open, at / "missing.pem", os.O_RDONLY) == errno.ENOENT,
          "what is not there is not there")
    check(sorted(os.listdir(at)) == sorted(os.listdir(v.source)), "listing")
    kinds = {e.name: e.is_file(follow_symlinks=False)
             for e in os.scandir(at)}
    check(kinds[".netrc"], "a hidden link is listed as a file")


# M-3
def check_made(v):
    """Nothing of a hidden or kept name can be made in any way."""
    at = v.at
    fd = os.open(at / "dir", os.O_RDONLY)
    for name in ("new.pem", "dir/.env", "new.kept", "fixed/new",
                 "dir/sub/.git/config"):
        if ".git" in name:
            os.mkdir(v.source / "dir/sub/.git")   # the host's
            os.chown(v.source / "dir/sub/.git", *v.owner)
        path = at / name
        check(code(os.open, path, os.O_CREAT | os.O_WRONLY) == errno.EROFS,
              "create", name)
        check(code(os.symlink, "plain", path) == errno.EROFS, "symlink", name)
        check(code(os.mknod, path, 0o600 | stat.S_IFIFO) == errno.EROFS,
              "mkfifo", name)
        check(code(os.link, at / "plain", path) == errno.EROFS, "link", name)
        check(code(os.mkdir, path) == errno.EROFS, "mkdir", name)
        check(code(os.rename, at / "plain", path) == errno.EROFS, "rename",
              name)
        with socket.socket(socket.AF_UNIX) as s:
            check(code(s.bind, str(path)) == errno.EROFS, "bind", name)
    check(code(os.open, ".env", os.O_CREAT | os.O_WRONLY, dir_fd=fd) ==
          errno.EROFS, "by a descriptor")
    os.close(fd)
    check(libc.renameat2(-100, os.fsencode(at / "plain"), -100,
                         os.fsencode(at / ".env"), 2) == -1, "exchange")
    check(not (v.source / "dir/.env").exists() and
          (v.source / ".env").read_text() == "SECRET-1\n", "nothing was made")


def check_gits(v):
    """A repository that is made here has a configuration; others keep theirs.
    """
    def write(path):
        return code(path.write_text, "mine\n")
    made, theirs = v.at / "made", v.source / "theirs"
    os.makedirs(made / ".git/modules/x/.git")
    check(write(made / ".git/config") == 0 and
          write(made / ".git/modules/x/.git/config") == 0, "made")
    os.rename(made, v.at / "moved")
    check(write(v.at / "moved/.git/config") == 0, "made, and moved")
    os.makedirs(theirs / ".git")
    for path in theirs, theirs / ".git":
        os.chown(path, *v.owner)
    check(write(v.at / "theirs/.git/config") == errno.EROFS, "the host's")
    os.makedirs(v.at / "moved/.git/deep")
    os.rename(v.at / "theirs/.git", v.at / "moved/.git/deep/.git")
    check(write(v.at / "moved/.git/deep/.git/config") == errno.EROFS,
          "the host's, moved into one that was made")
    shutil.rmtree(v.source / "moved/.git")
    os.mkdir(v.source / "moved/.git")
    os.chown(v.source / "moved/.git", *v.owner)
    seen, until = set(), time.monotonic() + 5
    while errno.EROFS not in seen and time.monotonic() < until:
        seen.add(write(v.at / "moved/.git/config"))
        time.sleep(0.05)   # the host's change is seen within a second
    check(errno.EROFS in seen and 0 not in seen, "another of its name", seen)
    shutil.rmtree(v.source / "moved")
    shutil.rmtree(theirs)


# M-10, M-11
def check_kept(v):
    at = v.at
    check((at / "a.kept").read_text() == "kept\n", "readonly is read")
    for name in ("a.kept", "fixed/f"):
        check(code(os.open, at / name, os.O_RDWR) == errno.EROFS, "open", name)
        check(code(os.unlink, at / name) == errno.EROFS, "unlink", name)
        check(code(os.rename, at / name, at / "x") == errno.EROFS, "rename")
        check(code(os.chmod, at / name, 0) == errno.EROFS, "chmod", name)
        check(code(os.link, at / name, at / "x") == errno.EROFS, "link", name)
    check(code(os.rename, at / "fixed", at / "loose") == errno.EROFS,
          "a kept folder")
    check(code(os.rename, at / "conf", at / "old") == errno.EBUSY,
          "a folder that a pattern begins with")
    check(code(os.rename, at / "dir", at / ".git") == errno.EBUSY,
          "nothing becomes one")
    check(code(os.symlink, "dir", at / ".git") == errno.EBUSY,
          "a link in its place")
    check(code(os.open, at / ".git", os.O_CREAT | os.O_WRONLY) == errno.EBUSY,
          "a file in its place")
    os.mkdir(at / ".git")
    check(code(os.mkdir, at / ".git/hooks") == errno.EROFS, "held by name")
    os.rmdir(at / ".git")
    os.rename(at / "dir", at / "dir2")
    check((at / "dir2/sub/f").read_text() == "f\n", "others are renamed")
    os.rename(at / "dir2", at / "dir")


def check_decisions(v):
    for kind, path, reason, section, line in (
            ("read", ".env", "ignored", "ignore", 0),
            ("write", ".env", "ignored", "ignore", 0),
            ("read", "vault", "ignored", "ignore", 5),
            ("write", "a.kept", "readonly", "readonly", 0),
            ("write", "conf", "ignored", "ignore", 4),
            ("read", "real", "ignored", "inode", None)):
        got = v.event("decision", kind=kind, path=path)
        want = {"section": section} | ({} if line is None else {"line": line})
        check(got and got["reason"] == reason and got["rule"] == want and
              got["verdict"] == "deny", "told", kind, path, got)


def check_counts(v):
    v.said.clear()
    for _ in range(500):
        code(os.open, v.at / "fixed/count", os.O_CREAT | os.O_WRONLY)
    until = time.monotonic() + 10
    lines = []
    while sum(e["count"] for e in lines) < 500 and time.monotonic() < until:
        v.read(0.2)
        lines = [e for e in v.said if e.get("path") == "fixed/count"]
    check(sum(e["count"] for e in lines) == 500 and len(lines) < 6,
          "alike refusals are folded", [e["count"] for e in lines])


# --- everything else works --------------------------------------------------

def check_files(v):
    at, source = v.at, v.source
    p = at / "w"
    p.write_bytes(b"x" * 100000)
    check((source / "w").read_bytes() == b"x" * 100000, "written")
    with open(p, "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
        m[:5] = b"mmap!"
        m.flush()
        check((source / "w").read_bytes()[:5] == b"mmap!", "shared mmap")
    with open(p, "ab") as f:
        f.write(b"end")
    check((source / "w").read_bytes().endswith(b"xend"), "append")
    os.link(p, at / "w2")
    check(os.stat(p).st_ino == os.stat(at / "w2").st_ino and
          os.stat(p).st_nlink == 2, "hard links")
    (at / "w2").write_bytes(b"other name")
    check(p.read_bytes() == b"other name" and os.stat(p).st_size == 10,
          "written by the other name")
    os.symlink("w", at / "s")
    check(os.readlink(at / "s") == "w" and (at / "s").read_bytes() ==
          b"other name", "symlink")
    check(libc.renameat2(-100, os.fsencode(p), -100, os.fsencode(at / "s"),
                         2) == 0 and os.readlink(p) == "w", "exchange")
    check(libc.renameat2(-100, os.fsencode(p), -100,
                         os.fsencode(at / "w2"), 1) == -1, "noreplace")
    os.setxattr(at / "s", "user.x", b"value")
    check(os.getxattr(source / "s", "user.x") == b"value" and
          os.listxattr(at / "s") == ["user.x"], "xattr")
    check(code(os.setxattr, at / "s", "trusted.x", b"1") != 0 and
          code(os.setxattr, at / "s", "security.capability", b"1") != 0,
          "the host's own attributes")
    fd = os.open(at / "sparse", os.O_CREAT | os.O_RDWR)
    os.pwrite(fd, b"x", 5 << 30)
    check(os.lseek(fd, 0, os.SEEK_DATA) > 4 << 30 and
          os.stat(source / "sparse").st_blocks < 100, "sparse, over 4 GB")
    os.posix_fallocate(fd, 0, 4096)
    os.close(fd)
    os.unlink(at / "sparse")
    os.mkfifo(at / "fifo")
    threading.Thread(target=lambda: (at / "fifo").write_text("f")).start()
    check((at / "fifo").read_text() == "f", "a FIFO")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(at / "sock"))
        check(stat.S_ISSOCK(os.stat(source / "sock").st_mode), "a socket")
    check(code(os.mknod, at / "dev", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
          == errno.EPERM, "no device")
    fd = os.open(at / "gone", os.O_CREAT | os.O_RDWR)
    os.unlink(at / "gone")
    os.write(fd, b"still")
    os.ftruncate(fd, 3)
    check(os.fstat(fd).st_size == 3 and os.pread(fd, 9, 0) == b"sti",
          "open, and without a name")
    os.close(fd)
    data = bytes(range(256)) * 16
    fd = os.open(at / "direct", os.O_CREAT | os.O_RDWR | os.O_DIRECT)
    with mmap.mmap(-1, 4096) as buf:
        buf[:] = data
        check(os.pwrite(fd, buf, 0) == 4096 and
              (source / "direct").read_bytes() == data, "O_DIRECT")
    os.close(fd)
    odd = os.fsencode(at) + b"/\xff \n,:'\"\\"
    fd = os.open(odd, os.O_CREAT | os.O_WRONLY)
    os.close(fd)
    check(os.path.basename(odd) in os.listdir(os.fsencode(source)),
          "any bytes")


def check_deep(v):
    """Folders as deep as they can be made, one by one."""
    os.mkdir(v.at / "deep")
    was = os.open(v.at / "deep", os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=was)
        now = os.open("d", os.O_RDONLY, dir_fd=was)
        os.close(was)
        was = now
    check(code(os.mkdir, "last", dir_fd=was) == 0, "a folder, far down")
    os.close(was)
    subprocess.run(["rm", "-r", v.source / "deep"], check=True)


def check_locks(v):
    import fcntl
    (v.at / "lock").touch()
    with open(v.at / "lock", "r+b") as a, open(v.at / "lock", "r+b") as b:
        fcntl.flock(a, fcntl.LOCK_EX)
        check(code(fcntl.flock, b, fcntl.LOCK_EX | fcntl.LOCK_NB) ==
              errno.EWOULDBLOCK, "flock")
        fcntl.lockf(a, fcntl.LOCK_EX, 10, 5)
        other = ("import fcntl, sys\nf = open('lock', 'r+b')\n"
                 "fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 5)\n"
                 "try:\n fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 6)\n"
                 "except BlockingIOError:\n sys.exit(7)")
        run(v.at, "python3", "-c", other, status=7)


MODIFY = 2


def check_watching(v):
    """inotify(7) inside tells of what is changed inside."""
    fd = libc.inotify_init1(os.O_NONBLOCK)
    write = v.at / "watched"
    write.touch()
    check(libc.inotify_add_watch(fd, os.fsencode(v.at), MODIFY) > 0, "watch")
    write.write_text("x")
    check(b"watched\0" in os.read(fd, 4096), "told")
    os.close(fd)


def check_programs(v, owner):
    at = v.at
    ran = lambda *argv, **k: run(at, *argv, owner=owner, **k)  # noqa: E731
    ran("git", "init", "-q", status=None)
    check(not (v.source / ".git/config").exists(), "git's own file is held")
    shutil.rmtree(v.source / ".git")
    run(v.source, "git", "init", "-q")
    run(v.source, "chown", "-R", "%d:%d" % owner, ".git")
    ids = ("-c", "user.name=a", "-c", "user.email=a@b.test",
           "-c", "gc.auto=0")
    ran("git", *ids, "add", "plain", "dir")
    ran("git", *ids, "commit", "-qm", "one")
    ran("sed", "-i", "s/plain/changed/", "plain")
    check((v.source / "plain").read_text() == "changed\n", "sed -i")
    check(" M plain" in ran("git", "status", "--porcelain").stdout, "status")
    ran("git", *ids, "stash", "-q")
    ran("git", *ids, "checkout", "-q", "-b", "other")
    check((v.source / "plain").read_text() == "plain\n", "stashed")
    ran("cp", "-a", "dir", "copy")
    ran("mv", "copy", "moved")
    ran("tar", "cf", "t.tar", "moved")
    ran("rm", "-r", "moved")
    ran("tar", "xf", "t.tar")
    check((v.source / "moved/sub/f").read_text() == "f\n", "tar")
    ran("git", "config", "user.name", "x", status=None)
    check("x" not in (v.source / ".git/config").read_text(),
          ".git/config stays")
    st = os.stat(v.source / "moved")
    check((st.st_uid, st.st_gid) == owner, "whose it is", st)


# --- the host edits beside --------------------------------------------------

def replace(path, text):
    new = path.with_name(path.name + ".new")
    new.write_text(text)
    os.rename(new, path)


def seen(fn, want, what, wait_s=3):
    """Within the time that the kernel may go by what it knows."""
    until = time.monotonic() + wait_s
    while time.monotonic() < until:
        if fn() == want:
            break
        time.sleep(0.01)
    check(fn() == want, what, fn(), want)


# M-1, M-2, M-12
def check_host(v):
    at, s = v.at, v.source
    p = s / "plain"
    seen((at / "plain").read_text, p.read_text(), "as it is")
    was, held = p.read_text(), open(at / "plain", encoding="utf-8")
    replace(p, "replaced by a rename, and longer\n")
    check((at / "plain").read_text() == "replaced by a rename, and longer\n",
          "an editor's rename: the next open sees it")
    check(held.read() == was, "who has the old file open keeps that")
    with open("/proc/self/fd/%d" % held.fileno(), encoding="utf-8") as f:
        check(f.read() == was, "and opens it again")
    held.close()
    with open(p, "r+", encoding="utf-8") as f:
        f.write("REPLACED")
    check((at / "plain").read_text().startswith("REPLACED"),
          "in place: the next open sees it")
    replace(s / ".env", "SECRET-again\n")
    check((at / ".env").read_bytes() == b"", "a mask outlives a rename")
    (s / "late.pem").write_text("SECRET-late\n")
    check((at / "late.pem").read_bytes() == b"" if (at / "late.pem").exists()
          else True, "a late one")
    os.rename(s / "key.pem", s / "innocent")
    seen(lambda: (at / "innocent").exists(), True, "it is there")
    check((at / "innocent").read_bytes() == b"", "under another name")
    os.link(s / ".env", s / "second")
    check((at / "second").read_bytes() == b"", "by a hard link")
    os.stat(at / "conf/deep.env")
    os.rename(s / "conf", s / "elsewhere")
    seen(lambda: (at / "elsewhere/deep.env").exists(), True, "moved")
    check((at / "elsewhere/deep.env").read_bytes() == b"",
          "in a folder that was renamed")
    os.rename(s / "elsewhere", s / "conf")
    os.mkdir(s / "was")
    (s / "was/deep.env").write_text("open so far\n")
    fd = os.open(at / "was", os.O_RDONLY)
    check(code(os.stat, "deep.env", dir_fd=fd) == 0, "open so far")
    os.rename(s / "conf", s / "conf.old")
    os.rename(s / "was", s / "conf")
    (s / "conf/deep.env").write_text("SECRET-6\n")
    until = time.monotonic() + 2.5
    while time.monotonic() < until and code(os.stat, "deep.env", dir_fd=fd) \
            == 0:
        time.sleep(0.05)
    check(code(os.open, "deep.env", os.O_RDONLY, dir_fd=fd) == errno.ESTALE,
          "a folder held since before it had that name")
    os.close(fd)


def known_long(path):
    """The kernel has asked for it again, and goes by the answer for a minute."""
    os.listdir(path.parent)
    subprocess.run(["stat", "--cached=never", path], check=True,
                   stdout=subprocess.DEVNULL)


def check_heard(v):
    """Long before the minute is over."""
    at, s = v.at / "heard", v.source / "heard"
    os.mkdir(s)
    for name in ("a", "b", "c"):
        (s / name).write_text(name)
    for name in ("a", "b", "c"):
        known_long(at / name)
    (s / "a").write_text("longer")
    seen(lambda: os.stat(at / "a").st_size, 6, "a file that was written", 20)
    replace(s / "a", "replaced, and longer\n")
    seen(lambda: os.stat(at / "a").st_size, 21, "and one replaced", 20)
    os.chmod(s / "b", 0o640)
    seen(lambda: os.stat(at / "b").st_mode & 0o777, 0o640, "a mode", 20)
    os.unlink(s / "c")
    seen(lambda: code(os.stat, at / "c"), errno.ENOENT, "one removed", 20)
    (s / "d").write_text("")
    seen(lambda: sorted(os.listdir(at)), ["a", "b", "d"], "the listing", 20)
    os.rename(s, v.source / "heard.moved")
    seen(lambda: code(os.listdir, at), errno.ENOENT, "a folder moved", 20)
    os.rename(v.source / "heard.moved", s)
    seen(at.exists, True, "and back", 20)
    check(sorted(os.listdir(at)) == ["a", "b", "d"], "as it was")
    check_unheard(v, at, s)


def check_unheard(v, at, s):
    """More than the kernel holds for who does not listen."""
    queue = int(pathlib.Path(
        "/proc/sys/fs/inotify/max_queued_events").read_text())
    known_long(at / "a")
    os.kill(v.server(), signal.SIGSTOP)
    try:
        for i in range(queue + 9):
            (s / str(i)).touch()
        (s / "b").unlink()
        replace(s / "a", "the last word\n")
    finally:
        os.kill(v.server(), signal.SIGCONT)
    seen(lambda: os.stat(at / "a").st_size, 14, "nothing is missed", 20)
    seen(lambda: code(os.stat, at / "b"), errno.ENOENT, "one removed", 20)
    check(len(os.listdir(at)) == queue + 11, "and all are listed",
          len(os.listdir(at)))
    shutil.rmtree(s)
    seen(lambda: code(os.stat, at), errno.ENOENT, "the folder is gone", 20)


def looking(paths, stop, found):
    while not stop.is_set():
        for path in paths:
            found["opens"] += 1
            try:
                with open(path, "rb", buffering=0) as f:
                    data = f.read(100)
                    size = os.fstat(f.fileno()).st_size
            except OSError:
                continue
            if data or size:
                found["leaks"].append((str(path), data, size))
                return


@contextlib.contextmanager
def race(paths):
    found, stop = {"opens": 0, "leaks": []}, threading.Event()
    threads = [threading.Thread(target=looking, args=(paths, stop, found))
               for _ in range(2)]
    for t in threads:
        t.start()
    try:
        yield found
    finally:
        stop.set()
        for t in threads:
            t.join()


def check_races(v):
    s, at = v.source, v.at
    renames, late = (100000, 20000) if ALL else (4000, 1000)
    opens = 1000000 if ALL else 2000
    paths = [at / ".env", at / "race.pem", at / "late/0.pem", at / "race/.env"]
    (s / "race").mkdir()
    with race(paths) as found:
        for i in range(renames):
            replace(s / ".env", "SECRET %d\n" % i)
            if i % 7 == 0:
                replace(s / "race.pem", "SECRET\n")
            if i % 13 == 0:
                os.rename(s / "race", s / "race.off")
                (s / "race").mkdir()
                (s / "race/.env").write_text("SECRET\n")
                shutil.rmtree(s / "race.off")
            if i % (renames // late) == 0:
                shutil.rmtree(s / "late", ignore_errors=True)
                (s / "late").mkdir()
                (s / "late/0.pem").write_text("SECRET\n")
            if found["leaks"]:
                break
        until = time.monotonic() + 600
        while found["opens"] < opens and time.monotonic() < until:
            time.sleep(0.05)
    check(not found["leaks"], "renames on the host", found["leaks"][:3])
    check(found["opens"] >= opens, "enough were opened", found["opens"])


def check_checkout(v):
    """A branch with secrets, checked out on the host while all is read."""
    s = v.source / "repo"
    s.mkdir()
    ids = ("git", "-c", "user.name=a", "-c", "user.email=a@b.test",
           "-c", "gc.auto=0")
    run(s, "git", "init", "-q", "-b", "clean")
    (s / "readme").write_text("x\n")
    run(s, "git", "add", ".")
    run(s, *ids, "commit", "-qm", "1")
    run(s, "git", "checkout", "-q", "-b", "secrets")
    names = [".env"] + ["k%d.pem" % i for i in range(20)]
    for name in names:
        (s / name).write_text("SECRET\n")
    run(s, "git", "add", "-f", ".")
    run(s, *ids, "commit", "-qm", "2")
    with race([v.at / "repo" / name for name in names]) as found:
        for _ in range(200 if ALL else 10):
            run(s, "git", "checkout", "-q", "clean")
            run(s, "git", "checkout", "-q", "secrets")
    check(not found["leaks"] and found["opens"] > 20, "git checkout", found)


def check_swaps(v):
    """A link that the host swaps with a file leads nowhere out of the view."""
    outside = v.top / "outside"
    outside.write_text("OUTSIDE\n")
    s, got = v.source, set()
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            (s / "swap.new").symlink_to(outside)
            os.rename(s / "swap.new", s / "swap")
            (s / "swap.new").write_text("inside\n")
            os.rename(s / "swap.new", s / "swap")
    (s / "swap").write_text("inside\n")
    t = threading.Thread(target=swap)
    t.start()
    # What the program follows itself is no affair of the view's.
    for _ in range(20000 if ALL else 2000):
        with contextlib.suppress(OSError):
            fd = os.open(v.at / "swap", os.O_RDONLY | os.O_NOFOLLOW)
            got.add(os.read(fd, 10))
            os.close(fd)
        with contextlib.suppress(OSError):
            os.chmod(v.at / "swap", 0o640, follow_symlinks=True)
    stop.set()
    t.join()
    check(got <= {b"inside\n"}, "what a name led to", got)


# --- ends -------------------------------------------------------------------

def check_ids(v):
    for name, pid in (("supervisor", v.p.pid), ("server", v.server())):
        text = pathlib.Path("/proc/%d/status" % pid).read_text()
        fields = dict(line.split(":\t", 1) for line in text.splitlines()
                      if ":\t" in line)
        caps = "0000000000000000" if name == "server" else "0000000000200000"
        check(fields["CapEff"] == fields["CapPrm"] == caps, name, fields)
        check(fields["NoNewPrivs"] == "1", name, "no_new_privs")
        if name == "server":
            check(fields["Uid"].split() == [str(v.owner[0])] * 4 and
                  fields["Gid"].split() == [str(v.owner[1])] * 4 and
                  not fields["Groups"].strip(), name, fields)
            check(fields["CapBnd"] == caps, name, "bounding set")


def agent(at):
    """A process with a mount of its own of what is at a path: a pipe to it
    takes commands, one a byte, and gives the errno of an open."""
    ours, its = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            # Among others the view's stdin, whose end is its end.
            os.closerange(3, its.fileno())
            os.closerange(its.fileno() + 1, 1024)
            place = os.fsencode(at.parent.parent) + b"/agent"
            libc.unshare(NEWNS)
            mount("none", "/", None, REC | PRIVATE)
            os.makedirs(place, exist_ok=True)
            mount(at, place, None, BIND)
            libc.umount2(os.fsencode(at), DETACH)
            its.send(b"\0")
            while its.recv(1):
                its.send(bytes([code(os.stat, place + b"/plain") or
                                code(os.listdir, place)]))
        finally:
            os._exit(0)
    its.close()
    check(ours.recv(1) == b"\0", "a mount of its own")
    return pid, ours


def asks(pipe):
    pipe.send(b"?")
    return pipe.recv(1)[0]


def check_detach():
    with started(fill=fill_tree) as v:
        pid, pipe = agent(v.at)
        v.word(b"detach\n")
        check(v.event("detached"), "detached", v.said)
        check(not v.mounted(), "no mount on the host")
        text = pathlib.Path("/proc/%d/status" % v.p.pid).read_text()
        check("CapPrm:\t0000000000000000" in text, "no capability any more")
        check(asks(pipe) == 0, "the agent's lives on")
        v.p.stdin.close()
        until = time.monotonic() + 10
        while asks(pipe) != errno.ENOTCONN and time.monotonic() < until:
            time.sleep(0.01)
        got = asks(pipe)
        check(got == errno.ENOTCONN, "and ends with the view", got)
        pipe.close()
        os.waitpid(pid, 0)


def fast_folders(v):
    return [line.split()[4] for line in
            open("/proc/self/mountinfo", encoding="utf-8")
            if line.split()[4].startswith(str(v.at) + "/")]


# M-18
def check_fast(owner, say=()):
    """Folders past the view; what is no folder of the workspace is in it."""
    rules = RULES + "fast nm\nfast pkg/a/nm\nfast out\nfast gone\nfast f\n"
    with View(rules, owner=owner, say=say) as v:
        for folder in ("nm/sub", "pkg/a/nm", "nm.new"):
            (v.source / folder).mkdir(parents=True)
            (v.source / folder / ".env").write_text("S\n")
        (v.source / "out").symlink_to("/etc")
        (v.source / "f").write_text("f\n")
        subprocess.run(["chown", "-hR", "%d:%d" % owner, v.source], check=True)
        (v.source / "nm").chmod(0o700)
        v.start()
        if say:
            check(fast_folders(v) == [], "of one that is read-only none is")
            return
        check(sorted(fast_folders(v)) ==
              [str(v.at / "nm"), str(v.at / "pkg/a/nm")], "two are",
              fast_folders(v))
        check((v.at / "nm/sub/.env").read_text() == "S\n", "no rule in one")
        check(os.stat(v.at / "nm").st_dev == os.stat(v.source).st_dev,
              "it is the host's")
        run(v.at, "sh", "-c", "echo new >nm/sub/new", owner=owner)
        check((v.source / "nm/sub/new").read_text() == "new\n", "written")
        check(code(os.rmdir, v.at / "nm") == errno.EBUSY and
              code(os.rename, v.at / "nm", v.at / "x") == errno.EBUSY and
              code(os.rename, v.at / "f", v.at / "nm/f") == errno.EXDEV,
              "and it stays")
        check(code(os.listdir, v.at / "gone") == errno.ENOENT, "what is not")
        flags = os.statvfs(v.at / "nm").f_flag
        check(flags & os.ST_NOSUID and flags & os.ST_NODEV, "nosuid, nodev")
        check_replaced(v)
        v.word(b"detach\n")
        check(v.event("detached") and fast_folders(v) == [], "all is detached")


# M-19
def check_replaced(v):
    """By the host: then the view has it, and judges."""
    os.rename(v.source / "nm", v.source / "nm.old")
    os.rename(v.source / "nm.new", v.source / "nm")
    seen(lambda: code(os.open, v.at / "nm/.env", os.O_WRONLY), errno.EROFS,
         "a folder in its place is judged", 20)
    check((v.at / "nm/.env").read_text() == "", "and what is hidden is empty")
    check(fast_folders(v) == [str(v.at / "pkg/a/nm")], "no mount any more",
          fast_folders(v))


# M-5
def check_killed(whom, detach):
    """Nobody is left with the bare folder, nothing with a mount of ours."""
    with View(RULES) as v:
        fill_tree(v.source)
        v.start()
        pid, pipe = agent(v.at)
        if detach:
            v.word(b"detach\n")
            check(v.event("detached"), "detached")
        server = v.server()
        check(asks(pipe) == 0, "before")
        os.kill(server if whom == "server" else v.p.pid, signal.SIGKILL)
        v.p.wait(10)
        until = time.monotonic() + 5
        while os.path.exists("/proc/%d" % server) and \
                time.monotonic() < until:
            time.sleep(0.005)
        check(asks(pipe) == errno.ENOTCONN, "killed", whom, "ENOTCONN")
        if whom == "server":
            check(v.p.returncode == 1 and v.event("error") and
                  not v.event("done", 0), "it says so", v.said)
        if whom == "server" or detach:
            check(not v.mounted(), "killed", whom, "no mount")
        pipe.close()
        os.waitpid(pid, 0)


def check_refused():
    for what, say, root in (
            ("root", (), (1, 2)), ("word", (b"hodl x",), None),
            ("order", (b"hide a", b"hold b"), None),
            ("path", (b"hold ../x",), None), ("escape", (b"hold a%0",), None),
            ("byte", (b"hold a b",), None), ("absolute", (b"hide /x",), None)):
        with View(RULES, say=say) as v:
            v.start(root=root, wait=False)
            check(v.event("error") and v.p.wait(10) == 1 and not v.mounted(),
                  "refused:", what, v.said)
    with View("ignore [\n") as v:
        v.start(wait=False)
        check(v.event("error") and v.p.wait(10) == 1, "a bad plan", v.said)


def check_said():
    """What the launcher has found, and a workspace that is all read-only."""
    def fill(s):
        fill_tree(s)
        (s / "a b").write_text("tool\n")
        (s / "state").mkdir()
        (s / "state/x").write_text("SECRET\n")
        (s / "known").write_text("SECRET\n")
    with View(RULES) as v:
        fill(v.source)
        st = os.stat(v.source / "known")
        v.say = [b"hold " + quoted("a b"), b"hide state",
                 b"inode %d %d 0 0" % (st.st_dev, st.st_ino)]
        v.start()
        check(code(os.open, v.at / "a b", os.O_WRONLY) == errno.EROFS, "hold")
        check(os.listdir(v.at / "state") == [], "hide")
        check((v.at / "known").read_bytes() == b"", "inode")
        got = v.event("decision", path="a b")
        check(got and got["rule"] == {"section": "git", "line": 0}, "git", got)
        v.stop()
    with started(fill=fill_tree, say=[b"readonly"]) as v:
        check((v.at / "plain").read_text() == "plain\n", "readonly: read")
        check(code(os.open, v.at / "new", os.O_CREAT) == errno.EROFS and
              code(os.mkdir, v.at / "new") == errno.EROFS and
              code(os.chmod, v.at, 0o700) == errno.EROFS, "readonly: write")


def main():
    if os.geteuid() or not VIEW.exists() or not os.path.exists("/dev/fuse"):
        print("needs root, /dev/fuse and", VIEW)
        return 77
    unshare()
    for owner in ((0, 0), USER):
        with started(owner=owner, fill=fill_tree) as v:
            for part in (check_hidden, check_kept, check_made,
                         check_gits, check_decisions, check_counts, check_files,
                         check_locks, check_watching, check_deep, check_ids,
                         check_swaps):
                part(v)
            check_programs(v, owner)
            check_host(v)
            check_heard(v)
            check_checkout(v)
            check_races(v)
        check_fast(owner)
    check_fast((0, 0), [b"readonly"])
    check_detach()
    for whom in ("server", "supervisor"):
        for detach in (False, True):
            check_killed(whom, detach)
    check_refused()
    check_said()
    return end()


if __name__ == "__main__":
    sys.exit(main())
