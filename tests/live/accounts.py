"""Accounts at providers of the fake internet: logins in a browser, by a code and
on another device; the tokens that come of them, and their renewal. Each site is a
function(web, path, body), as those of sites.py."""
import base64
import hashlib
import json
import threading
import time
import urllib.parse


def renewed(secret):
    """(access token, refresh token) that come of a refresh token."""
    return tuple("sk-ant-%s01-%s" % (word, hashlib.sha256(
        (word + secret).encode()).hexdigest()) for word in ("oat", "ort"))


def jwt(name, end):
    """A token of ChatGPT's: who it is for, and when it ends."""
    def part(data):
        return base64.urlsafe_b64encode(data).decode().rstrip("=")
    claims = {"exp": end, "email": "a@site.test",
              "https://api.openai.com/auth": {
                  "chatgpt_account_id": "acct-1", "chatgpt_user_id": "user-1",
                  "chatgpt_plan_type": "pro"}}
    return ".".join(map(part, (b'{"alg":"RS256","typ":"JWT"}', json.dumps(
        claims).encode(), hashlib.sha512(name.encode()).digest())))


def chatgpt(secret):
    """(access token, refresh token, id token) that come of a refresh token."""
    return (jwt("access" + secret, 1900000000), "rt_" + hashlib.sha256(
        secret.encode()).hexdigest(), jwt("id" + secret, 1900000000))


def asked_in(web, body):
    """What a request for tokens asks: both ways to write it serve."""
    kind = web.headers.get("Content-Type", "").split(";")[0]
    return kind, json.loads(body or b"{}") if kind == "application/json" else \
        dict(urllib.parse.parse_qsl(body.decode()))


def asked_by(path):
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(path).query))


def told(web, status=200, **answer):
    return web.reply(json.dumps(answer).encode(), "application/json", status)


# --- logins ------------------------------------------------------------------

class Codes:
    """Codes that somebody was given who is signed in, and who asked for them."""

    def __init__(self):
        self.begun, self.given = {}, 0

    def give(self, asked):
        self.given += 1
        code = "code-%d" % self.given
        self.begun[code] = asked
        return code

    def sign_in(self, web, asked):
        """Somebody is signed in already: the browser goes back with a code."""
        web.note("login", asked=asked)
        back = urllib.parse.urlencode({"code": self.give(asked),
                                       "state": asked.get("state", "its")})
        return web.reply(b"", status=302, headers=[
            ("Location", asked.get("redirect_uri", "") + "?" + back)])

    def take(self, asked):
        """Once, and for who began it: RFC 6749, section 4.1.3; RFC 7636,
        section 4.6. What was asked for; None: it is no code."""
        begun = self.begun.pop(asked.get("code"), None)
        verifier = hashlib.sha256(asked.get("code_verifier", "").encode())
        challenge = base64.urlsafe_b64encode(verifier.digest()).decode()
        same = begun is not None and challenge.rstrip("=") == \
            begun.get("code_challenge") and all(
                asked.get(k) == begun.get(k)
                for k in ("redirect_uri", "client_id"))
        return begun if same else None


class Devices:
    """Logins that somebody allows on a device of his: RFC 8628, in the form that
    ChatGPT gives it. The server makes the challenge, and its answer."""

    def __init__(self, codes):
        self.codes, self.waiting = codes, {}

    def begin(self, web, asked):
        name = "device-%d" % (len(self.waiting) + 1)
        user_code = "USER-%04d" % (len(self.waiting) + 1)
        self.waiting[name] = {"user_code": user_code, "allowed": False,
                              "client_id": asked.get("client_id")}
        web.note("device", user_code=user_code)
        return told(web, device_auth_id=name, user_code=user_code, interval="1")

    def allow(self, web, asked):
        """The page at which somebody types the code that he was shown."""
        for one in self.waiting.values():
            if one["user_code"] == asked.get("user_code"):
                one["allowed"] = True
                return web.reply(b"allowed\n")
        return web.reply(b"no such code\n", status=404)

    def poll(self, web, asked):
        one = self.waiting.get(asked.get("device_auth_id"), {})
        if not one.get("allowed") or \
                one["user_code"] != asked.get("user_code"):
            return told(web, 403, error="deviceauth_authorization_pending")
        verifier = hashlib.sha256(repr(one).encode()).hexdigest()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(
            verifier.encode()).digest()).decode().rstrip("=")
        code = self.codes.give({
            "redirect_uri": "https://auth.openai.com/deviceauth/callback",
            "client_id": one["client_id"], "code_challenge": challenge})
        return told(web, authorization_code=code, code_verifier=verifier,
                    code_challenge=challenge)


def chatgpt_site():
    codes = Codes()
    devices = Devices(codes)
    at_device = {"/api/accounts/deviceauth/usercode": devices.begin,
                 "/api/accounts/deviceauth/token": devices.poll,
                 "/codex/device": devices.allow}

    def site(web, path, body):
        if path.startswith("/oauth/authorize?"):
            return codes.sign_in(web, asked_by(path))
        kind, asked = asked_in(web, body)
        if path in at_device:
            return at_device[path](web, asked)
        secret = asked.get("refresh_token")
        if asked.get("grant_type") == "authorization_code":
            web.note("exchange", path=path, asked=asked)
            secret = asked.get("code") if codes.take(asked) else None
        else:
            web.note("renewal", path=path, kind=kind, asked=asked)
        if path != "/oauth/token" or secret is None:
            return told(web, 400, error="invalid_request")
        access, refresh, id_token = chatgpt(secret)
        return told(web, access_token=access, refresh_token=refresh,
                    id_token=id_token, token_type="Bearer", expires_in=3600)
    return site


# --- Anthropic's, and any other that renews tokens ---------------------------

# Bytes that a token may have, and that something on its way looks at.
ODD = r"""a;b"c'd\e,f#g%h$i&j`k|l(m)*[n]{o}!p=~/?@:^\;<<"""
ACCESS = {"odd": ODD, "long": "x" * 8192, "controls": "a\tb"}


class Rotation:
    """Refresh tokens that serve once: one that comes again is stolen, and ends
    all that came of the same login."""

    def __init__(self):
        self.lock, self.used, self.logins = threading.Lock(), set(), {}

    def asked(self, secret):
        """Is it one? The first waits a little for another to come."""
        with self.lock:
            login = self.logins.setdefault(secret, {
                "good": True, "again": threading.Event()})
            if secret in self.used:
                login["good"] = False
                login["again"].set()
            first = secret not in self.used
            self.used.add(secret)
            self.logins[renewed(secret)[1]] = login
        if first:
            login["again"].wait(1)
        return login["good"]


def of_code(web, path, asked, codes):
    """The tokens of a code, which came by a browser or by hand."""
    web.note("exchange", path=path, asked=asked)
    begun = codes.take(asked)
    if path != "/v1/oauth/token" or begun is None:
        return told(web, 400, error="invalid_grant")
    access, refresh = renewed(asked["code"])
    return told(web, token_type="Bearer", access_token=access,
                expires_in=asked.get("expires_in", 3600), refresh_token=refresh,
                scope=begun["scope"])


def claudes_page(web, path):
    """What a browser is shown; and whether there is a way here."""
    if path == "/v1/oauth/hello":
        return web.reply(b'{"message":"hello"}', "application/json")
    if not path.startswith("/oauth/code/callback?"):
        return web.reply(b"", status=404)
    said = asked_by(path)
    return web.reply(b"Paste this into Claude Code: %s#%s\n" % (
        said["code"].encode(), said["state"].encode()))


def token_site(state, codes):
    """Where tokens are renewed. Who asks says in client_id how it goes."""
    rotation = Rotation()

    def site(web, path, body):
        if web.command == "GET":
            return claudes_page(web, path)
        kind, asked = asked_in(web, body)
        if asked.get("grant_type") == "authorization_code":
            return of_code(web, path, asked, codes)
        secret, how = asked.get("refresh_token", ""), asked.get("client_id")
        web.note("renewal", path=path, kind=kind, asked=asked)
        if path != "/v1/oauth/token" or how == "refused" or (
                how == "rotates" and not rotation.asked(secret)):
            return told(web, 400, error="invalid_grant",
                        error_description="it is not %s" % secret)
        if how == "garbage":
            return web.reply(b"<html>%s</html>" % secret.encode(), "text/html")
        if how == "no tokens":
            return web.reply(b'{"refresh_token":"x"}', "application/json")
        if how == "held":   # until the test says so
            until = time.monotonic() + 20
            while not (state / "released").exists() and \
                    time.monotonic() < until:
                time.sleep(0.02)
        access, refresh = renewed(secret)
        access = ACCESS.get(how, access)
        answer = {"token_type": "Bearer", "access_token": access,
                  "expires_in": 3600, "refresh_token": refresh, "scope": "a b",
                  "id_token": "an-" + access, "was": {"sent": [secret]}}
        if how == "same":
            del answer["refresh_token"], answer["was"]
        return told(web, **answer)
    return site


CLAUDE = {"client_id": "9d1c250a-e61b-44d9-88ed-5944d1962f5e",
          "redirect_uri": "https://platform.claude.com/oauth/code/callback",
          "scope": "user:inference user:profile"}


def claude_site(codes):
    """Where a subscriber signs in. Claude Code prints a short form of what it
    asks: a digit for each six of the scopes that are usual, and the challenge."""
    def site(web, path, _):
        at, _, query = path.partition("?")
        if at != "/oauth/authorize":
            return web.reply(b"", status=404)
        asked = asked_by(path)
        if "=" not in query.split("&")[0]:
            asked = {**CLAUDE, "code_challenge": query.split("&")[0][-43:]}
        return codes.sign_in(web, asked)
    return site


def sites(state):
    codes = Codes()
    return {"auth.openai.com": chatgpt_site(), "claude.ai": claude_site(codes),
            **dict.fromkeys(("auth.test", "auth.corp.test",
                             "platform.claude.com"), token_site(state, codes))}
