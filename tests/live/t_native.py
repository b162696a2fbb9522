"""The engine without a daemon: what is shown of the machine, who dies with whom,
and what does not work here and says so."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import live
import terminal
from live import (Place, check, first_processes, parent_of, strays,
                  subordinate_numbers, test, within)

POLICY = "engine: native\nallow: [site.test]\n"
# Marks of what a host has and nobody is to see; made by the world's owner.
WAIT = "echo up; sleep 600 & wait"


native = live.native_only("its own words and processes")


def numbers_of(pid):
    """Real, effective, saved and file system user, as the host counts."""
    status = pathlib.Path("/proc", str(pid), "status").read_text()
    return set(status.split("Uid:")[1].splitlines()[0].split())


def held(where, command=WAIT):
    """A session whose command says a word and stays."""
    run = where.popen("run", "--", "sh", "-c", command, text=True)
    run.before = []   # what it said first
    while (line := run.stdout.readline()) not in ("up\n", ""):
        run.before.append(line.strip())
    if not line:
        raise live.Failed("it does not run: " + run.stderr.read()[-600:])
    return run


def child_named(pid, name):
    """The process below pid that is called so, or begins so."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with live.contextlib.suppress(OSError):
            head, _, rest = path.read_text().rpartition(")")
            if int(rest.split()[1]) == pid and \
                    head.partition("(")[2].startswith(name):
                return int(path.parent.name)
    return None


def uplink_of(launcher, name):
    """The process by which a gate gets out: the launcher's own, or a program
    below one that ends it."""
    own = child_named(launcher, name)
    between = child_named(launcher, "membrane-uplink")
    return own or between and child_named(between, name)


def record_of(where):
    """What session.json says of the only session."""
    one, = where.state.glob("sessions/*/session.json")
    return json.loads(one.read_text())


@test
def what_is_left_open_runs_by_what_works():
    """The native engine; where that does not work Docker, and that is said."""
    with Place("engine: auto\nallow: [site.test]\n",
               env={"MEMBRANE_ENGINE": ""}) as where:
        done = where.membrane("run", "--", "sh", "-c",
                              "curl -sS https://site.test/ >/dev/null && "
                              "echo $0 $MEMBRANE; "
                              "curl -s https://not.test/ || true")
        engine = record_of(where)["engine"]
        check(done.status == 0 and done.stdout == "sh 1\n", "it runs",
              done.stdout + done.stderr)
        check(engine == "native" or live.ENGINE == "docker",
              "natively in a world for it", done.stderr)
        check(("docker runs this" in done.stderr) == (engine == "docker"),
              "Docker's turn is told", done.stderr)
        listed = json.loads(where.membrane("ps", "--all", "--json").stdout)
        check(listed["sessions"][0]["engine"] == engine, "as ps has it",
              listed)
        one, = where.state.glob("sessions/*/summary.json")
        words = "run by %s\n" % {"docker": "Docker",
                                 "native": "the native engine"}[engine]
        logs = where.membrane("logs").stdout
        check(json.loads(one.read_text())["engine"] == engine and
              "membrane: " + words in done.stderr and words in logs,
              "as its records have it", done.stderr + logs)


STRANGER = """#!/bin/sh
case $1 in
-v) echo 'HAProxy version 2.6.12 2026/10/17' ;;
*) echo '[ALERT] (1) : nobody knows this one' >&2; exit 1 ;;
esac
"""


@native
def doctor_tries_the_whole_gate():
    """And leaves nothing of it; of one that does not start it has the words."""
    def tried(where):
        done = where.membrane("doctor", "--json")
        found = json.loads(done.stdout)
        one, = [c for c in found["checks"] if c["name"] == "native gate"]
        check(not list(where.state.glob("sessions/*")), "no session is left")
        check(found["runs"] == (done.status == 0), "the status is about it")
        return one, found["runs"]
    with Place(POLICY) as where:
        one, runs = tried(where)
        check(one["state"] == "ok" and one["needed"] and runs and
              one["detail"].startswith("tried: its rules are loaded and "
                                       "HAProxy answers"), "it works", one)
        where.env["MEMBRANE_RESOLV_CONF"] = "/nowhere"
        one, runs = tried(where)
        check(one["state"] == "missing" and not runs and
              "resolver" in one["detail"], "it does not, and says why", one)
        del where.env["MEMBRANE_RESOLV_CONF"]
        with live.instead(where, {"/usr/sbin/haproxy": STRANGER}):
            os.chmod(where.root / "haproxy", 0o755)
            one, runs = tried(where)
            check(one["state"] == "missing" and not runs and
                  "nobody knows this one" in one["detail"],
                  "an HAProxy that says its version, and no more", one)
    check(not strays(), "no process is left", strays())


@live.native_beside_docker("the policy asks for that")
def what_asks_for_docker_has_it():
    with Place("engine: auto\nargs: [--env=A=b]\n",
               env={"MEMBRANE_ENGINE": ""}) as where:
        done = where.membrane("run", "--no-trace", "--", "sh", "-c", "echo $A")
        check(done.stdout == "b\n" and "docker runs this" not in done.stderr,
              "nothing is left open", done.stderr)
        check(record_of(where)["engine"] == "docker", "by Docker")


@live.native_beside_docker("sessions of both")
def dockers_masks_are_not_made_beside_it():
    """Nobody stops its agent, who could exchange names meanwhile."""
    start = "engine: docker\nignore: [.env]\nmasks: start\n"
    with Place(POLICY, files={".env": "SECRET\n"}) as where:
        run = held(where)
        (where.state / "config.yaml").write_text(start)
        cat = ("run", "--no-trace", "--", "sh", "-c", "cat .env; echo over")
        done = where.membrane(*cat)
        check(done.status == 125 and "native engine" in done.stderr and
              "membrane stop" in done.stderr, "refused, with what to do",
              (done.status, done.stdout + done.stderr))
        (where.state / "config.yaml").write_text(
            "engine: docker\nignore: [.env]\n")
        done = where.membrane(*cat)
        check(done.stdout == "over\n", "a view needs no names",
              (done.status, done.stdout + done.stderr))
        run.send_signal(signal.SIGTERM)
        run.wait(20)
        (where.state / "config.yaml").write_text(start)
        done = where.membrane(*cat)
        check(done.stdout == "over\n", "nor is it in the way afterwards",
              (done.status, done.stdout + done.stderr))


@native
def what_was_chosen_runs_it_or_nothing_does():
    """The native engine works, and this start of it fails: no Docker's."""
    with Place("engine: auto\nvisible: [/nowhere-that-is]\n",
               env={"MEMBRANE_ENGINE": ""}) as where:
        done = where.membrane("run", "--no-trace", "--", "true")
        check(done.status == 125 and "/nowhere-that-is" in done.stderr,
              "it fails, and says at what", done.stderr)
        check("docker runs this" not in done.stderr and
              record_of(where)["engine"] == "native", "and that is all")


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
import ctypes, fcntl, os, socket, struct, termios
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
def passes(result):   # or fails at what it names, not at who asks
    return result >= 0 or ctypes.get_errno() not in (1, 38)
def begins(*call):
    pid = libc.syscall(*call)
    if pid == 0: os._exit(0)
    return passes(pid)
def calls(name, *call): tried(name, passes(libc.syscall(*call)))
clone_args = struct.pack('11Q', 0x10000000, 0, 0, 0, 17, *[0] * 6)
tried('clone user', begins(56, 0x10000011, 0, 0, 0, 0))
tried('clone3 user', begins(435, clone_args, len(clone_args)))
calls('pivot_root', 155, b'/tmp', b'/tmp')
calls('open_tree', 428, -100, b'/', 1)
calls('fsopen', 430, b'tmpfs', 0)
calls('mount_setattr', 442, -100, b'/usr', 0, bytes(32), 32)
calls('open_by_handle_at', 304, -100, struct.pack('Ii128x', 128, 1), 0)
calls('perf_event_open', 298, struct.pack('II120x', 1, 112), 0, -1, -1, 0)
init = libc.syscall(434, 1, 0)
tried('pidfd_getfd', init >= 0 and passes(libc.syscall(438, init, 0, 0)))
tried('setns', passes(libc.setns(init, 0x40000000)))
def pushes(path):
    try: fcntl.ioctl(os.open(path, os.O_RDWR), termios.TIOCSTI, b'x'); return True
    except OSError: return False
tried('TIOCSTI', pushes('/dev/tty'))
def links():
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as s:
            s.send(struct.pack('=IHHII16x', 32, 16, 5, 1, 0))
            return struct.unpack_from('=i', s.recv(999), 16)[0] != -1
    except OSError: return False
tried('netlink', links())
tried('chroot', passes(libc.chroot(b'/tmp')))
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
        check(not got and sum(x.endswith(" no") for x in lines) == 35,
              "what was tried", (got, s.stdout, s.stderr))


ROOTS_WAYS = """
import ctypes, os, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def tried(name, ok): print(name, 'yes' if ok else 'no')
def does(name, function, *args):
    try:
        got = function(*args)
        tried(name, got is None or got is True or (type(got) is int and got >= 0))
    except OSError: tried(name, False)
def writes(path, text=b'1'):
    fd = os.open(path, os.O_WRONLY)
    try: os.write(fd, text)
    finally: os.close(fd)
def makes(path, text):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    try: os.write(fd, text)
    finally: os.close(fd)
for kind in 'proc', 'sysfs', 'cgroup2', 'cgroup', 'tmpfs', 'devtmpfs', 'debugfs', \
        'bpf', 'overlay', 'securityfs', 'tracefs', 'mqueue', 'fuse':
    does('mount ' + kind, libc.mount, b'none', b'/tmp', kind.encode(), 0, None)
for flags in 32 | 4096, 1 << 18, 1 << 20, 4096 | 16384:
    does('mount flags %x' % flags, libc.mount, b'/', b'/tmp', None, flags, None)
for name, kind, number in (('mem', 0o20000, (1, 1)), ('kmsg', 0o20000, (1, 11)),
                           ('disk', 0o60000, (253, 0)), ('tun', 0o20000, (10, 200)),
                           ('fuse', 0o20000, (10, 229))):
    for where in '/tmp/', './', '/dev/':
        does('mknod %s%s' % (where, name), os.mknod, where + name, kind | 0o666,
             os.makedev(*number))
for path in ('/proc/sys/kernel/core_pattern', '/proc/sys/kernel/modprobe',
             '/proc/sys/kernel/hostname', '/proc/sys/kernel/domainname',
             '/proc/sys/net/ipv4/ip_forward', '/proc/sys/vm/overcommit_memory',
             '/proc/sys/fs/binfmt_misc/register', '/proc/sysrq-trigger',
             '/proc/1/oom_score_adj', '/proc/self/oom_score_adj', '/proc/mtrr',
             '/proc/acpi/wakeup', '/proc/irq/default_smp_affinity',
             '/sys/kernel/uevent_helper', '/sys/kernel/mm/ksm/run',
             '/sys/module/kernel/parameters/panic', '/sys/fs/cgroup/release_agent',
             '/sys/fs/cgroup/cgroup.procs', '/sys/power/state', '/dev/kmsg'):
    does('write ' + path, writes, path, b'-17')
for path in ('/proc/kcore', '/proc/kallsyms', '/proc/1/root/', '/proc/1/mem',
             '/proc/1/environ', '/proc/1/cwd/', '/proc/1/fd/0', '/dev/mem',
             '/dev/kmsg', '/dev/port', '/dev/sda', '/dev/vda', '/proc/keys',
             '/etc/shadow', '/root', '/run/docker.sock', '/var/run/docker.sock',
             '/proc/sys/kernel/cap_last_cap-', '/sys/firmware/acpi'):
    def reads(path):
        fd = os.open(path, os.O_RDONLY)
        if path == '/proc/kallsyms':   # names are nobody's secret: addresses
            return not os.read(fd, 16).startswith(b'0000000000000000')
        return path.endswith('/') or os.path.isdir(path) or bool(os.read(fd, 1))
    try: tried('read ' + path, reads(path))
    except OSError: tried('read ' + path, False)
for name, path in (('passwd', '/etc/passwd'), ('usr', '/usr/bin/planted'),
                   ('cron', '/etc/cron.d/x'), ('bin', '/bin/planted'),
                   ('membrane', '/etc/membrane/README'), ('lib', '/lib/planted'),
                   ('sys', '/sys/planted'), ('proc', '/proc/planted')):
    does('make ' + name, makes, path, b'x')
handle, mount = ctypes.create_string_buffer(struct.pack('Ii', 128, 0), 136), ctypes.c_int()
libc.name_to_handle_at(-100, b'/usr', handle, ctypes.byref(mount), 0)
at = os.open('/usr', os.O_RDONLY)
does('open_by_handle_at', libc.syscall, 304, at, handle, 0)
root_of_ext4 = ctypes.create_string_buffer(struct.pack('IiII', 8, 1, 2, 0), 136)
does('its root', libc.syscall, 304, at, root_of_ext4, 0)
words = struct.pack('QQ', ctypes.addressof(handle), 8)
for name, *call in (
        ('init_module', 175, b'x', 1, b''), ('finit_module', 313, 0, b'', 0),
        ('kexec_load', 246, 0, 0, None, 0), ('kexec_file_load', 320, 0, 0, 0, b'', 0),
        ('bpf', 321, 0, bytes(128), 128), ('perf', 298, struct.pack('II120x', 1, 128),
        -1, 0, -1, 0), ('ptrace 1', 101, 16, 1, 0, 0), ('seize 1', 101, 0x4206, 1, 0, 0),
        ('process_vm_readv', 310, 1, words, 1, words, 1, 0),
        ('iopl', 172, 3), ('ioperm', 173, 0x70, 1, 1), ('swapon', 167, b'/tmp', 0),
        ('reboot', 169, 0xfee1dead, 672274793, 0, 0), ('settimeofday', 164,
        bytes(16), None), ('clock_settime', 227, 0, bytes(16)), ('adjtimex', 159,
        struct.pack('I204x', 1)), ('sethostname', 170, b'x', 1), ('setdomainname',
        171, b'x', 1), ('acct', 163, b'/tmp'), ('syslog', 103, 2, bytes(16), 16),
        ('quotactl', 179, 0, None, 0, 0), ('fanotify', 300, 0, 0), ('pidfd_getfd',
        438, os.pidfd_open(1), 0, 0), ('setns', 308, os.pidfd_open(1), 0x7e020000),
        ('chroot', 161, b'/tmp'), ('pivot_root', 155, b'/tmp', b'/tmp'),
        ('setuid', 105, 1), ('setgid', 106, 1), ('setgroups', 116, 1, struct.pack('I', 1)),
        ('setfsuid', 122, 1), ('capset', 126, struct.pack('Ii', 0x20080522, 0),
        b'\\xff' * 24), ('vhangup', 153), ('nice', 141, 0, 0, -20), ('ioprio', 251,
        1, 0, 1 << 13), ('sched_fifo', 144, 0, 1, struct.pack('i', 1)),
        ('userfaultfd', 323, 0), ('add_key', 248, b'user', b'x', b'x', 1, -3)):
    got = libc.syscall(*call)
    if name == 'setfsuid': got = 0 if libc.syscall(122, 0) == 1 else -1
    tried(name, got >= 0)
does('chown', os.chown, '.', 1, 1)
does('chown /tmp', os.chown, '/tmp', 1, 1)
makes('own', b'x')
does('chown own', os.chown, 'own', 1, 1)
does('security xattr', os.setxattr, 'own', 'security.capability',
     struct.pack('5I', 0x2000001, 0xffffffff, 0, 0xffffffff, 0))
does('trusted xattr', os.setxattr, 'own', 'trusted.x', b'x')
for name, *kind in (('raw', 2, 3, 1), ('packet', 17, 3, 0), ('nfnetlink', 16, 3, 12),
                    ('uevents', 16, 3, 15), ('audit', 16, 3, 9), ('vsock', 40, 1, 0),
                    ('alg', 38, 5, 0), ('xdp', 44, 3, 0)):
    def opens():
        with socket.socket(*kind) as s:
            if name == 'nfnetlink':   # make a table
                s.send(struct.pack('=IHHIIBBH', 20, 0xa00, 5, 1, 0, 1, 0, 0))
                return struct.unpack_from('=i', s.recv(999), 16)[0] == 0
            if name == 'uevents': s.bind((0, 1))
    does('socket ' + name, opens)
"""


@live.root_only("who has no right, though it is root")
def root_inside_is_root_of_nothing():
    """Each number is the machine's own: what the user 0 alone would be enough
    for, and what takes a capability that this one does not have."""
    with Place(POLICY) as where:
        s = where.membrane("run", "--", "python3", "-c", ROOTS_WAYS)
        lines = s.stdout.splitlines()
        got = [x for x in lines if x.endswith(" yes")]
        check(s.status == 0 and len(lines) > 130, "all was tried",
              (len(lines), s.stderr))
        check(not got, "what gave way", (got, s.stderr))
        live.notes.append("%d ways" % len(lines))
        st = (where.work / "own").stat()
        check((st.st_uid, st.st_gid) == (0, 0), "whose a file is", st)


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


# A shell that is about to fork would keep a key for the end of its child; and
# Python's handler only notes one, which is lost just before a wait begins.
ECHO = 'BEGIN { print "<" ARGV[1] ">"; fflush(); getline < "-" }'


@native
def a_terminal_is_the_sessions_own():
    with Place(POLICY) as where:
        with terminal.Terminal(where.argv(
                "run", "--", "sh", "-c", "tty; stty size; read x; "
                "exec awk \"$0\" \"$x\"", ECHO), rows=41, cols=97) as t:
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
            kill_one(where, victim, "membrane-broker")
    with Place(POLICY + "uplink: isolated\n") as where:
        for victim in ("uplink", "beside the uplink"):
            kill_one(where, victim, "pas")  # or passt.avx2, as the machine is


def kill_one(where, victim, uplink):
    run = held(where)
    gate, view = (int(first_processes(r)[0]) for r in ("gate", "view"))
    launcher = parent_of(parent_of(gate))
    pid = {"launcher": launcher,
           "gate": gate, "beside the gate": parent_of(gate),
           "view": view, "beside the view": parent_of(view),
           "uplink": uplink_of(launcher, uplink),
           "beside the uplink": child_named(launcher, "membrane-uplink"),
           "agent": int(first_processes("agent")[0])}[victim]
    if not check(pid, "there is one: " + victim):
        run.kill()
        return
    os.kill(pid, signal.SIGKILL)
    status = run.wait(20)
    said = run.stderr.read()
    check(status == {"agent": 137, "launcher": -9}.get(victim, 125),
          "status: " + victim, (status, said))
    check(within(5, lambda: not strays()), "nobody is left: " + victim,
          strays())
    s = where.membrane("run", "--", "echo", "on")
    check(s.stdout == "on\n", "the next session: " + victim, s.stderr)


def below(pid):
    """The processes below pid, and what each is called: looked up from parent
    to child, which is quick enough to find one that has just begun."""
    for path in pathlib.Path("/proc/%d/task" % pid).glob("*/children"):
        with live.contextlib.suppress(OSError):
            for child in map(int, path.read_text().split()):
                yield child, pathlib.Path(
                    "/proc/%d/comm" % child).read_text().strip()
                yield from below(child)


def network_of(pid):
    with live.contextlib.suppress(OSError):
        return os.readlink("/proc/%d/ns/net" % pid)
    return None


def waits_for_gate(launcher):
    """All of the agent is there but for its program: the process that will
    become that is in the gate's network, and is membrane's own yet."""
    all_of_it = list(below(launcher))
    # The first process, which has left for the agent's, before the other.
    gates = [network_of(pid) for pid, name in all_of_it
             if name == "membrane-gate"]
    waits = [pid for pid, name in all_of_it if name == "membrane" and
             len(set(gates)) == 2 and network_of(pid) == gates[0]]
    return waits[-1] if waits else None


def stands(pid):
    stat = pathlib.Path("/proc/%d/stat" % pid)
    with live.contextlib.suppress(OSError):
        os.kill(pid, signal.SIGSTOP)
        return within(2, lambda: stat.read_text().rpartition(
            ")")[2].split()[0] == "T")
    return False


def begun_with_gate_stopped(where):
    """A session that does not get on, since its gate stands still: None where
    that was too quick, and it ran."""
    run = where.popen("run", "--no-trace", "--", "touch", "ran")
    while run.poll() is None:
        # Behind the first process, which makes the agent's network.
        for gate in [p for p, name in below(run.pid)
                     if name == "membrane-gate"][1:2]:
            if stands(gate) and within(5, lambda: waits_for_gate(run.pid)) \
                    and not within(1, lambda: not waits_for_gate(run.pid)):
                return run, gate, waits_for_gate(run.pid)
            with live.contextlib.suppress(OSError):
                os.kill(gate, signal.SIGCONT)
            run.wait(30)
    (where.work / "ran").unlink(missing_ok=True)
    return None


@native
def the_agent_waits_for_its_gate():
    """It is made while the gate starts. Its program begins once that is ready,
    and never where it is not; and who waits dies with what it waits for."""
    with Place(POLICY) as where:
        for how in ("ready", "launcher", "signal", "gate", "agent"):
            got = None
            for _ in range(20):
                got = got or begun_with_gate_stopped(where)
            if not check(got, "one that waits: " + how):
                continue
            run, gate, agent = got
            check(not (where.work / "ran").exists(), "it waits: " + how)
            if how == "launcher":
                run.kill()
            elif how == "signal":
                run.send_signal(signal.SIGTERM)
            elif how in ("gate", "agent"):
                os.kill(agent if how == "agent" else next(
                    p for p, name in below(run.pid)
                    if name == "membrane-gate"), signal.SIGKILL)
            if how in ("ready", "signal"):
                os.kill(gate, signal.SIGCONT)
            status = run.wait(30)
            check(status == {"ready": 0, "launcher": -9, "signal": 143,
                             "gate": 125, "agent": 137}[how],
                  "status: " + how, (status, run.stderr.read()))
            check((where.work / "ran").exists() == (how == "ready"),
                  "whether it ran: " + how)
            (where.work / "ran").unlink(missing_ok=True)
            check(within(5, lambda: not strays()), "nobody is left: " + how,
                  strays())


@native
def many_begin_at_once():
    """Each agent is in the network that its own gate says, and in no other's:
    by the inodes, which are on record. As many as a machine can have in the
    time that a gate has to begin."""
    count = max(4, 20 // live.SLOW)
    with Place(POLICY) as where:
        runs = [where.popen("run", "--", "sh", "-c", "stat -L -c %%i "
                            "/proc/self/ns/net; curl -s -m %d -o /dev/null -w "
                            "'%%{http_code}\\n' https://site.test/; cat" % (
                                20 * live.SLOW),
                            stdin=subprocess.PIPE, text=True)
                for _ in range(count)]
        # Until all are up none ends: the kernel gives a number anew as soon as
        # the network that had it is gone.
        up = [(run.stdout.readline().strip(), run.stdout.readline())
              for run in runs]
        said = [network for network, _ in up]
        for run, (_, code) in zip(runs, up):
            _, err = run.communicate(timeout=120)
            check(run.returncode == 0 and code == "200\n",
                  "it reaches what is granted", (run.returncode, code, err))
        check(len(set(said)) == len(runs), "each has its own", said)
        record = [str(json.loads(f.read_text())["network"])
                  for f in where.state.glob("sessions/*/summary.json")]
        check(sorted(record) == sorted(said), "and its record says which",
              (said, record))
        check(within(5, lambda: not strays()), "nobody is left", strays())


@live.native_user_only("numbers in /etc/subuid")
def subordinate_users_keep_the_parts_apart():
    """With numbers in /etc/subuid gate, HAProxy and command are three users."""
    with Place(POLICY) as where, subordinate_numbers(where):
        run = held(where)
        gate = first_processes("gate")[0]
        check(numbers_of(gate) == {"200000"}, "the gate", numbers_of(gate))
        check(within(10, lambda: any(
            "264100" in numbers_of(pid) for pid, name in below(run.pid)
            if name == "haproxy")), "HAProxy")
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


PASTA, SLIRP = "/usr/bin/pasta", "/usr/bin/slirp4netns"
TAPS = [path for path in (PASTA, SLIRP) if os.path.exists(path)]


@live.contextlib.contextmanager
def closed(where, *paths):
    """For nobody to open, as long as this lasts."""
    empty = where.root / "closed"
    empty.write_text("")
    os.chmod(empty, 0o600)
    for path in paths:
        subprocess.run(live.the.enter("mount", "--bind", str(empty), path),
                       check=True)
    try:
        yield
    finally:
        for path in paths:
            subprocess.run(live.the.enter("umount", path), check=True)


@native
def each_uplink_leads_to_what_is_granted_and_to_nothing_else():
    """Sockets, pasta's tap and, where that is here, slirp4netns': names,
    networks, the floor, and listeners on the machine's own addresses."""
    wide = POLICY.replace("]", ", 11.0.2.0/24]")
    own = [a.split("/")[0] for a in subprocess.run(
        live.the.enter("sh", "-c", "ip -o addr | awk '{print $4}'"), text=True,
        capture_output=True, check=True).stdout.split()]
    listener = subprocess.Popen(live.the.enter(
        sys.executable, "-c", "import socket\n"
        "s = socket.create_server(('::', 3198), family=socket.AF_INET6, "
        "dualstack_ipv6=True)\nprint('up', flush=True)\nwhile s.accept(): "
        "print('taken', flush=True)"), stdout=subprocess.PIPE)
    listener.stdout.readline()
    cases = [(POLICY, TAPS, "membrane-broker"), (wide, TAPS[1:], "pas")]
    if SLIRP in TAPS:
        cases.append((wide, [PASTA], "slirp4netns"))
    try:
        for policy, hidden, uplink in cases:
            with Place(policy) as where, closed(where, *hidden):
                reach(where, policy is wide, uplink, own)
        os.set_blocking(listener.stdout.fileno(), False)
        check(not listener.stdout.read(), "nobody came to the listener")
    finally:
        listener.kill()
        listener.wait()


def reach(where, network, uplink, own):
    run = held(where, "for u in https://site.test/ http://11.0.2.1/; do "
               "curl -s -m " + str(9 * live.SLOW) +
               " -o /dev/null -w '%{http_code}\n' $u; done; "
               "for a in " + " ".join(own + ["169.254.1.1", "192.0.0.2"]) +
               "; do case $a in *:*) a=[$a];; esac; "
               "curl -s -m 3 -o /dev/null -w '%{http_code}\n' "
               "http://$a:3198/; done; echo up; sleep 60")
    said = []
    try:
        launcher = parent_of(parent_of(int(first_processes("gate")[0])))
        check(uplink_of(launcher, uplink), "it is that one: " + uplink)
        said = run.before
    finally:
        run.terminate()
        run.communicate(timeout=20)
    check(said[:2] == ["200", "200" if network else "000"],
          "what is granted: " + uplink, said)
    check(set(said[2:]) == {"000"}, "and nothing else: " + uplink, said)


@live.native_user_only("devices that nobody may open")
def what_is_missing_is_named():
    """Each with the host's words and the next step; nothing was started."""
    with Place(POLICY + "uplink: isolated\n") as where:
        for path, words in ((TAPS, "apt-get install passt"),
                            (["/dev/net/tun"], "chmod 666 /dev/net/tun"),
                            (["/dev/fuse"], "chmod 666 /dev/fuse")):
            with closed(where, *path):
                s = where.membrane("run", "--", "echo", "ran")
            check(s.status == 125 and "ran" not in s.stdout and
                  words in s.stderr, path, (s.status, s.stderr))
        check(not strays(), "nobody is left", strays())
        s = where.membrane("run", "--", "no-such-program")
        check(s.status == 127 and "'no-such-program'" in s.stderr and
              "visible" in s.stderr, "no such program", (s.status, s.stderr))
        said = json.loads(where.membrane("ps", "--all", "--json").stdout)
        check(all(not x.get("containers") for x in said["sessions"]), "ps", said)


@native
def no_list_of_protocols_is_asked_for():
    """libnftables names by one what it lists: the gate has one of its own. A
    machine need not have any."""
    with Place(POLICY) as where:
        entered = live.the.enter()
        argv = where.argv("run", "--no-trace", "--", "curl", "-sS",
                          "https://site.test/")
        done = subprocess.run(
            live.the.enter(
                "unshare", "-m", "sh", "-c", "{ [ ! -e /etc/protocols ] || "
                "mount --bind /dev/null /etc/protocols; } && "
                "! getent protocols tcp && exec \"$@\"",
                "sh", *argv[len(entered):]),
            capture_output=True, text=True, timeout=60 * live.SLOW,
            check=False)
        check(done.returncode == 0 and done.stdout, "a session without it",
              done.stderr)


@native
def memory_without_a_group_is_each_processs():
    """What is only reserved does not count, or node would not start."""
    with Place(POLICY + "hardening: {memory: 300m}\n") as where:
        def run(*command):
            return where.membrane("run", "--", *command)
        s = run("python3", "-c", "bytearray(600 << 20)")
        check(s.status == 1 and "MemoryError" in s.stderr, "one is limited",
              s.stderr)
        check("each process's own limit" in s.stderr and
              "want of a control group: /" in s.stderr and
              "systemd-run" in s.stderr,
              "that it is weaker, why, and what mends it", s.stderr)
        s = run("python3", "-c", "bytearray(100 << 20)")
        check(s.status == 0, "below it nothing is", s.stderr)
        s = run("python3", "-c", "from mmap import *; mmap(-1, 4 << 30, "
                "MAP_PRIVATE | MAP_ANONYMOUS, PROT_READ); print('here')")
        check(s.stdout == "here\n", "what reserves much", s.stderr)
        if shutil.which("node", path="/usr/bin:/usr/local/bin"):
            s = run("node", "-e", "console.log('here')")
            check(s.stdout == "here\n", "node does", s.stderr)


@native
def processors_take_a_group():
    with Place(POLICY + "hardening: {cpus: 1.5}\n") as where:
        s = where.membrane("run", "--", "touch", "begun")
        check(s.status == 125 and "control group" in s.stderr and
              "systemd-run" in s.stderr and "engine: docker" in s.stderr,
              "refused, with the next step", s.stderr)
        check(not (where.work / "begun").exists(), "it does not begin")
