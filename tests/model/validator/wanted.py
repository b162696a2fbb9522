"""What a policy wants of a packet and of an answer: doc/semantics.md.

Everything is a condition over what a View has: the address and port that are
called, and which names led there. A denial that speaks of requests is none of
the packet filter's, and so none of this module's, but for QUIC.
"""
import collections
import functools

from . import address
from .destination import MACHINE_NAMES, TCP, UDP, matches
from .logic import both, either, first_of, no, within

# what: "resolver", "passes", "machine", "http", "asked", "refused";
# reasons: those of a refusal, of which the artefact gives one (J-3)
Want = collections.namedtuple("Want", "what reasons")
FLOOR = address.FLOOR
REASONS = ("floor", "host-address", "denied", "no-grant")


class View:
    """One family and protocol; at and port are numbers or bit vectors.
    ties: {name: condition that it led to the address, and opens there}."""

    def __init__(self, family, proto, at, port, ties, is_host, quic):
        self.family, self.proto, self.at, self.port = family, proto, at, port
        self.ties, self.is_host, self.quic = ties, is_host, quic

    @functools.cached_property
    def private(self):
        return address.some(address.PRIVATE, self.family, self.at)

    @functools.cached_property
    def floor(self):
        return address.some(FLOOR, self.family, self.at)

    def on(self, ports):
        return either(*(within(self.port, lo, hi)
                        for proto, lo, hi in ports if proto == self.proto))

    def in_net(self, net):
        return net.has(self.family, self.at)

    def machine(self):
        return self.family == 4 and self.in_net(
            address.Net(4, address.MACHINE[1], 32))


# --- names -----------------------------------------------------------------

def speaks_of(rule, name):
    """Of a name: D-2 to D-4, D-7, D-8; H-5."""
    if rule.dest.kind == "machine":
        return name in MACHINE_NAMES
    return rule.dest.kind == "any" or (
        rule.dest.kind == "name" and matches(rule.dest.name, name))


def denied_whole(rule):
    """R-11, R-12, R-15: on each port, however its ranges are cut."""
    return not rule.http and rule.dest.kind in ("name", "machine") and all(
        has_all([r for r in rule.ports if r[0] == proto])
        for proto in (TCP, UDP))


def has_all(ranges):
    """Each port from 1 on?"""
    up_to = 0
    for _, lo, hi in sorted(ranges):
        if lo > up_to + 1:
            return False
        up_to = max(up_to, hi)
    return up_to == 65535


def question(policy, name):
    """What becomes of a question for a name, and the rule that says so."""
    for rule in policy.deny:
        if denied_whole(rule) and speaks_of(rule, name):
            return "denied", rule
    for rule in policy.allow:
        if speaks_of(rule, name):
            return "answered", rule
    for rule in policy.ask:                                # A-8, H-5
        if speaks_of(rule, name) and name not in MACHINE_NAMES:
            return "asked", rule
    return "unknown", None


def is_direct(policy, name):
    """U-14"""
    return any(r.dest.kind == "name" and matches(r.dest.name, name)
               for r in policy.direct)


def stands_in(policy, name):
    """U-2, A-8: has it an address that stands for it, before anybody asks?"""
    return (policy.proxied and not is_direct(policy, name)) or (
        question(policy, name)[0] == "asked")


# --- answers ---------------------------------------------------------------

def more_specific(rule, view):
    """S-8: a network, without rules, longer than each of the floor's there."""
    if rule.dest.kind != "net" or rule.http:
        return False
    net = rule.dest.net
    return both(view.in_net(net), *(
        no(view.in_net(f)) for f in FLOOR
        if f.bits >= net.bits and f.inside(net)))


def opened(policy, view):
    return both(view.floor, either(*(
        more_specific(r, view) for r in policy.allow)))


def may_private(policy, name):
    """S-2, D-21; A-6: what a person may permit is as a grant there."""
    return any(r.private and speaks_of(r, name)
               for r in policy.allow + policy.ask)


def keeps(policy, name, view):
    """S-1 to S-5 and H-6: {what becomes of the address in an answer}."""
    open_floor = opened(policy, view)
    covered = either(*(view.in_net(r.dest.net) for r in policy.allow
                       if r.dest.kind == "net" and not r.http))
    machine, private = view.machine(), may_private(policy, name)
    dropped = either(machine, both(view.floor, no(open_floor)))
    if policy.proxied and is_direct(policy, name):         # U-14
        dropped = either(dropped, address.some(
            address.STANDINS, view.family, view.at))
    rest = both(no(dropped), no(open_floor))
    return {
        "floor": dropped,
        "covered": both(no(dropped), either(open_floor, both(
            view.private, not private, covered))),
        "private": both(rest, view.private, not private, no(covered)),
        "open": both(rest, either(no(view.private), private)),
    }


# --- packets ---------------------------------------------------------------

def of_names(rule, view):
    """By a name that led there; S-3: to a private address those alone that say
    so."""
    led = either(*(t for name, t in view.ties.items()
                   if speaks_of(rule, name)))
    return led if rule.private else both(led, no(view.private))


def of_address(rule, view):
    """By the address: D-5, D-8, H-2; S-8 and S-9."""
    if rule.dest.kind == "machine":
        return view.machine()
    if rule.dest.kind == "any":
        return both(no(view.floor), no(view.private))
    if rule.dest.kind == "net":
        return both(view.in_net(rule.dest.net), either(
            no(view.floor), more_specific(rule, view)))
    return False


def opens(rule, view):
    """A grant, or an entry of `ask`, on its ports (D-12 to D-14)."""
    ports = view.on(rule.ports)
    if ports is False:
        return False
    return both(ports, either(of_address(rule, view), of_names(rule, view)))


def closes(rule, view):
    """A denial of an address, whatever is sent there; S-7: of what is written,
    and not of what wraps it."""
    if rule.http or rule.dest.kind == "name":
        return False
    if rule.dest.kind == "any":
        where = rule.dest.ports is not None                # L-7, D-25
    elif rule.dest.kind == "machine":
        where = view.machine()
    else:
        where = view.in_net(rule.dest.net)
    return both(where, view.on(rule.ports))


def named(rule, view):
    """A denial of a name on some ports, which led there: N-17, N-20."""
    if rule.http or rule.dest.kind != "name" or denied_whole(rule):
        return False
    return both(view.on(rule.ports), either(*(
        t for n, t in view.ties.items() if matches(rule.dest.name, n))))


def hidden_by(rule, view):
    """Where a denial hides something that QUIC could be for, whoever granted
    it: N-12, N-13, N-21. None: nowhere, nor to networks."""
    if rule.http and rule.dest.kind == "net":
        return view.in_net(rule.dest.net)
    if rule.dest.kind != "name" and not rule.http:
        return None
    if denied_whole(rule):
        return False
    return either(*(t for n, t in view.ties.items() if speaks_of(rule, n)))


def hides(policy, view):
    """N-12, N-13: could QUIC be for a name or request that is denied there?"""
    networks = either(*(both(of_address(r, view), view.on(r.ports))
                        for r in policy.allow))
    parts = []
    for rule in policy.deny:
        where = hidden_by(rule, view)
        if where is not None:
            number = either(*(within(view.port, lo, hi)
                              for _, lo, hi in rule.ports))
            parts.append(both(number, either(where, networks)))
    return both(view.quic, either(*parts))


def wants(policy, view):
    """[(condition, (Want, rule))], apart. J-2: floor, `deny`, grants, `ask`,
    and what nothing grants."""
    gate = address.GATE[view.family]
    rules = [(both(within(view.at, gate, gate), within(view.port, 53, 53)),
              (Want("resolver", ()), None))]
    closed = either(*(closes(r, view) for r in policy.deny))
    open_floor = either(opened(policy, view), both(
        view.machine(), any(r.dest.kind == "machine" for r in policy.allow)))
    floor = both(view.floor, no(open_floor))
    rules += [
        # D-9: no rule speaks of port 0
        (within(view.port, 0, 0), (refused(*REASONS), None)),
        (view.is_host, (refused("host-address"), None)),   # S: the host's own
        (both(floor, closed), (refused("floor", "denied"), None)),
        (floor, (refused("floor"), None))]
    rules += [(closes(r, view), (refused("denied"), r)) for r in policy.deny]
    if view.proto == TCP:
        rules += tcp(policy, view)
    else:
        rules += udp(policy, view)
    rules.append((True, (refused("no-grant"), None)))      # L-6
    return first_of(rules)


def refused(*reasons):
    return Want("refused", reasons)


def tcp(policy, view):
    for rule in policy.deny:                               # N-17
        yield named(rule, view), (Want("http", ()), rule)
    for http in False, True:                               # D-15, D-28, L-9
        for rule in policy.allow:
            if rule.http == http:
                what = "http" if http else (
                    "machine" if rule.dest.kind == "machine" else "passes")
                yield opens(rule, view), (Want(what, ()), rule)
    for rule in policy.ask:
        yield opens(rule, view), (Want("asked", ()), rule)


def udp(policy, view):
    for rule in policy.deny:                               # N-20
        yield named(rule, view), (refused("denied"), rule)
    hidden = hides(policy, view)
    for rule in policy.allow:
        if any(p == UDP for p, _, _ in rule.ports):        # D-14
            yield both(opens(rule, view), hidden), (refused("quic"), rule)
            yield opens(rule, view), (Want("passes", ()), rule)
