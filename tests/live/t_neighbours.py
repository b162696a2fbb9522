"""Containers beside the session, on the network of a compose file: as
doc/policy.md has them, section "Neighbours". There is no docker compose here; what
it would make of the file's network and addresses is made by docker itself."""
import contextlib
import re

import live
from live import ROOT, Place, check, within
from t_agents import needs

test = live.docker_only("containers on its network")

MOUNT = "type=bind,source=%s/build/clients/usr,target=/usr,readonly" % ROOT
REDIS = ("--mount", MOUNT, "membrane-agent", "redis-server", "--save", "",
         "--protected-mode", "no")
# One address for every name that is asked for.
RESOLVER = ("membrane-agent", "python3", "-c", r"""
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 53))
addr = socket.inet_aton(sys.argv[1])
while True:
    asked, who = s.recvfrom(512)
    name = asked[12:asked.index(b"\0", 12) + 5]
    is_a = name[-4:-2] == b"\0\1"
    s.sendto(asked[:2] + b"\x81\x80\0\1" + bytes([0, is_a]) + bytes(4) + name +
             (b"\xc0\x0c" + name[-4:] + b"\0\0\0\x3c\0\4" + addr) * is_a, who)
""")


class Page:
    """What the page shows of a project."""

    def __init__(self):
        text = (ROOT / "doc/policy.md").read_text()
        section = text.split("\n## Neighbours\n")[1].split("\n## ")[0]
        compose, self.policy = re.findall(
            r"^```(?:compose|yaml)\n(.*?)^```$", section, re.S | re.M)
        self.network = re.search(r"^name: (\w+)$", compose, re.M)[1] + \
            "_default"
        self.subnet = re.search(r"subnet: ([\d./]+)", compose)[1]
        self.db = re.search(r"ipv4_address: ([\d.]+)", compose)[1]
        self.command = re.search(r"^    membrane run -- (.*)$", section,
                                 re.M)[1]
        self.by_name = re.findall(r"`(dns_resolver: \S+)`, and `(\{.*?\})`",
                                  section)[0]


@contextlib.contextmanager
def neighbours(page, **containers):
    """The network, and on it each of these at its address."""
    live.the.docker("network", "create", "--subnet", page.subnet,
                    page.network)
    try:
        for name, (addr, argv) in containers.items():
            live.the.docker("run", "-d", "--name", "membrane-live-" + name,
                            "--network", page.network, "--ip", addr, *argv)
        yield
    finally:
        live.the.docker("rm", "-f", *(
            "membrane-live-" + name for name in containers), check_it=False)
        live.the.docker("network", "rm", page.network, check_it=False)


def other(page):
    return page.db.rsplit(".", 1)[0] + ".11"


def serves(name):
    """Redis says so when it does."""
    return within(20, lambda: "Ready to accept" in live.the.docker(
        "logs", "membrane-live-" + name).stdout)


def with_redis(page, policy):
    """The policy, and a /usr that has redis-cli for what runs inside."""
    words = "--mount, '%s'" % MOUNT
    if "args: [" in policy:
        return policy.replace("args: [", "args: [%s, " % words)
    return policy + "args: [%s]\n" % words


@test
def a_database_of_a_compose_file():
    needs("usr")
    page = Page()
    with neighbours(page, db=(page.db, REDIS), other=(other(page), REDIS)), \
            Place(with_redis(page, page.policy)) as w:
        check(serves("db") and serves("other"), "both serve")
        s = w.membrane("run", "--allow", "site.test:443", "--", "sh", "-c",
                       page.command + "; redis-cli -h db set said by-the-agent;"
                       "redis-cli -h %s ping; redis-cli -h db -p 22 ping; "
                       "curl -sS https://site.test/" % other(page))
        check(s.stdout == "PONG\nOK\nhello from site.test\n",
              "the database, and the internet by the same way",
              (s.stdout, s.stderr))
        check(s.stderr.count("Could not connect") == 2 and
              "Connection refused" in s.stderr,
              "nothing else on that network", s.stderr)
        held = live.the.docker("exec", "membrane-live-db", "redis-cli", "get",
                               "said").stdout
        check(held == "by-the-agent\n", "it has it", held)


@test
def a_neighbour_by_its_name():
    """Where a resolver is among them; and only with 'private'."""
    needs("usr")
    page = Page()
    resolver, grant = page.by_name
    at = resolver.split()[1]
    name = re.search(r"dest: ([\w.]+)", grant)[1]
    policy = "uplink: %s\n%s\nallow:\n  - %s\n" % (page.network, resolver,
                                                   grant)
    with neighbours(page, db=(page.db, REDIS),
                    names=(at, (*RESOLVER, page.db))):
        check(serves("db"), "it serves")
        for text, said in (
                (policy, "PONG\n"),
                (policy.replace("private: true", "private: false"), "")):
            with Place(with_redis(page, text)) as w:
                s = w.membrane("run", "--", "redis-cli", "-h", name, "ping")
                check(s.stdout == said, text, (s.stdout, s.stderr))
                check(("private-address" in s.stderr) == (not said),
                      "and why not", s.stderr)


@test
def an_uplink_that_is_not_there():
    page = Page()
    with Place(page.policy) as w:
        s = w.membrane("run", "--", "true")
        check(s.status == 125 and page.network in s.stderr,
              "the session does not begin, and it is said", s.stderr)
        check(not live.leftovers(), "nothing is left", live.leftovers())
