"""A HAProxy of its own for an emitted plan, and what stands around it.

For the live halves of oracles (requests.py, cells.py), which run in a network
namespace of their own: what a client of theirs sends, marked, is redirected to
HAProxy, as the gate would hand it over. TOP is the folder that the first
argument names.
"""
import contextlib
import json
import os
import pathlib
import queue
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time

TOP = pathlib.Path(sys.argv[1])
READER = pathlib.Path(__file__).resolve().parents[2] / "build" / "bin" / "membrane-reader.so"
TIMEOUT_S = 10
IPV6_TRANSPARENT = 75
# By the marks of the client: any protocol, HTTP and TLS alone, and both behind somebody's answer.
DOORS = {1: 15001, 2: 15002, 3: 15004, 4: 15004}


def sh(text):
    subprocess.run(["bash", "-euc", text], check=True, stdout=subprocess.DEVNULL)


def certificates(names):
    """A root, and one leaf of it for all names; another root for leaves of ours."""
    names = ",".join("DNS:" + n for n in names)
    for who in ("origin", "gate"):
        sh(f"""cd {TOP}
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN={who}-root \\
            -keyout {who}-root.key -out {who}-root.pem 2>/dev/null
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={who} -keyout {who}.key -out {who}.csr 2>/dev/null
        openssl x509 -req -in {who}.csr -CA {who}-root.pem -CAkey {who}-root.key -CAcreateserial -days 2 \\
            -extfile <(echo subjectAltName={names}) -out {who}.crt 2>/dev/null
        cat {who}.key {who}.crt > {who}.pem""")
    return ssl.PEM_cert_to_DER_cert((TOP / "origin.crt").read_text())


def network(addresses):
    """Addresses of the internet on loopback, and the gate's way to HAProxy: by marks, its doors."""
    sh("ip link set lo up\n" + "".join(f"ip addr add {a} dev lo {'nodad' * (':' in a)}\n" for a in addresses))
    sh("".join(f"ip -6 rule add fwmark {mark} lookup 100\n" for mark in DOORS)
       + "ip -6 route add local default dev lo table 100")
    nft("table ip t { chain o { type nat hook output priority -100;\n"
        + "".join(f"meta mark {m} meta l4proto tcp redirect to :{p}\n" for m, p in DOORS.items())
        + "}\n}\ntable ip6 t { chain p { type filter hook prerouting priority mangle;\n"
        + "".join(f"meta mark {m} meta l4proto tcp tproxy to :{p}\n" for m, p in DOORS.items()) + "}\n}\n")


def nft(text):
    subprocess.run(["nft", "-f", "-"], input=text, text=True, check=True)


def transparent(port):
    """What the gate hands to HAProxy for IPv6."""
    s = socket.socket(socket.AF_INET6)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    s.setsockopt(socket.IPPROTO_IPV6, IPV6_TRANSPARENT, 1)
    s.bind(("::", port))
    s.listen(64)
    return s


class Gate:
    """What the gate is to HAProxy: log, pins, signer, and who is asked."""

    person = None

    def __init__(self, folder, start=True):
        self.run, self.plan = folder / "run", folder / "plan"
        (self.run / "leaf").mkdir(parents=True)
        self.plan.mkdir()
        for name in ("gate.cfg", "gate.lua", "hosts.map", "addr.map", "profiles.map", "crt.lst"):
            if (folder / name).exists():
                (self.plan / name).write_text(self.here((folder / name).read_text()))
        for name in ("pins.map", "tokens.map", "upstream.map"):
            (self.run / name).touch()
        shutil.copyfile(TOP / "origin-root.pem", self.run / "roots.pem")
        leaves = [l.split()[0] for l in (self.plan / "crt.lst").read_text().splitlines()] \
            if (self.plan / "crt.lst").exists() else []
        for leaf in leaves:
            shutil.copyfile(TOP / "gate.pem", leaf)
        self.signed = set()
        self.log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.log.bind(str(self.run / "log.sock"))
        # HAProxy waits for who reads its log: always, as the gate does.
        self.lines = queue.SimpleQueue()
        threading.Thread(target=self.hear, daemon=True).start()
        self.signer = socket.socket(socket.AF_UNIX)
        self.signer.bind(str(self.run / "signer.sock"))
        self.signer.listen(16)
        threading.Thread(target=self.sign, daemon=True).start()
        self.asked = self.person(self) if self.person else None
        env = dict(os.environ, LD_PRELOAD=str(READER), **{"MEMBRANE_CREDENTIAL_%d" % i: "sesame" for i in range(1, 25)})
        check = subprocess.run(["haproxy", "-c", "-f", str(self.plan / "gate.cfg")], env=env, capture_output=True, text=True)
        if check.returncode or "WARNING" in check.stderr:
            raise Bad("haproxy -c: " + check.stderr + check.stdout)
        if not start:
            return
        # The numbers stay: a descriptor is named in the environment.
        entries = {"MEMBRANE_RAW6": transparent(15001), "MEMBRANE_HTTP6": transparent(15002),
                   "MEMBRANE_ASK6": transparent(15004)}
        env.update({name: f"fd@{e.fileno()}" for name, e in entries.items()})
        self.child = subprocess.Popen(["haproxy", "-db", "-f", str(self.plan / "gate.cfg")], env=env,
                                      stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                                      pass_fds=[e.fileno() for e in entries.values()])
        for e in entries.values():
            e.close()
        for _ in range(400):
            if self.child.poll() is not None:
                raise Bad("haproxy: " + self.child.stderr.read())
            try:
                self.admin("show info")
                break
            except OSError:
                time.sleep(0.01)
        if (folder / "pins").exists():
            self.pin((folder / "pins").read_text().split())

    def pin(self, pins):
        """Names with the addresses that the session resolved them to: "NAME@ADDRESS"."""
        for i in range(0, len(pins), 100):
            self.admin(";".join(f"add map {self.run}/pins.map {p} 1" for p in pins[i:i + 100]))

    def here(self, text):
        lines = [l for l in text.splitlines() if not l.startswith(("    uid ", "    gid "))]
        return ("\n".join(lines) + "\n").replace("/plan/", f"{self.plan}/").replace("/run/gate", str(self.run)) \
            .replace("/etc/ssl/certs/ca-certificates.crt", str(TOP / "origin-root.pem"))

    def admin(self, command):
        s = socket.socket(socket.AF_UNIX)
        with s:
            s.settimeout(TIMEOUT_S)
            s.connect(str(self.run / "admin.sock"))
            s.sendall(command.encode() + b"\n")
            out = b""
            while more := s.recv(65536):
                out += more
            return out.decode()

    def sign(self):
        while True:
            try:
                c, _ = self.signer.accept()
            except OSError:
                return
            with c:
                name = c.recv(300).decode().strip()
                if name not in self.signed:
                    self.signed.add(name)
                    path = f"{self.run}/leaf/gen-{name}.pem"
                    self.admin(f"new ssl cert {path}")
                    self.admin(f"set ssl cert {path} <<\n{(TOP / 'gate.pem').read_text()}\n")
                    self.admin(f"commit ssl cert {path}")
                    self.announce(path, name)
                c.sendall(b"ok\n")

    def announce(self, path, name):
        """The certificate has all names."""
        self.admin(f"add ssl crt-list {self.plan}/crt.lst {path}")

    def record(self, want):
        """The next line of the log of one of these kinds."""
        while True:
            line = self.lines.get(timeout=2).decode()
            if not line.startswith("{"):
                continue
            r = json.loads(line)
            if r["k"] in want:
                return r

    def hear(self):
        with contextlib.suppress(OSError):
            while line := self.log.recv(16384):
                self.lines.put(line)

    def drain(self):
        with contextlib.suppress(queue.Empty):
            while True:
                self.lines.get_nowait()

    def done(self):
        self.child.kill()
        self.child.wait()
        self.signer.close()
        if self.asked:
            self.asked.socket.close()
        self.log.shutdown(socket.SHUT_RDWR)
        self.log.close()


class Person:
    """Who is asked what waits. A subclass has answer(kind, addr, port, sport, ...) as gate.lua has them."""

    def __init__(self, gate):
        self.gate = gate
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(gate.run / "ask.sock"))
        self.socket.listen(256)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                s, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        with s, contextlib.suppress(OSError):
            data = b""
            while not data.endswith(b"\n"):
                more = s.recv(4096)
                if not more:
                    return
                data += more
            s.sendall(self.answer(*data.decode().rstrip("\n").split(" ")).encode() + b"\n")


class Bad(Exception):
    pass


def reason_in(body):
    return body.split("\n")[0].rsplit(": ", 1)[-1]


def judged(status, body):
    """What an answer says was decided."""
    if status in (200, 101) and "membrane" not in body:
        return "granted"
    if status in (400, 403, 421):
        reason = reason_in(body)
        want = {"name-mismatch": 421, "bad-request": 400}.get(reason, 403)
        return reason if status == want else f"{reason}, but with {status}"
    return f"? {status} {body[:200]}"
