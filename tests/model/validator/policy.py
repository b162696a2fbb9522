"""A policy of several layers, read by doc/semantics.md, sections 1 and 2.

YAML is read as written: every scalar is its text, and knows its line. What a
policy may not say is not looked at, since such a one has no plan.
"""
import collections
import pathlib
import re

import yaml

from . import destination as d

Rule = collections.namedtuple(
    "Rule", "verb dest ports http private text where")
Direct = collections.namedtuple("Direct", "dest where")


class Text(str):
    line = 0


class Keys(dict):
    line = 0


def plain(node):
    """A node of PyYAML's as Text, list and Keys."""
    line = node.start_mark.line + 1
    if isinstance(node, yaml.ScalarNode):
        out = Text(node.value)
    elif isinstance(node, yaml.SequenceNode):
        return [plain(n) for n in node.value]
    else:
        out = Keys((plain(k), plain(v)) for k, v in node.value)
    out.line = line
    return out


def read_yaml(path):
    node = yaml.compose(path.read_text(encoding="utf-8-sig"),
                        Loader=yaml.SafeLoader)
    out = plain(node) if node else Keys()
    return out if isinstance(out, dict) else Keys()


def truth(text):
    return str(text).lower() == "true"


def every(value):
    return value if isinstance(value, list) else []


class Policy:
    """allow, deny and ask of all layers, in their order (L-2)."""

    def __init__(self):
        self.allow, self.deny, self.ask = [], [], []
        self.direct = []       # U-14
        self.proxied = False   # U-1
        self.published = []    # O-1: (address, the machine's, the agent's)
        self.opened = ()       # K-15: docker's own --publish, as ports inside

    def rule(self, verb, item, where, ports=None):
        """D-1: the short form, or {dest, ports, http, tls, private}."""
        keys = item if isinstance(item, dict) else {"dest": item}
        dest = d.destination(keys["dest"])
        if dest.ports is None and "ports" in keys:
            dest = dest._replace(
                ports=tuple(d.port(p) for p in every(keys["ports"])))
        if dest.ports is None:
            # D-13, D-23
            ports = d.ANY if verb == "deny" else ports or d.ANY_TCP
        else:
            ports = dest.ports
        rule = Rule(verb, dest, ports, dest.url or "http" in keys,
                    truth(keys.get("private", "")), "%s %s" % (
                        verb, keys["dest"]), where)
        getattr(self, verb).append(rule)

    def layer(self, keys, file):
        """One file's, or the flags'. K-1 to K-26."""
        def where(item):
            return "%s:%d" % (file, getattr(item, "line", 0))
        keys = keys.get("spec", keys) if "apiVersion" in keys else keys
        nets = keys.get("network") or {}
        for verb in "allow", "deny", "ask":                     # K-2, K-3
            for item in every(keys.get(verb)) + every(nets.get(verb)):
                self.rule(verb, item, where(item))
        for item in every(keys.get("hostnames")) + every(keys.get("cidrs")):
            self.rule("allow", item, where(item))               # K-4, K-5
        for item in every(keys.get("credentials")):
            if "refresh" in item:                               # C-9
                self.rule("allow", item["refresh"], where(item))
        if "upstream" in keys:                                  # K-11, L-3
            self.proxied, one = True, keys["upstream"]
            self.direct = [
                Direct(d.destination(t), where(t))
                for t in every(one.get("direct")
                               if isinstance(one, dict) else None)]
        self.published += [published(t) for t in every(keys.get("ports"))]
        self.opened += docker_ports(every(keys.get("args")))

    def flags(self, words):
        """The command line's layer: doc/policy.md, "Where it is written"."""
        keys = collections.defaultdict(list)
        short = {"-n": "--hostname", "-c": "--cidr", "-p": "--publish",
                 "-a": "--arg", "-e": "--env", "-v": "--volume"}
        to = {"--hostname": "allow", "--cidr": "allow", "--allow": "allow",
              "--deny": "deny", "--ask": "ask", "--publish": "ports",
              "--arg": "args"}
        words = list(words)
        while words:
            flag, eq, value = words.pop(0).partition("=")
            flag = short.get(flag, flag)
            if flag in to:
                keys[to[flag]].append(Text(value if eq else words.pop(0)))
        self.layer(keys, "command line")


def published(text):
    """O-1: PORT, PORT:PORT, ADDRESS:PORT:PORT; the machine's first."""
    parts = text.rsplit(":", 2)
    address = parts[0].strip("[]") if len(parts) == 3 else "127.0.0.1"
    return address, int(parts[-2] if len(parts) > 1 else parts[0]), int(
        parts[-1])


def docker_ports(words):
    """docker-run(1): -p [[IP:][HOST]:]PORT[-PORT][/PROTO], in each spelling."""
    out, words = [], list(words)
    while words:
        word = words.pop(0)
        found = re.fullmatch(r"(?:-[dit]*p|--publish(?==|$))(.*)",
                             word)
        if found:
            value = found[1].removeprefix("=") or words.pop(0)
            out.append(d.port(value.rsplit(":", 1)[-1]))
    return tuple(out)


def preset(name, beside, presets):
    """K-1: by name, or a path relative to the file that says so."""
    found = sorted(presets.glob("*/%s.yaml" % name)) or sorted(
        presets.glob(name + ".yaml"))
    return found[0] if found and name[0] != "." else beside / name


def add_file(policy, path, shown, presets, seen):
    """A file, and before it what it extends (L-1); each of those once."""
    keys = read_yaml(path)
    for name in every(keys.get("extends")):
        other = preset(name, path.parent, presets).resolve()
        if other not in seen:
            seen.add(other)
            add_file(policy, other, other.name, presets, seen)
    policy.layer(keys, shown)


def read(files, flags, presets):
    """files: [(path, how it is called)], in the order of their layers."""
    policy, seen = Policy(), set()
    for path, shown in files:
        add_file(policy, pathlib.Path(path), shown, presets, seen)
    policy.flags(flags)
    return policy
