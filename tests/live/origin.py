"""Web servers of the fake internet, which write down what reached them.

    {"event": "hello", "sni"}                     a ClientHello was understood
    {"event": "tls", "conn", "sni", "alpn"}       a handshake was completed
    {"event": "http", "conn", "version", "tls", "sni", "alpn", "host",
     "method", "path", "headers", "data"}         one request
    {"event": "raw", "data"}                      bytes at the recorder
    {"event": "ws"|"tunnel", "data"}              after an upgrade
    {"event": "model", "streamed"}                a model was asked (sites.py)
    {"event": "hook", "path", "body", "signed"}   a webhook was called (sites.py)

Every line also has addr, port and src. What a server does is told by the path
(/bytes/N /sink /slow/SECONDS /drip/N /ws /status/N /chunked/N), by the name
(H2, BAD, sites.py), and by the address (RECORDER).
"""
import base64
import gzip
import hashlib
import http.server
import ipaddress
import itertools
import os
import secrets
import socket
import socketserver
import ssl
import subprocess
import sys
import threading
import time

try:
    import h2.config
    import h2.connection
    import h2.errors
    import h2.events
except ImportError:   # Debian's python3-h2; without it h2.test speaks 1.1
    h2 = None

CHUNK = bytes(range(256)) * 256
RECORDER = "11.0.20.1"
# Names whose server offers HTTP/2, and whose certificate covers all of them.
H2 = ("h2.test", "a.h2.test", "b.h2.test", "c.h2.test")
SHARED = ("site.test", "neighbour.test")
# A port whose server wants a key that no client offers unasked.
RETRY = 4446
connections = itertools.count(1)


def text(data, most=64):
    return data[:most].decode("latin-1")


def plain(addr):
    return addr[7:] if addr.startswith("::ffff:") else addr


def where(sock):
    """Whom the peer meant: our own end of an accepted connection."""
    addr, port = sock.getsockname()[:2]
    return {"addr": plain(addr), "port": port,
            "src": plain(sock.getpeername()[0])}


class Server(socketserver.ThreadingTCPServer):
    address_family = socket.AF_INET6
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request, client_address):
        print("%s: %s" % (self.server_address[1], sys.exc_info()[1]),
              file=sys.stderr)

    def start(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()


# --- HTTP/1.1 --------------------------------------------------------------

class Web(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    sites = {}   # Host -> function(handler, path, body)
    log = None

    def note(self, event, **fields):
        sock = self.connection
        self.log(event, proto="tcp", **where(sock), conn=self.server.conn(
            sock), tls=isinstance(sock, ssl.SSLSocket),
            sni=getattr(sock, "sni", None), **fields)

    def do_any(self):
        host = self.headers.get("Host", "").split(":")[0].lower()
        size = int(self.headers.get("Content-Length") or 0)
        sink = self.path == "/sink"
        body = b"" if sink else self.read_body(size)
        self.note("http", version="1.1", host=host, method=self.command,
                  path=self.path, data=text(body), alpn="http/1.1",
                  headers=[[k.lower(), v] for k, v in self.headers.items()])
        if sink:
            return self.reply(self.sink(size))
        upgrade = self.headers.get("Upgrade", "").lower()
        if upgrade and self.path.startswith(("/ws", "/upgrade")):
            return self.upgrade(upgrade)
        word, _, rest = self.path.lstrip("/").partition("/")
        special = getattr(self, "at_" + word, None)
        if special and rest.isdigit():
            return special(int(rest))
        if host in self.sites:
            return self.sites[host](self, self.path, self.unpacked(body))
        return self.reply(b"hello from %s\n" % host.encode())

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = do_any
    do_OPTIONS = do_TRACE = do_PROPFIND = do_any

    def do_CONNECT(self):
        self.note("http", version="1.1", method="CONNECT", path=self.path,
                  host=self.headers.get("Host", ""), data="")
        self.send_response(200)
        self.end_headers()
        self.tunnel()

    def read_body(self, size):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(size)
        out = b""
        while True:
            n = int(self.rfile.readline().split(b";")[0], 16)
            out += self.rfile.read(n)
            self.rfile.readline()
            if not n:
                return out

    def unpacked(self, body):
        """What a client means that packs what it sends: claude does, to whom
        it is logged in at."""
        packed = self.headers.get("Content-Encoding", "").lower() == "gzip"
        return gzip.decompress(body) if packed else body

    def reply(self, data, kind="text/plain", status=200, headers=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def at_bytes(self, n):
        self.send_response(200)
        self.send_header("Content-Length", str(n))
        self.end_headers()
        while n:
            part = CHUNK[:min(n, len(CHUNK))]
            self.wfile.write(part)
            n -= len(part)

    def at_slow(self, seconds):
        time.sleep(seconds)
        self.reply(b"at last\n")

    def at_status(self, status):
        self.reply(b"as you wish\n", status=status)

    def at_altsvc(self, _):
        self.reply(b"elsewhere\n", headers=[("Alt-Svc", 'h3=":443"')])

    def at_drip(self, n):
        """A stream of events; each must arrive on its own."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for i in range(n):
            part = b"data: %d\n\n" % i
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            time.sleep(0.1)
        self.wfile.write(b"0\r\n\r\n")

    def sink(self, size):
        digest = hashlib.sha256()
        while size:
            part = self.rfile.read(min(size, 65536))
            if not part:
                break
            digest.update(part)
            size -= len(part)
        return digest.hexdigest().encode() + b"\n"

    def upgrade(self, protocol):
        """Agrees to whatever it is asked for."""
        self.send_response(101)
        self.send_header("Connection", "Upgrade")
        self.send_header("Upgrade", protocol)
        if protocol == "websocket":
            key = self.headers.get("Sec-WebSocket-Key", "").encode()
            self.send_header("Sec-WebSocket-Accept", base64.b64encode(
                hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
                             ).digest()).decode())
        self.end_headers()
        if protocol == "websocket":
            self.websocket()
        else:
            self.tunnel()

    def websocket(self):
        """Echo: short frames only."""
        self.close_connection = True
        while True:
            head = self.rfile.read(2)
            if len(head) < 2:
                return
            size, mask = head[1] & 127, self.rfile.read(4)
            data = bytes(b ^ mask[i % 4]
                         for i, b in enumerate(self.rfile.read(size)))
            self.note("ws", data=text(data))
            self.wfile.write(bytes([head[0], size]) + data)
            if head[0] & 15 == 8:
                return

    def tunnel(self):
        self.close_connection = True
        while True:
            data = self.rfile.read1(65536)
            if not data:
                return
            self.note("tunnel", data=text(data))
            self.wfile.write(data)

    def log_message(self, *args):
        pass


class Recorder(socketserver.BaseRequestHandler):
    """Writes down the bytes as they came; answers each request it can see."""

    def handle(self):
        sock, data = self.request, b""
        while True:
            part = sock.recv(65536)
            if not part:
                return
            Web.log("raw", proto="tcp", **where(sock), sni=getattr(
                sock, "sni", None), conn=self.server.conn(sock),
                data=text(part, 4000))
            data += part
            while b"\r\n\r\n" in data:
                head, _, data = data.partition(b"\r\n\r\n")
                low = head.lower()
                if b"chunked" in low:
                    data = data.partition(b"0\r\n\r\n")[2]
                elif b"content-length:" in low:
                    size = low.split(b"content-length:")[1].split()[0]
                    data = data[int(size):] if size.isdigit() else data
                sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
                             b"recorded\n")


# --- HTTP/2 ----------------------------------------------------------------

class Web2:
    """One HTTP/2 connection; answers what Web answers for plain pages."""

    def __init__(self, sock, conn):
        self.sock, self.conn = sock, conn
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(
            client_side=False, header_encoding="latin-1"))
        self.streams, self.pending = {}, {}

    def run(self):
        self.h2.initiate_connection()
        while True:
            out = self.h2.data_to_send()
            if out:
                self.sock.sendall(out)
            data = self.sock.recv(65536)
            if not data:
                return
            for event in self.h2.receive_data(data):
                self.on(event)

    def on(self, event):
        kind = type(event).__name__
        if kind == "RequestReceived":
            self.streams[event.stream_id] = [event.headers, b""]
        elif kind == "DataReceived":
            self.streams[event.stream_id][1] += event.data
            self.h2.acknowledge_received_data(
                event.flow_controlled_length, event.stream_id)
        elif kind == "StreamEnded":
            self.answer(event.stream_id, *self.streams.pop(event.stream_id))
        elif kind == "WindowUpdated":
            for stream in list(self.pending):
                self.send(stream)
        elif kind == "StreamReset":
            self.pending.pop(event.stream_id, None)

    def answer(self, stream, headers, body):
        named = dict(headers)
        path = named[":path"]
        host = named.get(":authority", "").split(":")[0].lower()
        Web.log("http", proto="tcp", **where(self.sock), conn=self.conn,
                tls=True, sni=self.sock.sni, alpn="h2", version="2",
                host=host, method=named[":method"], path=path,
                data=text(body), headers=[list(h) for h in headers])
        if path.startswith("/bytes/"):
            size = int(path[7:])
            page = CHUNK * (size // len(CHUNK)) + CHUNK[:size % len(CHUNK)]
        else:
            page = b"hello from %s\n" % host.encode()
        self.h2.send_headers(stream, [
            (":status", "200"), ("content-length", str(len(page)))])
        self.pending[stream] = page
        self.send(stream)

    def send(self, stream):
        page = memoryview(self.pending[stream])
        while page:
            size = min(len(page), self.h2.max_outbound_frame_size,
                       self.h2.local_flow_control_window(stream))
            if size <= 0:
                break
            self.h2.send_data(stream, bytes(page[:size]))
            page = page[size:]
            self.sock.sendall(self.h2.data_to_send())
        self.pending[stream] = page
        if not page:
            del self.pending[stream]
            self.h2.end_stream(stream)


# --- TLS -------------------------------------------------------------------

class Certificates:
    """A certificate for any name or address, made on first use."""

    def __init__(self, state):
        self.ca, self.dir = state / "ca", state / "tls"
        self.dir.mkdir(exist_ok=True)
        self.lock, self.ready = threading.Lock(), {}

    def context(self, name):
        with self.lock:
            if name not in self.ready:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(*self.files(name))
                if h2 and name in H2:
                    context.set_alpn_protocols(["h2", "http/1.1"])
                else:
                    context.set_alpn_protocols(["http/1.1"])
                self.ready[name] = context
            return self.ready[name]

    def files(self, name):
        """(certificate, key) for a name, on disk."""
        path = self.dir / (hashlib.sha256(name.encode()).hexdigest() + ".pem")
        if not path.exists():
            self.make(name, path)
        return path, self.ca / "leaf.key"

    def make(self, name, path):
        names = H2 if name in H2 else SHARED if name in SHARED else (name,)
        if name == "badname.test":
            names = ("elsewhere.test",)
        try:
            alt = "IP:%s" % ipaddress.ip_address(name)
        except ValueError:
            alt = ",".join("DNS:" + n for n in names)
        root = "corp" if name.endswith(".corp.test") else "ca"
        signer = ["-signkey", self.ca / "leaf.key"] \
            if name == "selfsigned.test" else \
            ["-CA", self.ca / (root + ".crt"), "-CAkey",
             self.ca / (root + ".key"),
             "-set_serial", str(secrets.randbits(63))]
        life = ["-days", "-1" if name == "expired.test" else "3650"]
        request = subprocess.run(
            ["openssl", "req", "-new", "-key", self.ca / "leaf.key",
             "-subj", "/CN=fake"], check=True, capture_output=True).stdout
        # Another process may make the same: whole, or not there.
        more = path.with_suffix(".ext%d" % os.getpid())
        made = path.with_suffix(".new%d" % os.getpid())
        more.write_text("subjectAltName=%s\nbasicConstraints=critical,"
                        "CA:FALSE\nsubjectKeyIdentifier=hash\n"
                        "authorityKeyIdentifier=keyid\n" % alt)
        subprocess.run(
            ["openssl", "x509", "-req", *signer, *life, "-extfile", more,
             "-out", made], input=request, check=True,
            stderr=subprocess.DEVNULL)
        more.unlink()
        made.rename(path)


class WebServer(Server):
    def __init__(self, port, certificates=None):
        self.certificates, self.known = certificates, {}
        super().__init__(("::", port), Web)

    def conn(self, sock):
        return self.known.get(sock.fileno(), 0)

    def wrap(self, request, here):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

        def choose(sock, name, _):
            sock.sni = name
            Web.log("hello", proto="tcp", **here, sni=name)
            sock.context = self.certificates.context(name or here["addr"])
        context.sni_callback = choose
        context.load_cert_chain(*self.certificates.files("fake.test"))
        if here["port"] == RETRY:
            context.set_ecdh_curve("secp384r1")
        return context.wrap_socket(request, server_side=True)

    def finish_request(self, request, client_address):
        request.settimeout(60)
        number, here = next(connections), where(request)
        if self.certificates:
            request = self.wrap(request, here)
            alpn = request.selected_alpn_protocol()
            Web.log("tls", proto="tcp", **here, conn=number, sni=request.sni,
                    alpn=alpn)
            if alpn == "h2":
                Web2(request, number).run()
                return
        self.known[request.fileno()] = number
        if here["addr"] == RECORDER:
            Recorder(request, client_address, self)
        else:
            super().finish_request(request, client_address)
