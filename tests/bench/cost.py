"""Where a request's time goes: whose processor time, by name of program.

Of the processes of the sealed Docker host and all that came from them, and of
the server out there, what a stretch of load added, over its requests. Other
work of the machine delays that and adds little to it, so these figures hold
where rates say nothing.
"""
import collections
import contextlib
import os
import pathlib
import subprocess

import https
import live

TICK_US = 1e6 / os.sysconf("SC_CLK_TCK")
# What belongs to a session, in the order of a record's way.
WHO = ("client", "haproxy", "membrane-gate", "containerd-shim", "dockerd",
       "docker", "membrane", "server")


def processes():
    """{pid: (name, parent, microseconds)}; those of dead children, too."""
    out = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            pid, _, rest = stat.read_text().partition(" (")
            name, _, rest = rest.rpartition(") ")
            fields = rest.split()
            out[int(pid)] = (name, int(fields[1]),
                             sum(map(int, fields[11:15])) * TICK_US)
    return out


def network(pid):
    try:
        return os.readlink("/proc/%d/ns/net" % pid)
    except OSError:
        return ""


def spent(server):
    """Microseconds by name so far."""
    there = processes()
    ours = {p for p in there if network(p) == network(int(live.the.pid))}
    grown = True
    while grown:
        more = {p for p, (_, parent, _) in there.items() if parent in ours}
        grown = more - ours
        ours |= more
    out = collections.Counter()
    for pid in ours:
        name = there[pid][0]
        name = "client" if name in ("load", "sh") else name
        out[name if name in WHO else "others"] += there[pid][2]
    out["server"] = sum(us for pid, (_, parent, us) in there.items()
                        if server in (pid, parent))
    return out


def stretch(argv, server):
    """Requests made, and {name: microseconds} of each."""
    p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True)
    p.stdout.readline()   # it is warm
    before = spent(server)
    p.stdin.write("go\n")
    p.stdin.flush()
    made = float(p.stdout.readline().split()[3])
    after = spent(server)
    p.communicate("end\n")
    return made, {w: (after[w] - before[w]) / made for w in after}


def show(line, plain, seconds=5):
    tool = https.LOAD.read_bytes()

    def direct(place, *command):
        argv = plain(place.work, *command)
        argv.insert(argv.index("run") + 1, "--interactive")
        return argv

    def session(place, *command):
        return place.argv("run", "--no-trace", "--", *command)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(https.server(https.PORT))
        for what, policy, begin in (("direct", https.SPLICED, direct),
                                    ("spliced", https.SPLICED, session),
                                    ("decrypted", https.DECRYPTED, session)):
            place = stack.enter_context(live.Place(policy,
                                                   files={"load": tool}))
            os.chmod(place.work / "load", 0o755)
            for how in ("get", "open"):
                text = "%s >/dev/null; echo warm; read x; %s; read x" % (
                    https.command(how, 8, 1)[2],
                    https.command(how, 8, seconds)[2])
                made, cost = stretch(begin(place, "sh", "-c", text),
                                     server.pid)
                line("%s, %s" % (what, "kept" if how == "get" else "new"),
                     "%.0f us" % sum(cost.values()), "of %d" % made, "",
                     ", ".join("%s %.0f" % (w, cost[w]) for w in
                               (*WHO, "others") if cost.get(w, 0) >= 0.5))
