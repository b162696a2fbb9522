"""Chromium in a session, with its own sandbox: what it shows is looked at."""
import struct
import zlib

import live
from live import ROOT, Place, check
from t_agents import needs
from t_profiles import image

test = live.docker_only("an image with a browser")

WIDTH, HEIGHT, COLOUR = 320, 200, (26, 127, 55)
# Served on the loopback inside; a script of the page has the last word.
PAGE = b"""<!doctype html><title>here</title>
<body style="margin:0;background:#ff0000"><script>
document.body.style.background = "#%02x%02x%02x";
document.title = "painted";
</script>
""" % COLOUR
# The server listens before the browser is begun: nobody waits.
SERVED = r"""
import functools, http.server, subprocess, sys, threading
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 8000), Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""
CHROMIUM = ("chromium", "--headless", "--screenshot=/workspace/shot.png",
            "--window-size=%d,%d" % (WIDTH, HEIGHT),
            "http://127.0.0.1:8000/page.html")
NODE = "/npm/node_modules/.bin/node"   # Debian's is too old for it
PLAYWRIGHT = r"""
const {chromium} = require("/npm/node_modules/playwright-core");
(async () => {
	const browser = await chromium.launch({
		executablePath: "/usr/bin/chromium", chromiumSandbox: true});
	const page = await browser.newPage({
		viewport: {width: %d, height: %d}});
	await page.goto("http://127.0.0.1:8000/page.html");
	console.log(await page.title());
	await page.screenshot({path: "/workspace/shot.png"});
	await browser.close();
})().catch(e => { console.error(String(e)); process.exit(1); });
""" % (WIDTH, HEIGHT)


def unfiltered(rows, stride, size):
    """The lines of a PNG as they were (RFC 2083, section 6)."""
    before, out = bytes(stride), []
    for at in range(0, len(rows), stride + 1):
        kind, line = rows[at], bytearray(rows[at + 1:at + 1 + stride])
        for i in range(stride):
            left = line[i - size] if i >= size else 0
            up, corner = before[i], before[i - size] if i >= size else 0
            guess = left + up - corner
            paeth = min((left, up, corner), key=lambda c: abs(guess - c))
            line[i] = (line[i] + (0, left, up, (left + up) // 2,
                                  paeth)[kind]) % 256
        before = bytes(line)
        out.append(before)
    return out


def picture(data):
    """(width, height, the colours that are in it) of a PNG of 8 bits each."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        return None
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, bits, colours = struct.unpack(
                ">IIBB", data[at + 8:at + 18])
        elif kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    if bits != 8 or colours not in (2, 6):
        return None
    size = 3 if colours == 2 else 4
    lines = unfiltered(zlib.decompress(packed), width * size, size)
    return width, height, {tuple(line[i:i + 3]) for line in lines
                           for i in range(0, len(line), size)}


def browsed(key, *command):
    """A session with the browser; and the picture that it left, or None."""
    image("browser", "tests/live/clients.sh")
    needs("npm")
    mount = "type=bind,source=%s/build/clients/npm,target=/npm,readonly" % ROOT
    with Place("image: membrane-agent-browser\nargs: [--mount, '%s']\n"
               "%s" % (mount, key),
               files={"page.html": PAGE, "served.py": SERVED,
                      "shot.js": PLAYWRIGHT}) as where:
        s = where.membrane("run", "--", "python3", "served.py", *command,
                           timeout=120)
        shot = where.work / "shot.png"
        return s, shot.read_bytes() if shot.exists() else None


OWN = "hardening: {user_namespaces: true}\n"


def is_the_page(s, shot):
    check(s.status == 0 and shot, "there is a picture",
          (s.status, s.stdout, s.stderr))
    got = picture(shot or b"")
    check(got == (WIDTH, HEIGHT, {COLOUR}), "of the page, painted",
          (got, len(shot or b"")))


@test
def chromium_takes_a_picture():
    s, shot = browsed(OWN, *CHROMIUM)
    is_the_page(s, shot)
    arrived = [e for e in s.arrived("http")]
    check(not arrived, "it reached nothing out there", arrived)


@test
def chromium_without_the_key():
    """It has no sandbox of its own then, says so, and shows nothing."""
    s, shot = browsed("", *CHROMIUM)
    check(s.status != 0 and "No usable sandbox" in s.stderr,
          "it says what it lacks", (s.status, s.stdout, s.stderr))
    check(shot is None, "and there is no picture", shot)


@test
def playwright_takes_a_picture():
    s, shot = browsed(OWN, NODE, "shot.js")
    is_the_page(s, shot)
    check(s.stdout == "painted\n", "and reads the page", s.stdout)


@test
def playwright_without_the_key():
    s, shot = browsed("", NODE, "shot.js")
    check(s.status != 0 and "sandbox" in s.stderr and shot is None,
          "it fails, and says of what", (s.status, s.stdout, s.stderr))
