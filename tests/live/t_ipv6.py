"""IPv6, with an uplink that has it."""
import live
from live import check, ipv6, test

SITE6, OTHER6 = "2a0e:11::1:1", "2a0e:11::2:1"


def session(policy, attempts):
    with ipv6() as uplink:
        return live.session(uplink + policy, attempts)


@test
def names_and_addresses():
    attempts = [["dns", "192.0.0.1", "site.test", "AAAA"],
                ["resolve", "site.test"], ["tcp", SITE6, 443, ""],
                ["get", "http://six.test/"],
                ["tcp", "2a0e:11::5:1", 80, ""],
                ["tcp", SITE6, 80], ["tcp", OTHER6, 443],
                ["udp", SITE6, 7777], ["ping", SITE6],
                ["tcp", "2a0e:11::5:1", 443]]
    s = session("allow: ['site.test:443', six.test, "
                "'[2a0e:11::5:1]:80']\n", attempts)
    check([a[3] for a in s.tried[0].get("answers", [])] == [SITE6], "AAAA",
          s.tried[0])
    for result in s.tried[1:5]:
        check(result["ok"], "permitted", result)
    for result, what in zip(s.tried[5:], attempts[5:]):
        # Some runtimes let everybody ping; such a socket hears no refusal.
        check(live.is_refused(result) or not result["ok"] and
              (what[0], live.ENGINE) == ("ping", "pod"), "refused", result)
    six = {(e["addr"], e.get("port")) for e in s.arrived("packet")
           if ":" in e["addr"]}
    check(six == {(SITE6, 443), ("2a0e:11::6:1", 80), ("2a0e:11::5:1", 80)},
          "what arrived", six)


@test
def inward_addresses():
    own = live.subprocess.run(
        live.the.enter("ip", "-o", "-6", "addr", "show", "scope", "global"),
        check=True, capture_output=True, text=True).stdout
    own = [line.split()[3].split("/")[0] for line in own.splitlines()]
    tries = [["tcp", a, 2375] for a in own] + [
        ["tcp", "fd00::1", 80], ["tcp", "::1", 53], ["tcp", "fd06:1::1", 22],
        ["tcp", "64:ff9b::a01:203", 80], ["tcp", "2002:a01:203::1", 80],
        ["ping", "fd06:1::1"],
        ["dns", "192.0.0.1", "unique.test", "AAAA"],
        ["dns", "192.0.0.1", "wrapped.test", "AAAA"],
        ["dns", "192.0.0.1", "sixtofour.test", "AAAA"],
        ["dns", "192.0.0.1", "mapped.test", "AAAA"],
        ["dns", "192.0.0.1", "linklocal.test", "AAAA"]]
    check(len(own) >= 2, "the host has such addresses", own)
    s = session("allow: ['*', unique.test, wrapped.test, "
                "sixtofour.test, mapped.test, linklocal.test]\n", tries)
    for result, what in zip(s.tried, tries):
        if what[0] == "dns":
            check(result["ok"] and not result["answers"], "%s" % what,
                  result)
        else:
            check(not result["ok"], "refused: %s" % what, result)
    check(not s.reached_host(proto=lambda p: p != "icmp6"),
          "the host saw nothing", s.at_host)


@test
def other_resolvers():
    s = session("allow: ['*']\n", [
        ["dns", "2001:4860:4860::8888", "site.test"],
        ["dns", "2001:4860:4860::8888", "site.test", {"tcp": True}]])
    check(not s.tried[0]["ok"], "UDP", s.tried[0])
    check(not s.arrived("dns", proto="udp", addr=lambda a: ":" in a),
          "no query by IPv6", s.out)
