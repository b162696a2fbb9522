"""One port of the machine that runs membrane, by the name 'host'."""
import json
import subprocess

import live
from live import Place, check, test, within

# On loopback alone: what it was sent comes back once the sender has ended; at
# HTTP the method and the path do.
SERVE = r"""
import http.server, socketserver, socket, sys, threading
class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        got = b""
        while True:
            more = self.request.recv(65536)
            if not more:
                break
            got += more
        self.request.sendall(b"%d:" % len(got) + got)
class Web(http.server.BaseHTTPRequestHandler):
    def answer(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(("%s %s\n" % (self.command, self.path)).encode())
    do_GET = do_POST = answer
    def log_message(self, *_):
        pass
class Six(socketserver.ThreadingTCPServer):
    address_family = socket.AF_INET6
socketserver.ThreadingTCPServer.allow_reuse_address = True
socketserver.TCPServer.request_queue_size = 128
for server in (socketserver.ThreadingTCPServer(("127.0.0.1", 7001), Echo),
               Six(("::1", 7002), Echo),
               http.server.ThreadingHTTPServer(("127.0.0.1", 7003), Web),
               socketserver.ThreadingTCPServer(("127.0.0.1", 7004), Echo)):
    threading.Thread(target=server.serve_forever, daemon=True).start()
print("up", flush=True)
sys.stdin.read()
"""


class Served:
    def __init__(self, policy):
        self.where = Place(policy)
        self.process = subprocess.Popen(
            live.the.as_user("python3", "-c", SERVE), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def run(self, command, *flags):
        return self.where.membrane("run", *flags, "--", "bash", "-c", command)

    def __enter__(self):
        self.where.__enter__()
        return self

    def __exit__(self, *what):
        self.process.communicate(b"")
        self.where.__exit__(*what)


ECHO = """python3 - <<'X'
import socket
def ask(name, port, data=b"hello"):
    try:
        s = socket.create_connection((name, port), 10)
        s.sendall(data)
        try:
            s.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # reset by now: what is read next says so
        got = b""
        while True:
            more = s.recv(65536)
            if not more:
                break
            got += more
        return got
    except OSError as e:
        return type(e).__name__
%s
X
"""


def asks(lines):
    return ECHO % lines


# H-1
@test
def a_port_of_loopback_is_reached():
    with Served("allow: ['host:7001', 'host:7002', 'host:7005']\n") as s:
        r = s.run(asks("""
print(ask("host", 7001))
print(ask("host.docker.internal", 7001))
print(ask("host", 7002))
big = b"x" * 3000000
got = ask("host", 7001, big)
print(got[:8], got[8:] == big)
print(ask("host", 7005))
"""))
        check(r.stdout == "b'5:hello'\nb'5:hello'\nb'5:hello'\n"
              "b'3000000:' True\nConnectionResetError\n" or
              r.stdout == "b'5:hello'\nb'5:hello'\nb'5:hello'\n"
              "b'3000000:' True\nb''\n",
              "on both loopbacks; nobody listens at the last",
              r.stdout + r.stderr)
        told = [d for d in s.where.decisions() if d["kind"] == "connect"]
        check(all(d["verdict"] == "allow" and d["name"] == "host" and
                  d["port"] in (7001, 7002, 7005) for d in told) and
              len(told) == 5, "the record", told)


@test
def other_ports_stay_closed():
    with Served("allow: ['host:7001']\n") as s:
        r = s.run(asks("""
for port in 7002, 7003, 7004, 22, 53, 15001, 15002:
    print(ask("host", port), ask("192.0.0.5", port))
print(ask("192.0.0.1", 7001), ask("127.0.0.1", 7001))
""") + "getent hosts host.docker.internal; ping -c1 -W1 host >/dev/null || "
            "echo no ping")
        lines = r.stdout.splitlines()
        check(lines[:8] == ["ConnectionRefusedError ConnectionRefusedError"] *
              8, "refused, at once", r.stdout + r.stderr)
        check(lines[8].split()[0] == "192.0.0.5" and lines[9] == "no ping",
              "the name", r.stdout)
        told = [d for d in s.where.decisions() if d["kind"] == "connect" and
                d["verdict"] == "deny" and d.get("port") == 7004]
        check(told and all(d["name"] == "host" and d["reason"] == "port"
                           for d in told), "the record", told)
        check("host:7004" in r.stderr, "and the end of the session", r.stderr)


# H-6, H-7
@test
def no_other_way_leads_there():
    """Whatever else is granted: by its address, by names that lead to it, by
    what requests say, over UDP, from one of its ports to another."""
    with Served("""allow:
  - "*"
  - {dest: machine.test, ports: [1-65535], private: true}
  - host:7001
  - {dest: host:7003, http: [{methods: [GET], paths: [/v1/]}]}
""") as s:
        r = s.run("getent ahosts machine.test || echo nothing;" + asks("""
web = b"GET /v2 HTTP/1.1\\r\\nHost: %s\\r\\nConnection: close\\r\\n\\r\\n"
for name in b"host:7003", b"machine.test", b"127.0.0.1:7003":
    print(ask("192.0.0.5", 7003, web % name)[9:12])
print(b"/v2" in ask("192.0.0.5", 7003, b"SSH-2.0-x\\r\\n"))
for port in 22, 53, 80, 443, 7004, 8080, 15001, 15002:
    print(ask("192.0.0.5", port, web % b"machine.test"))
for addr in "192.0.0.1", "192.0.0.6", "127.0.0.1", "::ffff:192.0.0.5":
    print(addr, b"hello" in ask(addr, 7001)
          if type(ask(addr, 7001)) is bytes else False)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.connect(("192.0.0.5", 7001))
u.settimeout(5)
try:
    u.send(b"hello")
    print(u.recv(10))
except OSError as e:
    print(type(e).__name__)
"""))
        lines = r.stdout.splitlines()
        check(lines[0] == "nothing", "no name leads there", r.stdout)
        check(lines[1:4] == ["b'403'", "b'421'", "b'403'"] or
              all(x in ("b'403'", "b'421'") for x in lines[1:4]),
              "requests are judged whatever they name", r.stdout + r.stderr)
        check(lines[4] == "False", "and nothing else passes there", lines)
        for line in lines[5:13]:
            check("Error" in line or line == "b''" or "403" in line or
                  "421" in line, "closed", r.stdout + r.stderr)
        check(not any("hello" in x or "SSH" in x for x in lines[5:13]),
              "nobody there", lines)
        check([x.split()[-1] for x in lines[13:17]] ==
              ["False", "False", "False", "True"] or
              [x.split()[-1] for x in lines[13:17]] == ["False"] * 4,
              "the gate's other addresses", lines)
        check(lines[17] == "ConnectionRefusedError" or
              "Error" in lines[17], "UDP", lines)


# H-5
@test
def without_a_grant_there_is_no_name():
    for policy in ("", "allow: ['*']\n"):
        with Served(policy) as s:
            r = s.run(asks('print(ask("192.0.0.5", 7001), '
                           'ask("host", 7001))'))
            check("hello" not in r.stdout, "nothing", r.stdout + r.stderr)


# H-3
@test
def requests_are_decided():
    with Served("""allow:
  - dest: host:7003
    http: [{methods: [GET], paths: [/v1/]}]
""") as s:
        r = s.run("curl -s http://host:7003/v1/models; curl -s -o /dev/null "
                  "-w '%{http_code}\\n' http://host:7003/v2; curl -s -o "
                  "/dev/null -w '%{http_code}\\n' -X POST "
                  "http://host:7003/v1/models; curl -s "
                  "http://host.docker.internal:7003/v1/x; "
                  "curl -s http://host:7001/ || echo refused; "
                  "printf 'no http\\r\\n\\r\\n' >/dev/tcp/host/7003")
        check(r.stdout == "GET /v1/models\n403\n403\nGET /v1/x\nrefused\n",
              "by method and path", r.stdout + r.stderr)
        told = [json.dumps(d) for d in s.where.decisions()
                if d["kind"] != "resolve"]
        check(any('"path"' in d and '"deny"' in d for d in told),
              "the record", told)


@live.docker_only("the link over its bridge")
def over_the_bridge():
    with Served("runtime: sysbox-runc\nallow: ['host:7001']\n") as s:
        r = s.run(asks('print(ask("host", 7001), ask("host", 7004))'))
        check(r.stdout == "b'5:hello' ConnectionRefusedError\n",
              "the same", r.stdout + r.stderr)


@test
def many_at_once():
    with Served("allow: ['host:7001']\n") as s:
        r = s.run(asks("""
import threading
results = []
def one(i):
    data = bytes([65 + i % 26]) * 20000
    got = ask("host", 7001, data)
    results.append(got == b"20000:" + data or (i, got[:40]))
threads = [threading.Thread(target=one, args=(i,)) for i in range(400)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(len(results), [x for x in results if x is not True])
"""))
        check(r.stdout == "400 []\n", "none is lost", r.stdout + r.stderr)


@test
def it_ends_with_the_session():
    with Served("allow: ['host:7001']\n") as s:
        p = s.where.popen("run", "--", "sh", "-c", "echo up; sleep 100")
        check(p.stdout.readline() == b"up\n", "up")
        p.kill()
        p.communicate(timeout=30)
        r = s.run(asks('print(ask("host", 7001))'))
        check(r.stdout == "b'5:hello'\n", "the next session",
              r.stdout + r.stderr)
        check(not live.leftovers(), "containers", live.leftovers())


@test
def a_running_session_gets_no_other():
    with Served("allow: ['host:7001']\n") as s:
        p = s.where.popen("run", "--", "sh", "-c", "echo up; sleep 100")
        check(p.stdout.readline() == b"up\n", "up")
        r = s.where.membrane("allow", "host:7004", "--yes")
        check(r.status and "start another session" in r.stderr,
              "said so", r.stdout + r.stderr)
        p.kill()
        p.communicate(timeout=30)


# --- the other way: ports inside that the machine publishes ------------------

# A program of a login: it waits for the browser on its loopback alone, and says
# what that brought.
CALLBACK = r"""
import http.server, socket, sys
class Six(http.server.HTTPServer):
    address_family = socket.AF_INET6
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"signed in")
        print("brought", self.path, flush=True)
    def log_message(self, *_):
        pass
six = ":" in sys.argv[1]
server = (Six if six else http.server.HTTPServer)((sys.argv[1],
                                                   int(sys.argv[2])), Page)
print("up", flush=True)
server.handle_request()
"""


def ask_here(port, path, addr="127.0.0.1"):
    """As the browser of the machine does: the page, or curl's status."""
    r = subprocess.run(live.the.enter(
        "curl", "-gsS", "-m", "20", "http://%s:%d%s" % (addr, port, path)),
        capture_output=True, text=True, check=False)
    return r.stdout if r.returncode == 0 else r.returncode


def listening(where, addr, port, *flags):
    p = where.popen("run", *flags, "--", "python3", "-uc", CALLBACK, addr,
                    str(port))
    check(p.stdout.readline() == b"up\n", "it listens")
    return p


# O-1, O-2
@test
def a_login_calls_back():
    """The provider sends the browser to 127.0.0.1, where the program inside
    listens, and nowhere else."""
    with Place("") as w:
        p = listening(w, "127.0.0.1", 1455, "-p", "1455")
        check(ask_here(1455, "/auth/callback?code=abc&state=s") ==
              "signed in", "the browser's page")
        out = p.communicate(timeout=30)[0]
        check(out == b"brought /auth/callback?code=abc&state=s\n" and
              p.returncode == 0, "the code", out)
        check(within(5, lambda: ask_here(1455, "/") == 7),
              "closed with the session")  # Docker's proxy, a moment after it


# O-1, O-2
@test
def published_at_another_port():
    with Place("ports: ['3000:5173']\n") as w:
        p = listening(w, "::1", 5173)
        check(ask_here(5173, "/") == 7, "not at its own")
        for addr in "[::1]", "198.18.0.1":
            check(ask_here(3000, "/", addr) == 7, "loopback alone: " + addr)
        check(ask_here(3000, "/" + "x" * 40000) == "signed in", "a long one")
        out = p.communicate(timeout=30)[0]
        check(len(out) > 40000 and p.returncode == 0, "all of it", len(out))
    with Place("ports: ['0.0.0.0:3000:5173']\n") as w:
        p = listening(w, "0.0.0.0", 5173)
        check(ask_here(3000, "/x", "198.18.0.1") == "signed in",
              "every address, where that is written")
        p.communicate(timeout=30)


@test
def a_port_that_is_taken():
    taken = subprocess.Popen(live.the.as_user(
        "python3", "-c", "import socket, sys\n"
        "s = socket.create_server(('127.0.0.1', 3001))\n"
        "print('up', flush=True)\nsys.stdin.read()"),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        taken.stdout.readline()
        with Place("ports: [3001]\n") as w:
            r = w.membrane("run", "--", "true")
            check(r.status == 125 and "port 3001 of 127.0.0.1 is taken" in
                  r.stderr and "'3002:3001'" in r.stderr, "said so", r.stderr)
            check(not live.leftovers(), "containers", live.leftovers())
    finally:
        taken.communicate(b"")


@test
def a_session_cannot_take_what_is_published():
    """Nobody inside gets more by it: not the machine's other ports, not the
    place where the sockets are handed over."""
    with Served("ports: [1455]\n") as s:
        r = s.run(asks("""
for addr in "127.0.0.1", "192.0.0.1", "192.0.0.5":
    print(ask(addr, 1455), ask(addr, 7001))
""") + "ls /published /ports 2>&1 | grep -c No.such")
        check(r.stdout.split() == ["ConnectionRefusedError"] * 6 + ["2"],
              "nothing", r.stdout + r.stderr)
