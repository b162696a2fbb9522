"""Where the workspace is inside, and what a session finds of others."""
import json

import live
from live import Place, check, test
from t_files import inside
import t_trace

# What Claude Code does with -c: the last conversation that was held in the
# folder of this name.
CONVERSATION = """\
at=~/.claude/projects/$(pwd | tr -c 'A-Za-z0-9\\n' -)
mkdir -p $at
cat $at/said 2>&-
echo "$1" >>$at/said
"""


def ask(where, words):
    return where.membrane("run", "--", "sh", "-c", CONVERSATION, "-", words)


@test
def projects_have_conversations_of_their_own():
    with Place("", files={"a": "one\n"}) as where:
        first, second = where.work, where.root / "other"
        second.mkdir()
        where.own()
        s = ask(where, "of the first")
        check(s.status == 0 and s.stdout == "", "nothing yet", s.stderr)
        where.work = second
        s = ask(where, "of the second")
        check(s.status == 0 and s.stdout == "", "another's is not here",
              s.stdout + s.stderr)
        where.work = first
        s = ask(where, "again")
        check(s.stdout == "of the first\n", "its own is", s.stdout + s.stderr)


@test
def workspace_is_at_its_own_path_too():
    policy = "masks: hold\nignore: [.env]\nreadonly: [kept]\n"
    with Place(policy, files={".env": "secret\n", "kept": "k\n",
                              "a": "one\n"}) as where:
        s = inside(where, "pwd; stat -c %d:%i . /workspace; "
                   "cat .env /workspace/.env; "
                   "for d in . /workspace; do echo x >$d/kept; "
                   "mv a $d/.env; done; echo two >made; cat /workspace/made; "
                   "grep -c ' /workspace ' /proc/self/mountinfo")
        lines = s.stdout.split()
        check(lines[:1] == [str(where.work)] and lines[1] == lines[2] and
              lines[3:] == ["two", "1"] and
              s.stderr.count("Read-only file system") == 4,
              "one folder, with one set of masks", s.stdout + s.stderr)
        record, = where.state.glob("sessions/*/session.json")
        check(json.loads(record.read_text())["mounted"] ==
              ["/workspace", str(where.work)], "its record")
        s = where.membrane("trace", "replay")
        check(s.status == 0, "and what was done there is the workspace's",
              s.stdout + s.stderr)
        other = where.root / "beside"
        other.mkdir()
        where.own()
        s = inside(where, "pwd; ls -A %s" % where.root, "--arg",
                   "--volume=%s:%s:ro" % (other, where.root))
        check(s.stdout == "/workspace\n", "where a folder is mounted above, "
              "it is not", s.stdout + s.stderr)
        check(list(other.iterdir()) == [], "and nothing is made there")
        s = inside(where, "pwd", "--arg", "--workdir=/workspace")
        check(s.stdout == "/workspace\n", "who says where, begins there",
              s.stdout + s.stderr)


@live.docker_only("an image has /workspace")
def filters_name_the_workspace_on_every_machine():
    policy = """\
trace:
  events:
    - event: security_file_open
      filters: ["data.pathname=/workspace/*", "data.pathname!=/workspace/tmp/*"]
  exclude: [/workspace/out]
"""
    with Place(policy, files={"tmp/x": "", "out/x": ""}) as where:
        s = inside(where, "echo 1 >here; echo 2 >tmp/there; echo 3 >out/far; "
                   "echo 4 >/workspace/also; echo 5 >/tmp/else")
        check(s.status == 0, "it runs", s.stderr)
        opened = t_trace.paths(t_trace.events(where), "security_file_open")
        check(sorted(opened) == ["/workspace/also", "/workspace/here"],
              "those that are meant, by either name", opened)


SEEN = "cat ~/left 2>&-; echo $PWD >>~/left; mkdir -p ~/go/pkg; " \
       "touch ~/go/pkg/x; chmod 555 ~/go/pkg; ls -ld ~ | cut -c1-10"


@test
def homes_are_whose_the_policy_says():
    with Place("", files={"a": "one\n"}) as where:
        first, second = where.work, where.root / "other"
        second.mkdir()
        for kind, seen in (("workspace", str(first)), ("none", ""),
                           ("shared", str(second))):
            (where.state / "config.yaml").write_text("home: %s\n" % kind)
            where.own()
            for work in (first, second, first):
                where.work = work
                s = inside(where, SEEN)
                lines = s.stdout.split("\n")[:-1]
                check(s.status == 0 and lines[-1] == "drwx------" and
                      "stays" not in s.stderr, kind + ": it runs",
                      s.stdout + s.stderr)
                before = lines[:-1]
            check(before[-1:] == [seen] * bool(seen) and
                  (kind != "none" or before == []),
                  kind + ": what the last one saw", before)
        homes = list((where.state / "homes").iterdir())
        check(len(homes) == 2, "two workspaces have homes", homes)
        check(not list(where.state.glob("sessions/*/home")),
              "nobody's are gone")


@test
def nobody_s_home_goes_with_a_killed_launcher():
    with Place("home: none\n", files={"a": "one\n"}) as where:
        p = where.popen("run", "--", "sh", "-c", "touch ~/left; touch here; "
                        "sleep 60")
        check(live.within(30, lambda: (where.work / "here").exists()),
              "it runs")
        p.kill()
        p.wait()
        check(live.within(30, lambda: not list(
            where.state.glob("sessions/*/home"))), "it is gone")


@test
def protected_files_are_of_the_home_in_use():
    policy = """\
home: workspace
protect:
  - {files: ["~/.login*"], by: sh}
"""
    with Place(policy, files={"a": "one\n"}) as where:
        s = inside(where, "true")
        check(s.status == 0, "it runs", s.stderr)
        home, = (where.state / "homes").iterdir()
        (home / ".login").write_text("secret\n")
        where.own()
        s = inside(where, "cat ~/.login; echo end")
        check("secret" not in s.stdout and "end" in s.stdout and
              "Permission denied" in s.stderr, "a tool does not read it",
              s.stdout + s.stderr)
