"""Agents by their names, each in the image that its profile names, from nothing:
`membrane agents NAME --save --yes`, and then `membrane NAME`."""
import json
import os
import subprocess

from l7 import header
import live
from live import HERE, Place, Skip, check, test

KEY = "sk-ant-none-of-yours"


def image(name):
    """Hand over what `membrane images NAME` has built on this machine."""
    tag = os.environ.get("MEMBRANE_TAG", "latest")
    there = subprocess.run(
        ["docker", "image", "inspect", "membrane-agent-%s:%s" % (name, tag)],
        capture_output=True, check=False)
    if there.returncode:
        raise Skip("no image: image/images.sh %s" % name)
    subprocess.run([HERE / "world.sh", "agent", name], check=True,
                   stdout=subprocess.DEVNULL)


def first_use(name, *words, variables=(), files=None, allow=()):
    """A session in a workspace and a home that nobody has used."""
    image(name)
    with Place(files=files) as where:
        said = where.membrane("agents", name, "--save", "--yes")
        check(said.status == 0 and (where.work / ".membrane.yaml").read_text()
              == "extends:\n  - %s\n" % name, "its profile is in the policy",
              (said.status, said.stderr))
        flags = [w for v in variables for w in ("--arg", "--env=" + v)]
        flags += [w for a in allow for w in ("--allow", a)]
        s = where.membrane(*flags, name, *words, timeout=120)
        s.decided = where.decisions()
        about = json.loads(where.membrane("agents", name, "--json").stdout)
        s.purposes = {r["dest"] for r in about["agents"][0]["refuses"]}
        s.files = {p.name: p.read_text() for p in where.work.glob("*.txt")}
        return s


def works(s):
    check(s.status == 0 and "hello from the model" in s.stdout,
          "it prints the answer", (s.status, s.stdout, s.stderr))
    asked = {d["name"] for d in s.decided
             if d.get("verdict") == "deny" and d.get("name")}
    check(asked <= s.purposes, "it asks for nothing else than its profile "
          "refuses on purpose", (asked, s.stderr))
    check("add to 'allow'" not in s.stderr and
          ("on purpose:" in s.stderr) == bool(asked),
          "nothing is advised", s.stderr)
    live.notes.append("asks in vain for %s" % (", ".join(sorted(asked)) or "nothing"))


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
