"""Agents that somebody installed in a home, as npm does, run by the engine that
has no images: `membrane NAME`, a `y`, and nothing else that is theirs to see."""
import contextlib
import os
import subprocess

from live import ROOT, SLOW, Place, Skip, check
from t_native import native
from t_profiles import KEY, in_vain, purposes
from terminal import Terminal

PREFIX = ROOT / "build/clients/prefix"
ROOTS = "/etc/ssl/certs/ca-certificates.crt"
PACKAGES = {"claude": "@anthropic-ai", "codex": "@openai",
            "opencode": "opencode-ai", "pi": "@mariozechner"}
PROMPT = "edit notes.txt: mine -> ours"


@contextlib.contextmanager
def home_of(name):
    """A user who has it in a prefix of their own, and a key beside."""
    if not (PREFIX / "bin" / name).exists():
        raise Skip("not fetched: tests/live/clients.sh")
    with Place(files={"notes.txt": "mine\n"}) as where:
        to = where.root / ".npm-global"
        modules = to / "lib/node_modules"
        modules.mkdir(parents=True)
        (to / "bin").mkdir()
        subprocess.run(["cp", "-al", PREFIX / "lib/node_modules" /
                        PACKAGES[name], modules], check=True)
        os.symlink(os.readlink(PREFIX / "bin" / name), to / "bin" / name)
        (where.root / ".ssh").mkdir()
        (where.root / ".ssh/id_ed25519").write_text("a key\n")
        where.env["PATH"] = "%s/bin:%s" % (to, os.environ["PATH"])
        yield where


def first_use(name, *words, variables=(), allow=()):
    """At a terminal: one question, and its answer."""
    with home_of(name) as where:
        flags = [w for v in (*variables, "NODE_EXTRA_CA_CERTS=" + ROOTS)
                 for w in ("-e", v)]
        flags += [w for a in allow for w in ("--allow", a)]
        with Terminal(where.argv(*flags, name, *words), 40, 120) as t:
            if not check(t.shows(rb"Add that, and run it\? \[y/N\] ",
                                 30 * SLOW), "it asks", t.all[-2000:]):
                return
            check(b"visible read ~/.npm-global" in t.all, "for its folder",
                  t.all)
            t.type(b"y\r")
            check(t.shows(b"hello from the model", 90 * SLOW), "it answers",
                  t.all[-3000:])
            check(t.ends(60 * SLOW) == 0, "and ends", t.all[-2000:])
            check(t.all.count(b"[y/N]") == 1, "nothing else is asked", t.all)
        policy = (where.work / ".membrane.yaml").read_text()
        check(policy == 'extends:\n  - %s\nvisible:\n  - "~/.npm-global"\n'
              % name, "what is in the policy now", policy)
        vain = in_vain(where.decisions())
        check(vain <= purposes(where, name), "it asks for nothing else than "
              "its profile refuses on purpose", vain)
        s = where.membrane("run", "--", "sh", "-c",
                           "ls -A %s %s/.npm-global; command -v %s" % (
                               where.root, where.root, name))
        check(s.stdout.split() == [
            str(where.root) + ":", ".npm-global", "project",
            str(where.root) + "/.npm-global:", "bin", "lib",
            "%s/.npm-global/bin/%s" % (where.root, name)],
            "and of the home nothing else is there", (s.stdout, s.stderr))
        return (where.work / "notes.txt").read_text()


@native
def claude():
    text = first_use("claude", "--permission-mode", "acceptEdits", "-p",
                     PROMPT, variables=["ANTHROPIC_API_KEY=" + KEY])
    check(text == "ours\n", "the file is edited", text)


@native
def codex():
    """Its image tells it to make no sandbox of its own; here its user does."""
    text = first_use("codex", "exec", "-m", "gpt-5-codex", "-s",
                     "danger-full-access", "--skip-git-repo-check", PROMPT,
                     variables=["CODEX_API_KEY=none"])
    check(text == "ours\n", "the file is edited", text)


@native
def opencode():
    first_use("opencode", "run", "-m", "anthropic/claude-sonnet-4-5",
              "--title", "t", "say hello", allow=["api.anthropic.com:443"],
              variables=["ANTHROPIC_API_KEY=" + KEY])


@native
def pi():
    first_use("pi", "--provider", "anthropic", "-p", "say hello",
              variables=["ANTHROPIC_API_KEY=" + KEY])


@native
def agents_are_listed_with_what_is_installed():
    with home_of("pi") as where:
        s = where.membrane("agents", "pi")
        check("installed" in s.stdout and
              str(where.root) + "/.npm-global/bin/pi" in s.stdout,
              "where it is", s.stdout)
        s = where.membrane("claude", "-p", "x")
        check(s.status == 125 and "not installed" in s.stderr,
              "what is not says so", s.stderr)


@native
def a_program_is_found_where_a_shell_finds_it():
    """Through links and by what runs it; PATH inside has those folders."""
    with Place() as where:
        for path, text in (
                (".nvm/versions/node/v22/bin/ournode",
                 "#!/bin/sh\necho ours runs \"$@\"\n"),
                ("tools/lib/ourscript", "#!/usr/bin/env ournode\n"),
                (".aws/bin/tool", "#!/bin/sh\n")):
            (where.root / path).parent.mkdir(parents=True)
            (where.root / path).write_text(text)
            (where.root / path).chmod(0o755)
        (where.root / "tools/bin").mkdir()
        os.symlink("../lib/ourscript", where.root / "tools/bin/ourscript")
        where.own()
        root = str(where.root)
        where.env["PATH"] = ":".join((
            root + "/tools/bin", root + "/.nvm/versions/node/v22/bin",
            root + "/.aws/bin", "/usr/bin", "/bin"))
        s = where.membrane("run", "--", "ourscript", "a")
        check(s.status == 125 and '  visible: ["~/tools", "~/.nvm"]\n' in
              s.stderr, "the line to write", s.stderr)
        s = where.membrane("run", "--", "tool")
        check(s.status == 125 and "logins and keys" in s.stderr,
              "what is never shown", s.stderr)
        (where.work / ".membrane.yaml").write_text(
            'visible: ["~/tools", "~/.nvm"]\n')
        s = where.membrane("run", "--trust-workspace", "--", "ourscript", "a")
        check(s.stdout == "ours runs %s/tools/bin/ourscript a\n" % root,
              "it runs", (s.stdout, s.stderr))
        s = where.membrane("run", "--trust-workspace", "--", "sh", "-c",
                           "echo $PATH; touch ~/x %s/tools/x; ls -A %s" % (
                               root, root))
        check(s.stdout.splitlines() == [
            root + "/tools/bin:" + root + "/.nvm/versions/node/v22/bin:"
            "/usr/bin:/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin",
            ".nvm", "project", "tools"] and "Read-only" in s.stderr,
            "what is there", (s.stdout, s.stderr))
