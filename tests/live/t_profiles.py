"""Agents by their names, each in the image that its profile names, from nothing:
`membrane agents NAME --save --yes`, and then `membrane NAME`."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from l7 import header
import live
from terminal import Terminal
from live import HERE, ROOT, Place, Skip, check

test = live.docker_only("images of agents")

KEY = "sk-ant-none-of-yours"
SECRET = "sk-ant-the-hosts-own"   # where KEY stands for it
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


def first_use(name, *words, variables=(), files=None, allow=(), made=image):
    """A session in a workspace and a home that nobody has used, on a root that
    nobody writes."""
    made(name)
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


def of_a_stand_in(name):
    """Its recipe, run where the hosts that it names have a stand-in: another
    commit, of the same tag. What it is built on is what all are."""
    image("base")
    commit = subprocess.run(
        ["git", "-C", live.the.state / "-NousResearch-hermes-agent",
         "-c", "safe.directory=*", "rev-parse", "main"],
        check=True, capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory(prefix="membrane-live-") as copy:
        shutil.copytree(ROOT / "image", copy + "/image")
        pins = pathlib.Path(copy, "image/agents/versions")
        text = pins.read_text()

        def built():
            return subprocess.run(live.the.enter(
                "env", "-u", "MEMBRANE_TAG", "DOCKER_HOST=" +
                live.the.docker_host, copy + "/image/images.sh", name),
                capture_output=True, text=True, check=False)
        done = built()
        check(done.returncode and "v2026.9.24 is %s, not " % commit in
              done.stderr, "what is not the commit is not built", done.stderr)
        pins.write_text(re.sub(r"(?m)^(%s .*) \w+$" % name, r"\1 " + commit, text))
        done = built()
        check(done.returncode == 0, "it is built", done.stderr)
    sbom = json.loads(live.the.docker(
        "run", "--rm", "--network", "none", "membrane-agent-" + name, "cat",
        "/opt/agent/sbom.spdx.json").stdout)
    found = {(p["name"], p["versionInfo"]) for p in sbom["packages"]}
    check({("hermes-agent", "0.21.5"), ("tinywheel", "1.2.0")} <= found,
          "its software is listed", found)


@test
def hermes():
    s = first_use("hermes", "chat", "-q", "say hello",
                  variables=["OPENROUTER_API_KEY=" + KEY], made=of_a_stand_in)
    works(s)
    check([header(e, "authorization") for e in s.arrived("http")] ==
          [["Bearer " + KEY]], "with its own key", s.arrived("http"))


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


CRATE = r"""
cargo init --quiet --offline --vcs none --name crate-says crate && cd crate || exit
echo 'fn main() { println!("installed by cargo"); }' >src/main.rs
cargo build --quiet --offline && ./target/debug/crate-says
cargo install --quiet --offline --path . && cd / && crate-says
touch /usr/x 2>/dev/null || echo the root is read-only
"""


@test
def cargo_works_as_the_user_where_a_layer_brings_it():
    """The layer that doc/agents.md has, on a root that nobody writes."""
    image("cargo", "tests/live/clients.sh")
    with Place(READ_ONLY + "image: membrane-agent-cargo\n") as where:
        s = where.membrane("--", "bash", "-c", CRATE, timeout=120)
        check(s.status == 0 and s.stdout == "installed by cargo\n" * 2 +
              "the root is read-only\n", "as its user", (
                  s.status, s.stdout, s.stderr))
        check((where.state / "home/.local/bin/crate-says").exists(),
              "it is there the next time")
        again = where.membrane("--", "crate-says")
        check(again.stdout == "installed by cargo\n", "and found",
              (again.stdout, again.stderr))


def in_home(where, files):
    """What an agent has in its home when it was there before."""
    for name, text in files.items():
        path = where.state / "home" / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(text)
    for path in [where.state / "home",
                 *(where.state / "home").rglob("*")] if files else []:
        os.chown(path, live.the.uid, live.the.gid)


class Screen:
    """How an agent begins at a terminal: what is on the screen once it waits for
    words, and what it then finds in its home and environment. asked: the host
    of its model, and where a request there has the key."""

    def __init__(self, words, prompt, home=None, variables=(), allow=(),
                 asked=("api.anthropic.com", "x-api-key", "{}")):
        self.words, self.prompt, self.home = words, prompt, home
        self.flags = [w for v in variables for w in ("--arg", "--env=" + v)]
        self.flags += [w for a in allow for w in ("--allow", a)]
        self.asked = asked

    def credentials(self):
        return "credentials:\n  - {host: %s, header: %s, format: '%s', " \
            "from_env: LIVE_KEY}\n" % self.asked


SCREENS = {
    "claude": Screen(
        ["--permission-mode", "acceptEdits"], "❯".encode(),
        variables=["ANTHROPIC_API_KEY=" + KEY],
        home=lambda where: {".claude.json": json.dumps({
            "hasCompletedOnboarding": True, "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY[-20:]]},
            "projects": {str(where.work): {
                "hasTrustDialogAccepted": True}}})}),
    "codex": Screen(
        ["-m", "gpt-5-codex"], rb"gpt-5-codex",
        home=lambda where: {
            ".codex/auth.json": json.dumps({"OPENAI_API_KEY": KEY}),
            ".codex/config.toml": '[projects."%s"]\ntrust_level = "trusted"\n'
                                  % where.work},
        asked=("api.openai.com", "authorization", "Bearer {}")),
    "opencode": Screen(
        ["-m", "anthropic/claude-sonnet-4-5"], rb"Sonnet",
        variables=["ANTHROPIC_API_KEY=" + KEY],
        allow=["api.anthropic.com:443"]),
    "pi": Screen(["--provider", "anthropic"], rb"\(auto\)",
                 variables=["ANTHROPIC_API_KEY=" + KEY]),
}


def is_told(t, asks):
    """It is typed, and answered."""
    t.type(asks.encode())
    check(t.shows(asks.split()[-1].encode(), 20), "it shows it",
          t.all[-3000:])
    for _ in range(4):   # one that comes at once is taken for pasted
        t.type(b"\r")
        if t.shows(rb"from.{0,12}the.{0,12}model", 15):
            return
    check(False, "it answers", t.all[-3000:])


def is_edited(t, where):
    t.read(0)
    return (where.work / "notes.txt").read_text() == "ours\n"


def at_a_terminal(name, policy="", env=None, while_it_waits=None):
    """Its profile is shown and asked about, and then it has the terminal, where
    it is told to edit a file: (all on the screen, what arrived out there)."""
    image(name)
    one, out = SCREENS[name], live.Log("inet.jsonl")
    with Place(READ_ONLY + policy, files={"notes.txt": "mine\n"},
               env=env) as where:
        in_home(where, one.home(where) if one.home else {})
        with Terminal(where.argv(*one.flags, name, *one.words), 40, 120) as t:
            check(t.shows(rb"Add that, and run it", 30), "it asks", t.all)
            t.type(b"y\r")
            check(t.shows(one.prompt, 60), "it waits for words",
                  t.all[-3000:])
            is_told(t, "edit notes.txt: mine -> ours")
            check(live.within(30, lambda: is_edited(t, where)),
                  "the file is edited", t.all[-3000:])
            if while_it_waits:
                while_it_waits()
            for _ in range(3):   # what is under way, what is typed, itself
                t.type(b"\x03\x03")
                if t.ends(10) is not None:
                    break
            check(t.ends(20) is not None, "it ends", t.all[-2000:])
            vain = in_vain(where.decisions())
            check(vain <= purposes(where, name), "it asks for nothing else "
                  "than its profile refuses on purpose", (vain, [
                      d for d in where.decisions() if d["verdict"] == "deny"]))
        live.the.settle()
        kept = b"".join(p.read_bytes() for p in [
            *where.state.rglob("*"), *where.work.rglob("*")] if p.is_file())
        return t.all + kept, live.matching(out.events(), "http"), \
            where.decisions()


def what_is_inside():
    """The environment and arguments of all that runs with the agent."""
    one, = live.running("membrane.role=agent")
    pids = live.the.docker("top", one, "-eo", "pid").stdout.split()[1:]
    said = b""
    for pid in pids:
        for what in ("environ", "cmdline"):
            with contextlib.suppress(OSError):   # it has ended
                with open("/proc/%s/%s" % (pid, what), "rb") as f:
                    said += f.read()
    return said


def with_the_hosts_key(name):
    """The gate puts the key into requests; inside is a word in its place."""
    seen = []
    host, field, form = SCREENS[name].asked
    said, arrived, decided = at_a_terminal(
        name, SCREENS[name].credentials(), {"LIVE_KEY": SECRET},
        lambda: seen.append(what_is_inside()))
    keys = [(header(e, field), e["path"], header(e, "user-agent")) for e in arrived
            if e["host"] == host]
    check(keys and all(k[0] == [form.format(SECRET)] for k in keys),
          "each request has the key", keys)
    check(KEY not in json.dumps([e for e in arrived if e["host"] == host]),
          "and not what stands for it", keys)
    check(b"".join(seen) and SECRET.encode() not in b"".join(seen) + said,
          "the key is neither inside, nor on the screen, nor in a file")
    check(not SCREENS[name].flags or KEY.encode() in seen[0],
          "the word is inside", seen)


def decrypted(name):
    """Every request is decided, by a certificate that the agent trusts."""
    said, arrived, decided = at_a_terminal(name, "tls: inspect\n")
    host = SCREENS[name].asked[0]
    asked = {d["kind"] for d in decided
             if d.get("name") == host and d["verdict"] == "allow"}
    check("request" in asked, "its requests are decided", asked)
    check(any(KEY in json.dumps(e["headers"]) for e in arrived
              if e["host"] == host), "with its own key", arrived)


@test
def claude_at_a_terminal():
    at_a_terminal("claude")


@test
def claude_at_a_terminal_with_the_hosts_key():
    with_the_hosts_key("claude")


@test
def claude_at_a_terminal_decrypted():
    decrypted("claude")


@test
def codex_at_a_terminal():
    at_a_terminal("codex")


@test
def codex_at_a_terminal_with_the_hosts_key():
    with_the_hosts_key("codex")


@test
def codex_at_a_terminal_decrypted():
    decrypted("codex")


@test
def opencode_at_a_terminal():
    at_a_terminal("opencode")


@test
def opencode_at_a_terminal_with_the_hosts_key():
    with_the_hosts_key("opencode")


@test
def opencode_at_a_terminal_decrypted():
    decrypted("opencode")


@test
def pi_at_a_terminal():
    at_a_terminal("pi")


@test
def pi_at_a_terminal_with_the_hosts_key():
    with_the_hosts_key("pi")


@test
def pi_at_a_terminal_decrypted():
    decrypted("pi")
