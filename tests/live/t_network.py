"""What may be reached, and what not: names, wildcards, addresses, ports."""

import live
from live import check, session, shell, test

SITE, OTHER, UNGRANTED = "11.0.1.1", "11.0.2.1", "11.0.3.1"


def refused(result, what):
    check(live.is_refused(result), what, result)


@test
def name_is_permitted_on_any_tcp_port():
    s = session("allow: [site.test]\n", [
        ["get", "https://site.test/"], ["get", "http://site.test/x"],
        ["tcp", "site.test", 22, "probe\r\n"],
        ["tcp", "site.test", 5432, "probe\r\n"],
        ["resolve", "site.test"]])
    check(s.status == 0, "status 0", s.stderr)
    for result in s.tried:
        check(result["ok"], "permitted", result)
    check(s.tried[0].get("data") == "hello from site.test\n", "the page")
    check("SSH-2.0" in s.tried[2].get("data", ""), "the banner of ssh")
    check(s.tried[4].get("addresses") == [SITE], "IPv4 only, no uplink has 6",
          s.tried[4])
    for port in (443, 80, 22, 5432):
        check(s.arrived("packet", addr=SITE, port=port), "arrived: %d" % port)
    check(s.arrived("http", sni="site.test", tls=True), "TLS went through")


@test
def other_names_are_refused():
    s = session("allow: [site.test]\n", [
        ["get", "https://other.test/"], ["resolve", "other.test"],
        ["resolve", "www.site.test"], ["resolve", "test"],
        ["resolve", "site.test.other.test"], ["resolve", "xsite.test"]])
    for result in s.tried:
        refused(result, "no such name")
    check(not s.arrived("dns", name=lambda n: n != "site.test"),
          "no query went out", s.arrived("dns"))
    check(not s.arrived("packet", addr=OTHER), "nothing arrived")


@test
def addresses_without_a_name_are_refused():
    s = session("allow: [site.test]\n", [
        ["tcp", OTHER, 443], ["tcp", UNGRANTED, 80], ["udp", OTHER, 7777],
        ["tcp", "1.1.1.1", 443], ["udp", "1.1.1.1", 443]])
    for result in s.tried:
        refused(result, "refused")
    check(not s.arrived("packet", proto="tcp"), "no TCP left", s.out)
    check(not s.arrived("packet", port=7777), "no UDP left", s.out)


@test
def name_with_port_opens_that_port():
    s = session("allow: ['site.test:443']\n", [
        ["tcp", "site.test", 443, ""], ["tcp", "site.test", 80],
        ["tcp", "site.test", 22], ["udp", SITE, 443]])
    check(s.tried[0]["ok"], "443 is open", s.tried[0])
    for result in s.tried[1:]:
        refused(result, "other ports are not")
    check({e.get("port") for e in s.arrived("packet", addr=SITE)} == {443},
          "only 443 arrived", s.out)


@test
def ranges_and_udp_ports():
    s = session("allow:\n  - dest: site.test\n"
                "    ports: [8000-8080/tcp, 7777/udp]\n", [
                    ["resolve", "site.test"], ["tcp", SITE, 8000, ""],
                    ["tcp", SITE, 8080, ""], ["udp", SITE, 7777],
                    ["tcp", SITE, 8443], ["tcp", SITE, 7777],
                    ["udp", SITE, 123], ["tcp", SITE, 80]])
    for result in s.tried[1:4]:
        check(result["ok"], "granted port", result)
    check(s.tried[3].get("data") == "probe", "the echo came back")
    for result in s.tried[4:]:
        refused(result, "other port")
    check(s.arrived("udp", port=7777, addr=SITE), "UDP arrived")


# D-14
@test
def udp_is_closed_unless_written():
    s = session("allow: [site.test, 11.0.2.0/24]\n", [
        ["resolve", "site.test"], ["udp", SITE, 7777], ["udp", SITE, 443],
        ["udp", OTHER, 123]])
    for result in s.tried[1:]:
        refused(result, "UDP")
    check(not s.arrived("packet", proto="udp", addr=SITE), "none to the site")


@test
def wildcard_is_exactly_one_label():
    s = session("allow: ['*.wild.test']\n", [
        ["get", "http://a.wild.test/"], ["get", "http://b-2.wild.test/"],
        ["resolve", "wild.test"], ["resolve", "x.deep.wild.test"],
        ["resolve", "a.wild.test.other.test"]])
    check(s.tried[0]["ok"] and s.tried[1]["ok"], "one label", s.tried[:2])
    for result in s.tried[2:]:
        check(not result["ok"], "neither apex nor two labels", result)
    names = {e["name"] for e in s.arrived("dns")}
    check(names <= {"a.wild.test", "b-2.wild.test"}, "queries", names)


@test
def double_wildcard_is_one_or_more_labels():
    s = session("allow: ['**.wild.test']\n", [
        ["get", "http://a.wild.test/"], ["get", "http://x.deep.wild.test/"],
        ["resolve", "wild.test"]])
    check(s.tried[0]["ok"] and s.tried[1]["ok"], "any depth", s.tried[:2])
    check(not s.tried[2]["ok"], "never the apex", s.tried[2])


@test
def cidr_opens_its_addresses():
    s = session("allow: [11.0.2.0/31, '11.0.3.1:80']\n", [
        ["tcp", "11.0.2.0", 22], ["tcp", "11.0.2.1", 443, ""],
        ["tcp", "11.0.3.1", 80, ""], ["tcp", "11.0.2.2", 443],
        ["tcp", "11.0.1.255", 443], ["tcp", "11.0.3.1", 81],
        ["udp", "11.0.2.1", 7777], ["resolve", "other.test"]])
    for result in s.tried[:3]:
        check(result["ok"], "inside", result)
    for result in s.tried[3:7]:
        refused(result, "outside")
    check(not s.tried[7]["ok"], "an address grants no name", s.tried[7])


# D-8
@test
def any_opens_public_addresses_only():
    s = session("allow: ['*']\n", [
        ["get", "https://site.test/"], ["get", "http://whatever.example/"],
        ["tcp", "11.0.3.1", 22], ["tcp", "10.1.2.3", 80],
        ["tcp", "192.168.1.1", 80], ["tcp", "172.20.1.1", 80],
        ["tcp", "100.64.0.1", 80], ["tcp", "169.254.169.254", 80],
        ["tcp", "172.17.0.1", 2375], ["udp", "11.0.3.1", 7777]])
    for result in s.tried[:3]:
        check(result["ok"], "public", result)
    for result in s.tried[3:]:
        refused(result, "not public, or UDP")
    check(not s.reached_host(), "the host saw nothing", s.at_host)


@test
def deny_wins_over_allow():
    s = session("allow: [11.0.0.0/16]\ndeny: [11.0.2.0/24]\n", [
        ["tcp", SITE, 80, ""], ["tcp", OTHER, 80]])
    check(s.tried[0]["ok"], "allowed", s.tried[0])
    refused(s.tried[1], "denied")
    check(not s.arrived("packet", addr=OTHER), "nothing arrived there")


@test
def nothing_granted_is_nothing_reached():
    s = session("", [["resolve", "site.test"], ["tcp", SITE, 443],
                     ["udp", "8.8.8.8", 53], ["tcp", "8.8.8.8", 53]])
    for result in s.tried:
        check(not result["ok"], "refused", result)
    check(not s.arrived(), "the log out there is empty", s.out)


@test
def flags_grant_as_the_file_does():
    s = session("", [["get", "https://site.test/"], ["tcp", OTHER, 80, ""],
                     ["get", "http://a.wild.test/"], ["tcp", UNGRANTED, 80]],
                "-n", "site.test", "--cidr", "11.0.2.1", "--allow",
                "*.wild.test:80")
    for result in s.tried[:3]:
        check(result["ok"], "granted by flag", result)
    refused(s.tried[3], "the rest")


@live.launcher_only("it sums up")
def refusals_are_summed_up_on_stderr_and_on_record():
    s = session("allow: [site.test]\n", [
        ["get", "https://site.test/"], ["resolve", "other.test"],
        ["tcp", OTHER, 443], ["tcp", OTHER, 443]])
    check("other.test" in s.stderr, "the refused name", s.stderr)
    check(OTHER in s.stderr, "the refused address", s.stderr)
    check("allow" in s.stderr, "the line that would allow it", s.stderr)
    check("site.test" not in live.without_whose(s.stderr),
          "nothing of what was permitted", s.stderr)
    denied = [d for d in s.decided if d["verdict"] == "deny"]
    check(any(d.get("name") == "other.test" and d["kind"] == "resolve"
              for d in denied), "record of the name", s.decided)
    check(any(d.get("addr") == OTHER and d.get("port") == 443 and
              d["reason"] for d in denied), "record of the address",
          s.decided)
    granted = [d for d in s.decided if d["verdict"] == "allow" and
               d["kind"] == "connect"]
    check(any(d.get("addr") == SITE and d.get("line") == 1 for d in granted),
          "record of the permitted one, with its line", s.decided)


@test
def shared_address_opens_for_the_granted_ports_only():
    # neighbour.test has the address of site.test, and another port.
    s = session("allow: ['site.test:443', 'neighbour.test:80']\n", [
        ["get", "https://site.test/"], ["resolve", "neighbour.test"],
        ["get", "http://neighbour.test/"], ["tcp", SITE, 22]])
    check(s.tried[0]["ok"] and s.tried[2]["ok"], "443 and 80", s.tried)
    refused(s.tried[3], "22 never")
    s = session("allow: ['site.test:443', '*.wild.test:80']\n", [
        ["tcp", "11.0.4.2", 80], ["get", "http://a.wild.test/"],
        ["tcp", "11.0.4.2", 80, ""], ["tcp", "11.0.4.2", 443],
        ["tcp", SITE, 80]])
    refused(s.tried[0], "before any name was resolved")
    check(s.tried[1]["ok"] and s.tried[2]["ok"], "after", s.tried)
    refused(s.tried[3], "on the ports of its name only")
    refused(s.tried[4], "and no other address")


@test
def address_that_moves_stays_reachable():
    s = shell("allow: [rotate.test]\n",
              "for i in 1 2 3 4 5; do curl -sS -m 5 http://rotate.test/ || "
              "exit 1; done")
    check(s.status == 0, "each new address opens at once", s.stderr)
    check(s.stdout.count("hello") == 5, "five pages", s.stdout)
