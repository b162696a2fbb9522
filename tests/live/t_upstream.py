"""`upstream`: the way out is a proxy's, by CONNECT with the name. The proxies of
the fake internet (inet.py) reach its servers within, so nothing that a session
gets from one arrives by the wire, but what goes to the proxy."""
import json

from live import Place, check, test

AT = "11.0.40.1"
LOGIN = "me@corp:pass:w%rd"
POLICY = """allow:
  - site.test
  - "*.wild.test:443"
  - dest: api.test:443
    http: [{methods: [GET], paths: [/v1/]}]
  - dest: other.test:80
    http: [{methods: [GET], paths: [/open/]}]
deny: [other.wild.test]
"""
GET = "curl -sS -m 20 -o /dev/null -w '%{http_code}\\n' "


def by(port=3128, more="", host="proxy.corp.test"):
    return POLICY + "upstream: {proxy: \"http://%s:%d\"%s}\n" % (host, port,
                                                                 more)


def run(policy, command, env=None):
    with Place(policy, env=env) as place:
        s = place.membrane("run", "--no-trace", "--", "sh", "-c", command)
        s.decided = place.decisions()
        return s


def asked(s):
    return [(e["method"], e["target"]) for e in s.arrived("proxy")]


def elsewhere(s):
    """What left for any other place than the proxy; membrane itself asks for
    the proxy's name."""
    return [e for e in s.arrived("packet", addr=lambda a: a != AT)
            if e["port"] != 53]


@test
def names_go_by_the_proxy_and_nothing_else_leaves():
    """Spliced, decrypted, in the clear, another protocol."""
    s = run(by(), GET + "https://site.test/; " + GET +
            "https://a.wild.test/; " + GET + "https://api.test/v1/x; " + GET +
            "http://other.test/open/y; "
            "python3 -c \"import socket; s = socket.create_connection(("
            "'site.test', 22), 10); print(s.recv(99).decode().strip())\"")
    check(s.stdout.split() == ["200"] * 4 + ["SSH-2.0-OpenSSH_9.2p1", "fake"],
          "all of them", (s.stdout, s.stderr))
    check(set(asked(s)) == {("CONNECT", t) for t in (
        "site.test:443", "a.wild.test:443", "api.test:443", "other.test:80",
        "site.test:22")}, "with their names", asked(s))
    check(s.arrived("http", host="api.test", path="/v1/x"), "it arrived")
    check(not elsewhere(s), "nothing else left", elsewhere(s))
    questions = {e.get("name") for e in s.arrived("dns")}
    check(questions <= {"proxy.corp.test"}, "and nobody is asked for names",
          questions)


@test
def rules_hold_as_without_it():
    s = run(by(), GET + "https://api.test/no; " + GET +
            "https://other.wild.test/; " + GET + "https://ungranted.test/; "
            # another granted name at that one's stand-in
            "A=$(getent ahostsv4 a.wild.test | head -n 1 | cut -d' ' -f1); " +
            GET + "--connect-to ::$A: https://b.wild.test/; " + GET +
            "--resolve api.test:443:$A https://api.test/v1/x; "
            "for p in 3128 443; do python3 -c \"import socket; "
            "socket.create_connection(('%s', $p), 5)\" 2>&1 | tail -n 1; done"
            % AT)
    lines = s.stdout.split("\n")
    check(lines[:5] == ["403", "000", "000", "000", "000"] or
          lines[0] == "403" and set(lines[1:5]) <= {"000", "421"},
          "refused", (s.stdout, s.stderr))
    check("Connection refused" in lines[5] and "refused" in lines[6],
          "the proxy is the gate's alone", s.stdout)
    check(not asked(s), "and nobody was asked", asked(s))


@test
def a_login_is_the_gates_alone():
    command = GET + "https://site.test/; env; cat /proc/*/environ 2>/dev/null"
    s = run(by(3129, ", from_env: PROXY_LOGIN"), command,
            {"PROXY_LOGIN": LOGIN})
    check(s.stdout.startswith("200\n"), "served", (s.stdout[:200], s.stderr))
    check([e["login"] for e in s.arrived("proxy")] == [LOGIN], "as whom",
          s.arrived("proxy"))
    check("w%rd" not in s.stdout + s.stderr, "nobody inside holds it")
    s = run(by(3129, ", from_env: PROXY_LOGIN"), "true")
    check(s.status == 125 and "PROXY_LOGIN" in s.stderr, "it has to be set",
          s.stderr)


def fails(port, more, env, why):
    """The client of a request and the record of each have the reason."""
    s = run(by(port, more), "curl -sS -m 20 https://api.test/v1/x; echo; " +
            GET + "https://site.test/", env)
    check(why in s.stdout, "the client is told: " + why, s.stdout)
    check(s.stdout.endswith("000\n"), "a spliced one ends", s.stdout)
    said = [d for d in s.decided if d.get("reason") == "upstream" and
            d.get("verdict") == "deny"]
    check({d.get("name") for d in said} == {"api.test", "site.test"} and
          all(why in d.get("error", "") for d in said), "on record",
          json.dumps(s.decided))
    check(not s.arrived("http"), "nothing arrived")


@test
def a_wrong_login_is_told():
    fails(3129, ", from_env: PROXY_LOGIN", {"PROXY_LOGIN": "me:wrong"}, "407")


@test
def a_refusal_is_told():
    fails(3130, "", None, "403")


@test
def a_proxy_that_is_down_is_told():
    fails(3131, "", None, "cannot be reached")


@test
def a_proxy_that_has_no_address_ends_it_before():
    s = run(by(host="proxy.invalid"), "true")
    check(s.status == 125 and "proxy.invalid" in s.stderr, "said",
          (s.status, s.stderr))
