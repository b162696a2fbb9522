"""Whether cells.py would see it: plans that are changed by hand, one change each.

In FOLDER is one policy with its cells. Each change to what gate.cfg says of the
policy, and to the maps beside it, has to show as a difference. HAProxy does not
take some, which is as good; those that nobody sees are shown.

    cells_faults.py FOLDER
"""
import contextlib
import os
import pathlib
import random
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import cells  # noqa: E402
import gate  # noqa: E402
from gate import TOP, Bad  # noqa: E402

# Percent of changes that have to be seen. What is left says the same in other words, such as a rule of a grant
# that lies in another.
SEEN_MIN = 90


def neighbours(number):
    return [str(int(number) - 1), str(int(number) + 1)]


def conditions(line):
    """Rules with a condition less, or one turned round."""
    head, _, rest = line.partition(" if ")
    words = rest.split(" ")
    for i, word in enumerate(words):
        # Whether it is decrypted counts only where the rule itself permits it.
        if ".bump)" not in head:
            yield head + " if " + " ".join(words[:i] + words[i + 1:]) if words[1:] else head
        turned = word[1:] if word.startswith("!") else "!" + word
        yield head + " if " + " ".join(words[:i] + [turned] + words[i + 1:])


def changed(line):
    """All that a line could wrongly be; empty: it is gone."""
    if re.search(r" set-var\((sess|txn)\.(rule|bump|unseen|by_path)\) ", line):
        yield ""
        if " if " in line and "{" not in line.partition(" if ")[2]:
            yield from conditions(line)
    elif line.strip().startswith("acl path_"):
        head, _, tail = line.partition(" -- ")
        for prefix in re.findall(r"'([^']*)'", tail):
            inner = prefix.rstrip("/")
            for other in (inner, inner + "/x/", inner[:-1] + "/", inner + "x/"):
                yield head + " -- " + tail.replace(f"'{prefix}'", f"'{other}'")
        if "-m reg" in head:
            yield line.replace("(/|", "(.|")
            yield line.replace("(/|", "(x|")
    elif line.strip().startswith("acl port_"):
        for number in re.findall(r"\b\d+\b", line.partition(" dst_port ")[2]):
            for other in neighbours(number):
                yield line.partition(" dst_port ")[0] + " dst_port " \
                    + re.sub(rf"\b{number}\b", other, line.partition(" dst_port ")[2], count=1)
    elif line.strip().startswith("acl method_"):
        yield re.sub(r"'\w+'", "'HEAD'", line, count=1)
        yield line + " 'PUT'"
    elif line.strip().startswith("acl name_"):
        yield re.sub(r"\.(\w+)\.$", r".x\1.", line)


def of_config(text):
    """The policy's part alone, but for names of what is refused, which only tell."""
    lines, inside = text.split("\n"), False
    for i, line in enumerate(lines):
        if line.startswith("    # What the policy says of"):
            inside = True
        elif line.startswith(("    # The verdict.", "    # Headers by which")):
            inside = False
        if inside:
            for other in changed(line):
                if other != line:
                    yield line, other, "\n".join(lines[:i] + [other] * bool(other) + lines[i + 1:])


def of_map(text):
    """A line less, or its tokens without one."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if not line or line.startswith("#"):
            continue
        key, tokens = line.split(" ")
        others = [""] + [f"{key} {tokens.replace(t + '.', '', 1)}" for t in re.findall(r"\.[acd]?\d+(?=\.)", tokens)]
        if re.search(r"\.[acd]?\d+\.", tokens):
            for other in others:
                yield line, other, "\n".join(lines[:i] + [other] * bool(other) + lines[i + 1:])


def is_seen(folder, name, text, cs):
    work = TOP / "changed"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    for file in ("gate.cfg", "gate.lua", "hosts.map", "addr.map", "crt.lst"):
        if (folder / file).exists():
            shutil.copyfile(folder / file, work / file)
    (work / name).write_text(text)
    try:
        with contextlib.redirect_stderr(None):
            return cells.one(work, cs, 1)[1] > 0
    except Bad:
        return True


def main():
    gate.certificates(["origin.test"])
    cells.network()
    alive = cells.origin()
    folder = next(p for p in TOP.iterdir() if (p / "gate.cfg").exists())
    cs = cells.connections(folder)
    # Those that differ lie anywhere: the sooner one is met, the better.
    random.Random(1).shuffle(cs)
    total = seen = 0
    for name, edits in (("gate.cfg", of_config), ("hosts.map", of_map), ("addr.map", of_map)):
        for was, becomes, text in edits((folder / name).read_text()):
            total += 1
            if is_seen(folder, name, text, cs):
                seen += 1
            else:
                print(f"{name}: not seen:\n  - {was}\n  + {becomes}")
    print(f"{seen} of {total} changes seen")
    os.close(alive)
    good = total > 50 and seen * 100 >= total * SEEN_MIN
    if good:
        shutil.rmtree(TOP)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
