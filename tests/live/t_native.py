"""The engine without a daemon: what is shown of the machine, who dies with whom,
and what does not work here and says so."""
import json
import os
import pathlib
import signal
import subprocess

import live
import terminal
from live import (Place, Skip, check, first_processes, parent_of, strays,
                  test, within)

POLICY = "engine: native\nallow: [site.test]\n"
# Marks of what a host has and nobody is to see; made by the world's owner.
WAIT = "echo up; while :; do sleep 0.1; done"


def native(function):
    """A test of this engine, which needs the world's devices for every user."""
    def run():
        if live.ENGINE != "native":
            raise Skip("MEMBRANE_ENGINE=native runs it")
        function()
    run.__name__, run.__module__ = function.__name__, function.__module__
    return test(run)


def numbers_of(pid):
    """Real, effective, saved and file system user, as the host counts."""
    status = pathlib.Path("/proc", str(pid), "status").read_text()
    return set(status.split("Uid:")[1].splitlines()[0].split())


def held(where, command=WAIT):
    """A session whose command says a word and stays."""
    run = where.popen("run", "--", "sh", "-c", command, text=True)
    if run.stdout.readline() != "up\n":
        raise live.Failed("it does not run: " + run.stderr.read()[-600:])
    return run


def child_of(pid, *words):
    """The process below pid whose command line begins so."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with live.contextlib.suppress(OSError):
            text = path.read_text()
            if int(text.rpartition(")")[2].split()[1]) == pid and \
                    (path.parent / "cmdline").read_bytes().split(b"\0")[
                        :len(words)] == [w.encode() for w in words]:
                return int(path.parent.name)
    return None


@native
def what_is_shown_is_a_list():
    """Nothing of a home, a key, a socket, a mount or another's processes."""
    shown = {"bin", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32",
             "nix", "gnu", "proc", "run", "sbin", "tmp", "usr", "var",
             "workspace"}
    with Place(POLICY) as where:
        def seen(command):
            return where.membrane("run", "--", "sh", "-c",
                                  command + " 2>&1; true").stdout
        root = where.root.parts[1]
        check(set(seen("ls -A /").split()) <= shown | {root}, "the root",
              seen("ls -A /"))
        said = seen("find /home /var /run /tmp /etc/ssh /root -xdev")
        check("/home/agent" in said and "docker" not in said and
              "host_" not in said and "'/root': No such" in
              said.replace("\u2018", "'").replace("\u2019", "'"), "folders",
              said)
        said = seen("ls -A /etc").split()
        check("passwd" in said and not {
            "shadow", "sudoers", "gshadow", "docker", "machine-id", "fstab",
            "cron.d"} & set(said), "/etc", said)
        said = seen("cat /etc/passwd")
        check(len(said.splitlines()) <= 3 and "agent" in said, "who there is",
              said)
        said = seen("find / -xdev -type s; ps ax -o comm=").split()
        check(set(said) <= {"membrane-init", "init", "sh", "ps"},
              "sockets and processes", said)
        said = seen("ls -A /dev").split()
        check("null" in said and not {
            "fuse", "kmsg", "mem", "net", "kvm", "tty0", "console"} &
            set(said), "devices", said)
        said = seen("cat /proc/kcore /proc/keys /proc/timer_list | wc -c")
        check(said == "0\n", "what /proc hides", said)


@native
def nothing_is_writable_but_what_is_the_agents():
    with Place(POLICY) as where:
        s = where.membrane("run", "--", "sh", "-c", "for d in / /etc /usr "
                           "/usr/bin /dev /etc/membrane /proc/sys/kernel; do "
                           "touch $d/x 2>/dev/null && echo $d; done; "
                           "echo 1 >/proc/sys/kernel/hostname && echo sysctl; "
                           "for d in /tmp /run /var/tmp /dev/shm ~ .; do "
                           "touch $d/y || echo no $d; done; echo end")
        check(s.stdout == "end\n", "writable", (s.stdout, s.stderr))


@native
def no_right_is_left_and_none_is_to_be_had():
    attacks = """
import ctypes, fcntl, os, socket, subprocess, termios
libc = ctypes.CDLL(None, use_errno=True)
def tried(name, ok): print(name, 'yes' if ok else 'no')
for line in open('/proc/self/status'):
    if line.startswith(('Cap', 'NoNewPrivs', 'Seccomp:')): print(line.split())
for flag, name in ((0x10000000, 'user'), (0x40000000, 'net'), (0x20000, 'mnt')):
    tried('unshare ' + name, libc.unshare(flag) == 0)
tried('mount', libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0)
tried('remount', libc.mount(None, b'/usr', None, 32 | 4096, None) == 0)
tried('umount', libc.umount2(b'/usr', 2) == 0)
tried('ptrace init', libc.ptrace(16, 1, None, None) == 0)
def opens(path):
    try: os.close(os.open(path, os.O_RDONLY)); return True
    except OSError: return False
tried('/proc/1/root', opens('/proc/1/root/'))
tried('/proc/1/mem', opens('/proc/1/mem'))
tried('keyctl', libc.syscall(250, 0, -3, 0) >= 0)
tried('io_uring', libc.syscall(425, 1, ctypes.create_string_buffer(120)) >= 0)
tried('bpf', libc.syscall(321, 0, ctypes.create_string_buffer(120), 120) >= 0)
def makes(*a):
    try: socket.socket(*a).close(); return True
    except OSError: return False
tried('vsock', makes(40, socket.SOCK_STREAM))
tried('raw', makes(socket.AF_INET, socket.SOCK_RAW, 1))
tried('packet', makes(socket.AF_PACKET, socket.SOCK_RAW))
tried('abstract', len(open('/proc/net/unix').readlines()) > 1)
for name in ('SSH_AUTH_SOCK', 'DBUS_SESSION_BUS_ADDRESS', 'DISPLAY',
             'WAYLAND_DISPLAY', 'XDG_RUNTIME_DIR', 'DOCKER_HOST'):
    tried(name, name in os.environ)
"""
    with Place(POLICY, env={name: "x" for name in (
            "SSH_AUTH_SOCK", "DISPLAY", "XDG_RUNTIME_DIR")}) as where:
        s = where.membrane("run", "--", "python3", "-c", attacks)
        lines = s.stdout.splitlines()
        check([x for x in lines if x.startswith("['Cap")] ==
              ["['%s:', '%s']" % (name, "0" * 16) for name in (
                  "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
              "no capability", s.stdout)
        check("['NoNewPrivs:', '1']" in lines and "['Seccomp:', '2']" in lines,
              "no new privileges, and a filter", s.stdout)
        got = [x for x in lines if x.endswith(" yes")]
        check(not got and sum(x.endswith(" no") for x in lines) == 22,
              "what was tried", (got, s.stdout, s.stderr))


@native
def no_descriptor_of_the_callers_is_the_agents():
    """A folder, a file or a terminal as stdin would lead out of the root."""
    with Place(POLICY) as where:
        folder = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
        out = open(where.root / "out", "w+b")
        run = where.popen("run", "--", "sh", "-c", "ls -l /proc/self/fd | "
                          "grep -c pipe; ls /proc/self/fd/0/ 2>&1; "
                          "readlink /proc/$$/fd/1", stdin=folder, stdout=out)
        os.close(folder)
        check(run.wait(60) == 0, "it ran", run.stderr.read())
        out.seek(0)
        said = out.read().decode()
        check("pipe:" in said.splitlines()[-1] and "etc" not in said,
              "pipes of its own", said)


@native
def a_terminal_is_the_sessions_own():
    with Place(POLICY) as where:
        with terminal.Terminal(where.argv(
                "run", "--", "sh", "-c", "tty; stty size; read x; echo \"<$x>\"; "
                "sleep 60; echo woken; exit 7"), rows=41, cols=97) as t:
            check(t.shows(rb"/dev/pts/0\s+41 97"), "its own, of our size",
                  t.all)
            t.type(b"hello\r")
            check(t.shows(b"<hello>"), "keys", t.all)
            t.resize(30, 80)
            os.kill(t.process.pid, signal.SIGWINCH)
            t.type(b"\x03")
            check(t.ends() == 130, "ctrl-C", (t.process.poll(), t.all))
            check(t.is_restored(), "ours is as it was")


@native
def everything_dies_with_what_is_killed():
    """kill -9 of the launcher, and of each process that it began."""
    with Place(POLICY) as where:
        for victim in ("launcher", "gate", "beside the gate", "view",
                       "beside the view", "uplink", "agent"):
            run = held(where)
            gate, view = (int(first_processes(r)[0]) for r in
                          ("gate", "view"))
            launcher = parent_of(parent_of(gate))
            pid = {"launcher": launcher,
                   "gate": gate, "beside the gate": parent_of(gate),
                   "view": view, "beside the view": parent_of(view),
                   "uplink": child_of(launcher, "pasta"),
                   "agent": int(first_processes("agent")[0])}[victim]
            if not check(pid, "there is one: " + victim):
                run.kill()
                continue
            os.kill(pid, signal.SIGKILL)
            status = run.wait(20)
            said = run.stderr.read()
            check(status == {"agent": 137, "launcher": -9}.get(victim, 125),
                  "status: " + victim, (status, said))
            check(within(5, lambda: not strays()), "nobody is left: " + victim,
                  strays())
            s = where.membrane("run", "--", "echo", "on")
            check(s.stdout == "on\n", "the next session: " + victim, s.stderr)


@native
def many_begin_at_once():
    """Each agent is in the network that its own gate says, and in no other's."""
    with Place(POLICY) as where:
        runs = [where.popen("run", "--", "sh", "-c", "stat -L -c %i "
                            "/proc/self/ns/net; curl -s -m 20 -o /dev/null -w "
                            "'%{http_code}\\n' https://site.test/", text=True)
                for _ in range(12)]
        said = []
        for run in runs:
            out, err = run.communicate(timeout=120)
            check(run.returncode == 0 and out.split()[-1:] == ["200"],
                  "it reaches what is granted", (run.returncode, out, err))
            said += out.split()[:1]
        check(len(set(said)) == len(runs), "each has its own", said)
        check(within(5, lambda: not strays()), "nobody is left", strays())


@native
def subordinate_users_keep_the_parts_apart():
    """With numbers in /etc/subuid gate, HAProxy and command are three users."""
    with Place(POLICY) as where:
        numbers = "kept:200000:65536\n"
        users = pathlib.Path("/etc/passwd").read_text() + \
            "kept:x:%d:%d::/:/bin/sh\n" % (live.the.uid, live.the.gid)
        lists = {"subuid": numbers, "subgid": numbers, "passwd": users}
        for name, text in lists.items():
            (where.root / name).write_text(text)
            subprocess.run(live.the.enter("mount", "--bind", str(
                where.root / name), "/etc/" + name), check=True)
        try:
            run = held(where)
            gate = first_processes("gate")[0]
            proxy = [p for p in pathlib.Path("/proc").glob("[0-9]*")
                     if (p / "comm").exists() and
                     (p / "comm").read_text() == "haproxy\n" and
                     "264100" in numbers_of(p.name)]
            check(numbers_of(gate) == {"200000"}, "the gate", numbers_of(gate))
            check(proxy, "HAProxy")
            check(numbers_of(first_processes("agent")[0]) ==
                  {str(live.the.uid)}, "the command")
            run.send_signal(signal.SIGTERM)
            check(run.wait(20) == 143, "it ends", run.stderr.read())
            s = where.membrane("run", "--", "sh", "-c", "id -G; echo x >y; "
                               "curl -s -m 9 https://site.test/")
            check(s.stdout.startswith("%d\n" % live.the.gid) and
                  "site.test" in s.stdout, "it works", (s.stdout, s.stderr))
            st = (where.work / "y").stat()
            check((st.st_uid, st.st_gid) == (live.the.uid, live.the.gid),
                  "files are the user's", st)
        finally:
            for name in lists:
                subprocess.run(live.the.enter("umount", "/etc/" + name),
                               check=True)


@native
def what_is_missing_is_named():
    """Each with the host's words and the next step; nothing was started."""
    with Place(POLICY) as where:
        for path, words in (("/usr/bin/pasta", "apt-get install passt"),
                            ("/dev/net/tun", "chmod 666 /dev/net/tun"),
                            ("/dev/fuse", "chmod 666 /dev/fuse")):
            closed = where.root / "closed"
            closed.write_text("")
            os.chmod(closed, 0o600)
            subprocess.run(live.the.enter("mount", "--bind", str(closed),
                                          path), check=True)
            try:
                s = where.membrane("run", "--", "echo", "ran")
            finally:
                subprocess.run(live.the.enter("umount", path), check=True)
            check(s.status == 125 and "ran" not in s.stdout and
                  words in s.stderr, path, (s.status, s.stderr))
        check(not strays(), "nobody is left", strays())
        s = where.membrane("run", "--", "no-such-program")
        check(s.status == 127 and "'no-such-program'" in s.stderr and
              "visible" in s.stderr, "no such program", (s.status, s.stderr))
        said = json.loads(where.membrane("ps", "--all", "--json").stdout)
        check(all(not x.get("containers") for x in said["sessions"]), "ps", said)
