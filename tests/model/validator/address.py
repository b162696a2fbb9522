"""Networks, and the table of scopes: doc/semantics.md, section 3, S-1 to S-9."""
import collections
import ipaddress

from .logic import either, within

WIDTH = {4: 32, 6: 128}


class Net(collections.namedtuple("Net", "family lo bits")):
    """A network; a bare address is /32 or /128 (D-5)."""

    @property
    def hi(self):
        return self.lo | (1 << WIDTH[self.family] - self.bits) - 1

    def has(self, family, address):
        return family == self.family and within(address, self.lo, self.hi)

    def inside(self, other):
        return (self.family == other.family and self.bits >= other.bits and
                other.lo <= self.lo <= other.hi)

    def __str__(self):
        return "%s/%d" % (ipaddress.ip_address(
            self.lo.to_bytes(WIDTH[self.family] // 8, "big")), self.bits)


def net(text):
    found = ipaddress.ip_network(text)
    return Net(found.version, int(found.network_address), found.prefixlen)


def number(text):
    """The family of an address, and it as a number."""
    found = ipaddress.ip_address(text)
    return found.version, int(found)


def shown(family, value):
    return str(ipaddress.ip_address(value.to_bytes(WIDTH[family] // 8, "big")))


def some(nets, family, address):
    """Is it in one of them?"""
    return either(*(n.has(family, address) for n in nets))


# S-6: where a form of IPv6 has the address of IPv4 that it wraps.
WRAPPED = (("64:ff9b::/96", 0), ("2002::/16", 80), ("::/96", 0),
           ("::ffff:0:0:0/96", 0))


def wrapping(nets):
    """Networks of IPv4, and the forms of IPv6 that wrap them."""
    out = list(nets)
    for text, shift in WRAPPED:
        outer = net(text)
        out += [Net(6, outer.lo | n.lo << shift, outer.bits + n.bits)
                for n in nets if n.family == 4]
    return out


PRIVATE = wrapping([net(n) for n in """
    10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 192.0.0.0/24
    198.18.0.0/15 fc00::/7 fec0::/10 2001:2::/48 5f00::/16""".split()])
FLOOR = wrapping([net(n) for n in """
    0.0.0.0/8 127.0.0.0/8 169.254.0.0/16 192.0.0.0/29 fd00:6d65:6d62::/64
    224.0.0.0/4 240.0.0.0/4 ::/128 ::1/128 ::ffff:0:0/96 fe80::/10 ff00::/8
    2001::/32 64:ff9b:1::/48""".split()])

# H-1 and H-4: who is on the gate's link. U-2: what stands in for names.
MACHINE = number("192.0.0.5")
GATE = {4: number("192.0.0.1")[1], 6: number("fd00:6d65:6d62::1")[1]}
AGENT = {4: number("192.0.0.2")[1], 6: number("fd00:6d65:6d62::2")[1]}
STANDINS = [net(n) for n in
            ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")]
