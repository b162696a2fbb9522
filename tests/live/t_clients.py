"""Real clients, from servers of the fake internet."""
from l7 import TRUSTING
from live import check, shell, test


@test
def git_clone():
    s = shell("allow: ['git.test:443']\n",
              "git clone -q https://git.test/hello.git && cat hello/README "
              "&& git -C hello log --oneline | wc -l")
    check(s.status == 0 and s.stdout.split() == ["hello", "1"], "cloned",
          s.stdout + s.stderr)
    check(s.arrived("http", host="git.test", tls=True), "from out there")


@test
def git_clone_of_another_host():
    s = shell("allow: ['site.test:443']\n",
              "git clone -q https://git.test/hello.git")
    check(s.status == 128, "fails", s.stderr)
    check("git.test" in s.stderr, "and the summary says what to allow",
          s.stderr)
    check(not s.arrived(name="git.test") and not s.arrived(addr="11.0.9.1"),
          "nothing arrived", s.out)


@test
def npm_install():
    s = shell("allow: ['registry.npmjs.org:443']\n",
              "npm install --no-audit --no-fund tiny >&2 && "
              "node -e \"console.log(require('tiny'))\" && "
              "ls node_modules")
    check(s.status == 0 and s.stdout.split() == ["tiny", "tinier", "tiny"],
          "installed, with what it depends on", s.stdout + s.stderr)


@test
def curl_wget_python_node():
    s = shell("allow: ['site.test:443']\n",
              "curl -sS https://site.test/; wget -qO- https://site.test/; "
              "python3 -c \"import urllib.request as u; print(u.urlopen("
              "'https://site.test/').read().decode(), end='')\"; "
              + TRUSTING + "node -e \"require('https').get("
              "'https://site.test/', r => r.pipe(process.stdout))\"")
    check(s.stdout == "hello from site.test\n" * 4, "all four",
          s.stdout + s.stderr)


@test
def large_transfers_arrive_whole():
    s = shell("allow: ['site.test:80']\n",
              "curl -sS http://site.test/bytes/52428800 | sha256sum; "
              "head -c 52428800 /dev/zero | curl -sS -T - -X POST "
              "-H 'Content-Length: 52428800' -H 'Transfer-Encoding:' "
              "http://site.test/sink")
    import hashlib
    down = hashlib.sha256(bytes(range(256)) * (52428800 // 256)).hexdigest()
    up = hashlib.sha256(bytes(52428800)).hexdigest()
    check(s.stdout.split()[:1] == [down], "50 MB down", s.stdout + s.stderr)
    check(up in s.stdout, "50 MB up", s.stdout + s.stderr)


@test
def an_agent_that_hangs_on_nothing():
    s = shell("allow: [site.test]\n",
              "for u in https://other.test/ http://11.0.2.1/ "
              "https://[2a0e::1]/ http://172.17.0.1:2375/; do "
              "curl -sS -m 10 $u; echo $?; done")
    # No name, no connection: nobody's patience (28) is at its end.
    check(s.stdout.split() == ["6", "7", "7", "7"], "refused without a wait",
          s.stdout + s.stderr)
