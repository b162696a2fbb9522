"""What holds on a stock Debian host (sessions.py), and cannot be seen on every
machine that runs the live tests."""
import gzip
import json
import pathlib

import live
from live import Place, Skip, check, within

REQUIRED = ("trace: {engine: native, required: true, events: [full, "
            "{event: cap_capable}]}\n")


def doctor(where):
    said = json.loads(where.membrane("doctor", "--json").stdout)
    check(said["runs"], "sessions run here", [
        c for c in said["checks"] if c["needed"] and c["state"] != "ok"])
    return {c["name"]: c for c in said["checks"]}


def traced(where, command):
    """A session, and its trace."""
    s = where.membrane("run", "--", "sh", "-c", command)
    return s, [json.loads(line)
               for path in (where.state / "trace").glob("*.jsonl.gz")
               for line in gzip.open(path, "rt")]


def by_hooks(where):
    """A trace that the session needs, with what hooks alone can give."""
    s, found = traced(where, "touch made; cat /proc/self/attr/current; "
                      "chown 0 made; exit 5")
    check(s.status == 5, "the command's status", (s.status, s.stderr))
    check("docker-default (enforce)" in s.stdout, "AppArmor's profile",
          s.stdout)
    args = [{a["name"]: a["value"] for a in e["args"]} for e in found]
    check(args and args[0]["back_end"] == args[-1]["back_end"] == "fexit" and
          args[-1]["lost"] == 0, "the back end", (args[:1], args[-1:]))
    opened = [a["pathname"] for e, a in zip(found, args)
              if e["eventName"] == "security_file_open"]
    check(opened.count("/workspace/made") == 1, "opened once", opened)
    check("cap_capable" in {e["eventName"] for e in found},
          "an event that is named")
    check(len({e["containerId"] for e in found[1:]}) == 1,
          "nothing of the host")
    return found


def booted_with(word):
    if word not in pathlib.Path("/proc/cmdline").read_text().split():
        raise Skip("not booted with " + word)


@live.docker_only("a trace by its daemon's right")
def is_what_debian_installs():
    with Place(REQUIRED) as where:
        by_name = doctor(where)
        check(by_name["back end"]["detail"] == "fexit", "the back end",
              by_name["back end"])
        check(by_name["limits"]["detail"] == "cgroup v2, systemd", "cgroups",
              by_name["limits"])
        check("bpf" in by_name["LSMs"]["detail"].split(","), "LSMs",
              by_name["LSMs"])
        for name in ("AppArmor, SELinux", "io_uring", "capabilities",
                     "seccomp", "user namespaces"):
            check(by_name[name]["state"] == "ok", name, by_name[name])
        by_hooks(where)


@live.docker_only("a trace by its daemon's right")
def old_cgroups_locked_down_and_no_bpf_among_the_lsms():
    booted_with("lockdown=integrity")
    with Place(REQUIRED) as where:
        by_name = doctor(where)
        check(by_name["back end"]["detail"] == "fexit", "the back end",
              by_name["back end"])
        check(by_name["limits"]["detail"] == "cgroup v1, cgroupfs", "cgroups",
              by_name["limits"])
        check("bpf" not in by_name["LSMs"]["detail"].split(","), "LSMs",
              by_name["LSMs"])
        by_hooks(where)


# --- the packages, without Docker --------------------------------------------

POLICY = "engine: native\nallow: [site.test]\nignore: [.env]\n"
GROUPS = pathlib.Path("/sys/fs/cgroup")


@live.native_only("what its package installs")
def the_package_runs_sessions():
    """As an ordinary user with all that the package recommends."""
    with Place(POLICY, files={".env": "secret\n"}) as where:
        doctor(where)
        s = where.membrane("run", "--", "sh", "-c", "curl -sS "
                           "https://site.test/; cat .env; curl -sS -m 5 "
                           "https://other.test/ || echo refused; id -u")
        check(s.stdout.splitlines() == ["hello from site.test", "refused",
                                        str(live.the.uid)], "what it sees",
              s.stdout + s.stderr)
        check("other.test" in s.stderr and "no-grant" in s.stderr,
              "the refusal is told", s.stderr)
        check(s.arrived("http", host="site.test"), "it came there", s.out)
        one, = where.state.glob("sessions/*/session.json")
        check(json.loads(one.read_text())["engine"] == "native", "by whom")
        p = where.popen("run", "--", "sh", "-c", "echo up; sleep 600")
        check(p.stdout.readline() == b"up\n", "another begins")
        p.kill()
        p.communicate()
        check(within(10, lambda: not live.strays()), "kill -9: nobody is left",
              live.strays())
        s = where.membrane("run", "--", "echo", "on")
        check(s.stdout == "on\n", "and the next one runs", s.stderr)


class Rooted(Place):
    launcher = 0   # who may write every group


class Managed(Place):
    """In a scope that the user's own manager hands over, as the message of the
    engine proposes."""

    def argv(self, *args):
        argv = super().argv(*args)
        at = argv.index(live.the.membrane)
        return argv[:at] + [
            "XDG_RUNTIME_DIR=/run/user/%d" % live.the.uid, "systemd-run",
            "--user", "--scope", "--quiet", "-p", "Delegate=yes"] + argv[at:]


LIMITS = POLICY + "hardening: {memory: 200m, cpus: 0.5, pids: 64}\n"
# Ten processes of 50 megabytes: no one of them is too large.
TEN = """
import os, sys, time
pids = []
for i in range(10):
    pid = os.fork()
    if pid == 0:
        block = bytearray(os.urandom(1 << 20)) * 50
        time.sleep(3)
        os._exit(0)
    pids.append(pid)
ends = [os.waitpid(p, 0)[1] for p in pids]
print(sum(os.WIFSIGNALED(e) and os.WTERMSIG(e) == 9 for e in ends), "killed,",
      sum(e == 0 for e in ends), "lived")
"""
BUSY = """
import time
end = time.monotonic() + 6
while time.monotonic() < end: pass
print(time.process_time())
"""
FORKS = """
import os, time
n = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(5)
            os._exit(0)
        n += 1
except OSError as e:
    print(n, e.errno)
"""


def groups():
    return {p for p in GROUPS.rglob("membrane-*") if p.is_dir()}


def limits(where, who):
    before = groups()
    p = where.popen("run", "--", "sh", "-c", "echo up; read x")
    check(p.stdout.readline() == b"up\n", who + ": it begins")
    made = groups() - before
    if check(len(made) == 1, who + ": one group", made):
        one, = made
        values = {name: (one / name).read_text().strip() for name in (
            "memory.max", "memory.swap.max", "cpu.max", "pids.max")}
        check(values == {"memory.max": str(200 << 20), "memory.swap.max": "0",
                         "cpu.max": "50000 100000", "pids.max": "64"},
              who + ": its limits", values)
    p.kill()
    p.communicate()
    check(within(10, lambda: groups() == before), who + ": it goes with a "
          "session that is killed", groups() - before)
    other = where.popen("run", "--", "sh", "-c", "echo up; sleep 15; echo on")
    check(other.stdout.readline() == b"up\n", who + ": one beside it")
    s = where.membrane("run", "--", "python3", "-c", TEN)
    killed, _, lived, _ = (s.stdout.split() + [0] * 4)[:4]
    live.notes.append("%s: %s" % (who, s.stdout.strip()))
    check(int(killed) >= 6 and int(killed) + int(lived) == 10, who +
          ": what is too much for all together is ended", s.stdout + s.stderr)
    check("'hardening.memory'" in s.stderr and "each process" not in s.stderr,
          who + ": that is told", s.stderr)
    check(other.communicate(timeout=60)[0] == b"on\n", who +
          ": the one beside it lives on")
    s = where.membrane("run", "--", "python3", "-c",
                       "b = bytearray(1 << 20) * 400")
    check(s.status == 137 and "'hardening.memory'" in s.stderr, who +
          ": a command that is too large itself", (s.status, s.stderr))
    s = where.membrane("run", "--", "python3", "-c", BUSY)
    check(s.status == 0 and float(s.stdout) < 4.5, who + ": half a processor",
          s.stdout + s.stderr)
    s = where.membrane("run", "--", "python3", "-c", FORKS)
    check(s.stdout.split()[1:] == ["11"] and int(s.stdout.split()[0]) < 64,
          who + ": processes", s.stdout + s.stderr)
    check(within(10, lambda: groups() == before), who + ": no group is left",
          groups() - before)


@live.native_only("a group that is root's to make")
def limits_of_all_together_that_root_makes():
    with Rooted(LIMITS) as where:
        limits(where, "root")


@live.native_only("a group that the user's manager hands over")
def limits_of_all_together_in_a_scope_of_the_users():
    with Managed(LIMITS) as where:
        limits(where, "user")
