"""What the host can do, and the sessions that it has."""
import json
import pathlib

import live
from live import (Failed, Place, check, docker_only, leftovers, running, test,
                  within)


@docker_only("natively it tries the whole gate")
def doctor_tries_the_parts():
    with Place("") as where:
        s = where.membrane("doctor", "--json")
        said = json.loads(s.stdout)
        by_name = {c["name"]: c for c in said["checks"]}
        check(s.status == 0 and said["runs"], "sessions run here",
              (s.status, s.stderr, [c for c in said["checks"]
                                    if c["needed"] and c["state"] != "ok"]))
        for name in ("daemon", "client", "gate", "HAProxy", "membrane-gate",
                     "membrane-agent", "membrane-watch", "membrane-view"):
            check(by_name[name]["state"] == "ok", name, by_name[name])
        check("tried" in by_name["gate"]["detail"], "the gate was tried",
              by_name["gate"])
        check("version" in by_name["HAProxy"]["detail"], "HAProxy's version",
              by_name["HAProxy"])
        check(by_name["tracer"]["state"] == "ok", "the tracer was tried",
              by_name["tracer"])
        used = by_name["back end"]
        check(used["detail"].split(";")[0] in ("fexit", "lsm", "sys_exit") and
              (used["state"] == "ok") != used["detail"].startswith(
                  "sys_exit"), "the tracer's back end", used)
        lsms = pathlib.Path("/sys/kernel/security/lsm")
        check(by_name["LSMs"]["detail"] in ("", lsms.exists() and
                                            lsms.read_text().strip()) and
              (by_name["LSMs"]["state"] == "ok") == bool(
                  by_name["LSMs"]["detail"]), "LSMs", by_name["LSMs"])
        check(by_name["IPv6"]["state"] == "missing",
              "Docker's own bridge has no IPv6", by_name["IPv6"])
        for name in ("io_uring", "capabilities"):
            check(by_name[name]["state"] in ("ok", "missing"), name,
                  by_name[name])
        check(not leftovers(), "no container is left", leftovers())
        check(not list(where.state.glob("sessions/*")), "no session is left")


@test
def running_sessions_are_listed_followed_and_stopped():
    """To stop one is a signal: the command may end in order."""
    command = "trap 'echo ended; exit 0' TERM; curl -s https://site.test/; " \
        "curl -s https://not.test/; echo up; sleep 600 & " \
        "while :; do wait; done"
    with Place("allow: [site.test]\n") as where:
        session = where.popen("run", "--", "sh", "-c", command, text=True)
        running("membrane.role=agent")
        if not within(10, lambda: "not.test" in where.membrane(
                "logs").stdout):
            raise Failed("the log has not what was refused")
        listed = json.loads(where.membrane("ps", "--json").stdout)["sessions"]
        check(len(listed) == 1, "one session runs", listed)
        one = listed[0]
        check(one["state"] == "running" and one["command"] ==
              ["sh", "-c", command] and one["workspace"] == str(where.work),
              "what it is", one)
        check({c["role"]: c["state"] for c in one["containers"]} ==
              dict.fromkeys(live.roles("gate", "tracer", "view", "agent"),
                            "running"),
              "its containers", one["containers"])
        said = where.membrane("logs", one["session"][:4]).stdout.splitlines()
        check(any(" allow site.test:443" in line for line in said) and
              any(" deny  resolve not.test A" in line and "no-grant" in line
                  for line in said), "what was decided", said)
        follower = where.popen("logs", "-f", text=True)
        s = where.membrane("stop", one["session"])
        check(s.status == 0 and one["session"] in s.stderr, "stop",
              (s.status, s.stderr))
        check(not leftovers(), "no container is left", leftovers())
        stdout = session.communicate(timeout=5)[0]
        check(session.returncode == 143 and "ended" in stdout,
              "the command got the signal", (session.returncode, stdout))
        followed = follower.communicate(timeout=5)[0]
        check(follower.returncode == 0 and "not.test" in followed,
              "who follows sees it end", followed)
        check(where.membrane("ps").stdout == "", "nothing runs any more")
        check(where.membrane("stop", one["session"]).status == 1,
              "to stop it again is refused")
