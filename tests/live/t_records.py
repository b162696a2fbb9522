"""Records: each connection and each request has one, with what decided."""
import json

from l7 import API, SITE, request, web
from live import check, test

POLICY = """allow:
  - site.test
  - dest: api.test
    http: [{methods: [GET], paths: [/v1/, /status/, /slow/]}]
  - 11.0.5.0/24
  - {dest: other.test, ports: [7777/udp]}
deny:
  - 11.0.3.0/24
"""
SITE_LINE, API_LINE, NET_LINE, UDP_LINE, DENY_LINE = 2, 3, 5, 6, 8
TRIES = [
    # what is tried; what its one record says
    (["get", "https://site.test/"],
     {"kind": "connect", "name": "site.test", "port": 443, "verdict": "allow",
      "reason": "granted", "line": SITE_LINE, "tls": True, "bytes": True}),
    (["tcp", "site.test", 5432, "PING\r\n"],
     {"kind": "connect", "addr": SITE, "port": 5432, "verdict": "allow",
      "reason": "granted", "line": SITE_LINE, "tls": False, "bytes": True}),
    (["silent", "site.test", 22],
     {"kind": "connect", "addr": SITE, "port": 22, "verdict": "allow",
      "reason": "granted", "line": SITE_LINE}),
    (["http", SITE, 80, request("/x", "site.test")],
     {"kind": "request", "name": "site.test", "port": 80, "path": "/x",
      "verdict": "allow", "line": SITE_LINE, "status": 200, "bytes": True}),
    (["get", "https://api.test/v1/x"],
     {"kind": "request", "name": "api.test", "port": 443, "path": "/v1/x",
      "verdict": "allow", "line": API_LINE, "status": 200, "bytes": True}),
    (["get", "https://api.test/status/503"],
     {"kind": "request", "path": "/status/503", "verdict": "allow",
      "reason": "granted", "line": API_LINE, "status": 503}),
    (["get", "https://api.test/admin"],
     {"kind": "request", "path": "/admin", "verdict": "deny",
      "reason": "path", "status": 403}),
    (["get", "https://api.test:4445/v1/closed"],
     {"kind": "request", "path": "/v1/closed", "port": 4445,
      "verdict": "deny", "reason": "upstream", "status": 503}),
    (["http", API, 443, request("/slow/3"), "api.test", 0.3],
     {"kind": "request", "path": "/slow/3", "verdict": "allow",
      "line": API_LINE}),
    (["http", API, 80, "GET /v1/x HTTP/1.1\r\nHost : api.test\r\n\r\n"],
     {"kind": "request", "addr": API, "port": 80, "verdict": "deny",
      "reason": "bad-request", "status": 400}),
    (["cert", "api.test", 8443, "api.test"],   # and nothing asked
     {"kind": "connect", "name": "api.test", "port": 8443,
      "verdict": "allow", "line": API_LINE, "tls": True}),
    (["hello", API, 4443, "good", "api.test"],  # broken off
     {"kind": "connect", "name": "api.test", "port": 4443,
      "verdict": "deny", "reason": "handshake"}),
    (["hello", API, 443, "none", "api.test"],
     {"kind": "connect", "addr": API, "verdict": "deny",
      "reason": "no-sni"}),
    (["late", SITE, 9418, "good", "site.test", {"pause": 0.4}],
     {"kind": "connect", "addr": SITE, "port": 9418, "verdict": "deny",
      "reason": "bad-hello"}),
    (["tcp", "11.0.5.1", 443, ""],
     {"kind": "connect", "addr": "11.0.5.1", "verdict": "allow",
      "line": NET_LINE}),
    (["udp", "other.test", 7777],
     {"kind": "connect", "proto": "udp", "port": 7777, "verdict": "allow",
      "line": UDP_LINE}),
    (["tcp", "11.0.3.1", 80],
     {"kind": "connect", "addr": "11.0.3.1", "verdict": "deny",
      "reason": "denied", "line": DENY_LINE}),
    (["tcp", "11.0.9.9", 80],
     {"kind": "connect", "addr": "11.0.9.9", "verdict": "deny",
      "reason": "no-grant"}),
]


def fits(record, wanted):
    for key, value in wanted.items():
        if key == "bytes":
            if not (record.get("sent") and record.get("received")):
                return False
        elif record.get(key) != value:
            return False
    return True


@test
def each_connection_and_each_request_has_one():
    s = web(POLICY, [["resolve", n] for n in
                     ("site.test", "api.test", "other.test")] +
            [t for t, _ in TRIES])
    records = [d for d in s.decided if d["kind"] != "resolve"]
    for what, wanted in TRIES:
        found = [d for d in records if fits(d, wanted)]
        check(len(found) == 1, "%s: %s" % (what[:4], wanted),
              found or records)
        records = [d for d in records if d not in found]
    for d in records:
        # A broken-off handshake is a connection that was let in, too.
        check(d.get("port") == 4443 and d["verdict"] == "allow",
              "one more record", d)
    for d in s.decided:
        if d["verdict"] == "allow":
            check(d.get("id") and d.get("line") and d.get("source"),
                  "what permitted it", d)


@test
def a_request_that_is_open_at_the_end_has_one():
    """Its server has not answered by then, and whoever asked is gone."""
    s = web(POLICY, [["resolve", "api.test"],
                     ["http", API, 443, request("/slow/30"), "api.test", 0.3]])
    found = [d for d in s.decided if d["kind"] == "request"]
    check(len(found) == 1 and fits(found[0], {
        "path": "/slow/30", "verdict": "allow", "line": API_LINE}), "its one",
        found)


@test
def any_grant_has_its_line_too():
    for policy, port in (("allow: ['*']\n", 5432),
                         ("allow:\n  - '*'\n  - {dest: api.test, http: "
                          "[{methods: [GET]}]}\n", 5432)):
        s = web(policy, [["tcp", SITE, port, "PING\r\n"],
                         ["get", "https://site.test/"]])
        for result in s.tried:
            check(result["ok"], "permitted", result)
        allowed = [d for d in s.decided if d["kind"] == "connect" and
                   d["verdict"] == "allow"]
        check(len(allowed) == 2, "two records", s.decided)
        for d in allowed:
            check(d.get("line") and d.get("id"), "its line", d)


@test
def upstream_trouble_is_told_in_json_too():
    accept = {"headers": {"Accept": "application/json"}}
    s = web("allow:\n  - {dest: api.test, http: [{methods: [GET]}]}\n"
            "  - {dest: expired.test, http: [{methods: [GET]}]}\n", [
                ["get", "https://api.test:4445/x/y", "GET", None, accept],
                ["get", "https://expired.test/x", "GET", None, accept],
                ["get", "https://expired.test/x"]])
    for result, host in zip(s.tried, ("api.test", "expired.test")):
        try:
            said = json.loads(result.get("data", ""))
        except ValueError:
            said = {}
        check(result.get("code") == 503 and said.get("reason") == "upstream"
              and said.get("host") == host and said.get("method") == "GET"
              and said.get("path", "").startswith("/x"), "JSON", result)
    check("certificate" in s.tried[1].get("data", ""), "why", s.tried[1])
    check("membrane: GET expired.test:443/x (" in s.tried[2].get("data", ""),
          "text", s.tried[2])


@test
def what_the_packet_filter_passes_is_counted():
    s = web(POLICY, [["tcp", "11.0.5.1", 443, ""],
                     ["resolve", "other.test"], ["udp", "other.test", 7777]])
    ends = s.ended
    begun = [d for d in s.decided if d["kind"] == "connect" and
             d["verdict"] == "allow"]
    check(len(begun) == 2 and len(ends) == 2, "a beginning and an end",
          (begun, ends))
    for d in begun:
        same = [e for e in ends if all(
            e[k] == d[k] for k in ("proto", "addr", "port", "sport"))]
        check(len(same) == 1 and same[0]["sent"] > 0 and
              same[0]["received"] > 0, "how much", (d, ends))
