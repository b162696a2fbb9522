"""Much of everything: an agent that hammers, many files, many processes."""
import os

import live
from live import Place, check, shell, test

FLOOD = r"""
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("192.0.0.1", 53))
s.setblocking(False)
for i in range(20000):
    q = struct.pack("!HHHHHH", i & 65535, 256, 1, 0, 0, 0)
    for label in (b"n%d" % i, b"exfil", b"test"):
        q += bytes([len(label)]) + label
    try:
        s.send(q + b"\0" + struct.pack("!HH", 16, 1))
    except OSError:
        pass
refused = 0
for i in range(3000):
    c = socket.socket()
    c.settimeout(2)
    try:
        c.connect(("11.0.2.%d" % (i % 250), 1000 + i))
    except OSError:
        refused += 1
    c.close()
print(refused)
"""


@test
def floods_are_refused_and_folded():
    s = shell("allow: [site.test]\n", "python3 -c '%s'; "
              "curl -sS -m 30 http://site.test/" % FLOOD.replace("'", '"'))
    check(s.stdout == "3000\nhello from site.test\n", "it still serves",
          s.stdout + s.stderr[:400] + " ... " + s.stderr[-400:])
    check(len(s.stderr) < 20000, "the summary stays readable", len(s.stderr))
    check(not s.arrived(name=lambda n: n and "exfil" in n), "no query left")
    check(not s.arrived("packet", addr=lambda a: a.startswith("11.0.2.")),
          "no connection left")


@test
def queries_for_granted_wildcards_in_bulk():
    s = shell("allow: ['*.wild.test']\n", "python3 -c '%s'" % (
        "import socket\nfor i in range(1500):\n"
        " socket.getaddrinfo(\"h%d.wild.test\" % i, 80)\nprint(\"done\")"))
    check(s.stdout == "done\n", "1500 names", s.stdout + s.stderr[-800:])


@live.docker_only("its control group of processes")
def processes_are_limited():
    s = shell("", "cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max "
              "2>/dev/null | head -n 1")
    check(s.stdout.strip().isdigit(), "there is a limit", s.stdout)


@test
def two_thousand_masks():
    files = {"d%d/%d.key" % (i % 40, i): "secret\n" for i in range(2000)}
    with Place("ignore: ['*.key']\n", files=files) as where:
        s = where.membrane("run", "--", "sh", "-c",
                           "grep -rl secret . | wc -l; find . -name '*.key' "
                           "| wc -l")
        check(s.stdout.split() == ["0", "2000"] or (
            s.status == 125 and "2000" in s.stderr), "masked, or refused "
            "with the count", (s.status, s.stdout, s.stderr[-800:]))


@test
def twenty_thousand_masked_files_in_folders():
    files = {"keys/d%d/%d.key" % (i % 40, i): "secret\n"
             for i in range(20000)}
    with Place("ignore: [keys/]\n", files=files) as where:
        s = where.membrane("run", "--", "sh", "-c",
                           "find keys | wc -l; grep -rl secret . | wc -l")
        check(s.stdout.split() == ["1", "0"], "one mask for the folder",
              (s.stdout, s.stderr[-800:]))
    with Place("ignore: ['*.key']\n", files=files) as where:
        s = where.membrane("run", "--", "sh", "-c",
                           "grep -rl secret . | wc -l; exit 0", timeout=120)
        check(s.stdout == "0\n" or s.status == 125 and "20000" in
              s.stderr.replace(",", ""), "masked one by one, or refused with "
              "the count", (s.status, s.stdout, s.stderr[-800:]))


@test
def flags_that_ask_for_less():
    with Place("") as where:
        log = where.root / "trace.log"
        s = where.membrane("run", "--no-trace", "--no-update",
                           "--no-global-config", "--trace-log", str(log),
                           "--", "echo", "ran")
        check(s.status == 0 and s.stdout == "ran\n", "accepted", s.stderr)
    with Place("allow: [site.test]\n") as where:
        s = where.membrane("run", "--no-global-config", "--", "sh", "-c",
                           "getent hosts site.test || echo refused")
        check(s.stdout == "refused\n", "the global file is not read",
              s.stdout)


@test
def a_plan_that_is_checked_in():
    with Place("", workspace="allow: [site.test]\n") as where:
        os.chmod(where.work, 0o755)
        s = where.membrane("compile", "-o", "plan")
        check(s.status == 0, "compile", s.stderr)
        s = where.membrane("check", "plan")
        check(s.status == 0, "check", s.stderr)
        rules = where.work / "plan" / "ruleset.nft"
        rules.write_text(rules.read_text() + "# edited\n")
        s = where.membrane("check", "plan")
        check(s.status == 1 and "ruleset.nft" in s.stderr + s.stdout,
              "an edited plan is seen", (s.status, s.stderr))
