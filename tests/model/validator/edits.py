"""Edits of a plan, of the kinds that a hand or a mistake makes."""
import ipaddress
import random
import re

RULE = re.compile(r"^\t\t[^#\n].*$")
PORTS = re.compile(r"\b([1-9]\d{1,4})\b")
VERDICTS = {"accept": "drop", "drop": "accept"}


def lines_of(text):
    return text.split("\n")[:-1]


def joined(lines):
    return "\n".join(lines) + "\n"


def is_rule(line):
    return bool(RULE.match(line)) and not line.startswith(
        ("\t\ttype ", "\t\tflags ", "\t\telements ", "\t\t\t"))


def is_element(line):
    return line.startswith(("\t\telements ", "\t\t\t     ")) and "{" in line


# --- ruleset.nft: each takes lines and one's number, and is None where it does
# --- not apply

def drop_line(rng, lines, i):
    return lines[:i] + lines[i + 1:]


def swap(rng, lines, i):
    if i + 1 < len(lines) and is_rule(lines[i + 1]):
        return lines[:i] + [lines[i + 1], lines[i]] + lines[i + 2:]
    return None


def replaced(lines, i, line):
    return None if line == lines[i] else lines[:i] + [line] + lines[i + 1:]


def other_port(rng, lines, i):
    """A port, or an end of a range, one beside or another."""
    found = re.search(r"dport (\{[^}]*\}|\S+)", lines[i])
    numbers = list(PORTS.finditer(found[1])) if found else []
    if not numbers:
        return None
    at = rng.choice(numbers)
    value = int(at[1]) + rng.choice((-1, 1, 7))
    if not 1 <= value <= 65535:
        return None
    begin, end = (found.start(1) + at.start(), found.start(1) + at.end())
    return replaced(lines, i, lines[i][:begin] + str(value) + lines[i][end:])


def other_gate(rng, lines, i):
    """To another port of HAProxy's."""
    found = re.search(r"to :(1500\d)", lines[i])
    if not found:
        return None
    to = rng.choice([p for p in ("15001", "15002", "15004") if p != found[1]])
    return replaced(lines, i, lines[i].replace(found[1], to))


def other_verdict(rng, lines, i):
    words = lines[i].split(" ")
    if words[-1].strip() in VERDICTS:
        words[-1] = words[-1].replace(words[-1].strip(),
                                      VERDICTS[words[-1].strip()])
    elif words[-2:] == ["goto", "granted"]:
        words[-2:] = ["drop"]
    elif words[-2:] == ["goto", "refuse"]:
        words = lines[i].split(" counter ")[0].split(" ") + ["accept"]
    else:
        return None
    return replaced(lines, i, " ".join(words))


def other_set(rng, lines, i):
    """Another set of the same family."""
    found = re.search(r"@(\w+?)([46])(_\d+)?\b", lines[i])
    if not found or found[0].startswith("@th"):
        return None
    names = sorted({m[1] for l in lines if (m := re.match(
        r"\tset (\w+) \{", l)) and re.match(r"\w+?%s(_\d+)?$" % found[2],
                                            m[1])} - {found[0][1:]})
    names = [n for n in names if not n.startswith(("proxy", "resolver"))]
    return replaced(lines, i, lines[i].replace(
        found[0], "@" + rng.choice(names))) if names else None


def other_match(rng, lines, i):
    """One condition less."""
    parts = [r"ip6? daddr (!= )?@\w+ ", r"(tcp|udp) dport (\{[^}]*\}|\S+) ",
             r"ct state \S+ ", r"iifname (!= )?\S+ "]
    found = [m for p in parts if (m := re.search(p, lines[i]))]
    if not found:
        return None
    gone = rng.choice(found)
    return replaced(lines, i, lines[i][:gone.start()] + lines[i][gone.end():])


def negated(rng, lines, i):
    for has, put in ((" daddr != @", " daddr @"), (" daddr @", " daddr != @"),
                     ("iifname != ", "iifname "), ("l4proto != ", "l4proto ")):
        if has in lines[i]:
            return replaced(lines, i, lines[i].replace(has, put, 1))
    return None


def element(rng, lines, i):
    """Of a set: one element less, or one of another length or beside."""
    last = i
    while "}" not in lines[last]:
        last += 1
    inside = re.search(r"\{ (.*) \}", " ".join(
        l.strip() for l in lines[i:last + 1]))
    parts = re.split(r",\s*", inside[1])
    at = rng.randrange(len(parts))
    if rng.random() < 0.4 and len(parts) > 1:
        del parts[at]
    else:
        parts[at] = other_net(rng, parts[at])
    return lines[:i] + ["\t\telements = { %s }" % ", ".join(parts)] + \
        lines[last + 1:]


def other_net(rng, text):
    """Half of it, or the next one of its size."""
    try:
        net = ipaddress.ip_network(text)
    except ValueError:                                     # a range
        return text.partition("-")[0]
    if rng.random() < 0.5 and net.prefixlen < net.max_prefixlen:
        return str(next(net.subnets()))
    return str(type(net)(((int(net.network_address) + net.num_addresses) %
                          2 ** net.max_prefixlen, net.prefixlen)))


RULES = (drop_line, swap, other_port, other_port, other_gate, other_verdict,
         other_set, other_match, negated)


# --- names.map -----------------------------------------------------------------

def flip_private(rng, lines, i):
    if not lines[i].startswith(("name ", "ask ")):
        return None
    words = lines[i].split(" ")
    at = 3 if words[0] == "name" else 5
    words[at] = "-" if words[at] == "private" else "private"
    return replaced(lines, i, " ".join(words))


def other_name(rng, lines, i):
    words = lines[i].split(" ")
    if words[0] not in ("name", "deny", "guard", "ask"):
        return None
    labels = words[1].split(".")
    words[1] = ".".join(rng.choice((
        ["*"] + labels[1:], ["**"] + labels[1:], ["www"] + labels,
        [labels[0] + "x"] + labels[1:])))
    if words[1].startswith("www.*") or "**x" in words[1] or "*x" in words[1]:
        return None
    return replaced(lines, i, " ".join(words))


def other_class(rng, lines, i):
    words = lines[i].split(" ")
    if words[0] not in ("name", "guard", "ask", "asknet") or words[2] == "-":
        return None
    letter = re.match(r"[hdqa]?", words[2])[0]
    held = [l.split(" ")[1] for l in lines if l.startswith("ports ")]
    held = [c for c in held if re.match(r"[dqa]?", c)[0] == letter.strip("h")]
    words[2] = rng.choice([("h" + c if letter == "h" else c)
                           for c in held] + (
        [words[2].lstrip("h")] if letter == "h" else []))
    return replaced(lines, i, " ".join(words))


def other_cidr(rng, lines, i):
    words = lines[i].split(" ")
    if words[0] not in ("cover", "asknet", "private", "floor", "past") or (
            "/" not in words[1]):
        return None
    words[1] = other_net(rng, words[1])
    if "/" not in words[1]:
        return None
    return replaced(lines, i, " ".join(words))


def drop_record(rng, lines, i):
    word = lines[i].split(" ")[0]
    return None if word in ("membrane-names", "upstream", "ports") else \
        drop_line(rng, lines, i)


RECORDS = (drop_record, drop_record, flip_private, other_name, other_class,
           other_cidr)


def edits(seed, ruleset, names, n):
    """n of (what, ruleset, names), each of one edit; the same each time."""
    rng, out, seen = random.Random(seed), [], set()
    for _ in range(n * 40):
        if len(out) == n:
            break
        one = edit(rng, ruleset, names)
        if one and one not in seen:
            seen.add(one)
            out.append(one)
    return out


def edit(rng, ruleset, names):
    if rng.random() < 0.65:
        lines = lines_of(ruleset)
        i = rng.randrange(len(lines))
        if is_element(lines[i]):
            how = element
        elif is_rule(lines[i]):
            how = rng.choice(RULES)
        else:
            return None
        after = how(rng, lines, i)
        return after and (told(how, "ruleset.nft", lines, i), joined(after),
                          names)
    lines = lines_of(names)
    i = rng.randrange(len(lines))
    # What the gate knows by itself changes nothing: not too many of those.
    if lines[i].startswith(("floor", "private")) and rng.random() < 0.95:
        return None
    how = rng.choice(RECORDS)
    after = how(rng, lines, i)
    return after and (told(how, "names.map", lines, i), ruleset, joined(after))


def told(how, file, lines, i):
    return "%s %s:%d %s" % (how.__name__, file, i + 1, lines[i].strip())
