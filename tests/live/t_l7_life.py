"""HAProxy under load, in bad company, and when something dies."""
import hashlib
import json
import os
import signal
import subprocess
import time

import live
from l7 import (API, SITE, TOOLS, gate_processes, header, proxies, reached,
                web)
from live import Place, check, leftovers, shell, test, within

GIGABYTE = 1 << 30
POLICY = ("allow:\n  - site.test\n"
          "  - {dest: api.test, http: [{paths: [/v1/, /slow/, /bytes/]}]}\n")

PARALLEL = r"""
import socket, ssl, sys, threading
ok, lock, start = [], threading.Lock(), threading.Barrier(200)
context = ssl.create_default_context()
def one(i):
    name = ("site.test", "api.test")[i % 2]
    start.wait()
    try:
        s = socket.create_connection((name, 443), 30)
        s = context.wrap_socket(s, server_hostname=name)
        s.settimeout(30)
        for n in range(3):
            s.sendall(b"GET /v1/%d-%d HTTP/1.1\r\nHost: %s\r\n\r\n" % (
                i, n, name.encode()))
            got = b""
            while b"hello from " + name.encode() + b"\n" not in got:
                part = s.recv(4096)
                if not part:
                    raise OSError("closed")
                got += part
        with lock:
            ok.append(i)
    except OSError as e:
        print(i, name, e, file=sys.stderr)
threads = [threading.Thread(target=one, args=(i,)) for i in range(200)]
[t.start() for t in threads]
[t.join() for t in threads]
print(len(ok))
"""


@test
def two_hundred_connections_at_once():
    with Place(POLICY, files={"parallel.py": PARALLEL}) as where:
        s = where.membrane("run", "--", "python3", "parallel.py")
        check(s.stdout == "200\n", "all of them, three requests each",
              s.stdout + s.stderr[-1500:])
        check(len(s.arrived("http")) == 600, "arrived",
              len(s.arrived("http")))
        records = [d for d in where.decisions() if d["kind"] == "request"]
        check(len(records) == 300, "a record of each decided request",
              len(records))
    for name in ("site.test", "api.test"):
        check({e["host"] for e in s.arrived("http", sni=name)} == {name},
              "no connection is shared between names")


# The gate gives who is silent five seconds: nobody waits until those are over.
SLOW = r"""
import socket, time, sys
held = []
for i in range(150):
    s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)
    s.sendall(b"GET /v1/x HTTP/1.1\r\nHo" if i % 2 else b"\x16\x03\x01\x02")
    held.append(s)
time.sleep(1)
import urllib.request
for url in ("https://api.test/v1/a", "http://api.test/v1/b",
            "https://site.test/c"):
    start = time.monotonic()
    urllib.request.urlopen(url, timeout=8).read()
    print(int(time.monotonic() - start < 4))
"""


@test
def clients_that_never_finish_do_not_hinder_others():
    with Place(POLICY, files={"slow.py": SLOW}) as where:
        s = where.membrane("run", "--", "sh", "-c", "getent hosts api.test "
                           "site.test >/dev/null; python3 slow.py %s 80 && "
                           "python3 slow.py %s 443" % (API, API))
    check(s.stdout.split() == ["1"] * 6, "the others are served",
          s.stdout + s.stderr[-800:])


@test
def servers_that_are_slow_or_break_off():
    s = web(POLICY, [["get", "https://api.test/slow/6"],
                     ["get", "https://site.test/slow/6"],
                     ["get", "https://api.test:22/v1/x"],
                     ["get", "http://api.test:9418/v1/x"]])
    check(s.tried[0]["ok"] and s.tried[1]["ok"], "waited for", s.tried)
    for result in s.tried[2:]:
        check(result.get("code") in (502, 503, 504), "said so", result)


def download(policy, host):
    digest = hashlib.sha256()
    block = bytes(range(256)) * 4096
    for _ in range(GIGABYTE // len(block)):
        digest.update(block)
    s = shell(policy, "curl -sS https://%s/bytes/%d | sha256sum" % (
        host, GIGABYTE))
    check(s.stdout.split()[:1] == [digest.hexdigest()], "every byte",
          s.stdout + s.stderr)


@test
def one_gigabyte_spliced():
    download(POLICY, "site.test")


@test
def one_gigabyte_decrypted():
    download(POLICY, "api.test")


@test
def half_closed_http():
    s = web(POLICY, [["resolve", "api.test"], ["resolve", "site.test"],
                     ["half_close", API, 80, "GET /v1/x HTTP/1.1\r\n"
                      "Host: api.test\r\nConnection: close\r\n\r\n"],
                     ["half_close", SITE, 80, "GET /y HTTP/1.1\r\n"
                      "Host: site.test\r\nConnection: close\r\n\r\n"]])
    for result in s.tried[2:]:
        check(result["ok"] and "hello from" in result.get("data", ""),
              "answered all the same", result)
    check(sorted(reached(s)) == [("GET", "/v1/x"), ("GET", "/y")], "arrived",
          reached(s))


def started(where, command):
    p = where.popen("run", "--", "sh", "-c", "curl -sS -o /dev/null "
                    "https://site.test/; echo up; " + command)
    line = p.stdout.readline()
    check(line == b"up\n", "it is up", (line, p.poll()))
    return p


def ends(p, what):
    try:
        out, err = p.communicate(timeout=20)
        check(p.returncode == 125, "the session ends with 125: " + what,
              (p.returncode, out[-300:], err[-500:]))
    except subprocess.TimeoutExpired:
        check(False, "the session ends: " + what)
        p.kill()
        p.communicate()
    check(within(5, lambda: not leftovers()), "no container is left",
          leftovers())


@test
def haproxy_dies():
    for number in (signal.SIGKILL, signal.SIGTERM):
        with Place(POLICY) as where:
            p = started(where, "sleep 60")
            log = live.Log("inet.jsonl")
            for pid in proxies():
                os.kill(pid, number)
            ends(p, "HAProxy, signal %d" % number)
            live.the.settle()
            check(not live.matching(log.events(), "packet", addr=SITE),
                  "nothing went out after it", log.events())


@test
def the_gate_dies():
    with Place(POLICY) as where:
        p = started(where, "while :; do curl -sS -m 2 -o /dev/null "
                    "https://site.test/; sleep 0.05; done")
        pids = proxies()
        live.kill_part("gate")
        ends(p, "the gate")
        for pid in pids:
            check(not os.path.exists("/proc/%d" % pid), "HAProxy is gone")


@test
def the_gate_stops_and_nothing_passes():
    with Place(POLICY) as where:
        p = started(where, "sleep 1; curl -sS -m 3 https://api.test/v1/x; "
                    "curl -sS -m 3 https://site.test/; sleep 60")
        proxies()
        pids = sum(gate_processes().values(), [])
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        log = live.Log("inet.jsonl")
        time.sleep(5)
        live.the.settle()
        check(not live.matching(log.events(), "http"), "no request",
              log.events())
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        p.terminate()
        p.communicate(timeout=30)


@test
def haproxy_runs_without_privileges():
    with Place(POLICY) as where:
        p = started(where, "sleep 30")
        for pid in proxies():
            with open("/proc/%d/status" % pid, encoding="ascii") as f:
                status = dict(line.rstrip("\n").split(":\t", 1)
                              for line in f if ":\t" in line)
            check(status["Uid"].split()[0] != "0", "not root", status["Uid"])
            check(int(status["CapEff"], 16) == 0 and
                  int(status["CapPrm"], 16) == 0, "no capability",
                  status["CapEff"])
            check(status["NoNewPrivs"].strip() == "1", "nor any to come",
                  status["NoNewPrivs"])
        p.terminate()
        p.communicate(timeout=30)


@test
def its_own_ports_and_sockets_are_out_of_reach():
    s = web(POLICY, [["tcp", "192.0.0.1", 15001], ["tcp", "192.0.0.1", 15002],
                     ["tcp", "192.0.0.2", 15001], ["tcp", "127.0.0.1", 15001],
                     ["resolve", "api.test"], ["tcp", API, 15001],
                     ["tcp", API, 15002, "x"],
                     ["sh", "ls /run/gate /plan 2>&1; ls -A /proc/net/unix; "
                      "grep -c gate /proc/net/unix; true"]])
    for result in s.tried[:4]:
        check(not result["ok"], "refused", result)
    check("0\n" in s.tried[7]["out"], "no socket of it is in sight",
          s.tried[7])


@test
def many_names_and_paths():
    hosts = ["h%d.big.example" % i for i in range(2000)]
    policy = "allow:\n" + "".join(
        "  - {dest: %s, http: [{methods: [GET], paths: [/p%d]}]}\n" % (
            h, i % 50) for i, h in enumerate(hosts))
    s = web(policy, [["get", "https://h1999.big.example/p49"],
                     ["get", "https://h1999.big.example/p48"],
                     ["get", "https://h7.big.example/p7/x"],
                     ["resolve", "h2000.big.example"]])
    check(s.tried[0]["ok"] and s.tried[2]["ok"], "permitted", s.tried)
    check(s.tried[1].get("code") == 403 and not s.tried[3]["ok"], "refused",
          s.tried)


# N-15
@test
def addresses_are_tied_to_names_while_they_are_used():
    # rotate.test has another address at each question, for one second.
    s = shell("allow: [rotate.test]\n",
              "for i in 1 2 3 4 5; do curl -sS -m 5 https://rotate.test/ "
              "|| exit 1; sleep 0.3; done; a=$(getent hosts rotate.test | "
              "cut -d' ' -f1); sleep 4; curl -sS -m 5 --resolve "
              "rotate.test:443:$a https://rotate.test/")
    check(s.status == 0 and s.stdout.count("hello") == 6, "reachable",
          s.stdout + s.stderr)


@test
def reused_connections_carry_one_name_each():
    # api.test and api2.test share an address, in one session, decrypted.
    policy = ("allow:\n  - {dest: api.test, tls: inspect}\n"
              "  - {dest: api2.test, tls: inspect}\n")
    tries = [["get", "https://%s/%d" % (("api.test", "api2.test")[i % 2], i)]
             for i in range(20)]
    s = web(policy, tries)
    for result in s.tried:
        check(result["ok"], "served", result)
    for event in s.arrived("http"):
        check(event["host"] == event["sni"], "its own connection", event)
        check(header(event, "host") == [event["host"]], "one host", event)


@test
def sessions_side_by_side_have_their_own_rules():
    with Place(POLICY, files=TOOLS) as one, Place(
            "allow:\n  - {dest: api.test, http: [{paths: [/other/]}]}\n",
            files=TOOLS) as two:
        ask = json.dumps([["get", "https://api.test/v1/x"],
                          ["get", "https://api.test/other/x"]])
        running = [w.popen("run", "--", "python3", "probe.py", ask)
                   for w in (one, two)]
        out = [json.loads(p.communicate(timeout=60)[0] or "[{},{}]")
               for p in running]
    check([r.get("ok") for r in out[0]] == [True, False], "the first", out)
    check([r.get("ok") for r in out[1]] == [False, True], "the second", out)
