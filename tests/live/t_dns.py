"""The resolver: what it asks, whom, what it lets back in."""
import json

import live
from live import Place, check, session, test

GATE = "192.0.0.1"
NXDOMAIN, SERVFAIL, NOTIMP, FORMERR, REFUSED = 3, 2, 4, 1, 5
FORGED = "11.66.0.1"


def ask(name, *args, **more):
    return ["dns", GATE, name, *args, more]


def values(result):
    return [a[3] for a in result.get("answers", [])]


def rcode(result, *wanted):
    return result["ok"] and result["rcode"] in wanted


#
@test
def refused_names_are_nxdomain_and_never_asked():
    s = session("allow: [site.test, '*.wild.test']\n", [
        ask("other.test"), ask("other.test", tcp=True),
        ask("c2VjcmV0.exfil.site.test"), ask("a.b.wild.test"),
        ask("secret." + "x" * 60 + ".tunnel.test", "TXT"), ask("."),
        ask("site.test.attacker.test")])
    for result in s.tried:
        check(rcode(result, NXDOMAIN), "NXDOMAIN", result)
    check(not s.arrived("dns", name=lambda n: n != "site.test"),
          "nothing was asked out there", s.out)


#
@test
def other_resolvers_are_out_of_reach():
    s = session("allow: [site.test, '*']\n", [
        ["dns", "8.8.8.8", "site.test"], ["dns", "1.1.1.1", "site.test"],
        ["dns", "9.9.9.9", "x.tunnel.test", "TXT"],
        ["udp", "11.0.1.1", 53, "x"]])
    for result in s.tried:
        check(live.is_refused(result), "refused", result)
    check(not s.arrived("dns", name=lambda n: n == "x.tunnel.test"),
          "no tunnel", s.out)
    s = session("allow: [site.test]\n", [
        ["dns", "8.8.8.8", "site.test", {"tcp": True}],
        ["dns", "1.1.1.1", "site.test", {"tcp": True}],
        ["tcp", "8.8.8.8", 853]])
    for result in s.tried:
        check(not result["ok"], "refused over TCP", result)
    check(not s.arrived("packet", proto="tcp"), "no TCP left", s.out)


#
@test
def another_resolver_can_be_granted():
    s = session("allow: ['1.1.1.1:53/udp']\n", [
        ["dns", "1.1.1.1", "other.test"], ["dns", "8.8.8.8", "other.test"],
        ["dns", "1.1.1.1", "other.test", {"tcp": True}]])
    check(s.tried[0]["ok"], "53/udp there is open", s.tried[0])
    check(not s.tried[1]["ok"] and not s.tried[2]["ok"], "nothing else",
          s.tried[1:])


@live.launcher_only("it sums up")
def odd_names_are_on_record_as_they_are():
    odd = {".": ".", "a\\056b.test": "a\\.b.test", "\x1b[m.test":
           "\\027[m.test", "a\0b.test": "a\\000b.test", "membrane":
           "membrane", "wpad": "wpad", "-x.test": "-x.test",
           "_tcp.fine.test": "_tcp.fine.test"}
    s = session("allow: [site.test]\n", [ask(name) for name in odd])
    for result in s.tried:
        check(rcode(result, NXDOMAIN), "refused", result)
    seen = [d["name"] for d in s.decided if d["verdict"] == "deny"]
    check(seen == list(odd.values()), "each by a name of its own", seen)
    lines = {line.split()[0]: line for line in s.stderr.splitlines()
             if line.startswith("  ")}
    check(set(lines) == set(odd.values()), "and in the summary", s.stderr)
    advised = {n for n, line in lines.items() if "add to 'allow'" in line}
    check(advised == {"_tcp.fine.test"}, "which advises what can be granted",
          s.stderr)


#
@test
def udp_and_tcp_answer_alike():
    s = session("allow: [site.test, many.test, truncated.test]\n", [
        ask("site.test"), ask("site.test", tcp=True),
        ask("many.test", tcp=True), ask("many.test"),
        ask("truncated.test"), ask("truncated.test", tcp=True),
        ["get", "http://truncated.test/"]])
    check(values(s.tried[0]) == ["11.0.1.1"], "UDP", s.tried[0])
    check(values(s.tried[1]) == ["11.0.1.1"], "TCP", s.tried[1])
    check(len(values(s.tried[2])) == 60, "sixty addresses by TCP",
          s.tried[2])
    check(s.tried[3].get("tc") or len(values(s.tried[3])) == 60 and
          s.tried[3]["size"] <= 1232, "truncated by UDP", s.tried[3])
    for result in s.tried[4:6]:
        check(values(result) == ["11.0.6.1"] or result.get("tc"),
              "a truncated upstream answer is asked again by TCP", result)
    check(s.tried[6]["ok"], "and the address is open", s.tried[6])
    check(s.arrived("dns", proto="tcp", name="truncated.test"),
          "TCP query out there", s.arrived("dns"))


@test
def case_and_trailing_dot_do_not_matter():
    s = session("allow: [Site.TEST., upper.test]\n", [
        ask("SITE.test"), ask("sItE.tEsT."), ["get", "http://SITE.TEST/"],
        ["get", "http://site.test./"], ask("upper.test"),
        ["get", "http://upper.test/"]])
    for result in s.tried:
        check(result["ok"] and result.get("rcode", 0) == 0, "granted",
              result)
    check(values(s.tried[4]) == ["11.0.6.4"], "an upper-case answer",
          s.tried[4])
    check(s.tried[0]["answers"][:1] and
          s.tried[0]["answers"][0][0] == "SITE.test" or
          s.tried[0]["answers"][0][0].lower() == "site.test",
          "the name that was asked", s.tried[0])


#
@test
def chains_need_no_grant_of_their_own():
    s = session("allow: [chain.test]\n", [
        ask("chain.test"), ["get", "http://chain.test/"],
        ask("one.cdn.test"), ask("two.cdn.test")])
    check(s.tried[0]["ok"] and "11.0.5.1" in values(s.tried[0]),
          "the end of the chain", s.tried[0])
    check(s.tried[1]["ok"], "is open", s.tried[1])
    for result in s.tried[2:]:
        check(rcode(result, NXDOMAIN), "its links are not granted", result)


@test
def loops_and_dead_servers_end():
    s = session("allow: [loop.test, dead.test, broken.test, absent.test, "
                "slow.test]\n", [
                    ask("loop.test", wait=20), ask("dead.test", wait=20),
                    ask("broken.test"), ask("absent.test"),
                    ask("slow.test", wait=20)])
    check(rcode(s.tried[0], SERVFAIL) or not values(s.tried[0]), "a loop",
          s.tried[0])
    check(rcode(s.tried[1], SERVFAIL), "no answer", s.tried[1])
    check(rcode(s.tried[2], SERVFAIL), "SERVFAIL", s.tried[2])
    check(rcode(s.tried[3], NXDOMAIN), "NXDOMAIN", s.tried[3])
    check(values(s.tried[4]) == ["11.0.6.5"], "a slow one", s.tried[4])


#
@test
def forged_answers_are_not_taken():
    s = session("allow: [wrongid.test, wrongname.test, extra.test]\n", [
        ask("wrongid.test"), ask("wrongname.test"), ask("extra.test"),
        ["tcp", FORGED, 80], ["get", "http://wrongid.test/"]])
    check(values(s.tried[0]) == ["11.0.6.2"], "wrong id", s.tried[0])
    check(values(s.tried[1]) == ["11.0.6.3"], "wrong question", s.tried[1])
    check(values(s.tried[2]) == ["11.0.6.6"], "out of bailiwick", s.tried[2])
    check(not s.tried[3]["ok"], "the forged address is closed", s.tried[3])
    check(s.tried[4]["ok"], "the right one is open", s.tried[4])
    check(not s.arrived("packet", addr=FORGED), "nothing arrived there")


#
@test
def types():
    s = session("allow: [site.test]\n", [
        ask("site.test", "TXT"), ask("site.test", "MX"),
        ask("site.test", "SRV"), ask("site.test", "AAAA"),
        ask("site.test", "HTTPS"), ask("site.test", "NULL"),
        ask("site.test", "ANY"), ask("site.test", "AXFR"),
        ask("site.test", 65280), ask("other.test", "TXT"),
        ask("other.test", "NULL")])
    check(any("v=site" in v for v in values(s.tried[0])), "TXT", s.tried[0])
    for result in s.tried[1:3]:
        check(rcode(result, 0) and result["answers"], "MX, SRV", result)
    check(rcode(s.tried[3], 0) and not values(s.tried[3]),
          "no AAAA without IPv6", s.tried[3])
    check(rcode(s.tried[4], 0, NOTIMP) and
          "ECHO" not in "".join(values(s.tried[4])), "no ECH", s.tried[4])
    for result in s.tried[5:9]:
        check(rcode(result, NOTIMP), "NOTIMP", result)
    for result in s.tried[9:]:
        check(rcode(result, NXDOMAIN, NOTIMP), "refused", result)
    check(not s.arrived("dns", name="other.test"), "never asked")
    check(not s.arrived("dns", type=lambda t: t in (
        "NULL", "ANY", "252", "65280")), "such types never leave", s.out)


#
@test
def odd_messages():
    s = session("allow: [site.test]\n", [
        ask("site.test", questions=2), ask("site.test", questions=0),
        ask("site.test", qclass=3), ask("site.test", qclass=255),
        ask("site.test", flags=0x8100, wait=1),      # an answer
        ask("site.test", flags=0x2900, wait=1),      # UPDATE
        ask("site.test", extra="smuggled bytes", wait=1),
        ask("site.test", edns=4096), ask("site.test"),
        ["udp", GATE, 53, "\x00\x01"], ["udp", GATE, 53, "x" * 600]])
    for result in s.tried[:4]:
        check(not result["ok"] or result["rcode"] in (
            FORMERR, NOTIMP, REFUSED, NXDOMAIN), "refused", result)
    for result in s.tried[4:6]:
        check(not result["ok"] or result["rcode"] != 0, "refused", result)
    check(values(s.tried[7]) == ["11.0.1.1"], "EDNS is fine", s.tried[7])
    check(values(s.tried[8]) == ["11.0.1.1"], "it still answers",
          s.tried[8])
    check(all(e["questions"] == 1 for e in s.arrived("dns")),
          "one question each", s.arrived("dns"))
    check(not s.arrived("dns", name=lambda n: "q2." in n), "no second one")
    check(not s.arrived("packet", data=lambda d: "smuggled" in (d or "")),
          "answers and queries are rebuilt")


@test
def answers_never_lead_inside():
    names = ["private", "private172", "private192", "cgnat", "metadata",
             "loopback", "zeroes", "dockerhost", "uplink", "mapped",
             "wrapped", "sixtofour", "unique", "linklocal"]
    s = session("allow: ['**.test', mixed.test]\n".replace(
        "'**.test'", ", ".join(n + ".test" for n in names)),
        [ask(n + ".test") for n in names] +
        [ask(n + ".test", "AAAA") for n in names] + [
            ask("mixed.test"), ["tcp", "10.1.2.3", 80],
            ["tcp", "172.17.0.1", 80], ["tcp", "169.254.169.254", 80],
            ["get", "http://mixed.test/"]])
    for result in s.tried[:len(names) * 2]:
        check(result["ok"] and not values(result), "dropped", result)
    mixed, *tries, page = s.tried[len(names) * 2:]
    check(values(mixed) == ["11.0.8.1"], "the public one stays", mixed)
    for result in tries:
        check(not result["ok"], "closed", result)
    check(page["ok"], "and is open", page)
    check(not s.reached_host(), "the host saw nothing", s.at_host)
    check(any(d["reason"] == "private-address" for d in s.decided),
          "on record", s.decided)


@test
def private_is_opened_by_what_says_so():
    s = session("allow:\n  - {dest: private.test, private: true}\n"
                "  - {dest: metadata.test, private: true}\n"
                "  - {dest: dockerhost.test, private: true}\n"
                "  - {dest: loopback.test, private: true}\n", [
                    ask("private.test"), ["get", "http://private.test/"],
                    ask("metadata.test"), ask("dockerhost.test"),
                    ask("loopback.test")])
    check(values(s.tried[0]) == ["10.1.2.3"], "private: true", s.tried[0])
    check(s.tried[1]["ok"], "is open", s.tried[1])
    for result in s.tried[2:]:
        check(result["ok"] and not values(result),
              "never link-local, the host, loopback", result)
    s = session("allow: [private.test, '10.1.0.0/16:80']\n", [
        ask("private.test"), ["get", "http://private.test/"],
        ["tcp", "10.1.2.3", 22]])
    check(values(s.tried[0]) == ["10.1.2.3"], "a cidr covers it",
          s.tried[0])
    check(s.tried[1]["ok"], "on its ports", s.tried[1])
    check(not s.tried[2]["ok"], "and no other", s.tried[2])


@test
def another_upstream():
    s = session("allow: [site.test]\ndns_resolver: 1.1.1.1\n",
                [ask("site.test")])
    check(values(s.tried[0]) == ["11.0.1.1"], "answers", s.tried[0])
    check({e["addr"] for e in s.arrived("dns")} == {"1.1.1.1"}, "asked there",
          s.arrived("dns"))
    s = session("allow: [site.test]\n", [ask("site.test")],
                "--resolver", "9.9.9.9")
    check({e["addr"] for e in s.arrived("dns")} == {"9.9.9.9"}, "by flag",
          s.arrived("dns"))


@live.launcher_only("it knows whom the host asks")
def the_upstream_of_the_host():
    with Place("allow: [site.test]\ndns_resolver: host\n",
               files={"r": "nameserver 127.0.0.1\nnameserver 1.1.1.1\n"},
               env={"MEMBRANE_RESOLV_CONF": "r"}) as where:
        s = where.membrane("run", "--no-trace", "--", "python3", "probe.py",
                           json.dumps([ask("site.test")]))
        check({e["addr"] for e in s.arrived("dns")} == {"1.1.1.1"},
              "what it can ask", s.stderr)
        for path in where.state.glob("sessions/*/session.json"):
            check(json.loads(path.read_text())["resolver"] == "1.1.1.1",
                  "on record", path.read_text())
        (where.work / "r").write_text("nameserver 127.0.0.1\n")
        s = where.membrane("run", "--no-trace", "--", "true")
        check(s.status == 125 and "127.0.0.1 serves the host alone" in
              s.stderr, "nobody to ask", "%d %s" % (s.status, s.stderr))


@live.launcher_only("it sums up")
def an_upstream_that_is_silent():
    """Who reads it learns what to change, in a line of no more than 100."""
    with Place("allow: [site.test]\n") as where:
        s = where.membrane("run", "--no-trace", "--resolver", "198.18.0.1",
                           "--", "python3", "probe.py",
                           json.dumps([ask("site.test")]))
        said = [line for line in s.stderr.splitlines() if "site.test" in line]
        # one when it happens, one at the end
        check(len(said) == 2 and max(map(len, said)) <= 100 and
              "the resolver did not answer: 'dns_resolver' names another" in
              said[-1], "cause, name and next step", s.stderr)


#
@test
def queries_leave_with_fresh_ids_and_ports():
    s = session("allow: ['*.wild.test']\n",
                [ask("n%d.wild.test" % i) for i in range(40)])
    out = s.arrived("dns")
    ports = {e["sport"] for e in s.arrived("packet", port=53)}
    check(len({e["id"] for e in out}) > 35, "ids", len(out))
    check(len(ports) > 20, "ports", len(ports))
