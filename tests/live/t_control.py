"""Changing what a session that runs may reach. The logs of the internet
judge."""
import json
import os
import signal
import subprocess
import time

import live
from l7 import gate_processes
from live import Failed, Log, Place, check, leftovers, running, test, within

POLICY = "allow:\n  - site.test\n  - https://api.test/open/\n"
# What an agent does that does not give up.
LOOP = """
while :; do
  curl -s -m 2 -o /dev/null https://other.test/loop && break
  sleep 0.05
done
echo web
until python3 -c 'import socket
s = socket.create_connection(("other.test", 22), 3)
s.settimeout(3)
exit(not s.recv(9))' 2>/dev/null; do sleep 0.05; done
echo raw
curl -s -m 5 https://site.test/last >/dev/null && echo last
"""
WAIT = "echo up; while [ ! -e go ]; do sleep 0.05; done; "


class Running:
    """A session in the background; ends with the block."""

    def __init__(self, where, command, *flags):
        self.where = where
        self.p = where.popen("run", *flags, "--", "sh", "-c", command,
                             text=True)
        within(10, lambda: self.p.poll() is not None or
               live.is_running("agent"))
        if self.p.poll() is not None:
            raise Failed("it ended: %s" % (self.p.communicate(),))
        running("membrane.role=agent")
        self.id = json.loads(where.membrane("ps", "--json").stdout)[
            "sessions"][0]["session"]
        self.dir = where.state / "sessions" / self.id

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.p.poll() is None:
            self.p.send_signal(signal.SIGTERM)
            self.p.communicate(timeout=20)

    def amend(self, *words, **more):
        return self.where.membrane(*words, "--session", self.id, "--yes",
                                   **more)

    def go(self):
        (self.where.work / "go").touch()
        self.where.own()
        out, err = self.p.communicate(timeout=30)
        return out, err

    def changes(self):
        path = self.dir / "changes.jsonl"
        return [json.loads(line) for line in
                path.read_text().splitlines()] if path.exists() else []


# G-1
@test
def allowed_while_an_agent_asks():
    """A name, its raw port too; on record, and gone with the session."""
    with Place(POLICY) as where:
        out = Log("inet.jsonl")
        with Running(where, LOOP) as r:
            time.sleep(0.5)
            check(not [e for e in out.events() if e.get("addr") == "11.0.2.1"],
                  "nothing of it arrived before")
            s = r.amend("allow", "other.test")
            check(s.status == 0 and "in force in session " + r.id in s.stderr
                  and "other.test" in s.stdout and "gained" in s.stdout,
                  "allow", (s.status, s.stdout, s.stderr))
            stdout, stderr = r.p.communicate(timeout=20)
            check(stdout.split() == ["web", "raw", "last"], "it works now",
                  (stdout, stderr))
            live.the.settle()
            seen = [e for e in out.events() if e.get("addr") == "11.0.2.1"]
            check([e for e in seen if e.get("event") == "http"] and
                  [e for e in seen if e.get("port") == 22], "it arrived",
                  seen)
            check("policy was changed:" in stderr and
                  "allow other.test  (" in stderr, "the summary says so",
                  stderr)
        changes = r.changes()
        check(len(changes) == 1 and changes[0]["verb"] == "allow" and
              changes[0]["dest"] == "other.test" and
              changes[0]["who"]["uid"] == live.the.uid and
              changes[0]["generation"] == 2 and not changes[0]["cut"] and
              changes[0]["gained"] and not changes[0]["lost"], "its record",
              changes)
        decided = [json.loads(line) for line in
                   (r.dir / "decisions.jsonl").read_text().splitlines()]
        at = [i for i, d in enumerate(decided) if d.get("kind") == "change"]
        check(len(at) == 1 and decided[at[0]] == changes[0],
              "the same among the decisions", decided)
        granted = [d for d in decided if d.get("name") == "other.test" and
                   d.get("verdict") == "allow"]
        check(granted and all(d["source"] == "session" and d["line"] == 1 and
                              d["generation"] == 2 for d in granted),
              "who allowed it", granted[:2])
        check(all(decided.index(d) > at[0] for d in granted), "and when")
        check((r.dir / "plan.1" / "policy.json").exists() and
              "other.test" in (r.dir / "plan.2" / "policy.json").read_text()
              and "other.test" not in
              (r.dir / "plan.1" / "policy.json").read_text() and
              (r.dir / "plan" / "policy.json").read_text() ==
              (r.dir / "plan.2" / "policy.json").read_text(),
              "the plans are kept", os.listdir(r.dir))
        check(not (r.dir / "control").exists() and
              not list(r.dir.glob("next-*")), "no socket is left",
              os.listdir(r.dir))
        summary = json.loads((r.dir / "summary.json").read_text())
        check(summary["changes"] == changes, "in summary.json", summary)
        check(not leftovers(), "no container is left", leftovers())
        s = r.amend("allow", "neighbour.test")
        check(s.status == 1 and "has ended" in s.stderr, "afterwards",
              (s.status, s.stderr))
        again = where.membrane("run", "--", "curl", "-s", "-m", "3",
                               "https://other.test/")
        check(again.status != 0 and not again.arrived(addr="11.0.2.1"),
              "the next session knows nothing of it", again.status)


@test
def denied_in_the_middle():
    """An open download ends at once; what is permitted goes on."""
    command = "curl -sSN -o got https://site.test/drip/600; echo $?; " \
        "curl -s -m 3 https://site.test/again; echo $?; " \
        "curl -s -m 3 -o /dev/null https://api.test/open/x; echo $?\n"
    with Place(POLICY) as where:
        out = Log("inet.jsonl")
        with Running(where, command) as r:
            if not within(10, lambda: (where.work / "got").exists() and
                          (where.work / "got").stat().st_size > 50):
                raise Failed("no download")
            s = r.amend("deny", "site.test")
            stdout, stderr = r.p.communicate(timeout=20)
            check(s.status == 0 and "lost" in s.stdout and "ended" in s.stdout,
                  "deny", (s.status, s.stdout, s.stderr))
            codes = stdout.split()
            check(len(codes) == 3 and codes[0] != "0" and codes[1] != "0" and
                  codes[2] == "0", "cut, refused, and the rest goes on",
                  (stdout, stderr))
            live.the.settle()
            check(not [e for e in out.events() if e.get("path") == "/again"],
                  "nothing more arrived")
        decided = where.decisions()
        cut = [d for d in decided if d.get("name") == "site.test" and
               d.get("verdict") == "allow" and d.get("received", 0) > 50]
        check(cut, "the download has its record", decided)
        check(any(d.get("verdict") == "deny" and d["reason"] == "denied" and
                  d["source"] == "session" for d in decided
                  if d.get("name") == "site.test"), "and the refusal",
              decided)
        check(r.changes()[0]["cut"], "on record")


@test
def requests_are_granted():
    """A URL: decrypted with a leaf of this session, its paths hold."""
    command = WAIT + """
for u in https://h2.test/ok/x https://h2.test/no https://api.test/open/y; do
  curl -s -o /dev/null -w '%{http_code} %{ssl_verify_result}\\n' $u; done
curl -sv -o /dev/null https://h2.test/ok/x 2>&1 | grep -i issuer
"""
    with Place(POLICY) as where:
        with Running(where, command) as r:
            s = r.amend("allow", "https://h2.test/ok/", "--json")
            said = json.loads(s.stdout)
            check(s.status == 0 and said["applied"] and
                  said["generation"] == 2 and said["verdict"] == "widened"
                  and said["changes"], "allow --json", said)
            out = r.go()[0]
            lines = out.split("\n")
            check(lines[1:4] == ["200 0", "403 0", "200 0"],
                  "decided by path", out)
            check("membrane session CA" in out, "by the session's CA", out)
        check(any(d.get("kind") == "request" and d["verdict"] == "allow" and
                  d.get("name") == "h2.test" and d["source"] == "session"
                  for d in where.decisions()), "on record")


@test
def many_at_once():
    """Changes that come together are made one after the other."""
    names = ["one.wild.test", "two.wild.test", "three.wild.test", "h2.test",
             "other.test"]
    with Place(POLICY) as where:
        with Running(where, WAIT + "for n in %s; do curl -s -o /dev/null "
                     "-m 5 https://$n/; echo $?; done" % " ".join(
                         names)) as r:
            started = [where.popen("allow", n, "--session", r.id, "--yes",
                                   text=True) for n in names]
            ended = [(p.communicate(timeout=60), p.returncode)
                     for p in started]
            check([e[1] for e in ended] == [0] * 5, "all of them",
                  [e for e in ended if e[1]])
            changes = r.changes()
            check([c["generation"] for c in changes] == [2, 3, 4, 5, 6] and
                  {c["dest"] for c in changes} == set(names), "in some order",
                  changes)
            listed = json.loads(where.membrane("ps", "--json").stdout)
            check([c["dest"] for c in listed["sessions"][0]["changes"]] ==
                  [c["dest"] for c in changes], "ps --json", listed)
            said = where.membrane("ps").stdout
            check("changed 5 times" in said, "ps", said)
            print("allow: %s ms" % [c["ms"] for c in changes])
            codes = r.go()[0].split()[1:]
            # no server of these but h2.test and other.test has TLS for them
            check(codes[3] == "0" and codes[4] == "0", "in force", codes)


@test
def what_the_gate_still_tries_is_not_what_runs():
    """The next change is made of the plan in force, not of the one that is
    about to be, which the folder has already."""
    with Place(POLICY) as where:
        with Running(where, WAIT + "for n in other.test h2.test; do curl -s "
                     "-o /dev/null -m 5 https://$n/; echo $?; done") as r:
            gate = gate_processes()["membrane-gate"]
            for pid in gate:
                os.kill(pid, signal.SIGSTOP)
            first = where.popen("allow", "other.test", "--yes", text=True)
            check(within(20, lambda: b"other.test" in
                         (r.dir / "plan" / "policy.json").read_bytes()),
                  "the first is tried")
            others = [where.popen("allow", n, "--yes", text=True)
                      for n in ("h2.test", "other.test")]
            check(within(20, lambda: any(p.poll() is not None for p in others)
                         or len([p for p in r.dir.glob("next-*")
                                 if p.suffix != ".tmp"]) == 3),
                  "two more are asked for")
            check([p.poll() for p in others] == [None, None] and
                  r.changes() == [], "and wait: nothing is in force",
                  [p.communicate() for p in others if p.poll() is not None])
            for pid in gate:
                os.kill(pid, signal.SIGCONT)
            ended = [(p.communicate(timeout=60), p.returncode)
                     for p in (first, *others)]
            check([e[1] for e in ended] == [0, 0, 1], "both, and once", ended)
            check(ended[1][0][0].count("gained, 2 grants as before") == 1 and
                  ended[1][0][0].count("gained, 3 grants as before") == 1 and
                  "against what it is now" in ended[1][0][1],
                  "shown again", ended[1])
            check("allowed already" in ended[2][0][1], "in force by then",
                  ended[2])
            check([(c["dest"], c["generation"], c["gained"])
                   for c in r.changes()] ==
                  [("other.test", 2, ["tcp/1-65535 other.test"]),
                   ("h2.test", 3, ["tcp/1-65535 h2.test"])], "on record",
                  r.changes())
            check(r.go()[0].split()[1:] == ["0", "0"], "in force")


# G-2
@test
def taken_back():
    """The last word on a destination counts, but never against a denial of
    the policy's."""
    with Place(POLICY + "deny: [neighbour.test]\n"
               "uplink: isolated\n") as where:
        with Running(where, WAIT) as r:
            for verb, dest, status, words in (
                    ("deny", "Site.test", 0, "lost"),
                    ("allow", "site.test", 0, "gained"),
                    ("allow", "site.test", 1, "allowed already"),
                    ("allow", "neighbour.test", 1, "stays denied"),
                    ("allow", "https://neighbour.test/x", 1, "stays denied"),
                    ("deny", "other.test", 1, "nothing would change"),
                    ("allow", "10.0.0.1", 0, "gained"),
                    ("allow", "169.254.0.0/16", 1, "stays denied"),
                    ("allow", "site.test:99999", 1, "E309")):
                s = r.amend(verb, dest)
                check(s.status == status and words in s.stdout + s.stderr,
                      "%s %s" % (verb, dest), (s.status, s.stdout, s.stderr))
            check([c["dest"] for c in r.changes()] ==
                  ["Site.test", "site.test", "10.0.0.1"], "what changed",
                  r.changes())


@test
def refused():
    """Words that make no sense; nobody to ask; what never may be."""
    never = "tests: {never: [{dest: '*.wild.test'}]}\n"
    with Place("allow: [site.test]\n" + never) as where:
        s = where.membrane("allow", "other.test")
        check(s.status == 1 and "no session runs" in s.stderr, "none",
              s.stderr)
        with Running(where, WAIT) as r:
            for words, status, said in (
                    (("allow", "other.test", "--session", r.id), 1, "--yes"),
                    (("allow",), 2, "one destination"),
                    (("allow", "a.test", "b.test"), 2, "b.test"),
                    (("allow", "other.test", "--session", "ffffffff",
                      "--yes"), 1, "no session 'ffffffff'"),
                    (("allow", "x.wild.test", "--yes"), 1, "never may be"),
                    (("allow", "https://other.test/a", "--yes"), 1,
                     "decrypts nothing"),
                    (("deny", "https://site.test/a", "--yes"), 1,
                     "decrypts nothing"),
                    (("allow", "foo*.test", "--yes"), 1, "E301")):
                s = where.membrane(*words)
                check(s.status == status and said in s.stderr, words,
                      (s.status, s.stdout, s.stderr))
            check(r.changes() == [] and not (r.dir / "plan.1").exists(),
                  "nothing has changed", os.listdir(r.dir))


@test
def saved():
    """--save: a line in the workspace's policy, comments and all, approved
    with it."""
    text = "# ours\nallow:\n  # the site\n  - site.test   # yes\n"
    with Place("", workspace=text) as where:
        check(where.membrane("trust", "--yes").status == 0, "trusted")
        with Running(where, WAIT + "cat .membrane.yaml; echo x "
                     ">>.membrane.yaml || echo kept") as r:
            s = r.amend("allow", "other.test:443", "--save")
            check(s.status == 0 and "+   - other.test:443" in s.stdout and
                  "saved to .membrane.yaml" in s.stderr, "allow --save",
                  (s.status, s.stdout, s.stderr))
            want = text + "  - other.test:443\n"
            check((where.work / ".membrane.yaml").read_text() == want,
                  "comments and order are kept",
                  (where.work / ".membrane.yaml").read_text())
            check(r.changes()[0]["saved"], "on record")
            s = r.amend("deny", "site.test", "--save")
            check(s.status == 0 and "lost" in s.stdout, "deny --save",
                  (s.status, s.stdout, s.stderr))
            out, err = r.go()
            check("kept" in out and "other.test:443" in out,
                  "still read-only inside", (out, err))
        s = where.membrane("run", "--", "curl", "-s", "-m", "5", "-o",
                           "/dev/null", "-w", "%{http_code}",
                           "https://other.test/")
        check(s.status == 0 and s.stdout == "200", "the next session has it, "
              "and is not asked", (s.status, s.stderr))
    with Place("", workspace="args: [--env=A=1]\n") as where:
        with Running(where, WAIT, "--trust-workspace") as r:
            s = r.amend("allow", "other.test", "--save")
            check(s.status == 0 and "nobody approved" in s.stderr,
                  "what nobody approved stays so", (s.status, s.stderr))
        s = where.membrane("run", "--", "true")
        check(s.status == 125, "so it is refused", s.status)


@live.user_only("root would be another")
def the_agent_has_no_part_in_it():
    """Neither the agent nor another user reaches the launcher's socket."""
    command = "find / -path /proc -prune -o -type s -print 2>/dev/null; " \
        "sed 1d /proc/net/unix; grep sessions /proc/self/mountinfo | " \
        "grep -v -e resolv.conf -e .pem -e /passwd -e /group -e /hosts -e /plan/git. -e ' /etc/membrane/'" \
        "; echo end"
    with Place(POLICY) as where:
        with Running(where, command + "; " + WAIT) as r:
            mode = (r.dir / "control").stat()
            check(mode.st_uid == live.the.uid and
                  (r.dir.stat().st_mode & 0o777) == 0o700, "whose it is")
            s = subprocess.run(live.the.as_user(
                live.the.membrane, "allow", "other.test", "--session", r.id,
                "--yes", uid=live.the.uid + 7,
                env={"HOME": str(where.root),
                     "MEMBRANE_HOME": str(where.state)}),
                capture_output=True, text=True, check=False)
            check(s.returncode != 0, "another user", s.stderr)
            # root gets past the folder, and no further
            s = subprocess.run(live.the.enter(
                "env", "MEMBRANE_HOME=%s" % where.state, live.the.membrane,
                "allow", "other.test", "--session", r.id, "--yes"),
                capture_output=True, text=True, check=False)
            check(s.returncode == 1 and "another user" in s.stderr, "root",
                  (s.returncode, s.stderr))
            check(r.changes() == [], "nothing has changed")
            out = r.go()[0]
        check(out.split("\n")[0] == "end", "no socket, no folder of a "
              "session's inside", out[-2000:])


@test
def nonsense_at_the_socket():
    """Whatever is said there, the session goes on, and others get a turn."""
    lines = [b"", b"{}\n", b"nonsense\n", b"[1]\n", b"x" * 70000,
             b'{"version":1,"base":1,"staged":"../x","verb":"allow",'
             b'"dest":"a.test","gained":[],"lost":[]}\n',
             b'{"version":1,"base":1,"staged":"next-1","verb":"allow",'
             b'"dest":"a.test","gained":[],"lost":[]}\n',
             b'{"version":1,"base":7,"staged":"next-1","verb":"allow",'
             b'"dest":"a.test","gained":[],"lost":[]}\n']
    with Place(POLICY) as where:
        with Running(where, WAIT + "curl -s -o /dev/null -w '%{http_code}' "
                     "https://other.test/") as r:
            talk = "import socket,sys,os\nos.chdir(sys.argv[1])\n" \
                "s=socket.socket(socket.AF_UNIX)\ns.settimeout(9)\n" \
                "s.connect('control')\n" \
                "s.sendall(bytes.fromhex(sys.argv[2]))\n" \
                "print(s.recv(9999).decode())\n"
            for line in lines[1:]:
                s = subprocess.run(live.the.as_user(
                    "python3", "-c", talk, str(r.dir), line[:60000].hex()),
                    capture_output=True, text=True, check=False)
                check('"ok":false' in s.stdout or not line.endswith(b"\n"),
                      "refused", (line[:60], s.stdout, s.stderr))
            # a plan that changes more than the network is refused there, too
            plan = r.dir / "plan"
            staged = r.dir / "next-77"
            subprocess.run(live.the.as_user("cp", "-r", str(plan),
                                            str(staged)), check=True)
            text = (staged / (live.ENGINE + ".json")).read_text()
            (staged / (live.ENGINE + ".json")).write_text(
                text.replace("--cap-drop=ALL", "--privileged"))
            s = subprocess.run(live.the.as_user(
                "python3", "-c", talk, str(r.dir),
                lines[6].replace(b"next-1", b"next-77").hex()),
                capture_output=True, text=True, check=False)
            check('"ok":false' in s.stdout and "altered" in s.stdout or
                  live.ENGINE + ".json" in s.stdout, "another vector", s.stdout)
            s = r.amend("allow", "other.test")
            check(s.status == 0, "a good one", (s.status, s.stderr))
            check(r.go()[0].split()[-1] == "200", "in force")


@test
def from_nothing_at_all():
    """A session that was granted nothing is allowed a name and a network."""
    with Place("", env={}) as where:
        with Running(where, WAIT + "curl -s -o /dev/null -w '%{http_code}' "
                     "https://site.test/", "--no-global-config") as r:
            s = r.amend("allow", "site.test")
            check(s.status == 0, "allow", (s.status, s.stdout, s.stderr))
            check(r.go()[0].split()[-1] == "200", "reached")


@test
def of_a_detached_session():
    """The keeper takes changes like a launcher; ps --all remembers them."""
    command = "until curl -s -m 2 -o /dev/null https://other.test/; do " \
        "sleep 0.05; done; echo reached"
    with Place(POLICY) as where:
        s = where.membrane("start", "--", "sh", "-c", command)
        session = s.stdout.strip()
        check(s.status == 0 and session, "start", (s.status, s.stderr))
        s = where.membrane("allow", "other.test", "--yes")
        check(s.status == 0 and session in s.stderr, "the only one",
              (s.status, s.stdout, s.stderr))
        s = where.membrane("attach", session)
        check(s.status == 0, "it came to its end", (s.status, s.stderr))
        said = where.membrane("ps", "--all").stdout
        check("its policy was changed: allow other.test" in said, "ps --all",
              said)
        said = where.membrane("logs", session).stdout
        check(" change the policy: allow other.test" in said, "logs", said)
        check(not leftovers(), "nothing is left", leftovers())
