"""What holds on the links whatever is granted: who may send, what else than
TCP and UDP goes where, what comes from the world, what the gate sends."""
import z3

from . import address, wanted
from .compare import Difference, Flow, solved
from .destination import TCP, UDP
from .logic import both, either, no, within
from .walk import Fate, fates, hook

# The gate's users: who asks for names and what goes out, and HAProxy.
ROOT, GATE, UPSTREAM = 0, 64100, 64101
OTHERS = {"icmp": 1, "IP in IP": 4, "gre": 47, "icmpv6": 58, "sctp": 132,
          "none": 0}
STATES = ("new", "established")


class Shot:
    """Packets of one kind: what is known of them, and what must become of each."""

    def __init__(self, plan, family, what, proto=TCP, **known):
        self.flow = Flow(plan, [], family, TCP if proto not in (TCP, UDP)
                         else proto)
        self.flow.is_host = False
        self.what, self.proto = what, proto
        self.packet = self.flow.packet()
        self.packet.update(known, member=self.member)
        if proto not in (TCP, UDP):
            self.packet.update({"proto": OTHERS[proto], "dport": None,
                                "meta l4proto": OTHERS[proto]})
        for key in ("byte", "version", "id length", "old version"):
            self.packet[key] = 0
        self.packet["udp length"] = 100

    def member(self, a_set, packet):
        if a_set.pairs:
            return packet.get("peer") == a_set.name[:-1]
        if a_set.name in ("past4_1", "past6_1"):
            return packet.get("past", False)
        if a_set.timed and packet.get("led"):
            return True
        return self.flow.member(a_set, packet)

    def must(self, found, given, test, wish):
        """A packet for which `given` holds, and not what is wished for it."""
        bad = either(*(c for c, fate, _ in found if not test(fate)))
        model = solved([both(given, bad)])
        if model is None:
            return
        at, port = (v if isinstance(v, int) else model.eval(v, True).as_long()
                    for v in (self.packet["daddr"], self.flow.port))
        for c, fate, lines in found:
            held = c is True or (c is not False and z3.is_true(
                model.eval(c, True)))
            if held and not test(fate):
                yield Difference("%s: %s %s port %d" % (
                    self.what, self.proto,
                    address.shown(self.flow.family, at), port),
                    (wish, None), fate, lines)
                return

    def comes(self, given, test, wish):
        yield from self.must(fates(self.flow.plan.ruleset, self.packet), given,
                             test, wish)

    def goes(self, given, test, wish):
        """What the gate sends."""
        done = hook(self.flow.plan.ruleset, "output", self.packet)
        yield from self.must(
            [(c, Fate(d.verdict, d.reason, 0), d.lines) for c, d in done],
            given, test, wish)


def is_let(fate):
    return fate.end not in ("drop", "reject")


def is_not(fate):
    return not is_let(fate)


# --- the agent's side --------------------------------------------------------

def sources(plan, family):
    """Under another address than the agent's nobody is heard."""
    other = z3.BitVec("source", address.WIDTH[family])
    agent = address.AGENT[family]
    for proto in TCP, UDP:
        for flood in 0, 1:
            yield from Shot(plan, family, "a forged source", proto,
                            saddr=other, flood=flood).comes(
                no(within(other, agent, agent)),
                lambda f: f.end == "drop", "dropped")


def protocols(plan, family):
    """D-14: nothing but TCP and UDP."""
    for proto in OTHERS:
        echo = {"icmp type": 8} if proto == "icmp" else (
            {"icmpv6 type": 128} if proto == "icmpv6" else {})
        if (proto, family) in (("icmp", 6), ("icmpv6", 4)):
            continue
        for state in STATES[:1]:
            yield from Shot(plan, family, "neither TCP nor UDP", proto,
                            **{"ct state": state, **echo}).comes(
                True, is_not, "refused")


def shapes(plan, family):
    """What only routers read, and what was sent to all."""
    odd = {"ip hdrlength": 6} if family == 4 else {"routing": 1}
    gate = address.GATE[family]
    for proto in TCP, UDP:
        yield from Shot(plan, family, "options for routers", proto,
                        **odd).comes(
            True, lambda f: f.end != "passes", "refused")
        shot = Shot(plan, family, "sent to all", proto,
                    **{"meta pkttype": "broadcast"})
        yield from shot.comes(
            both(within(shot.flow.at, gate, gate),
                 no(within(shot.flow.port, 53, 53))),
            lambda f: f.end == "drop", "dropped")


# --- the world's side --------------------------------------------------------

def open_ports_of(plan, shot):
    return shot.flow.view.on(plan.policy.opened)


def world(plan, family):
    """O-2, K-15: nobody begins anything with the agent but by what docker's own
    --publish opens, and nobody with the gate."""
    link = {"iifname": "uplink", "saddr": address.number(
        "203.0.113.9" if family == 4 else "2001:db8::9")[1]}
    for proto in TCP, UDP:
        for ours in True, False:
            shot = Shot(plan, family, "from the world", proto, ours=ours,
                        oifname="uplink" if ours else "agent0", **link)
            if not ours:
                shot.packet["daddr"] = address.AGENT[family]
            open_ports = open_ports_of(plan, shot)
            yield from shot.comes(open_ports, is_let, "let in")
            yield from shot.comes(no(open_ports), is_not, "dropped")
        shot = Shot(plan, family, "through the gate", proto, led=True, **link)
        agent = within(shot.flow.at, *[address.AGENT[family]] * 2)
        yield from shot.comes(both(no(agent), no(open_ports_of(plan, shot))),
                              is_not, "dropped")
        shot = Shot(plan, family, "an answer of the world's", proto,
                    oifname="agent0", daddr=address.AGENT[family],
                    **{"ct state": "established", "ct direction": "reply"},
                    **link)
        yield from shot.comes(True, is_let, "let in")


# --- what the gate sends -----------------------------------------------------

def asks_names(policy):
    """U-14, U-15: is any name asked for, beside a proxy?"""
    return not policy.proxied or any(
        r.dest.kind == "name" for r in policy.direct)


def may_send(plan, shot, uid, peer, past):
    """U-1, U-15: without a proxy, wherever; with one, to it and past it."""
    policy = plan.policy
    if not policy.proxied:
        return True
    if uid == ROOT:
        return peer == "resolver" and asks_names(policy)
    if uid != UPSTREAM or shot.proto != TCP:
        return False
    return either(peer == "proxy", past and asks_names(policy), *(
        shot.flow.view.in_net(r.dest.net) for r in policy.direct
        if r.dest.kind == "net"))


def sends(plan, family):
    link = {"iifname": None, "oifname": "uplink", "saddr": None}
    for proto in TCP, UDP:
        for uid in ROOT, GATE, UPSTREAM:
            for peer, past in ((None, False), (None, True), ("proxy", False),
                               ("resolver", False)):
                shot = Shot(plan, family, "the gate's own, of %d" % uid, proto,
                            peer=peer, past=past, **{"meta skuid": uid}, **link)
                may = may_send(plan, shot, uid, peer, past)
                yield from shot.goes(may, is_let, "let out")
                yield from shot.goes(no(may), is_not, "dropped")
                for odd in ({"ct state": "invalid"}, {"ct direction": "reply"}):
                    shot.packet.update({"ct state": "new",
                                        "ct direction": "original", **odd})
                    yield from shot.goes(True, is_not, "dropped")
    shot = Shot(plan, family, "the gate's own, on the agent's link",
                **{**link, "oifname": "agent0", "meta skuid": UPSTREAM})
    agent = within(shot.flow.at, *[address.AGENT[family]] * 2)
    yield from shot.goes(agent, is_let, "let out")
    yield from shot.goes(no(agent), is_not, "dropped")


def ways(plan, family):
    """U-14: which networks are gone to past the proxy."""
    at = z3.BitVec("address", address.WIDTH[family])
    want = address.some([r.dest.net for r in plan.policy.direct
                         if r.dest.kind == "net"], family, at)
    got = address.some(plan.names.nets["past"], family, at)
    model = solved([either(both(want, no(got)), both(no(want), got))])
    if model is not None:
        value = model.eval(at, True).as_long()
        yield Difference("the way to " + address.shown(family, value),
                         ("past" if is_in(plan.policy, family, value) else
                          "by the proxy", None), "the other", [])


def is_in(policy, family, value):
    return any(r.dest.net.has(family, value) for r in policy.direct
               if r.dest.kind == "net")


def differences(plan):
    for family in 4, 6:
        for look in sources, protocols, shapes, world, sends, ways:
            yield from look(plan, family)
