"""System calls: what seccomp.json refuses, and that work goes on."""
import json
import platform

import live
from live import HERE, ROOT, Skip, check, shell, test

CALLS = (HERE / "calls.py").read_text()
AMD64 = platform.machine() == "x86_64"
OWN = "hardening: {user_namespaces: true}\n"

# What the table says of each call of calls.py.
REFUSED = {
    "vsock": "EPERM", "alg": "EPERM", "packet": "EPERM", "raw": "EPERM",
    "ping": "EPERM", "sctp": "EPERM", "sctp unnamed": "EPERM",
    "udplite": "EPERM", "mptcp": "EPROTONOSUPPORT",
    "netfilter": "EPROTONOSUPPORT", "audit": "EPROTONOSUPPORT",
    "tipc pair": "EPERM", "vsock, upper half set": "EPERM",
    "io_uring": "ENOSYS", "userfaultfd": "EPERM", "keyctl": "EPERM",
    "add_key": "EPERM", "bpf": "EPERM", "perf_event_open": "EPERM",
    "memfd_secret": "EPERM", "fsopen": "ENOSYS", "newer": "ENOSYS",
    "clone3 user": "ENOSYS",
}
NAMESPACES = {"unshare user": "EPERM", "unshare mounts": "EPERM",
              "setns": "EPERM", "clone user": "EPERM", "chroot": "EPERM",
              "mount": "EPERM"}
OPEN = ["unix", "tcp", "udp6", "route", "unix pair", "clone", "ptrace child"]
if AMD64:
    # The other calling conventions of the machine.
    REFUSED.update({"modify_ldt": "EPERM", "x32": "SIGSYS",
                    "i386": "SIGSYS" if live.has_narrow() else "SIGSEGV"})


def made(policy, *names):
    """How each call ended in a session."""
    s = shell(policy, "python3 calls.py " +
              " ".join("'%s'" % n for n in names), files={"calls.py": CALLS})
    check(s.status == 0, "the session", (s.status, s.stderr))
    return json.loads(s.stdout or "{}")


@test
def calls_that_are_refused():
    wanted = dict(REFUSED, **NAMESPACES, **{n: "ok" for n in OPEN})
    got = made("", *wanted)
    for name, how in wanted.items():
        check(got.get(name) == how, "%s: %s" % (name, how), got.get(name))


@live.docker_only("another filter")
def without_the_filter_they_are_the_kernels_to_answer():
    """The calls are real ones: what refuses them above is the filter."""
    got = made("hardening: {seccomp: unconfined}\n", *REFUSED, *NAMESPACES)
    for name in ("io_uring", "sctp unnamed", "audit", "unshare user",
                 "clone user", "clone3 user", "keyctl"):
        check(got.get(name) != dict(REFUSED, **NAMESPACES)[name],
              "%s reaches the kernel" % name, got)
    if AMD64:
        check(got["i386"] != "SIGSYS", "32 bits, too", got)


@live.docker_only("capabilities")
def what_a_capability_brings():
    got = made("hardening: {user: 0, capabilities: [SYS_CHROOT, NET_RAW]}\n",
               "chroot", "raw", "packet", "vsock", "mount", "netfilter")
    check(got == {"chroot": "ok", "raw": "ok", "packet": "ok",
                  "vsock": "EPERM", "mount": "EPERM",
                  "netfilter": "EPROTONOSUPPORT"}, "what it is for", got)


@test
def user_namespaces_are_a_word_of_the_policy():
    wanted = dict(REFUSED, **{n: "ok" for n in OPEN})
    wanted.update({"unshare user": "ok", "clone user": "ok"})
    got = made(OWN, *wanted)
    for name, how in wanted.items():
        check(got.get(name) == how, "%s: %s" % (name, how), got.get(name))


MOVE = """import ctypes, os
libc = ctypes.CDLL(None)
fd = os.open(".", os.O_DIRECTORY)
# A mount namespace in which the masks are not; then they are no obstacle.
libc.unshare(0x10020000)
libc.mount(b"none", b"/", None, 0x44000, None)
libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)
os.makedirs("/tmp/old", exist_ok=True)
libc.syscall(155, b"/tmp", b"/tmp/old")
os.chdir("/")
libc.umount2(b"/old", 2)
for name in (".env", ".git"):
    try:
        os.rename(name, "moved" + name, src_dir_fd=fd, dst_dir_fd=fd)
        print("moved", name)
    except OSError as e:
        print("held")
"""


@test
def masks_hold_where_there_are_no_namespaces():
    files = {"move.py": MOVE, ".env": "secret", ".git/config": ""}
    s = shell("ignore: [.env]\n", "python3 move.py; cat .env moved.env",
              files=files)
    check(s.stdout == "held\nheld\n", "neither moved, nothing read",
          s.stdout)


@test
def languages_of_the_image():
    s = shell("allow: ['git.test:443', 'registry.npmjs.org:443']\n", """set -e
        python3 - <<'E'
import concurrent.futures, multiprocessing, socket, subprocess, tempfile
with multiprocessing.Pool(2) as p:
    assert p.map(abs, [-1, 2]) == [1, 2]
with concurrent.futures.ThreadPoolExecutor() as p:
    assert list(p.map(abs, [-3])) == [3]
a, b = socket.socketpair()
socket.create_server(("127.0.0.1", 0)).close()
assert subprocess.run(["true"]).returncode == 0
socket.if_nameindex()
E
        node -e "const w = require('worker_threads');
            new w.Worker('require(\\"fs\\").readFileSync(\\"/etc/passwd\\")',
                         {eval: true});
            require('fs').promises.readFile('/etc/passwd');
            require('child_process').execFileSync('true');
            require('os').networkInterfaces()"
        git clone -q https://git.test/hello.git && git -C hello gc -q
        npm install --no-audit --no-fund tiny >&2
        echo done""")
    check(s.status == 0 and s.stdout == "done\n", "they work",
          (s.status, s.stdout, s.stderr))


def with_tools(policy, command, wanted, files=None):
    """In a session whose /usr has Debian's toolchains, too."""
    if not (ROOT / "build/clients/usr.stamp").exists():
        raise Skip("not fetched by apt-get: tests/live/clients.sh")
    s = shell(policy + "args: [--mount, 'type=bind,source=%s/build/clients/"
              "usr,target=/usr,readonly']\n" % ROOT, command, files=files)
    check(s.status == 0 and wanted in s.stdout, "it works: %s" % command,
          (s.status, s.stdout[-1500:], s.stderr[-1500:]))


GO = """package main

import (
	"fmt"
	"net"
	"os/exec"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		_, err = net.Dial("tcp", l.Addr().String())
	}
	if err == nil {
		err = exec.Command("true").Run()
	}
	fmt.Println("went", err)
}
"""


@test
def go():
    with_tools("", "go run a.go", "went <nil>", files={"a.go": GO})


@test
def rust():
    with_tools("", "RUSTFLAGS=-Clinker=gcc cargo run --offline -q", "ran 7", files={
        "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\n',
        "src/main.rs": "fn main() { let t = std::thread::spawn(|| 7);"
                       'println!("ran {}", t.join().unwrap()); }\n'})


@test
def java():
    with_tools("", "/usr/lib/jvm/bin/java -Xshare:off -version 2>&1 && "
               "/usr/lib/jvm/bin/keytool -genkeypair -keyalg EC -alias a "
               "-dname CN=a -storepass secret -keystore k 2>&1 && "
               "test -s k && echo made", "made")


@test
def make_in_parallel():
    with_tools("", "make -sj4", "a\nb\n", files={
        "Makefile": "all: b\nb: a; @echo b\na: $(addprefix x,1 2 3 4); "
                    "@echo a\nx%:; @true\n"})


@test
def debuggers_of_ones_own_processes():
    with_tools("", "cp /usr/bin/true t && gdb -q -batch -ex 'break exit' -ex "
               "run -ex 'info registers rip' ./t 2>&1 | tail -n 3; "
               "strace -f -e trace=execve sh -c /usr/bin/true 2>&1; "
               "sleep 20 & strace -p $! -o trace & sleep 1; kill %1; "
               "wait; cat trace", "+++ exited with 0 +++")


@test
def bubblewrap():
    # Not --proc: the kernel grants a new /proc only where none is masked.
    command = ("bwrap --unshare-all --ro-bind / / --dev /dev --tmpfs /tmp "
               "sh -c 'id -u; echo inside'")
    with_tools(OWN, command, "inside")
    with_tools("", command + " || echo refused", "refused")
