"""git in a session: who commits."""
import json
import subprocess

import live
from live import Place, check, test

CONFIG = "/etc/membrane/gitconfig"
IDENTITY = "/etc/membrane/gitidentity"


def place(policy, files):
    """What this machine's own configuration says stays out of it."""
    return Place(policy, files=files, env={"GIT_CONFIG_NOSYSTEM": "1"})


def inside(where, command, *flags):
    return where.membrane("run", *flags, "--", "bash", "-c", command)


def on_host(where, *words, cwd=None):
    """git of the host, as the user who will launch."""
    return subprocess.run(live.the.as_user(
        "git", *words, cwd=cwd or where.work,
        env={"HOME": str(where.root)}), check=True, capture_output=True)


def identity(where, name="Ada", email="ada@home.test"):
    on_host(where, "config", "--global", "user.name", name)
    on_host(where, "config", "--global", "user.email", email)


COMMIT = ("git add -A . && git commit -qm one && "
          "git log -1 --format='%an <%ae> %cn <%ce>'")


@test
def commit_works_at_once():
    with place("", {"a": "one\n"}) as where:
        on_host(where, "init", "-q", ".")
        s = inside(where, COMMIT)
        check(s.status and "tell me who you are" in s.stderr,
              "without a word of the host's git there is none",
              s.stdout + s.stderr)
        identity(where)
        on_host(where, "config", "--global", "init.defaultBranch", "trunk")
        on_host(where, "config", "--global",
                "includeIf.gitdir:%s/.path" % where.work, "at-work")
        on_host(where, "config", "--file", str(where.root / "at-work"),
                "user.email", "ada@work.test")
        s = inside(where, COMMIT + "; git init -q ~/new && "
                   "git -C ~/new symbolic-ref HEAD; git config user.name")
        check(s.stdout.splitlines() == [
            "Ada <ada@work.test> Ada <ada@work.test>", "refs/heads/trunk",
            "Ada"], "as on the host", s.stdout + s.stderr)
        plan = where.membrane("plan", "--no-trace").stdout
        check("ada@work.test" in plan and "ada@home.test" not in plan,
              "the plan says so", plan)


@test
def whatever_is_set_inside_wins():
    with place("args: [--env, GIT_COMMITTER_NAME=Policy]\n",
               {"a": "one\n"}) as where:
        on_host(where, "init", "-q", ".")
        identity(where)
        s = inside(where, COMMIT)
        check(s.stdout == "Ada <ada@home.test> Policy <ada@home.test>\n",
              "a variable of the policy's", s.stdout + s.stderr)
        s = inside(where, "git config --global user.name Agent && "
                   "echo 2 >a && " + COMMIT +
                   "; echo 3 >a; git add a; git -c user.name=Once commit "
                   "-qm three; git log -1 --format=%an")
        check(s.stdout.splitlines() == [
            "Agent <ada@home.test> Policy <ada@home.test>", "Once"],
            "the agent's own", s.stdout + s.stderr)
        # its home outlives the session
        on_host(where, "config", "user.email", "repository@x.test")
        s = inside(where, "echo 4 >a && " + COMMIT)
        check(s.stdout ==
              "Agent <repository@x.test> Policy <repository@x.test>\n",
              "the repository's", s.stdout + s.stderr)


@test
def odd_names_are_no_words():
    """Nothing that a name holds is a word, a placeholder or a setting."""
    odd = ['--privileged', '"; [core] pager = x', "{env:HOME} {git}",
           "a,target=/etc", "$(id) `id`", "back\\slash\\", "# no comment",
           "Zo\u00eb  \u4e2d"]
    with place("", {"a": "one\n"}) as where:
        on_host(where, "init", "-q", ".")
        for name in odd:
            identity(where, name)
            s = inside(where, "git config user.name; git config core.pager")
            check(s.stdout == name + "\n", repr(name), s.stdout + s.stderr)
        identity(where, "two\nlines")
        s = inside(where, "git config user.name; git config user.email")
        check(s.stdout == "ada@home.test\n" and
              "user.name of ~/.gitconfig holds control characters" in s.stderr,
              "what is no name stays out", s.stdout + s.stderr)


@live.docker_only("an image with /etc/gitconfig")
def images_own_configuration_is_not_covered():
    with place("", {"a": "one\n"}) as where:
        identity(where)
        s = inside(where, "git config --get-all safe.directory; "
                   "test -e /etc/gitconfig && echo there; "
                   "echo x >>%s; echo x >>%s; cat %s | grep -c Ada; "
                   "echo $GIT_CONFIG_SYSTEM" % (CONFIG, IDENTITY, IDENTITY))
        check(s.stdout.splitlines() == ["*", "there", "1", CONFIG],
              "included, and read-only", s.stdout + s.stderr)
        check("Read-only file system" in s.stderr or
              "Permission denied" in s.stderr, "no way to write", s.stderr)
        on_host(where, "config", "--global", "--remove-section", "user")
        s = inside(where, "ls %s; git config --get-all safe.directory" %
                   IDENTITY)
        check(s.stdout == "*\n", "where nothing is set, nothing is there",
              s.stdout + s.stderr)


# --- what is hidden ---------------------------------------------------------

SECRETS = {".npmrc": "token\n", "sub/.npmrc": "other\n", "it's.pem": "key\n"}


def hidden(masks):
    """A repository whose tracked files the default policy hides, in part."""
    where = place("masks: %s\nignore: [.npmrc, '*.pem', .aws/]\n" % masks,
                  dict(SECRETS, a="one\n"))
    identity(where)
    on_host(where, "init", "-q", "-b", "main", ".")
    on_host(where, "add", "-A", "-f", ".")
    on_host(where, "commit", "-qm", "start")
    return where


def committed(where, rev="HEAD"):
    """What a revision has of the hidden files."""
    return {name: on_host(where, "show", "%s:%s" % (rev, name)).stdout.decode()
            for name in SECRETS}


@test
def commits_never_eat_what_is_hidden():
    for masks in live.MASKS:
        with hidden(masks) as where:
            (where.work / "new.pem").write_text("untracked\n")
            s = inside(where, "echo 2 >a && git add -A && git commit -qm two "
                       "&& echo 3 >a && git commit -qam three && "
                       "git update-index --force-write-index --really-refresh;"
                       " git add -A --renormalize . && git status --porcelain;"
                       " git ls-files; cat .npmrc")
            check(s.stdout.splitlines() == [
                ".npmrc", "a", "it's.pem", "probe.py", "sub/.npmrc"],
                "clean after all, and nothing hidden was added, " + masks,
                s.stdout + s.stderr)
            check(committed(where) == SECRETS, "as committed, " + masks,
                  s.stdout + s.stderr)
            for name, text in SECRETS.items():
                check((where.work / name).read_text() == text,
                      "and on the host", name)
            out = on_host(where, "status", "--porcelain").stdout.decode()
            check(out == "?? new.pem\n", "no change", out)


@test
def what_the_user_changed_and_hides_stays_the_users():
    """Not committed on the host: no change inside, and still one after it."""
    with hidden("hold") as where:
        (where.work / ".npmrc").write_text("the user's own\n")
        (where.work / "it's.pem").chmod(0o755)
        changed = on_host(where, "status", "--porcelain").stdout
        s = inside(where, "git status --porcelain; git diff; "
                   "stat -c %s .npmrc; echo 2 >a; git add -A; "
                   "git commit -qam two; git status --porcelain; "
                   "git checkout -q -b side HEAD^; git checkout -q main; "
                   "git reset -q --hard; git status --porcelain")
        check(s.stdout == "%d\n" % len(SECRETS[".npmrc"]),
              "nothing is changed", s.stdout + s.stderr)
        check(committed(where) == SECRETS, "as committed", s.stderr)
        check(on_host(where, "status", "--porcelain").stdout == changed and
              changed == b" M .npmrc\n M it's.pem\n",
              "and to commit on the host", changed)
        check((where.work / ".npmrc").read_text() == "the user's own\n",
              "its own", s.stderr)


@test
def links_that_are_hidden_are_as_committed():
    with place("ignore: [.env]\n", {"a": "1\n", "sub/b": "2\n"}) as where:
        identity(where)
        on_host(where, "init", "-q", "-b", "main", ".")
        for name, to in ((".env", "../out side"), ("sub/.env", "../gone")):
            (where.work / name).symlink_to(to)
        on_host(where, "add", "-A", "-f", ".")
        on_host(where, "commit", "-qm", "one")
        # what the disk says now is not what git has
        (where.work / ".env").unlink()
        (where.work / ".env").symlink_to("secret place")
        s = inside(where, "readlink .env sub/.env; echo 3 >a; "
                   "git add -A; git commit -qam two; git status --porcelain; "
                   "git stash -q; git checkout -qf .; ls -l .env | grep -c ^l")
        check(s.stdout.splitlines() == ["../out side", "../gone", "1"],
              "shown as in the index", s.stdout + s.stderr)
        out = on_host(where, "show", "--format=", "--name-only", "HEAD").stdout
        check(out.decode() == "a\n", "and left so by a commit", out)
        check((where.work / ".env").readlink().name == "secret place",
              "the host's is the host's", s.stderr)


@test
def what_is_hidden_and_untracked_does_not_show():
    for masks in live.MASKS:
        with place("masks: %s\nignore: [.env]\n" % masks,
                   {".env": "s\n", "sub/.env": "s\n", "a": "1\n"}) as where:
            on_host(where, "init", "-q", ".")
            identity(where)
            on_host(where, "add", "a", "probe.py")
            on_host(where, "commit", "-qm", "one")
            s = inside(where, "git status --porcelain; git add -A; "
                       "git status --porcelain; echo end")
            check(s.stdout == "end\n", "clean in a clean clone, " + masks,
                  s.stdout + s.stderr)


@test
def sequences_leave_what_is_hidden():
    """As people and agents use git, over a branch that differs in secrets."""
    with hidden("hold") as where:
        on_host(where, "checkout", "-qb", "other")
        (where.work / ".npmrc").write_text("of other\n")
        (where.work / "extra.pem").write_text("of other\n")
        on_host(where, "add", "-Af", ".")
        on_host(where, "commit", "-qm", "other")
        on_host(where, "checkout", "-q", "main")
        s = inside(where, """
            set -e
            git status --porcelain
            echo 2 >a; git stash -q; cat a; git stash pop -q; cat a
            git commit -qam two
            git checkout -q other; git status --porcelain; cat .npmrc
            echo b >b; git add -A; git commit -qm b
            git checkout -q main; git status --porcelain
            git merge -q -m merged other; git status --porcelain
            git checkout -qb topic HEAD~1; echo t >t; git add t
            git commit -qm t; git rebase -q main; git status --porcelain
            git reset -q --hard HEAD~1; git status --porcelain
            git clean -fdq; git diff --stat; git diff --cached --stat
            echo end
        """)
        check(s.stdout.splitlines() == ["one", "2", "of other", "end"],
              "nothing fails, nothing shows", s.stdout + s.stderr)
        start = on_host(where, "rev-parse", "main@{0}").stdout
        check(start, "the branch is there", s.stderr)
        for rev, npmrc in (("main", "of other\n"), ("other", "of other\n"),
                           ("main^1", "token\n"), ("topic", "of other\n")):
            got = committed(where, rev)
            check(got == dict(SECRETS, **{".npmrc": npmrc}), rev, got)
        check((where.work / ".npmrc").read_text() == "token\n",
              "the host's file is as it was", s.stderr)
        check(not (where.work / "extra.pem").exists(), "and no new one",
              s.stderr)
        line = [w for w in s.stderr.splitlines() if "in this session" in w]
        check(len(line) == 1 and ".npmrc" in line[0], "which is said",
              s.stderr)


STEPS = [
    "git cherry-pick side", "git revert --no-edit HEAD",
    "git mv a moved && git commit -m moved",
    "git rm --cached sub/.npmrc && git reset -q",
    "git rm .npmrc && git commit -m removed && ! test -e .npmrc",
    "git revert --no-edit HEAD && test $(cat .npmrc) = token",
    "git restore --source HEAD~1 --staged --worktree .npmrc && "
    "! test -e .npmrc && git reset -q --hard && git restore .npmrc",
    "echo u >u && git stash -u && git stash pop && rm u",
    "git format-patch -1 -o ~ side && git am ~/0001-side.patch",
    "! git merge clash && git merge --abort", "! git rebase clash && "
    "git rebase --abort", "git bisect start HEAD HEAD~2 && git bisect reset",
    "git commit --amend --no-edit", "git switch --detach HEAD~1 && "
    "git switch main", "git gc -q && git fsck", "git branch -D side",
    "git diff --exit-code && git diff --cached --exit-code",
]


@test
def each_step_ends_clean():
    """One command after the other, with masks that the index is racy about."""
    with hidden("hold") as where:
        for branch, name in (("side", "s"), ("clash", "a")):
            on_host(where, "checkout", "-qb", branch, "main")
            (where.work / name).write_text(branch + "\n")
            if branch == "clash":
                (where.work / ".npmrc").write_text("clash\n")
            on_host(where, "add", "-A")
            on_host(where, "commit", "-qm", branch)
        on_host(where, "checkout", "-q", "main")
        script = "echo 2 >a && git commit -qam main\n" + "".join(
            "( %s ) >~/said 2>&1 && test -z \"$(git status --porcelain)\" "
            "|| { echo '%s'; cat ~/said; git status --porcelain; }\n" %
            (step, step) for step in STEPS)
        s = inside(where, script + "echo end")
        check(s.stdout == "end\n", "each works, and leaves nothing",
              s.stdout + s.stderr)
        check(committed(where) == SECRETS, "and what was committed", s.stderr)
        check((where.work / ".npmrc").read_text() == "token\n",
              "the host's file is as it was", s.stderr)


@test
def configuration_of_a_session_stays_in_it():
    with hidden("hold") as where:
        before = (where.work / ".git/config").read_text()
        s = inside(where, """
            if echo x >>.git/config; then echo written; fi
            set -e
            git init -q --bare ~/far.git
            git remote add origin ~/far.git
            git push -qu origin main
            git config user.email inside@x.test
            git checkout -qb old; git branch -m new
            git config --get-regexp 'remote|branch|user' | sort
            git remote -v | wc -l
            rm -rf ~/far.git
        """)
        check(s.stdout.splitlines() == [
            "branch.main.merge refs/heads/main", "branch.main.remote origin",
            "remote.origin.fetch +refs/heads/*:refs/remotes/origin/*",
            "remote.origin.url /home/agent/far.git",
            "user.email ada@home.test", "user.email inside@x.test",
            "user.name Ada", "2"],
            "all of it works", s.stdout + s.stderr)
        check((where.work / ".git/config").read_text() == before,
              "the host's file is as it was", before)
        for part in ('+ .git/config  [remote "origin"] url = '
                     '/home/agent/far.git', "[user] email = inside@x.test",
                     '[branch "main"] remote = origin', "git config NAME"):
            check(part in s.stderr, "said at the end: " + part, s.stderr)
        check(any("write .git/config" in line and "'git remote'" in line
                  for line in s.stderr.splitlines()),
              "a write to it says what works", s.stderr)
        summary = json.loads(next((where.state / "sessions").glob(
            "*/summary.json")).read_text())
        kept = [k for k in summary["kept"] if k["what"] == "config"]
        check(len(kept) == 1 and "far.git" in kept[0]["text"],
              "all of it is kept", summary["kept"])


@test
def what_another_git_emptied_is_named():
    """One that knows neither filters nor sizes: it commits what it reads."""
    with hidden("hold") as where:
        s = inside(where, "h=$(git hash-object -w --stdin </dev/null); "
                   "git update-index --cacheinfo 100644,$h,.npmrc; "
                   "git commit -qm emptied")
        line = [w for w in s.stderr.splitlines() if "are empty" in w]
        check(len(line) == 1 and ": .npmrc (" in line[0], "said",
              s.stdout + s.stderr)
        summary = json.loads(next((where.state / "sessions").glob(
            "*/summary.json")).read_text())
        check(summary["emptied"] == [".npmrc"], "and kept", summary)
        s = inside(where, "true")
        check("are empty" not in s.stderr, "of the session that did it",
              s.stderr)


# --- ssh --------------------------------------------------------------------

@test
def ssh_knows_the_forges_that_are_named():
    """As a user that ssh finds a name for."""
    with place("allow: [github.com:22, '*.com:443']\n"
               + live.NAMED, {"a": "1\n"}) as where:
        s = inside(where, "ssh -G github.com | grep ^globalknownhosts; "
                   "ssh-keygen -lF github.com -f /etc/ssh/ssh_known_hosts2 | "
                   "grep -v '^#' | sort; "
                   "ssh-keygen -F gitlab.com -f /etc/ssh/ssh_known_hosts2; "
                   "echo x >>/etc/ssh/ssh_known_hosts2 || echo held")
        check(s.stdout.splitlines() == [
            "globalknownhostsfile /etc/ssh/ssh_known_hosts "
            "/etc/ssh/ssh_known_hosts2",
            "github.com ECDSA SHA256:p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/"
            "LiyKgUfQM",
            "github.com ED25519 SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4"
            "UvCOqU",
            "github.com RSA SHA256:uNiVztksCsDhcc0u9e8BujQXVUpKZIDTMczCvj3tD2"
            "s", "held"],
            "the published keys, of the one host", s.stdout + s.stderr)
        s = inside(where, "ls /etc/ssh/ssh_known_hosts2 || echo none",
                   "--no-global-config")
        check(s.stdout == "none\n", "where no forge is named, no file",
              s.stdout + s.stderr)


@test
def a_first_repository_is_made_inside():
    """Where there was no .git, neither hooks nor configuration are made."""
    with place("", {"a": "one\n"}) as where:
        identity(where)
        s = inside(where, "git init -q . && git add -A && git commit -qm one "
                   "&& git status --porcelain && git config x.y z && "
                   "git config x.y && ls .git; mkdir .git/hooks; "
                   "echo x >>.git/config")
        check("Initialized" not in s.stderr and s.stdout.split()[0] == "z" and
              "hooks" not in s.stdout, "it works", s.stdout + s.stderr)
        made = {p.name for p in (where.work / ".git").iterdir()}
        check({"HEAD", "objects", "refs"} <= made and
              not made & {"hooks", "config"} and
              on_host(where, "log", "--format=%s").stdout == b"one\n" and
              on_host(where, "status", "--porcelain").stdout == b"",
              "the host has a repository, and nothing that runs", made)
        s = inside(where, "echo 2 >a; git commit -qam two; "
                   "git log --format=%s")
        check(s.stdout.split() == ["two", "one"], "and the next session",
              s.stdout + s.stderr)


POINTER = ("version https://git-lfs.github.com/spec/v1\n"
           "oid sha256:%s\nsize 12345\n" % ("4d" * 32))


@test
def a_filter_of_the_repositorys_own_changes_nothing():
    """git LFS, without it: of a hidden name the session's filter is git's."""
    lfs = "*.pem filter=lfs diff=lfs merge=lfs -text\n"
    for info in (None, "*.bin -text\n"):
        with place("masks: hold\nignore: ['*.pem']\n", {
                "a": "one\n", "key.pem": POINTER, "sub/.keep": "",
                ".gitattributes": lfs}) as where:
            identity(where)
            on_host(where, "init", "-q", "-b", "main", ".")
            on_host(where, "add", "-A", "-f", ".")
            on_host(where, "commit", "-qm", "start")
            if info:
                (where.work / ".git/info/attributes").write_text(info)
                where.own()
            s = inside(where, "git status --porcelain && git check-attr "
                       "filter key.pem && git check-attr text x.bin && "
                       "touch a && git add -A && git commit -q --allow-empty "
                       "-am two && git stash -q; git checkout -q HEAD~ && "
                       "git rm -q --cached key.pem && git reset -q --hard && "
                       "git status --porcelain")
            check(s.status == 0 and s.stdout.splitlines() == [
                "key.pem: filter: membrane", "x.bin: text: %s" %
                ("unset" if info else "unspecified")], "it is clean",
                s.stdout + s.stderr)
            check(on_host(where, "show", "main:key.pem").stdout.decode() ==
                  POINTER, "and committed as it was")
            check((where.work / ".git/info/attributes").exists() ==
                  (info is not None) and "attributes" not in s.stderr,
                  "nothing of it is the host's", s.stderr)
