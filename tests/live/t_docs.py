"""What the pages show of sessions comes out, but for times and numbers: the
blocks of README.md and doc/*.md whose mark names this test."""
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess

import live
from live import ROOT, SLOW, Place, check

test = live.docker_only("the pages show its sessions")

# Identifiers, times, numbers of processes.
LOOSE = ((re.compile(r"\b[0-9a-f]{12}\b"), "ID"),
         (re.compile(r"\d{4}-\d\d-\d\dT[\d:]+Z"), "TIME"),
         (re.compile(r"^\d\d:\d\d:\d\d\.\d{3}", re.M), "TIME"),
         (re.compile(r"\bafter \d+ ms\b"), "after N ms"),
         (re.compile(r"(?<=\w)\[\d+\] *(?=[ :])"), "[PID]"))


def program():
    """tests/check/docs, which knows what a walk-through is."""
    path = str(ROOT / "tests/check/docs")
    loader = importlib.machinery.SourceFileLoader("docs", path)
    spec = importlib.util.spec_from_loader("docs", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def in_order(parts):
    return "    " + ", ".join(sorted(parts[0].strip().split(", ")))


def plain(text):
    text = re.sub(r"^    (?:\w+ running(?:, )?){3}$", in_order, text,
                  flags=re.M)
    for regex, word in LOOSE:
        text = regex.sub(word, text)
    return text


# What the gate answered, or refused: told when the gate tells it, whatever a
# program says meanwhile.
ANSWER = re.compile(r"^(?:(?:TIME .* → |membrane: refused ).*\n?|%s)" % live.WHOSE,
                    re.M)


def as_shown(docs, want, out):
    want, out = plain(want), plain(out)
    return (docs.matches(ANSWER.sub("", want), ANSWER.sub("", out)) and
            set(ANSWER.findall(want)) <= set(ANSWER.findall(out)))


def run(docs, commands, fresh):
    """What each prints, in a home and a project of a user's own."""
    with Place(files={".env": "TOKEN=secret\n"}) as where:
        if not fresh:
            (where.root / ".membrane").mkdir()
            shutil.copy(ROOT / "policies/default.yaml",
                        where.root / ".membrane/config.yaml")
            where.own()
        done = subprocess.run(
            live.the.as_user(
                "bash", "-c", docs.script(commands), cwd=where.work,
                env={"HOME": str(where.root), "PATH": "%s:/usr/bin:/bin" %
                     os.path.dirname(live.the.membrane)}),
            text=True, check=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=90 * SLOW)
        return done.stdout.replace(str(where.work), "/home/me/project") \
            .replace(str(where.root), "/home/me").split(docs.MARK + "\n")[:-1]


TOLD = re.compile(r"membrane: refused .*\n(?:%s)?" % live.WHOSE)


def told_first(text):
    """What is told of a refusal falls between the command's own words, within a
    line of those, too; here it stands before them."""
    rest = TOLD.sub("", text)
    at = re.search("^(?!membrane: )", rest, re.M).start()
    return rest[:at] + "".join(TOLD.findall(text)) + rest[at:]


@test
def sessions_are_as_shown():
    docs, n = program(), 0
    for page in sorted([*ROOT.glob("*.md"), *ROOT.glob("doc/*.md")]):
        for block in docs.BLOCK.finditer(page.read_text()):
            if "live:docs.sessions_are_as_shown" not in (block["mark"] or ""):
                continue
            pairs = docs.parse(block["text"])
            got = run(docs, [command for command, _ in pairs],
                      "config.yaml" in block["text"])
            check(len(got) == len(pairs), "all of %s ran" % page.name, got)
            for (command, want), out in zip(pairs, got):
                n += 1
                check(as_shown(docs, told_first(want), told_first(out)),
                      "%s: $ %s" % (page.name, command), out)
    check(n > 8, "there are such blocks", n)
