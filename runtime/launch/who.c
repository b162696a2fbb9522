/* Who did something to a session, and when, as its records say it. */
#include "runtime/launch/parts.h"

#include "compiler/base/sys/clock.h"
#include "runtime/launch/docker/rootless.h"

#include <pwd.h>
#include <time.h>

static const char *name_of(struct arena *a, uid_t uid)
{
	const struct passwd *p = getpwuid(uid);

	return p ? arena_cstr(a, str_of(p->pw_name))
		 : arena_fmt(a, "%lu", (unsigned long)uid).p;
}

void who_add(struct arena *a, cJSON *o)
{
	cJSON *who = cJSON_AddObjectToObject(o, "who");
	char text[CLOCK_TEXT_MAX];
	struct timespec now;

	cJSON_AddNumberToObject(who, "uid", (double)rootless_user());
	cJSON_AddStringToObject(who, "name", name_of(a, rootless_user()));
	clock_gettime(CLOCK_REALTIME, &now);
	cJSON_AddStringToObject(o, "time", clock_text(&now, text));
}
