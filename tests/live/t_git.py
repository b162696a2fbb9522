"""git in a session: who commits."""
import subprocess

import live
from live import Place, check, test

FILE = "/etc/membrane/gitconfig"


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


@test
def images_own_configuration_is_not_covered():
    with place("", {"a": "one\n"}) as where:
        identity(where)
        s = inside(where, "git config --get-all safe.directory; "
                   "test -e /etc/gitconfig && echo there; "
                   "echo x >>%s; cat %s | grep -c Ada; "
                   "echo $GIT_CONFIG_SYSTEM" % (FILE, FILE))
        check(s.stdout.splitlines() == ["*", "there", "1", FILE],
              "included, and read-only", s.stdout + s.stderr)
        check("Read-only file system" in s.stderr or
              "Permission denied" in s.stderr, "no way to write", s.stderr)
        on_host(where, "config", "--global", "--remove-section", "user")
        s = inside(where, "ls %s; echo ${GIT_CONFIG_SYSTEM-unset}" % FILE)
        check(s.stdout == "unset\n", "where nothing is set, nothing is there",
              s.stdout + s.stderr)
