"""The trace of a session that an ordinary user launches without a daemon: the
kernel asks before each call, and what was asked for is recorded."""
import collections
import contextlib
import gzip
import json
import os
import subprocess
import sys

import live
from live import check, subordinate_numbers, within

sys.path.append(str(live.ROOT / "tests/guest"))
import actions  # noqa: E402

ASKED = "trace: {events: [asked]}\n"
REQUIRED = "trace: {required: true, events: [asked]}\n"


user = live.native_user_only("a trace of what was asked for")


def events(where):
    """All records; what the session saw at its own path, as filters do."""
    found = sorted((where.state / "trace").glob("*.jsonl.gz"))
    return [json.loads(line.replace(str(where.work), "/workspace"))
            for path in found for line in gzip.open(path, "rt")]


def args(event):
    return {a["name"]: a["value"] for a in event["args"]}


def named(found, name):
    return [args(e) for e in found if e["eventName"] == name]


def opened(found):
    return collections.Counter(a["pathname"] for a in
                               named(found, "security_file_open"))


def run(where, command, *flags, **more):
    return where.membrane("run", *flags, "--", "bash", "-c", command, **more)


def build(where, name, source, *flags):
    path = where.work / (name + ".c")
    path.write_text(source)
    subprocess.run(["gcc", "-O1", "-o", where.work / name, path, *flags],
                   check=True)
    where.own()


@contextlib.contextmanager
def held(where, command):
    """A session that has said a word; killed when the test is through."""
    p = where.popen("run", "--", "bash", "-c", "echo up; " + command,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        check(p.stdout.readline() == "up\n", "it runs")
        yield p
    finally:
        p.kill()
        p.communicate()


def whole(found):
    end = args(found[-1])
    check(end["lost"] == 0 and end["back_end"] == "asked", "all is there", end)
    check(all(e["returnValue"] is None for e in found[1:-1]
              if e["eventName"] != "net_packet_dns_response"),
          "nobody says what came of it")


@user
def what_is_asked_for_is_recorded():
    script = r"""
touch made; mv made moved; ln moved hard; ln -s moved soft
truncate -s 5 moved; rm hard; cat plain .env
printf x >> ../$(basename $PWD)/sub/../appended
curl -sS -o /dev/null https://site.test/
curl -sSm 2 http://192.0.2.7/
/bin/echo "a b" $'odd\xff\n' ''
python3 -c 'import os; os.open("again", os.O_RDWR | os.O_CREAT)'
exit 3
"""
    with live.Place(ASKED + "allow: [site.test]\nignore: [.env]\n",
                    files={".env": "x", "plain": "y", "sub/z": ""}) as where:
        s = run(where, script)
        check(s.status == 3 and "traced as" not in s.stderr,
              "its status, and all that was wanted is there", s.stderr)
        found = events(where)
        whole(found)
        start = args(found[0])
        check((start["back_end"], start["missing"]) == ("asked", ""),
              "who wrote it", start)
        files = opened(found)
        check([files["/workspace/" + n] for n in
               ("made", "appended", "again", "plain", ".env")] ==
              [1, 1, 1, 0, 0], "opened to be written, and no others", files)
        moved = named(found, "security_inode_rename")
        check(moved == [{"old_path": "/workspace/made",
                         "new_path": "/workspace/moved"}], "renamed", moved)
        check([(a["oldpath"], a["newpath"]) for a in named(found, "linkat")] ==
              [("/workspace/moved", "/workspace/hard")], "linked")
        check(named(found, "security_inode_symlink") ==
              [{"linkpath": "/workspace/soft", "target": "moved"}],
              "symlinked")
        gone = named(found, "security_inode_unlink")
        check([a["pathname"] for a in gone] == ["/workspace/hard"] and
              gone[0]["inode"] is None, "unlinked", gone)
        ends = [a["remote_addr"] for a in
                named(found, "security_socket_connect") if a["type"] == 1]
        check({"sa_family": "AF_INET", "sin_addr": "192.0.2.7",
               "sin_port": "80"} in ends and
              [a for a in ends if a.get("sin_port") == "443"],
              "connections, whatever becomes of them", ends)
        echo = [a for a in named(found, "sched_process_exec")
                if a["pathname"] == "/bin/echo"]
        check([a["argv"] for a in echo] ==
              [["/bin/echo", "a b", "odd\ufffd\n", ""]] and
              echo[0]["pwd"] == "/workspace", "words, byte by byte", echo)
        names = [args(e)["dns_response"][0]["query_data"]["query"]
                 for e in found if e["eventName"] == "net_packet_dns_response"]
        check("site.test" in names, "what the resolver answered", names)
        by = {e["processName"] for e in found
              if e["eventName"] == "net_packet_dns_response"}
        check(by == {"curl"}, "and whom", by)
        shown = where.membrane("trace", "show", "event == exec").stdout
        check("exec     touch made" in shown, "the story", shown)
        none = where.membrane("trace", "show", "ret == 0 or ret < 0").stdout
        check("made" not in none, "no value stands for none", none)
        needed = where.membrane("trace", "suggest").stdout
        check("site.test:443" in needed, "a suggestion", needed)
        record, = where.state.glob("sessions/*/summary.json")
        summary = json.loads(record.read_text())["trace"]
        check((summary["whole"], summary["back_end"]) == (True, "asked"),
              "its summary", summary)


UNCONNECTED = r"""
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
q = bytes.fromhex("1234010000010000000000000473697465047465737400") + b"\0\1\0\1"
s.sendto(q, ("192.0.0.1", 53))
print(len(s.recv(999)) > len(q))
"""
BY_TCP = r"""
import socket
s = socket.create_connection(("192.0.0.1", 53), 5)
q = bytes.fromhex("1235010000010000000000000374637004" "77696c640474657374"
                  "0000010001")
s.sendall(len(q).to_bytes(2, "big") + q)
s.recv(999)
"""


@user
def an_answer_is_whose_the_question_was():
    """Of many at once, by TCP too; what is asked without a connection is
    nobody's."""
    command = "for i in $(seq 40); do getent ahosts n$i.wild.test " \
        ">/dev/null & done; wait; python3 -c '%s' tcp.wild.test; " \
        "exec python3 -c '%s'" % (BY_TCP, UNCONNECTED)
    with live.Place(ASKED + "allow: ['*.wild.test', site.test]\n") as where:
        s = run(where, command)
        check(s.stdout == "True\n", "each was answered", (s.stdout, s.stderr))
        found = events(where)
        whole(found)
        argv = {e["processId"]: args(e)["argv"] for e in found
                if e["eventName"] == "sched_process_exec"}
        told = [(args(e)["dns_response"][0]["query_data"]["query"],
                 argv.get(e["processId"])) for e in found
                if e["eventName"] == "net_packet_dns_response"]
        check(len({name for name, _ in told}) == 42, "all of them", told)
        wrong = [(name, words) for name, words in told if (words or [None])[-1]
                 != (name if name != "site.test" else None)]
        check(not wrong, "each is its own process's", wrong)


@user
def what_is_not_seen_is_said():
    with live.Place("") as where:
        s = run(where, "exit 3")
        line, = [x for x in s.stderr.splitlines() if "traced as" in x]
        check(s.status == 3 and "sched_process_exit" in line and
              "help events" in line, "in a line", s.stderr)
    with live.Place("trace: {events: [bpf]}\n") as where:
        s = run(where, "exit 3")
        check(s.status == 3 and "not traced" in s.stderr, "nothing at all",
              s.stderr)


@user
def a_required_trace_is_exact():
    with live.Place(REQUIRED) as where:
        s = run(where, "cat /etc/passwd >/dev/null; cat id_rsa; exit 3")
        files = opened(events(where))
        check(s.status == 3, "all of its events are to be had", s.stderr)
        check((files["/workspace/id_rsa"], files["/etc/passwd"]) == (1, 0),
              "reads of secrets among them", files)
    for policy, name in (
            ("events: [default]", "sched_process_exit"),
            ("events: [sched_process_exec, bpf]", "bpf"),
            ("events: [{event: security_socket_connect, "
             "filters: [retval=0]}]", "security_socket_connect"),
            ("events: [bpf]", "as root")):
        with live.Place("trace: {required: true, %s}\n" % policy) as where:
            s = run(where, "touch begun")
            check(s.status == 125 and "the trace is required" in s.stderr and
                  name in s.stderr and not (where.work / "begun").exists(),
                  "it does not begin, and says why: " + name, s.stderr)


@user
def many_processes():
    """2,000, two of them side by side: each once, none lost."""
    with live.Place(ASKED) as where:
        build(where, "storm", """
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 2000; i++) {
		if (fork() == 0) {
			char name[32];

			snprintf(name, sizeof(name), "/tmp/%d", i);
			_exit(open(name, O_WRONLY | O_CREAT, 0600) < 0);
		}
		if (i % 2)
			while (wait(NULL) > 0)
				;
	}
	return 0;
}
""")
        s = where.membrane("run", "--", "./storm", timeout=120)
        found = events(where)
        files = opened(found)
        check(s.status == 0 and
              all(files["/tmp/%d" % i] == 1 for i in range(2000)),
              "each is there once", s.stderr)
        pids = {e["processId"] for e in found[1:-1]
                if args(e).get("pathname", "").startswith("/tmp/")}
        check(len(pids) == 2000, "of a process each", len(pids))
        whole(found)


SIGNALS = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#define THREADS 8
#define EACH 200
static pthread_t all[THREADS];
static volatile int done, seen;
static void on_signal(int s) { (void)s; seen++; }
static void *open_files(void *n)
{
	for (long i = 0; i < EACH; i++) {
		char name[32];
		int fd;

		snprintf(name, sizeof(name), "/tmp/s-%ld-%ld", (long)n, i);
		fd = open(name, O_WRONLY | O_CREAT, 0600);
		if (fd < 0) {
			perror(name);
			exit(1);
		}
		close(fd);
	}
	__atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
}
/* As Go's scheduler does it, without end: SIGURG, SA_RESTART. */
int main(void)
{
	struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	sigaction(SIGURG, &a, NULL);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&all[i], NULL, open_files, (void *)i);
	while (done < THREADS)
		for (int i = 0; i < THREADS; i++)
			pthread_kill(all[i], SIGURG);
	printf("%d signals\n", seen);
	return 0;
}
"""


@user
def threads_under_signals():
    with live.Place(ASKED) as where:
        build(where, "signals", SIGNALS, "-pthread")
        s = where.membrane("run", "--", "./signals", timeout=60)
        check(s.status == 0 and "signals" in s.stdout, "it comes to its end",
              s.stderr)
        found = events(where)
        files = opened(found)
        each = [files["/tmp/s-%d-%d" % (t, i)]
                for t in range(8) for i in range(200)]
        check(set(each) == {1}, "each open is asked about once",
              collections.Counter(each))
        whole(found)


@user
def who_is_asked_is_nobodys_to_end():
    with live.Place(ASKED) as where:
        s = run(where, "cat /proc/[0-9]*/comm; kill -9 -1; true")
        check("membrane-watch" not in s.stdout, "nor to see", s.stdout)


def ends_with_its_tracer(policy):
    with live.Place(policy, files={".env": "x"}) as where, \
            held(where, "while :; do :; done") as p:
        agent, = live.running("membrane.role=agent")
        live.kill_part("tracer")
        check(within(10, lambda: not os.path.exists("/proc/%s" % agent)),
              "the agent ends")
        said = p.communicate(timeout=60)[1]
        check(p.returncode == 125 and "tracer" in said, "it ends, and says so",
              said)
    check(not live.strays(), "nothing is left", live.strays())


@user
def the_agent_ends_with_who_is_asked():
    ends_with_its_tracer(ASKED)
    ends_with_its_tracer(REQUIRED)


@user
def with_protect_too():
    with live.Place(ASKED + "protect:\n- {by: python3, files: "
                    "['~/.app/auth.json']}\n") as where:
        s = where.membrane("run", "--", "python3", "-c",
                           "open('made', 'w'); print('up')")
        check(s.stdout == "up\n", "it runs", s.stderr)
        found = events(where)
        check(opened(found)["/workspace/made"] == 1, "of one that hides", found)
        whole(found)


@user
def as_three_users():
    """Gate, HAProxy and command by numbers of the user's own."""
    with live.Place(ASKED) as where, subordinate_numbers(where):
        s = run(where, "touch made")
        found = events(where)
        check(s.status == 0 and opened(found)["/workspace/made"] == 1,
              "it is recorded", s.stderr)
        exec_, = [a for a in named(found, "sched_process_exec")
                  if a["argv"][:1] == ["/etc/membrane/init"]]
        check(exec_["pathname"] == "/etc/membrane/init", "from the first on",
              exec_)
        whole(found)


HIDDEN = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	open("hidden", O_WRONLY | O_CREAT, 0600);
	syscall(SYS_openat, AT_FDCWD, 8, O_WRONLY, 0);
	syscall(SYS_rename, "hidden", 8);
	return 0;
}
"""


@user
def what_cannot_be_read_is_recorded():
    with live.Place(ASKED) as where:
        build(where, "hide", HIDDEN)
        check(run(where, "./hide").status == 0, "it ran")
        found = events(where)
        files = [a["pathname"] for e in found for a in [args(e)]
                 if e.get("processName") == "hide" and "pathname" in a]
        check(files == ["/workspace/hidden", None], "a path, and none", files)
        moved = named(found, "security_inode_rename")
        check(moved == [{"old_path": "/workspace/hidden", "new_path": None}],
              "half of one", moved)


ASIDE = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int n, char **v)
{
	struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K,
					     SECCOMP_RET_ALLOW)};
	struct sock_fprog p = {1, all};
	struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = 0600};
	char *const words[] = {"by-fd", "after", NULL};
	int fd, self;

	if (n > 1 && strcmp(v[1], "after") == 0)
		return 7;
	if (n > 1 && strcmp(v[1], "narrow") == 0) {
		long ret;
		__asm__ volatile("int $0x80" : "=a"(ret) : "a"(20) : "memory");
		return 0;
	}
	if (n > 1) /* x32's getpid */
		return syscall(0x40000000 + SYS_getpid) < 0;
	fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			  SECCOMP_FILTER_FLAG_NEW_LISTENER, &p);
	printf("listener %d %d\n", fd, errno == EBUSY);
	printf("ring %ld\n", syscall(SYS_io_uring_setup, 1, NULL));
	syscall(SYS_openat2, AT_FDCWD, "by-how", &how, sizeof(how));
	how = (struct open_how){.flags = O_RDONLY};
	syscall(SYS_openat2, AT_FDCWD, "by-how", &how, sizeof(how));
	syscall(SYS_openat, AT_FDCWD, "by-upper",
		0x100000000ul | O_WRONLY | O_CREAT, 0600);
	fflush(stdout);
	fd = memfd_create("inner", 0);
	self = open("/proc/self/exe", O_RDONLY);
	for (char buf[65536];;) {
		ssize_t got = read(self, buf, sizeof(buf));
		if (got <= 0 || write(fd, buf, got) != got)
			break;
	}
	syscall(SYS_execveat, fd, "", words, words + 2, AT_EMPTY_PATH);
	return 1;
}
"""


@user
def no_way_leads_around_a_question():
    with live.Place(ASKED) as where:
        build(where, "aside", ASIDE)
        s = run(where, "./aside narrow; echo $?; ./aside x32; echo $?; "
                "exec ./aside")
        narrow = "159" if live.has_narrow() else "139"
        check(s.stdout.splitlines() == [narrow, "159", "listener -1 1",
                                        "ring -1"] and s.status == 7,
              "other numbers end a process, and there is one listener",
              s.stdout + s.stderr)
        found = events(where)
        files = opened(found)
        check((files["/workspace/by-how"], files["/workspace/by-upper"]) ==
              (1, 1), "flags, wherever they are", files)
        by_fd = [a for a in named(found, "sched_process_exec")
                 if a["argv"][:1] == ["by-fd"]]
        check(len(by_fd) == 1 and "memfd:inner" in by_fd[0]["pathname"],
              "a program without a name", by_fd)
        whole(found)


@user
def a_ring_is_refused():
    with live.Place(ASKED) as where:
        actions.build(where.work / "agent")
        where.own()
        s = run(where, "./agent ring .; exit 3")
        check(s.status == 3, "it ran", s.stderr)
        check(not opened(events(where))["/workspace/by-ring"], "and has none")


@user
def a_full_disk_ends_no_session():
    with live.Place(ASKED) as where:
        folder = where.state / "trace"
        folder.mkdir(parents=True)
        where.own()
        at = live.the.enter
        subprocess.run(at("mount", "-t", "tmpfs", "-o", "size=8k,mode=777",
                          "none", str(folder)), check=True)
        try:
            s = run(where, "for i in $(seq 4000); do "
                    ": > f-$i-$RANDOM$RANDOM$RANDOM; done; exit 6")
            check(s.status == 6 and "No space left" in s.stderr,
                  "it goes on, and says why it is not traced", s.stderr)
        finally:
            subprocess.run(at("umount", str(folder)), check=True)
