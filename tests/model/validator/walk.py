"""What the packet filter does with a packet: nft(8), chain by chain.

A packet is a dict: what rules look at, each a number or word that is known, a
bit vector that is not, or None where the packet has no such thing. Sets that
the gate fills in are asked of packet["member"].
"""
import collections

from . import address
from .logic import both, either, first_of, no, within

# end: "drop", "reject", "passes", "resolver", "haproxy"; port: HAProxy's
Fate = collections.namedtuple("Fate", "end reason port")
# What one hook did: a verdict, and what of the packet is another now.
Done = collections.namedtuple("Done", "verdict reason to mark tproxy lines")
NOTHING = Done("accept", None, None, 0, 0, ())

PROTOS = {"tcp": 6, "udp": 17, "icmp": 1, "icmpv6": 58}


def needs(key, packet):
    """What a key asks of a packet by itself: its family and protocol."""
    word = key.split(" ")[0]
    parts = []
    if word in ("ip", "ip6"):
        parts.append(packet["family"] == (6 if word == "ip6" else 4))
    if word == "routing":
        parts.append(packet["family"] == 6)
    if word in PROTOS:
        parts.append(packet["proto"] == PROTOS[word])
    if key in ("byte", "version", "id length", "old version"):
        parts.append(packet["proto"] == 17)
    if " . " in key:
        parts.append(packet["proto"] == PROTOS[key.split(" ")[3]])
    return both(*parts)


def holds_value(m, value):
    if value is None:
        return False
    if m.mask is not None:
        value = value & m.mask
    return either(*(value == s if isinstance(s, str) else within(value, *s)
                    for s in m.spans))


def holds(m, ruleset, packet):
    """Does one condition of a rule?"""
    asked = needs(m.key, packet)
    if asked is False:
        return False
    if m.key.startswith(("ip daddr", "ip saddr", "ip6 daddr", "ip6 saddr")):
        if m.named is not None:
            found = packet["member"](ruleset.sets[m.named], packet)
        else:
            at = packet["saddr" if "saddr" in m.key else "daddr"]
            found = either(*(within(at, *s) for s in m.spans))
    else:
        key = "dport" if m.key.endswith("dport") else m.key
        found = holds_value(m, packet[key])
        if packet[key] is None:
            return False
    return both(asked, no(found) if m.negated else found)


def walk(ruleset, chain, packet, reason=None, lines=()):
    """[(condition, Done)] of one chain, apart; what goes on has no verdict."""
    rules = []
    for rule in chain.rules:
        condition = both(*(holds(m, ruleset, packet) for m in rule.matches))
        if condition is False:
            continue
        said, path = rule.reason or reason, lines + (rule,)
        if rule.verdict in ("jump", "goto"):
            inner = walk(ruleset, ruleset.chains[rule.to], packet, said, path)
            for c, done in inner:
                if done.verdict or rule.verdict == "goto":
                    rules.append((both(condition, c), done))
        elif rule.verdict:
            rules.append((condition, Done(
                rule.verdict, said, rule.to, rule.mark or 0, rule.tproxy or 0,
                path)))
    rules.append((True, Done(None, None, None, 0, 0, lines)))
    return first_of(rules)


def hook(ruleset, which, packet):
    """All base chains of a hook, in their order: [(condition, Done)], apart.
    NAT is for first packets."""
    now = [(True, NOTHING)]
    for chain in ruleset.order:
        if chain.hook != which or chain.nat and packet["ct state"] != "new":
            continue
        after = []
        for condition, before in now:
            if before.verdict != "accept" or before.to:
                after.append((condition, before))
                continue
            for c, done in walk(ruleset, chain, packet):
                here = both(condition, c)
                if here is not False:
                    after.append((here, joined(chain, before, done)))
        now = after
    return now


def joined(chain, before, done):
    verdict = done.verdict or ("drop" if chain.drops else "accept")
    return Done(verdict, done.reason or before.reason, done.to,
                done.mark or before.mark, done.tproxy or before.tproxy,
                before.lines + done.lines)


def stopped(done):
    return Fate(done.verdict, done.reason, 0)


def is_local(packet):
    """Is it for one of the gate's own addresses? H-1, H-4"""
    gate = address.GATE[packet["family"]]
    parts = [within(packet["daddr"], gate, gate)]
    if packet["family"] == 4 and packet["machine"]:
        parts.append(within(packet["daddr"], address.MACHINE[1],
                            address.MACHINE[1]))
    return either(*parts, packet.get("ours", False))


def taken_in(ruleset, packet, sent, port):
    """By a socket of HAProxy's, or of the gate itself."""
    out = []
    for condition, done in hook(ruleset, "input", packet):
        if done.verdict != "accept":
            fate = stopped(done)
        elif sent:
            fate = Fate("haproxy", None, port)
        else:
            fate = None
        if fate:
            out.append((condition, fate, done.lines))
            continue
        asks = both(within(packet["dport"], 53, 53), no(within(
            packet["daddr"], address.MACHINE[1], address.MACHINE[1])
            if packet["family"] == 4 else False))
        for c, end in ((asks, "resolver"), (no(asks), "passes")):
            out.append((both(condition, c), Fate(end, done.reason, 0),
                        done.lines))
    return out


def passed_on(ruleset, packet):
    out = []
    for condition, done in hook(ruleset, "forward", packet):
        if done.verdict != "accept":
            out.append((condition, stopped(done), done.lines))
            continue
        for c, last in hook(ruleset, "postrouting", packet):
            # Under the agent's own address nothing comes back.
            lost = (packet["ct state"] == "new" and
                    packet["oifname"] != "agent0" and
                    last.verdict != "masquerade")
            out.append((both(condition, c),
                        Fate("drop", "not masqueraded", 0) if lost else
                        Fate("passes", done.reason, 0),
                        done.lines + last.lines))
    return out


def fates(ruleset, packet):
    """[(condition, Fate, rules on the way)] of a packet that came in."""
    out = []
    for condition, done in hook(ruleset, "prerouting", packet):
        for c, fate, lines in onward(ruleset, packet, done):
            here = both(condition, c)
            if here is not False:
                out.append((here, fate, done.lines + lines))
    return out


def onward(ruleset, packet, done):
    p = dict(packet, oifname=None)
    if done.verdict in ("drop", "reject"):
        return [(True, stopped(done), ())]
    if done.verdict == "redirect":
        p.update({"daddr": address.GATE[p["family"]], "dport": done.to,
                  "ct status": "dnat"})
        return taken_in(ruleset, p, True, done.to)
    if done.verdict == "dnat":
        p = dict(packet, oifname="agent0", daddr=address.AGENT[p["family"]])
        p["ct status"] = "dnat"
        return passed_on(ruleset, p)
    if done.mark:
        p["meta mark"] = done.mark
        return taken_in(ruleset, p, True, done.tproxy)
    local = is_local(packet)
    out = [(both(local, c), f, l) for c, f, l in
           (taken_in(ruleset, p, False, 0) if local is not False else [])]
    away = no(local)
    if away is not False:
        out += [(both(away, c), f, l) for c, f, l in passed_on(ruleset, packet)]
    return out
