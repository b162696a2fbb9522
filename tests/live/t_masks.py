"""Masks that are mounts, without Docker: nobody stands still while they are made."""
import json
import random
import subprocess
import time

import live
from live import Place, check
from t_native import native

ROUNDS = 200
SIDES, SECRETS = 10, 1
# Folders change places, by renames and by links, until somebody says stop: what
# another one has hidden the agent cannot read, but its folders can be moved. Where
# one goes has been looked at already, often enough, and where it was not yet.
EXCHANGE = r"""
import os, random, sys, time
random.seed(1)
print("up", flush=True)
at = {"s%d" % i: i for i in range(SECRETS)}
def move():
    name = random.choice(list(at))
    to = random.randrange(SIDES)
    here, there = ("d%d/%s" % (i, name) for i in (at[name], to))
    if here == there:
        return
    if random.random() < 0.2:
        os.rename(here, here + ".")
        os.symlink("../d%d" % to, here)
        os.unlink(here)
        os.rename(here + ".", here)
    os.rename(here, there)
    at[name] = to
while True:
    while not os.path.exists("stop"):
        move()
    print(time.monotonic(), flush=True)
    sys.stdin.readline()
""".replace("SIDES", str(SIDES)).replace("SECRETS", str(SECRETS))
FIND = "grep -rs SECRET d*; find d* -name .env | wc -l"


def held_by(where, script):
    run = where.popen("run", "--no-trace", "--", "python3", "-c", script,
                      stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
                      text=True)
    check(run.stdout.readline() == "up\n", "the other session runs")
    return run


def begin(where, attacker, until):
    """One start, and how many milliseconds of it the other one moved: until the
    look at the workspace, as far as the start before this one tells."""
    before, start = set(where.state.glob("sessions/*")), time.monotonic()
    s = where.popen("run", "--no-trace", "--", "sh", "-c", FIND, text=True)
    time.sleep(random.uniform(*until) / 1000)
    (where.work / "stop").touch()
    moved = (float(attacker.stdout.readline()) - start) * 1000
    out, err = s.communicate(timeout=60)
    (where.work / "stop").unlink()
    attacker.stdin.write("\n")
    attacker.stdin.flush()
    mine, = set(where.state.glob("sessions/*")) - before
    at = json.loads((mine / "summary.json").read_text())["ms"]
    return s.returncode, out, err, moved, at


@native
def folders_that_change_places_meanwhile_lose_no_mask():
    """What is moved once the masks are there is bare, as what the host moves."""
    files = {"d%d/s%d/.env" % (i, i): "SECRET\n" for i in range(SECRETS)}
    files.update({"d%d/%d/x" % (i, k): "" for i in range(SIDES)
                  for k in range(600)})
    view = "engine: native\nignore: [.env]\n"
    began, refused, until = 0, 0, (0, 300)
    random.seed(1)
    with Place(view, files=files) as where:
        attacker = held_by(where, EXCHANGE)
        (where.state / "config.yaml").write_text(view + "masks: start\n")
        for i in range(ROUNDS):
            status, out, err, moved, at = begin(where, attacker, until)
            if status == 125:
                check("moved" in err or "while it" in err, "its reason", err)
                refused += 1
            if "agent_spawned" in at:
                until = (at["ready"], at["agent_spawned"])
            if status != 125 and moved < at["agent_spawned"]:   # nobody moved them later
                check((status, out) == (0, "%d\n" % SECRETS),
                      "round %d: all of them are hidden" % i, out + err)
                began += 1
        attacker.terminate()
        attacker.communicate(timeout=30)
        check(began and refused, "both happen", (began, refused))
        live.notes.append("%d began, %d were refused" % (began, refused))
