"""`upstream`: the way out is a proxy's, by CONNECT with the name. The proxies of
the fake internet (inet.py) reach its servers within, so nothing that a session
gets from one arrives by the wire, but what goes to the proxy."""
import json
import subprocess
import sys

import accounts
import live
from live import Place, check, test
from t_host import Served
from t_tokens import (ACCESS, REFRESH, RENEWED, Login, nowhere, renew, use)

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
    return live.left_past(s.out, AT)


# U-1, U-2
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


# U-2, U-5, U-8
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


# U-4
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


# U-7
@test
def a_refusal_is_told():
    fails(3130, "", None, "403")


@test
def a_proxy_that_is_down_is_told():
    fails(3131, "", None, "cannot be reached")


PAST = by(more=', direct: ["*.wild.test", site.test, 11.0.9.0/24]').replace(
    "deny: [", """  - raw.test
  - 11.0.9.1:443
deny: [""", 1)


# U-14
@test
def what_is_direct_goes_past_it_and_the_rest_by_it():
    """Names and networks; a decrypted one, too. Its questions are asked, and
    nobody else's."""
    s = run(PAST, GET + "https://site.test/; " + GET +
            "https://a.wild.test/; " + GET + "-k https://11.0.9.1/; " + GET +
            "https://api.test/v1/x; "
            "python3 -c \"import socket; s = socket.create_connection(("
            "'site.test', 22), 10); print(s.recv(99).decode().strip())\"")
    check(s.stdout.split() == ["200"] * 4 + ["SSH-2.0-OpenSSH_9.2p1", "fake"],
          "all of them", (s.stdout, s.stderr))
    check(set(asked(s)) == {("CONNECT", "api.test:443")}, "one by the proxy",
          asked(s))
    past = {(e["addr"], e["port"]) for e in elsewhere(s)}
    check(past == {("11.0.1.1", 443), ("11.0.4.2", 443), ("11.0.9.1", 443),
                   ("11.0.1.1", 22)}, "and what is direct", past)
    questions = {e.get("name") for e in s.arrived("dns")}
    check(questions <= {"proxy.corp.test", "site.test", "a.wild.test"},
          "of names that are", questions)
    check(not [d for d in s.decided if d.get("verdict") == "deny"],
          "nothing was refused", s.decided)


# U-15
@test
def nothing_else_leaves_past_it():
    """Other names at addresses that direct ones have, their own addresses, and
    those beside: by literal address, by another name, by UDP."""
    s = run(PAST, GET + "https://site.test/; "
            "for h in neighbour.test api.test raw.test; do " + GET +
            "-m 5 --resolve $h:443:11.0.1.1 https://$h/v1/; done; "
            "for a in 11.0.20.4 11.0.9.2 11.0.20.1 12.1.2.3; do " + GET +
            "-m 5 -k https://$a/; done; "
            "for a in 11.0.20.1:22 11.0.9.1:22; do python3 -c \"import socket; "
            "socket.create_connection(('${a%:*}', ${a#*:}), 5)\" 2>&1 | "
            "tail -n 1; done; python3 -c \"import socket; "
            "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
            "s.sendto(b'x', ('11.0.1.1', 7))\"; " +
            GET + "https://raw.test/")
    got = s.stdout.split("\n")
    check(got[0] == "200" and got[-2] == "200" and
          all(x in ("000", "403", "421") for x in got[1:8]),
          "refused", (got, s.stderr))
    check(all("refused" in x or "unreachable" in x for x in got[8:10]),
          "by other ports, too", got)
    past = {(e["addr"], e["port"]) for e in elsewhere(s)}
    check(past == {("11.0.1.1", 443)}, "what is direct alone", past)
    check(set(asked(s)) == {("CONNECT", "raw.test:443")}, "by name",
          asked(s))


@test
def what_fails_past_it_is_told():
    policy = by(more=', direct: [gone.test]').replace(
        "deny: [", '  - {dest: "gone.test:8089", http: [{methods: [GET]}]}\n'
        "deny: [", 1)
    s = run(policy, "curl -sS -m 20 http://gone.test:8089/x")
    check("past the proxy: Connection refused" in s.stdout, "a page says so",
          s.stdout)
    said = [d for d in s.decided if d.get("reason") == "upstream"]
    check(said and all("past the proxy" in d.get("error", "") for d in said),
          "and the record", s.decided)
    check(not asked(s), "no proxy was asked", asked(s))


# U-9, U-15
@test
def datagrams_go_past_it_alone():
    if live.ENGINE == "native":
        raise live.Skip("the native engine has no UDP beside a proxy")
    s = run(by(more=', direct: [site.test]').replace(
        "  - site.test\n", "  - site.test\n  - site.test:7777/udp\n", 1),
            "python3 -c \"import socket; s = socket.socket(socket.AF_INET, "
            "socket.SOCK_DGRAM); s.settimeout(5); "
            "s.sendto(b'ping', ('site.test', 7777)); print(s.recv(99))\"")
    check("ping" in s.stdout, "answered", (s.stdout, s.stderr))
    check({e["addr"] for e in elsewhere(s)} == {"11.0.1.1"}, "there alone",
          elsewhere(s))


@test
def a_sick_proxy_is_told():
    """What is no answer, one that is cut short, other answers than yes."""
    for port, why in ((3140, "refuses it (503)"), (3143, "refuses it (302)"),
                      (3141, "nonsense"), (3142, "breaks off"),
                      (3144, "breaks off"), (3145, "nonsense")):
        fails(port, "", None, why)


@test
def a_slow_proxy_is_not_waited_for():
    """A head that drips, none, and one without an end: each of two clients
    waits for as long as the gate does for a connection."""
    for port, why in ((3150, "in time"), (3151, "in time"), (3152, "")):
        fails(port, "", None, why)


@test
def bytes_behind_the_answer_are_the_tunnels():
    s = run(by(3160), "python3 -c \"import socket; "
            "s = socket.create_connection(('site.test', 22), 10); "
            "f = s.makefile('rwb'); print(f.readline().decode().strip()); "
            "f.write(b'one line\\n'); f.flush(); "
            "print(f.readline().decode().strip())\"")
    check(s.stdout.split("\n")[:2] == ["SSH-2.0-OpenSSH_9.2p1 fake",
                                       "one line"], "all of them",
          (s.stdout, s.stderr))


@test
def a_tunnel_that_ends_at_once_is_no_answer():
    s = run(by(3161), "curl -sS -m 20 http://other.test/open/x; " + GET +
            "https://site.test/")
    check("broke off or answered nonsense" in s.stdout and
          s.stdout.endswith("000\n"), "told", (s.stdout, s.stderr))
    check(not elsewhere(s), "nowhere else", elsewhere(s))


ADDRESSES = """allow:
  - 11.0.9.1:443
  - 11.0.1.0/24
  - dest: http://11.0.20.4/
    http: [{methods: [GET], paths: [/v1/]}]
  - site.test:443
deny: [11.0.1.7]
upstream: "http://proxy.corp.test:3128"
"""


# U-10
@test
def addresses_go_by_the_proxy_as_they_are():
    """One, a network, requests to one; and what is denied or none of them is
    asked of nobody."""
    banner = ("python3 -c \"import socket; s = socket.create_connection(("
              "'%s', %d), 10); print(s.recv(99).decode().strip())\" 2>&1 | "
              "tail -n 1; ")
    s = run(ADDRESSES, GET + "-k https://11.0.9.1/; " +
            banner % ("11.0.1.1", 22) + GET + "http://11.0.20.4/v1/x; " +
            GET + "http://11.0.20.4/v2/x; " + GET + "https://site.test/; " +
            banner % ("11.0.1.7", 22) + banner % ("11.0.9.1", 22) +
            banner % ("192.0.2.77", 443))
    got = s.stdout.split("\n")
    check(got[:5] == ["200", "SSH-2.0-OpenSSH_9.2p1 fake", "200", "403",
                      "200"], "as is granted", (got, s.stderr))
    check(all("refused" in x or "reset" in x for x in got[5:8]),
          "nothing else", got)
    check(set(asked(s)) == {("CONNECT", t) for t in (
        "11.0.9.1:443", "11.0.1.1:22", "11.0.20.4:80", "site.test:443")},
        "by address, and by name", asked(s))
    check(not elsewhere(s), "nothing else left", elsewhere(s))


@test
def all_that_is_public_goes_by_the_proxy():
    s = run("allow: ['*']\nupstream: {proxy: 'http://proxy.corp.test:3128', "
            "direct: [a.wild.test]}\n", GET + "https://site.test/; " + GET +
            "-k https://11.0.9.1/; " + GET + "https://a.wild.test/; " + GET +
            "-m 5 -k https://10.1.2.3/; " + GET + "-m 5 -k https://%s/" % AT)
    check(s.stdout.split() == ["200", "200", "200", "000", "000"], "it is",
          (s.stdout, s.stderr))
    check(set(asked(s)) == {("CONNECT", "site.test:443"),
                            ("CONNECT", "11.0.9.1:443")}, "by name or address",
          asked(s))
    check({e["addr"] for e in elsewhere(s)} == {"11.0.4.2"},
          "and past it what is direct", elsewhere(s))


# U-12
@test
def the_machines_ports_are_beside_it():
    policy = ("allow: ['host:7001', {dest: 'host:7003', http: [{methods: "
              "[GET]}]}, site.test, 11.0.9.0/24]\n"
              "upstream: 'http://proxy.corp.test:3128'\n")
    with Served(policy) as served:
        s = served.run("exec 3<>/dev/tcp/host/7001 || echo none; " + GET +
                       "http://host:7003/x; " + GET +
                       "-X POST http://host:7003/x; " + GET +
                       "https://site.test/; " + GET +
                       "-m 5 http://host:7004/; " + GET +
                       "-k https://11.0.9.1/")
    check(s.stdout.split() == ["200", "403", "200", "000", "200"],
          "as granted", (s.stdout, s.stderr))
    check(set(asked(s)) == {("CONNECT", "site.test:443"),
                            ("CONNECT", "11.0.9.1:443")}, "not by the proxy",
          asked(s))


# U-13
@test
def tokens_are_renewed_by_the_proxy():
    """By name, with the login; a refusal of the proxy's is the agent's answer."""
    access, refresh = accounts.renewed(REFRESH)
    login = "upstream: {proxy: 'http://proxy.corp.test:%d', from_env: PROXY}\n"
    with Login(login % 3129 + RENEWED, env={"PROXY": LOGIN}) as where:
        s = where.run(renew(), use("new.access_token"))
        check([code for code, _ in s.tried] == [200, 200], "served",
              (s.tried, s.stderr))
        nowhere(s, ACCESS, REFRESH, access, refresh, "w%rd")
    check({(e["target"], e["login"]) for e in s.arrived("proxy")} ==
          {("auth.test:443", LOGIN), ("api.test:443", LOGIN)}, "by name",
          s.arrived("proxy"))
    check(not elsewhere(s), "and nothing else left", elsewhere(s))
    with Login(login % 3129 + RENEWED, env={"PROXY": "me:wrong"}) as where:
        s = where.run(renew())
        check(s.tried[0][0] == 502 and "407" in s.stderr, "told",
              (s.tried, s.stderr))


RELAY = """
import socket, sys, threading
def pass_on(a, b):
    while data := a.recv(65536):
        b.sendall(data)
    b.shutdown(socket.SHUT_WR)
def listen(at, port):
    return socket.create_server((at, port), family=socket.AF_INET6
                                if ":" in at else socket.AF_INET)
# a second one, which says who came
def tell(at):
    with listen(at, 3198) as s:
        while True:
            a = s.accept()[0]
            print("called", flush=True)
            a.close()
threading.Thread(target=tell, args=(sys.argv[1],), daemon=True).start()
with listen(sys.argv[1], 3199) as s:
    print("up", flush=True)
    while True:
        a = s.accept()[0]
        b = socket.create_connection(("%s", 3128))
        for pair in ((a, b), (b, a)):
            threading.Thread(target=pass_on, args=pair, daemon=True).start()
""" % AT


@live.native_only("a broker")
def a_proxy_on_this_machine():
    """With the native engine, whose broker is here: a container would have to
    be let through by the machine's own packet filter."""
    own = subprocess.run(live.the.enter("sh", "-c", "ip -4 -o addr | grep -v "
                                        "127.0.0.1 | sed 's/.*inet //; s,/.*,,'"),
                         capture_output=True, text=True,
                         check=True).stdout.split()[0]
    by_own_proxy(own, own, [own, "host"])


def by_own_proxy(at, host, tried):
    """A session by a proxy here, from which that one and another listener are
    called by all that could lead there."""
    relay = subprocess.Popen(live.the.enter(sys.executable, "-c", RELAY, at),
                             stdout=subprocess.PIPE)
    try:
        check(relay.stdout.readline() == b"up\n", "it listens")
        s = run(by(3199, host=host), GET + "https://site.test/; " + "".join(
            GET + "-m 3 'http://%s:%d/'; " % (to, port)
            for to in tried for port in (3199, 3198)))
        check(s.stdout.split() == ["200"] + ["000"] * 2 * len(tried),
              "it serves, and is the gate's alone", (s.stdout, s.stderr))
        check(set(asked(s)) == {("CONNECT", "site.test:443")}, "by name, once",
              asked(s))
    finally:
        relay.kill()
        told = relay.communicate()[0]
    check(told == b"", "nobody called the other one", told)


LOOPBACK = ["127.0.0.1", "127.8.8.8", "0.0.0.0", "[::1]", "[::]", "localhost",
            "host", "192.0.0.5"]


@live.native_only("a container has a loopback of its own")
def a_proxy_at_loopback():
    """By each of its three words. The agent gets to nothing there: no packet
    leads to it, and nobody inside is given a socket but by the proxy's word."""
    by_own_proxy("127.0.0.1", "127.0.0.1", LOOPBACK)
    by_own_proxy("127.0.0.1", "localhost", LOOPBACK[:1])
    by_own_proxy("::1", "[::1]", LOOPBACK[3:4])


@live.native_only("a container has a loopback of its own")
def a_name_that_leads_to_loopback_is_no_proxy():
    """What a resolver says is nobody's word for that."""
    s = run(by(host="loopback.corp.test"), "true")
    check(s.status == 125 and "loopback" in s.stderr and "127.0.0.1" in
          s.stderr, "said", (s.status, s.stderr))


@test
def a_proxy_that_has_no_address_ends_it_before():
    s = run(by(host="proxy.invalid"), "true")
    check(s.status == 125 and "proxy.invalid" in s.stderr, "said",
          (s.status, s.stderr))
