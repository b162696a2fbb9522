/*
 * Control groups: which a process is in, where they are mounted, and what one
 * can hold.
 */
#include "runtime/launch/native/cgroup.h"

#include "tests/check.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_mounted(const char *text, const char *want)
{
	return str_is(cgroup_mount(str_of(text)), want);
}

static void test_mounts(void)
{
	CHECK(is_mounted("", ""));
	CHECK(is_mounted("22 1 0:20 / /proc rw - proc proc rw\n"
			 "30 1 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - "
			 "cgroup2 cgroup2 rw,nsdelegate\n",
			 "/sys/fs/cgroup"));
	/* of a container's, or by a name that is escaped, or none at all */
	CHECK(is_mounted("30 1 0:26 /../.. /a rw - cgroup2 none rw\n", ""));
	CHECK(is_mounted("30 1 0:26 / /a\\040b rw - cgroup2 none rw\n", ""));
	CHECK(is_mounted("30 1 0:26 / /a rw - cgroup none rw,memory\n", ""));
	CHECK(is_mounted("30 1 0:26 /\n", ""));
}

static void test_groups(void)
{
	CHECK(str_is(cgroup_own(STR("9:name=systemd:/x\n0::/user.slice/a\n")),
		     "/user.slice/a"));
	CHECK(str_is(cgroup_own(STR("0::/\n")), "/"));
	CHECK(str_is(cgroup_own(STR("4:memory:/x\n")), ""));
	CHECK(cgroup_has(STR("cpu memory pids\n"), "memory"));
	CHECK(cgroup_has(STR("cpu memory pids\n"), "pids"));
	CHECK(!cgroup_has(STR("cpuset hugetlb\n"), "cpu"));
	CHECK(!cgroup_has(STR("\n"), "cpu"));
	CHECK(!cgroup_has(STR(""), "cpu"));
	CHECK(cgroup_count(STR("low 0\noom 9\noom_kill 7\noom_group_kill 1\n"),
			   "oom_kill") == 7);
	CHECK(cgroup_count(STR("oom_kill x\n"), "oom_kill") == 0);
	CHECK(cgroup_count(STR(""), "oom_kill") == 0);
}

/* Where none was made nothing ends; what a record names goes, if it is empty.
 */
static void test_end(void)
{
	char dir[] = "/tmp/native_cgroup.XXXXXX", group[64], record[64],
	     events[96];
	struct arena *a = arena_new();
	FILE *f;

	CHECK(mkdtemp(dir) != NULL);
	cgroup_end(dir);
	CHECK(cgroup_killed(a, dir) == 0);
	snprintf(group, sizeof(group), "%s/group", dir);
	snprintf(record, sizeof(record), "%s/cgroup", dir);
	CHECK(mkdir(group, 0755) == 0);
	f = fopen(record, "w");
	CHECK(f && fputs(group, f) >= 0 && fclose(f) == 0);
	snprintf(events, sizeof(events), "%s/memory.events", group);
	f = fopen(events, "w");
	CHECK(f && fputs("oom_kill 3\n", f) >= 0 && fclose(f) == 0);
	CHECK(cgroup_killed(a, dir) == 3);
	CHECK(unlink(events) == 0);
	cgroup_end(dir);
	arena_free(a);
	CHECK(access(group, F_OK) < 0 && access(record, F_OK) < 0);
	CHECK(rmdir(dir) == 0);
}

int main(void)
{
	test_mounts();
	test_groups();
	test_end();
	return check_status();
}
