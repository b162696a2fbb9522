"""`ask`: what a person may permit, in whole sessions. Where nobody is there to
be asked it is refused at once, and nothing of it leaves. The gate's own half is
tests/live/ask_live.py's."""
import fcntl
import json
import re
import shlex

from l7 import NODE, TOOLS, web
import live
from live import Place, check, test, within
from terminal import Terminal

POLICY = """allow: [site.test]
ask:
  - other.test
  - {dest: api.test, ports: [443], http: [{methods: [GET], paths: [/v1/]}]}
"""


def left(s, name):
    """What arrived outside about a name."""
    return s.arrived("dns", name=name)


@test
def nobody_is_there():
    """Refused at once, told, and not even the name is asked for."""
    s = web(POLICY, [["get", "https://site.test/"],
                     ["get", "http://other.test/"],
                     ["tcp", "other.test", 22],
                     ["get", "https://api.test/v1/x"],
                     ["get", "https://api.test/elsewhere"]])
    check(s.tried[0]["ok"], "what is granted is", s.tried[0])
    check(not s.tried[1]["ok"] and not s.tried[2].get("data"),
          "no connection gets anything", s.tried[1:3])
    check([t.get("code") for t in s.tried[3:]] == [403, 403] and
          "not-asked" in s.tried[3]["data"], "no request does", s.tried[3:])
    check(not left(s, "other.test") and not left(s, "api.test"),
          "nothing left", s.arrived("dns"))
    told = [(d["name"], d["reason"]) for d in s.decided
            if d["verdict"] == "deny" and d["kind"] != "resolve"]
    check(("other.test", "not-asked") in told and
          ("api.test", "not-asked") in told, "told", told)
    check(all(d["id"].startswith("a-") and d["line"] in (3, 4)
              for d in s.decided if d["reason"] == "not-asked"), "whose",
          s.decided)


def is_held(path):
    with path.open() as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


class Listener:
    """Somebody who could answer: questions wait as long as it is there."""

    def __init__(self, where):
        self.where = where
        self.held = {}

    def hold(self):
        for path in self.where.state.glob("sessions/*/asking"):
            if path not in self.held:
                self.held[path] = path.open()
                fcntl.flock(self.held[path], fcntl.LOCK_SH)

    def questions(self):
        """{number: text} of what waits, as `membrane answer` lists it."""
        s = self.where.membrane("answer")
        return {int(line.split()[0]): " ".join(line.split()[1:-4])
                for line in s.stdout.splitlines()}

    def wait_for(self, text):
        found = []

        def is_asked():
            found[:] = [n for n, t in self.questions().items() if t == text]
            return found
        check(within(30, is_asked), "the question %s" % text,
              self.questions())
        return found[0] if found else 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for f in self.held.values():
            f.close()


def asked(where, script, *how):
    """A session whose command begins once somebody listens."""
    p = where.popen(*(how or ["run"]), "--", "sh", "-c",
                    "echo up; until [ -e go ]; do sleep 0.05; done; " + script)
    check(p.stdout.readline() == b"up\n", "it runs")
    listener = Listener(where)
    listener.hold()
    check(listener.held, "somebody may listen")
    go = where.work / "go"
    go.touch()
    return p, listener


def curl(url):
    return "curl -sS -m 60 -o /dev/null -w '%%{http_code}\\n' %s 2>&1; " % url


@test
def whose_a_question_is_is_sure():
    """Of two that call at once, by the name that each asked for, or by the
    socket that waits."""
    with Place(POLICY + "  - once.test\n") as where:
        p, somebody = asked(where, "(%s) & (%s) & wait" % (
            curl("http://other.test/"), curl("http://once.test/")))
        with somebody:
            for name in ("other.test", "once.test"):
                n = somebody.wait_for(name + ":80")
                by = [q["process"] or {} for q in where.records("question")
                      if q["name"] == name][0]
                check(by.get("sure") and "http://%s/" % name in
                      by.get("command", ""), "its own", (name, by))
                where.membrane("answer", str(n), "never")
            p.communicate(timeout=60)


@test
def a_yes_lets_the_same_request_through():
    with Place(POLICY) as where:
        p, somebody = asked(where, curl("http://other.test/") +
                            curl("http://other.test/"))
        with somebody:
            n = somebody.wait_for("other.test:80")
            before = [e for e in where.records("question")]
            s = where.membrane("answer", str(n), "session")
            check(s.status == 0 and "in force" in s.stderr, "answered",
                  s.stderr)
            out, err = p.communicate(timeout=60)
        check(out.split() == [b"200", b"200"], "both went through, and one "
              "question was asked", (out, err[-600:]))
        check(len(before) == 1 == len(where.records("question")),
              "one question", where.records("question"))
        by = before[0]["process"] or {}
        check(by.get("name") == "curl" and "http://other.test/" in
              by.get("command", ""), "whose it is", before)
        answered = where.records("answered")
        check(answered and answered[0]["answer"] == "session" and
              answered[0]["who"]["uid"] == live.the.uid, "who answered",
              answered)


@test
def once_is_for_who_waits():
    with Place(POLICY) as where:
        p, somebody = asked(where, curl("http://other.test/") +
                            curl("http://other.test/"))
        with somebody:
            n = somebody.wait_for("other.test:80")
            check(where.membrane("answer", str(n), "once").status == 0,
                  "answered")
            again = somebody.wait_for("other.test:80")
            check(again != n, "asked again", (n, again))
            s = where.membrane("answer", str(again), "never")
            check(s.status == 0, "denied", s.stderr)
            out, err = p.communicate(timeout=60)
        codes = out.decode().split()
        check(codes[0] == "200" and "200" not in codes[1:],
              "the first went through, and the second not", (out, err[-600:]))


@test
def a_request_waits_by_itself():
    with Place(POLICY) as where:
        p, somebody = asked(where, curl("https://api.test/v1/x") +
                            curl("https://api.test/elsewhere"))
        with somebody:
            n = somebody.wait_for("GET https://api.test/v1/x")
            s = where.membrane("answer", str(n), "session")
            check(s.status == 0, "answered", s.stderr)
            out, err = p.communicate(timeout=60)
        check(out.split() == [b"200", b"403"], "what was asked, and nothing "
              "else", (out, err[-600:]))


@test
def an_answer_is_no_wider_than_the_policy_has_it():
    with Place(POLICY) as where:
        p, somebody = asked(where, curl("http://other.test/"))
        with somebody:
            n = somebody.wait_for("other.test:80")
            s = where.membrane("answer", str(n), "always")
            check(s.status == 1 and "widest" in s.stderr, "refused", s.stderr)
            check(n in somebody.questions(), "it waits on")
            check(where.membrane("answer", str(n), "once").status == 0, "once")
            out, _ = p.communicate(timeout=60)
        check(out.split() == [b"200"], "then it goes on", out)


@test
def nobody_is_asked_where_that_was_said():
    with Place(POLICY) as where:
        p = where.popen("run", "--no-ask", "--", "sh", "-c",
                        "echo up; until [ -e go ]; do sleep 0.05; done; " +
                        curl("http://other.test/"))
        p.stdout.readline()
        with Listener(where) as somebody:
            somebody.hold()
            (where.work / "go").touch()
            out, _ = p.communicate(timeout=60)
        check(b"200" not in out and not where.records("question"),
              "refused at once", (out, where.records("question")))


@test
def who_watches_is_asked():
    """At a terminal beside it; a name from inside is no key of theirs."""
    with Place(POLICY) as where:
        p = where.popen("run", "--", "sh", "-c",
                        "echo up; until [ -e go ]; do sleep 0.05; done; " +
                        curl("http://other.test/") + curl("http://no.test/"))
        p.stdout.readline()
        with Terminal(where.argv("watch")) as t:
            lock = next(where.state.glob("sessions/*/asking"))
            check(within(10, lambda: is_held(lock)), "it listens")
            (where.work / "go").touch()
            check(t.shows(rb"asks .*other\.test:80"), "it is told", t.screen)
            check(t.shows(rb"leaves it\) $"), "and asked", t.screen)
            t.type(b"s\r")
            check(t.shows(rb"in force in session"), "answered", t.screen)
            check(t.shows(rb"deny .*no\.test"), "refusals are told, too",
                  t.screen)
            check(t.shows(rb"has ended with"), "and the end", t.screen)
            check(t.ends() == 0, "its own end")
        out, err = p.communicate(timeout=60)
        check(out.split()[0] == b"200", "it went through", (out, err[-600:]))


@test
def who_is_stopped_is_not_asked():
    """Ctrl-Z: nobody can answer, and nothing waits; in front again it does."""
    with Place(POLICY) as where:
        p = where.popen("run", "--", "sh", "-c",
                        "echo up; until [ -e go ]; do sleep 0.05; done; " +
                        curl("http://other.test/") +
                        "until [ -e on ]; do sleep 0.05; done; " +
                        curl("http://other.test/"))
        p.stdout.readline()
        with Terminal(["bash", "-mc", '"$@"; echo stopped; read; fg', "sh",
                       *where.argv("watch")]) as t:
            lock = next(where.state.glob("sessions/*/asking"))
            check(within(10, lambda: is_held(lock)), "it listens")
            t.type(b"\x1a")
            check(t.shows(rb"stopped\r\n"), "it is stopped", t.all)
            check(is_held(lock), "with the lock that it has")
            (where.work / "go").touch()
            check(within(20, lambda: where.records("answered")),
                  "nothing waits for it", where.records("question"))
            t.type(b"\r")
            check(t.shows(rb"deny .*other\.test"), "it goes on", t.all)
            (where.work / "on").touch()
            check(t.shows(rb"leaves it\) $"), "and is asked again", t.all)
            t.type(b"y\r")
            check(t.shows(rb"has ended with"), "and the end", t.all)
        out, err = p.communicate(timeout=60)
        check(out.split()[-1] == b"200" and b"200" not in out.split()[:-1],
              "the second went through", (out, err[-600:]))
        check([r["answer"] for r in where.records("answered")] ==
              ["none", "once"], "on record", where.records("answered"))


@test
def what_is_new_is_told_once():
    with Place("allow: [site.test]\n") as where:
        p = where.popen("run", "--", "sh", "-c",
                        "echo up; until [ -e go ]; do sleep 0.05; done; "
                        "for i in 1 2 3; do " + curl("http://site.test/") +
                        curl("http://no.test/") + "done; sleep 0.5")
        p.stdout.readline()
        w = where.popen("watch", "--json")
        (where.work / "go").touch()
        p.communicate(timeout=60)
        out, err = w.communicate(timeout=60)
        told = [json.loads(line) for line in out.splitlines()]
        check(len([d for d in told if d.get("name") == "no.test"]) == 1 and
              len([d for d in told if d.get("verdict") == "allow"]) == 1,
              "each destination once", told)
        check(b"has ended with 0" in err, "the end", err)


@test
def a_free_terminal_is_where_it_is_asked():
    """The command's stdin is none: who launched it has the keys."""
    with Place(POLICY) as where:
        run = where.argv("run", "--", "sh", "-c", curl("http://other.test/"))
        with Terminal(["sh", "-c", 'exec "$@" </dev/null', "sh", *run]) as t:
            check(t.shows(rb"leaves it\) $", 60), "it is asked", t.all)
            t.type(b"once\r")
            check(t.shows(rb"200"), "it goes on", t.all)
            check(t.ends(60) == 0, "and ends", t.all)
        check([r["answer"] for r in where.records("answered")] == ["once"],
              "on record", where.records("answered"))


# --- HTTP/2 -------------------------------------------------------------------

ASKED_H2 = """allow:
  - {dest: a.h2.test, http: [{methods: [GET], paths: [/open/]}]}
ask:
  - {dest: a.h2.test, ports: [443], http: [{methods: [GET, POST], paths: [/v1/]}]}
"""


def over_h2(*requests):
    """A line of shell: these requests, all at once over one connection."""
    return shlex.join([*NODE, "h2.js", json.dumps({
        "origin": "https://a.h2.test",
        "requests": [{":authority": "a.h2.test", **r} for r in requests]})])


#
@test
def requests_of_one_http2_connection_wait_apart():
    """One waits with its body, and holds nobody up: not what is granted, nor
    what is refused, nor another that waits."""
    with Place(ASKED_H2, files=TOOLS) as where:
        p, somebody = asked(where, over_h2(
            {":path": "/open/x"}, {":path": "/v1/yes"}, {":path": "/v1/no"},
            {":path": "/elsewhere"},
            {":path": "/v1/body", ":method": "POST", "body": "x" * 40000},
            {":path": "/v1/yes"}))
        out = live.Log("inet.jsonl")
        with somebody:
            n = {path: somebody.wait_for("%s https://a.h2.test%s" % (m, path))
                 for m, path in (("GET", "/v1/yes"), ("GET", "/v1/no"),
                                 ("POST", "/v1/body"))}
            live.the.settle()
            before = live.matching(out.events(), "http")
            for path, word in (("/v1/no", "never"), ("/v1/yes", "once"),
                               ("/v1/body", "session")):
                s = where.membrane("answer", str(n[path]), word)
                check(s.status == 0, "answered", s.stderr)
            text, err = p.communicate(timeout=60)
        check({e["path"] for e in before} <= {"/open/x"},
              "nothing arrived of what waits", before)
        got = json.loads(text)
        check([r.get("status") for r in got] ==
              [200, 200, 403, 403, 200, 200], "each by its answer",
              (got, err[-600:]))
        check({r.get("alpn") for r in got} == {"h2"}, "over HTTP/2", got)
        live.the.settle()
        came = live.matching(out.events(), "http")
        check(sorted((e["method"], e["path"], e["version"]) for e in came) == [
            ("GET", "/open/x", "2"), ("GET", "/v1/yes", "2"),
            ("GET", "/v1/yes", "2"), ("POST", "/v1/body", "2")],
            "what arrived", came)
        check(len(where.records("question")) == 3, "equal ones are one",
              where.records("question"))


# --- by a proxy ---------------------------------------------------------------

PROXY = "11.0.40.1"
BY_PROXY = POLICY + "upstream: 'http://proxy.corp.test:%d'\n"


def by_proxy(script, answers, port=3128, more=""):
    """(the command's words, what the proxy was asked before the first answer
    and by the end, what left for elsewhere) where each question is answered."""
    with Place(BY_PROXY % port + more, files=TOOLS) as where:
        out = live.Log("inet.jsonl")
        p, somebody = asked(where, script)
        early = None
        with somebody:
            for text, word in answers:
                n = somebody.wait_for(text)
                live.the.settle()
                if early is None:
                    early = live.matching(out.events(), "proxy")
                s = where.membrane("answer", str(n), word)
                check(s.status == 0, "answered", s.stderr)
            text, err = p.communicate(timeout=60)
        live.the.settle()
        past = live.left_past(out.events(), PROXY)
        check(not past, "nothing leaves past the proxy", past)
        return (text.decode(), [e["target"] for e in early],
                [e["target"] for e in live.matching(out.events(), "proxy")],
                where.decisions(), err[-600:])


# A-8, U-1, U-2
@test
def a_yes_goes_by_the_proxy():
    """Nothing is asked of it before; then the name is, and it alone."""
    out, early, late, said, err = by_proxy(
        curl("http://other.test/") + curl("https://other.test/"),
        (("other.test:80", "session"), ("other.test:443", "once")))
    check(out.split() == ["200", "200"], "both went through", (out, err))
    check(not early and late == ["other.test:80", "other.test:443"],
          "by name", (early, late))
    check([d["reason"] for d in said if d["verdict"] == "allow" and
           d.get("name") == "other.test" and d["kind"] != "resolve"] ==
          ["granted", "answered"], "on record: a grant of the session's, and "
          "an answer", said)


@test
def a_request_waits_before_the_proxy():
    """Decrypted: another path of the connection that a yes opened is none."""
    out, early, late, said, err = by_proxy(
        curl("https://api.test/v1/x") + curl("https://api.test/elsewhere") +
        curl("https://api.test/v1/y"),
        (("GET https://api.test/v1/x", "session"),
         ("GET https://api.test/v1/y", "never")))
    check(out.split() == ["200", "403", "403"], "each by its answer",
          (out, err))
    check(not early and set(late) == {"api.test:443"}, "by name",
          (early, late, said))


@test
def a_no_is_not_asked_of_the_proxy():
    out, early, late, said, err = by_proxy(
        curl("https://other.test/") + curl("https://api.test/v1/x"),
        (("other.test:443", "never"), ("GET https://api.test/v1/x", "never")))
    check("200" not in out and out.split()[-1] == "403", "refused",
          (out, err))
    check(not early and not late, "nothing asked of it", (early, late))
    check({d["reason"] for d in said if d["verdict"] == "deny"} ==
          {"answered-no"}, "on record", said)


# U-7
@test
def a_proxy_that_refuses_after_a_yes_is_told():
    out, _, late, said, err = by_proxy(
        "curl -sS -m 60 https://api.test/v1/x; echo; " +
        curl("https://other.test/"),
        (("GET https://api.test/v1/x", "once"), ("other.test:443", "once")),
        3130)
    check("403" in out and "upstream" in out, "the client is told", (out, err))
    check([d.get("error") for d in said if d["reason"] == "upstream"],
          "on record", (said, late))


# U-14
@test
def a_yes_goes_past_the_proxy_where_that_is_direct():
    with Place(POLICY + "upstream: {proxy: 'http://proxy.corp.test:3128', "
               "direct: [other.test, api.test]}\n") as where:
        out = live.Log("inet.jsonl")
        p, somebody = asked(where, curl("http://other.test/") +
                            curl("https://api.test/v1/x"))
        with somebody:
            n = somebody.wait_for("other.test:80")
            live.the.settle()
            check(not live.matching(out.events(), "dns", name="other.test"),
                  "no name is asked for before", out.events())
            where.membrane("answer", str(n), "session")
            n = somebody.wait_for("GET https://api.test/v1/x")
            where.membrane("answer", str(n), "session")
            text, err = p.communicate(timeout=60)
        check(text.split() == [b"200", b"200"], "both went through",
              (text, err[-600:]))
        live.the.settle()
        check(not live.matching(out.events(), "proxy"), "the proxy is not "
              "asked", out.events())


@test
def what_is_new_is_told_while_it_is_asked():
    """Above the question, with what was typed by then; the terminal's own note
    has nothing of the names inside but their letters."""
    with Place(POLICY, env={"TERM": "xterm-kitty"}) as where:
        p = where.popen(
            "run", "--", "sh", "-c",
            "echo up; until [ -e go ]; do sleep 0.05; done; (" +
            curl("http://other.test/") + ") & until [ -e on ]; do sleep 0.05; "
            "done; for n in $(seq 30); do getent hosts n$n.test; done; "
            "getent hosts \"$(printf 'x\\033]0;pwned\\007.test')\"; wait")
        p.stdout.readline()
        with Terminal(where.argv("watch"), 30, 100) as t:
            lock = next(where.state.glob("sessions/*/asking"))
            check(within(10, lambda: is_held(lock)), "it listens")
            (where.work / "go").touch()
            check(t.shows(rb"\x1b\]9;membrane: somebody waits for your answer"
                          rb"\x1b\\"), "a note of it", t.all)
            check(t.shows(rb"leaves it\) $"), "it is asked", t.all)
            t.type(b"x\x7fo")
            check(t.shows(rb"x\x08 \x08o"), "what is typed is shown", t.screen)
            (where.work / "on").touch()
            check(t.shows(rb"deny .*n30\.test"), "refusals meanwhile", t.screen)
            check(t.shows(rb"leaves it\) o$"), "and below them the question "
                  "with what was typed", t.screen)
            counts = re.findall(rb"(\d+) refused, \d+ bytes out", t.all)
            check(max(map(int, counts)) >= 30, "and how much", counts)
            t.type(b"\r")
            check(t.shows(rb"has ended with 0"), "it was answered", t.all)
            check(t.ends() == 0, "its own end")
            check(t.is_restored(), "the terminal is as it was")
        out, err = p.communicate(timeout=60)
        check(b"200" in out, "it went through", (out, err[-600:]))
        notes = re.findall(rb"\x1b\]9;membrane: (refused [^\x1b]*)\x1b\\", t.all)
        check(notes and len(notes) <= 3, "a note of refusals, and no storm",
              notes)
        check(b"\x07" not in t.all and b"\x1b]0" not in t.all,
              "nothing of theirs is the terminal's", t.all[-3000:])


@test
def a_question_that_is_over_takes_no_keys():
    """It was answered elsewhere: what was typed at it answers no other."""
    with Place(POLICY + "  - once.test\n") as where:
        p = where.popen(
            "run", "--", "sh", "-c",
            "echo up; until [ -e go ]; do sleep 0.05; done; (" +
            curl("http://other.test/") + ") & (until [ -e on ]; do sleep 0.02; "
            "done; " + curl("http://once.test/") + ") & wait")
        p.stdout.readline()
        with Terminal(where.argv("watch"), 30, 100) as t:
            lock = next(where.state.glob("sessions/*/asking"))
            check(within(10, lambda: is_held(lock)), "it listens")
            (where.work / "go").touch()
            check(t.shows(rb"leaves it\) $"), "it is asked", t.all)
            (where.work / "on").touch()
            check(t.shows(rb"asks .*once\.test"), "another waits", t.all)
            check(t.shows(rb"leaves it\) $"), "behind the first", t.all)
            where.membrane("answer", str(where.records("question")[0]["id"]),
                           "once")
            check(t.shows(rb"(?s)of session .*once\.test:80.*leaves it\) "),
                  "the next is asked", t.all)
            t.type(b"y\r")
            check(not t.shows(rb"leaves it\) y|has ended", 1),
                  "what came at once is nobody's answer", t.all)
            t.type(b"y\r")
            check(t.shows(rb"has ended with 0"), "then it is", t.all)
        p.communicate(timeout=60)
        check([r["answer"] for r in where.records("answered")] ==
              ["once", "once"], "both", where.records("answered"))
