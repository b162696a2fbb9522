#!/usr/bin/env python3
"""The tracer against an agent whose every action is a matter of chance.

    tests/live/random_live.py [SEED [N]]    N seeds from this one on, default 1

tests/random has the agent, which keeps an account of what it did, and the
judge, which says by that account and by what is documented which records a
trace has to hold: each of them once, in order, field by field, and nothing
else. Without a seed those are run that always are. What fails is printed with
its seed. Needs root; without it, or where the kernel takes no programs, skips
with 77.
"""
import os
import pathlib
import random
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/random")]
import account  # noqa: E402
import compare  # noqa: E402
import history  # noqa: E402
import policy  # noqa: E402
import world  # noqa: E402
from tracer import args, why_not  # noqa: E402

STEPS = 600
SEEDS = (1, 2, 70)
ALL = {"version": 1, "reads": True, "sensitive": [], "exclude": [],
       "rotate": {}, "required": False,
       "events": [{"name": e, "filters": [], "optional": True}
                  for e in policy.EVERY]}
# What ends besides the agent's threads, and what it did not call by itself.
UNCOUNTED = ("cap_capable", "sched_process_exit")

passed = failed = 0


def check(good, text, seen=()):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAIL: %s" % text, *["      %.3000s" % s for s in seen],
              sep="\n", flush=True)


class Run:
    """Of one seed, under one plan."""

    def __init__(self, folder, agent, seed, trace, what):
        self.what = "seed %d, %s" % (seed, what)
        status, data, lines = world.run(folder, agent, trace, seed, STEPS)
        self.first, *self.lines, self.last = lines
        self.end = args(self.last)
        self.taken = {e["name"] for e in trace["events"]}
        self.history = history.History(account.read(data),
                                       args(self.first)["back_end"])
        check(status == 0, self.what + ": the agent ends well", [status])
        check(self.end["events"] == len(self.lines),
              self.what + ": the last line counts", [self.end, len(lines)])

    def compare(self, takes, lossy=False):
        capable = "cap_capable" in self.taken and (
            "cap_capable" not in args(self.first)["missing"])
        c = compare.Comparison(self.history, self.lines, takes, capable)
        problems = c.run(lossy)
        check(not problems, self.what, problems[:8])
        return c


def everything(folder, agent, seed):
    run = Run(folder, agent, seed, ALL, "everything")
    check(run.end["lost"] == run.end["filtered"] == 0,
          run.what + ": nothing is lost", [run.end])
    run.compare(lambda event: True)


def filtered(folder, agent, seed):
    rng = random.Random(seed)
    trace, takes = policy.random_policy(rng, str(folder / "box/at"))
    run = Run(folder, agent, seed, trace, "filters %s" % trace)
    check(run.end["lost"] == 0, run.what + ": nothing is lost", [run.end])
    run.compare(takes.takes)


def writes_alone(folder, agent, seed):
    """Files that are opened only to be read are none, but for some names."""
    trace = dict(ALL, reads=False, sensitive=["a", "made"], events=[
        {"name": "security_file_open", "filters": []}])
    run = Run(folder, agent, seed, trace, "writes alone")
    run.compare(policy.Policy(trace).takes)


def lossy(folder, agent, seed):
    """What is there and what is lost are all, to the last message."""
    names = [e for e in policy.EVERY if e not in UNCOUNTED + (
        "net_packet_dns_request", "net_packet_dns_response")]
    trace = dict(ALL, ring=4096,
                 events=[{"name": e, "filters": []} for e in names])
    run = Run(folder, agent, seed, trace, "a small ring")
    c = run.compare(lambda event: event.name in run.taken, lossy=True)
    check(c.missing == run.end["lost"] > 0, run.what + ": lost are counted",
          [c.missing, run.end])


def main():
    if os.geteuid():
        print("the tracer needs root")
        sys.exit(77)
    seeds = SEEDS
    if len(sys.argv) > 1:
        first = int(sys.argv[1])
        seeds = range(first, first + int((sys.argv + ["1"])[2]))
    with tempfile.TemporaryDirectory() as name_:
        folder = pathlib.Path(name_)
        folder.chmod(0o755)
        if why := why_not(folder):
            print("no tracing here: %s" % why)
            sys.exit(77)
        world.build(folder / "agent")
        for seed in seeds:
            everything(folder, folder / "agent", seed)
            filtered(folder, folder / "agent", seed)
            writes_alone(folder, folder / "agent", seed)
            lossy(folder, folder / "agent", seed)
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(bool(failed))


main()
