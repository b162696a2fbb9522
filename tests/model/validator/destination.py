"""Destinations and ports as a policy writes them: doc/semantics.md, section 2."""
import collections
import ipaddress
import re

from .address import Net, net

TCP, UDP = "tcp", "udp"
ANY_TCP = ((TCP, 1, 65535),)                       # D-13
ANY = ((TCP, 1, 65535), (UDP, 1, 65535))           # D-23
URL_PORTS = {"https": 443, "http": 80}             # D-7
MACHINE_NAMES = ("host", "host.docker.internal")   # D-6, H-5

# kind: "name" (and patterns), "net", "any", "machine"
Destination = collections.namedtuple("Destination", "kind name net ports url")


def port(text):
    """D-12: 443, 443/tcp, 53/udp, 8000-8999/tcp."""
    numbers, _, proto = str(text).partition("/")
    lo, _, hi = numbers.partition("-")
    return proto or TCP, int(lo), int(hi or lo)


def a_label(label):
    """D-11, by what Python has of IDNA where nothing better is installed."""
    if label.isascii():
        return label
    try:
        import idna
        return idna.encode(label, uts46=True).decode()
    except ImportError:
        return label.encode("idna").decode()


def name(text):
    """D-10, D-11."""
    text = re.sub("[\u3002\uff0e\uff61]", ".", text).lower()
    return ".".join(a_label(l) for l in text.removesuffix(".").split("."))


def is_net(text):
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True


def of_host(text, ports, url=False):
    if text == "*":
        return Destination("any", None, None, ports, url)      # D-8
    if text in MACHINE_NAMES:
        return Destination("machine", None, None, ports, url)  # D-6
    if is_net(text):
        return Destination("net", None, net(text), ports, url)
    return Destination("name", name(text), None, ports, url)


def destination(text):
    """One `dest`; ports is None where none are written."""
    url = re.fullmatch(r"(https?)://(\[[^]]*\]|[^/:]*)(?::(\d+))?(/.*)?", text,
                       re.I)
    if url:
        at = int(url[3] or URL_PORTS[url[1].lower()])
        return of_host(url[2].strip("[]").lower(), ((TCP, at, at),), True)
    bracketed = re.fullmatch(r"\[([^]]*)\](?::(.+))?", text)
    if bracketed:
        host, at = bracketed[1], bracketed[2]
    elif is_net(text) or ":" not in text:
        host, at = text, None
    else:
        host, at = text.rsplit(":", 1)
    return of_host(host.lower(), (port(at),) if at else None)


def matches(pattern, text):
    """D-2 to D-4: "*" is one label, "**" in front one or more."""
    want, have = pattern.split("."), text.split(".")
    if want[0] == "**":
        if len(have) < len(want):
            return False
        want, have = want[1:], have[len(have) - len(want) + 1:]
    return len(want) == len(have) and all(
        w in ("*", h) for w, h in zip(want, have))
