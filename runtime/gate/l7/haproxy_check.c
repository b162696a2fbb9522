#include "runtime/gate/l7/haproxy_check.h"

#include "compiler/plan/files.h"
#include "compiler/plan/gate.h"
#include "runtime/gate/l7/roots.h"
#include "runtime/gate/l7/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define ROOT	  "/sys" /* what the child hides: it is there everywhere */
#define WORDS_MAX 4096u
#define REFUSED	  1 /* as `haproxy -c` says it */
#define UNTRIED	  2

/* What HAProxy and its libraries are read from. */
static const char *const shared[] = {"usr",  "lib", "lib64", "bin",
				     "sbin", "etc", "dev"};

static int write_file(const char *path, const char *text)
{
	auto_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

/* A namespace in which we may mount: as root, or as root of our own. */
static int enter_namespace(struct err *err)
{
	unsigned uid = geteuid(), gid = getegid();
	char map[64];

	if (unshare(CLONE_NEWNS) == 0)
		return 0;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return err_set(err, -errno, "a namespace to try it in: %s",
			       strerror(errno));
	snprintf(map, sizeof(map), "0 %u 1\n", uid);
	if (write_file("/proc/self/setgroups", "deny") < 0 ||
	    write_file("/proc/self/uid_map", map) < 0)
		return err_set(err, -EPERM, "no user namespace");
	snprintf(map, sizeof(map), "0 %u 1\n", gid);
	return write_file("/proc/self/gid_map", map) < 0
		       ? err_set(err, -EPERM, "no user namespace")
		       : 0;
}

static int bind_folder(const char *from, const char *to, struct err *err)
{
	if ((mkdir(to, 0755) < 0 && errno != EEXIST) ||
	    mount(from, to, NULL, MS_BIND | MS_REC, NULL) < 0)
		return err_set(err, -errno, "%s: %s", to, strerror(errno));
	return 0;
}

/* What is a link in the root is a folder in this; what is not there is not. */
static int share_folder(const char *name, struct err *err)
{
	char from[16], to[32];
	int rc;

	snprintf(from, sizeof(from), "/%s", name);
	snprintf(to, sizeof(to), ROOT "/%s", name);
	rc = bind_folder(from, to, err);
	return rc == -ENOENT ? 0 : rc;
}

static int make_root(const char *plan, struct err *err)
{
	char real[512];
	auto_fd int fd = open(plan, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return err_set(err, -errno, "%s: %s", plan, strerror(errno));
	/* It may lie below what is hidden next. */
	snprintf(real, sizeof(real), "/proc/self/fd/%d", fd);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", ROOT, "tmpfs", 0, "mode=0755") < 0)
		return err_set(err, -errno, ROOT ": %s", strerror(errno));
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(shared); i++)
		rc = share_folder(shared[i], err);
	if (rc == 0)
		rc = bind_folder(real, ROOT GATE_PLAN, err);
	if (rc < 0)
		return rc;
	if (chroot(ROOT) < 0 || chdir("/") < 0 || mkdir("/run", 0755) < 0 ||
	    mkdir(GATE_DIR, 0755) < 0)
		return err_set(err, -errno, "a root to try it in: %s",
			       strerror(errno));
	return 0;
}

/* Not opened, and none has its value: but the configuration asks for them. */
static char **trial_variables(void)
{
	enum { OWN = 9 }; /* those that are written here */
	static char env[HELLO_CREDENTIALS_MAX][sizeof(GATE_ENV_SECRET) + 16];
	static char *vars[OWN + HELLO_CREDENTIALS_MAX + 1] = {
		(char *)(uintptr_t)GATE_ENV_RAW4
		"=0.0.0.0:" GATE_TEXT(GATE_PORT_RAW),
		(char *)(uintptr_t)GATE_ENV_RAW6
		"=[::]:" GATE_TEXT(GATE_PORT_RAW),
		(char *)(uintptr_t)GATE_ENV_HTTP4
		"=0.0.0.0:" GATE_TEXT(GATE_PORT_HTTP),
		(char *)(uintptr_t)GATE_ENV_HTTP6
		"=[::]:" GATE_TEXT(GATE_PORT_HTTP),
		(char *)(uintptr_t)GATE_ENV_NETS4
		"=0.0.0.0:" GATE_TEXT(GATE_PORT_NETS),
		(char *)(uintptr_t)GATE_ENV_NETS6
		"=[::]:" GATE_TEXT(GATE_PORT_NETS),
		(char *)(uintptr_t)GATE_ENV_ASK4
		"=0.0.0.0:" GATE_TEXT(GATE_PORT_ASK),
		(char *)(uintptr_t)GATE_ENV_ASK6
		"=[::]:" GATE_TEXT(GATE_PORT_ASK),
		(char *)(uintptr_t)GATE_ENV_READER "=1",
	};

	for (unsigned i = 0; i < HELLO_CREDENTIALS_MAX; i++) {
		snprintf(env[i], sizeof(env[i]), GATE_ENV_SECRET "%u=x", i + 1);
		vars[OWN + i] = env[i];
	}
	return vars;
}

/* Those that the launcher would hand over are not here. */
static bool has_roots(const struct l7_plan *p)
{
	return p->config.n && memmem(p->config.p, p->config.n, GATE_ROOTS,
				     sizeof(GATE_ROOTS) - 1);
}

static int become_trial(const struct l7_plan *p, const char *plan, int words,
			struct err *err)
{
	char *argv[] = {(char *)(uintptr_t) "haproxy", (char *)(uintptr_t) "-c",
			(char *)(uintptr_t) "-f",
			(char *)(uintptr_t)GATE_PLAN "/" PLAN_GATE, NULL};
	static struct l7 l; /* too large for a stack */
	int rc;

	l7_init(&l);
	if ((rc = enter_namespace(err)) < 0 ||
	    (rc = make_root(plan, err)) < 0 ||
	    (rc = pins_file(&l.pins, GATE_PINS, err)) < 0 ||
	    (rc = tokens_file(&l.credentials, GATE_TOKENS, err)) < 0 ||
	    (rc = l7_failures(err)) < 0 ||
	    (has_roots(p) && (rc = roots_write(false, err)) < 0) ||
	    (p->decrypts && (rc = l7_leaves(&l, p, err)) < 0))
		return rc;
	if (dup2(words, STDOUT_FILENO) < 0 || dup2(words, STDERR_FILENO) < 0)
		return err_set(err, -errno, "dup2: %s", strerror(errno));
	execve(HAPROXY_PROGRAM, argv, trial_variables());
	return err_set(err, -errno, HAPROXY_PROGRAM ": %s", strerror(errno));
}

/* The first complaint, in one line. */
static const char *first_words(char *text)
{
	char *at = strstr(text, "[ALERT]");

	if (!at)
		at = text;
	at[strcspn(at, "\n")] = '\0';
	return at;
}

int haproxy_check_plan(const struct l7_plan *p, const char *plan,
		       struct err *err)
{
	char words[WORDS_MAX], rest[512];
	const char *said;
	int pair[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	if (!p->wanted)
		return 0;
	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_set(err, -errno, "pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		(void)become_trial(p, plan, pair[1], err);
		ignore(write(pair[1], err->text, strlen(err->text)));
		_exit(UNTRIED);
	}
	close(pair[1]);
	while ((got = read(pair[0], words + n, sizeof(words) - 1 - n)) > 0)
		n += (size_t)got;
	/* What there is no room for is taken, too, or it dies of that. */
	while (read(pair[0], rest, sizeof(rest)) > 0)
		;
	close(pair[0]);
	words[n] = '\0';
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return err_set(err, -errno, "fork: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	said = first_words(words);
	if (WIFEXITED(status) && WEXITSTATUS(status) == REFUSED)
		return err_set(err, -EPROTO, "gate.cfg: %s", said);
	return err_set(err, -EIO, "trying gate.cfg: %s", said);
}
