"""The agent, the tracer and what both left."""
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests/live"))
from tracer import Watch  # noqa: E402

ACCOUNT_FD, PROC_FD = 200, 201
ACCOUNT_BYTES = 512 << 20

# Whatever it does, it does to a file system of its own.
BOX = r"""
mount -t tmpfs -o mode=755 none "$1" && cp "$2" "$1/agent" && mkdir "$1/at" &&
mount -o remount,bind,ro / || exit 9
for folder in / "$1/.."; do
	! touch "$folder/probe-$$" 2>/dev/null || exit 9
done
readlink /proc/self/ns/net
read go
exec "$1/agent" "$1/at" "$3" "$4"
"""


def build(to, cc=("gcc",)):
    subprocess.run([*cc, "-O1", "-std=gnu17", "-static", "-no-pie", "-Wall",
                    "-Wextra", "-Wno-format-truncation", "-I", ROOT, "-o", to,
                    *sorted(HERE.glob("*.c")), "-lpthread"], check=True)


def run(folder, agent, plan, seed, steps):
    """(how the agent ended, its account, the lines of the trace)"""
    (folder / "trace.json").write_text(json.dumps(plan))
    box = folder / "box"
    box.mkdir(exist_ok=True)
    account = os.open(folder / "account", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.ftruncate(account, ACCOUNT_BYTES)
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    os.dup2(account, ACCOUNT_FD)
    os.dup2(proc, PROC_FD)
    os.close(account)
    os.close(proc)
    watch = Watch(folder)
    with subprocess.Popen(
            ["unshare", "--net", "--pid", "--mount", "--fork", "--kill-child",
             "--mount-proc", "sh", "-c", BOX, "sh", box, agent, str(seed),
             str(steps)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            pass_fds=(ACCOUNT_FD, PROC_FD)) as p:
        line = p.stdout.readline()
        if not line:
            raise RuntimeError("the box is not closed: nothing was run")
        netns = int(re.search(rb"\[(\d+)\]", line)[1])
        watch.hello(netns)
        try:
            p.communicate(b"go\n", timeout=100)
        except subprocess.TimeoutExpired:
            p.kill()
    lines, _ = watch.end()
    with open(folder / "account", "rb") as f:
        used = int.from_bytes(f.read(8), "little")
        f.seek(0)
        data = f.read(16 + used)
    os.close(ACCOUNT_FD)
    os.close(PROC_FD)
    return p.returncode, data, lines
