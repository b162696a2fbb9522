"""Fields of a file that are secrets: the agent has a copy with sentinels, and
what they stand for arrives in the headers of requests to one host alone."""
import base64
import json
import os
import pathlib
import stat
import time

import accounts
import live
from l7 import header, reasons
from live import Place, check, test

ACCESS = "sk-ant-oat01-Aq3" + "x7Yz" * 20
REFRESH = "sk-ant-ort01-Rr9" + "k2Lm" * 20
FILE = ".claude/.credentials.json"
LOGIN = {"claudeAiOauth": {
    "accessToken": ACCESS, "refreshToken": REFRESH, "expiresAt": 1900000000000,
    "scopes": ["user:inference", "user:profile"], "subscriptionType": "max"},
    "mcpOAuth": {"other": {"accessToken": "of-something-else"}},
    "apiKey": "sk-ant-api03-" + "q9Zt" * 20}
POLICY = """allow: [api.test, site.test]
credentials:
  - host: api.test
    file: ~/.claude/.credentials.json
    fields: [claudeAiOauth.accessToken, claudeAiOauth.refreshToken]
"""
# What the agent does: it reads its file, and asks with what stands there.
AGENT = r"""
import json, os, sys, urllib.error, urllib.request

path = os.path.expanduser("~/" + sys.argv[1])
text = open(path).read()
found, tried = json.loads(text), []
for attempt in json.loads(sys.argv[2]):
    def fill(value):
        for name in attempt.get("fields", []):
            at = found
            for part in name.split("."):
                at = at[part]
            value = value.replace("{%s}" % name, at)
        return value
    headers = {k: fill(v) for k, v in attempt["headers"].items()}
    body = attempt.get("body")
    request = urllib.request.Request(attempt["url"], headers=headers,
                                     data=body and fill(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=40) as answer:
            tried.append([answer.status, answer.read(8000).decode()])
        if body and tried[-1][0] == 200:
            found["new"] = json.loads(tried[-1][1])
    except urllib.error.HTTPError as e:
        tried.append([e.code, e.read(4000).decode()])
print(json.dumps({"text": text, "mode": os.stat(path).st_mode & 0o777,
                  "env": dict(os.environ), "tried": tried}))
"""
TOKEN = "claudeAiOauth.accessToken"


def ask(url, fields=(TOKEN,), **headers):
    return {"url": url, "fields": list(fields), "headers": headers}


class Login:
    """A place whose user has logged in on the host."""

    def __init__(self, policy=POLICY, login=LOGIN, name=FILE, **more):
        self.place = Place(policy, files={"agent.py": AGENT}, **more)
        self.name, self.path = name, self.place.root / name
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(login if isinstance(login, str)
                             else json.dumps(login))
        self.path.chmod(0o600)
        self.place.own()

    def run(self, *attempts):
        s = self.place.membrane("run", "--", "python3", "agent.py", self.name,
                                json.dumps(attempts))
        s.decided = self.place.decisions()
        if s.status == 0:
            s.inside = json.loads(s.stdout)
            s.tried = s.inside["tried"]
        return s

    def copy(self):
        return self.place.state / "home" / self.name

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.place.remove()


def arrived_with(s, name):
    return [header(e, name) for e in s.arrived("http")]


# C-5, C-7
@test
def headers_get_what_sentinels_stand_for():
    with Login() as where:
        s = where.run(
            ask("https://api.test/a", Authorization="Bearer {%s}" % TOKEN),
            ask("https://api.test/b", **{"x-api-key": "{%s}" % TOKEN}),
            ask("https://api.test/c", ["claudeAiOauth.refreshToken", TOKEN],
                **{"x-both": "a={%s}; b={claudeAiOauth.refreshToken}" % TOKEN}),
            ask("https://api.test/d", [], Authorization="Bearer membrane"))
        check([code for code, _ in s.tried] == [200] * 4, "served", s.tried)
        check(arrived_with(s, "authorization") ==
              [["Bearer " + ACCESS], [], [], ["Bearer membrane"]],
              "the real one, and nothing else is touched", s.arrived("http"))
        check(arrived_with(s, "x-api-key")[1] == [ACCESS], "in any header")
        check(arrived_with(s, "x-both")[2] == ["a=%s; b=%s" % (
            ACCESS, REFRESH)], "more than one", s.arrived("http"))
        inside = json.dumps(s.inside) + s.stderr + json.dumps(s.decided)
        for secret in (ACCESS, REFRESH, "of-something-else", "q9Zt"):
            check(secret not in inside, "nobody inside holds it", s.inside)
        check(s.inside["mode"] == 0o600, "the copy is the owner's alone",
              s.inside["mode"])
        told = json.loads(s.inside["text"])
        oauth = told["claudeAiOauth"]
        check(set(told) == {"claudeAiOauth"}, "what else logged in is left "
              "out", told)
        check(oauth["accessToken"].startswith("sk-ant-oat01-membrane") and
              len(oauth["accessToken"]) == len(ACCESS), "like the real one",
              oauth)
        check({k: v for k, v in oauth.items() if "Token" not in k} ==
              {k: v for k, v in LOGIN["claudeAiOauth"].items()
               if "Token" not in k}, "and the rest as it is", oauth)
        check(json.loads(where.path.read_text()) == LOGIN,
              "the host's file is as it was")
        found = [str(p) for p in pathlib.Path(where.place.state).rglob("*")
                 if p.is_file() and ACCESS in p.read_text(errors="replace")]
        check(not found, "nor in any file of ours", found)


# C-6
@test
def no_other_host_and_nothing_in_the_clear():
    with Login() as where:
        s = where.run(
            ask("https://site.test/a", Authorization="Bearer {%s}" % TOKEN),
            ask("http://api.test/b", Authorization="Bearer {%s}" % TOKEN))
        check(len(s.arrived("http")) == 2, "both arrived", s.tried)
        for event in s.arrived("http"):
            check(ACCESS not in json.dumps(event) and
                  "membrane" in header(event, "authorization")[0],
                  "the sentinel as it is", event)


@test
def stands_in_no_process_of_the_host():
    with Login() as where:
        p = where.place.popen("run", "--", "sh", "-c",
                              "grep -rs -e %s /proc/*/environ /proc/*/cmdline "
                              "/etc/membrane; echo up; sleep 6" % ACCESS[:40])
        line = p.stdout.readline()
        check(line == b"up\n", "nothing inside", line)
        ids = live.running("membrane.session", 2)
        text = "" if live.ENGINE == "native" else live.the.docker(
            "inspect", *ids).stdout
        for one in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                argv = one.read_bytes().decode(errors="replace")
            except OSError:
                continue
            if "grep" not in argv:
                text += argv
        check(ACCESS not in text, "no argument, no label")
        p.communicate(timeout=30)


@test
def claims_of_a_jwt_stay():
    def part(value):
        return base64.urlsafe_b64encode(
            json.dumps(value).encode()).decode().rstrip("=")
    claims = part({"alg": "RS256"}) + "." + part({"exp": 1900000000,
                                                 "plan": "pro"})
    token = claims + "." + "Sg-_" * 60
    with Login("""allow: [api.test, api2.test]
credentials:
  - {host: api.test, file: ~/.codex/auth.json, fields: [tokens.access_token]}
  - {host: api2.test, file: ~/.codex/auth.json, fields: [tokens.access_token]}
""", {"OPENAI_API_KEY": None, "tokens": {"access_token": token,
                                         "account_id": "a-1"}},
               ".codex/auth.json") as where:
        s = where.run(*(ask("https://%s.test/" % host, [
            "tokens.access_token"], Authorization="Bearer {tokens.access_token}")
            for host in ("api", "api2")))
        check(arrived_with(s, "authorization") == [["Bearer " + token]] * 2,
              "whole, at both hosts", s.arrived("http"))
        held = json.loads(s.inside["text"])["tokens"]["access_token"]
        check(held.startswith(claims + ".membrane") and
              len(held) == len(token) and "Sg-_" not in held,
              "without the signature", held)


@test
def the_next_session_has_a_new_copy():
    with Login() as where:
        first = where.run()
        where.path.write_text(json.dumps(LOGIN).replace("Aq3x", "New1"))
        second = where.run(ask("https://api.test/",
                               Authorization="Bearer {%s}" % TOKEN))
        check(first.inside["text"] != second.inside["text"], "another one")
        check(arrived_with(second, "authorization") ==
              [["Bearer " + ACCESS.replace("Aq3x", "New1")]],
              "what the host has now", second.arrived("http"))


# C-8
@test
def refuses_to_start():
    oauth = LOGIN["claudeAiOauth"]
    for login, word in (
            ("{", "not an object"), ("[]", "not an object"),
            ({}, TOKEN),
            ({"claudeAiOauth": {**oauth, "accessToken": None}}, TOKEN),
            ({"claudeAiOauth": {**oauth, "accessToken": "a b"}}, TOKEN),
            ({"claudeAiOauth": {**oauth, "accessToken": ""}}, TOKEN)):
        with Login(login=login) as where:
            s = where.run()
            check(s.status == 125 and word in s.stderr and FILE in s.stderr,
                  "125, and says where", (s.status, s.stderr))
            check(not where.copy().exists(), "and makes no copy")
    with Login() as where:
        where.path.unlink()
        s = where.run()
        check(s.status == 125 and FILE in s.stderr, "no file", s.stderr)


# C-8
@test
def a_login_inside_and_links_are_left_alone():
    with Login() as where:
        where.copy().parent.mkdir(parents=True)
        where.copy().write_text(json.dumps(LOGIN).replace("Aq3x", "Mine"))
        where.place.own()
        s = where.run()
        check(s.status == 125 and "login of its own" in s.stderr,
              "not overwritten", s.stderr)
        check("Mine" in where.copy().read_text(), "it is there")
    for at_file in (True, False):
        with Login() as where:
            outside = where.place.root / "outside"
            outside.mkdir()
            copy = where.copy()
            copy.parent.parent.mkdir(parents=True, exist_ok=True)
            if at_file:
                copy.parent.mkdir()
                copy.symlink_to(outside / "file")
            else:
                copy.parent.symlink_to(outside)
            where.place.own()
            s = where.run()
            check(s.status == 125, "no link is followed", s.stderr)
            check(not list(outside.iterdir()), "nothing is written there",
                  os.listdir(outside))


@test
def a_server_that_cannot_be_verified_gets_nothing():
    with Login(POLICY.replace("api.test", "selfsigned.test")) as where:
        s = where.run(ask("https://selfsigned.test/",
                          Authorization="Bearer {%s}" % TOKEN))
        check(s.tried[0][0] in (502, 503), "refused", s.tried)
        check(ACCESS not in json.dumps(s.out), "nothing was sent")
        check(stat.S_IMODE(where.path.stat().st_mode) == 0o600, "as it was")
        check(not reasons(s, "dns"), "its name is granted", s.decided)


# --- tokens that are renewed --------------------------------------------------

RENEWED = POLICY + "    refresh: https://auth.test/v1/oauth/token\n"
RENEWAL = "claudeAiOauth.refreshToken"


def renew(how="fine", form=False, token="{%s}" % RENEWAL, fields=(RENEWAL,),
          grant="refresh_token", path="/v1/oauth/token"):
    asked = {"grant_type": grant, "refresh_token": token, "client_id": how}
    return {"url": "https://auth.test" + path, "fields": list(fields),
            "headers": {"Content-Type": "application/x-www-form-urlencoded"
                        if form else "application/json"},
            "body": "&".join("%s=%s" % x for x in asked.items()) if form
            else json.dumps(asked)}


def use(field=TOKEN, path="/used"):
    return ask("https://api.test" + path, [field],
               Authorization="Bearer {%s}" % field)


def nowhere(s, *secrets):
    inside = s.stdout + s.stderr + json.dumps(s.decided)
    for secret in secrets:
        check(secret not in inside, "nobody inside holds it", s.stdout)


def renews(form):
    access, refresh = accounts.renewed(REFRESH)
    with Login(RENEWED) as where:
        before = time.time()
        s = where.run(use(), renew(form=form), use("new.access_token"), use(),
                      use("new.refresh_token"))
        check([code for code, _ in s.tried] == [200] * 5, "all served",
              s.tried)
        asked = [e["asked"] for e in s.arrived("renewal")]
        check(asked == [{"grant_type": "refresh_token", "client_id": "fine",
                         "refresh_token": REFRESH}], "with the real one",
              s.arrived("renewal"))
        sent = [v for e in s.arrived("http", host="api.test")
                for v in header(e, "authorization")]
        check(sent[:3] == ["Bearer " + x for x in (ACCESS, access, access)],
              "then the new one, by the old sentinel too", sent)
        check(refresh not in sent[3] and REFRESH not in sent[3],
              "the refresh token goes into no header", sent[3])
        nowhere(s, ACCESS, REFRESH, access, refresh)
        told = json.loads(s.tried[1][1])
        check(told["access_token"].startswith("sk-ant-oat01-membrane") and
              told["expires_in"] == 3600 and told["scope"] == "a b" and
              "membrane" in told["id_token"], "the rest as it was", told)
        held = json.loads(where.path.read_text())["claudeAiOauth"]
        check((held["accessToken"], held["refreshToken"]) ==
              (access, refresh), "the host's file has them", held)
        check(before + 3590 < held["expiresAt"] / 1000 < time.time() + 3610 and
              held["scopes"] == LOGIN["claudeAiOauth"]["scopes"],
              "and when they end", held)
        check(stat.S_IMODE(where.path.stat().st_mode) == 0o600 and
              where.path.stat().st_uid == live.the.uid, "and mode and owner")
        check("mcpOAuth" in json.loads(where.path.read_text()), "all of it")
        again = where.run(use(), renew(form=form))
        check(arrived_with(again, "authorization")[0] == ["Bearer " + access],
              "the next session begins with them", again.arrived("http"))
        check([e["asked"]["refresh_token"] for e in again.arrived("renewal")]
              == [refresh], "and renews with the new one")


# C-12, C-14
@test
def renewed_on_the_host_as_json():
    renews(False)


# C-12, C-14
@test
def renewed_on_the_host_as_a_form():
    renews(True)


@test
def renewals_that_fail_bring_nothing():
    with Login(RENEWED) as where:
        text = where.path.read_text()
        s = where.run(renew("refused"), renew("garbage"), renew("no tokens"),
                      use())
        check([code for code, _ in s.tried] == [400, 502, 502, 200],
              "as it was, and what makes no sense", s.tried)
        check("invalid_grant" in s.tried[0][1], "in the server's words",
              s.tried[0])
        nowhere(s, ACCESS, REFRESH)
        check(where.path.read_text() == text, "the file is as it was")
        check(arrived_with(s, "authorization")[-1] == ["Bearer " + ACCESS],
              "and so is the token")


# C-10, C-11
@test
def what_is_no_renewal_goes_nowhere():
    with Login(RENEWED) as where:
        s = where.run(
            renew(token="stolen"), renew(grant="authorization_code"),
            renew(token="{%s}" % TOKEN, fields=(TOKEN,)),
            {**renew(), "body": "{"}, {**renew(), "body": "x" * 9000},
            renew(path="/v1/oauth/token/more"), renew(path="/v1/oauth"))
        codes = [code for code, _ in s.tried]
        check(codes == [400, 400, 400, 400, 413, 200, 403],
              "refused, or answered here", s.tried)
        check([e["path"] for e in s.arrived("http")] == ["/v1/oauth/token"],
              "one request, to the one URL", s.arrived("http"))
        nowhere(s, ACCESS, REFRESH)


@test
def two_at_once_are_one():
    twice = r"""
import concurrent.futures, json, os, sys, urllib.request
found = json.load(open(os.path.expanduser("~/" + sys.argv[1])))
def one(_):
    request = urllib.request.Request(
        "https://auth.test/v1/oauth/token", headers={
            "Content-Type": "application/json"},
        data=json.dumps({"grant_type": "refresh_token", "client_id": "fine",
                         "refresh_token": found["claudeAiOauth"][
                             "refreshToken"]}).encode())
    with urllib.request.urlopen(request, timeout=40) as answer:
        return answer.read().decode()
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    print(json.dumps({"tried": list(pool.map(one, range(3)))}))
"""
    with Login(RENEWED) as where:
        (where.place.work / "agent.py").write_text(twice)
        s = where.run()
        check(s.status == 0 and len(set(s.tried)) == 1, "the same answer",
              (s.stdout, s.stderr))
        check(len(s.arrived("renewal")) == 1, "of one renewal",
              s.arrived("renewal"))


# C-11
@test
def the_host_renews_as_well():
    theirs = "sk-ant-ort01-" + "h0St" * 20
    with Login(RENEWED) as where:
        p = where.place.popen("run", "--", "sh", "-c",
                              "echo up; read x; exec python3 agent.py '%s' '%s'"
                              % (FILE, json.dumps([renew()])),
                              stdin=live.subprocess.PIPE)
        check(p.stdout.readline() == b"up\n", "it runs")
        where.path.write_text(json.dumps(LOGIN).replace(REFRESH, theirs))
        log = live.Log("inet.jsonl")
        out, err = p.communicate(b"go\n", timeout=60)
        live.the.settle()
        asked = [e["asked"]["refresh_token"] for e in log.events()
                 if e["event"] == "renewal"]
        check(asked == [theirs], "with what the file has then",
              (asked, out, err))


# C-12
@test
def a_file_that_cannot_be_written_serves_this_session():
    access, _ = accounts.renewed(REFRESH)
    with Login(RENEWED) as where:
        text = where.path.read_text()
        folder = where.path.parent
        os.chown(folder, 0, 0)
        folder.chmod(0o755)
        s = where.run(renew(), use("new.access_token"))
        check([code for code, _ in s.tried] == [200, 200], "served", s.tried)
        check(arrived_with(s, "authorization")[-1] == ["Bearer " + access],
              "with the new one", s.arrived("http"))
        check("cannot be written" in s.stderr and FILE in s.stderr,
              "and says so", s.stderr)
        check(where.path.read_text() == text, "the file is as it was")
        nowhere(s, ACCESS, REFRESH, access)


@test
def nobody_to_ask():
    with Login(RENEWED.replace("auth.test", "selfsigned.test")) as where:
        s = where.run({**renew(), "url":
                       "https://selfsigned.test/v1/oauth/token"})
        check(s.tried[0][0] == 502, "no certificate, no tokens", s.tried)
        check("renewing" in s.stderr, "and says so", s.stderr)
        nowhere(s, ACCESS, REFRESH)
        check(REFRESH not in json.dumps(s.out), "nothing was sent")


@test
def a_change_of_the_policy_keeps_them():
    """Another HAProxy takes over: it has what was renewed before."""
    access, _ = accounts.renewed(REFRESH)
    steps = r"""
import subprocess, sys
for attempts in sys.argv[2:]:
    subprocess.run([sys.executable, "agent.py", sys.argv[1], attempts], check=True)
    print("done", flush=True)
    sys.stdin.readline()
"""
    with Login(RENEWED) as where:
        (where.place.work / "steps.py").write_text(steps)
        p = where.place.popen("run", "--", "python3", "steps.py", FILE,
                              json.dumps([renew()]), json.dumps([use()]),
                              stdin=live.subprocess.PIPE)
        p.stdout.readline()
        check(p.stdout.readline() == b"done\n", "renewed")
        s = where.place.membrane("allow", "--yes", "other.test")
        check(s.status == 0, "changed", s.stderr)
        log = live.Log("inet.jsonl")
        out, err = p.communicate(b"\n\n", timeout=60)
        live.the.settle()
        used = [header(e, "authorization") for e in log.events()
                if e["event"] == "http" and e["path"] == "/used"]
        check(used == [["Bearer " + access]], "the new one", (used, out, err))
