"""git where its own files lie beside the workspace: worktrees, submodules."""
import json
import subprocess

import live
from live import Place, check, test
from t_git import identity, inside, on_host
from t_life import on_a_terminal

SECRET = "token=of-the-user\n"
STATUS = ("run", "--", "sh", "-c", "git status -sb 2>&1; echo ended")


def linked(masks, layout="main"):
    """A worktree, as the workspace, of a repository in the same home."""
    hides = "[.npmrc]" if masks == "hold" else "[none]"
    where = Place("masks: %s\nignore: %s\n" % (masks, hides), files={
        "a": "one\n", ".npmrc": SECRET},
        env={"GIT_CONFIG_NOSYSTEM": "1"})
    identity(where)
    main, side = where.work, where.root / "side"
    on_host(where, "init", "-q", "-b", "main", ".")
    on_host(where, "add", "-A", "-f", ".")
    on_host(where, "commit", "-qm", "start")
    if layout == "bare":
        main = where.root / "all" / ".bare"
        side = where.root / "all" / "side"
        on_host(where, "clone", "-q", "--bare", str(where.work), str(main))
    on_host(where, "worktree", "add", "-q", "-b", "side", str(side), cwd=main)
    if layout == "bare" and masks == "start":
        (main / "logs").mkdir()
        where.own()
    where.work = side
    where.git = main if layout == "bare" else main / ".git"
    return where


def approve(where):
    s = where.membrane("trust", "--yes")
    check(s.status == 0 and "approved the repository" in s.stdout,
          "it is approved", s.stdout + s.stderr)


def said(where, *words):
    return on_host(where, *words).stdout.decode()


# W-1
@test
def worktree_works_once_it_is_approved():
    for masks, layout in ((m, w) for m in live.MASKS for w in ("main", "bare")):
        with linked(masks, layout) as where:
            more = ("git branch -qd other; git rebase -q --root; "
                    if masks == "hold" else "")
            told = "%s, %s" % (masks, layout)
            s = inside(where, "git status")
            check(s.status and "not a git repository" in s.stderr and
                  "nobody approved that (membrane trust" in s.stderr,
                  told + ": not unasked, and the next step", s.stderr)
            places = ["/workspace"] + [str(where.work)] * (masks == "hold")
            check(mounted(where) == places, told + ": its record",
                  mounted(where))
            approve(where)
            s = inside(where, "git status --porcelain && git log --oneline "
                       "| wc -l && git rev-parse --show-toplevel "
                       "--abbrev-ref HEAD && cat .npmrc")
            check(s.stdout.split()[:3] == ["1", places[-1], "side"],
                  told + ": it is clean", s.stdout + s.stderr)
            s = inside(
                where, "set -e; echo two >a; git stash -q; "
                "test $(cat a) = one; git stash pop -q; git add -A; "
                "git commit -qm two; git checkout -qb other; echo 3 >b; "
                "git add b; git commit -qm three; git checkout -q side; "
                "git merge -q other; " + more +
                "git tag v1; git status --porcelain; git worktree prune; "
                "git gc --auto; git worktree list | grep -c /side; "
                "git log --oneline | wc -l")
            check(s.status == 0 and s.stdout.split() == ["1", "3"],
                  told + ": it works", s.stdout + s.stderr)
            check(said(where, "log", "--format=%s", "side").split() ==
                  ["three", "two", "start"] and
                  said(where, "tag") == "v1\n" and
                  said(where, "status", "--porcelain") == "" and
                  said(where, "show", "HEAD:.npmrc") == SECRET,
                  told + ": the host has it", said(where, "log"))


# W-3, W-5
@test
def what_is_not_the_worktrees_is_read_only():
    for masks in live.MASKS:
        with linked(masks) as where:
            on_host(where, "worktree", "add", "-q", "-b", "third",
                    str(where.root / "third"))
            approve(where)
            own = "worktrees/side"
            names = ("hooks/pre-commit", "config", "commondir", "info/exclude",
                     "HEAD", "index", "config.worktree", "description",
                     "worktrees/third/HEAD", "worktrees/new", "modules/x",
                     own + "/commondir", own + "/gitdir")
            tries = " ".join(names)
            s = inside(where, "cd %s && for f in %s; do mkdir -p $f.d; "
                       "echo x >$f; mv $f $f.x; rm -f $f; done; "
                       "mv hooks h; mv worktrees w; mv %s worktrees/z; "
                       "echo x >/workspace/.git; rm -f /workspace/.git; "
                       "mv /workspace/.git /workspace/g; ls /workspace/g"
                       % (where.git, tries, own))
            left = {p: p.read_bytes() for p in where.git.rglob("*")
                    if p.is_file()}
            check(s.status and not any(
                data == b"x\n" for data in left.values()) and
                not [p for p in where.git.rglob("*") if own not in str(p)
                     and p.name.endswith((".x", ".d"))] and
                (where.git / own / "commondir").is_file() and
                (where.git / own / "gitdir").is_file() and (where.git / "hooks").is_dir(),
                masks + ": nothing of it changed",
                (s.status, s.stdout, s.stderr))
            check((where.work / ".git").read_text() ==
                  "gitdir: %s/worktrees/side\n" % where.git,
                  masks + ": nor where the workspace's git is")
            if masks == "hold":
                check("of the repository, and not for a session" in s.stderr,
                      "the summary says why", s.stderr)


def folder(policy="", more=None):
    """A folder of a repository, as the workspace; what is beside it is not
    all committed."""
    where = Place(policy or "ignore: [.npmrc, /private/]\n", files={
        "README": "all\n", ".gitignore": "*.o\n", "lib/x": "1\n",
        "lib/run": "#!/bin/sh\n", "services/api/y": "1\n",
        "services/web/a": "one\n", "services/web/.npmrc": SECRET,
        "services/web/private/k": SECRET, "services/web/d/b": "2\n",
        ".env": SECRET, **(more or {})}, env={"GIT_CONFIG_NOSYSTEM": "1"})
    identity(where)
    (where.work / "lib/run").chmod(0o755)
    (where.work / "lib/link").symlink_to("x")
    on_host(where, "init", "-q", "-b", "main", ".")
    on_host(where, "add", "-A", "-f", ".")
    on_host(where, "commit", "-qm", "start")
    where.all = where.work
    where.git = where.work / ".git"
    where.work = where.work / "services" / "web"
    where.own()
    return where


@test
def a_folder_of_a_repository_says_what_to_do():
    with folder() as where:
        s = where.membrane(*STATUS)
        check(s.status == 0 and "not a git repository" in s.stdout and
              "nobody approved that (membrane trust" in s.stderr and
              "with all of that as the workspace it does: --workspace %s\n" %
              where.all in s.stderr, "one line", s.stdout + s.stderr)
    with linked("hold") as where:
        where.work = where.work / "part"
        where.work.mkdir()
        where.own()
        s = where.membrane(*STATUS)
        check("not a git repository" in s.stdout and
              "with all of that as the workspace it does: --workspace %s\n" %
              where.work.parent in s.stderr, "of a worktree", s.stderr)


def mounted(where):
    """Where the one session so far had the workspace, by its record."""
    path, = where.state.glob("sessions/*/session.json")
    return json.loads(path.read_text())["mounted"]


def tree(where, ref="HEAD"):
    return said(where, "ls-tree", "-r", "--full-tree", ref)


# W-8
@test
def a_folder_of_a_repository_works_once_it_is_approved():
    with folder() as where:
        approve(where)
        before = tree(where)
        s = inside(where, "git status --porcelain; pwd; "
                   "git rev-parse --show-toplevel --show-prefix; ls -A; "
                   "ls -A ../..; cat ../../README ../../.env; "
                   "cat ../../.gitignore; cat lib/link; ls ../../lib")
        check(s.stdout.split() == [
            str(where.work), str(where.all), "services/web/",
            ".npmrc", "a", "d", "private", ".env", ".git", ".gitignore",
            "README", "lib", "probe.py", "services", "*.o", "link", "run",
            "x"],
            "it is clean, and nothing beside it is there",
            s.stdout + s.stderr)
        check(mounted(where) == ["/workspace", str(where.work)],
              "the record says where it was", mounted(where))
        s = inside(
            where, "set -e; echo two >a; git stash -q; test $(cat a) = one; "
            "git stash pop -q; git add -A; git commit -qm two; "
            "git checkout -qb other; echo 3 >new; git add .; "
            "git commit -qam three; git checkout -q main; "
            "git merge -q --no-edit other; git rebase -q --root; "
            "git reset -q --hard HEAD~1; git reset -q --hard ORIG_HEAD; "
            "git -C ../.. add -A; git status --porcelain; cat a new; "
            "git log --oneline | wc -l")
        check(s.status == 0 and s.stdout.split() == ["two", "3", "3"],
              "what agents do", s.stdout + s.stderr)
        after = tree(where)
        check([x for x in after.splitlines() if "/a" not in x and
               "/new" not in x] ==
              [x for x in before.splitlines() if "/a" not in x],
              "commits have all the rest as it was", before + after)
        check(said(where, "status", "--porcelain") == "" and
              (where.all / "README").read_text() == "all\n" and
              (where.all / ".env").read_text() == SECRET,
              "and the host finds nothing changed",
              said(where, "status", "--porcelain"))


# W-9, W-11
@test
def what_the_user_changed_beside_it_stays_the_users():
    """git inside takes these for what it saw last, and writes that down."""
    with folder() as where:
        approve(where)
        (where.all / "README").write_text("my own, not committed\n")
        (where.all / "lib/x").unlink()
        (where.all / "services/api/mine").write_text("new\n")
        where.own()
        changed = " D lib/x\n M README\n?? services/api/mine\n"
        s = inside(where, "set -e; git status --porcelain; echo 2 >a; "
                   "git -C ../.. add -A; git commit -qam two; "
                   "git checkout -q .; git stash list; "
                   "git status --porcelain; cat ../../README")
        check(s.status == 0 and s.stdout == "", "inside nothing of it shows",
              s.stdout + s.stderr)
        have = sorted(said(where, "status", "--porcelain",
                           "--untracked-files=all").splitlines())
        check(have == sorted(changed.splitlines()) and
              said(where, "show", "HEAD:README") == "all\n" and
              said(where, "show", "--name-only", "--format=%s") ==
              "two\n\nservices/web/a\n",
              "the host has its changes", "\n".join(have))


# W-10
@test
def beside_the_folder_nothing_is_written():
    with folder() as where:
        approve(where)
        config = (where.git / "config").read_bytes()
        names = {str(p) for p in where.all.rglob("*")
                 if ".git/" not in str(p)}
        s = inside(
            where, "cd ../..; for f in README lib/x lib/new top services/n; "
            "do echo x >$f; mv $f a.$$; mv services/web/a $f; rm -f $f; "
            "ln services/web/a $f; ln -s x $f; mkdir $f; chmod 777 $f; done; "
            "rm -rf lib; mv services s; rmdir services/api; "
            "chmod -R 777 lib; echo x >>lib/link; "
            "echo x >.git/hooks/pre-commit; echo x >>.git/config; "
            "mv .git g; mv .git/hooks h; cat services/web/a; "
            "git status --porcelain; git config user.name Agent && "
            "git config user.name")
        check(s.stdout.splitlines() == ["one", "Agent"], "nothing changed",
              s.stdout + s.stderr)
        check(names == {str(p) for p in where.all.rglob("*")
                        if ".git/" not in str(p)} and
              (where.all / "README").read_text() == "all\n" and
              (where.git / "config").read_bytes() == config and
              not (where.git / "hooks/pre-commit").exists(), "on the host")
        check("outside of the workspace" in s.stderr, "the summary says why",
              s.stderr)


@test
def other_branches_are_checked_out_around_the_folder():
    with folder() as where:
        on_host(where, "checkout", "-q", "-b", "other", cwd=where.all)
        (where.all / "README").write_text("other\n")
        (where.all / "lib/x").unlink()
        (where.all / "deep/er").mkdir(parents=True)
        (where.all / "deep/er/z").write_text("z\n")
        (where.work / "a").write_text("other\n")
        where.own()
        on_host(where, "add", "-A", cwd=where.all)
        on_host(where, "commit", "-qm", "other", cwd=where.all)
        other = tree(where)
        on_host(where, "checkout", "-q", "main", cwd=where.all)
        where.own()
        approve(where)
        s = inside(where, "set -e; git checkout -q other; cat a; "
                   "cat ../../README ../../deep/er/z; ls ../../lib; "
                   "git status --porcelain; echo more >>a; "
                   "git commit -qam more; git status --porcelain; "
                   "git checkout -q main; git status --porcelain; cat a; "
                   "ls ../../lib")
        check(s.status == 0 and s.stdout.split() == [
            "other", "other", "z", "link", "run", "one", "link", "run", "x"],
            "and back", s.stdout + s.stderr)
        check([x for x in tree(where, "other").splitlines() if "/a" not in x]
              == [x for x in other.splitlines() if "/a" not in x] and
              said(where, "status", "--porcelain") == "",
              "the host has it", said(where, "status", "--porcelain"))


# W-12
@test
def a_folder_of_what_is_strange_is_not_shown():
    with folder() as where:
        on_host(where, "checkout", "-q", "-b", "other", cwd=where.all)
        (where.all / "README").write_text("other\n")
        on_host(where, "commit", "-qam", "other", cwd=where.all)
        on_host(where, "checkout", "-q", "main", cwd=where.all)
        (where.all / "README").write_text("main\n")
        on_host(where, "commit", "-qam", "main", cwd=where.all)
        try:
            on_host(where, "merge", "-q", "other", cwd=where.all)
        except subprocess.CalledProcessError:
            pass
        where.own()
        approve(where)
        s = where.membrane(*STATUS)
        check("not a git repository" in s.stdout and
              "a merge has left conflicts there" in s.stderr, "a conflict",
              s.stdout + s.stderr)
    if live.ENGINE != "docker":
        return
    with folder("masks: start\nignore: [.npmrc]\n") as where:
        approve(where)
        s = where.membrane(*STATUS)
        check("not a git repository" in s.stdout and
              "which 'masks: start' cannot show" in s.stderr, "mounts cannot",
              s.stdout + s.stderr)


# W-4
@test
def configuration_of_a_worktree_is_the_sessions():
    with linked("hold") as where:
        approve(where)
        before = (where.git / "config").read_bytes()
        s = inside(where, "git remote add up https://git.test/a.git && "
                   "git config user.name Agent && git remote -v && "
                   "git config user.name")
        check(s.status == 0 and "https://git.test/a.git" in s.stdout and
              "Agent" in s.stdout, "it is set", s.stdout + s.stderr)
        check((where.git / "config").read_bytes() == before,
              "the host's is not")
        check("+ .git/config  [remote \"up\"] url = https://git.test/a.git"
              in s.stderr and "repositoryformatversion" not in s.stderr,
              "the end tells what was set", s.stderr)


@test
def what_does_not_point_back_is_not_shown():
    """An agent of an earlier session may have written what leads there."""
    with linked("hold") as where:
        on_host(where, "worktree", "add", "-q", "-b", "third",
                str(where.root / "third"))
        for text, why in (
                ("gitdir: %s/worktrees/third\n" % where.git,
                 "is another worktree's"),
                ("gitdir: %s\n" % where.git,
                 "does not say where its files are"),
                ("gitdir: /\n", "names the root folder"),
                ("gitdir: %s\n\nx" % where.git, "is no file of one line")):
            (where.work / ".git").write_text(text)
            s = where.membrane("run", "--trust-workspace", "--", "ls",
                               str(where.git))
            check(s.status and why in s.stderr, repr(text), s.stderr)


@test
def what_was_approved_is_asked_about_when_it_changes():
    with linked("hold") as where:
        approve(where)
        plan = json.loads(where.membrane("plan", "--json",
                                         "--no-trace").stdout)
        check(plan["git_repository"] == {
            "state": "shown", "path": str(where.git), "worktree": "side"},
            "plan has it", plan.get("git_repository"))
        on_host(where, "worktree", "move", str(where.work),
                str(where.root / "moved"), cwd=where.root / "project")
        where.work = where.root / "moved"
        s = inside(where, "git status")
        check(s.status and "nobody approved that" in s.stderr,
              "another folder is another question", s.stderr)
        where.membrane("trust", "--yes")
        s = inside(where, "git status --porcelain")
        check(s.status == 0 and s.stdout == "", "and then it works",
              s.stdout + s.stderr)


def submodule(masks):
    """A submodule's folder, as the workspace."""
    where = Place("masks: %s\nignore: [.npmrc]\n" % masks, files={
        "a": "one\n", ".npmrc": SECRET}, env={"GIT_CONFIG_NOSYSTEM": "1"})
    identity(where)
    on_host(where, "init", "-q", "-b", "main", ".")
    on_host(where, "add", "-A", "-f", ".")
    on_host(where, "commit", "-qm", "start")
    above = where.root / "above"
    on_host(where, "init", "-q", "-b", "main", str(above))
    on_host(where, "-c", "protocol.file.allow=always", "submodule", "add",
            "-q", str(where.work), "part", cwd=above)
    where.work = above / "part"
    where.git = above / ".git" / "modules" / "part"
    return where


# W-6, W-7
@test
def submodule_works_once_it_is_approved():
    with submodule("hold") as where:
        s = inside(where, "git status")
        check(s.status and "nobody approved that" in s.stderr,
              "not unasked", s.stderr)
        approve(where)
        config = (where.git / "config").read_bytes()
        s = inside(where, "set -e; git status --porcelain; "
                   "git rev-parse --show-toplevel; echo 2 >b; git add -A; "
                   "git commit -qm two; git checkout -qb other; "
                   "git stash list; git gc -q; git config user.name Agent; "
                   "git config core.worktree; git log --format=%s; "
                   "cd / && git -C $OLDPWD status --porcelain")
        check(s.status == 0 and s.stdout.split() == [
            str(where.work), str(where.work), "two", "start"], "it works",
            s.stdout + s.stderr)
        check("+ .git/config  [user] name = Agent" in s.stderr and
              "worktree" not in s.stderr, "what was set, and no more",
              s.stderr)
        check((where.git / "config").read_bytes() == config and
              said(where, "log", "--format=%s", "other").split() ==
              ["two", "start"] and
              said(where, "status", "--porcelain") == "" and
              said(where, "show", "HEAD:.npmrc") == SECRET,
              "the host has it, and its configuration",
              said(where, "status"))
        s = inside(where, "cd %s && echo x >hooks/pre-commit; echo x "
                   ">>config; echo .. >commondir; mkdir modules; "
                   "echo x >config.worktree; ls; true" % where.git)
        check((where.git / "config").read_bytes() == config and not any(
            (where.git / name).exists() for name in (
                "hooks/pre-commit", "commondir", "modules",
                "config.worktree")), "what git runs is not its to write",
            s.stdout + s.stderr)
    if live.ENGINE != "docker":
        return
    with submodule("start") as where:
        approve(where)
        s = inside(where, "git status")
        check(s.status and "which 'masks: start' cannot show" in s.stderr,
              "mounts cannot", s.stderr)


FILES = {"a": "one\n", ".npmrc": SECRET, "d/x": "1\n", "e/y": "2\n"}
LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 9\n"


def one_repository(more=None, after=()):
    """Committed, all of it; then what the host's git is told."""
    where = Place("ignore: [.npmrc, '*.pem', .env]\n", files={
        **FILES, **(more or {})}, env={"GIT_CONFIG_NOSYSTEM": "1"})
    identity(where)
    on_host(where, "init", "-q", "-b", "main", ".")
    on_host(where, "add", "-A", "-f", ".")
    on_host(where, "commit", "-qm", "start")
    for words in after:
        on_host(where, *words)
    return where


def by_a_link():
    where = one_repository()
    (where.root / "link").symlink_to("project")
    where.work = where.root / "link"
    return where


def nested():
    where = one_repository({".gitignore": "inner/\n"}, (
        ("init", "-q", "inner"), ("-C", "inner", "commit", "-q",
                                  "--allow-empty", "-m", "one")))
    return where


def layouts():
    yield "folder of a repository", folder()
    yield "linked worktree", linked("hold")
    yield "bare repository's worktree", linked("hold", "bare")
    yield "submodule", submodule("hold")
    yield "husky", one_repository(
        {".husky/pre-commit": "exit 0\n"},
        (("config", "core.hooksPath", ".husky"),))
    yield "LFS pointers", one_repository(
        {"key.pem": LFS % ("4d" * 32), "b.bin": LFS % ("4e" * 32),
         ".gitattributes": "*.pem filter=lfs -text\n*.bin filter=lfs -text\n"})
    yield "sparse checkout", one_repository(
        {}, (("sparse-checkout", "set", "d"),))
    yield "workspace by a link", by_a_link()
    yield "nested repository", nested()
    yield "tracked .env", one_repository({".env": SECRET})


@test
def status_of_a_clean_clone_is_clean():
    for name, where in layouts():
        with where:
            s = where.membrane("run", "--trust-workspace", "--", "bash", "-c",
                               "git status --porcelain --branch && "
                               "git diff --quiet && git commit -q "
                               "--allow-empty -m two && git add -A && "
                               "git status --porcelain")
            check(s.status == 0 and len(s.stdout.splitlines()) == 1 and
                  s.stdout.startswith("## "), name, s.stdout + s.stderr)
            check(said(where, "log", "-1", "--format=%s") == "two\n" and
                  said(where, "status", "--porcelain") == "",
                  name + ": on the host", said(where, "status"))


def answered(where, keys):
    return on_a_terminal(where, *STATUS, keys=keys, when=b"[y/N]", seconds=60)


@test
def a_repository_is_asked_about_once():
    with linked("hold") as where:
        status, screen = answered(where, b"n\r")
        check(status == 0 and "Give it to sessions in this folder?" in screen
              and "not a git repository" in screen, "no is no reason not to "
              "run", (status, screen))
        s = where.membrane(*STATUS)
        check(s.status == 0 and "not a git repository" in s.stdout and
              "approved" not in s.stderr, "and is not asked again",
              s.stdout + s.stderr)
        s = where.membrane("trust", "--show")
        check("its repository: declined" in s.stdout, "it is remembered",
              s.stdout)
        where.membrane("trust", "--revoke")
        status, screen = answered(where, b"yes\r")
        check(status == 0 and "not a git" not in screen and "## " in screen, "yes",
              (status, screen))
        s = where.membrane(*STATUS)
        check(s.status == 0 and s.stdout == "## side\nended\n",
              "and is not asked again", s.stdout + s.stderr)


@test
def links_of_the_repositorys_agent_are_not_followed():
    """Docker would mount what they lead to."""
    with linked("start") as where:
        approve(where)
        (where.root / "private").mkdir()
        (where.root / "private" / "key").write_text(SECRET)
        (where.git / "logs").rename(where.git / "l")
        (where.git / "logs").symlink_to(where.root / "private")
        where.own()
        s = inside(where, "cat %s/logs/key; git status" % where.git)
        check(s.status and SECRET not in s.stdout and
              "logs is neither a folder nor a file" in s.stderr,
              "a link", s.stdout + s.stderr)
