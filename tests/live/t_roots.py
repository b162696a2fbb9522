"""`upstream_ca`: roots of a company beside the system's. What is below
corp.test has certificates of an authority that nobody knows (world.sh)."""
import hashlib
import json
import shutil

import accounts
import live
from live import Place, check, test
from t_control import WAIT, Running
from t_tokens import REFRESH, RENEWED, Login, renew, use

ROOTS = "upstream_ca: ~/corp.pem\n"
DECRYPTED = """allow:
  - dest: api.corp.test:443
    http: [{methods: [GET], paths: [/v1/]}]
  - dest: api.test:443
    http: [{methods: [GET], paths: [/v1/]}]
"""
SPLICED = "allow: ['git.corp.test:443', 'site.test:443']\n"
GET = "curl -sS -o /dev/null -w '%{http_code}\\n' "


def company(policy, extra=b""):
    place = Place(policy)
    path = place.root / "corp.pem"
    shutil.copy(live.the.state / "ca" / "corp.crt", path)
    if extra:
        path.write_bytes(path.read_bytes() + extra)
    place.own()
    return place


def run(place, command):
    return place.membrane("run", "--no-trace", "--", "sh", "-c", command)


# C-1, C-4
@test
def decrypted_origins_are_verified_by_them():
    """The gate believes both, and on record is what it was given."""
    ask = GET + "https://api.corp.test/v1/a; " + GET + "https://api.test/v1/a"
    with company(DECRYPTED + ROOTS) as place:
        s = run(place, ask)
        check(s.stdout.split() == ["200", "200"], "both are reached",
              (s.stdout, s.stderr))
        check(s.arrived("http", host="api.corp.test", path="/v1/a"),
              "it arrived", s.arrived("http"))
        (path,) = place.state.glob("sessions/*/session.json")
        said = json.loads(path.read_text())["upstream_ca"]
        pem = (path.parent / "upstream-ca.pem").read_bytes()
        check(said == {"file": "~/corp.pem", "certificates": 1,
                       "sha256": hashlib.sha256(pem).hexdigest()},
              "the record", said)
    with company(DECRYPTED) as place:
        s = run(place, ask)
        check(s.stdout.split() == ["503", "200"], "without it the gate "
              "does not", (s.stdout, s.stderr))


# C-2
@test
def the_agent_trusts_them_where_nothing_is_decrypted():
    ask = GET + "https://git.corp.test/; " + GET + "https://site.test/; " \
        "python3 -c \"import urllib.request as u; print(u.urlopen(" \
        "'https://git.corp.test/').status)\"; node -e \"fetch(" \
        "'https://git.corp.test/').then(r => console.log(r.status))\""
    with company(SPLICED + ROOTS) as place:
        s = run(place, ask)
        check(s.stdout.split() == ["200"] * 4, "curl, python and node",
              (s.stdout, s.stderr))
    with company(SPLICED) as place:
        s = run(place, ask)
        check(s.stdout.split() == ["000", "200"], "nobody without it",
              (s.stdout, s.stderr))


@test
def what_is_allowed_later_is_decrypted_for_them_too():
    """The agent has had the session's CA from the start, and the gate the
    company's roots."""
    with company(SPLICED + ROOTS) as place:
        with Running(place, "grep -c BEGIN /etc/membrane/ca.pem; " + WAIT +
                     GET + "https://api.corp.test/v1/a; " +
                     GET + "https://api.corp.test/no; " +
                     GET + "https://git.corp.test/") as r:
            s = r.amend("allow", "https://api.corp.test/v1/")
            check(s.status == 0, "allowed", (s.status, s.stderr))
            out, err = r.go()
            check(out.split() == ["2", "up", "200", "403", "200"],
                  "decided by path, and spliced", (out, err))


# C-1
@test
def tokens_are_renewed_where_they_sign():
    """libcurl on the host believes them as well, and the host's own still."""
    login = RENEWED.replace("auth.test", "auth.corp.test")
    here = {**renew(), "url": "https://auth.corp.test/v1/oauth/token"}
    access, _ = accounts.renewed(REFRESH)
    with Login(login + ROOTS) as where:
        shutil.copy(live.the.state / "ca" / "corp.crt",
                    where.place.root / "corp.pem")
        s = where.run(here, use("new.access_token"))
        check([code for code, _ in s.tried] == [200, 200], "renewed",
              (s.tried, s.stderr))
        check("Bearer " + access in json.dumps(s.arrived("http")),
              "and used", s.arrived("http"))
    with Login(RENEWED + ROOTS) as where:
        shutil.copy(live.the.state / "ca" / "corp.crt",
                    where.place.root / "corp.pem")
        s = where.run(renew())
        check(s.tried[0][0] == 200, "the system's are believed, too",
              (s.tried, s.stderr))
    with Login(login) as where:
        s = where.run(here)
        check(s.tried[0][0] == 502 and not s.arrived("renewal"),
              "without them nothing is sent", (s.tried, s.stderr))


# C-3
@test
def a_server_s_certificate_is_no_root():
    leaf = next((live.the.state / "tls").glob("*.pem")).read_bytes()
    with company(DECRYPTED + ROOTS, extra=leaf) as place:
        s = run(place, "true")
        check(s.status == 125 and "of a server, not of an authority"
              in s.stderr and "config.yaml:6:14" in s.stderr, "refused",
              (s.status, s.stderr))
