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


@test
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
