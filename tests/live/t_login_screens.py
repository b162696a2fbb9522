"""Logins at a terminal, by agents in their own images on a read-only root, at
providers of the fake internet: each ends with a login in the home that sessions
share, and the next session asks its model with it."""
import json
import re

import accounts
from l7 import header
import live
from live import Failed, Place, check
from t_logins import allow_device, browse, code_of, login_page
from t_profiles import image, in_home

test = live.docker_only("images of agents")
from terminal import Terminal

ENTER, DOWN = b"\r", b"\x1b[B"
CLAUDE_URL = rb"https://claude\.ai/oauth/authorize\?[^\s\x1b\x07]+"
CHATGPT_URL = rb"https://auth\.openai\.com/oauth/authorize\?[^\s\x1b\x07]+"
CREDENTIALS = ".claude/.credentials.json"


class Screen(Terminal):
    """Wide enough for a URL to stand on one line."""

    def __init__(self, where, *words):
        super().__init__(where.argv(*words), 40, 700)

    def waits(self, pattern, seconds=45):
        """What follows would make no sense on another screen."""
        if not self.shows(pattern, seconds * live.SLOW):
            raise Failed("not on the screen: %r\n      seen: %s" % (
                pattern, self.said()))

    def said(self):
        """The end of it, without what moves and paints, or draws a line."""
        text = re.sub(rb"\x1b(\[[0-9;?<>=]*[A-Za-z]|\].*?(\x07|\x1b\\))", b" ",
                      self.all).decode(errors="replace")
        return re.sub(r"[^\x20-\x7e]+| {2,}", " ", text)[-1500:]

    def answers(self, pattern, keys):
        """The keys that one question wants, once it is asked."""
        self.waits(pattern)
        self.type(keys)

    def moves(self, key, pattern):
        """A menu is drawn before it hears a key: until it is drawn anew."""
        for _ in range(9):
            self.type(key)
            if self.shows(pattern, 5):
                return
        raise Failed("no key moves it: %s" % self.said())

    def enters(self, text):
        """What comes with its Enter at once is taken for pasted."""
        self.type(text)
        self.waits(re.escape(text[-4:]))
        self.type(ENTER)

    def url(self, pattern):
        return re.findall(pattern, self.all)[-1].decode()

    def quits(self):
        for _ in range(3):   # what is under way, what is typed, itself
            self.type(b"\x03\x03")
            if self.ends(10) is not None:
                return
        check(False, "it ends", self.said())


def held(where, name):
    """A login that the agent keeps in its home, for itself alone."""
    path = where.state / "home" / name
    check(path.exists() and path.stat().st_mode & 0o77 == 0, "it is kept, for "
          "itself", [str(p) for p in (where.state / "home").rglob("*")])
    return json.loads(path.read_text()) if path.exists() else {}


def exchanged(out):
    """The code that the agent, and nobody else, has asked its tokens by."""
    live.the.settle()
    seen = live.matching(out.events(), "exchange")
    check(len(seen) == 1 and seen[0]["src"] == "198.18.0.1",
          "the agent has asked for its tokens itself, once", seen)
    return seen[0]["asked"]["code"] if seen else ""


def asks_with(where, token, path, *words, field="authorization", form="Bearer %s"):
    """The next session is logged in."""
    s = where.membrane(*words)
    asked = [header(e, field) for e in s.arrived("http")
             if e["path"].split("?")[0] == path]
    check("hello from the model" in s.stdout and asked and
          all(a == [form % token] for a in asked),
          "the next session asks with it", (s.stdout, s.stderr, asked))


# --- Claude Code -------------------------------------------------------------

def settled(where, **more):
    """The home of somebody who has answered what a first start asks."""
    return {".claude.json": json.dumps({
        "hasCompletedOnboarding": True, "theme": "dark", "projects": {
            str(where.work): {"hasTrustDialogAccepted": True}}, **more})}


def pastes_its_code(t):
    t.waits(rb"Paste.{0,9}code")
    t.enters(code_of(login_page(t.url(CLAUDE_URL))))


def is_logged_in(where, out):
    access, refresh = accounts.renewed(exchanged(out))
    login = held(where, CREDENTIALS).get("claudeAiOauth", {})
    check((login.get("accessToken"), login.get("refreshToken")) ==
          (access, refresh), "its tokens are kept", login)
    asks_with(where, access, "/v1/messages", "claude", "-p", "say hello")


@test
def claude_at_its_first_start():
    """In an empty home: it asks for a theme, a login, and whether to trust."""
    image("claude")
    with Place("extends: [claude]\n") as where:
        out = live.Log("inet.jsonl")
        with Screen(where, "claude") as t:
            t.answers(rb"Choose.{0,9}the.{0,9}text", ENTER)
            t.answers(rb"Select.{0,9}login", ENTER)
            pastes_its_code(t)
            t.answers(rb"Login.{0,9}successful", ENTER)
            t.answers(rb"Security.{0,9}notes", ENTER)
            t.waits(rb"Yes,.{0,9}I.{0,9}trust")
            t.moves(DOWN, rb"Yes")
            t.type(ENTER)
            t.waits("❯".encode())
            t.quits()
        is_logged_in(where, out)


@test
def claude_by_login_in_the_session():
    image("claude")
    with Place("extends: [claude]\n") as where:
        in_home(where, settled(where))
        out = live.Log("inet.jsonl")
        with Screen(where, "claude") as t:
            t.answers("❯".encode(), b"/login")
            t.answers(rb"Sign.{0,9}in.{0,9}with", ENTER)
            t.answers(rb"Select.{0,9}login", ENTER)
            pastes_its_code(t)
            t.answers(rb"Login.{0,9}successful", ENTER)
            t.waits(rb"Login.{0,9}successful")
            t.quits()
        is_logged_in(where, out)


@test
def claude_with_a_token_for_a_year():
    """Nothing of it stays inside; the host keeps it, and the gate puts it in."""
    image("claude")
    with Place("extends: [claude]\n") as where:
        out = live.Log("inet.jsonl")
        with Screen(where, "claude", "setup-token") as t:
            pastes_its_code(t)
            t.waits(rb"token.{0,9}created")
            check(t.ends(20) == 0, "it ends well", t.said())
            shown = re.findall(rb"sk-ant-oat01-\w+", t.all)
        token = accounts.renewed(exchanged(out))[0]
        check([s.decode() for s in set(shown)] == [token],
              "it shows the token", shown)
        kept = b"".join(p.read_bytes() for p in where.state.rglob("*")
                        if p.is_file())
        check(token.encode() not in kept, "and keeps it nowhere")
        (where.state / "config.yaml").write_text(SETUP_TOKEN)
        where.env["CLAUDE_CODE_OAUTH_TOKEN"] = token
        asks_with(where, token, "/v1/messages", "claude", "-p", "say hello")
        inside = where.membrane("claude", "-p", "say hello",
                                "--output-format", "json")
        check(token not in inside.stdout + inside.stderr, "it is not inside",
              inside.stdout)


# As doc/agents.md has it.
SETUP_TOKEN = """extends: [claude]
args: [--env, CLAUDE_CODE_OAUTH_TOKEN=none]
credentials:
  - {host: api.anthropic.com, header: authorization, format: 'Bearer {}', from_env: CLAUDE_CODE_OAUTH_TOKEN}
"""


@test
def claude_at_its_first_start_where_its_provider_is_closed():
    image("claude")
    with Place("extends: [claude]\ndeny: [platform.claude.com]\n") as where:
        with Screen(where, "claude") as t:
            t.waits(rb"Unable.{0,9}to.{0,9}connect")
            check(t.ends(30) not in (0, None), "it ends", t.said())
            check(b"platform.claude.com" in t.all, "the session says why",
                  t.said())
        check(not (where.state / "home" / CREDENTIALS).exists(),
              "no login is kept")


# --- opencode ----------------------------------------------------------------

OPENCODE = ".local/share/opencode/auth.json"
ZEN = "extends: [opencode, codex]\n"


def is_logged_in_at_chatgpt(where, out):
    access, refresh, _ = accounts.chatgpt(exchanged(out))
    login = held(where, OPENCODE).get("openai", {})
    check((login.get("access"), login.get("refresh")) == (access, refresh),
          "its tokens are kept", login)
    asks_with(where, access, "/backend-api/codex/responses", "opencode", "run",
              "-m", "openai/gpt-5.4", "--title", "t", "say hello")


@test
def opencode_by_a_browser():
    image("opencode")
    with Place(ZEN) as where:
        out = live.Log("inet.jsonl")
        with Screen(where, "-p", "1455", "opencode", "auth", "login") as t:
            t.answers(rb"Select provider", b"openai")
            t.answers(rb"OpenAI", ENTER)
            t.answers(rb"Login method", ENTER)
            t.waits(rb"Waiting for authorization")
            ended, status, page = browse(t.url(CHATGPT_URL))
            check(status == "200" and ended.startswith("http://localhost:1455/"),
                  "the browser comes back to the agent", (ended, status, page))
            t.waits(rb"Login successful")
            check(t.ends(20) == 0, "it ends well", t.said())
        is_logged_in_at_chatgpt(where, out)


@test
def opencode_on_another_device():
    """No port: the provider has a page for the code that is shown."""
    image("opencode")
    with Place(ZEN) as where:
        out = live.Log("inet.jsonl")
        with Screen(where, "opencode", "auth", "login", "-p", "openai", "-m",
                    "ChatGPT Pro/Plus (headless)") as t:
            t.waits(rb"Waiting for authorization")
            allow_device(t.all)
            t.waits(rb"Login successful")
            check(t.ends(20) == 0, "it ends well", t.said())
        is_logged_in_at_chatgpt(where, out)


@test
def opencode_with_a_key():
    image("opencode")
    key = "sk-ant-none-of-yours"
    with Place("extends: [opencode, claude]\n") as where:
        with Screen(where, "opencode", "auth", "login", "-p", "anthropic") as t:
            t.waits(rb"Enter your API key")
            t.type(key.encode())
            t.waits("▪".encode() * len(key))
            t.type(ENTER)
            t.waits(rb"Done")
            check(t.ends(20) == 0, "it ends well", t.said())
            check(key.encode() not in t.all, "the key is not on the screen")
        check(held(where, OPENCODE).get("anthropic", {}).get("key") == key,
              "it is kept")
        asks_with(where, key, "/v1/messages", "opencode", "run", "-m",
                  "anthropic/claude-sonnet-4-5", "--title", "t", "say hello",
                  field="x-api-key", form="%s")


# --- pi ----------------------------------------------------------------------

PI = ".pi/agent/auth.json"


def begins_in_pi(t):
    t.waits(rb"No models available")   # the last that it says before it hears
    t.type(b"/login")
    t.answers(rb"Configure provider", ENTER)
    t.answers(rb"Select authentication method", ENTER)
    t.waits(rb"Select provider")


def is_logged_in_at_anthropic(where, out):
    access, refresh = accounts.renewed(exchanged(out))
    login = held(where, PI).get("anthropic", {})
    check((login.get("access"), login.get("refresh")) == (access, refresh),
          "its tokens are kept", login)
    asks_with(where, access, "/v1/messages", "pi", "--provider", "anthropic",
              "-p", "say hello")


@test
def pi_by_a_browser():
    image("pi")
    with Place("extends: [pi]\n") as where:
        out = live.Log("inet.jsonl")
        with Screen(where, "-p", "53692", "pi") as t:
            begins_in_pi(t)
            t.answers(rb"Anthropic", ENTER)
            t.waits(rb"(?s)Login to Anthropic.*redirect URL here")
            ended, status, page = browse(t.url(CLAUDE_URL))
            check(status == "200" and ended.startswith("http://localhost:53692/"),
                  "the browser comes back to the agent", (ended, status, page))
            t.waits(rb"Logged in to Anthropic")
            t.quits()
        is_logged_in_at_anthropic(where, out)


@test
def pi_by_an_address():
    """Without a port: the browser finds nobody; where it was led is pasted."""
    image("pi")
    with Place("extends: [pi]\n") as where:
        out = live.Log("inet.jsonl")
        with Screen(where, "pi") as t:
            begins_in_pi(t)
            t.answers(rb"Anthropic", ENTER)
            t.waits(rb"(?s)Login to Anthropic.*redirect URL here")
            ended, _, page = browse(t.url(CLAUDE_URL))
            check("Failed to connect" in page, "nobody answers", page)
            t.enters(ended.encode())
            t.waits(rb"Logged in to Anthropic")
            t.quits()
        is_logged_in_at_anthropic(where, out)


@test
def pi_on_another_device():
    image("pi")
    with Place("extends: [pi]\n") as where:
        out = live.Log("inet.jsonl")
        with Screen(where, "pi") as t:
            begins_in_pi(t)
            t.enters(b"OpenAI Codex")
            t.answers(rb"[Dd]evice", DOWN)
            t.answers(rb"[Dd]evice", ENTER)
            t.waits(rb"USER-\d+")
            allow_device(t.all)
            t.waits(rb"Logged in to OpenAI")
            t.quits()
        access, refresh, _ = accounts.chatgpt(exchanged(out))
        login = held(where, PI).get("openai-codex", {})
        check((login.get("access"), login.get("refresh")) == (access, refresh),
              "its tokens are kept", login)
        # Its body is zstd's, which the model out there does not read.
        s = where.membrane("pi", "--provider", "openai-codex", "-p", "say hello")
        asked = [header(e, "authorization") for e in s.arrived("http")
                 if e["path"] == "/backend-api/codex/responses"]
        check(asked and all(a == ["Bearer " + access] for a in asked),
              "the next session asks with it", (s.stdout, s.stderr, asked))
