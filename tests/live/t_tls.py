"""TLS by name: what a hello says, and what the server behind it saw."""
from l7 import (API, H2, OTHER, RAW, SITE, connected, reached, reasons,
                request, web)
import live
from live import check, session, test
from origin import RETRY

FAKE = "the fake internet"
ODD = ["none", "empty", "two names", "two extensions", "ech", "esni", "split",
       "split early", "record too long", "record too short",
       "message too long", "extensions too long", "extensions too short",
       "nul", "quote", "address", "long", "sslv2"]
GIT_DAEMON = "0032git-upload-pack /project.git\0host=site.test\0"


# N-6
@test
def granted_names_pass_untouched():
    s = web("allow: [site.test, '*.h2.test']\n", [
        ["get", "https://site.test/"], ["cert", "site.test", 443,
                                        "site.test"],
        ["cert", "a.h2.test", 443, "a.h2.test", ["h2", "http/1.1"]],
        ["hello", "site.test", 443, "good", "site.test"],
        ["hello", "site.test", 443, "upper", "site.test"],
        ["hello", "site.test", 443, "good", "site.test", {"dribble": 1}],
        ["hello", "site.test", 4443, "good", "site.test"],
        ["hello", "site.test", 443, "padded", "site.test"]])
    for result in s.tried:
        check(result["ok"], "permitted", result)
    check(s.tried[1].get("issuer") == FAKE, "the server's own certificate",
          s.tried[1])
    check(s.tried[2].get("alpn") == "h2", "HTTP/2 end to end", s.tried[2])
    check(len(s.arrived("hello", sni="site.test")) >= 5, "hellos arrived",
          s.arrived("hello"))
    check(s.arrived("packet", addr=SITE, port=4443), "on an odd port too")


# N-2
@test
def hellos_that_cannot_be_read_exactly_are_refused():
    s = web("allow: [site.test]\n", [["resolve", "site.test"]] + [
        ["hello", SITE, 443, how, "site.test", "neighbour.test"]
        for how in ODD])
    for how, result in zip(ODD, s.tried[1:]):
        check(not result["ok"] and result.get("end") != "silent",
              "refused: " + how, result)
    check(not s.arrived("hello"), "no hello reached a server",
          s.arrived("hello"))
    check(not connected(s, SITE), "nothing at all did", s.out)
    known = {"no-sni", "ech", "bad-hello", "no-grant", "name-mismatch",
             "not-resolved", "not-http"}
    seen = reasons(s, "connect")
    check(len(seen) >= len(ODD), "each has a record", seen)
    check(set(seen) <= known, "reasons", seen)
    check("no-sni" in seen and "ech" in seen, "which tell them apart", seen)


@test
def hello_cut_so_that_two_readers_see_two_names():
    # Shown to a careless reader: the granted name; meant: another.
    s = web("allow: [site.test]\n", [
        ["resolve", "site.test"],
        ["hello", SITE, 443, "shifted", "site.test", "neighbour.test"],
        ["hello", SITE, 443, "shifted", "neighbour.test", "site.test"]])
    for result in s.tried[1:]:
        check(not result["ok"], "refused", result)
    check(not s.arrived("hello") and not connected(s, SITE),
          "no server saw any name", s.out)


SECOND = ["other", "bare", "nameless", "two names", "ech", "split",
          "split, same", "bytes", "early", "early, at once", "at once",
          "behind", "third", "alert", "SSLv2"]


# N-5
@test
def a_second_hello_states_the_first_ones_name():
    # A server that asks for another key obeys the name in the hello that
    # brings it, and neighbour.test has the address of site.test.
    tries = [["second", SITE, RETRY, how, "site.test", "neighbour.test"]
             for how in SECOND]
    tries.append(tries[0] + [{"dribble": 1}])
    fine = [["second", SITE, RETRY, how, "site.test"]
            for how in ("same", "upper", "early, same")]
    fine += [fine[0] + [{"dribble": 1}],
             ["cert", "site.test", RETRY, "site.test"],
             ["get", "https://site.test:%d/" % RETRY]]
    s = web("allow: [site.test]\n", [["resolve", "site.test"]] + tries + fine)
    for result, what in zip(s.tried[1:], tries):
        check(not result["ok"] and result.get("end") != "silent",
              "refused: " + what[3], result)
    for result, what in zip(s.tried[1 + len(tries):], fine):
        check(result["ok"], "permitted: %s" % what, result)
    others = [e for e in s.arrived("hello")
              if e["sni"].lower() != "site.test"]
    check(not others, "no server was told of another", others)
    seen = [d for d in s.decided if d["reason"] == "second-hello"]
    check(len(seen) == len(tries), "each on record",
          [d for d in s.decided if d["verdict"] == "deny"])
    check(all(d["verdict"] == "deny" and d["kind"] == "connect" and
              d["port"] == RETRY for d in seen), "as refused", seen)
    check(sum(d.get("name") == "neighbour.test" for d in seen) >= 6,
          "with what it asked for", seen)
    check(not live.SUMS or "neighbour.test" in s.stderr,
          "the summary has it", s.stderr)


# N-1
@test
def fronting_by_sni():
    # neighbour.test has the address of site.test and is not granted.
    s = web("allow: [site.test, other.test]\n", [
        ["resolve", "site.test"], ["resolve", "other.test"],
        ["hello", SITE, 443, "good", "neighbour.test"],
        ["hello", SITE, 443, "good", "ungranted.test"],
        ["hello", SITE, 443, "good", "other.test"],
        ["hello", OTHER, 443, "good", "site.test"],
        ["hello", SITE, 443, "good", "xsite.test"],
        ["hello", SITE, 443, "good", "site.test.evil.example"],
        ["hello", SITE, 443, "good", "www.site.test"],
        ["hello", SITE, 4443, "good", "neighbour.test"]])
    for result in s.tried[2:]:
        check(not result["ok"], "refused", result)
    check(not s.arrived("hello"), "no server was told", s.arrived("hello"))
    denied = [d for d in s.decided if d["verdict"] == "deny" and
              d["kind"] == "connect"]
    check(any(d.get("name") == "neighbour.test" and d["reason"] == "no-grant"
              and d.get("port") == 443 for d in denied),
          "a record with the name that was asked for", denied)
    check(any(d.get("name") == "other.test" and d["reason"] in
              ("not-resolved", "name-mismatch") for d in denied),
          "and one for a name at another's address", denied)
    check(not live.SUMS or "neighbour.test" in s.stderr,
          "the summary has it", s.stderr)


@test
def shared_address_one_name_granted():
    s = web("allow: ['site.test:443', 'neighbour.test:4443']\n", [
        ["resolve", "site.test"], ["resolve", "neighbour.test"],
        ["hello", SITE, 443, "good", "site.test"],
        ["hello", SITE, 4443, "good", "neighbour.test"],
        ["hello", SITE, 443, "good", "neighbour.test"],
        ["hello", SITE, 4443, "good", "site.test"]])
    check(s.tried[2]["ok"] and s.tried[3]["ok"], "each on its port", s.tried)
    check(not s.tried[4]["ok"] and not s.tried[5]["ok"],
          "not on the other's", s.tried)
    seen = {(e["sni"], e["port"]) for e in s.arrived("hello")}
    check(seen == {("site.test", 443), ("neighbour.test", 4443)}, "seen",
          seen)
    check("port" in reasons(s, "connect"), "reason", s.decided)


@test
def host_inside_the_tunnel_is_the_residual_risk_and_inspect_closes_it():
    ask = ["http", SITE, 443, request(host="neighbour.test"), "site.test"]
    s = web("allow: [site.test]\n", [["resolve", "site.test"], ask])
    check(s.tried[1]["ok"], "a tunnel is not looked into", s.tried[1])
    for policy in ("tls: inspect\nallow: [site.test]\n",
                   "allow:\n  - {dest: site.test, tls: inspect}\n"):
        s = web(policy, [["resolve", "site.test"], ask,
                         ["get", "https://site.test/x"],
                         ["cert", "site.test", 443, "site.test"]])
        check(s.tried[1].get("codes") == [421], "421", s.tried[1])
        check(s.tried[2]["ok"], "its own name is served", s.tried[2])
        check(s.tried[3]["ok"] and s.tried[3].get("issuer") != FAKE,
              "by a certificate of the session", s.tried[3])
        check(not s.arrived("http", host="neighbour.test"),
              "the server saw no other Host", s.arrived("http"))
        check("name-mismatch" in reasons(s), "reason", s.decided)


# N-3
@test
def addresses_granted_as_such_need_no_name():
    s = web("allow: [11.0.1.0/24]\n", [
        ["hello", SITE, 443, how, "site.test"] for how in
        ("good", "none", "ech")] + [["tcp", SITE, 5432],
                                    ["tcp", SITE, 22, ""]])
    for result in s.tried:
        check(result["ok"], "permitted", result)


# N-11
@test
def raw_bytes_and_servers_that_speak_first():
    s = web("allow: [site.test]\n", [
        ["silent", "site.test", 22], ["silent", "site.test", 25],
        ["tcp", "site.test", 5432, "\0\0\0\x08\4\xd2\x16\x2f"],
        ["half_close", "site.test", 5432, "to the end\r\n"],
        ["half_closed", "site.test", 7001, 100000],
        ["tcp", "site.test", 9418, GIT_DAEMON],
        ["tcp", "site.test", 5432, "PING\r\n"]])
    for result in s.tried:
        check(result["ok"], "permitted", result)
    for result in s.tried[:2]:
        check(result["ms"] < 5000, "not after what a client of the web is "
              "given", result)
    check(s.tried[2].get("data", "").startswith("\0\0\0\x08"), "echo",
          s.tried[2])
    check(s.tried[5].get("data") == GIT_DAEMON, "git's own", s.tried[5])
    check(s.tried[6].get("data") == "PING\r\n", "a line", s.tried[6])
    check(s.tried[3].get("data") == "to the end\r\n", "half-closed by the client",
          s.tried[3])
    check(s.tried[4].get("data") == "goodbye\n", "by the server",
          s.tried[4])
    check(s.arrived("tcp", data="100000 bytes"), "which hears the rest",
          s.arrived("tcp"))


@test
def a_name_that_comes_late_is_checked_all_the_same():
    tries = [["late", SITE, 443, "good", "neighbour.test", {"pause": p}]
             for p in (0.05, 0.5, 2.0, 6.0)] + [
        ["late", SITE, 80, request(host="neighbour.test"), "", {"pause": p}]
        for p in (0.5, 6.0)] + [
        ["late", SITE, 443, "good", "neighbour.test",
         {"pause": 0.3, "first": "\0"}],
        ["late", SITE, 80, request(host="neighbour.test"), "",
         {"pause": 0.3, "first": "\r\n"}],
        ["late", SITE, 80, request(host="neighbour.test"), "",
         {"pause": 0.3, "first": "G"}]]
    tries[-1][3] = tries[-1][3][1:]
    s = web("allow: [site.test]\n", [["resolve", "site.test"]] + tries)
    for result in s.tried[1:]:
        check(not result["ok"], "refused", result)
    check(not s.arrived("hello", sni="neighbour.test"), "no hello",
          s.arrived("hello"))
    check(not s.arrived("http", host="neighbour.test"), "no request",
          s.arrived("http"))


@test
def a_request_behind_something_else_is_one_too():
    # raw.test's server takes whatever has an empty line in it as a request.
    ask = request("/x", "neighbour.test")
    odd = [ask.replace("HTTP", "http"), ask.lower(), "\xef\xbb\xbf" + ask,
           "junk\r\n" + ask, "\0" + ask, "\r\n" * 9 + ask, " \t" + ask,
           "junk\r\nget /x\r\n\r\n", "junk\r\nPRI * HTTP/2.0\r\n\r\n"]
    tries = [["http", RAW, port, text] for text in odd
             for port in (80, 8000)]
    parts = [["http", RAW, 80, text.replace("/", "/\0PAUSE\0", 1)]
             for text in odd[2:5]]
    s = web("allow: [raw.test, site.test]\n", [
        ["resolve", "raw.test"], *tries, *parts,
        ["http", RAW, 80, "one\r\n\r\n"],
        ["tcp", "site.test", 5432, "get key\r\n"],
        ["tcp", "site.test", 22, "SSH-2.0-x\r\n"],
        ["tcp", "site.test", 25, "EHLO x\r\n"]])
    for result in s.tried[1:-3]:
        check(not result["ok"], "refused", result)
    check("HTTP" not in s.tried[-4]["data"], "nor is an answer of HTTP's "
          "passed on", s.tried[-4])
    for result in s.tried[-3:]:
        check(result["ok"] and result["data"], "other protocols", result)
    seen = [e["data"] for e in s.arrived("raw")]
    check(not [d for d in seen if "neighbour" in d or "/x" in d],
          "no request arrived", seen)
    check(reasons(s).count("bad-request") + reasons(s).count("no-grant") >=
          len(tries) + len(parts) + 1, "each on record", reasons(s))


@test
def a_client_may_be_slow_to_begin():
    s = web("allow: [site.test]\n", [
        ["resolve", "site.test"],
        ["late", SITE, 443, "good", "site.test", {"pause": 1.0}],
        ["late", SITE, 80, request(host="site.test"), "", {"pause": 1.0}],
        ["late", SITE, 4443, "good", "site.test", {"pause": 0.1}],
        ["late", SITE, 5432, "PING\r\n", "", {"pause": 1.0}]])
    for result in s.tried[1:4]:
        check(result["ok"], "served", result)
    check("PING" in s.tried[4]["data"], "and other protocols", s.tried[4])
    check({e["sni"] for e in s.arrived("hello")} == {"site.test"}, "hellos",
          s.arrived("hello"))


# D-15
@test
def bytes_that_are_not_http_where_only_http_may_flow():
    policy = "allow:\n  - {dest: api.test, http: [{paths: [/v1/]}]}\n"
    s = web(policy, [
        ["resolve", "api.test"], ["tcp", API, 443, "SSH-2.0-x\r\n"],
        ["tcp", API, 22, "SSH-2.0-x\r\n"], ["silent", API, 25],
        ["tcp", API, 5432, "\0\1\2\3raw"],
        ["http", API, 443, "SSH-2.0-x\r\n", "api.test"],
        ["http", API, 443, "\x16\3\1\0\5hello", "api.test"],
        ["tcp", API, 80, "HELO mail\r\n\r\n"]])
    check(s.tried[0]["ok"], "the name resolves", s.tried[0])
    for result in s.tried[1:]:
        data = result.get("data", "")
        check(not result["ok"] or not data or data.startswith("HTTP/1."),
              "refused", result)
    check(not connected(s, API), "nothing arrived", s.out)
    check("not-http" in reasons(s), "reason", s.decided)


@test
def tls_and_http_on_odd_ports():
    policy = ("allow:\n  - dest: api.test\n    ports: [22, 4443, 8000]\n"
              "    http: [{methods: [GET], paths: [/v1/]}]\n")
    s = web(policy, [
        ["get", "https://api.test:4443/v1/x"],
        ["get", "http://api.test:8000/v1/y"],
        ["get", "https://api.test:4443/admin"],
        ["get", "http://api.test:8000/admin"],
        ["get", "https://api.test/v1/z"], ["tcp", API, 8080]])
    check(s.tried[0]["ok"] and s.tried[1]["ok"], "permitted", s.tried)
    for result in s.tried[2:4]:
        check(result.get("code") == 403, "by path", result)
    check(not s.tried[4]["ok"] and not s.tried[5]["ok"], "other ports",
          s.tried)
    check(sorted(reached(s)) == [("GET", "/v1/x"), ("GET", "/v1/y")],
          "what arrived", reached(s))


# N-8
@test
def servers_with_bad_certificates():
    names = ("selfsigned.test", "expired.test", "badname.test")
    rules = "".join("  - {dest: %s, http: [{methods: [GET]}]}\n" % n
                    for n in names)
    tries = [["get", "https://%s/" % n] for n in names]
    s = web("allow:\n" + rules, tries)
    for result in s.tried:
        check(result.get("code") in (502, 503), "refused", result)
        check("certificate" in result.get("data", "").lower(),
              "with the reason", result)
    check(not s.arrived("http"), "no request was sent", s.arrived("http"))
    check("upstream" in reasons(s), "reason", s.decided)
    s = web("ssl_insecure: true\nallow:\n" + rules, tries)
    for result in s.tried:
        check(result["ok"], "not verified when asked not to", result)
    check(len(s.arrived("http")) == 3, "arrived", s.arrived("http"))
    s = web("allow: [%s]\n" % ", ".join(names), tries)
    for result in s.tried:
        check(not result["ok"] and "certificate" in result.get("said", ""),
              "the client sees the server's own", result)


# N-7
@test
def certificates_of_the_session():
    s = web("allow:\n  - {dest: api.test, tls: inspect}\n"
            "  - {dest: '*.wild.test', tls: inspect}\n"
            "  - {dest: '**.deep.example', tls: inspect}\n"
            "  - {dest: h2.test, tls: inspect}\n", [
                ["cert", "api.test", 443, "api.test"],
                ["cert", "a.wild.test", 443, "a.wild.test"],
                ["cert", "x.y.deep.example", 443, "x.y.deep.example"],
                ["cert", "x.y.deep.example", 443, "x.y.deep.example"],
                ["cert", "z.deep.example", 443, "z.deep.example",
                 ["h2", "http/1.1"]],
                ["cert", "h2.test", 443, "h2.test", ["h2", "http/1.1"]]])
    for result in s.tried:
        check(result["ok"], "trusted by python", result)
    issuers = {r.get("issuer") for r in s.tried}
    check(len(issuers) == 1 and FAKE not in issuers, "one authority",
          issuers)
    for result in s.tried[4:]:
        check(result.get("alpn") == "h2", "HTTP/2", result)
    check(s.tried[2].get("ms", 9e9) < 1000, "made at once", s.tried[2])


@test
def authority_is_of_one_session_and_its_key_stays_in_the_gate():
    import live
    seen = []
    for _ in range(2):
        with live.Place("allow:\n  - {dest: api.test, tls: inspect}\n") as w:
            s = w.membrane("run", "--", "sh", "-c",
                           "cat /etc/membrane/ca.pem; grep -c BEGIN "
                           "/etc/membrane/bundle.pem; ls /etc/membrane; "
                           "echo x >>/etc/membrane/ca.pem")
            check("BEGIN CERTIFICATE" in s.stdout, "a certificate", s.stdout)
            check("PRIVATE" not in s.stdout, "without its key")
            seen.append(s.stdout.split("-----")[2])
            keys = live.subprocess.run(
                ["grep", "-rl", "PRIVATE KEY", w.root], check=False,
                capture_output=True, text=True).stdout
            check(not keys, "no key is on the host's disk", keys)
    check(seen[0] != seen[1], "another one each time")
    with live.Place("allow: [site.test]\n") as w:
        s = w.membrane("run", "--", "sh", "-c", "ls /etc/membrane; env | "
                       "grep -v GIT_CONFIG_SYSTEM=")
        check("/etc/membrane" not in s.stdout and ".pem" not in s.stdout,
              "none where none is needed", s.stdout)


@test
def tls_over_ipv6():
    with live.ipv6() as uplink:
        s = web(uplink + "allow:\n  - site.test\n"
                "  - {dest: api.test, http: [{paths: [/v1/]}]}\n", [
                    ["resolve", "site.test"], ["resolve", "api.test"],
                    ["hello", "2a0e:11::1:1", 443, "good", "site.test"],
                    ["hello", "2a0e:11::1:1", 443, "good", "neighbour.test"],
                    ["hello", "2a0e:11::1:1", 443, "none", "site.test"],
                    ["http", "2a0e:11::20:4", 443, request("/v1/x"), "api.test"],
                    ["http", "2a0e:11::20:4", 443, request("/admin"),
                     "api.test"],
                    ["http", "2a0e:11::20:4", 80, request("/v1/y")],
                    ["tcp", "2a0e:11::1:1", 5432]])
    for i in (2, 5, 7, 8):
        check(s.tried[i]["ok"], "permitted", s.tried[i])
    for i in (3, 4, 6):
        check(not s.tried[i]["ok"], "refused", s.tried[i])
    check({e["sni"] for e in s.arrived("hello")} ==
          {"site.test", "api.test"}, "hellos", s.arrived("hello"))
    check(sorted(reached(s)) == [("GET", "/v1/x"), ("GET", "/v1/y")],
          "requests", reached(s))
    check({e["addr"] for e in s.arrived("hello")} ==
          {"2a0e:11::1:1", "2a0e:11::20:4"}, "by the same way",
          s.arrived("hello"))


@test
def quic_stays_closed():
    s = session("allow:\n  - {dest: api.test, http: [{paths: [/v1/]}]}\n", [
        ["resolve", "api.test"], ["udp", API, 443], ["udp", H2, 443]])
    check(s.tried[0]["ok"], "resolves", s.tried[0])
    for result in s.tried[1:]:
        check(not result["ok"], "refused", result)
    check(not s.arrived("udp", port=443), "nothing arrived", s.out)


@test
def alternative_services_are_not_advertised():
    s = web("allow:\n  - {dest: api.test, tls: inspect}\n", [
        ["resolve", "api.test"],
        ["http", API, 443, request("/altsvc/1"), "api.test"],
        ["dns", "192.0.0.1", "api.test", "HTTPS"]])
    check(s.tried[1]["ok"], "served", s.tried[1])
    check("h3=" not in s.tried[1]["data"], "no word of QUIC", s.tried[1])
    check(s.tried[2].get("answers") and "ECHO" not in
          str(s.tried[2]["answers"]), "no ECH in DNS", s.tried[2])
