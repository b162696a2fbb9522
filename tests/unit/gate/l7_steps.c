/*
 * What the gate needs of its machine beside packets: sockets, files, processes
 * and other users, and that none of it goes wrong without a word.
 */
#include "runtime/gate/l7/admin.h"
#include "runtime/gate/l7/haproxy_check.h"
#include "runtime/gate/l7/l7.h"
#include "runtime/gate/l7/l7_next.h"
#include "runtime/gate/l7/reader_probe.h"
#include "runtime/gate/l7/roots.h"
#include "runtime/gate/l7/tokens.h"
#include "runtime/gate/l7/user.h"
#include "runtime/gate/onward/onward.h"
#include "runtime/gate/parts.h"
#include "runtime/gate/ready.h"
#include "runtime/gate/relay.h"
#include "tests/unit/gate/rooms.h"
#include "tests/unit/steps.h"

#include <stdlib.h>
#include <sys/un.h>

#define ROOT   "/run/root"
#define SOCKET GATE_DIR "/some.sock"

static struct err unheard;

static bool put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool ok = fd >= 0 &&
		  write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return ok;
}

/* --- what answers --------------------------------------------------------- */

/* As HAProxy's commands and the gate's reader both would. */
static void serve_admin(int listener)
{
	char text[ADMIN_BATCH_MAX];

	for (;;) {
		int fd = accept(listener, NULL, NULL);

		/* of who breaks off nothing is wanted */
		if (recv(fd, text, sizeof(text), 0) > 0)
			(void)send(fd, "a bare LF\n", 10, MSG_NOSIGNAL);
		close(fd);
	}
}

static pid_t start_admin(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX, .sun_path = GATE_ADMIN};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pid_t pid;

	CHECK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	      listen(fd, 8) == 0);
	pid = fork();
	if (pid == 0)
		serve_admin(fd);
	close(fd);
	return pid;
}

static int ask_admin(struct err *err)
{
	char answer[ADMIN_ANSWER_MAX];
	size_t n = 0;

	return admin_ask(GATE_ADMIN, STR("show info\n"), answer, &n, err);
}

static int probe_reader(struct err *err)
{
	return reader_probe_plain(GATE_ADMIN, err);
}

/* --- sockets and files ---------------------------------------------------- */

static bool no_socket(void)
{
	return unlink(SOCKET) == 0 || errno == ENOENT;
}

static int open_clients(struct err *err)
{
	static struct client slots[2];
	struct clients c = {.v = slots, .size = 2};

	return clients_open(&c, SOCKET, err);
}

static int open_lines(struct err *err)
{
	static struct l7log l;

	return l7log_open(&l, SOCKET, err);
}

static struct l7 l7;

static bool has_pin(void)
{
	static const struct addr a = {ADDR_V4, {11, 0, 0, 1}};
	const struct addr *one = &a;

	l7_init(&l7);
	return pins_add(&l7.pins, STR("a.test"), &one, 1, 1, &unheard) == 0;
}

static int write_pins(struct err *err)
{
	return pins_file(&l7.pins, GATE_PINS, err);
}

static struct hello_credentials secrets = {
	.n_tokens = 1,
	.tokens = {{.n = 7,
		    .digits = "0123456789abcdef01234567",
		    .value = "v"}},
};

static int write_tokens(struct err *err)
{
	return tokens_file(&secrets, GATE_TOKENS, err);
}

static bool has_authority(void)
{
	l7_init(&l7);
	return l7_authority(&l7, &unheard) == 0;
}

static int write_leaves(struct err *err)
{
	const struct l7_plan p = {.crtlist = STR(GATE_LEAVES
						 "1.pem a.test\n" GATE_LEAVES
						 "2.pem b.test\n")};

	return l7_leaves(&l7, &p, err);
}

/* A root with the system's certificates and the launcher's. */
static bool has_root(void)
{
	return has_authority() && chroot(ROOT) == 0;
}

static bool make_root(void)
{
	return mkdir(ROOT, 0755) == 0 && mkdir(ROOT "/etc", 0755) == 0 &&
	       mkdir(ROOT "/etc/ssl", 0755) == 0 &&
	       mkdir(ROOT ROOTS_DIR, 0755) == 0 &&
	       mkdir(ROOT "/run", 0755) == 0 &&
	       mkdir(ROOT GATE_DIR, 0755) == 0 &&
	       put_file(ROOT ROOTS_DIR "/" ROOTS_FILE, "roots\n") &&
	       put_file(ROOT GATE_UPSTREAM_CA, "another\n");
}

static int write_roots(struct err *err)
{
	return roots_write(true, err);
}

static int share_roots(struct err *err)
{
	return roots_share(GATE_DIR, &l7.ca, err);
}

/* --- processes ------------------------------------------------------------ */

static struct haproxy_ports ports;

static int open_ports(struct err *err)
{
	int rc = haproxy_listen(&ports, err);

	/* all of them or none */
	return ports.open == (rc == 0) ? rc : 0;
}

/* In a network of its own: the last one's process may not be gone. */
static bool has_ports(void)
{
	return unshare(CLONE_NEWNET) == 0 && loopback_up() &&
	       haproxy_listen(&ports, &unheard) == 0;
}

/* Its status when it could not become HAProxy is 127. */
static int start_haproxy(struct err *err)
{
	struct haproxy h;
	int rc = haproxy_start(&h, &ports, "/none.cfg", &secrets, err), status;

	if (rc < 0)
		return rc;
	if (waitpid(h.pid, &status, 0) != h.pid || WEXITSTATUS(status) == 127)
		return err_set(err, -EIO, "%s", strerror(EIO));
	return 0;
}

/* With what a plan may have: the process says why it could not try it. */
static int try_plan(struct err *err)
{
	const struct l7_plan p = {.wanted = true,
				  .decrypts = true,
				  .config = STR("ca-file " GATE_ROOTS),
				  .crtlist = STR(GATE_LEAVES "1.pem a.test\n")};

	return haproxy_check_plan(&p, "/run", err);
}

/* What it finds when it starts; the log has steps of its own. */
static bool can_prepare(void)
{
	unlink(GATE_SIGNER);
	unlink(GATE_RENEWAL);
	if (!has_authority() || unshare(CLONE_NEWNET) < 0 || !loopback_up())
		return false;
	l7.log.fd = STDERR_FILENO;
	l7.credentials.n_tokens = 1;
	l7.credentials.tokens[0] = secrets.tokens[0];
	return true;
}

static int prepare(struct err *err)
{
	const struct l7_plan p = {.decrypts = true,
				  .crtlist = STR(GATE_LEAVES "1.pem a.test\n")};

	return l7_prepare(&l7, &p, err);
}

/* One that runs, with a socket that its next one is not to take. */
static bool has_running(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX, .sun_path = SOCKET};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)unlink(L7_KEEP "some.sock");
	(void)rmdir(L7_KEEP);
	l7_init(&l7);
	l7.haproxy.pid = getpid();
	l7.log.fd = STDERR_FILENO;
	l7.ports.own = true;
	l7.ports.family = "ipv4";
	return no_socket() &&
	       bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	       chown(SOCKET, user_there(GATE_UID), (gid_t)-1) == 0;
}

static int start_next(struct err *err)
{
	const struct l7_plan p = {.wanted = true, .path = "/none.cfg"};
	int rc = l7_next_start(&l7, &p, err);

	return rc < 0 || access(L7_KEEP "some.sock", F_OK) == 0
		       ? rc
		       : err_set(err, -EIO, "%s", strerror(EIO));
}

/* A folder that cannot be read is one without sockets. */
static bool reads_no_folder(const struct seccomp_notif *n)
{
	return n->data.nr != SYS_openat && n->data.nr != SYS_getdents64;
}

static int become_user(struct err *err)
{
	return user_become(GATE_UID, GATE_UID) < 0 ? err_errno(err, "a user")
						   : 0;
}

static bool is_nested(void)
{
	return become_root(0);
}

static int drop_all(struct err *err)
{
	return caps_drop(CAPS_NONE, err);
}

static int dial_peer(struct err *err)
{
	int fd;

	return relay_dial(STR("127.0.0.1"), STR("9"), &fd, err);
}

/* Who says nonsense is hung up on; 1: there is nobody to do that. */
static int call_onward(int go)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX,
				 .sun_path = GATE_UPSTREAM};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char c;

	(void)!read(go, &c, 1);
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    send(fd, "0123456789abcdef", 16, MSG_NOSIGNAL) != 16)
		return 1;
	return recv(fd, &c, 1, 0) == 0 ? 0 : 1;
}

static struct standins *names;
static pid_t caller;
static int caller_goes; /* when this is closed */

static bool has_caller(void)
{
	int pair[2];

	unlink(GATE_UPSTREAM);
	if (standins_new(&names, &unheard) < 0 || pipe2(pair, O_CLOEXEC) < 0)
		return false;
	caller = fork();
	if (caller == 0) {
		close(pair[1]);
		_exit(call_onward(pair[0]));
	}
	close(pair[0]);
	caller_goes = pair[1];
	return true;
}

static int start_onward(struct err *err)
{
	struct onward_proxy p = {.port = 9};
	struct onward o;
	int rc = onward_start(&p, names, &o, err), status;

	close(caller_goes);
	if (waitpid(caller, &status, 0) != caller || rc < 0)
		return rc;
	kill(o.pid, SIGKILL);
	return status ? err_set(err, -EIO, "%s", strerror(EIO)) : 0;
}

#define SPARED_LOG " openat write unlink unlinkat "

static const struct steps_of table[] = {
	{.name = "admin_ask", .run = ask_admin},
	{.name = "reader_probe_plain", .run = probe_reader},
	{"clients_open", no_socket, open_clients, " unlink unlinkat ", 0, NULL},
	{"l7log_open", no_socket, open_lines, SPARED_LOG, 0, NULL},
	{"pins_file", has_pin, write_pins, NULL, 0, NULL},
	{.name = "tokens_file", .run = write_tokens},
	{.name = "l7_failures", .run = l7_failures},
	{"l7_leaves", has_authority, write_leaves, NULL, 0, NULL},
	{"roots_write", has_root, write_roots, NULL, 0, NULL},
	{"roots_share", has_root, share_roots, NULL, 0, NULL},
	{"haproxy_listen", NULL, open_ports, " pace ", 0, NULL},
	{"haproxy_start", has_ports, start_haproxy, NULL, 24, NULL},
	{"l7_prepare", can_prepare, prepare, " pace unlink ", 0, NULL},
	/* up to its process */
	{"l7_next_start", has_running, start_next, NULL, 11, reads_no_folder},
	{"haproxy_check_plan", has_authority, try_plan, " unshare ", 42, NULL},
	/* up to the first client */
	{"onward_start", has_caller, start_onward, NULL, 18, NULL},
	{.name = "ready_hold", .run = ready_hold},
	{.name = "relay_dial", .run = dial_peer},
	{.name = "user_become", .run = become_user},
	{"user_become, nested", is_nested, become_user, NULL, 0, NULL},
	{.name = "caps_drop", .run = drop_all},
};

int main(int argc, char **argv)
{
	pid_t admin;

	if (!steps_are_asked() || !enter_room() || !make_root())
		return NOT_HERE;
	if (mount("/bin/true", HAPROXY_PROGRAM, NULL, MS_BIND, NULL) < 0)
		return NOT_HERE;
	stay_apart();
	admin = start_admin();
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (argc < 2 || strcmp(argv[1], table[i].name) == 0)
			steps_check(&table[i]);
	kill(admin, SIGKILL);
	waitpid(admin, NULL, 0);
	return check_status();
}
