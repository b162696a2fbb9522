"""What the command sees of the workspace, and what it can change."""
import os
import subprocess

import live
from live import Place, check, test


def inside(where, command, *flags):
    return where.membrane("run", *flags, "--", "bash", "-c", command)


# F-8
@test
def workspace_is_the_hosts_own():
    with Place("", files={"a": "one\n", "sub/b": "two\n"}) as where:
        s = inside(where, "pwd; cat a sub/b; echo new > made; id -u; id -g; "
                   "echo $HOME; touch ~/kept; rm a")
        check(s.stdout.split() == [str(where.work), "one", "two",
                                   str(live.the.uid), str(live.the.gid),
                                   "/home/agent"], "seen", s.stdout)
        made = where.work / "made"
        check(made.exists() and made.read_text() == "new\n" and
              made.stat().st_uid == live.the.uid, "written by the owner")
        check(not (where.work / "a").exists(), "removed")
        check((where.state / "home" / "kept").exists(), "the home is kept")


# F-6
@test
def ignored_is_empty_and_of_the_same_type():
    files = {".env": "secret\n", "keys/id": "secret\n", "keys/deep/x": "s\n",
             "src/.env": "secret\n", "src/main.c": "code\n",
             "build/out": "secret\n", "env.txt": "fine\n"}
    with Place("ignore: [.env, keys/, /build]\n", files=files) as where:
        s = inside(where, "cat .env src/.env; ls -A keys; ls -A build; "
                   "test -f .env && test -d keys && test -d build && "
                   "echo types; cat src/main.c env.txt; "
                   "for f in .env src/.env keys/new build/new; do "
                   "echo x > $f && echo \"wrote $f\"; done; "
                   "rm -rf .env keys; mv keys moved; ln .env link; "
                   "grep -rl secret . ; echo end")
        check(s.stdout.split() == ["types", "code", "fine", "end"],
              "seen", s.stdout + s.stderr)
        for name, data in files.items():
            check((where.work / name).read_text() == data,
                  "the host's %s is untouched" % name)


# F-7
@test
def readonly_cannot_be_changed_or_replaced():
    files = {"doc/a": "text\n", "doc/deep/b": "text\n", "x.lock": "text\n",
             "rw/c": "text\n", "doc/.env": "secret\n"}
    with Place("readonly: [doc/, '*.lock']\nignore: [.env]\n",
               files=files) as where:
        s = inside(where, "cat doc/a doc/deep/b x.lock; cat doc/.env; "
                   "for f in doc/a doc/deep/b doc/new x.lock; do "
                   "echo bad > $f && echo \"wrote $f\"; done; "
                   "rm -f doc/a x.lock; mv doc moved && echo moved; "
                   "mv x.lock y && echo moved; rm -rf doc; "
                   "echo good > rw/c; echo end")
        check(s.stdout.split() == ["text"] * 3 + ["end"], "seen", s.stdout)
        for name, data in files.items():
            check((where.work / name).read_text() ==
                  ("good\n" if name == "rw/c" else data), name)


# M-4
@test
def ancestors_of_a_mask_are_pinned():
    with Place("masks: start\nignore: [secret.txt]\n",
               files={"a/b/secret.txt": "secret\n", "a/c": "x\n"}) as where:
        s = inside(where, "mv a z && echo moved; mv a/b a/y && echo moved; "
                   "mv a/c a/d && echo fine; cat a/b/secret.txt; echo end")
        check(s.stdout.split() == ["fine", "end"], "seen", s.stdout)
        check((where.work / "a/b/secret.txt").read_text() == "secret\n",
              "still there")


# M-4, M-11
@test
def a_folder_that_moves_takes_its_masks_along():
    """But for one that leads to what a line names by its whole path."""
    files = {"a/b/secret.txt": "secret\n", "a/ro.lock": "x\n",
             "c/d/e": "x\n"}
    with Place("ignore: [secret.txt]\nreadonly: ['*.lock', /c/d/e]\n",
               files=files) as where:
        s = inside(where, "mv a z && mv z/b z/y && cat z/y/secret.txt && "
                   "echo moved; echo bad > z/ro.lock; echo bad > z/y/secret.txt; "
                   "mv z/y/secret.txt plain; ln z/y/secret.txt plain; "
                   "mv c g && echo bad; mv c/d c/g && echo bad; echo end")
        check(s.stdout.split() == ["moved", "end"], "seen",
              s.stdout + s.stderr)
        check((where.work / "z/y/secret.txt").read_text() == "secret\n" and
              (where.work / "z/ro.lock").read_text() == "x\n" and
              (where.work / "c/d/e").exists() and
              not (where.work / "plain").exists(), "as they were")


# F-10
@test
def names_of_every_kind():
    odd = [b"co,mma", b"co:lon", b'quo"te', b"apo'strophe", b"sp ace",
           b"new\nline", b"-dash", b"back\\slash", b"$HOME",
           b"{workspace}", b"tab\there", b"star*", "ü".encode()]
    files = {os.fsdecode(b"odd/" + n): "secret\n" for n in odd}
    files.update({os.fsdecode(b"dir" + n + b"/f"): "secret\n" for n in odd})
    with Place("ignore: ['odd/*', 'dir*/']\n", files=files) as where:
        s = inside(where, "find . -type f ! -path './probe.py' "
                   "! -path './.git*' -size +0 | grep -v -e membrane | wc -l;"
                   "ls odd | wc -l; grep -r secret . ; echo end")
        lines = s.stdout.splitlines()
        check(lines[:1] == ["0"] and lines[-1:] == ["end"] and
              len(lines) == 3, "all are masked", s.stdout + s.stderr)
    with Place("", files={"x": "y\n"}) as where:
        for name in ("a,b", 'q"uote', "co:lon", "sp ace", "new\nline"):
            work = where.root / name
            work.mkdir()
            (work / "f").write_text("here\n")
            where.own()
            where.work = work
            s = inside(where, "cat f; pwd")
            at = str(work) if name.isprintable() else "/workspace"
            check(s.stdout == "here\n%s\n" % at, "workspace %r" % name,
                  s.stdout + s.stderr)


@test
def names_that_docker_cannot_carry():
    # Docker's interface is JSON, which holds no such name: never skipped.
    with Place("masks: start\nignore: ['*.key']\n",
               files={os.fsdecode(b"\xff\xfe.key"): "secret\n"}) as where:
        s = inside(where, "cat *.key; echo ran")
        if live.ENGINE == "native":
            check(s.stdout == "ran\n", "masked like any other",
                  (s.status, s.stdout, s.stderr))
        else:
            check(s.status == 125 and not s.stdout and "UTF-8" in s.stderr,
                  "refused, with a reason", (s.status, s.stdout, s.stderr))


# M-13, B-2, B-3
@test
def links():
    with Place("ignore: ['*.key']\n", files={
            "a.key": "secret\n", "plain": "text\n"}) as where:
        os.link(where.work / "a.key", where.work / "hard")
        os.symlink("a.key", where.work / "soft")
        os.symlink("plain", where.work / "soft.key")
        os.symlink("/etc/passwd", where.work / "out.key")
        os.symlink("nowhere", where.work / "dangling.key")
        os.symlink("self.key", where.work / "self.key")
        s = inside(where, "cat hard soft a.key; echo --; cat soft.key plain; "
                   "echo --; head -c 5 out.key; grep -rs secret .")
        check(s.stdout.startswith("--\n--\n"),
              "hard link, soft link, target of a link that matches",
              s.stdout + s.stderr)
        check("secret" not in s.stdout, "no secret", s.stdout)


@test
def nothing_is_written_through_an_agents_link():
    """What one session leaves is in the way of the next one's files."""
    with Place("") as where:
        victims = [where.root / name for name in ("one", "two")]
        for victim in victims:
            victim.write_text("mine\n")
        where.own()
        inside(where, "ln -s ../one id; ln -s ../two log; ln -s .. out; "
               "mkfifo pipe; mkdir d")
        for flag, name in (("--session-id-file", "id"),
                           ("--trace-log", "log"),
                           ("--session-id-file", "out/one"),
                           ("--trace-log", str(where.work / "out/two")),
                           ("--trace-log", "pipe")):
            s = inside(where, "echo ran", flag, name)
            check(s.status == 125 and not s.stdout and
                  name.split("/")[-1 if "/" not in name else -2] in s.stderr,
                  "%s %s" % (flag, name), (s.status, s.stdout, s.stderr))
        s = where.membrane("compile", "-o", "out/plan")
        check(s.status == 3 and not (where.root / "plan").exists(), "compile",
              (s.status, s.stderr))
        check([v.read_text() for v in victims] == ["mine\n"] * 2,
              "what the links lead to")
        s = inside(where, "echo ran", "--session-id-file", "d/id",
                   "--trace-log", "d/log")
        check(s.stdout == "ran\n" and (where.work / "d/id").exists() and
              (live.ENGINE != "docker" or
               (where.work / "d/log").stat().st_size), "without one",
              (s.status, s.stderr))
        (where.root / "own").symlink_to("one")
        s = inside(where, "echo ran", "--session-id-file", "../own")
        check(s.stdout == "ran\n" and victims[0].read_text() != "mine\n",
              "a link where no agent writes", (s.status, s.stderr))
        # The same folder by another name, seen from another workspace.
        os.rename(where.work, where.root / "old")
        where.work.mkdir()
        where.own()
        s = inside(where, "echo ran", "--session-id-file", "../old/log")
        check(s.status == 125 and victims[1].read_text() == "mine\n",
              "an earlier workspace", (s.status, s.stderr))


@test
def a_workspace_that_one_may_only_read_is_read_only():
    files = {"a": "text\n", ".env": "secret\n", "mine/b": "text\n",
             "deep/er/.env": "secret\n"}
    with Place("ignore: [.env]\nreadonly: [a]\ntrace: {engine: off}\n",
               files=files) as where:
        for path in (where.work, where.work / "a", where.work / "deep"):
            os.chown(path, 0, 0)
        s = inside(where, "id -u; cat a mine/b .env deep/er/.env; touch made; "
                   "touch mine/made; touch deep/er/made; mkdir .git; "
                   "chmod 777 .; rm -f a; mv deep gone; echo end")
        check(s.status == 0 and s.stdout.split() ==
              [str(live.the.uid), "text", "text", "end"], "seen",
              (s.status, s.stdout, s.stderr))
        check(s.stderr.count("Read-only file system") >= 2 and
              "all of it is read-only" in s.stderr, "said", s.stderr)
        check(sorted(p.name for p in where.work.iterdir()) == sorted(
            {".env", "a", "deep", "mine", "probe.py"}) and
              os.listdir(where.work / "mine") == ["b"] and
              os.listdir(where.work / "deep/er") == [".env"],
              "nothing was made", list(where.work.rglob("*")))
        s = where.membrane("plan")
        check(s.status == 0 and "makes all of it read-only" in s.stderr,
              "plan", s.stderr)
        # One's own folder, without the right: the command cannot take it.
        os.chown(where.work, live.the.uid, live.the.gid)
        os.chmod(where.work, 0o555)
        s = inside(where, "chmod 755 .; touch made; echo end")
        check(s.stdout == "end\n" and not (where.work / "made").exists(),
              "of one's own", (s.status, s.stderr))
        os.chmod(where.work, 0o755)
        s = inside(where, "touch made; echo end")
        check((where.work / "made").exists() and not s.stderr, "with it",
              s.stderr)


@test
def somebody_elses_workspace_gives_nobody_its_owners_rights():
    files = {"a": "text\n", "theirs": "secret\n"}
    with Place("", files=files) as where:
        os.chown(where.work, 4242, live.the.gid)
        os.chmod(where.work, 0o775)
        os.chown(where.work / "theirs", 4242, 4242)
        os.chmod(where.work / "theirs", 0o600)
        s = inside(where, "id -u; id -g; cat a theirs; touch made ~/kept; "
                   "echo end")
        check(s.status == 0 and s.stdout.split() ==
              [str(live.the.uid), str(live.the.gid), "text", "end"], "seen",
              (s.status, s.stdout, s.stderr))
        check((where.work / "made").stat().st_uid == live.the.uid and
              (where.state / "home/kept").exists(), "written", s.stderr)


# B-1
@test
def unreadable_directory_is_masked_whole():
    with Place("masks: start\nignore: [.env]\n",
               files={"shut/x": "secret\n"}) as where:
        os.chmod(where.work / "shut", 0o000)
        s = inside(where, "ls -A shut; chmod 755 shut; cat shut/x; echo end")
        check(s.stdout.split() == ["end"], "seen", s.stdout + s.stderr)
        check("shut" in s.stderr, "it is reported", s.stderr)
        os.chmod(where.work / "shut", 0o755)


@test
def unreadable_directory_that_opens_later_has_its_masks():
    with Place("ignore: [.env]\n", files={"shut/.env": "secret\n",
                                          "shut/x": "fine\n"}) as where:
        os.chmod(where.work / "shut", 0o000)
        s = inside(where, "ls -A shut; chmod 755 shut; cat shut/*; "
                   "cat shut/.env; echo end")
        check(s.stdout.split() == ["fine", "end"], "seen",
              s.stdout + s.stderr)
        os.chmod(where.work / "shut", 0o755)


def held_for_the_host(masks, made):
    """made: what mkdir could make, where nothing needs to be there before."""
    with Place("masks: %s\n" % masks, files={"x": "y\n"}) as where:
        subprocess.run(live.the.as_user("git", "init", "-q", ".",
                                        cwd=where.work), check=True)
        before = sorted(p.relative_to(where.work).as_posix()
                        for p in where.work.rglob("*"))
        s = inside(where, "for f in .git/hooks/pre-commit .git/config "
                   ".membrane.yaml .membrane/config.yml .membraneignore "
                   ".git/hooks/new .vscode/tasks.json; do "
                   "mkdir -p $(dirname $f) 2>/dev/null; "
                   "echo bad >> $f && echo \"wrote $f\"; done 2>/dev/null; "
                   "mv .git .tig && echo moved; rm -rf .git/hooks; "
                   "echo z > z; git add z && git -c user.name=a -c "
                   "user.email=a@b commit -qm z && echo committed")
        check("wrote" not in s.stdout and "moved" not in s.stdout,
              masks + ": none was written", s.stdout)
        check("committed" in s.stdout, masks + ": git still works", s.stderr)
        after = {p.relative_to(where.work).as_posix()
                 for p in where.work.rglob("*")}
        new = {n for n in after - set(before)
               if not n.startswith(".git/") and n != "z"}
        check(new == made, masks + ": no placeholder stays behind", new)
        check(set(before) - {"x"} <= after, masks + ": nothing is lost",
              set(before) - after)


# F-9
@test
def what_the_host_would_run_later_is_readonly():
    held_for_the_host("hold", {".vscode"})
    if live.ENGINE == "docker":
        held_for_the_host("start", set())


def held_for_git(masks, made, own):
    """made: as above; own: what git says of what the session alone has."""
    def git(*words):
        subprocess.run(live.the.as_user("git", *words, cwd=where.work),
                       check=True, capture_output=True)

    files = {"tools/clean.js": "x\n", "git.inc": "", "other/keep": "y\n"}
    with Place("masks: %s\n" % masks, files=files) as where:
        git("init", "-q", ".")
        git("config", "core.hooksPath", ".hooks/_")
        git("config", "include.path", "../git.inc")
        git("config", "-f", "git.inc", "filter.x.clean",
            "node tools/clean.js")
        git("init", "-q", "sub")
        git("init", "-q", "--bare", "store")
        git("-C", "sub", "config", "core.fsmonitor", "./watch.sh")
        s = inside(where, "for f in .hooks/_/pre-commit git.inc "
                   "tools/clean.js sub/watch.sh sub/.git/commondir "
                   "sub/.git/hooks/x store/config store/hooks/x "
                   "store/commondir; do "
                   "mkdir -p $(dirname $f) 2>/dev/null; "
                   "echo bad >> $f && echo \"wrote $f\"; done 2>/dev/null; "
                   "for d in .hooks tools sub store; do "
                   "mv $d gone && echo \"moved $d\"; done 2>/dev/null; "
                   "git config core.hooksPath /tmp 2>/dev/null && echo set; "
                   "for r in . sub; do git -C $r -c user.name=a "
                   "-c user.email=a@b commit -qm z --allow-empty && "
                   "echo committed; done; "
                   "echo fine > tools/other && cat tools/other")
        check(s.stdout.split() == own + ["committed"] * 2 + ["fine"],
              masks + ": only what git does not run was written",
              s.stdout + s.stderr)
        check("/tmp" not in (where.work / ".git/config").read_text(),
              masks + ": nor git's own configuration")
        new = {p.name for p in where.work.rglob("*") if p.name in
               (".hooks", "_")}
        check(new == made, masks + ": no placeholder stays behind", new)
        for name in ("sub/watch.sh", "sub/.git/commondir",
                     "store/commondir", "sub/.git/config.worktree"):
            check(not (where.work / name).exists(),
                  masks + ": no placeholder stays behind", name)
        check((where.work / "other/keep").exists(),
              masks + ": nothing is lost")


# M-14
@test
def what_git_is_told_to_run_is_readonly():
    held_for_git("hold", {".hooks"}, ["set"])
    if live.ENGINE == "docker":
        held_for_git("start", set(), [])


def held_or_named(masks, named):
    files = {".envrc": "a\n", ".husky/pre-commit": "b\n", "x/.mcp.json": "{}\n"}
    with Place("masks: %s\n" % masks, files=files) as where:
        s = inside(where, "for f in .husky/pre-commit .husky/new "
                   "x/.mcp.json; do echo bad >> $f && echo \"wrote $f\"; "
                   "done 2>/dev/null; echo b >> .envrc; "
                   "git init -q made; mkdir $'o\\e[2J'; "
                   "echo c > $'o\\e[2J/.mcp.json'; echo end")
        check(s.stdout.split() == ["end"], masks + ": held",
              s.stdout + s.stderr)
        line = [w for w in s.stderr.splitlines() if "on your machine" in w]
        check(len(line) == 1 and line[0].split("machine: ")[1] ==
              ", ".join(named), masks + ": named", s.stderr)
        s = inside(where, "echo c > plain")
        check("on your machine" not in s.stderr, masks + ": nothing to name",
              s.stderr)


@test
def what_tools_run_is_held_or_named():
    named = [".envrc (direnv, mise)", "made/.git (git)"]
    held_or_named("hold", named)
    if live.ENGINE == "docker":
        held_or_named("start", named + [
            "o\\x1b[2J/.mcp.json (MCP clients)"])


@test
def what_git_has_committed_is_said():
    with Place("ignore: [.env]\n", files={
            ".env": "secret\n", "sub/.env": "secret\n", "a": "b\n"}) as where:
        for words in (("init", "-q", "."), ("add", ".env", "a")):
            subprocess.run(live.the.as_user("git", *words, cwd=where.work),
                           check=True, capture_output=True)
        s = inside(where, "cat .env sub/.env; git show :.env")
        check(s.stdout == "secret\n", "git has it", s.stdout + s.stderr)
        line = [w for w in s.stderr.splitlines() if "git has committed" in w]
        check(len(line) == 1 and line[0].endswith(": .env"),
              "it is said, of that file alone", s.stderr)


# K-6
@test
def ignore_file_and_flags():
    with Place("", files={".membraneignore": "*.pem\n!ok.pem\n",
                          "a.pem": "secret\n", "ok.pem": "fine\n",
                          "flagged": "secret\n", "ro": "x\n"}) as where:
        s = inside(where, "cat a.pem ok.pem flagged; echo y > ro; cat ro",
                   "-i", "flagged", "-r", "ro", "--trust-workspace")
        check(s.stdout.split() == ["fine", "x"], "seen", s.stdout + s.stderr)


# M-18, M-19
@test
def fast_folders_are_the_hosts_own():
    policy = ("ignore: [.env]\n"
              "masks: {hold: true, fast: [node_modules, out, gone/deep]}\n")
    with Place(policy, files={"node_modules/.env": "bare\n", ".env": "s\n",
                              "new/.env": "s\n"}) as where:
        os.symlink("/etc", where.work / "out")
        s = inside(where, "cat .env node_modules/.env; "
                   "echo made > node_modules/made; rmdir node_modules; "
                   "mv node_modules x; cat out/shadow; "
                   "stat -f -c %T node_modules . | sort | uniq -c | wc -l")
        check(s.stdout.split() == ["bare", "2"], "seen", s.stdout + s.stderr)
        check((where.work / "node_modules/made").read_text() == "made\n",
              "written")
        mounts = subprocess.run(live.the.enter("cat", "/proc/mounts"),
                                capture_output=True, text=True,
                                check=True).stdout
        check(str(where.root) not in mounts, "no mount is left")
        # the name of before may stand for a second (semantics 5.3)
        p = where.popen("run", "--", "bash", "-c", "echo up; read line; "
                        "for i in $(seq 50); do grep -q bare "
                        "node_modules/.env || break; sleep 0.1; done; "
                        "cat node_modules/.env; echo end",
                        stdin=subprocess.PIPE)
        check(p.stdout.readline() == b"up\n", "it runs")
        os.rename(where.work / "node_modules", where.work / "old")
        os.rename(where.work / "new", where.work / "node_modules")
        out, err = p.communicate(b"\n", timeout=60)
        check(out == b"s\nend\n", "one in its place is the view's, and bare "
              "by the policy", out + err)


# M-15
@test
def mounts_are_gone_afterwards():
    with Place("ignore: [.env]\nreadonly: [doc]\n",
               files={".env": "s\n", "doc/a": "t\n"}) as where:
        before = {p.name: p.stat().st_ino for p in where.work.iterdir()}
        inside(where, "true")
        after = {p.name: p.stat().st_ino for p in where.work.iterdir()}
        check(before == after, "the workspace is as it was", after)
        mounts = subprocess.run(live.the.enter("cat", "/proc/mounts"),
                                capture_output=True, text=True,
                                check=True).stdout
        check(str(where.root) not in mounts, "no mount is left")
