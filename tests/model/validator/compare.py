"""Is there a packet, a question or an answer on which a plan and its policy
differ? Asked of z3 for all of them at once, by family and protocol."""
import collections
import functools

import z3

from . import address, wanted
from .destination import MACHINE_NAMES, TCP, UDP
from .logic import both, either, forget, gathered, no, within
from .names import set_of
from .patterns import representatives
from .walk import Fate, fates

NUMBERS = {TCP: 6, UDP: 17}
HTTP, RAW, NETS, ASK = 15002, 15001, 15003, 15004
Difference = collections.namedtuple("Difference", "subject want got lines")
# A name that stands for all that the same rules and lines speak of.
Name = collections.namedtuple("Name", "name classes private_classes standin")


class Plan:
    """A policy, and what was compiled of it."""

    def __init__(self, policy, ruleset, names):
        self.policy, self.ruleset, self.names = policy, ruleset, names
        patterns = names.patterns()
        for rule in policy.allow + policy.deny + policy.ask + policy.direct:
            if rule.dest.kind == "name":
                patterns.append(rule.dest.name)
        self.every = representatives(patterns + list(MACHINE_NAMES))
        self.machine = any(r.dest.kind == "machine" for r in policy.allow)
        forget()


# --- questions -------------------------------------------------------------

def questions(plan):
    """R-3, R-4, R-11, R-12, A-8, U-14: each name's, one after the other."""
    for name in plan.every:
        want, rule = wanted.question(plan.policy, name)
        got, line = plan.names.question(name)
        if want != got:
            yield Difference("resolve " + name, (want, rule), got,
                             [line] if line else [])
        want = plan.policy.proxied and not wanted.is_direct(plan.policy, name)
        got = plan.names.proxied and not plan.names.passes(name)
        if want != got:
            yield Difference("the way to " + name, (way(want), None), way(got),
                             [])


def way(proxied):
    return "by the proxy" if proxied else "past a proxy"


def kinds(plan):
    """The names that lead anywhere, one of those that are alike in all that
    follows."""
    known = {}
    for name in plan.every:
        got, _ = plan.names.question(name)
        if name in MACHINE_NAMES or got not in ("answered", "asked"):
            continue
        lines = plan.names.about(name, "name", "ask", "guard")
        private = [l for l in lines if l.private or l.word == "guard"]
        one = Name(name, classes(lines), classes(private),
                   got == "asked" or (plan.names.proxied and
                                      not plan.names.passes(name)))
        alike = (one[1:], any(l.private for l in lines),
                 wanted.stands_in(plan.policy, name),
                 wanted.is_direct(plan.policy, name), tuple(
                     wanted.speaks_of(r, name) for r in
                     plan.policy.allow + plan.policy.deny + plan.policy.ask))
        known.setdefault(alike, one)
    return list(known.values())


def classes(lines):
    return frozenset(c for l in lines for c in l.classes)


# --- answers ---------------------------------------------------------------

def answers(plan, names):
    """S-1 to S-5: which addresses of an answer are kept, and how."""
    seen = set()
    for family in 4, 6:
        at = z3.BitVec("address", address.WIDTH[family])
        view = wanted.View(family, TCP, at, 0, {}, False, False)
        for one in names:
            private = private_ok(plan, one.name)
            key = (family, private, wanted.may_private(plan.policy, one.name),
                   wanted.is_direct(plan.policy, one.name))
            if key in seen or one.standin:
                continue
            seen.add(key)
            yield from answer(plan, one, view, private)


def private_ok(plan, name):
    return any(l.private for l in plan.names.about(name, "name", "ask"))


def answer(plan, one, view, private):
    want = wanted.keeps(plan.policy, one.name, view)
    got = judged(plan, one.name, view.family, view.at, private)
    differ = either(*(both(want[a], got[b]) for a in want for b in got
                      if a != b))
    model = solved([differ])
    if model is None:
        return
    value = model.eval(view.at, True).as_long()
    shown = wanted.View(view.family, TCP, value, 0, {}, False, False)
    yield Difference(
        "the answer %s for %s" % (address.shown(view.family, value), one.name),
        (only(wanted.keeps(plan.policy, one.name, shown)), None),
        only(judged(plan, one.name, view.family, value, private)),
        plan.names.about(one.name, "name"))


def judged(plan, name, family, at, private):
    got = plan.names.judged(family, at, private)
    if plan.names.proxied and plan.names.passes(name):     # U-14
        standin = address.some(address.STANDINS, family, at)
        got = {k: both(c, no(standin)) for k, c in got.items()}
        got["floor"] = either(got["floor"], standin)
    return got


def only(conditions):
    return next(k for k, c in conditions.items() if c is True)


def solved(conditions):
    """A model of all of them, or None."""
    if any(c is False for c in conditions):
        return None
    solver = z3.SolverFor("QF_BV")
    solver.add(*(c for c in conditions if c is not True))
    found = solver.check()
    if found == z3.unknown:
        raise RuntimeError("z3 does not know")
    return solver.model() if found == z3.sat else None


# --- packets ---------------------------------------------------------------

class Flow:
    """All packets of one family and protocol that the agent sends: what is
    called, what it says first, and which names led there. values: what a model
    says of these; None: nothing is known."""

    def __init__(self, plan, names, family, proto, values=None):
        self.plan, self.names = plan, names
        self.family, self.proto = family, proto
        self.at = self.number("address", address.WIDTH[family], values)
        self.port = self.number("port", 16, values)
        self.is_host = self.truth("the host's own", values)
        self.ties = {n.name: self.truth("led by " + n.name, values)
                     for n in names}
        self.sent = {k: self.number(k, w, values) for k, w in (
            ("byte", 8), ("version", 32), ("id length", 8),
            ("old version", 32), ("udp length", 16))} if proto == UDP else {}
        quic = is_quic(self.sent) if proto == UDP else False
        self.view = wanted.View(family, proto, self.at, self.port, self.ties,
                                self.is_host, quic)
        self.quic = quic
        self.cache = {}

    @functools.cached_property
    def private(self):
        return self.plan.names.private(self.family, self.at)

    def number(self, name, width, values):
        return z3.BitVec(name, width) if values is None else values[name]

    def truth(self, name, values):
        return z3.Bool(name) if values is None else values[name]

    def limits(self):
        """What can be: a name leads to what its answers may have."""
        gate = address.GATE[self.family]
        local = either(self.view.machine(), within(self.at, gate, gate))
        parts = [either(no(self.is_host), no(local))]
        by_private = {}
        standins = address.some(address.STANDINS, self.family, self.at)
        for one in self.names:
            ok = private_ok(self.plan, one.name)
            direct = self.plan.names.passes(one.name)
            if (ok, direct) not in by_private:
                by_private[ok, direct] = judged(
                    self.plan, one.name, self.family, self.at, ok)["open"]
            leads = by_private[ok, direct]
            if one.standin:
                leads = both(leads, standins)
            parts.append(either(no(self.ties[one.name]),
                                both(leads, no(self.is_host))))
        if self.proto == UDP:
            parts.append(either(self.quic, is_other(self.sent)))
        return parts

    def member(self, wanted_set, packet):
        """Is an address in a set? The gate fills in what is timed by names, the
        host's own, and pairs."""
        if wanted_set.pairs:
            return False
        key = (wanted_set.name, packet["daddr"] is self.at, packet["tied"])
        if key not in self.cache:
            self.cache[key] = self.asked(wanted_set, packet)
        return self.cache[key]

    def asked(self, a_set, packet):
        listed = either(*(within(packet["daddr"], *s) for s in a_set.spans))
        if packet["daddr"] is not self.at or a_set.family != self.family:
            return listed
        if a_set.name in ("host4", "host6"):
            return either(listed, self.is_host)
        if not a_set.timed or not packet["tied"]:
            return listed
        parts = []
        for one in self.names:
            public, private = (
                any(set_of(c, self.family) == a_set.name for c in held)
                for held in (one.classes, one.private_classes))
            parts.append(both(self.ties[one.name], either(
                both(no(self.private), public), both(self.private, private))))
        return either(listed, *parts)

    def packet(self, state="new", tied=True, socket=0):
        p = {"family": self.family, "proto": NUMBERS[self.proto],
             "daddr": self.at, "saddr": address.AGENT[self.family],
             "dport": self.port, "iifname": "agent0", "oifname": "uplink",
             "meta nfproto": self.family, "meta l4proto": NUMBERS[self.proto],
             "meta pkttype": "host", "meta mark": 0, "meta skuid": None,
             "ct state": state, "ct status": "", "ct direction": "original",
             "ip hdrlength": 5 if self.family == 4 else None,
             "ip6 hoplimit": 64 if self.family == 6 else None,
             "routing": 0, "flood": 0, "socket transparent": socket,
             "icmp type": None, "icmp code": None, "icmpv6 type": None,
             "byte": None, "version": None, "id length": None,
             "old version": None, "udp length": None,
             "member": self.member, "tied": tied, "machine": self.plan.machine}
        p.update(self.sent)
        return p

    def fates(self, **how):
        return fates(self.plan.ruleset, self.packet(**how))


def is_quic(sent):
    """What is a client's first datagram of QUIC to everybody: RFC 9000 (17.2,
    14.1, 7.2), RFC 9369, RFC 9287, and what Google had before."""
    byte, version = sent["byte"], sent["version"]
    long_form = within(byte, 0xc0, 0xff)
    return either(
        both(long_form, within(sent["udp length"], 1208, 65535)),
        both(long_form, within(sent["id length"], 8, 20)),
        both(within(byte, 0x80, 0xff), either(
            within(version, 1, 1), within(version, 0x6b3343cf, 0x6b3343cf),
            within(version, 0xff00001d, 0xff000022),
            within(version, 0x51303530, 0x51303530))),
        both(either(*(within(byte, b, b) for b in (0x09, 0x0d))),
             within(sent["old version"], 0x51303433, 0x51303436)))


def is_other(sent):
    """What is none: DTLS, WireGuard, RTP, and questions of DNS and NTP."""
    byte, version = sent["byte"], sent["version"]
    return both(either(
        both(within(byte, 0, 0x7f), *(
            no(within(byte, b, b)) for b in range(0x80) if b & 0xc9 == 9)),
        both(within(byte, 0x80, 0xbf), within(version, 2, 0x50ffffff)),
        both(within(byte, 0xc0, 0xff), within(version, 2, 0x50ffffff),
             within(sent["udp length"], 8, 600), within(
                 sent["id length"], 0, 7))), no(is_quic(sent)))


def fits(want, fate, proxied):
    """Does the packet filter do what is wanted?"""
    if want.what == "resolver":
        return fate.end == "resolver"
    if want.what == "refused":
        return fate.end == "reject" and fate.reason in want.reasons
    if want.what == "http":
        return fate.end == "haproxy" and fate.port == HTTP
    if want.what == "asked":
        return fate.end == "haproxy" and fate.port == ASK and not fate.reason
    if fate.end == "haproxy":
        return fate.port == RAW or proxied and fate.port == NETS
    return fate.end == "passes" and fate.reason == "allow" and not (
        proxied and want.what == "passes" and fate.port == 6)


def labelled(flow, rules):
    """Fates with what they need besides: that there is somebody to ask by
    (asknet and ask lines), and which protocol passes."""
    out = []
    for condition, fate, _ in rules:
        if fate.end == "passes":
            fate = fate._replace(port=NUMBERS[flow.proto])
        if fate.end == "haproxy" and fate.port == ASK:
            found = askable(flow)
            out.append((both(condition, no(found)),
                        fate._replace(reason="nobody to ask by")))
            condition = both(condition, found)
        out.append((condition, fate))
    return gathered(out)


def askable(flow):
    parts = []
    for line in flow.plan.names.lines:
        if line.word not in ("ask", "asknet"):
            continue
        ports = either(*(flow.view.on(flow.plan.names.ports[c])
                         for c in line.classes))
        if line.net:
            where = flow.view.in_net(line.net)
        else:
            where = either(*(t for n, t in flow.ties.items()
                             if line in flow.plan.names.about(n, "ask")))
        parts.append(both(where, ports))
    return either(*parts)


def always(fate):
    """Refused whatever a grant says: in flows that are open, too."""
    return fate.end == "reject" and fate.reason != "no-grant"


def wrong(flow):
    """[(what is wrong, condition)] of all packets."""
    policy = flow.plan.policy
    first = labelled(flow, flow.fates())
    for want, cw in gathered(
            [(c, w) for c, (w, _) in wanted.wants(policy, flow.view)]).items():
        for fate, cf in first.items():
            if not fits(want, fate, policy.proxied):
                yield "new", both(cw, cf)
    yield from wrong_later(flow, first)


def wrong_later(flow, first):
    """A flow that is open goes on as its first packet was decided, also when
    the addresses of its names have left their sets; what nobody knows does not
    begin in its middle."""
    def when(test, rules):
        return either(*(c for f, c in rules.items() if test(f)))
    def passes(f):
        return f.end == "passes"
    state = dict(state="established")
    opened = labelled(flow, flow.fates(tied=True, **state))
    alone = labelled(flow, flow.fates(tied=False, **state))
    lost = labelled(flow, flow.fates(state="invalid"))
    yield "established", both(when(always, first), no(when(
        lambda f: f.end == "reject", opened)))
    yield "alone", both(when(passes, first), no(when(passes, alone)))
    yield "invalid", both(when(passes, first), when(passes, lost))
    if flow.family == 6 and flow.proto == TCP:
        kept = labelled(flow, flow.fates(tied=False, socket=1, **state))
        def taken(f):
            return f.end == "haproxy"
        yield "socket", both(when(taken, first), no(when(taken, kept)))


def packets(plan, names):
    for family in 4, 6:
        for proto in TCP, UDP:
            flow = Flow(plan, names, family, proto)
            bad = list(wrong(flow))
            model = solved(flow.limits() + [either(*(c for _, c in bad))])
            if model is not None:
                yield shown(flow, model)


def shown(flow, model):
    """The packet of a model, walked again with all of it known."""
    values = {}
    for v in (flow.at, flow.port, *flow.sent.values()):
        values[v.decl().name()] = model.eval(v, True).as_long()
    for v in (flow.is_host, *flow.ties.values()):
        values[v.decl().name()] = z3.is_true(model.eval(v, True))
    known = Flow(flow.plan, flow.names, flow.family, flow.proto, values)
    state = next((s for s, c in wrong(known) if c is True), "new")
    how = {"new": {}, "established": {"state": state},
           "alone": {"state": "established", "tied": False},
           "invalid": {"state": state},
           "socket": {"state": "established", "tied": False, "socket": 1}}
    want = [w for c, w in wanted.wants(flow.plan.policy, known.view)
            if c is True][0]
    got, lines = next((f, l) for c, f, l in known.fates(**how[state])
                      if c is True)
    led = [n for n, t in known.ties.items() if t]
    text = "%s %s port %d%s%s%s" % (
        flow.proto, address.shown(flow.family, known.at), known.port,
        ", that %s led to" % " and ".join(led) if led else "",
        ", the host's own" if known.is_host else "",
        ", QUIC" if known.quic is True else "")
    if state != "new":
        text += ", later on (%s)" % state
    return Difference(text, want, got, lines)


def differences(plan):
    """All that are found: one at most of each kind."""
    yield from questions(plan)
    names = kinds(plan)
    yield from answers(plan, names)
    yield from packets(plan, names)
