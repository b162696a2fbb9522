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


def in_home(where, files):
    """What an agent has in its home when it was there before."""
    for name, text in files.items():
        path = where.state / "home" / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(text)
    for path in [where.state / "home",
                 *(where.state / "home").rglob("*")] if files else []:
        os.chown(path, live.the.uid, live.the.gid)


def at_a_terminal(name, words, prompt, home=None, variables=(), allow=(),
                  asks="say hello"):
    """Its profile is shown and asked about, and then it has the terminal.
    prompt: what is on the screen once it waits for words."""
    image(name)
    flags = [w for v in variables for w in ("--arg", "--env=" + v)]
    flags += [w for a in allow for w in ("--allow", a)]
    with Place(READ_ONLY) as where:
        in_home(where, home(where) if home else {})
        with Terminal(where.argv(*flags, name, *words), 40, 120) as t:
            check(t.shows(rb"Add that, and run it", 30), "it asks", t.all)
            t.type(b"y\r")
            check(t.shows(prompt, 60), "it waits for words", t.all[-3000:])
            t.type(asks.encode())
            check(t.shows(asks[-5:].encode(), 20), "it shows them",
                  t.all[-3000:])
            for _ in range(4):   # one that comes at once is taken for pasted
                t.type(b"\r")
                answered = t.shows(rb"from.{0,12}the.{0,12}model", 15)
                if answered:
                    break
            check(answered, "it answers", t.all[-3000:])
            for _ in range(3):   # what is under way, what is typed, itself
                t.type(b"\x03\x03")
                if t.ends(10) is not None:
                    break
            check(t.ends(20) is not None, "it ends", t.all[-2000:])
            vain = in_vain(where.decisions())
            check(vain <= purposes(where, name), "it asks for nothing else "
                  "than its profile refuses on purpose", vain)


@test
def claude_at_a_terminal():
    at_a_terminal("claude", [], "❯".encode(),
                  variables=["ANTHROPIC_API_KEY=" + KEY],
                  home=lambda where: {".claude.json": json.dumps({
                      "hasCompletedOnboarding": True, "theme": "dark",
                      "customApiKeyResponses": {"approved": [KEY[-20:]]},
                      "projects": {str(where.work): {
                          "hasTrustDialogAccepted": True}}})})


@test
def codex_at_a_terminal():
    trusted = '[projects."%s"]\ntrust_level = "trusted"\n'
    at_a_terminal("codex", ["-m", "gpt-5-codex"], rb"gpt-5-codex",
                  home=lambda where: {
                      ".codex/auth.json": json.dumps({"OPENAI_API_KEY": KEY}),
                      ".codex/config.toml": trusted % where.work})


@test
def opencode_at_a_terminal():
    at_a_terminal("opencode", ["-m", "anthropic/claude-sonnet-4-5"],
                  rb"Sonnet", variables=["ANTHROPIC_API_KEY=" + KEY],
                  allow=["api.anthropic.com:443"])


@test
def pi_at_a_terminal():
    at_a_terminal("pi", ["--provider", "anthropic"], rb"\(auto\)",
                  variables=["ANTHROPIC_API_KEY=" + KEY])
