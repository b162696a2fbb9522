#!/usr/bin/env python3
"""What `explain` says, done: requests at random through live gates.

For generated policies in which networks, names, denials of both, URLs, methods,
ports and private addresses overlap, requests are made up, decided by `membrane
explain`, and sent from the agent's side of a gate that runs the compiled plan.
What is permitted has to arrive, and nothing else. Needs root, HAProxy and a
built tree; else 77.

    decide_live.py [POLICIES [SEED]]

The world is that of witness_live.py. A connection to an address with a name is
tried as other protocols speak (where the name resolves), in TLS that states the
name, and in HTTP that does.
"""
import concurrent.futures
import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import gate  # noqa: E402
import l7_live  # noqa: E402
import witness_live  # noqa: E402
from gate import check  # noqa: E402

POLICIES, SEED, REQUESTS = 12, 1, 40

NAMES = ["a.test", "x.a.test", "y.x.a.test", "b.test", "x.b.test", "c.test"]
PATTERNS = ["*.a.test", "**.a.test", "**.test", "*.b.test"]
NETS = ["11.1.0.0/16", "11.1.2.0/24", "11.1.2.3", "11.2.0.0/15", "10.1.0.0/16",
        "2a0e:1::/32", "2a0e:1:2::/48", "fd00:1::/32", "11.0.0.0/9"]
ADDRS = ["11.1.2.3", "11.1.2.4", "11.1.9.9", "11.3.0.5", "11.9.0.1", "10.1.0.7",
         "2a0e:1::7", "2a0e:1:2::5", "2a0e:9::1", "fd00:1::5"]
PORTS = [22, 53, 80, 443, 8001, 8443]
PORT_LISTS = ["[443]", "[80, 443]", "[8000-8999]", "[22]", "[53/udp, 443]",
              "[1-65535, 1-65535/udp]"]
METHODS = ["GET", "POST", "PUT", "DELETE"]
PATHS = ["/", "/v1/", "/v1/x", "/y", "/v1/%79"]


# Denials of requests to addresses: where networks are granted as such, where
# they have rules, and where names lead there.
WRITTEN = ["""\
allow: [11.1.0.0/16, "2a0e:1::/32", a.test, {dest: "*.a.test", ports: [443]}]
deny:
  - {dest: 11.1.2.0/24, http: [{methods: [POST, DELETE]}, {paths: [/y]}]}
  - https://[2a0e:1::7]/v1/
""", """\
allow:
  - {dest: 11.1.0.0/16, http: [{methods: [GET, PUT]}]}
  - {dest: "2a0e:1::/32", http: [{paths: [/v1/]}]}
  - {dest: "**.test", http: [{methods: [GET, POST]}]}
deny:
  - http://11.1.2.3/v1/
  - {dest: 11.1.2.3, ports: [443, 8443], http: [{paths: [/v1/x]}]}
  - {dest: "2a0e:1::/32", http: [{methods: [GET]}]}
""", """\
allow: ["*", {dest: "**.test", private: true}, 10.1.0.0/16]
deny:
  - {dest: 11.0.0.0/9, ports: [80, 8000-8999], http: [{methods: [PUT]}]}
  - {dest: 10.1.0.0/16, http: [{paths: [/v1/]}]}
  - {dest: "2a0e:1::/32", http: [{methods: [GET], paths: [/]}]}
"""]


# --- policies ---------------------------------------------------------------

def rules(rng):
    some = [{"methods": rng.sample(METHODS, rng.randint(1, 2)),
             "paths": rng.sample(PATHS[:4], rng.randint(1, 2))}
            for _ in range(rng.randint(1, 2))]
    for one in some:
        if rng.random() < 0.5:
            one.pop(rng.choice(["methods", "paths"]))
    return json.dumps(some)


def entry(rng, dest, http, private=False):
    out = ["  - dest: '%s'" % dest]
    ports = rng.choice(PORT_LISTS) if rng.random() < 0.6 else None
    if http:
        ports = rng.choice(PORT_LISTS[:3]) if ports else None
        out.append("    http: " + rules(rng))
    if ports:
        out.append("    ports: " + ports)
    if private:
        out.append("    private: true")
    return out


def allowed(rng):
    kind = rng.random()
    if kind < 0.4:
        return entry(rng, rng.choice(NETS), False)
    if kind < 0.5:
        return entry(rng, rng.choice(NETS), True)
    if kind < 0.6:
        return ["  - '%s://%s%s'" % (rng.choice(["http", "https"]),
                                     rng.choice(NAMES + PATTERNS),
                                     rng.choice(["/", ":8443/v1/"]))]
    if kind < 0.7:
        return entry(rng, "*", rng.random() < 0.3, rng.random() < 0.3)
    out = entry(rng, rng.choice(NAMES + PATTERNS), rng.random() < 0.4,
                rng.random() < 0.3)
    return out + ["    tls: inspect"] * (rng.random() < 0.1)


def denied(rng):
    kind = rng.random()
    if kind < 0.2:
        return ["  - '%s://%s%s'" % (rng.choice(["http", "https"]),
                                     rng.choice(NAMES + PATTERNS),
                                     rng.choice(["/v1/", ":8443/", "/y"]))]
    if kind < 0.3:
        return entry(rng, "*", True)
    if kind < 0.4:
        return entry(rng, rng.choice(NETS[:-1]), False)
    if kind < 0.55:
        return entry(rng, rng.choice(NETS), True)
    if kind < 0.6:
        addr = rng.choice(ADDRS)
        return ["  - '%s://%s%s'" % (rng.choice(["http", "https"]),
                                     "[%s]" % addr if ":" in addr else addr,
                                     rng.choice(["/v1/", ":8443/", "/y"]))]
    return entry(rng, rng.choice(NAMES + PATTERNS), rng.random() < 0.35)


def generated(rng):
    lines = ["allow:"]
    for _ in range(rng.randint(1, 5)):
        lines += allowed(rng)
    # What this is about, mostly: a denial over a network.
    if rng.random() < 0.6:
        lines += entry(rng, rng.choice(NETS), False)
    count = rng.randint(0, 3)
    lines.append("deny:" if count else "deny: []")
    for _ in range(count):
        lines += denied(rng)
    return "\n".join(lines) + "\n"


# --- requests ---------------------------------------------------------------

def at(addr, port):
    return ("[%s]:%d" if ":" in addr else "%s:%d") % (addr, port)


def asked(rng, pairs):
    """A request's text."""
    kind, port = rng.random(), rng.choice(PORTS)
    name, addr = rng.choice(NAMES), rng.choice(ADDRS)
    if kind < 0.15:
        return "%s %s" % (rng.choice(["tcp", "tcp", "udp"]), at(addr, port))
    if kind < 0.3:
        return "%s %s" % (rng.choice(["tcp", "tcp", "udp"]), at(name, port))
    scheme = "https" if port != 80 and rng.random() < 0.7 else "http"
    method, path = rng.choice(METHODS), rng.choice(PATHS)
    if kind < 0.6:
        name, addr = rng.choice(pairs)
        if kind < 0.4:
            return "tcp %s %s" % (at(addr, port), name)
        return "%s %s://%s%s at %s%s" % (
            method, scheme, at(name, port), path, addr,
            rng.choice(["", " unresolved"]))
    if kind < 0.65:
        return "resolve %s" % name
    where = name if kind < 0.85 else addr
    return "%s %s://%s%s" % (method, scheme, at(where, port), path)


def decided(folder, policy, texts):
    """[Request] as explain decides them; None: the policy is refused."""
    (folder / ".membrane.yaml").write_text(witness_live.HEAD + policy)
    done = subprocess.run(
        [gate.MEMBRANE, "explain", "--no-global-config", "--json", "-"],
        cwd=folder, input="".join(t + "\n" for t in texts), text=True,
        capture_output=True,
        env={**os.environ, "MEMBRANE_HOME": str(folder / "home")})
    if not done.stdout:
        return None
    out = []
    for x in json.loads(done.stdout)["requests"]:
        said = {"allow": x["verdict"] == "allow", "reason": x["reason"]}
        out.append(witness_live.Request(
            {"witness": x["request"], "kind": "", "was": said, "is": said}))
    return out


def chosen(rng, requests):
    """Most of what is possible is refused: half and half."""
    rng.shuffle(requests)
    some = [r for r in requests if r.is_][:REQUESTS // 2]
    return some + [r for r in requests if not r.is_][:REQUESTS - len(some)]


def gather(count, seed):
    rng, out = random.Random(seed), []
    with tempfile.TemporaryDirectory() as tmp:
        while len(out) < count:
            pairs = [(rng.choice(NAMES), rng.choice(ADDRS)) for _ in range(3)]
            policy = WRITTEN[len(out)] if len(out) < len(WRITTEN) \
                else generated(rng)
            texts = sorted({asked(rng, pairs) for _ in range(5 * REQUESTS)})
            requests = decided(pathlib.Path(tmp), policy, texts)
            if requests:
                out.append((policy, chosen(rng, requests)))
    return out


# --- QUIC ------------------------------------------------------------------

QUIC_POLICY = """\
allow:
  - dest: 11.1.0.0/16
    ports: [443/udp, 444/udp]
  - dest: 2a0e:1::/32
    ports: [443/udp]
deny:
  - dest: evil.test
    ports: [443/udp]
"""
# address, port, what is said one after the other; does the last come through?
DATAGRAMS = [
    ("11.1.2.3", 443, [b"hello"], True),
    ("11.1.2.3", 443, [b"\xc3\0\0\0\1" + bytes(1195)], False),
    ("11.1.2.3", 443, [b"\xd3\x6b\x33\x43\xcf" + bytes(1195)], False),
    ("11.1.2.3", 443, [b"hello", b"\xc3\0\0\0\1" + bytes(1195)], False),
    ("2a0e:1::7", 443, [b"\xe3\xff\0\0\x1d" + bytes(1195)], False),
    ("2a0e:1::7", 443, [b"hello"], True),
    ("11.1.2.3", 444, [b"\xc3\0\0\0\1" + bytes(1195)], True),
    ("11.1.2.3", 443, [b"\x43\0\0\0\1" + bytes(20)], True),
]
# How clients of QUIC begin, whatever the version: none comes through, after
# other datagrams either.
NUMBER = b"\x08" + bytes(range(8))
QUIC = [first + version + NUMBER + bytes(1200) for first, version in (
    (b"\xc3", b"\0\0\0\1"), (b"\xd3", b"\x6b\x33\x43\xcf"),
    (b"\xc3", b"\xab\xcd\0\0"), (b"\xc3", b"\x70\x9a\x50\xc4"),
    (b"\xe3", b"\xff\1\0\7"), (b"\xe3", b"\xff\0\0\x1d"),
    (b"\xf0", b"\x1a\x2a\x3a\x4a"), (b"\xff", b"\x12\x34\x56\x78"),
    (b"\xc3", b"Q050"), (b"\xc3", b"T051"), (b"\xc0", b"\xfa\xce\xb0\2"),
    (b"\xc0", bytes(4)), (b"\x83", b"\0\0\0\1"),
    (b"\x93", b"\x6b\x33\x43\xcf"))]
QUIC += [b"\xc3\x12\x34\x56\x78" + bytes(1195), b"\xc3Q046\x50" + bytes(1100),
         b"\xc3\xfe\xdc\xba\x98" + NUMBER + bytes(20)]
QUIC += [bytes([flags]) + bytes(range(8)) + version + b"\1" + bytes(1100)
         for flags in (0x09, 0x0d, 0x19, 0x29, 0x3d)
         for version in (b"Q043", b"Q039", b"Q025")]
# How others do, on the same port: all come through.
OTHERS = {
    "DNS": gate.question("a.test", gate.A, 0xc305),
    "DNS, its number all ones": gate.question("a.test", gate.A, 0xffff, edns=1232),
    "DNS of a resolver": gate.question("a.test", gate.A, 0xe0ff, flags=0),
    "DNS, low": gate.question("a.test", gate.A, 0x0951),
    "NTP": b"\x23\0\6\xec" + bytes(44),
    "NTP of a clock not set": b"\xe3\0\6\xec\0\1\0\0\0\1" + bytes(38),
    "NTP 3": b"\x1b\2\6\xec" + bytes(44),
    "STUN": b"\0\1\0\0\x21\x12\xa4\x42" + bytes(12),
    "TURN": b"\x40\0\4\xb0" + bytes(1200),
    "ZRTP": b"\x10\0\0\1ZRTP" + bytes(40),
    "DTLS": b"\x16\xfe\xfd" + bytes(8) + b"\4\xb0\1" + bytes(1200),
    "DTLS, data": b"\x17\xfe\xfd" + bytes(8) + b"\4\xb0" + bytes(1200),
    "DTLS with numbers": b"\x19\xfe\xfd" + bytes(8) + b"\4\xb0" + bytes(1200),
    "DTLS 1.3": b"\x2d" + bytes(range(8)) + bytes(1200),
    "RTP, PCMU": b"\x80\0\x12\x34\0\0\1\0" + bytes(164),
    "RTP, Opus": b"\x80\x6f\x33\x43\1\0\1\0" + bytes(80),
    "RTP, video": b"\x90\xe0\x43\xcf\x12\0\1\0" + bytes(1192),
    "RTCP": b"\x81\xc9\0\7" + bytes(28),
    **{"WireGuard %d" % kind: bytes([kind, 0, 0, 0]) + bytes(144)
       for kind in (1, 2, 3, 4)},
    "OpenVPN": b"\x38" + bytes(range(8)) + bytes(5),
    "OpenVPN, data": b"\x48\0\0\1" + bytes(1300),
    "SIP": b"INVITE sip:Q043@a.test SIP/2.0\r\n" + b"x" * 1200,
    "SIP, about": b"INFO sip:Q043@a.test SIP/2.0\r\n" + b"x" * 1200,
    "syslog": b"<34>1 2026-11-22T00:00:00Z a b - - - c",
    "SNMP": b"\x30\x29\2\1\0\4\6public" + bytes(30),
    "CoAP": b"\x44\1\x30\x39\0\1\2\3" + bytes(8),
    "L2TP": b"\xc8\2\0\x44\0\0\0\0" + bytes(60),
    "QUIC, later on": b"\x43" + bytes(range(20)) + bytes(1200),
    "one byte": b"\xc3",
}


# The same where a name leads to an address at which requests are denied.
QUIC_NAMED_POLICY = """\
allow:
  - {dest: a.test, ports: [443/udp, 444/udp]}
deny:
  - {dest: 11.1.2.0/24, ports: [443], http: [{methods: [DELETE]}]}
"""
NAMED_DATAGRAMS = [
    ("11.1.2.3", 443, b"hello", True),
    ("11.1.2.3", 443, b"\xc3\0\0\0\1" + bytes(1195), False),
    ("11.1.2.3", 444, b"\xc3\0\0\0\1" + bytes(1195), True),
    ("11.1.9.9", 443, b"\xc3\0\0\0\1" + bytes(1195), True),
]


# And where requests to a name are, which leads to an address that others share:
# whoever asks for those, and on that port alone.
QUIC_GUARDED_POLICY = """\
allow:
  - {dest: a.test, ports: [443/udp, 444/udp]}
  - {dest: b.test, ports: [443/udp]}
  - {dest: c.test, ports: [443/udp]}
deny:
  - https://a.test/x
"""
GUARDED = {"a.test": "11.1.2.3", "b.test": "11.1.2.3", "c.test": "11.1.9.9"}
# The name that was asked for, and as above.
GUARDED_DATAGRAMS = [
    ("a.test", 443, b"hello", True),
    ("a.test", 443, b"\xc3\0\0\0\1" + bytes(1195), False),
    ("a.test", 444, b"\xc3\0\0\0\1" + bytes(1195), True),
    ("b.test", 443, b"\xc3\0\0\0\1" + bytes(1195), False),
    ("c.test", 443, b"\xc3\0\0\0\1" + bytes(1195), True),
]


def datagrams(addr, port, said):
    def fn():
        family = socket.AF_INET6 if ":" in addr else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as s:
            s.settimeout(2)
            got = b""
            try:
                s.connect((addr, port))
                for one in said:
                    s.send(one)
                    got = s.recv(100)
            except OSError as e:
                return [False, str(e)]
            return [got == b"banner", ""]
    return fn


def all_said(addr, port, messages):
    """Each from a socket of its own: a refusal may be silent, and waited for."""
    def fn():
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            return list(pool.map(lambda m: datagrams(addr, port, [m])(),
                                 messages))
    return fn


def check_quic(world):
    with gate.compiled(witness_live.HEAD + QUIC_POLICY,
                       stderr=subprocess.DEVNULL) as plan, \
            l7_live.Gate(world, plan, {}) as g:
        check(g.first.get("event") == "ready", "ready", g.first)
        for addr, port, said, through in DATAGRAMS:
            got = g.agent(datagrams(addr, port, said))
            check(got[0] == through, "a datagram", addr, port, said[-1][:8],
                  got)
        for addr in ("11.1.2.3", "2a0e:1::7"):
            check(g.decided(verdict="deny", reason="quic", addr=addr),
                  "a record of it", addr)
            got = g.agent(all_said(addr, 443, QUIC))
            for said, (through, why) in zip(QUIC, got):
                check(not through, "QUIC", addr, said[:16], why)
            got = g.agent(all_said(addr, 443, OTHERS.values()))
            for what, (through, why) in zip(OTHERS, got):
                check(through, what, addr, why)


def check_quic_named(world):
    with gate.compiled(witness_live.HEAD + QUIC_NAMED_POLICY,
                       stderr=subprocess.DEVNULL) as plan:
        for addr, port, said, through in NAMED_DATAGRAMS:
            (world.certs / witness_live.ELSEWHERE).write_text(
                json.dumps({"a.test": addr}))
            with l7_live.Gate(world, plan, {}) as g:
                check(g.first.get("event") == "ready", "ready", g.first)
                g.agent(gate.ask("a.test", gate.A))
                got = g.agent(datagrams(addr, port, [said]))
                check(got[0] == through, "a datagram to where a name leads",
                      addr, port, said[:8], got)
    (world.certs / witness_live.ELSEWHERE).write_text("{}")


def check_quic_guarded(world):
    (world.certs / witness_live.ELSEWHERE).write_text(
        json.dumps(GUARDED))
    with gate.compiled(witness_live.HEAD + QUIC_GUARDED_POLICY,
                       stderr=subprocess.DEVNULL) as plan:
        for name, port, said, through in GUARDED_DATAGRAMS:
            addr = GUARDED[name]
            with l7_live.Gate(world, plan, {}) as g:
                check(g.first.get("event") == "ready", "ready", g.first)
                g.agent(gate.ask(name, gate.A))
                got = g.agent(datagrams(addr, port, [said]))
                check(got[0] == through, "a datagram to where requests are "
                      "denied by name", name, port, said[:8], got)
                check(through or g.decided(verdict="deny", reason="quic",
                                           addr=addr), "a record of it")
    (world.certs / witness_live.ELSEWHERE).write_text("{}")


# --- ports that HAProxy has, too ---------------------------------------------

PORTS_POLICY = """\
allow: [11.1.0.0/16, "2a0e:1::/32"]
deny: [evil.test]
"""


def spoken(addr, port):
    def fn():
        try:
            with socket.create_connection((addr, port), 5) as s:
                s.sendall(b"hello\n")
                return s.recv(64).decode("latin-1")
        except OSError as e:
            return str(e)
    return fn


def check_ports_of_ours(world):
    with gate.compiled(witness_live.HEAD + PORTS_POLICY,
                       stderr=subprocess.DEVNULL) as plan, \
            l7_live.Gate(world, plan, {}) as g:
        check(g.first.get("event") == "ready", "ready", g.first)
        for port in (15001, 15002, 15003):
            for addr in ("11.1.2.3", "2a0e:1::7"):
                got = g.agent(spoken(addr, port))
                check(got == "banner", "a port like one of ours", addr, port,
                      got)
            for addr in ("192.0.0.1", "fd00:6d65:6d62::1", "11.9.0.1",
                         "2a0e:9::1"):
                got = g.agent(spoken(addr, port))
                check("refused" in got, "and nothing besides", addr, port, got)


# --- the test ---------------------------------------------------------------

def main():
    if gate.lacking(gate.MEMBRANE):
        return 77
    args = [int(a) for a in sys.argv[1:]]
    policies = gather(*(args + [POLICIES, SEED][len(args):]))
    allow = deny = stated = 0
    names = {r.name for _, rs in policies for r in rs}
    with witness_live.names_exist(names) as world:
        check_quic(world)
        check_quic_named(world)
        check_quic_guarded(world)
        check_ports_of_ours(world)
        for policy, requests in policies:
            got = witness_live.verdicts(world, policy, requests)
            for r in requests:
                witness_live.judge(r, r.is_, r.why[1], got.get(r.text),
                                   policy)
                allow += r.is_
                deny += not r.is_
                stated += r.states_name()
    check(min(allow, deny) > len(policies), "enough of both", allow, deny)
    print("%d policies, %d requests permitted and %d refused, in %d of them a "
          "name stated at an address" % (len(policies), allow, deny, stated))
    return gate.end()


if __name__ == "__main__":
    sys.exit(main())
