"""names.map, read: which names resolve, and what becomes of an address in an
answer. The format is that of compiler/plan/names_map.h."""
import collections
import re

from . import address
from .destination import MACHINE_NAMES, matches, port
from .logic import both, either, no

Line = collections.namedtuple("Line", "word name classes private net line text")
STEMS = {"": "host", "h": "http", "d": "guard", "q": "quic", "a": "ask"}
FIELDS = {"upstream": None, "floor": 1, "private": 1, "cover": 1, "past": 1,
          "ports": 2, "name": 4, "ask": 6, "asknet": 5, "deny": 2, "guard": 3}
SECTIONS = list(FIELDS)


class Unreadable(Exception):
    def __init__(self, line, what):
        super().__init__("names.map:%d: %s" % (line, what))


def set_of(word, family):
    """The set of a class: "h3" is http4_3."""
    letter, number = re.fullmatch(r"([hdqa]?)(\d+)", word).groups()
    return "%s%d_%s" % (STEMS[letter], family, number)


class NamesMap:
    def __init__(self, text):
        self.nets = {"floor": [], "private": [], "cover": [], "past": []}
        self.ports, self.lines, self.passing = {}, [], []
        self.proxied = None
        rows = text.split("\n")
        if rows[0] != "membrane-names 2" or rows[-1] != "":
            raise Unreadable(1, "no map of ours")
        section = 0
        for number, row in enumerate(rows[1:-1], 2):
            fields = row.split(" ")
            if fields[0] not in FIELDS or section > SECTIONS.index(fields[0]):
                raise Unreadable(number, "a line that no map has: " + row)
            section = SECTIONS.index(fields[0])
            if FIELDS[fields[0]] not in (None, len(fields) - 1):
                raise Unreadable(number, "not so many fields: " + row)
            try:
                self.take(number, row, *fields)
            except (ValueError, AttributeError) as e:
                raise Unreadable(number, "%s: %s" % (e, row))
        if self.proxied is None:
            raise Unreadable(2, "no upstream")

    def take(self, number, row, word, *rest):
        if word == "upstream":
            self.proxied = rest[0] == "proxy"
        elif word == "past" and not re.match(r"[0-9a-f.:]+/\d+$", rest[0]):
            self.passing.append(rest[0])
        elif word in self.nets:
            self.nets[word].append(address.net(rest[0]))
        elif word == "ports":
            self.ports[rest[0]] = [ranges(p) for p in rest[1].split(",")]
        elif word == "asknet":
            self.add(number, row, word, None, rest[1], False,
                     address.net(rest[0]))
        else:
            classes = "-" if word == "deny" else rest[1]
            self.add(number, row, word, rest[0], classes, "private" in rest[2:])

    def add(self, number, row, word, name, classes, private, net=None):
        held = () if classes == "-" else tuple(classes.split(","))
        for c in held:
            if c.removeprefix("h") not in self.ports:
                raise Unreadable(number, "a class without ports: " + row)
        self.lines.append(Line(word, name, held, private, net, number, row))

    def about(self, name, *words):
        return [l for l in self.lines
                if l.word in words and l.name and matches(l.name, name)]

    def patterns(self):
        return [l.name for l in self.lines if l.name] + self.passing

    def question(self, name):
        """What is done with a question for a name, and by which line."""
        for end, word in (("denied", "deny"), ("answered", "name"),
                          ("asked", "ask")):
            for line in self.about(name, word):
                if word != "ask" or name not in MACHINE_NAMES:
                    return end, line
        return "unknown", None

    def passes(self, name):
        return any(matches(p, name) for p in self.passing)

    # --- addresses of answers ---------------------------------------------

    def opened(self, family, at):
        """In a network that is granted and longer than each line of the floor
        that has the address."""
        parts = []
        for cover in self.nets["cover"]:
            longer = [f for f in self.nets["floor"] + address.FLOOR
                      if f.bits >= cover.bits and f.inside(cover)]
            parts.append(both(cover.has(family, at),
                              no(address.some(longer, family, at))))
        return either(*parts)

    def judged(self, family, at, private_ok):
        """{"floor", "covered", "private", "open"}: on which condition. What the
        gate knows of S-1 and S-2 by itself the map adds to."""
        floor = address.some(self.nets["floor"] + address.FLOOR, family, at)
        machine = family == 4 and address.Net(4, address.MACHINE[1], 32).has(
            4, at)
        opened = both(floor, self.opened(family, at))
        private = self.private(family, at)
        covered = address.some(self.nets["cover"], family, at)
        stays = both(no(machine), no(both(floor, no(opened))))
        may = both(stays, no(opened))
        return {
            "floor": no(stays),
            "covered": both(stays, either(opened, both(
                private, covered, not private_ok))),
            "private": both(may, private, no(covered), not private_ok),
            "open": both(may, either(no(private), private_ok)),
        }

    def private(self, family, at):
        return address.some(self.nets["private"] + address.PRIVATE, family, at)


def ranges(text):
    """tcp/443, tcp/8000-8999"""
    proto, _, numbers = text.partition("/")
    return port(numbers + "/" + proto)
