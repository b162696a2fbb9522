"""Denials win over every grant: resolver, addresses, names and requests."""
import live
from l7 import API, SITE, connected, reached, reasons, request, web
from live import check, test


@test
def names_over_wider_grants():
    s = web("allow: ['*.wild.test', '**.h2.test', site.test]\n"
            "deny: [bad.wild.test, '*.h2.test', 'site.test:80']\n", [
                ["get", "https://good.wild.test/"],
                ["get", "https://bad.wild.test/"],
                ["resolve", "bad.wild.test"], ["resolve", "a.h2.test"],
                ["resolve", "x.a.h2.test"], ["get", "https://site.test/"],
                ["get", "http://site.test/"],
                ["hello", "good.wild.test", 443, "good", "bad.wild.test"],
                ["http", "good.wild.test", 80, request(
                    "/", "bad.wild.test")]])
    for i in (0, 4, 5):
        check(s.tried[i]["ok"], "granted: %d" % i, s.tried[i])
    for i in (1, 2, 3, 6, 7, 8):
        check(not s.tried[i]["ok"], "denied: %d" % i, s.tried[i])
    check(not s.arrived("dns", name="bad.wild.test"), "no query left",
          s.arrived("dns"))
    check(not s.arrived("hello", sni="bad.wild.test") and
          not s.arrived("http", host="bad.wild.test"), "nothing arrived")
    check(not s.arrived("packet", addr=SITE, port=80), "nor on the port",
          s.out)
    check("denied" in reasons(s, "resolve"), "reason", s.decided)


@test
def any_but_one():
    s = web("allow: ['*']\ndeny: [other.test, '**.wild.test', "
            "11.0.3.0/24]\n", [
                ["get", "https://site.test/"], ["resolve", "other.test"],
                ["resolve", "x.wild.test"], ["resolve", "ungranted.test"],
                ["hello", SITE, 443, "good", "other.test"],
                ["http", SITE, 80, request("/", "other.test")],
                ["http", SITE, 80, request("/", "y.wild.test")],
                ["tcp", "11.0.3.1", 443], ["tcp", "11.0.3.7", 22]])
    check(s.tried[0]["ok"], "the rest", s.tried[0])
    for i in (1, 2, 4, 5, 6, 7, 8):
        check(not s.tried[i]["ok"], "denied: %d" % i, s.tried[i])
    check(not s.arrived("packet", addr=lambda a: a.startswith("11.0.3.")),
          "no packet to the network", s.out)
    check(not s.arrived("hello", sni="other.test") and
          not s.arrived("http", host="other.test"), "nor to the name")


@test
def networks_over_names():
    s = web("allow: [site.test, api.test]\ndeny: [11.0.1.0/24]\n", [
        ["get", "https://api.test/"], ["get", "https://site.test/"],
        ["tcp", SITE, 22]])
    check(s.tried[0]["ok"], "granted", s.tried[0])
    check(not s.tried[1]["ok"] and not s.tried[2]["ok"], "denied", s.tried)
    check(not connected(s, SITE), "nothing arrived", s.out)


@test
def urls_and_methods():
    s = web("""allow: [api.test, site.test]
deny:
  - 'https://api.test/private/'
  - dest: api.test
    http: [{methods: [DELETE]}, {methods: [POST], paths: [/once]}]
  - dest: site.test
    ports: [80]
    http: [{paths: [/secret]}]
""", [["get", "https://api.test/public"], ["get", "https://api.test/once"],
          ["get", "https://api.test/once2", "POST", "x"],
          ["get", "http://site.test/open"],
          ["get", "https://api.test/private/x"],
          ["get", "https://api.test/private"],
          ["get", "https://api.test/x", "DELETE"],
          ["get", "https://api.test/once", "POST", "x"],
          ["get", "https://api.test/once/more", "POST", "x"],
          ["get", "http://site.test/secret/x"], ["resolve", "api.test"],
          ["http", API, 443, request("/%70rivate/x"), "api.test"],
          ["http", API, 443, request("/x/../private/x"), "api.test"],
          ["http", API, 443, request("//private/x"), "api.test"],
          ["http", API, 443, request("/private/x", "API.test"), "api.test"],
          ["http", API, 443, request("/x", method="delete"), "api.test"]])
    for i in range(4):
        check(s.tried[i]["ok"], "granted: %d" % i, s.tried[i])
    for i in (4, 5, 6, 7, 8, 9, 11, 12, 13, 14):
        check(not s.tried[i]["ok"], "denied: %d" % i, s.tried[i])
    seen = set(reached(s)) - {("delete", "/x")}
    check(seen == {("GET", "/public"), ("GET", "/once"), ("POST", "/once2"),
                   ("GET", "/open")}, "what arrived", reached(s))
    check("denied" in reasons(s, "request"), "reason", s.decided)


@live.launcher_only("it trusts a workspace, or not")
def a_global_denial_holds_against_the_workspace():
    s = web("deny: ['https://api.test/admin']\n", [
        ["get", "https://api.test/x"], ["get", "https://api.test/admin/x"]],
        "--trust-workspace", workspace="allow: [api.test]\n")
    check(s.tried[0]["ok"], "what the workspace grants", s.tried[0])
    check(s.tried[1].get("code") == 403, "but not that", s.tried[1])
    check("denied" in s.tried[1].get("data", ""), "and why", s.tried[1])
