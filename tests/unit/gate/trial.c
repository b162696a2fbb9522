/*
 * `membrane-gate --check`: HAProxy tries a plan in a root of its own, with what
 * a session would have there and nothing of it. HAProxy itself is asked, by
 * conditions in its configuration.
 */
#include "runtime/gate/l7/haproxy_check.h"

#include "runtime/gate/l7/roots.h"
#include "tests/unit/gate/plans.h"
#include "tests/unit/gate/refused.h"

#include <errno.h>
#include <signal.h>

#define NEEDS(variable, value)                                                 \
	".if !streq(\"$" variable "\",\"" value "\")\n"                        \
	".alert \"" variable " is another\"\n"                                 \
	".endif\n"
#define HAS(variable)                                                          \
	".if !defined(" variable ")\n"                                         \
	".alert \"" variable " is not there\"\n"                               \
	".endif\n"
#define HAS_NOT(variable)                                                      \
	".if defined(" variable ")\n"                                          \
	".alert \"" variable " is there\"\n"                                   \
	".endif\n"

static const char config[] = NEEDS("MEMBRANE_RAW4", "0.0.0.0:15001") NEEDS(
	"MEMBRANE_RAW6",
	"[::]:15001") NEEDS("MEMBRANE_HTTP4",
			    "0.0.0.0:15002") NEEDS("MEMBRANE_HTTP6",
						   "[::]:15002")
	NEEDS("MEMBRANE_NETS4", "0.0.0.0:15003") NEEDS(
		"MEMBRANE_NETS6",
		"[::]:15003") NEEDS("MEMBRANE_ASK4",
				    "0.0.0.0:15004") NEEDS("MEMBRANE_ASK6",
							   "[::]:15004")
		NEEDS("MEMBRANE_READER", "1") HAS("MEMBRANE_CREDENTIAL_1") HAS(
			"MEMBRANE_CREDENTIAL_64") HAS_NOT("MEMBRANE_CREDENTIAL_0")
			HAS_NOT("MEMBRANE_CREDENTIAL_65") HAS_NOT(
				"PATH") "defaults\n"
					"    mode tcp\n"
					"    timeout client 1s\n    timeout server 1s\n    timeout connect 1s\n"
					"frontend f\n"
					"    bind \"${MEMBRANE_RAW4}\"\n"
					"    bind unix@/run/gate/tls.sock ssl crt-list /plan/crt.lst\n"
					"    tcp-request content reject if { src,map_str(/run/gate/pins.map) -m found }\n"
					"    tcp-request content reject if { src,map_str(/run/gate/tokens.map) -m found }\n"
					"    tcp-request content reject if { src,map_str(/run/gate/upstream.map) -m found }\n"
					"    default_backend b\n"
					"backend b\n"
					"    server s 127.0.0.1:1 ssl verify required ca-file /run/gate/roots.pem\n";

static struct l7_plan plan_of(const char *text, const char *list)
{
	struct l7_plan p = {.wanted = true, .config = str_of(text)};

	put_plan("gate.cfg", text);
	put_plan("crt.lst", list);
	p.decrypts = list != NULL;
	p.crtlist = str_of(list ? list : "");
	return p;
}

static int check_plan(const char *text, const char *list)
{
	struct l7_plan p = plan_of(text, list);

	err.text[0] = '\0';
	return haproxy_check_plan(&p, PLAN, &err);
}

#define LIST "/run/gate/leaf/1.pem a.test *.b.test\n"

static void good(void)
{
	struct l7_plan p = {.wanted = false}, one;

	CHECK_MSG(check_plan(config, LIST) == 0, "%s", err.text);
	/* a list is nothing to a plan that does not decrypt */
	one = plan_of("listen l\n    bind 127.0.0.1:1\n", NULL);
	one.crtlist = STR("nonsense\n");
	CHECK(haproxy_check_plan(&one, PLAN, &err) == 0);
	CHECK(haproxy_check_plan(&p, "/none", &err) == 0);
	/* nothing of it is left, here or anywhere */
	CHECK(access(GATE_PINS, F_OK) < 0 && access(GATE_TOKENS, F_OK) < 0 &&
	      access(GATE_ROOTS, F_OK) < 0 && access(GATE_LEAVES, F_OK) < 0 &&
	      access("/sys/plan", F_OK) < 0 && access("/plan", F_OK) < 0);
}

#define TALKER "/run/talker"

/* More than is heard of it, and than a pipe has room for: of a script, since
 * HAProxy itself says no more than some lines. */
static void much(void)
{
	static const char text[] = "#!/bin/sh\n"
				   "echo '[ALERT] first'\n"
				   "i=0\n"
				   "while [ $i -lt 200 ]; do\n"
				   "	printf '%0500d\\n' $i\n"
				   "	i=$((i + 1))\n"
				   "done\n"
				   "exit 1\n";
	int fd = open(TALKER, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
	      close(fd) == 0 && chmod(TALKER, 0755) == 0);
	CHECK(mount(TALKER, HAPROXY_PROGRAM, NULL, MS_BIND, NULL) == 0);
	signal(SIGPIPE, SIG_DFL); /* whatever whoever runs this makes of it */
	CHECK_MSG(check_plan("", NULL) == -EPROTO &&
			  strcmp(err.text, "gate.cfg: [ALERT] first") == 0,
		  "%s", err.text);
	CHECK(umount2(HAPROXY_PROGRAM, MNT_DETACH) == 0);
}

/* What it says first, in one line. */
static void bad(void)
{
	unsigned before = open_files();

	CHECK(check_plan("nonsense\nmore\n", NULL) == -EPROTO);
	CHECK_MSG(strncmp(err.text, "gate.cfg: [ALERT]", 17) == 0 &&
			  strstr(err.text, "nonsense") &&
			  !strchr(err.text, '\n'),
		  "%s", err.text);
	CHECK(open_files() == before);
	/* what only a plan that decrypts has, or one with roots */
	CHECK(check_plan(config, NULL) == -EPROTO);
	CHECK(check_plan(
		      "defaults\n    mode tcp\nbackend b\n"
		      "    server s 127.0.0.1:1 ssl ca-file /run/gate/root.pem\n",
		      NULL) == -EPROTO);
	CHECK(check_plan(config, "/elsewhere/1.pem a.test\n") == -EIO &&
	      strncmp(err.text, "trying gate.cfg: crt.lst: not a file of ours",
		      44) == 0);
}

static void none(void)
{
	struct l7_plan p = plan_of("", NULL);

	CHECK(haproxy_check_plan(&p, "/run/none", &err) == -EIO &&
	      strcmp(err.text,
		     "trying gate.cfg: /run/none: No such file or directory") ==
		      0);
	CHECK(unlink(ROOTS_DIR "/" ROOTS_FILE) == 0);
	CHECK(check_plan(config, LIST) == -EIO && strstr(err.text, ROOTS_FILE));
	/* which a plan that names none does without */
	CHECK_MSG(check_plan("listen l\n    bind 127.0.0.1:1\n", NULL) == 0,
		  "%s", err.text);
}

/* As anybody, in a namespace of one's own. */
static void unprivileged(void)
{
	struct l7_plan p = plan_of(config, LIST);
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		if (geteuid() == 0 && (setresgid(65533, 65533, 65533) < 0 ||
				       setresuid(65534, 65534, 65534) < 0))
			_exit(NOT_HERE);
		prctl(PR_SET_DUMPABLE, 1); /* who it is is written in /proc */
		if (haproxy_check_plan(&p, PLAN, &err) == 0)
			_exit(0);
		fprintf(stderr, "%s\n", err.text);
		_exit(strstr(err.text, "a namespace") ? NOT_HERE : 1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	CHECK_MSG(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == NOT_HERE,
		  "%d", WEXITSTATUS(status));
}

/* --- where it cannot be tried ----------------------------------------------
 */

static void first_file(void)
{
	close(0);
	CHECK_MSG(check_plan(config, LIST) == 0, "%s", err.text);
}

static bool is_not_tried(const char *why)
{
	if (check_plan(config, LIST) == -EIO && strstr(err.text, why))
		return true;
	fprintf(stderr, "%d %s\n", err.code, err.text);
	return false;
}

static void no_namespace(void)
{
	CHECK(refuse_call(SYS_unshare, 0, -1, EPERM) &&
	      is_not_tried("a namespace to try it in: Operation not"));
}

/* One of mounts alone: in one of a user's own. */
static void no_mounts(void)
{
	CHECK(refuse_call(SYS_unshare, 0, CLONE_NEWNS, EPERM));
	CHECK_MSG(check_plan(config, LIST) == 0, "%s", err.text);
}

/* What says who it is there: of these texts each has a length of its own. */
static void no_map(int length)
{
	if (geteuid() != 0 || setegid(65533) < 0)
		return;
	CHECK(refuse_call(SYS_unshare, 0, CLONE_NEWNS, EPERM) &&
	      refuse_call(SYS_write, 2, length, EPERM) &&
	      is_not_tried("no user namespace"));
}

static void no_setgroups(void)
{
	no_map(sizeof("deny") - 1);
}

static void no_uid_map(void)
{
	no_map(sizeof("0 0 1\n") - 1);
}

static void no_gid_map(void)
{
	no_map(sizeof("0 65533 1\n") - 1);
}

static void no_folders(void)
{
#ifdef SYS_mkdir
	CHECK(refuse_call(SYS_mkdir, 0, -1, ENOENT));
#else
	CHECK(refuse_call(SYS_mkdirat, 0, -1, ENOENT));
#endif
	CHECK(is_not_tried("/sys/plan: No such"));
}

/* Whose end nobody is told of. */
static void no_end(void)
{
	signal(SIGCHLD, SIG_IGN);
	CHECK(check_plan(config, LIST) == -ECHILD);
}

/* Who has no business with its own namespaces. */
static void no_maps(void)
{
	struct l7_plan p = plan_of(config, LIST);

	if (geteuid() != 0 || setresgid(65533, 65533, 65533) < 0 ||
	    setresuid(65534, 65534, 65534) < 0)
		return;
	CHECK(haproxy_check_plan(&p, PLAN, &err) == -EIO &&
	      (strstr(err.text, "no user namespace") ||
	       strstr(err.text, "a namespace")));
}

static bool has_roots(void)
{
	char pem[CA_CERT_MAX];
	struct ca ca = {0};
	bool ok = mount("none", ROOTS_DIR, "tmpfs", 0, "mode=0755") == 0 &&
		  ca_new(&ca, &err) == 0 && ca_pem(&ca, pem, &err) == 0;
	int fd = open(ROOTS_DIR "/" ROOTS_FILE, O_WRONLY | O_CREAT | O_CLOEXEC,
		      0644);

	ok = ok && write(fd, pem, strlen(pem)) == (ssize_t)strlen(pem);
	close(fd);
	ca_done(&ca);
	return ok;
}

int main(void)
{
	if (access(HAPROXY_PROGRAM, X_OK) < 0 || !enter_room() || !has_roots())
		return NOT_HERE;
	CHECK(mkdir(PLAN, 0755) == 0);
	good();
	bad();
	much();
	unprivileged();
	apart(first_file);
	apart(no_namespace);
	apart(no_mounts);
	apart(no_setgroups);
	apart(no_uid_map);
	apart(no_gid_map);
	apart(no_folders);
	apart(no_end);
	apart(no_maps);
	none();
	return check_status();
}
