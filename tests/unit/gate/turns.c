/*
 * One HAProxy takes another's place: who is told what, who may end what it has,
 * and who has to go. The processes are this test's, as is the runtime socket.
 */
#include "runtime/gate/l7/l7_next.h"
#include "runtime/gate/l7/user.h"
#include "tests/unit/gate/administrator.h"
#include "tests/unit/gate/haproxy_standin.h"

#include <dirent.h>
#include <malloc.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#define KEPT	 L7_KEEP "admin.sock"
#define PROFILES "membrane-profiles 1\n1 a.test g-0123456789\n"

static struct err err;
static struct l7 l;
static const char *vanishing; /* gone before it is looked at; or NULL */

/* It takes the C library's place in all of this program. */
int fstatat(int dir, const char *name, struct stat *out, int flags)
{
	int rc = (int)syscall(SYS_newfstatat, dir, name, out, flags);

	if (rc < 0 || !vanishing || strcmp(name, vanishing) != 0)
		return rc;
	(void)unlinkat(dir, name, 0);
	errno = ENOENT;
	return -1;
}

static char complaint[200];

static void on_error(void *data, const char *message)
{
	(void)data;
	snprintf(complaint, sizeof(complaint), "%s", message);
}

static void on_lost(void *data, uint64_t n)
{
	(void)data, (void)n;
}

/* One that does nothing but what signals make of it. */
static struct haproxy begin_haproxy(void)
{
	struct haproxy h = haproxy_none();

	h.pid = fork();
	if (h.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	h.pidfd = (int)syscall(SYS_pidfd_open, h.pid, 0);
	return h;
}

static bool is_gone(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

static void turn(int64_t now_ms)
{
	struct pollfd p[L7_POLL];

	l7_poll(&l, p);
	CHECK(l7_step(&l, p, now_ms, &err) == 0);
}

static void take(bool cut, int64_t now_ms, uint32_t generation)
{
	struct l7_plan p = {.generation = generation};

	complaint[0] = '\0';
	l7_next_take(&l, &p, cut, now_ms);
	CHECK(p.generation == 0); /* it is l's now */
	CHECK(l.haproxy.pid == 0 && l.next.pid == 0 && !l.serves &&
	      l.plan.generation == generation && !l.pins.admin);
	/* what was kept for it is forgotten, and nothing else */
	CHECK(access(KEPT, F_OK) < 0 && access(GATE_ADMIN, F_OK) == 0);
}

/* A grant disturbs nobody: it may end what it has. */
static void kept_on(void)
{
	pid_t pid;

	l.haproxy = begin_haproxy();
	l.serves = true;
	l.plan.generation = 1;
	l.past[0].kill_ms = 99; /* somebody's who was there before */
	pid = l.haproxy.pid;
	ANSWERS("Name: HAProxy\nDroppedLogs: 0\n");
	take(false, 1000, 2);
	CHECK(TOLD("show info\n") && !complaint[0]);
	CHECK(l.past[0].haproxy.pid == pid && l.past[0].generation == 1 &&
	      l.past[0].kill_ms == 0 && !l7_next_cutting(&l));
	/* it was asked to end, and is buried when it has */
	CHECK(poll(&(struct pollfd){l.past[0].haproxy.pidfd, POLLIN, 0}, 1,
		   10000) == 1);
	turn(2000);
	CHECK(l.past[0].haproxy.pid == 0 && is_gone(pid));
}

/* A denial ends what was permitted: at once, or when it is killed for it. */
static void cut_off(void)
{
	struct haproxy earlier = begin_haproxy(), one;
	int64_t kill_ms = 5000 + L7_CUT_MS;

	signal(SIGUSR1, SIG_IGN); /* which children have of this one */
	one = begin_haproxy();
	signal(SIGUSR1, SIG_DFL);
	l.past[0] = (struct l7_past){.haproxy = earlier, .generation = 1};
	l.haproxy = one;
	ANSWERS("Name: HAProxy\n", "# none\n", "");
	take(true, 5000, 3);
	CHECK(TOLD("show info\n", "show servers conn\n", "show sess\n") &&
	      !complaint[0]);
	CHECK(l.past[1].haproxy.pid == one.pid && l.past[1].generation == 2);
	CHECK(l.past[0].kill_ms == kill_ms && l.past[1].kill_ms == kill_ms);
	CHECK(l7_next_cutting(&l));
	l.sweep_ms = kill_ms + 1000;
	CHECK(l7_wait_ms(&l, kill_ms - 7) == 7);
	CHECK(l7_wait_ms(&l, kill_ms + 7) == 0);
	turn(kill_ms - 1);
	CHECK(l.past[1].haproxy.pid == one.pid && l7_next_cutting(&l));
	turn(kill_ms);
	CHECK(!l.past[0].haproxy.pid && !l.past[1].haproxy.pid &&
	      is_gone(one.pid) && is_gone(earlier.pid) && !l7_next_cutting(&l));
}

/* What it does not answer is told, and it goes all the same. */
static void unheard(void)
{
	pid_t pid;

	l.haproxy = begin_haproxy();
	pid = l.haproxy.pid;
	ANSWERS("Name: HAProxy\n", "a/b 1/1 x\n", "No such server.\n\n");
	take(true, 1, 4);
	CHECK(TOLD("show info\n", "show servers conn\n",
		   "shutdown sessions server a/b\n"));
	CHECK(strstr(complaint, "No such server") != NULL);
	turn(1 + L7_CUT_MS);
	CHECK(is_gone(pid));
}

/* Of too many the oldest loses its place. */
static void crowded(void)
{
	static const uint32_t generations[L7_PAST] = {7, 5, 6, 8};
	pid_t oldest, pid;

	for (size_t i = 0; i < L7_PAST; i++)
		l.past[i] = (struct l7_past){.haproxy = begin_haproxy(),
					     .generation = generations[i]};
	oldest = l.past[1].haproxy.pid;
	l.haproxy = begin_haproxy();
	l.plan.generation = 9;
	pid = l.haproxy.pid;
	ANSWERS("Name: HAProxy\n");
	take(false, 1, 10);
	CHECK(is_gone(oldest) && l.past[1].haproxy.pid == pid &&
	      l.past[1].generation == 9);
	for (size_t i = 0; i < L7_PAST; i++)
		haproxy_end(&l.past[i].haproxy);
}

static void plans(void)
{
	struct l7_plan p = {.decrypts = true, .wanted = true};

	CHECK(l7_next_start(&l, &p, &err) == -EOPNOTSUPP &&
	      strstr(err.text, "decrypts nothing"));
	p = (struct l7_plan){.wanted = false};
	CHECK(l7_next_start(&l, &p, &err) == 0 && l.next.pid == 0);
	CHECK(l7_next_ready(&l, &p, &err) == 1);
	l.sweep_ms = 2000;
	CHECK(l7_wait_ms(&l, 1500) == 500);
	l.log.kept = 1;
	CHECK(l7_wait_ms(&l, 1500) == 0);
	l.log.kept = 0;
	l.plan.wanted = true;
	CHECK(l7_wait_ms(&l, 1500) == HAPROXY_RETRY_MS);
	l.serves = true;
	CHECK(l7_wait_ms(&l, 1500) == 500);
	l.plan.wanted = l.serves = false;
}

/* --- its sockets ---------------------------------------------------------- */

#define SIXTY "123456789012345678901234567890123456789012345678901234567890"

static struct l7_plan next_plan = {
	.wanted = true, .path = STANDIN_CONFIG, .generation = 2};
static bool has_other; /* HAProxy is somebody else than this test */

/* HAProxy's, or who else's. */
static void put_socket(const char *dir, const char *name, uid_t owner)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s%s", dir, name);
	unlink(sa.sun_path);
	CHECK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	      chown(sa.sun_path, owner, (gid_t)-1) == 0);
	close(fd);
}

static bool has(const char *dir, const char *name)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", dir, name);
	return lstat(path, &st) == 0;
}

static unsigned count_in(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	unsigned n = 0;

	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

static void empty(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, "admin.sock") != 0 ||
		    strcmp(dir, L7_KEEP) == 0)
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
}

/* A running one, with what it may have beside its sockets. */
static void with_sockets(void)
{
	uid_t user = user_there(GATE_UID);

	l.haproxy = begin_haproxy();
	l.serves = true;
	l.ports.own = true;
	l.ports.family = "ipv4";
	empty(GATE_DIR "/");
	put_socket(GATE_DIR "/", "b.sock", user);
	put_socket(GATE_DIR "/", SIXTY "123", user);
	put_socket(GATE_DIR "/", SIXTY "1234", user);
	put_socket(GATE_DIR "/", "root.sock", 0);
	put_socket(GATE_DIR "/", "log.sock", user);
	CHECK(symlink(GATE_DIR "/b.sock", GATE_DIR "/link") == 0 &&
	      lchown(GATE_DIR "/link", user, (gid_t)-1) == 0);
	close(open(GATE_DIR "/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	CHECK(chown(GATE_DIR "/file", user, (gid_t)-1) == 0);
}

static bool reaches(const char *path)
{
	return l.signer.admin && strcmp(l.signer.admin, path) == 0 &&
	       l.pins.admin && strcmp(l.pins.admin, path) == 0;
}

static void keeps(void)
{
	struct haproxy h;
	int death = 0;
	struct stat st;
	char mine[64];
	pid_t pid;

	with_sockets();
	(void)mkdir(L7_KEEP, 0700);
	put_socket(L7_KEEP, "stale.sock", user_there(GATE_UID));
	prctl(PR_SET_PDEATHSIG, 0);
	CHECK_MSG(l7_next_start(&l, &next_plan, &err) == 0, "%s", err.text);
	pid = l.next.pid;
	CHECK(pid > 0 && reaches(KEPT) && geteuid() == 0);
	CHECK(prctl(PR_GET_PDEATHSIG, &death) == 0 && death == SIGKILL);
	prctl(PR_SET_PDEATHSIG, 0);
	CHECK(stat(L7_KEEP, &st) == 0 && (st.st_mode & 0777) == 0777);
	CHECK(has(L7_KEEP, "admin.sock") && has(L7_KEEP, "b.sock") &&
	      has(L7_KEEP, SIXTY "123") && !has(L7_KEEP, "stale.sock"));
	CHECK(!has_other || count_in(L7_KEEP) == 3);
	snprintf(mine, sizeof(mine), "Name: HAProxy\nPid: %d\n", (int)pid);
	ANSWERS(mine, "found=no\n");
	CHECK(l7_next_ready(&l, &next_plan, &err) == 1 &&
	      administrator->n == 2);
	/* the next one has sockets of its own, which go with it */
	CHECK(unlink(GATE_DIR "/b.sock") == 0);
	h = l.haproxy;
	l7_next_drop(&l);
	CHECK(has(GATE_DIR "/", "b.sock") && !has(L7_KEEP, "b.sock") &&
	      reaches(GATE_ADMIN) && is_gone(pid) && l.next.pid == 0 &&
	      l.haproxy.pid == h.pid && !haproxy_ended(&l.haproxy));
	CHECK(access(GATE_ADMIN, F_OK) == 0);
}

/* Found by its name, and then no more. */
static void vanishes(void)
{
	vanishing = "gone.sock";
	put_socket(GATE_DIR "/", vanishing, user_there(GATE_UID));
	CHECK_MSG(l7_next_start(&l, &next_plan, &err) == 0, "%s", err.text);
	CHECK(has(L7_KEEP, "b.sock") && !has(L7_KEEP, vanishing));
	l7_next_drop(&l);
	vanishing = NULL;
}

/* More than there ever are: as many as there is room for. */
static void too_many(void)
{
	char name[16];

	for (unsigned i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "%u.sock", i);
		put_socket(GATE_DIR "/", name, user_there(GATE_UID));
	}
	CHECK(l7_next_start(&l, &next_plan, &err) == 0 &&
	      count_in(L7_KEEP) == 32);
	l7_next_drop(&l);
	empty(GATE_DIR "/");
}

static void starts_not(const char *why)
{
	err.text[0] = '\0';
	CHECK(l7_next_start(&l, &next_plan, &err) < 0 && l.next.pid == 0);
	CHECK_MSG(strstr(err.text, why) != NULL, "%s", err.text);
	CHECK(geteuid() == 0 && has(GATE_DIR "/", "admin.sock"));
}

/* The old one is what it was. */
static void keeps_not(void)
{
	int pair[2];

	empty(L7_KEEP);
	CHECK(rmdir(L7_KEEP) == 0);
	close(open(GATE_DIR "/keep", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	starts_not(L7_KEEP ": Not a directory");
	CHECK(unlink(GATE_DIR "/keep") == 0 && mkdir(L7_KEEP, 0777) == 0);
	put_socket(GATE_DIR "/", "b.sock", user_there(GATE_UID));
	if (has_other) {
		/* it comes last; what went before it is forgotten */
		put_socket(L7_KEEP, "admin.sock", 0);
		starts_not("keeping " GATE_DIR "/admin.sock: File exists");
		CHECK(count_in(L7_KEEP) == 1);
		empty(L7_KEEP);
	}
	/* nor where it cannot be prepared or started */
	l.pins.admin = l.signer.admin = GATE_ADMIN;
	next_plan.config = STR("MEMBRANE_CREDENTIAL_1");
	starts_not("a credential");
	next_plan.config = STR("");
	CHECK(reaches(GATE_ADMIN));
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	close(pair[1]);
	l.ports.broker = pair[0];
	starts_not("the broker of sockets");
	CHECK(reaches(GATE_ADMIN) && has(GATE_DIR "/", "b.sock"));
	l.ports.broker = 0;
	close(pair[0]);
	empty(L7_KEEP);
}

/* A plan that decrypts, by the CA that there is. */
static void decrypts(void)
{
	CHECK(l7_authority(&l, &err) == 0);
	next_plan.decrypts = true;
	CHECK_MSG(l7_next_start(&l, &next_plan, &err) == 0, "%s", err.text);
	l7_next_drop(&l);
	next_plan.decrypts = false;
	ca_done(&l.ca);
	empty(L7_KEEP);
}

/* One that has not begun is waited for; none is there to be kept. */
static void begins_first(void)
{
	haproxy_end(&l.haproxy);
	CHECK(l7_next_start(&l, &next_plan, &err) == 0 && l.next.pid > 0 &&
	      !l.pins.admin && strcmp(l.signer.admin, KEPT) == 0 &&
	      !count_in(L7_KEEP));
	l7_next_drop(&l);
	CHECK(!l.pins.admin && strcmp(l.signer.admin, GATE_ADMIN) == 0);
	l.haproxy = begin_haproxy();
	kill(l.haproxy.pid, SIGKILL);
	CHECK(poll(&(struct pollfd){l.haproxy.pidfd, POLLIN, 0}, 1,
		   STANDIN_WAITS) == 1);
	l.plan.wanted = true;
	l.serves = false;
	ANSWERS("");
	starts_not("HAProxy ended");
	l.plan.wanted = false;
	haproxy_end(&l.haproxy);
}

/* --- its place ------------------------------------------------------------ */

static void take_next(bool cut, int64_t now_ms)
{
	struct l7_plan p = {.wanted = true, .generation = 20};

	complaint[0] = '\0';
	l7_next_take(&l, &p, cut, now_ms);
	CHECK(!p.wanted && l.plan.generation == 20 && l.serves &&
	      l.next.pid == 0 && l.next.pidfd == -1);
}

static void takes_place(void)
{
	struct haproxy old, next;
	eventfd_t opened = 0;
	int door = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	with_sockets();
	old = l.haproxy;
	CHECK(profiles_parse(str_of(PROFILES), &l.plan.profiles, &err) == 0);
	l.plan.generation = 19;
	l.dropped = 7;
	strcpy(l.signer.leaves[3], "a.test");
	CHECK(l7_next_start(&l, &next_plan, &err) == 0);
	l.next.door = dup(door);
	next = l.next;
	ANSWERS("Name: HAProxy\nDroppedLogs: 7\n");
	take_next(false, 100);
	CHECK(TOLD("show info\n") && !complaint[0]);
	CHECK(eventfd_read(door, &opened) == 0 && opened == 1);
	CHECK(l.haproxy.pid == next.pid && reaches(GATE_ADMIN) &&
	      l.dropped == 0 && !l.signer.leaves[3][0] && !count_in(L7_KEEP));
	CHECK(l.past[0].haproxy.pid == old.pid && l.past[0].profiles.n == 1 &&
	      l.past[0].kill_ms == 0 && l.plan.profiles.n == 0);
	close(door);
	/* it may take as long as it wants, and is buried with what it had */
	haproxy_end(&l.past[0].haproxy);
	profiles_free(&l.past[0].profiles);
}

/* Nothing was kept: what it has to say is not heard, which is told. */
static void takes_unkept(void)
{
	struct haproxy old = l.haproxy;

	l.next = begin_haproxy();
	l.next.door = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ANSWERS("");
	take_next(true, 200);
	CHECK(administrator->n == 0 && strstr(complaint, KEPT));
	CHECK(l.past[0].haproxy.pid == old.pid &&
	      l.past[0].kill_ms == 200 + L7_CUT_MS);
	close(l.haproxy.door);
	l.haproxy.door = -1;
	/* its time is what it was, whoever is cut off later */
	l.past[1] =
		(struct l7_past){.haproxy = begin_haproxy(), .generation = 3};
	old = l.haproxy;
	l.haproxy = haproxy_none();
	l.next = old;
	take_next(true, 250);
	CHECK(l.past[0].kill_ms == 200 + L7_CUT_MS &&
	      l.past[1].kill_ms == 250 + L7_CUT_MS);
	CHECK(l7_wait_ms(&l, 205) == L7_CUT_MS - 5 || l.sweep_ms < 255);
	for (size_t i = 0; i < L7_PAST; i++)
		haproxy_end(&l.past[i].haproxy);
	CHECK(!l7_next_cutting(&l) && !complaint[0]);
	haproxy_end(&l.haproxy);
	l.serves = l.plan.wanted = false;
}

/* Ports that cannot be opened are told of. */
static void opens_not(void)
{
	l.next = begin_haproxy();
	l.next.door = open("/dev/null", O_RDONLY | O_CLOEXEC);
	take_next(false, 1);
	CHECK(strstr(complaint, "opening HAProxy's ports"));
	haproxy_end(&l.haproxy);
	l.serves = l.plan.wanted = false;
}

static void put_file(const char *path, const char *text)
{
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	CHECK(put_line(path, text));
}

/* Of a plan that had its time nothing is left. */
static void forgets_plans(void)
{
	size_t before = 0;

	CHECK(mkdir("/run/plan", 0755) == 0);
	put_file("/run/plan/gate.cfg", "x");
	put_file("/run/plan/profiles.map", PROFILES);
	put_file("/run/plan/crt.lst", "y");
	for (unsigned i = 0; i < 20; i++) {
		struct l7_plan p;

		if (i == 10)
			before = mallinfo2().uordblks;
		CHECK(l7_load(&p, "/run/plan", &err) == 0);
		l7_next_take(&l, &p, false, 1);
		CHECK(l.plan.wanted && !l.plan.config.p && !p.wanted);
	}
	CHECK(mallinfo2().uordblks == before);
	l7_plan_free(&l.plan);
	/* nor of those that ended for want of room */
	for (size_t i = 0; i < L7_PAST; i++)
		l.past[i] = (struct l7_past){.haproxy = begin_haproxy(),
					     .generation = 9};
	for (unsigned i = 0; i < 20; i++) {
		struct l7_plan p = {.generation = 1};

		if (i == 10)
			before = mallinfo2().uordblks;
		CHECK(profiles_parse(str_of(PROFILES), &l.plan.profiles,
				     &err) == 0);
		l.haproxy = begin_haproxy();
		l7_next_take(&l, &p, false, 1);
	}
	CHECK(mallinfo2().uordblks == before);
	for (size_t i = 0; i < L7_PAST; i++) {
		profiles_free(&l.past[i].profiles);
		haproxy_end(&l.past[i].haproxy);
	}
	l7_plan_free(&l.plan);
}

/* What an earlier one has to say is taken in, and what it had is given back. */
static void buries(void)
{
	struct pollfd none[L7_POLL] = {{.fd = -1}};
	struct haproxy *h = &l.past[0].haproxy;
	int pair[2];

	CHECK(pipe2(pair, O_CLOEXEC | O_NONBLOCK) == 0);
	*h = begin_haproxy();
	h->words = pair[0];
	CHECK(write(pair[1], "[ALERT] late\n", 13) == 13);
	l.past[0].kill_ms = 500;
	CHECK(profiles_parse(str_of(PROFILES), &l.past[0].profiles, &err) == 0);
	l.sweep_ms = INT64_MAX;
	CHECK(l7_step(&l, none, 499, &err) == 0 && h->pid &&
	      strcmp(h->alert, "[ALERT] late") == 0);
	CHECK(l7_step(&l, none, 500, &err) == 0 && !h->pid &&
	      l.past[0].profiles.n == 0);
	close(pair[1]);
	l.past[0].kill_ms = 0;
}

/* Who may end what it has does so, however long that takes. */
static void takes_time(void)
{
	struct pollfd none[L7_POLL] = {{.fd = -1}};

	l.past[1] = (struct l7_past){.haproxy = begin_haproxy()};
	l.past[2] = (struct l7_past){.haproxy = begin_haproxy(),
				     .kill_ms = 1000000};
	l.sweep_ms = INT64_MAX;
	CHECK(l7_wait_ms(&l, 999000) == 1000 &&
	      l7_step(&l, none, 999999, &err) == 0);
	CHECK(l.past[1].haproxy.pid && l.past[2].haproxy.pid);
	l.past[2].kill_ms = 0;
	CHECK(l7_step(&l, none, 2000000, &err) == 0);
	CHECK(l.past[1].haproxy.pid && l.past[2].haproxy.pid &&
	      !l7_next_cutting(&l));
	haproxy_end(&l.past[1].haproxy);
	haproxy_end(&l.past[2].haproxy);
	l.past[2].kill_ms = 5;
	CHECK(!l7_next_cutting(&l));
	l.past[2].kill_ms = 0;
}

int main(int argc, char **argv)
{
	standin_if_asked(argc, argv);
	signal(SIGUSR1, SIG_DFL);
	if (!enter_room() || !standin_mount())
		return NOT_HERE;
	stay_apart();
	has_other = user_there(GATE_UID) == GATE_UID;
	administrator_start_at(GATE_ADMIN);
	/* HAProxy's own, by whom alone it may be linked */
	CHECK(chown(GATE_ADMIN, user_there(GATE_UID), (gid_t)-1) == 0 &&
	      chmod(GATE_ADMIN, 0666) == 0);
	l7_init(&l);
	l.on_error = on_error;
	l.on_lost = on_lost;
	kept_on();
	cut_off();
	unheard();
	crowded();
	plans();
	keeps();
	vanishes();
	too_many();
	keeps_not();
	decrypts();
	begins_first();
	takes_place();
	takes_unkept();
	opens_not();
	takes_time();
	buries();
	forgets_plans();
	kill(administrator_pid, SIGKILL);
	CHECK(waitpid(administrator_pid, NULL, 0) == administrator_pid);
	return check_status();
}
