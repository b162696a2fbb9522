"""A root of one's own for the engine that has no images: `image: dir:FOLDER`,
and `archive:FILE@sha256:HEX`."""
import hashlib
import io
import json
import os
import platform
import shutil
import tarfile

from live import Place, Skip, check
from t_native import native

BUSYBOX = "/bin/busybox"
OWN = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]


def rooted(where, policy=""):
    """A root beside the project, which is the test's owner's, with one program."""
    if not os.path.exists(BUSYBOX):
        raise Skip("no busybox-static")
    root = where.root / "unpacked"
    for name in ("bin", "etc", "usr/share/theirs"):
        (root / name).mkdir(parents=True)
    shutil.copy(BUSYBOX, root / "bin/busybox")
    for name in ("sh", "ls", "cat", "touch", "id", "wget", "mount"):
        os.symlink("busybox", root / "bin" / name)
    (root / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\ntheirs:x:7:7::/:/bin/sh\n")
    (root / "usr/share/theirs/file").write_text("of the root\n")
    # as an image of systemd's has it: it leads nowhere
    os.symlink("../run/systemd/resolve/stub-resolv.conf",
               root / "etc/resolv.conf")
    os.symlink("/etc", root / "usr/etc")
    (where.state / "config.yaml").write_text(
        "engine: native\nimage: dir:%s\nallow: [site.test]\n%s"
        % (root, policy))
    where.own()
    return root


def listing(root):
    return sorted((str(p), p.lstat().st_mtime_ns) for p in root.rglob("*"))


@native
def it_is_there_and_nothing_of_the_machine_is():
    with Place(files={"mine": "x\n"}) as where:
        root = rooted(where)
        before = listing(root)
        s = where.membrane("run", "--", "sh", "-c",
                           "ls /; cat /usr/share/theirs/file /etc/passwd; "
                           "cat /workspace/mine; echo $PATH")
        lines = s.stdout.splitlines()
        check(s.status == 0 and "of the root" in lines and "x" in lines and
              any(x.startswith("theirs:") for x in lines),
              "the root's files, and the workspace", (s.stdout, s.stderr))
        check(set(lines[:lines.index("of the root")]) <= {
            "bin", "dev", "etc", "home", "proc", "run", "tmp", "usr", "var",
            "workspace", where.root.parts[1]}, "and no other", s.stdout)
        s = where.membrane("run", "--", "python3", "-V")
        check(s.status == 127, "a program of the machine's is not there",
              (s.status, s.stderr))
        check(listing(root) == before, "the folder is as it was",
              listing(root))


@native
def left_open_it_is_natives():
    """Docker cannot run it, so nothing is tried and nobody is asked."""
    with Place() as where:
        root = rooted(where)
        config = where.state / "config.yaml"
        config.write_text("image: dir:%s\n" % root)
        where.own()
        s = where.membrane("run", "--", "cat", "/usr/share/theirs/file")
        check((s.status, s.stdout) == (0, "of the root\n"),
              "auto takes the engine that has roots", (s.stdout, s.stderr))
        config.write_text("engine: docker\nimage: dir:%s\n" % root)
        where.own()
        s = where.membrane("run", "--", "cat", "/usr/share/theirs/file")
        check(s.status == 125 and "config.yaml:2:8: error" in s.stderr,
              "Docker refuses it at its line", (s.status, s.stderr))


@native
def it_is_not_written():
    with Place() as where:
        root = rooted(where, "hardening: {read_only: true}\n")
        before = listing(root)
        s = where.membrane("run", "--", "sh", "-c",
                           "for d in / /bin /etc /usr/share/theirs; do touch "
                           "$d/x 2>/dev/null && echo $d; done; echo x "
                           ">>/usr/share/theirs/file; touch /tmp/y ~/y y; "
                           "mount -o remount,rw / 2>/dev/null && echo again; "
                           "ls /bin/x /usr/share/theirs/x; echo end")
        check(s.stdout == "end\n", "nothing of it is writable",
              (s.stdout, s.stderr))
        check(listing(root) == before, "the folder is as it was",
              listing(root))


@native
def the_gate_is_around_it():
    with Place() as where:
        rooted(where)
        s = where.membrane("run", "--", "sh", "-c",
                           "wget -q -O - http://site.test/ >/dev/null && echo "
                           "granted; wget -q -O - http://other.test/ "
                           "2>/dev/null || echo refused")
        check(s.stdout == "granted\nrefused\n", "names of its own resolver",
              (s.stdout, s.stderr))


@native
def a_shell_is_the_roots():
    with Place() as where:
        rooted(where)
        s = where.membrane("run", data=b"id -u; echo $0\n")
        check(s.status == 0 and s.stdout.splitlines()[0].isdigit(),
              "it begins", (s.status, s.stdout, s.stderr))


@native
def what_the_agent_writes_is_no_root():
    with Place() as where:
        root = rooted(where)
        os.rename(root, where.work / "unpacked")
        os.symlink("project/unpacked", root)
        s = where.membrane("run", "--", "sh", "-c", "echo no")
        check(s.status == 125 and "cannot be the root" in s.stderr,
              "it is refused at its line", (s.status, s.stderr))
        os.unlink(root)
        s = where.membrane("run", "--", "sh", "-c", "echo no")
        check(s.status == 125 and "unpacked" in s.stderr,
              "and what is not there", (s.status, s.stderr))


def archived(where, policy="", **runs):
    """The same root, as an image that tools write; and its digest."""
    root = rooted(where)
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as t:
        t.add(root, arcname=".")
    config = json.dumps({"os": "linux", "architecture": OWN, "config": {
        "Env": ["PATH=/opt/theirs:/bin", "OF=the image", "HOME=/root"], **runs}})
    file = where.root / "image.tar"
    with tarfile.open(file, "w") as t:
        for name, data in (
                ("l.tar", layer.getvalue()), ("c.json", config.encode()),
                ("manifest.json", json.dumps([{
                    "Config": "c.json", "Layers": ["l.tar"]}]).encode())):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))
    shutil.rmtree(root)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    (where.state / "config.yaml").write_text(
        "engine: auto\nimage: archive:%s@sha256:%s\nallow: [site.test]\n%s"
        % (file, digest, policy))
    where.own()
    return file, digest


@native
def an_archive_is_unpacked_once():
    with Place(files={"mine": "x\n"}) as where:
        file, digest = archived(where)
        runs = [where.popen("run", "--", "sh", "-c",
                            "cat /usr/share/theirs/file; echo $PATH; echo $OF; "
                            "echo $HOME; cat mine; touch /bin/y 2>/dev/null; "
                            "wget -q -O - http://site.test/ >/dev/null && echo "
                            "granted", text=True) for _ in range(3)]
        for run in runs:
            out, err = run.communicate(timeout=60)
            check(run.returncode == 0 and out.splitlines() == [
                "of the root", "/opt/theirs:/bin", "the image", "/home/agent",
                "x", "granted"], "its files and environment", (out, err))
        images = where.state / "images"
        check(os.listdir(images) == [digest], "once, of three at once",
              os.listdir(images))
        before = listing(images)
        os.unlink(file)
        s = where.membrane("run", "--", "cat", "/usr/share/theirs/file")
        check(s.stdout == "of the root\n" and "unpacking" not in s.stderr,
              "and the archive is needed no more", (s.stdout, s.stderr))
        check(listing(images) == before, "nothing of it was written")


@native
def an_image_runs_as_it_says():
    """Its entry point and command as in Docker (inside.begins_as_the_image_says);
    user and folder are the session's there, too."""
    says = {"Entrypoint": ["/bin/sh", "-c", "echo entered \"$@\"", "e"],
            "Cmd": ["by itself"], "User": "7:7", "WorkingDir": "/usr"}
    for policy, command, runs, wanted in (
            ("", [], says, "entered by itself\n"),
            ("", ["a b"], says, "entered a b\n"),
            ("args: [--entrypoint, ls]\n", ["/usr/share/theirs"], says,
             "file\n"),
            ("args: ['--entrypoint=']\n", ["ls", "/usr/share/theirs"], says,
             "file\n"),
            ("args: [--init=false]\n", ["x"], says, "entered x\n"),
            ("", [], {"Cmd": ["ls", "/usr/share/theirs"]}, "file\n"),
            ("", ["sh", "-c", "[ $(id -u) != 7 ] && cat mine"],
             {**says, "Entrypoint": None}, "x\n")):
        with Place(files={"mine": "x\n"}) as where:
            archived(where, policy, **runs)
            s = where.membrane("run", "--", *command)
            check((s.status, s.stdout) == (0, wanted),
                  "%r %r" % (policy, command), s.stdout + s.stderr)
    with Place() as where:
        file, _ = archived(where)
        s = where.membrane("run")
        check(s.status == 125 and "the image '%s' has no command of its own"
              % file in s.stderr, "none is none", (s.status, s.stderr))
        s = where.membrane("run", "--", "python3")
        check(s.status == 127 and "the image %s has no 'python3'" % file in
              s.stderr, "it is named", (s.status, s.stderr))


@native
def another_archive_is_refused():
    with Place() as where:
        file, digest = archived(where)
        with open(file, "ab") as f:
            f.write(b"\0" * 512)
        s = where.membrane("run", "--", "sh", "-c", "echo no")
        check(s.status == 125 and s.stdout == "" and "not " + digest in
              s.stderr, "its digest is another", (s.status, s.stderr))
        check(os.listdir(where.state / "images") == [], "nothing stays")
        os.unlink(file)
        s = where.membrane("run", "--", "sh", "-c", "echo no")
        check(s.status == 125 and "No such file" in s.stderr,
              "and what is not there", (s.status, s.stderr))


@native
def what_is_written_to_a_root_goes_with_the_session():
    with Place() as where:
        archived(where)
        words = ("run", "--", "sh", "-c", "ls /bin/new 2>/dev/null; echo x >"
                 "/bin/new && echo >>/usr/share/theirs/file && echo written")
        for _ in range(2):
            s = where.membrane(*words)
            check(s.stdout == "written\n", "and the next has it as it was",
                  (s.stdout, s.stderr))


@native
def an_archive_in_reach_is_refused():
    with Place() as where:
        file, digest = archived(where)
        inside = where.work / "image.tar"
        os.rename(file, inside)
        (where.state / "config.yaml").write_text(
            "image: archive:%s@sha256:%s\n" % (inside, digest))
        s = where.membrane("run", "--", "sh", "-c", "echo no")
        check(s.status == 125 and "rewrite it" in s.stderr,
              "the agent could change it meanwhile", (s.status, s.stderr))
