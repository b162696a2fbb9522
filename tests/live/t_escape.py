"""Ways around: other protocols, the host, neighbours, root inside."""
import json

import live
from live import Place, check, session, shell, test

NEIGHBOUR = ("import socket, threading\n"
             "s = socket.create_server(('', 8000))\n"
             "while True:\n"
             "    c, a = s.accept()\n"
             "    print('came', a[0], flush=True)\n"
             "    c.close()\n")


class Neighbour:
    """Another container on Docker's own bridge, which listens."""

    def __enter__(self):
        self.id = live.the.docker("run", "-d", "membrane-agent", "python3",
                                  "-uc", NEIGHBOUR).stdout.strip()
        self.addr = live.the.docker(
            "inspect", "-f", "{{.NetworkSettings.IPAddress}}",
            self.id).stdout.strip()
        return self

    def visits(self):
        return live.the.docker("logs", self.id).stdout.splitlines()

    def __exit__(self, *_):
        live.the.docker("rm", "-f", self.id)


def host_sysctl(setting):
    live.subprocess.run(live.the.enter("sysctl", "-qw", setting), check=True)


# D-14
@test
def icmp_and_raw_sockets():
    s = session("allow: [site.test, 11.0.0.0/8, '*']\n", [
        ["resolve", "site.test"], ["ping", "11.0.1.1"], ["ping", "8.8.8.8"],
        ["ping", "198.18.0.2"], ["raw", "11.0.1.1", 1],
        ["raw", "11.0.1.1", 255], ["raw", "11.0.1.1", 17], ["packet"],
        ["sctp", "11.0.1.1", 443]])
    for result in s.tried[1:]:
        check(not result["ok"], "refused", result)
    got = [e for e in s.arrived("packet") if e["proto"] not in ("tcp", "udp")]
    check(not got, "only TCP and UDP ever left", got)


@test
def ipv6_without_an_uplink_that_has_it():
    s = session("allow: [site.test, six.test, '2a0e::/16', '*']\n", [
        ["dns", "192.0.0.1", "six.test", "AAAA"], ["resolve", "six.test"],
        ["tcp", "2a0e:11::1:1", 443], ["udp", "2a0e:11::1:1", 7777],
        ["ping", "2a0e:11::1:1"], ["tcp", "fe80::1", 80]])
    check(s.tried[0]["ok"] and not s.tried[0]["answers"], "no AAAA",
          s.tried[0])
    for result in s.tried[1:]:
        check(not result["ok"], "refused", result)
    check(not s.arrived(addr=lambda a: ":" in (a or "")), "no IPv6 left",
          s.out)


@test
def services_of_the_host():
    found = live.subprocess.run(
        live.the.enter("ip", "-o", "-4", "addr"), check=True,
        capture_output=True, text=True).stdout
    own = [line.split()[3].split("/")[0] for line in found.splitlines()]
    own = [a for a in own if not a.startswith("127.")]
    check("198.18.0.1" in own and (
        live.ENGINE == "native" or "172.17.0.1" in own), "the host is there",
        own)
    # The log would tell: an ordinary process, or container, does reach them.
    log = live.Log("host.jsonl")
    if live.ENGINE == "native":
        live.subprocess.run(live.the.as_user(
            "curl", "-sm2", "http://198.18.0.1:2375/"), check=False)
    else:
        live.the.docker("run", "--rm", "membrane-agent", "sh", "-c",
                        "curl -sm2 http://172.17.0.1:2375/", check_it=False)
    live.the.settle()
    check(live.matching(log.events(), "tcp", port=2375), "the log works")
    tries = [[kind, a, port] for a in own
             for kind, port in (("tcp", 22), ("tcp", 2375), ("udp", 53),
                                ("tcp", 53))]
    tries += [["ping", a] for a in own]
    for policy in ("", "allow: ['*']\n",
                   "allow: [172.16.0.0/12, 198.18.0.0/15, 169.254.0.0/16]\n"):
        s = session(policy, tries)
        for result, what in zip(s.tried, tries):
            check(not result["ok"], "refused: %s" % what, result)
        check(not s.reached_host(), "the host saw nothing, policy %r" %
              policy, s.at_host)


@test
def loopback_and_the_gate_itself():
    s = session("allow: ['*', '127.0.0.0/8:1-65535', '192.0.0.0/24']\n", [
        ["open_sockets", "192.0.0.1", list(range(1, 52)) + list(
            range(54, 1100)) + [2375, 5000, 8000, 8080, 15001, 15002]],
        ["udp", "192.0.0.1", 67], ["udp", "192.0.0.1", 5353],
        ["ping", "192.0.0.1"],
        ["open_sockets", "127.0.0.1", list(range(1, 1100))]])
    check(s.tried[0].get("open") == [], "the gate listens for DNS only",
          s.tried[0])
    for result in s.tried[1:4]:
        check(not result["ok"], "nothing else", result)
    check(s.tried[4].get("open") == [], "nothing on our own loopback",
          s.tried[4])


@test
def metadata_service():
    s = session("allow: ['*', metadata.test]\n", [
        ["get", "http://169.254.169.254/"], ["resolve", "metadata.test"],
        ["tcp", "169.254.169.253", 53]])
    for result in s.tried:
        check(not result["ok"], "refused", result)
    check(not s.reached_host(), "nothing came to the host", s.at_host)
    check(not s.arrived(addr="169.254.169.254"), "nor out there", s.out)


@test
def floor_entry_that_is_more_specific_opens():
    s = session("allow: ['169.254.169.254:80']\n",
                [["tcp", "169.254.169.253", 80]])
    check(s.status == 0, "such a policy runs", s.stderr)
    check(not s.tried[0]["ok"], "nothing beside it", s.tried[0])


@live.docker_only("containers on its bridge")
def neighbours_on_the_bridge():
    for setting in ("1", "0"):
        host_sysctl("net.bridge.bridge-nf-call-iptables=" + setting)
        try:
            with Neighbour() as n:
                for policy in ("", "allow: ['*']\n"):
                    s = session(policy, [["tcp", n.addr, 8000],
                                         ["ping", n.addr]])
                    check(not s.tried[0]["ok"] and not s.tried[1]["ok"],
                          "refused", s.tried)
                check(n.visits() == [], "nobody came", n.visits())
                s = session("allow: [172.17.0.0/16]\n",
                            [["tcp", n.addr, 8000]])
                check(n.visits(), "granted by cidr, it is reached (so the "
                      "silence above means something)", s.tried)
        finally:
            host_sysctl("net.bridge.bridge-nf-call-iptables=1")


@live.docker_only("containers on its bridge")
def a_neighbour_cannot_come_in():
    with Place("allow: [site.test]\n") as where:
        agent = where.popen("run", "--", "python3", "-m", "http.server",
                            "8000")
        try:
            gate = []

            def up():
                gate[:] = live.the.docker(
                    "ps", "-q", "--filter", "label=membrane.role=gate"
                ).stdout.split()
                return len(gate) == 1 and live.the.docker(
                    "ps", "-q", "--filter", "label=membrane.role=agent"
                ).stdout.strip()
            check(live.within(20, up), "the session is up")
            addr = live.the.docker(
                "inspect", "-f", "{{range .NetworkSettings.Networks}}"
                "{{.IPAddress}}{{end}}", gate[0]).stdout.strip()
            done = live.the.docker(
                "run", "--rm", "membrane-agent", "python3", "-c",
                "import socket\nfor p in (53, 8000, 15001):\n"
                " try:\n  socket.create_connection(('%s', p), 1); "
                "print('open', p)\n except OSError: pass" % addr)
            check(done.stdout == "", "no port of the gate is open",
                  done.stdout)
        finally:
            agent.kill()
            agent.communicate(timeout=30)


ROOT_INSIDE = r"""
id -u
for f in /proc/self/status; do grep -E 'Cap(Eff|Prm|Bnd)|NoNewPrivs' $f; done
try() { "$@" >/dev/null 2>&1 && echo "PWNED: $*"; }
command -v ip >/dev/null && {
try ip route replace default via 192.0.0.1 dev lo
try ip link set eth0 down
try ip addr add 192.0.0.3/30 dev eth0
}
try mount -t tmpfs none /mnt
try mount --bind /etc /workspace
try umount /etc/resolv.conf
try umount -l /workspace/.env
try sh -c 'echo nameserver 8.8.8.8 > /etc/resolv.conf'
try sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
try sh -c 'echo 0 > /proc/sys/kernel/randomize_va_space'
try mknod /tmp/sda b 8 0
try mknod /tmp/mem c 1 1
try chroot / true
try unshare -n true
try unshare -m true
try unshare -Ur true
try nsenter -t 1 -n true
try sh -c 'cat /workspace/.env | grep secret'
try ls /run/docker.sock /var/run/docker.sock
python3 - <<'END'
import ctypes, socket, struct, fcntl
libc = ctypes.CDLL(None, use_errno=True)
def ioctl(number, data):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        fcntl.ioctl(s, number, data)
        print("PWNED: ioctl %x" % number)
    except OSError as e:
        pass
name = b"eth0".ljust(16, b"\0")
ioctl(0x8914, name + struct.pack("H22x", 0))            # SIOCSIFFLAGS: down
ioctl(0x8916, name + struct.pack("HH4s16x", 2, 0, bytes([192,0,0,3])))
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)  # nfnetlink
msg = struct.pack("IHHII", 20, 0x0a00 | 2, 0x5, 1, 0) + struct.pack("BBH", 0, 0, 0)
try:
    s.send(msg)
    answer = s.recv(4096)
    code = struct.unpack("i", answer[16:20])[0]
    if struct.unpack("H", answer[4:6])[0] == 2 and code == 0:
        print("PWNED: nfnetlink")
except OSError:
    pass
for flag in (0x40000000, 0x00020000, 0x10000000):
    if libc.unshare(flag) == 0:
        print("PWNED: unshare %x" % flag)
END
echo done
"""


# Whoever launches a native session is who runs inside: MEMBRANE_ENGINE=native-root.
ROOT = ["--arg", "--user", "--arg", "0"] if live.ENGINE == "docker" else []


@test
def root_inside_has_no_power():
    for flags in (ROOT, []):
        policy = "allow: [site.test]\nignore: [.env]\n"
        with Place(policy, files={".env": "secret=1\n"}) as where:
            s = where.membrane("run", *flags, "--", "bash", "-c",
                               ROOT_INSIDE)
            lines = s.stdout.splitlines()
            check(lines[:1] == ["0"] if flags else lines[:1] ==
                  [str(live.the.uid)], "the user", lines[:1])
            check("CapEff:\t0000000000000000" in lines and
                  "CapBnd:\t0000000000000000" in lines and
                  "CapPrm:\t0000000000000000" in lines, "no capability",
                  lines[:6])
            check("NoNewPrivs:\t1" in lines, "no new privileges", lines[:6])
            check(lines[-1:] == ["done"], "it ran to the end",
                  s.stdout + s.stderr)
            bad = [x for x in lines if "PWNED" in x]
            check(not bad, "nothing gave way", bad)
            check(not s.arrived("packet", proto=lambda p: p != "udp"),
                  "nothing left", s.out)


@test
def root_inside_reaches_no_more():
    with Place("allow: ['site.test:443']\n") as where:
        tries = [["get", "https://site.test/"], ["tcp", "11.0.2.1", 443],
                 ["udp", "8.8.8.8", 53], ["ping", "11.0.1.1"],
                 ["raw", "11.0.2.1", 1], ["packet"],
                 ["tcp", "172.17.0.1", 2375]]
        s = where.membrane("run", *ROOT, "--", "python3", "probe.py",
                           json.dumps(tries))
        s.parse(len(tries))
        check(s.tried[0]["ok"], "the grant", s.tried[0])
        for result in s.tried[1:]:
            check(not result["ok"], "refused", result)
        check(not s.reached_host(), "the host saw nothing", s.at_host)


@test
def processes_of_the_host_are_not_seen():
    s = shell("", "ls /proc | grep -c '^[0-9]'; cat /proc/net/unix | grep -c docker")
    lines = s.stdout.splitlines()
    check(lines and int(lines[0]) < 10, "a pid namespace of its own", lines)
    check(s.stdout.endswith("\n0\n"), "no socket of Docker", lines)


@test
def arguments_that_undo_the_sandbox_are_refused_from_a_workspace():
    for words in ('["--privileged"]', '["--network", "host"]',
                  '["--network=host"]', '["--pid=host"]',
                  '["--cap-add", "SYS_ADMIN"]',
                  '["-v", "/:/host"]', '["-v/var/run/docker.sock:/s"]',
                  '["--mount", "type=bind,source=/,target=/host"]',
                  '["--security-opt", "no-new-privileges=false"]',
                  '["--device=/dev/mem"]', '["--userns=host"]'):
        with Place("", workspace="args: %s\n" % words) as where:
            for flags in ([], ["--trust-workspace"]):
                s = where.membrane("run", *flags, "--", "echo", "ran")
                check(s.status == 125 and s.stdout == "",
                      "%s %s is refused" % (words, flags),
                      (s.status, s.stdout, s.stderr))


@test
def a_workspace_that_adds_needs_trust():
    with Place("", workspace="allow: [site.test]\n") as where:
        s = where.membrane("run", "--", "echo", "ran")
        check(s.status == 125 and s.stdout == "", "refused", s.stderr)
        s = where.membrane("run", "--trust-workspace", "--", "echo", "ran")
        check(s.status == 0 and s.stdout == "ran\n", "trusted once",
              s.stderr)
    with Place("", workspace="deny: [11.0.1.0/24]\nignore: [x]\n") as where:
        s = where.membrane("run", "--", "echo", "ran")
        check(s.status == 0, "what only narrows needs none", s.stderr)
