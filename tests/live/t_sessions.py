"""What the host can do, and the sessions that it has."""
import json

from live import Place, check, leftovers, test


@test
def doctor_tries_the_parts():
    with Place("") as where:
        s = where.membrane("doctor", "--json")
        said = json.loads(s.stdout)
        by_name = {c["name"]: c for c in said["checks"]}
        check(s.status == 0 and said["runs"], "sessions run here",
              (s.status, s.stderr, [c for c in said["checks"]
                                    if c["needed"] and c["state"] != "ok"]))
        for name in ("daemon", "client", "gate", "HAProxy", "membrane-gate",
                     "membrane-agent", "membrane-watch"):
            check(by_name[name]["state"] == "ok", name, by_name[name])
        check("tried" in by_name["gate"]["detail"], "the gate was tried",
              by_name["gate"])
        check("version" in by_name["HAProxy"]["detail"], "HAProxy's version",
              by_name["HAProxy"])
        check(by_name["tracer"]["state"] == "ok", "the tracer was tried",
              by_name["tracer"])
        check(not leftovers(), "no container is left", leftovers())
        check(not list((where.state / "sessions").iterdir()),
              "no session is left")
