"""Clients in the sandbox trust the session's authority as they are."""
import hashlib

import live
from live import ROOT, Skip, check, shell, test

POLICY = """tls: inspect
allow: [site.test, other.test, git.test, registry.npmjs.org, pypi.org,
        files.pythonhosted.org, deb.debian.org, '*.wild.test',
        proxy.golang.org, github.com, static.crates.io]
"""


def served(command, wanted, *arrived, policy=POLICY, files=None):
    """The command prints what is wanted, and its host was asked over TLS by
    the gate (the certificate is the session's: see decrypted)."""
    s = shell(policy, command, files=files)
    check(s.status == 0 and wanted in s.stdout, "it works: %s" % command,
          (s.status, s.stdout[-1500:], s.stderr[-1500:]))
    for host in arrived:
        check(s.arrived("http", host=host, tls=True), "it arrived: " + host,
              s.arrived("http"))
    return s


@test
def decrypted():
    s = shell(POLICY, "curl -sSv https://site.test/ 2>&1 | grep -i issuer; "
              "openssl s_client -connect site.test:443 -servername site.test "
              "-verify_return_error </dev/null 2>&1 | "
              "grep -E 'Verif|issuer'")
    check("fake internet" not in s.stdout, "by another authority", s.stdout)
    check("Verification: OK" in s.stdout or
          "Verify return code: 0" in s.stdout, "openssl", s.stdout)


@test
def curl():
    served("curl -sS https://site.test/; curl -sS --http2 "
           "https://a.wild.test/; curl -sS --http1.1 https://other.test/",
           "hello from other.test", "site.test", "a.wild.test", "other.test")


@test
def wget():
    served("wget -qO- https://site.test/", "hello from site.test",
           "site.test")


@test
def git():
    served("git clone -q https://git.test/hello.git && cat hello/README",
           "hello", "git.test")


@test
def node():
    served("node -e \"require('https').get('https://site.test/', "
           "r => r.pipe(process.stdout))\"; node -e \"fetch("
           "'https://other.test/').then(r => r.text()).then(console.log)\"",
           "hello from other.test", "site.test", "other.test")


@test
def python_urllib():
    served("python3 -c \"import urllib.request as u; print(u.urlopen("
           "'https://site.test/').read().decode())\"",
           "hello from site.test", "site.test")


@live.docker_only("its image has requests")
def python_requests():
    served("python3 -c \"import requests; print(requests.get("
           "'https://site.test/').text)\"", "hello from site.test",
           "site.test")


@test
def pip():
    served("pip download -q --no-deps -d out tinywheel && ls out && "
           "python3 -m venv v 2>/dev/null; pip install -q "
           "--break-system-packages --target lib tinywheel && "
           "PYTHONPATH=lib python3 -c 'import tinywheel as t; "
           "print(t.NAME)'", "tinywheel-1.2.0", "pypi.org",
           "files.pythonhosted.org")


@test
def npm():
    served("npm install --no-audit --no-fund tiny >&2 && "
           "node -e \"console.log(require('tiny'))\"", "tiny",
           "registry.npmjs.org")


@test
def apt():
    served("mkdir -p a/lists/partial a/cache/archives/partial a/parts && "
           "echo 'deb [trusted=yes] https://deb.debian.org/debian bookworm "
           "main' >a/sources.list && apt-get -o Dir::State=$PWD/a -o "
           "Dir::State::Lists=$PWD/a/lists -o Dir::Cache=$PWD/a/cache -o "
           "Dir::Etc::SourceList=$PWD/a/sources.list -o "
           "Dir::Etc::SourceParts=$PWD/a/parts -o APT::Sandbox::User= "
           "-o Acquire::Languages=none "
           "update && apt-cache -o Dir::State::Lists=$PWD/a/lists -o "
           "Dir::Cache=$PWD/a/cache -o Dir::Etc::SourceList=$PWD/a/"
           "sources.list -o Dir::Etc::SourceParts=$PWD/a/parts show tiny",
           "Package: tiny", "deb.debian.org")


@test
def openssl():
    served("printf 'GET / HTTP/1.0\\r\\nHost: site.test\\r\\n\\r\\n' | "
           "openssl s_client -quiet -verify_return_error -connect "
           "site.test:443 -servername site.test 2>/dev/null",
           "hello from site.test", "site.test")


def with_toolchains(command, wanted, *arrived, files=None):
    """The same, where /usr is the image's with Debian's toolchains added."""
    if not (ROOT / "build/clients/usr.stamp").exists():
        raise Skip("not fetched by apt-get: tests/live/clients.sh")
    served(command, wanted, *arrived, files=files, policy=POLICY +
           "args: [--mount, 'type=bind,source=%s/build/clients/usr,"
           "target=/usr,readonly']\n" % ROOT)


@test
def ruby():
    with_toolchains("ruby -ropen-uri -e \"puts URI.open("
                    "'https://site.test/').read\"", "hello from site.test",
                    "site.test")


@test
def go():
    with_toolchains(
        "GOSUMDB=off GOFLAGS=-mod=mod go run .", "tiny: hello from "
        "site.test", "proxy.golang.org", "site.test", files={
            "go.mod": "module a\n\nrequire tiny.test/tiny v1.2.0\n",
            "go.sum": "", "a.go": """package main

import (
	"io"
	"net/http"
	"os"
	"tiny.test/tiny"
)

func main() {
	r, err := http.Get("https://site.test/")
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString(tiny.Name + ": ")
	io.Copy(os.Stdout, r.Body)
}
"""})


@test
def cargo():
    with_toolchains(
        "RUSTFLAGS='-C linker=gcc' cargo run -q", "it is tiny", "github.com",
        "static.crates.io", files={
            "Cargo.toml": "[package]\nname = \"a\"\nversion = \"0.1.0\"\n"
                          "[dependencies]\ntiny = \"1\"\n",
            "src/main.rs": "fn main() { println!(\"it is {}\", "
                           "tiny::NAME); }\n"})


@test
def variables_name_the_bundle_and_nothing_is_left_untrusted():
    s = shell(POLICY, "env | grep -c /etc/membrane/; for v in SSL_CERT_FILE "
              "CURL_CA_BUNDLE REQUESTS_CA_BUNDLE GIT_SSL_CAINFO PIP_CERT "
              "npm_config_cafile CARGO_HTTP_CAINFO AWS_CA_BUNDLE DENO_CERT "
              "NODE_EXTRA_CA_CERTS; do [ -r \"$(printenv $v)\" ] || echo "
              "missing $v; done")
    check("missing" not in s.stdout, "each is there and readable", s.stdout)


@test
def servers_that_are_not_decrypted_are_trusted_as_before():
    policy = ("allow:\n  - site.test\n  - {dest: other.test, tls: "
              "inspect}\n")
    served("curl -sS https://site.test/; wget -qO- https://site.test/; "
           "node -e \"fetch('https://site.test/').then(r => r.text())"
           ".then(console.log)\"; curl -sS https://other.test/",
           "hello from other.test", "site.test", "other.test",
           policy=policy)


@test
def large_transfers_through_a_decrypted_destination():
    s = shell(POLICY, "curl -sS https://site.test/bytes/52428800 | "
              "sha256sum; head -c 52428800 /dev/zero | curl -sS -T - -X POST "
              "-H 'Content-Length: 52428800' -H 'Transfer-Encoding:' "
              "https://site.test/sink")
    down = hashlib.sha256(bytes(range(256)) * (52428800 // 256)).hexdigest()
    up = hashlib.sha256(bytes(52428800)).hexdigest()
    check(s.stdout.split()[:1] == [down], "50 MB down", s.stdout + s.stderr)
    check(up in s.stdout, "50 MB up", s.stdout + s.stderr)
