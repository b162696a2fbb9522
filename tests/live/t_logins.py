"""Logins in a browser, by agents as npm installs them, at a provider of the fake
internet. The browser is curl, on the machine that runs membrane."""
import json
import os
import re
import subprocess

import accounts
import live
from l7 import header
from live import ROOT, Failed, Place, check, test
from t_agents import needs

MOUNT = "type=bind,source=%s/build/clients/npm,target=/npm,readonly" % ROOT
POLICY = "extends: [%s]\nimage: membrane-agent\nargs: [--mount, '" + MOUNT + \
    "']\n"
CODEX = POLICY % "codex"
BACK = "http://127.0.0.1:1455/"
IN_PATH = "PATH=/npm/node_modules/.bin:$PATH; "
LOGIN = IN_PATH + "exec codex login"


def browse(url):
    """(where it ended, its status, the page) of a browser that follows."""
    done = subprocess.run(live.the.enter(
        "curl", "-sS", "-L", "-m", "30", "-w", "\n%{http_code} %{url_effective}",
        url), capture_output=True, text=True, check=False)
    page, _, last = done.stdout.rpartition("\n")
    status, _, where = last.partition(" ")
    return where, status, page + done.stderr


def allow_device(said):
    """Somebody types the code that he was shown, elsewhere."""
    code = re.search(rb"USER-\d+", said)[0].decode()
    done = subprocess.run(live.the.enter(
        "curl", "-sS", "-d", "user_code=" + code,
        "https://auth.openai.com/codex/device"), check=False,
        capture_output=True, text=True)
    check(done.stdout == "allowed\n", "the device is allowed",
          done.stdout + done.stderr)


def login_page(url):
    """What the provider's page says in the end to whom it has signed in."""
    _, status, page = browse(url)
    check(status == "200", "the provider's page is there", (status, page))
    return page


def code_of(page):
    """What it has for somebody to copy."""
    found = re.search(r"Claude Code: (\S+)", page)
    if not found:
        raise Failed("the page has no code: %s" % page)
    return found[1].encode()


def url_of(p):
    """What the agent asks its user to open; all that it says is kept."""
    said = b""
    while True:
        line = p.stderr.readline()
        said += line
        found = re.search(rb"https://auth\.openai\.com/oauth/authorize\?\S+",
                          line)
        if found:
            return found[0].decode()
        if not line:
            raise Failed("it prints no URL: %s" % said.decode())


def begin(where, *flags):
    return where.popen("run", *flags, "--", "sh", "-c", LOGIN)


@test
def codex_logs_in():
    needs("npm")
    with Place(CODEX) as where:
        out = live.Log("inet.jsonl")
        p = begin(where, "-p", "1455")
        url = url_of(p)
        check("redirect_uri=http%3A%2F%2F127.0.0.1%3A1455%2F" in url,
              "it waits for the browser at its port", url)
        ended, status, page = browse(url)
        check(status == "200" and ended.startswith(BACK),
              "the browser comes back to the agent", (ended, status, page))
        text = p.communicate(timeout=60)[1].decode()
        check(p.returncode == 0 and "Successfully logged in" in text,
              "it is logged in", (p.returncode, text))
        live.the.settle()
        exchanged = live.matching(out.events(), "exchange")
        check(len(exchanged) == 1 and exchanged[0]["src"] == "198.18.0.1",
              "the agent has asked for its tokens itself", exchanged)
        login = where.state / "home/.codex/auth.json"
        access, refresh, _ = accounts.chatgpt(exchanged[0]["asked"]["code"])
        held = json.loads(login.read_text())["tokens"]
        check((held["access_token"], held["refresh_token"]) ==
              (access, refresh), "and keeps them in its home", held)
        check(login.stat().st_mode & 0o77 == 0, "for itself",
              oct(login.stat().st_mode))
        s = where.membrane("run", "--", "sh", "-c", LOGIN + " status")
        check(s.status == 0 and "Logged in using ChatGPT" in s.stderr,
              "the next session is logged in", (s.stdout, s.stderr))


@test
def codex_logs_in_on_another_device():
    """No port: the provider has a page for the code that is shown."""
    needs("npm")
    with Place(CODEX) as where:
        out = live.Log("inet.jsonl")
        p = where.popen("run", "--", "sh", "-c", LOGIN + " --device-auth")
        said = b""
        while not re.search(rb"USER-\d+\D", said):
            more = os.read(p.stdout.fileno(), 4096)
            if not more:
                raise Failed("it shows no code: %s %s" % (said, p.stderr.read()))
            said += more
        allow_device(said)
        text = p.communicate(timeout=60)[1].decode()
        check(p.returncode == 0, "it is logged in", (p.returncode, text))
        live.the.settle()
        exchanged, = live.matching(out.events(), "exchange")
        access, refresh, _ = accounts.chatgpt(exchanged["asked"]["code"])
        held = json.loads((where.state / "home/.codex/auth.json").read_text())
        check((held["tokens"]["access_token"], held["tokens"]["refresh_token"])
              == (access, refresh), "its tokens are kept", held)


@test
def codex_logs_in_without_a_port():
    """The browser finds nobody, and nothing is kept."""
    needs("npm")
    with Place(CODEX) as where:
        out = live.Log("inet.jsonl")
        p = begin(where)
        ended, _, page = browse(url_of(p))
        check("Failed to connect" in page and ended.startswith(BACK),
              "nobody answers", (ended, page))
        p.terminate()
        p.communicate(timeout=60)
        live.the.settle()
        check(not live.matching(out.events(), "exchange"),
              "no tokens were asked for", out.events())
        check(not (where.state / "home/.codex/auth.json").exists(),
              "and none are kept")


@test
def codex_logs_in_where_its_provider_is_closed():
    needs("npm")
    with Place(CODEX + "deny: [auth.openai.com]\n") as where:
        out = live.Log("inet.jsonl")
        p = begin(where, "-p", "1455")
        _, status, page = browse(url_of(p))
        p.terminate()
        text = p.communicate(timeout=60)[1].decode()
        check(status != "200" or "rror" in page, "the page says that it failed",
              (status, page))
        check("auth.openai.com" in text and "denied" in text,
              "and the session why", text)
        live.the.settle()
        check(not live.matching(out.events(), "exchange"), "nothing arrived",
              out.events())
        check(not (where.state / "home/.codex/auth.json").exists(),
              "no login is kept")


def with_a_code(where, code=None):
    """claude, and its user who pastes what the provider's page has shown."""
    p = where.popen("run", "--", "sh", "-c", IN_PATH + "exec claude auth login",
                    stdin=subprocess.PIPE)
    said = b""
    while b"Paste code here" not in said:
        more = os.read(p.stdout.fileno(), 4096)
        if not more:
            raise Failed("it asks for no code: %s %s" % (
                said, p.stderr.read()))
        said += more
    url = re.search(rb"https://claude\.ai/oauth/authorize\?\S+", said)
    if not url:
        raise Failed("it prints no URL: %s" % said)
    code = code or code_of(login_page(url[0].decode()))
    out, err = p.communicate(b"%s\n" % code, timeout=60)
    return p.returncode, (out + err).decode(), code.decode()


@test
def claude_logs_in_by_a_code():
    needs("npm")
    with Place(POLICY % "claude") as where:
        out = live.Log("inet.jsonl")
        status, text, code = with_a_code(where)
        code = code.partition("#")[0]
        check(status == 0 and "Login successful" in text, "it is logged in",
              (status, text))
        live.the.settle()
        check([e["asked"]["code"] for e in live.matching(
            out.events(), "exchange")] == [code],
              "it has asked for its tokens, once", out.events())
        access, refresh = accounts.renewed(code)
        held = json.loads((where.state / "home/.claude/.credentials.json"
                           ).read_text())["claudeAiOauth"]
        check((held["accessToken"], held["refreshToken"]) ==
              (access, refresh), "and keeps them in its home", held)
        s = where.membrane("run", "--", "sh", "-c",
                           IN_PATH + "exec claude -p 'say hello'")
        asked = [header(e, "authorization") for e in s.arrived("http")
                 if e["path"].startswith("/v1/messages")]
        check(s.stdout == "hello from the model\n" and asked ==
              [["Bearer " + access]], "the next session asks with it",
              (s.stdout, s.stderr, asked))


@test
def claude_with_a_wrong_code():
    needs("npm")
    with Place(POLICY % "claude") as where:
        status, text, _ = with_a_code(where, b"another#state")
        check(status not in (0, 125) and "wasn't accepted" in text, "it says so",
              (status, text))
        check(not (where.state / "home/.claude/.credentials.json").exists(),
              "no login is kept")
