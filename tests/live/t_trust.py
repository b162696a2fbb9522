"""A workspace's additions: asked about once, at a terminal, and held to."""
import live
from live import Place, check, leftovers, test
from t_life import on_a_terminal

QUESTION = b"[y/N]"
ADDS = "args: [--env, WORD=%s]\n"


def says(word):
    """A command that prints the variable that the workspace adds."""
    return ["run", "--", "sh", "-c", "echo \"got $WORD\""], "got " + word


def answered(where, keys, word, **more):
    """Run it at a terminal, where the question gets these keys."""
    argv, wanted = says(word)
    status, screen = on_a_terminal(where, *argv, keys=keys, when=QUESTION,
                                   seconds=60, **more)
    check(QUESTION.decode() in screen, "it asks", screen)
    return status, screen, wanted


def unasked(where, word):
    """Run it without a terminal."""
    argv, wanted = says(word)
    s = where.membrane(*argv)
    return s, wanted


def refused(where, word):
    s, _ = unasked(where, word)
    check(s.status == 125 and not s.stdout, "refused", (s.status, s.stdout))
    check("  membrane trust %s\n" % where.work in s.stderr,
          "the command that approves", s.stderr)
    check("+ args --env WORD=%s" % word in s.stderr, "what it adds", s.stderr)
    check(not leftovers(), "nothing was started", leftovers())


@test
def asked_once():
    with Place("", workspace=ADDS % "one") as where:
        store = where.state / "trust.json"
        refused(where, "one")
        for no in (b"\r", b"n\r", b"yesyesyesyesyesyes\r", b"\x04"):
            status, screen, wanted = answered(where, no, "one")
            check(status == 125 and wanted not in screen and
                  not store.exists(), "%r is no" % no, (status, screen))
        s = where.membrane("run", "--trust-workspace", "--", "sh", "-c",
                           "echo $WORD; find / -name trust.json 2>/dev/null")
        check(s.stdout == "one\n" and not store.exists(),
              "--trust-workspace leaves nothing", s.stdout + s.stderr)
        status, screen, wanted = answered(where, b"yes\r", "one")
        check(status == 0 and wanted in screen, "yes", (status, screen))
        st = store.stat()
        check((st.st_uid, st.st_mode & 0o7777) == (live.the.uid, 0o600),
              "the store is the user's alone", oct(st.st_mode))
        s, wanted = unasked(where, "one")
        check(s.status == 0 and s.stdout == wanted + "\n",
              "the second run does not ask", (s.status, s.stderr))
        argv, _ = says("one")
        status, screen = on_a_terminal(where, *argv)
        check(status == 0 and QUESTION.decode() not in screen,
              "nor at a terminal", (status, screen))


# T-1
@test
def asked_again_after_a_change():
    with Place("", workspace=ADDS % "one") as where:
        s = where.membrane("trust", "--yes")
        check(s.status == 0 and "+ args --env WORD=one" in s.stdout,
              "approved by a script", (s.status, s.stdout, s.stderr))
        (where.work / ".membrane.yaml").write_text(ADDS % "two")
        refused(where, "two")

        def widen():
            (where.work / ".membrane.yaml").write_text(ADDS % "three")
        status, screen, wanted = answered(where, b"y\r", "two", then=widen)
        check(status == 0 and wanted in screen,
              "what runs is what was asked about", (status, screen))
        refused(where, "three")
        (where.work / ".membrane.yaml").write_text(
            "# of another branch\n" + ADDS % "one")
        s, wanted = unasked(where, "one")
        check(s.stdout == wanted + "\n", "the first one is still approved",
              (s.status, s.stderr))
        s = where.membrane("trust", "--revoke")
        check(s.status == 0, "taken back", s.stderr)
        refused(where, "one")
        status, screen = on_a_terminal(where, "trust", keys=b"n\r",
                                       when=QUESTION)
        check(status == 1 and "not approved" in screen, "no", screen)
        status, screen = on_a_terminal(where, "trust", keys=b"Y\r",
                                       when=QUESTION)
        check(status == 0 and "approved 1 addition" in screen, "yes", screen)
        s, wanted = unasked(where, "one")
        check(s.stdout == wanted + "\n", "approved at a terminal", s.stderr)


@test
def a_terminal_that_nobody_sees():
    with Place("", workspace=ADDS % "one") as where:
        # A shell on a terminal runs it with all of it redirected: the way an
        # editor starts a tool.
        class Shell:
            @staticmethod
            def argv(*_):
                return live.the.as_user(
                    "sh", "-c", "\"$1\" run -- true </dev/null >out 2>&1; "
                    "echo \"status $?\"", "sh", live.the.membrane,
                    cwd=where.work, env={"HOME": str(where.root),
                                         "MEMBRANE_HOME": str(where.state)})
        status, screen = on_a_terminal(Shell)
        check(status == 0 and "status 125" in screen, "refused", screen)
        check(QUESTION.decode() not in (where.work / "out").read_text(),
              "not asked")


@test
def a_link_to_another_workspace_is_asked_about():
    """What one agent left must not become the next one's workspace unseen."""
    with Place("", files={"../outside/key": "secret\n"}) as where:
        s = where.membrane("run", "--", "ln", "-s", "../outside", "sub")
        check(s.status == 0 and (where.work / "sub").is_symlink(),
              "an agent makes a link", s.stderr)
        run = ["run", "--", "sh", "-c", "cat key"]
        outside = where.root / "outside"
        named = "the workspace is %s (reached through the link %s)" % (
            outside, where.work / "sub")
        for flags, pwd in ((["--workspace", "sub"], where.work),
                           (["--workspace", "."], None)):
            there = where.work
            if not pwd:   # as `cd sub` in a shell
                where.work = there / "sub"
            where.env["PWD"] = str(where.work)
            s = where.membrane(run[0], *flags, *run[1:])
            check(s.status == 125 and not s.stdout and named in s.stderr and
                  "--workspace %s\n" % outside in s.stderr,
                  "refused without a terminal", (flags, s.status, s.stderr))
            status, screen = on_a_terminal(
                where, run[0], *flags, *run[1:], keys=b"n\r", when=QUESTION,
                seconds=60)
            check(status == 125 and "secret" not in screen and
                  "reached through" in screen, "no is no", (status, screen))
            where.work = there
        status, screen = on_a_terminal(
            where, "run", "--workspace", "sub", *run[1:], keys=b"y\r",
            when=QUESTION, seconds=60)
        check(status == 0 and "secret" in screen, "yes is yes",
              (status, screen))
        s = where.membrane("run", "--workspace", str(outside), *run[1:])
        check(s.stdout == "secret\n" and "link" not in s.stderr,
              "by its own name nobody asks", (s.status, s.stderr))
        (where.root / "mine").symlink_to(outside)
        s = where.membrane("run", "--workspace", "../mine", *run[1:])
        check(s.stdout == "secret\n" and "reached through" in s.stderr,
              "a link of one's own is only said", (s.status, s.stderr))
