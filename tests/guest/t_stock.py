"""What holds on a stock Debian host (sessions.py), and cannot be seen on every
machine that runs the live tests."""
import gzip
import json
import pathlib

from live import Place, Skip, check, test

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


@test
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


@test
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
