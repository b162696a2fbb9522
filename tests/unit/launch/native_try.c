/*
 * What this machine gives to a session of the native engine: each step has a
 * verdict, those that need another come after it, and nothing is left of them.
 */
#include "runtime/launch/native/try.h"

#include "tests/check.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

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

int main(void)
{
	a = arena_new();
	test_steps();
	test_refused_filters();
	arena_free(a);
	return check_status();
}
