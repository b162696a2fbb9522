"""Tokens of one file that several renew: sessions side by side, and the host's
own program, at a server that takes no refresh token twice."""
import contextlib
import json
import subprocess

import accounts
import live
from l7 import header
from live import check, test, within
from t_tokens import (ACCESS, FILE, LOGIN, REFRESH, RENEWED, TOKEN, Login, ask,
                      nowhere, renew, use)

THEIRS = ("sk-ant-oat01-" + "h0St" * 20, "sk-ant-ort01-" + "H0sT" * 20)


def changed(access=ACCESS, refresh=REFRESH, **more):
    return {**LOGIN, "claudeAiOauth": {
        **LOGIN["claudeAiOauth"], "accessToken": access,
        "refreshToken": refresh, **more}}


class Waiting:
    """A session whose agent waits for a word before it asks."""

    def __init__(self, where, *attempts):
        self.p = where.place.popen(
            "run", "--", "sh", "-c",
            "echo up; read x; exec python3 agent.py '%s' '%s'"
            % (where.name, json.dumps(attempts)), stdin=subprocess.PIPE)
        check(self.p.stdout.readline() == b"up\n", "it runs")

    def go(self):
        self.p.stdin.write(b"go\n")
        self.p.stdin.flush()

    def end(self):
        out, err = self.p.communicate(timeout=60)
        check(self.p.returncode == 0, "it ends well", (out, err))
        said = json.loads(out) if out.strip() else {"tried": []}
        return said["tried"], (out + err).decode()


def renewals(log):
    live.the.settle()
    return [e["asked"]["refresh_token"] for e in log.events()
            if e["event"] == "renewal"]


def arrived(s):
    return [v for e in s.arrived("http", path="/used")
            for v in header(e, "authorization")]


def sent(log):
    live.the.settle()
    return [v for e in log.events() if e["event"] == "http" and
            e["path"] == "/used" for v in header(e, "authorization")]


# C-16
@test
def sessions_of_one_login_renew_once():
    """Two of one state folder and one of another, at the same moment."""
    access, refresh = accounts.renewed(REFRESH)
    tried = renew("rotates"), use("new.access_token"), use()
    with Login(RENEWED) as where, Login(
            RENEWED, env={"HOME": str(where.place.root)}) as other:
        log = live.Log("inet.jsonl")
        all_of_them = [Waiting(w, *tried) for w in (where, where, other)]
        for one in all_of_them:
            one.go()
        for one in all_of_them:
            codes, text = one.end()
            check([code for code, _ in codes] == [200] * 3, "served", codes)
            told = json.loads(codes[0][1])
            check("membrane" in told["access_token"] and
                  "membrane" in told["refresh_token"] and
                  3500 < told["expires_in"] <= 3600, "the same for all", told)
            for secret in (ACCESS, REFRESH, access, refresh):
                check(secret not in text, "nobody inside holds it", text)
        check(renewals(log) == [REFRESH], "one renewal", renewals(log))
        check(sent(log) == ["Bearer " + access] * 6, "which serves all",
              sent(log))
        held = json.loads(where.path.read_text())["claudeAiOauth"]
        check((held["accessToken"], held["refreshToken"]) ==
              (access, refresh), "and stands in the host's file", held)
        log = live.Log("inet.jsonl")
        with_the_next = where.run(renew("rotates"), use())
        check([c for c, _ in with_the_next.tried] == [200] * 2,
              "the login lives", with_the_next.tried)
        check(renewals(log) == [refresh], "by the new one", renewals(log))


# C-15
@test
def what_the_host_has_renewed_serves():
    for login, asked, bearer in (
            (changed(*THEIRS), [], THEIRS[0]),
            (changed(*THEIRS, expiresAt=1700000000000), [THEIRS[1]],
             accounts.renewed(THEIRS[1])[0])):
        with Login(RENEWED) as where:
            session = Waiting(where, use(), renew("rotates"), use())
            text = json.dumps(login)
            new = where.path.with_name("new")   # as programs do it
            new.write_text(text)
            new.chmod(0o600)
            live.os.chown(new, live.the.uid, live.the.gid)
            new.rename(where.path)
            log = live.Log("inet.jsonl")
            session.go()
            codes, told = session.end()
            check([code for code, _ in codes] == [200] * 3, "served", codes)
            check(renewals(log) == asked, "unless it is over", renewals(log))
            check(sent(log) == ["Bearer " + ACCESS, "Bearer " + bearer],
                  "the host's", sent(log))
            check(asked or where.path.read_text() == text,
                  "the file is as it was")
            answer = json.loads(codes[1][1])
            check(asked or (answer["scope"] == "user:inference user:profile"
                            and answer["expires_in"] > 3600),
                  "the answer has what clients read", answer)
            for secret in (*THEIRS, bearer):
                check(secret not in told, "nobody inside holds it", told)


@test
def what_is_written_while_the_server_is_asked_stays():
    released = live.the.state / "released"
    access, refresh = accounts.renewed(REFRESH)
    for login, bearer, held in (
            ({**LOGIN, "later": 1}, access, (access, refresh)),
            (changed(*THEIRS), THEIRS[0], THEIRS)):
        with Login(RENEWED) as where:
            session = Waiting(where, renew("held"), use())
            log = live.Log("inet.jsonl")
            session.go()
            check(within(20, lambda: [e for e in log.events()
                                      if e["event"] == "renewal"]), "asked")
            where.path.write_text(json.dumps(login))
            try:
                released.touch()
                codes, told = session.end()
            finally:
                released.unlink()
            check([code for code, _ in codes] == [200, 200], "served", codes)
            check(sent(log) == ["Bearer " + bearer], "with it", sent(log))
            found = json.loads(where.path.read_text())
            oauth = found["claudeAiOauth"]
            check((oauth["accessToken"], oauth["refreshToken"]) == held,
                  "the newest tokens", found)
            check(found.get("later") == login.get("later"), "and the rest",
                  found)
            check(access not in told and THEIRS[0] not in told,
                  "nobody inside holds one", told)


@test
def odd_tokens_are_carried_exactly():
    with Login(RENEWED, login=changed(access=accounts.ODD)) as where:
        s = where.run(use(), renew("odd"), use("new.access_token"),
                      ask("https://api.test/used", [TOKEN],
                          **{"x-b": "<{%s}>" % TOKEN}))
        check([code for code, _ in s.tried] == [200] * 4, "served", s.tried)
        got = [header(e, "authorization") for e in s.arrived(
            "http", path="/used")]
        check(got == [["Bearer " + accounts.ODD]] * 2 + [[]], "byte by byte", got)
        check(header(s.arrived("http", path="/used")[2], "x-b") ==
              ["<%s>" % accounts.ODD], "in a text, too", s.arrived("http"))
        nowhere(s, accounts.ODD, REFRESH)


@test
def what_is_no_token_is_refused():
    for bad in ("a b", "a\tb", "a\r\nx-injected: 1", "a\x00b", "a\x7fb", "ä",
                "x" * 8192):
        with Login(RENEWED, login=changed(access=bad)) as where:
            s = where.run()
            check(s.status == 125 and FILE in s.stderr and
                  (TOKEN in s.stderr or "NUL" in s.stderr),
                  "125, and says where", (bad[:9], s.status, s.stderr))
            check(bad not in s.stderr, "and not what", s.stderr)
    with Login(RENEWED) as where:
        text = where.path.read_text()
        s = where.run(renew("controls"), use())
        check([code for code, _ in s.tried] == [502, 200],
              "nor is it taken from a server", s.tried)
        check(where.path.read_text() == text, "the file is as it was")


# C-13
@test
def a_token_too_long_for_a_session_is_the_hosts():
    """The server has ended the old one: it is in the file, or lost."""
    with Login(RENEWED) as where:
        log = live.Log("inet.jsonl")
        s = where.run(renew("long"), use(), renew(), use())
        access = json.loads(where.path.read_text())["claudeAiOauth"][
            "accessToken"]
        check([code for code, _ in s.tried] == [502, 200, 502, 200],
              "the session goes on as it was", s.tried)
        check(len(access) > 4096 and "longer than 4096 bytes" in s.stderr,
              "the host has it, and is told", (len(access), s.stderr))
        check(renewals(log) == [REFRESH], "it is asked for once",
              renewals(log))


@test
def protected_as_well():
    """The copy is for the session's command: its children cannot read it."""
    both = "protect: [{files: ['~/%s*'], by: python3}]\n" % FILE + RENEWED
    access, _ = accounts.renewed(REFRESH)
    with Login(both) as where:
        (where.place.work / "agent.py").write_text(
            "import os, subprocess, sys\n"
            "path = os.path.expanduser('~/' + sys.argv[1])\n"
            "done = subprocess.run(['cat', path], capture_output=True)\n"
            "if done.returncode == 0: sys.exit('a child reads it')\n"
            + (where.place.work / "agent.py").read_text())
        s = where.run(renew(), use("new.access_token"), use())
        check(s.status == 0 and [c for c, _ in s.tried] == [200] * 3,
              "served", (s.status, s.stderr, s.tried))
        check([header(e, "authorization") for e in s.arrived(
            "http", path="/used")] == [["Bearer " + access]] * 2,
              "renewed, and the sentinel stands for it", s.arrived("http"))
        nowhere(s, ACCESS, REFRESH, access)


@contextlib.contextmanager
def a_host_without_a_network():
    """What it forwards goes on; what it begins itself on 443 does not."""
    subprocess.run(live.the.enter(
        "nft", "add table inet own; add chain inet own out "
        "{ type filter hook output priority 0; }; "
        "add rule inet own out tcp dport 443 reject with tcp reset"), check=True)
    try:
        yield
    finally:
        subprocess.run(live.the.enter("nft", "delete table inet own"),
                       check=True)


# C-17
@live.docker_only("a network of its own")
def by_the_uplink_that_the_policy_names():
    network = "membrane-live-renewals"
    access, refresh = accounts.renewed(REFRESH)
    live.the.docker("network", "create", network)
    try:
        with a_host_without_a_network(), Login(RENEWED) as where:
            s = where.run(renew(), use())
            check([code for code, _ in s.tried] == [502, 200] and
                  "renewing" in s.stderr, "else by the host's own network",
                  (s.tried, s.stderr))
            check(not s.arrived("renewal"), "nobody was asked", s.out)
        with a_host_without_a_network(), Login(
                "uplink: %s\n" % network + RENEWED) as where:
            s = where.run(renew(), use("new.access_token"))
            check([code for code, _ in s.tried] == [200, 200], "served",
                  (s.tried, s.stderr))
            check(arrived(s) == ["Bearer " + access], "with the new one",
                  s.arrived("http"))
            nowhere(s, ACCESS, REFRESH, access, refresh)
            s = where.run(renew("refused"), renew("refused", form=True), use())
            check([code for code, _ in s.tried] == [400, 400, 200],
                  "one after the other", (s.tried, s.stderr))
            check("membrane-gate" not in s.stderr, "without a word", s.stderr)
        with Login(("uplink: %s\n" % network + RENEWED).replace(
                "auth.test", "selfsigned.test")) as where:
            s = where.run({**renew(), "url":
                           "https://selfsigned.test/v1/oauth/token"})
            check(s.tried[0][0] == 502, "verified by us", s.tried)
            check(REFRESH not in json.dumps(s.out), "nothing was sent", s.out)
        check(not live.leftovers(), "no container is left", live.leftovers())
    finally:
        live.the.docker("network", "rm", network, check_it=False)
