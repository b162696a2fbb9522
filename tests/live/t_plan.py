"""`run --plan`: what was reviewed runs, to the byte, or nothing does."""
import hashlib

import live
from live import Place, check, leftovers, test

ENGINE = "engine: %s\n" % live.ENGINE
POLICY = ENGINE + "allow: [site.test:443]\n"
GET = ("python3", "probe.py", '[["get", "https://site.test/"]]')


def forge(plan, name, old, new):
    """Edit an artefact, and mend the manifest."""
    text = (plan / name).read_bytes()
    other = text.replace(old, new)
    manifest = plan / "manifest.json"
    manifest.write_text(manifest.read_text().replace(
        hashlib.sha256(text).hexdigest(), hashlib.sha256(other).hexdigest()))
    (plan / name).write_bytes(other)
    check(text != other, "a forgery that differs", name)


def refused(where, s, word):
    check(s.status == 125 and not s.stdout and word in s.stderr and
          "so nothing was run" in s.stderr, "refused", (s.status, s.stderr))
    check(not leftovers() and not where.decisions(), "nothing was started",
          leftovers())


@test
def runs_what_was_reviewed():
    with Place(POLICY) as where:
        s = where.membrane("compile", "-o", "plan")
        check(s.status == 0, "compile", s.stderr)
        s = where.membrane("run", "--plan", "plan", "--", *GET)
        check(s.status == 0 and s.parse(1).tried[0]["ok"], "it runs",
              (s.stdout, s.stderr))
        check(s.arrived(addr="11.0.1.1"), "it arrived out there")
        ran = list((where.state / "last").iterdir())
        check(len(ran) == 1 and all(
            f.read_bytes() == (ran[0] / f.name).read_bytes()
            for f in (where.work / "plan").iterdir()),
              "what ran is what was in the folder")


@test
def refuses_anything_else():
    with Place(POLICY) as where:
        plan = where.work / "plan"
        where.membrane("compile", "-o", "plan")
        forge(plan, "ruleset.nft", b"tcp dport 443", b"tcp dport 1-65535")
        refused(where, where.membrane("run", "--plan", "plan", "--", *GET),
                "ruleset.nft")
        where.membrane("compile", "-o", "plan")
        (where.state / "config.yaml").write_text(ENGINE +
                                                 "allow: [site.test]\n")
        where.own()
        refused(where, where.membrane("run", "--plan", "plan", "--", *GET),
                "widened: the policy permits more than the plan")
        (where.state / "config.yaml").write_text(ENGINE + "allow: []\n")
        where.own()
        refused(where, where.membrane("run", "--plan", "plan", "--", *GET),
                "narrowed: the policy permits less than the plan")
        s = where.membrane("run", "--plan", "nowhere", "--", *GET)
        refused(where, s, "there is no plan in nowhere")
