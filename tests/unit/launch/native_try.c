/*
 * What this machine gives to a session of the native engine: each step has a
 * verdict, those that need another come after it, and nothing is left of them.
 */
#include "runtime/launch/native/try.h"

#include "tests/check.h"

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALLOW_ALL                                                              \
	"{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrnoRet\": 1, "     \
	"\"syscalls\": [{\"names\": [\"read\", \"write\", \"exit_group\", "    \
	"\"exit\", \"close\"], \"action\": \"SCMP_ACT_ALLOW\"}]}"

static struct arena *a;

static int open_count(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static void print_report(const struct try_report *r)
{
	for (int i = 0; i < TRY_STEPS; i++)
		printf("step %d: %d %s\n", i, r->of[i].state,
		       r->of[i].words ? r->of[i].words : "");
}

static void check_report(const struct try_report *r)
{
	for (int i = 0; i < TRY_STEPS; i++) {
		const struct try_result *one = &r->of[i];

		CHECK_MSG((one->state == TRY_FAILED) == (one->words != NULL),
			  "step %d", i);
		CHECK_MSG((one->state == TRY_FAILED) == (one->code < 0),
			  "step %d", i);
	}
	CHECK(r->of[TRY_USERS].state != TRY_UNTRIED);
	CHECK((r->of[TRY_USERS].state == TRY_WORKED) ==
	      (r->of[TRY_NAMESPACES].state != TRY_UNTRIED));
	CHECK((r->of[TRY_MOUNTS].state == TRY_WORKED) ==
	      (r->of[TRY_PROC].state != TRY_UNTRIED));
	CHECK((r->of[TRY_NAMESPACES].state == TRY_WORKED) ==
	      (r->of[TRY_RULES].state != TRY_UNTRIED));
}

static void test_steps(void)
{
	struct try_report r;
	int before = open_count();

	try_native(a, STR(ALLOW_ALL), &r);
	print_report(&r);
	check_report(&r);
	CHECK(r.of[TRY_FILTER].state == TRY_WORKED);
	CHECK((r.of[TRY_NAMESPACES].state == TRY_WORKED) ==
	      (r.of[TRY_ASKED].state != TRY_UNTRIED));
	CHECK(open_count() == before);
	CHECK(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
}

static void test_refused_filters(void)
{
	static const char *const broken[] = {
		"", "{", "{\"defaultAction\": \"SCMP_ACT_ALLOW\"}",
		"{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrnoRet\": 1, \"syscalls\": [{\"names\": [\"read\"], \"action\": \"SCMP_ACT_TRACE\"}]}"};

	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		struct try_report r;

		try_native(a, str_of(broken[i]), &r);
		CHECK_MSG(
			r.of[TRY_FILTER].state == TRY_FAILED &&
				strstr(r.of[TRY_FILTER].words, "seccomp.json"),
			"filter %zu", i);
	}
}

/* Within a sandbox that has its calls asked about by somebody: there is one. */
static void test_asked_twice(void)
{
	struct sock_filter all[] = {BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {ARRAY_LEN(all), all};
	struct try_report r;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) < 0)
			_exit(2);
		try_native(a, STR(ALLOW_ALL), &r);
		print_report(&r);
		if (r.of[TRY_NAMESPACES].state != TRY_WORKED)
			_exit(r.of[TRY_ASKED].state != TRY_UNTRIED);
		_exit(r.of[TRY_ASKED].code != -EBUSY ||
		      !strstr(r.of[TRY_ASKED].words, "asked about"));
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* Of one that is about to start, what all of them come to. */
static void test_start(void)
{
	enum try_step step = TRY_STEPS;
	struct try_report r;
	struct try_host host;
	int before = open_count();
	struct err err;
	int rc = try_start(a, true, false, &step, &host, &err);
	bool all;

	try_native(a, STR(ALLOW_ALL), &r);
	all = r.of[TRY_PROC].state == TRY_WORKED &&
	      r.of[TRY_RULES].state == TRY_WORKED;
	printf("start: %d %s\n", rc, rc < 0 ? err.text : "");
	if (rc == 0)
		CHECK(all);
	else if (step == TRY_VIEW)
		CHECK(strstr(err.text, "/dev/fuse"));
	else
		CHECK(!all && r.of[step].state != TRY_WORKED);
	CHECK(host.root == r.host.root);
	CHECK(open_count() == before);
	CHECK(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
}

/* Of one that leaves by a tap the program is begun, too; of others it is not. */
static void test_start_with_tap(void)
{
	enum try_step step = TRY_STEPS;
	struct try_report r;
	struct try_host host;
	int before = open_count();
	struct err err;
	bool without = try_start(a, false, false, &step, &host, &err) == 0;
	int rc = try_start(a, false, true, &step, &host, &err);

	try_native(a, STR(ALLOW_ALL), &r);
	printf("with a tap: %d %s\n", rc, rc < 0 ? err.text : "");
	CHECK((rc == 0) ==
	      (without && r.of[TRY_UPLINK].state == TRY_WORKED));
	if (without && rc < 0)
		CHECK(step == TRY_UPLINK);
	CHECK(open_count() == before);
	CHECK(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
}

int main(void)
{
	a = arena_new();
	test_steps();
	test_refused_filters();
	test_asked_twice();
	test_start();
	test_start_with_tap();
	arena_free(a);
	return check_status();
}
