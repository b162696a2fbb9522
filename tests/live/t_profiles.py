"""Agents by their names, each in the image that its profile names, from nothing:
`membrane agents NAME --save --yes`, and then `membrane NAME`."""
import json
import os
import subprocess

from l7 import header
import live
from terminal import Terminal
from live import HERE, Place, Skip, check, test

KEY = "sk-ant-none-of-yours"
READ_ONLY = "hardening: {read_only: true, tmpfs: ['/tmp:exec']}\n"


def image(name, made_by=None):
    """Hand over what `membrane images NAME` has built on this machine, or
    whatever else makes it."""
    tag = os.environ.get("MEMBRANE_TAG", "latest")
    there = subprocess.run(
        ["docker", "image", "inspect", "membrane-agent-%s:%s" % (name, tag)],
        capture_output=True, check=False)
    if there.returncode:
        raise Skip("no image: %s" % (made_by or "image/images.sh " + name))
    subprocess.run([HERE / "world.sh", "agent", name], check=True,
                   stdout=subprocess.DEVNULL)


def purposes(where, name):
    about = json.loads(where.membrane("agents", name, "--json").stdout)
    return {r["dest"] for r in about["agents"][0]["refuses"]}


def in_vain(decided):
    """The names that were refused, and a note of them."""
    asked = {d["name"] for d in decided
             if d.get("verdict") == "deny" and d.get("name")}
    live.notes.append("asks in vain for %s" % (
        ", ".join(sorted(asked)) or "nothing"))
    return asked


def first_use(name, *words, variables=(), files=None, allow=()):
    """A session in a workspace and a home that nobody has used, on a root that
    nobody writes."""
    image(name)
    with Place(READ_ONLY, files=files) as where:
        said = where.membrane("agents", name, "--save", "--yes")
        check(said.status == 0 and (where.work / ".membrane.yaml").read_text()
              == "extends:\n  - %s\n" % name, "its profile is in the policy",
              (said.status, said.stderr))
        flags = [w for v in variables for w in ("--arg", "--env=" + v)]
        flags += [w for a in allow for w in ("--allow", a)]
        s = where.membrane(*flags, name, *words, timeout=120)
        s.decided = where.decisions()
        s.purposes = purposes(where, name)
        s.files = {p.name: p.read_text() for p in where.work.glob("*.txt")}
        return s


def works(s):
    check(s.status == 0 and "hello from the model" in s.stdout,
          "it prints the answer", (s.status, s.stdout, s.stderr))
    asked = in_vain(s.decided)
    check(asked <= s.purposes, "it asks for nothing else than its profile "
          "refuses on purpose", (asked, s.stderr))
    check("add to 'allow'" not in s.stderr and
          ("on purpose:" in s.stderr) == bool(asked),
          "nothing is advised", s.stderr)


@test
def claude():
    s = first_use("claude", "-p", "say hello",
                  variables=["ANTHROPIC_API_KEY=" + KEY])
    works(s)
    check(any(header(e, "x-api-key") == [KEY] for e in s.arrived("http")),
          "with its own key", s.arrived("http"))


@test
def codex():
    """It runs a command, without a sandbox of its own, and that edits a file."""
    s = first_use("codex", "exec", "-m", "gpt-5-codex",
                  "--skip-git-repo-check",
                  "run echo edited >>/workspace/notes.txt; echo hello from the model",
                  variables=["CODEX_API_KEY=none"],
                  files={"notes.txt": "mine\n"})
    works(s)
    check(s.files["notes.txt"] == "mine\nedited\n", "the file is edited",
          s.files)


@test
def opencode():
    works(first_use(
        "opencode", "run", "-m", "anthropic/claude-sonnet-4-5", "--title", "t",
        "say hello", variables=["ANTHROPIC_API_KEY=" + KEY],
        allow=["api.anthropic.com:443"]))


@test
def pi():
    works(first_use("pi", "--provider", "anthropic", "-p", "say hello",
                    variables=["ANTHROPIC_API_KEY=" + KEY]))


HARD = r"""
find / -xdev -type f -perm /6000 2>/dev/null
for name in su mount umount passwd newgrp login nsenter unshare setpriv chsh \
	chfn gpasswd; do command -v $name; done
for name in node npm python3 gcc make git gh rg fd jq patch unzip file xxd nano \
	tmux less ssh ip ss; do command -v $name >/dev/null || echo no $name; done
mkdir /tmp/pkg && cd /tmp/pkg
echo '{"name":"pkg","version":"1.0.0","bin":{"pkg-says":"says.js"}}' >package.json
printf '#!/usr/bin/env node\nconsole.log("installed by npm")\n' >says.js
npm install -g --silent --offline "$(npm pack --silent)" && pkg-says
python3 -m venv /tmp/venv && /tmp/venv/bin/pip --version | cut -d' ' -f1
printf 'int main(void){return 0;}' >a.c && gcc a.c && ./a.out && echo compiled
touch /usr/x 2>/dev/null || echo the root is read-only
"""


@test
def an_image_holds_what_a_developer_needs_and_nobody_becomes_another():
    image("codex")
    with Place(READ_ONLY + "image: membrane-agent-codex\n") as where:
        s = where.membrane("--", "bash", "-c", HARD, timeout=120)
        check(s.status == 0 and s.stdout == "installed by npm\npip\ncompiled\n"
              "the root is read-only\n", "as its user, in a read-only root",
              (s.status, s.stdout, s.stderr))


@test
def claude_at_a_terminal():
    """Its profile is shown and asked about, and then it has the terminal."""
    image("claude")
    with Place(READ_ONLY) as where:
        home = where.state / "home"
        home.mkdir(mode=0o700)
        (home / ".claude.json").write_text(json.dumps({
            "hasCompletedOnboarding": True, "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY[-20:]]},
            "projects": {str(where.work): {"hasTrustDialogAccepted": True}}}))
        for path in (home, home / ".claude.json"):
            os.chown(path, live.the.uid, live.the.gid)
        with Terminal(where.argv("--arg", "--env=ANTHROPIC_API_KEY=" + KEY,
                                 "claude"), 40, 120) as t:
            check(t.shows(rb"Add that, and run it", 30), "it asks", t.all)
            t.type(b"y\r")
            check(t.shows(rb"Claude", 60), "claude is there", t.all[-3000:])
            check(t.shows("❯".encode(), 20), "it waits for words",
                  t.all[-3000:])
            t.type(b"say hello")
            check(t.shows(rb"hello", 10), "it shows them", t.all[-3000:])
            t.type(b"\r")
            check(t.shows(rb"from.{0,12}the.{0,12}model", 30), "it answers",
                  t.all[-3000:])
            t.type(b"\x03\x03")
            t.ends(10)
            if t.process.poll() is None:
                t.type(b"\x03\x03")
            check(t.ends(20) is not None, "it ends", t.all[-2000:])
            vain = in_vain(where.decisions())
            check(vain <= purposes(where, "claude"), "it asks for nothing else "
                  "than its profile refuses on purpose", vain)
