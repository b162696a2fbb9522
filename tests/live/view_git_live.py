#!/usr/bin/env python3
"""git in a view of a workspace that hides tracked files: nothing of it fails,
commits keep what was committed, and the host's files stay as they are. In mount
namespaces of its own; needs root, else 77.
"""
import hashlib
import os
import pathlib
import re
import stat
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
from gate import check, end  # noqa: E402
from view import ROOT, VIEW, View, quoted, unshare  # noqa: E402

RULES = """\
ignore .npmrc
ignore .env
ignore *.pem
ignore .netrc
ignore secrets/
ignore run.key
readonly **/.git/config
readonly **/.git/hooks/
hold .git/config
hold .git/config.worktree
hold .git/hooks/
"""
IGNORED = ".npmrc\n.env\n*.pem\n.netrc\nsecrets/\nrun.key\n"
# real: where .netrc leads, and hidden with it.
TRACKED = ["real", ".npmrc", "sub/.npmrc", "ca.pem", "run.key", ".netrc",
           "secrets/a", "secrets/deep/b", "secrets/big"]
UNTRACKED = [".env", "sub/host.pem", "secrets/host", "secrets/more/host"]
# What the launcher gives git inside: what is empty is what the index has.
FILTER = (ROOT / "compiler/emit/git/git_filter.cfg").read_text()
USER = (1000, 1000)


class Repo:
    """A repository on the host, its view, and git in both."""

    def __init__(self, v, owner):
        self.v, self.owner = v, owner
        (v.top / "excludes").write_text(IGNORED)
        (v.top / "attributes").write_text("".join(
            line + ("**" if line[-1] == "/" else "") + " filter=membrane\n"
            for line in IGNORED.split() + ["/real"]))
        (v.top / "gitconfig").write_text(
            "[core]\n excludesFile = %s/excludes\n"
            " attributesFile = %s/attributes\n"
            "[user]\n name = a\n email = a@b.test\n[gc]\n auto = 0\n"
            "[init]\n defaultBranch = main\n"
            "[advice]\n detachedHead = false\n"
            "[protocol \"file\"]\n allow = always\n" % (v.top, v.top) +
            FILTER[FILTER.index("[filter"):])
        self.env = {"PATH": os.environ["PATH"], "HOME": "/nowhere",
                    "LC_ALL": "C", "GIT_CONFIG_GLOBAL": "/dev/null",
                    "GIT_EDITOR": "true", "GIT_CONFIG_NOSYSTEM": "0"}

    def run(self, where, *argv, system=True, status=0):
        env = dict(self.env)
        env["GIT_CONFIG_SYSTEM"] = str(self.v.top / "gitconfig") \
            if system else "/dev/null"
        if not system:
            env.update(GIT_AUTHOR_NAME="h", GIT_AUTHOR_EMAIL="h@h.test",
                       GIT_COMMITTER_NAME="h", GIT_COMMITTER_EMAIL="h@h.test")
        done = subprocess.run(argv, cwd=where, capture_output=True, text=True,
                              timeout=60, stdin=subprocess.DEVNULL, env=env,
                              user=self.owner[0], group=self.owner[1],
                              extra_groups=[], check=False)
        if status is not None:
            check(done.returncode == status, " ".join(argv), done.returncode,
                  done.stdout[-500:], done.stderr[-500:])
        return done

    def host(self, *argv):
        return self.run(self.v.source, "git", *argv, system=False).stdout

    def git(self, *argv, status=0, at=None):
        """In the view, exit status 0 and nothing refused."""
        return self.run(at or self.v.at, "git", *argv, status=status)

    def status(self, want="", what="status"):
        got = self.git("status", "--porcelain").stdout
        check(got == want, what, repr(got), repr(want))

    def blob(self, name, ref="HEAD"):
        return self.git("cat-file", "blob", "%s:%s" % (ref, name)).stdout


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def commit(r, name):
    subprocess.run(["chown", "-hR", "%d:%d" % r.owner, r.v.source], check=True)
    r.host("add", "-fA", ".")
    r.host("commit", "-qm", name)


def fill(r):
    """Branches main, other (hidden files differ, are missing, are new) and side
    (a merge away)."""
    s = r.v.source
    r.run(s, "git", "init", "-q", "-b", "main", system=False)
    r.run(s, "git", "config", "core.autocrlf", "false", system=False)
    write(s / "readme", "readme\n")
    write(s / "lines", "".join("%d\n" % i for i in range(30)))
    for name in TRACKED:
        if name != ".netrc":
            write(s / name, "COMMITTED %s main\n" % name)
    write(s / "secrets/big", "COMMITTED big\n" * 9000)
    (s / "run.key").chmod(0o755)
    (s / ".netrc").symlink_to("real")
    commit(r, "main")
    r.host("checkout", "-q", "-b", "side")
    write(s / "sub/.npmrc", "COMMITTED side\n")
    write(s / "side", "side\n")
    commit(r, "side")
    r.host("checkout", "-q", "main")
    r.host("checkout", "-q", "-b", "other")
    write(s / ".npmrc", "COMMITTED .npmrc other\n")
    (s / "ca.pem").unlink()
    (s / "secrets/deep/b").unlink()
    (s / "secrets/deep").rmdir()
    write(s / "new.pem", "COMMITTED new.pem other\n")
    write(s / "secrets/new/c", "COMMITTED c other\n")
    write(s / "fresh/k.pem", "COMMITTED k other\n", 0o755)
    (s / ".netrc").unlink()
    (s / ".netrc").symlink_to("lines")
    write(s / "readme", "readme other\n")
    commit(r, "other")
    r.host("checkout", "-q", "main")
    for name in UNTRACKED:
        write(s / name, "HOST %s\n" % name, 0o600)
    subprocess.run(["chown", "-R", "%d:%d" % r.owner, s], check=True)
    # An index older than what it tells of is not read again.
    for top, _, files in os.walk(s):
        if ".git" not in pathlib.Path(top).parts:
            for name in files:
                os.utime(pathlib.Path(top) / name, (10 ** 9, 10 ** 9),
                         follow_symlinks=False)
    r.host("update-index", "-q", "--refresh")
    r.bare = r.v.top / "bare"
    r.bare.mkdir()
    os.chown(r.bare, *r.owner)
    r.run(r.bare, "git", "init", "-q", "--bare", system=False)


KINDS = {"100644": b"file", "100755": b"program", "120000": b"link"}
SEEN = re.compile(r"(\d+) \w+ \d\t([^\0]*)\0  ctime: (\d+):(\d+)\n"
                  r"  mtime: (\d+):(\d+)\n  dev: \d+\tino: (\d+)\n"
                  r"  uid: (\d+)\tgid: (\d+)\n  size: (\d+)\tflags: \w+\n")


def words(r):
    """What the launcher would say is tracked."""
    out = []
    for mode, name, cs, cn, ms, mn, ino, uid, gid, size in SEEN.findall(
            r.host("ls-files", "-z", "-s", "--debug")):
        if name in TRACKED:
            numbers = " ".join((size, ms, mn, cs, cn, ino, uid, gid))
            out.append(b"tracked %s %s %s%s" % (
                KINDS[mode], quoted(name), numbers.encode(),
                b" " + quoted("real") if name == ".netrc" else b""))
    check(len(out) == len(TRACKED), "the index has all", out)
    out.append(b"tracked file " + quoted("sub/plain") + b" 1" * 8)
    # Its number is another file's once it is gone: the birth tells them apart.
    st = os.stat(r.v.source / "real")
    born = subprocess.run(["stat", "-c", "%.9W", r.v.source / "real"],
                          stdout=subprocess.PIPE, check=True).stdout
    seconds, _, rest = born.strip().partition(b".")
    return [b"inode %d %d %d %d" % (st.st_dev, st.st_ino, int(seconds),
                                    int(rest or 0))] + out


def hidden_state(s):
    """Every hidden file of the host, and .git/config: content and stat."""
    out = {}
    for top, folders, files in os.walk(s):
        rel = pathlib.Path(top).relative_to(s)
        if rel.parts[:1] == (".git",):
            folders[:] = []
        for name in files + [f for f in folders if f == "secrets"]:
            path = pathlib.Path(top) / name
            hides = "secrets" in path.relative_to(s).parts or \
                name.endswith(".pem") or name in (
                    "real", ".npmrc", ".env", ".netrc", "run.key", "config")
            if not hides:
                continue
            st = os.lstat(path)
            data = os.readlink(path).encode() if path.is_symlink() else \
                path.read_bytes() if path.is_file() else b""
            out[str(rel / name)] = (hashlib.sha256(data).hexdigest(),
                                    st.st_mode, st.st_ino, st.st_mtime_ns)
    config = s / ".git/config"
    out[".git/config"] = (config.read_bytes(), os.lstat(config).st_ino)
    return out


def begun(rules=RULES, owner=(0, 0)):
    v = View(rules, owner)
    return v, Repo(v, owner)


# --- what git does ----------------------------------------------------------

def check_shown(r):
    at, s = r.v.at, r.v.source
    for name in TRACKED:
        a, b = os.lstat(at / name), os.lstat(s / name)
        check((a.st_size, a.st_mtime_ns, a.st_ctime_ns, a.st_ino,
               stat.S_IFMT(a.st_mode), a.st_mode & 0o100) ==
              (b.st_size, b.st_mtime_ns, b.st_ctime_ns, b.st_ino,
               stat.S_IFMT(b.st_mode), b.st_mode & 0o100 if
               not stat.S_ISLNK(b.st_mode) else 0o100),
              "the real stat", name, a, b)
        if name != ".netrc":
            check((at / name).read_bytes() == b"", "and no byte", name)
            check(os.lstat(at / name).st_size == b.st_size, "still", name)
    check(os.readlink(at / ".netrc") == "real", "a link as in the index")
    check(sorted(os.listdir(at / "secrets")) == ["a", "big", "deep"],
          "tracked alone", os.listdir(at / "secrets"))
    check(sorted(os.listdir(at / "secrets/deep")) == ["b"], "below")
    for name in ("secrets/host", "secrets/more"):
        check(not os.path.lexists(at / name), "the others are not", name)
    check(os.lstat(at / ".env").st_size == 0, "untracked ones are empty")


def check_clean(r):
    r.status(what="a clean clone is clean")
    r.git("add", "-A")
    r.status(what="after add -A")
    write(r.v.at / "plain", "plain\n")
    os.chown(r.v.at / "plain", *r.owner)
    r.git("add", "-A")
    r.git("commit", "-qam", "one")
    check(r.git("show", "--stat", "--format=", "HEAD").stdout.split()[0] ==
          "plain", "nothing else in the commit")
    check(r.blob(".npmrc") == "COMMITTED .npmrc main\n", "blobs stay")


def touch(r):
    for name in TRACKED:
        os.utime(r.v.source / name, follow_symlinks=False)


def check_racy(r):
    """All is read anew: what is empty is what was committed."""
    r.status(what="times alone are no change")
    os.utime(r.v.source / ".git/index", (1, 1))
    r.git("add", "-A")
    r.status(what="read anew")
    check(r.blob("secrets/a", "") == "COMMITTED secrets/a main\n", "staged")


# As the user sees it, without writing the index.
SEES = "--no-optional-locks", "status", "--porcelain", "-uno"
EDITED = "HOST, and of another length\n"


def edit(r):
    """The user's own, not committed: content, size, mode, another file, a link
    in the place of one."""
    s = r.v.source
    write(s / "secrets/a", EDITED)
    (s / "ca.pem").chmod(0o755)
    write(s / "new", "HOST new\n")
    (s / "new").rename(s / "sub/.npmrc")
    (s / "secrets/deep/b").unlink()
    (s / "secrets/deep/b").symlink_to("HOST")
    for name in ("secrets/a", "sub/.npmrc", "secrets/deep/b"):
        os.chown(s / name, *r.owner, follow_symlinks=False)


def check_host(r):
    """Nothing of it is seen, by git or by stat, and it stays uncommitted."""
    # so that the kernel here has heard of it
    (r.v.source / "heard").touch()
    until = time.monotonic() + 3
    while time.monotonic() < until and not (r.v.at / "heard").exists():
        time.sleep(0.01)
    (r.v.source / "heard").unlink()
    want = r.host(*SEES)
    check(want == " M ca.pem\n M secrets/a\n T secrets/deep/b\n"
          " M sub/.npmrc\n", "the host's git sees it", want)
    for what in ("at once", "again"):
        r.status(what="nothing is changed, " + what)
        r.git("update-index", "--refresh")
        check(r.git("diff").stdout == "", "no diff", what)
    st = os.lstat(r.v.at / "secrets/a")
    check(st.st_size == len("COMMITTED secrets/a main\n") and
          st.st_mtime == 10 ** 9 and st.st_blocks == 0,
          "no size and no time of the secret", st)
    check(os.lstat(r.v.at / "ca.pem").st_mode & 0o111 == 0 and
          stat.S_ISREG(os.lstat(r.v.at / "secrets/deep/b").st_mode),
          "no mode, no type")
    check((r.v.at / "secrets/a").read_bytes() == b"" and
          (r.v.at / "secrets/deep/b").read_bytes() == b"", "no content")
    r.git("add", "-A")
    r.git("commit", "-qm", "nothing", "--allow-empty")
    check(r.git("show", "--stat", "--format=", "HEAD").stdout == "" and
          r.blob("secrets/a") == "COMMITTED secrets/a main\n", "its blob")
    check(r.host(*SEES) == want,
          "and it is the host's to commit, still")
    r.git("reset", "-q", "--hard", "HEAD^")
    r.status(what="as it was committed")


def check_checkout(r):
    at = r.v.at
    r.git("checkout", "-q", "other")
    r.status(what="another branch")
    check((at / ".npmrc").read_text() == "COMMITTED .npmrc other\n",
          "what git wrote is read")
    check((at / "secrets/new/c").read_text() == "COMMITTED c other\n" and
          (at / "fresh/k.pem").read_text() == "COMMITTED k other\n", "new")
    check(os.lstat(at / "fresh/k.pem").st_mode & 0o777 == 0o755, "its mode")
    check(not (at / "ca.pem").exists() and
          not (at / "secrets/deep").exists(), "what it has not is away")
    check(os.readlink(at / ".netrc") == "lines", "a link")
    check(sorted(os.listdir(at / "secrets")) == ["a", "big", "new"] and
          "new.pem" in os.listdir(at) and "ca.pem" not in os.listdir(at),
          "listed so", os.listdir(at), os.listdir(at / "secrets"))
    check(not (r.v.source / "new.pem").exists() and
          not (r.v.source / "fresh/k.pem").exists(), "not on the host",
          os.listdir(r.v.source), os.listdir(r.v.source / "fresh"))
    r.git("checkout", "-q", "-")
    r.status(what="and back")
    check((at / "ca.pem").read_text() == "COMMITTED ca.pem main\n" and
          not (at / "new.pem").exists() and
          sorted(os.listdir(at / "secrets")) == ["a", "big", "deep"],
          "as it was committed", os.listdir(at / "secrets"))
    check((at / "secrets/a").read_text() == "", "the host's is not read")


def check_stash(r):
    at = r.v.at
    with open(at / "readme", "a", encoding="utf-8") as f:
        f.write("more\n")
    with open(at / ".npmrc", "a", encoding="utf-8") as f:
        f.write("the session's own\n")
    r.status(" M .npmrc\n M readme\n", "both are changed")
    r.git("stash")
    r.status(what="stashed")
    check((at / ".npmrc").read_text() == "COMMITTED .npmrc main\n", "away")
    r.git("stash", "pop")
    r.status(" M .npmrc\n M readme\n", "popped")
    check((at / ".npmrc").read_text().endswith("own\n"), "and its content")
    r.git("reset", "-q", "--hard")
    r.status(what="reset --hard")


def check_merge(r):
    at = r.v.at
    r.git("checkout", "-q", "-b", "work")
    with open(at / "lines", "a", encoding="utf-8") as f:
        f.write("work\n")
    r.git("commit", "-qam", "work")
    r.git("merge", "-q", "--no-edit", "side")
    r.status(what="merged")
    check(r.blob("sub/.npmrc") == "COMMITTED side\n" and
          (at / "sub/.npmrc").read_text() == "COMMITTED side\n",
          "a hidden file of one side")
    check(r.blob("secrets/deep/b") == "COMMITTED secrets/deep/b main\n",
          "others stay")
    r.git("reset", "-q", "--hard", "HEAD^")
    r.status(what="back before it")
    r.git("rebase", "-q", "side")
    r.status(what="rebased")
    check(r.blob("sub/.npmrc") == "COMMITTED side\n", "its tree")
    r.git("checkout", "-q", "main")
    r.git("checkout", "-q", "-b", "clash", "side^")
    write(at / "sub/.npmrc", "COMMITTED clash\n")
    r.git("commit", "-qam", "clash")
    r.git("merge", "side", status=1)
    check("<<<<<<<" in (at / "sub/.npmrc").read_text(), "a conflict")
    r.git("merge", "--abort")
    r.status(what="aborted")
    r.git("merge", "side", status=1)
    r.git("checkout", "-q", "--theirs", "sub/.npmrc")
    r.git("commit", "-qam", "solved")
    check(r.blob("sub/.npmrc") == "COMMITTED side\n", "solved")
    r.git("checkout", "-q", "main")
    r.git("cherry-pick", "work")
    r.git("revert", "--no-edit", "HEAD")
    r.status(what="picked and reverted")


def check_names(r):
    at = r.v.at
    r.git("checkout", "-q", "-b", "names")
    r.git("rm", "-q", "secrets/big")
    r.status("D  secrets/big\n", "rm")
    check(not (at / "secrets/big").exists(), "is away")
    r.git("mv", ".npmrc", "sub/other.pem")
    r.git("mv", "run.key", "moved.pem")
    r.status("R  run.key -> moved.pem\nD  secrets/big\n"
             "R  .npmrc -> sub/other.pem\n", "mv")
    r.git("commit", "-qm", "names")
    r.status(what="committed")
    check(r.blob("moved.pem") == "COMMITTED run.key main\n", "its blob")
    r.git("rm", "-rq", "secrets")
    check(not (at / "secrets").exists(), "a folder is away")
    r.git("commit", "-qm", "no secrets")
    r.git("checkout", "-q", "main")
    r.status(what="and all is back")
    check(sorted(os.listdir(at / "secrets")) == ["a", "big", "deep"], "listed")


def check_worktree(r):
    at = r.v.at
    r.git("worktree", "add", "-q", "wt", "other")
    check(r.git("status", "--porcelain", at=at / "wt").stdout == "",
          "a worktree is clean")
    check((at / "wt/.npmrc").read_text() == "COMMITTED .npmrc other\n" and
          not (r.v.source / "wt/.npmrc").exists(), "its copies")
    r.git("commit", "-q", "--allow-empty", "-am", "wt", at=at / "wt")
    r.git("worktree", "remove", "wt")
    check(not (at / "wt").exists() and not (r.v.source / "wt").exists(),
          "removed")


def check_config(r):
    r.git("config", "user.email", "x@y.test")
    check(r.git("config", "--get", "user.email").stdout == "x@y.test\n",
          "is read")
    r.git("remote", "add", "origin", str(r.bare))
    r.git("checkout", "-q", "-b", "topic")
    r.git("branch", "-m", "renamed")
    r.git("push", "-q", "-u", "origin", "renamed")
    r.git("fetch", "-q", "origin")
    check("renamed" in r.git("rev-parse", "--abbrev-ref", "@{u}").stdout,
          "an upstream")
    r.git("remote", "remove", "origin")
    r.git("checkout", "-q", "main")
    config = r.v.at / ".git/config"
    check("x@y.test" in config.read_text() and
          not (r.v.at / ".git/config.lock").exists(), "in the session")
    check("x@y.test" not in (r.v.source / ".git/config").read_text() and
          not (r.v.source / ".git/config.lock").exists(), "alone")


def meanwhile(r):
    """The host's git writes the index: times, and a commit of another length."""
    s = r.v.source
    r.host("checkout", "-qf", "main")
    os.utime(s / "sub/.npmrc")
    r.host("status")
    write(s / "run.key", "COMMITTED meanwhile\n", 0o755)
    os.chown(s / "run.key", *r.owner)
    r.host("commit", "-qm", "meanwhile", "run.key")


def check_meanwhile(r):
    """That is not known here: git asks for the content, and gets it."""
    r.status(" M run.key\n", "of another length")
    check(r.git("diff").stdout == "", "and nothing in it")
    r.git("add", "-A")
    r.status(what="read anew")
    check(r.blob("run.key", "") == "COMMITTED meanwhile\n", "as committed",
          r.blob("run.key", ""))
    check(r.host("diff") == "", "by the host's git, too")


def back(r):
    r.host("reset", "-q", "--hard", "HEAD^")


def check_back(r):
    r.status(what="as at the start")


def check_told(v):
    kept = {e["path"]: e for e in v.said if e["event"] == "kept"}
    check(kept[".git/config"]["what"] == "config" and
          "x@y.test" in kept[".git/config"]["text"], "config is told")
    check(kept["sub/.npmrc"]["what"] == "file", "copies are told", kept.keys())
    check(not any(p.endswith(".lock") or p.startswith("wt/") for p in kept),
          "nothing else", kept.keys())
    refused = [e for e in v.said if e.get("kind") == "write"]
    check(not refused, "and no write was refused", refused)


PARTS = [(None, check_shown), (None, check_clean), (touch, check_racy),
         (edit, check_host), (meanwhile, check_meanwhile),
         (back, check_back), (None, check_checkout), (None, check_stash),
         (None, check_merge), (None, check_names), (None, check_worktree),
         (None, check_config)]


def main():
    if os.geteuid() or not VIEW.exists() or not os.path.exists("/dev/fuse"):
        print("needs root, /dev/fuse and", VIEW)
        return 77
    unshare()
    for owner in ((0, 0), USER):
        v, r = begun(owner=owner)
        with v:
            v.top.chmod(0o755)
            os.chown(v.top, *owner)
            fill(r)
            v.say = words(r)
            v.start()
            for change, part in PARTS:
                if change:
                    change(r)
                before = hidden_state(v.source)
                part(r)
                now = hidden_state(v.source)
                check(now == before, part.__name__ + ": the host's stays",
                      [k for k in before if now.get(k) != before[k]],
                      [k for k in now if k not in before])
            status, said = v.stop()
            check(status == 0 and not said and v.said[-1] ==
                  {"event": "done"}, "a good end", status, said, v.said[-3:])
            check_told(v)
    return end()


if __name__ == "__main__":
    sys.exit(main())
