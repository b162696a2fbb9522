"""What tests of names, TLS and HTTP share; judged by the servers' own logs."""
import json

import live
from live import HERE, Place, check, session

TOOLS = {name: (HERE / name).read_bytes() for name in ("wire.py", "h2.js")}
SITE, OTHER, API, RAW, H2 = ("11.0.1.1", "11.0.2.1", "11.0.20.4",
                             "11.0.20.1", "11.0.20.3")


def web(policy, attempts, *flags, files=None, **more):
    """A session whose probe has wire.py."""
    return session(policy, attempts, *flags,
                   files={**TOOLS, **(files or {})}, **more)


def h2(policy, ask, **more):
    """A session with one HTTP/2 connection: its results in .tried."""
    with Place(policy, files=TOOLS, **more) as where:
        s = where.membrane("run", "--", "node", "h2.js", json.dumps(ask))
        s.decided = where.decisions()
        return s.parse(len(ask["requests"]))


def reached(s, **fields):
    """(method, path) of each request that a server understood."""
    return [(e["method"], e["path"]) for e in s.arrived("http", **fields)]


def header(event, name):
    """All values of one header, in the order that they arrived."""
    return [v for k, v in event["headers"] if k == name]


def connected(s, addr):
    """How often something connected to an address."""
    return s.arrived("packet", proto="tcp", addr=addr)


def reasons(s, kind=None):
    """The reasons of what was refused, in order."""
    return [d["reason"] for d in s.decided if d["verdict"] == "deny" and
            kind in (None, d["kind"])]


def request(path="/", host="api.test", method="GET", more="", version="1.1",
            close=True):
    return "%s %s HTTP/%s\r\nHost: %s\r\n%s%s\r\n" % (
        method, path, version, host, more,
        "Connection: close\r\n" if close else "")


def gate_processes():
    """{name: [pid]} of what runs in the gate that runs."""
    out = {}
    for one in live.running("membrane.role=gate"):
        for line in live.the.docker("top", one, "-eo", "pid,comm"
                                    ).stdout.splitlines()[1:]:
            pid, name = line.split(None, 1)
            out.setdefault(name.strip(), []).append(int(pid))
    return out


def refused_with(result, code, *words):
    """An HTTP refusal by the gate that says why."""
    text = result.get("data", "")
    check(result.get("code") == code or code in result.get("codes", []),
          "refused with %d" % code, result)
    for word in words:
        check(word in text, "the body says '%s'" % word, text)
