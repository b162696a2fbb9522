"""What the view of a workspace costs: the bare tree and the view in one run."""
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "live"))
import view  # noqa: E402

# As the default policy has them, about.
RULES = "".join("ignore %s\n" % p for p in (
    ".env", ".env.*", "!.env.example", ".envrc", "*.pem", "!cacert.pem",
    "*.p12", "id_rsa", "id_ed25519", ".netrc", ".npmrc", ".docker/config.json",
    ".aws/", ".gnupg/", ".ssh/")) + "".join("readonly %s\n" % p for p in (
        "/.membrane.yaml", "/.membrane/", "/.git/config", "/.git/hooks",
        "/.git/modules/**/hooks", "/.vscode/tasks.json", "**/.git/config",
        "**/.git/hooks")) + "hold .git/config\nhold .git/hooks/\n"
CREATE = """import os
for i in range(%d):
    d = "made/%%d" %% (i // 100)
    if i %% 100 == 0:
        os.makedirs(d)
    with open("%%s/%%d.js" %% (d, i), "w") as f:
        f.write("x" * 600)
"""
SOURCES, FILES = 200, 20000


def sh(where, text):
    begun = time.perf_counter()
    subprocess.run(["sh", "-ec", text], cwd=where, check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return time.perf_counter() - begun


def fill(source):
    """A repository of FILES files, and a program of SOURCES."""
    for i in range(FILES):
        d = source / "tree" / str(i // 100)
        if i % 100 == 0:
            d.mkdir(parents=True)
        (d / ("f%d.txt" % i)).write_text("text %d\n" % i * 50)
    (source / "c").mkdir()
    for i in range(SOURCES):
        (source / "c" / ("s%d.c" % i)).write_text(
            "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" +
            "".join("int f%d_%d(int a)\n{\n\tchar b[64];\n\tsnprintf(b, "
                    "sizeof(b), \"%%d\", a);\n\treturn atoi(b) + (int)"
                    "strlen(b);\n}\n" % (i, k) for k in range(40)))
    sh(source, "git init -q && git add . && git -c gc.auto=0 -c user.name=b "
       "-c user.email=b@b.test commit -qm b")


LOADS = (
    ("C build of %d files" % SOURCES, "at most 1.05", "",
     "cd c && for f in *.c; do gcc -O1 -c $f; done && rm *.o", 3),
    ("git status, %d files" % FILES, "at most 2.5", "",
     "git status --porcelain", 7),
    ("find and cat, 10,000 files", "at most 2", "",
     "find tree/? tree/?? -type f -exec cat {} +", 7),
    ("create %d files" % FILES, "at most 2.5", "rm -rf made",
     "python3 -c '%s'" % (CREATE % FILES), 3),
    ("write 1 GB, to the disk", "at most 1.11", "rm -f big",
     "dd if=/dev/zero of=big bs=1M count=1024 conv=fdatasync", 6),
    ("read 1 GB", "at most 1.11", "", "dd if=big of=/dev/null bs=1M", 6),
)


def compare(line, load, places):
    what, aim, before, text, rounds = load
    took = [[], []]
    for i in range(rounds + 1):
        # Whoever comes second pays for what the disk still has to write.
        for where, times in list(zip(places, took))[::1 if i % 2 else -1]:
            if before:
                sh(where, before)
            used = sh(where, text)
            if i:
                times.append(used)
    bare, held = (statistics.median(t) for t in took)
    line(what, "%.0f ms" % (held * 1e3), "bare %.0f ms" % (bare * 1e3),
         "%.2f" % (held / bare), "aim: " + aim)


def memory_kb(pid):
    text = pathlib.Path("/proc/%d/status" % pid).read_text()
    return int(text.split("VmRSS:")[1].split()[0])


def start_cost(line):
    with view.View(RULES) as v:
        took = []
        for _ in range(9):
            begun = time.perf_counter()
            v.start()
            took.append(time.perf_counter() - begun)
            v.stop()
            v.said.clear()
        line("start of the view", "%.1f ms" % (statistics.median(took) * 1e3),
             "", "", "aim: at most 6 ms")


def files_known(line, n):
    with view.View(RULES) as v:
        for i in range(n):
            if i % 500 == 0:
                (v.source / str(i // 500)).mkdir(parents=True)
            (v.source / str(i // 500) / str(i)).touch()
        v.start()
        with_none = memory_kb(v.server())
        sh(v.at, "find . -type f -size +0")
        tell_memory(line, v, n, with_none)
        v.stop()


def tell_memory(line, v, n, with_none):
    line("memory, %d files known" % n,
         "%.1f MB" % (memory_kb(v.server()) / 1024),
         "none %.1f MB" % (with_none / 1024), "", "aim: at most 20 MB")


def costs(line, wanted=""):
    """wanted: a part of the names of what is measured."""
    view.unshare()
    start_cost(line)
    with view.View(RULES) as v:
        fill(v.source)
        bare = v.top / "bare"
        shutil.copytree(v.source, bare, symlinks=True)
        sh(bare, "git status")
        v.start()
        for load in LOADS:
            if wanted in load[0]:
                compare(line, load, (bare, v.at))
        v.stop()
    files_known(line, 100000)


if __name__ == "__main__":
    def show(*columns):
        print("%-30s %12s %16s %6s  %s" % columns, flush=True)
    costs(show, " ".join(sys.argv[1:]))
