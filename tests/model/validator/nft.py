"""ruleset.nft, read: sets, chains, and of each rule what it looks at and does.

The language is nft(8)'s, as far as the artefact uses it. A word that is not
known is refused: what was edited is understood wholly or not at all.
"""
import collections
import ipaddress
import re

HOOKS = ("prerouting", "input", "forward", "output", "postrouting")
PRIORITIES = {"mangle": -150, "dstnat": -100, "filter": 0, "srcnat": 100}
WORDS = {
    "iifname": None, "oifname": None,
    "meta l4proto": {"tcp": 6, "udp": 17}, "meta nfproto": {"ipv4": 4, "ipv6": 6},
    "meta pkttype": None, "meta mark": {}, "meta skuid": {},
    "ct state": None, "ct status": None, "ct direction": None,
    "ip hdrlength": {}, "ip6 hoplimit": {}, "udp length": {},
    "tcp dport": {}, "udp dport": {}, "socket transparent": {},
    "icmp type": {"destination-unreachable": 3}, "icmp code": {"frag-needed": 4},
    "icmpv6 type": {
        "packet-too-big": 2, "mld-listener-report": 131,
        "mld-listener-done": 132, "nd-router-solicit": 133,
        "nd-router-advert": 134, "nd-neighbor-solicit": 135,
        "nd-neighbor-advert": 136, "mld2-listener-report": 143},
}
BYTES = {"@th,64,8": "byte", "@th,72,32": "version", "@th,104,8": "id length",
         "@th,136,32": "old version"}
VERDICTS = ("accept", "drop", "reject", "jump", "goto", "redirect", "dnat",
            "masquerade")

Set = collections.namedtuple("Set", "name family pairs timed line spans")
# key, not, mask, spans (of numbers or words), the set's name
Match = collections.namedtuple("Match", "key negated mask spans named")
Rule = collections.namedtuple(
    "Rule", "line text matches verdict to reason mark tproxy")
Chain = collections.namedtuple("Chain", "name line hook nat priority drops rules")


class Unreadable(Exception):
    def __init__(self, line, what):
        super().__init__("ruleset.nft:%d: %s" % (line, what))


class Ruleset:
    def __init__(self, text):
        self.sets, self.chains = {}, {}
        self.lines = text.split("\n")
        self.at = 0
        if not text.endswith("\n"):
            raise Unreadable(len(self.lines), "no end of line")
        self.read_table()
        self.order = sorted((c for c in self.chains.values() if c.hook),
                            key=lambda c: c.priority)
        self.check()

    def check(self):
        for chain in self.chains.values():
            for rule in chain.rules:
                if rule.verdict in ("jump", "goto") and (
                        rule.to not in self.chains or
                        self.chains[rule.to].hook):
                    raise Unreadable(rule.line, "a chain that is not there")
                for m in rule.matches:
                    self.check_set(rule, m)

    def check_set(self, rule, m):
        if m.named is None:
            return
        found, pairs = self.sets.get(m.named), "." in m.key
        family = 6 if m.key.startswith("ip6") else 4
        if not found or found.family != family or found.pairs != pairs:
            raise Unreadable(rule.line, "a set that is not there")

    # --- lines ------------------------------------------------------------

    def next(self):
        """The next line with something in it, stripped; None at the end."""
        while self.at < len(self.lines):
            line = self.lines[self.at].strip()
            self.at += 1
            if line and not line.startswith("#"):
                return line
        return None

    def fail(self, what):
        raise Unreadable(self.at, what)

    def read_table(self):
        if self.next() != "table inet membrane {":
            self.fail("no table of ours")
        while (line := self.next()) != "}":
            found = re.fullmatch(r"(set|chain) (\w+) \{", line or "")
            if not found or found[2] in (self.sets if found[1] == "set"
                                         else self.chains):
                self.fail("neither a set nor a chain")
            (self.read_set if found[1] == "set" else self.read_chain)(found[2])
        if self.next() is not None:
            self.fail("something behind the table")

    def body(self):
        """Lines up to the brace; what is open is one with those behind."""
        while (line := self.next()) != "}":
            if line is None:
                self.fail("a brace that is not closed")
            while line.count("{") > line.count("}"):
                line += " " + (self.next() or self.fail("the end"))
            yield line

    def read_set(self, name):
        line, family, pairs, timed, spans = self.at, None, False, False, []
        for part in self.body():
            if kind := re.fullmatch(r"type ipv([46])_addr( \. inet_service)?",
                                    part):
                family, pairs = int(kind[1]), bool(kind[2])
            elif flags := re.fullmatch(r"flags (interval|timeout)", part):
                timed = flags[1] == "timeout"
            elif found := re.fullmatch(r"elements = \{ (.*) \}", part):
                spans = [self.addresses(t) for t in found[1].split(",")]
            else:
                self.fail("a line that no set has")
        if family is None or any(s[0] != family for s in spans):
            self.fail("a set without a type, or of another's addresses")
        self.sets[name] = Set(name, family, pairs, timed, line,
                              [s[1:] for s in spans])

    def addresses(self, text):
        """A network, a range, or one address: (family, first, last)."""
        lo, _, hi = text.strip().partition("-")
        try:
            first = ipaddress.ip_network(lo)
            last = ipaddress.ip_network(hi) if hi else first
        except ValueError as e:
            self.fail(str(e))
        return (first.version, int(first.network_address),
                int(last.broadcast_address))

    def read_chain(self, name):
        line, hook, nat, priority, drops, rules = self.at, None, False, 0, False, []
        for part in self.body():
            if part.startswith("type "):
                found = re.fullmatch(
                    r"type (filter|nat) hook (\w+) priority (\S+); "
                    r"policy (accept|drop);", part)
                if not found or found[2] not in HOOKS or hook or rules:
                    self.fail("a hook that is none")
                nat, hook, drops = found[1] == "nat", found[2], found[4] == "drop"
                priority = PRIORITIES.get(found[3])
                if priority is None:
                    priority = int(found[3])
            else:
                rules.append(Words(self, self.at, part).rule())
        self.chains[name] = Chain(name, line, hook, nat, priority, drops, rules)


class Words:
    """One rule, word by word."""

    def __init__(self, ruleset, line, text):
        self.ruleset, self.line, self.text = ruleset, line, text
        self.words = text.split(" ")
        self.matches, self.verdict, self.to = [], None, None
        self.reason, self.mark, self.tproxy = None, None, None

    def fail(self, what):
        raise Unreadable(self.line, what + ": " + self.text)

    def take(self, *wanted):
        if not self.words:
            self.fail("a rule that ends too early")
        word = self.words.pop(0)
        if wanted and word not in wanted:
            self.fail("'%s' where '%s' stands" % (word, wanted[0]))
        return word

    def peek(self, word):
        return bool(self.words) and self.words[0] == word

    def rule(self):
        while self.words:
            if self.verdict:
                self.fail("words behind a verdict")
            self.one()
        if self.tproxy and not self.mark:
            self.fail("tproxy without a mark")
        return Rule(self.line, self.text, self.matches, self.verdict, self.to,
                    self.reason, self.mark, self.tproxy)

    def one(self):
        word = self.take()
        both = "%s %s" % (word, self.words[0] if self.words else "")
        if word in ("ip", "ip6") and self.words[0] in ("saddr", "daddr"):
            self.address(word, self.take())
        elif both == "meta mark" and self.words[1:2] == ["set"]:
            self.take(), self.take()
            self.mark = int(self.take(), 0)
        elif both in ("ct mark", "ct bytes"):   # what is counted
            self.words = self.words[3:]
        elif word in WORDS:
            self.values(word, WORDS[word])
        elif both in WORDS:
            self.take()
            self.values(both, WORDS[both])
        elif word in BYTES:
            self.values(BYTES[word], {})
        elif word == "exthdr":
            self.take("rt"), self.take("exists")
            self.matches.append(Match("routing", False, None, [(1, 1)], None))
        elif word == "limit":
            self.limit()
        else:
            self.statement(word)

    def limit(self):
        self.take("rate")
        over = self.peek("over")
        self.words = self.words[over + 1:]
        self.take("burst"), self.take(), self.take("packets")
        self.matches.append(Match("flood", False, None, [(over, over)], None))

    def statement(self, word):
        if word == "counter":
            return
        if word == "log":
            self.take("prefix")
            self.reason = self.take().strip('"').split(":")[1]
            self.take("group"), self.take("77", "78")
        elif word == "tproxy":
            self.take("ip6"), self.take("to")
            self.tproxy = int(self.take()[1:])
        elif word in VERDICTS:
            self.decide(word)
        else:
            self.fail("a word that no rule has")

    def decide(self, word):
        self.verdict = word
        if word in ("jump", "goto"):
            self.to = self.take()
        elif word == "redirect":
            self.take("to")
            self.to = int(self.take()[1:])
        elif word == "dnat":
            self.take("ip", "ip6"), self.take("to")
            self.to = self.take()
        elif word == "reject":
            self.take("with")
            self.words = []

    def address(self, family, field):
        """[!=] @set, an address, or { several }; daddr . tcp dport @set."""
        key = "%s %s" % (family, field)
        if self.peek("."):
            self.take()
            key += " . %s %s" % (self.take("tcp", "udp"), self.take("dport"))
        negated = self.negated()
        if self.words and self.words[0].startswith("@"):
            self.matches.append(
                Match(key, negated, None, None, self.take()[1:]))
            return
        spans = [self.ruleset.addresses(w) for w in self.listed()]
        if any(s[0] != (6 if family == "ip6" else 4) for s in spans):
            self.fail("an address of another family")
        self.matches.append(
            Match(key, negated, None, [s[1:] for s in spans], None))

    def negated(self):
        if self.peek("!="):
            self.take()
            return True
        return False

    def listed(self):
        if not self.peek("{"):
            return self.take().split(",")
        self.take()
        out = []
        while not self.peek("}"):
            out.append(self.take().rstrip(","))
        self.take("}")
        return out

    def values(self, key, known):
        """[!=] values, >= N, & M == values; known: None, where they are words."""
        mask, negated = None, self.negated()
        if self.peek(">="):
            self.take()
            self.matches.append(Match(
                key, False, None, [(int(self.take(), 0), (1 << 32) - 1)], None))
            return
        if self.peek("&"):
            self.take()
            mask = int(self.take(), 0)
            self.take("==")
        spans = []
        for word in self.listed():
            if known is None:
                spans.append(word.strip('"'))
            elif word in known:
                spans.append((known[word], known[word]))
            else:
                spans.append(self.span(word))
        self.matches.append(Match(key, negated, mask, spans, None))

    def span(self, word):
        lo, _, hi = word.partition("-")
        try:
            return int(lo, 0), int(hi or lo, 0)
        except ValueError:
            self.fail("'%s' is no number" % word)
