"""Many sessions, one after the other and at once: nothing is left, nothing
grows.

    MANY=all tests/live/run many    200 in a row, 50 at once
"""
import os
import pathlib
import threading

import live
from live import Place, check, leftovers, strays, test, within

ALL = os.environ.get("MANY") == "all"
IN_A_ROW, AT_ONCE = (200, 50) if ALL else (30, 12)
# What a daemon keeps of its own accord, whatever the number of sessions.
FILES_MORE, MEMORY_MORE_KB = 12, 40 << 10


def files_of_docker():
    return len(os.listdir("/proc/%s/fd" % live.the.pid))


def memory_of_docker_kb():
    text = pathlib.Path("/proc", live.the.pid, "status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0])


def mounts_of_docker():
    return len(pathlib.Path("/proc", live.the.pid, "mountinfo").read_text(
        ).splitlines())


def nothing_more(before):
    check(not leftovers(), "no container", leftovers())
    check(within(10, lambda: not strays()), "no process", strays())
    check(within(20, lambda: files_of_docker() <= before[0] + FILES_MORE),
          "open files of Docker", (before[0], files_of_docker()))
    check(memory_of_docker_kb() <= before[1] + MEMORY_MORE_KB,
          "memory of Docker", (before[1], memory_of_docker_kb()))
    check(within(10, lambda: mounts_of_docker() <= before[2]),
          "mounts of Docker", (before[2], mounts_of_docker()))


def measured():
    return files_of_docker(), memory_of_docker_kb(), mounts_of_docker()


@test
def one_after_the_other():
    with Place("ignore: [.env]\n", files={".env": "s\n"}) as where:
        for _ in range(3):   # until what is done once has been done
            where.membrane("run", "--", "true")
        leftovers()
        before = measured()
        for i in range(IN_A_ROW):
            s = where.membrane("run", "--", "sh", "-c", "exit %d" % (i % 100))
            if not check(s.status == i % 100 and not s.stderr,
                         "session %d" % i, (s.status, s.stderr)):
                break
        nothing_more(before)
        check({x.name for x in where.work.iterdir()} == {"probe.py", ".env"},
              "the workspace", list(where.work.iterdir()))


@test
def at_once():
    with Place("") as where:
        where.membrane("run", "--", "true")
        leftovers()
        before = measured()
        got = [None] * AT_ONCE

        def one(i):
            place = Place("ignore: [.env]\n", files={".env": "s\n"})
            p = place.popen("run", "--", "sh", "-c", "cat .env; exit %d" % i)
            out, err = p.communicate(timeout=600)
            got[i] = (p.returncode, out, err)
            place.remove()
        threads = [threading.Thread(target=one, args=(i,))
                   for i in range(AT_ONCE)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        wrong = [(i, g) for i, g in enumerate(got) if g != (i, b"", b"")]
        check(not wrong, "each is what it is", wrong[:3])
        nothing_more(before)
