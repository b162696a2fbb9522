"""The names of the fake internet, and a resolver that answers for them.

ZONE is the table: what a name holds, and how the server misbehaves for it.
A name that is not in it exists all the same, with an address of its own in
12.0.0.0/8 and 2a0e:12::/32, except under .invalid.

    A AAAA CNAME TXT MX SRV   the records; lists of texts
    HTTPS       an alias-form record of priority 1 with ALPN and ECH
    rcode       answer with this and nothing else
    delay       seconds before the answer
    drop        no answer at all
    truncated   over UDP: TC and no records; over TCP all of them
    wrong_id    first a forged answer (11.66.0.1) with an id one too high
    wrong_name  first a forged answer to another question
    upper       owner names come back in upper case
    extra       an unrelated A record for this name in the answer section
    ttl         default 300
    rotate      another address at each query, 11.9.0.0/16
"""
import hashlib
import ipaddress
import itertools
import socket
import struct

A, NS, CNAME, SOA, NULL, PTR, MX, TXT, AAAA, SRV, HTTPS, ANY = (
    1, 2, 5, 6, 10, 12, 15, 16, 28, 33, 65, 255)
TYPES = {A: "A", NS: "NS", CNAME: "CNAME", SOA: "SOA", NULL: "NULL",
         PTR: "PTR", MX: "MX", TXT: "TXT", AAAA: "AAAA", SRV: "SRV",
         HTTPS: "HTTPS", ANY: "ANY"}
FORGED = "11.66.0.1"

ZONE = {
    # plain servers
    "site.test": {"A": ["11.0.1.1"], "AAAA": ["2a0e:11::1:1"],
                  "TXT": ["v=site"], "MX": ["mail.site.test"],
                  "SRV": ["sip.site.test"], "HTTPS": True},
    "other.test": {"A": ["11.0.2.1"], "AAAA": ["2a0e:11::2:1"]},
    "ungranted.test": {"A": ["11.0.3.1"], "AAAA": ["2a0e:11::3:1"]},
    # same address as site.test: a shared server
    "neighbour.test": {"A": ["11.0.1.1"]},
    "auth.test": {"A": ["11.0.2.9"]},
    "wild.test": {"A": ["11.0.4.1"]},
    "*.wild.test": {"A": ["11.0.4.2"], "TXT": ["wild"]},
    "*.deep.wild.test": {"A": ["11.0.4.3"]},
    "*.tunnel.test": {"A": ["11.0.4.4"], "TXT": ["command"]},
    "six.test": {"AAAA": ["2a0e:11::6:1"]},
    # chains
    "chain.test": {"CNAME": ["one.cdn.test"]},
    "one.cdn.test": {"CNAME": ["two.cdn.test"]},
    "two.cdn.test": {"A": ["11.0.5.1"], "AAAA": ["2a0e:11::5:1"]},
    "loop.test": {"CNAME": ["pool.test"]},
    "pool.test": {"CNAME": ["loop.test"]},
    # servers that answer badly
    "truncated.test": {"A": ["11.0.6.1"], "truncated": True},
    "wrongid.test": {"A": ["11.0.6.2"], "wrong_id": True},
    "wrongname.test": {"A": ["11.0.6.3"], "wrong_name": True},
    "upper.test": {"A": ["11.0.6.4"], "upper": True},
    "slow.test": {"A": ["11.0.6.5"], "delay": 1.2},
    "dead.test": {"drop": True},
    "broken.test": {"rcode": 2},
    "absent.test": {"rcode": 3},
    "extra.test": {"A": ["11.0.6.6"], "extra": "victim.test"},
    "zero.test": {"A": ["11.0.6.7"], "ttl": 0},
    "rotate.test": {"rotate": True, "ttl": 1},
    "many.test": {"A": ["11.0.7.%d" % i for i in range(1, 61)]},
    # answers that no name may give
    "private.test": {"A": ["10.1.2.3"]},
    "private172.test": {"A": ["172.20.0.9"]},
    "private192.test": {"A": ["192.168.7.7"]},
    "cgnat.test": {"A": ["100.64.1.1"]},
    "mixed.test": {"A": ["10.1.2.3", "11.0.8.1"]},
    "metadata.test": {"A": ["169.254.169.254"]},
    "loopback.test": {"A": ["127.0.0.1"], "AAAA": ["::1"]},
    "zeroes.test": {"A": ["0.0.0.0"], "AAAA": ["::"]},
    "dockerhost.test": {"A": ["172.17.0.1"]},
    "uplink.test": {"A": ["198.18.0.1"]},
    "machine.test": {"A": ["192.0.0.5"]},
    "unique.test": {"AAAA": ["fd00::1"]},
    "linklocal.test": {"AAAA": ["fe80::1"]},
    "mapped.test": {"AAAA": ["::ffff:10.1.2.3"]},
    "wrapped.test": {"AAAA": ["64:ff9b::a01:203"]},
    "sixtofour.test": {"AAAA": ["2002:a01:203::1"]},
    # real clients
    "git.test": {"A": ["11.0.9.1"], "AAAA": ["2a0e:11::9:1"]},
    "registry.npmjs.org": {"A": ["11.0.9.2"], "AAAA": ["2a0e:11::9:2"]},
    # web servers, see origin.py
    "raw.test": {"A": ["11.0.20.1"]},
    "h2.test": {"A": ["11.0.20.3"]},
    "*.h2.test": {"A": ["11.0.20.3"]},
    "api.test": {"A": ["11.0.20.4"], "AAAA": ["2a0e:11::20:4"],
                 "HTTPS": True},
    "api2.test": {"A": ["11.0.20.4"]},
    "selfsigned.test": {"A": ["11.0.20.5"]},
    "expired.test": {"A": ["11.0.20.6"]},
    "badname.test": {"A": ["11.0.20.7"]},
    "api.anthropic.com": {"A": ["11.0.20.8"]},
    "api.openai.com": {"A": ["11.0.20.9"]},
    "bench.test": {"A": ["11.0.30.1"]},
    "proxy.corp.test": {"A": ["11.0.40.1"]},
    "loopback.corp.test": {"A": ["127.0.0.1"]},
}
rotation = itertools.count(1)


def find(name):
    """The entry of a name: its own, the wildcard's, or a made-up one."""
    if name in ZONE:
        return ZONE[name]
    labels = name.split(".")
    for i in range(1, len(labels)):
        entry = ZONE.get(".".join(["*"] + labels[i:]))
        if entry:
            return entry
    if labels[-1] == "invalid":
        return {"rcode": 3}
    h = hashlib.sha256(name.encode()).digest()
    return {"A": ["12.%d.%d.%d" % (h[0], h[1], h[2] | 1)],
            "AAAA": ["2a0e:12::%x:%x" % (h[0] << 8 | h[1], h[2] | 1)]}


def put_name(name):
    return b"".join(bytes([len(x)]) + x.encode("latin-1")
                    for x in name.split(".") if x) + b"\0"


def get_name(data, at):
    """A name of a question (never compressed there), as text, lower case."""
    labels = []
    while data[at]:
        n = data[at]
        if n > 63:
            raise ValueError("a pointer in a question")
        labels.append(data[at + 1:at + 1 + n].decode("latin-1"))
        at += 1 + n
    return ".".join(labels).lower(), at + 1


def rdata(qtype, text):
    if qtype == A:
        return socket.inet_aton(text)
    if qtype == AAAA:
        return ipaddress.IPv6Address(text).packed
    if qtype == TXT:
        return bytes([len(text)]) + text.encode()
    if qtype == MX:
        return struct.pack("!H", 10) + put_name(text)
    if qtype == SRV:
        return struct.pack("!HHH", 1, 1, 5060) + put_name(text)
    return put_name(text)


def https_rdata():
    alpn, ech = b"\x02h2", b"\x00\x08" + b"\xfe\x0d\x00\x04ECHO"
    return (struct.pack("!H", 1) + b"\0" +
            struct.pack("!HH", 1, len(alpn)) + alpn +
            struct.pack("!HH", 5, len(ech)) + ech)


def record(name, qtype, ttl, data):
    return (put_name(name) + struct.pack("!HHIH", qtype, 1, ttl, len(data)) +
            data)


def records(name, qtype):
    """The answer section for one question, as a list of wire records."""
    out = []
    for _ in range(8):
        entry = find(name)
        shown = name.upper() if entry.get("upper") else name
        ttl = entry.get("ttl", 300)
        if "CNAME" in entry:
            target = entry["CNAME"][0]
            out.append(record(shown, CNAME, ttl, put_name(target)))
            name = target
            continue
        values = entry.get(TYPES.get(qtype, ""), [])
        if entry.get("rotate") and qtype == A:
            n = next(rotation)
            values = ["11.9.%d.%d" % (n >> 8 & 255, n & 255)]
        if qtype == HTTPS:
            out += [record(shown, HTTPS, ttl, https_rdata())] if values else []
        else:
            out += [record(shown, qtype, ttl, rdata(qtype, v))
                    for v in values]
        if "extra" in entry:
            out.append(record(entry["extra"], A, ttl, rdata(A, FORGED)))
        break
    return out


def message(ident, question, answers, rcode=0, flags=0x8180):
    return struct.pack("!HHHHHH", ident, flags | rcode, 1, len(answers), 0,
                       0) + question + b"".join(answers)


def answer(query, udp):
    """(what to log, delay in seconds, messages to send) for a query."""
    ident, _, qd = struct.unpack("!HHH", query[:6])
    name, end = get_name(query, 12)
    qtype = struct.unpack("!H", query[end:end + 2])[0]
    question = query[12:end + 4]
    seen = {"name": name, "type": TYPES.get(qtype, str(qtype)), "id": ident,
            "questions": qd}
    entry = find(name)
    if entry.get("drop"):
        return seen, 0, []
    if "rcode" in entry:
        return seen, 0, [message(ident, question, [], entry["rcode"])]
    good = message(ident, question, records(name, qtype))
    if entry.get("truncated") and udp or udp and len(good) > 1232:
        return seen, 0, [message(ident, question, [], flags=0x8380)]
    forged = [record(name, A, 300, rdata(A, FORGED))]
    out = []
    if entry.get("wrong_id") and qtype == A:
        out.append(message(ident + 1 & 0xffff, question, forged))
    if entry.get("wrong_name") and qtype == A:
        other = put_name("evil.test") + struct.pack("!HH", A, 1)
        out.append(message(ident, other,
                           [record("evil.test", A, 300, rdata(A, FORGED))]))
    return seen, entry.get("delay", 0), out + [good]
