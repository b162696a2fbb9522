"""`membrane learn`, in whole sessions: within its bound everything goes and is on
record, outside of it nothing does, and what comes out of it is a policy that
the same command runs under."""
from live import Place, check, test
from t_ask import asked, curl

POLICY = "allow: [nothing.test]\n"
FETCHES = curl("https://site.test/") + curl("http://other.test/a") + \
    curl("http://deny.test/") + "exit 7"


def codes(s):
    return [line for line in s.stdout.split() if line.isdigit()]


def learn(where, script, *flags):
    return where.membrane("learn", *flags, "--", "sh", "-c", script)


@test
def what_it_used_is_the_next_policy():
    with Place(POLICY, workspace="# ours\nallow: []\n") as where:
        check(where.membrane("trust", "--yes").status == 0, "trusted")
        s = learn(where, FETCHES, "--within", "*.test:443", "--within",
                  "other.test:80", "-o", ".membrane.yaml")
        check(s.status == 7, "the command's status", (s.status, s.stderr))
        check(codes(s)[:2] == ["200", "200"] and "200" not in codes(s)[2:],
              "what went through", s.stdout)
        check("--within other.test:80: other.test tcp/80" in s.stderr and
              s.stderr.index("learning") < s.stderr.index("refused"),
              "the bound, before the start", s.stderr)
        check(not s.arrived("http", host="deny.test"), "nothing of the third")
        text = (where.work / ".membrane.yaml").read_text()
        check(text.startswith("# ours\n") and "site.test:443" in text and
              "{dest: other.test, ports: [80], http: [{methods: [GET], "
              "paths: [/a]}]}" in text and "deny.test" not in text and
              "*" not in text, "the policy, as narrow as was seen", text)
        told = [(d["name"], d["source"], d["line"]) for d in where.decisions()
                if d["verdict"] == "allow" and d["kind"] != "resolve"]
        check(("site.test", "--within", 1) in told and
              ("other.test", "--within", 2) in told, "by what", told)
        s = where.membrane("test")
        check(s.status == 0 and "0 failed" in s.stdout, "its tests",
              s.stdout + s.stderr)
        s = where.membrane("run", "--", "sh", "-c", FETCHES)
        check(s.status == 125 and "nobody has approved" in s.stderr,
              "not approved by itself", s.stderr)
        s = where.membrane("run", "--trust-workspace", "--", "sh", "-c",
                           FETCHES)
        check(s.status == 7 and codes(s)[:2] == ["200", "200"] and
              "200" not in codes(s)[2:] and
              not s.arrived("http", host="deny.test"),
              "the same without the bound", s.stdout + s.stderr)


@test
def without_o_it_follows_the_commands_own_words():
    with Place(POLICY) as where:
        s = learn(where, "echo mine; " + curl("https://site.test/"),
                  "--within", "site.test:443", "--deny", "other.test")
        check(s.status == 0 and s.stdout.startswith("mine\n200\n# What "),
              "its words first", s.stdout)
        check("\nallow:\n- site.test:443\ntests:\n" in s.stdout, "what it is",
              s.stdout)
        where.work.joinpath("learned.yaml").write_text(
            s.stdout[s.stdout.index("#"):])
        s = where.membrane("learn", "--session", s.stderr.split(
            "session ")[1].split()[0])
        check(s.status == 0 and "- site.test:443" in s.stdout, "and again",
              s.stdout + s.stderr)


@test
def once_is_no_grant():
    """What a person let through once is asked about; for the session, granted."""
    with Place("allow: [nothing.test]\n") as where:
        p, somebody = asked(where, curl("http://site.test/") +
                            curl("https://other.test/"), "learn", "--ask",
                            "site.test:80", "--ask", "other.test:443")
        with somebody:
            n = somebody.wait_for("site.test:80")
            check(where.membrane("answer", str(n), "once").status == 0,
                  "once")
            n = somebody.wait_for("other.test:443")
            check(where.membrane("answer", str(n), "session").status == 0,
                  "for the session")
            out, err = p.communicate(timeout=90)
        text = out.decode()
        check("allow:\n- other.test:443\nask:\n- dest: site.test\n" in text
              and "deny:" not in text, "what is learned", (text, err[-900:]))


@test
def no_denial_gives_way():
    """Of the policy, of the floor: '*' opens neither."""
    with Place("allow: [nothing.test]\ndeny: [other.test]\n") as where:
        s = learn(where, curl("http://other.test/") +
                  curl("http://169.254.169.254/") +
                  curl("http://site.test/"), "--within", "*")
        check([c for c in codes(s) if len(c) == 3] == ["000", "000", "200"],
              "only what nothing denies", s.stdout)
        check(not s.arrived("http", host="other.test"), "it did not arrive")
        check("- dest: site.test\n  ports: [80]\n" in s.stdout and "any-grant" in s.stderr,
              "as narrow as it was used, and warned of", s.stdout + s.stderr)
