"""What HAProxy in the way costs: beside no gate, and beside mitmdump.

Client and server are load.c, the server out there and the client in the
agent's image. mitmdump sits where the gate would: in the network of the
sealed Docker host, on the way of what a container without a gate sends.
"""
import contextlib
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import time

import live

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LOAD = ROOT / "build" / "tests" / "bench" / "load"
FORWARD = LOAD.with_name("forward")
WORLD = ROOT / "tests" / "live" / "world.sh"
PORT, MITM_PORT, LISTEN, CLEAR = "5443", "5444", "8081", "5480"
BARE_PORT = "5445"
NAME, ADDR = "bench.test", "11.0.30.1"
SPLICED = "allow: ['%s:%s']\n" % (NAME, PORT)
DECRYPTED = ("allow:\n  - {dest: '%s:%s', http: [{methods: [GET], paths: "
             "[/v1/, /b/]}]}\n" % (NAME, PORT))
IN_CLEAR = ("allow:\n  - {dest: '%s:%s', http: [{methods: [GET]}]}\n" %
            (NAME, CLEAR))
SECONDS = 3
SHELL = "getent hosts %s >/dev/null; ./load " % NAME


def command(mode, *args, port=PORT):
    return ["sh", "-c", SHELL + " ".join((mode, ADDR, port, NAME,
                                          *map(str, args)))]


def warm(mode, *args, port=PORT):
    """The same, of a session whose HAProxy has answered once: a command may
    begin before that, and 64 MB are through in 50 ms."""
    once = ("clear", 1) if mode == "clear" else ("get", 1, 1)
    first = " ".join(map(str, ("./load", once[0], ADDR, port, NAME, *once[1:],
                               ">&2;")))
    again = command(mode, *args, port=port)
    return [*again[:2], first + again[2]]


def numbers(argv):
    done = subprocess.run(argv, text=True, stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    if done.returncode:
        raise SystemExit("%s: %s" % (argv[-1], done.stderr[-500:]))
    return [float(x) for x in done.stdout.split()]


def certified():
    """The place's certificate and its key."""
    certificate = live.the.state / "tls" / "bench.pem"
    ca = live.the.state / "ca"
    request = subprocess.run(
        ["openssl", "req", "-new", "-key", ca / "leaf.key", "-subj",
         "/CN=" + NAME], check=True, capture_output=True).stdout
    extra = certificate.with_suffix(".ext")
    extra.write_text("subjectAltName=DNS:%s\n" % NAME)
    subprocess.run(
        ["openssl", "x509", "-req", "-CA", ca / "ca.crt", "-CAkey",
         ca / "ca.key", "-CAcreateserial", "-days", "30", "-extfile", extra,
         "-out", certificate], input=request, check=True,
        stderr=subprocess.DEVNULL)
    return certificate, ca / "leaf.key"


@contextlib.contextmanager
def server(port):
    p = subprocess.Popen([WORLD, "inet", LOAD, "serve", port, *certified()],
                         stdout=subprocess.PIPE)
    p.stdout.readline()
    try:
        yield p
    finally:
        p.kill()
        p.wait()


NGINX = """daemon off; worker_processes auto; pid %(home)s/pid;
error_log %(home)s/error;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000;
  server {
    listen %(port)s ssl http2;
    ssl_certificate %(certificate)s; ssl_certificate_key %(key)s;
    location / { return 200 "%(text)s"; }
    location /b/ { root %(home)s; }
  }
}
"""


@contextlib.contextmanager
def nginx(port):
    """A server that people run, with an answer as long as load's."""
    home = live.the.state / "nginx"
    home.mkdir(exist_ok=True)
    certificate, key = certified()
    (home / "b").mkdir(exist_ok=True)
    (home / "b" / "64").write_bytes(os.urandom(64 << 20))
    (home / "conf").write_text(NGINX % {
        "home": home, "port": port, "certificate": certificate, "key": key,
        "text": "x" * 100})
    p = subprocess.Popen([WORLD, "inet", shutil.which("nginx"), "-e",
                          home / "error", "-c", home / "conf"])
    try:
        live.within(15, lambda: not subprocess.run(
            [WORLD, "inet", "bash", "-c", "echo >/dev/tcp/%s/%s" % (
                ADDR, port)], check=False, capture_output=True).returncode)
        yield
    finally:
        p.terminate()
        p.wait()


@contextlib.contextmanager
def mitmdump():
    """None, or a function that makes an argument vector go through it."""
    program = shutil.which("mitmdump")
    if not program:
        yield False
        return
    home = live.the.state / "mitm"
    home.mkdir(exist_ok=True)
    rule = ["iptables", "-t", "nat", "{}", "PREROUTING", "-p", "tcp",
            "--dport", MITM_PORT, "-j", "REDIRECT", "--to-ports", LISTEN]

    def rules(what):
        subprocess.run(live.the.enter(*(what if w == "{}" else w
                                        for w in rule)), check=False)
    with open(live.the.state / "log" / "mitmdump", "wb") as log:
        p = subprocess.Popen(live.the.enter(
            program, "--mode", "transparent", "--listen-port", LISTEN,
            "--set", "confdir=%s" % home, "--set",
            "stream_large_bodies=1m", "--set",
            "ssl_verify_upstream_trusted_ca=%s" % (
                live.the.state / "ca" / "ca.crt")),
            stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        rules("-A")
        try:
            live.within(15, lambda: not subprocess.run(
                live.the.enter("bash", "-c", "echo >/dev/tcp/127.0.0.1/" +
                               LISTEN), check=False,
                capture_output=True).returncode)
            yield True
        finally:
            rules("-D")
            p.terminate()
            p.wait()


def compare(line, plain):
    """Requests and throughput, in turn: direct, spliced, decrypted, mitm."""
    tool = LOAD.read_bytes()
    with contextlib.ExitStack() as stack:
        for port in (PORT, MITM_PORT):
            stack.enter_context(server(port))
        spliced, decrypted = (stack.enter_context(live.Place(
            p, files={"load": tool})) for p in (SPLICED, DECRYPTED))
        for place in (spliced, decrypted):
            os.chmod(place.work / "load", 0o755)
        there = stack.enter_context(mitmdump())

        def ways(*args):
            out = {"direct": plain(spliced.work, *command(*args)),
                   "spliced": spliced.argv("run", "--", *command(*args)),
                   "decrypted": decrypted.argv("run", "--", *command(*args))}
            if there:
                out["mitmdump"] = plain(spliced.work, *command(
                    *args, port=MITM_PORT))
            return out

        def medians(rounds, *args):
            argvs = ways(*args)
            seen = [{w: numbers(argv) for w, argv in argvs.items()}
                    for _ in range(rounds)]
            return {w: [statistics.median(s[w][i] for s in seen)
                        for i in range(len(seen[0][w]))] for w in argvs}

        got = medians(3, "fetch", 1000)
        for way, aim in (("spliced", "aim: at least 0.9"),
                         ("decrypted", ""), ("mitmdump", "")):
            if way in got:
                line("one download, " + way, "%.0f MB/s" % got[way][0],
                     "direct %.0f MB/s" % got["direct"][0],
                     "%.2f" % (got[way][0] / got["direct"][0]), aim)
        for what, args in (("1 connection", ("get", 1, SECONDS)),
                           ("32 connections", ("get", 32, SECONDS)),
                           ("16, new each time", ("open", 16, SECONDS))):
            got = medians(3, *args)
            show(line, what, got)


def report(line, what, unit, subject, base, aim):
    """Medians of pairs, and the median and range of their ratios."""
    subject, base = list(subject), list(base)
    ratios = sorted(s / b for s, b in zip(subject, base))
    line(what, "%.0f %s" % (statistics.median(subject), unit),
         "direct %.0f %s" % (statistics.median(base), unit),
         "%.2f" % statistics.median(ratios), "[%.2f-%.2f] load %.1f, %s" % (
             ratios[0], ratios[-1], os.getloadavg()[0], aim))


@contextlib.contextmanager
def clear_server():
    p = subprocess.Popen([WORLD, "inet", LOAD, "serve", CLEAR],
                         stdout=subprocess.PIPE)
    p.stdout.readline()
    try:
        yield
    finally:
        p.kill()
        p.wait()


def use_ports_again():
    """A port that one connection leaves is the next one's, after a second.
    Else those of a minute are all that the kernel has for one place; it looks
    at each before it says so, and that is all that new connections wait for."""
    subprocess.run([WORLD, "host", "sysctl", "-qw",
                    "net.ipv4.tcp_tw_reuse=1"], check=True)


def aims(line, plain, engine="docker", rounds=9, seconds=2):
    """What HAProxy costs, in pairs: a machine that does other things, too,
    moves single figures more than ratios."""
    use_ports_again()
    runs = "engine: %s\n" % engine
    tool = LOAD.read_bytes()
    with contextlib.ExitStack() as stack:
        stack.enter_context(server(PORT))
        stack.enter_context(clear_server())
        spliced, decrypted, clear = (stack.enter_context(live.Place(
            runs + p, files={"load": tool})) for p in (
                SPLICED, DECRYPTED, IN_CLEAR))
        for place in (spliced, decrypted, clear):
            os.chmod(place.work / "load", 0o755)
        for what, places, unit, port, args in (
                ("8 connections", ((spliced, "at least 0.65"),
                                   (decrypted, "at least 0.3")),
                 "/s", PORT, ("get", 8, seconds)),
                ("8, new each time", ((spliced, ""),
                                      (decrypted, "at least 0.63")),
                 "/s", PORT, ("open", 8, seconds)),
                ("64 MB", ((spliced, "at least 0.95"), (decrypted, "")),
                 "MB/s", PORT,
                 ("fetch", 64)),
                ("64 MB in the clear", ((clear, "at least 0.8"),), "MB/s",
                 CLEAR, ("clear", 64))):
            argv = warm(*args, port=port)
            seen = []
            for _ in range(rounds + 1):
                row = [numbers(p.argv("run", "--no-trace", "--", *argv))[0]
                       for p, _ in places]
                seen.append([*row, numbers(plain(spliced.work, *argv))[0]])
            *columns, base = zip(*seen[1:])
            for (place, aim), column in zip(places, columns):
                report(line, "%s, %s" % (what, {
                    spliced: "spliced", decrypted: "decrypted"}.get(
                        place, "by name")), unit, column, base,
                    aim and "aim: " + aim)


def programs(line, plain, engine="docker", rounds=7, seconds=3):
    """Requests of 8 kept connections by a client and a server that people
    use (hey, nginx), which cost what such programs do: the aims were set
    beside these. And by a forwarder that only passes bytes on: no proxy in a
    process of its own does better."""
    hey = shutil.which("hey")
    if not hey or not shutil.which("nginx"):
        line("hey and nginx", "-", "-", "-", "not installed")
        return
    runs = "engine: %s\n" % engine

    def asks(port):
        return ["sh", "-c", "getent hosts %s >/dev/null; hey -c 8 -z %ds "
                "-disable-compression -host %s https://%s:%s/v1/x" % (
                    NAME, seconds, NAME, ADDR, port)]
    with nginx(PORT), forwarder(), live.Place(
            runs + SPLICED) as spliced, live.Place(
                runs + DECRYPTED) as decrypted:
        ways = [*(p.argv("run", "--no-trace", "--", *asks(PORT))
                  for p in (spliced, decrypted)),
                *(plain(spliced.work, *asks(port))
                  for port in (BARE_PORT, PORT))]
        seen = [[answered(way) for way in ways] for _ in range(rounds + 1)]
    *columns, base = zip(*seen[1:])
    for what, column, aim in zip(
            ("spliced", "decrypted", "a bare forwarder"), columns,
            ("aim: at least 0.65", "aim: at least 0.3",
             "what a proxy can reach at all")):
        report(line, "hey and nginx, " + what, "/s", column, base, aim)


def downloads(line, plain, engine="docker", rounds=11):
    """64 MB by a client and from a server that people use, curl and nginx."""
    if not shutil.which("nginx"):
        line("curl and nginx", "-", "-", "-", "not installed")
        return
    runs = "engine: %s\n" % engine
    url = "https://%s:%s/" % (NAME, PORT)
    argv = ["sh", "-c", "curl -sS -o /dev/null %sv1/x && curl -sS -o /dev/null "
            "-w '%%{speed_download}\\n' %sb/64" % (url, url)]
    with nginx(PORT), live.Place(runs + SPLICED) as spliced, live.Place(
            runs + DECRYPTED) as decrypted:
        ways = [*(p.argv("run", "--no-trace", "--", *argv)
                  for p in (spliced, decrypted)),
                plain(spliced.work, *argv)]
        seen = [[numbers(way)[0] / 1e6 for way in ways]
                for _ in range(rounds + 1)]
    *columns, base = zip(*seen[1:])
    for what, column, aim in zip(("spliced", "decrypted"), columns,
                                 ("aim: at least 0.95", "")):
        report(line, "64 MB, curl and nginx, " + what, "MB/s", column, base,
               aim)


def answered(argv):
    """What hey says: requests a second, each with a status of 200."""
    done = subprocess.run(argv, text=True, stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    rate = re.search(r"Requests/sec:\s+([0-9.]+)", done.stdout)
    statuses = re.findall(r"^\s+\[(\d+)\]", done.stdout, re.M)
    if done.returncode or not rate or statuses != ["200"]:
        raise SystemExit("hey: " + done.stdout[-500:] + done.stderr[-500:])
    return float(rate.group(1))


def bare(line, rounds=5, seconds=2):
    """What a proxy takes that only passes bytes on, in pairs: no proxy in a
    process of its own does better, and none that looks at names."""
    def rate(port):
        return numbers(live.the.as_user(str(LOAD), "get", ADDR, port, NAME, "8",
                                        str(seconds)))[0]
    with server(PORT), forwarder():
        seen = [(rate(BARE_PORT), rate(PORT)) for _ in range(rounds + 1)]
        report(line, "8 connections, a bare forwarder", "/s", *zip(*seen[1:]),
               "what a proxy can reach at all")


@contextlib.contextmanager
def forwarder():
    with subprocess.Popen([WORLD, "inet", FORWARD, BARE_PORT, ADDR, PORT],
                          stdout=subprocess.PIPE) as p:
        try:
            p.stdout.readline()
            yield
        finally:
            p.kill()


def records(line, seconds=10):
    """Requests of a full load, and what is on record of them."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(server(PORT))
        place = stack.enter_context(live.Place(
            DECRYPTED, files={"load": LOAD.read_bytes()}))
        os.chmod(place.work / "load", 0o755)
        made = numbers(place.argv("run", "--no-trace", "--", *command(
            "get", 8, seconds)))[3]
        told = sum(d.get("count", 1) for d in place.decisions()
                   if d["kind"] == "request")
        line("records, %d s of full load" % seconds, "%d" % told,
             "requests %d" % made, "%.4f" % (told / made),
             "aim: none without a record; load %.1f" % os.getloadavg()[0])


def show(line, what, got):
    base = got["direct"]
    for way in ("spliced", "decrypted", "mitmdump"):
        if way not in got:
            continue
        aim = ""
        if way == "decrypted" and what == "1 connection":
            aim = "added p50: %.3f ms, aim: under 0.3" % (
                (got[way][1] - base[1]) / 1e3)
        elif way == "decrypted" and "mitmdump" in got:
            aim = "%.1f times mitmdump, aim: 20" % (
                got[way][0] / got["mitmdump"][0])
        line("%s, %s" % (what, way), "%.0f/s" % got[way][0],
             "direct %.0f/s" % base[0], "%.2f" % (got[way][0] / base[0]),
             "p50 %.2f p99 %.2f ms (direct %.2f %.2f) %s" % (
                 got[way][1] / 1e3, got[way][2] / 1e3, base[1] / 1e3,
                 base[2] / 1e3, aim))


def first_byte(line):
    """How long a raw destination's server waits until it may speak."""
    took = []
    script = ("import socket,time\nfor i in range(21):\n"
              " t=time.perf_counter()\n"
              " s=socket.create_connection(('site.test',22))\n"
              " s.recv(99); print((time.perf_counter()-t)*1e3)\n s.close()\n")
    for policy in ("allow: [site.test]\n", None):
        with live.Place(policy, files={"first.py": script}) as place:
            argv = place.argv("run", "--", "python3", "first.py") if policy \
                else live.the.as_user(
                    "docker", "run", "--rm", "--dns", "8.8.8.8", "--mount",
                    "type=bind,source=%s,target=/w" % place.work,
                    "membrane-agent", "python3", "/w/first.py")
            took.append(statistics.median(numbers(argv)))
    line("banner of a raw destination", "%.1f ms" % took[0],
         "direct %.1f ms" % took[1], "", "added: %.0f ms" % (
             took[0] - took[1]))


def timed(place):
    begun = time.perf_counter()
    subprocess.run(place.argv("run", "--", "true"), check=True,
                   stdin=subprocess.DEVNULL, capture_output=True)
    return time.perf_counter() - begun


def start(line):
    with live.Place("allow: [11.0.1.1]\n") as none, live.Place(
            "allow: [site.test]\n") as names, live.Place(
            DECRYPTED) as decrypts:
        seen = []
        for _ in range(11):
            seen.append([timed(p) for p in (none, names, decrypts)])
        base, with_names, with_leaves = (statistics.median(c)
                                         for c in zip(*seen[1:]))
    for what, took in (("names only", with_names),
                       ("and decryption", with_leaves)):
        line("run -- true, " + what, "%.0f ms" % (took * 1e3),
             "no L7 %.0f ms" % (base * 1e3), "%.2f" % (took / base),
             "added: %.0f ms, aim: under 100" % ((took - base) * 1e3))


def resident():
    """MB of each program in the gate that runs."""
    ids = live.the.docker("ps", "-q", "--filter",
                          "label=membrane.role=gate").stdout.split()
    out = {}
    for row in live.the.docker("top", ids[0], "-eo", "pid,comm"
                               ).stdout.splitlines()[1:]:
        pid, name = row.split(None, 1)
        with open("/proc/%s/smaps_rollup" % pid, encoding="ascii") as f:
            pss = [int(x.split()[1]) for x in f if x.startswith("Pss:")][0]
        out[name.strip()] = out.get(name.strip(), 0) + pss / 1024
    return out


def memory(line):
    hosts = ["h%d.zone%d.example.com" % (i, i % 97) for i in range(10000)]
    few = "allow: [site.test]\n"
    for what, policy in (
            ("10,000 names", "allow:\n" + "".join(
                "  - %s:443\n" % h for h in hosts)),
            ("10,000 decrypted", "allow:\n" + "".join(
                "  - {dest: '%s:443', http: [{methods: [GET], paths: "
                "[/p%d/]}]}\n" % (h, i % 50) for i, h in enumerate(hosts)))):
        took = []
        for text in (few, policy):
            with live.Place(text) as place:
                begun = time.perf_counter()
                p = place.popen("run", "--", "sh", "-c", "echo up; sleep 60")
                p.stdout.readline()
                took.append((time.perf_counter() - begun, resident()))
                p.terminate()
                p.communicate(timeout=60)
        (_, base), (seconds, full) = took
        line("gate's memory, " + what, "%.0f MB" % sum(full.values()),
             "1 name %.0f MB" % sum(base.values()),
             "%.1f" % (sum(full.values()) / sum(base.values())), "haproxy %.0f MB, up after %.2f s" % (
                 full.get("haproxy", 0), seconds))
