"""Requests: method, path, host, and what tries to be taken for another."""
import json

import l7
from l7 import (API, H2, RAW, SITE, connected, header, reached, reasons,
                refused_with, request, web)
import live
from live import check, shell, test

POLICY = """allow:
  - dest: api.test
    http:
      - {methods: [GET], paths: [/v1/, /pkg]}
      - {methods: [POST], paths: [/v1/messages]}
"""
PERMITTED = [("GET", "/v1/"), ("GET", "/v1"), ("GET", "/v1/x"),
             ("GET", "/v1/a/b/c"), ("GET", "/pkg"), ("GET", "/pkg/"),
             ("GET", "/pkg/deep/er"), ("POST", "/v1/messages"),
             ("POST", "/v1/messages/batch"), ("GET", "/v1/x?y=1&z=%2e%2e"),
             ("GET", "/v1/x?path=/../admin"), ("GET", "/v1/a%20b"),
             ("GET", "/v1/..x"), ("GET", "/v1/x..")]
REFUSED = [("GET", "/"), ("GET", "/admin"), ("GET", "/v1-evil"),
           ("GET", "/v11"), ("GET", "/pkg-evil"), ("GET", "/pkgs"),
           ("GET", "/V1/"), ("POST", "/v1/x"), ("POST", "/pkg"),
           ("DELETE", "/v1/x"), ("PUT", "/v1/messages"), ("HEAD", "/v1/x"),
           ("OPTIONS", "/v1/x"), ("TRACE", "/v1/x"), ("PATCH", "/pkg"),
           ("PROPFIND", "/v1/"), ("get", "/v1/x"), ("GET", "/admin?/v1/"),
           ("GET", "/admin?x=/v1/x"), ("GET", "/?/v1/x")]
# Another spelling of some path: refused, never repaired.
TWISTED = ["/v1/../admin", "/v1/..", "/v1/../", "/v1/./x", "/v1/.",
           "/../v1/x", "/./v1/x", "/v1/x/../../admin", "/v1/%2e%2e/admin",
           "/v1/%2E%2E/admin", "/v1/.%2e/admin", "/v1/%2e/x", "/v1//x",
           "//v1/x", "/v1/x//", "/v1/a%2fb", "/v1/a%2Fb", "/v1/..%2fadmin",
           "/v1/%2e%2e%2fadmin", "/v1/%252e%252e/admin", "/v1/%252fadmin",
           "/v1/a\\b", "/v1/..\\admin", "/v1/%5cadmin", "/v1/..%5Cadmin",
           "/v1/..;/admin", "/v1/..;x=1/admin", "/v1/.;/admin",
           "/v1/%41", "/v1/x#frag", "/v1/\x80", "/v1/\xc0\xaf", "/v1/\xfc", "/v1/\x7f",
           "/v1/\x01"]


def both_ways(result_of):
    """A list of attempts in the clear and one inside TLS."""
    return [result_of(80, None), result_of(443, "api.test")]


@test
def methods_and_paths():
    tries = [["resolve", "api.test"]]
    for method, path in PERMITTED + REFUSED:
        body = "Content-Length: 0\r\n" if method in (
            "POST", "PUT", "PATCH") else ""
        tries += both_ways(lambda port, name, m=method, p=path, b=body: [
            "http", API, port, request(p, method=m, more=b), name])
    s = web(POLICY, tries)
    results = s.tried[1:]
    for i, (method, path) in enumerate(PERMITTED):
        for r in results[2 * i:2 * i + 2]:
            check(r.get("codes") == [200], "permitted: %s %s" % (
                method, path), r)
    for i, (method, path) in enumerate(REFUSED, len(PERMITTED)):
        for r in results[2 * i:2 * i + 2]:
            check(r.get("codes") in ([403], [400]), "refused: %s %s" % (
                method, path), r)
    for tls in (False, True):
        check(reached(s, tls=tls) == PERMITTED, "what arrived, byte by byte",
              reached(s, tls=tls))
    denied = reasons(s, "request")
    check(set(denied) <= {"method", "path", "bad-request", "not-http"},
          "reasons", denied)
    check("method" in denied and "path" in denied, "both", denied)


#
@test
def paths_that_are_not_canonical_are_refused_and_not_repaired():
    tries = [["resolve", "api.test"]]
    for path in TWISTED:
        tries += both_ways(lambda port, name, p=path: [
            "http", API, port, request(p), name])
    s = web(POLICY, tries)
    for i, result in enumerate(s.tried[1:]):
        check(result.get("codes") in ([403], [400]), "refused: %r" %
              TWISTED[i // 2], result)
    check(not s.arrived("http"), "no request arrived", reached(s))
    check("path-not-canonical" in reasons(s, "request"), "reason",
          s.decided[:5])


@test
def connection_with_several_requests():
    def turns(port, name):
        return ["http", API, port,
                request("/v1/a", close=False) +
                request("/admin", close=False) +
                request("/v1/b", close=False) +
                request("/v1/c", host="api2.test", close=False), name]

    def slow_turns(port, name):
        return ["http", API, port, "\0PAUSE\0".join((
            request("/v1/d", close=False), request("/admin", close=False))),
            name]
    s = web(POLICY, [["resolve", "api.test"], *both_ways(turns),
                     *both_ways(slow_turns)])
    for result in s.tried[1:]:
        codes = result.get("codes", [])
        check(codes[:2] == [200, 403], "each is judged", result)
        check(200 not in codes[3:], "the foreign host too", result)
    paths = {p for _, p in reached(s)}
    check(paths <= {"/v1/a", "/v1/b", "/v1/d"}, "what arrived", reached(s))
    check(not s.arrived("http", host="api2.test"), "nothing for the other")


# N-10
@test
def host_decides_in_the_clear():
    # neighbour.test is at the same address and not granted.
    s = web("allow: ['site.test:80', other.test]\n", [
        ["resolve", "site.test"], ["resolve", "other.test"],
        ["http", SITE, 80, request("/a", "site.test")],
        ["http", SITE, 80, request("/b", "SITE.TEST")],
        ["http", SITE, 80, request("/c", "site.test:80")],
        ["http", SITE, 80, request("/d", "neighbour.test")],
        ["http", SITE, 80, request("/e", "11.0.1.1")],
        ["http", SITE, 80, request("/f", "other.test")],
        ["http", SITE, 80, request("/g", "ungranted.test")],
        ["http", SITE, 80, "GET /h HTTP/1.1\r\nConnection: close\r\n\r\n"],
        ["http", SITE, 80, "GET /i HTTP/1.0\r\n\r\n"],
        ["http", SITE, 80, request("/j", "", close=True)],
        ["http", SITE, 80, request("/k", "site.test",
                                   more="Host: neighbour.test\r\n")],
        ["http", SITE, 80, request("/l", "site.test neighbour.test")],
        ["http", SITE, 80, request("/m", "neighbour.test#site.test")],
        ["http", SITE, 80, request("/n", "site.test@neighbour.test")],
        ["http", SITE, 80, request("/o", "site.test:80@neighbour.test")],
        ["http", SITE, 80, request("/p", "site.test", close=False) +
         request("/q", "neighbour.test")]])
    for result in s.tried[2:5]:
        check(result["ok"], "its own name", result)
    for result in s.tried[5:17]:
        check(not result["ok"], "refused", result)
    check({p for _, p in reached(s)} == {"/a", "/b", "/c", "/p"},
          "what arrived", reached(s))
    check({e["host"] for e in s.arrived("http")} == {"site.test"}, "hosts",
          s.arrived("http"))


#
@test
def absolute_form_and_connect():
    def ask(target, method="GET", host="api.test"):
        return lambda port, name: ["http", API, port, request(
            target, host, method), name]
    agreeing = [["http", API, port, request("%s://%s/v1/%d" % (
        scheme, host, n)), name] for n, (scheme, port, name, host) in
        enumerate((("http", 80, None, "api.test"),
                   ("HTTP", 80, None, "API.test"),
                   ("http", 80, None, "api.test:80"),
                   ("https", 443, "api.test", "api.test")))]
    s = web(POLICY, [["resolve", "api.test"],
                     *both_ways(ask("http://other.test/v1/x")),
                     *both_ways(ask("https://other.test/v1/x")),
                     *both_ways(ask("http://api2.test/v1/x")),
                     *both_ways(ask("http://api.test@evil.example/v1/x")),
                     *both_ways(ask("http://x@api.test/v1/x")),
                     *both_ways(ask("http://api.test:81/v1/x")),
                     *both_ways(ask("http://api.test")),
                     *both_ways(ask("http://api.test/v1/{x}")),
                     *both_ways(ask("ftp://api.test/v1/x")),
                     *both_ways(ask("http://api.test/v1/x",
                                    host="other.test")),
                     *both_ways(ask("other.test:443", "CONNECT",
                                    "other.test:443")),
                     *both_ways(ask("api.test:443", "CONNECT")),
                     *both_ways(ask("1.1.1.1:443", "CONNECT")),
                     *both_ways(ask("*", "OPTIONS")),
                     ["http", API, 80, request("https://api.test/v1/x")],
                     ["http", API, 443, request("http://api.test/v1/x"),
                      "api.test"],
                     ["http", API, 80, request("http://api.test/admin")],
                     ["http", API, 80, request("http://api.test/v1/../x")],
                     *agreeing])
    for result in s.tried[1:-4]:
        check(not result["ok"], "refused", result)
    for result in s.tried[-4:]:
        check(result.get("codes") == [200], "one that agrees", result)
    check([p for _, p in reached(s)] == ["/v1/%d" % n for n in range(4)],
          "arrives as a path", reached(s))
    check({e["host"] for e in s.arrived("http")} == {"api.test"}, "to whom",
          s.arrived("http"))


SMUGGLED = {
    # name: (raw request; what it hides is GET /admin)
    "two lengths": "POST /ok HTTP/1.1\r\nHost: raw.test\r\nContent-Length: 4"
    "\r\nContent-Length: 30\r\n\r\nabcdGET /admin HTTP/1.1\r\n\r\n",
    "length list": "POST /ok HTTP/1.1\r\nHost: raw.test\r\n"
    "Content-Length: 4, 30\r\n\r\nabcdGET /admin HTTP/1.1\r\n\r\n",
    "length +": "POST /ok HTTP/1.1\r\nHost: raw.test\r\nContent-Length: +4"
    "\r\n\r\nabcdGET /admin HTTP/1.1\r\n\r\n",
    "length hex": "POST /ok HTTP/1.1\r\nHost: raw.test\r\n"
    "Content-Length: 0x4\r\n\r\nabcdGET /admin HTTP/1.1\r\n\r\n",
    "length -": "POST /ok HTTP/1.1\r\nHost: raw.test\r\nContent-Length: -1"
    "\r\n\r\nGET /admin HTTP/1.1\r\n\r\n",
    "space before colon": "POST /ok HTTP/1.1\r\nHost: raw.test\r\n"
    "Content-Length : 4\r\n\r\nabcdGET /admin HTTP/1.1\r\n\r\n",
    "te space": "POST /ok HTTP/1.1\r\nHost: raw.test\r\n"
    "Transfer-Encoding : chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"
    "GET /admin HTTP/1.1\r\n\r\n",
    "te x": "POST /ok HTTP/1.1\r\nHost: raw.test\r\nTransfer-Encoding: "
    "xchunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /admin HTTP/1.1"
    "\r\n\r\n",
    "te list": "POST /ok HTTP/1.1\r\nHost: raw.test\r\nTransfer-Encoding: "
    "chunked, identity\r\n\r\n0\r\n\r\nGET /admin HTTP/1.1\r\n\r\n",
    "two te": "POST /ok HTTP/1.1\r\nHost: raw.test\r\nTransfer-Encoding: "
    "chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\nGET /admin HTTP/1.1"
    "\r\n\r\n",
    "te vt": "POST /ok HTTP/1.1\r\nHost: raw.test\r\nTransfer-Encoding: "
    "\x0bchunked\r\n\r\n0\r\n\r\nGET /admin HTTP/1.1\r\n\r\n",
    "te 1.0": "POST /ok HTTP/1.0\r\nHost: raw.test\r\nTransfer-Encoding: "
    "chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /admin HTTP/1.1"
    "\r\n\r\n",
    "lf in header": "GET /ok HTTP/1.1\r\nHost: raw.test\r\nX: a\nGET /admin "
    "HTTP/1.1\r\n\r\n",
    "bare cr": "GET /ok HTTP/1.1\r\nHost: raw.test\r\nX: a\rGET /admin "
    "HTTP/1.1\r\n\r\n",
    "obs-fold": "GET /ok HTTP/1.1\r\nHost: raw.test\r\nX: a\r\n "
    "Transfer-Encoding: chunked\r\n\r\n",
    "obs-fold by a tab": "GET /ok HTTP/1.1\r\nHost: raw.test\r\nX: a\r\n\t"
    "b\r\n\r\n",
    "fold first": "GET /ok HTTP/1.1\r\n Host: raw.test\r\nHost: raw.test"
    "\r\n\r\n",
    "chunk size": "POST /ok HTTP/1.1\r\nHost: raw.test\r\n"
    "Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n",
    "nul": "GET /ok HTTP/1.1\r\nHost: raw.test\r\nX: a\0b\r\n\r\n",
    "no name": "GET /ok HTTP/1.1\r\nHost: raw.test\r\n: x\r\n\r\n",
    "http/1.2": "GET /ok HTTP/1.2\r\nHost: raw.test\r\n\r\n",
    "http/0.9": "GET /ok\r\n\r\nGET /admin HTTP/1.1\r\n\r\n",
    "spaces": "GET /ok /admin HTTP/1.1\r\nHost: raw.test\r\n\r\n",
    "tab": "GET\t/admin\tHTTP/1.1\r\nHost: raw.test\r\n\r\n",
    "hop host": "GET /ok HTTP/1.1\r\nHost: raw.test\r\nConnection: host, "
    "close\r\n\r\n",
}
# What HAProxy would mend, read before it does.
MENDED = {
    "both framings": "POST /ok HTTP/1.1\r\nHost: raw.test\r\nContent-Length: "
    "40\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /admin HTTP/1.1"
    "\r\nHost: raw.test\r\n\r\n",
    "bare lf": "GET /ok HTTP/1.1\nHost: raw.test\n\nGET /admin HTTP/1.1\r\n"
    "Host: raw.test\r\n\r\n",
    "fold behind the colon": "GET /ok HTTP/1.1\r\nHost: raw.test\r\nX:\r\n "
    "Transfer-Encoding: chunked\r\n\r\n",
    "fold after a bare lf": "GET /ok HTTP/1.1\r\nHost: raw.test\r\nX: a\n "
    "Transfer-Encoding: chunked\r\n\r\n",
    "both, chunked first": "POST /ok HTTP/1.1\r\nHost: raw.test\r\n"
    "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n1\r\na\r\n0"
    "\r\n\r\nGET /admin HTTP/1.1\r\nHost: raw.test\r\n\r\n",
    "chunk lf": "POST /ok HTTP/1.1\r\nHost: raw.test\r\nTransfer-Encoding: "
    "chunked\r\n\r\n1\na\n0\n\nGET /admin HTTP/1.1\r\nHost: raw.test\r\n"
    "\r\n",
    "both, in lower case": "POST /ok HTTP/1.1\r\nhost: raw.test\r\n"
    "transfer-encoding: CHUNKED\r\ncontent-length: 3\r\n\r\n0\r\n\r\n",
    "equal lengths": "POST /ok HTTP/1.1\r\nHost: raw.test\r\n"
    "Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
    "equal lengths, a list": "POST /ok HTTP/1.1\r\nHost: raw.test\r\n"
    "Content-Length: 4, 4\r\n\r\nabcd",
    "lf at the end of the head": "GET /ok HTTP/1.1\r\nHost: raw.test\r\n\n",
    "lf in a trailer": "POST /ok HTTP/1.1\r\nHost: raw.test\r\n"
    "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\n\r\n",
    "a length as a trailer": "POST /ok HTTP/1.1\r\nHost: raw.test\r\n"
    "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n",
    "chunk spaces": "POST /ok HTTP/1.1\r\nHost: raw.test\r\n"
    "Transfer-Encoding: chunked\r\n\r\n1 \r\na\r\n0\r\n\r\n",
    "our own word": "GET /ok HTTP/1.1\r\nHost: raw.test\r\n"
    "Membrane-Refused: x\r\n\r\n",
    "our own number": "GET /ok HTTP/1.1\r\nHost: raw.test\r\n"
    "Membrane-Upgrade: 0123456789abcdef\r\n\r\n",
}
GOOD = "GET /ok/first HTTP/1.1\r\nHost: raw.test\r\n\r\n"


def shapes(table, before=""):
    """The attempts of a table: each in the clear and inside TLS."""
    tries = [["resolve", "raw.test"]]
    for data in table.values():
        tries += [["http", RAW, 80, before + data, None, 0.6],
                  ["http", RAW, 443, before + data, "raw.test", 0.6]]
    return web("allow:\n  - {dest: raw.test, http: [{paths: [/ok]}]}\n", tries)


def refusals(s, kind="request"):
    return [d for d in s.decided if d["verdict"] == "deny" and
            d["kind"] == kind]


@test
def smuggling_shapes_are_refused():
    s = shapes(SMUGGLED)
    names = list(SMUGGLED)
    for i, result in enumerate(s.tried[1:]):
        check(200 not in result.get("codes", []), "refused: " + names[i // 2],
              result)
    check(not s.arrived("raw"), "nothing arrived", s.arrived("raw"))


def told(name, result, before=0):
    """Refused in our own words, by the last answer, and closed."""
    check(result.get("codes") == [200] * before + [400], "one answer, 400: " +
          name, result)
    check("membrane refused" in result.get("data", "") and
          "what HTTP/1 does not permit" in result.get("data", ""),
          "in words: " + name, result)
    check(result.get("end") == "closed", "closed: " + name, result)


@test
def shapes_that_haproxy_would_mend_are_refused():
    s = shapes(MENDED)
    names = list(MENDED)
    for i, result in enumerate(s.tried[1:]):
        told(names[i // 2], result)
    check(not s.arrived("raw"), "nothing arrived", s.arrived("raw"))
    denied = refusals(s)
    check(len(denied) == 2 * len(MENDED) and
          {d["reason"] for d in denied} == {"bad-request"},
          "each has a record", [len(denied), denied[:3]])
    check({d["name"] for d in denied} == {"raw.test"}, "with the name",
          denied)


@test
def smuggling_shapes_behind_a_good_request_are_refused():
    # In the same packet, and when the first one was answered.
    for before in (GOOD, GOOD + "\0PAUSE\0"):
        s = shapes({**SMUGGLED, **MENDED}, before)
        names = list(SMUGGLED) + list(MENDED)
        for i, result in enumerate(s.tried[1:]):
            check(result.get("codes", []).count(200) == 1, "one answer: " +
                  names[i // 2], result)
            if names[i // 2] in MENDED:
                told(names[i // 2], result, 1)
        check(s.arrived("raw"), "that one arrived")
        for event in s.arrived("raw"):
            check(event["data"] in ("", GOOD.replace("Host", "host")),
                  "only the first arrived", event)


@test
def a_malformed_request_is_told_in_json_too():
    ask = ("POST /v1/messages HTTP/1.1\r\nHost: api.test\r\nAccept: "
           "application/json\r\nContent-Length: 4\r\nTransfer-Encoding: "
           "chunked\r\n\r\n0\r\n\r\n")
    s = web(POLICY, [["resolve", "api.test"],
                     *both_ways(lambda port, name: [
                         "http", API, port, ask, name])])
    for result in s.tried[1:]:
        body = result.get("data", "").partition("\r\n\r\n")[2]
        try:
            said = json.loads(body)
        except ValueError:
            said = {}
        check(said.get("reason") == "bad-request" and
              said.get("path") == "/v1/messages" and
              said.get("host") == "api.test" and
              "Transfer-Encoding" in said.get("detail", ""), "JSON", result)
    check(not s.arrived("http"), "nothing arrived", reached(s))


@test
def tunnels_begin_only_where_a_server_agrees():
    # Not with frames before the answer, nor with an answer that is none.
    frame = "\x81\x84\0\0\0\0ping"
    ask = request("/ws", close=False).replace("\r\n\r\n", (
        "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"))
    other = ask.replace("/ws", "/v1/x")
    hidden = request("/admin", "other.test")
    s = web("allow:\n  - {dest: api.test, http: [{paths: [/ws, /v1/]}]}\n", [
        ["resolve", "api.test"],
        *both_ways(lambda port, name: ["http", API, port, request(
            "/v1/first", close=False) + "\0PAUSE\0" + ask + "\0PAUSE\0" +
            frame, name, 1]),
        *both_ways(lambda port, name: ["http", API, port, ask + frame, name,
                                       1]),
        *both_ways(lambda port, name: ["http", API, port, other +
                                       "\0PAUSE\0" + hidden, name, 1]),
        *both_ways(lambda port, name: ["http", API, port, other +
                                       "\0PAUSE\0" + frame + hidden, name,
                                       1])])
    for result in s.tried[1:3]:
        check(result.get("codes") == [200, 101] and
              "ping" in result.get("data", ""), "behind a request, too",
              result)
    check(len(s.arrived("ws")) == 2, "two tunnels", s.arrived("ws"))
    check("/admin" not in {p for _, p in reached(s)}, "nothing hidden",
          reached(s))


@test
def malformed_requests_cut_anywhere_are_refused():
    # The same bytes, in two packets: the reader has to wait for what it says.
    tries, names = [["resolve", "raw.test"]], []
    for name in ("both framings", "bare lf", "fold behind the colon"):
        for at in (1, 5, 17, 18, 19, 30, 36, 40, 55, 60):
            data = MENDED[name]
            names.append("%s at %d" % (name, at))
            tries.append(["http", RAW, 443, data[:at] + "\0PAUSE\0" +
                          data[at:], "raw.test", 0.6, 0.05])
    s = web("allow:\n  - {dest: raw.test, http: [{paths: [/ok]}]}\n", tries)
    for name, result in zip(names, s.tried[1:]):
        told(name, result)
    check(not s.arrived("raw"), "nothing arrived", s.arrived("raw"))


@test
def bodies_that_end_malformed_are_cut():
    head = ("POST /ok HTTP/1.1\r\nHost: raw.test\r\nTransfer-Encoding: "
            "chunked\r\n\r\n")
    hidden = "GET /admin HTTP/1.1\r\nHost: raw.test\r\n\r\n"
    tries = [["resolve", "raw.test"]]
    for tail in ("1\na\r\n0\r\n\r\n", "1\r\na\n0\r\n\r\n",
                 "1\r\nab\r\n0\r\n\r\n", "0\r\nX: y\n\r\n",
                 "0\n\n", "x\r\n"):
        data = head + "\0PAUSE\0" + tail + hidden
        tries += [["http", RAW, 80, data, None, 1],
                  ["http", RAW, 443, data, "raw.test", 1]]
    s = web("allow:\n  - {dest: raw.test, http: [{paths: [/ok]}]}\n", tries)
    for event in s.arrived("raw"):
        check("/admin" not in event["data"] and
              "0\r\n\r\n" not in event["data"].partition("\r\n\r\n")[2],
              "no end of a body, nothing behind it", event)


@test
def upgrades():
    def ask(upgrade, path="/upgrade/x", more=""):
        return lambda port, name: ["http", API, port, request(
            path, more="Upgrade: %s\r\n%s" % (upgrade, more), close=False
        ).replace("Upgrade:", "Connection: Upgrade, HTTP2-Settings\r\n"
                  "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\nUpgrade:")
            + "\0PAUSE\0GET /admin HTTP/1.1\r\nHost: other.test\r\n\r\n",
            name]
    s = web("allow:\n  - {dest: api.test, http: [{methods: [GET], paths: "
            "[/upgrade/, /ws]}]}\n", [
                ["resolve", "api.test"],
                *both_ways(ask("h2c")), *both_ways(ask("foo/2")),
                *both_ways(ask("H2C")), *both_ways(ask("h2c, websocket")),
                *both_ways(ask("TLS/1.0"))])
    for result in s.tried[1:]:
        check(101 not in result.get("codes", []), "no tunnel", result)
    check(not s.arrived("tunnel"), "none at the server", s.arrived("tunnel"))
    for event in s.arrived("http"):
        check(not header(event, "upgrade") and
              not header(event, "http2-settings"), "no offer arrived", event)
        check(event["path"] == "/upgrade/x", "nor a second request", event)


@test
def websockets():
    s = web("allow:\n  - {dest: api.test, http: [{methods: [GET], paths: "
            "[/ws]}]}\n  - site.test\n", [
                ["resolve", "site.test"],
                ["websocket", "api.test", 443, "api.test"],
                ["websocket", "api.test", 80, "api.test", {"tls": False}],
                ["websocket", "api.test", 443, "api.test", "/ws/deeper"],
                ["websocket", "api.test", 443, "api.test", "/wsx"],
                ["websocket", "api.test", 80, "api.test", "/admin",
                 {"tls": False}],
                ["websocket", SITE, 443, "site.test"],
                ["websocket", SITE, 80, "site.test", {"tls": False}]])
    for i in (1, 2, 3, 6, 7):
        check(s.tried[i]["ok"], "opens and echoes", s.tried[i])
    for i in (4, 5):
        check(not s.tried[i]["ok"], "refused by path", s.tried[i])
    check(len(s.arrived("ws", data="ping")) == 5, "frames arrived",
          s.arrived("ws"))
    check({e["path"] for e in s.arrived("http")} <= {"/ws", "/ws/deeper"},
          "requests", reached(s))


H2_POLICY = """allow:
  - {dest: a.h2.test, http: [{methods: [GET, POST], paths: [/v1/]}]}
  - {dest: b.h2.test, http: [{methods: [GET], paths: [/b/]}]}
"""


def to(authority, path, **more):
    return {":authority": authority, ":path": path, **more}


# N-14
@test
def http2_requests_are_each_judged():
    s = l7.h2(H2_POLICY, {"origin": "https://a.h2.test", "requests": [
        to("a.h2.test", "/v1/x"), to("a.h2.test", "/admin"),
        to("a.h2.test", "/v1/y?z=/admin"),
        to("a.h2.test", "/v1/../admin"), to("a.h2.test", "/v1/%2e%2e/x"),
        to("b.h2.test", "/b/x"), to("c.h2.test", "/v1/x"),
        to("other.test", "/v1/x"), to("a.h2.test:444", "/v1/x"),
        to("a.h2.test", "/v1/x", **{":method": "DELETE"}),
        to("a.h2.test", "/v1/p", **{":method": "POST", "body": "x" * 40000}),
        to("a.h2.test", "/v1/h", host="c.h2.test"),
        to("a.h2.test", "//v1/x"), to("a.h2.test", "/v1/x#y"),
        to("a.h2.test", "https://c.h2.test/v1/x")]})
    check([r.get("status") for r in s.tried[:3]] == [200, 403, 200],
          "by path", s.tried)
    check(s.tried[0].get("alpn") == "h2", "over HTTP/2", s.tried[0])
    check(s.tried[5].get("status") == 421 and
          s.tried[6].get("status") in (403, 421),
          "another authority: 421", s.tried[5:7])
    for i in (3, 4, 7, 8, 9, 12, 13, 14):
        check(s.tried[i].get("status") != 200, "refused: %d" % i, s.tried[i])
    check(s.tried[10].get("status") == 200, "a body", s.tried[10])
    seen = {(e["host"], e["path"]) for e in s.arrived("http")}
    check(seen <= {("a.h2.test", p) for p in ("/v1/x", "/v1/y?z=/admin",
                                              "/v1/p", "/v1/h")},
          "what arrived", seen)
    check({e["version"] for e in s.arrived("http")} == {"2"},
          "as HTTP/2", s.arrived("http"))
    for event in s.arrived("http"):
        check(header(event, "host") in ([], ["a.h2.test"]), "host", event)


@test
def http2_connect_and_many_streams():
    s = l7.h2(H2_POLICY, {"origin": "https://a.h2.test", "requests": [
        {":method": "CONNECT", ":authority": "other.test:443"},
        {":method": "CONNECT", ":authority": "a.h2.test:443"}]})
    for result in s.tried:
        check(result.get("status") != 200, "no tunnel", result)
    check(not s.arrived("http") and not s.arrived("tunnel"),
          "nothing arrived", s.arrived("http"))
    paths = ["/v1/%d" % i if i % 3 else "/admin/%d" % i for i in range(90)]
    s = l7.h2(H2_POLICY, {"origin": "https://a.h2.test", "requests": [
        to("a.h2.test", p) for p in paths]})
    got = [r.get("status") for r in s.tried]
    check(got == [200 if i % 3 else 403 for i in range(90)], "90 streams",
          got)
    check({p for _, p in reached(s)} == {p for p in paths if "/v1/" in p},
          "what arrived", reached(s))


@test
def websockets_over_http2():
    frame = "\x81\x84\0\0\0\0ping"   # RFC 6455, the mask is zero

    def ask(path):
        return {":method": "CONNECT", ":protocol": "websocket", ":scheme":
                "https", ":authority": "api.test", ":path": path,
                "sec-websocket-version": "13", "body": frame}
    s = l7.h2("allow:\n  - {dest: api.test, http: [{methods: [GET], paths: "
              "[/ws]}]}\n", {"origin": "https://api.test", "requests": [
                  ask("/ws/a"), ask("/admin")]})
    check(s.tried[0].get("status") == 200, "opens", s.tried)
    check(s.tried[1].get("status") == 403, "by path", s.tried)
    check(s.arrived("ws", data="ping"), "a frame arrived", s.out)
    check({p for _, p in reached(s)} == {"/ws/a"}, "what arrived",
          reached(s))


@test
def other_ways_to_say_method_and_path():
    def ask(header, path="/v1/x"):
        return lambda port, name: ["http", API, port, request(
            path, more=header + "\r\n"), name]
    s = web(POLICY, [["resolve", "api.test"],
                     *both_ways(ask("X-HTTP-Method-Override: DELETE")),
                     *both_ways(ask("x-http-method: PUT")),
                     *both_ways(ask("X-Method-Override: delete")),
                     *both_ways(ask("X-Original-URL: /admin")),
                     *both_ways(ask("X-Rewrite-Url: /admin"))])
    for result in s.tried[1:]:
        check(result.get("codes") == [403], "refused", result)
    check(not s.arrived("http"), "nothing arrived", reached(s))
    check(reasons(s, "request") == ["override"] * 10, "reason", s.decided)
    s = web("allow:\n  - {dest: api.test, tls: inspect}\n", [
        ["get", "https://api.test/x", "GET", None,
         {"headers": {"X-HTTP-Method-Override": "DELETE"}}]])
    check(s.tried[0]["ok"], "where no method is asked for", s.tried[0])


@test
def http2_stays_end_to_end_in_a_tunnel():
    s = l7.h2("allow: [a.h2.test]\n", {"origin": "https://a.h2.test",
              "requests": [to("a.h2.test", "/x")]})
    check(s.tried[0].get("status") == 200, "served", s.tried)
    check(s.arrived("http", version="2", host="a.h2.test"), "as HTTP/2",
          s.arrived("http"))
    s = l7.h2("allow: [a.h2.test]\n", {"origin": "https://a.h2.test", "sni":
              "b.h2.test", "requests": [to("a.h2.test", "/x")]})
    check("error" in s.tried[0], "a foreign name ends it", s.tried)
    check(not connected(s, H2), "before anything arrives", s.out)


@test
def http2_without_tls():
    # Prior knowledge of HTTP/2 is HTTP too, or it is refused; never raw.
    s = l7.h2("allow:\n  - {dest: api.test, http: [{paths: [/v1/]}]}\n",
              {"origin": "http://api.test", "requests": [
                  to("api.test", "/admin"), to("other.test", "/v1/x")]})
    for result in s.tried:
        check(result.get("status") != 200, "refused", result)
    check(not s.arrived("http"), "nothing arrived", s.arrived("http"))


# N-14, J-3
@live.launcher_only("it sums up")
def refusals_help():
    asked = [["get", "https://api.test/admin?token=SECRET"],
             ["get", "https://api.test/admin", "GET", None,
              {"headers": {"Accept": "application/json"}}],
             ["get", "http://api.test/v1/x", "DELETE"],
             ["resolve", "api.test"],
             ["http", API, 443, request("/v1/x", "api2.test"), "api.test"]]
    s = web(POLICY, asked)
    refused_with(s.tried[0], 403, "GET", "api.test", "/admin", "path",
                 "allow", "api.test:443")
    check("SECRET" not in s.tried[0].get("data", ""), "no query",
          s.tried[0])
    refused_with(s.tried[1], 403)
    try:
        said = json.loads(s.tried[1].get("data", ""))
    except ValueError:
        said = {}
    check(said.get("reason") == "path" and said.get("method") == "GET" and
          said.get("host") == "api.test" and said.get("path") == "/admin",
          "JSON for who asks for it", s.tried[1])
    refused_with(s.tried[2], 403, "DELETE", "method")
    refused_with(s.tried[4], 421, "api2.test", "name-mismatch")
    check("api.test" in s.stderr and "/admin" in s.stderr,
          "the summary has it", s.stderr)
    check("SECRET" not in s.stderr, "without the query", s.stderr)


@test
def every_request_has_a_record():
    s = web(POLICY, [["get", "https://api.test/v1/x?q=SECRET"],
                     ["get", "http://api.test/v1/y"],
                     ["get", "https://api.test/admin?q=SECRET"]])
    records = [d for d in s.decided if d["kind"] == "request"]
    seen = [(d.get("name"), d.get("method"), d.get("path"), d["verdict"])
            for d in records]
    check(seen == [("api.test", "GET", "/v1/x", "allow"),
                   ("api.test", "GET", "/v1/y", "allow"),
                   ("api.test", "GET", "/admin", "deny")], "records",
          s.decided)
    check([d.get("port") for d in records] == [443, 80, 443] and
          all(d.get("addr") == API for d in records), "where to", records)
    check(all(d.get("source") and d.get("line") for d in records[:2]),
          "the grant's line", records)
    check("SECRET" not in json.dumps(s.decided), "no query", s.decided)
    check([d.get("status") for d in records] == [200, 200, 403], "status",
          records)


@test
def url_grants():
    s = web("allow: ['https://api.test/v1/', 'http://api2.test:8080/x']\n", [
        ["get", "https://api.test/v1/a"], ["get", "http://api2.test:8080/x"],
        ["get", "http://api2.test:8080/x/y"],
        ["get", "https://api.test/v2/"], ["get", "http://api.test/v1/a"],
        ["get", "https://api2.test/x"], ["get", "http://api2.test:8080/xy"],
        ["get", "http://api2.test/x"],
        ["http", API, 8080, request("/v1/a", "api.test")],
        ["http", API, 443, request("/v1/a", "api.test")],
        ["hello", API, 8080, "good", "api2.test"]])
    for result in s.tried[:3]:
        check(result["ok"], "permitted", result)
    for result in s.tried[3:]:
        check(not result["ok"], "refused", result)
    check(reached(s) == [("GET", "/v1/a"), ("GET", "/x"), ("GET", "/x/y")],
          "what arrived", reached(s))
    check(reasons(s, "request").count("scheme") == 1 and
          reasons(s, "connect").count("scheme") == 1, "by the scheme, too",
          s.decided)


@test
def several_grants_add_up():
    s = web("""allow:
  - {dest: api.test, http: [{methods: [GET], paths: [/a]}]}
  - {dest: '*.test', http: [{methods: [GET], paths: [/b]}]}
  - {dest: api.test, ports: [80], http: [{methods: [POST], paths: [/a]}]}
  - 'https://api.test/c'
""", [["get", "https://api.test/a"], ["get", "https://api.test/b"],
          ["get", "http://api.test/a", "POST", "x"],
          ["get", "https://api.test/c/d", "PUT", "x"],
          ["get", "https://api.test/a", "POST", "x"],
          ["get", "http://api.test/c"], ["get", "https://other.test/a"],
          ["get", "https://other.test/b"]])
    got = [r["ok"] for r in s.tried]
    check(got == [True] * 4 + [False] * 3 + [True], "united", s.tried)
    check(reached(s) == [("GET", "/a"), ("GET", "/b"), ("POST", "/a"),
                         ("PUT", "/c/d"), ("GET", "/b")], "what arrived",
          reached(s))


@test
def wildcards_are_labels_here_too():
    s = web("allow:\n  - {dest: '*.wild.test', http: [{paths: [/one]}]}\n"
            "  - {dest: '**.deep.wild.test', http: [{paths: [/deep]}]}\n", [
                ["get", "https://a.wild.test/one"],
                ["get", "https://x.deep.wild.test/deep"],
                ["get", "https://a.wild.test/deep"],
                ["get", "https://x.deep.wild.test/one"],
                ["get", "https://wild.test/one"], ["resolve", "a.wild.test"],
                ["http", "11.0.4.2", 80, request("/one", "b.wild.test")],
                ["http", "11.0.4.2", 80, request("/one", "wild.test")],
                ["http", "11.0.4.2", 80, request("/one", ".wild.test")],
                ["http", "11.0.4.2", 80, request("/one", "x.a.wild.test")],
                ["http", "11.0.4.2", 80, request("/one", "*.wild.test")]])
    check(s.tried[0]["ok"] and s.tried[1]["ok"], "permitted", s.tried[:2])
    for i in (2, 3, 4, 6, 7, 8, 9, 10):
        check(not s.tried[i]["ok"], "refused: %d" % i, s.tried[i])
    check({(e["host"], e["path"]) for e in s.arrived("http")} ==
          {("a.wild.test", "/one"), ("x.deep.wild.test", "/deep")},
          "what arrived", s.arrived("http"))


@test
def bodies_and_streams():
    s = shell("allow:\n  - {dest: api.test, http: [{paths: [/]}]}\n", """
head -c 3000000 /dev/zero | curl -sS -T - -X POST https://api.test/sink \
  -H 'Transfer-Encoding:' -H 'Content-Length: 3000000'; echo
head -c 3000000 /dev/zero >f; curl -sS --data-binary @f \
  -H 'Expect: 100-continue' https://api.test/sink; echo
printf abc | curl -sS -T - https://api.test/echo
curl -sSN https://api.test/drip/10 | while read line; do
  [ -z "$line" ] || date +%s%N; done | awk 'NR==1{a=$1} END{print $1-a}'
curl -sS -o /dev/null -w '%{http_code}\\n' https://api.test/status/404
curl -sS -o /dev/null -w '%{http_code}\\n' https://api.test/status/500
curl -sSI https://api.test/x | head -n 1
curl -sS -H "X: $(head -c 7000 /dev/zero | tr '\\0' a)" https://api.test/x
""")
    import hashlib
    lines = s.stdout.split("\n")
    digest = hashlib.sha256(bytes(3000000)).hexdigest()
    check(digest in s.stdout and s.stdout.count(digest) == 2, "3 MB up",
          s.stdout + s.stderr)
    check("hello from api.test" in s.stdout, "chunked", s.stdout)
    gap = [int(x) for x in lines if x.strip().isdigit() and len(x) > 6]
    check(gap and gap[0] > 400000000, "events come as they are sent", lines)
    check("404" in lines and "500" in lines, "status is passed on", lines)
    check(s.arrived("http", method="HEAD"), "HEAD", reached(s))


@test
def slow_requests():
    s = web(POLICY, [["resolve", "api.test"],
                     ["slowly", API, 80, request("/v1/x"), 0.02],
                     ["slowly", API, 443, request("/v1/y"), 0.02,
                      "api.test"]])
    check(s.tried[1]["ok"] and s.tried[2]["ok"], "byte after byte", s.tried)
    check(reached(s) == [("GET", "/v1/x"), ("GET", "/v1/y")], "arrived",
          reached(s))
