/* Filters of an event, as the built-in tracer holds its records to them. */
#include "runtime/watch/condition.h"
#include "runtime/watch/ownpath.h"
#include "tests/check.h"

#include <string.h>

#define CONDITIONS_MAX 8u

static struct record r;
static struct watch_head head = {
	.pid = 7, .tid = 8, .ppid = 1, .uid = 1000, .comm = "git"};

/* What the filters are asked about from now on. */
static void opened(const char *path, int64_t ret)
{
	const struct watch_event_info *info;

	r = (struct record){.head = &head,
			    .event = WATCH_EVENT_security_file_open,
			    .syscall = "openat",
			    .ret = ret};
	info = events_info(r.event);
	for (unsigned i = 0; i < info->n_args; i++)
		if (strcmp(info->args[i].name, "pathname") == 0)
			r.v[i] = (struct value){.kind = VALUE_TEXT,
						.s = str_of(path)};
}

/* Filters, divided by blanks, where the workspace is at own, too. */
static bool keeps_at(const char *own, const char *filters)
{
	struct condition each[CONDITIONS_MAX];
	struct conditions all = {.each = each};
	struct str rest = str_of(filters), one;

	while (str_field(&rest, ' ', &one) && all.n < CONDITIONS_MAX) {
		if (!condition_parse(one, &each[all.n++])) {
			CHECK(!"a filter");
			return false;
		}
	}
	return condition_all_hold(&all, &r, str_of(own));
}

static bool keeps(const char *filters)
{
	return keeps_at("", filters);
}

static void of_one_field(void)
{
	opened("/a/x", 0);
	CHECK(keeps("data.pathname=/a/*"));
	CHECK(!keeps("data.pathname=/b/*"));
	CHECK(keeps("data.pathname=/b/*,/a/*"));
	CHECK(!keeps("data.pathname!=/b/*,/a/*"));
	CHECK(keeps("data.pathname!=/b/*"));
	/* Alternatives, in one filter or in two, by either name. */
	CHECK(keeps("data.pathname=/a/* data.pathname=/b/*"));
	CHECK(keeps("data.pathname=/b/* args.pathname=/a/*"));
	CHECK(!keeps("data.pathname=/b/* data.pathname=/c/*"));
	CHECK(keeps("comm=sh processName=git"));
	/* Below one folder, and not below one in there. */
	CHECK(keeps("data.pathname=/a/* data.pathname!=/a/b/*"));
	opened("/a/b/x", 0);
	CHECK(!keeps("data.pathname=/a/* data.pathname!=/a/b/*"));
	CHECK(!keeps("data.pathname!=/a/b/* data.pathname=/a/*"));
	CHECK(!keeps("data.pathname!=/c data.pathname!=/a/b/*"));
}

static void of_several(void)
{
	opened("/a/x", -2);
	CHECK(keeps("data.pathname=/a/* uid=1000 comm!=sh retval!=0"));
	CHECK(!keeps("data.pathname=/a/* uid=0"));
	CHECK(!keeps("data.pathname=/a/* uid=1000 comm!=sh,g*"));
	CHECK(keeps("uid>=1000 uid<=1000"));
	CHECK(!keeps("uid>=1000 uid<=1000 uid<1000"));
	CHECK(keeps("uid=0 uid=1000 uid>=1000"));
	CHECK(keeps("retval=-2 syscall=open*"));
	CHECK(!keeps("retval>=0"));
	CHECK(keeps(""));
}

/* What a session has at its own path is the workspace's, too. */
static void of_the_workspace(void)
{
	static char deep[2 * OWNPATH_MAX] = "/home/me/p/";

	opened("/home/me/p/tmp/x", 0);
	CHECK(keeps_at("/home/me/p", "data.pathname=/workspace/*"));
	CHECK(keeps_at("/home/me/p", "data.pathname=/home/me/p/*"));
	CHECK(!keeps_at("/home/me/p", "data.pathname=/workspace/*"
				      " data.pathname!=/workspace/tmp/*"));
	CHECK(!keeps_at("/home/me/p", "data.pathname!=/home/*"));
	CHECK(!keeps("data.pathname=/workspace/*"));
	CHECK(!keeps_at("/home/me/p/t", "data.pathname=/workspace*"));
	opened("/home/me/p", 0);
	CHECK(keeps_at("/home/me/p", "data.pathname=/workspace"));
	opened("/workspace/x", 0);
	CHECK(keeps_at("/home/me/p", "data.pathname=/workspace/x"));
	CHECK(!keeps_at("/home/me/p", "data.pathname=/home/me/p/x"));
	memset(deep + strlen(deep), 'x', sizeof(deep) - strlen(deep) - 1);
	opened(deep, 0);
	CHECK(!keeps_at("/home/me/p", "data.pathname=/workspace/*"));
}

static void that_are_none(void)
{
	struct condition c;

	CHECK(!condition_parse(STR("comm"), &c));
	CHECK(!condition_parse(STR("=sh"), &c));
	CHECK(!condition_parse(STR("nothing=sh"), &c));
	CHECK(!condition_parse(STR("data.=sh"), &c));
}

int main(void)
{
	of_one_field();
	of_several();
	of_the_workspace();
	that_are_none();
	return check_status();
}
