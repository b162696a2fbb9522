"""The link for runtimes that bring their own network namespace.

The sealed daemon knows plain runc under the name sysbox-runc as well. That
says nothing about Sysbox, and all about the bridge link, which it brings out:
the same rules, the same resolver, nothing of the host within reach.
"""
import live
import t_trace
from live import Place, check, session

test = live.docker_only("a runtime's link over its bridge")

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
    for result in s.tried[2:7]:
        check(live.is_refused(result), "refused", result)
    # A ping hears of no refusal there, and there is no IPv6.
    for result in s.tried[7:]:
        check(not result["ok"], "refused, too", result)
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
        s = where.membrane("run", "--", "true")
        check(s.status == 0 and not s.stderr, "the next one", s.stderr)
        after = live.the.docker("network", "ls", "-q").stdout
        check(before == after, "networks", after)
        check(not live.leftovers(), "containers", live.leftovers())


FULL = """runtime: sysbox-runc
trace: {engine: native, events: [full], required: true}
"""


@test
def traced_over_the_bridge():
    """The agent is known by its host name there, from its first program on."""
    with Place(FULL) as where:
        bystander = live.the.docker(
            "run", "-d", "--rm", "--network", "none", "--hostname",
            "membrane", "membrane-agent", "sh", "-c",
            "while :; do cat /etc/hostname >/dev/null; sleep 0.05; done"
        ).stdout.strip()
        try:
            s = where.membrane("run", "--", "bash", "-c", "touch made; "
                               "unshare --user true 2>&-; (cat made); exit 6")
        finally:
            live.the.docker("rm", "-f", bystander)
        check(s.status == 6 and not s.stderr, "status", s.stderr)
        found = t_trace.events(where)
        programs = [t_trace.args(e)["argv"] for e in found
                    if e["eventName"] == "sched_process_exec"]
        check([p[0] for p in programs][:3] == [
            "/etc/membrane/init", "bash", "touch"],
              "from the first", programs)
        check(t_trace.paths(found, "security_file_open")["/workspace/made"]
              == 2, "files", programs)
        check(not t_trace.paths(found, "security_file_open")[
            "/etc/hostname"], "nothing of others")
        check({e["processId"] for e in found if "processId" in e} >= {1},
              "its first process")


@test
def a_name_of_its_own_tells_sessions_apart():
    """A session's tracer takes nobody who has another's name."""
    with Place("runtime: sysbox-runc\n") as where:
        s = where.membrane("run", "--", "sh", "-c", "cat /etc/hostname")
        names = set(s.stdout.split())
        check(len(names) == 1 and names.pop().startswith("membrane-"),
              "its name", s.stdout)
        end = t_trace.args(t_trace.events(where)[-1])
        check(end["lost"] == 0 and end["events"] > 0, "its end", end)
