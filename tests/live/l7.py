"""What tests of names, TLS and HTTP share; judged by the servers' own logs."""
import json
import pathlib

import live
from live import HERE, Place, check, session, within

TOOLS = {name: (HERE / name).read_bytes() for name in ("wire.py", "h2.js")}
# The machine's has authorities of its own; the image's, and one whose session is
# decrypted, know what they need.
TRUSTING = ("NODE_EXTRA_CA_CERTS=${NODE_EXTRA_CA_CERTS-/etc/ssl/certs/"
            "ca-certificates.crt} ")
NODE = ("sh", "-c", TRUSTING + "exec node \"$@\"", "node")
SITE, OTHER, API, RAW, H2 = ("11.0.1.1", "11.0.2.1", "11.0.20.4",
                             "11.0.20.1", "11.0.20.3")


def web(policy, attempts, *flags, files=None, **more):
    """A session whose probe has wire.py."""
    return session(policy, attempts, *flags,
                   files={**TOOLS, **(files or {})}, **more)


def h2(policy, ask, **more):
    """A session with one HTTP/2 connection: its results in .tried."""
    with Place(policy, files=TOOLS, **more) as where:
        s = where.membrane("run", "--", *NODE, "h2.js", json.dumps(ask))
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
        for pid in below(one) if live.ENGINE == "native" else [
                int(line) for line in live.the.docker(
                    "top", one, "-eo", "pid").stdout.splitlines()[1:]]:
            name = pathlib.Path("/proc/%d/comm" % pid).read_text().strip()
            out.setdefault(name, []).append(pid)
    return out


def proxies():
    """[pid] of the gate's HAProxy, which may begin behind the session."""
    check(within(10, lambda: "haproxy" in gate_processes()), "HAProxy runs",
          gate_processes())
    return gate_processes().get("haproxy", [])


def below(pid):
    """A process and all that it began, and they."""
    children = pathlib.Path("/proc/%s/task/%s/children" % (pid, pid))
    return [int(pid)] + [p for child in children.read_text().split()
                         for p in below(child)]


def refused_with(result, code, *words):
    """An HTTP refusal by the gate that says why."""
    text = result.get("data", "")
    check(result.get("code") == code or code in result.get("codes", []),
          "refused with %d" % code, result)
    for word in words:
        check(word in text, "the body says '%s'" % word, text)
