"""The link for runtimes that bring their own network namespace.

The sealed daemon knows plain runc under the name sysbox-runc as well. That
says nothing about Sysbox, and all about the bridge link, which it brings out:
the same rules, the same resolver, nothing of the host within reach.
"""
import live
from live import Place, check, session, test

POLICY = "runtime: sysbox-runc\n"


@test
def same_policy_over_the_bridge():
    s = session(POLICY + "allow: ['site.test:443', '11.0.2.1:80']\n", [
        ["get", "https://site.test/"], ["tcp", "11.0.2.1", 80, ""],
        ["resolve", "other.test"], ["tcp", "11.0.2.1", 443],
        ["tcp", "11.0.3.1", 80], ["udp", "8.8.8.8", 53],
        ["dns", "8.8.8.8", "site.test", {"tcp": True}],
        ["ping", "11.0.1.1"], ["tcp", "2a0e:11::1:1", 443]])
    for result in s.tried[:2]:
        check(result["ok"], "permitted", result)
    for result in s.tried[2:]:
        check(not result["ok"], "refused", result)
        check(result["ms"] < 1500, "soon", result)
    got = {(e["proto"], e["addr"], e.get("port"))
           for e in s.arrived("packet")}
    check(got <= {("tcp", "11.0.1.1", 443), ("tcp", "11.0.2.1", 80),
                  ("udp", "8.8.8.8", 53)}, "what arrived", got)
    check(not s.reached_host(), "the host saw nothing", s.at_host)


@test
def host_and_neighbours_over_the_bridge():
    own = live.subprocess.run(
        live.the.enter("ip", "-o", "-4", "addr"), check=True,
        capture_output=True, text=True).stdout
    own = [line.split()[3].split("/")[0] for line in own.splitlines()]
    own = [a for a in own if not a.startswith("127.")]
    for setting in ("1", "0"):
        live.subprocess.run(live.the.enter(
            "sysctl", "-qw", "net.bridge.bridge-nf-call-iptables=" + setting),
            check=True)
        s = session(POLICY + "allow: ['*']\n",
                    [[k, a, p] for a in own for k, p in (
                        ("tcp", 2375), ("tcp", 53), ("udp", 53))] +
                    [["ping", a] for a in own] +
                    [["get", "https://site.test/"]])
        for result in s.tried[:-1]:
            check(not result["ok"], "refused", result)
        check(s.tried[-1]["ok"], "and yet it works", s.tried[-1])
        check(not s.reached_host(), "the host saw nothing", s.at_host)
    live.subprocess.run(live.the.enter(
        "sysctl", "-qw", "net.bridge.bridge-nf-call-iptables=1"), check=True)


@test
def no_network_is_left():
    before = live.the.docker("network", "ls", "-q").stdout
    with Place(POLICY) as where:
        s = where.membrane("run", "--", "sh", "-c", "exit 9")
        check(s.status == 9, "status", s.stderr)
        p = where.popen("run", "--", "sh", "-c", "echo up; sleep 100")
        check(p.stdout.readline() == b"up\n", "up")
        p.kill()
        p.communicate(timeout=30)
        where.membrane("run", "--", "true")
        after = live.the.docker("network", "ls", "-q").stdout
        check(before == after, "networks", after)
        check(not live.leftovers(), "containers", live.leftovers())
