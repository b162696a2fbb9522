"""Many sessions, one after the other and at once: nothing is left, nothing
grows: of Docker's daemon, or of who keeps the world's mounts in its place.

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
SESSIONS_KEPT = 200


def files_of_docker():
    return len(os.listdir("/proc/%s/fd" % live.the.pid))


def memory_of_docker_kb():
    text = pathlib.Path("/proc", live.the.pid, "status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0])


def places_of_mounts(pid):
    return [line.split()[4] for line in pathlib.Path(
        "/proc", pid, "mountinfo").read_text().splitlines()]


def mounts_of_docker():
    """Those of the machine itself, which come through to it, are anybody's."""
    here = set(places_of_mounts("self"))
    return len([at for at in places_of_mounts(live.the.pid)
                if at not in here])


def measured():
    return files_of_docker(), memory_of_docker_kb(), mounts_of_docker()


def nothing_more(before):
    check(not leftovers(), "no container", leftovers())
    check(within(10, lambda: not strays()), "no process", strays())
    check(within(20, lambda: files_of_docker() <= before[0] + FILES_MORE),
          "open files of Docker", (before[0], files_of_docker()))
    check(memory_of_docker_kb() <= before[1] + MEMORY_MORE_KB,
          "memory of Docker", (before[1], memory_of_docker_kb()))
    check(within(10, lambda: mounts_of_docker() <= before[2]),
          "mounts of Docker", (before[2], mounts_of_docker()))
    live.notes.append("its open files %d, then %d, memory %d kB, then %d, "
                      "mounts %d, then %d" % tuple(
                          n for pair in zip(before, measured()) for n in pair))


def state_is_bounded(where):
    """No more than is kept; of those that ended nothing but the record."""
    state = where.state

    def ended():
        return not list(state.glob("sessions/*/lock"))
    check(within(20, ended), "all have ended")
    # it begins with what is too much
    where.membrane("run", "--", "true")
    kept = list((state / "sessions").iterdir())
    check(len(kept) <= SESSIONS_KEPT + 1, "sessions kept", len(kept))
    check(within(20, ended), "the last has ended")
    for name in "journal", "attach", "control", "frozen", "*.tmp*":
        left = list(state.glob("sessions/*/" + name))
        check(not left, "no " + name, left[:3])
    live.notes.append("%d sessions kept, %d kB" % (len(kept), sum(
        p.lstat().st_size for p in state.rglob("*")) >> 10))


@test
def one_after_the_other():
    with Place("ignore: [.env]\n" + live.UNTRACED,
               files={".env": "s\n"}) as where:
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
        state_is_bounded(where)
        check({x.name for x in where.work.iterdir()} == {"probe.py", ".env"},
              "the workspace", list(where.work.iterdir()))


def wave(state):
    """So many sessions at once, of one user, each in a workspace of its own."""
    got = [None] * AT_ONCE

    def one(i):
        with Place(files={".env": "s\n"},
                   env={"MEMBRANE_HOME": str(state)}) as place:
            p = place.popen("run", "--", "sh", "-c", "cat .env; exit %d" % i)
            out, err = p.communicate(timeout=600)
            got[i] = (p.returncode, out,
                      live.without_whose(err.decode()).encode())
    threads = [threading.Thread(target=one, args=(i,)) for i in range(AT_ONCE)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    # what it asked for, and nothing else, is said of each
    said = got[0][2]
    check(b"read .env" in said and b"run by" in said and
          said.count(b"\n") == 4, "said", said)
    wrong = [(i, g) for i, g in enumerate(got) if g != (i, b"", said)]
    check(not wrong, "each is what it is", wrong[:3])


@test
def at_once():
    with Place("ignore: [.env]\n" + live.UNTRACED) as where:
        # What so many need at once Docker keeps for a while, and it is as chance
        # has it how many there were; what is lost is lost in each wave.
        wave(where.state)
        for _ in range(3):
            leftovers()
            before = measured()
            wave(where.state)
            if within(20, lambda: files_of_docker() <
                      before[0] + AT_ONCE // 2):
                break
        nothing_more(before)
        state_is_bounded(where)
